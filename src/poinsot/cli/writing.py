"""Files that commands write: refused before anything is computed if they cannot be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poinsot.errors import InputError


def require_folder(*paths: Path | None) -> None:
    """Refuse a file in a folder that is not there."""
    for path in paths:
        if path is not None and not path.resolve().parent.is_dir():
            raise InputError(
                f"cannot write '{path}': there is no folder '{path.parent}'; create it"
            )
        if path is not None and path.is_dir():
            raise InputError(f"cannot write '{path}': it is a folder; give a file")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a format that cannot be written into a message."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"cannot write '{path}': {error}") from None
