"""Bad input is refused with what, where and what to do."""

import numpy as np
import pytest
import sympy
from redundant_systems import PENDULUM_START, pendulum, run

import poinsot as ps

a, b, va, vb, g1, g2, other = sympy.symbols("a b va vb g1 g2 other")
PORT = ps.ph.Port("push")
EYE = np.eye(2)


def symbolic(**options):
    given = {"zeta": [a, b], "w": [va, vb], "M": [[1, 0], [0, 1]], **options}
    return ps.RedundantSystem.symbolic("s", **given)


def from_functions(**options):
    return ps.RedundantSystem.from_functions("s", **{"n_zeta": 2, "n_w": 2, "M": EYE, **options})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"M": [[1, 2], [3, 9]]}, ps.StructureError, r"\(0, 1\) is 2, and \(1, 0\) is 3"),
        ({"M": [[1, 0], [0, -2]]}, ps.StructureError, "indefinite: .* eigenvalue -2 along 'vb'"),
        ({"M": [[a, 0], [0, 1]]}, ps.InputError, "M contains a"),
        ({"M": [[1, 0]]}, ps.InputError, r"M has shape \(1, 2\), expected \(2, 2\)"),
        ({"G": [[0, 1], [1, 0]]}, ps.StructureError, "G is not skew-symmetric"),
        ({"G": [[0, g1], [-g1, 0]]}, ps.InputError, "G contains g1"),
        ({"G": [[0, g1], [g1, 0]], "Gamma": [g1, g2]}, ps.StructureError, "G is not skew"),
        ({"Gamma": [g1]}, ps.InputError, "1 symbols Gamma of 2 momenta"),
        ({"Z": [[1, 0]]}, ps.InputError, r"Z has shape \(1, 2\), expected \(2, 2\)"),
        ({"w": [va], "M": [[1]]}, ps.InputError, r"2 coordinates and 1 velocities need Z"),
        ({"A": [[1, 0, 0]]}, ps.InputError, r"A has shape \(1, 3\), expected \(1, 2\)"),
        ({"A": [[va, 0]]}, ps.InputError, "A contains va"),
        ({"c": [a - other]}, ps.InputError, "c contains other, .* parameters"),
        ({"V": other * a}, ps.InputError, "V contains other, .* parameters"),
        ({"dissipation": [va]}, ps.InputError, r"dissipation has shape \(1, 1\)"),
        ({"B": [[1], [0]]}, ps.InputError, "both B and the ports of its columns"),
        ({"B": [[1, 0]], "ports": [PORT]}, ps.InputError, r"B has shape \(1, 2\)"),
        ({"ports": ["push"], "B": [[1], [0]]}, ps.InputError, "expected a Port"),
        ({"zeta": [a, a]}, ps.InputError, "used twice"),
        ({"zeta": "ab"}, ps.InputError, "list of SymPy symbols"),
        ({"units": {"q": "m"}}, ps.InputError, "units: no state 'q'"),
        ({"zeta": 3}, ps.InputError, "list of SymPy symbols"),
        ({"domain": [a]}, ps.InputError, r"domain is \[a\]; give a mapping, e.g."),
        ({"domain": {"edge": [a]}}, ps.InputError, r"domain 'edge' is \[a\]; give one expression"),
        ({"domain": {"edge": a < 1}}, ps.InputError, "domain 'edge' is a < 1; give one"),
        ({"positions": [a]}, ps.InputError, r"positions is \[a\]; give a mapping, e.g."),
        ({"positions": {"push": None}}, ps.InputError, "position of 'push' is None; give a list"),
        ({"parameters": [1.0]}, ps.InputError, r"parameters is \[1.0\]; give a mapping"),
        ({"c": None}, ps.InputError, "c is None; give a list of expressions"),
        ({"c": [None]}, ps.InputError, "c contains None; give numbers and SymPy expressions"),
        ({"V": a < 1}, ps.InputError, "V contains a < 1; give numbers"),
        ({"A": 3}, ps.InputError, "A is not a matrix"),
        ({"ports": PORT, "B": [[1], [0]]}, ps.InputError, "give a list of Ports"),
    ],
)
@pytest.mark.filterwarnings(r"ignore:\s*non-Expr objects in a Matrix")
def test_expressions_that_make_no_system_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        symbolic(**options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"M": np.eye(3)}, ps.InputError, r"M has shape \(3, 3\), expected \(2, 2\)"),
        ({"M": [[1, 2], [3, 9]]}, ps.StructureError, r"\(0, 1\) is 2, and \(1, 0\) is 3"),
        ({"M": -EYE}, ps.StructureError, "indefinite"),
        ({"G": EYE}, ps.StructureError, "G is not skew-symmetric: .* check the signs"),
        ({"G": lambda p: np.diag(p)}, ps.StructureError, "G is not skew-symmetric"),
        ({"Z": np.eye(3)}, ps.InputError, r"Z has shape \(3, 3\), expected \(2, 2\)"),
        ({"c": lambda q: q}, ps.InputError, "give c and its number n_c together"),
        ({"n_A": 1}, ps.InputError, "give A and its number n_A together"),
        ({"n_w": 0}, ps.InputError, "n_w is 0"),
        ({"n_w": 3}, ps.InputError, "2 coordinates and 3 velocities need Z"),
        ({"velocities": ["v"]}, ps.InputError, "1 names of 2 velocities"),
        ({"velocities": 2}, ps.InputError, "velocities is 2; give a list of names"),
        ({"domain": [abs]}, ps.InputError, r"domain is \[.*\]; give a mapping, e.g."),
        ({"domain": {"edge": [abs]}}, ps.InputError, "domain 'edge': expected numbers"),
        ({"positions": abs}, ps.InputError, "positions is .*; give a mapping, e.g."),
        ({"dissipation": 2}, ps.InputError, "dissipation: expected a function, got 2"),
    ],
)
def test_functions_that_make_no_system_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        from_functions(**options)


