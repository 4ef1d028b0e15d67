"""States of mechanisms as motions of their bodies, and gradients by either.

Of every body a motion has what `bodies.quaternions_backward` reads; then come the multipliers of
joints; (23 bodies + m,). Gradients by states count for changes of states that are motions: what
describes a rotation may have more numbers than a turn.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.quaternions_backward import MOMENTS, OMEGA, PI, SHARE, SLIP, TURN, WIDTH
from poinsot.frames.parametrisations import directors_of_many
from poinsot.kernels.tables import DIRECTORS, MASS2, POSITION, VELOCITY
from poinsot.so3 import quat_conjugate, quat_multiply
from poinsot.systems.quaternions.systems import QuaternionForm, QuaternionSystem
from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]

#: Columns of a motion, and of a gradient by it.
AT, FRAME, GOES = slice(POSITION, POSITION + 3), slice(DIRECTORS, VELOCITY), slice(VELOCITY, SLIP)
TURNS, SPINS, PUSHES = slice(TURN, TURN + 3), slice(OMEGA, SHARE), slice(PI, WIDTH)


class Motions(ABC):
    """States of a system as motions of its `count` bodies, with `m` multipliers."""

    count: int
    m: int

    def of(self, x: Array) -> Array:
        """Return the motions of states (k, n); (k, 23 bodies + m)."""
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
        """Return the columns of each body; (k, bodies, 23)."""
        return motion[:, : self.count * WIDTH].reshape(len(motion), self.count, WIDTH)

    @abstractmethod
    def _bodies(self, x: Array) -> Array:
        """Return the columns of each body; (k, bodies, 23)."""

    @abstractmethod
    def _by_bodies(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        """Return the gradients by columns of bodies; (k, bodies, 23)."""

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
        found = np.zeros((len(x), self.count, WIDTH))
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
    """States (q, v, p, multipliers) of Livens' form, or (q, p, multipliers) of Hamilton's.

    Seen from the body, velocity and momentum of a quaternion q are q (slip, Omega/2) and
    q (share, 2 Pi).
    """

    def __init__(self, system: QuaternionForm) -> None:
        self.own, self.livens = system.lagrangian, isinstance(system, QuaternionSystem)
        self.count, self.m = self.own.count, self.own.held.m

    def _parts(self, x: Array) -> list[Array]:
        """Return (position, quaternion), their velocities in Livens' form, and their momenta.

        (k, bodies, 7) each.
        """
        q, n = self.own.unknowns, self.own.n
        parts = q, *[q.rates] * (2 if self.livens else 1)
        return [
            part.full(x[:, k * n : (k + 1) * n]).reshape(len(x), self.count, 7)
            for k, part in enumerate(parts)
        ]

    def _bodies(self, x: Array) -> Array:
        (q, *v, p), found = self._parts(x), np.zeros((len(x), self.count, WIDTH))
        found[..., AT], found[..., FRAME] = q[..., :3], directors_of_many(q[..., 3:])
        push = _seen(q, p)
        if self.livens:
            rate = _seen(q, v[0])
            found[..., GOES] = v[0][..., :3]
            found[..., SLIP], found[..., SPINS] = rate[..., 0], 2 * rate[..., 1:]
            found[..., SHARE], found[..., PUSHES] = push[..., 0], push[..., 1:] / 2
        else:
            found[..., GOES] = p[..., :3] / self.own.mass[:, None]
            found[..., SPINS] = push[..., 1:] / 2 / self.own.inertia
        return found

    def _by_bodies(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        parts, slopes, found = self._parts(x), self._parts(g), np.zeros_like(motion)
        (q, *_), (by_q, *by_v, by_p) = parts, slopes
        turns = sum(_vector(slope, part) for slope, part in zip(slopes, parts, strict=True))
        found[..., AT], found[..., TURNS] = by_q[..., :3], turns / 2
        by_push = _seen(q, by_p)
        found[..., GOES] = self.own.mass[:, None] * by_p[..., :3]
        by[:, MASS2] += np.sum(by_p[..., :3] * motion[..., GOES], axis=(0, 2)) / 2
        if self.livens:
            by_rate = _seen(q, by_v[0])
            found[..., GOES] += by_v[0][..., :3]
            found[..., SLIP], found[..., SPINS] = by_rate[..., 0], by_rate[..., 1:] / 2
            found[..., SHARE], found[..., PUSHES] = by_push[..., 0], 2 * by_push[..., 1:]
        else:
            by_Pi = 2 * by_push[..., 1:]
            found[..., SPINS] = self.own.inertia * by_Pi
            by[:, MOMENTS : MOMENTS + 3] += np.sum(by_Pi * motion[..., SPINS], axis=0)
        return found

    def _by_states(self, x: Array, motion: Array, g: Array, by: Array) -> Array:
        q, *v, p = self._parts(x)
        by_q = np.concatenate([g[..., AT], quat_multiply(_with(2 * g[..., TURNS]), q[..., 3:])], 2)
        if self.livens:
            by_rate = _with(2 * g[..., SPINS], g[..., SLIP])
            by_push = _with(g[..., PUSHES] / 2, g[..., SHARE])
            by_p, by_v = np.zeros_like(q), [_from(q, g[..., GOES], by_rate)]
            by_q[..., 3:] += quat_multiply(v[0][..., 3:], quat_conjugate(by_rate))
        else:
            by_Pi, by_v = g[..., SPINS] / self.own.inertia, []
            by_push = _with(by_Pi / 2)
            by_p = _from(q, g[..., GOES] / self.own.mass[:, None], by_push)
            by[:, MASS2] -= np.sum(by_p[..., :3] * motion[..., GOES], axis=(0, 2)) / 2
            by[:, MOMENTS : MOMENTS + 3] -= np.sum(by_Pi * motion[..., SPINS], axis=0)
        by_p[..., 3:] = quat_multiply(q[..., 3:], by_push)
        by_q[..., 3:] += quat_multiply(p[..., 3:], quat_conjugate(by_push))
        found = [self.own.unknowns.own(each.reshape(len(x), -1)) for each in (by_q, *by_v, by_p)]
        return np.hstack([*found, np.zeros((len(x), self.own.units))])


def _turned(motion: Array, a: Array) -> Array:
    """Return R a, a of body axes; (k, bodies, 3)."""
    d = motion[..., FRAME]
    return a[..., :1] * d[..., :3] + a[..., 1:2] * d[..., 3:6] + a[..., 2:] * d[..., 6:]


def _turned_back(motion: Array, a: Array) -> Array:
    """Return R^T a."""
    D = motion[..., FRAME].reshape(*a.shape, 3)
    return np.asarray(np.einsum("tnij,tnj->tni", D, a))


def _seen(q: Array, a: Array) -> Array:
    """Return conj(quat) a of the numbers of quaternions; (k, bodies, 4)."""
    return quat_multiply(quat_conjugate(q[..., 3:]), a[..., 3:])


def _from(q: Array, a: Array, b: Array) -> Array:
    """Return (a, quat b); (k, bodies, 7)."""
    return np.concatenate([a, quat_multiply(q[..., 3:], b)], axis=2)


def _vector(a: Array, b: Array) -> Array:
    """Return the vector part of a conj(b) of the numbers of quaternions."""
    return np.asarray(quat_multiply(a[..., 3:], quat_conjugate(b[..., 3:]))[..., 1:])


def _with(a: Array, scalar: Array | float = 0.0) -> Array:
    """Return (scalar, a)."""
    first = np.broadcast_to(scalar, a.shape[:-1])[..., None]
    return np.concatenate([first, a], axis=-1)
