"""Self-contained HTML reports of runs: mechanism, balances, plots and citations."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from poinsot.result import Array, Result, output_path
from poinsot.viz.citations import citations
from poinsot.viz.pages import asset, digest, fill, frame, page, program
from poinsot.viz.pictures import picture
from poinsot.viz.plots import how, overview
from poinsot.viz.responses import Response, plot_bode
from poinsot.viz.stage import BODIES
from poinsot.viz.style import Figure, drawing

Rows: TypeAlias = Iterable[Sequence[str]]
#: A table of more joints than this is of no use on paper.
JOINTS = 60
#: Modes in the table of a report, and how many of their shapes can be played.
MODES, PLAYED = 40, 3


class Shapes(Protocol):
    """What a report tells of small motions: `poinsot.analysis.Modes`."""

    @property
    def kinds(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def hertz(self) -> Array: ...  # noqa: D102
    @property
    def frequencies(self) -> Array: ...  # noqa: D102
    @property
    def damping_ratios(self) -> Array: ...  # noqa: D102
    def moves_most(self, mode: int) -> str: ...  # noqa: D102
    def motion(self, mode: int) -> Result: ...  # noqa: D102


def report(
    result: Result,
    *,
    modes: Shapes | None = None,
    responses: Iterable[Response] = (),
    at: str = "",
) -> str:
    """Return a self-contained HTML report of a run.

    Parameters
    ----------
    result : Result
        The run.
    modes : Modes
        Modes to list, the slowest of which can be played; see `poinsot.analysis.modes`.
    responses : iterable of FrequencyResponse
        Responses between ports to plot; see `poinsot.analysis.frequency_response`.
    at : str
        Operating point of modes and responses in words, e.g. `"at the equilibrium"`.
    """
    own, (page_style, script) = asset("report.css"), program()
    # The motion in space has a style and a program of its own; nothing is loaded from anywhere.
    policy = (
        f"default-src 'none'; style-src {digest(own)} {digest(page_style)}; "
        f"script-src {digest(script)}; img-src data:"
    )
    sections = [section(result) for section in (_notice, _space, _numbers, _joints, _plots)]
    sections += [_modes(modes, at)] if modes is not None else []
    sections += [_response(response, at) for response in responses]
    sections += [_model(result), _sources(result)]
    return fill(
        "report.html",
        policy=policy,
        title=escape(result.model),
        subtitle=escape(how(result)),
        style=own,
        content="\n".join(sections),
        version=version("poinsot"),
    )


def write_report(
    result: Result,
    path: str | Path,
    *,
    modes: Shapes | None = None,
    responses: Iterable[Response] = (),
    at: str = "",
) -> None:
    """Write the report of a run to an HTML file; see `report`."""
    place = output_path(path, "write_report")
    text = report(result, modes=modes, responses=responses, at=at)
    place.write_text(text, encoding="utf-8")


# -- sections --------------------------------------------------------------------------------------


def _notice(result: Result) -> str:
    """Return what there is to be said before all numbers."""
    stopped = [f"The run is {result.status}: {result.message}"] if result.message else []
    said = [*stopped, *(f"Warning: {text}" for text in result.warnings)]
    notes = "".join(f"<p>Note: {escape(text)}</p>" for text in result.notes)
    return "".join(f'<p class="notice">{escape(text)}</p>' for text in said) + notes


def _space(result: Result) -> str:
    """Return the mechanism: to be moved on the screen, and still on paper."""
    if not 0 < len(result.observation.bodies) <= BODIES:
        return ""
    names = len(result.observation.joints) <= JOINTS
    still = _image(picture(result, names=names), "png", "The mechanism at the start")
    return (
        f"<h2>The mechanism</h2>{frame(page(result), 520)}"
        f'<figure class="print">{still}<figcaption>At the start</figcaption></figure>'
    )


def _numbers(result: Result) -> str:
    stats, counts = result.stats, result.observation.counts
    run = [
        ("scheme", result.scheme),
        ("engine", result.engine),
        ("step", result.step_sizes.removeprefix("h = ")),
        ("steps", f"{stats.steps}"),
        ("saved times", f"{result.time.size}, {result.time[0]:g} to {result.time[-1]:g} s"),
        ("Newton iterations", f"{stats.newton_iterations}"),
        ("largest residual, relative", f"{stats.residual_max:.1e}"),
        ("wall time", f"{stats.wall_time:.2g} s"),
        ("status", result.status),
    ]
    balance = [
        ("energy at the start", _joule(result.energy[0])),
        *((f"supplied by '{port.name}'", _joule(port.energy[-1])) for port in result.outer_ports),
        ("dissipated", _joule(result.dissipated[-1])),
        *([("added by events", _joule(result.added[-1]))] if np.any(result.added) else []),
        ("energy at the end", _joule(result.energy[-1])),
        ("largest balance error", f"{stats.balance_error_max:.1e} J"),
    ]
    tables = [_table("Run", run), _table("Energy balance", balance)]
    if counts.bodies:
        size = [
            ("bodies", f"{counts.bodies}"),
            ("joints", f"{counts.joints}"),
            ("joint constraints", f"{counts.constraints}"),
            ("redundant among them", f"{counts.repeated}"),
            ("degrees of freedom", f"{counts.freedoms}"),
        ]
        errors = [(name, f"{np.max(gap):.1e}") for name, gap in result.violations.items()]
        tables += [_table("Size", size), _table("Largest constraint errors", errors)]
    return f'<h2>Numbers</h2><div class="tables">{"".join(tables)}</div>'


def _joints(result: Result) -> str:
    pins = result.observation.scene.pins
    if not 0 < len(pins) <= JOINTS:
        return ""
    head = ("joint", "kind", "between", "largest force [N]", "largest torque [N m]")
    rows = []
    for pin in pins:
        joint = result.joint(pin.joint)
        force, torque = (
            np.linalg.norm(part, axis=1).max(initial=0.0) for part in (joint.force, joint.torque)
        )
        note = "" if joint.complete else " *"
        between = f"{pin.a.body}, {pin.b.body}"
        rows.append((pin.joint, pin.kind, between, f"{force:.4g}{note}", f"{torque:.4g}{note}"))
    many = any(row[-1].endswith("*") for row in rows)
    note = (
        "<p>* Not unique: constraints are redundant. The smallest ones are shown.</p>"
        if many
        else ""
    )
    return f"<h2>Joint forces</h2>{_grid(head, rows)}{note}"


def _plots(result: Result) -> str:
    plots = []
    for heading, draw in overview(result).items():
        with drawing(6, 3) as figure:
            draw(figure.add_subplot())
            image = _image(figure, "svg", heading)
        plots.append(f"<figure><figcaption>{heading}</figcaption>{image}</figure>")
    return f'<h2>Plots</h2><div class="plots">{"".join(plots)}</div>'


def _modes(modes: Shapes, at: str) -> str:
    """Return a table of modes, and the shapes of the slowest that oscillate."""
    head = ("mode", "Hz", "rad/s", "damping", "kind", "moves most")
    shown = range(min(len(modes.kinds), MODES))
    rows = [
        (
            f"{k}",
            f"{modes.hertz[k]:.6g}",
            f"{modes.frequencies[k]:.6g}",
            f"{modes.damping_ratios[k]:.4g}",
            modes.kinds[k],
            modes.moves_most(k),
        )
        for k in shown
    ]
    table = _grid(head, rows) if rows else "<p>There are no modes: nothing can move.</p>"
    left = len(modes.kinds) - len(rows)
    more = f"<p>{left} more are left out.</p>" if left else ""
    played = [k for k in shown if modes.kinds[k] in ("oscillation", "flutter")][:PLAYED]
    return f"<h2>Modes {escape(at)}</h2>{table}{more}{''.join(_shape(modes, k) for k in played)}"


def _shape(modes: Shapes, mode: int) -> str:
    motion = modes.motion(mode)
    if not 0 < len(motion.observation.bodies) <= BODIES:
        return ""
    caption = f"<figcaption>Mode {mode}: {modes.hertz[mode]:.6g} Hz</figcaption>"
    return f'<figure class="screen">{caption}{frame(page(motion), 360)}</figure>'


def _response(response: Response, at: str) -> str:
    names = f"from {', '.join(response.inputs)} to {', '.join(response.outputs)}"
    image = _image(plot_bode(response), "svg", "Bode diagram")
    return f"<h2>Response {escape(f'{names} {at}')}</h2><figure>{image}</figure>"


def _model(result: Result) -> str:
    if not result.document:
        return ""
    return f"<h2>Model</h2><pre>{escape(result.document)}</pre>"


def _sources(result: Result) -> str:
    sources = "".join(
        f'<li>[{key}] {escape(text)} <a href="{address}">{address}</a></li>'
        for key, text, address in citations(result.scheme)
    )
    return f"<h2>Please cite</h2><ul>{sources}</ul>" if sources else ""


# -- parts -----------------------------------------------------------------------------------------


def _joule(energy: float) -> str:
    return f"{energy:.9g} J"


def _table(caption: str, rows: Rows) -> str:
    return f"<table><caption>{caption}</caption>{_body(rows)}</table>"


def _grid(head: Sequence[str], rows: Rows) -> str:
    first = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f"<table><thead><tr>{first}</tr></thead>{_body(rows)}</table>"


def _body(rows: Rows) -> str:
    written = ""
    for name, *cells in rows:
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        written += f'<tr><th scope="row">{escape(name)}</th>{values}</tr>'
    return f"<tbody>{written}</tbody>"


def _image(figure: Figure, kind: str, alt: str) -> str:
    """Return a figure as an image inside the page."""
    file = BytesIO()
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
    mime = "image/svg+xml" if kind == "svg" else "image/png"
    data = b64encode(file.getvalue()).decode()
    return f'<img alt="{alt}" src="data:{mime};base64,{data}">'
