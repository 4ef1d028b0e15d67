r"""Rest of any port-Hamiltonian system: it settles by implicit steps, which lose energy.

A linear one is solved for its rest at once.

.. math:: E(x_1)\,(x_1 - x_0) = \tau\,\bigl((J - R)\, z - r + B u\bigr)(x_1)

As tau grows, these steps become those of Newton's method. Combinations c of equations with
:math:`c^\top (J - R) = 0` and :math:`c^\top B = 0` say that :math:`c^\top E\, \dot x` vanishes: so
an interconnection keeps its constraints. After every step this is made good with c at the middle of
the step, which keeps whatever is quadratic, as the constraints of directors are.
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
#: Steps, iterations and corrections of each, and how much larger or smaller the next may be.
STEPS, ITERATIONS, CORRECTIONS, GROWTH, SHRINK = 400, 12, 20, 3.0, 0.25
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


def _solve(A: Array, b: Vector, sizes: Vector) -> Vector:
    """Return the shortest solution of A dx = b, states measured by their sizes."""
    scaled = A * sizes
    rows = np.max(abs(scaled), axis=1)
    rows[rows == 0] = 1.0
    return np.asarray(
        sizes * np.linalg.lstsq(scaled / rows[:, None], b / rows, rcond=np.finfo(float).eps)[0]
    )


def _kept(system: PHSystem, x: Vector, sizes: Vector) -> Array:
    """Return rows c^T E on changes of the state that vanish in every motion, states in sizes."""
    conduction, B = dense(system.dflow_dz(x, system.z(x))), dense(system.B(x))
    rows = np.hstack([conduction, B])
    lengths = np.max(abs(rows), axis=1)
    lengths[lengths == 0] = 1.0
    U, s, _ = np.linalg.svd(rows / lengths[:, None])
    idle = U[:, int(np.sum(s > CUT * s[0])) if s.size else 0 :].T / lengths
    kept = idle @ dense(system.E(x)) * sizes
    size = np.linalg.norm(kept, axis=1)
    return np.asarray(kept[size > CUT * np.max(size, initial=0.0)])


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
        change = _solve(slope, flow - E @ (x1 - x0) / tau, sizes)
        x1 = x1 + change
        length = float(np.max(abs(change) / sizes, initial=0.0))
        if not np.isfinite(length) or length > 2 * before:
            return None
        if length <= 1e-12 or (length <= 1e-6 and length > before / 2):
            break
        before = length
    else:
        return None
    for _ in range(CORRECTIONS):
        kept = _kept(system, (x0 + x1) / 2, sizes)
        change = np.asarray(np.linalg.lstsq(kept, -kept @ ((x1 - x0) / sizes), rcond=CUT)[0])
        x1 = x1 + sizes * change
        length = float(np.max(abs(change), initial=0.0))
        if length <= DONE:
            return x1
    return None


def _rest_of_linear(system: LinearSystem, x: Vector, t: float) -> Vector:
    """Return where a linear system rests, by one solution; what no motion changes stays."""
    sizes, (_, u) = system.sizes(x), _flow(system, x, system.z(x), t)
    A = dense(system.dflow_dz(x, system.z(x))) @ dense(system.dz(x)) * sizes
    rows = np.max(abs(A), axis=1)
    rows[rows == 0] = 1.0
    kept = _kept(system, x, sizes)
    kept = kept / np.linalg.norm(kept, axis=1, keepdims=True)
    right = np.append(-(system.B(x) @ u) / rows, kept @ (x / sizes))
    both = np.vstack([A / rows[:, None], kept])
    return np.asarray(sizes * np.linalg.lstsq(both, right, rcond=CUT)[0])


def _settle(system: PHSystem, x: Vector, t: float, what: str, tau: float | None = None) -> Settled:
    turned = system.angles(x)
    here, largest = system.near(turned), np.zeros(system.n)
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
    parts = _residual(here, x, t, largest)[1]
    residual = float(np.max(abs(parts), initial=0.0))
    if not residual <= TOLERANCE:
        worst = np.argsort(-abs(parts))[:3]
        named = tuple(dict.fromkeys(system.labels[k] for k in worst if abs(parts[k]) > TOLERANCE))
        listed = ", ".join(f"'{name}'" for name in named)
        raise NoEquilibriumError(
            f"no {what} found: the equations of {listed} stay unbalanced by {residual:.3g} of "
            "their terms; give inputs that balance them, or start nearer to the state you look for",
            residual=residual,
            moving=named,
        )
    return Settled(x, _flow(here, x, here.z(x), t)[1], residual, turned)


def _modes(system: PHSystem, at: Settled, t: float) -> tuple[Array, Array]:
    """Return finite eigenvalues s and motions of s E dx = A dx, on what can be reached."""
    here, x, sizes = system.near(at.turned), at.x, system.sizes(at.x)
    z, dflow = here.z(x), here.dflow(x, here.z(x), at.u)
    A = dense(here.dflow_dz(x, z)) @ dense(here.dz(x)) + (0.0 if dflow is None else dense(dflow))
    rows = np.max(abs(A) * sizes, axis=1)
    rows[rows == 0] = 1.0
    A, E = A * sizes / rows[:, None], dense(here.E(x)) * sizes / rows[:, None]
    kept = _kept(here, x, sizes)
    W = scipy.linalg.null_space(kept, rcond=CUT) if kept.size else np.eye(here.n)
    shift = float(np.linalg.norm(A)) / max(float(np.linalg.norm(E)), 1e-300)
    inverse = W.T @ np.linalg.lstsq(A - shift * E, E @ W, rcond=CUT)[0]
    mu, vectors = np.linalg.eig(inverse)
    finite = abs(mu) > INFINITE * np.max(abs(mu), initial=0.0)
    return shift + 1 / mu[finite], (sizes[:, None] * (W @ vectors))[:, finite]


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
