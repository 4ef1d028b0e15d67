"""Four bars joined in a ring by ball joints, pushed and twisted for a second [LKB26, sec. 7.2].

The loop folds and unfolds while it flies away; after the load is gone energy and angular momentum
are constant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.bodies.shapes import Box
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Spherical
from poinsot.parts.loads import ForcePort, TorquePort
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_constraints, plot_drift, plot_momentum
from poinsot.viz.axes import describe, panels
from poinsot.viz.outlines import box_outline, draw, frame, place
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

SNAPSHOTS = (0.0, 1.5, 3.0, 4.5)  # s


@dataclass(frozen=True)
class Loop:
    """Parameters of the loop and its load, SI units.

    `published_torque` puts the torque in as [LKB26, eq. (32)] does; otherwise it is put in exactly.
    """

    length: float = 10.0  # m, of a bar between its joints
    width: float = 1.0  # m, of its square section
    density: float = 1.0  # kg/m^3
    load: float = 100.0  # N and N m, greatest value of f
    force_factor: float = 8.0
    torque_factor: float = 6.0
    duration: float = 1.0  # s
    published_torque: bool = True

    @property
    def mass(self) -> float:
        """Mass of a bar [kg]."""
        return self.density * self.width**2 * self.length

    def f(self, t: float) -> float:
        """Return the load at time t [s]: up, down, and nothing more [N, N m]."""
        half = self.duration / 2
        return self.load * max(0.0, 1 - abs(t - half) / half)

    @property
    def impulse(self) -> float:
        """Integral of f over time [N s, N m s]."""
        return self.load * self.duration / 2


def model(loop: Loop = Loop()) -> Model:
    """Build the loop: bodies `bar 0` to `bar 3`, ports `force` and `torque` on bar 0."""

    def along_x(factor: float, t: float) -> Array:
        return np.array([factor * loop.f(t), 0.0, 0.0])

    l, w, half = loop.length, loop.width, loop.length / 2
    upright, lying = Box(mass=loop.mass, size=(w, l, w)), Box(mass=loop.mass, size=(l, w, w))
    model = Model(name="closed-loop")
    bars = [
        model.add_body("bar 0", upright, position=(half, 0, 0)),
        model.add_body("bar 1", lying, position=(0, half, 0)),
        model.add_body("bar 2", upright, position=(-half, 0, 0)),
        model.add_body("bar 3", lying, position=(0, -half, 0)),
    ]
    corners = ((half, half, 0), (-half, half, 0), (-half, -half, 0), (half, -half, 0))
    for k, corner in enumerate(corners):
        following = (k + 1) % 4
        model.add_joint(f"ball {k}-{following}", Spherical(bars[k], bars[following], point=corner))
    model.add_port("force", ForcePort(bars[0], value=lambda t: along_x(loop.force_factor, t)))
    model.add_port(
        "torque",
        TorquePort(
            bars[0],
            value=lambda t: along_x(loop.torque_factor, t),
            published=loop.published_torque,
        ),
    )
    return model


#: The same loop with the torque put in exactly.
EXACT = Loop(published_torque=False)


def check(result: Result) -> list[Check]:
    """Compare with the paper's result data, an independent code, and the law of momentum."""
    loop = Loop()
    exact = simulate(model(EXACT), h=result.h, t_end=loop.duration)
    data, independent = "[LKB26], result data", "independent code of PH-MP"
    H, L, x = result.energy, result.angular_momentum, result.position("bar 0")[:, 0]

    def at(t: float) -> int:
        return int(np.argmin(abs(result.time - t)))

    after = slice(at(loop.duration), None)
    return [
        Check("energy at 0.5 s [J]", H[at(0.5)], 538.5818811, 2e-7, data),
        Check("energy at 0.8 s [J]", H[at(0.8)], 1781.772977, 2e-6, data),
        Check("L_x at 0.5 s [kg m^2/s]", L[at(0.5), 0], 149.9547371, 1e-7, data),
        Check("x of bar 0 at 0.5 s [m]", x[at(0.5)], 5.838652429, 1e-8, data),
        Check("x of bar 0 at 0.8 s [m]", x[at(0.8)], 7.969693174, 1e-8, data),
        Check("energy after the load [J]", H[-1], 2095.37689692, 1e-7, independent),
        Check("L_x after the load, eq. (32)", L[-1, 0], 299.7453593, 1e-7, independent),
        Check("x of bar 0 at the end [m]", x[-1], 99.90860439, 1e-7, independent),
        vanishing("change of energy after the load [J]", np.ptp(H[after]), 1e-9),
        Check(
            "L_x after the load, exact torque",
            exact.angular_momentum[-1, 0],
            loop.torque_factor * loop.impulse,
            1e-9,
            "integral of the torque",
        ),
    ]


