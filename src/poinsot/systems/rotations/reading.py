"""States with velocities in body axes, read in directors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import RotationBodies
from poinsot.systems.views import Indices, View

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RotationView(View):
    """States x = (zeta, w, multipliers)."""

    own: RotationBodies

    @classmethod
    def of(cls, held: Mechanism, own: RotationBodies) -> "RotationView":
        """Return the view of bodies."""
        return cls(held, (own.unknowns, own.velocities), own.n + own.k, own)

    def directors(self, x: Array, bodies: Indices) -> Array:
        """Return phi and the columns of R."""
        zeta = self.split(x, bodies)[0]
        d = self.own.parametrisation.directors(zeta[:, :, 3:])
        return np.concatenate([zeta[:, :, :3], d], axis=2).reshape(len(x), bodies.size, 4, 3)

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return (R v, R Omega x d_i)."""
        d = self.directors(x, bodies)[:, :, 1:]
        velocity, spin = self._in_world(x, d, bodies)
        return np.concatenate([velocity[:, :, None], np.cross(spin[:, :, None], d)], axis=2)

    def _in_world(self, x: Array, d: Array, bodies: Indices) -> tuple[Array, Array]:
        """Return R v and R Omega."""
        w = self.split(x, bodies)[1].reshape(len(x), bodies.size, 2, 3)
        velocity, spin = np.moveaxis(np.einsum("tnji,tnkj->tnki", d, w), 2, 0)
        return velocity, spin

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return m R v and R J Omega."""
        d = self.directors(x, self.bodies)[:, :, 1:]
        velocity, _ = self._in_world(x, d, self.bodies)
        Pi = self.own.inertia * self.split(x, self.bodies)[1][:, :, 3:]
        return self.own.mass[:, None] * velocity, np.einsum("tnji,tnj->tni", d, Pi)

    def kinetic(self, x: Array) -> Array:
        """Return w·M w / 2."""
        return np.asarray(x[:, self.own.n :] ** 2 @ self.own.weights / 2)

    def own_errors(self, x: Array) -> tuple[Array, Array]:
        """Return by how much theta is no rotation; w is always one of a rigid body."""
        excess = self.own.parametrisation.excess(self.own.theta(x[:, : self.own.n]))
        return excess, np.zeros((len(x), 0))
