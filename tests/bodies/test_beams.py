"""Beams in a model: places by name, degrees of freedom, files, and what is refused."""

import numpy as np
import pytest

import poinsot as ps

SECTION = ps.CircularSection(radius=0.01)
GOOD = {
    "length": 1.0,
    "section": SECTION,
    "density": 7800,
    "youngs_modulus": 2e11,
    "elements": 2,
}


def model_with(**options):
    model = ps.Model(gravity=(0, -9.81, 0))
    model.add_body("beam", ps.Beam(**GOOD | options), position=(0.5, 0, 0))
    return model


def test_mass_and_inertia_are_those_of_a_slender_cylinder():
    beam = ps.Beam(**GOOD)
    mass = 7800 * np.pi * 1e-4
    assert beam.mass == pytest.approx(mass, rel=1e-14)
    across = mass / 12
    about = mass * 1e-4 / 2
    np.testing.assert_allclose(beam.inertia_B, np.diag([about, across, across]), rtol=1e-12)


def test_places_have_names_and_ends():
    model = model_with()
    body = model.bodies["beam"]
    assert list(model.bodies) == ["beam", "beam.0", "beam.1", "beam.2"]
    assert model.body("beam.start") is body.start is body[0]
    assert model.body("beam.end") is body.end is body[2]
    np.testing.assert_allclose([place.position[0] for place in body.places], [0, 0.5, 1])
    with pytest.raises(KeyError, match=r"beam\.middle"):
        model.bodies["beam.middle"]
    with pytest.raises(ps.InputError, match=r"the name 'beam\.1' is taken"):
        model.add_body("beam.1", ps.Sphere(mass=1, radius=1))
    with pytest.raises(ps.InputError, match=r"the name 'beam\.end' is taken"):
        model.add_marker("beam.end", body.start, position=(0, 0, 0))


def four_bar(planar):
    model, points = ps.Model(), [(0, 0, 0), (0.6, 0.8, 0), (1.6, 0.8, 0), (1, 0, 0)]
    for k, name in enumerate("abc"):
        (x, y, _), (X, Y, _) = points[k : k + 2]
        turned = ps.Rotation.from_axis_angle((0, 0, 1), np.arctan2(Y - y, X - x))
        middle = ((x + X) / 2, (y + Y) / 2, 0)
        model.add_body(name, ps.Beam(**GOOD | {"planar": planar}), position=middle, rotation=turned)
    bodies = [model.ground, *(model.bodies[name] for name in "abc"), model.ground]
    for k, point in enumerate(points):
        joint = ps.Revolute(bodies[k], bodies[k + 1], point=point, axis=(0, 0, 1))
        model.add_joint(f"J{k}", joint)
    return model


def test_degrees_of_freedom_count_deformations_and_the_rank_of_the_joints():
    """Planar links repeat three equations of a loop; those that bend in space repeat none."""
    planar, spatial = four_bar(True).check(), four_bar(False).check()
    # 6 and 2 x 3 or 2 x 6 elastic coordinates for each link, four hinges of five equations.
    assert planar.repeated == ("J3: point z", "J3: tilt 1", "J3: tilt 2")
    assert planar.freedoms == 3 * (6 + 6) - 20 + 3
    assert spatial.repeated == ()
    assert spatial.freedoms == 3 * (6 + 12) - 20


def test_a_loop_with_repeated_equations_runs_with_closed_joints():
    model = four_bar(True)
    model.gravity = np.array([0, -9.81, 0])
    result = ps.simulate(model, h=2e-3, t_end=0.01, engine="reference")
    assert result.constraint_error.max() < 1e-14
    assert result.stats.balance_error_max < 1e-13
    np.testing.assert_array_equal(result.position("b.end"), result.position("b.2"))
    assert abs(result.reaction("J3").force[:, 2]).max() < 1e-9


