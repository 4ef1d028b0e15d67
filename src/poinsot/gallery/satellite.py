r"""A satellite that three reaction wheels turn by quaternion feedback, about one axis [WWA89].

Where the angular momentum of all is zero, torques t of the wheels turn the hull by J w' = -t, with
J the inertia of all less that of each wheel about its axle: gyroscopic terms vanish. With the error
(cos(x/2), e sin(x/2)) of attitude, the law t = J (k e sin(x/2) + d w) turns it about e alone,

    x'' = -k sin(x/2) - d x'.

The law is sampled: from sample to sample the right-hand side is constant.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from poinsot.bodies.shapes import Box, Cylinder
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Revolute
from poinsot.result import Array, Result
from poinsot.so3 import Rotation, matrix_to_quat
from poinsot.viz import animate, plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

AXES = dict(zip("xyz", np.eye(3), strict=True))
SHOWN = 30.0  # s, of the animation: the rest is a slow end


@dataclass(frozen=True)
class Satellite:
    """A hull with three wheels, and where it shall turn; SI units."""

    mass: float = 50.0
    size: tuple[float, float, float] = (1.0, 0.8, 0.6)
    wheel: float = 2.0  # mass
    radius: float = 0.15
    thickness: float = 0.05
    arm: float = 0.2  # from the hull's centre to those of wheels
    axis: tuple[float, float, float] = (1 / 3, 2 / 3, 2 / 3)
    angle: float = np.radians(150.0)
    stiffness: float = 0.06  # k
    damping: float = 0.3  # d
    every: float = 0.1

    @property
    def goal(self) -> Array:
        """The attitude that it shall have."""
        return np.asarray(Rotation.from_axis_angle(self.axis, self.angle).matrix)

    @cached_property
    def J(self) -> Array:
        """The inertia that torques of wheels turn."""
        a, b, c = np.square(self.size)
        parts = [(self.mass, self.mass / 12 * np.diag([b + c, a + c, a + b]), np.zeros(3))]
        along = self.wheel * self.radius**2 / 2
        across = self.wheel * (3 * self.radius**2 + self.thickness**2) / 12
        for e in AXES.values():
            own = across * np.eye(3) + (along - across) * np.outer(e, e)
            parts.append((self.wheel, own, self.arm * e))
        centre = sum(m * r for m, _, r in parts) / sum(m for m, _, _ in parts)
        whole = np.zeros((3, 3))
        for m, own, r in parts:
            d = r - centre
            whole += own + m * (d @ d * np.eye(3) - np.outer(d, d))
        return np.asarray(whole - along * np.eye(3))

    def torques(self, t: float, y: Array) -> Array:
        """Return those of the wheels [N m], of the hull's attitude and angular velocity."""
        R, w = y[:9].reshape(3, 3), y[9:]
        error = matrix_to_quat(self.goal.T @ R)
        error = np.copysign(1.0, error[0]) * error
        return np.asarray(self.J @ (self.stiffness * error[1:] + self.damping * R.T @ w))

    def angles(self, samples: int) -> Array:
        """Return the angle from the goal at samples, in closed form from one to the next [rad]."""
        x, rate, T, found = self.angle, 0.0, self.every, []
        for _ in range(samples):
            found.append(x)
            push = -self.stiffness * np.sin(x / 2) - self.damping * rate
            x, rate = x + T * rate + T**2 / 2 * push, rate + T * push
        return np.array(found)


def model(case: Satellite = Satellite()) -> Model:
    """Build `hull` and `wheel x`, `wheel y`, `wheel z` on axles, with the controller `attitude`."""
    space = Model(name="satellite")
    hull = space.add_body("hull", Box(mass=case.mass, size=case.size))
    shape = Cylinder(mass=case.wheel, radius=case.radius, length=case.thickness)
    for name, axis in AXES.items():
        turned = {"x": (0, 1, 0), "y": (-1, 0, 0), "z": (0, 0, 1)}[name]
        wheel = space.add_body(
            f"wheel {name}",
            shape,
            position=case.arm * axis,
            rotation=Rotation.from_axis_angle(turned, 0.0 if name == "z" else np.pi / 2),
        )
        space.add_joint(f"axle {name}", Revolute(hull, wheel, point=case.arm * axis, axis=axis))
    space.add_controller(
        "attitude",
        case.torques,
        reads=["hull.rotation", "hull.angular_velocity"],
        drives=[f"axle {name}" for name in AXES],
        every=case.every,
    )
    return space


def error_angles(result: Result, case: Satellite = Satellite()) -> tuple[Array, Array]:
    """Return the angle from the goal over time [rad], and how far its axis strays."""
    error = matrix_to_quat(case.goal.T @ result.rotation("hull"))
    error = error * np.where(error[:, :1] < 0, -1.0, 1.0)
    still, vector = error[:, 0], -error[:, 1:]
    strays = np.linalg.norm(np.cross(vector, case.axis), axis=1)
    return 2 * np.arctan2(vector @ case.axis, still), strays


def check(result: Result) -> list[Check]:
    """Compare with the turn about one axis in closed form, and what is conserved."""
    case, (angle, strays) = Satellite(), error_angles(result)
    sampled = angle[:: round(case.every / result.h)]
    away = sampled - case.angles(sampled.size)
    return [
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-13),
        vanishing("angular momentum [kg m^2/s]", result.angular_momentum, 1e-12),
        vanishing("angle against the closed form [rad]", away, 2e-4, "[WWA89]"),
        vanishing("error off the axis", strays, 1e-4, "[WWA89]"),
        vanishing("error of the angle at the end [rad]", angle[-1], 1e-3, "at rest"),
    ]


def plot(result: Result) -> "Figure":
    """Plot the angle, torques and rates of wheels, and the balance."""
    with drawing(9, 6) as figure:
        (turn, torque), (rate, balance) = figure.subplots(2, 2)
        turn.plot(result.time, np.degrees(error_angles(result)[0]))
        describe(turn, "A turn about one axis", "angle from the goal [°]")
        for name in AXES:
            port = result.port(f"axle {name}")
            torque.plot(port.time, port.u[:, 0], label=name)
            rate.plot(result.time, result.joint(f"axle {name}").rates["angle"], label=name)
        describe(torque, "What the law asks for", "torque of wheels [N m]")
        describe(rate, "Wheels take the momentum", "rate of wheels [rad/s]")
        plot_balance(result, balance, title="Energy is that put in")
    return figure


EXAMPLE = Example(
    title="Satellite with three reaction wheels",
    source="Wie, Weiss and Arapostathis 1989 [WWA89], our own case",
    scheme="ph-mp",
    h=0.02,
    t_end=60.0,
    model=model,
    check=check,
    plot=plot,
    animate=partial(animate, end=SHOWN, bodies=("hull",)),
)
