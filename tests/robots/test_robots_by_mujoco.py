"""Robots that have all kinds of joints: motions and accelerations, by MuJoCo."""

import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from robot_files import ARM, FOUR_BAR, FRAMES, HELD_HANDS, SPATIAL_LOOP, TREE

import poinsot as ps
from benchmarks.robots.by_mujoco import ByMujoco, WithLoops
from benchmarks.robots.compare import compare, compared
from poinsot.model.robots import read_robot
from poinsot.robots.mjcf import read_mjcf
from poinsot.robots.urdf import read_urdf

BAR = 1e-9


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.OmissionWarning)
        yield


@pytest.fixture
def file(tmp_path):
    def write(text, ending):
        path = tmp_path / f"robot.{ending}"
        path.write_text(text)
        return path

    return write


def test_bodies_of_all_mjcf_joints_move_and_accelerate_as_in_mujoco(file, quiet):
    found = compare(file(TREE, "xml"), states=5)
    assert found.worst < BAR
    assert found.freedoms == 3 + 3 + 2 + 3 + 2 + 6 + 2 + 3


@pytest.mark.parametrize(("text", "freedoms"), [(FOUR_BAR, 1), (SPATIAL_LOOP, 2), (HELD_HANDS, 3)])
def test_closed_loops_accelerate_as_by_mujoco_with_exact_constraints(file, quiet, text, freedoms):
    path = file(text, "xml")
    robot = read_mjcf(path, looks=False)
    model = read_robot(robot, stops=False)
    assert model.check().freedoms == freedoms
    found = compared("loop", "MuJoCo", robot, model, WithLoops(path), 5, 0, False)
    assert found.worst < BAR


@pytest.mark.parametrize("merged", [False, True])
def test_links_of_a_urdf_arm_move_and_accelerate_as_in_mujoco(file, quiet, merged):
    path = file(ARM, "urdf")
    robot = read_urdf(path, looks=False)
    robot.couplings.clear()
    robot.joints[:] = [
        replace(joint, steps=tuple(replace(step, friction=0.0) for step in joint.steps))
        for joint in robot.joints
    ]
    model = read_robot(robot, merge_fixed=merged, stops=False)
    other = ByMujoco(path, fuse=False)
    assert compared("arm", "MuJoCo", robot, model, other, 5, 0, merged).worst < BAR


@pytest.mark.parametrize("text", [TREE, FOUR_BAR])
def test_a_model_written_as_mjcf_and_read_again_has_the_same_bodies_and_joints(
    file, quiet, tmp_path, text
):
    model = ps.Model.from_mjcf(file(text, "xml"))
    model.to_mjcf(tmp_path / "again.xml")
    again = ps.Model.from_mjcf(tmp_path / "again.xml")
    assert list(again.joints) == list(model.joints)
    assert list(again.systems) == list(model.systems)
    for name, body in model.bodies.items():
        other = again.bodies[name]
        assert other.mass == pytest.approx(body.mass, rel=1e-12)
        for theirs, own in (
            (other.position, body.position),
            (other.R_WB, body.R_WB),
            (
                other.R_WB @ other.shape.inertia_B @ other.R_WB.T,
                body.R_WB @ body.shape.inertia_B @ body.R_WB.T,
            ),
        ):
            assert abs(theirs - own).max() < 1e-12


def test_a_model_written_as_urdf_has_the_motion_of_the_model(file, quiet, tmp_path):
    at = {"shoulder": 0.3, "wrist": -0.5, "left": 0.01}
    motion = {name: f"{x}*sin(2*t)" for name, x in at.items()}
    forces = []
    model = ps.Model.from_urdf(file(ARM, "urdf"))
    for _ in range(2):
        found = model.inverse_dynamics(motion, times=[0.1, 0.4])
        forces.append(np.array([found.force(name) for name in at]))
        model.to_urdf(tmp_path / "again.urdf")
        model = ps.Model.from_urdf(tmp_path / "again.urdf")
    assert forces[1] == pytest.approx(forces[0], rel=1e-10, abs=1e-11)


def test_forces_of_inverse_dynamics_with_rotors_are_those_of_mujoco(file, quiet):
    text = FOUR_BAR.replace('name="crank" axis', 'name="crank" armature="0.3" damping="2" axis')
    path = file(text[: text.index("<equality>")] + "</mujoco>", "xml")
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    q, v, a = np.array([[0.4, -0.3, 0.7], [1.0, -2.0, 0.5], [3.0, 1.0, -4.0]])
    d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
    mujoco.mj_inverse(m, d)
    model = ps.Model.from_mjcf(path)  # bodies have the names of their joints here
    names = [f"{name}.joint" for name in ("crank", "coupler", "rocker")]
    motion = {name: f"{q[k]} + ({v[k]})*t + ({a[k] / 2})*t**2" for k, name in enumerate(names)}
    found = model.inverse_dynamics(motion, times=0.0)
    forces = [float(found.force(name)[0]) for name in motion]
    assert forces == pytest.approx(d.qfrc_inverse.tolist(), rel=1e-10)
    M = np.zeros((3, 3))
    mujoco.mj_fullM(m, d, M) if not hasattr(d, "qM") else mujoco.mj_fullM(m, M, d.qM)
    at = dict(zip(motion, q.tolist(), strict=True))
    assert model.configuration(at).mass_matrix() == pytest.approx(M, rel=1e-10)


GIMBAL = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="cart">
      <joint name="slide.x" type="slide" axis="1 0 0"/>
      <joint name="slide.y" type="slide" axis="0 1 0"/>
      <joint name="slide.turn" axis="0 0 1"/>
      <inertial pos="0.1 0 0" mass="2" fullinertia="0.1 0.12 0.15 0 0 0.01"/>
      <body name="ball" pos="0.2 0 0.3">
        <joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0.5"/>
        <joint name="roll" axis="1 0 0"/>
        <inertial pos="0.1 0.2 0" mass="1" fullinertia="0.01 0.02 0.015 0.001 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_links_without_mass_between_joints_change_nothing_about_the_motion(file):
    robot = read_urdf(file(FRAMES, "urdf"), looks=False)
    model = read_robot(robot)
    assert {"ring 1", "ring 2"} <= set(model.bodies)
    assert sum(body.mass for body in model.bodies.values()) == pytest.approx(3, rel=1e-14)
    other = ByMujoco(file(GIMBAL, "xml"))
    m, (x, y, z) = other.m, robot.gravity
    m.opt.gravity[:] = x, y, z
    assert compared("frames", "MuJoCo", robot, model, other, 5, 0, False).worst < BAR
    result = ps.simulate(model, h=1e-3, t_end=0.05)
    assert result.stats.balance_error_max < 1e-12
