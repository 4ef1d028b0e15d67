"""Interconnection: systems in, a system out, as the papers print it."""

import numpy as np
import pytest
from parts import (
    cartesian_pendulum,
    mass,
    oscillator,
    rotating_body,
    rotation,
    rotation_tangent,
    spring,
)
from strategies import as_system, random_matrices

import poinsot as ps
from poinsot import ph
from poinsot.ph import matrices


def pair(seed=0):
    a = as_system(random_matrices(seed, 3, 2)).prefixed("a")
    b = as_system(random_matrices(seed + 1, 4, 2)).prefixed("b")
    return a, b


def test_transformer_gives_the_printed_matrices():
    # [BAPM21, sec. 5.1], [LKB26, eq. (44)]
    a, b = pair()
    system = ph.interconnect(a, b, connections=ph.Transformer("a.port0", "b.port0", 0.7))
    B1, B2 = a.matrix_B[:, [0]], b.matrix_B[:, [0]]
    zeros = np.zeros
    J = np.block(
        [
            [a.matrix_J, zeros((3, 4)), -0.7 * B1],
            [zeros((4, 3)), b.matrix_J, B2],
            [0.7 * B1.T, -B2.T, zeros((1, 1))],
        ]
    )
    x = np.ones(8)
    assert np.allclose(system.J(x), J, rtol=1e-15)
    assert np.array_equal(system.E(x), np.diag([1] * 7 + [0]) * system.E(x))
    assert np.allclose(system.B(x)[:3, 0], a.matrix_B[:, 1])
    assert np.allclose(system.B(x)[3:7, 1], b.matrix_B[:, 1])
    assert system.H(x) == pytest.approx(a.H(x[:3]) + b.H(x[3:7]))
    assert [p.name for p in system.ports] == ["a.port1", "b.port1"]
    assert [p.name for p in system.connected] == ["a.port0", "b.port0"]
    assert system.states[-1].name == "lambda(a.port0, b.port0)"


def test_gyrator_gives_the_printed_matrices():
    a, b = pair()
    system = ph.interconnect(a, b, connections=ph.Gyrator("a.port0", "b.port0", 0.7))
    B1, B2 = a.matrix_B[:, [0]], b.matrix_B[:, [0]]
    J = np.block([[a.matrix_J, -0.7 * B1 @ B2.T], [0.7 * B2 @ B1.T, b.matrix_J]])
    assert np.allclose(system.J(np.ones(7)), J, rtol=1e-15)
    assert system.n == 7


def test_a_resistor_adds_B_D_B_transposed_to_R():
    a, _ = pair()
    system = ph.close(a, "a.port0", 2.0)
    B = a.matrix_B[:, [0]]
    assert np.allclose(system.R(np.ones(3)), a.matrix_R + 2 * B @ B.T)


def test_a_spring_on_a_mass_is_an_oscillator():
    joined = ph.close(mass(m=2.0), "mass.force", spring(k=3.0))
    result = ps.simulate(joined, h=0.01, t_end=2, x0={"mass.p": 1.0})
    known = ps.simulate(oscillator(m=2.0, k=3.0), h=0.01, t_end=2, x0=[0, 1])
    assert np.allclose(result["mass.p"], known["oscillator.p"], rtol=0, atol=1e-13)
    assert np.allclose(result["spring.q"], known["oscillator.q"], rtol=0, atol=1e-13)


def test_two_tied_masses_move_as_one():
    tied = ph.interconnect(
        mass("a", 1.0), mass("b", 3.0), connections=ph.Transformer("a.force", "b.force")
    )
    junction = ph.interconnect(
        mass("a", 1.0), mass("b", 3.0), connections=ph.Junction(("a.force", "b.force"))
    )
    for system in (tied, junction):
        result = ps.simulate(system, h=0.1, t_end=1, x0={"a.p": 0.5, "b.p": 1.5})
        assert np.allclose(result["a.p"], 0.5)
        assert np.allclose(result["b.p"], 1.5)


def test_closing_by_a_transformer_ties_outputs():
    system = ph.close(mass("a"), "a.force", mass("b"), kind=ph.Transformer)
    assert system.n == 3


# -- swapping ---------------------------------------------------------------------------------


