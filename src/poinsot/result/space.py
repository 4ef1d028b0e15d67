"""Room on disk."""

import shutil
from os import PathLike

from poinsot.errors import StorageError


def require_space(size: int, place: str | PathLike[str]) -> None:
    """Refuse what is larger than the free space of a folder, before anything is computed."""
    free = shutil.disk_usage(place).free
    if size > free:
        raise StorageError(f"{_text(size)} are more than the {_text(free)} free in '{place}'")


def _text(size: int) -> str:
    """Return a size as text, e.g. `"1.8 GB"`."""
    units = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
    power = min(len(str(size)) - 1, 3 * len(units) - 1) // 3
    return f"{size / 1000**power:.3g} {units[power]}"
