r"""A pole on a cart is swung up with the least effort, by the gradient of its motion.

The force u on the cart takes the pole from hanging to standing within T = 2 s, the cart by one
metre [K17, sec. 7]. Here the end is not prescribed; it costs what the state x is off,

.. math:: L = \int_0^T u^2\, dt + w^2\, |x(T) - x_T|^2 .

The force is linear between a few times. Its best values are found from a guess by the gradient of
L, one sweep backwards through the motion. Pontryagin's equations for the same L are a boundary
value problem, which SciPy solves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import minimize

from poinsot.analysis.gradients.interface import gradient
from poinsot.analysis.losses import Final
from poinsot.bodies.shapes import Box, RigidBody
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Prismatic, Revolute
from poinsot.parts.loads import JointPort
from poinsot.ph.signals import Table
from poinsot.result import Array, Result
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

#: Steps, end [s], what the end costs, and where it is to be: displacement, angle, rates.
STEPS, T_END, WEIGHT = 40, 2.0, 10.0
GOAL = np.array([1.0, -np.pi, 0.0, 0.0])
#: The force is given at so many times; a guess of it [N], from a search that began with a sine.
GUESS = np.array(
    [-7.0, -3.0, 3.0, 8.0, 9.0, 4.0, 0.0, -1.0, -6.0, -13.0, -1.0, 4.0, 2.0, -1.0, -4.0]
)
KNOTS = np.linspace(0, T_END, GUESS.size)
#: What the end costs, as a formula of channels.
END = f"(rail - 1)**2 + (pin + {np.pi})**2 + rail.rate**2 + pin.rate**2"


@dataclass(frozen=True)
class CartPole:
    """A cart and a pole with its mass at the end [K17, table 2]; SI units."""

    cart: float = 1.0
    pole: float = 0.3
    length: float = 0.5
    inertia: float = 1e-5  # of the pole about its end
    gravity: float = 9.81

    def rates(self, z: Array, u: Array) -> Array:
        """Return the rates of displacement, angle from hanging, and their rates; (4, k)."""
        _, a, v, w = z
        m, l, g = self.pole, self.length, self.gravity
        J = m * l**2 + self.inertia
        c, s = m * l * np.cos(a), m * l * np.sin(a)
        # With the pole turned by a about y, its end is at (x - l sin a, -l cos a).
        force, torque = u - s * w**2, -s * g
        det = (self.cart + m) * J - c**2
        return np.array(
            [v, w, (J * force + c * torque) / det, ((self.cart + m) * torque + c * force) / det]
        )


CASE = CartPole()


def model(inputs: Table | None = None) -> Model:
    """Build the cart on `rail` and the pole on `pin`, pushed at the port `motor`."""
    table = Model(gravity=(0, 0, -CASE.gravity), name="optimal-swing-up")
    cart = table.add_body("cart", Box(mass=CASE.cart, size=(0.3, 0.2, 0.1)))
    end = RigidBody(mass=CASE.pole, inertia=(CASE.inertia,) * 3)
    pole = table.add_body("pole", end, position=(0, 0, -CASE.length))
    table.add_joint("rail", Prismatic(table.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    table.add_joint("pin", Revolute(cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    table.add_port("motor", JointPort("rail", value=0.0 if inputs is None else inputs))
    return table


@dataclass(frozen=True)
class Optimum:
    """Values of the force (knots,), their cost with that of the end, and how it was found."""

    force: Array
    cost: float
    slope: float
    motions: int


@cache
def optimum(steps: int = STEPS) -> Optimum:
    """Return the force of least cost, by the gradient of the motion."""
    h, plain, seen = T_END / steps, model(), []
    middle = T_END * (np.arange(steps) + 0.5) / steps
    each = np.array([np.interp(middle, KNOTS, one) for one in np.eye(KNOTS.size)])
    effort = h * each @ each.T

    def cost(force: Array) -> tuple[float, Array]:
        inputs = {"motor": Table(KNOTS, force)}
        loss = WEIGHT**2 * Final(END)
        found = gradient(plain, loss, "inputs.motor", h=h, t_end=T_END, inputs=inputs)
        seen.append(found)
        return force @ effort @ force + found.value, 2 * effort @ force + found.flat

    start = GUESS if steps <= STEPS else optimum(steps // 2).force
    fit = minimize(cost, start, jac=True, method="BFGS", options={"maxiter": 12})
    return Optimum(fit.x, float(fit.fun), float(abs(fit.jac).max()), len(seen))


def slopes(z: Array, u: Array) -> Array:
    """Return the derivatives of all rates by each coordinate, by complex steps; (4, 4, k)."""
    shifts = 1e-20j * np.eye(4)[:, :, None]
    return np.array([CASE.rates(z + shift, u).imag / 1e-20 for shift in shifts])


def best_force(y: Array) -> Array:
    """Return the force that costates ask for."""
    none = np.zeros_like(y[0])
    by_u = CASE.rates(y[:4], none + 1) - CASE.rates(y[:4], none)
    return np.asarray(-0.5 * np.sum(y[4:] * by_u, axis=0))


@cache
def by_pontryagin() -> tuple[Array, Array, float]:
    """Return times, the best force and its cost, from the equations of states and costates."""
    times, force = np.linspace(0, T_END, 401), optimum().force

    def given(t: float) -> Array:
        return np.array([np.interp(t, KNOTS, force)])

    def integrated(rates: Callable[[float, Array], Array], start: Array, *, back: bool) -> Array:
        at = times[::-1] if back else times
        z = solve_ivp(rates, (at[0], at[-1]), start, t_eval=at, rtol=1e-8, atol=1e-8).y
        return z[:, ::-1] if back else z

    # A guess: our motion, and the costates along it that ask for a force like ours.
    z = integrated(lambda t, z: CASE.rates(z[:, None], given(t))[:, 0], np.zeros(4), back=False)

    def costates(t: float, lam: Array) -> Array:
        here = np.array([np.interp(t, times, row) for row in z])
        return -slopes(here[:, None], given(t))[:, :, 0] @ lam

    basis = [integrated(costates, one, back=True) for one in np.eye(4)]
    asked = np.array([best_force(np.vstack([z, lam])) for lam in basis]).T
    weights = np.linalg.lstsq(asked, np.interp(times, KNOTS, force), rcond=None)[0]
    guess = np.vstack([z, np.einsum("k,kij->ij", weights, np.array(basis))])

    def equations(t: Array, y: Array) -> Array:
        u = best_force(y)
        back = -np.einsum("ikt,kt->it", slopes(y[:4], u), y[4:])
        return np.vstack([CASE.rates(y[:4], u), back])

    def ends(a: Array, b: Array) -> Array:
        return np.concatenate([a[:4], b[4:] - 2 * WEIGHT**2 * (b[:4] - GOAL)])

    solved = solve_bvp(equations, ends, times, guess, tol=1e-5, max_nodes=20000)
    if not solved.success:
        raise ArithmeticError(solved.message)
    fine = np.linspace(0, T_END, 2001)
    y = solved.sol(fine)
    u, off = best_force(y), y[:4, -1] - GOAL
    return fine, u, float(np.trapezoid(u**2, fine) + WEIGHT**2 * off @ off)


def check(result: Result) -> list[Check]:
    """Compare the least cost with Pontryagin's, and the motion of a run."""
    coarse, fine, exact = optimum(), optimum(2 * STEPS), round(by_pontryagin()[2], 2)
    limit = fine.cost + (fine.cost - coarse.cost) / 3
    return [
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-12),
        Check("lowest cost, h -> 0 [N^2 s]", limit, exact, 0.25, "Pontryagin, solve_bvp"),
        vanishing("largest component of the gradient", [coarse.slope, fine.slope], 0.5),
        vanishing("error of the displacement at the end [m]", end_of(result)[0] - GOAL[0], 0.1),
        vanishing("error of the angle at the end [rad]", end_of(result)[1] - GOAL[1], 0.3),
    ]


