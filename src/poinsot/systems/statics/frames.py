"""Where a mechanism is, by its frames: motions are twists of its bodies, whatever coordinates.

Bodies are rigid by themselves, and the same place is found from all coordinates.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import assemble_position, move, spread, velocity_blocks
from poinsot.ph.matrices import Array, Matrix, Vector, dense
from poinsot.ph.runner import counted
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.rest import Place

#: Systems of bodies, in whatever coordinates.
Framed: TypeAlias = MechanismForm | QuaternionForm


@dataclass(frozen=True, eq=False)
class FramePlace(Place):
    """Frames f (12 bodies,) of a mechanism, with angles counted over turns, time and inputs.

    `held` are joints and contacts, on frames; `turns` tells which bodies do (bodies,).
    """

    held: Mechanism
    layout: Layout
    turns: NDArray[np.bool_]
    f: Vector
    turned: Vector
    t: float
    u: Vector

    @classmethod
    def of(cls, system: Framed, x: Vector, t: float) -> "FramePlace":
        """Return where a system is at a state."""
        f, mechanism = system.directors(x), system.mechanism
        turns, u = mechanism.unknowns.turns, system.u(t)
        return cls(mechanism.held, system.layout, turns, f, system.angles(x), t, u).at(f)

    def at(self, f: Vector) -> "FramePlace":
        """Return the place of other frames, angles counted on from here."""
        turned = counted(self.layout.angles(f), self.turned)
        held = self.held.near(self.layout.counted(turned))
        return replace(self, held=held, f=f, turned=turned)

    # -- motions ------------------------------------------------------------------------------

    @cached_property
    def twists(self) -> Unknowns:
        """Twists (v, omega) of bodies in world axes; v alone of those that do not turn."""
        return Unknowns(self.turns, np.zeros(6))

    @cached_property
    def names(self) -> list[str]:
        """The body of every motion."""
        return [
            name
            for name, count in zip(self.layout.bodies, self.twists.sizes.tolist(), strict=True)
            for _ in range(count)
        ]

    @cached_property
    def turning(self) -> NDArray[np.bool_]:
        """Angular velocities."""
        return ~self.twists.translate

    @cached_property
    def sizes(self) -> Vector:
        """Lengths of the mechanism for positions, and 1 for turns."""
        sizes = np.ones((len(self.held.inertia), 6))
        sizes[:, :3] = self.held.spans(self.f)[:, None]
        return self.twists.own(sizes.reshape(-1))

    @cached_property
    def P(self) -> Matrix:
        """What frames move by with motions; (12 bodies, k)."""
        return self.twists.by(spread(velocity_blocks(frame_vectors(self.f))))

    def moved(self, w: Vector) -> "FramePlace | None":
        """Return the place after a motion, every body turned rigidly, joints closed."""
        f = move(self.f, self.twists.full(w))
        closed = self.closed(f)
        if closed is None or np.linalg.norm(closed - f) > np.linalg.norm(f - self.f):
            return None
        if any(at.ended(frame_vectors(closed)[k].reshape(-1)) for _, k, at in self.layout.contacts):
            return None
        return self.at(closed)

    def closed(self, f: Vector) -> Vector | None:
        """Return frames near f at which all joints are closed; None if there are none."""
        length = float(np.max(self.held.lengths(self.f), initial=0.0)) or 1.0
        return assemble_position(self.held.constraints, f, length)

    # -- what acts ----------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> Vector:
        """Inputs, with those filled in that depend on the place; (inputs,)."""
        return self.held.feedback(self.t, self.f, np.zeros(self.f.size), self.u)

    def forces(self) -> tuple[Vector, Vector]:
        """Return P^T (grad V - B u), and the sizes of its terms."""
        dV, B = self.held.dV(self.f), self.held.B(self.f)
        push = self.P.T @ (B @ self.inputs)
        terms = abs(self.P.T @ self.held.gravity) + abs(self.P.T @ (dV - self.held.gravity))
        return np.asarray(self.P.T @ dV - push), np.asarray(terms + abs(push))

    def rows(self) -> Matrix:
        """Return joints and contacts on motions."""
        return self.held.G(self.f) @ self.P

    def stiffness(self, lam: Vector) -> tuple[Array, Array]:
        """Return P^T (grad grad V + curvature of joints - dB u/df) P, and what P turns."""
        P, none = dense(self.P), np.zeros(self.f.size)
        by_f, _ = self.held.dloads(self.t, self.f, none, self.inputs)
        A, B = dense(self.held.curvature(self.f, lam)), self.held.B(self.f)
        sizes, ddV = abs(A), self.held.ddV(self.f)
        for term in [*(-dense(by) for by in by_f), *([] if ddV is None else [dense(ddV)])]:
            A, sizes = A + term, sizes + abs(term)
        pull = self.held.dV(self.f) + self.held.G(self.f).T @ lam - B @ self.inputs
        # Sum of (omega x d_i) x a_i = d_i (a_i·omega) - (d_i·a_i) omega.
        d, a = frame_vectors(self.f)[:, 1:], frame_vectors(pull)[:, 1:]
        turned = np.zeros((len(d), 6, 6))
        turned[:, 3:, 3:] = np.einsum("bij,bik->bjk", d, a)
        turned[:, 3:, 3:] -= np.einsum("bij,bij->b", d, a)[:, None, None] * np.eye(3)
        geometric = dense(self.twists.square(spread(turned)))
        return P.T @ A @ P + geometric, abs(P).T @ sizes @ abs(P) + abs(geometric)

    def masses(self) -> Array:
        """Return mass and moments of inertia of every body, world axes."""
        R = np.swapaxes(frame_vectors(self.f)[:, 1:], 1, 2)
        blocks = np.zeros((len(R), 6, 6))
        blocks[:, :3, :3] = self.held.masses[:, None, None] * np.eye(3)
        blocks[:, 3:, 3:] = R * self.held.moments[:, None] @ np.swapaxes(R, 1, 2)
        return dense(self.twists.square(spread(blocks)))

    def work(self, there: "FramePlace", w: Vector) -> float:
        """Return what the energy grows by, less the work of inputs at the mean of both ends."""
        stored = there.held.stored(there.f) - self.held.stored(self.f)
        raised = float(self.held.gravity @ (there.f - self.f))
        if not self.inputs.size:
            return stored + raised
        push = (at.P.T @ (at.held.B(at.f) @ at.inputs) for at in (self, there))
        return stored + raised - float(sum(push) @ w) / 2
