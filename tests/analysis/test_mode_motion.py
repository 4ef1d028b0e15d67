"""Mode shapes as motions."""

import numpy as np
import pytest
import sympy
from linear_models import COORDINATES, four_bar, free_pair, pendulum, slider_crank

import poinsot as ps


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_pendulum_swings_to_both_sides_by_the_amplitude(coordinates):
    model, inertia, weight = pendulum()
    modes = ps.analysis.modes(model, coordinates=coordinates)
    motion = modes.motion(0, amplitude=0.3, frames=41)
    period = 2 * np.pi / np.sqrt(weight / inertia)
    assert motion.time[-1] == pytest.approx(period, rel=1e-10)
    # It turns by more radians than its centre, half a metre below the hinge, moves by metres.
    angle = np.arctan2(motion.position("rod")[:, 1], -motion.position("rod")[:, 2])
    np.testing.assert_allclose(
        abs(angle), 0.3 * abs(np.cos(2 * np.pi * motion.time / period)), atol=0.02
    )
    assert motion.constraint_error.max() < 1e-12


@pytest.mark.parametrize("build", [slider_crank, four_bar, free_pair])
def test_joints_are_closed_and_the_page_plays_every_mode(build):
    modes = ps.analysis.modes(build()[0])
    for mode in range(len(modes)):
        motion = modes.motion(mode, frames=9)
        assert motion.constraint_error.max() < 1e-9
        moved = [np.ptp(motion.position(name), axis=0).max() for name in motion.observation.bodies]
        turned = [np.ptp(motion.rotation(name), axis=0).max() for name in motion.observation.bodies]
        assert max(*moved, *turned) > 0.01
    page = ps.viz.page(motion)
    assert f"mode {mode}" in page


def test_a_motion_is_a_result_like_any_other(tmp_path):
    motion = ps.analysis.modes(pendulum()[0]).motion(0, frames=9)
    motion.save(tmp_path / "mode.nc")
    again = ps.load(tmp_path / "mode.nc")
    np.testing.assert_array_equal(again.position("rod"), motion.position("rod"))
    assert again.notes == ("this is a mode shape, not a simulation",)


def test_systems_without_bodies_move_by_their_states():
    x, y = sympy.symbols("x y")
    system = ps.LagrangianSystem.symbolic("bowl", q=[x, y], M=sympy.eye(2), V=x**2 + 2 * y**2)
    motion = ps.analysis.modes(system).motion(1, amplitude=0.5, frames=5)
    np.testing.assert_allclose(motion["q"][:, 1], [0.5, 0, -0.5, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(motion["q"][:, 0], 0, atol=1e-12)


def test_what_is_no_mode_is_refused():
    modes = ps.analysis.modes(pendulum()[0])
    with pytest.raises(ps.InputError, match="no mode 1; there are 1"):
        modes.motion(1)
    with pytest.raises(ps.InputError, match="amplitude is -1"):
        modes.motion(0, amplitude=-1.0)
    system = ps.ph.linear(
        "rc", states=["x"], J=[[0.0]], R=[[1.0]], Q=[[1.0]], B=[[1.0]], ports=[ps.ph.Port("p", 1)]
    )
    with pytest.raises(ps.InputError, match="is not the linearisation of a model"):
        ps.analysis.modes(system).motion(0)