def test_a_swapped_port_is_the_printed_improper_system():
    # [BAPM21, eq. (43)]
    a, _ = pair()
    system = ph.swap(a, "a.port0")
    B = a.matrix_B[:, [0]]
    J = np.block([[a.matrix_J, B], [-B.T, np.zeros((1, 1))]])
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.allclose(system.J(x), J)
    assert np.array_equal(system.E(x)[3], np.zeros(4))
    column = system.port_slices["a.port0"].start
    assert np.array_equal(system.B(x)[:, column], [0, 0, 0, 1])
    assert system.y(x, system.z(x))[column] == 4.0  # the multiplier is the output


def test_a_swapped_port_exchanges_its_units():
    system = ph.swap(mass(), "mass.force")
    assert (system.port("mass.force").u_unit, system.port("mass.force").y_unit) == ("m/s", "N")


def test_a_mass_with_prescribed_velocity_needs_the_force_m_a():
    system = ph.feed(ph.swap(mass(m=2.0), "mass.force"), "mass.force", np.sin)
    h = 0.01
    result = ps.simulate(system, h=h, t_end=1.0, x0={"mass.p": 0.0})
    port = result.port("mass.force")
    mid = port.time
    assert np.allclose(port.u[:, 0], np.sin(mid))
    velocity = (result["mass.p"][1:] + result["mass.p"][:-1]) / 4
    assert np.allclose(velocity, np.sin(mid), atol=1e-12)
    assert np.allclose(port.y[:, 0], np.diff(result["mass.p"]) / h, atol=1e-10)


@pytest.mark.parametrize("C", ["constant", "rotating"])
@pytest.mark.parametrize("kind", ["quadratic", "cosine"])
def test_swap_and_gyrator_equal_a_transformer(kind, C):
    # [BAPM21, eqs. (41)-(44)]: x_b of the swapped system carries its multiplier at the end.
    a, b = rotating_body("a", kind), rotating_body("b", kind)
    if C == "constant":
        coupling = tangent = gyrator_tangent = None
    else:
        coupling, tangent = rotation, rotation_tangent

        def gyrator_tangent(xa, xb):
            tensor = np.zeros((2, 2, xa.size + xb.size))
            tensor[:, :, :-2] = rotation_tangent(xa, xb[:-2])
            return tensor

    transformer = ph.interconnect(
        a, b, connections=ph.Transformer("a.point", "b.point", coupling, tangent)
    )
    swapped = ph.swap(b, "b.point")
    gyrator = ph.interconnect(
        a, swapped, connections=ph.Gyrator("a.point", "b.point", coupling, gyrator_tangent)
    )
    assert transformer.n == gyrator.n
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1, 1, transformer.n)
        for letter in "EJRB":
            ours, theirs = getattr(transformer, letter)(x), getattr(gyrator, letter)(x)
            assert np.allclose(ours, theirs, rtol=0, atol=1e-15), letter
        assert transformer.H(x) == gyrator.H(x)
        assert np.array_equal(transformer.z(x), gyrator.z(x))
    x0 = ph.consistent_state(transformer, np.linspace(0.2, 0.9, transformer.n))
    runs = [ps.simulate(s, h=0.05, t_end=2.0, x0=x0) for s in (transformer, gyrator)]
    for one, two in zip(*(r.states.values() for r in runs), strict=True):
        assert np.abs(one.values - two.values).max() <= 1e-11
    assert np.ptp(runs[0]["a.p"]) > 0.1


def test_swapping_twice_gives_the_motion_of_the_original():
    system = oscillator()
    twice = ph.swap(ph.swap(system, "oscillator.force"), "oscillator.force")
    twice = ph.feed(twice, "oscillator.force", np.cos)
    once = ph.feed(system, "oscillator.force", np.cos)
    a, b = (ps.simulate(s, h=0.05, t_end=1.0, x0={"oscillator.q": 0.3}) for s in (once, twice))
    assert np.allclose(a["oscillator.p"], b["oscillator.p"], atol=1e-12)


# -- names and bad input ----------------------------------------------------------------------


def test_the_remaining_ports_stay_available_and_can_be_joined_again():
    a, b = pair()
    inner = ph.interconnect(a, b, connections=ph.Gyrator("a.port0", "b.port0"), name="inner")
    outer = ph.interconnect(
        inner, mass(), connections=ph.Gyrator("a.port1", "mass.force"), name="outer"
    )
    assert [p.name for p in outer.ports] == ["b.port1"]
    assert {p.name for p in outer.connected} == {"a.port0", "b.port0", "a.port1", "mass.force"}
    renamed = outer.prefixed("left")
    assert [p.name for p in renamed.ports] == ["left.b.port1"]
    assert renamed.connected[0].name.startswith("left.")


