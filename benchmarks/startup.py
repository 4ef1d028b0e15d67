"""How long Poinsot takes to get going: import, build of the engine, first runs, the command."""

import subprocess
import sys
import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.environment import all_cores
from benchmarks.first_runs import measure
from benchmarks.peers.poinsot import ENGINE

COMMAND = ("-m", "poinsot.cli", "run", "spatial-slider-crank", "--no-progress", "--engine")


def startup(engine: str = ENGINE, repeats: int = 5) -> dict[str, Any]:
    """Return wall times of whole processes, and the largest CPU time of a first run [s]."""
    with TemporaryDirectory() as folder:
        with all_cores():
            build = _seconds("-m", "poinsot.engine.build", "--to", folder)
        return {
            "interpreter": median(_seconds("-c", "pass") for _ in range(repeats)),
            "import": median(_seconds("-c", "import poinsot") for _ in range(repeats)),
            "build": build,
            "first run": max(measure().values()),
            "command": median(_seconds(*COMMAND, engine) for _ in range(repeats)),
        }


def _seconds(*arguments: str) -> float:
    """Return the wall time of a Python process."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start
