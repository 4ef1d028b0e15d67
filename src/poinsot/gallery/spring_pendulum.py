"""A mass on a nonlinear spring, in spherical coordinates [KB24, sec. 5.2].

The mass matrix diag(1, r^2, r^2 sin^2 theta) m depends on the coordinates. The force is central:
the motion stays in a plane, and angular momentum is constant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.gallery.appearance import with_bodies
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, order
from poinsot.gallery.mass_spring import plot_energies, plot_increments
from poinsot.result import Array, Piece, Point, Result, Strut
from poinsot.run import simulate
from poinsot.systems.livens import LagrangianSystem
from poinsot.viz.axes import describe, panels
from poinsot.viz.style import COLOURS, Figure, drawing

START = {"q": (1.05, np.pi / 2, 0.0), "v": (0.0, 1.0, 1.0)}
#: q of the published run at its end, 1 s.
AT_END = (1.0221519311, 2.3559702621, 1.5413991880)
#: Time [s] -> r [m], theta and phi [rad] without error of integration, 15 digits.
EXACT = {
    0.1: (0.997599301968416, 1.67454710530793, 0.104313730138231),
    0.25: (0.994010772286899, 1.84501427248673, 0.285153222285025),
    0.5: (0.970540337381846, 2.08400436695248, 0.598710919220669),
    1.0: (1.02399083618783, 2.35597750092816, 1.54133734627951),
}


@dataclass(frozen=True)
class Pendulum:
    """Parameters of [KB24, table 3], SI units.

    `published` corrects T along all coordinates, as [KB24] does; otherwise the momentum of phi is
    as exact as the energy.
    """

    mass: float = 1.0
    stiffness: float = 300.0  # EA
    rest_length: float = 1.0  # l0
    published: bool = True


def model(pendulum: Pendulum = Pendulum()) -> LagrangianSystem:
    """Build the system in q = (r, theta, phi); V = EA/2 eps^2 with Green's strain eps."""
    import sympy

    r, theta, phi = sympy.symbols("r theta phi")
    m, l0 = pendulum.mass, pendulum.rest_length
    strain = (r**2 - l0**2) / (2 * l0**2)
    return LagrangianSystem.symbolic(
        "spring-pendulum",
        q=[r, theta, phi],
        M=sympy.diag(m, m * r**2, m * r**2 * sympy.sin(theta) ** 2),
        V=pendulum.stiffness / 2 * strain**2,
        published=pendulum.published,
    )


def position(result: Result) -> Array:
    """Return x, y and z of the mass [m]; shape (times, 3)."""
    r, theta, phi = result["q"].T
    return np.column_stack(
        [r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)]
    )


def total_energy(result: Result) -> Array:
    """Return T(q, v) + V(q) [J] [KB24, eq. (80)]; shape (times,)."""
    return model().total_energy(result["q"], result["v"])


def check(result: Result) -> list[Check]:
    """Compare with the published run, and the limit of small steps with the exact motion."""
    steps = result.h, result.h / 2, result.h / 4
    runs = [simulate(model(), scheme=result.scheme, h=h, t_end=1.0, x0=START) for h in steps]
    ends = [run["q"][-1] for run in runs]
    names = [f"{name} at 1 s" for name in ("r [m]", "theta [rad]", "phi [rad]")]
    limits = [f"{name}, h -> 0" for name in names]
    largest = float(np.log10(abs(np.diff(total_energy(result))).max()))
    return [
        Check("energy at the start [J]", result.energy[0], 1.496484375, 1e-12, "[KB24, fig. 3]"),
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-12),
        Check(
            "largest change of T + V in a step, log10 of J", largest, -4.0, 0.5, "[KB24, fig. 4]"
        ),
        *compare(names, result["q"][-1], AT_END, 1e-10, "[KB24, sec. 5.2]"),
        *compare(limits, extrapolate(ends), EXACT[1.0], 1e-7, "exact motion, 15 digits"),
        Check("order", order(ends, EXACT[1.0]), 2.0, 0.1, "theory"),
    ]


def plot(result: Result) -> "Figure":
    """Plot path and energies, and the changes of total and generalised energy in every step."""
    fine = simulate(model(), scheme=result.scheme, h=1e-3, t_end=result.time[-1], x0=START)
    with drawing(10, 8) as figure:
        space, energy, before, after = panels(figure, (1.3, 1))
        _plot_path(position(result), position(fine), space)
        plot_energies(result, energy)
        before.plot(result.time[1:], np.diff(total_energy(result)), ".", color=COLOURS[1])
        before.set(xlabel="time [s]", ylabel=r"$E_{tot}^{n+1} - E_{tot}^n$ [J]")
        before.set_title("$T(q, v) + V(q)$ of the ends changes a little")
        plot_increments(result, after, "The generalised energy does not")
    return figure


def _plot_path(path: Array, fine: Array, ax: Any) -> None:
    ax.plot(*fine.T, color=COLOURS[0], linewidth=0.8)
    ax.plot(*path[::4].T, ".", color=COLOURS[0], label="mass, every fourth step")
    for end in (path[0], path[-1]):
        ax.plot(*np.array([np.zeros(3), end]).T, ":", color="#888888")
    ax.plot([0], [0], [0], "k^", markersize=5)
    ax.set(zlabel="z [m]", aspect="equal", yticks=(0, 0.2, 0.4, 0.6), zticks=(-0.6, -0.4, -0.2, 0))
    describe(ax, "The path in space, spring at start and end", "y [m]", xlabel="x [m]")
    ax.view_init(elev=25, azim=20)
    ax.legend()


def look(result: Result) -> Result:
    """Show the mass on its spring, which hangs from the origin."""
    pieces = [
        Piece("mass", "ellipsoid", (0.07,) * 3),
        Piece("ground", "ellipsoid", (0.03,) * 3),
    ]
    ends = Point("ground", (0.0, 0.0, 0.0)), Point("mass", (0.0, 0.0, 0.0))
    poses = {"mass": (position(result), np.eye(3))}
    return with_bodies(result, poses, pieces, [Strut("spring", "spring", *ends)])


EXAMPLE = Example(
    title="Spring pendulum in spherical coordinates",
    source="[KB24, sec. 5.2]",
    scheme="eml",
    h=0.01,
    t_end=1.0,
    model=model,
    check=check,
    plot=plot,
    x0=START,
    look=look,
)
