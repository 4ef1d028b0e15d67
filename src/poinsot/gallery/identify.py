r"""Mass and friction of a double pendulum from noisy angles, with confidence intervals.

Angles y_k of both hinges are measured 100 times a second, with noise of standard deviation s. The
parameters p are those of least squares; with the sensitivities J of all measured angles,

.. math:: \operatorname{cov} p = s^2\, (J^\top J)^{-1}

is the inverse of Fisher's information: no unbiased estimate of the same data has a smaller one.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

from poinsot.analysis.gradients.interface import sensitivities
from poinsot.bodies.body import Body, Ground
from poinsot.bodies.shapes import Box
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.fitting import fitted
from poinsot.model import Model
from poinsot.parts.friction import JointFriction
from poinsot.parts.joints import Revolute
from poinsot.result import Array, Result
from poinsot.so3 import Rotation
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

#: Step [s], which is that of the samples; end [s]; noise [rad].
H, T_END, NOISE = 0.01, 1.2, float(np.radians(1.5))
#: What is identified, and what the data was made with.
TRUE = {
    "bodies.lower.mass": 0.7,
    "forces.bearing.viscous": 0.05,
    "forces.elbow bearing.viscous": 0.02,
}
GUESS = np.array([1.0, 0.02, 0.05])
#: About half of the deviations: a part of them is the error of the scheme.
TOLERANCES = 3e-3, 2e-3, 4e-4


@dataclass(frozen=True)
class DoublePendulum:
    """Two square bars on hinges; SI units."""

    upper: float = 1.0
    lower: float = 0.7
    friction: tuple[float, float] = (0.05, 0.02)
    lengths: tuple[float, float] = (0.6, 0.5)
    width: float = 0.04
    gravity: float = 9.81
    lean: float = 1.0  # both bars at the start, from hanging

    def motion(self, times: Array, rtol: float = 1e-10) -> Array:
        """Return the angles of both hinges at times by SciPy, from Lagrange's equations."""
        (m1, m2), (l1, l2), (d1, d2), g = (
            (self.upper, self.lower),
            self.lengths,
            self.friction,
            self.gravity,
        )
        J1, J2 = (m * (length**2 + self.width**2) / 12 for m, length in ((m1, l1), (m2, l2)))
        A, B, C = J1 + m1 * l1**2 / 4 + m2 * l1**2, m2 * l1 * l2 / 2, J2 + m2 * l2**2 / 4

        def rates(t: float, z: Array) -> Array:
            a, b, da, db = z
            c, s, slip = np.cos(a - b), np.sin(a - b), d2 * (db - da)
            mass = [[A, B * c], [B * c, C]]
            force = [
                -B * s * db**2 - (m1 / 2 + m2) * g * l1 * np.sin(a) - d1 * da + slip,
                B * s * da**2 - m2 * g * l2 / 2 * np.sin(b) - slip,
            ]
            return np.array([da, db, *np.linalg.solve(mass, force)])

        span, start = (times[0], times[-1]), [self.lean, self.lean, 0, 0]
        z = solve_ivp(rates, span, start, "DOP853", times, rtol=rtol, atol=1e-12).y
        return np.column_stack([z[0] - self.lean, z[1] - z[0]])


CASE = DoublePendulum()


def model(case: DoublePendulum = CASE) -> Model:
    """Build the pendulum on the hinges `shoulder` and `elbow`, with friction in both."""
    pendulum = Model(gravity=(0, 0, -case.gravity), name="identify")
    down = np.array([np.sin(case.lean), 0, -np.cos(case.lean)])
    turned = Rotation.from_axis_angle((0, 1, 0), -case.lean)
    place = np.zeros(3)
    before: Body | Ground = pendulum.ground
    masses, hinges = (case.upper, case.lower), ("shoulder", "elbow")
    parts = zip(("upper", "lower"), masses, case.lengths, hinges, strict=True)
    for name, mass, length, hinge in parts:
        shape = Box(mass=mass, size=(case.width, case.width, length))
        centre = place + length / 2 * down
        bar = pendulum.add_body(name, shape, position=centre, rotation=turned)
        pendulum.add_joint(hinge, Revolute(before, bar, point=place, axis=(0, -1, 0)))
        place, before = place + length * down, bar
    for name, hinge, viscous in zip(
        ("bearing", "elbow bearing"), hinges, case.friction, strict=True
    ):
        pendulum.add_force(name, JointFriction(hinge, viscous=viscous))
    return pendulum


