"""Structure is proven for good systems, and each kind of damage shows in its own number."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from hypothesis import given, settings
from numerics import subspace_gap
from parts import (
    cartesian_pendulum,
    coupled_functions,
    mass,
    nonlinear,
    oscillator,
    polar_particle,
    rotating_body,
    rotation,
    rotation_tangent,
    spring,
)
from strategies import linear_systems

import poinsot as ps
from poinsot import ph


def nested():
    inner = ph.interconnect(
        mass("a"), mass("b"), connections=ph.Transformer("a.force", "b.force", 0.5), name="gear"
    )
    motor = ph.interconnect(
        rotating_body("c"),
        rotating_body("d", "cosine"),
        connections=ph.Transformer("c.point", "d.point", rotation, rotation_tangent),
    )
    pair = ph.interconnect(
        oscillator("e"), spring("f"), connections=ph.Gyrator("e.force", "f.end", 1.0)
    )
    return ph.interconnect(
        inner, motor, pair, connections=ph.Resistor("c.torque", 0.3), name="nested"
    )


GOOD = {
    "linear": lambda: oscillator(d=0.3),
    "symbolic": lambda: nonlinear("coupled", 0.2, 0.4),
    "symbolic, state-dependent E": lambda: polar_particle(0.1),
    "symbolic, constraint": cartesian_pendulum,
    "functions": lambda: coupled_functions(derivatives=True),
    "gyrator": lambda: ph.close(mass(), "mass.force", spring()),
    "swap": lambda: ph.swap(oscillator(), "oscillator.force"),
    "nested": nested,
}


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("seed", [0, 1])
def test_all_defects_of_a_good_system_vanish(kind, seed):
    system = GOOD[kind]()
    defects = system.defects(np.random.default_rng(seed).uniform(0.3, 1.0, system.n))
    assert defects.holds(1e-9), str(defects)
    assert defects.worst[1] <= 1e-9


@settings(max_examples=20)
@given(case=linear_systems())
def test_all_defects_of_random_linear_systems_vanish(case):
    system, x = case
    assert system.defects(x).holds(1e-9)


J = np.array([[0, 1], [-1, 0]])


def build(**changes):
    """A good system of functions, but for the changes."""
    parts = {
        "H": lambda x: x[0] ** 4 / 4 + x[1] ** 2 / 2,
        "z": lambda x: np.array([x[0] ** 3, x[1]]),
        "dz": lambda x: np.diag([3 * x[0] ** 2, 1]),
        "J": lambda x: J,
        "dJ": lambda x, a: np.zeros((2, 2)),
        "R": lambda x: np.diag([0, 0.5]),
        "dR": lambda x, a: np.zeros((2, 2)),
        "r": lambda x, z: np.array([0, z[1] ** 3]),
        "dr_dx": lambda x, z: np.zeros((2, 2)),
        "dr_dz": lambda x, z: np.diag([0, 3 * z[1] ** 2]),
    }
    return ph.from_functions("built", states=["q", "p"], **{**parts, **changes})


BROKEN = {
    "skew": {"J": lambda x: np.array([[0, 1], [-0.9, 0]])},
    "symmetric": {"R": lambda x: np.array([[0.1, 0.2], [0, 0.5]])},
    "semidefinite": {"R": lambda x: np.diag([-0.1, 0.5])},
    "gradient": {"z": lambda x: np.array([x[0] ** 3 + 0.1 * x[0], x[1]])},
    "dirac": {"J": lambda x: np.array([[0.1, 1], [-1, 0]])},
    "lagrangian": {
        "z": lambda x: np.array([x[0] ** 3 + x[1], x[1]]),
        "dz": lambda x: np.array([[3 * x[0] ** 2, 1], [0, 1]]),
    },
    "resistive": {"r": lambda x, z: np.array([0, -(z[1] ** 3)])},
}


def test_the_system_that_is_broken_below_is_good_before():
    assert build().defects([0.8, 0.3]).holds(1e-9)


@pytest.mark.parametrize("property_", BROKEN)
def test_a_broken_property_shows_in_its_own_defect(property_):
    defects = build(**BROKEN[property_]).defects([0.8, 0.3])
    assert getattr(defects, property_) > 1e-2
    assert not defects.holds()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("skew", "J is not skew-symmetric"),
        ("symmetric", "R is not symmetric"),
        ("semidefinite", "R is not positive semi-definite"),
        ("gradient", "E^T z is not the gradient of H"),
        ("resistive", "creates energy"),
    ],
)
def test_a_broken_system_is_not_simulated(broken, message):
    with pytest.raises(ps.StructureError) as error:
        ps.simulate(build(**BROKEN[broken]), h=0.1, t_end=1, x0=[0.8, 0.3])
    assert message in str(error.value)
    assert "'built'" in str(error.value)


def test_a_nan_defect_counts_as_the_worst():
    defects = replace(build().defects([0.8, 0.3]), gradient=np.nan)
    assert defects.worst[0] == "gradient"
    assert not defects.holds()


@pytest.mark.parametrize("x0", [0.0, 1e-9])
@pytest.mark.parametrize("kind", ["even", "odd", "shallow"])
def test_the_gradient_defect_vanishes_at_an_equilibrium(kind, x0):
    q, p = sp.symbols("q p")
    potential = {"even": q**4 / 4, "odd": q**2 / 2 + q**3 / 3, "shallow": 1 - sp.cos(q)}[kind]
    system = ph.symbolic(
        "rest",
        states={"q": q, "p": p},
        H=potential + p**2 / 2,
        J=J,
        B=[[0], [1]],
        ports=[ph.Port("u")],
    )
    assert ph.gradient_defect(system, np.array([x0, 0.0])) <= 1e-8


# -- the Dirac structure, from its definition -------------------------------------------------


def by_definition(system, x):
    """All (flow, effort) that the system allows, as a kernel, in full coordinates.

    Unknowns: E x', z, y, e_R, u. Equations: E x' = J z - e_R + B u; E x' in the range of E;
    y = B^T z. Storage flows and efforts are taken in the range of E.
    """
    E, J_, B = (np.asarray(M(x)) for M in (system.E, system.J, system.B))
    n, _m = B.shape
    U1 = scipy.linalg.orth(E)
    k = U1.shape[1]
    # columns: s (k, E x' = U1 s), z (n), e_R (n), u (m)
    law = np.hstack([-U1, J_, -np.eye(n), B])
    kernel = scipy.linalg.null_space(law)
    s, z, e_R, u = np.split(kernel, np.cumsum([k, n, n]))
    flows = np.vstack([U1 @ s, z, -B.T @ z])
    efforts = np.vstack([U1 @ U1.T @ z, e_R, u])
    return U1, flows, efforts


def complement(flows, efforts):
    """{(f, e): f^·e + f·e^ = 0 for all members}, [BHRS25, def. 3]."""
    return scipy.linalg.null_space(np.vstack([efforts, flows]).T)


@pytest.mark.parametrize("kind", GOOD)
def test_the_flow_effort_space_is_its_own_orthogonal_complement(kind):
    system = GOOD[kind]()
    x = np.random.default_rng(4).uniform(0.3, 1.0, system.n)
    space = ph.dirac_structure(system, x)
    members = np.vstack([space.F, space.E])
    assert subspace_gap(members, complement(space.F, space.E)) <= 1e-10
    assert space.defect <= 1e-10


@pytest.mark.parametrize("kind", GOOD)
def test_the_flow_effort_space_is_that_of_the_equations(kind):
    system = GOOD[kind]()
    x = np.random.default_rng(6).uniform(0.3, 1.0, system.n)
    space = ph.dirac_structure(system, x)
    U1, flows, efforts = by_definition(system, x)
    n, m, k = system.n, system.m, U1.shape[1]
    assert space.F.shape[0] == space.E.shape[0] == k + n + m
    # The storage part is given in some orthonormal basis of the range of E: find it by comparing.
    ours_f, theirs_f = space.F[k:], flows[n:]
    ours_e, theirs_e = space.E[k:], efforts[n:]
    assert subspace_gap(np.vstack([ours_f, ours_e]), np.vstack([theirs_f, theirs_e])) <= 1e-9
    # Power of storage = - power of resistor and port, for members of both.
    power = np.einsum("ij,ij->j", flows, efforts)
    assert np.abs(power).max() <= 1e-12


def test_a_non_skew_J_is_not_self_orthogonal():
    system = build(**BROKEN["dirac"])
    space = ph.dirac_structure(system, np.array([0.8, 0.3]))
    members = np.vstack([space.F, space.E])
    assert subspace_gap(members, complement(space.F, space.E)) > 1e-2
    assert space.power_defect > 1e-2


def test_a_space_of_too_low_dimension_is_no_dirac_structure():
    full = ph.dirac_structure(oscillator(), np.zeros(2))
    short = ph.DiracStructure(F=full.F[:, :-1], E=full.E[:, :-1])
    assert short.power_defect <= 1e-14
    assert short.dimension_defect == 1
    assert short.defect >= 1


# -- constant rank ----------------------------------------------------------------------------


def slot():
    """Two masses tied through C = sin(angle): the tie lets go where the sine vanishes."""
    law = ph.Transformer(
        "a.point",
        "b.point",
        lambda xa, xb: np.array([[1.0, 0.0], [0.0, np.sin(xa[0])]]),
        lambda xa, xb: np.zeros((2, 2, 8)),
    )
    return ph.interconnect(rotating_body("a"), rotating_body("b"), connections=law)


def test_a_transformer_that_ties_both_sides_keeps_its_rank():
    states = np.random.default_rng(0).uniform(-1, 1, (5, 10))
    assert list(ph.constraint_ranks(slot(), states)) == [2] * 5
    assert ph.rank_defect(slot(), states) == 0


def test_a_constraint_whose_rank_drops_is_detected():
    # A pendulum at length zero: the gradient of its constraint vanishes, [BHRS25, eq. (13)].
    states = [[0.6, -0.8, 0, 0, 0], [0, 0, 0, 0, 0], [1.0, 0, 0, 0, 0]]
    assert list(ph.constraint_ranks(cartesian_pendulum(), states)) == [1, 0, 1]
    assert ph.rank_defect(cartesian_pendulum(), states) == 1


@pytest.mark.parametrize("angle", [0.0, np.pi], ids=["to zero", "to round-off"])
def test_an_interconnection_whose_rank_drops_is_detected(angle):
    # Both ports lose their grip where the sine of their angle vanishes.
    q, p = sp.symbols("q p")

    def part(name):
        return ph.symbolic(
            name,
            states={f"{name}.q": q, f"{name}.p": p},
            H=(q**2 + p**2) / 2,
            J=J,
            B=[[0], [sp.sin(q)]],
            ports=[ph.Port(f"{name}.port")],
        )

    law = ph.Transformer("a.port", "b.port")
    system = ph.interconnect(part("a"), part("b"), connections=law)
    good, bad = [1, 0, 0.5, 0, 0], [0, 0, angle, 0, 0]
    assert list(ph.constraint_ranks(system, [good, bad])) == [1, 0]
    assert ph.rank_defect(system, [good, bad]) == 1
    assert ph.rank_defect(system, [good, [0, 0, 0.5, 0, 0]]) == 0


def test_the_rank_of_no_state_is_an_error():
    with pytest.raises(ps.InputError, match="at least one state"):
        ph.rank_defect(cartesian_pendulum(), [])


def test_a_restricted_dirac_structure_is_one_again():
    """[BHRS25, prop. 4]: efforts with C e = 0, flows up to C^T mu, whatever the rank of C."""
    random = np.random.default_rng(0)
    J = random.standard_normal((5, 5))
    whole = ph.DiracStructure(J - J.T, np.eye(5))
    C = random.standard_normal((2, 5))
    for rows in (C, np.vstack([C, C.sum(axis=0)]), np.zeros((1, 5)), np.eye(5)):
        restricted = whole.restricted(rows)
        assert restricted.defect < 1e-12
        assert abs(rows @ restricted.E).max() < 1e-12
        e = restricted.E @ random.standard_normal(restricted.E.shape[1])
        mu = random.standard_normal(len(rows))
        assert restricted.distance((J - J.T) @ e - rows.T @ mu, e) < 1e-12
    # A flow that is not in the range of C^T is no multiplier's.
    e = whole.restricted(C).E[:, 0]
    assert whole.restricted(C).distance((J - J.T) @ e + random.standard_normal(5), e) > 1e-3


def test_a_restriction_may_change_its_kind_where_the_rank_does():
    """[BHRS25, remark 5]: R x {0}, C = (1, x): at x = 0 it is the whole, elsewhere another."""
    whole = ph.DiracStructure(np.diag([1.0, 0.0]), np.diag([0.0, 1.0]))
    at_zero, beside = whole.restricted([[1.0, 0.0]]), whole.restricted([[1.0, 1e-3]])
    for structure in (at_zero, beside):
        assert structure.defect < 1e-12
    assert at_zero.distance(np.zeros(2), np.array([0.0, 1.0])) < 1e-12
    assert beside.distance(np.zeros(2), np.array([0.0, 1.0])) > 0.9
