"""States in quaternions, read in directors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.systems.quaternions.mechanism import QuaternionMechanism
from poinsot.systems.quaternions.products import BODY, WHOLE, WORLD, director_slopes, directors
from poinsot.systems.views import Indices, View

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuaternionView(View):
    """States x = (q, v, p, multipliers) of Livens' form, or (q, p, multipliers) of Hamilton's."""

    lagrangian: QuaternionMechanism

    @classmethod
    def of(cls, lagrangian: QuaternionMechanism, parts: int) -> "QuaternionView":
        """Return the view of a mechanism whose states have so many parts before multipliers."""
        own, joints = lagrangian.unknowns, parts * lagrangian.n + lagrangian.units
        return cls(lagrangian.held, (own, *[own.rates] * (parts - 1)), joints, lagrangian)

    def directors(self, x: Array, bodies: Indices) -> Array:
        """Return phi and the columns of R(q)."""
        q = self.split(x, bodies)[0]
        return _blocks(q[:, :, :3], directors(q[:, :, 3:]))

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return D(q) v."""
        q, v, _ = self._motion(x, bodies)
        turning = np.einsum("tnka,tna->tnk", director_slopes(q[:, :, 3:]), v[:, :, 3:])
        return _blocks(v[:, :, :3], turning)

    def _motion(self, x: Array, bodies: Indices) -> tuple[Array, Array, Array]:
        """Return q, v and p; without v in the state it is M^-1 p with the augmented mass."""
        q, *v, p = self.split(x, bodies)
        if v:
            return q, v[0], p
        y = np.einsum("iab,tna,tnb->tni", WHOLE, q[:, :, 3:], p[:, :, 3:])
        y = self.lagrangian.augmented[bodies] * y
        rates = np.einsum("iab,tna,tni->tnb", WHOLE, q[:, :, 3:], y)
        velocity = p[:, :, :3] / self.lagrangian.mass[bodies, None]
        return q, np.concatenate([velocity, rates], axis=2), p

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return those of p."""
        q, _, p = self._motion(x, self.bodies)
        turning = np.einsum("iab,tna,tnb->tni", WORLD, q[:, :, 3:], p[:, :, 3:]) / 2
        return p[:, :, :3], turning

    def kinetic(self, x: Array) -> Array:
        """Return the generalised kinetic energy p·v - T(q, v)."""
        q, v, p = self._motion(x, self.bodies)
        spin = 2 * np.einsum("iab,tna,tnb->tni", BODY, q[:, :, 3:], v[:, :, 3:])
        twice = np.einsum("n,tni->t", self.lagrangian.mass, v[:, :, :3] ** 2)
        twice = twice + np.einsum("ni,tni->t", self.lagrangian.inertia, spin**2)
        return np.asarray(np.sum(p * v, axis=(1, 2)) - twice / 2)

    def own_errors(self, x: Array) -> tuple[Array, Array]:
        """Return (q·q - 1) / 2 and q·q' of quaternions."""
        q, v, _ = (part[:, :, 3:] for part in self._motion(x, self.bodies))
        return (np.sum(q**2, axis=2) - 1) / 2, np.sum(q * v, axis=2)


def _blocks(phi: Array, turned: Array) -> Array:
    """Return vectors of the centre and of the directors; (states, bodies, 4, 3)."""
    states, bodies, _ = phi.shape
    return np.concatenate([phi, turned], axis=2).reshape(states, bodies, 4, 3)
