"""A whole run: the motions are compared first, then everything asked for is measured."""

import os
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.agreement import check
from benchmarks.beams import beams
from benchmarks.cases import STEP, Case, cases, small_mechanisms
from benchmarks.entrants import Entrant, field
from benchmarks.environment import describe
from benchmarks.long_run import STEPS, long_run
from benchmarks.results import Results
from benchmarks.rods import rods
from benchmarks.startup import startup
from benchmarks.timing import measure
from benchmarks.work_precision import CONTESTS, QUICK_CONTESTS, contest


def run(
    asked: Collection[str], *, engine: str, repeats: int, quick: bool, million: bool
) -> Results:
    """Measure the cases asked for by name, and a million steps if wanted."""
    results: Results = {"machine": describe(), "engine": engine, "repeats": repeats}
    results["agreement"] = [asdict(entry) for entry in check(small_mechanisms(), engine)]
    print("microseconds per step", flush=True)
    results["steps"] = [
        row
        for name, sizes in cases(quick).items()
        if name in asked
        for row in _case(sizes, field(engine), repeats)
    ]
    if "rods" in asked:
        results["rods"] = rods(repeats)
    if "beams" in asked:
        results["beams"] = beams(repeats)
    if "work-precision" in asked:
        results["work_precision"] = []
        for plan in QUICK_CONTESTS if quick else CONTESTS:
            found = contest(plan, engine, repeats, quick=quick)
            results["work_precision"].append(found)
            for k, target in enumerate(found["targets"]):
                known = {name: times[k] for name, times in found["times"].items() if times[k]}
                times = ", ".join(f"{name} {1e3 * time:.4g}" for name, time in known.items())
                print(f"milliseconds to {target:g} m, {plan.title}: {times}", flush=True)
    if "startup" in asked:
        results["startup"] = startup(engine, repeats)
    if million:
        results["million"] = long_run(engine, steps=5000 if quick else STEPS)
    results["load_at_end"] = round(os.getloadavg()[0], 2)
    return results


def _case(sizes: Sequence[Case], entrants: Sequence[Entrant], repeats: int) -> list[dict[str, Any]]:
    """Measure a case in growing sizes; a code that became too slow is not asked again."""
    rows = []
    for case in sizes:
        mechanism = case.mechanism()
        timings, missing = measure(entrants, mechanism, h=STEP, steps=case.steps, repeats=repeats)
        times = ", ".join(f"{t.code} {t.scheme} {1e6 * t.seconds:.4g}" for t in timings)
        print(f"  {mechanism.name:<22} {times}", flush=True)
        out = {(entry.code, entry.scheme) for entry in missing}
        entrants = [e for e in entrants if (e.code, e.scheme) not in out]
        rows.append(
            {
                "case": case.name,
                "size": case.size,
                "bodies": len(mechanism.bodies),
                "steps": case.steps,
                "timings": [asdict(entry) for entry in timings],
                "missing": [asdict(entry) for entry in missing],
            }
        )
    return rows
