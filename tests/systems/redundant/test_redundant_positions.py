"""Ports joined at positions [BHRS25, rem. 4], more than two systems, and lost ranks."""

import math
from functools import cache

import numpy as np
import pytest
import sympy
from numerics import jacobian, observed_orders
from redundant_systems import exact, run
from sympy import cos, sin

import poinsot as ps
from poinsot.gallery.planar_slider_crank import REAL, Mechanism, gap, model, motion, start
from poinsot.gallery.planar_slider_crank import crank as crank_of
from poinsot.gallery.planar_slider_crank import rod as rod_of
from poinsot.ph.general_stages import stage_equations

LEVELS = "velocity", "position"
CRANK, ROD, SLIDER, ARM = 0.15, 0.35, 0.3, 0.175  # m, m, kg, m


@cache
def parts():
    """A crank, a free rod of 0.5 kg about its end B, and a slider on the x axis."""
    phi, omega, s, v = sympy.symbols("phi omega s v")
    x, y, turn, vx, vy, rate = sympy.symbols("x y turn vx vy rate")
    both = [[cos(turn), sin(turn)], [-sin(turn), cos(turn)]]
    crank = ps.RedundantSystem.symbolic(
        "crank",
        zeta=[phi],
        w=[omega],
        M=[[0.002]],
        B=[[1, -CRANK * sin(phi), CRANK * cos(phi)]],
        ports=[ps.ph.Port("motor"), ps.ph.Port("crank.C", 2)],
        positions={"crank.C": [CRANK * cos(phi), CRANK * sin(phi)]},
    )
    rod = ps.RedundantSystem.symbolic(
        "rod",
        zeta=[x, y, turn],
        w=[vx, vy, rate],
        M=[[0.5, 0, 0], [0, 0.5, 0.5 * ARM], [0, 0.5 * ARM, 0.02]],
        Z=[[cos(turn), -sin(turn), 0], [sin(turn), cos(turn), 0], [0, 0, 1]],
        G=lambda p: [[0, 0, -p[1]], [0, 0, p[0]], [p[1], -p[0], 0]],
        B=[
            [*both[0], *both[0]],
            [*both[1], *both[1]],
            [0, 0, -ROD * sin(turn), ROD * cos(turn)],
        ],
        ports=[ps.ph.Port("rod.B", 2), ps.ph.Port("rod.C", 2)],
        positions={"rod.B": [x, y], "rod.C": [x + ROD * cos(turn), y + ROD * sin(turn)]},
        dissipation=[0, 0, 0.001 * rate],
    )
    slider = ps.RedundantSystem.symbolic(
        "slider",
        zeta=[s],
        w=[v],
        M=[[SLIDER]],
        B=[[1, 0]],
        ports=[ps.ph.Port("slider.B", 2)],
        positions={"slider.B": [s, 0]},
    )
    return crank, rod, slider


def orders(level):
    """All three joined in three orders, with the places of (crank, rod, slider) in zeta and w."""
    crank, rod, slider = parts()
    C, B = {"crank.C": "rod.C"}, {"rod.B": "slider.B"}
    back = {port: other for tie in (C, B) for other, port in tie.items()}
    return {
        "crank first": (
            crank.joined(rod, C, level=level).joined(slider, B, level=level),
            [0, 1, 2, 3, 4],
        ),
        "slider first": (
            crank.joined(rod.joined(slider, B, level=level), C, level=level),
            [0, 1, 2, 3, 4],
        ),
        "backwards": (
            slider.joined(rod, {"slider.B": back["slider.B"]}, level=level).joined(
                crank, {"rod.C": "crank.C"}, level=level
            ),
            [4, 1, 2, 3, 0],
        ),
    }


