"""The pendulum against elliptic functions, which are held against independent numbers."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.pendulum import EXAMPLE, Pendulum, model, tension

SCHEMES = ("ph-mp", "ph-mp-ggl")
PENDULUM = Pendulum()
#: Time [s] -> x, y [m], their rates [m/s], tension of the rod [N]; 16 digits.
REFERENCE = {
    0.1: (
        -0.9987974827498897,
        -0.04902640566555758,
        0.0480833351123974,
        -0.9795846426127293,
        1.44284711873736,
    ),
    1.0: (
        0.9862917511318753,
        -0.1650108531255412,
        0.2969055159163158,
        1.774643641112656,
        4.856269407484677,
    ),
    10.0: (
        -0.2750874625761169,
        -0.9614192050991251,
        4.175598100951729,
        -1.194749054560475,
        28.29456720606725,
    ),
}


def measured(scheme, h, t):
    """x, y, their rates and the tension at time t."""
    result = ps.simulate(model(), scheme=scheme, h=h, t_end=t + h)
    values = result.position("bob")[-2, :2], result.velocity("bob")[-2, :2], tension(result)[1][-1:]
    return np.concatenate(values)


@pytest.mark.parametrize("t", REFERENCE)
def test_the_closed_form_is_the_swing_from_the_horizontal(t):
    values = PENDULUM.position(t)[0], PENDULUM.velocity(t)[0], PENDULUM.tension(t)
    np.testing.assert_allclose(np.concatenate(values), REFERENCE[t], rtol=0, atol=2e-13)


def test_the_period_is_that_of_the_elliptic_integral():
    assert pytest.approx(2.3678419475762374493, rel=1e-15) == PENDULUM.period


@pytest.mark.parametrize("scheme", SCHEMES)
def test_position_velocity_and_tension_converge_with_order_two(scheme):
    steps = 1e-2, 5e-3, 2.5e-3
    errors = abs(np.array([measured(scheme, h, 1.0) for h in steps]) - REFERENCE[1.0])
    for part in (slice(0, 2), slice(2, 4), slice(4, 5)):
        orders = observed_orders(steps, np.linalg.norm(errors[:, part], axis=1))
        np.testing.assert_allclose(orders, 2.0, atol=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("t", "bound"), [(1.0, 1e-9), (10.0, 2e-7)])
def test_the_limit_of_small_steps_is_the_closed_form(scheme, t, bound):
    limit = extrapolate([measured(scheme, 1e-2 / 2**k, t) for k in range(3)])
    np.testing.assert_allclose(limit, REFERENCE[t], rtol=0, atol=bound)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_energy_is_conserved(scheme):
    result = EXAMPLE.run(scheme=scheme)
    assert np.max(abs(result.energy)) < 1e-12
    assert result.constraint_error.max() < 1e-13


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run()).axes