def end_of(result: Result) -> Array:
    """Return displacement and angle at the end."""
    rail, pin = (result.joint(name) for name in ("rail", "pin"))
    return np.array([rail.coordinates["displacement"][-1], pin.coordinates["angle"][-1]])


def swung() -> Model:
    """Return the model with the best force."""
    return model(Table(KNOTS, optimum().force))


def plot(result: Result) -> "Figure":
    """Plot the motion, the force against Pontryagin's, and the balance."""
    rail, pin = (result.joint(name).coordinates for name in ("rail", "pin"))
    with drawing(9, 6) as figure:
        (motion, force), (path, balance) = figure.subplots(2, 2)
        motion.plot(result.time, np.degrees(pin["angle"]), label="angle [°]")
        motion.plot(result.time, 100 * rail["displacement"], label="displacement [cm]")
        describe(motion, "From hanging to standing", "coordinates")
        port = result.port("motor")
        force.plot(port.time, port.u[:, 0], label="by the gradient")
        times, u, _ = by_pontryagin()
        force.plot(times, u, color="0.4", linewidth=1, label="Pontryagin")
        describe(force, "The least effort", "force on the cart [N]")
        place = result.position("pole")
        path.plot(place[:, 0], place[:, 2])
        path.set_aspect("equal")
        describe(path, "The end of the pole", "z [m]")
        path.set_xlabel("x [m]")
        plot_balance(result, balance)
    return figure


EXAMPLE = Example(
    title="Optimal swing-up of a pole",
    source="Kelly 2017 [K17] with a penalty at the end",
    scheme="ph-mp",
    h=T_END / STEPS,
    t_end=T_END,
    model=swung,
    check=check,
    plot=plot,
)
