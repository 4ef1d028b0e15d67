"""A coin that rolls on a table without slipping [BHRS25, sec. 4].

A thin disc, thrown at a tilt, rolls along a flower of five petals. Two other motions have closed
forms: on a circle R the turn W of its centre and its tilt, with sine s and cosine c, satisfy

    W^2 c (J_t s + (J_a + m r^2) R / r) = m g r s,

and upright, rolling straight with the spin w, a small tilt wobbles with

    f^2 = 12/5 w^2 - 4/5 g / r        (it falls below w^2 = g / (3 r)).
"""

from dataclasses import dataclass

import numpy as np

from poinsot.bodies.shapes import Cylinder
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.extrapolation import extrapolate, neighbour_mean
from poinsot.model import Model
from poinsot.parts.rolling import RollingDisc
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.so3 import Rotation
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Figure, drawing


@dataclass(frozen=True)
class Coin:
    """A thin uniform disc and how it is thrown, SI units."""

    mass: float = 0.1
    radius: float = 0.1
    gravity: float = 9.81
    tilt: float = 0.3  # of the axis above the table
    spin: float = 5.0  # about the axis
    turn: float = 3.0  # about the vertical

    @property
    def inertia(self) -> tuple[float, float]:
        """Moments of inertia about the axis and across it, (J_a, J_t)."""
        return self.mass * self.radius**2 / 2, self.mass * self.radius**2 / 4

    def steady_turn(self, circle: float) -> float:
        """Return the turn W [rad/s] of steady rolling on a circle [m]."""
        (J_a, J_t), m, r = self.inertia, self.mass, self.radius
        s, c = np.sin(self.tilt), np.cos(self.tilt)
        inertia = J_t * s + (J_a + m * r**2) * circle / r
        return float(np.sqrt(m * self.gravity * r * s / (c * inertia)))

    def wobble(self) -> float:
        """Return the frequency f [rad/s] of a small tilt, rolling upright."""
        return float(np.sqrt(12 / 5 * self.spin**2 - 4 / 5 * self.gravity / self.radius))


def model(coin: Coin = Coin()) -> Model:
    """Build the coin, body `coin`, with its contact `rim`; its axis is along y at first."""
    table = Model(gravity=(0, 0, -coin.gravity), name="rolling-coin")
    turned = Rotation.from_axis_angle((1, 0, 0), coin.tilt - np.pi / 2)
    axis = turned.matrix[:, 2]
    body = table.add_body(
        "coin",
        Cylinder(mass=coin.mass, radius=coin.radius, length=0.0),
        position=(0, 0, coin.radius * np.cos(coin.tilt)),
        rotation=turned,
        angular_velocity=coin.spin * axis + (0, 0, coin.turn),
    )
    table.add_joint("rim", RollingDisc(table.ground, body, radius=coin.radius, axis=axis))
    return table


def trail(result: Result, radius: float) -> Array:
    """Return the points of the table that the coin has touched; shape (times, 3)."""
    axis, up = result.rotation("coin")[:, :, 2], np.array([0.0, 0.0, 1.0])
    down = axis[:, 2:] * axis - up
    return np.asarray(
        result.position("coin") + radius * down / np.linalg.norm(down, axis=1)[:, None]
    )


#: Centre and axis after one second by Newton's and Euler's equations with the contact force as an
#: unknown, integrated by DOP853 with a tolerance of 1e-13.
AFTER_ONE_SECOND = np.array(
    [
        *(0.0336890846286, -0.0532248754486, 0.0933451294164),
        *(0.8405971449437, 0.405866765693, 0.3587040680259),
    ]
)


def measured(result: Result) -> Array:
    """Return centre and axis at the end; shape (6,)."""
    return np.concatenate([result.position("coin")[-1], result.rotation("coin")[-1][:, 2]])


def check(result: Result) -> list[Check]:
    """Compare invariants, the limit of small steps, and two motions with closed forms."""
    runs = [simulate(model(), h=h, t_end=1.0) for h in (4e-3, 2e-3, 1e-3, 5e-4)]
    error = extrapolate([measured(run) for run in runs]) - AFTER_ONE_SECOND
    steady, upright = _steady_height(), _wobbles()
    newton = "Newton and Euler, h -> 0"
    return [
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-13),
        vanishing("gap to the table [m^2]", result.constraint_error, 1e-14),
        vanishing("error of the centre at 1 s [m]", error[:3], 1e-8, newton),
        vanishing("error of the axis at 1 s", error[3:], 1e-7, newton),
        vanishing("change of height on a circle [m]", steady, 1e-6, "steady rolling"),
        Check("wobble upright [rad/s]", upright, Coin(spin=10.0).wobble(), 1e-3, "linear theory"),
    ]


def _steady_height(circle: float = 0.4) -> float:
    """Return how much the height changes in steady rolling, which is not at all."""
    coin = Coin()
    turn = coin.steady_turn(circle)
    spin = -turn * (circle / coin.radius + np.sin(coin.tilt))
    thrown = Coin(spin=spin, turn=turn)
    run = simulate(model(thrown), h=1e-3, t_end=2 * np.pi / turn)
    return float(np.ptp(run.position("coin")[:, 2]))


def _wobbles() -> float:
    """Return the frequency [rad/s] of a very small tilt, from its upward passages."""
    run = simulate(model(Coin(tilt=1e-4, spin=10.0, turn=0.0)), h=2e-4, t_end=4.0)
    lean = run.rotation("coin")[:, 2, 2]
    lean = lean - lean.mean()
    k = np.flatnonzero((lean[:-1] < 0) & (lean[1:] >= 0))
    times = run.time[k] - lean[k] * run.h / (lean[k + 1] - lean[k])
    return float(2 * np.pi * (len(times) - 1) / (times[-1] - times[0]))


def plot(result: Result) -> "Figure":
    """Plot where the coin touched the table, its tilt, the contact force and the balance."""
    touched, reaction = trail(result, Coin().radius), result.reaction("rim")
    tilt = np.degrees(np.arcsin(result.rotation("coin")[:, 2, 2]))
    with drawing(9, 7) as figure:
        (path, lean), (force, energy) = figure.subplots(2, 2)
        path.plot(*touched[:, :2].T, label="touched", color=COLOURS[0])
        path.plot(*result.position("coin")[:, :2].T, label="centre", color=COLOURS[1], linewidth=1)
        describe(
            path,
            "The trail on the table",
            "y [m]",
            xlabel="x [m]",
            aspect="equal",
            ncols=2,
            room=0.15,
        )
        lean.plot(result.time, tilt)
        describe(lean, "The coin leans down and rises", "tilt of the axis [°]")
        # A single step alternates: show the mean of two neighbours.
        time, mean = neighbour_mean(reaction.time), neighbour_mean(reaction.force)
        force.plot(time, mean[:, 2], label="normal")
        force.plot(time, np.linalg.norm(mean[:, :2], axis=1), label="friction")
        describe(force, "What the table exerts", "contact force [N]", ncols=2, room=0.15)
        plot_balance(result, energy, title="Energy is constant")
    return figure


EXAMPLE = Example(
    title="Rolling coin",
    source="[BHRS25, sec. 4], our own case",
    scheme="ph-mp",
    h=0.002,
    t_end=6.0,
    model=model,
    check=check,
    plot=plot,
)