def test_one_expression_is_the_position_of_a_port_of_size_one():
    given = {"B": [[2 * a], [1]], "ports": [PORT], "Z": [[1, 0], [0, 1]]}
    one, listed = (symbolic(positions={"push": p}, **given) for p in (a**2 + b, [a**2 + b]))
    at = np.array([0.3, 0.7])
    for system in (one, listed):
        np.testing.assert_allclose(system.laws.positions["push"].value(at), [0.79])


def test_missing_derivatives_are_named():
    with pytest.warns(
        ps.MissingDerivativeWarning, match="'s': dV, ddV, dc, ddc, dZ, dA, dB, dissipation_dzeta"
    ):
        from_functions(
            V=lambda q: q @ q,
            c=lambda q: q[:1],
            n_c=1,
            Z=lambda q: EYE,
            A=lambda q: EYE[:1],
            n_A=1,
            B=lambda q: EYE[:, :1],
            ports=[PORT],
            dissipation=lambda q, w: w,
        )


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"zeta": [0.5, 0.5]}, r"violates 'c\[0\]' by .*; correct zeta"),
        ({**PENDULUM_START, "w": [1.0, 0.0]}, r"rate c' Z w of 'c\[0\]' by .*; correct w"),
    ],
)
def test_a_start_that_violates_a_constraint_is_refused(start, message):
    with pytest.raises(ps.InconsistentStartError, match=message):
        run(pendulum(), start)


def test_a_start_that_violates_a_velocity_constraint_is_refused():
    with pytest.raises(ps.InconsistentStartError, match=r"A w = 0, 'A\[0\]' by 1; correct w"):
        run(symbolic(A=[[0, 1]]), {"w": [0.0, 1.0]})


def test_a_singular_start_is_refused_and_names_the_constraints():
    """Two circles that touch: their normals agree where they do, and nowhere else."""
    with pytest.raises(
        ps.InputError, match=r"rank 1 at the start, and more nearby: 'c\[0\]', 'c\["
    ):
        run(
            symbolic(c=[a**2 + b**2 - 1, (a - 3) ** 2 + b**2 - 4]),
            {"zeta": [1.0, 0.0], "w": [0.0, 0.0]},
        )


def test_a_rank_that_grows_on_the_way_is_refused():
    """A lane that is straight to a = 1, where a second constraint leaves it."""
    bent = sympy.Piecewise((0, a < 1), ((a - 1) ** 3, True))
    with pytest.raises(
        ps.SimulationError,
        match=r"is no longer redundant: the rank of the constraints has changed",
    ):
        run(symbolic(c=[b, b + bent]), {"zeta": [0.9, 0.0], "w": [1.0, 0.0]})


def test_dissipation_that_creates_energy_is_refused():
    with pytest.raises(
        ps.StructureError, match=r"creates energy at the start: .* check the sign of tau_d"
    ):
        run(symbolic(dissipation=[-va, vb]), {"w": [1.0, 0.0]})


def test_dissipation_that_creates_energy_on_the_way_is_refused():
    with pytest.raises(ps.SimulationError, match="creates energy in this step"):
        run(symbolic(dissipation=[(1 - a) * va, 0]), {"zeta": [0.9, 0], "w": [1.0, 0.0]})


def test_schemes_that_lose_constraints_are_refused():
    with pytest.raises(ps.SimulationError, match=r"'ph-avf' does not support .* use 'ph-dg'"):
        run(pendulum(), PENDULUM_START, scheme="ph-avf")
