"""What many runs cost: `python -m benchmarks.ensembles`.

Steps in vector registers compared with those of one run at a time, of mechanisms whose masses,
gravity, speeds and friction are drawn at random (`--simd` prints this table alone). Then whole
studies of slider-cranks compared with their steps. Times are those of the clock, and of all
processors together: on a machine that does other work, only the latter can be compared.
"""

import argparse
import itertools
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.environment import all_cores, pin

pin()

import numpy as np  # noqa: E402

import poinsot as ps  # noqa: E402
from benchmarks.cuda import chain, damped  # noqa: E402
from poinsot.engine import machine_code, simd  # noqa: E402
from poinsot.gallery.spatial_slider_crank import model  # noqa: E402
from poinsot.kernels import tables  # noqa: E402
from poinsot.model.parameters import Parameters  # noqa: E402
from poinsot.studies.batch import Arena, Runs  # noqa: E402
from poinsot.studies.cases import Cases  # noqa: E402
from poinsot.studies.in_registers import InRegisters  # noqa: E402
from poinsot.studies.numbers import Numbers  # noqa: E402

BOX = {
    "bodies.rod.mass": (0.2, 1.0),
    "bodies.slider.mass": (0.5, 3.0),
    "gravity.z": (-12.0, -1.0),
    "initial.crank.angular_velocity.x": (3.0, 9.0),
}
WHAT = ("energy", "slider.position")
#: So many runs are drawn, or stepped for the pure time of a step.
PURE = 500


def four_bar() -> ps.Model:
    """Return a planar four-bar in space, three of whose constraints are redundant."""
    made = ps.Model(gravity=(0, -9.81, 0))
    points, bodies = [(0, 0), (0.3, 1), (2.2, 2), (2, 0)], [made.ground]
    for k, (a, b) in enumerate(itertools.pairwise(points)):
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, 0)
        bodies.append(made.add_body(f"bar{k}", ps.Sphere(mass=1.0, radius=0.2), position=middle))
    for k, (x, y) in enumerate(points):
        ends = bodies[k], bodies[(k + 1) % 4]
        made.add_joint(f"hinge{k}", ps.Revolute(*ends, point=(x, y, 0), axis=(0, 0, 1)))
    return made


@dataclass(frozen=True)
class Family:
    """Runs of a mechanism: between which values numbers are drawn, and how it is run."""

    model: Callable[[], ps.Model]
    box: dict[str, tuple[float, float]]
    options: dict[str, str] = field(default_factory=dict)

    def prepare(self, runs: int) -> tuple[Numbers, Any]:
        """Return the numbers of a study, as functions of parameters, and those of some runs."""
        values = ps.latin_hypercube(self.box, PURE)
        options = {"step": 1e-3, "t_end": 1.0, "save_every": 1000}
        own = Parameters.of(self.model(), values)
        cases = Cases(own, dict.fromkeys(values, ()), {**options, **self.options})
        rows = np.column_stack(list(values.values()))
        numbers = Numbers.of(cases.opening, rows)
        return numbers, numbers.at(rows[:runs])


def families() -> dict[str, Family]:
    """Return all mechanisms by name."""
    turned = {"gravity.z": (-12.0, -1.0), "initial.bar0.angular_velocity.z": (0.5, 1.5)}
    found = {
        f"chain of {n}": Family(
            lambda n=n: chain(n), {f"bodies.bar{n - 1}.mass": (0.5, 2.0), **turned}
        )
        for n in (1, 3, 6, 10, 20)
    }
    rubbed = {"forces.friction.coulomb": (0.0, 1.0), "forces.spring.stiffness": (0.1, 0.5)}
    found["spatial slider-crank"] = Family(model, BOX)
    found["the same with spring and dry friction"] = Family(damped, BOX | rubbed)
    found["spatial slider-crank, ph-mp-ggl"] = Family(model, BOX, {"scheme": "ph-mp-ggl"})
    bars = {"bodies.bar1.mass": (0.5, 2.0), "gravity.y": (-12.0, -1.0)}
    found["four-bar, redundant constraints"] = Family(four_bar, bars)
    return found


