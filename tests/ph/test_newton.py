"""Newton's method: quadratic, down to round-off, with a line search, and clear when it fails."""

import numpy as np
import pytest
import scipy.sparse as sparse
from parts import oscillator

import poinsot as ps
from poinsot import ph
from poinsot.ph.newton import NewtonFailure, solve
from poinsot.ph.stages import Evaluation, Tangent


def scalar(f, df, size=1.0, log=None):
    """A problem of one equation; `log` gathers the points at which it is evaluated."""
    none = np.zeros((1, 0))

    def problem(x):
        if log is not None:
            log.append(float(x[0]))
        tangent = Tangent(np.array([[df(x[0])]]), none, none)
        return Evaluation(np.array([f(x[0])]), np.array([size]), lambda: tangent)

    return problem


def find(problem, start, **options):
    return solve(problem, np.array([start]), ps.Newton(**options), ["only"])


def test_convergence_is_quadratic_down_to_round_off():
    solution = find(scalar(lambda x: x**2 - 2, lambda x: 2 * x), 1.5)
    assert solution.x[0] == pytest.approx(np.sqrt(2), rel=4e-16)
    assert solution.iterations <= 5
    assert solution.residual <= 5e-16


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_line_search_is_needed_where_full_steps_overshoot():
    # Newton's full steps for arctan from 3 diverge: 3, -9.49, 124, ...
    log = []
    problem = scalar(np.arctan, lambda x: 1 / (1 + x**2), log=log)
    assert abs(find(problem, 3.0).x[0]) <= 1e-12
    full_step = 3 - np.arctan(3) * 10
    assert abs(full_step) > 3
    assert any(np.isclose(log, full_step))  # tried,
    assert any(np.isclose(log, (3 + full_step) / 2))  # and halved


def test_the_line_search_takes_the_same_steps_however_equations_are_combined():
    """A sum of a large equation and a small one hides how far off the small one is."""
    none = np.zeros((2, 0))

    def path(A):
        visited = []

        def problem(x):
            visited.append(x)
            T = A @ np.diag(1 / (1 + x**2))
            return Evaluation(A @ np.arctan(x), abs(A) @ np.ones(2), lambda: Tangent(T, none, none))

        start = np.array([3.0, 2.0])
        solve(problem, start, ps.Newton(max_iterations=12), ["one", "other"])
        begun = [k for k, x in enumerate(visited) if np.array_equal(x, start)]
        return np.array(visited[begun[-1] :])

    with np.errstate(over="ignore", invalid="ignore"):
        plain, combined = path(np.eye(2)), path(np.array([[1.0, 1e6], [1.0, 1.001e6]]))
    assert len(plain) > 10
    np.testing.assert_allclose(combined, plain, atol=1e-6)


def test_a_step_out_of_the_domain_is_halved_too():
    def f(x):
        return np.log(x) if x > 0 else np.nan

    assert find(scalar(f, lambda x: 1 / x), 20.0).x[0] == pytest.approx(1.0)


def test_a_root_that_does_not_exist_is_reported_with_its_history():
    with pytest.raises(NewtonFailure) as failure:
        find(scalar(lambda x: x**2 + 1, lambda x: 2 * x), 0.7)
    assert failure.value.worst == "only"
    assert len(failure.value.history) >= 2
    assert "no progress" in failure.value.reason or "no convergence" in failure.value.reason


def test_iterations_are_limited():
    problem = scalar(lambda x: x**3, lambda x: 3 * x**2, size=1e-30)
    with pytest.raises(NewtonFailure, match="no convergence in 4 iterations") as failure:
        find(problem, 1.0, max_iterations=4)
    assert len(failure.value.history) == 5


def test_a_residual_that_cannot_fall_further_is_accepted_within_the_tolerance_only():
    # |F| never falls below 1e-6: the noise of an equation.
    noisy = scalar(lambda x: x - 1 + np.copysign(1e-6, x - 1), lambda x: 1.0)
    assert find(noisy, 3.0, rtol=1e-5).x[0] == pytest.approx(1.0, abs=2e-6)
    assert find(noisy, 3.0, atol=1e-5).x[0] == pytest.approx(1.0, abs=2e-6)
    with pytest.raises(NewtonFailure):
        find(noisy, 3.0, rtol=1e-8)


