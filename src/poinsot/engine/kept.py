"""Kernels of single mechanisms, kept in files of the user for the next process."""

import hashlib
from contextlib import suppress
from os import getpid

from poinsot.engine import machine_code

#: Length of the digest that a file begins with [bytes].
DIGEST = hashlib.sha256().digest_size


def name_of(*made_of: str, ending: str) -> str:
    """Return the name of the kernel that is made of these texts."""
    total = hashlib.sha256()
    for text in made_of:
        total.update(hashlib.sha256(text.encode()).digest())
    return f"{total.hexdigest()[:32]}{ending}"


def read(name: str) -> bytes | None:
    """Return a kernel, None if there is none or if its file was damaged."""
    try:
        content = (machine_code.of_the_user() / "kernels" / name).read_bytes()
    except OSError:
        return None
    digest, code = content[:DIGEST], content[DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def write(name: str, code: bytes) -> None:
    """Keep a kernel, if that can be; whoever reads meanwhile sees all of it or nothing."""
    path = machine_code.of_the_user() / "kernels" / name
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{name}.{getpid()}.part")
        try:
            part.write_bytes(hashlib.sha256(code).digest() + code)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
