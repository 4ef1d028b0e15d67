"""Bad input is refused with what, where and what to do; singularities are reported as such."""

import numpy as np
import pytest
import sympy
from lagrangians import MASSES_START, masses, run, spherical

import poinsot as ps

a, b, c = sympy.symbols("a b c")
symbolic, from_functions = ps.LagrangianSystem.symbolic, ps.LagrangianSystem.from_functions
PORT = ps.ph.Port("push")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"M": [[1, a], [2 * a, 1]]}, ps.StructureError, r"entry \(0, 1\) .* not symmetric, is -a"),
        ({"M": [[1, 0], [0, -2]]}, ps.StructureError, "indefinite: .* eigenvalue -2 along 'b'"),
        ({"M": [[1, 0]]}, ps.InputError, r"M has shape \(1, 2\), expected \(2, 2\)"),
        ({"M": [[1, 0], [0, c]]}, ps.InputError, "M contains c, .* parameters"),
        ({"V": c * a}, ps.InputError, "V contains c, .* parameters"),
        ({"g": [a - c]}, ps.InputError, "g contains c, .* parameters"),
        ({"q": [a, a]}, ps.InputError, "two coordinates"),
        ({"q": "ab"}, ps.InputError, "list of SymPy symbols"),
        ({"B": [[1], [0]]}, ps.InputError, "both B and the ports of its columns"),
        ({"ports": [PORT]}, ps.InputError, "both B and the ports of its columns"),
        ({"B": [[1, 0]], "ports": [PORT]}, ps.InputError, r"B has shape \(1, 2\)"),
        ({"units": {"x": "m"}}, ps.InputError, "units: no state 'x'"),
    ],
)
def test_expressions_that_make_no_lagrangian_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        symbolic("s", **{"q": [a, b], "M": [[1, 0], [0, 1]], **options})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"M": np.eye(3)}, ps.InputError, r"M has shape \(3, 3\), expected \(2, 2\)"),
        ({"M": [[1, 2], [3, 9]]}, ps.StructureError, r"\(0, 1\) is 2, and \(1, 0\) is 3"),
        ({"M": "mass"}, ps.InputError, "expected numbers"),
        ({"g": lambda q: q}, ps.InputError, "g and their number m, or neither"),
        ({"n": 0}, ps.InputError, "n is 0"),
        ({"coordinates": ["x"]}, ps.InputError, "1 names of 2 coordinates"),
        ({"cyclic": ["x"]}, ps.InputError, "no coordinate 'x'"),
    ],
)
def test_functions_that_make_no_lagrangian_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        from_functions("s", **{"n": 2, "M": np.eye(2), **options})


def test_missing_derivatives_are_named():
    with pytest.warns(ps.MissingDerivativeWarning, match="'s': dM, ddM, dV, ddV, G, dG, dB not"):
        from_functions(
            "s",
            n=2,
            m=1,
            M=lambda q: np.eye(2),
            V=lambda q: q[0],
            g=lambda q: q[:1],
            B=lambda q: np.ones((2, 1)),
            ports=[PORT],
        )


def growing(M, **options):
    return symbolic("growing", q=[a, b], M=M, **options)


STARTS = [
    (growing([[1, 0], [0, a]]), (-1, 0), (0, 0), "eml", "indefinite at the start: .* -1 along 'b'"),
    (growing([[1, 0], [0, a]]), (-1, 0), (0, 0), "ph-dg", "indefinite at the start"),
    (
        growing([[1, 0], [0, a**2]]),
        (0, 0),
        (0, 0),
        "emh",
        "singular.*eigenvalue 0 along 'b'.*'eml'",
    ),
    (growing([[1, 1], [1, 1]]), (0, 0), (0, 0), "emh", "singular.*'eml'"),
    (growing([[1, 1], [1, 1]]), (0, 0), (0, 0), "mph", "singular.*'eml'"),
    (growing([[1, 0], [0, 1]], g=[a - 2 * b]), (0, 0.1), (0, 0), "eml", "violates.*'g.0.' by 0.2"),
    (
        growing([[1, 0], [0, 1]], g=[a - 2 * b]),
        (0, 0),
        (0, 1),
        "eml",
        "rate of the constraint.* by 2",
    ),
    (growing([[1, 0], [0, 1]], g=[a - 2 * b]), (0, 0), (0, 1), "ph-dg", "rate of the constraint"),
    (growing([[1, 0], [0, 1]], g=[a - 2 * b]), (0, 0), (0, 1), "emh", "rate of the constraint"),
    (growing([[1, 0], [0, 1]]), (0, 0), (0, 1, 2), "emh", "'v' has 3 entries, expected 2"),
    (growing([[1, 0], [0, 1]]), (0, 0), (0, 1, 2), "eml", "'v' has 3 entries, expected 2"),
    (growing([[1, 0], [0, 1]], V=sympy.log(a)), (-1, 0), (0, 0), "eml", "V is nan at the start"),
    (spherical(), (1, 1, 0), (0, 0, 0), "eml-mean", "'eml-mean' is for models.*'eml'"),
    (spherical(), (1, 1, 0), (0, 0, 0), "emh-mean", "'emh-mean' is for models"),
    (spherical(), (1, 1, 0), (0, 0, 0), "null-eml", "'null-eml' is for models.*'reml'"),
    (spherical(), (1, 1, 0), (0, 0, 0), "ph-mp-ggl", "M depends on q.*'ph-dg'"),
]


