r"""The heavy top in a unit quaternion about its tip [KB24, sec. 5.4].

The tip is held by the choice of coordinates: J is taken about it, and the weight is the potential

.. math:: V(q) = m g l\, e_3 \cdot R(q) e_3

[KB24, eq. (115)]. Four schemes are compared with the steady precession in closed form, by the error

.. math:: e = |\varphi_\mathrm{ref} - \varphi_\mathrm{num}| / |\varphi_\mathrm{ref}|, \qquad
          \varphi = l\, R e_3

at 0.1 s [KB24, eq. (121)].
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.extrapolation import plot_convergence
from poinsot.gallery.heavy_top import Top
from poinsot.model import Model
from poinsot.parts.fields import Field
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.so3 import Rotation
from poinsot.viz import plot_momentum
from poinsot.viz.axes import describe, draw_error, panels
from poinsot.viz.outlines import draw, frame
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: Steps [s] and schemes of the convergence, and the relative error of each. A check leaves out the
#: last step, which takes as long as all others.
STEPS = (1e-2, 5e-3, 1e-3, 5e-4)
ERRORS = {
    "eml": (0.13895, 0.034296, 1.3568e-3, 3.3908e-4),
    "mpl": (0.068036, 0.014666, 5.6442e-4, 1.4094e-4),
    "emh": (0.26309, 0.073002, 3.0118e-3, 7.5367e-4),
    "mph": (0.62962, 0.16777, 6.7450e-3, 1.6864e-3),
}


def model(top: Top = Top()) -> Model:  # noqa: B008 - a frozen value
    """Build the cone, body `top`, whose point of reference is the tip, with its `weight`."""
    J1, J3 = top.inertia
    weight = top.mass * top.gravity * top.arm
    tilt = Rotation.from_axis_angle((1, 0, 0), top.inclination)
    axis = tilt.matrix[:, 2]

    def potential(points: Array, directions: Array) -> float:
        return float(weight * directions[0, 2])

    def gradient(points: Array, directions: Array) -> tuple[Array, Array]:
        return np.zeros((0, 3)), np.array([[0.0, 0.0, weight]])

    mechanism = Model(name="quaternion-heavy-top")
    body = mechanism.add_body(
        "top",
        RigidBody(mass=top.mass, inertia=(J1, J1, J3)),
        velocity=(0, 0, 0),
        rotation=tilt,
        angular_velocity=top.spin * axis + (0, 0, top.precession),
    )
    mechanism.add_force("weight", Field(potential, directions=[(body, axis)], gradient=gradient))
    return mechanism


def centre(result: Result) -> Array:
    """Return the centre of mass l R e3 [m]; shape (times, 3)."""
    return np.asarray(Top().arm * result.rotation("top")[:, :, 2])


def errors(scheme: str, steps: Sequence[float] = STEPS, t: float = 0.1) -> Array:
    """Return the relative error of the centre of mass [KB24, eq. (121)]; shape (steps,)."""
    exact = Top().position(t)[0]
    ends = [centre(simulate(model(), scheme=scheme, h=h, t_end=t))[-1] for h in steps]
    return np.asarray(np.linalg.norm(np.array(ends) - exact, axis=1) / np.linalg.norm(exact))


def check(result: Result) -> list[Check]:
    """Compare invariants with closed forms, and all errors with an independent code."""
    top, momentum = Top(), result.angular_momentum[:, 2]
    code, steady = "independent code of the four schemes", "steady precession in closed form"
    found = {scheme: errors(scheme, STEPS[:-1]) for scheme in ERRORS}
    return [
        Check("omega_s [rad/s]", top.spin, 135.6, 1e-12, "[KB24, eq. (118)], J_1 with m l^2"),
        Check("energy at the start [J]", result.energy[0], 5.669055190633, 1e-12, steady),
        vanishing("change of energy [J]", np.ptp(result.energy), 1e-12, "[KB24, fig. 10]"),
        Check("L_3 at the start [kg m^2/s]", momentum[0], 0.0710657711, 6e-11, steady),
        vanishing("change of L_3 [kg m^2/s]", np.ptp(momentum), 1e-14, "[KB24, fig. 11]"),
        *(
            Check(
                f"{scheme.upper()}: error at 0.1 s, h = {h:g} s",
                ours,
                theirs,
                _last_digit(theirs),
                code,
            )
            for scheme, published in ERRORS.items()
            for h, ours, theirs in zip(STEPS[:-1], found[scheme], published[:-1], strict=True)
        ),
    ]


def _last_digit(value: float) -> float:
    """Return half of the last digit of a number with five, and a little for round-off."""
    return float(0.501 * 10 ** (np.floor(np.log10(value)) - 4))


def plot(result: Result) -> "Figure":
    """Draw figures 10 to 13 of the paper, and the convergence of two schemes of ours."""
    runs = {
        scheme: simulate(model(), scheme=scheme, h=result.h, t_end=result.t_end)
        for scheme in ERRORS
    }
    convergence = {scheme: errors(scheme) for scheme in (*ERRORS, "eml-mean", "emh-mean")}
    result = runs["eml"]
    with drawing(10, 13) as figure:
        top, order, energy, change, momentum, vertical, height, across = panels(
            figure, (1.3, 1, 1, 1)
        )
        _plot_top(Top(), result, top)
        order.set(title="Convergence to steady precession", ylim=(1e-6, 20))
        plot_convergence(np.array(STEPS), convergence, order, ylabel="relative error at 0.1 s")
        for scheme, run in runs.items():
            energy.plot(run.time, run.energy, label=scheme.upper())
            steps = np.diff(run.energy)
            draw_error(change, run.time[1:], steps, label=scheme.upper(), linewidth=0.9)
        describe(energy, "Energy (74) of the four schemes", "energy [J]", ylim=(4.5, 6.1))
        energy.legend(ncols=4, loc="upper center")
        change.set(xlabel="time [s]", ylabel="|change of energy in a step| [J]", ylim=(1e-17, 1e4))
        change.set_title("Midpoint rules do not keep it")
        change.legend(ncols=4, loc="upper center")
        plot_momentum(result, momentum)
        momentum.set_ylim(-0.055, 0.105)
        momentum.legend(ncols=3, loc="upper right")
        momentum.set_title("Angular momentum about the tip, EML")
        vertical.plot(result.time[1:], np.diff(result.angular_momentum[:, 2]), ".", markersize=3)
        describe(vertical, "The vertical one is kept", "change of $L_z$ in a step [kg m²/s]")
        for ax, k, title in ((height, 2, "Height"), (across, 0, "Horizontal component")):
            _plot_centre(runs, k, ax)
            ax.set_title(f"{title} of the centre of mass")
        height.set_ylim(0.0, 0.09)
        across.set_ylim(-0.075, 0.105)
    return figure


def _plot_centre(runs: Mapping[str, Result], k: int, ax: "Axes") -> None:
    for colour, scheme in ((COLOURS[0], "eml"), (COLOURS[2], "emh")):
        time, path = runs[scheme].time, centre(runs[scheme])
        ax.plot(time, path[:, k], color=colour, linewidth=1.1, label=scheme.upper())
    fine = np.linspace(0, runs["eml"].t_end, 500)
    exact = Top().position(fine)[:, k]
    ax.plot(fine, exact, "--", color=COLOURS[6], linewidth=1.0, label="exact")
    ax.set(xlabel="time [s]", ylabel=f"{'xyz'[k]} [m]")
    ax.legend(ncols=3, loc="upper right")


def _plot_top(top: Top, result: Result, ax: Any) -> None:
    """Draw the cone on its tip at the start, and the path of its centre of mass."""
    phi, path = np.linspace(0, 2 * np.pi, 61), centre(result)
    exact = top.position(np.linspace(0, result.t_end, 500))
    circle = np.column_stack([top.radius * np.cos(phi), top.radius * np.sin(phi)])
    rim = np.column_stack([circle, np.full(61, top.height)]) @ top.rotation(0.0)[0].T
    draw(ax, rim, color=COLOURS[0], linewidth=1.0)
    for k in range(0, 60, 5):
        draw(ax, np.array([rim[k], np.zeros(3)]), color=COLOURS[0], linewidth=0.6)
    ax.plot(*exact.T, color=COLOURS[6], linewidth=1.0, label="exact")
    ax.plot(*path.T, ".", color=COLOURS[1], markersize=3, label="EML")
    frame(ax, rim, path, np.zeros((1, 3)))
    ax.view_init(elev=20, azim=-25)
    ax.legend(loc="upper left")
    ax.set_title("The top at the start, the path of its centre of mass")


EXAMPLE = Example(
    title="Heavy top in quaternions",
    source="[KB24, sec. 5.4]",
    scheme="eml",
    h=0.01,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
)
