"""A robot on two driven wheels that do not slip sideways [BHRS25, sec. 7.1].

Coordinates are those of the middle of the axle and the heading, velocities those along the robot's
own axes; v_y = 0 is a constraint on velocities only. It can be kept with a multiplier or resolved.
"""

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from poinsot.gallery.appearance import about, travelled, turned, with_bodies
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, order
from poinsot.ph import PHSystem, Port, feed
from poinsot.result import Array, Piece, Result
from poinsot.run import simulate
from poinsot.systems.redundant import RedundantSystem
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: What `EXACT` lists.
NAMES = ("x [m]", "y [m]", "phi [rad]", "v_x [m/s]", "omega [rad/s]", "energy supplied [J]")
#: Time [s] -> the motion without error of integration: 80-bit arithmetic, 15 digits.
EXACT = {
    1.0: (
        *(5.94027189356517e-01, -3.10941350452848e-03, -1.75448811895748e-02),
        *(1.18229353129457e00, -6.40398383736534e-02, 1.39945843450055e00),
    ),
    5.0: (
        *(6.90870050490455e00, -2.16403099486383e00, -7.19173791990802e-01),
        *(2.22520845401991e00, -1.15185162171021e-01, 4.95685971247544e00),
    ),
    10.0: (
        *(2.12499337634889e01, -1.65285152770568e01, -9.07772891997330e-01),
        *(4.82519743855963e00, -1.01410851741637e-01, 2.32866439854228e01),
    ),
}


@dataclass(frozen=True)
class Robot:
    """Parameters, SI units, and forces of the wheels; [BHRS25] gives no numbers."""

    mass: float = 2.0
    arm: float = 0.5  # ell, from the axle to the centre of mass, forwards
    inertia: float = 0.3  # I_S, about the centre of mass
    track: float = 0.4  # b, between the wheels
    drag: float = 0.0  # N s/m, against v_x

    @property
    def inertia_at_axle(self) -> float:
        """I_O [BHRS25, eq. (14)]."""
        return self.inertia + self.mass * self.arm**2


def left(t: float) -> float:
    """Return the force of the left wheel [N] at time t [s]."""
    return 1.0 + 0.5 * sin(2 * t)


def right(t: float) -> float:
    """Return the force of the right wheel [N] at time t [s]."""
    return 1.2 * cos(t)


def model(robot: Robot = Robot(), *, resolved: bool = False) -> PHSystem:
    """Build the robot with its constraint, w = (v_x, v_y, omega), or without v_y."""
    import sympy

    x, y, phi, v_x, v_y, omega = sympy.symbols("x y phi v_x v_y omega")
    m, ell, inertia = robot.mass, robot.arm, robot.inertia_at_axle
    forward = [sympy.cos(phi), sympy.sin(phi), 0]
    sideways = [-sympy.sin(phi), sympy.cos(phi), 0]
    turning = [0, 0, 1]
    wheels = [[1, 1], [0, 0], [-robot.track / 2, robot.track / 2]]

    def momenta(Gamma: Any) -> list[list[Any]]:
        return [[0, 0, -Gamma[1]], [0, 0, Gamma[0]], [Gamma[1], -Gamma[0], 0]]

    def along_track(Gamma: Any) -> list[list[Any]]:
        pull = m * ell / inertia * Gamma[1]  # m ell omega
        return [[0, -pull], [pull, 0]]

    given: dict[str, Any] = {
        "w": [v_x, v_y, omega],
        "M": [[m, 0, 0], [0, m, m * ell], [0, m * ell, inertia]],
        "Z": sympy.Matrix([forward, sideways, turning]).T,
        "G": momenta,
        "A": [[0, 1, 0]],
        "B": wheels,
        "dissipation": [robot.drag * v_x, 0, 0],
    }
    if resolved:
        given = {
            "w": [v_x, omega],
            "M": [[m, 0], [0, inertia]],
            "Z": sympy.Matrix([forward, turning]).T,
            "G": along_track,
            "B": [wheels[0], wheels[2]],
            "dissipation": [robot.drag * v_x, 0],
        }
    ports = [Port(name, 1, "N", "m/s") for name in ("left", "right")]
    system = RedundantSystem.symbolic(
        "differential-drive", zeta=[x, y, phi], ports=ports, units={"mu": "N"}, **given
    )
    return feed(feed(system, "left", left), "right", right)


def motion(result: Result) -> Array:
    """Return the columns of `NAMES`; shape (times, 6)."""
    supplied = result.port("left").energy + result.port("right").energy
    return np.column_stack([result["zeta"], result["w"][:, [0, -1]], supplied])


