"""The figure of the gyroscope in gimbals."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


def plot(result: Result, locked: tuple[Result, Array], free: tuple[Result, Array]) -> "Figure":
    """Plot tilt and precession, energy, the motor, and gimbal lock.

    `locked` is a run in angles with its motion (times, 7), `free` the same by the matrix with R.
    """
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 7), layout="constrained")
        (angles, motor), (energy, lock) = figure.subplots(2, 2)
        _, beta, gamma = result["zeta"].T
        angles.plot(result.time, gamma, color=COLOURS[0], label=r"$\gamma$, precession")
        angles.plot(result.time, beta, color=COLOURS[1], label=r"$\beta$, tilt")
        angles.set(xlabel="time [s]", ylabel="angle [rad]")
        angles.set_title("A torque on the second axis turns the third")
        angles.legend()
        port = result.port("motor")
        motor.plot(port.time, port.u[:, 0], color=COLOURS[2], label="torque $u$ [N m]")
        motor.plot(
            port.time, port.y[:, 0], color=COLOURS[3], linewidth=0.8, label=r"rate $y$ [rad/s]"
        )
        motor.set(xlabel="time [s]", ylabel="torque, rate")
        motor.set_title(r"The motor is a port: $y = \dot\beta$, nutation only")
        motor.legend()
        supplied, gained = port.energy, result.energy - result.energy[0]
        energy.plot(result.time, 1e6 * supplied, color=COLOURS[4], linewidth=3, label="supplied")
        energy.plot(
            result.time, 1e6 * gained, color=COLOURS[6], linewidth=1, label="kinetic, since start"
        )
        energy.set(xlabel="time [s]", ylabel="energy [µJ]", ylim=(-0.5, 16.5))
        energy.set_title(f"Of {result.energy[0]:.0f} J, microjoules come and go")
        energy.legend(loc="upper center")
        plot_lock(locked, free, lock)
    return figure


def plot_lock(locked: tuple[Result, Array], free: tuple[Result, Array], ax: "Axes") -> None:
    """Plot the tilt of a run that reaches gimbal lock in angles, and goes on by the matrix."""
    run, R = free
    ax.axhline(90, color=COLOURS[6], linewidth=0.8)
    ax.plot(
        run.time,
        np.degrees(-np.arcsin(np.clip(R[:, 2, 0], -1, 1))),
        color=COLOURS[0],
        label="by the matrix",
    )
    ax.plot(
        locked[0].time,
        np.degrees(locked[1][:, 1]),
        color=COLOURS[1],
        linewidth=3,
        alpha=0.7,
        label="in angles",
    )
    ax.plot(locked[0].time[-1:], [90], "o", color=COLOURS[1])
    ax.annotate(
        f"gimbal lock at {locked[0].time[-1]:.2f} s",
        (locked[0].time[-1], 90),
        xytext=(0, 6),
        textcoords="offset points",
        ha="center",
    )
    ax.set(xlabel="time [s]", ylabel=r"tilt $\beta$ [deg]", ylim=(0, 105))
    ax.set_title("Angles end in gimbal lock; the matrix goes on")
    ax.legend()
