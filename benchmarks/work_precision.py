"""Time against error: mechanisms that move for 1 s, each code at many steps.

The error is the greatest distance of a centre of mass from the converged solution, which is that
of our scheme of order six at small steps, confirmed by extrapolation from small steps of others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.entrants import Entrant, exudyn, mujoco, poinsot
from benchmarks.mechanism import Array, Mechanism
from benchmarks.mechanisms.chain import chain
from benchmarks.mechanisms.slider_crank import slider_crank
from benchmarks.peers.simulation import Simulation, StoppedError

#: The errors at which times are compared [m].
TARGETS = (1e-4, 1e-6)
#: Steps [s]; those that are composed of many substeps are as much longer.
IMPLICIT = (0.02, 0.01, 0.005, 0.0025, 0.00125, 0.0005)
COMPOSED = {
    "PH-MP-4": (0.2, 0.1, 0.05, 0.025, 0.0125, 0.00625),
    "PH-MP-6": (0.25, 0.125, 0.0625, 0.03125, 0.015625),
}
RUNGE_KUTTA = (0.025, 0.02, 0.01, 0.005, 0.0025, 0.001, 0.0005)
FIRST_ORDER = (1e-3, 2e-4, 4e-5, 1.25e-5)


@dataclass(frozen=True)
class Contest:
    """A mechanism over `t_end` [s]; steps `fine` and `fine`/2 of others confirm the solution."""

    title: str
    build: Callable[[], Mechanism]
    t_end: float = 1.0
    fine: float = 1e-4

    @property
    def small(self) -> bool:
        """Whether it is small enough for codes of first order."""
        return len(self.build().bodies) <= 16


#: The one on which we make demands on ourselves.
DEMANDED = "16 bars on ball joints"
CONTESTS = (
    Contest(DEMANDED, lambda: chain(16)),
    Contest("64 bars on ball joints", lambda: chain(64), fine=5e-4),
    Contest("16 bars on hinges", lambda: chain(16, "revolute")),
    Contest("spatial slider-crank", slider_crank),
)
QUICK_CONTESTS = (Contest("4 bars on ball joints", lambda: chain(4), t_end=0.2, fine=5e-4),)


def contest(plan: Contest, engine: str, repeats: int, quick: bool = False) -> dict[str, Any]:
    """Return steps, times and errors of all codes, and the times to the errors asked for."""
    mechanism = plan.build()
    solution, doubt = converged(mechanism, plan, engine)
    runners: list[tuple[Entrant, float]] = [
        *((poinsot(engine), h) for h in IMPLICIT),
        *((poinsot(engine, name), h) for name, steps in COMPOSED.items() for h in steps),
        *((exudyn(), h) for h in IMPLICIT),
        *((exudyn("GeneralizedAlpha"), h) for h in IMPLICIT),
        *((mujoco("RK4"), h) for h in RUNGE_KUTTA),
    ]
    if plan.small:
        steps = FIRST_ORDER[:2] if quick else FIRST_ORDER
        runners += [(mujoco(name), h) for name in ("implicitfast", "Euler") for h in steps]
    points = _points(mechanism, plan, runners, solution, repeats)
    times = {
        name: [time_to(target, [p for p in points if p["name"] == name]) for target in TARGETS]
        for name in dict.fromkeys(entrant.name for entrant, _ in runners)
    }
    return {
        "title": plan.title,
        "t_end": plan.t_end,
        "targets": TARGETS,
        "doubt": doubt,
        "points": points,
        "times": times,
    }


def converged(mechanism: Mechanism, plan: Contest, engine: str) -> tuple[Array, float]:
    """Return our converged solution, and its distance from the nearest one of others [m].

    These are extrapolated for second order: MuJoCo's RK4 has no higher order on spherical joints,
    since it adds up rotations like vectors.
    """
    h = min(COMPOSED["PH-MP-6"]) / 4
    steps = round(plan.t_end / h)
    ours = poinsot(engine, "PH-MP-6").build(mechanism, plan.t_end / steps, steps).run(steps)
    others = [_extrapolated(entrant, mechanism, plan) for entrant in (mujoco("RK4"), exudyn())]
    apart = [np.max(np.linalg.norm(ours.positions - other, axis=1)) for other in others]
    return ours.positions, float(min(apart))


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
        steps = max(1, round(plan.t_end / h))
        try:
            simulation = entrant.build(mechanism, plan.t_end / steps, steps)
            end = simulation.run(steps).positions
        except StoppedError:
            continue
        ready.append((entrant, h, simulation))
        rounds.append([])
        errors.append(float(np.max(np.linalg.norm(end - solution, axis=1))))
    for _ in range(repeats):
        for times, (_, h, simulation) in zip(rounds, ready, strict=True):
            times.append(simulation.run(max(1, round(plan.t_end / h))).seconds)
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