def first_state(phi=0.5, omega=10.0):
    turn = np.pi - np.arcsin(CRANK / ROD * np.sin(phi))
    rate = CRANK * np.cos(phi) * omega / (ROD * np.cos(turn))
    x = CRANK * np.cos(phi) - ROD * np.cos(turn)
    v = -CRANK * np.sin(phi) * omega + ROD * np.sin(turn) * rate
    zeta = np.array([phi, x, 0.0, turn, x])
    return zeta, np.array([omega, v * np.cos(turn), -v * np.sin(turn), rate, v])


def run_joined(system, places, h, t_end):
    zeta, w = np.zeros(5), np.zeros(5)
    zeta[places], w[places] = first_state()
    result = run(system, {"zeta": zeta, "w": w}, h=h, t_end=t_end, inputs={"motor": 0.02})
    return result, result["zeta"][:, places], result["w"][:, places]


def one_freedom(t):
    """The angle of the crank by its own equation, with the inertia that it feels."""

    def lever(phi):
        turn = np.pi - np.arcsin(CRANK / ROD * np.sin(phi))
        rate = CRANK * np.cos(phi) / (ROD * np.cos(turn))
        return turn, rate, -CRANK * np.sin(phi) + ROD * np.sin(turn) * rate

    def inertia(phi):
        turn, rate, v = lever(phi)
        moving = (0.5 + SLIDER) * v**2 - v * ARM * np.sin(turn) * rate
        return 0.002 + moving + 0.02 * rate**2

    def motion_of(_, s):
        phi, omega = s
        slope = jacobian(lambda a: inertia(a[0]), [phi])[0]
        lost = 0.001 * lever(phi)[1] ** 2 * omega
        return [omega, (0.02 - lost - slope * omega**2 / 2) / inertia(phi)]

    return exact(motion_of, [0.5, 10.0], t)


@pytest.mark.parametrize("level", LEVELS)
def test_three_systems_move_alike_whatever_the_order_of_joining(level):
    found = {name: run_joined(*given, 0.002, 0.04) for name, given in orders(level).items()}
    _, zeta, w = found.pop("crank first")
    for result, other_zeta, other_w in found.values():
        np.testing.assert_allclose(other_zeta, zeta, rtol=0, atol=1e-11)
        np.testing.assert_allclose(other_w, w, rtol=0, atol=1e-9)
        assert result.stats.balance_error_max < 1e-13


@pytest.mark.parametrize("level", LEVELS)
def test_three_joined_systems_approach_the_motion_of_their_one_freedom_with_order_two(level):
    system, places = orders(level)["crank first"]
    steps = 0.004, 0.002
    errors = []
    for h in steps:
        _, zeta, w = run_joined(system, places, h, 0.2)
        errors.append(np.linalg.norm([zeta[-1, 0], w[-1, 0]] - one_freedom(0.2)))
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def test_joined_systems_are_block_by_block_those_of_the_paper():
    """[BHRS25, sec. 6]: every matrix of the printed system, entry by entry."""
    a, b = crank_of(REAL), rod_of(REAL)
    whole = a.joined(b, {"C": "C"}).laws
    A, B, random = a.laws, b.laws, np.random.default_rng(1)
    for _ in range(3):
        zeta, w, Gamma = (random.standard_normal(4) for _ in range(3))
        one, two = zeta[:1], zeta[1:]

        def diagonal(first, second):
            zero = np.zeros
            return np.block(
                [
                    [first, zero((first.shape[0], second.shape[1]))],
                    [zero((second.shape[0], first.shape[1])), second],
                ]
            )

        B_1, B_2 = A.B(one), B.B(two)
        tie = np.hstack([B_1[:, 1:].T, -B_2[:, 1:].T])
        for ours, printed in (
            (whole.Z(zeta), diagonal(A.Z(one), B.Z(two))),
            (whole.M, diagonal(A.M, B.M)),
            (whole.G(Gamma), diagonal(A.G(Gamma[:1]), B.G(Gamma[1:]))),
            (whole.A(zeta), np.vstack([diagonal(A.A(one), B.A(two)), tie])),
            (whole.B(zeta), diagonal(B_1[:, :1], B_2[:, :1])),
            (whole.c(zeta), np.concatenate([A.c(one), B.c(two)])),
            (whole.tau_d(zeta, w), np.concatenate([A.tau_d(one, w[:1]), B.tau_d(two, w[1:])])),
        ):
            np.testing.assert_array_equal(ours, printed)
        assert whole.V(zeta) == A.V(one) + B.V(two)


