"""Conversion of states of mechanisms with elastic bodies."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.places import frame_vectors
from poinsot.systems.floating.bodies import FloatingBodies
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.views import Indices, View

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FloatingView(View):
    """States x = (zeta, w, multipliers); every frame may depend on all of zeta."""

    own: FloatingBodies

    @classmethod
    def of(cls, own: FloatingBodies, held: Mechanism) -> "FloatingView":
        """Return the view of bodies and what is attached to them."""
        parts = own.rigid.unknowns, own.rigid.velocities
        return cls(held, parts, own.n + own.k, own.parametrisation, own)

    @property
    def motion(self) -> int:
        """How many columns of x are coordinates and velocities."""
        return self.own.n + self.own.k

    @property
    def stores(self) -> dict[str, Callable[[Array], Array]]:
        """The elastic energy [J]."""
        return {"elastic": lambda x: np.array([self.own.elastic_energy(row) for row in x])}

    def lowered(self, x: Array) -> Array:
        """Return the energy of gravity that comes with the deformation [J]; (states,)."""
        return np.array([self.own.lowered(row) for row in x])

    def deformation(self, x: Array, body: int) -> Array:
        """Return the elastic coordinates of a body; (states, n)."""
        each = zip(self.own.elastic, self.own.deformations(x[:, : self.own.n]), strict=True)
        return next(u for elastic, u in each if elastic.frame == body)

    @property
    def freedoms(self) -> int:
        """How many degrees of freedom bodies have without joints."""
        return self.own.k

    def columns(self, bodies: Indices) -> Indices:
        """Return where the motion is in x."""
        return np.arange(self.motion)

    def directors(self, x: Array, bodies: Indices) -> Array:
        """Return (phi, d1, d2, d3); (states, bodies, 4, 3)."""
        return frame_vectors(self.own.directors(x[:, : self.own.n]))[:, bodies]

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return their velocities; (states, bodies, 4, 3)."""
        n = self.own.n
        return self.own.rates(x[:, :n], x[:, n : self.motion])[:, bodies]

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return linear and angular momentum of all bodies, the latter about their frames."""
        own, n, k = self.own, self.own.n, self.own.rigid.k
        frames = frame_vectors(own.directors(x[:, :n]))
        p, L = np.zeros((len(x), own.count, 3)), np.zeros((len(x), own.count, 3))
        for row, state in enumerate(x):
            zeta, w = state[:n], state[n : self.motion]
            R = np.swapaxes(frames[row, :, 1:], 1, 2)
            pairs = own.rigid.pairs(own.weights[:k] * w[:k]).copy()
            for (body, at), u in zip(own.each(), own.deformations(zeta), strict=True):
                momenta = body.data.momenta(u, own.of(w, at))
                pairs[body.frame] = momenta[:6].reshape(2, 3)
            p[row], L[row] = np.swapaxes(np.einsum("nij,nkj->nki", R, pairs), 0, 1)
        return p, L

    def kinetic(self, x: Array) -> Array:
        """Return the kinetic energy of all bodies [J]; (states,)."""
        n, motion = self.own.n, self.motion
        return np.array([self.own.kinetic(row[:n], row[n:motion]) for row in x])

    def over_steps(
        self, means: Array, ends: Array, h: Array, bodies: Indices
    ) -> tuple[Array, Array]:
        """Return mean frames over steps, and how fast they move over them."""
        if self.general:
            return self.directors(means, bodies), self.rates(means, bodies)
        q0, q1 = (self.directors(x, bodies) for x in (2 * means - ends, ends))
        return (q0 + q1) / 2, (q1 - q0) / h[:, None, None, None]

    def own_errors(self, x: Array) -> tuple[Array, Array]:
        """Return by how much theta is no rotation."""
        rigid = self.own.rigid
        excess = self.parametrisation.excess(rigid.theta(x[:, : rigid.n]))
        return excess, np.zeros((len(x), 0))
