"""A gyroscope in gimbals, in Euler angles and by its rotation matrix [BHRS25, sec. 7.2].

R = R_z(gamma) R_y(beta) R_x(alpha): a motor at the second axis, that of beta, drives a disc that
spins about its x axis. The angles end at beta = 90 deg (gimbal lock); the matrix does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import sin
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.gallery.appearance import about, turned, with_bodies
from poinsot.gallery.example import Check, Example, as_far_as_it_goes, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, order
from poinsot.ph import PHSystem, Port, feed
from poinsot.result import Array, Piece, Result
from poinsot.run import simulate
from poinsot.so3 import euler_to_matrix
from poinsot.systems.redundant import RedundantSystem
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: What `EXACT` lists.
NAMES = (
    *("alpha [rad]", "beta [rad]", "gamma [rad]"),
    *("omega_x [rad/s]", "omega_y [rad/s]", "omega_z [rad/s]"),
    "energy supplied [J]",
)
#: Time [s] -> the motion without error of integration: 80-bit arithmetic, 14 digits.
EXACT = {
    0.1: (
        *(1.0000149277544e01, 1.0014378774681e-01, 1.4937508447040e-03),
        *(1.0000000000000e02, -1.5855737982789e-02, -2.3542016089465e-02),
        1.0204658681449e-06,
    ),
    0.5: (
        *(5.0003119723461e01, 1.0051289674167e-01, 3.1128327034026e-02),
        *(1.0000000000000e02, -2.5758602973429e-02, 9.7901607147711e-02),
        1.2981091725047e-05,
    ),
    1.0: (
        *(1.0000668213857e02, 1.0006754375990e-01, 6.6667161814351e-02),
        *(1.0000000000000e02, -6.8487624284994e-03, 1.1439072708684e-02),
        2.2516004623301e-07,
    ),
    2.0: (
        *(2.0000018578353e02, 9.9865271179506e-02, 1.3303766851065e-03),
        *(1.0000000000000e02, 2.3597177225181e-02, -1.2282386739420e-02),
        8.9639947621683e-07,
    ),
}
SPIN = (100.0, 0.0, 0.0)
TILT = 0.1


@dataclass(frozen=True)
class Disc:
    """Parameters, SI units; [BHRS25] gives no numbers."""

    mass: float = 1.0
    radius: float = 0.1
    width: float = 0.02

    @property
    def inertia(self) -> tuple[float, float, float]:
        """Moments of inertia about the axis and across it [BHRS25, eq. (15)]."""
        across = self.mass / 12 * (3 * self.radius**2 + self.width**2)
        return self.mass / 2 * self.radius**2, across, across


def torque(t: float) -> float:
    """Return the torque at the second axis [N m] at time t [s]."""
    return 0.05 * sin(3 * t)


def gyroscopic(Gamma: Any) -> list[list[Any]]:
    """Return G = -skew(Gamma): the sign of [BHRS25, eq. (10)], in which (16b) is right."""
    x, y, z = Gamma
    return [[0, z, -y], [-z, 0, x], [y, -x, 0]]


@cache
def in_angles(disc: Disc = Disc()) -> RedundantSystem:
    """Return the gyroscope in Euler angles, with the kinematics of [BHRS25, eq. (18)]."""
    import sympy
    from sympy import cos, sin

    alpha, beta, gamma = sympy.symbols("alpha beta gamma")
    rates = sympy.Matrix(
        [
            [cos(beta), sin(alpha) * sin(beta), cos(alpha) * sin(beta)],
            [0, cos(alpha) * cos(beta), -sin(alpha) * cos(beta)],
            [0, sin(alpha), cos(alpha)],
        ]
    )
    return RedundantSystem.symbolic(
        "gyroscope",
        zeta=[alpha, beta, gamma],
        w=sympy.symbols("omega_x omega_y omega_z"),
        M=sympy.diag(*disc.inertia),
        Z=rates / cos(beta),
        G=gyroscopic,
        B=[[0], [cos(alpha)], [-sin(alpha)]],
        ports=[Port("motor", 1, "N m", "rad/s")],
        domain={"gimbal lock": cos(beta)},
        units={"zeta": "rad", "w": "rad/s"},
    )


@cache
def by_matrix(disc: Disc = Disc()) -> RedundantSystem:
    """Return the gyroscope by the columns of its rotation matrix [BHRS25, eq. (11)].

    The second axis is e_z x d_1, made a unit vector; seen from the disc it is
    (0, R_33, -R_32) / sqrt(R_32^2 + R_33^2), which needs no angles.
    """
    import sympy

    columns = [sympy.Matrix(sympy.symbols(f"R1{i} R2{i} R3{i}")) for i in (1, 2, 3)]
    one, two, three = columns
    none = sympy.zeros(3, 1)
    y, z = two[2], three[2]
    return RedundantSystem.symbolic(
        "gyroscope",
        zeta=[entry for column in columns for entry in column],
        w=sympy.symbols("omega_x omega_y omega_z"),
        M=sympy.diag(*disc.inertia),
        Z=sympy.Matrix(
            sympy.BlockMatrix([[none, -three, two], [three, none, -one], [-two, one, none]])
        ),
        G=gyroscopic,
        B=sympy.Matrix([0, z, -y]) / sympy.sqrt(y**2 + z**2),
        ports=[Port("motor", 1, "N m", "rad/s")],
        units={"zeta": "1", "w": "rad/s"},
    )


def rotation(angles: ArrayLike) -> Array:
    """Return R_z(gamma) R_y(beta) R_x(alpha) of angles (3,) [rad]."""
    return euler_to_matrix("xyz", angles)


def start(
    angles: ArrayLike = (0.0, TILT, 0.0), spin: ArrayLike = SPIN, *, matrix: bool = False
) -> Mapping[str, ArrayLike]:
    """Return a state of angles [rad] and angular velocity in the axes of the disc [rad/s]."""
    return {"zeta": rotation(angles).T if matrix else angles, "w": spin}


def matrices(result: Result) -> Array:
    """Return R over time from either description; shape (times, 3, 3)."""
    zeta = result["zeta"]
    if zeta.shape[1] == 9:
        return np.asarray(zeta.reshape(-1, 3, 3).transpose(0, 2, 1))
    return np.array([rotation(angles) for angles in zeta])


def motion(result: Result) -> Array:
    """Return the columns of `NAMES`; shape (times, 7)."""
    angles = result["zeta"]
    if angles.shape[1] == 9:
        R = matrices(result)
        alpha = np.unwrap(np.arctan2(R[:, 2, 1], R[:, 2, 2]))
        gamma = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
        angles = np.column_stack([alpha, -np.arcsin(R[:, 2, 0]), gamma])
    return np.column_stack([angles, result["w"], result.port("motor").energy])


def model(*, matrix: bool = False) -> PHSystem:
    """Build the driven gyroscope in angles, or by its matrix."""
    return feed(by_matrix() if matrix else in_angles(), "motor", torque)


def towards_lock(rate: float = 2.0, aside: float = 0.5) -> tuple[Array, float]:
    """Return an angular velocity [rad/s] that leads to gimbal lock, and the time of that [s].

    Without torque the axis d_1 goes around the angular momentum L on a cone, at |L| / I_y =
    `rate` [rad/s]. L is as far from d_1 as from -e_z, which is d_1 in lock: it lies between the
    two, and out of their plane by the angle `aside` [rad].
    """
    here, there = rotation((0.0, TILT, 0.0))[:, 0], np.array([0.0, 0.0, -1.0])
    between, normal = here + there, np.cross(here, there)
    L = np.cos(aside) * between / np.linalg.norm(between)
    L += np.sin(aside) * normal / np.linalg.norm(normal)
    p, q = (axis - (axis @ L) * L for axis in (here, there))
    turn = np.arctan2(np.cross(p, q) @ L, p @ q) % (2 * np.pi)
    moments = np.array(Disc().inertia)
    return rotation((0.0, TILT, 0.0)).T @ (moments[1] * rate * L) / moments, float(turn / rate)


def check(result: Result) -> list[Check]:
    """Compare both descriptions with the exact motion, and follow them to gimbal lock."""
    source, theory, exact = "exact motion", "theory", EXACT[0.1]
    angles, matrix = (_ends(matrix=matrix, t_end=0.1) for matrix in (False, True))
    *limits, supplied = extrapolate(angles)
    *names, last = (f"{name.replace(' [', ' at 0.1 s [')}, h -> 0" for name in NAMES)
    apart = extrapolate(matrix) - exact
    spin, lock = towards_lock()
    locked, free = run_to_lock(spin, lock)
    R = matrices(free)
    turned = R @ R.transpose(0, 2, 1) - np.eye(3)
    return [
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-13),
        *compare(names, limits, exact[:-1], 1e-8, source),
        Check(last, supplied, exact[-1], 1e-12, source),
        vanishing("rotation matrix: largest difference at 0.1 s, h -> 0", apart, 1e-8, source),
        Check("order with Euler angles", order(angles, exact), 2.0, 0.1, theory),
        Check("order with the rotation matrix", order(matrix, exact), 2.0, 0.1, theory),
        vanishing("matrix through gimbal lock, largest |R R^T - I|", turned, 1e-12),
        Check("time of gimbal lock [s]", float(locked.time[-1]), lock, locked.h, "closed form"),
    ]


def _ends(*, matrix: bool, t_end: float) -> list[Array]:
    """Return the end of runs with halved steps."""
    system, x0, steps = model(matrix=matrix), start(matrix=matrix), (2e-3, 1e-3, 5e-4, 2.5e-4)
    return [motion(simulate(system, h=h, t_end=t_end, x0=x0))[-1] for h in steps]


def run_to_lock(spin: ArrayLike, lock: float, h: float = 0.01) -> tuple[Result, Result]:
    """Return a run in angles, which ends at the time `lock` [s], and one by the matrix."""
    free = simulate(by_matrix(), h=h, t_end=2 * lock, x0=start(spin=spin, matrix=True))
    return as_far_as_it_goes(in_angles(), h=h, t_end=2 * lock, x0=start(spin=spin)), free


def plot(result: Result) -> "Figure":
    """Plot tilt and precession, energy, the motor, and how angles end while the matrix goes on."""
    with drawing(10, 7) as figure:
        (angles, motor), (energy, lock) = figure.subplots(2, 2)
        _, beta, gamma = result["zeta"].T
        angles.plot(result.time, gamma, color=COLOURS[0], label=r"$\gamma$, precession")
        angles.plot(result.time, beta, color=COLOURS[1], label=r"$\beta$, tilt")
        describe(angles, "A torque on the second axis turns the third", "angle [rad]")
        port = result.port("motor")
        motor.plot(port.time, port.u[:, 0], color=COLOURS[2], label="torque $u$ [N m]")
        motor.plot(
            port.time, port.y[:, 0], color=COLOURS[3], linewidth=0.8, label=r"rate $y$ [rad/s]"
        )
        describe(motor, r"The motor is a port: $y = \dot\beta$, nutation only", "torque, rate")
        supplied, gained = port.energy, result.energy - result.energy[0]
        energy.plot(result.time, 1e6 * supplied, color=COLOURS[4], linewidth=3, label="supplied")
        energy.plot(
            result.time, 1e6 * gained, color=COLOURS[6], linewidth=1, label="kinetic, since start"
        )
        energy.set(xlabel="time [s]", ylabel="energy [µJ]", ylim=(-0.5, 16.5))
        energy.set_title(f"Of {result.energy[0]:.0f} J, microjoules come and go")
        energy.legend(loc="upper center")
        _plot_lock(*run_to_lock(*towards_lock()), lock)
    return figure


def _plot_lock(locked: Result, free: Result, ax: "Axes") -> None:
    """Plot the tilt of a run that reaches gimbal lock in angles, and goes on by the matrix."""
    tilt, end = -np.arcsin(np.clip(matrices(free)[:, 2, 0], -1, 1)), locked.time[-1]
    ax.axhline(90, color=COLOURS[6], linewidth=0.8)
    ax.plot(free.time, np.degrees(tilt), color=COLOURS[0], label="by the matrix")
    look: Any = {"color": COLOURS[1], "linewidth": 3, "alpha": 0.7}
    ax.plot(locked.time, np.degrees(locked["zeta"][:, 1]), label="in angles", **look)
    ax.plot([end], [90], "o", color=COLOURS[1])
    ax.annotate(
        f"gimbal lock at {end:.2f} s",
        (end, 90),
        xytext=(0, 6),
        textcoords="offset points",
        ha="center",
    )
    ax.set(ylim=(0, 105))
    describe(ax, "Angles end in gimbal lock; the matrix goes on", r"tilt $\beta$ [deg]")


def look(result: Result, disc: Disc = Disc()) -> Result:
    """Show the disc in its gimbals: the outer ring turns by gamma, the inner one by beta, too."""
    _, beta, gamma = result["zeta"].T
    outer = about(2, gamma)
    inner, r, none = outer @ about(1, beta), disc.radius, (0.0, 0.0, 0.0)
    sideways, upright = turned(1, np.pi / 2), turned(0, np.pi / 2)
    poses = {"disc": matrices(result), "inner ring": inner, "outer ring": outer}
    pieces = [
        Piece("disc", "cylinder", (r, disc.width), rotation=sideways),
        Piece("disc", "cylinder", (0.06 * r, 2.4 * r), rotation=sideways),
        Piece("disc", "box", (1.2 * disc.width, 0.2 * r, 0.5 * r), (0.0, 0.0, 0.6 * r)),
        Piece("inner ring", "tube", (1.2 * r, 1.3 * r, 0.1 * r)),
        Piece("inner ring", "cylinder", (0.06 * r, 2.8 * r), rotation=upright),
        Piece("outer ring", "tube", (1.4 * r, 1.5 * r, 0.1 * r), rotation=sideways),
        Piece("ground", "cylinder", (0.06 * r, 0.5 * r), (0.0, 0.0, -1.75 * r)),
        Piece("ground", "cylinder", (0.8 * r, 0.1 * r), (0.0, 0.0, -2.0 * r)),
    ]
    return with_bodies(result, {name: (none, R) for name, R in poses.items()}, pieces)


EXAMPLE = Example(
    title="Gyroscope and gimbal lock",
    source="[BHRS25, sec. 7.2]",
    scheme="ph-dg",
    h=2e-3,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
    x0=start(),
    look=look,
)
