"""Pages are filled from files of the package, and run nothing but what is in these."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files


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
