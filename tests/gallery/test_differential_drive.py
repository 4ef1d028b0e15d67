"""The robot on two wheels against its exact motion, with its constraint kept and resolved."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery.differential_drive import EXACT, EXAMPLE, Robot, model, motion
from poinsot.gallery.extrapolation import extrapolate


def test_the_example_passes_its_check():
    result = EXAMPLE.run(engine="reference")
    for check in EXAMPLE.check(result):
        assert check.passed, check
    assert EXAMPLE.plot(result).axes


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
