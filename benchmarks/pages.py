r"""Rate, time and calls of the 3D page: `python -m benchmarks.pages` prints a table.

Two mechanisms of 1000 bodies play in Chromium. The page times what its own program does for a
picture, counts the calls that draw and the pictures in a second, and says how sharp these are: the
page paints fewer pixels while pictures come late. `--angle` chooses what paints: `swiftshader` (no
graphics processor, the default), `vulkan`, `gl`, `gl-egl`, `d3d11`, `metal`. `--save FOLDER` writes
the pages and stops, for a computer without Python; each page prints its own line there:

    chromium --headless --no-sandbox --enable-logging=stderr --ignore-gpu-blocklist \
        --use-gl=angle --use-angle=vulkan --window-size=1280,800 FOLDER/boxes.html

Needs `chromium` on the path.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import poinsot as ps
from benchmarks.mechanisms.chain import SIZE, chain

#: Time in which the page finds how sharply it can paint, time that is measured, patience [s].
SETTLING, MEASURING, PATIENCE = 8, 5, 120
#: Edges of the windows: the least that Chromium has, a part of a page, a screen.
WINDOWS = ((500, 844), (800, 600), (1280, 800))
PROGRAM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = (
    *("--headless", "--no-sandbox", "--no-first-run", "--disable-sync", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
    *("--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--use-gl=angle"),
)
#: Runs before the page's own program: times its callbacks, counts its calls, and tells them.
PROBE = """
(() => {
  const spent = [], begun = [], drawn = [];
  let calls = 0, first = 0, told = false;
  const kind = WebGL2RenderingContext.prototype;
  for (const name of ["drawElementsInstanced", "drawArrays"]) {
    const own = kind[name];
    kind[name] = function (...given) { calls++; return own.apply(this, given); };
  }
  const tell = () => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const by = gl.getExtension("WEBGL_debug_renderer_info");
    const painter = by ? gl.getParameter(by.UNMASKED_RENDERER_WEBGL) : "unknown";
    const picture = document.getElementById("picture"), last = begun.length - 1;
    const at = (list, share) => list.sort((a, b) => a - b)[Math.floor(share * last)];
    console.log("MEASURED" + JSON.stringify({
      rate: 1000 * last / (begun[last] - begun[0]),
      program: at(spent, 0.5), slow: at(spent, 0.95), calls: at(drawn, 1),
      window: [innerWidth, innerHeight], painted: [picture.width, picture.height], painter,
    }) + "END");
  };
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (tick) => ask((now) => {
    const start = performance.now();
    first ||= start;
    calls = 0;
    tick(now);
    if (told || start - first < SETTLING) return;
    spent.push(performance.now() - start);
    begun.push(start);
    drawn.push(calls);
    if (start - first > SETTLING + MEASURING) { told = true; tell(); }
  });
  window.addEventListener("load", () => document.getElementById("play").click());
})();
""".replace("SETTLING", f"{1000 * SETTLING}").replace("MEASURING", f"{1000 * MEASURING}")


def flock(count: int) -> ps.Result:
    """Return a run of boxes that tumble on their own, side by side."""
    model, edge = ps.Model(name=f"{count} boxes"), round(count ** (1 / 2))
    for k in range(count):
        place = (2.0 * (k % edge), 2.0 * (k // edge), 0.0)
        spin = (np.sin(k), np.cos(k), 2.0)
        shape = ps.Box(mass=1, size=(1, 0.5, 0.25))
        model.add_body(f"box {k}", shape, position=place, angular_velocity=spin)
    return ps.simulate(model, h=0.02, t_end=4, progress=False)


def bars(count: int) -> ps.Result:
    """Return a run of a chain on ball joints."""
    mechanism = chain(count)
    model = ps.Model(gravity=(0, 0, -9.81), name=f"chain of {count} bars")
    parts: dict[str, Any] = {"ground": model.ground}
    for body in mechanism.bodies:
        shape = ps.Box(mass=body.mass, size=SIZE)
        parts[body.name] = model.add_body(body.name, shape, position=body.position)
    for joint in mechanism.joints:
        ends = parts[joint.a], parts[joint.b]
        model.add_joint(joint.name, ps.Spherical(*ends, point=joint.point))
    return ps.simulate(model, h=0.02, t_end=4, progress=False)


def probed(page: str) -> str:
    """Return a page that plays and measures itself."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    return page.replace("<script>", f"<script>{PROBE}", 1)


def measured(page: Path, width: int, height: int, angle: str, more: list[str]) -> dict[str, Any]:
    """Return what a page measures in Chromium."""
    assert PROGRAM is not None
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        own = (f"--use-angle={angle}", f"--window-size={width},{height}", *more)
        browser = subprocess.Popen(
            [PROGRAM, *FLAGS, *own, f"--user-data-dir={folder}", page.absolute().as_uri()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        stop = threading.Timer(PATIENCE, browser.terminate)
        stop.start()
        assert browser.stderr is not None
        try:
            for line in browser.stderr:
                found = re.search("MEASURED(.*)END", line.replace('\\"', '"'))
                if found:
                    return json.loads(found[1])  # type: ignore[no-any-return]
        finally:
            stop.cancel()
            browser.terminate()
            browser.wait(20)
    raise SystemExit(f"Chromium showed no pictures by ANGLE's '{angle}': try another `--angle`")


def main() -> None:
    """Measure and print, or save the pages."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--angle", default="swiftshader", help="what paints")
    options.add_argument("--flags", default="", help="more flags of Chromium, in one string")
    options.add_argument("--save", type=Path, help="write the pages here, and stop")
    given = options.parse_args()
    if PROGRAM is None and given.save is None:
        raise SystemExit("no browser: install chromium")
    with TemporaryDirectory() as folder:
        place = given.save or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        pages = {place / "boxes.html": flock, place / "bars.html": bars}
        for path, run in pages.items():
            path.write_text(probed(ps.viz.page(run(1000))), encoding="utf-8")
        if given.save is None:
            table(list(pages), given.angle, given.flags.split())


def table(pages: list[Path], angle: str, flags: list[str]) -> None:
    """Measure pages in windows of several sizes, and print."""
    print("| page | window | painted | pictures/s | program [ms] | 95 % [ms] | draw calls |")
    print("| :--- | :--- | :--- | ---: | ---: | ---: | ---: |")
    painter = ""
    for page in pages:
        for width, height in WINDOWS:
            seen = measured(page, width, height, angle, flags)
            sizes = (f"{a} x {b}" for a, b in (seen["window"], seen["painted"]))
            print(
                f"| {page.stem} | {' | '.join(sizes)} | {seen['rate']:.0f} "
                f"| {seen['program']:.1f} | {seen['slow']:.1f} | {seen['calls']} |",
                flush=True,
            )
            painter = seen["painter"]
    print(f"\npainted by {painter}", file=sys.stderr)


if __name__ == "__main__":
    main()
