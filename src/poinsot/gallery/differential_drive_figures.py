"""The figure of the robot on two wheels."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

from poinsot.result import Result
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class _Robot(Protocol):
    @property
    def arm(self) -> float: ...
    @property
    def track(self) -> float: ...


def plot(result: Result, robot: _Robot) -> "Figure":
    """Plot the path with the robot drawn every second, wheel speeds, energy and side force."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 7), layout="constrained")
        (path, speeds), (energy, force) = figure.subplots(2, 2)
        plot_path(result, robot, path)
        for name, colour in (("left", COLOURS[0]), ("right", COLOURS[1])):
            port, middle = result.port(name), (result.time[1:] + result.time[:-1]) / 2
            speeds.plot(middle, port.y[:, 0], color=colour, label=f"{name} wheel, speed $y$")
            speeds.plot(
                middle, port.u[:, 0], color=colour, ls=":", label=f"{name} wheel, force $u$"
            )
        speeds.set(xlabel="time [s]", ylabel="speed [m/s], force [N]")
        speeds.set_title("Wheels are ports: force in, speed out")
        speeds.legend()
        supplied = result.port("left").energy + result.port("right").energy
        energy.plot(result.time, supplied, color=COLOURS[4], linewidth=4, label="supplied")
        energy.plot(result.time, result.energy, color=COLOURS[6], label="kinetic")
        energy.set(xlabel="time [s]", ylabel="energy [J]")
        energy.set_title("What is supplied is kinetic energy, to round-off")
        energy.legend()
        middle = (result.time[1:] + result.time[:-1]) / 2
        force.plot(middle, -result["mu"][1:], color=COLOURS[3])
        force.set(xlabel="time [s]", ylabel="force along the axle [N]")
        force.set_title("The ground keeps the wheels from slipping")
    return figure


def plot_path(result: Result, robot: _Robot, ax: "Axes") -> None:
    """Plot the path of the axle, and axle and heading at every second."""
    x, y, phi = result["zeta"].T
    ax.plot(x, y, color=COLOURS[0], linewidth=1.0)
    scale = 2.0  # the robot is small on this road
    for t in np.arange(0.0, result.time[-1] + 0.5):
        k = int(np.argmin(abs(result.time - t)))
        ahead = np.array([np.cos(phi[k]), np.sin(phi[k])])
        aside, centre = np.array([-ahead[1], ahead[0]]), np.array([x[k], y[k]])
        ends = centre + scale * robot.track / 2 * np.outer([-1, 1], aside)
        nose = centre + scale * robot.arm * np.outer([0, 1], ahead)
        ax.plot(*ends.T, color=COLOURS[6], linewidth=2.5)
        ax.plot(*nose.T, color=COLOURS[1])
    ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    ax.set_title("Axle and heading every second, twice their size")