def test_an_unknown_port_gets_a_suggestion():
    with pytest.raises(ps.InputError, match=r"no open port 'mass.forc'; did you mean 'mass.force'"):
        ph.interconnect(mass(), spring(), connections=ph.Gyrator("mass.forc", "spring.end"))


def test_a_port_is_used_once():
    law = ph.Resistor("mass.force", 1.0)
    with pytest.raises(ps.InputError, match=r"port 'mass.force' is connected twice"):
        ph.interconnect(mass(), connections=[law, law])
    closed = ph.interconnect(mass(), connections=law)
    with pytest.raises(ps.InputError, match=r"port 'mass.force' is already connected"):
        closed.port("mass.force")
    fed = ph.feed(mass(), "mass.force", 1.0)
    with pytest.raises(ps.InputError, match=r"port 'mass.force' is closed by an input already"):
        ph.interconnect(fed, connections=law)


def test_two_systems_with_one_name_for_a_port_are_told_apart_by_a_prefix():
    with pytest.raises(ps.InputError, match=r"both have a port 'mass.force'; rename one"):
        ph.interconnect(mass(), mass(), connections=ph.Transformer("mass.force", "mass.force"))
    law = ph.Transformer("l.mass.force", "r.mass.force")
    assert ph.interconnect(mass().prefixed("l"), mass().prefixed("r"), connections=law).n == 3


def test_two_systems_with_one_name_for_a_state_are_refused():
    one = ph.linear("one", states=["x"], J=[[0]], Q=[[1]], B=[[1]], ports=[ph.Port("one.p")])
    two = ph.linear("two", states=["x"], J=[[0]], Q=[[1]], B=[[1]], ports=[ph.Port("two.p")])
    with pytest.raises(ps.InputError, match="state name 'x' is used twice"):
        ph.interconnect(one, two, connections=ph.Gyrator("one.p", "two.p"))


def test_nothing_to_interconnect_is_an_error():
    with pytest.raises(ps.InputError, match="at least one system"):
        ph.interconnect(connections=[])


def test_a_mismatch_found_by_interconnect_names_both_ports():
    with pytest.raises(ps.InputError, match=r"'mass.force'.*'a.point'.*differ in size"):
        ph.interconnect(
            mass(), rotating_body("a"), connections=ph.Transformer("mass.force", "a.point")
        )
    with pytest.raises(ps.InputError, match=r"'mass.force'.*'spring.end'.*need C in kg s\^-1"):
        ph.interconnect(mass(), spring(), connections=ph.Transformer("mass.force", "spring.end"))


def test_closing_by_a_system_with_many_ports_asks_which():
    with pytest.raises(ps.InputError, match=r"system 'a' has 2 ports; choose one by by="):
        ph.close(mass(), "mass.force", rotating_body("a"))


@pytest.mark.parametrize(
    "action", [ph.swap, lambda s, p: ph.feed(s, p, 1), lambda s, p: ph.close(s, p, 1)]
)
def test_every_way_to_use_a_port_knows_its_name(action):
    with pytest.raises(
        ps.InputError, match="system 'pendulum': no port 'pusch'; did you mean 'push'"
    ):
        action(cartesian_pendulum(), "pusch")


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "not finite"), ([1.0, 2.0], r"has shape \(2,\)")]
)
def test_a_bad_constant_input_is_refused_when_it_is_fed(value, message):
    with pytest.raises(ps.InputError, match=f"port 'mass.force': .*{message}"):
        ph.feed(mass(), "mass.force", value)


# -- large systems ----------------------------------------------------------------------------

#: Enough states for sparse matrices.
LINKS = 22


def chain(body, links=LINKS):
    """Body i carries port i (to the spring on its left) and port i' (to the one on its right)."""
    systems, laws = [], []
    for i in range(links):
        systems += [body(i), two_ended_spring(i)]
        laws.append(ph.Gyrator(f"m{i}.left", f"s{i}.right"))
        if i:
            laws.append(ph.Gyrator(f"m{i - 1}.right", f"s{i}.left"))
    return ph.interconnect(*systems, connections=laws, name="chain")


def stiffness(i):
    return 2.0 + i % 3


def two_ended_spring(i):
    return ph.linear(
        f"s{i}",
        states=[f"s{i}.q"],
        J=[[0]],
        Q=[[stiffness(i)]],
        B=[[-1, 1]],
        ports=[ph.Port(f"s{i}.left"), ph.Port(f"s{i}.right")],
    )


