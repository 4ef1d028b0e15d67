"""Flexible bodies in space: surfaces whose points move with the deformation."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Array, Result
from poinsot.result.scene import Scene
from poinsot.viz.meshes import creased, drawn


@dataclass(frozen=True, eq=False)
class Skin:
    """The surface of a body: points (n, 3) [m] in its axes, moved by modes (n, 3, k).

    `amplitudes` (frames, k) are elastic coordinates, as many times larger as they are drawn.
    """

    name: str
    body: int
    points: Array
    triangles: NDArray[np.intp]
    modes: Array
    amplitudes: Array
    colour: str
    opacity: float = 1.0

    @cached_property
    def corners(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Points of its vertices, and triangles of vertices: points at edges are several."""
        _, point, triangles = creased(self.points, self.triangles)
        return point, triangles

    def surface(self, frame: int) -> tuple[Array, Array]:
        """Return vertices and normals in a frame, in the axes of the body; (vertices, 3) each."""
        point, triangles = self.corners
        vertices = self.deformed(frame)[point]
        return vertices, normals(vertices, triangles)

    def placed(self, frame: int, position: Array, rotation: Array) -> Array:
        """Return the points in a frame in world axes, of the poses of all bodies then; (n, 3)."""
        return np.asarray(position[self.body] + self.deformed(frame) @ rotation[self.body].T)

    def deformed(self, frame: int) -> Array:
        """Return the points in a frame, in the axes of the body; (n, 3)."""
        return np.asarray(self.points + self.modes @ self.amplitudes[frame])


def normals(vertices: Array, triangles: NDArray[np.intp]) -> Array:
    """Return the mean normals of the triangles at each vertex."""
    a, b, c = (vertices[corner] for corner in triangles.T)
    across = np.cross(b - a, c - a)
    found = np.zeros_like(vertices)
    for corner in triangles.T:
        np.add.at(found, corner, across)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300))


def skins(
    result: Result,
    scene: Scene,
    places: Mapping[str, int],
    chosen: NDArray[np.intp],
    colour: Mapping[str, str],
    opacity: Mapping[str, float],
    scale: float,
) -> list[Skin]:
    """Return the surfaces of flexible bodies in chosen frames, deformed `scale` times as much."""
    drawings = {drawing.name: drawing for drawing in scene.drawings}
    found = []
    for each in scene.skins:
        points, triangles = drawn(drawings[each.drawing])
        modes = np.frombuffer(b64decode(each.modes), "<f4").astype(float)
        share = opacity.get(each.body, 1.0)
        if share > 0:
            found.append(
                Skin(
                    name=each.body,
                    body=places[each.body],
                    points=points,
                    triangles=triangles,
                    modes=modes.reshape(len(points), 3, -1),
                    amplitudes=scale * result.deformation(each.body)[chosen],
                    colour=colour[each.body],
                    opacity=share,
                )
            )
    return found
