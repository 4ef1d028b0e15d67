r"""The free body in unit quaternions, by Livens' principle [KB24, sec. 5.3].

EML keeps the generalised energy and the angular momentum, not the total energy of the rates:

.. math:: E = p \cdot v - \tfrac12 v \cdot M(q) v, \qquad
          E_\mathrm{tot} = \tfrac12 v \cdot M(q) v = \tfrac12 \Omega \cdot J \Omega

[KB24, eq. (74) and (80)]. Nor does it keep q·v = 0, which Hamilton's form does.
"""

from typing import Any

import numpy as np

from poinsot.gallery.example import Check, Example, as_far_as_it_goes, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, order, plot_convergence
from poinsot.gallery.free_body import MOMENTA, Tumbling, body_rates, model, plot_rates
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.schemes.records import SCHEMES
from poinsot.viz import plot_momentum
from poinsot.viz.axes import describe, draw_error, panels
from poinsot.viz.outlines import box_outline, draw
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: Quaternion at 2 s of runs with h = 0.05 s, scalar first.
AT_END = {
    "eml": (0.8893103274, 0.3448648773, 0.0097788031, -0.3001661757),
    "emh": (-0.3445115004, -0.3905135198, -0.8531376773, 0.0310985619),
}
#: Schemes that differ in the size of their equations alone, and steps [s] that their effort is of.
REDUCED, EFFORTS = ("eml", "reml", "null-eml"), (0.01, 0.005, 0.002)
#: Steps [s] and time [s] at which runs are compared with the elliptic functions.
STEPS, COMPARED = (2.5e-3, 1.25e-3, 6.25e-4), 0.25

SNAPSHOTS = (0.0, 0.25, 0.75, 1.25, 1.75, 2.0)  # s, those of [KB24, fig. 5]
#: Edges [m] of the box of 1 kg that has the moments of inertia (6, 8, 3) kg m^2.
BOX = (30**0.5, 6**0.5, 66**0.5)


def total_energy(result: Result) -> Array:
    """Return the energy of the rates [J] [KB24, eq. (80)]; shape (times,)."""
    return np.asarray(body_rates(result) ** 2 @ Tumbling().inertia / 2)


def quaternion(result: Result, body: str) -> Array:
    """Return the unit quaternion of a body's principal axes, scalar first; shape (times, 4)."""
    return result[f"{body}.q"][:, 3:]


def along(result: Result, body: str) -> Array:
    """Return quat·v of a run in Livens' form, quat·p of one in Hamilton's form; shape (times,).

    Both vanish in the exact motion, as |quat| = 1.
    """
    of = f"{body}.v" if f"{body}.v" in result.states else f"{body}.p"
    return np.asarray(np.sum(quaternion(result, body) * result[of][:, 3:], axis=1))


def errors(runs: list[Result]) -> tuple[Array, Array]:
    """Return the errors of Omega [rad/s] and of R at the end of runs; shape (runs,) each."""
    tumbling, t = Tumbling(), runs[0].time[-1]
    rates = [np.linalg.norm(body_rates(run)[-1] - tumbling.body_rates(t)[0]) for run in runs]
    turns = [np.linalg.norm(run.rotation("body")[-1] - tumbling.rotation(t)[0]) for run in runs]
    return np.array(rates), np.array(turns)


