"""The visual geometry of bodies in a compiled MJCF model."""

from typing import Any

import numpy as np

from poinsot.bodies.looks import Look
from poinsot.bodies.meshes import Triangles
from poinsot.robots.description import Array
from poinsot.so3 import quat_to_matrix

#: Groups of geoms that MuJoCo draws unless it is told otherwise.
DRAWN = 3


def looks_of(mujoco: Any, m: Any, body: int) -> tuple[Look, ...]:
    """Return what is drawn of a body, in its axes."""
    first, count = m.body_geomadr[body], m.body_geomnum[body]
    geoms = range(first, first + count)
    return tuple(look for k in geoms if m.geom_group[k] < DRAWN for look in _looks(mujoco, m, k))


def _looks(mujoco: Any, m: Any, k: int) -> list[Look]:
    """Return what is drawn of a geom."""
    material = int(m.geom_matid[k])
    rgba = m.mat_rgba[material] if material >= 0 else m.geom_rgba[k]
    if rgba[3] <= 0:
        return []
    kinds, kind, size = mujoco.mjtGeom, int(m.geom_type[k]), m.geom_size[k].tolist()
    R, at = quat_to_matrix(m.geom_quat[k]), m.geom_pos[k]

    def look(kind: str, sizes: tuple[float, ...], offset: float = 0.0, mesh: Any = None) -> Look:
        return Look(
            kind=kind,
            sizes=sizes,
            mesh=mesh,
            position=at + R @ (0.0, 0.0, offset),
            rotation=R,
            colour=colour_of(rgba),
            opacity=float(np.clip(rgba[3], 0, 1)),
        )

    a, b, c = size
    if kind == int(kinds.mjGEOM_SPHERE):
        return [look("ellipsoid", (a, a, a))]
    if kind == int(kinds.mjGEOM_ELLIPSOID):
        return [look("ellipsoid", (a, b, c))]
    if kind == int(kinds.mjGEOM_BOX):
        return [look("box", (2 * a, 2 * b, 2 * c))]
    if kind == int(kinds.mjGEOM_CYLINDER):
        return [look("cylinder", (a, 2 * b))]
    if kind == int(kinds.mjGEOM_CAPSULE):
        ends = [look("ellipsoid", (a, a, a), offset) for offset in (-b, b)]
        return [look("cylinder", (a, 2 * b)), *ends]
    if kind == int(kinds.mjGEOM_MESH):
        return [look("mesh", (), mesh=_mesh(m, int(m.geom_dataid[k])))]
    return []


def _mesh(m: Any, k: int) -> Triangles:
    first, count = m.mesh_vertadr[k], m.mesh_vertnum[k]
    face, faces = m.mesh_faceadr[k], m.mesh_facenum[k]
    return Triangles(m.mesh_vert[first : first + count], m.mesh_face[face : face + faces])


def colour_of(rgba: Array) -> str:
    """Return a colour as pages write it."""
    red, green, blue = (round(255 * float(np.clip(part, 0, 1))) for part in rgba[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
