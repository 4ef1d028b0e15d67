"""The figure of the flying cylindrical pair."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz import plot_constraints, plot_drift, plot_momentum
from poinsot.viz.outlines import cylinder_outline, draw, frame, place
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Sizes(Protocol):
    """Sizes of the two bodies [m]."""

    @property
    def shaft_radius(self) -> float: ...  # noqa: D102
    @property
    def shaft_length(self) -> float: ...  # noqa: D102
    @property
    def ring_outer_radius(self) -> float: ...  # noqa: D102
    @property
    def ring_length(self) -> float: ...  # noqa: D102


def plot(
    result: Result,
    stabilised: Result,
    sizes: Sizes,
    steps: Sequence[float],
    errors: Mapping[str, NDArray[np.float64]],
) -> "Figure":
    """Plot motion, invariants, constraints of both schemes and errors over step sizes."""
    from matplotlib.figure import Figure

    runs = {"PH-MP": result, "PH-MP-GGL": stabilised}
    with style():
        figure = Figure(figsize=(10, 10.5), layout="constrained")
        motion: Any = figure.add_subplot(3, 2, 1, projection="3d")
        momentum, drift, converge, position, velocity = (
            figure.add_subplot(3, 2, k) for k in (2, 3, 4, 5, 6)
        )
        _plot_motion(result, sizes, motion)
        plot_momentum(result, momentum)
        momentum.set_title("Angular momentum is constant")
        plot_drift(result, drift)
        drift.set_title("So is the energy; what is left is round-off")
        _plot_convergence(steps, errors, converge)
        plot_constraints(runs, position, "position")
        position.set_title("Both keep the joint closed ...")
        plot_constraints(runs, velocity, "velocity")
        velocity.set_title("... only GGL keeps its velocity, too")
    return figure


def _plot_motion(result: Result, sizes: Sizes, ax: Any) -> None:
    shaft = cylinder_outline(sizes.shaft_radius, sizes.shaft_length)
    ring = cylinder_outline(sizes.ring_outer_radius, sizes.ring_length)
    end = result.time[-1]
    shown = []
    for fraction, alpha in ((0.0, 0.35), (1 / 7, 0.5), (4 / 7, 0.7), (1.0, 1.0)):
        k = int(np.argmin(abs(result.time - fraction * end)))
        for name, outline, colour in (("shaft", shaft, COLOURS[0]), ("ring", ring, COLOURS[1])):
            points = place(outline, result.body(name), k)
            draw(ax, points, color=colour, linewidth=0.8, alpha=alpha)
            shown.append(points)
        top = result.position("shaft")[k] + result.rotation("shaft")[k] @ [0, 0, 20]
        ax.text(*top, f"{result.time[k]:.1f} s", fontsize="small", alpha=alpha)
    frame(ax, *shown)
    ax.view_init(elev=20, azim=-20)
    ax.set_title("A ring runs along a flying shaft")


def _plot_convergence(
    steps: Sequence[float], errors: Mapping[str, NDArray[np.float64]], ax: "Axes"
) -> None:
    names = {"q": "q", "v": "v", "lambda": "λ"}
    for (name, values), marker in zip(errors.items(), "os^", strict=True):
        ax.loglog(steps, values, marker=marker, label=f"error of {names[name]}")
    h = np.array([min(steps), max(steps)])
    for order, name in ((2, "q"), (1, "lambda")):
        line = 0.3 * errors[name][0] * (h / h[1]) ** order
        ax.loglog(h, line, ":", color="grey", label=f"slope {order}")
    ax.set(xlabel="step h [s]", ylabel="RMS error at t = 0.02 s")
    ax.set_title("Second order in q and v, first in λ")
    ax.legend()