def test_nan_and_singular_tangents_name_their_equation():
    none = np.zeros((2, 0))

    def constant(F, T):
        tangent = Tangent(T, none, none)
        return lambda x: Evaluation(np.array(F), np.ones(2), lambda: tangent)

    def fail(F, T, message):
        with pytest.raises(NewtonFailure, match=message) as failure:
            solve(constant(F, T), np.zeros(2), ps.Newton(), ["first", "second"])
        assert failure.value.worst == "second"

    fail([1.0, np.nan], np.eye(2), "NaN or infinity")
    flat = np.diag([1.0, 0.0])
    fail([0.1, 1.0], flat, "the tangent is singular")
    fail([0.1, 1.0], sparse.csr_array(flat), "the tangent is singular")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_the_low_rank_part_of_a_tangent_is_solved_with_it(kind, rank):
    # One iteration solves a linear problem, whatever the sizes of its rows.
    random = np.random.default_rng(rank)
    rows = 10.0 ** random.uniform(-8, 8, (6, 1))
    T = rows * (random.standard_normal((6, 6)) + 4 * np.eye(6))
    U, V = rows * random.standard_normal((6, rank)), random.standard_normal((6, rank))
    A, x = T + U @ V.T, random.standard_normal(6)
    matrix = sparse.csr_array(T) if kind == "sparse" else T

    def problem(w):
        sizes = abs(A) @ (abs(w) + abs(x))
        return Evaluation(A @ (w - x), sizes, lambda: Tangent(matrix, U, V))

    first = []
    solution = solve(
        lambda w: first.append(w) or problem(w), np.zeros(6), ps.Newton(), list("abcdef")
    )
    assert np.allclose(first[1], x, rtol=1e-10)
    assert np.allclose(solution.x, x, rtol=1e-12)


@pytest.mark.parametrize("options", [{"atol": -1}, {"rtol": 0}, {"max_iterations": 0}])
def test_tolerances_that_cannot_be_met_are_refused(options):
    with pytest.raises(ps.InputError, match=r"Newton: (atol|rtol|max_iter)"):
        ps.Newton(**options)


def test_linear_systems_need_one_iteration_a_step():
    result = ps.simulate(oscillator(d=0.2), h=0.1, t_end=10, x0=[1, 0])
    assert result.stats.newton_iterations <= 2 * result.stats.steps
    assert result.stats.residual_max <= 1e-14


def test_sizes_of_very_different_magnitude_do_not_matter():
    # A pendulum in millimetres and kilograms of planets.
    system = ph.linear("scaled", states=["q", "p"], J=[[0, 1], [-1, 0]], Q=np.diag([1e12, 1e-12]))
    result = ps.simulate(system, h=0.1, t_end=10, x0=[1e-6, 0])
    assert np.abs(result.balance_error).max() <= 1e-13 * result.energy[0]
    h = 0.1
    angle = 2 * np.arctan(h / 2)
    assert result["q"][-1] == pytest.approx(1e-6 * np.cos(100 * angle), rel=1e-9)


@pytest.mark.parametrize("raised", [np.linalg.LinAlgError("Singular matrix"), OverflowError()])
def test_an_iteration_to_where_equations_have_no_value_is_a_failure_of_the_step(raised):
    """The correction from x = 1 leads to x = -9, where the equations cannot be evaluated."""

    def problem(x):
        if x[0] < -5:
            raise raised
        F = np.array([1.0 + 0.1 * (x[0] - 1)]) + 0 * x
        return Evaluation(F, np.ones(1), lambda: Tangent.of(1, [(0, 0, np.array([[0.1]]))]))

    with pytest.raises(NewtonFailure):
        solve(problem, np.ones(1), ps.Newton(), ["x"])
