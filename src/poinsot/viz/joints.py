"""Plots of joints: what they carry, and how they move."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np

from poinsot.result import JointRecord, Result
from poinsot.viz.axes import draw_line, figure_of, over_time, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_reactions(
    result: Result,
    ax: "Axes | None" = None,
    *,
    joints: Iterable[str] | None = None,
    part: Literal["force", "torque"] = "force",
) -> "Figure":
    """Plot the size of the reaction of joints, all or those named: force [N] or torque [N m]."""
    chosen, unit = _chosen(result, joints), "N" if part == "force" else "N m"
    # Repeated constraints share a load in many ways: what is drawn is one of them.
    note = "" if all(joint.complete for joint in chosen) else "\n* one of many"
    with over_time(ax, f"reaction {part} [{unit}]{note}") as ax:
        for joint in chosen:
            size = np.linalg.norm(joint.force if part == "force" else joint.torque, axis=1)
            label = plain(joint.name if joint.complete else f"{joint.name}*")
            draw_line(ax, joint.time, size, label=label, linewidth=1.2)
    return figure_of(ax)


def plot_coordinates(
    result: Result,
    ax: "Axes | None" = None,
    *,
    joints: Iterable[str] | None = None,
    kind: Literal["angle", "displacement"] = "angle",
) -> "Figure":
    """Plot angles [rad] or displacements [m] of joints, all or those named; zero at the start."""
    with over_time(ax, f"{kind} [{'rad' if kind == 'angle' else 'm'}]") as ax:
        for joint in _chosen(result, joints):
            for name, values in joint.coordinates.items():
                if name.startswith(kind):
                    own = name.removeprefix(kind)
                    draw_line(ax, result.time, values, label=plain(f"{joint.name}{own}"))
    return figure_of(ax)


def _chosen(result: Result, names: Iterable[str] | None) -> list[JointRecord]:
    return [result.joint(name) for name in (result.observation.joints if names is None else names)]
