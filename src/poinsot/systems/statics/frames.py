"""Places of mechanisms by their frames: motions are twists of bodies, for all coordinates.

Bodies stay rigid, and all coordinates give the same place.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.places import frame_vectors, in_columns, local
from poinsot.frames.twists import (
    CLOSED,
    EPS,
    in_lengths,
    joint_matrix,
    move,
    spread,
    velocity_blocks,
)
from poinsot.ph.dependence import row_lengths
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Array, Matrix, Vector, add, assemble, dense, scale_columns
from poinsot.ph.runner import counted
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.rest import Place

#: What cancels inside of forces counts as so much of them.
ROUNDED = 1e-7
#: How often joints are closed at most; forces below this part of the largest are as good as that.
CLOSINGS, LEAST = 50, 1e-14
#: Systems of bodies, in whatever coordinates.
Framed: TypeAlias = MechanismForm | QuaternionForm


@dataclass(frozen=True, eq=False)
class FramePlace(Place):
    """Frames f (12 bodies,) of a mechanism and their rates, angles over turns, time and inputs.

    `held` are joints and contacts, on frames; `turns` tells which bodies do (bodies,).
    """

    held: Mechanism
    layout: Layout
    turns: NDArray[np.bool_]
    f: Vector
    rates: Vector
    turned: Vector
    t: float
    u: Vector

    @classmethod
    def of(cls, system: Framed, x: Vector, t: float) -> "FramePlace":
        """Return where a system is at a state."""
        f, mechanism = system.directors(x), system.mechanism
        turns, u = mechanism.unknowns.turns, system.u(t)
        angles, rest = system.angles(x), np.zeros(f.size)
        return cls(mechanism.held, system.layout, turns, f, rest, angles, t, u).at(f)

    def at(self, f: Vector) -> Self:
        """Return the place of other frames, angles counted on from here."""
        turned = counted(self.layout.angles(f), self.turned)
        held = self.held.near(self.layout.counted(turned))
        return replace(self, held=held, f=f, turned=turned)

    # -- motions ------------------------------------------------------------------------------

    @cached_property
    def twists(self) -> Unknowns:
        """Twists (v, omega) of bodies in world axes; v alone of those that do not turn."""
        return Unknowns(self.turns, np.zeros(6), np.zeros_like(self.turns))

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

    def moved(self, w: Vector) -> Self | None:
        """Return the place after a motion, every body turned rigidly, joints closed."""
        f = self.step(w)
        closed = self.closed(f)
        if closed is None or self._distance(f, closed.f) > self._distance(self.f, f):
            return None
        if any(
            at.ended(frame_vectors(closed.f)[k].reshape(-1)) for _, k, at in self.layout.contacts
        ):
            return None
        return closed

    def nearest(self) -> Self | None:
        """Return the nearest place with joints closed; None: they stay open."""
        return self.closed(self.f)

    @property
    def angles(self) -> dict[str, float]:
        """Angles of joints, counted over turns [rad], by name."""
        return self.layout.counted(self.turned)

    def step(self, w: Vector) -> Vector:
        """Return frames after a motion, every body turned rigidly."""
        return move(self.f, self.twists.full(w))

    def _distance(self, f0: Vector, f1: Vector) -> float:
        """Return how far frames are from each other, positions in lengths of the mechanism."""
        apart = frame_vectors(f1 - f0)
        apart[:, 0] /= self.held.spans(self.f)[:, None]
        return float(np.linalg.norm(apart))

    def closed(self, f: Vector) -> Self | None:
        """Return the place near f at which joints and transmissions are closed; None: none.

        Gauss-Newton. Drives are where they are to be.
        """
        there = self.at(f)
        length = float(np.max(self.held.lengths(self.f), initial=0.0)) or 1.0
        far = 8 * EPS * float(np.max(abs(frame_vectors(f)[:, 0]), initial=0.0)) / length
        for _ in range(CLOSINGS):
            g, J = there.gaps()
            if np.all(abs(g) <= (CLOSED + far) * row_lengths(in_lengths(J, length))):
                return there
            w = self.shortest(self.twists.by(J), -g)
            longest = float(np.max(abs(w) / self.sizes, initial=0.0))
            there = there.at(there.step(w * min(1.0, 0.5 / longest) if longest else w))
        return None

    def shortest(self, K: Matrix, b: Vector) -> Vector:
        """Return the motion with K w = b that does little work.

        A heavy body stays where it is, and a light one follows.
        """
        scale = self._light * self.sizes
        return np.asarray(scale * shortest_solution(scale_columns(K, scale), b, width=6))

    def gaps(self) -> tuple[Vector, Matrix]:
        """Return g of joints, transmissions and drives, and what twists of all bodies change it by.

        Relations of coordinates count angles over turns; (rows,), (rows, 6 bodies).
        """
        forms, drives = self.held.constraints, self.held.drives
        g, J = forms(self.f), joint_matrix(forms, self.f)
        if not drives:
            return g, J
        own = [local(self.f, driven.bodies) for driven in drives]
        ahead = [-driven.lacking(q, self.t) for driven, q in zip(drives, own, strict=True)]
        lines = [
            placed
            for k, (driven, q) in enumerate(zip(drives, own, strict=True))
            for placed in in_columns(k, driven.bodies, driven.B(q).T)
        ]
        rows = assemble((len(drives), forms.n), lines) @ spread(
            velocity_blocks(frame_vectors(self.f))
        )
        total = assemble((forms.m + len(drives), J.shape[1]), [(0, 0, J), (forms.m, 0, rows)])
        return np.append(g, ahead), total

    @cached_property
    def _light(self) -> Vector:
        """By how much more or less than others bodies follow, by the forces on them; (k,)."""
        work, body = (
            self.sizes * self.forces()[1],
            np.repeat(np.arange(len(self.turns)), self.twists.sizes),
        )
        largest = np.zeros(len(self.turns))
        np.maximum.at(largest, body, work)
        most = np.max(largest, initial=0.0) or 1.0
        return np.asarray(np.sqrt(most / np.maximum(largest, LEAST * most))[body])

    # -- what acts ----------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> Vector:
        """Inputs, with those filled in that depend on place and rates; (inputs,)."""
        return self.held.feedback(self.t, self.f, self.rates, self.u)

    def forces(self) -> tuple[Vector, Vector]:
        """Return P^T (grad V - B u + damping), and the sizes of its terms."""
        dV, B, weight = self.held.dV(self.f), self.held.B(self.f), self.held.gravity
        lost = self.held.damping(self.f, self.rates)
        P, terms = (
            self.P,
            [self.P.T @ term for term in (weight, dV - weight, -(B @ self.inputs), lost)],
        )
        # A stiff spring has the round-off of its length, however little it pulls.
        inner = abs(P).T @ self.held.inner(self.t, self.f, self.rates, self.inputs)
        return np.sum(terms, axis=0), np.sum(np.abs(terms), axis=0) + ROUNDED * inner

    def rows(self) -> Matrix:
        """Return joints and contacts on motions."""
        K: Matrix = self.held.G(self.f) @ self.P
        return K

    def stiffness(self, lam: Vector) -> tuple[Matrix, Matrix]:
        """Return P^T (grad grad V + curvature of joints - dB u/df) P, and what P turns."""
        P, (by_f, _) = self.P, self.held.dloads(self.t, self.f, self.rates, self.inputs)
        A, B, ddV = self.held.curvature(self.f, lam), self.held.B(self.f), self.held.ddV(self.f)
        sizes: Matrix = abs(A)
        for term in [*(-by for by in by_f), *([] if ddV is None else [ddV])]:
            A, sizes = add(A, term), add(sizes, abs(term))
        pull = self.held.dV(self.f) + self.held.G(self.f).T @ lam - B @ self.inputs
        pull = pull + self.held.damping(self.f, self.rates)
        # Sum of (omega x d_i) x a_i = d_i (a_i·omega) - (d_i·a_i) omega; its skew part is the
        # torque that is left over, which belongs to the chart and not to the energy.
        d, a = frame_vectors(self.f)[:, 1:], frame_vectors(np.asarray(pull))[:, 1:]
        turned = np.zeros((len(d), 6, 6))
        turned[:, 3:, 3:] = np.einsum("bij,bik->bjk", d, a) + np.einsum("bij,bik->bkj", d, a)
        turned[:, 3:, 3:] /= 2
        turned[:, 3:, 3:] -= np.einsum("bij,bij->b", d, a)[:, None, None] * np.eye(3)
        geometric = self.twists.square(spread(turned))
        return add(P.T @ A @ P, geometric), add(abs(P).T @ sizes @ abs(P), abs(geometric))

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