@cache
def measured() -> tuple[Array, Array]:
    """Return times and angles (times, 2) with noise, which no step of ours has made."""
    times = np.linspace(0, T_END, round(T_END / H) + 1)
    noise = np.random.default_rng(7).normal(0, NOISE, (times.size, 2))
    return times, CASE.motion(times) + noise


@dataclass(frozen=True)
class Estimate:
    """Parameters, their standard deviations, and how often the motion was computed."""

    values: Array
    deviations: Array
    motions: int


@cache
def identified() -> Estimate:
    """Return the estimate by the sensitivities of our own motions."""
    _, angles = measured()

    def motion(p: Array) -> tuple[Array, Array]:
        values = dict(zip(TRUE, p.tolist(), strict=True))
        found = sensitivities(model(), ["shoulder", "elbow"], values, h=H, t_end=T_END)
        return (found.flat - angles.T.reshape(-1)) / NOISE, found.jacobian / NOISE

    fit, motions = fitted(motion, GUESS, xtol=1e-8, x_scale=GUESS)
    covariance = np.linalg.inv(fit.jac.T @ fit.jac)
    return Estimate(fit.x, np.sqrt(np.diag(covariance)), motions)


@cache
def by_scipy() -> Estimate:
    """Return the same by Lagrange's equations and differences."""
    times, angles = measured()

    def off(p: Array) -> Array:
        case = DoublePendulum(lower=p[0], friction=(p[1], p[2]))
        return np.asarray(((case.motion(times) - angles) / NOISE).reshape(-1))

    fit: Any = least_squares(off, GUESS, x_scale=GUESS, diff_step=[1e-5], xtol=1e-8)
    covariance = np.linalg.inv(fit.jac.T @ fit.jac)
    return Estimate(fit.x, np.sqrt(np.diag(covariance)), fit.nfev)


def check(result: Result) -> list[Check]:
    """Compare estimates and deviations with those of SciPy, and with the truth."""
    ours, theirs = identified(), by_scipy()
    checks = [vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-12)]
    rows = zip(TRUE, TRUE.values(), TOLERANCES, range(3), strict=True)
    for path, true, tolerance, k in rows:
        deviation, off = ours.deviations[k], (ours.values[k] - true) / ours.deviations[k]
        exact = (float(f"{each[k]:.4g}") for each in (theirs.values, theirs.deviations))
        value, sigma = exact
        checks += [
            Check(path, ours.values[k], value, tolerance, "SciPy, Lagrange"),
            Check(f"standard deviation of {path}", deviation, sigma, tolerance / 20, "SciPy"),
            Check(f"{path}: error in standard deviations", off, 0.0, 3.0, "truth"),
        ]
    return checks


def plot(result: Result) -> "Figure":
    """Plot measured and fitted angles, what is left, estimates and balance."""
    times, angles = measured()
    found = identified()
    with drawing(9, 6) as figure:
        (motion, rest), (estimates, balance) = figure.subplots(2, 2)
        for k, hinge in enumerate(("shoulder", "elbow")):
            fitted = result.joint(hinge).coordinates["angle"]
            motion.plot(result.time, np.degrees(fitted), label=hinge)
            motion.plot(times, np.degrees(angles[:, k]), ".", color="0.4", markersize=3)
            if fitted.shape == times.shape:
                rest.plot(times, np.degrees(angles[:, k] - fitted), ".", label=hinge)
        describe(motion, "Measured and true motion", "angle [°]")
        describe(rest, "Noise", "angle [°]", ncols=2, room=0.15)
        true = np.array(list(TRUE.values()))
        names = ["mass", "bearing", "elbow\nbearing"]
        estimates.errorbar(
            names, found.values / true, 1.96 * found.deviations / true, fmt="o", capsize=4
        )
        estimates.axhline(1, color="0.6", linewidth=1)
        describe(estimates, "95 % confidence", "estimate over truth")
        estimates.set_xlabel("")
        plot_balance(result, balance)
    return figure


EXAMPLE = Example(
    title="Identify mass and friction from noisy angles",
    source="Lagrange's equations and Fisher's information, our own case",
    scheme="ph-mp",
    h=H,
    t_end=T_END,
    model=model,
    check=check,
    plot=plot,
)
