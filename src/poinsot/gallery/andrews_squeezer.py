"""Andrews' squeezing mechanism: seven bodies, three loops, one freedom [HW96, sec. VII.7].

A crank with constant torque squeezes a spring through six levers; the notation and the numbers are
those of the test set for initial value problems [MM08]. The mechanism is planar. Here it lies in
space and has ten parallel hinges; what their loops lock repeatedly is found and left out.
"""

from dataclasses import dataclass

import numpy as np

from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, neighbour_mean
from poinsot.model import Model
from poinsot.parts.forces import Spring
from poinsot.parts.joints import Revolute
from poinsot.parts.loads import TorquePort
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.so3 import Rotation
from poinsot.viz import plot_constraints, plot_energy
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: beta, Theta, gamma, Phi, delta, Omega, epsilon [rad], each the angle of a hinge: the second body
#: relative to the first.
ANGLES = {
    "beta": "O",
    "Theta": "F",
    "gamma": "B",
    "Phi": "G",
    "delta": "A (K5)",
    "Omega": "H",
    "epsilon": "A (K7)",
}
START = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
)

#: The levers as lines through points.
LEVERS = {"K1": "OF", "K2": "FE", "K3": "BDEB", "K4": "GE", "K5": "AG", "K6": "HE", "K7": "AH"}
SNAPSHOTS = 9


@dataclass(frozen=True)
class Squeezer:
    """Parameters [MM08], SI units, with the letters of the test set."""

    m: tuple[float, ...] = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    I: tuple[float, ...] = (
        2.194e-6,
        4.410e-7,
        5.255e-6,
        5.667e-7,
        1.169e-5,
        5.667e-7,
        1.912e-5,
    )
    A: tuple[float, float] = (-0.06934, -0.00227)
    B: tuple[float, float] = (-0.03635, 0.03273)
    C: tuple[float, float] = (0.014, 0.072)
    rr: float = 0.007  # crank O-F
    ra: float = 0.00092
    d: float = 0.028  # K2, F-E
    da: float = 0.0115
    ss: float = 0.035  # K3, B-E, and its other points
    sa: float = 0.01874
    sb: float = 0.01043
    sc: float = 0.018
    sd: float = 0.02
    e: float = 0.02  # K4, G-E
    ea: float = 0.01421
    zt: float = 0.04  # K5, A-G
    ta: float = 0.02308
    tb: float = 0.00916
    zf: float = 0.02  # K6, H-E
    fa: float = 0.01421
    u: float = 0.04  # K7, A-H
    ua: float = 0.01228
    ub: float = 0.00449
    stiffness: float = 4530.0  # c0, of the spring from D to C
    rest_length: float = 0.07785  # l0
    torque: float = 0.033  # mom, on the crank


def model(squeezer: Squeezer = Squeezer()) -> Model:
    """Build bodies `K1` to `K7`, hinges by the letters of their points, and the port `motor`."""
    s, mechanism = squeezer, Model(name="andrews-squeezer")
    A, B, C = (np.array([*point, 0.0]) for point in (s.A, s.B, s.C))
    beta, Theta, gamma, Phi, delta, Omega, epsilon = START
    turns = (beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon)
    rotations = [Rotation.from_axis_angle((0, 0, 1), turn) for turn in turns]
    # The first and second axis of every body; each point is reached from the ground.
    x1, x2, x3, _, x5, x6, x7 = (rotation.matrix[:, 0] for rotation in rotations)
    _, _, y3, y4, y5, _, y7 = (rotation.matrix[:, 1] for rotation in rotations)
    F, D, G, H = s.rr * x1, B + s.sd * x3 - s.sc * y3, A + s.zt * x5, A - s.u * y7
    E = F - s.d * x2
    centres = (
        s.ra * x1,
        F - s.da * x2,
        B + s.sb * x3 - s.sa * y3,
        G - (s.e - s.ea) * y4,
        A + s.ta * x5 + s.tb * y5,
        H + (s.zf - s.fa) * x6,
        A - s.ub * x7 - s.ua * y7,
    )
    K1, K2, K3, K4, K5, K6, K7 = (
        # Only the inertia about z matters.
        mechanism.add_body(
            f"K{k + 1}",
            RigidBody(mass=s.m[k], inertia=(s.I[k],) * 3),
            position=centres[k],
            rotation=rotations[k],
        )
        for k in range(7)
    )
    ground = mechanism.ground
    for name, first, second, point in (
        ("O", ground, K1, np.zeros(3)),
        ("F", K1, K2, F),
        ("B", ground, K3, B),
        ("A (K5)", ground, K5, A),
        ("G", K5, K4, G),
        ("A (K7)", ground, K7, A),
        ("H", K7, K6, H),
        ("E (K3)", K2, K3, E),
        ("E (K4)", K2, K4, E),
        ("E (K6)", K2, K6, E),
    ):
        mechanism.add_joint(name, Revolute(first, second, point=point, axis=(0, 0, 1)))
    for name, body, point in (
        ("point F", K1, F),
        ("point E", K2, E),
        ("point D", K3, D),
        ("point G", K5, G),
        ("point H", K7, H),
    ):
        mechanism.add_marker(name, body, position=point)
    mechanism.add_force(
        "spring",
        Spring(
            K3,
            ground,
            point_a=D,
            point_b=C,
            stiffness=s.stiffness,
            rest_length=s.rest_length,
        ),
    )
    mechanism.add_port("motor", TorquePort(K1, value=(0, 0, s.torque)))
    return mechanism


