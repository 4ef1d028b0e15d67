r"""The closed loop of four bars in unit quaternions [KB24, sec. 5.5].

Energy is kept after the load, angular momentum is not: over a step, joints with multipliers
:math:`\lambda` change it by

.. math:: \Delta L = h \sum \lambda \times g(q_m),

as the joints are closed at the ends of a step and open in its middle. Lever arms of the mean
rotation (`eml-mean`, `emh-mean`) keep both.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.gallery import quaternion_closed_loop_figures as figures
from poinsot.gallery.closed_loop import EXACT, Loop, model
from poinsot.gallery.example import Check, Example
from poinsot.gallery.quaternion_states import along
from poinsot.result import Result
from poinsot.run import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

BARS = tuple(f"bar {k}" for k in range(4))
#: Centres of mass at the end [m], without those components that vanish by symmetry.
AT_END = {
    ("bar 0", "x"): 99.90673231,
    ("bar 1", "x"): 94.99999999,
    ("bar 1", "y"): 2.35355130,
    ("bar 1", "z"): -4.30544053,
    ("bar 2", "x"): 90.09326769,
}
COMPARED = ("eml", "emh", "mpl", "eml-mean", "emh-mean")


def off_velocity(result: Result) -> Array:
    """Return the greatest |q·v| of the bars, |q·p| in Hamilton's form; shape (times,)."""
    return np.asarray(np.max([abs(along(result, bar)) for bar in BARS], axis=0))


def check(result: Result) -> list[Check]:
    """Compare with an independent code of EML, and the remedy with the law of momentum."""
    loop, code = Loop(), "independent code of EML"
    H, L = result.energy, result.angular_momentum[:, 0]
    after = slice(round(loop.duration / result.h), None)
    remedies = {
        scheme: simulate(model(EXACT), scheme=scheme, h=result.h, t_end=result.t_end)
        for scheme in ("eml-mean", "emh-mean")
    }
    return [
        Check("energy after the load [J]", H[-1], 2095.475892587, 1e-9, code),
        Check(
            "change of energy after the load [J]", np.ptp(H[after]), 0.0, 1e-10, "[KB24, fig. 16]"
        ),
        Check("largest |g| [SI units]", result.constraint_error.max(), 0.0, 1e-12, "theory"),
        *(
            Check(f"{bar}: {axis} at the end [m]", ours, theirs, 1e-6, code)
            for (bar, axis), theirs in AT_END.items()
            for ours in [result.position(bar)[-1, "xyz".index(axis)]]
        ),
        Check("L_x at 1 s [kg m^2/s]", L[after][0], 299.8834461, 1e-7, code),
        Check("L_x at the end [kg m^2/s]", L[-1], 300.1806279, 1e-6, code),
        Check("greatest |q·v| [1/s]", off_velocity(result).max(), 0.527847, 1e-5, code),
        *(
            Check(
                f"{scheme}, exact torque: error of L after the load",
                abs(run.angular_momentum[after] - (loop.torque_factor * loop.impulse, 0, 0)).max(),
                0.0,
                1e-10,
                "integral of the torque",
            )
            for scheme, run in remedies.items()
        ),
        *(
            Check(
                f"{scheme}: change of energy after the load [J]",
                np.ptp(run.energy[after]),
                0.0,
                1e-10,
                "theory",
            )
            for scheme, run in remedies.items()
        ),
    ]


def plot(result: Result) -> "Figure":
    """Draw figures 14 to 16 of the paper, and angular momentum by all schemes."""
    loop = Loop()
    runs = {
        scheme: simulate(model(EXACT), scheme=scheme, h=result.h, t_end=result.t_end)
        for scheme in COMPARED
    }
    load = np.array([loop.f(t) for t in result.time])
    off = {scheme: off_velocity(run) for scheme, run in runs.items()}
    return figures.plot(result, runs, off, load, (loop.length, loop.width))


EXAMPLE = Example(
    name="quaternion-closed-loop",
    title="Closed loop in unit quaternions",
    source="[KB24, sec. 5.5]",
    scheme="eml",
    h=0.1,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
)
