"""Whether the energy balance of long runs in redundant coordinates stays exact [BHRS25, sec. 7].

`python -m benchmarks.balances [NAME ...] [--steps N]` prints a table of the largest relative error
of stored + dissipated - supplied, the least power that is dissipated, |A w| at midpoints, c at the
ends of steps, and the processor time. The status is 1 if a bar is missed.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.environment import pin

STEPS = 100_000
#: Bars: relative error of the balance, |A w| at midpoints, c at ends of steps.
BALANCE, MIDPOINT, POSITION = 1e-11, 1e-12, 1e-12


@dataclass(frozen=True)
class Case:
    """A system with its start and step [s]; made when it is run."""

    name: str
    h: float
    make: Callable[[], tuple[Any, Any]]


@dataclass(frozen=True)
class Row:
    """What a run showed; None where there is nothing of the kind."""

    name: str
    steps: int
    balance: float
    dissipation: float
    midpoint: float | None
    position: float | None
    seconds: float

    @property
    def good(self) -> bool:
        """Whether all bars are met."""
        met = self.balance <= BALANCE and self.dissipation >= 0
        return met and (self.midpoint or 0) <= MIDPOINT and (self.position or 0) <= POSITION


def cases() -> list[Case]:
    """Return the examples of [BHRS25], and damped variants of two."""
    from math import sin

    from poinsot.gallery import differential_drive as drive
    from poinsot.gallery import gyroscope as gyro
    from poinsot.gallery import planar_slider_crank as crank

    def pushed(t: float) -> float:
        return 0.05 * sin(2 * t)

    damped = crank.Mechanism(friction=1e-3)
    return [
        Case("differential-drive", 1e-3, lambda: (drive.model(), {})),
        Case("differential-drive, drag", 1e-3, lambda: (drive.model(drive.Robot(drag=0.5)), {})),
        Case("gyroscope, angles", 1e-3, lambda: (gyro.model(), gyro.start())),
        Case(
            "gyroscope, matrix",
            1e-3,
            lambda: (gyro.model(matrix=True), gyro.start(matrix=True)),
        ),
        Case(
            "planar-slider-crank, velocities",
            1e-3,
            lambda: (crank.model(level="velocity", torque=pushed), crank.start()),
        ),
        Case(
            "planar-slider-crank, positions",
            1e-3,
            lambda: (crank.model(torque=pushed), crank.start()),
        ),
        Case(
            "planar-slider-crank, friction",
            1e-3,
            lambda: (crank.model(damped, level="velocity"), crank.start(damped)),
        ),
    ]


def run(case: Case, steps: int) -> Row:
    """Simulate a case by the reference engine; the balance is watched in every step."""
    import numpy as np

    import poinsot as ps

    system, x0 = case.make()
    before = time.process_time()
    result = ps.simulate(
        system, h=case.h, t_end=steps * case.h, x0=x0, engine="reference", progress=False
    )
    seconds = time.process_time() - before
    seen, stats = result.observation, result.stats
    in_play = float(np.max(abs(result.energy)) + np.max(abs(result.supplied)))
    lost = np.diff(result.dissipated) / np.diff(result.time)

    def worst(values: Any) -> float | None:
        return None if values is None else float(np.max(values))

    return Row(
        case.name,
        stats.steps,
        stats.balance_error_max / in_play,
        float(np.min(lost)),
        worst(seen.velocity_constraint_error_mid),
        worst(seen.constraint_error),
        seconds,
    )


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| case | steps | balance, relative | least power lost [W] | max \\|A w\\| at midpoints "
        "| max \\|c\\| | time [s] |",
        "| :--- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.1e}"

    for row in rows:
        numbers = map(number, (row.balance, row.dissipation, row.midpoint, row.position))
        lines.append(f"| {row.name} | {row.steps} | {' | '.join(numbers)} | {row.seconds:.0f} |")
    return "\n".join(lines)


def main() -> int:
    """Measure on one core, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.balances", description="Long runs in redundant coordinates."
    )
    parser.add_argument("names", nargs="*", help="beginnings of names of cases; default: all")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of each run")
    options = parser.parse_args()
    pin()  # before anything numerical is imported
    chosen = [c for c in cases() if c.name.startswith(tuple(options.names) or ("",))]
    rows = []
    for case in chosen:
        rows.append(run(case, options.steps))
        print(table(rows[-1:]).splitlines()[-1], file=sys.stderr)
    print(table(rows))
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
