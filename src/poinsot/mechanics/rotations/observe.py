"""What a simulated mechanism with velocities in body axes shows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.history import History
from poinsot.integrate.observe import Looks, angles, first_of, lazily, observe, surveyor
from poinsot.mechanics.in_directors import InDirectors, View
from poinsot.mechanics.observe import joint_angles, look_at, potential_energies, worst
from poinsot.mechanics.rotations.system import RotationSystem
from poinsot.mechanics.survey import Survey
from poinsot.ph.matrices import Vector
from poinsot.result import Observation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RotationView(View):
    """Directors of states with velocities in body axes."""

    system: RotationSystem

    @classmethod
    def of(cls, system: RotationSystem) -> "RotationView":
        """Return the view of a system."""
        bodies, joints = system.bodies, system.held.m
        return cls(bodies.count, joints, bodies.n, bodies.n + bodies.k, system.n, system)

    def directors(self, q: Array) -> Array:
        """Return the columns of R."""
        return self.system.bodies.directors(q)

    def in_world(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return phi, R, R v and R Omega of many states; (states, bodies, ...)."""
        bodies = self.system.bodies
        zeta = x[:, : bodies.n]
        w = x[:, bodies.n : self.motion].reshape(len(x), bodies.count, 2, 3)
        R, phi = bodies.rotations(zeta), zeta.reshape(len(x), bodies.count, bodies.width)[:, :, :3]
        velocity, spin = np.moveaxis(np.einsum("tnij,tnkj->tnki", R, w), 2, 0)
        return phi, R, velocity, spin

    def rates(self, x: Array) -> Array:
        """Return (v, omega x d_i)."""
        _, R, velocity, spin = self.in_world(x)
        turning = np.cross(spin[:, :, None], np.swapaxes(R, 2, 3))
        rates = np.concatenate([velocity[:, :, None], turning], axis=2)
        return rates.reshape(len(x), 12 * self.bodies)


def _whole(view: RotationView) -> Looks:
    """Return momenta and violations of constraints."""
    system, bodies = view.system, view.system.bodies
    everything = slice(0, view.motion)

    def linear_momentum(x: Array) -> Array:
        return np.asarray(np.einsum("n,tni->ti", bodies.mass, view.in_world(x)[2]))

    def angular_momentum(x: Array) -> Array:
        phi, R, velocity, _ = view.in_world(x)
        Omega = x[:, bodies.n :].reshape(len(x), bodies.count, 2, 3)[:, :, 1]
        orbit = np.cross(phi, bodies.mass[:, None] * velocity)
        turning = np.einsum("tnij,tnj->tni", R, bodies.inertia * Omega)
        return np.asarray((orbit + turning).sum(axis=1))

    def constraints(zeta: Array) -> Array:
        excess = bodies.parametrisation.excess(bodies.theta(zeta))
        return worst(np.hstack([excess, system.joints.values(view.directors(zeta))]))

    def rates(x: Array) -> Array:
        d, moved = view.directors(x[:, : bodies.n]), view.rates(x)
        slips = system.mechanism.slip_rates(d, moved)
        return worst(np.hstack([system.joints.rates(d, moved), slips]))

    return {
        "linear_momentum": (linear_momentum, everything),
        "angular_momentum": (angular_momentum, everything),
        "constraint_error": (constraints, slice(0, bodies.n)),
        "velocity_constraint_error": (rates, everything),
    }


@observe.register
def _observe(system: RotationSystem, history: History) -> Observation:
    view, bodies = RotationView.of(system), system.bodies
    translated = InDirectors.of(view, history)
    seen = look_at(system.layout, system.mechanism, translated)
    velocities = slice(bodies.n, bodies.n + bodies.k)
    kinetic = lazily({"kinetic": (lambda w: w**2 @ bodies.weights / 2, velocities)}, history)
    potential = lazily(potential_energies(system.mechanism), translated)
    whole = first_of(lazily(_whole(view), history), seen.whole)
    return replace(seen, whole=whole, energies=first_of(kinetic, potential))


@surveyor.register
def _surveyor(system: RotationSystem) -> Callable[[History], Observation]:
    survey, view = Survey(system.layout, system.mechanism), RotationView.of(system)
    return lambda history: survey.complete(observe(system, history), InDirectors.of(view, history))


@angles.register
def _angles(system: RotationSystem, x: Vector) -> Vector:
    return joint_angles(system.layout, system.bodies.directors(x[: system.bodies.n]))
