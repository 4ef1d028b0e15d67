"""Meshes of unit size, from -1/2 to 1/2 on every axis, with normals and a few outlines."""

from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.result import Array
from poinsot.result.scene import Drawing

ROUND = 40  # segments of a circle
COARSE = 12  # segments of a bead, a small ball, and of a peg, a small cylinder
SEAMS = 4  # lines along a round body, by which its spin is seen
TURNS = 9  # of a spring
UP = np.array([0.0, 0.0, 1.0])
CREASE = 0.75  # cosine of the angle at which a surface has an edge


@dataclass(frozen=True, eq=False)
class Mesh:
    """Vertices and normals (n, 3), triangles (m, 3) and outlines (k, 2) as indices of vertices."""

    vertices: Array
    normals: Array
    triangles: NDArray[np.intp]
    edges: NDArray[np.intp]


@cache
def mesh(shape: str) -> Mesh:
    """Return a mesh by name: arrow, ball, box, ..., or tube with its inner radius."""
    name, _, ratio = shape.partition(" ")
    if name == "tube":
        return _closed(_tube(float(ratio)))
    known: dict[str, Callable[[], Mesh]] = {
        "arrow": _arrow,
        "ball": _ball,
        "bead": lambda: _ball(COARSE),
        "box": _box,
        "cone": _cone,
        "cylinder": _cylinder,
        "peg": lambda: _cylinder(COARSE),
        "speck": lambda: _ball(4),
        "spring": _spring,
    }
    if name not in known:
        raise InputError(f"no mesh '{shape}'; known: {', '.join(known)}, tube")
    return _closed(known[name]())


class Surface(NamedTuple):
    """A mesh of unit size, and centre and edges of the box that it fills [m]."""

    mesh: Mesh
    centre: Array
    scale: Array


@cache
def surface(drawing: Drawing) -> Surface:
    """Return the surface of a drawing; it is smooth but where faces meet at an edge."""
    vertices, faces = drawn(drawing)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    scale = np.maximum(high - low, 1e-6 * float((high - low).max()) or 1.0)
    normals, point, triangles = creased(vertices, faces)
    points = (vertices[point] - (low + high) / 2) / scale
    none = np.zeros((0, 2), np.intp)
    return Surface(Mesh(points, _unit(normals * scale), triangles, none), (low + high) / 2, scale)


def drawn(drawing: Drawing) -> tuple[Array, NDArray[np.intp]]:
    """Return points (n, 3) [m] and triangles (m, 3) of a drawing."""
    vertices = np.frombuffer(b64decode(drawing.vertices), "<f4").reshape(-1, 3).astype(float)
    faces = np.frombuffer(b64decode(drawing.triangles), "<u4").reshape(-1, 3).astype(np.intp)
    return vertices, faces


