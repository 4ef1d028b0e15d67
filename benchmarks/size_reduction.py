"""What fewer unknowns are worth: EML, REML and Null-EML on free bodies [KB24, fig. 9].

`python -m benchmarks.size_reduction [ENGINE] [--bodies N]` prints a table. The three take the same
steps. In the reference engine they have 22, 8 and 6 unknowns a body; translation, which [KB24]
leaves out, is nine of them in EML, else three. In the compiled engine the Cayley map keeps
quaternions unit, and translation is condensed: 15, 7 and 6.
"""

import argparse
import time
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.environment import pin

SCHEMES = ("eml", "reml", "null-eml")
STEPS = (0.01, 0.005, 0.002)
T_END = 10.0


def free_bodies(count: int) -> Any:
    """Return so many bodies like that of [KB24, sec. 5.3], thrown not quite alike."""
    import poinsot as ps

    model = ps.Model(name="free bodies")
    shape = ps.RigidBody(mass=1, inertia=(6, 8, 3))
    for k in range(count):
        spin = (10 + 0.01 * k, 20, 20)
        model.add_body(f"body {k}", shape, position=(k, 0, 0), angular_velocity=spin)
    return model


def seconds(model: Any, scheme: str, engine: str, h: float, t_end: float) -> float:
    """Return the time of a run by the processor's clock [s]; nothing but its end is saved."""
    import poinsot as ps

    options = {"engine": engine, "save_every": round(t_end / h), "progress": False}
    with patch("time.perf_counter", time.process_time):
        return ps.simulate(model, scheme=scheme, h=h, t_end=t_end, **options).stats.wall_time


def size_reduction(
    engine: str,
    repeats: int = 5,
    bodies: int = 1,
    steps: tuple[float, ...] = STEPS,
    t_end: float = T_END,
) -> list[dict[str, Any]]:
    """Return the time [s] of whole runs for each step.

    The schemes take turns, so that whatever disturbs the machine disturbs all of them.
    """
    model = free_bodies(bodies)
    for scheme in SCHEMES:
        seconds(model, scheme, engine, steps[0], 10 * steps[0])  # compiled, and out of the cold
    rows = []
    for h in steps:
        rounds = [{s: seconds(model, s, engine, h, t_end) for s in SCHEMES} for _ in range(repeats)]
        rows.append({"h": h, **{name: median(times[name] for times in rounds) for name in SCHEMES}})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Return the times as a Markdown table, with shares of EML's."""
    lines = [
        "| h [s] | EML [s] | REML [s] | Null-EML [s] | REML / EML | Null-EML / EML |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        full, reduced, null = (row[scheme] for scheme in SCHEMES)
        lines.append(
            f"| {row['h']:g} | {full:.3g} | {reduced:.3g} | {null:.3g} "
            f"| {reduced / full:.0%} | {null / full:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure on one core, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.size_reduction", description="Times of EML, REML and Null-EML."
    )
    parser.add_argument("engine", nargs="?", default="auto", help="reference, compiled or auto")
    parser.add_argument("--repeats", type=int, default=5, help="rounds, of which the median")
    parser.add_argument("--bodies", type=int, default=1, help="free bodies")
    options = parser.parse_args()
    pin()  # before anything numerical is imported
    print(table(size_reduction(options.engine, options.repeats, options.bodies)))


if __name__ == "__main__":
    main()
