"""What a simulated mechanism in quaternions shows: its own momenta, and the rest in directors."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.history import History
from poinsot.integrate.observe import Looks, angles, first_of, lazily, observe, surveyor
from poinsot.mechanics.forms import WIDTH
from poinsot.mechanics.in_directors import InDirectors, View
from poinsot.mechanics.observe import (
    joint_angles,
    look_at,
    potential_energies,
    worst,
)
from poinsot.mechanics.quaternions.bodies import SEVEN
from poinsot.mechanics.quaternions.mechanism import QuaternionMechanism
from poinsot.mechanics.quaternions.products import BODY, WHOLE, WORLD, director_slopes, directors
from poinsot.mechanics.quaternions.systems import (
    QuaternionForm,
    QuaternionHamiltonian,
    QuaternionSystem,
)
from poinsot.mechanics.survey import Survey
from poinsot.ph.matrices import Vector
from poinsot.result import Observation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuaternionView(View):
    """Directors of states in quaternions."""

    system: QuaternionForm

    @classmethod
    def of(cls, system: QuaternionForm) -> "QuaternionView":
        """Return the view of a system."""
        lagrangian, motion = system.lagrangian, system.n - system.lagrangian.m
        joints = lagrangian.m - lagrangian.bodies
        return cls(lagrangian.bodies, joints, lagrangian.n, motion, system.n, system)

    def directors(self, q: Array) -> Array:
        """Return the columns of R(q)."""
        return _in_directors(positions(self.system, q))

    def rates(self, x: Array) -> Array:
        """Return D(q) v."""
        q, v = positions(self.system, x), velocities(self.system, x)
        turning = np.einsum("tnka,tna->tnk", director_slopes(q[:, :, 3:]), v[:, :, 3:])
        return _flat(v[:, :, :3], turning)


def positions(system: QuaternionForm, x: Array) -> Array:
    """Return q of many states; (states, bodies, 7)."""
    return _blocks(system, x, 0)


def momenta(system: QuaternionForm, x: Array) -> Array:
    """Return p of many states; (states, bodies, 7)."""
    return _blocks(system, x, 1 if isinstance(system, QuaternionHamiltonian) else 2)


def velocities(system: QuaternionForm, x: Array) -> Array:
    """Return v of many states; (states, bodies, 7)."""
    lagrangian = system.lagrangian
    if isinstance(system, QuaternionSystem):
        return _blocks(system, x, 1)
    q, p = positions(system, x), momenta(system, x)
    y = lagrangian.augmented * np.einsum("iab,tna,tnb->tni", WHOLE, q[:, :, 3:], p[:, :, 3:])
    rates = np.einsum("iab,tna,tni->tnb", WHOLE, q[:, :, 3:], y)
    return np.concatenate([p[:, :, :3] / lagrangian.mass[:, None], rates], axis=2)


def _blocks(system: QuaternionForm, x: Array, place: int) -> Array:
    """Return those seven numbers a body of many states, or of none; (states, bodies, 7)."""
    n, bodies = system.lagrangian.n, system.lagrangian.bodies
    return x[:, place * n : (place + 1) * n].reshape(len(x), bodies, SEVEN)


def _flat(phi: Array, turned: Array) -> Array:
    """Return many states, or none, body by body; (states, 12 bodies)."""
    states, bodies, _ = phi.shape
    return np.concatenate([phi, turned], axis=2).reshape(states, WIDTH * bodies)


def _whole(system: QuaternionForm) -> Looks:
    """Return momenta and violations of constraints."""
    lagrangian, everything = system.lagrangian, slice(0, system.n)
    view = QuaternionView.of(system)

    def linear_momentum(x: Array) -> Array:
        return np.asarray(momenta(system, x)[:, :, :3].sum(axis=1))

    def angular_momentum(x: Array) -> Array:
        q, p = positions(system, x), momenta(system, x)
        turning = np.einsum("iab,tna,tnb->tni", WORLD, q[:, :, 3:], p[:, :, 3:]) / 2
        return np.asarray((np.cross(q[:, :, :3], p[:, :, :3]) + turning).sum(axis=1))

    def constraints(x: Array) -> Array:
        q = positions(system, x)
        units = (np.sum(q[:, :, 3:] ** 2, axis=2) - 1) / 2
        return worst(np.hstack([units, lagrangian.joints.values(_in_directors(q))]))

    def rates(x: Array) -> Array:
        q, v = positions(system, x), velocities(system, x)
        units = np.sum(q[:, :, 3:] * v[:, :, 3:], axis=2)
        d, moved = _in_directors(q), view.rates(x)
        slips = lagrangian.mechanism.slip_rates(d, moved)
        return worst(np.hstack([units, lagrangian.joints.rates(d, moved), slips]))

    return {
        "linear_momentum": (linear_momentum, everything),
        "angular_momentum": (angular_momentum, everything),
        "constraint_error": (constraints, everything),
        "velocity_constraint_error": (rates, everything),
    }


def _in_directors(q: Array) -> Array:
    return _flat(q[:, :, :3], directors(q[:, :, 3:]))


def _kinetic(system: QuaternionForm) -> Callable[[Array], Array]:
    """Return the generalised kinetic energy p·v - T(q, v) of many states [J]."""
    lagrangian: QuaternionMechanism = system.lagrangian

    def kinetic(x: Array) -> Array:
        q, v, p = positions(system, x), velocities(system, x), momenta(system, x)
        spin = 2 * np.einsum("iab,tna,tnb->tni", BODY, q[:, :, 3:], v[:, :, 3:])
        twice = np.einsum("n,tni->t", lagrangian.mass, v[:, :, :3] ** 2)
        twice = twice + np.einsum("ni,tni->t", lagrangian.inertia, spin**2)
        return np.asarray(np.sum(p * v, axis=(1, 2)) - twice / 2)

    return kinetic


def _observe(system: QuaternionForm, history: History) -> Observation:
    lagrangian, translated = system.lagrangian, InDirectors.of(QuaternionView.of(system), history)
    seen = look_at(lagrangian.layout, lagrangian.mechanism, translated)
    kinetic = lazily({"kinetic": (_kinetic(system), slice(0, system.n))}, history)
    potential = lazily(potential_energies(lagrangian.mechanism), translated)
    whole = first_of(lazily(_whole(system), history), seen.whole)
    return replace(seen, whole=whole, energies=first_of(kinetic, potential))


def _surveyor(system: QuaternionForm) -> Callable[[History], Observation]:
    survey = Survey(system.lagrangian.layout, system.lagrangian.mechanism)
    return lambda history: survey.complete(
        observe(system, history), InDirectors.of(QuaternionView.of(system), history)
    )


def _angles(system: QuaternionForm, x: Vector) -> Vector:
    lagrangian = system.lagrangian
    return joint_angles(lagrangian.layout, lagrangian.directors(x[: lagrangian.n]))


for _kind in (QuaternionSystem, QuaternionHamiltonian):
    observe.register(_kind, _observe)
    surveyor.register(_kind, _surveyor)
    angles.register(_kind, _angles)
