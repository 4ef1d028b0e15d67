"""Pictures of a mechanism at one time, and animations as GIF or MP4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from poinsot.errors import InputError
from poinsot.result import Result
from poinsot.viz.axes import figure_of
from poinsot.viz.formats import MP4, require_film
from poinsot.viz.painter import Painter
from poinsot.viz.stage import Stage
from poinsot.viz.style import Axes, Figure, drawing, new_figure, style

FRAMES = 80
SIZE = 6.4, 4.2  # inches
RATE = 22  # frames a second of a film


def picture(
    result: Result,
    ax: Axes | None = None,
    *,
    time: float = 0.0,
    names: bool = False,
    bodies: Iterable[str] | None = None,
    scale: float = 1.0,
    colour: str | None = None,
    opacity: Mapping[str, float] | None = None,
) -> Figure:
    """Draw a mechanism at a time [s], with the paths of its bodies until then.

    Parameters
    ----------
    names : bool
        Label the joints.
    scale, colour, opacity
        Scale of deformations, colours of beams and rods, and opacity of bodies; see `page`.
    """
    stage = Stage.of(result, bodies=bodies, scale=scale, colour=colour, opacity=opacity)
    with style():
        ax = new_figure(*SIZE).add_subplot() if ax is None else ax
        frame = int(np.argmin(abs(stage.frames.time - time)))
        painter = Painter(stage, ax)
        painter.paint(frame)
        if names:
            painter.name_joints(frame)
        if stage.colours is not None:
            painter.add_scale(stage.colours)
        return figure_of(ax)


def animate(
    result: Result,
    path: str | Path,
    *,
    end: float | None = None,
    frames: int = FRAMES,
    bodies: Iterable[str] | None = None,
    scale: float = 1.0,
    colour: str | None = None,
    opacity: Mapping[str, float] | None = None,
) -> None:
    """Write an animation of a mechanism as GIF, or as MP4 if ffmpeg is installed.

    Parameters
    ----------
    result : Result
        The motion.
    path : path
        `"motion.gif"` or `"motion.mp4"`.
    end : float
        Time of the last frame [s]. Default: the end of the run.
    frames : int
        Number of frames, evenly spaced; 22 frames are shown per second.
    scale, colour, opacity
        Scale of deformations, colours of beams and rods, and opacity of bodies; see `page`.
    """
    from matplotlib.animation import FFMpegWriter, PillowWriter

    require_film(path)
    writes = FFMpegWriter if Path(path).suffix.lower() == MP4 else PillowWriter
    last = result.time[-1] if end is None else min(end, result.time[-1])
    if last < result.time[0]:
        raise InputError(f"animate: the run starts at {result.time[0]:g} s, after end = {end:g} s")
    stage = Stage.of(result, bodies=bodies, scale=scale, colour=colour, opacity=opacity)
    shown = np.searchsorted(stage.frames.time, last, side="right")
    chosen = np.unique(np.linspace(0, shown - 1, frames).round().astype(int))
    with drawing(*SIZE) as figure:
        ax = figure.add_subplot()
        painter, writer = Painter(stage, ax), writes(fps=RATE)
        if stage.colours is not None:
            painter.add_scale(stage.colours)
        with writer.saving(figure, str(path), dpi=90):
            for frame in chosen:
                painter.paint(int(frame))
                ax.set_title(f"t = {stage.frames.time[frame]:.3f} s", fontsize="small")
                writer.grab_frame()
