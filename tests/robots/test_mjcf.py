"""What is read of MJCF files, what is listed, and what is refused."""

import warnings

import mujoco
import numpy as np
import pytest
from robot_files import FOUR_BAR, TREE

import poinsot as ps


@pytest.fixture
def read(tmp_path):
    def from_text(text, **options):
        path = tmp_path / "robot.xml"
        path.write_text(text)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ps.Model.from_mjcf(path, **options)
        return model, [line for w in caught for line in w.message.omissions]

    return from_text


def test_joints_of_a_body_are_one_joint_where_the_table_has_it(read):
    model, _ = read(TREE)
    kinds = {name: type(joint).__name__ for name, joint in model.joints.items()}
    assert kinds == {
        "sled z+sled x+sled turn": "Planar",
        "hip x+hip z": "Universal",
        "hip y": "Revolute",
        "knee a+knee b": "Universal",
        "badge.weld": "Weld",
        "pod ball": "Spherical",
        "spin+feed": "Cylindrical",
        "stage y+stage x": "Cartesian",
        "stage y+stage x.lock": "PointOnPlane",
        "table x+table y+table z": "Cartesian",
    }


def test_springs_limits_friction_rotors_and_motors_are_parts_of_the_model(read):
    model, omissions = read(TREE)
    spring = model.forces["sled turn.spring"]
    assert (spring.freedom, spring.stiffness, spring.rest) == ("angle", 3, 0.4)
    assert (model.forces["hip y.stop"].lower, model.forces["hip y.stop"].upper) == (-1, 1)
    assert "sled z.rotor" in model.systems
    assert model.ports["knee motor"].joint == "knee a+knee b"
    assert model.ports["knee motor"].freedom == "angle b"
    assert model.markers["hook"].body is model.bodies["sled"]
    assert model.gravity.tolist() == [1, 2, -9.81]
    listed = [line.partition(":")[0] for line in omissions]
    assert listed == [
        "actuator 'knee motor'",
        "actuator 'feed servo'",
        "actuator 'rocket'",
        "sensor 'encoder'",
    ]
    assert "gear 5" in omissions[0]


def test_a_keyframe_is_where_the_model_starts(read):
    model, _ = read(TREE, keyframe="squat")
    m = mujoco.MjModel.from_xml_string(TREE)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_kinematics(m, d)
    for name, (position, R) in model.start_places().items():
        if name in ("shin", "badge", "pod", "drill", "bird", "stage", "table"):
            assert position == pytest.approx(d.body(name).xipos, abs=1e-12)
            assert pytest.approx(d.body(name).xmat.reshape(3, 3), abs=1e-12) == R
    assert model.start_coordinates()["hip x+hip z.angle a"] == pytest.approx(0.1, abs=1e-12)
    with pytest.raises(ps.InputError, match=r"no keyframe 'squad'; did you mean 'squat'"):
        read(TREE, keyframe="squad")


def four_bar():
    """The same, by hand, with a hinge where the file has a point."""
    model = ps.Model(gravity=(0, 0, -9.81))
    slim, y = {"inertia": (0.01, 0.01, 0.001)}, (0, 1, 0)
    crank = model.add_body("crank", ps.RigidBody(mass=1, **slim), position=(0, 0, 0.1))
    shape = ps.RigidBody(mass=2, inertia=(0.001, 0.05, 0.05))
    coupler = model.add_body("coupler", shape, position=(0.25, 0, 0.2))
    rocker = model.add_body("rocker", ps.RigidBody(mass=1.5, **slim), position=(0.5, 0, 0.05))
    for name, a, b, point in (
        ("crank.joint", model.ground, crank, (0, 0, 0)),
        ("coupler.joint", crank, coupler, (0, 0, 0.2)),
        ("rocker.joint", model.ground, rocker, (0.5, 0, -0.1)),
        ("close", coupler, rocker, (0.5, 0, 0.2)),
    ):
        model.add_joint(name, ps.Revolute(a, b, point=point, axis=y))
    return model


