"""The rolling coin against Newton and Euler, steady rolling, and the theory of small wobbles."""

import numpy as np
import pytest
from numerics import observed_orders
from rolling_newton_euler import OnPlane, disc_arm

import poinsot as ps
from poinsot.gallery.rolling_coin import AFTER_ONE_SECOND, EXAMPLE, Coin, measured, model, trail


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run()).axes


def test_its_numbers_are_those_of_newton_and_euler():
    coin, table = Coin(), model()
    (J_a, J_t), body = coin.inertia, table.bodies["coin"]
    arm = disc_arm(np.array([0, 0, 1.0]), coin.radius, np.array([0, 0, 1.0]))
    oracle = OnPlane(coin.mass, np.diag([J_t, J_t, J_a]), table.gravity, arm)
    v, omega = table.start_velocities()["coin"]
    r, R, *_ = oracle.run(body.position, body.R_WB, v, omega, [0.0, 1.0])
    found = np.concatenate([r[-1], R[-1][:, 2]])
    np.testing.assert_allclose(found, AFTER_ONE_SECOND, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scheme", ["ph-mp", "emh-mean"])
def test_the_motion_converges_with_order_two(scheme):
    steps = (2e-3, 1e-3, 5e-4)
    ends = [measured(ps.simulate(model(), h=h, t_end=1.0, scheme=scheme)) for h in steps]
    errors = [np.max(abs(end - AFTER_ONE_SECOND)) for end in ends]
    assert observed_orders(steps, errors) == pytest.approx(2.0, abs=0.1)


def test_a_hundred_thousand_steps_keep_energy_and_the_table():
    result = EXAMPLE.run(t_end=200.0, save_every=1000)
    assert result.stats.balance_error_max <= 1e-11 * result.energy[0]
    assert abs(trail(result, Coin().radius)[:, 2]).max() <= 1e-13
