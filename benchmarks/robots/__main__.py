"""The command: `python -m benchmarks.robots`; `--write` puts its table in the docs."""

import argparse
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from benchmarks.environment import pin

PAGE = Path(__file__).parents[2] / "docs" / "robots-compared.md"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
#: What is compared: packages that bring robots, and where in the folder of packages these are.
SOURCES = {
    "example-robot-data": "cmeel.prefix/share/example-robot-data/robots/*/*/*.urdf",
    "dm-control": "dm_control/suite/*.xml",
    "gymnasium": "gymnasium/envs/mujoco/assets/*.xml",
}
BAR = 1e-9
COLUMNS = "mass", "position", "velocity", "joints", "energy", "acceleration"


def installed():
    """Return the files of all robots of packages that are installed."""
    folders = dict.fromkeys(
        Path(spec.submodule_search_locations[0]).parent
        for spec in map(find_spec, ("pinocchio", "dm_control", "gymnasium"))
        if spec is not None
    )
    folders |= dict.fromkeys(Path(folder) for folder in sys.path if "site-packages" in folder)
    found = {
        path.resolve()
        for folder in folders
        for pattern in SOURCES.values()
        for path in Path(folder).glob(pattern)
    }
    return sorted(found)


def table(results):
    """Return the results as Markdown."""
    header = "| robot | by | bodies | degrees of freedom | " + " | ".join(COLUMNS) + " |"
    lines = [header, "| :--- | :--- | " + " | ".join(["---:"] * (2 + len(COLUMNS))) + " |"]
    for one in results:
        if one.refused:
            continue
        numbers = " | ".join(f"{getattr(one, column):.0e}" for column in COLUMNS)
        name = _breakable(one.name) + (" (fixed links merged)" if one.merged else "")
        lines.append(f"| {name} | {one.code} | {one.bodies} | {one.freedoms} | {numbers} |")
    refused = [one for one in results if one.refused]
    if refused:
        lines += ["", "| refused | reason |", "| :--- | :--- |"]
        lines += [f"| {_breakable(one.name)} | {_short(one.refused)} |" for one in refused]
    return "\n".join(lines)


def _breakable(name):
    return name.replace("/", "/<wbr>")


def _short(text):
    return text.split(";")[0].split(" (or ")[0].replace("|", "/")


def summary(results, states, seconds):
    """Return in one sentence what was compared."""
    moved = [one for one in results if not one.refused]
    good = [one for one in moved if one.worst < BAR]
    versions = []
    for package in (*SOURCES, "mujoco", "pin"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"{len(moved)} robots at {states} random states each, {len(good)} of them within "
        f"{BAR:g}, in {seconds:.0f} s ({', '.join(versions)}); {len(results) - len(moved)} are "
        "refused."
    )


def main(arguments=None):
    """Compare, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robots", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="default: all that are installed")
    parser.add_argument("--states", type=int, default=100, help="of each robot")
    parser.add_argument("--write", action="store_true", help="put the table on its page")
    options = parser.parse_args(arguments)
    pin()  # before anything numerical is imported
    from benchmarks.robots.compare import compare

    results, start = [], time.perf_counter()
    for path in options.files or installed():
        found = compare(path, states=options.states)
        if not found.refused and not found.bodies:
            continue
        results.append(found)
        said = _short(found.refused) or f"{found.bodies} bodies, worst {found.worst:.0e}"
        print(f"{found.name:56} {said}", flush=True)
    text = f"{summary(results, options.states, time.perf_counter() - start)}\n\n{table(results)}"
    print(f"\n{text}")
    if options.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
        print(f"written  {PAGE}")
    return 0 if all(one.refused or one.worst < BAR for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
