r"""Equilibria of any port-Hamiltonian system, by implicit steps that dissipate energy.

.. math:: E(x_1)\,(x_1 - x_0) = \tau\,\bigl((J - R)\, z - r + B u\bigr)(x_1)

As tau increases, these steps become those of Newton's method. The equilibrium of a linear system is
solved for at once. Combinations c of equations with :math:`c^\top (J - R) = 0` and
:math:`c^\top B = 0` imply that :math:`c^\top E\, \dot x` vanishes: so an interconnection satisfies
its constraints. After every step this is restored with c at the middle of the step, which conserves
quadratic quantities, such as the constraints of directors.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.errors import NoEquilibriumError
from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.runner import counted
from poinsot.ph.system import PHSystem

#: Residual of an equation, as a part of its terms, that is round-off, and that is not too large.
DONE, TOLERANCE = 1e-12, 1e-8
#: A correction, as a part of the sizes of states, that may be round-off of ill-conditioned rows.
SMALL = 1e-6
#: Steps, iterations and corrections of each, and how much larger or smaller the next may be.
STEPS, ITERATIONS, CORRECTIONS, GROWTH, SHRINK = 400, 12, 20, 3.0, 0.25
#: How often rows and unknowns are scaled by each other in turn.
SWEEPS = 4
#: An effort below this part of its natural size is measured by it: all of it may be round-off.
FAINT = DONE / TOLERANCE
#: The first step moves states by such a part of their sizes, and so does a push out of a rest that
#: is not stable: whatever constraints keep is left by the square of it.
FIRST, PUSH, PUSHES = 0.1, 1e-6, 5
#: A step that is so many times longer than the first one gets nowhere any more.
LONGEST = 1e30
#: Singular values that count as zero, and eigenvalues that are infinite, zero, or grow.
CUT, INFINITE, ZERO = 1e-11, 1e-5, 1e-6


@dataclass(frozen=True, eq=False)
class Settled:
    """Where a system rests: state, inputs, residual, angles over turns, and what a push does."""

    x: Vector
    u: Vector
    residual: float
    turned: Vector
    stability: str = "stable"
    unstable: tuple[tuple[str, ...], ...] = ()
    neutral: tuple[tuple[str, ...], ...] = ()


def settle(system: PHSystem, x: Vector, t: float, *, stable: bool, what: str) -> Settled:
    """Return where a system rests, from a state on; `what` is rest, for messages."""
    settled = _settle(system, x, t, what)
    for _ in range(PUSHES if stable else 0):
        values, motions = _modes(system, settled, t)
        growing = np.real(values) > ZERO * np.max(abs(values), initial=1e-300)
        if not growing.any():
            break
        fastest = int(np.argmax(np.real(values)))
        push = np.real(motions[:, fastest])
        sizes = system.sizes(settled.x)
        push *= PUSH / np.max(abs(push) / sizes)
        tau = 0.3 / float(np.real(values[fastest]))
        settled = _settle(system, settled.x + push, t, what, tau)
    return _judged(system, settled, t)


def _flow(system: PHSystem, x: Vector, z: Vector, t: float) -> tuple[Vector, Vector]:
    """Return the right-hand side, and the inputs with those filled in that laws give."""
    u = system.feedback(t, x, z, system.u(t))
    return system.flow(x, z, u), u


def _residual(system: PHSystem, x: Vector, t: float, largest: Vector) -> tuple[Vector, Vector]:
    """Return the right-hand side at a state, and every equation as a part of its terms.

    Efforts that vanish at rest are measured by the largest ones on the way, which are updated.
    """
    z = system.z(x)
    np.maximum(largest, abs(z), out=largest)
    flow, u = _flow(system, x, z, t)
    terms = np.asarray(abs(system.dflow_dz(x, z)) @ largest + abs(system.B(x)) @ abs(u))
    return flow, np.divide(flow, terms, out=flow.copy(), where=terms > 0)


def _solve(A: Array, b: Array) -> Array:
    """Return the shortest solution of A x = b, rows and unknowns brought to one size."""
    rows, columns = np.ones(len(A)), np.ones(len(A))
    for _ in range(SWEEPS):
        entries = abs(A) * rows[:, None] * columns
        rows /= np.sqrt(_sizes_of(entries, 1))
        columns /= np.sqrt(_sizes_of(entries, 0))
    right = (b.T * rows).T
    found = np.linalg.lstsq(A * rows[:, None] * columns, right, rcond=np.finfo(float).eps)[0]
    return np.asarray((found.T * columns).T)


def _sizes_of(entries: Array, axis: int) -> Vector:
    sizes = np.max(entries, axis=axis)
    return np.where(sizes > 0, sizes, 1.0)


def _lengths(system: PHSystem, terms: Vector, stored: Vector) -> Vector:
    """Return how large equations are by nature; terms and what E makes of sizes are given; (n,).

    Those of one state change it at one rate: what a director gains along itself, which is nothing
    but round-off, is compared with what others gain. Algebraic ones are as large as their terms.
    """
    lengths = terms.copy()
    for at in system.slices.values():
        moves = stored[at] > 0
        rate = np.max(terms[at][moves] / stored[at][moves], initial=0.0)
        lengths[at] = np.where(moves, rate * stored[at], terms[at])
    return np.where(lengths > 0, lengths, 1.0)


def _kept(system: PHSystem, x: Vector, sizes: Vector) -> Array:
    """Return orthonormal rows of changes, in sizes, that vanish in every motion: c^T E."""
    conduction, B = dense(system.dflow_dz(x, system.z(x))), dense(system.B(x))
    E, efforts = dense(system.E(x)) * sizes, np.asarray(abs(system.dz(x)) @ sizes)
    efforts[efforts == 0] = 1.0
    rows = np.hstack([conduction * efforts, B])
    lengths = _lengths(system, np.max(abs(rows), axis=1), np.max(abs(E), axis=1))
    U, s, _ = np.linalg.svd(rows / lengths[:, None])
    idle = U[:, int(np.sum(s > CUT * s[0])) if s.size else 0 :].T / lengths
    kept = idle @ E
    size = np.linalg.norm(kept, axis=1)
    kept = kept[size > CUT * np.max(size, initial=0.0)]
    return np.asarray(scipy.linalg.orth(kept.T, rcond=CUT).T)


def _step(system: PHSystem, x0: Vector, tau: float, t: float) -> Vector | None:
    """Return the state after a step; None if Newton's method finds none."""
    x1, sizes, before = x0, system.sizes(x0), np.inf
    for _ in range(ITERATIONS):
        z = system.z(x1)
        E, (flow, u) = dense(system.E(x1)), _flow(system, x1, z, t)
        slope = E / tau - dense(system.dflow_dz(x1, z)) @ dense(system.dz(x1))
        dflow, dE = system.dflow(x1, z, u), system.dE(x1, x1 - x0)
        slope = slope if dflow is None else slope - dense(dflow)
        slope = slope if dE is None else slope + dense(dE) / tau
        change = _solve(slope, flow - E @ (x1 - x0) / tau)
        x1 = x1 + change
        length = float(np.max(abs(change) / sizes, initial=0.0))
        if not np.isfinite(length) or length > 2 * before:
            return None
        if _closed(length, before):
            break
        before = length
    else:
        return None
    before = np.inf
    for _ in range(CORRECTIONS):
        kept = _kept(system, (x0 + x1) / 2, sizes)
        change = -kept.T @ (kept @ ((x1 - x0) / sizes))
        x1 = x1 + sizes * change
        length = float(np.max(abs(change), initial=0.0))
        if _closed(length, before):
            return x1
        before = length
    return None


