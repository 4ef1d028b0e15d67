"""What many runs cost beside their steps: `python -m benchmarks.ensembles`.

Slider-cranks with masses, gravity and speeds drawn at random. Times are those of the clock, and of
all processors together: on a machine that does other work, only the latter can be compared.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.environment import all_cores, pin

pin()

import numpy as np  # noqa: E402

import poinsot as ps  # noqa: E402
from poinsot.gallery.spatial_slider_crank import model  # noqa: E402
from poinsot.model.parameters import Parameters  # noqa: E402
from poinsot.studies.batch import Arena  # noqa: E402
from poinsot.studies.cases import Cases  # noqa: E402
from poinsot.studies.numbers import Numbers  # noqa: E402

BOX = {
    "bodies.rod.mass": (0.2, 1.0),
    "bodies.slider.mass": (0.5, 3.0),
    "gravity.z": (-12.0, -1.0),
    "initial.crank.angular_velocity.x": (3.0, 9.0),
}
WHAT = ("energy", "slider.position")
#: So many runs are stepped for the pure time of a step.
PURE = 500


def spent() -> tuple[float, float]:
    """Return the time [s] of the clock, and of this process on all processors."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def pure(values: dict[str, Any], steps: int, save_every: int) -> tuple[float, float]:
    """Return what the steps of a run cost, by the clock and of the processor [s]."""
    rows = np.column_stack(list(values.values()))
    options = {"step": 1e-3, "t_end": 1e-3 * steps, "save_every": save_every}
    cases = Cases(Parameters.of(model(), values), dict.fromkeys(values, ()), options)
    numbers = Numbers.of(cases.opening, rows)
    arena, found = Arena(numbers), numbers.at(rows[:PURE])
    next(arena.ends(found[:1]))
    wall, cpu = spent()
    for _ in arena.ends(found):
        pass
    return (spent()[0] - wall) / len(found), (spent()[1] - cpu) / len(found)


def whole(
    values: dict[str, Any], steps: int, workers: int, save_every: int, output: Path | None = None
) -> tuple[float, float]:
    """Return what a study costs, by the clock and of all processors [s]."""
    wall, cpu = spent()
    study = ps.ensemble(
        model(),
        values,
        h=1e-3,
        t_end=1e-3 * steps,
        what=WHAT,
        workers=workers,
        save_every=save_every,
        output=output,
    )
    assert (study["status"].values == 1).all()
    assert float(study["balance_error_max"].max()) < 1e-12
    return spent()[0] - wall, spent()[1] - cpu


def memory(runs: int) -> None:
    """Print the greatest memory of a study of short runs [MiB], in a process of its own."""
    with TemporaryDirectory() as folder:
        wall, _ = whole(ps.latin_hypercube(BOX, runs), 20, 2, 1, Path(folder) / "study.nc")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{runs:>7} runs of 20 steps, to a file: {wall:6.1f} s, {peak:5.0f} MiB at most", flush=True
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ensembles", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--save-every", type=int, default=10)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        return
    values = ps.latin_hypercube(BOX, given.runs)
    whole(ps.latin_hypercube(BOX, 64), 10, 1, 1)  # what is imported once
    one, one_cpu = pure(values, given.steps, given.save_every)
    total, total_cpu = one * given.runs, one_cpu * given.runs
    each = f"{given.steps} steps each, of which every {given.save_every}th is saved"
    print(f"{given.runs} slider-cranks, {each}")
    print(f"steps alone           {total:7.2f} s by the clock {total_cpu:8.2f} s of processors")
    walls = []
    for workers in (1, 2):
        with all_cores():
            wall, cpu = whole(values, given.steps, workers, given.save_every)
        walls.append(wall)
        ratio = f"{wall * workers / total:.2f} and {cpu / total_cpu:.2f} times the steps alone"
        print(f"whole, {workers} worker{'s' * (workers > 1)} {wall:11.2f} s {cpu:21.2f} s: {ratio}")
    print(f"2 workers are {walls[0] / walls[1]:.2f} times as fast as 1", flush=True)
    for runs in (1000, 100_000):
        command = [sys.executable, "-m", "benchmarks.ensembles", "--memory", str(runs)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
