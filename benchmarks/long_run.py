"""A million steps of the slider-crank, to see whether energy drifts or memory grows."""

from pathlib import Path
from typing import Any

import numpy as np

import poinsot as ps
from benchmarks.cases import STEP
from benchmarks.mechanisms.slider_crank import slider_crank
from benchmarks.peers.poinsot import ENGINE, build

STEPS = 1_000_000
SAVED = 1000


def long_run(engine: str = ENGINE, steps: int = STEPS) -> dict[str, Any]:
    """Return speed, errors of energy and joints, and memory before and after [MiB]."""
    system = build(slider_crank()).compile()

    def run(count: int) -> ps.Result:
        return ps.simulate(
            system,
            h=STEP,
            t_end=count * STEP,
            engine=engine,
            save_every=max(1, count // SAVED),
            progress=False,
        )

    run(SAVED)
    before = _resident()
    result = run(steps)
    after = _resident()
    return {
        "steps": result.stats.steps,
        "seconds": result.stats.wall_time,
        "energy": float(result.energy[0]),
        "energy_error": result.stats.balance_error_max,
        "constraint_error": float(np.max(result.constraint_error)),
        "memory_before": before,
        "memory_after": after,
    }


def _resident() -> float:
    """Return the resident memory of this process [MiB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20