def _closed(length: float, before: float) -> bool:
    """Whether a correction is round-off, as is a small one that is no smaller than before."""
    return length <= DONE or before / 2 < length <= SMALL


def _rest_of_linear(system: LinearSystem, x: Vector, t: float) -> Vector:
    """Return where a linear system rests, by one solution; what no motion changes stays."""
    sizes, (_, u) = system.sizes(x), _flow(system, x, system.z(x), t)
    A = dense(system.dflow_dz(x, system.z(x))) @ dense(system.dz(x)) * sizes
    rows = np.max(abs(A), axis=1)
    rows[rows == 0] = 1.0
    kept = _kept(system, x, sizes)
    right = np.append(-(system.B(x) @ u) / rows, kept @ (x / sizes))
    both = np.vstack([A / rows[:, None], kept])
    return np.asarray(sizes * np.linalg.lstsq(both, right, rcond=CUT)[0])


def _settle(system: PHSystem, x: Vector, t: float, what: str, tau: float | None = None) -> Settled:
    turned = system.angles(x)
    here = system.near(turned)
    largest = FAINT * np.asarray(abs(here.dz(x)) @ here.sizes(x))
    flow, parts = _residual(here, x, t, largest)
    if tau is None:
        rates = abs(flow) / np.maximum(abs(dense(here.E(x))) @ here.sizes(x), 1e-300)
        moving = rates[np.abs(dense(here.E(x))).any(axis=1) & (rates > 0)]
        tau = FIRST / float(np.max(moving)) if moving.size else 1.0
    first, defect, done = tau, float(np.linalg.norm(parts)), DONE
    if isinstance(system, LinearSystem) and not any(port.by_law for port in system.ports):
        x = _rest_of_linear(system, x, t)
        largest = np.asarray(abs(system.dz(x)) @ system.sizes(x))
        parts, done = _residual(here, x, t, largest)[1], TOLERANCE
    for _ in range(STEPS):
        if np.max(abs(parts), initial=0.0) <= done or not LONGEST * first > tau > first / LONGEST:
            break
        there = _step(here, x, tau, t)
        if there is None:
            tau *= SHRINK
            continue
        if np.max(abs(there - x) / here.sizes(x), initial=0.0) <= DONE:
            x = there
            break
        turned = counted(here.angles(there), turned)
        x, here = there, system.near(turned)
        parts = _residual(here, x, t, largest)[1]
        before, defect = defect, float(np.linalg.norm(parts))
        tau *= float(np.clip(2 * before / max(defect, 1e-300), SHRINK, GROWTH))
    x = np.where(abs(x) > np.finfo(float).eps * here.sizes(x), x, 0.0)
    parts = _residual(here, x, t, largest)[1]
    residual = float(np.max(abs(parts), initial=0.0))
    if not residual <= TOLERANCE:
        worst = np.argsort(-abs(parts))[:3]
        named = tuple(dict.fromkeys(system.labels[k] for k in worst if abs(parts[k]) > TOLERANCE))
        listed = ", ".join(f"'{name}'" for name in named)
        raise NoEquilibriumError(
            f"no {what} found: the equations of {listed} remain unbalanced by {residual:.3g} of "
            "their terms; give inputs that balance them, or start closer to the desired state",
            residual=residual,
            moving=named,
        )
    return Settled(x, _flow(here, x, here.z(x), t)[1], residual, turned)


