"""What is read of URDF files, what is listed, and what is refused, by the names of elements."""

import builtins
import warnings

import numpy as np
import pytest
from robot_files import ARM, FRAMES

import poinsot as ps


@pytest.fixture
def read(tmp_path):
    def from_text(text, **options):
        path = tmp_path / "robot.urdf"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ps.Model.from_urdf(path, **options)
        return model, [line for w in caught for line in w.message.omissions]

    return from_text


def test_links_joints_limits_friction_and_motors_are_parts_of_the_model(read):
    model, _ = read(ARM)
    assert list(model.bodies) == ["base", "upper", "sensor", "hand", "left finger", "right finger"]
    assert type(model.joints["mount"]).__name__ == "Weld"
    assert type(model.joints["shoulder"]).__name__ == "Revolute"
    assert type(model.joints["left"]).__name__ == "Prismatic"
    friction, stop = model.forces["shoulder.friction"], model.forces["shoulder.stop"]
    assert (friction.viscous, friction.coulomb) == (0.3, 0.2)
    assert (stop.lower, stop.upper) == (-1, 2)
    assert "wrist.stop" not in model.forces
    assert set(model.ports) == {"shoulder.motor", "wrist.motor", "left.motor"}
    assert model.check().freedoms == 3
    assert np.allclose(model.gravity, (0, 0, -9.81))


def test_frames_of_links_are_markers_and_links_without_mass_are_frames_alone(read):
    model, _ = read(ARM)
    assert model.markers["tool"].body is model.bodies["hand"]
    tool, hand = model.markers["tool"], model.markers["hand.frame"]
    assert hand.R_WM.T @ (tool.position - hand.position) == pytest.approx([0.15, 0, 0])
    assert model.markers["world"].body is model.ground


def test_a_mimic_joint_moves_in_step(read):
    model, _ = read(ARM)
    result = ps.simulate(model, h=1e-3, t_end=0.02, inputs={"left.motor": 0.5})
    left, right = (result.joint(name).coordinates["displacement"] for name in ("left", "right"))
    assert left[-1] > 1e-4
    assert abs(right - 0.5 * left).max() < 1e-14


def test_fixed_links_are_merged_on_demand_with_mass_and_centre_kept(read):
    model, _ = read(ARM)
    merged, _ = read(ARM, merge_fixed=True)
    assert list(merged.bodies) == ["upper", "hand", "left finger", "right finger"]
    assert merged.bodies["upper"].mass == 2.1
    parts = [model.bodies[name] for name in ("upper", "sensor")]
    centre = sum(part.mass * part.position for part in parts) / 2.1
    assert merged.bodies["upper"].position == pytest.approx(centre, abs=1e-15)
    assert merged.markers["sensor"].body is merged.bodies["upper"]
    at = {"shoulder": 0.2, "wrist": 0.3, "left": 0.01}
    assert merged.configuration(at).mass_matrix() == pytest.approx(
        model.configuration(at).mass_matrix(), rel=1e-12
    )


def test_a_floating_base_is_free(read):
    model, _ = read(ARM.replace('<link name="world"/>', "").replace(MOUNT, ""), floating_base=True)
    assert model.check().freedoms == 9


MOUNT = ARM[ARM.index('<joint name="mount"') : ARM.index('<link name="base">')]


def test_what_is_not_in_the_model_is_listed_by_name(read):
    _, omissions = read(ARM)
    assert [line.partition(":")[0] for line in omissions] == [
        "joints 'shoulder', 'left', 'right'",
        "transmission 'drive'",
        "gazebo 'hand'",
    ]


def test_looks_have_the_shapes_colours_and_places_of_visuals(read):
    model, _ = read(ARM)
    (box,), (cylinder, ball) = model.bodies["upper"].looks, model.bodies["hand"].looks
    assert (box.kind, box.sizes) == ("box", (0.4, 0.05, 0.05))
    assert (box.colour, box.opacity) == ("#1a33cc", 0.5)
    assert (cylinder.kind, ball.kind) == ("cylinder", "ellipsoid")
    assert box.position == pytest.approx([0, 0, 0], abs=1e-15)
    assert cylinder.position == pytest.approx([-0.05, -0.01, 0])
    assert not read(ARM, looks=False)[0].bodies["upper"].looks


def test_a_planar_base_of_slides_without_mass_is_a_planar_joint(read):
    slides = """
    <robot name="cart"><link name="odom"/>
      <joint name="x" type="prismatic"><parent link="odom"/><child link="a"/><axis xyz="1 0 0"/>
        <limit effort="1" velocity="1"/></joint><link name="a"/>
      <joint name="y" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
        <limit effort="1" velocity="1"/></joint><link name="b"/>
      <joint name="turn" type="continuous"><parent link="b"/><child link="cart"/>
        <axis xyz="0 0 1"/></joint>
      <link name="cart"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    </robot>"""
    model, omissions = read(slides)
    assert [type(joint).__name__ for joint in model.joints.values()] == ["Planar"]
    assert sum("become one joint" in line for line in omissions) == 2


