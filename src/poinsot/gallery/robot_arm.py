r"""A Puma 560 with motors and gears follows a path under computed torque [CA94].

Six links from the parameters of [CA94], as Corke's Robotics Toolbox has them, in the notation of
Denavit and Hartenberg; every joint has a rotor, a gear and friction on the fast shaft. Rotors stand
on the ground, for the published equations leave out that they ride along. Torques at given motions
are compared with those of the toolbox.
"""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from poinsot.bodies.body import Body, Ground
from poinsot.bodies.looks import Look
from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.friction import JointFriction
from poinsot.parts.joints import Revolute
from poinsot.parts.transmissions import Differential, Gear
from poinsot.result import Array, Result
from poinsot.so3 import Rotation
from poinsot.viz import picture
from poinsot.viz.axes import describe
from poinsot.viz.solids import along
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: d [m], a [m] and alpha [rad] of every link.
LINKS = [
    (0.0, 0.0, np.pi / 2),
    (0.0, 0.4318, 0.0),
    (0.15005, 0.0203, -np.pi / 2),
    (0.4318, 0.0, np.pi / 2),
    (0.0, 0.0, -np.pi / 2),
    (0.0, 0.0, 0.0),
]
#: Masses [kg]; what the first one weighs does not move anything.
MASSES = (20.0, 17.4, 4.8, 0.82, 0.34, 0.09)
#: Centres of mass in link axes [m].
CENTRES = [
    (0.0, 0.0, 0.0),
    (-0.3638, 0.006, 0.2275),
    (-0.0203, -0.0141, 0.070),
    (0.0, 0.019, 0.0),
    (0.0, 0.0, 0.0),
    (0.0, 0.0, 0.032),
]
#: Moments of inertia in link axes [kg m^2]. The third link is published with 0.086 about y, more
#: than any body of its other moments has: what is too much is a wheel on the ground.
MOMENTS = [
    (0.2, 0.35, 0.2),
    (0.13, 0.524, 0.539),
    (0.066, 0.078, 0.0125),
    (1.8e-3, 1.3e-3, 1.8e-3),
    (3e-4, 4e-4, 3e-4),
    (1.5e-4, 1.5e-4, 4e-5),
]
EXCESS = 0.086 - 0.078  # kg m^2
#: Gear ratios, inertia of rotors [kg m^2], viscous [N m s] and dry friction [N m] of motors.
GEARS = (-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686)
ROTORS = (2e-4, 2e-4, 2e-4, 3.3e-5, 3.3e-5, 3.3e-5)
VISCOUS = (1.48e-3, 8.17e-4, 1.38e-3, 7.12e-5, 8.26e-5, 3.67e-5)
COULOMB = (0.395, 0.126, 0.132, 1.12e-2, 9.26e-3, 3.96e-3)
#: The nominal pose of the toolbox [rad], where the model starts.
NOMINAL = (0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0)

JOINTS = [f"joint {k}" for k in range(1, 7)]
MOTORS = [f"motor {k}" for k in range(1, 7)]
#: How far joints go [rad], and how long it takes [s].
TRAVEL, DURATION = (0.8, -0.6, 0.7, 0.5, -0.6, 1.0), 1.2
#: Sampling time [s], and bandwidth of the feedback [rad/s].
EVERY, BANDWIDTH = 1e-3, 40.0
#: What is seen of the arm [m]: radii of links, both ends, which have no length, and rotors.
UP = Rotation.from_axis_angle((1, 0, 0), np.pi / 2)
RADII = (0.1, 0.07, 0.055, 0.045, 0.03, 0.03)
ENDS = {
    0: [Look(kind="cylinder", sizes=(0.09, 0.6), position=(0.0, -0.22, 0.0), rotation=UP)],
    4: [Look(kind="ellipsoid", sizes=(0.045,) * 3)],
    5: [Look(kind="cylinder", sizes=(0.03, 0.08))],
}
ROTOR = [Look(kind="cylinder", sizes=(0.04, 0.06))]
#: Times of the torques along the path, between which they are interpolated.
KNOTS = 25

#: Torques at the nominal pose at rest, at rates of 1 rad/s, and with accelerations of 1 rad/s^2.
PUBLISHED = {
    "rest": (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0),
    "rates": (29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196),
    "accelerations": (32.4952, 60.8670, 17.7436, 1.4545, 1.2991, 0.7138),
}
MOTIONS = {"rest": "0", "rates": "t", "accelerations": "t + t**2/2"}


