"""A shaft and a ring fly freely, joined by a cylindrical joint [LKB26, sec. 7.1].

No force acts from outside: energy, momentum and angular momentum are constant, while the ring
runs along the spinning axis of the shaft at high speed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.bodies.shapes import Cylinder, HollowCylinder
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Cylindrical
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_constraints, plot_drift, plot_momentum
from poinsot.viz.axes import describe, panels
from poinsot.viz.outlines import cylinder_outline, draw, frame, place
from poinsot.viz.style import COLOURS, Axes, Figure, drawing


@dataclass(frozen=True)
class Pair:
    """Parameters of the pair, SI units, world axes.

    The velocities are those that the paper prints; `spin_sign` multiplies all angular ones. The
    published results belong to -1, the text of the paper to +1.
    """

    shaft_mass: float = 4.0  # kg
    shaft_length: float = 30.0  # m
    shaft_radius: float = 2.0  # m
    ring_mass: float = 3.0  # kg
    ring_length: float = 6.0  # m
    ring_outer_radius: float = 3.0  # m
    ring_inner_radius: float = 2.0  # m
    ring_place: float = -11.0  # m, along the shaft; not in the paper's text
    velocity: tuple[float, float, float] = (0.0, 50.0, 0.0)  # m/s, of the shaft
    angular_velocity: tuple[float, float, float] = (1.0, 1.5, 0.0)  # rad/s, of the shaft
    sliding: float = 35.5  # m/s, of the ring along the shaft
    spinning: float = -100.0  # rad/s, of the ring relative to the shaft
    spin_sign: float = -1.0


#: The signs of the angular velocities as the paper prints them.
AS_PRINTED = Pair(spin_sign=1.0)


def model(pair: Pair = Pair()) -> Model:
    """Build the pair: bodies `shaft` and `ring`, joint `bush` with `angle` and `displacement`."""
    axis = np.array([0.0, 0.0, 1.0])
    place, velocity = pair.ring_place * axis, np.array(pair.velocity)
    omega = pair.spin_sign * np.array(pair.angular_velocity)
    model = Model(name="flying-cylindrical-pair")
    shaft = model.add_body(
        "shaft",
        Cylinder(mass=pair.shaft_mass, radius=pair.shaft_radius, length=pair.shaft_length),
        velocity=velocity,
        angular_velocity=omega,
    )
    ring = model.add_body(
        "ring",
        HollowCylinder(
            mass=pair.ring_mass,
            inner_radius=pair.ring_inner_radius,
            outer_radius=pair.ring_outer_radius,
            length=pair.ring_length,
        ),
        position=place,
        velocity=velocity + np.cross(omega, place) + pair.sliding * axis,
        angular_velocity=omega + pair.spin_sign * pair.spinning * axis,
    )
    model.add_joint("bush", Cylindrical(shaft, ring, point=(0, 0, 0), axis=axis))
    return model


def rms_errors(
    steps: Sequence[float], *, scheme: str = "ph-mp", t: float = 0.02, fine: float = 1e-5
) -> dict[str, Array]:
    """Return the root-mean-square errors of q, v, lambda, H and L at time t [s] for each step [s].

    Against a run with the step `fine`, as [LKB26, eq. (63)].
    """

    def final(h: float) -> dict[str, Array]:
        result = simulate(model(), scheme=scheme, h=h, t_end=t)
        last = {name: state.values[-1] for name, state in result.states.items()}
        return {
            "q": np.concatenate([last["shaft.q"], last["ring.q"]]),
            "v": np.concatenate([last["shaft.v"], last["ring.v"]]),
            "lambda": np.concatenate(
                [last[k] for k in ("shaft.rigidity", "ring.rigidity", "bush")]
            ),
            "H": result.energy[-1:],
            "L": result.angular_momentum[-1],
        }

    exact, ours = final(fine), [final(h) for h in steps]
    return {
        name: np.array([np.sqrt(np.mean((run[name] - exact[name]) ** 2)) for run in ours])
        for name in exact
    }


def check(result: Result) -> list[Check]:
    """Compare with the paper's invariants, its printed reading and an independent PH-MP code."""
    printed = simulate(model(AS_PRINTED), h=1e-3, t_end=1e-3)
    published = "[LKB26, fig. 7 and 8]"
    by_hand = "sum of m v^2/2 and J w^2/2"
    independent = "independent code of PH-MP"
    theory = "[LKB26, eq. (52), (58) and (72)]"
    H, L = result.energy, result.angular_momentum
    momenta = [f"L_{axis} [kg m^2/s]" for axis in "xyz"]
    at_end = {
        "shaft": (5.098580503, 34.443640854, 3.259360036),
        "ring": (4.751892662, 28.041812195, 9.504186619),
    }
    places = [f"{body}: {axis} at the end [m]" for body in at_end for axis in "xyz"]
    ends = [result.position(body)[-1] for body in at_end]
    return [
        Check("energy [J]", H[-1], 107604.71875, 1e-8, published),
        Check("energy of the printed signs [J]", printed.energy[0], 110904.71875, 1e-8, by_hand),
        vanishing("change of energy [J]", np.ptp(H), 1e-8, theory),
        vanishing("change of angular momentum [kg m^2/s]", np.ptp(L, 0), 1e-9, theory),
        vanishing("largest |g|", result.constraint_error, 1e-12, theory),
        *compare(momenta, L[-1], (964.25, -1028.625, 1950.0), 1e-9, published),
        *compare(places, ends, list(at_end.values()), 1e-8, independent),
    ]


