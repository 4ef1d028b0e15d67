"""Export of motions as glTF 2.0, animated scenes for Blender, game engines and web viewers.

Every body is a node with its solids, moved by an animation. A spring is a node that is also scaled,
a beam or rod a skin on nodes along its axis, and a flexible body a mesh with a morph target for
each of its shapes. The world axes of Poinsot, z up, are below a node that rotates them to those of
glTF, y up.
"""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.result import Array, Result, output_path
from poinsot.so3 import matrix_to_quat
from poinsot.viz.skins import Skin, normals
from poinsot.viz.solids import Solid
from poinsot.viz.stage import Stage, steady
from poinsot.viz.tubes import Tube

SUFFIXES = ".glb", ".gltf"
#: Numbers of glTF: component types, and what a buffer is for.
FLOAT, USHORT, UINT = 5126, 5123, 5125
VERTICES, INDICES = 34962, 34963
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
TYPES: dict[int, Any] = {FLOAT: "<f4", USHORT: "<u2", UINT: "<u4"}
#: From z upwards to y upwards, by -90 degrees about x: as a quaternion x, y, z, w, and a matrix.
UPRIGHT = [-float(np.sqrt(0.5)), 0.0, 0.0, float(np.sqrt(0.5))]
UPRIGHT_MATRIX = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def write_gltf(
    result: Result,
    path: str | Path,
    *,
    bodies: Iterable[str] | None = None,
    frames: int | None = None,
    scale: float = 1.0,
) -> None:
    """Write a motion as glTF: `.glb`, one binary file, or `.gltf`, one text file.

    Positions [m], rotations and times [s] of keyframes are those of the result in single precision;
    viewers interpolate between them.

    Parameters
    ----------
    result : Result
        The motion.
    path : path
        File with the suffix `.glb` or `.gltf`.
    bodies, frames, scale
        Bodies to show, largest number of keyframes, and scale of deformations; see `page`.
    """
    place = output_path(path, "write_gltf")
    if place.suffix not in SUFFIXES:
        raise InputError(
            f"write_gltf: '{place}' is not a glTF file name; it must end in .glb or .gltf"
        )
    scene = _Scene(Stage.of(result, bodies=bodies, frames=frames, scale=scale), result.model)
    place.write_bytes(scene.binary() if place.suffix == ".glb" else scene.text())


