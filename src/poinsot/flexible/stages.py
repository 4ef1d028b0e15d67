"""Stage equations of elastic bodies: stress is eliminated, and the matrix factorised once."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from poinsot.ph.matrices import Vector
from poinsot.ph.stages import Evaluation, Stage, StageEquations, Tangent, largest

if TYPE_CHECKING:
    from poinsot.flexible.elastodynamics import Continuum

#: So many matrices are kept, one for each system and step.
_KEPT = 4


@dataclass(frozen=True, eq=False)
class ElasticStages(StageEquations):
    r"""The midpoint rule of an elastic body, for the velocity v over the step.

    .. math:: 2 M (v - v_0) + h D^\top (\sigma_0 + \tfrac h2 C^{-1} D v) = h B u

    The energy is quadratic, so that all discrete gradients are the midpoint value.
    """

    system: "Continuum"

    @property
    def n(self) -> int:
        """Number of velocities."""
        return self.system.states[0].size

    @cached_property
    def _constant(self) -> tuple[Vector, Vector]:
        """Return what does not depend on v, 2 M v0 - h D^T sigma0 + h B u, and its size."""
        M, _, D, B = _blocks(self.system)
        v0, sigma0 = self.x0[: self.n], self.x0[self.n :]
        terms = np.array([2 * (M @ v0), -self.h * (sigma0 @ D), self.h * (B @ self.u)])
        return terms.sum(axis=0), abs(terms).sum(axis=0)

    @property
    def guess(self) -> Vector:
        """Start at the solution: the equations are linear."""
        A, lu = _factorised(self.system, self.h)
        b, _ = self._constant
        v = lu.solve(b)
        return np.asarray(v + lu.solve(b - A @ v))

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual at v = w."""
        A, _ = _factorised(self.system, self.h)
        b, size = self._constant
        sizes = largest(abs(A) @ abs(w) + size)
        return Evaluation(A @ w - b, sizes, lambda: Tangent.of(self.n, [(0, 0, A)]))

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return velocity and stress at the end of the step, and those at its middle."""
        _, stress_rate, _, _ = _blocks(self.system)
        v0, sigma0 = self.x0[: self.n], self.x0[self.n :]
        change = self.h * (stress_rate @ w)
        mid = np.concatenate([w, sigma0 + change / 2])
        x1 = np.concatenate([2 * w - v0, sigma0 + change])
        return x1, Stage(mid, mid, self.u, self.system.y(mid, mid))

    @property
    def labels(self) -> tuple[str, ...]:
        """Equations are named after velocities."""
        return self.system.labels[: self.n]


@lru_cache(_KEPT)
def _blocks(system: "Continuum") -> tuple[sp.csr_array, ...]:
    """Return M, C^-1 D, D and B of the velocities."""
    body, n = system.body, system.states[0].size
    M, stress = body.M[body.free][:, body.free], body.stress
    blocks = M, stress.recovery[:, body.free], stress.D[:, body.free], system.matrix_B[:n]
    return tuple(sp.csr_array(block) for block in blocks)


@lru_cache(_KEPT)
def _factorised(system: "Continuum", h: float) -> tuple[sp.csr_array, Any]:
    """Return 2 M + h^2/2 K and its factors."""
    M, _, _, _ = _blocks(system)
    K = system.body.K[system.body.free][:, system.body.free]
    A = sp.csr_array(2 * M + h**2 / 2 * K)
    # The matrix is symmetric and positive definite: no pivots, and an ordering made for that.
    lu = splu(sp.csc_array(A), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return A, lu
