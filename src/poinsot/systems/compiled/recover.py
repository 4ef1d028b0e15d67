"""Multipliers that the compiled engine leaves out, found from a step that is known."""

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Vector
from poinsot.result.history import Saved
from poinsot.systems.directors import DirectorSystem, StabilisedSystem

Array = NDArray[np.float64]


def recover(system: DirectorSystem | StabilisedSystem, saved: Saved) -> tuple[Array, Array]:
    """Return x and stage_x of saved steps with all multipliers.

    Rigidity balances what is left in the equations of the directors. Joints of loops with repeated
    constraints get the smallest multipliers that do the same.
    """
    n = system.mechanism.n
    x, stage = np.array(saved.x), np.array(saved.stage_x)
    u = np.hstack([np.zeros((len(x), 0)), *saved.u])
    for k, (end, middle) in enumerate(zip(x, stage, strict=True)):
        h = 2 * float(saved.time[k] - saved.stage_time[k])
        end[2 * n :] = middle[2 * n :] = _multipliers(system, h, end, middle, u[k])
    return x, stage


def _multipliers(
    system: DirectorSystem | StabilisedSystem, h: float, end: Vector, middle: Vector, u: Vector
) -> Vector:
    """Return the multipliers of a step of length h [s] with inputs u."""
    mechanism, n, m = system.mechanism, system.mechanism.n, system.mechanism.m
    q1, v1 = end[:n], end[n : 2 * n]
    q, v, multipliers = middle[:n], middle[n : 2 * n], middle[2 * n :]
    lam, gam = multipliers[:m], multipliers[m:]
    rate = 2 * (q1 - q) / h
    dV, _ = mechanism.discrete_dV(2 * q - q1, q1)
    push = 2 * mechanism.mass * (v1 - v) / h
    push += dV - mechanism.B(q) @ u + mechanism.damping(q, rate)
    if not system.stabilised:
        return mechanism.smallest(q, _with_rigidity(system, q, lam, push, 1.0))
    gam = _with_rigidity(system, q, gam, mechanism.mass * (rate - v), -1.0)
    push += mechanism.slope(q, v).T @ gam
    lam = _with_rigidity(system, q, lam, push, 1.0)
    return np.concatenate(mechanism.smallest_pair(q, v, lam, gam))


def _with_rigidity(
    system: DirectorSystem | StabilisedSystem, q: Vector, lam: Vector, push: Vector, sign: float
) -> Vector:
    """Return multipliers whose rigidity completes push + sign G^T lam = 0."""
    mechanism, rigid = system.mechanism, system.mechanism.rigid
    found = lam.copy()
    found[:rigid] = 0.0
    pull = np.asarray(mechanism.G(q).T @ found)
    found[:rigid] = mechanism.rigidity(q, sign * push + pull)
    return found
