"""Time and calls of the 3D page for each picture: `python -m benchmarks.pages` prints a table.

A mechanism plays in Chromium, and the page times what its own program does for a picture and counts
the calls that draw. Two windows show what depends on their size: the time of the program does not,
that of painting does where no graphics processor paints. Needs `chromium` on the path.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import poinsot as ps
from benchmarks.mechanisms.chain import SIZE, chain

#: Pictures that are timed, after as many to warm up, and the time that they may take [s].
PICTURES, PATIENCE = 40, 240
#: Edges of the windows.
WINDOWS = ((160, 100), (1280, 800))
PROGRAM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = (
    *("--headless", "--no-sandbox", "--no-first-run", "--disable-sync", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
#: Runs before the page's own program: times its callbacks, counts its calls, and tells them.
PROBE = """
(() => {
  const spent = [], begun = [], drawn = [];
  let calls = 0;
  const kind = WebGL2RenderingContext.prototype;
  for (const name of ["drawElementsInstanced", "drawArraysInstanced"]) {
    const own = kind[name];
    kind[name] = function (...given) { calls++; return own.apply(this, given); };
  }
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (tick) => ask((now) => {
    const start = performance.now();
    calls = 0;
    tick(now);
    spent.push(performance.now() - start);
    begun.push(start);
    drawn.push(calls);
    if (spent.length === COUNT) {
      const gl = document.createElement("canvas").getContext("webgl2");
      const by = gl.getExtension("WEBGL_debug_renderer_info");
      const name = by ? gl.getParameter(by.UNMASKED_RENDERER_WEBGL) : "unknown";
      console.log("MEASURED" + JSON.stringify({ spent, begun, drawn, name }) + "END");
    }
  });
  window.addEventListener("load", () => document.getElementById("play").click());
})();
"""


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


def measured(page: str, width: int, height: int) -> dict[str, Any]:
    """Return the times of the pictures of a page, as Chromium shows it."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = page.replace("<script>", f"<script>{PROBE.replace('COUNT', str(2 * PICTURES))}", 1)
    assert PROGRAM is not None
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder, "page.html")
        path.write_text(page, encoding="utf-8")
        own = (f"--window-size={width},{height}", f"--user-data-dir={folder}/user")
        browser = subprocess.Popen(
            [PROGRAM, *FLAGS, *own, path.as_uri()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        assert browser.stderr is not None
        try:
            end = time.monotonic() + PATIENCE
            for line in browser.stderr:
                found = re.search("MEASURED(.*)END", line.replace('\\"', '"'))
                if found:
                    return json.loads(found[1])  # type: ignore[no-any-return]
                if time.monotonic() > end:
                    break
        finally:
            browser.terminate()
            browser.wait(20)
    raise SystemExit("Chromium showed no pictures")


def main() -> None:
    """Measure and print."""
    if PROGRAM is None:
        raise SystemExit("no browser: install chromium")
    name = ""
    print("| mechanism | window | program [ms] | 95 % [ms] | draw calls | pictures/s |")
    print("| :--- | :--- | ---: | ---: | ---: | ---: |")
    for result in (flock(1000), bars(1000)):
        page = ps.viz.page(result)
        for width, height in WINDOWS:
            seen = measured(page, width, height)
            spent, begun = (np.array(seen[key][PICTURES:]) for key in ("spent", "begun"))
            rate = 1e3 / np.mean(np.diff(begun))
            print(
                f"| {result.model} | {width} x {height} | {np.median(spent):.1f} "
                f"| {np.percentile(spent, 95):.1f} | {max(seen['drawn'])} | {rate:.0f} |"
            )
            name = seen["name"]
    print(f"\npainted by {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
