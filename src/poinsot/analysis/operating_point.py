"""Operating points of linearisations: state, rate and consistent multipliers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from poinsot.analysis.linear import sparse
from poinsot.errors import InputError
from poinsot.inputs import numbers
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector, add, dense, is_sparse, large
from poinsot.ph.system import PHSystem, zero_columns
from poinsot.result import Result
from poinsot.systems.mechanical import VelocityForm

#: Rates and multipliers are found by so many steps of Newton's method at most.
ITERATIONS = 8
#: A change of multipliers below this part of them is none.
ROUND_OFF = 1e-13
#: How often accelerations and multipliers are solved for: the second time from what is left.
REFINEMENTS = 2
#: Inverse condition from which on there is one solution.
REGULAR = 1e-9
#: Pivots below this part of the largest belong to repeated constraints.
CUT = 1e-11


def slope(system: PHSystem, x: Vector, z: Vector, u: Vector) -> Matrix:
    """Return the derivative of the flow by x, with the costate z(x)."""
    F: Matrix = system.dflow_dz(x, z) @ system.dz(x)
    return add(F, system.dflow(x, z, u))


def state_of(system: PHSystem, at: Any) -> tuple[Vector, float]:
    """Return the state that a user means by `at`, and its time [s]."""
    if at is None or (isinstance(at, str) and at == "start"):
        return system.start.copy(), 0.0
    if isinstance(at, Result):
        return _saved(system, at, -1)
    if isinstance(at, tuple) and len(at) == 2 and isinstance(at[0], Result):
        return _saved(system, at[0], _row(at[0], at[1]))
    if isinstance(at, str):
        raise InputError(
            f"linearise: at is {at!r}; give 'start', a state, (result, time) or an equilibrium"
        )
    x = at if isinstance(at, Mapping | Sequence | np.ndarray) else getattr(at, "x", None)
    if x is None:
        raise InputError(
            f"linearise: at is {at!r}; give 'start', a state, (result, time) or an equilibrium"
        )
    return system.state(x).copy(), float(getattr(at, "t", 0.0))


def angles_of(system: PHSystem, at: Any, x: Vector) -> Vector:
    """Return angles counted over turns [rad], which springs are wound up by; a state has none."""
    known = getattr(at, "angles", None)
    if isinstance(known, Mapping) and len(known) == len(system.angle_names):
        return np.array(list(known.values()), dtype=float)
    return system.angles(x)


def _row(result: Result, when: Any) -> int:
    """Return the saved row nearest to a time [s]."""
    t = float(numbers(when, "linearise: the time"))
    time = np.asarray(result.time)
    if not time[0] <= t <= time[-1]:
        raise InputError(
            f"linearise: the result has no time {t:g} s; it runs from {time[0]:g} to {time[-1]:g} s"
        )
    return int(np.argmin(abs(time - t)))


def _saved(system: PHSystem, result: Result, row: int) -> tuple[Vector, float]:
    """Return a saved state of a result, by the names of the system's states.

    Multipliers, which files leave out, follow from the others.
    """
    x, missing = np.zeros(system.n), list[str]()
    for name, at in system.slices.items():
        if name in result.states:
            x[at] = np.asarray(result.states[name].values[row]).reshape(-1)
        elif not system.algebraic[at].all():
            missing.append(name)
    if missing:
        raise InputError(
            f"linearise: the result of '{result.model}' has no state '{missing[0]}' of system "
            f"'{system.name}'; linearise the simulated system in the same coordinates"
        )
    return x, float(result.time[row])


def input_of(system: PHSystem, at: Any, u: ArrayLike | Mapping[str, ArrayLike] | None) -> Vector:
    """Return the inputs that a user gives, by port or all of them, or those that `at` has."""
    given = getattr(at, "u", None) if u is None and not isinstance(at, Result) else u
    if given is None or callable(given):
        t = float(getattr(at, "t", 0.0)) if not isinstance(at, tuple | Result) else 0.0
        return system.u(t)
    values = system.u(0.0)
    if isinstance(given, Mapping):
        for name, value in given.items():
            port = system.port(name)
            block = numbers(value, f"linearise: u of port '{name}'").reshape(-1)
            if block.size not in (1, port.size):
                raise InputError(
                    f"linearise: u of port '{name}' has {block.size} entries, expected {port.size}"
                )
            values[system.port_slices[name]] = block
        return values
    block = numbers(given, "linearise: u").reshape(-1)
    if block.size != system.m:
        raise InputError(f"linearise: u has {block.size} entries, expected {system.m}")
    return block.copy()


def in_motion(system: PHSystem, x: Vector, u: Vector, t: float) -> tuple[Vector, Vector]:
    """Return the state with its multipliers, and its rate x'; differential states stay.

    Both follow from the equations and from the rates of the algebraic ones. Of multipliers that
    repeated constraints leave open the shortest are taken.
    """
    if isinstance(system, VelocityForm) and type(system).J is VelocityForm.J:
        return _of_mechanism(system, x, u, t)
    return _of_any(system, x, u, t)


def _of_mechanism(system: VelocityForm, x: Vector, u: Vector, t: float) -> tuple[Vector, Vector]:
    """Solve M w' + K^T lam = forces, K w' = -(dK w/dzeta) zeta' for w' and lam."""
    mechanics, x, k = system.mechanics, x.copy(), system.mechanics.k
    zeta, w, lam = system.parts(x)
    lam[:] = 0.0
    z = system.z(x)
    flow = system.flow(x, z, system.feedback(t, x, z, u))
    moves, push, _ = system.parts(flow)
    n, m, rate = mechanics.n, mechanics.m, np.zeros(system.n)
    M = system.E(x)[n : n + k, n : n + k]
    K = mechanics.K(zeta) if m else np.zeros((0, k))
    bent = np.asarray(mechanics.slope(zeta, w) @ moves) if m else np.zeros(0)
    right = np.concatenate([push, -bent])
    if large(k + m):
        saddle = sp.block_array([[sparse(M), sparse(K).T], [sparse(K), None]], format="csr")
        found = shortest_solution(saddle, right, width=3)
    else:
        full = np.zeros((k + m, k + m))
        full[:k, :k], full[:k, k:], full[k:, :k] = dense(M), dense(K).T, dense(K)
        found = _shortest(full, right)
    rate[: moves.size] = moves
    system.parts(rate)[1][:], lam[:] = found[:k], found[k:]
    return x, rate


def _of_any(system: PHSystem, x: Vector, u: Vector, t: float) -> tuple[Vector, Vector]:
    """Solve E x' = flow and the rates of its algebraic rows for x' and the algebraic states."""
    x, rate, n = x.copy(), np.zeros(system.n), system.n
    columns = np.flatnonzero(system.algebraic)
    for _ in range(ITERATIONS):
        z, E = system.z(x), system.E(x)
        inputs = system.feedback(t, x, z, u)
        F, flow = slope(system, x, z, inputs), system.flow(x, z, inputs)
        rows = np.flatnonzero(zero_columns(E.T))
        right = np.concatenate([flow, np.zeros(rows.size)])
        if is_sparse(E) or is_sparse(F):
            E_, F_ = sparse(E), sparse(F)
            both = sp.block_array([[E_, -F_[:, columns]], [F_[rows], None]], format="csr")
            found = shortest_solution(both, right)
        else:
            full = np.zeros((n + rows.size, n + columns.size))
            full[:n, :n], full[:n, n:], full[n:, :n] = dense(E), -dense(F)[:, columns], F[rows]
            found = _shortest(full, right)
        rate, change = found[:n], found[n:]
        x[columns] += change
        if np.all(abs(change) <= ROUND_OFF * (abs(x[columns]) + system.sizes(x)[columns])):
            break
    return x, rate


def _norm(A: Any) -> float:
    return float(np.max(np.sum(abs(A), axis=0), initial=0.0))


def _shortest(A: Any, b: Vector) -> Vector:
    """Return the shortest least-squares solution, every row and unknown of A brought to size 1."""
    rows = np.max(abs(A), axis=1)
    rows[rows == 0] = 1.0
    A = A / rows[:, None]
    columns = np.max(abs(A), axis=0)
    columns[columns == 0] = 1.0
    A, b, found = A / columns, b / rows, np.zeros(A.shape[1])
    if A.shape[0] == A.shape[1]:
        lu, pivots, singular = scipy.linalg.lapack.dgetrf(A)
        if not singular and scipy.linalg.lapack.dgecon(lu, _norm(A))[0] > REGULAR:
            for _ in range(REFINEMENTS):
                found = found + scipy.linalg.lapack.dgetrs(lu, pivots, b - A @ found)[0]
            return np.asarray(found / columns)
    for _ in range(REFINEMENTS):
        found = (
            found
            + scipy.linalg.lstsq(
                A, b - A @ found, cond=CUT, lapack_driver="gelsy", check_finite=False
            )[0]
        )
    return np.asarray(found / columns)
