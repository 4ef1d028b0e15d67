r"""States of mechanisms as motions of their bodies, and gradients by either.

Of every body a motion has position, directors, velocity, and angular velocity in body axes, then
come the multipliers of joints; (18 bodies + m,). In a gradient by a motion, that by a small turn in
world axes is where the first director is. States may have numbers besides, such as the second and
third column of a matrix, of which two are the third's: gradients by states are such that they say
what a change of the state makes that is one of a motion.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.quaternions_backward import MOMENTS, OMEGA, TURN, WIDTH
from poinsot.frames.parametrisations import directors
from poinsot.kernels.tables import DIRECTORS, MASS2, POSITION, VELOCITY
from poinsot.so3 import quat_conjugate, quat_multiply
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]

#: Columns of a motion, and of a gradient by it.
AT, FRAME, GOES = slice(POSITION, POSITION + 3), slice(DIRECTORS, VELOCITY), slice(VELOCITY, OMEGA)
SPINS, TURNS = slice(OMEGA, WIDTH), slice(TURN, TURN + 3)


class Motions(ABC):
    """States of a system as motions of its `count` bodies, with `m` multipliers."""

    count: int
    m: int

    def of(self, x: Array) -> Array:
        """Return the motions of states (k, n); (k, 18 bodies + m)."""
        bodies = self._bodies(x).reshape(len(x), self.count * WIDTH)
        return np.hstack([bodies, x[:, x.shape[1] - self.m :]])

    def gradient(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        """Return the gradients by motions of those by their states, g (k, n).

        What masses and moments make of states is added to the gradient by these, `by` (bodies, 7).
        """
        found = self._by_bodies(x, self._split(motion), g, by).reshape(len(x), -1)
        return np.hstack([found, g[:, g.shape[1] - self.m :]])

    def gradient_by_state(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        """Return the gradients by states x of those by their motions, g; the inverse."""
        found = self._by_states(x, self._split(motion), self._split(g), by)
        return np.hstack([found, g[:, g.shape[1] - self.m :]])

    def _split(self, motion: Array) -> Array:
        """Return the columns of each body; (k, bodies, 18)."""
        return motion[:, : self.count * WIDTH].reshape(len(motion), self.count, WIDTH)

    @abstractmethod
    def _bodies(self, x: Array) -> Array:
        """Return the columns of each body; (k, bodies, 18)."""

    @abstractmethod
    def _by_bodies(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        """Return the gradients by columns of bodies; (k, bodies, 18)."""

    @abstractmethod
    def _by_states(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        """Return the gradients by states, but for multipliers of joints."""


class InBodyAxes(Motions):
    """States (zeta, w, multipliers), zeta = (phi, theta) with velocities w = (v, Omega).

    With theta' = Z Omega a turn of R dt is one of Z dt, and v is R^T times that in world axes.
    """

    def __init__(self, system: RotationSystem) -> None:
        self.own = system.bodies
        self.count, self.m = self.own.count, system.held.m

    def _bodies(self, x: Array) -> Array:
        found = np.empty((len(x), self.count, WIDTH))
        found[..., :VELOCITY] = self.own.directors(x[:, : self.own.n]).reshape(*found.shape[:2], -1)
        v, found[..., SPINS] = self._velocities(x)
        found[..., GOES] = _turned(found, v)
        return found

    def _velocities(self, x: Array) -> tuple[Array, Array]:
        """Return v and Omega; (k, bodies, 3) each."""
        w = self.own.velocities.full(x[:, self.own.n : self.own.n + self.own.k])
        v, Omega = np.moveaxis(w.reshape(len(x), self.count, 2, 3), 2, 0)
        return v, Omega

    def _by_bodies(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        found = np.zeros_like(motion)
        zeta = self.own.unknowns.rates.full(g[:, : self.own.n]).reshape(*found.shape[:2], -1)
        found[..., AT] = zeta[..., :3]
        by_v, found[..., SPINS] = self._velocities(g)
        found[..., GOES] = _turned(motion, by_v)
        by_angle = np.einsum("tnaj,tna->tnj", self._Z(x), zeta[..., 3:])
        kept = np.cross(motion[..., GOES], found[..., GOES])
        found[..., TURNS] = _turned(motion, by_angle) - kept
        return found

    def _by_states(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        turn = g[..., TURNS] + np.cross(motion[..., GOES], g[..., GOES])
        by_angle = _turned_back(motion, turn)
        theta = np.einsum("tnja,tnj->tna", np.linalg.pinv(self._Z(x)), by_angle)
        zeta = np.concatenate([g[..., AT], theta], axis=2)
        w = np.concatenate([_turned_back(motion, g[..., GOES]), g[..., SPINS]], axis=2)
        own = self.own.unknowns.own(zeta.reshape(len(x), -1))
        return np.hstack([own, self.own.velocities.own(w.reshape(len(x), -1))])

    def _Z(self, x: Array) -> Array:
        """Return Z of every body; (k, bodies, size, 3)."""
        return self.own.parametrisation.Z(self.own.theta(x[:, : self.own.n]))


class InQuaternions(Motions):
    """States (q, p, multipliers) of Hamilton's form, the momentum of a quaternion being 2 q Pi."""

    def __init__(self, system: QuaternionForm) -> None:
        self.system, self.own = system, system.lagrangian
        self.count, self.m = self.own.count, self.own.held.m

    def _parts(self, x: Array) -> tuple[Array, Array]:
        """Return (position, quaternion), and their momenta; (k, bodies, 7) each."""
        q, p = (
            part.full(x[:, k * self.own.n : (k + 1) * self.own.n]).reshape(len(x), self.count, 7)
            for k, part in enumerate((self.own.unknowns, self.own.unknowns.rates))
        )
        return q, p

    def _bodies(self, x: Array) -> Array:
        q, p = self._parts(x)
        found = np.empty((len(x), self.count, WIDTH))
        found[..., AT], found[..., FRAME] = q[..., :3], directors(q[..., 3:])
        found[..., GOES] = p[..., :3] / self.own.mass[:, None]
        Pi = quat_multiply(quat_conjugate(q[..., 3:]), p[..., 3:])[..., 1:] / 2
        found[..., SPINS] = Pi / self.own.inertia
        return found

    def _by_bodies(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        (q, p), found = self._parts(x), np.zeros_like(motion)
        by_q, by_p = (part.copy() for part in self._parts(g))
        by_q[:, ~self.own.unknowns.turns] = 0.0
        found[..., AT], found[..., GOES] = by_q[..., :3], self.own.mass[:, None] * by_p[..., :3]
        turn = _vector(by_q[..., 3:], q[..., 3:]) + _vector(by_p[..., 3:], p[..., 3:])
        found[..., TURNS] = turn / 2
        by_Pi = 2 * quat_multiply(quat_conjugate(q[..., 3:]), by_p[..., 3:])[..., 1:]
        found[..., SPINS] = self.own.inertia * by_Pi
        by[:, MASS2] += np.sum(by_p[..., :3] * motion[..., GOES], axis=(0, 2)) / 2
        by[:, MOMENTS : MOMENTS + 3] += np.sum(by_Pi * motion[..., SPINS], axis=0)
        return found

    def _by_states(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        q, p = self._parts(x)
        by_p = g[..., GOES] / self.own.mass[:, None]
        by_Pi = g[..., SPINS] / self.own.inertia
        half = _with_scalar(by_Pi / 2)
        by_push = quat_multiply(q[..., 3:], half)
        by_quat = quat_multiply(_with_scalar(2 * g[..., TURNS]), q[..., 3:])
        by_quat -= quat_multiply(p[..., 3:], half)
        by[:, MASS2] -= np.sum(by_p * motion[..., GOES], axis=(0, 2)) / 2
        by[:, MOMENTS : MOMENTS + 3] -= np.sum(by_Pi * motion[..., SPINS], axis=0)
        pairs = (g[..., AT], by_quat), (by_p, by_push)
        found = [np.concatenate(pair, axis=2).reshape(len(x), -1) for pair in pairs]
        own = [self.own.unknowns.own(part) for part in found]
        return np.hstack([*own, np.zeros((len(x), self.own.units))])


def _turned(motion: Array, a: Array) -> Array:
    """Return R a, a of body axes; (k, bodies, 3)."""
    d = motion[..., FRAME]
    return a[..., :1] * d[..., :3] + a[..., 1:2] * d[..., 3:6] + a[..., 2:] * d[..., 6:]


def _turned_back(motion: Array, a: Array) -> Array:
    """Return R^T a."""
    D = motion[..., FRAME].reshape(*a.shape, 3)
    return np.asarray(np.einsum("tnij,tnj->tni", D, a))


def _vector(a: Array, b: Array) -> Array:
    """Return the vector part of a conj(b)."""
    return np.asarray(quat_multiply(a, quat_conjugate(b))[..., 1:])


def _with_scalar(a: Array) -> Array:
    """Return (0, a)."""
    return np.concatenate([np.zeros_like(a[..., :1]), a], axis=-1)
