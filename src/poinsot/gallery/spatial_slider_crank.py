"""A crank drives a slider through a rod out of its plane [LKB26, sec. 7.3].

    ground =(revolute A)= crank =(spherical B)= rod =(universal C)= slider =(prismatic D)= ground

One degree of freedom, gravity, and no loss: the crank turns on and on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Prismatic, Revolute, Spherical, Universal
from poinsot.ph.matrices import dense
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import animate, picture, plot_constraints, plot_drift
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

SHOWN = 1.2  # s, of the animation, slowed down three times: two turns
LABELS = {"ph-mp": "PH-MP", "ph-mp-ggl": "PH-MP-GGL"}
#: Of Newton's method with means of multipliers: most iterations, and residual at which it ends.
ITERATIONS, TOLERANCE = 20, 1e-9


@dataclass(frozen=True)
class SliderCrank:
    """Parameters of the mechanism, SI units, world axes at the start.

    `rod_inertia` about the rod's own axis, about the rod-side axis of the universal joint, and
    about the axis perpendicular to both [kg m^2].
    """

    A: tuple[float, float, float] = (0.0, 0.1, 0.12)  # m, crank on the ground
    B: tuple[float, float, float] = (0.0, 0.1, 0.2)  # m, crank and rod
    C: tuple[float, float, float] = (0.2, 0.0, 0.0)  # m, rod and slider
    crank_mass: float = 0.12  # kg
    crank_inertia: float = 1e-4  # kg m^2, about its axis of rotation
    rod_mass: float = 0.5  # kg
    rod_inertia: tuple[float, float, float] = (4e-4, 4e-3, 4e-3)  # kg m^2
    slider_mass: float = 2.0  # kg
    slider_inertia: float = 1e-4  # kg m^2
    crank_speed: float = 6.0  # rad/s
    gravity: float = 9.81  # m/s^2

    @property
    def rod_axes(self) -> Array:
        """Axes of `rod_inertia` as columns: e from B to C, e x x, and e x (e x x)."""
        e = np.subtract(self.C, self.B) / np.linalg.norm(np.subtract(self.C, self.B))
        n = np.cross(e, (1.0, 0.0, 0.0))
        n = n / np.linalg.norm(n)
        return np.column_stack([e, n, np.cross(e, n)])


def model(mechanism: SliderCrank = SliderCrank()) -> Model:
    """Build the mechanism: bodies `crank`, `rod`, `slider`, joints `A` to `D`.

    Only the speed of the crank is given; the other velocities follow from the joints.
    """
    p, x = mechanism, (1.0, 0.0, 0.0)
    model = Model(gravity=(0.0, 0.0, -p.gravity), name="spatial-slider-crank")
    # A crank about a fixed axis feels no other moment of inertia; these belong to a thin bar.
    crank = model.add_body(
        "crank",
        RigidBody(
            mass=p.crank_mass, inertia=(p.crank_inertia, p.crank_inertia, 0.1 * p.crank_inertia)
        ),
        position=np.add(p.A, p.B) / 2,
        angular_velocity=(p.crank_speed, 0.0, 0.0),
    )
    rod = model.add_body(
        "rod",
        RigidBody(mass=p.rod_mass, inertia=p.rod_inertia),
        position=np.add(p.B, p.C) / 2,
        rotation=p.rod_axes,
    )
    slider = model.add_body(
        "slider", RigidBody(mass=p.slider_mass, inertia=3 * [p.slider_inertia]), position=p.C
    )
    model.add_joint("A", Revolute(model.ground, crank, point=p.A, axis=x))
    model.add_joint("B", Spherical(crank, rod, point=p.B))
    model.add_joint("C", Universal(slider, rod, point=p.C, axis_a=x, axis_b=p.rod_axes[:, 1]))
    model.add_joint("D", Prismatic(model.ground, slider, point=p.C, axis=x))
    for name, body, place in (("B on the crank", crank, p.B), ("C on the rod", rod, p.C)):
        model.add_marker(name, body, position=place)
    return model


def check(result: Result) -> list[Check]:
    """Compare with an independent code of PH-MP, and with theory."""
    independent, theory = "independent code of PH-MP", "[LKB26, eq. (52) and (58)]"
    x, v = result.position("slider")[:, 0], result.velocity("slider")[:, 0]
    at_times = {
        0.5: 0.184964975,
        1.0: 0.212738091,
        2.0: 0.288031054,
        3.0: 0.226214860,
        4.0: 0.186272638,
        5.0: 0.249905930,
    }
    ours = [x[int(np.argmin(abs(result.time - t)))] for t in at_times]
    names = [f"slider at {t:g} s [m]" for t in at_times]
    return [
        Check("energy [J]", result.energy[0], 0.76643568, 1e-14, "T + V at the start"),
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-13, theory),
        vanishing("largest |g|", result.constraint_error, 1e-13, theory),
        Check("slider speed at the start [m/s]", v[0], 0.24, 1e-14, "kinematics by hand"),
        Check("slider speed at 5 s [m/s]", v[-1], -0.610632993, 1e-8, independent),
        *compare(names, ours, list(at_times.values()), 1e-9, independent),
    ]


def averaged_multipliers(h: float, t_end: float = 5.0) -> tuple[Array, Array]:
    """Return times [s] and speeds of the slider [m/s] of PH-MP with means of multipliers.

    The paper's steps know multipliers at their ends, and take their mean for the midpoint; Newton's
    method begins with the last ones. They alternate in sign and grow, until it fails
    [LKB26, fig. 17c]; one multiplier for each step does not.
    """
    system = model().compile()
    x, speed = system.start, system.slices["slider.v"].start
    times, speeds, u = [0.0], [float(x[speed])], np.zeros(0)
    while times[-1] < t_end - h / 2:
        x0 = x
        for _ in range(ITERATIONS):
            mid = (x0 + x) / 2
            E, z = dense(system.E(mid)), system.z(mid)
            residual = E @ (x - x0) - h * system.flow(mid, z, u)
            if np.max(abs(residual)) < TOLERANCE:
                break
            tangent = dense(system.dflow_dz(mid, z)) @ dense(system.dz(mid))
            bent = system.dflow(mid, z, u)
            tangent = tangent if bent is None else tangent + dense(bent)
            x = x - np.linalg.solve(E - h / 2 * tangent, residual)
        else:
            break
        times.append(times[-1] + h)
        speeds.append(float(x[speed]))
    return np.array(times), np.array(speeds)


def plot(result: Result) -> "Figure":
    """Draw figures 15 to 17 of the paper: set-up, motion of the slider, and errors."""
    mp, ggl = LABELS
    shown = [(mp, 0.01), (ggl, 0.01), (mp, 0.001), (mp, 0.02), (ggl, 0.02)]
    runs = {
        (scheme, h): simulate(model(), scheme=scheme, h=h, t_end=result.t_end)
        for scheme, h in shown
    }
    with drawing(10, 12) as figure:
        setup = figure.add_subplot(4, 2, 1)
        picture(result, setup, names=True)
        setup.set_title("Set-up at the start")
        travel, speed, zoom, coarse, drift, positions, velocities = (
            figure.add_subplot(4, 2, k) for k in range(2, 9)
        )
        travel.plot(result.time, result.position("slider")[:, 0])
        travel.set(xlabel="time [s]", ylabel="$x_s$ [m]")
        travel.set_title(f"Slider, {LABELS.get(result.scheme, result.scheme)}, h = {result.h:g} s")
        _plot_speeds(runs, shown[:2], speed, title="Speed of the slider, h = 0.01 s")
        _plot_speeds(
            runs, shown[:3], zoom, title="The end of it: PH-MP oscillates", xlim=(4.2, 5.0)
        )
        _plot_speeds(runs, shown[3:], coarse, title="h = 0.02 s: both run to the end")
        times, speeds = averaged_multipliers(0.02, result.t_end)
        coarse.plot(times, speeds, color=COLOURS[2], label="means of multipliers")
        coarse.plot(times[-1], speeds[-1], "x", color=COLOURS[6], label="Newton fails")
        coarse.legend(loc="lower center", ncols=2, fontsize="x-small")
        plot_drift(result, drift, momentum=False, title="Energy is constant")
        chosen = {
            f"{LABELS[scheme]}, h = {h:g} s": run
            for (scheme, h), run in runs.items()
            if h in (0.01, 0.001)
        }
        plot_constraints(chosen, positions, "position", title="Positions fit the joints ...")
        positions.set_ylim(positions.get_ylim()[0] / 1e3)  # room for the legend
        positions.legend(loc="lower right", fontsize="x-small")
        plot_constraints(chosen, velocities, "velocity", title="... velocities only with GGL")
    return figure


def _plot_speeds(
    runs: Mapping[tuple[str, float], Result],
    shown: Sequence[tuple[str, float]],
    ax: "Axes",
    **settings: Any,
) -> None:
    for (scheme, h), line in zip(shown, ("-", "--", ":"), strict=False):
        run = runs[scheme, h]
        label = f"{LABELS[scheme]}, h = {h:g} s"
        ax.plot(run.time, run.velocity("slider")[:, 0], line, label=label)
    ax.set(xlabel="time [s]", ylabel="$v_s$ [m/s]", ylim=(-0.95, 0.55), **settings)
    ax.legend(loc="lower center", ncols=2, fontsize="x-small")


EXAMPLE = Example(
    title="Spatial slider-crank",
    source="[LKB26, sec. 7.3]",
    scheme="ph-mp",
    h=0.01,
    t_end=5.0,
    model=model,
    check=check,
    plot=plot,
    animate=partial(animate, end=SHOWN),
)
