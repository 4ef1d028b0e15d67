"""The unknowns of bodies, and the numbers computed from them, such as those of their frames.

.. math:: f = F q + f_0

For a rigid body all numbers are unknowns: twelve in directors, seven in quaternions. A body
without rotation has the three unknowns of its position; the other numbers are constant. A frame
carried by an elastic body has none.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.frames.stacks import members
from poinsot.ph.matrices import Matrix, Vector

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Numbers of a position, which every body has.
POSITION = 3


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Which numbers of bodies are unknown; where all are, everything stays as it is.

    Parameters
    ----------
    turns : (bodies,)
        Whether each body has an orientation of its own.
    rest : (width,)
        What the numbers of a body are at the origin without any turn; only those that follow its
        position matter.
    carried : (bodies,)
        Which are frames of elastic bodies, without unknowns of their own.
    """

    turns: NDArray[np.bool_]
    rest: Vector
    carried: NDArray[np.bool_]

    @cached_property
    def every(self) -> bool:
        """Whether all bodies turn by themselves: F is the identity."""
        return bool(self.turns.all() and not self.carried.any())

    @property
    def own_turns(self) -> NDArray[np.bool_]:
        """Which bodies turn by themselves; (bodies,)."""
        return np.asarray(self.turns & ~self.carried)

    @property
    def width(self) -> int:
        """Numbers of a body."""
        return self.rest.size

    @cached_property
    def sizes(self) -> Indices:
        """How many unknowns each body has; (bodies,)."""
        return np.asarray(self._unknown.sum(axis=1))

    @cached_property
    def first(self) -> Indices:
        """Where those of each body begin, and how many there are; (bodies + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def n(self) -> int:
        """Number of unknowns."""
        return int(self.first[-1])

    @cached_property
    def _unknown(self) -> NDArray[np.bool_]:
        """Which numbers of each body are unknown; (bodies, width)."""
        unknown = self.turns[:, None] | (np.arange(self.width) < POSITION)
        return np.asarray(unknown & ~self.carried[:, None])

    @cached_property
    def _places(self) -> Indices:
        """Which numbers of all bodies are unknown; (n,)."""
        return np.flatnonzero(self._unknown)

    @cached_property
    def translate(self) -> NDArray[np.bool_]:
        """Which unknowns are those of positions; (n,)."""
        return np.broadcast_to(np.arange(self.width) < POSITION, self._unknown.shape)[self._unknown]

    @cached_property
    def F(self) -> sp.csr_array:
        """What numbers change by with unknowns; (width bodies, n)."""
        entries = np.ones(self.n), (self._places, np.arange(self.n))
        return sp.csr_array(entries, shape=(self._unknown.size, self.n))

    @cached_property
    def f0(self) -> Vector:
        """Numbers that stay as they are, and zeros elsewhere; (width bodies,)."""
        return np.where(self._unknown, 0.0, self.rest).reshape(-1)

    @cached_property
    def rates(self) -> "Unknowns":
        """The same of velocities and momenta: what does not turn has none there."""
        return self if self.every else replace(self, rest=np.zeros(self.width))

    def only(self, bodies: Indices) -> "Unknowns":
        """Return those of some bodies."""
        return replace(self, turns=self.turns[bodies], carried=self.carried[bodies])

    def columns(self, bodies: Indices) -> Indices:
        """Return where those of some bodies are."""
        body, inner = members(self.sizes[bodies])
        return self.first[bodies][body] + inner

    # -- vectors and matrices; at least one axis is that of all unknowns or numbers -------------

    def full(self, q: Array) -> Array:
        """Return the numbers F q + f0 of unknowns; (..., n) to (..., width bodies)."""
        if self.every:
            return q
        shape = *q.shape[:-1], self.f0.size
        f = np.broadcast_to(self.f0, shape).astype(np.result_type(q, self.f0))
        f[..., self._places] = q
        return f

    def own(self, f: Array) -> Array:
        """Return F^T f: the unknowns among numbers, or what forces on these are to unknowns."""
        return f if self.every else np.asarray(f[..., self._places])

    def by(self, A: Matrix) -> Matrix:
        """Return A F: a derivative by numbers becomes one by unknowns."""
        product: Matrix = A if self.every else A @ self.F
        return product

    def on(self, A: Any) -> Any:
        """Return F^T A: what acts on numbers acts on unknowns."""
        return A if self.every else self.F.T @ A

    def square(self, A: Matrix) -> Matrix:
        """Return F^T A F."""
        return self.by(self.on(A))