def angles(result: Result) -> Array:
    """Return beta, Theta, gamma, Phi, delta, Omega, epsilon [rad]; shape (times, 7)."""
    turned = [result.joint(hinge).coordinates["angle"] for hinge in ANGLES.values()]
    return np.array(START) + np.column_stack(turned)


def multipliers(result: Result) -> Array:
    """Return lambda_1 to lambda_6 [N] at the inner saved times; shape (times - 2, 6).

    The forces at E on K3, K4 and K6, x and y of each.
    """
    forces = [result.reaction(f"E (K{k})").force[:, :2] for k in (3, 4, 6)]
    return neighbour_mean(np.hstack(forces))


#: q at t = 0.03 s [MM08]; good to about 1e-9.
PUBLISHED = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805303,
    0.5347301163226948,
    1.048080741042263,
)


def check(result: Result) -> list[Check]:
    """Compare with the published angles, by extrapolation from two steps."""
    coarse = simulate(model(), scheme=result.scheme, h=2 * result.h, t_end=result.t_end)
    limit = extrapolate([angles(run)[-1] for run in (coarse, result)])
    names = [f"{name} at 0.03 s, h -> 0 [rad]" for name in ANGLES]
    return [
        *compare(names, limit, PUBLISHED, 1e-5, "[MM08]"),
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-12),
        vanishing("largest gap of a hinge [m]", result.constraint_error, 1e-12),
    ]


def plot(result: Result) -> "Figure":
    """Plot the mechanism and its spring, angles as in the test set, forces at E, and energy."""
    at_E = multipliers(result)
    with drawing(10, 10) as figure:
        grid = figure.add_gridspec(3, 2, height_ratios=(1.5, 1, 1))
        _plot_mechanism(result, Squeezer(), figure.add_subplot(grid[0, 0]))
        turning, swinging, forces, energy, constraints = (
            figure.add_subplot(grid[place]) for place in ((0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
        )
        for k, (name, values) in enumerate(zip(ANGLES, angles(result).T, strict=True)):
            ax = turning if k < 2 else swinging
            ax.plot(1e3 * result.time, values, color=COLOURS[k], label=rf"$\{name}$")
        for ax in (turning, swinging):
            ax.set(xlabel="time [ms]", ylabel="angle [rad]")
            ax.legend(ncols=3)
        turning.set_title("Crank and coupler turn")
        swinging.set_title("The levers swing")
        swinging.set_ylim(-0.65, 1.9)
        for k in range(6):
            label = rf"$\lambda_{k + 1}$"
            forces.plot(1e3 * result.time[1:-1], at_E[:, k], label=label, linewidth=1)
        forces.set(ylim=(-80, 290))
        describe(forces, "Forces at E on K3, K4 and K6", "force [N]", xlabel="time [ms]", ncols=3)
        plot_energy(result, energy, title="The motor's work is stored")
        plot_constraints({result.scheme: result}, constraints, title="The three loops stay closed")
    return figure


def _plot_mechanism(result: Result, squeezer: Squeezer, ax: "Axes") -> None:
    """Draw the levers at the start, and paler at some later times."""
    moving = {name: result.marker(f"point {name}").position[:, :2] for name in "FEDGH"}
    rest = {"O": (0.0, 0.0), "A": squeezer.A, "B": squeezer.B, "C": squeezer.C}
    frames = np.linspace(0, result.time.size - 1, SNAPSHOTS).astype(int)
    for k in reversed(frames):
        points = {**rest, **{name: path[k] for name, path in moving.items()}}
        pale = 1.0 if k == 0 else 0.18
        for n, (lever, through) in enumerate(LEVERS.items()):
            line = 1e3 * np.array([points[name] for name in through])
            label = lever if k == 0 else None
            ax.plot(*line.T, color=COLOURS[n], alpha=pale, label=label)
        spring = 1e3 * np.array([points["D"], points["C"]])
        ax.plot(*spring.T, ":", color="#888888", alpha=pale, label="spring" if k == 0 else None)
    for name, (x, y) in {**rest, **{name: path[0] for name, path in moving.items()}}.items():
        ax.annotate(name, (1e3 * x, 1e3 * y), xytext=(3, 3), textcoords="offset points")
    for x, y in rest.values():
        ax.plot(1e3 * x, 1e3 * y, "k^", markersize=5)
    ax.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal")
    ax.set_title("The mechanism at the start, and later (pale)")
    ax.legend(loc="upper left", ncols=2)


EXAMPLE = Example(
    title="Andrews' squeezing mechanism",
    source="test set for initial value problems [MM08]",
    scheme="ph-mp",
    h=5e-5,
    t_end=0.03,
    model=model,
    check=check,
    plot=plot,
)
