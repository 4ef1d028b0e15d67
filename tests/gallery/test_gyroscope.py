"""The gyroscope against its exact motion, in angles and by its matrix, and gimbal lock."""

import re

import numpy as np
import pytest
from in_turn import in_turn
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.gyroscope import (
    EXACT,
    EXAMPLE,
    Disc,
    by_matrix,
    in_angles,
    matrices,
    model,
    motion,
    rotation,
    run_to_lock,
    start,
    towards_lock,
)

BOTH = pytest.mark.parametrize("matrix", [False, True], ids=["angles", "matrix"])


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run(t_end=0.1)).axes


def test_the_limit_of_small_steps_is_the_exact_motion():
    """At 0.5 s, after 50 rad; the check of the example goes to 0.1 s, by the matrix too."""
    runs = [ps.simulate(model(), h=h, t_end=0.5, x0=start()) for h in (4e-3, 2e-3, 1e-3, 5e-4)]
    ends = [motion(run)[-1] for run in runs]
    np.testing.assert_allclose(extrapolate(ends), EXACT[0.5], rtol=0, atol=1e-8)
    errors = [np.linalg.norm(end - EXACT[0.5]) for end in ends]
    assert np.log2(errors[2] / errors[3]) == pytest.approx(2.0, abs=0.1)


@BOTH
def test_a_general_motion_is_that_of_eulers_equations(matrix):
    """DOP853 on [BHRS25, eqs. (11) and (16b)] from angles and spins about all axes."""
    moments, angles, spin = np.array(Disc().inertia), (0.4, -0.7, 1.1), (3.0, -2.0, 1.0)

    def rate(t, x):
        R, w = x[:9].reshape(3, 3), x[9:]
        axis = np.cross([0, 0, 1], R[:, 0])
        moment = 0.05 * np.sin(3 * t) * R.T @ axis / np.linalg.norm(axis)
        hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        turning = (moment - np.cross(w, moments * w)) / moments
        return np.concatenate([(R @ hat).ravel(), turning])

    x0 = np.concatenate([rotation(angles).ravel(), spin])
    exact = solve_ivp(rate, (0, 0.5), x0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    ends = []
    for h in (0.02, 0.01, 0.005):
        run = ps.simulate(
            model(matrix=matrix), h=h, t_end=0.5, x0=start(angles, spin, matrix=matrix)
        )
        ends.append(np.concatenate([matrices(run)[-1].ravel(), run["w"][-1]]))
    np.testing.assert_allclose(extrapolate(ends), exact, rtol=0, atol=1e-6)


def test_the_second_axis_needs_no_angles():
    """B of the matrix is (0, cos(alpha), -sin(alpha)) [BHRS25, sec. 7.2], and y is beta'."""
    for angles in np.random.default_rng(0).uniform(-1.5, 1.5, (20, 3)):
        by_angles = in_angles().laws.B(angles)
        np.testing.assert_allclose(
            by_matrix().laws.B(rotation(angles).T.ravel()), by_angles, rtol=0, atol=1e-14
        )
        np.testing.assert_allclose(by_angles[:, 0], in_angles().laws.Z(angles)[1], atol=1e-14)


def test_the_kinematics_is_that_of_the_rotation():
    """R' = R hat(w) for the rates of the angles [BHRS25, eqs. (11) and (18)]."""
    random = np.random.default_rng(1)
    for angles in random.uniform(-1.2, 1.2, (5, 3)):
        w, h = random.standard_normal(3), 1e-5
        ahead, behind = (rotation(angles + s * in_angles().laws.Z(angles) @ w) for s in (h, -h))
        by_angles = (ahead - behind).T.ravel() / (2 * h)
        by_columns = by_matrix().laws.Z(rotation(angles).T.ravel()) @ w
        np.testing.assert_allclose(by_angles, by_columns, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("aside", "h"), in_turn([0.1, 0.5, 1.0, -0.5], [0.02, 0.007]))
def test_angles_stop_in_gimbal_lock_and_say_when(aside, h):
    spin, lock = towards_lock(aside=aside)
    with pytest.raises(ps.SimulationError) as stopped:
        ps.simulate(in_angles(), h=h, t_end=3.0, x0=start(spin=spin))
    message = str(stopped.value)
    assert "'gyroscope'" in message
    assert "gimbal lock: the coordinates end at beta = 1.5708" in message
    assert "a matrix or a quaternion" in message
    told = float(re.search(r"reached at t = ([\d.]+) s", message)[1])
    assert told == pytest.approx(lock, abs=2e-4)
    assert lock - 2 * h < stopped.value.result.time[-1] <= lock


def test_the_matrix_runs_on_through_gimbal_lock():
    spin, lock = towards_lock()
    _, free = run_to_lock(spin, lock)
    R = matrices(free)
    assert free.status == "done"
    assert -R[:, 2, 0].max() < 0.3 < 0.9999 < -R[:, 2, 0].min()
    assert abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 1e-12
    assert free.stats.balance_error_max < 1e-15


def test_a_start_beyond_the_domain_is_refused():
    with pytest.raises(ps.InputError, match=r"'gimbal lock' is at -0.99, inside it is positive"):
        ps.simulate(in_angles(), h=0.01, t_end=1.0, x0={"zeta": [0.0, 3.0, 0.0]})


def test_a_step_that_fails_near_the_edge_of_the_domain_says_so():
    spin, lock = towards_lock()
    newton = ps.Newton(max_iterations=1, halvings=0)
    near = ps.simulate(in_angles(), h=0.01, t_end=lock - 0.02, x0=start(spin=spin))
    x0 = {"zeta": near["zeta"][-1], "w": near["w"][-1]}
    with pytest.raises(ps.SimulationError, match=r"near gimbal lock, .* beta = 1\.\d+ at t = 0 s"):
        ps.simulate(in_angles(), h=0.01, t_end=1.0, x0=x0, newton=newton)


def test_domains_of_functions_are_watched_too():
    system = ps.RedundantSystem.from_functions(
        "rail", n_zeta=1, n_w=1, M=[[1.0]], domain={"end of the rail": lambda q: 1.0 - q[0]}
    )
    with pytest.raises(
        ps.SimulationError, match=r"end of the rail: .* zeta\[0\] = 1, .* t = 0.5 s"
    ):
        ps.simulate(system, h=0.1, t_end=1.0, x0={"w": [2.0]})
