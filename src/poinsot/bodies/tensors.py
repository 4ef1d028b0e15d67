r"""Inertia and Euler tensors, and the principal axes in which both are diagonal.

.. math:: E = \int X X^\top dm, \qquad J = \int (X^\top X I - X X^\top) dm = tr(E) I - E

X runs from the centre of mass. SI units: kg, m, kg m^2.
"""

from dataclasses import dataclass
from itertools import permutations
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError

if TYPE_CHECKING:
    from poinsot.bodies.shapes import Shape

Array: TypeAlias = NDArray[np.float64]

#: Relative defect up to which an inertia counts as symmetric, and as possible.
TOLERANCE = 1e-12
#: Relative round-off of a 3x3 eigenvalue problem.
ROUND_OFF = 8 * float(np.finfo(float).eps)


def inertia_from_euler(E: Array) -> Array:
    """Return the inertia tensor J = tr(E) I - E [kg m^2]; (3, 3)."""
    # Sums of the two other entries: tr(E) - E_ii would cancel for a slender body.
    e1, e2, e3 = E[0, 0], E[1, 1], E[2, 2]
    return _with_diagonal(0.0 - E, (e2 + e3, e3 + e1, e1 + e2))


def euler_from_inertia(J: Array) -> Array:
    """Return the Euler tensor E = tr(J)/2 I - J [kg m^2]; (3, 3).

    What the moments of a flat or a slender body leave of each other is round-off, and zero.
    """
    j1, j2, j3 = J[0, 0], J[1, 1], J[2, 2]
    noise = ROUND_OFF * (j1 + j2 + j3)
    E = (j2 + j3 - j1) / 2, (j3 + j1 - j2) / 2, (j1 + j2 - j3) / 2
    e1, e2, e3 = (value if abs(value) > noise else 0.0 for value in E)
    return _with_diagonal(0.0 - J, (e1, e2, e3))


def _with_diagonal(A: Array, diagonal: tuple[float, float, float]) -> Array:
    A[0, 0], A[1, 1], A[2, 2] = diagonal
    return A


@dataclass(frozen=True, kw_only=True, eq=False)
class PrincipalInertia:
    """The principal frame P of a shape: the Euler tensor there is diag(E1, E2, E3), all >= 0.

    R_BP holds the principal axes as columns, in the axes B of the shape: E_B = R_BP E_P R_BP^T.
    `centre` is the centre of mass from the reference point in axes B [m]. Mass in kg, E in kg m^2.
    """

    mass: float
    E1: float
    E2: float
    E3: float
    R_BP: Array
    centre: Array

    @property
    def radius(self) -> float:
        """How large it is [m]: the root of the mean square distance from the centre of mass."""
        return sqrt((self.E1 + self.E2 + self.E3) / self.mass)

    @classmethod
    def of(cls, shape: "Shape") -> Self:
        """Return the principal frame of a shape.

        An Euler tensor that is diagonal to round-off keeps its axes. Else the principal axes are
        numbered and directed so that the right-handed frame is as close as possible to the given
        axes; where principal values agree, this holds within their common plane, too.
        """
        E_B, name = shape.euler_B, type(shape).__name__
        check_inertia(inertia_from_euler(E_B), f"{name}: inertia")
        (e1, xy, xz), (yx, e2, yz), (zx, zy, e3) = E_B.tolist()
        # Plain numbers: most shapes have their principal axes, and arrays of three are slow.
        products = abs(xy + yx) / 2, abs(xz + zx) / 2, abs(yz + zy) / 2
        coupling = max(products)
        round_off = ROUND_OFF * max(abs(e1), abs(e2), abs(e3), coupling)
        R_BP, values = np.eye(3), (e1, e2, e3)
        if coupling > round_off:
            E_B = (E_B + E_B.T) / 2
            R_BP = _principal_axes(E_B)
            values = tuple(np.diagonal(R_BP.T @ E_B @ R_BP).tolist())
        # A turned rod has zeros in some other axes: what is left of them here is round-off.
        floor = round_off if coupling > 0 else 0.0
        E1, E2, E3 = (value if value > floor else 0.0 for value in values)
        return cls(mass=shape.mass, E1=E1, E2=E2, E3=E3, R_BP=R_BP, centre=shape.centre)

    @property
    def euler(self) -> Array:
        """Principal Euler values (E1, E2, E3) [kg m^2]; (3,)."""
        return np.array([self.E1, self.E2, self.E3])

    @property
    def inertia(self) -> Array:
        """Principal moments of inertia (E2 + E3, E3 + E1, E1 + E2) [kg m^2]; (3,)."""
        return np.array([self.E2 + self.E3, self.E3 + self.E1, self.E1 + self.E2])


