"""The picture of the packages on the page about the design, drawn from the source.

Building the documentation draws it; to draw it by itself:

    python docs/_ext/packages.py
"""

import ast
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "poinsot"
IMAGE = ROOT / "docs" / "images" / "packages.svg"

#: Columns and rows [inches].
PITCH = 0.6, 0.45
#: Diameter of the dot of a single import, and of a hundred [points].
DOTS = 9.0, 19.0
BLUE, PALE, GREY, LINE = "#1f5a94", "#dfeaf5", "#4a545e", "#d3d9df"
LEGEND = """Along its row: what a package imports.
Up its column: what imports it.
The number counts import statements.

An import against the layers would
be a dot on this side of the boxes."""


def layers() -> list[list[str]]:
    """Return the packages of each layer of the import contract, from top to bottom.

    Planned ones stand in parentheses.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (rows,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip() for name in row.split("|")] for row in rows]


def packages() -> list[str]:
    """Return the packages and single modules that exist, in the order of the layers."""
    return [name for row in layers() for name in row if not name.startswith("(")]


@cache
def edges() -> Counter[tuple[str, str]]:
    """Return how many import statements lead from one package to another, by (from, to).

    Those inside functions, and for type checkers only, count as well. The public surface in
    `poinsot/__init__` belongs to no package.
    """
    found: Counter[tuple[str, str]] = Counter()
    for file in sorted(SOURCE.rglob("*.py")):
        home = file.relative_to(SOURCE).with_suffix("").parts[0]
        if home != "__init__":
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                found.update((home, other) for other in _imported(node) if other != home)
    return found


def _imported(node: ast.AST) -> set[str]:
    """Return the packages that a statement imports from."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return set()
    return {name.split(".")[1] for name in names if name.startswith("poinsot.")}


def draw(path: Path = IMAGE) -> None:
    """Draw the packages from top left to bottom right, and a dot where a row imports a column.

    All dots lie above the boxes as long as nothing imports from a layer above its own. The same
    source gives the same file.
    """
    names, found = packages(), edges()
    place, count = {name: k for k, name in enumerate(names)}, len(names)
    width, height = PITCH
    with matplotlib.rc_context({"svg.hashsalt": "poinsot"}):
        figure = Figure(figsize=(width * count, height * count), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
        axes.axis("off")
        axes.text(-0.4, 0.8 * count, LEGEND, color=GREY, fontsize=9, linespacing=1.5)
        for name, k in place.items():
            right = max([k, *(place[b] for a, b in found if a == name)])
            top = min([k, *(place[a] for a, b in found if b == name)])
            axes.plot([k, right], [k, k], color=LINE, lw=1, zorder=1)
            axes.plot([k, k], [top, k], color=LINE, lw=1, zorder=1)
            shape = {"boxstyle": "round,pad=0,rounding_size=0.12", "fc": PALE, "ec": BLUE, "lw": 1}
            axes.add_patch(FancyBboxPatch((k - 0.46, k - 0.32), 0.92, 0.64, **shape, zorder=2))
            axes.text(k, k, name, ha="center", va="center_baseline", fontsize=8.2)
        for (importer, imported), number in sorted(found.items()):
            at = place[imported], place[importer]
            small, large = DOTS
            size = small + (large - small) * ((number - 1) / 99) ** 0.5
            axes.plot(*at, "o", ms=size, color=BLUE, zorder=2)
            label = {"ha": "center", "va": "center_baseline", "color": "white", "fontsize": 6.5}
            axes.text(*at, str(number), **label)
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def setup(app):
    """Draw the picture before the pages are read."""
    app.connect("builder-inited", lambda app: draw())
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    draw()
