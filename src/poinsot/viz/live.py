"""The things of a stage on a scene of viser: put there once, then moved."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot.so3 import matrix_to_quat
from poinsot.viz.meshes import mesh
from poinsot.viz.solids import Solid, bar
from poinsot.viz.stage import Stage

FORCE_COLOUR = "#c2185b"


class LiveScene:
    """Bodies, joints, springs, forces and traces; `stage` may grow, see `extend`."""

    def __init__(self, scene: Any, stage: Stage) -> None:
        self._scene, self.stage = scene, stage
        size, grain = stage.size, stage.grain
        floor = (0.0, 0.0, float(stage.low[2]))
        width = {"width": 20 * size, "height": 20 * size}
        scene.add_grid("/grid", **width, cell_size=size / 4, section_size=size, position=floor)
        axes = {"axes_length": 0.17 * grain, "axes_radius": 0.005 * grain, "show_axes": False}
        self.bodies = {
            name: scene.add_frame(f"/body{k}", **axes) for k, name in enumerate(stage.frames.bodies)
        }
        self._struts = [
            self._add_mesh(f"/strut{k}", stage.strut(strut, 0))
            for k, strut in enumerate(stage.struts)
        ]
        arrow = bar("ground", (0, 0, 0), (0, 0, 1), 1.0, FORCE_COLOUR, shape="arrow")
        self._arrows = [self._add_mesh(f"/force{k}", arrow) for k in range(len(stage.pins))]
        self._solids: dict[str, tuple[Solid, Any]] = {}
        self._traces: list[Any] = []
        self.extend(stage)

    def extend(self, stage: Stage) -> None:
        """Go on with a longer motion of the same mechanism."""
        self.stage = stage
        for k, solid in enumerate(stage.solids):
            self._add_solid(k, solid)
        self._traces = [
            self._add_trace(k)
            for k in range(len(stage.frames.bodies))
            if stage.frames.time.size > 1
        ]

    def move(self, frame: int, shown: Mapping[str, bool]) -> None:
        """Move everything to where it is in a frame, and show what is wanted."""
        film = self.stage.frames
        quats = matrix_to_quat(film.rotation[frame])
        for k, body in enumerate(self.bodies.values()):
            body.position, body.wxyz = film.position[frame, k], quats[k]
            body.show_axes = shown["axes"]
        for strut, node in zip(self.stage.struts, self._struts, strict=True):
            _place(node, self.stage.strut(strut, frame))
        for k, arrow in enumerate(self._arrows):
            self._move_arrow(arrow, k, frame, shown["forces"])
        for solid, node in self._solids.values():
            node.visible = solid.group == "body" or shown[solid.group]
        for trace in self._traces:
            trace.visible = shown["traces"]

    def _move_arrow(self, arrow: Any, k: int, frame: int, shown: bool) -> None:
        stage = self.stage
        force = stage.force_scale * stage.forces[frame, k]
        arrow.visible = bool(shown and np.linalg.norm(force) > 0)
        if arrow.visible:
            at = stage.frames.path(stage.pins[k].b)[frame]
            _place(arrow, bar("ground", at, at + force, 0.02 * stage.grain, FORCE_COLOUR))

    def _add_solid(self, k: int, solid: Solid) -> None:
        node = f"/solid{k}"
        if solid.body in self.bodies:
            node = f"/body{self.stage.frames.index(solid.body)}{node}"
        # A rail grows while its joint slides further; everything else stays as it was.
        before = self._solids.get(node)
        if before is None or not np.array_equal(before[0].scale, solid.scale):
            self._solids[node] = solid, self._add_mesh(node, solid)

    def _add_mesh(self, node: str, solid: Solid) -> Any:
        own = mesh(solid.shape)
        return self._scene.add_mesh_simple(
            node,
            own.vertices.astype(np.float32),
            own.triangles.astype(np.uint32),
            color=_rgb(solid.colour),
            opacity=None if solid.opacity == 1 else 2 * solid.opacity,
            flat_shading=solid.shape == "box",
            side="double",
            scale=_scale(solid),
            position=solid.position,
            wxyz=matrix_to_quat(solid.rotation),
        )

    def _add_trace(self, k: int) -> Any:
        film = self.stage.frames
        path, colour = film.position[:, k], self.stage.colour[film.bodies[k]]
        return self._scene.add_line_segments(
            f"/trace{k}",
            np.stack([path[:-1], path[1:]], axis=1).astype(np.float32),
            np.array(_rgb(colour), dtype=np.uint8),
            thickness=0.004 * self.stage.grain,
        )


def _place(node: Any, solid: Solid) -> None:
    node.position, node.wxyz = solid.position, matrix_to_quat(solid.rotation)
    node.scale = _scale(solid)


def _scale(solid: Solid) -> tuple[float, float, float]:
    x, y, z = solid.scale.tolist()
    return x, y, z


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
