"""Runs a mechanism in Euler angles in the compiled engine.

The engine knows no angles. They are followed from its quaternions over every step, saved or not,
and a step that comes to gimbal lock is left to the reference engine, which says so.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Block, Clock, Totals
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.so3 import quat_conjugate, quat_multiply
from poinsot.systems.compiled.rotations import RotationRunner
from poinsot.systems.quaternions.products import directors
from poinsot.systems.rotations import euler
from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]


class EulerRunner(RotationRunner):
    """A mechanism whose rotations are Euler angles; `theta` (bodies, 3) are those reached."""

    def __init__(
        self, system: RotationSystem, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        super().__init__(system, scheme, x, h, options)
        self.theta = self._angles(x)

    def _angles(self, x: Vector) -> Array:
        return self.system.bodies.theta(self.system.parts(x)[0])

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from a state."""
        super().start(x, turned)
        self.theta = self._angles(x)

    @property
    def x(self) -> Vector:
        """The state, with the angles followed up to it."""
        return np.asarray(self._here(self.inner.x[None], self.theta[None])[0])

    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on, as far as they are solved and free of gimbal lock."""
        begin, turn, lost, supplied = self.inner.x, totals.turn, totals.lost, totals.supplied
        block = self.inner.advance(clock, first, u, 1, totals)
        rows = np.vstack([begin[None], block.saved.x])
        theta, good = self._follow(rows)
        saved = block.saved.take(np.arange(good))
        if good < block.steps:
            # Back to where the angles are known.
            if good:
                turn, lost, supplied = saved.turned[-1], saved.dissipated[-1], saved.port_energy[-1]
            totals.lost, totals.supplied, totals.turn = float(lost), supplied.copy(), turn.copy()
            totals.angle = self.inner.system.angles(rows[good])
            self.inner.start(rows[good], totals.turn)
            block = replace(
                block,
                steps=good,
                reached=float(saved.time[-1]) if good else clock.at(first),
                newton_iterations=int(saved.iterations.sum()),
                balance_error_max=float(np.max(abs(saved.balance_error), initial=0.0)),
            )
        self.theta = theta[good]
        x = self._here(rows[: good + 1], theta)
        saved = self._with_states(saved, x[:-1], x[1:])
        number = first + 1 + np.arange(good)
        due = (number % save_every == 0) | (number == clock.steps)
        last = None if good == 0 or due[-1] else saved.take(np.array([good - 1]))
        return replace(block, saved=saved.take(np.flatnonzero(due)), pending=last)

    def _follow(self, rows: Array) -> tuple[Array, int]:
        """Return the angles of consecutive states, and how many steps they can be followed."""
        quat = self._quats(rows)
        R = euler.matrix_of(directors(quat))
        delta = quat_multiply(quat_conjugate(quat[:-1]), quat[1:])
        turn = 2 * delta[..., 1:] / delta[..., :1]
        locked = euler.closest(R[:-1], turn)[0].min(axis=1) < euler.LOCK
        good = int(np.argmax(locked)) if locked.any() else len(locked)
        about = self.theta + np.cumsum(euler.change(R[:good], turn[:good]), axis=0)
        followed = euler.near(euler.angles_of(R[1 : good + 1]), about)
        return np.concatenate([self.theta[None], followed]), good
