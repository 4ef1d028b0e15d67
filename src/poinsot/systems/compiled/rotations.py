"""Runs a mechanism with velocities in body axes in the compiled engine.

Its step is that of unit quaternions in Hamilton's form with mean lever arms, so that
this is what runs; only states are translated, as they go in and as they are saved.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Block, Clock, Runner, Totals
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.result.history import Saved
from poinsot.so3 import matrix_to_quat
from poinsot.systems.compiled.quaternions import QuaternionRunner
from poinsot.systems.quaternions.bodies import QUAT, SEVEN
from poinsot.systems.quaternions.products import BODY, directors
from poinsot.systems.quaternions.systems import QuaternionForm, quaternion_system
from poinsot.systems.rotations.parametrisations import Matrices, Quaternions
from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]

#: Where the position of a body is among its seven coordinates.
PHI = slice(0, 3)


class RotationRunner(Runner):
    """A mechanism whose rotations are matrices or quaternions."""

    def __init__(
        self, system: RotationSystem, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        self.system = system
        there, mean = _in_quaternions(system), replace(scheme, mean_levers=True)
        self.inner = QuaternionRunner(there, mean, self._there(x), h, options)

    # -- states -------------------------------------------------------------------------------

    def _there(self, x: Vector) -> Vector:
        """Return a state as (q, p, multipliers) in quaternions."""
        bodies, (zeta, w, lam) = self.system.bodies, self.system.parts(x)
        R, theta = bodies.rotations(zeta), bodies.theta(zeta)
        quat = theta if isinstance(bodies.parametrisation, Quaternions) else matrix_to_quat(R)
        phi, (v, Omega) = zeta.reshape(bodies.count, -1)[:, :3], np.swapaxes(_pairs(w), 0, 1)
        p = bodies.mass[:, None] * np.einsum("nij,nj->ni", R, v)
        push = 2 * np.einsum("iab,na,ni->nb", BODY, quat, bodies.inertia * Omega)
        parts = np.hstack([phi, quat]), np.hstack([p, push]), np.zeros(bodies.count), lam
        return np.concatenate([part.reshape(-1) for part in parts])

    def _quats(self, rows: Array) -> Array:
        """Return the quaternions of states of the engine; (states, bodies, 4)."""
        count = self.system.bodies.count
        return rows[:, : SEVEN * count].reshape(len(rows), count, SEVEN)[:, :, QUAT]

    def _here(self, rows: Array, theta: Array | None = None) -> Array:
        """Return states of the engine as (zeta, w, multipliers); (states, n).

        What describes rotations follows from the quaternions unless it is known.
        """
        bodies, states, m = self.system.bodies, len(rows), self.system.held.m
        motion = rows[:, : 2 * SEVEN * bodies.count].reshape(states, 2, bodies.count, SEVEN)
        (phi, p), (quat, push) = (motion[..., part].swapaxes(0, 1) for part in (PHI, QUAT))
        d = directors(quat)
        if theta is None:
            theta = d if isinstance(bodies.parametrisation, Matrices) else quat
        v = np.einsum("tnij,tnj->tni", d.reshape(*quat.shape[:-1], 3, 3), p)
        Pi = np.einsum("iab,tna,tnb->tni", BODY, quat, push) / 2
        zeta = np.concatenate([phi, theta], axis=2).reshape(states, bodies.n)
        w = np.concatenate([v / bodies.mass[:, None], Pi / bodies.inertia], axis=2)
        return np.hstack([zeta, w.reshape(states, bodies.k), rows[:, rows.shape[1] - m :]])

    @property
    def x(self) -> Vector:
        """The state, with multipliers that the engine leaves out at zero."""
        return np.asarray(self._here(self.inner.x[None])[0])

    def _saved(self, saved: Saved) -> Saved:
        """Return saved steps with translated states."""
        return self._with_states(
            saved, self._here(2 * saved.stage_x - saved.x), self._here(saved.x)
        )

    def _with_states(self, saved: Saved, start: Array, end: Array) -> Saved:
        """Return steps between states; at midpoints are the means, with multipliers of the end."""
        lam = self.system.n - self.system.held.m
        stage = (start + end) / 2
        stage[:, lam:] = end[:, lam:]
        return replace(saved, x=end, stage_x=stage)

    # -- the run ------------------------------------------------------------------------------

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from a state."""
        self.inner.start(self._there(x), turned)

    @property
    def calls_python(self) -> bool:
        """Whether some laws are Python functions."""
        return self.inner.calls_python

    @property
    def form(self) -> str:
        """That of quaternions."""
        return self.inner.form

    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on, as far as they are solved."""
        block = self.inner.advance(clock, first, u, save_every, totals)
        pending = None if block.pending is None else self._saved(block.pending)
        return replace(block, saved=self._saved(block.saved), pending=pending)

    @property
    def recovered(self) -> frozenset[str]:
        """The multipliers of joints where some repeat others."""
        return frozenset(j.name for j in self.system.layout.joints if not j.complete)

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x with the smallest multipliers of joints that do the same."""
        system, bodies = self.system, self.system.bodies
        x, stage = np.array(saved.x), np.array(saved.stage_x)
        for end, middle in zip(x, stage, strict=True):
            zeta1, _, lam = system.parts(end)
            zeta0 = 2 * middle[: bodies.n] - zeta1
            q = (bodies.directors(zeta0) + bodies.directors(zeta1)) / 2
            found = system.held.smallest(q, lam)
            end[bodies.n + bodies.k :] = middle[bodies.n + bodies.k :] = found
        return x, stage


def _pairs(w: Array) -> Array:
    """Return velocities and angular velocities; (bodies, 2, 3)."""
    return w.reshape(-1, 2, 3)


def _in_quaternions(system: RotationSystem) -> QuaternionForm:
    """Return the same mechanism in quaternions, Hamilton's form."""
    zeta, w, _ = system.parts(system.start)
    R = system.bodies.rotations(zeta)
    motion = np.einsum("nij,nkj->nki", R, _pairs(w)).reshape(-1)
    q = system.bodies.directors(zeta)
    known = system.name, system.mechanism, system.layout, system.ports
    return quaternion_system(*known, q, motion).in_form("hamiltonian")
