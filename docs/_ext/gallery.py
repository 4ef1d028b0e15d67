"""What the gallery pages do not repeat by hand: facts, commands and checks of the examples.

The directive ``{example} NAME`` inserts how an example is run and its check, ``{examples}`` all of
them with their pictures. Numbers come from docs/gallery/numbers.json, so that building the
documentation runs no simulation; a test proves the file up to date. Written anew by

    python docs/_ext/gallery.py              # the numbers
    python docs/_ext/gallery.py --figures    # and docs/images, with a browser for those in 3D
"""

import json
import math
import os
import runpy
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from PIL import Image

from poinsot.gallery import MODULES, Check, find_example
from poinsot.viz import write_page

DOCS = Path(__file__).resolve().parents[1]
NUMBERS = DOCS / "gallery" / "numbers.json"
IMAGES = DOCS / "images"
RENDERS = IMAGES / "renders"
BROWSER = (
    *(
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-quic",
        "--no-first-run",
        "--disable-sync",
    ),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--hide-scrollbars", "--virtual-time-budget=4000", "--window-size=960,720"),
)
#: The themes of the pages, and how the names of their pictures in space end.
THEMES = {"light": "", "dark": "-dark"}
#: Pages whose blocks save a figure that the page shows: page -> saved file -> image.
DRAWN_BY_PAGES = {
    "howto/assembly.md": {"assembly.png": "assembly.png"},
    "start.md": {"energy.png": "start-energy.png"},
    "tutorial/springs-and-motors.md": {"energy.png": "tutorial-energy.png"},
    "tutorial/schemes-and-steps.md": {"balances.png": "tutorial-balances.png"},
}


def image_of(name: str) -> Path:
    """Return the figure of an example."""
    return IMAGES / f"{name}.png"


def read_checks() -> dict[str, list[Check]]:
    """Return the stored checks of all examples."""
    stored = json.loads(NUMBERS.read_text())
    return {name: [Check(**check) for check in checks] for name, checks in stored.items()}


def run_checks(name: str) -> list[Check]:
    """Run an example as published and return its checks, with plain numbers."""
    example = find_example(name)
    checks = example.check(example.run(progress=False))
    return [
        Check(c.what, float(c.ours), float(c.theirs), float(c.tolerance), c.source) for c in checks
    ]


def facts(name: str) -> str:
    """Return source, run, command and check of an example, as MyST text."""
    example = find_example(name)
    command = f"poinsot run {name} --plot {name}.png"
    if example.animate is not None:
        command += f" --animation {name}.gif"
    lines = [
        f"Source: {example.source}. As published: `{example.scheme}`, h = {example.h:g} s, "
        f"{example.t_end:g} s. Run, check and figure:",
        "",
        "```console",
        f"$ {command}",
        "```",
        "",
        "| | computed | expected | within | expected by |",
        "| :--- | ---: | ---: | ---: | :--- |",
    ]
    for check in read_checks()[name]:
        what = check.what.replace("|", r"\|")
        ours, theirs = shown(check)
        lines.append(f"| {what} | {ours} | {theirs} | {check.tolerance:.1g} | {check.source} |")
    return "\n".join(lines)


def shown(check: Check) -> tuple[str, str]:
    """Return both numbers with as many digits as the tolerance leaves."""
    if check.theirs == 0:
        return f"{check.ours:.1e}", "0"
    decimals = min(12, max(0, math.ceil(-math.log10(check.tolerance))))
    return f"{check.ours:.{decimals}f}", f"{check.theirs:.{decimals}f}"


def write_numbers() -> None:
    """Run every example and store its checks."""
    stored = {name: [asdict(check) for check in run_checks(name)] for name in MODULES}
    NUMBERS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")


def write_figures() -> None:
    """Draw the figure of every example, and those that pages save."""
    for name in MODULES:
        example = find_example(name)
        result = example.run(progress=False)
        example.plot(result).savefig(image_of(name))
        seen = example.seen(result)
        if seen.observation.bodies:
            with TemporaryDirectory() as folder:
                page = Path(folder) / f"{name}.html"
                write_page(seen, page)
                for theme, ending in THEMES.items():
                    image = RENDERS / f"{name}{ending}.webp"
                    render(page, image, 0.6 * result.time[-1], theme)
    for page, images in DRAWN_BY_PAGES.items():
        draw_by_page(DOCS / page, images)


def render(page: Path, image: Path, time: float, theme: str) -> None:
    """Take a picture of a 3D page at a time [s], as a browser shows it without its panels."""
    with TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        address = f"{page.as_uri()}#t={time:.6g}&bare"
        scheme = f"--blink-settings=preferredColorScheme={1 if theme == 'light' else 0}"
        own = (f"--user-data-dir={folder}/user", f"--screenshot={shot}", scheme)
        subprocess.run([*BROWSER, *own, address], check=True, capture_output=True)
        image.parent.mkdir(exist_ok=True)
        Image.open(shot).convert("RGB").resize((640, 480), Image.Resampling.LANCZOS).save(
            image, quality=80
        )


def draw_by_page(page: Path, images: dict[str, str]) -> None:
    """Run the Python blocks of a page in an empty folder and keep the figures it saves."""
    blocks = [part.split("```")[0] for part in page.read_text().split("```python\n")[1:]]
    with TemporaryDirectory() as folder:
        script, before = Path(folder) / "page.py", Path.cwd()
        script.write_text("\n".join(blocks))
        os.chdir(folder)
        try:
            runpy.run_path(str(script))
            for saved, image in images.items():
                shutil.copy(saved, IMAGES / image)
        finally:
            os.chdir(before)


def setup(app):
    """Register the directives with Sphinx."""
    from docutils import nodes
    from docutils.parsers.rst import directives
    from sphinx.util.docutils import SphinxDirective

    class ExampleDirective(SphinxDirective):
        """``{example} NAME``: source, run, command and check of an example, and its motion."""

        required_arguments = 1
        option_spec: ClassVar = {"still": directives.flag}  # its run would take too long

        def run(self):
            (name,) = self.arguments
            self.env.note_dependency(str(NUMBERS))
            shown = "still" not in self.options and (RENDERS / f"{name}.webp").exists()
            motion = f"\n\n```{{motion}} {name}\n```" if shown else ""
            return self.parse_text_to_nodes(facts(name) + motion)

    class ExamplesDirective(SphinxDirective):
        """``{examples}``: all examples, each with its figure, title and source."""

        def run(self):
            grid = nodes.container(classes=["gallery"])
            for name in MODULES:
                example = find_example(name)
                shown = "".join(
                    f"![{example.title}](../images/renders/{name}{ending}.webp){{.only-{theme}}}"
                    for theme, ending in THEMES.items()
                )
                text = f"[{shown}]({name}.md)\n\n[{example.title}]({name}.md)\n\n{example.source}"
                grid += nodes.container(
                    "", *self.parse_text_to_nodes(text), classes=["gallery-card"]
                )
            return [grid]

    app.add_directive("example", ExampleDirective)
    app.add_directive("examples", ExamplesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    write_numbers()
    if "--figures" in sys.argv[1:]:
        write_figures()
