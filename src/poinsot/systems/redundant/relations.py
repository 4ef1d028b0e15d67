"""The three relations of a system in redundant coordinates, as they are printed in [BHRS25]."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from poinsot.ph.matrices import Array, Vector
from poinsot.ph.relations import DiracStructure, LagrangianSubmanifold, ResistiveRelation
from poinsot.systems.redundant.laws import Laws


@dataclass(frozen=True, eq=False)
class Relations:
    """Dirac structure, Lagrangian submanifold and resistive relation of a system at one state."""

    dirac: DiracStructure
    lagrangian: LagrangianSubmanifold
    resistive: ResistiveRelation


def relations(laws: Laws, zeta: Vector, w: Vector, lam: Vector) -> Relations:
    """Return all three at a state."""
    return Relations(
        dirac_structure(laws.Z(zeta), laws.G(laws.M @ w), laws.A(zeta), laws.B(zeta)),
        lagrangian_submanifold(laws.M, laws.ddV(zeta) + laws.ddc(zeta, lam), laws.dc(zeta)),
        ResistiveRelation(lambda rate: laws.damping(zeta, rate), laws.k, w[None, :]),
    )


def dirac_structure(Z: Array, G: Array, A: Array, B: Array) -> DiracStructure:
    r"""Return the Dirac structure [BHRS25, eq. (7)] of matrices (n, k), (k, k), (l, k), (k, m).

    Flows are :math:`(\varpi_{L,f}, \tau_{L,f}, \varpi_R, \varpi_{ext})`, efforts
    :math:`(\tau_{L,e}, \varpi_{L,e}, \tau_R, \tau_{ext})`, of n, k, k and m entries, with

    .. math::

        \varpi_{L,f} = Z \varpi_{L,e}, \quad \varpi_R = \varpi_{L,e}, \quad A \varpi_{L,e} = 0,
        \quad \varpi_{ext} = B^\top \varpi_{L,e}, \\
        \tau_{L,f} + Z^\top \tau_{L,e} + G \varpi_{L,e} + \tau_R + B \tau_{ext} + A^\top \mu = 0 .

    The port's effort is that of the paper: :math:`\tau_{ext} = -u`. The columns are those of each
    of the free :math:`\tau_{L,e}`, :math:`\varpi_{L,e}`, :math:`\tau_R`, :math:`\tau_{ext}` and
    :math:`\mu` in turn; the dimension is n + 2k + m whatever the rank of A (prop. 2).
    """
    (n, k), m = Z.shape, B.shape[1]
    N = scipy.linalg.null_space(A) if A.size else np.eye(k)
    row = scipy.linalg.orth(A.T) if A.size else np.zeros((k, 0))
    free, held = N.shape[1], row.shape[1]

    w = np.hstack([np.zeros((k, n)), N, np.zeros((k, k + m + held))])  # of every column
    force = np.hstack([Z.T, G @ N, np.eye(k), B, row])
    flows = np.vstack([Z @ w, -force, w, B.T @ w])
    given = np.eye(n + free + k + m, n + free + k + m + held)
    efforts = np.vstack([given[:n], w, given[n + free :]])
    return DiracStructure(flows, efforts)


def lagrangian_submanifold(M: Array, stiffness: Array, dc: Array) -> LagrangianSubmanifold:
    r"""Return the tangent space of the stored energy [BHRS25, eq. (9)].

    Points are :math:`(\zeta, \Gamma; \tau, \varpi)` with :math:`\Gamma = M \varpi`,
    :math:`c(\zeta) = 0` and :math:`\tau = \nabla V + c'^\top \lambda`. Along
    :math:`\delta\zeta \in \ker c'` the force changes by the stiffness
    :math:`V'' + \lambda \cdot c''` (n, n), and by :math:`c'^\top \delta\lambda`; M (k, k) may be
    singular, and its kernel then holds no momentum.
    """
    n, k = len(stiffness), len(M)
    N = scipy.linalg.null_space(dc) if dc.size else np.eye(n)
    none = np.zeros((n, len(dc)))
    S = scipy.linalg.block_diag(np.hstack([N, none]), M)
    P = scipy.linalg.block_diag(np.hstack([stiffness @ N, dc.T]), np.eye(k))
    return LagrangianSubmanifold(S, P)
