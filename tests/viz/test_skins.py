"""Flexible bodies in pictures: their surfaces move with their deformation."""

import base64
import json
import re
import struct

import numpy as np
import pytest
import skfem

import poinsot as ps
from poinsot import viz
from poinsot.bodies.meshes import Triangles
from poinsot.bodies.skin import Skin
from poinsot.elements.meshes import surface
from poinsot.viz.stage import Stage

RUBBER = {"density": 2700.0, "youngs_modulus": 2e7, "poissons_ratio": 0.3}
LINES = np.linspace(0, 1, 5), np.linspace(-0.05, 0.05, 3), np.linspace(-0.01, 0.01, 2)


def arm(frame="hub"):
    grid = skfem.MeshHex.init_tensor(*LINES)
    named = grid.with_boundaries({"hub": lambda x: x[0] == 0, "end": lambda x: x[0] == 1})
    options = {"interfaces": ["hub", "end"], "modes": 2, "frame": frame, "degree": 1}
    return ps.FlexibleBody.from_mesh(named, **RUBBER, **options)


@pytest.fixture(scope="module", params=["hub", "centre of mass"])
def result(request):
    """An arm on a hinge that falls with a ball at its end."""
    model = ps.Model(gravity=(0, 0, -9.81), name="arm")
    turned = ps.Rotation.from_axis_angle((0, 0, 1), 0.5)
    shape = arm(request.param)
    middle = shape.interfaces["hub"].position
    body = model.add_body("arm", shape, position=-turned.matrix @ middle, rotation=turned)
    axis = turned.matrix @ (0.0, 1.0, 0.0)
    model.add_joint("hinge", ps.Revolute(model.ground, body.start, point=(0, 0, 0), axis=axis))
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.05), position=body.end.position)
    model.add_joint("grip", ps.Weld(body.end, ball))
    return ps.simulate(model, h=5e-3, t_end=0.1)


