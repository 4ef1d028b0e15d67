r"""Torques put in as [KB24, eq. (128)] does: :math:`F = 2 E(q_m)^\top \tau`.

Since the mean quaternion of a step is shorter than one, the torque that this exerts falls short by
:math:`|q_m|^2`, and the output :math:`2 E(q_m) v_m` by as much.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.directions import Torque
from poinsot.ph.matrices import Vector
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.products import WORLD, world

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublishedTorques:
    """The ports of that kind: their bodies (ports,), and their inputs among all (ports, 3)."""

    bodies: NDArray[np.intp]
    inputs: NDArray[np.intp]

    @classmethod
    def of(cls, mechanism: Mechanism) -> "PublishedTorques":
        """Return those of a mechanism."""
        found, first = [], 0
        for inlet in mechanism.inlets:
            line = inlet.direction
            if isinstance(line, Torque) and not line.reciprocal:
                found.append((line.bodies[0], *range(first, first + 3)))
            first += inlet.size
        table = np.array(found, dtype=np.intp).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1:])

    def forces(self, quat: Array, u: Vector) -> tuple[Array, Array]:
        """Return the forces on quaternions (bodies, 4), and their derivative (bodies, 4, 4)."""
        total, slope = np.zeros(quat.shape), np.zeros((*quat.shape, 4))
        turned = 2 * np.einsum("pi,iab->pba", u[self.inputs], WORLD)
        np.add.at(slope, self.bodies, turned)
        np.add.at(total, self.bodies, np.einsum("pab,pb->pa", turned, quat[self.bodies]))
        return total, slope

    def outputs(self, quat: Array, rate: Array) -> Array:
        """Return 2 E(q) q' of every port; (ports, 3)."""
        E = world(quat[self.bodies])
        return np.asarray(2 * np.einsum("pia,pa->pi", E, rate[self.bodies]))
