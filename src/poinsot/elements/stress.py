"""Stress as a separate field, and its elimination."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

import scipy.sparse as sp
from scipy.sparse.linalg import spsolve


@dataclass(frozen=True, eq=False)
class StressField:
    r"""Stress unknowns sigma in balance with displacements u: :math:`C \sigma = D u`.

    C, the integral of stress times compliance times stress, is the mass matrix of stress, and D
    that of stress times strain [BAPM21, eq. (29)].

    Parameters
    ----------
    blocks : dict of slice
        Where each component of stress is in sigma.
    C : (k, k)
        Symmetric and positive definite; sparse.
    D : (k, n)
        Sparse.
    inverse : (k, k) or None
        C^-1, if it is sparse and known.
    """

    blocks: Mapping[str, slice]
    C: sp.csr_array
    D: sp.csr_array
    inverse: sp.csr_array | None = None

    @classmethod
    def of(
        cls, sizes: Mapping[str, int], C: Any, D: Any, inverse: sp.csr_array | None = None
    ) -> Self:
        """Return a field with blocks of these sizes, one after the other."""
        ends = list(accumulate(sizes.values()))
        starts = [0, *ends[:-1]]
        blocks = {name: slice(*ends_) for name, *ends_ in zip(sizes, starts, ends, strict=True)}
        return cls(blocks, sp.csr_array(C), sp.csr_array(D), inverse)

    @cached_property
    def recovery(self) -> sp.csr_array:
        """C^-1 D: stress unknowns are recovery @ u; (k, n)."""
        if self.inverse is not None:
            return sp.csr_array(self.inverse @ self.D)
        return sp.csr_array(spsolve(sp.csc_array(self.C), sp.csc_array(self.D)))

    def component(self, name: str) -> sp.csr_array:
        """Return the rows of `recovery` of one component of stress."""
        return sp.csr_array(self.recovery[self.blocks[name]])

    @property
    def stiffness(self) -> sp.csr_array:
        """Stiffness matrix D^T C^-1 D of the displacements, with stress eliminated; (n, n)."""
        K = self.D.T @ self.recovery
        return sp.csr_array((K + K.T) / 2)