def _modes(system: PHSystem, at: Settled, t: float) -> tuple[Array, Array]:
    """Return finite eigenvalues s and motions of s E dx = A dx, on what can be reached."""
    here, x, sizes = system.near(at.turned), at.x, system.sizes(at.x)
    z, dflow = here.z(x), here.dflow(x, here.z(x), at.u)
    A = dense(here.dflow_dz(x, z)) @ dense(here.dz(x)) + (0.0 if dflow is None else dense(dflow))
    A, E = A * sizes, dense(here.E(x)) * sizes
    rows = _lengths(here, np.max(abs(A), axis=1), np.max(abs(E), axis=1))
    A, E = A / rows[:, None], E / rows[:, None]
    # States without a derivative follow from the others.
    stored, kept = np.max(abs(E), axis=0) > 0, _kept(here, x, sizes)
    W = np.zeros((here.n, int(np.sum(stored)) - len(kept)))
    W[stored] = scipy.linalg.null_space(kept[:, stored]) if kept.size else np.eye(W.shape[1])
    if not W.size:
        return np.zeros(0), W
    moved = np.max(abs(E), axis=1)
    shift = 1 / float(np.min(moved[moved > CUT * np.max(moved)], initial=np.inf))
    # Applied three times, what is left of the inverse at the fastest rate is finite.
    inverse = shift * (W.T @ _solve(A - shift * E, E @ W))
    finite = scipy.linalg.orth(np.linalg.matrix_power(inverse, 3), rcond=INFINITE)
    mu, vectors = np.linalg.eig(finite.T @ inverse @ finite)
    return shift + shift / mu, sizes[:, None] * (W @ (finite @ vectors))


def _judged(system: PHSystem, at: Settled, t: float) -> Settled:
    """Return the same with what a small push does to it."""
    values, motions = _modes(system, at, t)
    scale, sizes = np.max(abs(values), initial=1e-300), system.sizes(at.x)

    def names(which: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
        found = []
        for motion in (abs(motions[:, which]) / sizes[:, None]).T:
            moving = np.flatnonzero(motion > 0.1 * motion.max(initial=0.0))
            found.append(tuple(system.labels[k] for k in moving))
        return tuple(found)

    growing, idle = np.real(values) > ZERO * scale, abs(values) <= ZERO * scale
    unstable, neutral = names(growing & ~idle), names(idle)
    stability = "unstable" if unstable else "neutral" if neutral else "stable"
    return Settled(at.x, at.u, at.residual, at.turned, stability, unstable, neutral)
