r"""A time step as a linear map near its solution, forwards and backwards.

A step solves F(w; x0, p) = 0 and gives x1 = M(w; x0, p). By the implicit function theorem

.. math::

    F_w\, dw + F_x\, dx_0 + F_p\, dp = 0, \qquad
    dx_1 = M_w\, dw + M_x\, dx_0 + M_p\, dp ,

which is the derivative of the discrete map for any step size. Its transpose maps the gradient of a
function of x1 to gradients with respect to x0 and to the parameters p.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from poinsot.errors import NoDerivativeError
from poinsot.ph.matrices import Array, Matrix, Vector, dense, is_sparse
from poinsot.ph.newton import row_and_column_scales
from poinsot.ph.stages import Slopes, StageEquations

#: Differences are taken over this part of the size of an unknown: dry friction changes within a
#: thousandth of it.
STEP = 5e-6
#: Fourth-order central difference: f' = sum_k c_k (f(x + k s) - f(x - k s)) / s.
COEFFICIENTS = (2 / 3, -1 / 12)
#: Slopes that differ by more from differences of the equations are not theirs.
EXACT = 1e-6


class LinearStep:
    """The linear map of a step, with its matrix factorised once.

    Parameters
    ----------
    slopes : Slopes
        The derivatives of its equations and of its end.
    """

    def __init__(self, slopes: Slopes) -> None:
        self.slopes = slopes
        self._solve = _factorised(slopes.F_w)

    def forward(self, dx0: Array, dF: Array, dM: Array | float = 0.0) -> tuple[Array, Array]:
        """Return (dx1, dw) for columns of dx0, with what parameters add to F and to M."""
        s = self.slopes
        dw = -self._solve(np.asarray(s.F_x @ dx0) + dF, False)
        return np.asarray(s.M_w @ dw + s.M_x @ dx0) + dM, dw

    def backward(self, lam: Vector) -> tuple[Vector, Vector]:
        """Return what a gradient by x1 is by x0, and mu: parameters add -mu·dF + lam·dM to it."""
        s = self.slopes
        mu = self._solve(np.asarray(s.M_w.T @ lam), True)
        return np.asarray(s.M_x.T @ lam - s.F_x.T @ mu), mu


def _factorised(A: Matrix) -> Callable[[Array, bool], Array]:
    """Return what solves A x = b, or A^T x = b; rows and columns are scaled for pivots."""
    rows, columns = row_and_column_scales(A, None)
    try:
        if is_sparse(A):
            lu: Any = scipy.sparse.linalg.splu(
                sp.csc_array(sp.diags_array(rows) @ A @ sp.diags_array(columns))
            )

            def solve_scaled(b: Array, transposed: bool) -> Array:
                return np.asarray(lu.solve(b, "T" if transposed else "N"))
        else:
            factors = scipy.linalg.lu_factor(rows[:, None] * dense(A) * columns)
            if not np.all(np.diag(factors[0])):
                raise np.linalg.LinAlgError

            def solve_scaled(b: Array, transposed: bool) -> Array:
                found: Array = scipy.linalg.lu_solve(factors, b, trans=1 if transposed else 0)
                return found
    except (np.linalg.LinAlgError, RuntimeError, ValueError):
        raise NoDerivativeError("the tangent of the step is singular") from None

    def solve(b: Array, transposed: bool) -> Array:
        before, after = (columns, rows) if transposed else (rows, columns)
        shape = (-1, *(1,) * (b.ndim - 1))
        found = after.reshape(shape) * solve_scaled(before.reshape(shape) * b, transposed)
        if not np.all(np.isfinite(found)):
            raise NoDerivativeError("the tangent of the step is singular")
        return found

    return solve


@dataclass(frozen=True, eq=False)
class Sizes:
    """What states and unknowns of a step change by much over."""

    x: Vector
    w: Vector


def sizes_of(equations: StageEquations, x: Vector, w: Vector) -> Sizes:
    """Return natural sizes of states (n,) and of the unknowns at w."""
    measures = equations.evaluate(w).measures
    return Sizes(x, np.maximum(1.0 if measures is None else measures, 1e-3 * abs(w)))


def differences(
    f: Callable[[Vector], Vector],
    x: Vector,
    sizes: Vector,
    columns: NDArray[np.bool_] | None = None,
) -> Array:
    """Return df/dx by fourth-order central differences, zero but for some columns if given."""
    found = np.zeros((f(x).size, x.size))
    for j in range(x.size) if columns is None else np.flatnonzero(columns):
        shift = np.zeros(x.size)
        for k, c in enumerate(COEFFICIENTS, start=1):
            shift[j] = k * STEP * sizes[j]
            found[:, j] += c * (f(x + shift) - f(x - shift))
        found[:, j] /= STEP * sizes[j]
    return found


def slopes_by_differences(equations: StageEquations, w: Vector, sizes: Sizes) -> Slopes:
    """Return the derivatives of a step by differences."""
    nw = w.size

    def by_w(w: Vector) -> Vector:
        return np.concatenate([equations.residual(w), equations.finish(w)[0]])

    def by_x(x: Vector) -> Vector:
        there = equations.from_start(x)
        return np.concatenate([there.residual(w), there.finish(w)[0]])

    W = differences(by_w, w, sizes.w)
    X = differences(by_x, equations.x0, sizes.x)
    return Slopes(W[:nw], X[:nw], W[nw:], X[nw:])


class Linearisation:
    """Linear steps of one run: by the derivatives that stages give, checked, or by differences.

    Parameters
    ----------
    sizes : (n,)
        Natural sizes of states.
    differential : (n,)
        Which states have a derivative; of the others, the slopes that stages give may be those of
        another of several equal choices.
    """

    def __init__(self, sizes: Vector, differential: NDArray[np.bool_]) -> None:
        self.sizes, self.differential = sizes, differential
        self.random = np.random.default_rng(0)
        #: Whether slopes that stages give are exact, as far as that was checked.
        self.exact = True

    def __call__(self, equations: StageEquations, w: Vector, *, check: bool) -> LinearStep:
        """Return the linear map of a step; on request, what it is made of is checked."""
        slopes = equations.slopes(w) if self.exact else None
        if slopes is None or check:
            sizes = sizes_of(equations, self.sizes, w)
            if slopes is not None and not self._agree(equations, w, slopes, sizes):
                self.exact, slopes = False, None
            if slopes is None:
                slopes = slopes_by_differences(equations, w, sizes)
        return LinearStep(slopes)

    def _agree(self, equations: StageEquations, w: Vector, slopes: Slopes, sizes: Sizes) -> bool:
        """Return whether slopes are those of the equations in a random direction."""
        dw = sizes.w * self.random.standard_normal(w.size)
        dx = sizes.x * self.random.standard_normal(sizes.x.size)

        def at(s: float) -> Vector:
            there = equations.from_start(equations.x0 + s * dx)
            return np.concatenate([there.residual(w + s * dw), there.finish(w + s * dw)[0]])

        found = sum(
            (c * (at(k * STEP) - at(-k * STEP)) for k, c in enumerate(COEFFICIENTS, start=1)),
            np.zeros(w.size + sizes.x.size),
        )
        terms = [
            (slopes.F_w, dw, slopes.F_x, dx),
            (slopes.M_w, dw, slopes.M_x, dx),
        ]
        known = np.concatenate([np.asarray(A @ a + B @ b) for A, a, B, b in terms])
        size = np.concatenate([abs(A) @ abs(a) + abs(B) @ abs(b) for A, a, B, b in terms])
        rows = np.append(np.ones(w.size, dtype=bool), self.differential)
        return bool(np.all(abs(known - found / STEP)[rows] <= EXACT * size[rows].max()))
