"""Times of one step, medians over rounds in which all codes take turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.entrants import Entrant
from benchmarks.mechanism import Mechanism
from benchmarks.peers.simulation import Simulation, StoppedError

#: A code is left out once its step takes longer than this [s].
LIMIT = 0.5
#: Steps by which that is found out.
PROBE = 3
#: A slow code takes only as many steps as fit into this time [s].
BUDGET = 2.0


@dataclass(frozen=True)
class Timing:
    """Time of one step of one code [s]: median, least and greatest of the rounds."""

    code: str
    scheme: str
    note: str
    seconds: float
    low: float
    high: float


@dataclass(frozen=True)
class Missing:
    """A code that has no time, and why."""

    code: str
    scheme: str
    reason: str


def measure(
    entrants: Sequence[Entrant], mechanism: Mechanism, *, h: float, steps: int, repeats: int
) -> tuple[list[Timing], list[Missing]]:
    """Return the time of one step of each code, after everybody has warmed up.

    The codes take turns, so that whatever disturbs the machine disturbs all of them.
    """
    ready: list[tuple[Entrant, Simulation, int]] = []
    missing: list[Missing] = []
    for entrant in entrants:
        try:
            simulation = entrant.build(mechanism, h, steps)
            simulation.run(1)
            taken = PROBE
            for _ in range(2):  # the first guess may be far too high: preparation is noise to it
                step = simulation.run(taken).seconds / taken
                if step > LIMIT:
                    raise StoppedError(f"one step takes {step:.2g} s")
                taken = min(steps, max(PROBE, int(BUDGET / max(step, 1e-9))))
            simulation.run(taken)
        except StoppedError as error:
            missing.append(Missing(entrant.code, entrant.scheme, str(error)))
        else:
            ready.append((entrant, simulation, taken))
    rounds: list[list[float]] = [[] for _ in ready]
    for _ in range(repeats):
        for times, (_, simulation, taken) in zip(rounds, ready, strict=True):
            times.append(simulation.run(taken).seconds / taken)
    timings = [
        Timing(entrant.code, entrant.scheme, simulation.note, median(times), min(times), max(times))
        for times, (entrant, simulation, _) in zip(rounds, ready, strict=True)
    ]
    return timings, missing
