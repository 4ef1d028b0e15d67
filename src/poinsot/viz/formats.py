"""Formats of pictures and animations; checked before anything is drawn."""

from collections.abc import Iterable
from pathlib import Path

from poinsot.errors import InputError

#: Suffixes of films.
GIF, MP4 = ".gif", ".mp4"


def require_figure(path: str | Path) -> None:
    """Refuse a file that Matplotlib cannot write, by its suffix."""
    from matplotlib.backend_bases import FigureCanvasBase

    _require(path, "figures", (f".{name}" for name in FigureCanvasBase.get_supported_filetypes()))


def require_film(path: str | Path) -> None:
    """Refuse a film of another kind than GIF and MP4, and MP4 without ffmpeg."""
    _require(path, "films", (GIF, MP4))
    if Path(path).suffix.lower() == MP4 and not _has_ffmpeg():
        raise InputError(
            f"cannot write '{path}': MP4 needs the program ffmpeg, which is not on the PATH; "
            "install it, or write a .gif"
        )


def _has_ffmpeg() -> bool:
    from matplotlib.animation import FFMpegWriter

    return FFMpegWriter.isAvailable()


def _require(path: str | Path, what: str, suffixes: Iterable[str]) -> None:
    known, suffix = sorted(suffixes), Path(path).suffix
    if suffix.lower() not in known:
        raise InputError(
            f"cannot write '{path}': {what} end in {', '.join(known)}, not in '{suffix}'"
        )
