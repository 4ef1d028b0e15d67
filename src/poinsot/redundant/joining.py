"""Two systems in redundant coordinates joined at their ports: again such a system."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.livens.smooth import Array, Smooth
from poinsot.ph.matrices import Vector
from poinsot.redundant.fields import Field, placed
from poinsot.redundant.laws import Laws

Places = NDArray[np.intp]


def join(a: Laws, b: Laws, names: tuple[str, str], tied_a: Places, tied_b: Places) -> Laws:
    r"""Return the laws of both, with velocities tied at some columns of their B [BHRS25, sec. 6].

    The rows :math:`B_{c1}^\top w_1 - B_{c2}^\top w_2 = 0` come after those of both A, and their
    multipliers are the forces from one system to the other; the other columns of B stay.
    """
    n, k, rows = a.n + b.n, a.k + b.k, a.n_A + b.n_A
    zeta_a, zeta_b = np.arange(a.n), np.arange(a.n, n)
    w_a, w_b = np.arange(a.k), np.arange(a.k, k)
    both_a, both_b = np.r_[zeta_a, n + w_a], np.r_[zeta_b, n + w_b]
    B_a, B_b = a.B.on(zeta_a), b.B.on(zeta_b)
    free_a, free_b = _others(a, tied_a), _others(b, tied_b)

    def diagonal(F: Field, at: Places, G: Field, to: Places, corner: tuple[int, int]) -> Field:
        shapes = [F(np.zeros(at.size)).shape, G(np.zeros(to.size)).shape]
        shape = shapes[0][0] + shapes[1][0], shapes[0][1] + shapes[1][1]
        return placed(shape, [(0, 0, F.on(at)), (*corner, G.on(to))])

    return Laws(
        coordinates=_labels(names, (a.coordinates, b.coordinates)),
        velocities=_labels(names, (a.velocities, b.velocities)),
        M=scipy.linalg.block_diag(a.M, b.M),
        potentials=_all(a.potentials, zeta_a, b.potentials, zeta_b, n),
        constraints=_all(a.constraints, zeta_a, b.constraints, zeta_b, n),
        Z=diagonal(a.Z, zeta_a, b.Z, zeta_b, (a.n, a.k)),
        G=diagonal(a.G, w_a, b.G, w_b, (a.k, a.k)),
        A=placed(
            (rows + tied_a.size, k),
            [
                (0, 0, a.A.on(zeta_a)),
                (a.n_A, a.k, b.A.on(zeta_b)),
                (rows, 0, B_a.columns(tied_a).transposed()),
                (rows, a.k, B_b.columns(tied_b).transposed(-1.0)),
            ],
        ),
        B=placed(
            (k, free_a.size + free_b.size),
            [(0, 0, B_a.columns(free_a)), (a.k, free_a.size, B_b.columns(free_b))],
        ),
        dissipation=placed(
            (k, 1), [(0, 0, a.dissipation.on(both_a)), (a.k, 0, b.dissipation.on(both_b))]
        ),
        skew=a.skew and b.skew,
    )


def _others(laws: Laws, tied: Places) -> Places:
    inputs = laws.B(np.zeros(laws.n)).shape[1]
    return np.setdiff1d(np.arange(inputs), tied)


def _labels(names: tuple[str, str], given: tuple[Sequence[str], Sequence[str]]) -> list[str]:
    return [
        f"{name}.{label}" for name, labels in zip(names, given, strict=True) for label in labels
    ]


def _all(a: Sequence[Smooth], at: Places, b: Sequence[Smooth], to: Places, n: int) -> list[Smooth]:
    return [*(_on(F, at, n) for F in a), *(_on(F, to, n) for F in b)]


def _on(F: Smooth, places: Places, n: int) -> Smooth:
    """Return F as a function of n coordinates, of which its own have these places."""
    along = np.zeros(n)
    along[places] = F.along

    def jacobian(q: Vector) -> Array:
        whole = np.zeros((F.size, n))
        whole[:, places] = F.jacobian(q[places])
        return whole

    def curvature(q: Vector, w: Vector) -> Array:
        whole = np.zeros((n, n))
        whole[np.ix_(places, places)] = F.curvature(q[places], w)
        return whole

    return replace(
        F,
        value=lambda q: F.value(q[places]),
        jacobian=jacobian,
        curvature=curvature,
        along=along,
    )