def frames() -> list[tuple[Array, Array]]:
    """Return origin and axes of the base and of all links at the nominal pose, world axes."""
    origin, axes = np.zeros(3), np.eye(3)
    found = [(origin, axes)]
    for (d, a, alpha), q in zip(LINKS, NOMINAL, strict=True):
        c, s, ca, sa = np.cos(q), np.sin(q), np.cos(alpha), np.sin(alpha)
        origin = origin + axes @ np.array([a * c, a * s, d])
        axes = axes @ np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0.0, sa, ca]])
        found.append((origin, axes))
    return found


def tubes(radius: float, corners: Iterable[Array]) -> list[Look]:
    """Return round tubes of a radius [m] between points of a body, for the eye."""
    found = []
    for a, b in pairwise(corners):
        length = float(np.linalg.norm(b - a))
        if length > 0:
            turned = Rotation.from_matrix(along(b - a))
            where: Any = {"position": (a + b) / 2, "rotation": turned}
            found.append(Look(kind="cylinder", sizes=(radius, length), **where))
    return found


def arm(slip: float = 1.0) -> Model:
    """Build the arm: `link 1` to `link 6` on `joint 1` to `joint 6`, rotors on `motor 1` to `6`.

    Dry friction fades at rates of a motor below `slip` [rad/s].
    """
    model = Model(gravity=(0.0, 0.0, -9.81), name="robot-arm")
    places = frames()
    before: Body | Ground = model.ground
    for k in range(6):
        (base, above), (origin, axes) = places[k], places[k + 1]
        centre = origin + axes @ np.array(CENTRES[k])
        shape = RigidBody(mass=MASSES[k], inertia=MOMENTS[k])
        corner = base + LINKS[k][0] * above[:, 2]
        looks = tubes(RADII[k], (axes.T @ (x - centre) for x in (base, corner, origin)))
        link = model.add_body(
            f"link {k + 1}", shape, position=centre, rotation=axes, looks=[*looks, *ENDS.get(k, ())]
        )
        model.add_joint(JOINTS[k], Revolute(before, link, point=base, axis=above[:, 2]))
        beside = np.array([-0.4, 0.15 * k, 0.0])
        shape = RigidBody(mass=1.0, inertia=(ROTORS[k],) * 3)
        rotor = model.add_body(f"rotor {k + 1}", shape, position=beside, looks=ROTOR)
        model.add_joint(MOTORS[k], Revolute(model.ground, rotor, point=beside, axis=(0, 0, 1)))
        model.add_transmission(f"gear {k + 1}", Gear(MOTORS[k], JOINTS[k], ratio=GEARS[k]))
        friction = JointFriction(MOTORS[k], viscous=VISCOUS[k], coulomb=COULOMB[k], slip=slip)
        model.add_force(f"friction {k + 1}", friction)
        before = link
    beside = np.array([-0.4, -0.15, 0.0])
    shape = RigidBody(mass=5.0, inertia=(EXCESS,) * 3)
    wheel = model.add_body("wheel", shape, position=beside, looks=ROTOR)
    model.add_joint("wheel axle", Revolute(model.ground, wheel, point=beside, axis=(0, 0, 1)))
    both = Differential("wheel axle", JOINTS[1], JOINTS[2], ratio=2.0)
    model.add_transmission("sum of 2 and 3", both)
    return model


def path(t: Array) -> tuple[Array, Array]:
    """Return the angles of all joints since the start, and their rates; (times, 6) each."""
    s = np.clip(np.asarray(t, dtype=float) / DURATION, 0.0, 1.0)[..., None]
    far = np.array(TRAVEL)
    return far * s**3 * (10 - 15 * s + 6 * s**2), far * 30 * s**2 * (1 - s) ** 2 / DURATION


def motion() -> dict[str, str]:
    """Return the path as formulas of t by joint."""
    s = f"(t/{DURATION!r})"
    return {
        name: f"{far!r}*{s}**3*(10 - 15*{s} + 6*{s}**2)"
        for name, far in zip(JOINTS, TRAVEL, strict=True)
    }


@cache
def torques() -> tuple[Array, Array]:
    """Return times [s] and the torques of the motors along the path [N m]; (times,), (times, 6)."""
    times = np.linspace(0.0, DURATION, KNOTS)
    found = arm().inverse_dynamics(motion(), times=times, by=MOTORS)
    return times, np.column_stack([found.force(name) for name in MOTORS])


