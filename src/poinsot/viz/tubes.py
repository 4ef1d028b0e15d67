"""Beams and rods in 3D: smooth tubes through their nodes, coloured by stress resultants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.result import Array, Result, StressRecord
from poinsot.result.scene import Slender
from poinsot.viz.style import DIVERGING, SEQUENTIAL

#: Corners of a round section, and rings of vertices: at most so many an element, about so many all
#: along a tube.
AROUND, FINEST, RINGS = 16, 8, 96


class Quantity(NamedTuple):
    """A stress resultant that can be shown: its name, its unit, and whether it has a sign."""

    label: str
    unit: str
    signed: bool


QUANTITIES = {
    "axial": Quantity("axial force", "N", True),
    "shear": Quantity("shear force", "N", False),
    "torsion": Quantity("torque", "N m", True),
    "bending": Quantity("bending moment", "N m", False),
}


@dataclass(frozen=True, eq=False)
class Tube:
    """A beam or rod; `nodes` number its nodes among bodies, `sizes` (nodes, 2) [m] are widths.

    `shades` (frames, nodes) are in [0, 1], by which `ColourScale` gives colours; None: `colour`.
    """

    name: str
    nodes: NDArray[np.intp]
    places: Array
    sizes: Array
    axes: tuple[int, int, int]
    round: bool
    colour: str
    shades: Array | None = None

    @property
    def pieces(self) -> int:
        """Pieces of each element."""
        return int(np.clip(RINGS // (self.nodes.size - 1), 1, FINEST))

    @property
    def along(self) -> Array:
        """Where the rings are, counted in elements; (rings,)."""
        elements = self.nodes.size - 1
        return np.linspace(0, elements, self.pieces * elements + 1)

    def rings(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Return the centres of the rings (rings, 3), and their axes 1, 2 and along it, in columns.

        The axis is a cubic through the nodes along the axes of their sections; poses are those of
        all bodies in a frame.
        """
        p, (first, _, axis) = position[self.nodes], self.axes
        d1, d3 = (rotation[self.nodes][:, :, k] for k in (first, axis))
        e, s = self._inside
        length = np.diff(self.places)[e, None]
        centre = (
            (1 + 2 * s) * (1 - s) ** 2 * p[e]
            + s * (1 - s) ** 2 * length * d3[e]
            + s**2 * (3 - 2 * s) * p[e + 1]
            - s**2 * (1 - s) * length * d3[e + 1]
        )
        slope = (
            6 * s * (1 - s) * (p[e + 1] - p[e]) / length
            + (1 - s) * (1 - 3 * s) * d3[e]
            - s * (2 - 3 * s) * d3[e + 1]
        )
        tangent = _unit(slope)
        across = (1 - s) * d1[e] + s * d1[e + 1]
        one = _unit(across - np.sum(across * tangent, axis=1, keepdims=True) * tangent)
        return centre, np.stack([one, np.cross(tangent, one), tangent], axis=2)

    @property
    def _inside(self) -> tuple[NDArray[np.intp], Array]:
        """The element of each ring, and where in it that is, from 0 to 1; (rings,), (rings, 1)."""
        e = np.minimum(self.along.astype(int), self.nodes.size - 2)
        return e, (self.along - e)[:, None]

    def surface(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Return vertices and normals (rings + 2, corners, 3), of poses of all bodies in a frame.

        The first and the last ring are there twice: they are the edges of both ends, which look
        along the axis.
        """
        centre, axes = self.rings(position, rotation)
        e, s = self._inside
        widths = (1 - s) * self.sizes[e] + s * self.sizes[e + 1]
        corners, outward = outline(self.round)
        across = np.swapaxes(axes[:, :, :2], 1, 2)
        vertices, normals = centre[:, None] + widths[:, None] * corners @ across, outward @ across
        tangent = axes[:, :, 2]
        ends = [np.tile(end, (1, len(corners), 1)) for end in (-tangent[0], tangent[-1])]
        return (
            np.concatenate([vertices[:1], vertices, vertices[-1:]]),
            np.concatenate([ends[0], normals, ends[1]]),
        )

    def triangles(self) -> NDArray[np.intp]:
        """Return the triangles of the surface and of both ends; (triangles, 3)."""
        rings, ring = self.along.size, len(outline(self.round)[0])
        a, b = sides(self.round).T
        start = ring * np.arange(1, rings)[:, None]
        corners = (start + a, start + b, start + ring + b, start + ring + a)
        p, q, r, s = (part.reshape(-1) for part in corners)
        fan = np.column_stack([np.zeros(ring - 2, int), np.arange(1, ring - 1), np.arange(2, ring)])
        caps = np.concatenate([fan[:, ::-1], fan + ring * (rings + 1)])
        return np.concatenate([np.column_stack([p, q, r]), np.column_stack([p, r, s]), caps])

    def shaded(self, frame: int, scale: "ColourScale") -> Array:
        """Return colours of the rings in a frame, those of the ends twice; (rings + 2, 3)."""
        assert self.shades is not None
        found = np.interp(self.along, np.arange(self.nodes.size), self.shades[frame])
        return scale.colours(np.pad(found, 1, mode="edge"))


def outline(round_: bool) -> tuple[Array, Array]:
    """Return corners of a section of unit widths and normals there; (corners, 2) each."""
    if round_:
        phi = 2 * np.pi * np.arange(AROUND) / AROUND
        normals = np.column_stack([np.cos(phi), np.sin(phi)])
        return normals / 2, normals
    square = np.array([(1, -1), (1, 1), (-1, 1), (-1, -1)]) / 2
    sides_of = np.stack([square, np.roll(square, -1, axis=0)], axis=1).reshape(-1, 2)
    normals = np.repeat(np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], dtype=float), 2, axis=0)
    return sides_of, normals


def sides(round_: bool) -> NDArray[np.intp]:
    """Return the pairs of corners that sides of a section join; (sides, 2)."""
    if round_:
        k = np.arange(AROUND)
        return np.column_stack([k, np.roll(k, -1)])
    return np.arange(8).reshape(4, 2)


def _unit(rows: Array) -> Array:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1.0))


# -- colours ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColourScale:
    """Colours of a quantity from `low` to `high`: `stops` at even distances."""

    label: str
    unit: str
    low: float
    high: float
    stops: tuple[str, ...]

    def colours(self, shades: Array) -> Array:
        """Return colours of shades in [0, 1]; (..., 3)."""
        known = np.array([list(bytes.fromhex(stop[1:])) for stop in self.stops]) / 255
        at = np.linspace(0, 1, len(known))
        return np.stack([np.interp(shades, at, column) for column in known.T], axis=-1)


def tubes(
    slender: tuple[Slender, ...], index: Mapping[str, int], colour: Mapping[str, str]
) -> list[Tube]:
    """Return beams and rods whose nodes are at `index` among bodies."""
    return [
        Tube(
            name=each.name,
            nodes=np.array([index[node] for node in each.nodes], dtype=np.intp),
            places=np.array(each.places),
            sizes=np.array(each.sizes),
            axes=each.axes,
            round=each.round,
            colour=colour[each.nodes[0]],
        )
        for each in slender
    ]


def shades(
    result: Result, plain: list[Tube], chosen: NDArray[np.intp], quantity: str
) -> tuple[list[Array], ColourScale]:
    """Return what tubes carry at their nodes in chosen frames, in [0, 1], and its scale.

    Colours are the same for all tubes and times: from the least to the greatest, or from one sign
    to the other.
    """
    if quantity not in QUANTITIES:
        raise InputError(f"colour is {quantity!r}; {did_you_mean(str(quantity), QUANTITIES)}")
    known = result.observation.stresses
    if not plain or any(tube.name not in known for tube in plain):
        raise InputError(
            f"'{result.model}' has no stress resultants to show: it has no beams or rods, or was "
            "written by an earlier version; leave out `colour`"
        )
    label, unit, signed = QUANTITIES[quantity]
    found = [_at_nodes(known[tube.name], tube.places, quantity, chosen) for tube in plain]
    most = max(float(abs(values).max()) for values in found) or 1.0
    low, stops = (-most, DIVERGING) if signed else (0.0, SEQUENTIAL)
    scale = ColourScale(label, unit, low, most, stops)
    return [(values - low) / (most - low) for values in found], scale


def _at_nodes(
    stress: StressRecord, places: Array, quantity: str, chosen: NDArray[np.intp]
) -> Array:
    """Return a quantity at nodes, the mean of the sections on both sides; (frames, nodes)."""
    values: Array = getattr(stress, quantity)[chosen]
    if values.ndim == 3:
        values = np.linalg.norm(values, axis=2)
    last = stress.place.size - 1
    before = np.clip(np.searchsorted(stress.place, places, side="right") - 1, 0, last)
    after = np.clip(np.searchsorted(stress.place, places, side="left"), 0, last)
    return np.asarray((values[:, before] + values[:, after]) / 2)
