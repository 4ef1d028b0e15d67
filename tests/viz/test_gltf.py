"""A glTF file has the bodies, places and times of its result; what trimesh reads of it fits."""

import json
import struct
from base64 import b64decode

import numpy as np
import pytest
import trimesh

import poinsot as ps
from poinsot.so3 import quat_to_matrix

#: z upwards there is y upwards here.
UPRIGHT = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])


@pytest.fixture(scope="module")
def result():
    """A bar that turns by several turns, a spring, a bar on the ground, and a rod."""
    model = ps.Model(gravity=(0, 0, -9.81), name="all")
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.2)), position=(0.5, 0, 0))
    spin = {"angular_velocity": (30, 5, 0)}
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(1, 0, -1), **spin)
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("spring", ps.Spring(bar, ball, (1, 0, 0), (1, 0, -0.9), stiffness=50))
    stiff = {"youngs_modulus": 1e7, "shear_modulus": 4e6, "density": 1000.0}
    curve = ps.ElasticRod(
        [(0, 1, 0), (1, 1, 0)], ps.CircularSection(radius=0.02), elements=3, **stiff
    )
    rod = model.add_body("rod", curve)
    model.add_joint("clamp", ps.Spherical(model.ground, rod.start, point=(0, 1, 0)))
    return ps.simulate(model, h=2e-3, t_end=0.4, save_every=10, engine="reference")


class File:
    """A glTF file, read by its definition."""

    def __init__(self, data):
        if data[:4] == b"glTF":
            version, length = struct.unpack_from("<II", data, 4)
            size = struct.unpack_from("<I4s", data, 12)
            assert (version, length, size[1]) == (2, len(data), b"JSON")
            self.document = json.loads(data[20 : 20 + size[0]])
            rest = data[20 + size[0] :]
            count, kind = struct.unpack_from("<I4s", rest)
            assert (kind, count, len(rest)) == (b"BIN\0", len(rest) - 8, count + 8)
            self.data = rest[8:]
        else:
            self.document = json.loads(data)
            self.data = b64decode(self.document["buffers"][0]["uri"].partition(",")[2])
        assert len(self.data) == self.document["buffers"][0]["byteLength"]
        self.nodes = {n["name"]: k for k, n in enumerate(self.document["nodes"]) if "name" in n}

    def numbers(self, k):
        accessor = self.document["accessors"][k]
        view = self.document["bufferViews"][accessor["bufferView"]]
        kind = {5126: "<f4", 5123: "<u2", 5125: "<u4"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor["type"]]
        count = accessor["count"] * width
        assert view["byteLength"] == count * np.dtype(kind).itemsize
        assert view["byteOffset"] % 4 == 0
        found = np.frombuffer(self.data, kind, count, view["byteOffset"]).reshape(-1, width)
        if "min" in accessor:
            assert found.min(axis=0).tolist() == accessor["min"]
            assert found.max(axis=0).tolist() == accessor["max"]
        return found

    def motion(self, name, path):
        """Return times and values of what moves a node."""
        (animation,) = self.document["animations"]
        target = {"node": self.nodes[name], "path": path}
        (channel,) = (c for c in animation["channels"] if c["target"] == target)
        sampler = animation["samplers"][channel["sampler"]]
        assert sampler["interpolation"] == "LINEAR"
        return self.numbers(sampler["input"])[:, 0], self.numbers(sampler["output"])


@pytest.fixture(scope="module", params=[".glb", ".gltf"])
def file(request, result, tmp_path_factory):
    path = tmp_path_factory.mktemp("gltf") / f"all{request.param}"
    ps.viz.write_gltf(result, path)
    return File(path.read_bytes())


@pytest.mark.parametrize("body", ["bar", "ball"])
def test_bodies_are_where_the_result_has_them(body, file, result):
    time, position = file.motion(body, "translation")
    assert np.allclose(time, result.time, atol=1e-7)
    assert np.allclose(position, result.position(body), atol=1e-6)
    turns, quat = file.motion(body, "rotation")
    assert np.array_equal(turns, time)
    x, y, z, w = quat.astype(float).T
    matrices = quat_to_matrix(np.column_stack([w, x, y, z]))
    assert np.allclose(matrices, result.rotation(body), atol=1e-5)
    assert np.all(np.sum(quat[1:] * quat[:-1], axis=1) > 0)  # viewers go the short way round


def test_a_spring_goes_from_end_to_end(file, result):
    _, middle = file.motion("spring", "translation")
    _, scale = file.motion("spring", "scale")
    bar = result.position("bar") + result.rotation("bar") @ (0.5, 0, 0)
    ball = result.position("ball") + result.rotation("ball") @ (0, 0, 0.1)
    assert np.allclose(middle, (bar + ball) / 2, atol=1e-6)
    assert np.allclose(scale[:, 2], np.linalg.norm(ball - bar, axis=1), atol=1e-5)


def test_the_skin_of_a_rod_follows_its_rings(file, result):
    """What moves its vertices: joint times inverse of where it was bound."""
    document = file.document
    node = next(n for n in document["nodes"] if n.get("skin") is not None)
    skin = document["skins"][node["skin"]]
    bound = file.numbers(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
    (primitive,) = document["meshes"][node["mesh"]]["primitives"]
    vertices = file.numbers(primitive["attributes"]["POSITION"])
    ring = file.numbers(primitive["attributes"]["JOINTS_0"])[:, 0]
    assert np.all(file.numbers(primitive["attributes"]["WEIGHTS_0"]) == [1, 0, 0, 0])
    assert file.numbers(primitive["indices"]).max() == len(vertices) - 1
    last = ring == ring.max()
    name = document["nodes"][skin["joints"][ring.max()]]["name"]
    for frame in (0, -1):
        place = file.motion(name, "translation")[1][frame]
        x, y, z, w = file.motion(name, "rotation")[1][frame].astype(float)
        R = quat_to_matrix(np.array([w, x, y, z]))
        local = (bound[-1] @ np.column_stack([vertices, np.ones(len(vertices))])[last].T)[:3].T
        moved = UPRIGHT @ (place[:, None] + R @ local.T)
        end = UPRIGHT @ result.position("rod.3")[frame]
        distances = np.linalg.norm(moved.T - end, axis=1)
        assert np.allclose(distances, 0.02, atol=1e-5)
        if frame == 0:
            assert np.allclose(moved.T, vertices[last], atol=1e-5)


def test_trimesh_reads_the_first_frame_upright(result, tmp_path):
    path = tmp_path / "all.glb"
    ps.viz.write_gltf(result, path, bodies=["bar"])
    scene = trimesh.load(path)
    low, high = scene.bounds
    # 1 m along x, 0.2 m high along y, 0.1 m deep along z; the hinge is a bit wider.
    assert high[0] == pytest.approx(1.0, abs=1e-6)
    assert (low[1], high[1]) == (pytest.approx(-0.1, abs=1e-6), pytest.approx(0.1, abs=1e-6))
    matrix, _ = scene.graph.get("bar")
    assert np.allclose(matrix[:3, :3], UPRIGHT, atol=1e-6)
    assert np.allclose(matrix[:3, 3], UPRIGHT @ (0.5, 0, 0), atol=1e-6)


def test_other_suffixes_are_refused(result, tmp_path):
    with pytest.raises(ps.InputError, match=r"end in \.glb or \.gltf"):
        ps.viz.write_gltf(result, tmp_path / "all.obj")
