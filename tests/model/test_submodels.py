"""Models as sub-assemblies: the same motion as the parts by hand, whatever they are."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from cranes import coil, crane
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import full, laws, rotation, tree
from same import assert_same

import poinsot as ps
from poinsot.model import kinds, submodels

EVERYTHING = Path(__file__).parents[1] / "io" / "everything.yaml"
#: Arguments of parts that are no places in the world and no names.
PLAIN = {
    *("stiffness", "force", "potential", "dpotential", "ddpotential", "damping", "law", "dlaw"),
    *("efficiency", "slip", "ratio", "radius", "radius_a", "radius_b", "crossed", "lead"),
    *("profile", "rest_length", "rest", "freedom", "coulomb", "viscous", "quadratic", "lower"),
    *("upper", "angular_viscous", "angular_quadratic", "strength", "relaxation", "axes", "value"),
    *("published", "coordinate", "rate", "sideways"),
    "length",  # of a rod
    *("position", "angle", "sequence", "angles"),  # of paths, which are moved by themselves
}


def test_every_argument_of_every_kind_of_part_is_placed_or_plain():
    known = {
        *submodels.POINTS,
        *submodels.DIRECTIONS,
        *submodels.ROTATIONS,
        *submodels.BODIES,
        *submodels.TIES,
        *PLAIN,
    }
    for table in (kinds.JOINTS, kinds.TRANSMISSIONS, kinds.FORCES, kinds.PORTS):
        for kind in table.values():
            assert {field.name for field in fields(kind)} <= known, kind


@laws(8)
@given(st.integers(0, 10**6))
def test_a_model_placed_anywhere_moves_as_one_written_there(seed):
    random = np.random.default_rng(seed)
    plan = full(seed, bodies=3, gravity=False)
    plan.ports.pop("force in world axes"), plan.ports.pop("torque in world axes")
    R, shift, gravity = rotation(random), random.standard_normal(3), random.standard_normal(3)
    by_hand = plan.moved(R, shift).model(project=False)
    by_hand.project_velocities()
    by_hand.gravity = gravity
    placed = ps.Model(gravity=gravity)
    placed.add_system("arm", plan.model(), position=shift, rotation=R)
    one, other = (ps.simulate(m, h=5e-3, t_end=0.2) for m in (by_hand, placed))
    for body in plan.bodies:
        for quantity in ("position", "rotation", "velocity", "angular_velocity"):
            a, b = getattr(one, quantity)(body), getattr(other, quantity)(f"arm.{body}")
            assert abs(a - b).max() < 1e-9 * max(1.0, abs(a).max())
    for joint in plan.joints:
        a, b = one.reaction(joint), other.reaction(f"arm.{joint}")
        np.testing.assert_allclose(a.force, b.force, atol=1e-7 * (1 + abs(a.force).max()))
    assert abs(one.energy - other.energy).max() < 1e-10 * max(1, abs(one.energy).max())


def arm(law="-8*elbow - 2*elbow_rate") -> ps.Model:
    """Return two links with a motor, its circuit, a spring, a marker, a sensor, a controller."""
    model = ps.Model(gravity=(0, 0, -9.81), name="arm")
    upper = model.add_body("upper", ps.Box(mass=2, size=(0.5, 0.1, 0.1)), position=(0.25, 0, 0))
    lower = model.add_body("lower", ps.Box(mass=1, size=(0.5, 0.1, 0.1)), position=(0.75, 0, 0))
    model.add_marker("tip", lower, position=(1, 0, 0))
    model.add_joint("shoulder", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("elbow", ps.Revolute(upper, lower, point=(0.5, 0, 0), axis=(0, 1, 0)))
    ends = {"point_a": (0, 0, 0.5), "point_b": (0.3, 0, 0)}
    model.add_force("spring", ps.Spring(model.ground, upper, **ends, stiffness=50))
    model.add_system("motor", coil())
    model.connect(ps.ph.Gyrator("motor.shaft", "shoulder", C=0.5))
    model.add_sensor("height", "tip.position")
    reads = ["elbow", "elbow.rate"]
    model.add_controller("pd", law, reads=reads, drives="elbow", every=2e-3)
    return model


def by_hand() -> ps.Model:
    """Return two arms on a trolley, part by part."""
    model = ps.Model(gravity=(0, 0, -9.81))
    trolley = model.add_body(
        "trolley", ps.Box(mass=5, size=(1, 0.2, 0.2)), position=(0, 0, 1), velocity=(0.3, 0, 0)
    )
    model.add_joint("rail", ps.Prismatic(model.ground, trolley, point=(0, 0, 1), axis=(1, 0, 0)))
    for name, side in (("left", -1), ("right", 1)):

        def at(x, z=0.0, side=side):
            return (side * (0.5 + x), 0, 1 + z)

        turned = None if side > 0 else ps.Rotation.from_axis_angle((0, 0, 1), np.pi)
        box = {"size": (0.5, 0.1, 0.1)}
        upper, lower = (
            model.add_body(f"{name}.{b}", ps.Box(mass=m, **box), position=at(x), rotation=turned)
            for b, m, x in (("upper", 2, 0.25), ("lower", 1, 0.75))
        )
        model.add_marker(f"{name}.tip", lower, position=at(1), rotation=turned)
        for joint, a, b, x in (("shoulder", trolley, upper, 0), ("elbow", upper, lower, 0.5)):
            hinge = ps.Revolute(a, b, point=at(x), axis=(0, side, 0))
            model.add_joint(f"{name}.{joint}", hinge)
        ends = {"point_a": at(0, 0.5), "point_b": at(0.3)}
        model.add_force(f"{name}.spring", ps.Spring(trolley, upper, **ends, stiffness=50))
        coil = arm().systems["motor"]
        model.systems[f"{name}.motor"] = coil.prefixed(name)
        model.connect(ps.ph.Gyrator(f"{name}.motor.shaft", f"{name}.shoulder", C=0.5))
        model.add_sensor(f"{name}.height", f"{name}.tip.position")
        model.add_controller(
            f"{name}.pd",
            f"-8*{name}_elbow - 2*{name}_elbow_rate",
            reads=[f"{name}.elbow", f"{name}.elbow.rate"],
            drives=[f"{name}.elbow"],
            every=2e-3,
        )
    return model


def two_arms(sub=None) -> ps.Model:
    """Return the same by one model of an arm, added twice."""
    model, sub = ps.Model(gravity=(0, 0, -9.81)), sub or arm()
    trolley = model.add_body(
        "trolley", ps.Box(mass=5, size=(1, 0.2, 0.2)), position=(0, 0, 1), velocity=(0.3, 0, 0)
    )
    model.add_joint("rail", ps.Prismatic(model.ground, trolley, point=(0, 0, 1), axis=(1, 0, 0)))
    half = ps.Rotation.from_axis_angle((0, 0, 1), np.pi)
    model.add_system("left", sub, position=(-0.5, 0, 1), rotation=half, ground=trolley)
    model.add_system("right", sub, position=(0.5, 0, 1), ground=trolley)
    return model


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_two_arms_on_a_trolley_move_as_those_written_by_hand(engine):
    inputs = {"left.motor.supply": 12.0, "right.motor.supply": lambda t: 5 * np.sin(9 * t)}
    options = {"h": 2e-3, "t_end": 0.1, "inputs": inputs, "engine": engine}
    one, other = (ps.simulate(m, **options) for m in (by_hand(), two_arms()))
    for body in ("trolley", "left.lower", "right.lower"):
        assert abs(one.position(body) - other.position(body)).max() < 1e-13
    for name in ("left.height", "right.height"):
        assert abs(one.sensor(name).values - other.sensor(name).values).max() < 1e-13
    assert abs(one["left.motor.flux"] - other["left.motor.flux"]).max() < 1e-12
    assert abs(other.balance_error).max() < 1e-12 * abs(other.energy).max()
    assert other.engine == engine


def test_sub_assemblies_go_to_files_and_back_bit_by_bit():
    model = two_arms()
    text = model.to_yaml()
    again = ps.Model.from_yaml_text(text)
    assert again.to_yaml() == text
    options = {"h": 2e-3, "t_end": 0.1, "inputs": {"left.motor.supply": 12.0}}
    assert_same(ps.simulate(model, **options), ps.simulate(again, **options))


def test_everything_that_a_file_can_hold_can_be_a_sub_assembly():
    text = EVERYTHING.read_text(encoding="utf-8")
    moving = ", velocity: [1, 2, 3], angular_velocity: [0, 0, 0]"
    text = text.replace("project_velocities: true", "").replace(moving, "")
    sub, model = ps.Model.from_yaml_text(text), ps.Model(gravity=(0, 0, -9.81))
    model.add_system("sub", sub)
    assert model.to_yaml().count("sub.") > 100
    stripped = model.to_yaml().replace("sub.", "").replace("sub_", "")
    expected = ps.Model.from_yaml_text(stripped)
    expected.name, expected.simulation = sub.name, sub.simulation
    assert expected.to_yaml() == sub.to_yaml()
    assert model.check() == sub.check() or model.check().freedoms == sub.check().freedoms


def test_sub_assemblies_of_sub_assemblies_have_all_prefixes():
    robot = ps.Model()
    robot.add_system("arm", arm(), position=(0, 1, 0))
    hall = ps.Model(gravity=(0, 0, -9.81))
    hall.add_system("robot", robot, position=(0, 0, 2))
    alone, deep = (ps.simulate(m, h=2e-3, t_end=0.05) for m in (arm(), hall))
    moved = deep.position("robot.arm.lower") - alone.position("lower")
    assert abs(moved - (0, 1, 2)).max() < 1e-13
    assert deep.systems == ("robot.arm.motor",)


def test_bodies_are_returned_and_take_joints_of_the_outer_model():
    model = ps.Model(gravity=(0, 0, -9.81))
    bodies = model.add_system("arm", arm(), position=(0, 0, 1))
    assert bodies["lower"] is model.bodies["arm.lower"]
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(1, 0, 1))
    model.add_joint("grip", ps.Weld(bodies["lower"], ball))
    model.add_joint("again", ps.Weld(model.body("arm.tip"), ball))
    run = ps.simulate(model, h=2e-3, t_end=0.05)
    assert abs(run.position("ball") - run.marker("arm.tip").position).max() < 1e-13


def test_rods_and_beams_keep_what_they_are():
    section = ps.CircularSection(radius=0.01)
    material = {"youngs_modulus": 2e9, "density": 1e3}
    sub = ps.Model()
    line = ((0, 0, 0), (1, 0, 0))
    rod = sub.add_body(
        "rod", ps.ElasticRod(line, section, elements=4, shear_modulus=8e8, **material)
    )
    beam = sub.add_body(
        "beam",
        ps.Beam(length=1, section=section, shear_modulus=8e8, elements=2, **material),
        position=(1.5, 0, 0),
    )
    sub.add_joint("clamp", ps.Weld(sub.ground, rod.start))
    sub.add_joint("hinge", ps.Spherical(rod.end, beam.start, point=(1, 0, 0)))
    gravity = (0, 0, -9.81)
    sub.gravity = gravity
    model, turned = ps.Model(gravity=gravity), ps.Rotation.from_axis_angle((0, 0, 1), 0.7)
    model.add_system("a", sub, rotation=turned, position=(0, 0, 1))
    alone, placed = (ps.simulate(m, h=2e-3, t_end=0.02) for m in (sub, model))
    for name in ("beam.end", "rod.3"):
        expected = alone.position(name) @ turned.matrix.T + (0, 0, 1)
        assert abs(placed.position(f"a.{name}") - expected).max() < 1e-10
    assert placed.stress("a.beam") is not None
    assert placed.stress("a.rod") is not None
    text = model.to_yaml()
    assert "elastic_rod" in text
    assert_same(ps.simulate(ps.Model.from_yaml_text(text), h=2e-3, t_end=0.02), placed)


def test_a_flying_sub_assembly_moves_as_a_whole_and_within():
    sub = tree(5, bodies=3, ground=False, gravity=False).model()
    within = sub.start_velocities()
    R, V, Omega = rotation(np.random.default_rng(1)), np.array([1, 2, 3]), np.array([0, 0.5, -1])
    model = ps.Model()
    model.add_system("s", sub, position=(4, 5, 6), rotation=R, velocity=V, angular_velocity=Omega)
    for name, (v, omega) in within.items():
        arm = R @ sub.bodies[name].position
        velocity, spin = model.start_velocities()[f"s.{name}"]
        np.testing.assert_allclose(velocity, V + np.cross(Omega, arm) + R @ v, atol=1e-12)
        np.testing.assert_allclose(spin, Omega + R @ omega, atol=1e-12)


def test_a_rod_flies_as_a_whole_or_is_refused():
    def rod(**motion):
        sub = ps.Model()
        section = ps.SectionLaw(stiffness=[1e3, 1e3, 1e3, 1, 1, 1], mass=1, inertia=[0.1, 0.1])
        shape = ps.ElasticRod(((0, 0, 0), (1, 0, 0)), section, elements=3)
        sub.add_body("rod", shape, position=(0, 1, 0), **motion)
        return sub

    model = ps.Model()
    model.add_system("s", rod(angular_velocity=(0, 0, 2)), velocity=(1, 0, 0))
    again = ps.Model.from_yaml_text(model.to_yaml())
    for each in (model, again):
        v, omega = each.start_velocities()["s.rod.3"]
        np.testing.assert_allclose(v, (1, 2, 0), atol=1e-14)
        np.testing.assert_allclose(omega, (0, 0, 2), atol=1e-14)
    bent = rod()
    hub = bent.add_body("hub", ps.Sphere(mass=1, radius=1), position=(0, 1, 0))
    bent.add_joint("clamp", ps.Weld(hub, bent.bodies["rod.0"]))
    object.__setattr__(bent.bodies["hub"], "angular_velocity", np.array([0, 0, 1.0]))
    with pytest.raises(ps.InputError, match=r"rod 'rod' of system 's' deforms at the start"):
        ps.Model().add_system("s", bent, velocity=(1, 0, 0))


def test_planar_joints_keep_their_directions():
    sub = ps.Model()
    disc = sub.add_body("disc", ps.Cylinder(mass=1, radius=1, length=0.1))
    table = ps.Planar(sub.ground, disc, point=(0, 0, 0), normal=(0, 0, 1), x=(1, 1, 0.3))
    sub.add_joint("table", table)
    sub.add_port("push", ps.JointPort("table", "displacement 1", value=2.0))
    plain = ps.Planar(sub.ground, disc, point=(0, 0, 0), normal=(0, 0, 1))
    R = ps.Rotation.from_axis_angle((1, 2, 3), 2.0).matrix
    for joint in (table, plain):
        sub.joints["table"], model = joint, ps.Model()
        model.add_system("s", sub, rotation=R)
        alone, placed = (ps.simulate(m, h=0.1, t_end=1) for m in (sub, model))
        moved = alone.position("disc") @ R.T
        assert np.linalg.norm(moved[-1]) > 0.9
        assert abs(placed.position("s.disc") - moved).max() < 1e-13
    sub.joints["table"] = table
    end = ps.simulate(sub, h=0.1, t_end=1).position("disc")[-1]
    np.testing.assert_allclose(end, np.array([1, 1, 0]) / np.sqrt(2), atol=1e-13)
    with pytest.raises(ps.InputError, match="Planar: x is along the normal"):
        ps.Planar(sub.ground, disc, point=(0, 0, 0), normal=(0, 0, 1), x=(0, 0, 2))


def test_laws_by_python_and_by_state_spaces_come_along():
    reads = ["pin", "pin.rate", "rod.position", "motor.flux"]

    def law(t, y):
        return [-y[0], -y[1], 0.0, y[5], 0.1]

    for every in (None, 5e-3):
        model = ps.Model(gravity=(0, 0, -9.81))
        model.add_system("c", crane(law, reads, every=every))
        one, other = (
            ps.simulate(m, h=5e-3, t_end=0.05) for m in (crane(law, reads, every=every), model)
        )
        assert abs(one.position("rod") - other.position("c.rod")).max() < 1e-13


def test_what_does_not_fit_is_refused_by_name_and_leaves_nothing_behind():
    model = ps.Model()
    other = ps.Model().add_body("other", ps.Sphere(mass=1, radius=1))
    for options, message in (
        ({"ground": other}, r"system 'a': ground: body 'other' belongs to another model"),
        ({"ground": "floor"}, r"system 'a': ground: expected a body or model.ground"),
        ({"position": (0, 1)}, r"system 'a': position"),
        ({"rotation": np.ones((3, 3))}, r"system 'a': rotation"),
        ({"velocity": (0, np.nan, 0)}, r"system 'a': velocity"),
    ):
        with pytest.raises(ps.InputError, match=message):
            model.add_system("a", arm(), **options)
        assert repr(model) == "<Model 'model': empty>"
    with pytest.raises(
        ps.InputError, match="system 'a': a model cannot contain itself; add another model"
    ):
        model.add_system("a", model)
    with pytest.raises(
        ps.InputError,
        match="system 'a': position is an option for models, not for systems; leave it out",
    ):
        model.add_system("a", ps.ph.linear("s", states=["x"], J=[[0]], Q=[[1]]), position=(0, 0, 0))
    with pytest.raises(ps.InputError, match="or a Model, got 3"):
        model.add_system("a", 3)
    model.add_system("a", arm())
    before = model.to_yaml()
    with pytest.raises(ps.InputError, match=r"the name 'a.upper' is taken by a body"):
        model.add_system("a", arm())
    rolling = ps.Model()
    ball = rolling.add_body("ball", ps.Sphere(mass=1, radius=1), position=(0, 0, 1))
    rolling.add_joint("contact", ps.RollingSphere(rolling.ground, ball, radius=1))
    with pytest.raises(ps.InputError, match="ground"):
        model.add_system("b", rolling, ground=model.body("a.upper"))
    assert model.to_yaml() == before


HALL = """
poinsot: 1
gravity: [0, 0, -9.81]
bodies:
  trolley: {box: {mass: 5, size: [1, 0.2, 0.2]}, position: [0, 0, 1], velocity: [0.3, 0, 0]}
