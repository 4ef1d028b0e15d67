"""Motions as self-contained HTML pages, which play in any browser without a network."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.result import Result, output_path
from poinsot.so3 import matrix_to_quat
from poinsot.viz.meshes import Mesh, mesh
from poinsot.viz.plots import how
from poinsot.viz.skins import Skin
from poinsot.viz.solids import Solid
from poinsot.viz.stage import Stage, round_number
from poinsot.viz.tubes import Tube, outline

#: The page's own program, in the order in which its parts build on each other.
SCRIPTS = (
    "algebra.js",
    "motion.js",
    "canvas.js",
    "screen.js",
    "lines.js",
    "tubes.js",
    "skins.js",
    "camera.js",
    "picture.js",
    "arrows.js",
    "labels.js",
    "chart.js",
    "player.js",
    "main.js",
)
#: Every picture needs these, whatever its bodies look like: bars, arrows, springs.
ALWAYS = ("ball", "bead", "cone", "cylinder", "peg", "speck", "spring")


def page(
    result: Result,
    *,
    bodies: Iterable[str] | None = None,
    frames: int | None = None,
    scale: float = 1.0,
    colour: str | None = None,
    opacity: Mapping[str, float] | None = None,
) -> str:
    """Return a self-contained HTML page that plays the motion of a mechanism.

    Parameters
    ----------
    result : Result
        The motion.
    bodies : sequence of str
        Names of the bodies to show. Default: all.
    frames : int
        Largest number of frames, evenly spaced among the saved times; the page interpolates between
        them. Default: 1500, and fewer for many bodies.
    scale : float
        Factor for deformations of elastic bodies in their frames. Rods are drawn without it.
    colour : str
        Stress resultant that colours beams and rods: `"axial"`, `"shear"`, `"torsion"` or
        `"bending"`; see `Result.stress`.
    opacity : mapping
        Body -> opacity, from 0 (invisible) to 1 (opaque).
    """
    stage = Stage.of(
        result, bodies=bodies, frames=frames, scale=scale, colour=colour, opacity=opacity
    )
    style, script = program()
    # Only this style and this program may run, and nothing may be loaded from anywhere.
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}"
    return fill(
        "page.html",
        policy=policy,
        title=escape(result.model),
        subtitle=escape(how(result) + _thinned(result, stage) + _deformed(stage, scale)),
        style=style,
        data=json.dumps(_data(stage), separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )


def _thinned(result: Result, stage: Stage) -> str:
    shown, saved = stage.frames.time.size, result.time.size
    return f"; {shown} of {saved} saved times are shown" if shown < saved else ""


def _deformed(stage: Stage, scale: float) -> str:
    enlarged = scale != 1 and stage.carried
    return f"; deformations are drawn {scale:g} times as large" if enlarged else ""


def program() -> tuple[str, str]:
    """Return the style and the program of every page."""
    scripts = "".join(asset(name) for name in SCRIPTS)
    return asset("page.css"), f'"use strict";\n(() => {{\n{scripts}}})();\n'


def asset(name: str) -> str:
    """Return a file of the folder `page`."""
    return (files("poinsot.viz") / "page" / name).read_text(encoding="utf-8")


def fill(name: str, **parts: str) -> str:
    """Return a page with its places ``{{name}}`` filled in, each once, as they are."""
    before, *pieces = asset(name).split("{{")
    filled = (parts[place] + rest for place, _, rest in (piece.partition("}}") for piece in pieces))
    return before + "".join(filled)


def digest(text: str) -> str:
    """Return what allows a style or a program in a content security policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def write_page(
    result: Result,
    path: str | Path,
    *,
    bodies: Iterable[str] | None = None,
    frames: int | None = None,
    scale: float = 1.0,
    colour: str | None = None,
    opacity: Mapping[str, float] | None = None,
) -> None:
    """Write the page of a motion to an HTML file; see `page`."""
    place = output_path(path, "write_page")
    text = page(result, bodies=bodies, frames=frames, scale=scale, colour=colour, opacity=opacity)
    place.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Inline:
    """A page that a notebook shows in place."""

    html: str
    height: int

    def _repr_html_(self) -> str:
        return frame(self.html, self.height)


def show(
    result: Result,
    *,
    bodies: Iterable[str] | None = None,
    frames: int | None = None,
    scale: float = 1.0,
    colour: str | None = None,
    opacity: Mapping[str, float] | None = None,
    height: int = 480,
) -> Inline:
    """Show a motion in a notebook, by `page`, with a height in pixels."""
    text = page(result, bodies=bodies, frames=frames, scale=scale, colour=colour, opacity=opacity)
    return Inline(text, height)


def frame(html: str, height: int) -> str:
    """Return a page inside a page: it can run its program, and reach nothing around it."""
    return (
        f'<iframe srcdoc="{escape(html)}" title="Motion in space" sandbox="allow-scripts" '
        f'width="100%" height="{height}" frameborder="0"></iframe>'
    )


