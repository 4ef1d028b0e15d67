"""Write the results into the documentation: tables between two marks of a page."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bars import bars
from benchmarks.results import Results

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
TITLES = {
    "slider-crank": "spatial slider-crank",
    "ladder": "ladder of four-bar loops",
    "tree": "random tree",
    "lattice": "lattice of bars",
    "vehicle": "vehicle",
}
CHAINS = {
    "chain-spherical": "Chain on spherical joints",
    "chain-revolute": "Chain on revolute joints",
}


def write(results: Results, page: Path = PAGE) -> None:
    """Put the tables between the marks."""
    before, rest = page.read_text().split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{text(results, figures=True)}\n\n{END}{after}")


def text(results: Results, figures: bool = False) -> str:
    """Return all tables as Markdown, with the figures that `benchmarks.plots` draws if wanted."""

    def picture(name: str, of: list[str], says: str) -> list[str]:
        return [f"![{says}](images/benchmarks-{name}.png)"] if figures and any(of) else []

    chains = [_chain(results, name, title) for name, title in CHAINS.items()]
    mechanisms = [_mechanisms(results)]
    contests = [_contest(contest) for contest in results.get("work_precision", [])]
    parts = [
        _conditions(results),
        _bars(results),
        *chains,
        *picture("chain", chains, "Time per body and step over the number of bars"),
        *mechanisms,
        *picture("mechanisms", mechanisms, "Time per step of the mechanisms"),
        _rods(results),
        _beams(results),
        *contests,
        *picture("work-precision", contests, "Time against error"),
        _startup(results),
        _long_run(results),
    ]
    return "\n\n".join(part for part in parts if part)


def _conditions(results: Results) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"Measured {machine['date']} on one core of an {machine['processor']} with "
        f"{machine['cores']} cores, {machine['system']}; Python {machine['python']}, {versions}; "
        f"medians of {results['repeats']} rounds; load average {machine['load']:g} at the "
        f"start, {results['load_at_end']:g} at the end."
    )


def _bars(results: Results) -> str:
    def verdict(passed: bool | None) -> str:
        return {True: "met", False: "**not met**", None: "not measured"}[passed]

    rows = [
        (
            bar.what,
            f"{'≤' if bar.ceiling else '≥'} {bar.demanded:g}",
            _number(bar.measured),
            verdict(bar.passed),
        )
        for bar in bars(results)
    ]
    return "### Targets\n\n" + _table(("target", "required", "measured", ""), rows, "lrrl")


def _chain(results: Results, case: str, title: str) -> str:
    found = [row for row in results.get("steps", []) if row["case"] == case]
    if not found:
        return ""
    names = _names(found)
    rows = [(row["size"], *_cells(row, names, per=row["bodies"])) for row in found]
    notes = _notes(found)
    return (
        f"### {title}\n\nMicroseconds per body and step, h = 1 ms.\n\n"
        + _table(("bars", *names), rows, "r" * (len(names) + 1))
        + (f"\n\n{notes}" if notes else "")
    )


def _mechanisms(results: Results) -> str:
    found = [row for row in results.get("steps", []) if row["case"] in TITLES]
    if not found:
        return ""
    names = _names(found)
    rows = [(TITLES[row["case"]], row["bodies"], *_cells(row, names)) for row in found]
    return (
        "### Mechanisms with loops, trees and springs\n\nMicroseconds per step, h = 1 ms.\n\n"
        + _table(("mechanism", "bodies", *names), rows, "l" + "r" * (len(names) + 1))
        + f"\n\n{_notes(found)}"
    )


def _rods(results: Results) -> str:
    found = results.get("rods")
    if not found:
        return ""
    ours = found["rows"][0]["seconds"]
    contests = found.get("contests", [])
    rows = [
        (
            row["name"],
            _number(1e6 * row["seconds"] / found["elements"]),
            _number(row["seconds"] / ours),
            f"{row['apart']:.1e}",
            *(_number(_thousand(contest["seconds"][row["name"]])) for contest in contests),
        )
        for row in found["rows"]
    ]
    head = "element", "µs per element and step", "relative to Poinsot", "distance of the end [m]"
    head += tuple(f"force × {contest['times']:g}: ms to the same error" for contest in contests)
    return (
        f"### A flying rod of {found['elements']} elements\n\nA force acts on one end; h = 1 ms. "
        f"The distance of the end from that of Poinsot after {found['t_end']:g} s shows whether "
        "both programs model the same rod. The last columns are the times for the same error of "
        "the end, 1 mm times the factor of the force, relative to each program's own converged "
        "solution, with the number of elements that each needs.\n\n"
        + _table(head, rows, "lrrr" + "r" * len(contests))
    )


def _beams(results: Results) -> str:
    found = results.get("beams")
    if not found:
        return ""
    rows = [(row["name"], _number(1 / row["seconds"]), _number(row["iterations"])) for row in found]
    return (
        "### Ten floating beams of ten elements\n\nA falling chain of beams; h = 1 ms.\n\n"
        + _table(("bending", "steps per second", "iterations per step"), rows, "lrr")
    )


def _contest(contest: dict[str, Any]) -> str:
    targets = contest["targets"]
    best = [
        min(
            (times[k] for name, times in contest["times"].items() if _is_ours(name, times[k])),
            default=None,
        )
        for k in range(len(targets))
    ]
    head, rows = ["scheme"], []
    for target in targets:
        head += [f"{target:g} m: time [ms]", "step [ms]", "relative to our best"]
    for name, times in contest["times"].items():
        points = [point for point in contest["points"] if point["name"] == name]
        row = [name]
        for target, time, ours in zip(targets, times, best, strict=True):
            row += [
                _number(None if time is None else 1e3 * time),
                _number(_step_for(target, points)),
                _number(time / ours if time and ours else None),
            ]
        rows.append(tuple(row))
    return (
        f"### Time to the same error, {contest['title']}\n\n"
        f"Errors after {contest['t_end']:g} s, relative to our converged solution, with which "
        f"another program agrees to {contest['doubt']:.1g} m.\n\n"
        + _table(tuple(head), rows, "l" + "rrr" * len(targets))
    )


def _is_ours(name: str, time: float | None) -> bool:
    """Tell whether a time was measured, and is ours."""
    return time is not None and name.startswith("Poinsot")


def _step_for(target: float, points: Sequence[dict[str, Any]]) -> float | None:
    """Return the step that gives an error [ms], on the line through the nearest points."""
    import numpy as np

    pairs = sorted((point["error"], point["step"]) for point in points)
    if not pairs or not pairs[0][0] <= target <= pairs[-1][0]:
        return None
    errors, steps = np.log(np.array(pairs)).T
    return float(1e3 * np.exp(np.interp(np.log(target), errors, steps)))


def _startup(results: Results) -> str:
    times = results.get("startup")
    if not times:
        return ""
    rows = [
        ("starting Python", _number(times["interpreter"])),
        ("`import poinsot`, including the start of Python", _number(times["import"])),
        ("building the engine from a source checkout, once", _number(times["build"])),
        (
            "first run, the longest of ten kinds of mechanisms (CPU time)",
            _number(times["first run"]),
        ),
        ("`poinsot run spatial-slider-crank`", _number(times["command"])),
    ]
    return "### Start-up times\n\n" + _table(("process", "seconds"), rows, "lr")


def _long_run(results: Results) -> str:
    run = results.get("million")
    if not run:
        return ""
    return (
        f"### A long run\n\n{run['steps']:,} steps of the slider-crank took "
        f"{run['seconds']:.3g} s. The largest error of the energy of {run['energy']:.3g} J was "
        f"{run['energy_error']:.1e} J, that of the joints {run['constraint_error']:.1e} m. The "
        f"process used {run['memory_before']:.0f} MiB before and {run['memory_after']:.0f} MiB "
        "after the run."
    )


# -- cells and tables ------------------------------------------------------------------------------


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return who takes part, in order."""
    entries = [entry for row in rows for entry in (*row["timings"], *row["missing"])]
    order = {"Poinsot": 0, "Exudyn": 1, "MuJoCo": 2}
    names = dict.fromkeys((order[e["code"]], f"{e['code']} {e['scheme']}") for e in entries)
    return [name for _, name in sorted(names, key=lambda pair: pair[0])]


