"""Kernels of single mechanisms, kept in files of the user for the next process."""

import hashlib
from contextlib import suppress
from os import getpid
from pathlib import Path

from poinsot.engine import machine_code

#: Length of the digest that a file begins with, and what all files may take together [bytes].
DIGEST, MOST = hashlib.sha256().digest_size, 2**28


def name_of(*made_of: str, ending: str) -> str:
    """Return the name of the kernel that is made of these texts."""
    total = hashlib.sha256()
    for text in made_of:
        total.update(hashlib.sha256(text.encode()).digest())
    return f"{total.hexdigest()[:32]}{ending}"


def read(name: str) -> bytes | None:
    """Return a kernel, None if there is none or if its file was damaged."""
    path = _folder() / name
    try:
        content = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):
        path.touch()  # used, see `_make_room`
    digest, code = content[:DIGEST], content[DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def write(name: str, code: bytes) -> None:
    """Keep a kernel, if that can be; whoever reads meanwhile sees all of it or nothing."""
    path = _folder() / name
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{name}.{getpid()}.part")
        try:
            part.write_bytes(hashlib.sha256(code).digest() + code)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        _make_room(path)


def _folder() -> Path:
    return machine_code.of_the_user() / "kernels"


def _make_room(kept: Path) -> None:
    """Remove the kernels that were used longest ago, those of older versions before long."""
    found = [(path.stat(), path) for path in kept.parent.iterdir() if path != kept]
    room = MOST - kept.stat().st_size
    for about, path in sorted(found, key=lambda each: each[0].st_mtime, reverse=True):
        room -= about.st_size
        if room < 0:
            path.unlink(missing_ok=True)
