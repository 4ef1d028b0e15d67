r"""A four-bar whose coupler point follows a straight line, found by the gradient of its motion.

In Hoeken's linkage a crank of length 1 turns about the origin, a rocker about (ground, 0); the
coupler, the rocker and the coupler's extension beyond the rocker are of one length, `bar`. While
the crank points away from the rocker's pivot, half a turn of it, the end of the coupler moves
nearly along a straight line; the classical proportions are ground = 2 and bar = 2.5.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from poinsot.analysis.gradients.interface import sensitivities
from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.fitting import fitted
from poinsot.model import Model
from poinsot.parts.drives import Drive
from poinsot.parts.joints import Cylindrical, Revolute, Spherical
from poinsot.result import Array, Result
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

#: Step and end [s]: the crank turns by half a turn in a second.
H, T_END = 1 / 24, 1.0


@dataclass(frozen=True)
class FourBar:
    """The lengths of the linkage; that of the crank is one metre."""

    ground: float = 2.0
    bar: float = 2.5

    def places(self, angle: Array) -> tuple[Array, Array, Array]:
        """Return crank pin, rocker pin and end of the coupler at angles of the crank; (k, 2)."""
        A = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        to_pivot = np.array([self.ground, 0.0]) - A
        half = np.linalg.norm(to_pivot, axis=-1, keepdims=True) / 2
        across = np.stack([-to_pivot[..., 1], to_pivot[..., 0]], axis=-1) / (2 * half)
        B = A + to_pivot / 2 + np.sqrt(self.bar**2 - half**2) * across
        return A, B, 2 * B - A


CASE = FourBar()


def model(case: FourBar = CASE) -> Model:
    """Build the linkage in the plane y = 0, with the drive `motor` and the marker `tip`."""
    linkage = Model(name="straight-line")
    A, B, P = (np.array([x, 0.0, z]) for x, z in case.places(np.array(np.pi / 2)))
    pivot = np.array([case.ground, 0.0, 0.0])
    shape = RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1))
    crank = linkage.add_body("crank", shape, position=A / 2)
    coupler = linkage.add_body("coupler", shape, position=B)
    rocker = linkage.add_body("rocker", shape, position=(B + pivot) / 2)
    turning = (0, -1, 0)
    linkage.add_joint("shaft", Revolute(linkage.ground, crank, point=(0, 0, 0), axis=turning))
    linkage.add_joint("pin", Revolute(crank, coupler, point=A, axis=turning))
    linkage.add_joint("ball", Spherical(coupler, rocker, point=B))
    linkage.add_joint("pivot", Cylindrical(linkage.ground, rocker, point=pivot, axis=turning))
    linkage.add_marker("tip", coupler, position=P)
    linkage.add_port("motor", Drive("shaft", coordinate="pi*t"))
    return linkage


def of_lengths(values: dict[str, float]) -> Model:
    """Build the linkage of lengths by name."""
    return model(FourBar(**values))


def off(height: Array) -> Array:
    """Return by how much heights are off a horizontal line, their mean; (times, ...)."""
    return np.asarray(height - height.mean(axis=0))


@cache
def straightest() -> tuple[FourBar, int]:
    """Return the lengths with the least squares off a line, and how many motions that took."""
    names = "ground", "bar"

    def motion(lengths: Array) -> tuple[Array, Array]:
        values = dict(zip(names, lengths.tolist(), strict=True))
        found = sensitivities(of_lengths, "tip.position", values, h=H, t_end=T_END)
        slopes = found["tip.position"]
        columns = np.column_stack([slopes[name][:, 2] for name in names])
        return off(found.values["tip.position"][:, 2]), off(columns)

    fit, motions = fitted(motion, np.array([CASE.ground, CASE.bar]), method="lm", xtol=1e-8)
    return replace(CASE, **dict(zip(names, fit.x.tolist(), strict=True))), motions


def by_geometry() -> FourBar:
    """Return the same by the circles on which the pins are, and differences."""
    angle = np.pi / 2 + np.pi * np.linspace(0, 1, round(T_END / H) + 1)

    def path(x: Array) -> Array:
        return off(FourBar(*x).places(angle)[2][:, 1])

    fit: Any = least_squares(
        path,
        [CASE.ground, CASE.bar],
        jac="3-point",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    return FourBar(*np.round(fit.x, 7).tolist())


def check(result: Result) -> list[Check]:
    """Compare the motion and the best lengths with geometry."""
    found, geometry = straightest()[0], by_geometry()
    angle = np.pi / 2 + np.pi * result.time
    path = CASE.places(angle)[2]
    tip = result.marker("tip").position[:, [0, 2]]
    before, after = (np.ptp(case.places(angle)[2][:, 1]) for case in (CASE, found))
    return [
        vanishing("end of the coupler: difference from geometry [m]", tip - path, 1e-12, "circles"),
        Check("optimal distance of the pivots", found.ground, geometry.ground, 1e-5, "geometry"),
        Check("optimal length of the bars", found.bar, geometry.bar, 1e-5, "geometry"),
        Check("height of the path, optimal over classical", after / before, 0.25, 0.25, "less"),
    ]


def plot(result: Result) -> "Figure":
    """Plot the linkage with its path, heights along it, and the balance."""
    best, motions = straightest()
    angle = np.pi / 2 + np.pi * np.linspace(0, 1, 181)
    with drawing(9, 6) as figure:
        (left, right), (below, balance) = figure.subplots(2, 2)
        for case, label in ((CASE, "classical"), (best, "straightest")):
            path = case.places(angle)[2]
            left.plot(*path.T, label=label)
            right.plot(path[:, 0], 1e3 * off(path[:, 1]), label=label)
            A, B, P = (each[60] for each in case.places(angle))
            links = np.array([[0, 0], A, P, B, [case.ground, 0]])
            left.plot(*links.T, "o-", color="0.6", linewidth=1, markersize=3)
        left.set_aspect("equal")
        describe(left, "The end of the coupler", "z [m]")
        describe(right, f"Found by {motions} motions and their derivatives", "off the line [mm]")
        for axes in (left, right):
            axes.set_xlabel("x [m]")
        shaft = result.port("motor")
        below.plot(shaft.time, shaft.y[:, 0])
        describe(below, "Torque of the drive", "N m")
        plot_balance(result, balance)
    return figure


EXAMPLE = Example(
    title="Optimise a straight-line linkage",
    source="Hoeken's linkage, our own case",
    scheme="ph-mp",
    h=H,
    t_end=T_END,
    model=model,
    check=check,
    plot=plot,
)
