"""A heavy symmetric top in steady precession [KB24, sec. 5.4].

A cone on its tip, released such that its axis keeps its inclination and goes round evenly:

    R(t) = R_z(omega_p t) R_x(theta) R_z(omega_s t),    phi(t) = l R(t) e3.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.shapes import Composite, Cone
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.extrapolation import extrapolate, neighbour_mean
from poinsot.model import Model
from poinsot.parts.joints import Spherical
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.so3 import Rotation, euler_to_matrix
from poinsot.viz import plot_balance, plot_momentum
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Figure, drawing


@dataclass(frozen=True)
class Top:
    """Parameters of the cone and its motion [KB24, Table 4], SI units."""

    density: float = 2700.0
    height: float = 0.1
    gravity: float = 9.81
    inclination: float = np.pi / 3  # theta, from the vertical
    precession: float = 10.0  # omega_p

    @property
    def radius(self) -> float:
        """Radius of the base, half of the height."""
        return self.height / 2

    @property
    def mass(self) -> float:
        """Mass of the cone."""
        return self.density * np.pi * self.radius**2 * self.height / 3

    @property
    def arm(self) -> float:
        """Distance l from the tip to the centre of mass."""
        return 3 / 4 * self.height

    @property
    def inertia(self) -> tuple[float, float]:
        """Moments of inertia (J1, J3) about the tip: m l^2 belongs to J1 alone."""
        J1 = 3 / 80 * self.mass * (4 * self.radius**2 + self.height**2)
        return J1 + self.mass * self.arm**2, 3 / 10 * self.mass * self.radius**2

    @property
    def spin(self) -> float:
        """omega_s of steady precession [KB24, eq. (118)]."""
        (J1, J3), omega_p = self.inertia, self.precession
        weight = self.mass * self.gravity * self.arm
        tilt = float(np.cos(self.inclination))
        return weight / (J3 * omega_p) + (J1 - J3) / J3 * omega_p * tilt

    @property
    def energy(self) -> float:
        """Kinetic and potential energy in closed form, the tip at height zero."""
        (J1, J3), omega_p, theta = self.inertia, self.precession, self.inclination
        about_axis = self.spin + omega_p * np.cos(theta)
        kinetic = (J1 * (omega_p * np.sin(theta)) ** 2 + J3 * about_axis**2) / 2
        return float(kinetic + self.mass * self.gravity * self.arm * np.cos(theta))

    @property
    def vertical_momentum(self) -> float:
        """Angular momentum about the vertical through the tip, in closed form."""
        (J1, J3), omega_p, theta = self.inertia, self.precession, self.inclination
        about_axis = self.spin + omega_p * np.cos(theta)
        return float(J1 * omega_p * np.sin(theta) ** 2 + J3 * about_axis * np.cos(theta))

    def rotation(self, time: ArrayLike) -> Array:
        """Return R_WB in closed form; shape (times, 3, 3)."""
        t = np.atleast_1d(np.asarray(time, dtype=float))
        angles = [self.precession * t, np.full(t.size, self.inclination), self.spin * t]
        return np.array([euler_to_matrix("ZXZ", each) for each in np.transpose(angles)])

    def position(self, time: ArrayLike) -> Array:
        """Return the centre of mass [KB24, eq. (120)]; shape (times, 3)."""
        return self.arm * self.rotation(time)[:, :, 2]

    def reaction(self, time: ArrayLike) -> Array:
        """Return the force of the ground on the tip, m (phi'' + g e3); shape (times, 3)."""
        acceleration = -(self.precession**2) * self.position(time)
        acceleration[:, 2] = self.gravity
        return self.mass * acceleration


def model(top: Top = Top()) -> Model:
    """Build the cone, body `top`, on a spherical joint `tip` at the origin."""
    mechanism = Model(gravity=(0, 0, -top.gravity), name="heavy-top")
    cone = Cone(density=top.density, radius=top.radius, height=top.height)
    upside_down = Rotation.from_axis_angle((1, 0, 0), np.pi)
    tilt = Rotation.from_axis_angle((1, 0, 0), top.inclination)
    axis = tilt.matrix[:, 2]
    body = mechanism.add_body(
        "top",
        Composite(parts=[(cone, (0, 0, 0), upside_down)]),
        position=top.arm * axis,
        rotation=tilt,
        angular_velocity=top.spin * axis + (0, 0, top.precession),
    )
    mechanism.add_joint("tip", Spherical(mechanism.ground, body, point=(0, 0, 0)))
    return mechanism


def measured(result: Result, t: float) -> Array:
    """Return centre of mass, reaction at the tip and rotation at time t; shape (15,)."""
    n = round(t / result.h)
    force = neighbour_mean(result.reaction("tip").force[n - 1 : n + 1])[0]
    return np.concatenate([result.position("top")[n], force, result.rotation("top")[n].reshape(-1)])


def check(result: Result) -> list[Check]:
    """Compare invariants of the published run, and the limit of small steps, with closed forms."""
    top, t = Top(), 0.1
    runs = [simulate(model(), h=h, t_end=t + h) for h in (2e-3, 1e-3, 5e-4)]
    limit = extrapolate([measured(run, t) for run in runs])
    exact = np.concatenate([top.position(t)[0], top.reaction(t)[0], top.rotation(t)[0].reshape(-1)])
    error = limit - exact
    steady, order = "steady precession in closed form", "steady precession, h -> 0"
    momentum = result.angular_momentum[:, 2]
    return [
        Check("energy at the start [J]", result.energy[0], top.energy, 1e-12, steady),
        Check("L_3 at the start [kg m^2/s]", momentum[0], top.vertical_momentum, 1e-14, steady),
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-12),
        vanishing("largest change of L_3", np.ptp(momentum), 1e-14),
        vanishing("error of the centre of mass at 0.1 s [m]", error[:3], 1e-8, order),
        vanishing("error of the reaction at 0.1 s [N]", error[3:6], 1e-4, order),
        vanishing("error of the rotation at 0.1 s", error[6:], 1e-5, order),
    ]


def plot(result: Result) -> "Figure":
    """Plot the centre of mass, with its exact path, and what is conserved."""
    phi, exact = result.position("top"), Top().position(result.time)
    turning = result.angular_momentum[:, 2]
    with drawing(9, 8) as figure:
        axes = figure.subplots(3, 2)
        (path, height), (horizontal, vectors), (energy, vertical) = axes
        path.plot(*phi[:, :2].T, label=f"h = {result.h:g} s")
        path.plot(*exact[:, :2].T, "--", label="exact")
        describe(path, "The centre of mass from above", "y [m]", xlabel="x [m]", aspect="equal")
        path.legend(loc="center")
        for ax, k, axis in ((horizontal, 0, "x"), (height, 2, "z")):
            ax.plot(result.time, phi[:, k], label=f"h = {result.h:g} s")
            ax.plot(result.time, exact[:, k], "--", label="exact")
            ax.set(xlabel="time [s]", ylabel=f"{axis} [m]")
        horizontal.set_title("Horizontal component: slightly late")
        height.set_title("Height: a small nutation")
        height.set_ylim(0.033, 0.039)
        plot_momentum(result, vectors, title="Angular momentum about the tip", ylim=(-0.055, 0.105))
        vectors.legend(ncols=3, loc="upper right")
        plot_balance(result, energy, title="Energy is constant")
        vertical.plot(result.time, turning - turning[0], ".", markersize=3, color=COLOURS[2])
        describe(vertical, "So is the vertical momentum", "$L_z - L_z(0)$ [kg m²/s]")
    return figure


EXAMPLE = Example(
    title="Heavy top",
    source="[KB24, sec. 5.4]",
    scheme="ph-mp",
    h=0.01,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
)
