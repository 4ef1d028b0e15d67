"""Laws of resistance: they take energy, their slopes are exact, and Newton's method solves them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numerics import jacobian

from poinsot.parts.resistance import SLIP, AnyLaw, Friction

coefficients = st.floats(0, 1e6)
slips = st.floats(1e-9, 1e3)
rates = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3).map(np.array)


@given(viscous=coefficients, quadratic=coefficients, coulomb=coefficients, slip=slips, y=rates)
def test_friction_never_creates_energy(viscous, quadratic, coulomb, slip, y):
    assert Friction(viscous, quadratic, coulomb, slip)(y) @ y >= 0


@pytest.mark.parametrize("y", [[0.7], [-0.02], [1e-4], [0.3, -0.4, 0.1], [1e-3, 0, 0]])
def test_the_slope_of_friction_is_its_derivative(y):
    law, y = Friction(0.3, 0.7, 1.1, slip=0.05), np.array(y)
    np.testing.assert_allclose(law.slope(y), jacobian(law, y, 1e-4), atol=1e-8)
    np.testing.assert_allclose(law.remembering().slope(y), law.slope(y), atol=1e-13)


def test_the_slope_at_rest_is_that_of_viscous_and_dry_friction():
    law = Friction(viscous=2.0, quadratic=5.0, coulomb=3.0, slip=0.1)
    np.testing.assert_allclose(law.slope(np.zeros(3)), 32.0 * np.eye(3), rtol=1e-14)


@given(ratio=st.floats(10, 1e6), coulomb=st.floats(1e-3, 1e3))
def test_dry_friction_falls_short_by_the_square_of_slip_over_rate(ratio, coulomb):
    law = Friction(coulomb=coulomb)
    assert law(np.array([SLIP]))[0] == pytest.approx(coulomb / np.sqrt(2), rel=1e-14)
    missing = 1 - law(np.array([ratio * SLIP]))[0] / coulomb
    assert missing == pytest.approx(1 / (2 * ratio**2), rel=0.01, abs=1e-15)


@given(y=st.floats(-1e3, 1e3))
def test_a_law_of_ones_own_goes_with_a_viscous_one(y):
    law = AnyLaw(0.5, lambda v: v**3, lambda v: 3 * v**2)
    assert law(np.array([y])) == pytest.approx(0.5 * y + y**3)
    assert law.slope(np.array([y])) == pytest.approx(0.5 + 3 * y**2)


def corrections(slopes, seed, slip, limit=60):
    """How often Newton's method corrects v in M (v - v0) + sum_k b_k f_k(b_k·v) = 0."""
    random = np.random.default_rng(seed)
    n, k = random.integers(2, 12, 2)
    A, B, v = random.standard_normal((n, n)), random.standard_normal((n, k)), np.ones(n)
    M = A @ A.T + 0.1 * np.eye(n)
    push, forces = M @ v, 10 ** random.uniform(-1, 1, k)
    laws = [slopes(Friction(coulomb=c, slip=slip)) for c in forces]
    for count in range(limit):
        y = (B.T @ v)[:, None]
        f = np.array([law(rate)[0] for law, rate in zip(laws, y, strict=True)])
        residual = M @ v - push + B @ f
        if abs(residual).max() <= 1e-9 * (abs(push).max() + abs(forces).max()):
            return count
        D = np.diag([law.slope(rate)[0, 0] for law, rate in zip(laws, y, strict=True)])
        v = v - np.linalg.solve(M + B @ D @ B.T, residual)
    return limit


@pytest.mark.parametrize("slip", [1e-2, 1e-3, 1e-5])
def test_slopes_that_remember_lead_to_where_friction_sticks(slip):
    assert max(corrections(Friction.remembering, seed, slip) for seed in range(20)) <= 20


def test_exact_slopes_go_to_and_fro_for_ever():
    assert max(corrections(lambda law: law, seed, 1e-3) for seed in range(20)) == 60


def test_a_slope_asked_for_twice_is_the_same():
    law = Friction(coulomb=1.0).remembering()
    law.slope(np.array([1.0]))
    first = law.slope(np.array([-0.5]))
    assert first > 0.1  # the exact one is almost nothing
    assert law.slope(np.array([-0.5])) == first