def check(result: Result) -> list[Check]:
    """Compare the limit of small steps with the exact motion, and both ways to keep v_y = 0."""
    steps, t_end = (result.h / 2, result.h / 4, result.h / 8), 10.0
    runs = [simulate(model(), scheme=result.scheme, h=h, t_end=t_end) for h in steps]
    ends = [motion(run)[-1] for run in runs]
    resolved = simulate(model(resolved=True), scheme=result.scheme, h=result.h, t_end=t_end)
    apart, source = motion(resolved) - motion(result), "[BHRS25, sec. 7.1]"
    names = [f"{name.replace(' [', ' at 10 s [')}, h -> 0" for name in NAMES]
    return [
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-11),
        vanishing("largest |v_y| [m/s]", result["w"][:, 1], 1e-13, source),
        vanishing("difference with and without the constraint", apart, 1e-11, source),
        *compare(names, extrapolate(ends), EXACT[t_end], 1e-8, "exact motion"),
        Check("order", order(ends, EXACT[t_end]), 2.0, 0.1, "theory"),
    ]


def plot(result: Result) -> "Figure":
    """Plot the path with the robot drawn every second, wheel speeds, energy and side force."""
    middle = (result.time[1:] + result.time[:-1]) / 2
    with drawing(10, 7) as figure:
        (path, speeds), (energy, force) = figure.subplots(2, 2)
        _plot_path(result, Robot(), path)
        for name, colour in (("left", COLOURS[0]), ("right", COLOURS[1])):
            port = result.port(name)
            speeds.plot(middle, port.y[:, 0], color=colour, label=f"{name} wheel, speed $y$")
            speeds.plot(
                middle, port.u[:, 0], color=colour, ls=":", label=f"{name} wheel, force $u$"
            )
        describe(speeds, "Wheels are ports: force in, speed out", "speed [m/s], force [N]")
        supplied = result.port("left").energy + result.port("right").energy
        energy.plot(result.time, supplied, color=COLOURS[4], linewidth=4, label="supplied")
        energy.plot(result.time, result.energy, color=COLOURS[6], label="kinetic")
        describe(energy, "What is supplied is kinetic energy, to round-off", "energy [J]")
        force.plot(middle, -result["mu"][1:], color=COLOURS[3])
        describe(force, "The ground keeps the wheels from slipping", "force along the axle [N]")
    return figure


def _plot_path(result: Result, robot: Robot, ax: "Axes") -> None:
    """Plot the path of the axle, and axle and heading at every second."""
    x, y, phi = result["zeta"].T
    ax.plot(x, y, color=COLOURS[0], linewidth=1.0)
    scale = 2.0  # the robot is small on this road
    for t in np.arange(0.0, result.time[-1] + 0.5):
        k = int(np.argmin(abs(result.time - t)))
        ahead = np.array([np.cos(phi[k]), np.sin(phi[k])])
        aside, centre = np.array([-ahead[1], ahead[0]]), np.array([x[k], y[k]])
        ends = centre + scale * robot.track / 2 * np.outer([-1, 1], aside)
        nose = centre + scale * robot.arm * np.outer([0, 1], ahead)
        ax.plot(*ends.T, color=COLOURS[6], linewidth=2.5)
        ax.plot(*nose.T, color=COLOURS[1])
    ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    ax.set_title("Axle and heading every second, twice their size")


def look(result: Result, robot: Robot = Robot()) -> Result:
    """Show a chassis on two wheels and a ball."""
    (x, y, phi), radius = result["zeta"].T, 0.1
    R, middle = about(2, phi), np.column_stack([x, y, np.full_like(x, radius)])
    poses: dict[str, Any] = {"robot": (middle, R)}
    chassis = Piece("robot", "box", (0.7, 0.7 * robot.track, 0.08), (0.22, 0.0, 0.05))
    mast = Piece("robot", "cylinder", (0.03, 0.2), (robot.arm, 0.0, 0.15))
    ball = Piece("robot", "ellipsoid", (0.05,) * 3, (robot.arm, 0.0, 0.05 - radius))
    pieces = [chassis, mast, ball]
    for name, side in (("left", 0.5), ("right", -0.5)):
        spin = R @ about(1, travelled(result, name) / radius)
        poses[f"{name} wheel"] = middle + side * robot.track * R[:, :, 1], spin
        across = turned(0, np.pi / 2)
        pieces.append(Piece(f"{name} wheel", "cylinder", (radius, 0.05), rotation=across))
    return with_bodies(result, poses, pieces)


EXAMPLE = Example(
    title="Differential-drive robot",
    source="[BHRS25, sec. 7.1]",
    scheme="ph-dg",
    h=0.05,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
    look=look,
)