LOOPS = """
poinsot: 1
joints:
  closing: {revolute: {markers: [end, pin]}}
forces:
  brake: {joint_friction: {joint: crank, viscous: 0.1}}
"""

FOUR_BAR = """
<robot name="four-bar">
  <link name="frame"/>
  <joint name="crank" type="continuous"><parent link="frame"/><child link="bar 1"/>
    <axis xyz="0 1 0"/></joint>
  <link name="bar 1"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial></link>
  <joint name="knee" type="continuous"><parent link="bar 1"/><child link="bar 2"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/></joint>
  <link name="bar 2"><inertial><origin xyz="0.25 0 0"/><mass value="2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
  <joint name="end.fix" type="fixed"><parent link="bar 2"/><child link="end"/>
    <origin xyz="0.5 0 0" rpy="1.5707963267948966 0 0"/></joint><link name="end"/>
  <joint name="rocker" type="continuous"><parent link="frame"/><child link="bar 3"/>
    <origin xyz="0.5 0 -0.1"/><axis xyz="0 1 0"/></joint>
  <link name="bar 3"><inertial><origin xyz="0 0 0.15"/><mass value="1.5"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial></link>
  <joint name="pin.fix" type="fixed"><parent link="bar 3"/><child link="pin"/>
    <origin xyz="0 0 0.3" rpy="1.5707963267948966 0 0"/></joint><link name="pin"/>
</robot>
"""


def test_a_side_file_closes_loops_between_frames_of_the_robot(read, tmp_path):
    loops = tmp_path / "loops.yaml"
    loops.write_text(LOOPS)
    model, _ = read(FOUR_BAR, loops=loops)
    assert model.check().freedoms == 1
    result = ps.simulate(model, h=1e-3, t_end=0.1)
    assert result.constraint_error.max() < 1e-13
    loops.write_text(LOOPS.replace("[end, pin]", "[end, pine]"))
    with pytest.raises(ps.ModelFileError, match=r"loops.yaml:4.*no marker 'pine'.*'pin'"):
        read(FOUR_BAR, loops=loops)


# -- refused ---------------------------------------------------------------------------------------

FINGER = """<inertial>
      <origin xyz="0.02 0 0"/><mass value="0.05"/>
      <inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/>
    </inertial>"""
MESH = '<mesh filename="{}"/>'
BOX = '<box size="0.4 0.05 0.05"/></geometry>\n      <material'


