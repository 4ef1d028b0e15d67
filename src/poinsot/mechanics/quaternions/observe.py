"""What a simulated mechanism in quaternions shows: its own momenta, and the rest in directors."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.history import Columns, History, Indices
from poinsot.integrate.observe import Looks, angles, lazily, observe, surveyor
from poinsot.mechanics.bodies import RIGIDITY
from poinsot.mechanics.forms import WIDTH
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
from poinsot.result import Lazy, Observation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InDirectors(History):
    """The history of a mechanism in quaternions, read as (q, v, lambda) in directors.

    At midpoints the directors are the means of both ends, on which joints act.
    """

    system: QuaternionForm | None = None
    inner: History | None = None

    @classmethod
    def of(cls, system: QuaternionForm, history: History) -> "InDirectors":
        """Return the same history in directors."""
        known = {field.name: getattr(history, field.name) for field in fields(history)}
        return cls(**known, system=system, inner=history)

    @property
    def _known(self) -> tuple[QuaternionForm, History]:
        assert self.system is not None
        assert self.inner is not None
        return self.system, self.inner

    @cached_property
    def start(self) -> Array:
        """The state in which the run began, in directors."""
        system, inner = self._known
        return np.asarray(self._translated(inner.start[None, : self._motion(system)], None)[0])

    @cached_property
    def _places(self) -> Indices:
        system, _ = self._known
        return np.full(_first_joint(system) + joint_multipliers(system), -1, dtype=np.intp)

    def rows(self, name: str, start: int, stop: int, columns: Columns) -> Array:
        """Return some columns, in directors; multipliers are read only if they are wanted."""
        system, inner = self._known
        wanted, first = np.arange(self._places.size)[columns], _first_joint(system)
        motion = inner.rows(name, start, stop, slice(0, self._motion(system)))
        ends = None
        if name == "stage_x":
            ends = inner.rows("x", start, stop, slice(0, system.lagrangian.n))
        translated = self._translated(motion, ends)
        if np.all(wanted < first):
            return np.asarray(translated[:, wanted])
        joints = inner.rows(name, start, stop, slice(system.n - joint_multipliers(system), None))
        return np.asarray(np.hstack([translated, joints])[:, wanted])

    def _motion(self, system: QuaternionForm) -> int:
        """Return how many columns come before the multipliers."""
        return system.n - system.lagrangian.m

    def _translated(self, x: Array, ends: Array | None) -> Array:
        """Return rows without multipliers of joints in directors; `ends` are q at ends of steps."""
        system, _ = self._known
        q, v = positions(system, x), velocities(system, x)
        d = directors(q[:, :, 3:])
        if ends is not None:
            end = ends.reshape(q.shape)[:, :, 3:]
            d = (directors(2 * q[:, :, 3:] - end) + directors(end)) / 2
        rates = np.einsum("tnka,tna->tnk", director_slopes(q[:, :, 3:]), v[:, :, 3:])
        rigidity = np.zeros((len(x), RIGIDITY * system.lagrangian.bodies))
        return np.hstack([_flat(q[:, :, :3], d), _flat(v[:, :, :3], rates), rigidity])


def joint_multipliers(system: QuaternionForm) -> int:
    """Return how many multipliers joints and contacts have."""
    return system.lagrangian.m - system.lagrangian.bodies


def _first_joint(system: QuaternionForm) -> int:
    """Return where multipliers of joints begin, in directors."""
    return (2 * WIDTH + RIGIDITY) * system.lagrangian.bodies


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
        turning = np.einsum("tnka,tna->tnk", director_slopes(q[:, :, 3:]), v[:, :, 3:])
        d, moved = _in_directors(q), _flat(v[:, :, :3], turning)
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
    lagrangian, translated = system.lagrangian, InDirectors.of(system, history)
    seen = look_at(lagrangian.layout, lagrangian.mechanism, translated)
    whole = _whole(system)
    kinetic = lazily({"kinetic": (_kinetic(system), slice(0, system.n))}, history)
    potential = lazily(potential_energies(lagrangian.mechanism), translated)

    def energy(name: str) -> Array:
        return (kinetic if name in kinetic else potential)[name]

    energies = Lazy([*kinetic, *potential], energy)
    return replace(seen, whole=lazily(whole, history), energies=energies)


def _surveyor(system: QuaternionForm) -> Callable[[History], Observation]:
    survey = Survey(system.lagrangian.layout, system.lagrangian.mechanism)
    return lambda history: survey.complete(
        observe(system, history), InDirectors.of(system, history)
    )


def _angles(system: QuaternionForm, x: Vector) -> Vector:
    lagrangian = system.lagrangian
    return joint_angles(lagrangian.layout, lagrangian.directors(x[: lagrangian.n]))


for _kind in (QuaternionSystem, QuaternionHamiltonian):
    observe.register(_kind, _observe)
    surveyor.register(_kind, _surveyor)
    angles.register(_kind, _angles)
