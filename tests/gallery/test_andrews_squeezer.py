"""Andrews' squeezing mechanism against numbers of the test set, and better ones."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.andrews_squeezer import (
    EXAMPLE,
    PUBLISHED,
    START,
    Squeezer,
    angles,
    model,
    multipliers,
)
from poinsot.gallery.extrapolation import extrapolate

#: Time [s] -> beta, Theta, gamma, Phi, delta, Omega, epsilon [rad], lambda_1 to lambda_6 [N], by an
#: index-1 extrapolation code in long double, converged to 1e-12. Those published for 0.03 s differ
#: by 1e-9.
REFERENCE = {
    0.005: (
        (
            2.11076385903267e-01,
            -2.01587170934080e-01,
            4.49115190011514e-01,
            2.10250797930014e-01,
            4.88743765461935e-01,
            -2.10250797930014e-01,
            1.22586679403491e00,
        ),
        (
            8.997110073791e01,
            3.242431629656e00,
            -1.833165695031e00,
            1.508423093575e00,
            -2.743375160387e00,
            -3.964638985607e00,
        ),
    ),
    0.01: (
        (
            2.16011313153153e00,
            -1.88336423110704e00,
            1.58516758001227e-01,
            -3.28641075174670e-01,
            5.25154774797729e-01,
            3.28641075174670e-01,
            1.06842720463240e00,
        ),
        (
            5.702529043750e01,
            2.967904246249e00,
            3.218860385009e00,
            -1.817926986794e01,
            5.159502718032e00,
            3.424011729161e01,
        ),
    ),
    0.02: (
        (
            8.18490588966168e00,
            -7.89050536373045e00,
            2.09536913384697e-01,
            -2.38325596595851e-01,
            5.22536917155996e-01,
            2.38325596595851e-01,
            1.08627510859987e00,
        ),
        (
            4.849325698175e01,
            9.300377345734e00,
            2.303233131287e00,
            -1.577388980797e01,
            2.942253254518e00,
            2.298803241923e01,
        ),
    ),
    0.03: (
        (
            1.58107711951537e01,
            -1.57563710584118e01,
            4.08222401196458e-02,
            -5.34730116342080e-01,
            5.24409965879954e-01,
            5.34730116342080e-01,
            1.04808074104194e00,
        ),
        (
            1.991753481045e02,
            -2.975530997497e01,
            2.306654361162e01,
            3.145272527577e01,
            2.264249478639e01,
            1.161739235261e01,
        ),
    ),
}
STEPS = 1e-4, 5e-5, 2.5e-5


@pytest.fixture(scope="module")
def runs():
    return [ps.simulate(model(), h=h, t_end=0.03 + h) for h in STEPS]


def at(t, result):
    n = round(t / result.h)
    return angles(result)[n], multipliers(result)[n - 1]


def test_ten_hinges_leave_one_freedom_and_lock_nine_directions_twice():
    check = model().check()
    assert (check.freedoms, check.constraints, len(check.repeated)) == (1, 50, 9)
    assert all("point z" in row or "tilt" in row for row in check.repeated)


def test_the_energy_at_the_start_is_that_of_the_spring():
    s, gamma = Squeezer(), START[2]
    x = s.B[0] + s.sd * np.cos(gamma) + s.sc * np.sin(gamma)
    y = s.B[1] + s.sd * np.sin(gamma) - s.sc * np.cos(gamma)
    length = np.hypot(x - s.C[0], y - s.C[1])
    result = EXAMPLE.run(t_end=1e-4)
    expected = s.stiffness * (length - s.rest_length) ** 2 / 2
    assert result.energy[0] == pytest.approx(expected, rel=1e-12)


def test_the_first_forces_and_accelerations_are_those_published():
    h = 1e-6
    result = ps.simulate(model(), h=h, t_end=2 * h)
    rates = np.array([result.angular_velocity(f"K{k}")[1, 2] for k in (1, 2)]) / h
    np.testing.assert_allclose(
        (rates[0], rates[1] - rates[0]), (14222.4439199541, -10666.8329399656), rtol=1e-6
    )
    expected = (98.56687039624109, -6.122688344255662, 0, 0, 0, 0)
    np.testing.assert_allclose(multipliers(result)[0], expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("t", REFERENCE)
def test_angles_and_forces_converge_with_order_two(runs, t):
    for part, reference in enumerate(REFERENCE[t]):
        errors = [np.linalg.norm(at(t, run)[part] - reference) for run in runs]
        np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)


@pytest.mark.parametrize(
    ("t", "angle", "force"),
    [(0.005, 1e-11, 1e-8), (0.01, 2e-10, 1e-6), (0.02, 2e-9, 1e-6), (0.03, 2e-8, 2e-4)],
)
def test_the_limit_of_small_steps_is_the_reference(runs, t, angle, force):
    q, lam = (extrapolate([at(t, run)[part] for run in runs]) for part in range(2))
    np.testing.assert_allclose(q, REFERENCE[t][0], rtol=0, atol=angle)
    np.testing.assert_allclose(lam, REFERENCE[t][1], rtol=0, atol=force)


def test_the_motor_s_work_is_stored_and_the_loops_stay_closed(runs):
    for run in runs:
        assert run.stats.balance_error_max < 1e-13
        assert run.constraint_error.max() < 1e-13


def test_the_published_angles_are_near_the_reference():
    np.testing.assert_allclose(PUBLISHED, REFERENCE[0.03][0], rtol=0, atol=2e-9)


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run()).axes
