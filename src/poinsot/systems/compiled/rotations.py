"""Simulate mechanisms with velocities in body axes in the compiled engine.

Their step is equal to that of unit quaternions in Hamilton's form with mean lever arms, which runs
here; states are converted at input and when they are saved.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from poinsot.frames import euler
from poinsot.frames.parametrisations import BODY, Matrices, Quaternions, directors_of_many
from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Block, Clock, Memory, Runner, Totals
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.result.history import Saved
from poinsot.so3 import matrix_to_quat, quat_conjugate, quat_multiply
from poinsot.systems.compiled.quaternions import QuaternionRunner
from poinsot.systems.compiled.runner import recover
from poinsot.systems.quaternions.systems import QuaternionForm, quaternion_system
from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]


class RotationRunner(Runner):
    """A mechanism whose rotations are matrices or quaternions."""

    def __init__(
        self, system: RotationSystem, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        self.system = system
        self.there, mean = _in_quaternions(system), replace(scheme, mean_lever_arms=True)
        self.inner = QuaternionRunner(self.there, mean, self._there(x), h, options)

    # -- states -------------------------------------------------------------------------------

    def _there(self, x: Vector) -> Vector:
        """Return a state as (q, p, multipliers) in quaternions."""
        bodies, (zeta, w, lam) = self.system.bodies, self.system.parts(x)
        R, theta = bodies.rotations(zeta), bodies.theta(zeta)
        quat = theta if isinstance(bodies.parametrisation, Quaternions) else matrix_to_quat(R)
        phi, (v, Omega) = bodies.rows(zeta)[:, :3], np.swapaxes(bodies.pairs(w), 0, 1)
        p = bodies.mass[:, None] * np.einsum("nij,nj->ni", R, v)
        push = 2 * np.einsum("iab,na,ni->nb", BODY, quat, bodies.inertia * Omega)
        there = self.there.lagrangian
        zeros = np.zeros(there.units)
        return np.concatenate([there.vector(phi, quat), there.vector(p, push), zeros, lam])

    def _parts(self, rows: Array) -> list[Array]:
        """Return (phi, quaternion) and momenta of states of the engine; (states, bodies, 7)."""
        view = self.there.view
        return view.split(rows, view.bodies)

    def _here(self, rows: Array, theta: Array | None = None) -> Array:
        """Return states of the engine as (zeta, w, multipliers); (states, n).

        What describes rotations follows from the quaternions unless it is known.
        """
        bodies, states, m = self.system.bodies, len(rows), self.system.held.m
        q, p = self._parts(rows)
        quat = q[:, :, 3:]
        d = directors_of_many(quat)
        if theta is None:
            theta = d if isinstance(bodies.parametrisation, Matrices) else quat
        # Sums whose order, and so round-off, does not depend on how many states there are.
        x, y, z = (d.reshape(*quat.shape[:-1], 3, 3) * p[:, :, None, :3]).transpose(3, 0, 1, 2)
        v = x + y + z
        Pi = quat_multiply(quat_conjugate(quat), p[:, :, 3:])[:, :, 1:] / 2
        zeta = np.concatenate([q[:, :, :3], theta], axis=2)
        w = np.concatenate([v / bodies.mass[:, None], Pi / bodies.inertia], axis=2)
        zeta, w = (a.reshape(states, bodies.count * a.shape[2]) for a in (zeta, w))
        own = bodies.unknowns.own(zeta), bodies.velocities.own(w)
        return np.hstack([*own, rows[:, rows.shape[1] - m :]])

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

    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on."""
        return self.inner.memory()

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        self.inner.restore(memory)

    @property
    def beside(self) -> Vector:
        """The states of networks."""
        return self.inner.beside

    def put_beside(self, states: Vector) -> None:
        """Go on with other states of networks."""
        self.inner.put_beside(states)

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
        return frozenset(self.system.layout.undetermined)

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x with the smallest multipliers of joints that do the same."""

        def smallest(h: float, end: Vector, middle: Vector, u: Vector, turned: Vector) -> Vector:
            q1 = self.system.directors(end)
            q = (self.system.directors(2 * middle - end) + q1) / 2
            return self.system.held.smallest(q, self.system.parts(end)[2])

        return recover(saved, smallest)


class EulerRunner(RotationRunner):
    """A mechanism whose rotations are Euler angles; `theta` (bodies, 3) are those reached.

    The engine knows no angles. They are followed from its quaternions over every step, saved or
    not, and a step that comes to gimbal lock is left to the reference engine, which says so.
    """

    def __init__(
        self, system: RotationSystem, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        super().__init__(system, scheme, x, h, options)
        self.theta = system.bodies.theta(system.parts(x)[0])

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from a state."""
        super().start(x, turned)
        self.theta = self.system.bodies.theta(self.system.parts(x)[0])

    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on, the angles among it."""
        return super().memory() | {"theta": self.theta.copy()}

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        super().restore(memory)
        self.theta = memory["theta"].copy()

    @property
    def x(self) -> Vector:
        """The state, with the angles followed up to it."""
        return np.asarray(self._here(self.inner.x[None], self.theta[None])[0])

    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on, as far as they are solved and free of gimbal lock."""
        begin, memory, sums = self.inner.x, self.inner.memory(), totals.copy()
        block = self.inner.advance(clock, first, u, 1, totals)
        rows = np.vstack([begin[None], block.saved.x])
        theta, good = self._follow(rows)
        if good < block.steps:
            # Once more, up to where the angles are known.
            self.inner.restore(memory)
            totals.lost, totals.supplied, totals.turn = sums.lost, sums.supplied, sums.turn
            block = self.inner.advance(clock, first, u[:good], 1, totals)
        saved = block.saved
        self.theta = theta[good]
        x = self._here(rows[: good + 1], theta)
        saved = self._with_states(saved, x[:-1], x[1:])
        number = first + 1 + np.arange(good)
        due = (number % save_every == 0) | (number == clock.steps)
        last = None if good == 0 or due[-1] else saved.take(np.array([good - 1]))
        return replace(block, saved=saved.take(np.flatnonzero(due)), pending=last)

    def _follow(self, rows: Array) -> tuple[Array, int]:
        """Return the angles of consecutive states, and how many steps they can be followed."""
        quat = self._parts(rows)[0][:, :, 3:]
        R = euler.matrix_of(directors_of_many(quat))
        delta = quat_multiply(quat_conjugate(quat[:-1]), quat[1:])
        turn = 2 * delta[..., 1:] / delta[..., :1]
        locked = euler.closest(R[:-1], turn)[0].min(axis=1) < euler.LOCK
        good = int(np.argmax(locked)) if locked.any() else len(locked)
        about = self.theta + np.cumsum(euler.change(R[:good], turn[:good]), axis=0)
        followed = euler.near(euler.angles_of(R[1 : good + 1]), about)
        return np.concatenate([self.theta[None], followed]), good


def _in_quaternions(system: RotationSystem) -> QuaternionForm:
    """Return the same mechanism in quaternions, Hamilton's form."""
    zeta, w, _ = system.parts(system.start)
    R = system.bodies.rotations(zeta)
    motion = np.einsum("nij,nkj->nki", R, system.bodies.pairs(w)).reshape(-1)
    q = system.bodies.directors(zeta)
    known = system.name, system.mechanism, system.layout, system.ports
    return quaternion_system(*known, q, motion).in_form("hamiltonian")
