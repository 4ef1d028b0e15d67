"""Places of mechanisms with elastic bodies: motions of frames in their own axes, and of u."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.places import local
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.runner import counted
from poinsot.so3 import log
from poinsot.systems.floating.system import FloatingSystem
from poinsot.systems.statics.coordinates import CoordinatePlace

#: Joints are closed by moving bodies rather than by deforming them, this much rather.
STIFF = 1e-3


@dataclass(frozen=True, eq=False)
class FloatingPlace(CoordinatePlace):
    """Coordinates (phi, theta, u) of a mechanism with elastic bodies, and angles over turns."""

    system: FloatingSystem
    turned: Vector

    @classmethod
    def of(cls, system: FloatingSystem, x: Vector, t: float) -> Self:  # type: ignore[override]
        """Return where a system is at a state."""
        zeta, angles = system.parts(x)[0], system.angles(x)
        constraints, bodies = system.held.constraints, system.bodies

        def gaps(zeta: Vector) -> Vector:
            return constraints(bodies.directors(zeta))

        near = system.near(angles)
        return cls(near, gaps, zeta, t, system.u(t), angles)

    def at(self, zeta: Vector) -> Self:
        """Return the place of other coordinates, angles counted on from here."""
        system = self.system
        turned = counted(system.layout.angles(system.bodies.directors(zeta)), self.turned)
        return replace(self, system=system.near(turned), zeta=zeta, turned=turned)

    def gaps(self) -> Vector:
        """Return gaps of joints, none of contacts, and those of transmissions and drives."""
        held, f = self.system.held, self.system.bodies.directors(self.zeta)
        joints = held.constraints(f)
        if not held.drives:
            return joints
        ahead = [-driven.lacking(local(f, driven.bodies), self.t) for driven in held.drives]
        return np.concatenate([joints, np.zeros(held.m - joints.size - len(ahead)), ahead])

    # -- motions ------------------------------------------------------------------------------

    @cached_property
    def names(self) -> list[str]:
        """The body of every motion."""
        rigid, elastic = self.system.rigid.velocities, self.system.bodies.elastic
        counts = [*enumerate(rigid.sizes.tolist()), *((b.frame, b.data.n) for b in elastic)]
        bodies = self.system.layout.bodies
        return [bodies[body] for body, count in counts for _ in range(count)]

    @property
    def groups(self) -> list[str]:
        """Forces are compared with others on the same body."""
        return self.names

    @cached_property
    def turning(self) -> NDArray[np.bool_]:
        """Angular velocities of frames."""
        rigid = ~self.system.rigid.velocities.translate
        return np.append(rigid, np.zeros(self._elastic, dtype=bool))

    @property
    def _elastic(self) -> int:
        return self.system.bodies.k - self.system.rigid.k

    @cached_property
    def sizes(self) -> Vector:
        """Lengths of the mechanism for positions and deformations, and 1 for turns."""
        bodies = self.system.bodies
        lengths = self.system.mechanism.spans(bodies.directors(self.zeta))
        return bodies.sizes(np.where(lengths > 0, lengths, np.max(lengths)))

    @cached_property
    def light(self) -> Vector:
        """Bodies are moved rather than deformed."""
        factors = np.ones(self.sizes.size)
        factors[factors.size - self._elastic :] = STIFF
        return self.sizes * factors

    def step(self, w: Vector) -> Vector:
        """Return coordinates after a motion, every frame turned rigidly."""
        return self.system.bodies.moved(self.zeta, w)

    def difference(self, zeta: Vector) -> Vector:
        """Return displacements and rotation vectors in the axes of frames here, and those of u."""
        rigid, n = self.system.rigid, self.system.rigid.n
        here, there = (rigid.rows(a[:n]) for a in (self.zeta, zeta))
        R0, R1 = (rigid.rotations(a[:n]) for a in (self.zeta, zeta))
        moved = np.einsum("nji,nj->ni", R0, there[:, :3] - here[:, :3])
        turned = log(np.swapaxes(R0, 1, 2) @ R1)
        own = rigid.velocities.own(np.stack([moved, turned], axis=1).reshape(-1))
        return np.concatenate([own, zeta[n:] - self.zeta[n:]])

    @property
    def angles(self) -> dict[str, float]:
        """Angles of joints, counted over turns [rad], by name."""
        return self.system.layout.counted(self.turned)

    # -- what acts ----------------------------------------------------------------------------

    def stiffness(self, lam: Vector) -> tuple[Array, Array]:
        """Return what forces change by along motions, but for what they do to each other's axes.

        Axes of a body turn with it: D_a F(b) - D_b F(a) = F([a, b]) with the force F that is left
        over, which belongs to the chart and not to the energy.
        """
        stiffness, sizes = super().stiffness(lam)
        rigid, left = self.system.rigid, self.forces()[0] + self.rows().T @ lam
        k = rigid.k
        bracket = dense(rigid.G(np.asarray(left)[:k])) / 2
        stiffness[:k, :k] += bracket
        sizes[:k, :k] += abs(bracket)
        return stiffness, sizes

    def smallest(self, lam: Vector) -> Vector:
        """Return the smallest of the multipliers that act alike."""
        return self.system.redundancy.smallest(self.rows(), lam)

    def masses(self) -> Array:
        """Return the mass matrix of the deformed bodies."""
        return dense(self.system.bodies.mass_matrix(self.zeta))
