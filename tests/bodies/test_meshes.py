"""Meshes: files of them, and mass and inertia of what they enclose."""

import numpy as np
import pytest
import trimesh

import poinsot as ps

CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
FACES = np.array([*FACES, [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])
SIZE, SHIFT = np.array([0.2, 0.3, 0.5]), np.array([1.0, -2.0, 3.0])


def box():
    return ps.Triangles(CUBE * SIZE + SHIFT, FACES)


def test_a_cuboid_of_triangles_has_mass_centre_and_inertia_of_a_box():
    mesh, solid = ps.Mesh(surface=box(), density=700), ps.Box(size=SIZE, density=700)
    assert mesh.mass == pytest.approx(solid.mass, rel=1e-14)
    assert mesh.inertia_B == pytest.approx(solid.inertia_B, rel=1e-12, abs=1e-14)
    assert -mesh.origin == pytest.approx(SHIFT + SIZE / 2, rel=1e-14)


def test_a_turned_ellipsoid_has_the_inertia_that_trimesh_gives_it():
    ball = trimesh.creation.icosphere(subdivisions=2)
    R = ps.Rotation.from_rotation_vector((0.4, -0.3, 0.8)).matrix
    points = (ball.vertices * (0.1, 0.2, 0.3)) @ R.T + SHIFT
    theirs = trimesh.Trimesh(points, ball.faces)
    theirs.density = 1200
    mesh = ps.Mesh(surface=ps.Triangles(points, ball.faces), density=1200)
    assert mesh.mass == pytest.approx(theirs.mass, rel=1e-12)
    assert mesh.inertia_B == pytest.approx(theirs.moment_inertia, rel=1e-9, abs=1e-12)
    assert -mesh.origin == pytest.approx(theirs.center_mass, rel=1e-12)


@pytest.mark.parametrize("ending", ["stl", "obj", "glb"])
def test_a_file_is_read_in_units_of_a_scale(tmp_path, ending):
    path = tmp_path / f"box.{ending}"
    trimesh.Trimesh(box().vertices, FACES).export(path)
    mesh = ps.Mesh.load(path, scale=1e-3, mass=2.0)
    assert mesh.volume == pytest.approx(np.prod(SIZE) * 1e-9, rel=1e-5)
    assert mesh.mass == 2


def test_an_open_surface_is_refused():
    with pytest.raises(ps.InputError, match="not closed"):
        ps.Mesh(surface=ps.Triangles(CUBE, FACES[1:]), mass=1)
    with pytest.raises(ps.InputError, match="not closed"):
        ps.Mesh(surface=ps.Triangles(CUBE, [*FACES[:-1], FACES[-1][::-1]]), mass=1)


@pytest.mark.parametrize(
    ("vertices", "faces", "problem"),
    [
        ([[0, 0]], [[0, 0, 0]], "must be finite numbers"),
        (CUBE, [[0, 1]], "shape \\(m, 3\\)"),
        (CUBE, [[0, 1, 8]], "0 to 7"),
        (CUBE * np.nan, FACES, "finite"),
    ],
)
def test_what_is_no_mesh_is_refused(vertices, faces, problem):
    with pytest.raises(ps.InputError, match=problem):
        ps.Triangles(np.array(vertices), np.array(faces))


def test_files_that_are_missing_or_broken_are_refused(tmp_path):
    with pytest.raises(ps.InputError, match="no such file"):
        ps.Mesh.load(tmp_path / "none.stl", mass=1)
    (tmp_path / "bad.stl").write_bytes(b"solid")
    with pytest.raises(ps.InputError, match=r"mesh .*bad\.stl"):
        ps.Mesh.load(tmp_path / "bad.stl", mass=1)


def test_a_coarser_mesh_has_its_triangles_near_the_same_surface():
    ball = trimesh.creation.icosphere(subdivisions=4)
    coarse = ps.Triangles(ball.vertices, ball.faces).at_most(1000)
    assert 200 < len(coarse.faces) <= 1000
    assert np.linalg.norm(coarse.vertices, axis=1) == pytest.approx(1, abs=1e-2)


def model_of_meshes():
    model = ps.Model()
    look = ps.Look(kind="mesh", mesh=box(), position=-SHIFT, colour="#ff8000", opacity=0.5)
    plain = ps.Look(kind="cylinder", sizes=(0.1, 0.2), rotation=(0.6, 0.8, 0, 0))
    shape = ps.RigidBody(mass=1, inertia=(1, 1, 1))
    model.add_body("painted", shape, looks=[look, plain])
    model.add_body("cut", ps.Mesh(surface=box(), density=700), position=(1, 0, 0))
    return model


def test_model_files_keep_meshes_beside_them(tmp_path):
    model_of_meshes().to_yaml(tmp_path / "model.yaml")
    again = ps.Model.from_yaml(tmp_path / "model.yaml")
    mesh, cylinder = again.bodies["painted"].looks
    assert (mesh.colour, mesh.opacity, cylinder.sizes) == ("#ff8000", 0.5, (0.1, 0.2))
    assert mesh.mesh.vertices.min(axis=0) == pytest.approx(SHIFT, abs=1e-6)
    assert again.bodies["cut"].shape.mass == pytest.approx(700 * 0.03, rel=1e-6)
    text = (tmp_path / "model.yaml").read_text()
    (tmp_path / "model.yaml").write_text(text.replace("model_meshes", "../model_meshes"))
    with pytest.raises(ps.ModelFileError, match="not in the folder"):
        ps.Model.from_yaml(tmp_path / "model.yaml")


def test_without_a_file_what_a_mesh_encloses_is_a_rigid_body():
    model = model_of_meshes()
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert [look.kind for look in again.bodies["painted"].looks] == ["cylinder"]
    own, other = (m.bodies["cut"].shape for m in (model, again))
    assert other.inertia_B == pytest.approx(own.inertia_B, rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"kind": "cone"}, "known: box"),
        ({"kind": "box", "sizes": (1, 2)}, "3 sizes"),
        ({"kind": "box", "sizes": (1, 2, -3)}, ">= 0"),
        ({"kind": "mesh"}, "give `mesh`"),
        ({"kind": "box", "sizes": (1, 2, 3), "colour": "red"}, "#rrggbb"),
        ({"kind": "box", "sizes": (1, 2, 3), "opacity": 2}, "from 0 to 1"),
    ],
)
def test_looks_that_cannot_be_drawn_are_refused(arguments, problem):
    with pytest.raises(ps.InputError, match=problem):
        ps.Look(**arguments)


def test_only_rigid_bodies_have_looks():
    rod = ps.Beam(length=1, section=ps.CircularSection(radius=0.1), density=1e3, youngs_modulus=1e9)
    with pytest.raises(ps.InputError, match="looks are available for rigid bodies only"):
        ps.Model().add_body("beam", rod, looks=[ps.Look(kind="box", sizes=(1, 1, 1))])
