"""The free body against elliptic functions, which are held against independent numbers."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.free_body import EXAMPLE, Tumbling, body_rates, model

SCHEMES = ("ph-mp", "ph-mp-ggl")
TUMBLING = Tumbling()
#: Time [s] -> Omega [rad/s] with 16 digits and R (by rows) with 14.
REFERENCE = {
    0.05: (
        (21.60229822035829, 15.329818009990114, 10.328241344922379),
        (
            (4.04168300216900e-01, -1.65208396346189e-01, 8.99641134495585e-01),
            (8.14560532169155e-01, 5.12438235073186e-01, -2.71842223849390e-01),
            (-4.16099897298816e-01, 8.42682170816375e-01, 3.41683529682242e-01),
        ),
    ),
    0.25: (
        (-10.358096126373677, 19.91781690061843, -19.853661518960227),
        (
            (7.68751333806357e-01, 6.24010650087749e-01, -1.40114579355656e-01),
            (-5.62786181571566e-01, 5.55978524359310e-01, -6.11685862419052e-01),
            (-3.03797795586215e-01, 5.49088871703214e-01, 7.78593803191785e-01),
        ),
    ),
    2.0: (
        (12.743528895150732, 19.285256339605815, 18.710477734113758),
        (
            (7.71564490068275e-01, -2.11734795431075e-01, 5.99880499824293e-01),
            (3.79894346169405e-01, 9.09735252569668e-01, -1.67517330388596e-01),
            (-5.10263190338283e-01, 3.57141633859402e-01, 7.82356267917650e-01),
        ),
    ),
    10.0: (
        (20.623791628403312, 15.924718160479031, 11.820633447263357),
        (
            (-3.68985137722549e-01, 8.97056927598917e-01, -2.43184779101534e-01),
            (6.70326888036479e-01, 4.38093804303856e-01, 5.98945474818789e-01),
            (6.43825932465602e-01, 5.79886823213386e-02, -7.62971481385401e-01),
        ),
    ),
}


@pytest.mark.parametrize("t", REFERENCE)
def test_the_closed_form_is_that_of_euler_s_equations(t):
    Omega, R = REFERENCE[t]
    np.testing.assert_allclose(TUMBLING.body_rates(t)[0], Omega, rtol=0, atol=2e-11)
    np.testing.assert_allclose(TUMBLING.rotation(t)[0], R, rtol=0, atol=2e-12)


def test_the_period_is_that_of_the_elliptic_functions():
    assert pytest.approx(0.49783916130382098559, rel=1e-14) == TUMBLING.period


def final(scheme, h, t):
    result = ps.simulate(model(), scheme=scheme, h=h, t_end=t)
    return np.concatenate([body_rates(result)[-1], result.rotation("body")[-1].reshape(-1)])


def exact(t):
    Omega, R = REFERENCE[t]
    return np.concatenate([Omega, np.reshape(R, -1)])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rates_and_rotation_converge_with_order_two(scheme):
    steps = 1e-2 / 8, 1e-2 / 16, 1e-2 / 32
    errors = abs(np.array([final(scheme, h, 0.25) for h in steps]) - exact(0.25))
    for part in (slice(0, 3), slice(3, 12)):
        orders = observed_orders(steps, np.linalg.norm(errors[:, part], axis=1))
        np.testing.assert_allclose(orders, 2.0, atol=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_limit_of_small_steps_is_the_closed_form(scheme):
    limit = extrapolate([final(scheme, 5e-3 / 2**k, 0.25) for k in range(5)])
    error = abs(limit - exact(0.25))
    assert error[:3].max() < 1e-11
    assert error[3:].max() < 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("h", [0.05, 0.01])
def test_energy_and_angular_momentum_are_conserved(scheme, h):
    result = EXAMPLE.run(scheme=scheme, h=h)
    np.testing.assert_allclose(result.energy, 2500.0, rtol=1e-13)
    np.testing.assert_allclose(result.angular_momentum, [(60, 160, 60)] * len(result.time), 1e-13)


def test_with_velocity_constraints_the_momentum_stays_on_its_curve():
    result = EXAMPLE.run()
    L = body_rates(result) * TUMBLING.inertia
    np.testing.assert_allclose(np.sum(L**2, axis=1), 32800, rtol=1e-13)
    np.testing.assert_allclose(np.sum(L**2 / TUMBLING.inertia, axis=1) / 2, 2500, rtol=1e-13)


def test_without_velocity_constraints_it_stays_near_its_curve_with_order_two():
    steps, errors = (0.01, 0.005, 0.0025), []
    for h in steps:
        rates = body_rates(EXAMPLE.run(scheme="ph-mp", h=h))
        errors.append(np.max(abs(rates**2 @ TUMBLING.inertia / 2 - 2500)))
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run()).axes