def test_a_model_file_holds_a_beam_without_loss():
    model = model_with(held="simply supported", stiffening=True, end_mass=0.2)
    body = model.bodies["beam"]
    model.add_joint("A", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("push", ps.ForcePort(body, point=(0.5, 0, 0)))
    text = model.to_yaml()
    again = ps.Model.from_yaml_text(text)
    assert again.to_yaml() == text
    assert list(again.bodies) == list(model.bodies)
    assert list(again.markers) == ["beam.start", "beam.end"]
    np.testing.assert_array_equal(again.compile().start, model.compile().start)


FILE = """
poinsot: 1
bodies:
  b:
    beam:
      {{length: 1, section: {section}, density: 1e3, youngs_modulus: 1e9, elements: {elements}}}
joints:
  J: {{weld: {{bodies: [ground, {place}]}}}}
"""


@pytest.mark.parametrize("place", ["b.start", "b.1", "b.end", "b.0"])
def test_joints_of_a_file_name_places(place):
    text = FILE.format(section="{circular: {radius: 0.1}}", elements="[0, 0.5, 1]", place=place)
    assert ps.Model.from_yaml_text(text).check().freedoms == 12


@pytest.mark.parametrize(
    ("section", "elements", "place", "message"),
    [
        ("{circular: {radius: 0.1}}", "2", "b.3", "no body 'b.3'; did you mean"),
        ("{circular: {radius: 0.1}}", "2", "b", "parts attach to its places b.0"),
        ("{circular: {radius: 0}}", "2", "b.1", "radius is 0"),
        ("{circular: {radius: 0.1}}", "0", "b.0", "elements"),
        ("{circular: {radius: 0.1}}", "many", "b.0", "the number of elements"),
        ("{oval: {radius: 0.1}}", "2", "b.0", "unknown key 'oval'"),
    ],
)
def test_a_wrong_beam_of_a_file_is_refused_with_its_line(section, elements, place, message):
    with pytest.raises(ps.ModelFileError) as caught:
        ps.Model.from_yaml_text(FILE.format(section=section, elements=elements, place=place))
    assert message in str(caught.value)
    assert "<text>:" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "length is 0; it must be positive"),
        ({"density": -1}, "density is -1; it must be positive"),
        ({"youngs_modulus": 0}, "youngs_modulus is 0; it must be positive"),
        ({"shear_modulus": -2.0}, r"shear_modulus is -2\.0; it must be positive"),
        ({"elements": 0}, "elements"),
        ({"elements": (0, 0.7, 0.5, 1)}, "increasing numbers from 0 to the length"),
        ({"section": 3}, "give a CircularSection"),
        ({"damping": -1}, "damping is -1; it cannot be negative"),
        ({"end_mass": -1}, "end_mass is -1; it cannot be negative"),
        ({"momenta": "none"}, "not 'deformed' or 'undeformed'"),
        ({"held": "free"}, "no condition 'free'"),
        ({"held": [(0, "u_x"), (0, "u_y")]}, "still contains rigid motions"),
        ({"held": [(7, "u_x")]}, "7"),
        ({"held": [(0, "u_x"), (0, "u_y")], "planar": True}, "hold 'theta_z' at a node as well"),
        ({"elements": True}, "elements is True; it must be a whole number"),
        ({"planar": "no"}, "planar is 'no', not True or False"),
        ({"stiffening": 1}, "stiffening is 1, not True or False"),
    ],
)
def test_a_beam_that_cannot_be_is_refused(options, message):
    with pytest.raises(ps.InputError, match=message):
        ps.Beam(**GOOD | options)


def test_a_planar_beam_is_held_in_its_plane_alone():
    held = [(0, "u_x"), (0, "u_y"), (-1, "u_y")]
    own, named = (ps.Beam(**GOOD, planar=True, held=each) for each in (held, "simply supported"))
    np.testing.assert_array_equal(own.flexibility.K, named.flexibility.K)


def test_a_section_has_positive_numbers():
    with pytest.raises(ps.InputError, match="area is 0; it must be positive"):
        ps.Section(area=0, I1=1, I2=1, J=1)
    with pytest.raises(ps.InputError, match="not smaller than radius"):
        ps.CircularSection(radius=0.1, inner_radius=0.1)


def test_things_attach_where_a_beam_has_a_node():
    model = model_with()
    body = model.bodies["beam"]
    joint = ps.Spherical(model.ground, body, point=(0.5, 0, 0))
    assert joint.b is body[1]
    with pytest.raises(ps.InputError, match=r"nearest is 'beam\.1', 0\.2 m away; add a node"):
        ps.Spherical(model.ground, body, point=(0.7, 0, 0))
    with pytest.raises(ps.InputError, match="name one of its places"):
        ps.Weld(model.ground, body)
    with pytest.raises(ps.InputError, match="name one of its places"):
        ps.TorquePort(body)
    with pytest.raises(ps.InputError, match=r"'beam' has no place 3; its places are 0 to 2"):
        ps.TorquePort(body[3])


def test_a_beam_is_no_part_of_a_rigid_body():
    with pytest.raises(ps.InputError, match="a Beam is elastic and cannot be a part"):
        ps.Composite(parts=[(ps.Beam(**GOOD), (0, 0, 0), None)])


def test_a_beam_needs_body_axes():
    model = model_with()
    with pytest.raises(ps.InputError, match="leave the coordinates out"):
        model.compile("directors")
    with pytest.raises(ps.InputError, match="'ph-mp'"):
        ps.simulate(model, scheme="eml", h=0.01, t_end=0.01)