def check(result: Result) -> list[Check]:
    """Compare with an independent code of the schemes, and with elliptic functions."""
    tumbling, momentum = Tumbling(), result.angular_momentum[-1]
    runs = [simulate(model(), scheme=result.scheme, h=h, t_end=COMPARED) for h in STEPS]
    off_rates, off_turns = errors(runs)
    limit = extrapolate([run.rotation("body")[-1] for run in runs])
    apart = limit - tumbling.rotation(COMPARED)[0]
    emh = simulate(model(), scheme="emh", h=result.h, t_end=result.t_end)
    code, elliptic = "independent code of EML and EMH", "elliptic functions"
    total = total_energy(result)

    def components(scheme: str) -> list[str]:
        return [f"{scheme}: q_{i} at 2 s" for i in range(4)]

    return [
        Check("energy (74) at the start [J]", result.energy[0], 2500.0, 1e-9, "[KB24, fig. 6]"),
        vanishing("change of energy (74) [J]", np.ptp(result.energy), 1e-10, "[KB24, eq. (96)]"),
        Check("energy (80) at the end [J]", total[-1], 2258.919944144, 1e-8, code),
        Check("largest energy (80) [J]", total.max(), 2812.110044173, 1e-8, code),
        *compare(MOMENTA, momentum, tumbling.momentum, 1e-11, "[KB24, eq. (100)]"),
        vanishing("largest |g|", result.constraint_error, 1e-14, "[KB24, fig. 7]"),
        *compare(components("EML"), quaternion(result, "body")[-1], AT_END["eml"], 6e-11, code),
        *compare(components("EMH"), quaternion(emh, "body")[-1], AT_END["emh"], 6e-11, code),
        Check("EML: largest |q·v| [1/s]", abs(along(result, "body")).max(), 5.063575, 1e-6, code),
        vanishing("EMH: largest |q·p| [kg m^2/s]", along(emh, "body"), 1e-11),
        Check("order of Omega", order(off_rates, 0.0), 2.0, 0.1, elliptic),
        Check("order of the rotation", order(off_turns, 0.0), 2.0, 0.1, elliptic),
        vanishing("error of the rotation at 0.25 s", apart, 1e-8, f"{elliptic}, h -> 0"),
    ]


def plot(result: Result) -> "Figure":
    """Draw figures 5 to 9 of the paper, convergence, and q·v in a longer run."""
    steps, convergence = (1e-2, 5e-3, *STEPS), {}
    for scheme in ("eml", "emh", "eml-mean", "emh-mean"):
        runs = [simulate(model(), scheme=scheme, h=h, t_end=COMPARED) for h in steps]
        convergence[scheme] = errors(runs)[1]
    with drawing(10, 17) as figure:
        (
            motion,
            energy,
            energy_steps,
            momentum,
            momentum_steps,
            unit,
            spin,
            off,
            order,
            effort,
            size,
        ) = panels(figure, (1.05, 1, 1, 1, 1, 1), wide=True)
        _plot_motion(result, motion)
        energy.plot(result.time, result.energy, label="generalised energy (74)")
        total = total_energy(result)
        energy.plot(result.time, total, ".-", linewidth=0.8, label="total energy (80)")
        describe(energy, "The generalised energy is kept", "energy [J]", ylim=(2150, 3050), ncols=2)
        _plot_increments(result.time, result.energy, "J", energy_steps)
        plot_momentum(result, momentum, title="Angular momentum ($L_x = L_z$)")
        _plot_increments(result.time, result.angular_momentum, "kg m²/s", momentum_steps)
        unit.plot(result.time, result.constraint_error, ".", color=COLOURS[0])
        describe(unit, "Quaternions stay unit ones", r"$|q \cdot q - 1|\,/\,2$")
        plot_rates(result, spin, "rates in body axes [rad/s]", ylim=(-34, 48), loc="upper left")
        _plot_along(result.h, off)
        plot_convergence(np.array(steps), convergence, order, ylabel="error of R at 0.25 s")
        order.set_title("Order two against elliptic functions")
        _plot_effort(effort, size)
    return figure


def _plot_motion(result: Result, ax: Any) -> None:
    """Draw the box with the body's inertia, side by side."""
    outline, distance = box_outline(BOX), 13.0
    for n, t in enumerate(SNAPSHOTS):
        k = int(np.argmin(abs(result.time - t)))
        place, R = np.array([distance * n, 0, 0]), result.rotation("body")[k]
        draw(ax, place + outline @ R.T, color=COLOURS[0], linewidth=0.9)
        for axis in range(3):
            tip = place + R[:, axis] * BOX[axis] / 2
            draw(ax, np.array([place, tip]), color=COLOURS[axis + 1], linewidth=1.4)
        ax.text(distance * n, 0, -7.5, f"{t:g} s", ha="center", fontsize="small")
    ax.set(xlim=(-5, 5 * distance + 5), ylim=(-5, 5), zlim=(-6, 6), aspect="equal")
    ax.set_axis_off()
    ax.set_proj_type("ortho")
    ax.view_init(elev=15, azim=-87)
    ax.set_box_aspect(ax.get_box_aspect(), zoom=3.9)
    ax.set_title("The body, as a box with its moments of inertia, and its principal axes")


