"""Consistent initial states: algebraic equations must hold at the start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InconsistentStartError
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector, add, dense, is_sparse
from poinsot.ph.system import PHSystem

#: Residual of an algebraic equation, relative to the size of its terms, that a start may have.
TOLERANCE = 1e-8
#: Where terms vanish, this part of the size that they have by nature stands for them.
VANISHED = 1e-4
ITERATIONS = 20
#: Residual, relative to the size of its terms, that is not worth a correction.
ROUND_OFF = 1e-13
#: How often rows and columns are scaled by each other in turn.
SWEEPS = 8
#: From so many equations on, sparse ones are solved as such.
SPARSE = 500


def _algebraic_rows(system: PHSystem, x: Vector) -> Matrix:
    """Return a basis of the combinations of equations that contain no derivative; shape (n, k)."""
    E = system.E(x)
    if not is_sparse(E):
        # Most often rows are empty or tell the derivative of one state: nothing to be combined.
        entries = dense(E) != 0
        if np.all(entries.sum(axis=0) <= 1) and np.all(entries.sum(axis=1) <= 1):
            return np.eye(system.n)[:, ~entries.any(axis=1)]
        # Row by row: masses may differ by any power of ten.
        size = np.max(abs(dense(E)), axis=1, keepdims=True)
        size[size == 0] = 1.0
        return np.linalg.qr(scipy.linalg.null_space((dense(E) / size).T) / size)[0]
    empty = np.flatnonzero(np.asarray(abs(E).sum(axis=1)).reshape(-1) == 0)
    return sp.eye_array(system.n, format="csc")[:, empty]


def _least_squares(A: Matrix, b: Vector, *, scaled: bool) -> Vector:
    """Return the x that minimises the residual of A x = b, and is shortest among those.

    `scaled` measures every unknown and equation by the entries of A: multipliers of different kinds
    have no common length, while states are to be moved as little as they can.
    """
    if is_sparse(A) and A.shape[0] > SPARSE:
        return shortest_solution(A, b)
    M = dense(A)
    if not scaled:
        return np.asarray(np.linalg.lstsq(M, b)[0])
    rows, columns = np.ones(M.shape[0]), np.ones(M.shape[1])
    for _ in range(SWEEPS):
        size = abs(M) / rows[:, None] / columns
        rows *= _roots(np.max(size, axis=1, initial=0.0))
        columns *= _roots(np.max(size, axis=0, initial=0.0))
    S, right = M / rows[:, None] / columns, b / rows
    solution = np.linalg.lstsq(S, right)[0]
    # Once more for what is left: small equations are solved to the round-off of large ones first.
    solution += np.linalg.lstsq(S, right - S @ solution)[0]
    return np.asarray(solution / columns)


def _roots(sizes: Vector) -> Vector:
    return np.sqrt(np.where(sizes > 0, sizes, 1.0))


def _solve(
    system: PHSystem, x: Vector, t: float, free: NDArray[np.bool_]
) -> tuple[Vector, Vector, Vector]:
    """Bring the algebraic equations to zero by least changes of the free states (Gauss-Newton).

    Returns the state, the residual of every equation, and the size of its terms.
    """
    u = system.u(t)

    def evaluate(x_: Vector) -> tuple[Vector, Vector, Matrix]:
        rows = _algebraic_rows(system, x_)
        z = system.z(x_)
        flow = system.flow(x_, z, system.feedback(t, x_, z, u))
        sizes = abs(rows) @ (abs(rows).T @ _sizes(system, x_, u))
        return np.asarray(rows @ (rows.T @ flow)), np.asarray(sizes), rows

    residual, sizes, rows = evaluate(x)
    for _ in range(ITERATIONS):
        if not rows.shape[1] or not free.any():
            break
        if np.all(abs(residual) <= ROUND_OFF * sizes):
            break
        z = system.z(x)
        slope: Matrix = system.dflow_dz(x, z) @ system.dz(x)
        dflow = system.dflow(x, z, u)
        if dflow is not None:
            slope = add(slope, dflow)
        change = np.zeros(system.n)
        columns = np.flatnonzero(free)
        # Round-off of large equations would be as much as small ones are.
        lacking = np.where(abs(residual) <= ROUND_OFF * sizes, 0.0, residual)
        change[columns] = _least_squares(
            (rows.T @ slope)[:, columns], -(rows.T @ lacking), scaled=not free.all()
        )
        candidate, there, candidate_rows = evaluate(x + change)
        common = np.maximum(sizes, there)
        if not _relative(candidate, common) < _relative(residual, common):
            break
        x, residual, sizes, rows = x + change, candidate, there, candidate_rows
    return x, residual, sizes


def _sizes(system: PHSystem, x: Vector, u: Vector) -> Vector:
    """Return the size of the terms in every equation, none below what is round-off by nature."""
    z = system.z(x)
    efforts = abs(z) + VANISHED * (abs(system.dz(x)) @ system.sizes(x))
    return np.asarray(abs(system.dflow_dz(x, z)) @ efforts + abs(system.B(x)) @ abs(u))


def _relative(residual: Vector, sizes: Vector) -> float:
    """Return the length of the residual, every entry relative to the size of its terms."""
    nothing = np.where(residual == 0, 0.0, np.inf)
    return float(np.linalg.norm(np.divide(residual, sizes, out=nothing, where=sizes > 0)))


def require_satisfied(
    name: str, rows: Iterable[tuple[str, Sequence[str], Vector, Vector, str]]
) -> None:
    """Refuse a start that violates a constraint by more than round-off, and say which.

    `rows` are, for every kind of constraint, what is violated, the names, the values that should
    vanish, the sizes of their terms, and what is to be corrected.
    """
    for what, names, values, sizes, wrong in rows:
        # NaN is wrong, too.
        wrong_rows = np.flatnonzero(~(abs(values) <= TOLERANCE * sizes[: values.size]))
        if wrong_rows.size:
            k = int(wrong_rows[np.argmax(abs(values[wrong_rows]))])
            raise InconsistentStartError(
                f"system '{name}': the initial state violates {what}'{names[k]}' by "
                f"{abs(values[k]):.3g}; correct {wrong}"
            )


def check_start(system: PHSystem, x: Vector, t: float) -> Vector:
    """Return the state with its multipliers filled in, or say which equation contradicts it."""
    filled, residual, sizes = _solve(system, x, t, system.followers)
    wrong = np.flatnonzero(abs(residual) > TOLERANCE * sizes)
    if wrong.size:
        worst = wrong[np.argmax(abs(residual[wrong]))]
        raise InconsistentStartError(
            f"system '{system.name}': the initial state violates the algebraic equation "
            f"'{system.labels[worst]}' by {abs(residual[worst]):.3g} (its terms are of size "
            f"{sizes[worst]:.3g}); correct the state, or use poinsot.ph.consistent_state(system, "
            "x0)"
        )
    return filled


def consistent_state(
    system: PHSystem, x0: ArrayLike | Mapping[str, ArrayLike], t: float = 0.0
) -> Vector:
    """Return the state nearest to x0 that satisfies all algebraic equations.

    For mechanisms, velocities and multipliers are changed, but not positions. The Gauss-Newton
    method takes the shortest step that solves the linearised equations. The time t [s] matters if
    an input enters an algebraic equation.
    """
    x, residual, sizes = _solve(system, system.state(x0), t, system.adjustable)
    wrong = np.flatnonzero(abs(residual) > TOLERANCE * sizes)
    if wrong.size:
        worst = wrong[np.argmax(abs(residual[wrong]))]
        raise InconsistentStartError(
            f"system '{system.name}': found no consistent state near x0: the equation "
            f"'{system.labels[worst]}' keeps a residual of {abs(residual[worst]):.3g}"
        )
    return x
