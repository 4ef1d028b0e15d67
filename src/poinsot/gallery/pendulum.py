"""A pendulum: a point mass on a massless rod, released from the horizontal (IFToMM A01).

With the angle theta from below, omega = sqrt(g/L) and the modulus k = sin(pi/4),

    sin(theta/2) = -k sn(K + omega t | k^2),    tension of the rod = 3 m g cos(theta).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ellipj, ellipk

from poinsot.bodies.shapes import PointMass
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, neighbour_mean
from poinsot.model import Model
from poinsot.parts.joints import Rod
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_balance
from poinsot.viz.style import COLOURS, Figure, drawing

#: k^2 of a release from the horizontal.
PARAMETER = 0.5
LIBRARY = "IFToMM A01 [GGLC10]"


@dataclass(frozen=True)
class Pendulum:
    """Mass [kg], length [m] and gravity [m/s^2] of the benchmark."""

    mass: float = 1.0
    length: float = 1.0
    gravity: float = 9.81

    @property
    def rate(self) -> float:
        """Rate of small oscillations sqrt(g/L) [rad/s]."""
        return float(np.sqrt(self.gravity / self.length))

    @property
    def period(self) -> float:
        """Time to and fro, 4 K/omega [s]."""
        return float(4 * ellipk(PARAMETER) / self.rate)

    def position(self, time: ArrayLike) -> Array:
        """Return x and y of the mass in closed form [m]; shape (times, 2)."""
        sn, _, dn, _ = self._jacobi(time)
        half_sine, half_cosine = -np.sqrt(PARAMETER) * sn, dn
        return self.length * np.column_stack([2 * half_sine * half_cosine, 2 * half_sine**2 - 1])

    def velocity(self, time: ArrayLike) -> Array:
        """Return the velocity of the mass in closed form [m/s]; shape (times, 2)."""
        _, cn, _, _ = self._jacobi(time)
        swing = -2 * np.sqrt(PARAMETER) * self.rate * cn
        x, y = self.position(time).T
        return np.column_stack([-y * swing, x * swing])

    def tension(self, time: ArrayLike) -> Array:
        """Return the tension of the rod in closed form [N]; shape (times,)."""
        return -3 * self.mass * self.gravity * self.position(time)[:, 1] / self.length

    def _jacobi(self, time: ArrayLike) -> Array:
        """Return sn, cn, dn and am; shape (4, times)."""
        u = ellipk(PARAMETER) + self.rate * np.atleast_1d(np.asarray(time, dtype=float))
        return np.asarray(ellipj(u, PARAMETER), dtype=float)


def model(pendulum: Pendulum = Pendulum()) -> Model:
    """Build the mass, body `bob`, and its `rod` to the origin; the motion is in the plane x, y."""
    mechanism = Model(gravity=(0, -pendulum.gravity, 0), name="pendulum")
    start = (-pendulum.length, 0, 0)
    bob = mechanism.add_body("bob", PointMass(mass=pendulum.mass), position=start)
    mechanism.add_joint("rod", Rod(mechanism.ground, bob, point_a=(0, 0, 0), point_b=start))
    return mechanism


def tension(result: Result) -> tuple[Array, Array]:
    """Return times [s] and tension of the rod [N] there, from its reaction."""
    reaction, place = result.reaction("rod"), result.position("bob")
    force = neighbour_mean(reaction.force)
    pull = -np.einsum("ti,ti->t", force, place[1:-1]) / np.linalg.norm(place[0])
    return neighbour_mean(reaction.time), pull


def check(result: Result) -> list[Check]:
    """Compare with elliptic functions."""
    exact, finer = Pendulum(), simulate(model(), h=result.h / 2, t_end=result.t_end)
    ours = extrapolate([run.position("bob")[-1, :2] for run in (result, finer)])
    theirs, names = exact.position(result.t_end)[0], [f"{axis} at the end [m]" for axis in "xy"]
    return [
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-12),
        *compare(names, ours, theirs, 1e-5, "elliptic functions, h -> 0"),
    ]


def plot(result: Result) -> "Figure":
    """Plot position and tension, with the closed form, and the energy error."""
    exact, (time, pull) = Pendulum(), tension(result)
    fine = np.linspace(0, result.time[-1], 2000)
    with drawing(7, 8) as figure:
        motion, force, balance = figure.subplots(3, 1, sharex=True)
        for k, axis in enumerate("xy"):
            motion.plot(fine, exact.position(fine)[:, k], color=COLOURS[k], linewidth=0.8)
            every = slice(None, None, 5)
            motion.plot(
                result.time[every],
                result.position("bob")[every, k],
                ".",
                color=COLOURS[k],
                label=axis,
            )
        motion.set(ylabel="position [m]", ylim=(-1.1, 1.5))
        motion.set_title(f"Elliptic functions (lines) and steps of {result.h:g} s (dots)")
        motion.legend(ncols=2)
        force.plot(fine, exact.tension(fine), color=COLOURS[2], linewidth=0.8)
        force.plot(time[::5], pull[::5], ".", color=COLOURS[2])
        force.set(ylabel="tension of the rod [N]")
        force.set_title("The rod pulls three times as hard as the weight at the bottom")
        plot_balance(result, balance, title="Energy is constant", ylim=(1e-18, 1e-13))
    return figure


EXAMPLE = Example(
    title="Pendulum",
    source=LIBRARY,
    scheme="ph-mp",
    h=0.01,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
)