joints:
  rail: {prismatic: {bodies: [ground, trolley], point: [0, 0, 1], axis: [1, 0, 0]}}
systems:
  left:
    model:
      file: parts/arm.yaml
      position: [-0.5, 0, 1]
      rotation: [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]
      ground: trolley
  right: {model: {file: parts/arm.yaml, position: [0.5, 0, 1], ground: trolley}}
"""


def hall(tmp_path, text=HALL):
    (tmp_path / "parts").mkdir(exist_ok=True)
    arm().to_yaml(tmp_path / "parts" / "arm.yaml")
    (tmp_path / "hall.yaml").write_text(text, encoding="utf-8")
    return ps.Model.from_yaml(tmp_path / "hall.yaml")


def test_a_file_takes_others_as_sub_assemblies(tmp_path):
    found, expected = hall(tmp_path), two_arms()
    options = {"h": 2e-3, "t_end": 0.1, "inputs": {"left.motor.supply": 12.0}}
    one, other = (ps.simulate(m, **options) for m in (found, expected))
    assert abs(one.position("left.lower") - other.position("left.lower")).max() < 1e-13
    assert ps.Model.from_yaml_text(found.to_yaml()).to_yaml() == found.to_yaml()


def test_parts_of_files_within_files_are_named_and_missing_ones_are_refused(tmp_path):
    more = HALL.replace("systems:", "  grip: {weld: {bodies: [right.lower, load]}}\nsystems:")
    more = more.replace("joints:", "  load: {sphere: {mass: 1, radius: 0.1}}\njoints:", 1)
    motor = "ports:\n  extra: {joint: {joint: left.elbow, value: 1}}\n"
    assert hall(tmp_path, more + motor).joints["grip"].a.name == "right.lower"
    for old, new, message in (
        ("right.lower", "right.lowr", "no body 'right.lowr'; did you mean 'right.lower'"),
        ("left.elbow", "left.elbw", "no joint 'left.elbw'; did you mean 'left.elbow'"),
        ("right.lower", "write.lower", "no body 'write.lower'"),
        ("parts/arm.yaml", "parts/leg.yaml", "leg.yaml"),
        ("ground: trolley", "ground: floor", "no body 'floor'"),
        ("parts/arm.yaml", "hall.yaml", "cannot contain itself: 'hall.yaml' in 'hall.yaml'"),
        ("ground: trolley", "grund: trolley", "unknown key 'grund'; did you mean 'ground'"),
    ):
        with pytest.raises(ps.ModelFileError) as raised:
            hall(tmp_path, (more + motor).replace(old, new))
        assert message in str(raised.value)
