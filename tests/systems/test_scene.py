"""What a mechanism looks like: pieces, joints and lines, each where its body is."""

import json

import mechanisms
import numpy as np
import pytest
from pydantic import TypeAdapter

import poinsot as ps
from poinsot.gallery import find_example
from poinsot.result import Scene


def placed(result, point, k):
    """Where a point of the scene is at the k-th saved time."""
    if point.body == "ground":
        return np.array(point.position)
    body = result.body(point.body)
    return body.position[k] + body.rotation[k] @ point.position


@pytest.fixture(scope="module")
def result():
    model = ps.Model(gravity=(0, 0, -9.81))
    dumbbell = ps.Composite(
        parts=[
            (ps.Sphere(mass=1, radius=0.1), (0, 0, 0), None),
            (ps.Cylinder(mass=1, radius=0.02, length=1), (0, 0, 0.5), None),
            (ps.Cone(mass=2, radius=0.1, height=0.3), (0, 0, 1), ps.Rotation.from_euler("x", [1])),
        ]
    )
    turned = ps.Rotation.from_axis_angle((1, 2, 3), 0.7)
    arm = model.add_body("arm", dumbbell, position=(1, 0, 0), rotation=turned)
    inertia = [[3.0, 0.4, 0.1], [0.4, 2.0, -0.3], [0.1, -0.3, 2.5]]
    block = model.add_body("block", ps.RigidBody(mass=2, inertia=inertia), position=(2, 1, 0))
    model.add_joint("hook", ps.Spherical(model.ground, arm, point=(0, 0, 0)))
    cross = ps.Universal(arm, block, point=(1.5, 0.5, 0), axis_a=(2, 0, 0), axis_b=(0, 1, 0))
    model.add_joint("cross", cross)
    model.add_force("coil", ps.Spring(model.ground, block, (3, 3, 0), (2.1, 1, 0), stiffness=9.0))
    return ps.simulate(model, h=0.01, t_end=0.2, engine="reference")


def test_pieces_have_the_mass_centre_and_the_axes_of_their_body(result):
    pieces = [piece for piece in result.observation.scene.pieces if piece.body == "arm"]
    assert [piece.kind for piece in pieces] == ["ellipsoid", "cylinder", "cone"]
    masses = np.array([1.0, 1.0, 2.0])
    np.testing.assert_allclose(masses @ [piece.position for piece in pieces], 0, atol=1e-15)
    np.testing.assert_allclose(np.subtract(pieces[1].position, pieces[0].position), (0, 0, 0.5))
    np.testing.assert_allclose(np.array(pieces[2].rotation)[:, 2], (0, -np.sin(1), np.cos(1)))


def test_a_body_known_by_its_inertia_is_drawn_as_the_box_that_has_the_same(result):
    (piece,) = (piece for piece in result.observation.scene.pieces if piece.body == "block")
    assert (piece.kind, piece.exact) == ("box", False)
    box = ps.Box(mass=2, size=piece.sizes)
    R = np.array(piece.rotation)
    inertia = [[3.0, 0.4, 0.1], [0.4, 2.0, -0.3], [0.1, -0.3, 2.5]]
    np.testing.assert_allclose(R @ box.inertia_B @ R.T, inertia, atol=1e-13)


def test_points_of_joints_and_ends_of_springs_stay_where_the_motion_puts_them(result):
    scene = result.observation.scene
    for pin in scene.pins:
        for k in (0, -1):
            gap = placed(result, pin.a, k) - placed(result, pin.b, k)
            np.testing.assert_allclose(gap, 0, atol=1e-12)
    (coil,) = scene.struts
    assert (coil.name, coil.kind) == ("coil", "spring")
    np.testing.assert_allclose(placed(result, coil.b, 0), (2.1, 1, 0), atol=1e-15)


def test_axes_are_unit_vectors_in_the_body_that_holds_them(result):
    cross = result.observation.scene.pins[1]
    first, second = cross.axes
    assert (first.body, second.body) == ("arm", "block")
    at_start = result.body("arm").rotation[0] @ first.position
    np.testing.assert_allclose(at_start, (1, 0, 0), atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_a_scene_survives_json(seed):
    scene = mechanisms.full(seed, bodies=3).model().compile().layout.scene
    assert TypeAdapter(Scene).validate_json(json.dumps(scene.to_dict())) == scene


@pytest.mark.parametrize("name", ["andrews-squeezer", "spatial-slider-crank"])
def test_kinds_of_energy_add_up(name):
    result = ps.simulate(find_example(name).model(), h=1e-3, t_end=0.02, engine="reference")
    total = sum(result.observation.energies.values())
    np.testing.assert_allclose(total, result.energy, rtol=1e-13)


def test_joined_systems_without_bodies_show_no_scene_but_the_energy_of_each():
    result = ps.simulate(find_example("dc-motor").model(), h=1e-3, t_end=0.01)
    energies = result.observation.energies
    assert result.observation.scene == Scene()
    assert list(energies) == ["circuit", "rotor", "load"]
    np.testing.assert_allclose(sum(energies.values()), result.energy, rtol=1e-13)
