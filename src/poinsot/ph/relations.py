"""The three relations of a port-Hamiltonian system [BHRS25, def. 7] at one state.

Each consists of matrices, and returns its defects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from poinsot.ph.matrices import Array, Vector, as_matrix, largest

EPS = float(np.finfo(float).eps)
#: How many random efforts a resistive relation is tried on.
SAMPLES = 64
#: How often rows and columns are scaled in turn before a rank is told.
SWEEPS = 8


class Subspace(ABC):
    """A subspace of pairs, n entries each, that is spanned by columns and isotropic."""

    @property
    @abstractmethod
    def columns(self) -> Array:
        """What spans it; shape (2 n, columns)."""

    @property
    @abstractmethod
    def isotropy_defect(self) -> float:
        """How far any two of its elements are from isotropy."""

    @property
    def dimension_defect(self) -> int:
        """How much the dimension falls short of n, the largest that isotropy allows."""
        return int(len(self.columns) // 2 - np.linalg.matrix_rank(_of_one_size(self.columns)))

    @property
    def defect(self) -> float:
        """Zero if it is isotropic and of dimension n."""
        return self.isotropy_defect + abs(self.dimension_defect)

    def distance(self, first: Vector, second: Vector) -> float:
        """Return how far a pair, such as (flow, effort), is from it, relative to its length."""
        vector = np.concatenate([first, second])
        U, singular, _ = np.linalg.svd(self.columns, full_matrices=False)
        basis = U[:, singular > max(self.columns.shape) * EPS * singular[0]]
        rest = vector - basis @ (basis.T @ vector)
        return float(np.linalg.norm(rest) / max(np.linalg.norm(vector), np.finfo(float).tiny))


def _of_one_size(a: Array) -> Array:
    """Return a matrix of the same rank whose rows and columns are of size one, whatever the units.

    A stiff spring beside a light mass would hide it otherwise.
    """
    for _ in range(SWEEPS):
        for axis in (0, 1):
            sizes = np.max(abs(a), axis=axis, keepdims=True)
            a = a / np.sqrt(np.where(sizes > 0, sizes, 1.0))
    return a


@dataclass(frozen=True)
class DiracStructure(Subspace):
    """A space of flows and efforts, spanned by the columns of (F; E); F and E have n rows."""

    F: Array
    E: Array

    @property
    def columns(self) -> Array:
        """(F; E)."""
        return np.vstack([self.F, self.E])

    @property
    def power_defect(self) -> float:
        """max|F^T E + E^T F|: the power of any two of its elements vanishes [BHRS25, def. 3]."""
        return largest(self.F.T @ self.E + self.E.T @ self.F)

    isotropy_defect = power_defect

    def restricted(self, C: ArrayLike) -> DiracStructure:
        r"""Return the Dirac structure of the efforts with C e = 0; C has shape (l, n).

        .. math:: \{(f, e) : C e = 0,\ (f + C^\top \mu, e) \in D \text{ for some } \mu\}

        [BHRS25, prop. 4], where C is called E(x). At one state it is a Dirac structure for any rank
        of C;
        over states it is a modulated one if the dimension of the elements of D with C e = 0 is
        constant
        (remark 5).
        """
        rows = as_matrix(C, (np.shape(C)[0], len(self.E)), "restriction: C")
        free = scipy.linalg.null_space(rows @ self.E)
        columns = rows.shape[0]
        return DiracStructure(
            np.hstack([self.F @ free, -rows.T]),
            np.hstack([self.E @ free, np.zeros((len(self.E), columns))]),
        )


@dataclass(frozen=True)
class LagrangianSubmanifold(Subspace):
    """The tangent space at a point, spanned by the columns of (S; P); S and P have n rows.

    S is the tangent of the stored quantities, P that of their efforts.
    """

    S: Array
    P: Array

    @property
    def columns(self) -> Array:
        """(S; P)."""
        return np.vstack([self.S, self.P])

    @property
    def isotropy_defect(self) -> float:
        """max|S^T P - P^T S|, relative: v1·w2 - w1·v2 must vanish for any two elements (def. 5)."""
        product = self.S.T @ self.P
        return largest(product - product.T) / max(largest(product), np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class ResistiveRelation:
    """All pairs (flow, effort(flow)) with n entries each; the dissipated power is flow·effort.

    `flows` (k, n) are tested in addition to random ones.
    """

    effort: Callable[[Vector], Vector]
    n: int
    flows: Array
    seed: int = 0

    @property
    def defect(self) -> float:
        """How negative flow·effort becomes [BHRS25, def. 6], relative to the sizes of both.

        The random flows have many magnitudes.
        """
        random = np.random.default_rng(self.seed)
        tries = random.standard_normal((SAMPLES, self.n))
        tries *= 10.0 ** random.uniform(-3, 3, (SAMPLES, 1))
        worst = 0.0
        for flow in (*self.flows, *tries):
            effort = self.effort(flow)
            size = float(np.linalg.norm(flow) * np.linalg.norm(effort))
            if size > 0:
                worst = max(worst, -float(flow @ effort) / size)
        return worst if worst > 4 * self.n * EPS else 0.0

    def distance(self, flow: Vector, effort: Vector) -> float:
        """Return the distance of a pair from the relation, relative to the effort."""
        exact = self.effort(flow)
        size = max(float(np.linalg.norm(exact)), np.finfo(float).tiny)
        return float(np.linalg.norm(effort - exact)) / size
