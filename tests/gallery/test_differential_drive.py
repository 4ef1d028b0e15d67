"""The robot on two wheels against its exact motion, with its constraint kept and resolved."""

import numpy as np
import pytest
from numerics import observed_orders
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.gallery.differential_drive import EXACT, EXAMPLE, Robot, left, model, motion, right
from poinsot.gallery.extrapolation import extrapolate


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run(t_end=1.0)).axes


@pytest.mark.parametrize("t", [1.0, 5.0])
@pytest.mark.parametrize("resolved", [False, True])
def test_the_limit_of_small_steps_is_the_exact_motion(t, resolved):
    system = model(resolved=resolved)
    ends = [
        motion(ps.simulate(system, h=h, t_end=t, engine="reference"))[-1]
        for h in (0.05, 0.025, 0.0125)
    ]
    np.testing.assert_allclose(extrapolate(ends), EXACT[t], rtol=0, atol=1e-8)


def test_the_multiplier_is_the_force_of_the_ground_along_the_axle():
    """Minus mu is the force: m (v_x omega + ell omega') in the middle of every step."""
    robot, result = Robot(), EXAMPLE.run(engine="reference")
    h, w = np.diff(result.time), result["w"]
    middle, rate = (w[1:] + w[:-1]) / 2, np.diff(w, axis=0) / h[:, None]
    force = robot.mass * (middle[:, 0] * middle[:, 2] + robot.arm * rate[:, 2])
    np.testing.assert_allclose(-result["mu"][1:], force, rtol=0, atol=1e-10)


def test_the_force_of_the_ground_is_of_order_two_at_midpoints():
    """Against m (v_x omega + ell omega') of the resolved equations by DOP853."""
    robot, steps = Robot(), (0.1, 0.05, 0.025)
    pull = robot.mass * robot.arm

    def rate(t, s):
        v, omega = s
        ahead = (left(t) + right(t) + pull * omega**2) / robot.mass
        turning = robot.track / 2 * (right(t) - left(t)) - pull * omega * v
        return [ahead, turning / robot.inertia_at_axle]

    dense = solve_ivp(
        rate, (0, 5), [0, 0], method="DOP853", rtol=1e-12, atol=1e-12, dense_output=True
    ).sol
    errors = []
    for h in steps:
        result = ps.simulate(model(), h=h, t_end=5.0, engine="reference")
        v, omega = dense(result.midpoint)
        turning = np.array([rate(t, dense(t))[1] for t in result.midpoint])
        force = robot.mass * v * omega + pull * turning
        errors.append(np.max(abs(-result["mu"][1:] - force)))
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)
    assert errors[-1] < 2e-5
