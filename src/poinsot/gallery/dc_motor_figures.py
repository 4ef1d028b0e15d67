"""The figure and the animation of the DC motor."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poinsot.result import Result
from poinsot.viz import plot_balance
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FRAMES = 90


def plot(result: Result) -> "Figure":
    """Plot the motion, the energy through every port, and the balance error."""
    from matplotlib.figure import Figure

    supply, work = result.port("supply"), result.port("work")
    coil, gear = result.port("coil"), result.port("gear")
    with style():
        figure = Figure(figsize=(7, 8), layout="constrained")
        motion, energy, balance = figure.subplots(3, 1, sharex=True, height_ratios=(2, 3, 1.4))
        motion.plot(supply.time, supply.y[:, 0], label="current [A]")
        motion.plot(work.time, work.y[:, 0], label="speed of the load [rad/s]")
        motion.set_title("A DC motor starts a geared load from rest")
        motion.legend()
        for label, values in (
            ("supplied by the battery", supply.energy),
            ("passed from coil to rotor", -coil.energy),
            ("passed from rotor to load", gear.energy),
            ("delivered as work", -work.energy),
            ("lost in resistor and friction", result.dissipated),
            ("stored", result.energy),
        ):
            energy.plot(result.time, values, label=label)
        energy.set(ylabel="energy [J]")
        energy.set_title("Where the energy goes, port by port")
        energy.legend()
        plot_balance(result, balance)
        balance.set_title("supplied - delivered - lost - stored: nothing is missing")
    return figure


def animate(result: Result, path: Path) -> None:
    """Draw motor, gear and energy account as an animated GIF."""
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.figure import Figure

    supply, work, shaft = result.port("supply"), result.port("work"), result.port("shaft")
    h = float(result.time[1] - result.time[0])
    turned = {
        "rotor": np.concatenate([[0.0], np.cumsum(h * shaft.y[:, 0])]),
        "load": np.concatenate([[0.0], np.cumsum(h * work.y[:, 0])]),
    }
    accounts = {
        "supplied": supply.energy,
        "lost": result.dissipated,
        "stored": result.energy,
        "work": -work.energy,
    }
    with style():
        figure = Figure(figsize=(7, 3.4), layout="constrained")
        gears, bars = figure.subplots(1, 2, width_ratios=(1.5, 1))
        gears.set(xlim=(-1.6, 2.0), ylim=(-1.7, 1.7), aspect="equal")
        gears.axis("off")
        # A few turns of the rotor are enough: at its true speed it would only flicker.
        slow = 2 * np.pi * 4 / turned["rotor"][-1]
        wheels = [
            (_wheel(gears, (1.65, 0.0), 0.15, 6, COLOURS[1]), turned["rotor"] * slow),
            (_wheel(gears, (0.0, 0.0), 1.5, 60, COLOURS[0]), -turned["load"] * slow),
        ]
        rectangles = bars.bar(list(accounts), [0.0] * 4, color=COLOURS[:4])
        bars.set(ylim=(0, 1.05 * max(v.max() for v in accounts.values())), ylabel="energy [J]")
        frames = np.linspace(0, result.time.size - 1, FRAMES).astype(int)

        def draw(k: int) -> list["Line2D"]:
            gears.set_title(f"t = {result.time[k]:.3f} s, motor slowed down")
            for (line, outline, centre), angle in wheels:
                turn = outline * np.exp(1j * angle[k])
                line.set_data(centre[0] + turn.real, centre[1] + turn.imag)
            for rectangle, values in zip(rectangles, accounts.values(), strict=True):
                rectangle.set_height(values[k])
            return [wheel[0] for wheel, _ in wheels]

        animation = FuncAnimation(figure, draw, frames=list(frames))
        animation.save(path, writer=PillowWriter(fps=25))


def _wheel(
    ax: "Axes", centre: tuple[float, float], radius: float, teeth: int, colour: str
) -> tuple["Line2D", "np.typing.NDArray[np.complex128]", tuple[float, float]]:
    """Return a gear wheel's line and its outline as complex numbers, with one spoke marked."""
    phi = np.linspace(0, 2 * np.pi, 24 * teeth + 1)
    rim = (radius + 0.04 * np.sign(np.sin(teeth * phi))) * np.exp(1j * phi)
    outline = np.concatenate([[0.0], rim])
    (line,) = ax.plot([], [], color=colour)
    return line, outline, centre