@pytest.mark.parametrize("level", LEVELS)
def test_the_tangent_of_a_joined_step_is_the_derivative_of_its_residual(level):
    system = model(level=level)
    x0 = system.state(start())
    problem = stage_equations(system, ps.SCHEMES["ph-dg"], 0.0, x0, system.u(0.0), 0.1)
    w = problem.guess + 0.05 * np.random.default_rng(3).standard_normal(system.n)
    expected = jacobian(lambda a: problem.evaluate(a).F, w)
    np.testing.assert_allclose(problem.evaluate(w).tangent().T, expected, rtol=0, atol=1e-8)


def test_a_system_joined_at_positions_is_port_hamiltonian():
    system = model(REAL)
    assert system.defects(start(REAL)).holds(1e-9)
    found = system.relations(start(REAL))
    assert max(found.dirac.defect, found.lagrangian.defect, found.resistive.defect) < 1e-12


@pytest.mark.parametrize("level", LEVELS)
def test_joined_at_positions_the_gap_is_round_off_for_hundreds_of_steps(level):
    """A Scotch yoke: the pin of a crank in the slot of a slider; s = cos(phi)."""
    phi, omega, s, v = sympy.symbols("phi omega s v")
    a, b = (
        ps.RedundantSystem.symbolic(
            name,
            zeta=[q],
            w=[w],
            M=[[0.5]],
            B=[[sympy.diff(place, q)]],
            ports=[ps.ph.Port(name)],
            positions={name: [place]},
        )
        for name, q, w, place in (("crank", phi, omega, cos(phi)), ("slider", s, v, s))
    )
    steps = 300
    yoke = a.joined(b, {"crank": "slider"}, level=level)
    x0 = {"zeta": [0.5, np.cos(0.5)], "w": [2.0, -2.0 * np.sin(0.5)]}
    result = run(yoke, x0, h=0.02, t_end=0.02 * steps, save_every=10)
    apart = abs(np.cos(result["zeta"][:, 0]) - result["zeta"][:, 1]).max()
    assert apart < 1e-13 if level == "position" else apart > 1e-5
    assert result.stats.steps == steps
    assert result.stats.balance_error_max < 1e-11 * result.energy[0]


def test_the_gap_of_the_slider_crank_is_round_off():
    result = run(model(), start(), h=0.002, t_end=0.4)
    assert gap(result).max() < 1e-14
    assert result.stats.balance_error_max < 1e-11 * result.energy[0]


def test_joined_at_velocities_the_gap_drifts_with_order_two():
    gaps = [gap(run(model(level="velocity"), start(), h=h, t_end=0.2)).max() for h in (4e-3, 2e-3)]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(2.0, abs=0.1)


# -- positions of ports -----------------------------------------------------------------------


