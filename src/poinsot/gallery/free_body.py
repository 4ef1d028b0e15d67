r"""A free asymmetric body: Euler's equations, solved by elliptic functions [KB24, sec. 5.3].

.. math:: J \dot\Omega = J \Omega \times \Omega, \qquad \dot R = R \hat\Omega

Energy and momentum confine the angular momentum in the body to the curve in which an ellipsoid and
a sphere meet. Poinsot's construction draws the motion from these two invariants.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ellipj, ellipk, ellipkinc, elliprf, elliprj

from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate
from poinsot.model import Model
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.so3 import exp
from poinsot.viz import plot_drift, plot_momentum
from poinsot.viz.axes import describe, panels
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

MOMENTA = [f"L_{i} at the end [kg m^2/s]" for i in (1, 2, 3)]


@dataclass(frozen=True)
class Tumbling:
    """Principal inertia J [kg m^2] and initial angular velocity in body axes [rad/s].

    The closed form is written out for J3 < J1 < J2, |L|^2 > 2 T J1 and positive rates at the start:
    the body turns about its axis of largest inertia.
    """

    inertia: tuple[float, float, float] = (6.0, 8.0, 3.0)
    rates: tuple[float, float, float] = (10.0, 20.0, 20.0)

    @property
    def energy(self) -> float:
        """T = Omega·J Omega / 2 [J]."""
        return float(np.dot(self.inertia, np.square(self.rates))) / 2

    @property
    def momentum(self) -> Array:
        """L = J Omega at the start [kg m^2/s]; body axes are the world's then."""
        return np.multiply(self.inertia, self.rates)

    @cached_property
    def _elliptic(self) -> tuple[float, float, float, float]:
        """(a, m, lambda, u0) of Omega_2 = a dn(u|m), u = u0 + lambda t."""
        (J1, J2, J3), T2, LL = self.inertia, 2 * self.energy, float(self.momentum @ self.momentum)
        a = np.sqrt((LL - T2 * J3) / (J2 * (J2 - J3)))
        m = (J1 - J3) * (T2 * J2 - LL) / ((J2 - J1) * (LL - T2 * J3))
        rate = np.sqrt((J2 - J1) * (LL - T2 * J3) / (J1 * J2 * J3))
        b, c = self._amplitudes
        start = ellipkinc(np.arctan2(self.rates[0] / b, self.rates[2] / c), m)
        return float(a), float(m), float(rate), float(start)

    @property
    def _amplitudes(self) -> tuple[float, float]:
        """(b, c) of Omega_1 = b sn(u|m) and Omega_3 = c cn(u|m)."""
        (J1, J2, J3), T2, LL = self.inertia, 2 * self.energy, float(self.momentum @ self.momentum)
        return (
            float(np.sqrt((T2 * J2 - LL) / (J1 * (J2 - J1)))),
            float(np.sqrt((T2 * J2 - LL) / (J3 * (J2 - J3)))),
        )

    @property
    def period(self) -> float:
        """Period of the angular velocity in body axes [s]."""
        _, m, rate, _ = self._elliptic
        return float(4 * ellipk(m) / rate)

    def body_rates(self, time: ArrayLike) -> Array:
        """Return Omega [rad/s], body axes; shape (times, 3)."""
        (a, m, rate, start), (b, c) = self._elliptic, self._amplitudes
        sn, cn, dn, _ = ellipj(start + rate * np.atleast_1d(time), m)
        return np.column_stack([b * sn, a * dn, c * cn])

    def rotation(self, time: ArrayLike) -> Array:
        r"""Return R_WB; shape (times, 3, 3).

        A triad on L, and on the line of nodes L x d2 that goes round L by the angle

        .. math:: \psi = \int L \frac{2T - J_2 \Omega_2^2}{L^2 - J_2^2 \Omega_2^2} dt,

        an elliptic integral of the third kind.
        """
        t = np.atleast_1d(np.asarray(time, dtype=float))
        l = self.momentum / np.linalg.norm(self.momentum)
        psi = self._precession(t) - self._precession(np.zeros(1))
        start = _triad(self.momentum)
        world = exp(psi[:, None] * l) @ start
        body = np.array([_triad(L_B) for L_B in self.body_rates(t) * np.array(self.inertia)])
        return np.asarray(world @ np.swapaxes(body, 1, 2))

    def _precession(self, t: Array) -> Array:
        (a, m, rate, start), J2 = self._elliptic, self.inertia[1]
        L = float(np.linalg.norm(self.momentum))
        n = (J2 * a) ** 2 * m / ((J2 * a) ** 2 - L**2)
        factor = (2 * self.energy - L**2 / J2) / (L**2 - (J2 * a) ** 2)
        return L * (t / J2 + factor * _third_kind(n, start + rate * t, m) / rate)


def _third_kind(n: float, u: Array, m: float) -> Array:
    """Return the integral of 1/(1 - n sn^2) from 0 to u, by Carlson's symmetric forms."""
    half = 2 * ellipk(m)
    turns = np.round(u / half)

    def incomplete(s: Array, c: Array) -> Array:
        squares = c**2, 1 - m * s**2, np.ones_like(s)
        return np.asarray(
            s * elliprf(*squares) + n / 3 * s**3 * elliprj(*squares, 1 - n * s**2), dtype=float
        )

    sn, cn, _, _ = np.asarray(ellipj(u - turns * half, m), dtype=float)
    return np.asarray(2 * turns * incomplete(np.ones(1), np.zeros(1)) + incomplete(sn, cn))


