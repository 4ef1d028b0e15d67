"""Two masses on springs in redundant coordinates, with a singular mass matrix [KB24, sec. 5.1].

Two modules, each with the elongation of its spring (x1, x2), and a coordinate q2 where the second
is fixed to the first. M is singular for all configurations: there is no Hamiltonian.
"""

from dataclasses import dataclass

import numpy as np

from poinsot.gallery.appearance import with_bodies
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, order
from poinsot.result import Array, Piece, Point, Result, Strut
from poinsot.run import simulate
from poinsot.systems.livens import LagrangianSystem
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: Where it starts; the velocities satisfy the constraint.
START = {"q": (0.0, 1.1, 0.0), "v": (1.0, 1.0, -1.0)}
#: q of the published run at its end, 10 s [m].
AT_END = (0.8698906609, 1.9698906609, 0.3042679834)
#: Time [s] -> x1, x2 [m] and their rates [m/s] without error of integration, 15 digits.
EXACT = {
    1.0: (0.669378507029758, -0.216692348356660, 0.134849788518730, 0.945574999616230),
    2.0: (0.653291556463027, 0.557978352688358, 0.208969584063921, -0.489873424313435),
    5.0: (-0.609012487690392, -0.0561004400328811, -0.119068967246845, -1.08663143474414),
    10.0: (0.887797398914354, 0.265961504885453, 0.147162802270878, -0.712892881186454),
}


@dataclass(frozen=True)
class Springs:
    """Parameters of [KB24, table 2], SI units.

    The results of [KB24] belong to V = k/2 (x^2 + x^4); its eq. (109) prints k/4, which is
    `halved`.
    """

    masses: tuple[float, float] = (2.0, 1.0)
    stiffnesses: tuple[float, float] = (1.0, 3.0)
    rest_length: float = 1.0  # l10
    width: float = 0.1  # w
    halved: bool = False


def model(springs: Springs = Springs()) -> LagrangianSystem:
    """Build the system in q = (x1, q2, x2)."""
    import sympy

    x1, q2, x2 = sympy.symbols("x1 q2 x2")
    (m1, m2), (k1, k2) = springs.masses, springs.stiffnesses
    factor = sympy.Rational(1, 4 if springs.halved else 2)
    return LagrangianSystem.symbolic(
        "mass-spring",
        q=[x1, q2, x2],
        M=[[m1, 0, 0], [0, m2, m2], [0, m2, m2]],
        V=[factor * k * (x**2 + x**4) for k, x in ((k1, x1), (k2, x2))],
        g=[((q2 - x1) ** 2 - (springs.rest_length + springs.width) ** 2) / 2],
        units={"q": "m", "v": "m/s", "p": "kg m/s"},
    )


def motion(result: Result) -> Array:
    """Return x1, x2 and their rates; shape (times, 4)."""
    return np.hstack([result["q"][:, [0, 2]], result["v"][:, [0, 2]]])


def check(result: Result) -> list[Check]:
    """Compare with the published run, and the limit of small steps with the exact motion."""
    steps = result.h / 2, result.h / 4, result.h / 8
    runs = [simulate(model(), scheme=result.scheme, h=h, t_end=10.0, x0=START) for h in steps]
    ends = [motion(run)[-1] for run in runs]
    names = [f"{name} at 10 s [m]" for name in ("x1", "q2", "x2")]
    limits = [f"{x} at 10 s, h -> 0" for x in ("x1 [m]", "x2 [m]", "x1' [m/s]", "x2' [m/s]")]
    published = "[KB24, sec. 5.1], k/2 in eq. (109)"
    return [
        Check("energy at the start [J]", result.energy[0], 1.0, 1e-14, "[KB24, fig. 1]"),
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-12),
        vanishing("largest |g(q)| [m^2]", result.constraint_error, 1e-14, "[KB24, fig. 2]"),
        *compare(names, result["q"][-1], AT_END, 1e-10, published),
        *compare(limits, extrapolate(ends), EXACT[10.0], 1e-7, "exact motion, 15 digits"),
        Check("order", order(ends, EXACT[10.0]), 2.0, 0.1, "theory"),
    ]


def plot(result: Result) -> "Figure":
    """Plot motion, energies, constraint, and the change of energy in every step."""
    fine = simulate(model(), scheme=result.scheme, h=0.01, t_end=result.time[-1], x0=START)
    with drawing(10, 7) as figure:
        (moving, energy), (constraint, increments) = figure.subplots(2, 2)
        for k, (place, label) in enumerate(((0, "$x_1$"), (2, "$x_2$"))):
            moving.plot(fine.time, fine["q"][:, place], color=COLOURS[k], linewidth=0.8)
            moving.plot(result.time, result["q"][:, place], ".", color=COLOURS[k], label=label)
        moving.set(xlabel="time [s]", ylabel="elongation [m]", ylim=(-1.1, 1.5))
        moving.set_title(f"Steps of {fine.h:g} s (lines) and {result.h:g} s (dots)")
        moving.legend(ncols=2)
        plot_energies(result, energy)
        gap = result["q"][:, 1] - result["q"][:, 0]
        constraint.plot(result.time, (gap**2 - gap[0] ** 2) / 2, ".", color=COLOURS[2])
        constraint.set(xlabel="time [s]", ylabel="$g(q)$ [m²]", ylim=(-1.1e-15, 1.1e-15))
        constraint.set_title("The constraint holds in every step")
        plot_increments(result, increments, "The change of energy in a step is round-off")
    return figure


def plot_energies(result: Result, ax: "Axes") -> None:
    """Plot kinetic, potential and total energy."""
    for kind in ("kinetic", "potential"):
        ax.plot(result.time, result.observation.energies[kind], label=kind)
    ax.plot(result.time, result.energy, label="$E$")
    ax.set_ylim(0, 1.3 * float(result.energy[0]))
    title = "Kinetic and potential energy take turns"
    describe(ax, title, "energy [J]", ncols=3, loc="upper center")


def plot_increments(result: Result, ax: "Axes", title: str) -> None:
    """Plot the change of the generalised energy in every step."""
    ax.plot(result.time[1:], np.diff(result.energy), ".", color=COLOURS[3])
    describe(ax, title, "$E^{n+1} - E^n$ [J]")


def look(result: Result, springs: Springs = Springs()) -> Result:
    """Show both masses on their springs, one behind the other; both springs are drawn as long."""
    _, q2, x2 = result["q"].T
    width, size, none = springs.width, 0.4, np.zeros_like(q2)
    first = np.column_stack([q2 - width / 2, none, none])
    second = np.column_stack([q2 + springs.rest_length + x2 + width / 2, none, none])
    block, wall = (width, size, size), Point("ground", (0.0, 0.0, 0.0))
    pieces = [
        Piece("first", "box", block),
        Piece("second", "box", block),
        Piece("ground", "box", (0.05, 0.6, 0.6), (-0.025, 0.0, 0.1)),
        Piece("ground", "box", (3.4, 0.6, 0.02), (1.7, 0.0, -size / 2 - 0.01)),
    ]
    left, right = ((sign * width / 2, 0.0, 0.0) for sign in (-1, 1))
    struts = [
        Strut("spring 1", "spring", wall, Point("first", left)),
        Strut("spring 2", "spring", Point("first", right), Point("second", left)),
    ]
    poses = {"first": (first, np.eye(3)), "second": (second, np.eye(3))}
    return with_bodies(result, poses, pieces, struts)


EXAMPLE = Example(
    title="Masses on springs, with a singular mass matrix",
    source="[KB24, sec. 5.1]",
    scheme="eml",
    h=0.1,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
    x0=START,
    look=look,
)