def plot(result: Result) -> "Figure":
    """Draw figures 6 to 10 of the paper: motion, invariants, constraints, convergence."""
    stabilised = simulate(model(), scheme="ph-mp-ggl", h=result.h, t_end=result.t_end)
    runs = {"PH-MP": result, "PH-MP-GGL": stabilised}
    with drawing(10, 14) as figure:
        motion, energy, momentum, drift, converge, kept, position, velocity = panels(
            figure, (1, 1, 1, 1)
        )
        _plot_motion(result, Pair(), motion)
        energy.plot(result.time, result.energy)
        describe(energy, "The Hamiltonian is constant", "H [J]", ylim=(0, 1.2 * result.energy[0]))
        plot_momentum(result, momentum, title="Angular momentum is constant")
        plot_drift(result, drift, title="What is left of both is round-off")
        _plot_convergence(converge, kept)
        plot_constraints(runs, position, "position", title="Both keep the joint closed ...")
        plot_constraints(runs, velocity, "velocity", title="... only GGL keeps its velocity, too")
    return figure


def _plot_motion(result: Result, pair: Pair, ax: Any) -> None:
    shaft = cylinder_outline(pair.shaft_radius, pair.shaft_length)
    ring = cylinder_outline(pair.ring_outer_radius, pair.ring_length)
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


def _plot_convergence(states: "Axes", kept: "Axes") -> None:
    steps, names = (1e-2, 1e-3, 1e-4), {"q": "q", "v": "v", "lambda": "λ"}
    errors = {scheme: rms_errors(steps, scheme=scheme) for scheme in ("ph-mp", "ph-mp-ggl")}
    for (name, label), marker, colour in zip(names.items(), "os^", COLOURS, strict=False):
        plain, stabilised = (errors[scheme][name] for scheme in errors)
        states.loglog(steps, plain, marker=marker, color=colour, label=f"error of {label}")
        states.loglog(steps, stabilised, "--", color=colour, label=f"{label}, PH-MP-GGL")
    h = np.array([min(steps), max(steps)])
    for order, name in ((2, "q"), (1, "lambda")):
        line = 0.3 * errors["ph-mp"][name][0] * (h / h[1]) ** order
        states.loglog(h, line, ":", color="grey", label=f"slope {order}")
    states.set(xlabel="step h [s]", ylabel="RMS error at t = 0.02 s")
    states.set_title("Second order in q and v, first in λ")
    low, high = states.get_ylim()
    states.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend
    states.legend(ncols=2, fontsize="x-small", loc="upper left")
    round_off = np.finfo(float).eps
    for scheme, line in (("ph-mp", "-"), ("ph-mp-ggl", "--")):
        for name, size, colour in (("H", 107604.72, COLOURS[0]), ("L", 2407.0, COLOURS[1])):
            relative = np.maximum(errors[scheme][name] / size, round_off)
            label = f"{name}, {scheme.upper()}"
            kept.loglog(steps, relative, line, marker=".", color=colour, label=label)
    kept.set(xlabel="step h [s]", ylabel="relative error at t = 0.02 s", ylim=(1e-17, 1e-10))
    kept.set_title("H and L have no error but round-off")
    kept.legend(ncols=2)


EXAMPLE = Example(
    title="Flying cylindrical pair",
    source="[LKB26, sec. 7.1]",
    scheme="ph-mp",
    h=0.001,
    t_end=0.7,
    model=model,
    check=check,
    plot=plot,
)
