"""The conditions of a measurement: one core, one thread, and a record of the machine.

Imports nothing numerical: `pin` must come before NumPy reads its environment.
"""

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

THREADS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
STAT = Path("/proc/stat")
PACKAGES = ("poinsot", "numpy", "scipy", "numba", "exudyn", "mujoco")


def pin() -> None:
    """Keep this process and its children on one core, and every library on one thread.

    Modules of children are compiled once.
    """
    for name in THREADS:
        os.environ[name] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every process compiles all modules anew
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {_idlest(os.sched_getaffinity(0))})


@contextmanager
def all_cores() -> Iterator[None]:
    """Let children have the whole machine."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)


def _idlest(cores: set[int]) -> int:
    """Return the core that did least during a quarter of a second."""
    if not STAT.exists():
        return max(cores)
    before = _busy()
    time.sleep(0.25)
    after = _busy()
    return min(cores, key=lambda core: after.get(core, 0) - before.get(core, 0))


def _busy() -> dict[int, int]:
    """Return the ticks that each core has worked: user, nice and system time."""
    rows = (line.split() for line in STAT.read_text().splitlines())
    return {
        int(name[3:]): sum(int(tick) for tick in ticks[:3])
        for name, *ticks in rows
        if name.startswith("cpu") and name != "cpu"
    }


def describe() -> dict[str, Any]:
    """Return machine, versions, date, and how busy the machine was when asked."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "load": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    """Return the name of the processor, with its family where the name alone says little."""
    entries: dict[str, str] = {}
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else []:
        key, _, value = line.partition(":")
        entries.setdefault(key.strip(), value.strip())
    name = entries.get("model name", platform.processor() or "unknown")
    if "cpu family" in entries:
        name += f" (family {entries['cpu family']}, model {entries.get('model', '?')})"
    return name
