"""Meshes, colours and opacity of bodies on pages and in pictures, from memory and from files."""

import json
import re

import numpy as np
import pytest

import poinsot as ps
from poinsot.viz.meshes import surface
from poinsot.viz.stage import Stage

CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
FACES = np.array([*FACES, [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])
SIZE = np.array([0.2, 0.3, 0.5])


@pytest.fixture(scope="module")
def result():
    model = ps.Model(gravity=(0, 0, -9.81))
    mesh = ps.Triangles(CORNERS * SIZE, FACES)
    looks = [
        ps.Look(kind="mesh", mesh=mesh, position=(1, 0, 0), colour="#ff8000", opacity=0.5),
        ps.Look(kind="ellipsoid", sizes=(0.1, 0.2, 0.3)),
    ]
    model.add_body("painted", ps.RigidBody(mass=1, inertia=(1, 1, 1)), looks=looks)
    model.add_body("cut", ps.Mesh(surface=mesh, density=700), position=(2, 0, 0))
    return ps.simulate(model, h=0.01, t_end=0.05, engine="reference")


def solids(result):
    return Stage.of(result).solids


def test_looks_are_drawn_instead_of_the_shape(result):
    mesh, ball, cut = solids(result)
    assert (mesh.colour, mesh.opacity, ball.opacity) == ("#ff8000", 0.5, 1.0)
    assert ball.shape == "ball"
    assert mesh.corners.min(axis=0) == pytest.approx([1, 0, 0], abs=1e-6)
    assert mesh.corners.max(axis=0) == pytest.approx(np.add((1, 0, 0), SIZE), abs=1e-6)
    assert cut.position == pytest.approx([0, 0, 0], abs=1e-6)
    assert mesh.shape == cut.shape  # the same points are one drawing


def test_a_saved_result_brings_its_meshes_along(result, tmp_path):
    result.save(tmp_path / "run.nc")
    for own, other in zip(solids(result), solids(ps.load(tmp_path / "run.nc")), strict=True):
        assert (own.colour, own.opacity, own.shape) == (other.colour, other.opacity, other.shape)
        assert np.array_equal(own.surface.vertices, other.surface.vertices)


def test_a_page_has_every_mesh_once(result):
    text = ps.viz.page(result)
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])
    own = [name for name in data["meshes"] if name.startswith("mesh ")]
    assert len(own) == 1
    assert [solid["opacity"] for solid in data["solids"]] == [0.5, 1.0, 1.0]


def test_a_picture_has_the_colour_of_a_mesh(result):
    colours = ps.viz.picture(result).axes[0].collections[-1].get_facecolors()
    assert np.any((colours[:, 0] > 0.5) & (colours[:, 2] < 0.1) & (colours[:, 3] == 0.5))


def test_edges_of_a_mesh_are_sharp_and_round_surfaces_smooth(result):
    (drawing,) = result.observation.scene.drawings
    box = surface(drawing).mesh
    assert np.sort(abs(box.normals), axis=1) == pytest.approx(
        np.tile([0, 0, 1], (len(box.normals), 1))
    )
    assert len(box.vertices) == 24
    assert abs(box.vertices).max() == pytest.approx(0.5)


def test_bodies_are_faded_or_hidden_by_name(result):
    shown = Stage.of(result, opacity={"painted": 0.5, "cut": 0}).solids
    assert [(solid.body, solid.opacity) for solid in shown] == [("painted", 0.25), ("painted", 0.5)]
    with pytest.raises(ps.InputError, match="did you mean 'cut'"):
        Stage.of(result, opacity={"cat": 0.5})
    with pytest.raises(ps.InputError, match="from 0 to 1"):
        ps.viz.page(result, opacity={"cut": 2})
