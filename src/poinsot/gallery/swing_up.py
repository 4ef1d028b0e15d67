r"""A pole on a cart that swings itself up by its energy and is then kept upright by LQR [AF00].

With the angle x of the pole from the upright, its energy there E = J x'^2/2 + m g l (cos x - 1) and
the acceleration a of the cart,

    J x'' = m l (g sin x - a cos x),        E' = -m l a x' cos x,

so that a = k E x' cos x drives E to zero [AF00]. Near the upright a linear-quadratic
regulator of samples takes over.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_discrete_are

from poinsot.bodies.shapes import Box
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.extrapolation import extrapolate
from poinsot.model import Model
from poinsot.parts.joints import Prismatic, Revolute
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

#: What the controller reads: displacement and angle from the start, and their rates.
READS = ["rail", "pin", "rail.rate", "pin.rate"]
#: The motion is compared with SciPy's up to here [s].
COMPARED = 2.0


@dataclass(frozen=True)
class CartPole:
    """A cart and a pole that hangs from it, and their controller; SI units."""

    cart: float = 1.0
    pole: float = 0.2
    length: float = 1.0
    gravity: float = 9.81
    push: float = 0.5  # rate of the pole at the start
    every: float = 0.01
    gain: float = 4.0  # k
    strongest: float = 8.0  # acceleration of the cart
    near: float = 0.35  # angle from the upright where LQR takes over

    @property
    def l(self) -> float:  # noqa: E743
        """From the pin to the centre of the pole."""
        return self.length / 2

    @property
    def J(self) -> float:
        """Inertia of the pole about the pin; its cross-section is a square of 0.02 m."""
        return self.pole * (self.length**2 / 3 + 0.02**2 / 12)

    @cached_property
    def linear(self) -> tuple[Array, Array]:
        """A and B near the upright, sampled: of displacement, angle and their rates."""
        ml = self.pole * self.l
        mass = np.array([[self.cart + self.pole, ml], [ml, self.J]])
        whole = np.zeros((5, 5))
        whole[:2, 2:4] = np.eye(2)
        loads = np.array([[0.0, 1.0], [ml * self.gravity, 0.0]])  # by the angle, by the force
        whole[2:4, [1, 4]] = np.linalg.solve(mass, loads)
        grown = expm(self.every * whole)
        return grown[:4, :4], grown[:4, 4:]

    @cached_property
    def K(self) -> Array:
        """The gains of LQR for samples, F = -K (displacement, angle, rates)."""
        A, B = self.linear
        P = solve_discrete_are(A, B, np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1))
        return np.asarray(np.linalg.solve(np.eye(1) + B.T @ P @ B, B.T @ P @ A)[0])

    def force(self, t: float, y: Array) -> float:
        """Return the force on the cart [N]."""
        s, turned, ds, dx = y
        m, l, J, g = self.pole, self.l, self.J, self.gravity
        x = np.arctan2(-np.sin(turned), -np.cos(turned))  # it hangs at the start
        if abs(x) < self.near:
            return float(-self.K @ [s, x, ds, dx])
        E = J * dx**2 / 2 + m * g * l * (np.cos(x) - 1)
        a = np.clip(self.gain * E * dx * np.cos(x), -self.strongest, self.strongest) - 2 * s - ds
        ddx = m * l * (g * np.sin(x) - a * np.cos(x)) / J
        return float((self.cart + m) * a + m * l * (ddx * np.cos(x) - dx**2 * np.sin(x)))

    def motion(self, t_end: float) -> Array:
        """Return displacement, angle and rates by SciPy, from the equations of two coordinates."""
        M, m, l, g = self.cart + self.pole, self.pole, self.l, self.gravity

        def rates(t: float, z: Array, F: float) -> Array:
            c, s = np.cos(z[1] + np.pi), np.sin(z[1] + np.pi)
            mass = [[M, m * l * c], [m * l * c, self.J]]
            force = [F + m * l * z[3] ** 2 * s, m * g * l * s]
            return np.concatenate([z[2:], np.linalg.solve(mass, force)])

        z = np.array([0.0, 0.0, 0.0, self.push])
        for k in range(round(t_end / self.every)):
            span, F = (k * self.every, (k + 1) * self.every), self.force(0.0, z)
            found = solve_ivp(rates, span, z, "DOP853", args=(F,), rtol=1e-11, atol=1e-12)
            z = found.y[:, -1]
        return z


def model(case: CartPole = CartPole()) -> Model:
    """Build the cart on `rail` and the pole on `pin`, with the controller `swing-up`."""
    table = Model(gravity=(0, 0, -case.gravity), name="swing-up")
    cart = table.add_body("cart", Box(mass=case.cart, size=(0.3, 0.2, 0.1)), velocity=(0, 0, 0))
    pole = table.add_body(
        "pole",
        Box(mass=case.pole, size=(0.02, 0.02, case.length)),
        position=(0, 0, -case.l),
        angular_velocity=(0, case.push, 0),
    )
    table.add_joint("rail", Prismatic(table.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    table.add_joint("pin", Revolute(cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    table.add_controller("swing-up", case.force, reads=READS, drives=["rail"], every=case.every)
    return table


def coordinates(result: Result) -> Array:
    """Return displacement, angle and rates over time; shape (times, 4)."""
    rail, pin = result.joint("rail"), result.joint("pin")
    found = [rail.coordinates["displacement"], pin.coordinates["angle"]]
    return np.array([*found, rail.rates["displacement"], pin.rates["angle"]]).T


def pole_energy(result: Result, case: CartPole = CartPole()) -> Array:
    """Return the energy of the pole about the pin, zero upright [J]."""
    z = coordinates(result)
    height = -np.cos(z[:, 1]) - 1
    return np.asarray(case.J * z[:, 3] ** 2 / 2 + case.pole * case.gravity * case.l * height)


def growth(result: Result, case: CartPole = CartPole()) -> float:
    """Return the largest eigenvalue from sample to sample, found from the last seconds."""
    z = coordinates(result)[:: round(case.every / result.h)][-400:-1]
    z[:, 1] -= 2 * np.pi * np.round((z[:, 1] - np.pi) / (2 * np.pi)) + np.pi
    step = np.linalg.lstsq(z[:-1], z[1:], rcond=None)[0].T
    return float(abs(np.linalg.eigvals(step)).max())


def check(result: Result) -> list[Check]:
    """Compare the swing-up with SciPy, and how it comes to rest with linear theory."""
    case = CartPole()
    runs = [simulate(model(), h=h, t_end=COMPARED) for h in (5e-3, 2.5e-3, 1.25e-3)]
    error = extrapolate([coordinates(run)[-1] for run in runs]) - case.motion(COMPARED)
    A, B = case.linear
    slowest = float(abs(np.linalg.eigvals(A - B @ case.K[None])).max())
    upright = np.cos(coordinates(result)[-1, 1]) + 1
    return [
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-12),
        vanishing("error of coordinates and rates at 2 s", error, 1e-8, "SciPy, h -> 0"),
        vanishing("1 + cosine of the angle at the end", upright, 1e-6, "upright"),
        vanishing("energy of the pole at the end [J]", pole_energy(result)[-1], 1e-3, "upright"),
        Check("largest eigenvalue of a sample", growth(result), slowest, 1e-4, "LQR"),
    ]


def plot(result: Result) -> "Figure":
    """Plot angle and displacement, the energy of the pole, the force and the balance."""
    z = coordinates(result)
    with drawing(9, 6) as figure:
        (motion, energy), (force, balance) = figure.subplots(2, 2)
        motion.plot(result.time, np.degrees(z[:, 1]), label="angle [°]")
        motion.plot(result.time, 100 * z[:, 0], label="displacement [cm]")
        describe(motion, "From hanging to standing", "coordinates")
        energy.plot(result.time, pole_energy(result))
        describe(energy, "The law pumps energy", "energy of the pole [J]")
        port = result.port("rail")
        force.plot(port.time, port.u[:, 0])
        describe(force, "Held between samples", "force on the cart [N]")
        plot_balance(result, balance, title="Energy is that put in")
    return figure


EXAMPLE = Example(
    title="Swing-up and balance of a pole",
    source="Åström and Furuta 2000 [AF00], our own case",
    scheme="ph-mp",
    h=0.005,
    t_end=10.0,
    model=model,
    check=check,
    plot=plot,
)