@pytest.mark.parametrize(("system", "q", "v", "scheme", "message"), STARTS)
def test_starts_that_are_none_are_refused(system, q, v, scheme, message):
    with pytest.raises(ps.InputError, match=message):
        run(system, {"q": q, "v": v}, scheme, 0.01, 0.1)


def test_a_start_is_not_changed_to_satisfy_a_constraint():
    with pytest.raises(ps.InconsistentStartError, match="velocities"):
        run(masses(), {**MASSES_START, "v": (1.0, 2.0, -1.0)}, "eml", 0.1, 1.0)


def sphere(V=0):
    """A point on a sphere: M loses rank at the poles."""
    return symbolic("sphere", q=[a, b], M=[[1, 0], [0, sympy.sin(a) ** 2]], V=V)


@pytest.mark.parametrize("scheme", ["eml", "reml", "mpl", "mph", "ph-dg"])
def test_a_coordinate_singularity_is_named_and_what_was_computed_is_kept(scheme):
    start = {"q": (0.5, 0.0), "v": (-1.0, 0.0)}
    with pytest.raises(
        ps.SimulationError, match=r"t = 0\.45 s.*coordinates are singular .* along 'b'"
    ) as caught:
        run(sphere(), start, scheme, 0.05, 1.0)
    np.testing.assert_allclose(caught.value.result["q"][-1], (0.05, 0), atol=1e-12)


@pytest.mark.parametrize("start", [0.53, 0.501, 0.5499])
def test_a_singularity_that_a_step_passes_over_is_named(start):
    with pytest.raises(
        ps.SimulationError, match=r"coordinates are singular .* along 'b'"
    ) as caught:
        run(sphere(), {"q": (start, 0.0), "v": (-1.0, 0.0)}, "eml", 0.05, 1.0)
    assert 0 < caught.value.result["q"][-1, 0] < 0.05


def test_a_singularity_that_is_only_passed_by_is_none():
    start = {"q": (1.0, 0.0), "v": (0.0, 1.0)}
    assert run(sphere(sympy.cos(a)), start, "eml", 0.01, 3.0).status == "done"


@pytest.mark.parametrize("scheme", ["emh", "ph-dg"])
def test_a_step_that_fails_near_a_singularity_says_so(scheme):
    q = (0.0, 0.0) if scheme == "ph-dg" else (0.05, 0.0)
    with pytest.raises(ps.SimulationError, match=r"near a coordinate singularity: .* along 'b'"):
        run(sphere(), {"q": q, "v": (-1.0, 0.0)}, scheme, 0.05, 1.0)


def test_a_mass_that_becomes_indefinite_is_reported():
    start = {"q": (0.053, 0.0), "v": (-1.0, 0.0)}
    with pytest.raises(ps.SimulationError, match=r"indefinite after this step.*'b'") as caught:
        run(growing([[1, 0], [0, a]]), start, "eml", 0.01, 1.0)
    assert caught.value.result.time[-1] == pytest.approx(0.05)


def test_an_energy_that_is_none_is_reported():
    def V(q):
        return np.nan if q[0] > 0.5 else q[0]

    own = from_functions("f", n=1, M=[[1]], V=V, dV=lambda q: [1.0], ddV=[[0.0]])
    with pytest.raises(ps.SimulationError, match="V is nan after this step") as caught:
        run(own, {"q": (0.0,), "v": (2.0,)}, "eml", 0.01, 1.0)
    assert caught.value.result.stats.steps > 20


def test_a_domain_that_is_left_is_reported():
    own = symbolic("log", q=[a], M=[[1]], V=sympy.log(a))
    with pytest.raises(ps.SimulationError, match="NaN or infinity"):
        run(own, {"q": (0.1,), "v": (-1.0,)}, "eml", 0.01, 1.0)


def test_a_singular_mass_that_constraints_make_up_for_is_no_singularity():
    assert masses().lagrangian.diagnose(np.array([0.3, 1.4, 0.1])) == ""