@cache
def spline() -> CubicSpline:
    """Return the torques of the motors as functions of time."""
    return CubicSpline(*torques())


@cache
def gains() -> Array:
    """Return the inertia of each joint as its motor feels it [kg m^2]; (6,)."""
    M = arm().configuration(coordinates=JOINTS).mass_matrix()
    return np.asarray(np.diag(M) / np.array(GEARS))


def model() -> Model:
    """Build the arm with its controller: torques of the path, and feedback of what is left.

    tau = tau_d(t) + (M_ii / n) (w^2 e + 2 w e'), sampled every millisecond.
    """
    model = arm()

    def law(t: float, y: Array) -> Array:
        goal, rate = path(np.array(t))
        error, slower = goal - y[:6], rate - y[6:]
        back = gains() * BANDWIDTH * (BANDWIDTH * error + 2 * slower)
        return np.asarray(spline()(min(t + EVERY / 2, DURATION)) + back)

    reads = [*JOINTS, *(f"{name}.rate" for name in JOINTS)]
    model.add_controller("computed torque", law, reads=reads, drives=MOTORS, every=EVERY)
    return model


def joint_torques(kind: str) -> Array:
    """Return the torques of the joints in one of the published motions [N m]; (6,)."""
    found = arm(slip=1e-3).inverse_dynamics(dict.fromkeys(JOINTS, MOTIONS[kind]), times=0.0)
    return np.array([found.force(name)[0] for name in JOINTS])


def tracking(result: Result) -> Array:
    """Return by how much joints are off their path [rad]; (times, 6)."""
    angles = [result.joint(name).coordinates["angle"] for name in JOINTS]
    return np.asarray(np.column_stack(angles) - path(result.time)[0])


def check(result: Result) -> list[Check]:
    """Compare torques with those of the toolbox, and the run with its path."""
    toolbox = "Robotics Toolbox, [CA94]"
    checks = []
    for kind, published in PUBLISHED.items():
        names = [f"{name}, {kind} [N m]" for name in JOINTS]
        checks += compare(names, joint_torques(kind), published, 6e-5, toolbox)
    turns = [result.joint(name).coordinates["angle"] for name in (JOINTS[0], MOTORS[0])]
    return [
        *checks,
        vanishing("tracking error of the joints [rad]", tracking(result), 2e-3, "the path"),
        vanishing("error of gear 1 [rad]", turns[1] - GEARS[0] * turns[0], 1e-11),
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-10),
    ]


def plot(result: Result) -> "Figure":
    """Draw the arm, its path, what is left of it, and what the motors do."""
    with drawing(10, 8) as figure:
        start, angles, errors, torque = (figure.add_subplot(2, 2, k) for k in range(1, 5))
        picture(result, start)
        start.set_title("The arm and its rotors")
        goals = path(result.time)[0]
        for k, name in enumerate(JOINTS):
            angle = result.joint(name).coordinates["angle"]
            angles.plot(result.time, angle, color=COLOURS[k], label=name)
            angles.plot(result.time, goals[:, k], ":", color="k", linewidth=0.8)
        describe(angles, "Joints follow their path (dotted)", "angle [rad]", ncols=2)
        for k, name in enumerate(JOINTS):
            errors.plot(result.time, 1e3 * tracking(result)[:, k], color=COLOURS[k], label=name)
        describe(errors, "What is left", "error [mrad]", ncols=2)
        _plot_torques(result, torque)
    return figure


def _plot_torques(result: Result, ax: "Axes") -> None:
    known: dict[str, Any] = {"color": "k", "linestyle": ":", "linewidth": 0.8}
    for k, name in enumerate(MOTORS):
        port = result.port(name)
        ax.plot(port.time, port.u[:, 0], color=COLOURS[k], label=name)
        ax.plot(torques()[0], torques()[1][:, k], **known)
    describe(ax, "Torques of motors, and inverse dynamics (dotted)", "torque [N m]", ncols=2)


EXAMPLE = Example(
    title="Robot arm with computed torque",
    source="[CA94]; Corke's Robotics Toolbox",
    scheme="ph-mp",
    h=EVERY,
    t_end=DURATION,
    model=model,
    check=check,
    plot=plot,
)