def _principal_axes(E: Array) -> Array:
    """Return the right-handed eigenvectors of E that are closest to the given axes, as columns."""
    values, vectors = np.linalg.eigh(E)
    gaps = np.diff(values) > TOLERANCE * np.max(np.abs(values))
    # Eigenvectors of equal values span a space, in which any axes are principal ones.
    spaces = np.split(np.arange(3), np.flatnonzero(gaps) + 1)
    best, closeness = np.eye(3), -np.inf
    for order in permutations(range(3)):
        R = np.empty((3, 3))
        for space in spaces:
            axes = [order[k] for k in space]
            V = vectors[:, space]
            U, _, Wt = np.linalg.svd(V.T @ np.eye(3)[:, axes])
            R[:, axes] = V @ (U @ Wt)
        if np.linalg.det(R) < 0:
            R[:, np.argmin(np.diagonal(R))] *= -1
        # Equal up to round-off: the first order wins, so that the choice does not flicker.
        if np.trace(R) > closeness + ROUND_OFF:
            best, closeness = R, float(np.trace(R))
    return best


def turn(R: Array, tensor: Array) -> Array:
    """Return R A R^T, exactly symmetric."""
    turned = R @ tensor @ R.T
    return np.asarray((turned + turned.T) / 2)


def check_inertia(J: Array, name: str) -> None:
    """Refuse a tensor that is the inertia of no body, with the reason."""
    (j1, xy, xz), (yx, j2, yz), (zx, zy, j3) = J.tolist()
    products = xy, xz, yx, yz, zx, zy
    if not all(map(isfinite, (j1, j2, j3, *products))):
        raise InputError(f"{name} contains NaN or infinity; give numbers in kg m^2")
    size = max(map(abs, (j1, j2, j3, *products)))
    principal = [j1, j2, j3]
    if any(products):
        defect = np.abs(J - J.T)
        if np.max(defect) > TOLERANCE * size:
            i, j = divmod(int(np.argmax(np.triu(defect))), 3)
            raise InputError(
                f"{name} is not symmetric: J[{i},{j}] = {J[i, j]:.9g} but J[{j},{i}] = "
                f"{J[j, i]:.9g} kg m^2, a difference of {defect[i, j]:.3g}; correct one of them"
            )
        principal = np.linalg.eigvalsh((J + J.T) / 2).tolist()
    if min(principal) < -TOLERANCE * size:
        k = principal.index(min(principal))
        raise InputError(
            f"{name}: the principal value J{k + 1} = {principal[k]:.9g} kg m^2 is negative; "
            "check the signs"
        )
    k = principal.index(max(principal))
    i, j = sorted({0, 1, 2} - {k})
    smaller = principal[i] + principal[j]
    if smaller < principal[k] - TOLERANCE * size:
        raise InputError(
            f"{name} is not possible for a body: J{i + 1} + J{j + 1} = {smaller:.9g} is less than "
            f"J{k + 1} = {principal[k]:.9g} kg m^2, short by {principal[k] - smaller:.3g} "
            "(triangle inequality of the principal values); check axes and units, and whether it "
            "refers to the centre of mass"
        )