def test_functions_join_at_positions_as_expressions_do():
    """The crank of the gallery as Python functions, joined with its rod."""
    reference = crank_of()

    def point(q):
        return 0.15 * np.array([np.cos(q[0]), np.sin(q[0])])

    def turned(q):
        return 0.15 * np.array([[-np.sin(q[0])], [np.cos(q[0])]])

    given = {
        "n_zeta": 1,
        "n_w": 1,
        "M": reference.laws.M,
        "B": lambda q: np.hstack([[[1.0]], turned(q).T]),
        "dB": lambda q: np.array([[[0.0], *(-point(q)[:, None])]]),
        "ports": reference.ports,
        "positions": {"C": point},
    }
    with pytest.warns(ps.MissingDerivativeWarning, match=r"dpositions\['C'\], ddpositions\['C'\]"):
        ps.RedundantSystem.from_functions("crank", **given)
    crank = ps.RedundantSystem.from_functions(
        "crank",
        **given,
        dpositions={"C": turned},
        ddpositions={"C": lambda q: -point(q)[:, None, None]},
    )
    system = crank.joined(rod_of(), {"C": "C"}, level="position")
    options = {"h": 0.002, "t_end": 0.05}
    ours = run(system, start(), inputs={"motor": 0.02}, **options)
    np.testing.assert_allclose(motion(ours), motion(run(model(), start(), **options)), atol=1e-9)


def symbolic(name="s", **options):
    q, v = sympy.symbols("q v")
    given = {"zeta": [q], "w": [v], "M": [[1]], "B": [[cos(q)]], "ports": [ps.ph.Port("p")]}
    return ps.RedundantSystem.symbolic(name, **{**given, **options})


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ({"p": [2 * sin(sympy.Symbol("q"))]}, ps.StructureError, r"B\^T is .* give B the columns"),
        ({"p": [1, 2]}, ps.InputError, "position of port 'p' has 2 entries, and the port 1"),
        ({"o": [1]}, ps.InputError, "positions: no port 'o'"),
        ({"p": [sympy.Symbol("v")]}, ps.InputError, "position of 'p' contains v"),
    ],
)
def test_positions_whose_rates_are_not_the_outputs_are_refused(positions, error, message):
    with pytest.raises(error, match=message):
        symbolic(positions=positions)


def test_ports_without_positions_are_not_joined_at_positions():
    bare = symbolic()
    with pytest.raises(ps.InputError, match=r"'p' has no position; .* connect at level='velocity'"):
        bare.joined(symbolic("t"), {"p": "p"}, level="position")
    with pytest.raises(ps.InputError, match="choose from velocity, position"):
        bare.joined(symbolic("t"), {"p": "p"}, level="momentum")


def rooted(name, factor=1.0, domain=None):
    """A point at sqrt(q - 4): math.sqrt has no value at any of the random coordinates."""
    return ps.RedundantSystem.from_functions(
        name,
        n_zeta=1,
        n_w=1,
        M=[[1.0]],
        B=lambda q: [[factor / (2 * math.sqrt(q[0] - 4))]],
        dB=lambda q: [[[-factor / (4 * math.sqrt(q[0] - 4) ** 3)]]],
        ports=[ps.ph.Port(name)],
        positions={name: lambda q: [math.sqrt(q[0] - 4)]},
        dpositions={name: lambda q: [[1 / (2 * math.sqrt(q[0] - 4))]]},
        ddpositions={name: lambda q: [[[-1 / (4 * math.sqrt(q[0] - 4) ** 3)]]]},
        domain=domain,
    )


def test_positions_are_compared_with_outputs_where_a_run_starts():
    """Where sqrt(q - 4) = 1: q = 5."""
    assert run(rooted("right"), {"zeta": [5.0]}, t_end=0.1).status == "done"
    wrong = rooted("wrong", 2.0)
    message = r"position of port 'wrong' is not its output: .* is 0.5 at zeta = \[5.\]"
    with pytest.raises(ps.StructureError, match=message):
        run(wrong, {"zeta": [5.0]})
    with pytest.raises(
        ps.InputError, match=r"'right' is not differentiable at the start, zeta = \[0.\]"
    ):
        run(rooted("right"), {})


def test_positions_of_joined_ports_are_compared_too():
    tie, start_ = {"right": "wrong"}, {"zeta": [5.0, 5.0]}
    right, wrong = rooted("right"), rooted("wrong", 2.0)
    assert run(right.joined(wrong, tie), start_, t_end=0.1).status == "done"
    with pytest.raises(ps.StructureError, match=r"position of port 'wrong.wrong' is not its"):
        run(right.joined(wrong, tie, level="position"), start_)


