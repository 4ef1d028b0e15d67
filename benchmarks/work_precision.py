"""Time against error: a chain of bars on spherical joints, 1 s, each code at many steps.

The error is the greatest distance of a centre of mass from the converged solution, which is
extrapolated from small steps of one code and confirmed by another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.entrants import Entrant, exudyn, mujoco, poinsot
from benchmarks.mechanism import Array, Mechanism
from benchmarks.mechanisms.chain import chain
from benchmarks.peers.simulation import Simulation, StoppedError

#: The error at which times are compared [m].
TARGET = 1e-4
IMPLICIT = (0.02, 0.01, 0.005, 0.0025, 0.00125)
RUNGE_KUTTA = (0.025, 0.02, 0.01, 0.005, 0.0025)
FIRST_ORDER = (1e-3, 2e-4, 4e-5, 1.25e-5)


@dataclass(frozen=True)
class Contest:
    """A chain of `count` bars over `t_end` [s]; steps `fine` and `fine`/2 give the solution."""

    count: int
    t_end: float = 1.0
    fine: float = 1e-4


CONTESTS = (Contest(16), Contest(64, fine=5e-4))
QUICK_CONTESTS = (Contest(4, t_end=0.2, fine=5e-4),)


def contest(plan: Contest, engine: str, repeats: int, quick: bool = False) -> dict[str, Any]:
    """Return steps, times and errors of all codes, and the times to the error asked for."""
    mechanism = chain(plan.count)
    solution, doubt = converged(mechanism, plan)
    runners: list[tuple[Entrant, float]] = [
        *((poinsot(engine), h) for h in IMPLICIT),
        *((exudyn(), h) for h in IMPLICIT),
        *((exudyn("GeneralizedAlpha"), h) for h in IMPLICIT),
        *((mujoco("RK4"), h) for h in RUNGE_KUTTA),
    ]
    if plan.count <= 16:
        steps = FIRST_ORDER[:2] if quick else FIRST_ORDER
        runners += [(mujoco(name), h) for name in ("implicitfast", "Euler") for h in steps]
    points = _points(mechanism, plan, runners, solution, repeats)
    times = {
        name: time_to(TARGET, [p for p in points if p["name"] == name])
        for name in dict.fromkeys(entrant.name for entrant, _ in runners)
    }
    return {
        "bars": plan.count,
        "t_end": plan.t_end,
        "target": TARGET,
        "doubt": doubt,
        "points": points,
        "times": times,
    }


def converged(mechanism: Mechanism, plan: Contest) -> tuple[Array, float]:
    """Return the converged solution by MuJoCo, and its distance from that by Exudyn [m].

    Both are extrapolated for second order: MuJoCo's RK4 has no higher order on spherical joints,
    since it adds up rotations like vectors.
    """
    found = [_extrapolated(entrant, mechanism, plan) for entrant in (mujoco("RK4"), exudyn())]
    return found[0], float(np.max(np.linalg.norm(found[0] - found[1], axis=1)))


def _extrapolated(entrant: Entrant, mechanism: Mechanism, plan: Contest) -> Array:
    coarse, fine = (
        entrant.build(mechanism, h, 10).run(round(plan.t_end / h)).positions
        for h in (plan.fine, plan.fine / 2)
    )
    return fine + (fine - coarse) / 3


def _points(
    mechanism: Mechanism,
    plan: Contest,
    runners: Sequence[tuple[Entrant, float]],
    solution: Array,
    repeats: int,
) -> list[dict[str, Any]]:
    """Run everybody in turns; return error [m] and median time [s] for each step [s]."""
    ready: list[tuple[Entrant, float, Simulation]] = []
    rounds: list[list[float]] = []
    errors: list[float] = []
    for entrant, h in runners:
        steps = round(plan.t_end / h)
        try:
            simulation = entrant.build(mechanism, h, steps)
            end = simulation.run(steps).positions
        except StoppedError:
            continue
        ready.append((entrant, h, simulation))
        rounds.append([])
        errors.append(float(np.max(np.linalg.norm(end - solution, axis=1))))
    for _ in range(repeats):
        for times, (_, h, simulation) in zip(rounds, ready, strict=True):
            times.append(simulation.run(round(plan.t_end / h)).seconds)
    return [
        {
            "name": entrant.name,
            "code": entrant.code,
            "scheme": entrant.scheme,
            "step": h,
            "seconds": median(times),
            "error": error,
        }
        for times, error, (entrant, h, _) in zip(rounds, errors, ready, strict=True)
    ]


def time_to(target: float, points: Sequence[dict[str, Any]]) -> float | None:
    """Return the time at which the error is reached [s], by the straight line in logarithms.

    None if the steps taken do not enclose it.
    """
    pairs = sorted((point["error"], point["seconds"]) for point in points)
    errors, seconds = np.array(pairs).reshape(-1, 2).T
    if not len(pairs) or not errors[0] <= target <= errors[-1]:
        return None
    return float(np.exp(np.interp(np.log(target), np.log(errors), np.log(seconds))))