def _cells(row: dict[str, Any], names: Sequence[str], per: int = 1) -> list[str]:
    """Return the times of a row [µs]; a dash where there is none."""
    times = {f"{t['code']} {t['scheme']}": t["seconds"] for t in row["timings"]}
    return [_number(1e6 * times[name] / per if name in times else None) for name in names]


def _notes(rows: Sequence[dict[str, Any]]) -> str:
    """Return the notes of a table: Exudyn's fastest model, and what was not measured and why."""
    chosen: dict[str, list[str]] = {}
    for row in rows:
        for timing in row["timings"]:
            if timing["code"] == "Exudyn" and timing["note"]:
                chosen.setdefault(timing["note"], []).append(_label(row))
    sentences = [
        "Exudyn's fastest model: "
        + "; ".join(f"{note} ({', '.join(where)})" for note, where in chosen.items())
        + "."
    ]
    missing: dict[str, list[str]] = {}
    for row in rows:
        for entry in row["missing"]:
            label = f"from {_label(row)} on: {entry['reason']}"
            missing.setdefault(label, []).append(f"{entry['code']} {entry['scheme']}")
    if missing:
        parts = "; ".join(f"{', '.join(who)} ({why})" for why, who in missing.items())
        sentences.append(f"Not measured: {parts}.")
    return " ".join(sentences)


def _label(row: dict[str, Any]) -> str:
    return TITLES.get(row["case"], f"{row['size']} bar{'s' * (row['size'] > 1)}")


def _number(value: float | None) -> str:
    """Return three digits without exponent, or a dash."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def _thousand(value: float | None) -> float | None:
    """Return seconds in milliseconds."""
    return None if value is None else 1e3 * value


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], align: str) -> str:
    marks = {"l": ":---", "r": "---:"}
    lines = [head, [marks[mark] for mark in align], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