def test_a_loop_that_connects_bodies_is_an_exact_joint(read):
    model, _ = read(FOUR_BAR)
    assert type(model.joints["close"]).__name__ == "Spherical"
    assert model.check().freedoms == 1
    own = ps.simulate(model, h=2e-3, t_end=0.4)
    other = ps.simulate(four_bar(), h=2e-3, t_end=0.4)
    assert own.constraint_error.max() < 1e-13
    assert own.position("coupler") == pytest.approx(other.position("coupler"), abs=1e-10)


WELDED = FOUR_BAR.replace(
    '<connect name="close" body1="coupler" body2="rocker" anchor="0.5 0 0"/>',
    '<weld name="close" body1="coupler" body2="rocker"/>',
)
COUPLED = FOUR_BAR.replace(
    '<connect name="close" body1="coupler" body2="rocker" anchor="0.5 0 0"/>',
    '<joint name="gear" joint1="rocker" joint2="crank" polycoef="0 -2 0 0 0"/>'
    '<joint name="cam" joint1="coupler" joint2="crank" polycoef="0 1 0.5 0 0"/>',
)
OPEN = FOUR_BAR.replace(
    '<connect name="close" body1="coupler" body2="rocker" anchor="0.5 0 0"/>',
    '<connect name="close" site1="end" site2="top"/>',
)
OPEN = OPEN.replace(
    '<inertial pos="0.25 0 0"', '<site name="end" pos="0.5 0 0"/><inertial pos="0.25 0 0"'
)
OPEN = OPEN.replace(
    '<inertial pos="0 0 0.15"', '<site name="top" pos="0 0 0.31"/><inertial pos="0 0 0.15"'
)


def test_a_weld_a_gear_and_a_cam_are_exact(read):
    assert type(read(WELDED)[0].joints["close"]).__name__ == "Weld"
    model, _ = read(COUPLED)
    assert model.check().freedoms == 1
    at = model.configuration({"crank.joint": 0.3})
    assert at.coordinates("rocker.joint")["angle"] == pytest.approx(-0.6, abs=1e-12)
    assert at.coordinates("coupler.joint")["angle"] == pytest.approx(0.3 + 0.045, abs=1e-12)


def test_a_loop_that_is_open_at_zero_is_assembled(read):
    model, _ = read(OPEN)
    assert model.joints["close"].between_markers
    assert model.assembled is not None
    result = ps.simulate(model, h=1e-3, t_end=0.01)
    assert result.constraint_error.max() < 1e-12


def test_capsules_and_boxes_without_mass_get_it_from_their_density(read):
    model, _ = read(TREE)
    capsule = 500 * np.pi * 0.05**2 * (0.3 + 4 / 3 * 0.05)
    assert model.bodies["hip"].mass == pytest.approx(capsule, rel=1e-2)  # shared with a frame
    assert model.bodies["sled"].mass == pytest.approx(500 * 8 * 0.2 * 0.1 * 0.05, rel=2e-1)
    assert len(model.bodies["shin"].looks) == 1


def test_a_run_with_rotors_keeps_its_energy(read):
    model, _ = read(TREE, stops=False)
    for name in [n for n in model.forces if n.endswith("friction")]:
        del model.forces[name]
    result = ps.simulate(model, h=1e-3, t_end=0.05)
    assert result.stats.balance_error_max < 1e-11


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TREE.replace("</mujoco>", ""), "not well-formed XML"),
        (TREE.replace('type="ball"', 'type="spiral"'), "cannot be compiled by MuJoCo"),
        (TREE.replace("<mujoco", "<robot").replace("</mujoco", "</robot"), "expected <mujoco>"),
        ('<!DOCTYPE mujoco [<!ENTITY a "b">]>' + TREE, "entities"),
    ],
)
def test_what_is_wrong_is_named_with_the_file(read, text, problem):
    with pytest.raises(ps.RobotFileError, match=problem) as caught:
        read(text)
    assert caught.value.file.endswith("robot.xml")
