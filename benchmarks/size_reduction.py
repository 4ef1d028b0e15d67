"""What fewer unknowns are worth: EML, REML and Null-EML on the free body [KB24, fig. 9].

`python -m benchmarks.size_reduction [ENGINE]` prints a table. The three take the same steps with
22, 8 and 6 unknowns; translation, which [KB24] leaves out, is nine of them in EML, else three.
"""

import argparse
import time
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.environment import pin

SCHEMES = ("eml", "reml", "null-eml")
STEPS = (0.02, 0.01, 0.005)
T_END = 10.0


def size_reduction(
    engine: str, repeats: int = 5, steps: tuple[float, ...] = STEPS, t_end: float = T_END
) -> list[dict[str, Any]]:
    """Return the time [s] of whole runs for each step, by the processor's clock.

    The schemes take turns, so that whatever disturbs the machine disturbs all of them.
    """
    import poinsot as ps
    from poinsot.gallery.free_body import model

    def seconds(scheme: str, h: float, end: float) -> float:
        count = round(end / h)
        options = {"engine": engine, "save_every": count, "progress": False}
        with patch("time.perf_counter", time.process_time):
            return ps.simulate(model(), scheme=scheme, h=h, t_end=end, **options).stats.wall_time

    for scheme in SCHEMES:
        seconds(scheme, steps[0], 10 * steps[0])  # compiled, and out of the cold
    rows = []
    for h in steps:
        rounds = [{scheme: seconds(scheme, h, t_end) for scheme in SCHEMES} for _ in range(repeats)]
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
    options = parser.parse_args()
    pin()  # before anything numerical is imported
    print(table(size_reduction(options.engine, options.repeats)))


if __name__ == "__main__":
    main()
