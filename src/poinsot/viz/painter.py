"""Draw a stage with Matplotlib: shaded solids, in order of their distance."""

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Array
from poinsot.viz.axes import figure_of, plain
from poinsot.viz.skins import Skin
from poinsot.viz.solids import Solid
from poinsot.viz.stage import Stage, round_number
from poinsot.viz.style import Axes
from poinsot.viz.tubes import ColourScale, Tube

SUN = np.array([0.35, -0.45, 1.0]) / np.linalg.norm([0.35, -0.45, 1.0])
SHADE = "#dfe4ea"
GRID = "#e9edf2"


class Painter:
    """Paints a stage into axes, frame by frame, seen from one side without perspective."""

    def __init__(self, stage: Stage, ax: "Axes") -> None:
        self.stage, self.ax = stage, ax
        azimuth, _ = stage.view
        self.eye = stage.eye
        self.right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        self.up = np.cross(self.eye, self.right)
        self.floor = stage.low[2] - 0.01 * stage.size
        # Boxes of inertia hide the bars that stand for their bodies.
        self.solids = [solid for solid in stage.solids if solid.group != "inertia"]
        ax.set_aspect("equal", adjustable="datalim")
        ax.axis("off")
        corners = np.array(np.meshgrid(*zip(stage.low, stage.high, strict=True))).reshape(3, -1).T
        ax.margins(0.02)
        ax.update_datalim(self._flat(corners))
        ax.autoscale_view()

    def paint(self, frame: int) -> None:
        """Paint a frame over whatever was there."""
        for old in [*self.ax.collections, *self.ax.lines]:
            old.remove()
        self._paint_grid()
        corners, normals, colours = self._triangles(frame)
        self._paint_shadow(corners[normals @ SUN > 0])
        self._paint_traces(frame)
        seen = (normals @ self.eye > 0) | (colours[:, 3] < 1)
        order = np.flatnonzero(seen)[np.argsort((corners[seen] @ self.eye).mean(axis=1))]
        shaded = _shade(colours[order], normals[order], self.eye)
        self._paint_triangles(corners[order], shaded, 4)

    def name_joints(self, frame: int) -> None:
        """Write the names of the joints beside them, those of one place in one line."""
        film, places = self.stage.frames, defaultdict[tuple[float, ...], list[str]](list)
        for pin in self.stage.pins:
            at = self._flat(film.path(pin.b)[frame])
            places[tuple(np.round(at / self.stage.size, 3))].append(plain(pin.joint))
        for place, names in places.items():
            x, y = (value * self.stage.size for value in place)
            self.ax.annotate(
                ", ".join(names), (x, y), xytext=(6, 6), textcoords="offset points", zorder=5
            )

    def add_scale(self, scale: ColourScale) -> None:
        """Add a bar beside the picture that says what its colours mean."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        colours = LinearSegmentedColormap.from_list(scale.label, list(scale.stops))
        bar = ScalarMappable(Normalize(scale.low, scale.high), colours)
        label = f"{scale.label} [{scale.unit}]"
        figure_of(self.ax).colorbar(bar, ax=self.ax, label=label, shrink=0.7)

    # -- parts --------------------------------------------------------------------------------

    def _flat(self, points: Array) -> Array:
        """Return points of space as points of the paper; (..., 2)."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def _triangles(self, frame: int) -> tuple[Array, Array, Array]:
        """Return corners (n, 3, 3), normals (n, 3) and colours (n, 4) of all triangles."""
        from matplotlib.colors import to_rgba

        film, parts = self.stage.frames, []
        struts = [self.stage.strut(strut, frame) for strut in self.stage.struts]
        for solid in [*self.solids, *struts]:
            own = solid.surface
            vertices = solid.position + (own.vertices * solid.scale) @ solid.rotation.T
            if solid.body != "ground":
                k = film.index(solid.body)
                vertices = film.position[frame, k] + vertices @ film.rotation[frame, k].T
            corners = vertices[own.triangles]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            size = np.linalg.norm(normals, axis=1)
            there = size > 0
            outward = np.sign(np.sum(normals * self._outward(solid, frame, own.triangles), axis=1))
            normals = normals[there] * (outward / np.where(there, size, 1.0))[there, None]
            colour = to_rgba(solid.colour, solid.opacity)
            parts.append((corners[there], normals, np.tile(colour, (int(there.sum()), 1))))
        parts += [self._tube(tube, frame) for tube in self.stage.tubes]
        parts += [self._skin(skin, frame) for skin in self.stage.skins]
        corners, normals, colours = (np.concatenate(part) for part in zip(*parts, strict=True))
        return corners, normals, colours

    def _tube(self, tube: Tube, frame: int) -> tuple[Array, Array, Array]:
        from matplotlib.colors import to_rgba

        film, triangles = self.stage.frames, tube.triangles()
        surface = tube.surface(film.position[frame], film.rotation[frame])
        vertices, outward = (values.reshape(-1, 3) for values in surface)
        colours = np.tile(to_rgba(tube.colour), (len(vertices), 1))
        if self.stage.colours is not None:
            rings = tube.shaded(frame, self.stage.colours)
            colours[:, :3] = np.repeat(rings, len(vertices) // len(rings), axis=0)
        corners, normals = vertices[triangles], outward[triangles].mean(axis=1)
        size = np.linalg.norm(normals, axis=1, keepdims=True)
        return corners, normals / np.where(size > 0, size, 1.0), colours[triangles].mean(axis=1)

    def _skin(self, skin: Skin, frame: int) -> tuple[Array, Array, Array]:
        from matplotlib.colors import to_rgba

        film = self.stage.frames
        points = skin.placed(frame, film.position[frame], film.rotation[frame])
        corners = points[skin.triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(normals, axis=1, keepdims=True)
        colours = np.tile(to_rgba(skin.colour, skin.opacity), (len(corners), 1))
        return corners, normals / np.where(size > 0, size, 1.0), colours

    def _outward(self, solid: Solid, frame: int, triangles: NDArray[np.intp]) -> Array:
        """Return the outward direction of every triangle of a solid."""
        normals = solid.surface.normals[triangles].mean(axis=1) / np.maximum(solid.scale, 1e-12)
        turned = normals @ solid.rotation.T
        if solid.body == "ground":
            return np.asarray(turned)
        film = self.stage.frames
        return np.asarray(turned @ film.rotation[frame, film.index(solid.body)].T)

    def _paint_triangles(self, corners: Array, colours: "Array | str", layer: int) -> None:
        from matplotlib.collections import PolyCollection

        look: Any = {"facecolors": colours, "edgecolors": colours, "linewidths": 0.3}
        triangles = PolyCollection(self._flat(corners), zorder=layer, **look)  # type: ignore[arg-type]
        self.ax.add_collection(triangles, autolim=False)

    def _paint_shadow(self, corners: Array) -> None:
        fall = corners - SUN * ((corners[..., 2:] - self.floor) / SUN[2])
        self._paint_triangles(fall, SHADE, 1)

    def _paint_traces(self, frame: int) -> None:
        film = self.stage.frames
        for k in self.stage.traced:
            path = self._flat(film.position[: frame + 1, k])
            colour = self.stage.colour[film.bodies[k]]
            self.ax.plot(*path.T, color=colour, linestyle="-", linewidth=1.0, alpha=0.6, zorder=2)

    def _paint_grid(self) -> None:
        from matplotlib.collections import LineCollection

        low, high, spacing = self.stage.low, self.stage.high, round_number(self.stage.size / 2)
        (x0, y0), (x1, y1) = (np.floor(low[:2] / spacing) - 2, np.ceil(high[:2] / spacing) + 2)
        z = self.floor
        lines = [
            *([(x, y0, z), (x, y1, z)] for x in np.arange(x0, x1 + 1)),
            *([(x0, y, z), (x1, y, z)] for y in np.arange(y0, y1 + 1)),
        ]
        points = np.array(lines) * (spacing, spacing, 1.0)
        grid = LineCollection(list(self._flat(points)), colors=GRID, linewidths=0.8, zorder=0)
        self.ax.add_collection(grid, autolim=False)


def _shade(colours: Array, normals: Array, eye: Array) -> Array:
    """Return colours in the light of sun and sky."""
    sky = 0.5 + 0.5 * normals[:, 2:]
    key, front = (np.maximum(0.0, normals @ n)[:, None] for n in (SUN, eye))
    light = 0.32 + 0.16 * sky + 0.5 * key + 0.2 * abs(front)
    linear = colours[:, :3] ** 2.2 * light
    return np.column_stack([np.clip(linear, 0, 1) ** (1 / 2.2), colours[:, 3]])
