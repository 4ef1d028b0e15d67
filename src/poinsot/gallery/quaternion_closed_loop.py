r"""The closed loop of four bars in unit quaternions [KB24, sec. 5.5].

Energy is kept after the load, angular momentum is not: over a step, joints with multipliers
:math:`\lambda` change it by

.. math:: \Delta L = h \sum \lambda \times g(q_m),

as the joints are closed at the ends of a step and open in its middle. Lever arms of the mean
rotation (`eml-mean`, `emh-mean`) keep both.
"""

from typing import Any

import numpy as np

from poinsot.gallery.closed_loop import EXACT, Loop, model, plot_load, plot_motion
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.quaternion_free_body import along
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_constraints, plot_momentum
from poinsot.viz.axes import describe, draw_error, panels
from poinsot.viz.style import COLOURS, Figure, drawing

BARS = tuple(f"bar {k}" for k in range(4))
#: Centres of mass at the end [m], without those components that vanish by symmetry.
AT_END = {
    ("bar 0", "x"): 99.90673231,
    ("bar 1", "x"): 94.99999999,
    ("bar 1", "y"): 2.35355130,
    ("bar 1", "z"): -4.30544053,
    ("bar 2", "x"): 90.09326769,
}
#: Label, colour and line of each scheme that is compared.
LOOKS: dict[str, dict[str, Any]] = {
    "eml": {"label": "EML", "color": COLOURS[0]},
    "emh": {"label": "EMH", "color": COLOURS[1]},
    "mpl": {"label": "MPL", "color": COLOURS[2], "linestyle": "--"},
    "eml-mean": {"label": "eml-mean", "color": COLOURS[3]},
    "emh-mean": {"label": "emh-mean", "color": COLOURS[6], "linestyle": "--"},
}


def off_velocity(result: Result) -> Array:
    """Return the greatest |q·v| of the bars, |q·p| in Hamilton's form; shape (times,)."""
    return np.asarray(np.max([abs(along(result, bar)) for bar in BARS], axis=0))


def check(result: Result) -> list[Check]:
    """Compare with an independent code of EML, and the remedy with the law of momentum."""
    loop, code, figure = Loop(), "independent code of EML", "[KB24, fig. 16]"
    H, L = result.energy, result.angular_momentum[:, 0]
    after = slice(round(loop.duration / result.h), None)
    remedies = {
        scheme: simulate(model(EXACT), scheme=scheme, h=result.h, t_end=result.t_end)
        for scheme in ("eml-mean", "emh-mean")
    }
    return [
        Check("energy after the load [J]", H[-1], 2095.475892587, 1e-9, code),
        vanishing("change of energy after the load [J]", np.ptp(H[after]), 1e-10, figure),
        vanishing("largest |g| [SI units]", result.constraint_error, 1e-12),
        *(
            Check(f"{bar}: {axis} at the end [m]", ours, theirs, 1e-6, code)
            for (bar, axis), theirs in AT_END.items()
            for ours in [result.position(bar)[-1, "xyz".index(axis)]]
        ),
        Check("L_x at 1 s [kg m^2/s]", L[after][0], 299.8834461, 1e-7, code),
        Check("L_x at the end [kg m^2/s]", L[-1], 300.1806279, 1e-6, code),
        Check("largest |q·v| [1/s]", off_velocity(result).max(), 0.527847, 1e-5, code),
        *(
            vanishing(
                f"{scheme}, exact torque: error of L after the load",
                run.angular_momentum[after] - (loop.torque_factor * loop.impulse, 0, 0),
                1e-10,
                "integral of the torque",
            )
            for scheme, run in remedies.items()
        ),
        *(
            vanishing(
                f"{scheme}: change of energy after the load [J]", np.ptp(run.energy[after]), 1e-10
            )
            for scheme, run in remedies.items()
        ),
    ]


def plot(result: Result) -> "Figure":
    """Draw figures 14 to 16 of the paper, and angular momentum by all schemes."""
    runs = {
        scheme: simulate(model(EXACT), scheme=scheme, h=result.h, t_end=result.t_end)
        for scheme in LOOKS
    }
    after = int(np.searchsorted(result.time, Loop().duration - 1e-9))
    with drawing(10, 14) as figure:
        motion, force, energy, kept, momentum, shut, apart, drift, change = panels(
            figure, (1.6, 1, 1, 1, 1), wide=True
        )
        plot_motion(result, motion)
        plot_load(result, force)
        energy.plot(result.time, result.energy)
        describe(energy, "Energy, EML with the published torque", "energy (74) [J]")
        kept.plot(result.time[after:], result.energy[after:] - result.energy[after], ".")
        describe(kept, "Without load, energy is constant", "change since 1 s [J]")
        plot_momentum(result, momentum, title="Angular momentum, EML with the published torque")
        plot_constraints({name: runs[name] for name in ("eml", "emh-mean")}, shut)
        shut.set_title("The loop stays closed, quaternions stay unit ones")
        for scheme, run in runs.items():
            look, L = {"linewidth": 1.1, **LOOKS[scheme]}, run.angular_momentum[:, 0]
            draw_error(apart, run.time, off_velocity(run), **look)
            drift.plot(run.time, L, **look)
            draw_error(change, run.time[after:], (L - L[after])[after:], **look)
        apart.set(title="Hamilton's form keeps the velocity constraint", xlabel="time [s]")
        apart.set(ylabel=r"max $|q \cdot v|$, $|q \cdot p|$", ylim=(1e-16, 1e6))
        drift.ticklabel_format(useOffset=False)
        drift.set(title="$L_x$ must be 300 after 1 s (exact torque)", ylim=(299.9, 300.4))
        drift.set(xlabel="time [s]", ylabel="$L_x$ [kg m²/s]")
        drift.legend(ncols=2, loc="upper left")
        change.set(title="Mean lever arms keep it", xlabel="time [s]", ylim=(1e-14, 1e5))
        change.set_ylabel("$|L_x - L_x(1\\,$s$)|$ [kg m²/s]")
        for ax in (apart, change):
            ax.legend(ncols=3, loc="upper center")
    return figure


EXAMPLE = Example(
    title="Closed loop in quaternions",
    source="[KB24, sec. 5.5]",
    scheme="eml",
    h=0.1,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
)