def _plot_increments(time: Array, values: Array, unit: str, ax: "Axes") -> None:
    changes = np.diff(values.reshape(time.size, -1), axis=0)
    what = "angular momentum" if changes.shape[1] > 1 else "energy (74)"
    for k, change in enumerate(changes.T):
        label = f"$L_{'xyz'[k]}$" if changes.shape[1] > 1 else None
        ax.plot(time[1:], change, ".", color=COLOURS[k], markersize=4, label=label)
    title, room = f"Change of {what} in every step", 0.15 if changes.shape[1] > 1 else 0.0
    describe(ax, title, f"change in a step [{unit}]", ncols=3, room=room)


def _plot_along(h: float, ax: "Axes") -> None:
    """Plot what of v or p lies along the quaternion in runs with a step h [s]."""
    labels = {"eml": r"EML: $|q \cdot v|$ [1/s]", "emh": r"EMH: $|q \cdot p|$ [kg m²/s]"}
    runs = {scheme: as_far_as_it_goes(model(), scheme=scheme, h=h, t_end=10.0) for scheme in labels}
    for scheme, run in runs.items():
        look = {"label": labels[scheme], "linestyle": "", "marker": ".", "markersize": 3}
        draw_error(ax, run.time, along(run, "body"), **look)
    end = runs["eml"].time[-1], abs(along(runs["eml"], "body")[-1])
    ax.plot(*end, "x", color=COLOURS[6])
    ax.annotate(
        "no solution\nafter this step",
        end,
        xytext=(-8, -42),
        textcoords="offset points",
        ha="center",
        fontsize="small",
    )
    ax.set(xlabel="time [s]", ylabel="component along q", ylim=(1e-15, 1e3))
    ax.set_title("EML leaves the velocity constraint, EMH does not")
    ax.legend(loc="center left")


def effort(scheme: str, h: float, t_end: float = 10.0) -> float:
    """Return the time that a run takes in the compiled engine, the shortest of five [s]."""
    free, rows = model(), round(t_end / h)
    options: dict[str, Any] = {"scheme": scheme, "h": h, "engine": "compiled"}
    runs = [simulate(free, t_end=t_end, save_every=rows, **options) for _ in range(5)]
    return min(run.stats.wall_time for run in runs)


def unknowns(scheme: str) -> int:
    """Return how many unknowns Newton's method has in a step."""
    system = model().compile_for(SCHEMES[scheme])
    stages = system.stage_equations(SCHEMES[scheme], 0.0, system.start, np.zeros(0), 0.01)
    assert stages is not None
    return int(stages.guess.size)


def _plot_effort(time: "Axes", size: "Axes") -> None:
    """Plot what runs cost with and without size reduction [KB24, fig. 9]."""
    for scheme in REDUCED:
        costs = [1e3 * effort(scheme, h) for h in EFFORTS]
        time.loglog(EFFORTS, costs, "o-", markersize=4, label=scheme.upper())
    time.set(xlabel="h [s]", ylabel="time of a run of 10 s [ms]")
    time.set_title("Fewer unknowns take less time")
    time.legend()
    size.bar([scheme.upper() for scheme in REDUCED], [unknowns(scheme) for scheme in REDUCED])
    size.set(ylabel="unknowns of a step, as published")
    size.set_title("Size reduction: what is left to solve")


EXAMPLE = Example(
    title="Free body in quaternions",
    source="[KB24, sec. 5.3]",
    scheme="eml",
    h=0.05,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
)