def plot(result: Result) -> "Figure":
    """Draw figures 11 to 14 of the paper, and the momentum with the torque put in exactly.

    Over energy and momentum lie those of Livens' energy-momentum scheme in quaternions, dotted.
    """
    exact = simulate(model(EXACT), h=result.h, t_end=result.t_end)
    livens = simulate(model(EXACT), scheme="eml", h=result.h, t_end=result.t_end)
    with drawing(10, 11.5) as figure:
        motion, force, energy, momentum, lost, drift, constraints = panels(
            figure, (1.7, 1, 1, 1), wide=True
        )
        plot_motion(result, motion)
        plot_load(result, force)
        energy.plot(result.time, result.energy, label="stored")
        for name in ("force", "torque"):
            energy.plot(result.time, result.port(name).energy, "--", label=f"put in by the {name}")
        energy.plot(livens.time, livens.energy, ":", color="k", label="stored, Livens EML")
        describe(energy, "What is put in is stored", "energy [J]")
        plot_momentum(result, momentum, title="Angular momentum", xlim=(0, 2))
        for L in livens.angular_momentum.T:
            momentum.plot(livens.time, L, ":", color="k")
        for label, run in (("eq. (32) of the paper", result), ("exact torque", exact)):
            lost.plot(run.time, run.angular_momentum[:, 0], label=label)
        lost.set(xlim=(0.75, 2), ylim=(299, 300.2))
        describe(lost, "$L_x$ must end at 300", "$L_x$ [kg m²/s]")
        plot_drift(result, drift, start=Loop().duration, title="Without load nothing changes")
        plot_constraints({"PH-MP": result}, constraints, title="The loop stays closed")
    return figure


def plot_load(result: Result, ax: "Axes") -> None:
    """Plot f over the first two seconds."""
    ax.plot(result.time, [Loop().f(t) for t in result.time])
    describe(ax, "Force 8 f and torque 6 f on bar 0, along x", "f [N, N m]", xlim=(0, 2))


def plot_motion(result: Result, ax: Any) -> None:
    """Draw the loop at a few times."""
    length, width = Loop().length, Loop().width
    upright, lying = box_outline((width, length, width)), box_outline((length, width, width))
    shown = []
    for t in SNAPSHOTS:
        k = int(np.argmin(abs(result.time - t)))
        for n in range(4):
            outline = upright if n % 2 == 0 else lying
            points = place(outline, result.body(f"bar {n}"), k)
            draw(ax, points, color=COLOURS[n], linewidth=0.8)
            shown.append(points)
        centre = np.mean([result.position(f"bar {n}")[k] for n in range(4)], axis=0)
        ax.text(*np.add(centre, (0, 0, 9)), f"{result.time[k]:g} s", fontsize="small")
    frame(ax, *shown)
    ax.view_init(elev=25, azim=-75)
    ax.set_box_aspect(ax.get_box_aspect(), zoom=1.9)
    ax.set_title("The loop folds and unfolds while it flies along x")


EXAMPLE = Example(
    title="Closed loop of four bars",
    source="[LKB26, sec. 7.2]",
    scheme="ph-mp",
    h=0.1,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
)