# -- what the program reads ------------------------------------------------------------------------


def _data(stage: Stage) -> dict[str, Any]:
    film, index = stage.frames, stage.frames.index
    strongest = float(abs(stage.forces).max(initial=0.0)) or 1.0
    known = {solid.shape for solid in stage.solids if solid.own is None} | set(ALWAYS)
    shapes = {name: mesh(name) for name in sorted(known)}
    shapes |= {solid.shape: solid.own for solid in stage.solids if solid.own is not None}
    hardest = float(abs(stage.applied).max(initial=0.0)) or 1.0
    azimuth, elevation = stage.view
    return {
        "bodies": [
            {"name": name, "colour": stage.colour[name], "part": name in stage.parts}
            for name in film.bodies
        ],
        "time": _pack(film.time, "<f4"),
        "position": _pack(film.position, "<f4"),
        "rotation": _pack(32767 * film.quat, "<i2"),
        "meshes": {name: _mesh(shape, name in known) for name, shape in shapes.items()},
        "solids": [_solid(solid, index(solid.body)) for solid in stage.solids],
        "struts": [
            {
                "kind": strut.kind,
                "a": [index(strut.a.body), _short(strut.a.position)],
                "b": [index(strut.b.body), _short(strut.b.position)],
            }
            for strut in stage.struts
        ],
        "tubes": [_tube(tube) for tube in stage.tubes],
        "skins": [_skin(skin) for skin in stage.skins],
        "colours": None if stage.colours is None else asdict(stage.colours),
        "joints": [
            {"name": pin.joint, "at": [index(pin.b.body), _short(pin.b.position)]}
            for pin in stage.pins
        ],
        "reactions": _pack(stage.forces * 32767 / strongest, "<i2"),
        "reactionUnit": strongest / 32767,
        "loads": [
            {"kind": load.kind, "at": [index(load.at.body), _short(load.at.position)]}
            for load in stage.loads
        ],
        "applied": _pack(stage.applied * 32767 / hardest, "<i2"),
        "appliedUnit": hardest / 32767,
        "carried": [
            [index(each.body), [index(each.by.body), _short(each.by.position)]]
            for each in stage.carried
        ],
        "enlarged": stage.scale,
        "traces": {name: _pack(path, "<f4") for name, path in stage.traces.items()},
        "traced": stage.traced,
        "energies": {kind: _pack(values, "<f4") for kind, values in stage.energies.items()},
        "size": stage.size,
        "grain": stage.grain,
        "spacing": round_number(stage.size / 3),
        "pace": stage.pace,
        "low": _short(stage.low),
        "high": _short(stage.high),
        "view": [azimuth, elevation],
        "travels": stage.travels,
    }


def _solid(solid: Solid, body: int) -> dict[str, Any]:
    return {
        "body": body,
        "mesh": solid.shape,
        "scale": _short(solid.scale),
        "position": _short(solid.position),
        "rotation": _short(matrix_to_quat(solid.rotation)),
        "colour": solid.colour,
        "opacity": solid.opacity,
        "group": solid.group,
    }


def _tube(tube: Tube) -> dict[str, Any]:
    corners, normals = outline(tube.round)
    return {
        "name": tube.name,
        "nodes": tube.nodes.tolist(),
        "lengths": _short(np.diff(tube.places)),
        "sizes": [_short(size) for size in tube.sizes],
        "axes": tube.axes,
        "along": _short(tube.along),
        "corners": corners.tolist(),
        "normals": normals.tolist(),
        "triangles": _pack(tube.triangles(), "<u2"),
        "colour": tube.colour,
        "shades": None if tube.shades is None else _pack(255 * tube.shades, "<u1"),
    }


def _skin(skin: Skin) -> dict[str, Any]:
    vertices, triangles = skin.corners
    return {
        "body": skin.body,
        "points": _pack(skin.points, "<f4"),
        "modes": _pack(skin.modes, "<f4"),
        "vertices": _pack(vertices, "<u2"),
        "triangles": _pack(triangles, "<u2"),
        "amplitudes": _pack(skin.amplitudes, "<f4"),
        "colour": skin.colour,
        "opacity": skin.opacity,
    }


def _mesh(own: Mesh, closed: bool) -> dict[str, Any]:
    return {
        "closed": closed,
        "vertices": _pack(own.vertices, "<f4"),
        "normals": _pack(127 * own.normals, "<i1"),
        "triangles": _pack(own.triangles, "<u2"),
        "edges": _pack(own.edges, "<u2"),
    }


def _pack(values: ArrayLike, kind: str) -> str:
    """Return numbers as text; whole ones are rounded."""
    numbers = np.asarray(values)
    rounded = numbers if kind == "<f4" else np.round(numbers)
    return b64encode(rounded.astype(kind).tobytes()).decode()


def _short(values: ArrayLike) -> list[float]:
    return [float(f"{value:.7g}") for value in np.asarray(values, dtype=float)]
