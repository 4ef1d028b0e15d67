"""Outlines of bodies: lines in body axes."""

from typing import Any

import numpy as np

from poinsot.result import Array, BodyRecord
from poinsot.viz.style import Axes3D

_GAP = np.full((1, 3), np.nan)


def box_outline(size: tuple[float, float, float]) -> Array:
    """Return the twelve edges of a box [m] about its centre; (points, 3), NaN between lines."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
    edges = [
        np.array([a, b]) * size
        for i, a in enumerate(corners)
        for b in corners[i + 1 :]
        if np.sum(a != b) == 1
    ]
    return np.concatenate([part for edge in edges for part in (edge, _GAP)])


def cylinder_outline(radius: float, length: float, lines: int = 6) -> Array:
    """Return two rims and a few lines of a cylinder [m] about its centre, axis z; (points, 3)."""
    phi = np.linspace(0, 2 * np.pi, 41)
    rim = np.column_stack([radius * np.cos(phi), radius * np.sin(phi), np.full(41, length / 2)])
    top, bottom = rim, rim * (1, 1, -1)
    parts = [top, _GAP, bottom, _GAP]
    for k in np.linspace(0, 40, lines + 1).astype(int)[:-1]:
        parts += [np.array([top[k], bottom[k]]), _GAP]
    return np.concatenate(parts)


def place(outline: Array, body: BodyRecord, k: int) -> Array:
    """Return the outline in world axes at the k-th saved time; (points, 3)."""
    return np.asarray(body.position[k] + outline @ body.rotation[k].T)


def draw(ax: "Axes3D", points: Array, **line: Any) -> None:
    """Draw an outline into axes of three dimensions, and beyond their rectangle if need be."""
    (drawn,) = ax.plot(*points.T, clip_on=False, **line)
    drawn.set_in_layout(False)


def frame(ax: "Axes3D", *clouds: Array) -> None:
    """Choose limits in which all the points are seen, at the same scale on every axis."""
    from matplotlib.ticker import MaxNLocator

    points = np.concatenate(clouds)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set_aspect("equal")
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(MaxNLocator(4))
    ax.tick_params(labelsize="x-small")