def creased(
    points: Array, faces: NDArray[np.intp]
) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Return normals and points of the vertices of a surface, and its triangles of vertices.

    It is smooth but where faces meet at an edge: there a point is several vertices.
    """
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    normals = _unit(_smooth(faces, across, flat) + 1e-300 * np.repeat(flat, 3, axis=0))
    # Corners with one place and one normal are one vertex.
    keys = np.column_stack([faces.reshape(-1), np.round(127 * normals)])
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return normals[first], faces.reshape(-1)[first], index.reshape(-1, 3)


def _smooth(faces: NDArray[np.intp], across: Array, flat: Array) -> Array:
    """Return the normal at every corner of faces, with those that meet it at no edge; (3 m, 3)."""
    vertex, face = faces.reshape(-1), np.repeat(np.arange(len(faces)), 3)
    order = np.argsort(vertex, kind="stable")
    _, first, own, count = np.unique(
        vertex[order], return_index=True, return_inverse=True, return_counts=True
    )
    many = count[own]
    one = np.repeat(np.arange(len(order)), many)
    other = np.repeat(first[own], many) + np.arange(one.size)
    other -= np.repeat(np.cumsum(many) - many, many)
    f, g = face[order][one], face[order][other]
    near = np.sum(flat[f] * flat[g], axis=1) > CREASE
    normals = np.zeros((len(order), 3))
    for k in range(3):
        normals[order, k] = np.bincount(one[near], across[g[near], k], len(order))
    return normals


def _box() -> Mesh:
    square = np.array([(-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]) / 2
    halves, ring = np.array([(0, 1, 2), (0, 2, 3)]), np.array([(0, 1), (1, 2), (2, 3), (3, 0)])
    turns = [np.roll(np.eye(3), k, axis=0) * sign for k in range(3) for sign in (1, -1)]
    return _join([Mesh(square @ R.T, np.tile(R @ UP, (4, 1)), halves, ring) for R in turns])


def _cylinder(around: int = ROUND) -> Mesh:
    side = _turned([(0.5, -0.5), (0.5, 0.5)], [(1, 0), (1, 0)], (0, 1), around)
    return _join([side, *(_disc(0.0, 0.5, z, around) for z in (0.5, -0.5))])


def _tube(ratio: float) -> Mesh:
    inner = ratio / 2
    walls = (
        _turned([(0.5, -0.5), (0.5, 0.5)], [(1, 0), (1, 0)], (0, 1)),
        _turned([(inner, -0.5), (inner, 0.5)], [(-1, 0), (-1, 0)], (0, 1)),
    )
    return _join([*walls, *(_disc(inner, 0.5, z) for z in (0.5, -0.5))])


def _cone() -> Mesh:
    slope = np.array([2.0, 1.0]) / np.sqrt(5.0)
    return _join([_turned([(0.5, -0.5), (0.0, 0.5)], [slope, slope], (0,)), _disc(0.0, 0.5, -0.5)])


def _arrow() -> Mesh:
    neck, shaft, out = 0.2, 0.16, (1, 0)
    slope = np.array([neck + 0.1, 0.5]) / np.hypot(neck + 0.1, 0.5)
    parts = [
        _turned([(shaft, -0.5), (shaft, neck)], [out, out]),
        _turned([(0.5, neck), (0.0, 0.5)], [slope, slope]),
    ]
    return _join([*parts, _disc(0.0, 0.5, neck), _disc(0.0, shaft, -0.5)])


def _ball(around: int = ROUND) -> Mesh:
    phi = np.linspace(-np.pi / 2, np.pi / 2, around // 2 + 1)
    normals = np.column_stack([np.cos(phi), np.sin(phi)])
    return _turned(normals / 2, normals, around=around)


def _spring(wire: float = 0.09) -> Mesh:
    """Return a coil of wire along z, whose ends lie on the axis."""
    s = np.linspace(0, 1, 12 * TURNS + 1)
    out = np.column_stack([np.cos(2 * np.pi * TURNS * s), np.sin(2 * np.pi * TURNS * s), 0 * s])
    radius = (0.5 - wire) * np.clip(10 * np.minimum(s, 1 - s), 0, 1)
    centre = radius[:, None] * out + (s - 0.5)[:, None] * UP
    tangent = _unit(np.gradient(centre, axis=0))
    out = _unit(out - np.sum(out * tangent, axis=1, keepdims=True) * tangent)
    angle = np.linspace(0, 2 * np.pi, 9)[:, None, None]
    normals = np.cos(angle) * out + np.sin(angle) * np.cross(tangent, out)
    # A spring is longer than wide, which stretches the mesh along z: its wire is flat before.
    vertices = centre + wire * normals * (1.0, 1.0, 0.12)
    return _sheet(vertices.reshape(-1, 3), normals.reshape(-1, 3), s.size)


def _closed(raw: Mesh) -> Mesh:
    """Return a mesh with triangles counter-clockwise seen from outside, and each edge once."""
    corners = raw.vertices[raw.triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outward = np.sum(across * raw.normals[raw.triangles].sum(axis=1), axis=1)
    turned = np.where(outward[:, None] < 0, raw.triangles[:, ::-1], raw.triangles)
    _, point = np.unique(np.round(raw.vertices, 9), axis=0, return_inverse=True)
    _, first = np.unique(np.sort(point.reshape(-1)[raw.edges]), axis=0, return_index=True)
    kept = np.linalg.norm(across, axis=1) > 1e-12
    return replace(raw, triangles=turned[kept], edges=raw.edges[np.sort(first)])


# -- parts -----------------------------------------------------------------------------------------


def _turned(
    profile: ArrayLike, normals: ArrayLike, rims: Sequence[int] = (), around: int = ROUND
) -> Mesh:
    """Return the surface of a profile (r, z) turned about z, with outlines: `rims` and seams."""
    phi = np.linspace(0, 2 * np.pi, around + 1)[:, None]

    def turn(pairs: ArrayLike) -> Array:
        r, z = np.asarray(pairs, dtype=float).T
        return np.stack([r * np.cos(phi), r * np.sin(phi), z + 0 * phi], axis=-1).reshape(-1, 3)

    columns = len(np.asarray(profile))
    sheet = _sheet(turn(profile), turn(normals), columns, rims)
    starts = columns * around // SEAMS * np.arange(SEAMS)[:, None] + np.arange(columns - 1)
    seams = np.stack([starts, starts + 1], axis=-1).reshape(-1, 2)
    return replace(sheet, edges=np.concatenate([sheet.edges, seams]))


def _disc(inner: float, outer: float, z: float, around: int = ROUND) -> Mesh:
    up = (0.0, float(np.sign(z)))
    return _turned([(inner, z), (outer, z)], [up, up], around=around)


def _sheet(vertices: Array, normals: Array, columns: int, rims: Sequence[int] = ()) -> Mesh:
    """Return the triangles of a grid of vertices, rows times columns, some columns outlined."""
    k = np.arange(len(vertices)).reshape(-1, columns)
    a, b, c, d = (part.reshape(-1) for part in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    lines = [np.column_stack([k[:-1, rim], k[1:, rim]]) for rim in rims]
    return Mesh(vertices, normals, triangles, np.concatenate([np.zeros((0, 2), np.intp), *lines]))


def _join(parts: list[Mesh]) -> Mesh:
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return Mesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.triangles + k for part, k in zip(parts, first, strict=False)]),
        np.concatenate([part.edges + k for part, k in zip(parts, first, strict=False)]),
    )


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