def linear_mass(i):
    return ph.linear(
        f"m{i}",
        states=[f"m{i}.p"],
        J=[[0]],
        R=[[0.1]],
        Q=[[1.0]],
        B=[[1, 1]],
        ports=[ph.Port(f"m{i}.left"), ph.Port(f"m{i}.right")],
    )


def anchored_mass(i):
    """A mass on a quartic spring of its own."""
    return ph.from_functions(
        f"m{i}",
        states=[f"m{i}.q", f"m{i}.p"],
        H=lambda x: x[0] ** 4 / 4 + x[1] ** 2 / 2,
        z=lambda x: np.array([x[0] ** 3, x[1]]),
        dz=lambda x: np.diag([3 * x[0] ** 2, 1.0]),
        J=[[0, 1], [-1, 0]],
        B=[[0, 0], [1, 1]],
        ports=[ph.Port(f"m{i}.left"), ph.Port(f"m{i}.right")],
    )


def test_a_long_chain_is_sparse_and_moves_like_one_dense_system(monkeypatch):
    monkeypatch.setattr(matrices, "SPARSE_FROM", 40)
    joined = chain(linear_mass)
    assert joined.n == 2 * LINKS
    x0 = np.zeros(joined.n)
    x0[0], x0[41] = 1.0, -0.5
    assert not isinstance(joined.J(x0), np.ndarray)
    # By hand: p_i' = -k_i q_i + k_(i+1) q_(i+1) - 0.1 p_i, q_i' = p_i - p_(i-1).
    n = 2 * LINKS
    J, R, Q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i in range(LINKS):
        p, q = 2 * i, 2 * i + 1
        R[p, p], Q[p, p], Q[q, q] = 0.1, 1.0, stiffness(i)
        J[p, q], J[q, p] = -1, 1
        if i:
            J[p - 2, q], J[q, p - 2] = 1, -1
    dense = ph.linear("dense", states=[ph.State("x", n)], J=J, R=R, Q=Q)
    assert isinstance(dense.J(x0), np.ndarray)
    a = ps.simulate(joined, h=0.1, t_end=1.0, x0=x0)
    b = ps.simulate(dense, h=0.1, t_end=1.0, x0=x0)
    ours = np.column_stack([a[s.name] for s in joined.states])
    assert np.abs(ours - b["x"]).max() <= 1e-12


def test_the_sparse_low_rank_newton_step_gives_the_dense_motion(monkeypatch):
    monkeypatch.setattr(matrices, "SPARSE_FROM", 40)
    links = 15
    joined = chain(anchored_mass, links)
    n = joined.n
    assert n == 3 * links
    is_q = np.arange(n) % 3 == 0
    J = joined.J(np.zeros(n)).toarray()
    k = np.array([stiffness(i) for i in range(links)])
    linear_part = np.ones(n)
    linear_part[2::3] = k

    class Stores(ph.FunctionSystem):
        """One dense system, but a storage for each part, as the chain has."""

        @property
        def storages(self):
            return joined.storages

        def energies(self, x):
            return joined.energies(x)

    dense = ph.from_functions(
        "dense",
        states=[ph.State("x", n)],
        H=lambda x: np.sum(x[is_q] ** 4) / 4 + np.sum((linear_part * x**2)[~is_q]) / 2,
        z=lambda x: np.where(is_q, x**3, linear_part * x),
        dz=lambda x: np.diag(np.where(is_q, 3 * x**2, linear_part)),
        J=J,
    )
    dense = Stores(**{f: getattr(dense, f) for f in dense.__dataclass_fields__})
    x0 = np.random.default_rng(0).uniform(-1, 1, n)
    runs = [ps.simulate(s, h=0.1, t_end=0.5, x0=x0, scheme="ph-dg") for s in (joined, dense)]
    ours = np.column_stack([runs[0][s.name] for s in joined.states])
    assert np.abs(ours - runs[1]["x"]).max() <= 1e-12
    assert runs[0].stats.balance_error_max <= 1e-12 * runs[0].energy[0]


def test_a_joined_mechanism_starts_where_its_parts_do():
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("motor", ps.JointPort("pin"))
    system = model.compile()
    driven = ps.ph.swap(system, "motor")
    np.testing.assert_array_equal(driven.start[: system.n], system.start)
    held = ps.simulate(driven, h=0.01, t_end=0.1, scheme="ph-mp")
    np.testing.assert_allclose(held["bar.q"][-1], held["bar.q"][0], atol=1e-12)