def _triad(L: Array) -> Array:
    """Return the orthonormal columns (l, p, l x p), p along e2 x l."""
    l = L / np.linalg.norm(L)
    p = np.cross([0.0, 1.0, 0.0], l)
    p = p / np.linalg.norm(p)
    return np.column_stack([l, p, np.cross(l, p)])


def model(tumbling: Tumbling = Tumbling()) -> Model:
    """Build the body, `body`: nothing else is there; the mass of 1 kg plays no part."""
    mechanism = Model(name="free-body")
    mechanism.add_body(
        "body",
        RigidBody(mass=1.0, inertia=tumbling.inertia),
        velocity=(0, 0, 0),
        angular_velocity=tumbling.rates,
    )
    return mechanism


def body_rates(result: Result) -> Array:
    """Return the simulated Omega [rad/s], body axes; shape (times, 3)."""
    spin = result.angular_velocity("body")
    return np.asarray(np.einsum("tji,tj->ti", result.rotation("body"), spin))


def check(result: Result) -> list[Check]:
    """Compare invariants of the published run, and the limit of small steps, with closed forms."""
    tumbling, t = Tumbling(), 2.0
    runs = [simulate(model(), scheme=result.scheme, h=h, t_end=t) for h in (5e-3, 2.5e-3, 1.25e-3)]
    rates = extrapolate([body_rates(run)[-1] for run in runs])
    rotation = extrapolate([run.rotation("body")[-1] for run in runs])
    L, within = tumbling.momentum, 1e-11 * float(np.linalg.norm(tumbling.momentum))
    of_rates = body_rates(result) ** 2 @ tumbling.inertia / 2
    elliptic = "elliptic functions, h -> 0"
    return [
        Check("energy at the start [J]", result.energy[0], 2500.0, 1e-9, "[KB24, fig. 6]"),
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-9),
        Check("energy of Omega at the end [J]", of_rates[-1], 2500.0, 1e-9, "theory"),
        *compare(MOMENTA, result.angular_momentum[-1], L, within, "theory"),
        vanishing("error of Omega at 2 s [rad/s]", rates - tumbling.body_rates(t), 1e-3, elliptic),
        vanishing("error of the rotation at 2 s", rotation - tumbling.rotation(t), 1e-3, elliptic),
    ]


def plot(result: Result) -> "Figure":
    """Plot momentum in the body on its sphere, and rates and invariants over time."""
    rates, inertia = body_rates(result), np.array(Tumbling().inertia)
    exact = Tumbling().body_rates(np.linspace(0, result.time[-1], 1000))
    with drawing(10, 8) as figure:
        sphere, spin, momentum, drift = panels(figure, (1.5, 1))
        _plot_sphere(rates * inertia, exact * inertia, inertia, sphere)
        plot_rates(result, spin, "angular velocity in body axes [rad/s]", ylim=(-30, 40))
        plot_momentum(result, momentum, title="Angular momentum in space ($L_x = L_z$)")
        plot_drift(result, drift, title="Energy and momentum do not change")
    return figure


def plot_rates(result: Result, ax: "Axes", ylabel: str, **settings: Any) -> None:
    """Plot the angular velocity in body axes, and its closed form."""
    fine, rates = np.linspace(0, result.time[-1], 1000), body_rates(result)
    exact = Tumbling().body_rates(fine)
    for k in range(3):
        ax.plot(fine, exact[:, k], color=COLOURS[k], linewidth=0.8)
        ax.plot(result.time, rates[:, k], ".", color=COLOURS[k], label=f"$\\Omega_{k + 1}$")
    title = "Elliptic functions (lines), the published step (dots)"
    describe(ax, title, ylabel, ncols=3, **settings)


def _plot_sphere(L: Array, exact: Array, inertia: Array, ax: Any) -> None:
    """Draw the sphere of constant momentum, shaded by energy, and the momentum upon it."""
    from matplotlib import colormaps

    radius = float(np.linalg.norm(L[0]))
    phi, theta = np.meshgrid(np.linspace(0, 2 * np.pi, 121), np.linspace(0, np.pi, 61))
    points = np.array([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)])
    energy = np.einsum("kij,k->ij", points**2, 1 / inertia)
    colours = colormaps["Blues"](0.05 + 0.5 * (energy - energy.min()) / np.ptp(energy))
    # The axis of largest inertia, which the momentum goes round, points up.
    x, y, z = 0.98 * radius * points
    ax.plot_surface(x, z, y, facecolors=colours, shade=False, rstride=1, cstride=1)
    ax.plot(*exact[:, (0, 2, 1)].T, color=COLOURS[1], label="the exact curve", zorder=10)
    ax.plot(*L[:, (0, 2, 1)].T, ".", color=COLOURS[6], label="computed", zorder=11)
    ax.set(xlabel="$L_1$", ylabel="$L_3$", zlabel="$L_2$", aspect="equal")
    ax.set_title("Momentum in body axes: sphere, and curve of one energy")
    ax.view_init(elev=50, azim=35)
    ax.legend()


EXAMPLE = Example(
    title="Free body",
    source="[KB24, sec. 5.3]",
    scheme="ph-mp-ggl",
    h=0.05,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
)