class _Scene:
    """A glTF document that grows, and its numbers."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage, self.data = stage, bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = [{"name": name, "rotation": UPRIGHT, "children": []}]
        self.skins: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self._known: dict[Any, int] = {}
        film = stage.frames
        self.time = self._accessor(film.time[:, None], FLOAT, limits=True)
        places = [self._moving(0, name) for name in film.bodies]
        for k, node in enumerate(places):
            self._animate(node, translation=film.position[:, k], rotation=_turns(film.quat[:, k]))
        for solid in stage.solids:
            k = film.index(solid.body)
            self._solid(places[k] if k >= 0 else 0, solid)
        for strut in stage.struts:
            self._strut([stage.strut(strut, frame) for frame in range(film.time.size)], strut.name)
        for tube in stage.tubes:
            self._tube(tube)
        for skin in stage.skins:
            self._skin(places[skin.body], skin)

    # -- what is there --------------------------------------------------------------------------

    def _node(self, parent: int, **facts: Any) -> int:
        self.nodes.append(facts)
        self.nodes[parent].setdefault("children", []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _moving(self, parent: int, name: str) -> int:
        return self._node(parent, name=name)

    def _animate(self, node: int, **paths: Array) -> None:
        """Let a node go through frames; where it begins is its place without animation."""
        for path, values in paths.items():
            self.nodes[node][path] = _numbers(values[0])
            # Weights are numbers one by one, whatever their count is.
            rows = values.reshape(-1, 1) if path == "weights" else values
            sampler = {"input": self.time, "output": self._accessor(rows, FLOAT)}
            self.samplers.append(sampler | {"interpolation": "LINEAR"})
            target = {"node": node, "path": path}
            self.channels.append({"sampler": len(self.samplers) - 1, "target": target})

    def _solid(self, parent: int, solid: Solid) -> None:
        self._node(
            parent,
            mesh=self._mesh(solid),
            translation=_numbers(solid.position),
            rotation=_numbers(_turns(matrix_to_quat(solid.rotation))),
            scale=_numbers(solid.scale),
        )

    def _strut(self, frames: list[Solid], name: str) -> None:
        quat = steady(matrix_to_quat(np.array([solid.rotation for solid in frames])))
        node = self._node(0, name=name, mesh=self._mesh(frames[0]))
        self._animate(
            node,
            translation=np.array([solid.position for solid in frames]),
            rotation=_turns(quat),
            scale=np.array([solid.scale for solid in frames]),
        )

    def _tube(self, tube: Tube) -> None:
        """Add a skin, made in the first frame, whose rings go with nodes."""
        film = self.stage.frames
        poses = [tube.rings(*pose) for pose in zip(film.position, film.rotation, strict=True)]
        centres, axes = (np.array(each) for each in zip(*poses, strict=True))
        quat = steady(matrix_to_quat(axes))
        # A node with a skin is at the root: its joints alone move it, upright already.
        surface = tube.surface(film.position[0], film.rotation[0])
        vertices, normals = (values @ UPRIGHT_MATRIX.T for values in surface)
        rings, corners = axes.shape[1], vertices.shape[1]
        joints = [self._node(0, name=f"{tube.name} ring {k}") for k in range(rings)]
        for k, node in enumerate(joints):
            self._animate(node, translation=centres[:, k], rotation=_turns(quat[:, k]))
        bound = np.tile(np.eye(4), (rings, 1, 1))
        bound[:, :3, :3] = np.swapaxes(axes[0], 1, 2) @ UPRIGHT_MATRIX.T
        bound[:, :3, 3] = -np.einsum("kji,kj->ki", axes[0], centres[0])
        ring = np.clip(np.arange(rings + 2) - 1, 0, rings - 1).repeat(corners)
        of_ring, weight = (np.pad(one[:, None], ((0, 0), (0, 3))) for one in (ring, 1.0 + 0 * ring))
        attributes = {
            "POSITION": self._accessor(vertices.reshape(-1, 3), FLOAT, VERTICES, limits=True),
            "NORMAL": self._accessor(normals.reshape(-1, 3), FLOAT, VERTICES),
            "JOINTS_0": self._accessor(of_ring, USHORT, VERTICES),
            "WEIGHTS_0": self._accessor(weight, FLOAT, VERTICES),
        }
        triangles = self._accessor(tube.triangles().reshape(-1, 1), UINT, INDICES)
        material = self._material(tube.colour, 1.0)
        primitive = {"attributes": attributes, "indices": triangles, "material": material}
        self.meshes.append({"name": tube.name, "primitives": [primitive]})
        # Matrices are written column by column.
        inverse = self._accessor(np.swapaxes(bound, 1, 2).reshape(-1, 16), FLOAT)
        self.skins.append({"joints": joints, "inverseBindMatrices": inverse})
        self.nodes.append(
            {"name": tube.name, "mesh": len(self.meshes) - 1, "skin": len(self.skins) - 1}
        )

    def _skin(self, parent: int, skin: Skin) -> None:
        """Add a surface whose shapes are morph targets, weighted by elastic coordinates."""
        point, triangles = skin.corners
        targets = np.moveaxis(skin.modes[point], 2, 0)
        vertices = skin.points[point]
        primitive = {
            "attributes": {
                "POSITION": self._accessor(vertices, FLOAT, VERTICES, limits=True),
                "NORMAL": self._accessor(normals(vertices, triangles), FLOAT, VERTICES),
            },
            "indices": self._accessor(triangles.reshape(-1, 1), UINT, INDICES),
            "material": self._material(skin.colour, skin.opacity),
            "targets": [
                {"POSITION": self._accessor(each, FLOAT, VERTICES, limits=True)} for each in targets
            ],
        }
        self.meshes.append({"name": skin.name, "primitives": [primitive]})
        node = self._node(parent, mesh=len(self.meshes) - 1)
        self._animate(node, weights=skin.amplitudes)

    def _mesh(self, solid: Solid) -> int:
        """Return a mesh of unit size in the colour of a solid, made once."""
        key = solid.shape, solid.colour, solid.opacity
        if key not in self._known:
            own, shape = solid.surface, solid.shape
            if shape not in self._known:
                self._known[shape] = len(self.accessors)
                self._accessor(own.vertices, FLOAT, VERTICES, limits=True)
                self._accessor(own.normals, FLOAT, VERTICES)
                self._accessor(own.triangles.reshape(-1, 1), UINT, INDICES)
            first = self._known[shape]
            primitive = {
                "attributes": {"POSITION": first, "NORMAL": first + 1},
                "indices": first + 2,
                "material": self._material(solid.colour, solid.opacity),
            }
            self.meshes.append({"name": shape, "primitives": [primitive]})
            self._known[key] = len(self.meshes) - 1
        return self._known[key]

    def _material(self, colour: str, opacity: float) -> int:
        key = colour, opacity
        if key not in self._known:
            shade = [((int(colour[k : k + 2], 16) / 255 + 0.055) / 1.055) ** 2.4 for k in (1, 3, 5)]
            surface = {"baseColorFactor": [*shade, opacity], "metallicFactor": 0.0}
            surface["roughnessFactor"] = 0.7
            made: dict[str, Any] = {"pbrMetallicRoughness": surface, "doubleSided": True}
            self.materials.append(made | ({"alphaMode": "BLEND"} if opacity < 1 else {}))
            self._known[key] = len(self.materials) - 1
        return self._known[key]

    # -- numbers ----------------------------------------------------------------------------------

    def _accessor(
        self, values: ArrayLike, kind: int, use: int | None = None, *, limits: bool = False
    ) -> int:
        """Add numbers, row by row, and return their place among all."""
        numbers = np.asarray(values).astype(TYPES[kind])
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": numbers.nbytes}
        self.views.append(view | ({} if use is None else {"target": use}))
        self.data += numbers.tobytes()
        self.data += bytes(-len(self.data) % 4)
        rows, width = numbers.shape
        facts = {"bufferView": len(self.views) - 1, "componentType": kind, "count": rows}
        facts["type"] = KINDS[width]
        if limits:
            facts["min"], facts["max"] = numbers.min(axis=0).tolist(), numbers.max(axis=0).tolist()
        self.accessors.append(facts)
        return len(self.accessors) - 1

    def _document(self, **buffer: Any) -> bytes:
        roots = [0, *(k for k, node in enumerate(self.nodes) if "skin" in node)]
        parts: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Poinsot"},
            "scene": 0,
            "scenes": [{"nodes": roots}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "skins": self.skins,
            "animations": [{"channels": self.channels, "samplers": self.samplers}],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.data), **buffer}],
        }
        known = {name: part for name, part in parts.items() if part != []}
        return json.dumps(known, separators=(",", ":")).encode()

    def text(self) -> bytes:
        """Return the file of text, its numbers inside."""
        encoded = b64encode(self.data).decode()
        return self._document(uri=f"data:application/octet-stream;base64,{encoded}")

    def binary(self) -> bytes:
        """Return the binary file."""
        document = self._document()
        document += b" " * (-len(document) % 4)
        chunks = struct.pack("<I4s", len(document), b"JSON") + document
        chunks += struct.pack("<I4s", len(self.data), b"BIN\0") + self.data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _turns(quat: Array) -> Array:
    """Return quaternions as glTF has them: x, y, z, w."""
    return np.asarray(np.roll(quat, -1, axis=-1))


def _numbers(values: NDArray[Any]) -> list[float]:
    found: list[float] = np.asarray(values, dtype=float).tolist()
    return found
