"""The figure of the slider-crank in the plane."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


class _Mechanism(Protocol):
    @property
    def crank(self) -> float: ...
    @property
    def rod(self) -> float: ...


def plot(
    result: Result, motion: Array, mechanism: _Mechanism, gaps: Mapping[str, Array]
) -> "Figure":
    """Plot the mechanism, rates, energy, and the `gaps` at C [m] by what is tied."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 7), layout="constrained")
        (path, rates), (energy, gap) = figure.subplots(2, 2)
        plot_mechanism(motion, mechanism, path)
        time = result.time
        rates.plot(time, motion[:, 1], color=COLOURS[0], label=r"crank $\omega_1$ [rad/s]")
        rates.plot(time, motion[:, 5], color=COLOURS[1], label=r"rod $\omega_2$ [rad/s]")
        rates.plot(time, motion[:, 3], color=COLOURS[2], label=r"slider $v_B$ [m/s]")
        rates.set(xlabel="time [s]", ylabel="rates", ylim=(-16, 24))
        rates.set_title("A constant torque speeds it up")
        rates.legend(loc="lower center", ncols=3)
        supplied, gained = result.port("motor").energy, result.energy - result.energy[0]
        energy.plot(time, supplied, color=COLOURS[4], linewidth=4, label="supplied at the crank")
        energy.plot(time, gained, color=COLOURS[6], label="kinetic, since the start")
        energy.set(xlabel="time [s]", ylabel="energy [J]")
        energy.set_title("What is supplied is kinetic energy, to round-off")
        energy.legend()
        for (name, apart), colour in zip(gaps.items(), (COLOURS[0], COLOURS[3]), strict=True):
            gap.semilogy(time, np.maximum(apart, 1e-17), color=colour, label=f"tied by {name}")
        gap.set(xlabel="time [s]", ylabel="gap at C [m]", ylim=(1e-17, 1e-3))
        gap.set_title("What keeps the two together")
        gap.legend(loc="center right")
    return figure


def plot_mechanism(motion: Array, mechanism: _Mechanism, ax: "Axes") -> None:
    """Plot crank, rod and slider in a few positions of the first turn."""
    end = int(np.searchsorted(motion[:, 0], motion[0, 0] + 2 * np.pi))
    for k in np.linspace(0, end, 7).astype(int)[:-1]:
        phi1, _, x, *_ = motion[min(k, len(motion) - 1)]
        pin = mechanism.crank * np.array([np.cos(phi1), np.sin(phi1)])
        strength = 1.0 if k == 0 else 0.35
        ax.plot([0, pin[0]], [0, pin[1]], color=COLOURS[1], linewidth=4, alpha=strength)
        ax.plot([pin[0], x], [pin[1], 0], color=COLOURS[0], linewidth=2.5, alpha=strength)
        ax.plot([x], [0], "s", color=COLOURS[6], markersize=9, alpha=strength)
    turn = np.linspace(0, 2 * np.pi, 100)
    ax.plot(
        mechanism.crank * np.cos(turn),
        mechanism.crank * np.sin(turn),
        color=COLOURS[6],
        linewidth=0.6,
        linestyle=":",
    )
    ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    ax.set_title("Crank and rod meet at C; the first turn")
