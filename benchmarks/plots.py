"""Draws the results: chains, mechanisms, time against error."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import CHAINS, TITLES
from benchmarks.results import Results
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMAGES = Path(__file__).parents[1] / "docs" / "images"
#: Colour, marker and line of everybody; shapes tell them apart without colour, too.
LOOKS: dict[str, dict[str, Any]] = {
    "Poinsot PH-MP": {"color": COLOURS[0], "marker": "o", "linewidth": 2.4},
    "Poinsot PH-MP-4": {"color": COLOURS[0], "marker": "P", "linestyle": "--"},
    "Poinsot PH-MP-6": {"color": COLOURS[0], "marker": "*", "linestyle": ":"},
    "Exudyn TrapezoidalIndex2": {"color": COLOURS[1], "marker": "s"},
    "Exudyn GeneralizedAlpha": {"color": COLOURS[4], "marker": "D", "linestyle": "--"},
    "MuJoCo RK4": {"color": COLOURS[2], "marker": "^"},
    "MuJoCo implicitfast": {"color": COLOURS[3], "marker": "v", "linestyle": "--"},
    "MuJoCo Euler": {"color": COLOURS[5], "marker": "x", "linestyle": ":"},
}


def draw(results: Results, folder: Path = IMAGES) -> list[Path]:
    """Write all figures that the results allow; return their files."""
    import matplotlib as mpl

    mpl.use("Agg")
    written = []
    with style():
        for name, figure in (
            ("chain", _chains(results)),
            ("mechanisms", _mechanisms(results)),
            ("work-precision", _contests(results)),
        ):
            if figure is not None:
                path = folder / f"benchmarks-{name}.png"
                figure.savefig(path)
                written.append(path)
    return written


def _figure(count: int, height: float = 3.8) -> tuple[Any, list["Axes"]]:
    """Return a figure with so many axes, two in a row."""
    from matplotlib.figure import Figure

    columns, rows = min(count, 2), -(-count // 2)
    figure = Figure(figsize=(4.4 * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    return figure, list(axes[:count])


def _chains(results: Results) -> Any:
    """Time per body and step over the number of bars."""
    found = [name for name in CHAINS if any(r["case"] == name for r in results.get("steps", []))]
    if not found:
        return None
    figure, axes = _figure(len(found))
    for ax, case in zip(axes, found, strict=True):
        lines: dict[str, list[tuple[int, float]]] = {}
        for row in results["steps"]:
            if row["case"] == case:
                for timing in row["timings"]:
                    name = f"{timing['code']} {timing['scheme']}"
                    time = 1e6 * timing["seconds"] / row["bodies"]
                    lines.setdefault(name, []).append((row["size"], time))
        for name, points in lines.items():
            ax.loglog(*zip(*points, strict=True), label=name, markersize=4, **LOOKS[name])
        ax.set(title=CHAINS[case], xlabel="bars", ylabel="time per body and step [µs]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _mechanisms(results: Results) -> Any:
    """Time per step of the other mechanisms."""
    rows = [row for row in results.get("steps", []) if row["case"] in TITLES]
    if not rows:
        return None
    figure, (ax,) = _figure(1, height=4.2)
    figure.set_size_inches(8.0, 4.2)
    names = list(dict.fromkeys(f"{t['code']} {t['scheme']}" for r in rows for t in r["timings"]))
    height = 0.8 / len(names)
    for k, name in enumerate(names):
        for i, row in enumerate(rows):
            times = {f"{t['code']} {t['scheme']}": t["seconds"] for t in row["timings"]}
            if name in times:
                label = name if i == 0 else None
                place, colour = i + (k - (len(names) - 1) / 2) * height, LOOKS[name]["color"]
                ax.barh(place, 1e6 * times[name], 0.9 * height, color=colour, label=label)
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), [f"{TITLES[r['case']]}\n{r['bodies']} bodies" for r in rows])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set(title="Time per step, h = 1 ms", xlabel="[µs]")
    figure.legend(loc="outside right upper")
    return figure


def _contests(results: Results) -> Any:
    """Time against error."""
    contests = results.get("work_precision", [])
    if not contests:
        return None
    figure, axes = _figure(len(contests), height=4.2)
    for ax, contest in zip(axes, contests, strict=True):
        for name in contest["times"]:
            points = sorted(
                (p["error"], p["seconds"]) for p in contest["points"] if p["name"] == name
            )
            if points:
                errors, seconds = zip(*points, strict=True)
                times = [1e3 * time for time in seconds]
                ax.loglog(errors, times, label=name, markersize=4, **LOOKS[name])
        for target in contest["targets"]:
            ax.axvline(target, color="#888888", linewidth=0.8)
        ax.invert_xaxis()
        ax.set(
            title=f"{contest['title']}, {contest['t_end']:g} s".capitalize(),
            xlabel="error [m]",
            ylabel="time [ms]",
        )
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
