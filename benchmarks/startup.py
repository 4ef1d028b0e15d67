"""How long Poinsot takes to get going: import, first compilation, the command line."""

import os
import subprocess
import sys
import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.poinsot import ENGINE

COMMAND = ("-m", "poinsot.cli", "run", "spatial-slider-crank", "--no-progress", "--engine")


def startup(engine: str = ENGINE, repeats: int = 5) -> dict[str, Any]:
    """Return wall times of whole processes [s]."""
    with TemporaryDirectory() as cache:
        empty = {"NUMBA_CACHE_DIR": cache}
        return {
            "interpreter": median(_seconds("-c", "pass") for _ in range(repeats)),
            "import": median(_seconds("-c", "import poinsot") for _ in range(repeats)),
            "first run": _seconds(*COMMAND, engine, environment=empty),
            "cached run": median(
                _seconds(*COMMAND, engine, environment=empty) for _ in range(repeats)
            ),
        }


def _seconds(*arguments: str, environment: dict[str, str] | None = None) -> float:
    """Return the wall time of a Python process."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **(environment or {})},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start
