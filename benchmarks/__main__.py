"""The command: `python -m benchmarks`, or with names of cases, or with `--quick`."""

import argparse
import sys
from pathlib import Path

from benchmarks.environment import pin

CASES = (
    "chain-spherical",
    "chain-revolute",
    "slider-crank",
    "ladder",
    "tree",
    "lattice",
    "vehicle",
    "rods",
    "beams",
    "work-precision",
    "startup",
)

#: Left out by `--quick` unless named.
SLOW = ("startup",)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and after a complete run write results and documentation."""
    options = _options(arguments)
    pin()  # before anything numerical is imported
    from benchmarks import plots, report, results
    from benchmarks.campaign import run
    from benchmarks.peers.poinsot import ENGINE

    if options.report:
        found = results.load()
    else:
        found = run(
            options.cases,
            engine=options.engine or ENGINE,
            repeats=options.repeats,
            quick=options.quick,
            million=options.million,
        )
        complete = not options.quick and set(options.cases) == set(CASES)
        path = options.output or (results.FILE if complete else None)
        if path is not None:
            results.save(found, path)
            print(f"results     {path}")
        if path != results.FILE:
            print("\n" + report.text(found))
            return 0
    report.write(found)
    print(report.text(found))
    for path in (report.PAGE, *plots.draw(found)):
        print(f"written     {path}")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Poinsot against Exudyn and MuJoCo on one core.",
        epilog="A complete run writes benchmarks/results.json and docs/benchmarks.md.",
    )
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help=f"some of: {', '.join(CASES)}; default: all"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, without startup: a matter of seconds"
    )
    parser.add_argument("--repeats", type=int, default=0, help="rounds; default 5, quick 3")
    parser.add_argument("--million", action="store_true", help="a million steps, too")
    parser.add_argument("--engine", default="", help="another engine of Poinsot")
    parser.add_argument("--output", type=Path, help="write the results there as JSON")
    parser.add_argument("--report", action="store_true", help="only write the documentation anew")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.cases) - set(CASES))
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; choose from {', '.join(CASES)}")
    usual = [case for case in CASES if not (options.quick and case in SLOW)]
    options.cases = options.cases or usual
    options.repeats = options.repeats or (3 if options.quick else 5)
    return options


if __name__ == "__main__":
    sys.exit(main())