def test_positions_are_compared_inside_of_the_domain_only():
    """|q - 1|' is its output where q > 1, and nowhere else."""
    q = sympy.Symbol("q", real=True)
    given = {"zeta": [q], "B": [[1]], "positions": {"p": abs(q - 1)}}
    assert symbolic(domain={"q = 1": q - 1}, **given).laws.positions["p"].size == 1
    with pytest.raises(ps.StructureError, match="is not its output"):
        symbolic(domain={"q = 1": 1 - q}, **given)


def test_the_domain_ends_where_its_function_has_no_value():
    system = rooted("right", domain={"end": lambda q: math.sqrt(q[0] - 4.5)})
    with pytest.raises(ps.InputError, match="'end' is at nan, inside it is positive"):
        run(system, {"zeta": [4.2]})
    with pytest.raises(ps.SimulationError, match=r"end: the coordinates end"):
        run(system, {"zeta": [5.0], "w": [-2.0]})


def test_a_start_with_ports_apart_is_refused_by_the_name_of_the_tie():
    apart = {"zeta": [0.5, 0.47, 0.0, 2.9], "w": [0.0, 0.0, 0.0, 0.0]}
    with pytest.raises(ps.InconsistentStartError, match=r"'crank.C\[1\] = rod.C\[1\]' by 0.01"):
        run(model(), apart)


# -- the rank condition -----------------------------------------------------------------------

EQUAL = Mechanism(crank=0.2, rod=0.2, rod_inertia=0.02)


def towards_dead_point(phi):
    """Crank and rod of equal length: at phi = 90 deg both stand upright, and may part ways."""
    return {
        "zeta": [phi, 0.4 * np.cos(phi), 0.0, np.pi - phi],
        "w": [5.0, 2.0 * np.sin(phi) * np.cos(phi), 2.0 * np.sin(phi) ** 2, -5.0],
    }


@pytest.mark.parametrize("level", LEVELS)
def test_a_start_without_rank_is_refused_with_the_ports_that_depend_on_each_other(level):
    message = (
        r"3 constraints on 4 velocities have the rank 2 at the start, and more nearby: "
        r"'rod.c\[0\]', 'crank.C\[1\] = rod.C\[1\]' are dependent only there"
    )
    with pytest.raises(ps.InputError, match=message):
        run(model(EQUAL, level=level), towards_dead_point(np.pi / 2))


@pytest.mark.parametrize("level", LEVELS)
def test_a_step_that_fails_where_the_rank_is_lost_says_so(level):
    """Newton's method gets one iteration, and that is not enough."""
    message = r"lose their rank .*: 'rod.c\[0\]', 'crank.C\[1\] = rod.C\[1\]' depend on each other"
    newton = ps.Newton(max_iterations=1, halvings=0)
    start_ = towards_dead_point(np.pi / 2 - 0.01)
    with pytest.raises(ps.SimulationError, match=message):
        run(model(EQUAL, level=level), start_, h=0.005, newton=newton)
    with pytest.raises(ps.SimulationError) as error:
        run(model(EQUAL, level=level), towards_dead_point(0.8), h=0.005, newton=newton)
    assert "lose their rank" not in str(error.value)


def test_a_mass_matrix_may_be_indefinite_only_where_nothing_can_move():
    """The rod of the gallery has I_2B < m r^2, and its slider keeps it from moving so."""
    assert np.linalg.eigvalsh(rod_of().laws.M)[0] < 0
    q, v = sympy.symbols("q1:3"), sympy.symbols("v1:3")
    held = {"zeta": q, "w": v, "M": [[1, 0], [0, -1]]}
    assert run(ps.RedundantSystem.symbolic("s", A=[[1, 2]], **held), {}, t_end=0.1) is not None