@pytest.mark.parametrize(
    ("old", "new", "element", "problem"),
    [
        ('type="revolute"', 'type="screw"', "joint 'shoulder'", "unknown type 'screw'"),
        ('xyz="0 2 1"', 'xyz="0 two 1"', "joint 'shoulder'", "not 3 numbers"),
        ('xyz="0 2 1"', 'xyz="0 2"', "joint 'shoulder'", "not 3 numbers"),
        ('xyz="0 2 1"', 'xyz="0 0 0"', "joint 'shoulder'", "axis of length zero"),
        ('lower="-1" upper="2"', 'lower="3" upper="2"', "joint 'shoulder'", "lower is not below"),
        (
            '<child link="upper"/>',
            '<child link="uppe"/>',
            "joint 'shoulder'",
            "did you mean 'upper'",
        ),
        ('<parent link="base"/>', "", "joint 'shoulder'", "no <parent"),
        ('mimic joint="left"', 'mimic joint="lift"', "joint 'right'", "'lift'"),
        ('<link name="tool"/>', '<link name="hand"/>', "link 'hand'", "twice"),
        ('<link name="tool"/>', '<link name="tool"/><link name="x"/>', "robot", "several root"),
        ('<child link="tool"/>', '<child link="sensor"/>', "link 'sensor'", "child of two joints"),
        ('<parent link="world"/>', '<parent link="hand"/>', "link 'base'", "closed chain"),
        ('<mass value="2"/>', "", "link 'upper'", "without <mass>"),
        ('<mass value="2"/>', '<mass value="-2"/>', "link 'upper'", "-2 kg"),
        ('<mass value="2"/>', "<mass/>", "link 'upper'", "without 'value'"),
        (FINGER, "", "link 'left finger'", "can move and has no mass"),
        ('ixx="0.002"', 'ixx="0.2"', "link 'upper'", "is not possible for a body"),
        (
            'ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"',
            'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"',
            "link 'left finger'",
            "inertia is zero",
        ),
        ("</robot>", "", "URDF", "not well-formed XML"),
        ("<robot", "<robots", "URDF", "not well-formed XML"),
        ("robot", "model", "URDF", "begins with <model>"),
        ('<link name="world"/>', '<link name="world"/><xacro.macro/>', "URDF", "expand them"),
        (
            BOX,
            BOX.replace('<box size="0.4 0.05 0.05"/>', MESH.format("a.stl")),
            "link 'upper'",
            "no file",
        ),
        (
            BOX,
            BOX.replace('<box size="0.4 0.05 0.05"/>', MESH.format("package://p/a.stl")),
            "link 'upper'",
            "packages=",
        ),
        (
            BOX,
            BOX.replace('<box size="0.4 0.05 0.05"/>', MESH.format("https://p.org/a.stl")),
            "link 'upper'",
            "network",
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_and_element(read, old, new, element, problem):
    assert old in ARM
    with pytest.raises(ps.RobotFileError, match=r"robot\.urdf") as caught:
        read(ARM.replace(old, new, ARM.count(old) if old == "robot" else 1))
    assert caught.value.element == element
    assert problem in str(caught.value)


BOMB = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"><link name="x"/></robot>"""


@pytest.mark.parametrize(
    "text", [BOMB, BOMB.encode("utf-16"), BOMB.replace("UTF-8", "latin-1"), b"\xff\xfe\x00"]
)
def test_entities_are_refused_before_they_are_expanded(read, text):
    with pytest.raises(ps.RobotFileError, match=r"entities|UTF-8"):
        read(text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ps.RobotFileError, match="No such file"):
        ps.Model.from_urdf(tmp_path / "none.urdf")


def test_a_missing_package_says_what_to_install(read, monkeypatch):
    real = builtins.__import__
    from poinsot import errors

    def without(name):
        if name == "yourdfpy":
            raise ImportError("none here")
        return real(name)

    monkeypatch.setattr(errors, "import_module", without)
    with pytest.raises(ps.MissingExtraError, match=r"poinsot\[robots\]"):
        read(ARM)


def test_an_inertia_of_no_body_is_repaired_on_demand(read):
    model, omissions = read(ARM.replace('ixx="0.002"', 'ixx="0.08"'), repair_inertia=True)
    J = model.bodies["upper"].shape.inertia_B
    assert np.linalg.eigvalsh(J)[2] == pytest.approx(np.linalg.eigvalsh(J)[:2].sum())
    assert any("link 'upper'" in line and "no body" in line for line in omissions)


def test_meshes_are_found_in_packages_and_beside_the_file(read, tmp_path):
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    from poinsot.robots.writing import write_stl

    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    write_stl(tmp_path / "parts" / "a.stl", ps.Triangles(corner, np.array(faces)))
    for name, options in (
        ("parts/a.stl", {}),
        ("package://parts/a.stl", {}),
        ("package://robot/a.stl", {"packages": {"robot": tmp_path / "parts"}}),
    ):
        mesh = f'<mesh filename="{name}" scale="2 2 2"/>'
        model, _ = read(ARM.replace('<box size="0.4 0.05 0.05"/>', mesh), **options)
        (look,) = model.bodies["upper"].looks
        assert np.ptp(look.mesh.vertices, axis=0) == pytest.approx([2, 2, 2])
    (tmp_path / "parts" / "a.stl").write_bytes(b"solid nothing")
    with pytest.raises(ps.RobotFileError, match="link 'upper' has a mesh"):
        read(ARM.replace('<box size="0.4 0.05 0.05"/>', '<mesh filename="parts/a.stl"/>'))


def test_frames_between_joints_get_mass_from_their_neighbours(read):
    model, _ = read(FRAMES)
    assert model.bodies["ring 1"].mass > 0
    total = sum(body.mass for body in model.bodies.values())
    assert total == pytest.approx(3, rel=1e-14)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_a_pitch_of_a_quarter_turn_is_written_and_read_without_a_warning(read, pitch):
    model = ps.Model()
    turn = ps.Rotation.from_euler("xyz", (0.3, pitch, 0))
    arm = model.add_body("arm", ps.Box(mass=1, size=(0.3, 0.2, 0.1)), rotation=turn)
    hinge = ps.Revolute(model.ground, arm, point=(0, 0, 0), axis=turn.matrix[:, 2])
    model.add_joint("hinge", hinge)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ps.errors.OmissionWarning)
        text = model.to_urdf()
    again, _ = read(text)
    for name, (_, R_WB) in model.start_places().items():
        body, other = model.bodies[name], again.bodies[name]
        own, copy = (
            R @ shape.inertia_B @ R.T
            for R, shape in ((R_WB, body.shape), (again.start_places()[name][1], other.shape))
        )
        np.testing.assert_allclose(own, copy, atol=1e-12)