def pace(runs: Runs, varied: Any) -> tuple[float, Any]:
    """Return what a step of a run costs [us], the best of five times, and where runs end."""
    steps, best = runs.job.times.size - 1, float("inf")
    for _ in range(5):
        begun = time.process_time()
        ends = [(end.taken, end.reached[:, : tables.RATES].copy()) for end in runs.ends(varied)]
        best = min(best, time.process_time() - begun)
    assert all(taken == steps for taken, _ in ends), "some runs stopped"
    return 1e6 * best / steps / len(varied), np.array([reached for _, reached in ends])


def steps_in_registers(runs: int = 64) -> None:
    """Print what a step costs, one run at a time and several at once, on one core."""
    levels = [
        name for name, (needed, _) in simd.LEVELS.items() if needed <= machine_code.abilities()
    ]
    several = [f"{simd.LEVELS[name][1]} at once, {name}" for name in levels]
    print(f"| step of a run [us] | one at a time | {' | '.join(several)} | difference |")
    print(f"| --- | ---: |{' ---: |' * len(levels)} ---: |")
    for name, family in families().items():
        numbers, varied = family.prepare(runs)
        alone, ends = pace(Arena(numbers), varied)
        cells, difference = [f"{alone:.2f}"], 0.0
        for level in levels:
            own, reached = pace(InRegisters(numbers, level), varied)
            cells.append(f"{own:.2f} ({alone / own:.1f}x)")
            difference = max(difference, float(np.abs(reached - ends).max()))
        print(f"| {name} | {' | '.join(cells)} | {difference:.0e} |", flush=True)


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
    values: dict[str, Any],
    steps: int,
    workers: int,
    save_every: int,
    *,
    engine: str = "compiled",
    output: Path | None = None,
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
        engine=engine,
        output=output,
    )
    assert (study["status"].values == 1).all()
    assert float(study["balance_error_max"].max()) < 1e-12
    return spent()[0] - wall, spent()[1] - cpu


def memory(runs: int) -> None:
    """Print the greatest memory of a study of short runs [MiB], in a process of its own."""
    with TemporaryDirectory() as folder:
        wall, _ = whole(ps.latin_hypercube(BOX, runs), 20, 2, 1, output=Path(folder) / "study.nc")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{runs:>7} runs of 20 steps, to a file: {wall:6.1f} s, {peak:5.0f} MiB at most", flush=True
    )


def built_one_by_one(runs: int = 100) -> None:
    """Print what a run costs whose model is built by itself, as most of it does."""
    varied = {
        "joints closed by construction": {"joints.A.point.z": np.linspace(0.1195, 0.1205, runs)},
        "bodies assembled": {"joints.A.axis.y": np.linspace(0.0, 1e-3, runs)},
    }
    for name, values in varied.items():
        _, cpu = whole(values, 10, 1, 1)
        print(f"models built one by one, {name}: {1e3 * cpu / runs:.0f} ms a run", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ensembles", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--save-every", type=int, default=10)
    parser.add_argument("--simd", action="store_true", help="steps in vector registers alone")
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        return
    steps_in_registers()
    if given.simd:
        return
    values = ps.latin_hypercube(BOX, given.runs)
    whole(ps.latin_hypercube(BOX, 64), 10, 1, 1)  # what is imported once
    one, one_cpu = pure(values, given.steps, given.save_every)
    total, total_cpu = one * given.runs, one_cpu * given.runs
    each = f"{given.steps} steps each, of which every {given.save_every}th is saved"
    print(f"{given.runs} slider-cranks, {each}")
    print(f"steps alone           {total:7.2f} s by the clock {total_cpu:8.2f} s of processors")
    for engine in ("compiled", *["simd"] * bool(simd.level())):
        whole(ps.latin_hypercube(BOX, 64), 10, 1, 1, engine=engine)  # what is compiled once
        walls = []
        for workers in (1, 2):
            with all_cores():
                wall, cpu = whole(values, given.steps, workers, given.save_every, engine=engine)
            walls.append(wall)
            ratio = f"{wall * workers / total:.2f} and {cpu / total_cpu:.2f} times the steps alone"
            label = f"{engine}, {workers} worker{'s' * (workers > 1)}"
            print(f"{label:<21} {wall:7.2f} s {cpu:21.2f} s: {ratio}")
        print(f"2 workers are {walls[0] / walls[1]:.2f} times as fast as 1", flush=True)
    built_one_by_one()
    for runs in (1000, 100_000):
        command = [sys.executable, "-m", "benchmarks.ensembles", "--memory", str(runs)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