def data(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


@pytest.mark.parametrize("kind", [skfem.MeshHex, skfem.MeshTet])
def test_the_outside_of_a_mesh_encloses_its_volume(kind):
    mesh = kind.init_tensor(*LINES)
    corners = mesh.p.T[surface(mesh)]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    np.testing.assert_allclose(area.sum(axis=0), 0, atol=1e-15)
    assert np.sum(corners.mean(axis=1) * area) / 3 == pytest.approx(1 * 0.1 * 0.02)


def test_the_surface_moves_with_the_interfaces(result):
    """Interfaces are rigid: the mean of the points of one is where its place is."""
    stage = Stage.of(result)
    (skin,) = stage.skins
    along = skin.points[:, 0] - skin.points[:, 0].min()
    bent = 0.0
    for frame in (0, -1):
        film = stage.frames
        points = skin.placed(frame, film.position[frame], film.rotation[frame])
        for name, there in (("arm.hub", along < 1e-6), ("arm.end", along > 1 - 1e-6)):
            middle = points[there].mean(axis=0)
            np.testing.assert_allclose(middle, result.position(name)[frame], atol=1e-7)
        bent = np.linalg.norm(skin.deformed(frame) - skin.points, axis=1).max()
    assert bent > 1e-3


def test_deformations_of_surfaces_are_drawn_larger(result):
    plain, large = (Stage.of(result, scale=scale).skins[0] for scale in (1.0, 20.0))
    moved = [skin.deformed(-1) - skin.points for skin in (plain, large)]
    np.testing.assert_allclose(moved[1], 20 * moved[0], atol=1e-12)
    assert Stage.of(result, opacity={"arm": 0}).skins == ()
    assert Stage.of(result, bodies=["ball"]).skins == ()


def test_a_page_has_the_surface_instead_of_a_box(result):
    film = data(viz.page(result))
    (skin,) = film["skins"]
    assert all(
        solid["body"] != skin["body"] for solid in film["solids"] if solid["group"] == "body"
    )
    assert [body["name"] for body in film["bodies"] if not body["part"]] == ["arm", "ball"]
    triangles, vertices = (
        np.frombuffer(base64.b64decode(skin[name]), "<u2") for name in ("triangles", "vertices")
    )
    points = np.frombuffer(base64.b64decode(skin["points"]), "<f4").reshape(-1, 3)
    assert triangles.max() < vertices.size
    assert vertices.max() < len(points)
    amplitudes = np.frombuffer(base64.b64decode(skin["amplitudes"]), "<f4")
    np.testing.assert_allclose(
        amplitudes.reshape(result.time.size, -1), result.deformation("arm"), atol=1e-6
    )


def test_a_page_bends_the_surface_in_a_browser(result, chromium, tmp_path):
    viz.write_page(result, tmp_path / "arm.html", scale=10)
    tab = chromium.open((tmp_path / "arm.html").as_uri() + "#t=0.1")
    bent = tab.screenshot()
    tab.evaluate(
        "(() => { const s = document.getElementById('deformation'); s.value = 0;"
        "s.dispatchEvent(new Event('input')); })()"
    )
    assert np.sum(abs(tab.screenshot() - bent).max(axis=2) > 24) > 200
    assert tab.complaints == []
    tab.close()


def test_gltf_has_a_morph_target_for_each_shape(result, tmp_path):
    viz.write_gltf(result, tmp_path / "arm.glb")
    content = (tmp_path / "arm.glb").read_bytes()
    (size,) = struct.unpack("<I", content[12:16])
    document, numbers = json.loads(content[20 : 20 + size]), content[28 + size :]

    def array(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        start, width = view["byteOffset"], {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        return np.frombuffer(numbers[start : start + view["byteLength"]], "<f4").reshape(-1, width)

    (mesh,) = (mesh for mesh in document["meshes"] if mesh["name"] == "arm")
    (primitive,) = mesh["primitives"]
    (channel,) = (
        channel
        for channel in document["animations"][0]["channels"]
        if channel["target"]["path"] == "weights"
    )
    sampler = document["animations"][0]["samplers"][channel["sampler"]]
    weights = array(sampler["output"]).reshape(result.time.size, -1)[-1]
    targets = [array(target["POSITION"]) for target in primitive["targets"]]
    bent = array(primitive["attributes"]["POSITION"]) + np.tensordot(weights, targets, axes=1)
    (skin,) = Stage.of(result).skins
    np.testing.assert_allclose(bent, skin.surface(-1)[0], atol=1e-6)


def test_a_body_from_a_file_has_its_surface(tmp_path):
    body = arm()
    for name in ("arm.nc", "arm.npz"):
        body.save(tmp_path / name)
        skin = ps.FlexibleBody.load(tmp_path / name).surface
        np.testing.assert_array_equal(skin.mesh.vertices, body.surface.mesh.vertices)
        np.testing.assert_array_equal(skin.mesh.faces, body.surface.mesh.faces)
        np.testing.assert_array_equal(skin.modes, body.surface.modes)


def test_matrices_with_triangles_have_the_surface_of_the_mesh():
    of_mesh, mesh = arm(), skfem.MeshHex.init_tensor(*LINES)
    elastic = ps.flexible.ElasticMesh(mesh=mesh, degree=1, **RUBBER)
    order, x = elastic.basis.nodal_dofs.T.ravel(), mesh.p[0]
    matrices = (A[order][:, order] for A in (elastic.M, elastic.K))
    interfaces = {"hub": np.flatnonzero(x == 0), "end": np.flatnonzero(x == 1)}
    body = ps.FlexibleBody.from_matrices(
        *matrices,
        nodes=mesh.p.T,
        interfaces=interfaces,
        modes=2,
        frame="hub",
        triangles=surface(mesh),
    )
    np.testing.assert_allclose(body.surface.mesh.vertices, of_mesh.surface.mesh.vertices)
    # The shapes of moved interfaces are the same; modes may have another sign.
    static, own = of_mesh.surface.modes[:, :, :6], body.surface.modes[:, :, :6]
    np.testing.assert_allclose(own, static, atol=1e-9)


def test_a_coarse_surface_keeps_points_and_their_shapes():
    skin = arm().surface
    coarse = skin.at_most(40)
    assert len(coarse.mesh.faces) <= 40
    for point, modes in zip(coarse.mesh.vertices, coarse.modes, strict=True):
        (k,) = np.flatnonzero(np.all(skin.mesh.vertices == point, axis=1))
        np.testing.assert_array_equal(modes, skin.modes[k])


def test_modes_of_other_points_are_refused():
    triangle = Triangles(np.eye(3), [[0, 1, 2]])
    with pytest.raises(ps.InputError, match=r"give finite numbers, \(3, 3, k\)"):
        Skin(triangle, np.zeros((4, 3, 2)))
    body = arm()
    with pytest.raises(ps.InputError, match="surface belongs to 1 unknowns, K to"):
        ps.FlexibleBody(
            M=body.M,
            K=body.K,
            interfaces=body.interfaces,
            surface=Skin(triangle, np.zeros((3, 3, 1))),
        )


def test_a_mesh_on_a_rigid_body_is_in_gltf(tmp_path):
    model, corners = ps.Model(name="corner"), np.vstack([np.zeros(3), np.eye(3)])
    mesh = Triangles(corners, [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])
    shape, look = ps.Box(mass=1, size=(1, 1, 1)), ps.Look(kind="mesh", mesh=mesh)
    model.add_body("corner", shape, looks=[look])
    result = ps.simulate(model, h=0.1, t_end=0.2)
    viz.write_gltf(result, tmp_path / "corner.gltf")
    document = json.loads((tmp_path / "corner.gltf").read_text())
    (drawn,) = (mesh for mesh in document["meshes"] if mesh["name"].startswith("mesh "))
    position = drawn["primitives"][0]["attributes"]["POSITION"]
    assert document["accessors"][position]["min"] == [-0.5] * 3
