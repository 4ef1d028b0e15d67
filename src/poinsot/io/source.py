"""The source of a model file, with the line of every value."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from poinsot.errors import ModelFileError
from poinsot.io.tree import Mark, Node, TreeError, read_tree

#: A larger file is refused before it is read [bytes].
LARGEST = 10_000_000

#: The place of what stands in no file.
NOWHERE: Mark = (0, 0)

#: Keys and places in lists, from the top.
KeyPath: TypeAlias = Sequence[str | int]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where: keys from the top, and line and column if `mark` is known.

    `hint` returns what to do; it is asked for only if the problem is listed.
    """

    path: tuple[str | int, ...]
    message: str
    mark: Mark | None = None
    hint: Callable[[], str] = str


@dataclass(frozen=True)
class Source:
    """The name of a file and the tree of its values."""

    name: str
    root: Node

    def find(self, path: KeyPath) -> tuple[list[str | int], Mark]:
        """Return as much of a path as there is, and the place of its end.

        What does not fit is left out: names of alternatives that pydantic puts into its paths.
        """
        found, mark, _ = self._walk(path)
        return found, mark

    def key(self, path: KeyPath, key: str) -> Mark:
        """Return the place of a key of the mapping at a path."""
        return self._walk(path)[2].keys[key]

    def _walk(self, path: KeyPath) -> tuple[list[str | int], Mark, Node]:
        found: list[str | int] = []
        node, mark = self.root, self.root.mark
        for step in path:
            if isinstance(node.value, dict) and step in node.value:
                key = str(step)
                mark, node = node.keys[key], node.value[key]
            elif isinstance(node.value, list) and isinstance(step, int):
                node = node.value[step]
            else:
                continue
            found.append(step)
            # A mapping begins with its own first key: what it belongs to says more.
            if not isinstance(node.value, dict) or isinstance(step, int):
                mark = node.mark
        return found, mark, node

    def error(self, problems: Iterable[Problem]) -> ModelFileError:
        """Return the error of these problems, in the order of their lines."""
        placed = []
        for problem in problems:
            path, mark = self.find(problem.path)
            placed.append((problem.mark or mark, path, problem))
        placed.sort(key=lambda item: item[0])
        lines = [_line(self.name, mark, problem.message, path) for mark, path, problem in placed]
        for k, (_, _, problem) in enumerate(placed[: ModelFileError.LISTED]):
            lines[k] += problem.hint()
        return ModelFileError(*lines)


def _line(name: str, mark: Mark, message: str, path: KeyPath = ()) -> str:
    keys = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    where = f"{keys.lstrip('.')}: " if keys else ""
    place = name if mark == NOWHERE else f"{name}:{mark[0]}:{mark[1]}"
    return f"{place}: {where}{message}"


def from_content(content: Any, name: str) -> Source:
    """Return the source of content that stands in no file; `name` is what messages call it."""
    return Source(name, _node(content))


def _node(value: Any) -> Node:
    inner: Any = value
    if isinstance(value, dict):
        inner = {key: _node(each) for key, each in value.items()}
    elif isinstance(value, list):
        inner = [_node(each) for each in value]
    return Node(inner, NOWHERE, dict.fromkeys(inner, NOWHERE) if isinstance(inner, dict) else {}, 1)


def open_text(text: str, name: str) -> Source:
    """Return the source of a text; `name` is what messages call it."""
    size = len(text.encode(errors="replace"))
    if size > LARGEST:
        raise ModelFileError(_too_large(name, size))
    strange = _CONTROL.search(text)
    if strange:
        line = text.count("\n", 0, strange.start()) + 1
        column = strange.start() - text.rfind("\n", 0, strange.start())
        message = f"the character {strange.group()!r} is not text; save the file as plain UTF-8"
        raise ModelFileError(_line(name, (line, column), message))
    try:
        return Source(name, read_tree(text))
    except TreeError as error:
        raise ModelFileError(_line(name, error.mark, str(error))) from None


def open_file(path: str | Path) -> Source:
    """Return the source of a file."""
    file, name = Path(path), str(path)
    try:
        if file.is_dir():
            raise ModelFileError(f"{name}: this is a folder; name a model file (.yaml) in it")
        if file.exists() and not file.is_file():
            raise ModelFileError(f"{name}: this is not a regular file; name a model file (.yaml)")
        with file.open("rb") as stream:
            # One byte more than allowed: the file may grow, or lie about its size.
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise ModelFileError(f"{name}: there is no such file{_near(file)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{name}: the file cannot be read: {reason}") from None
    if len(data) > LARGEST:
        raise ModelFileError(_too_large(name, file.stat().st_size))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = "this is not text in UTF-8; save the file with that encoding"
        raise ModelFileError(_line(name, (line, column), message)) from None
    return open_text(text, name)


def _too_large(name: str, size: int) -> str:
    return (
        f"{name}: {size / 1e6:.0f} MB are too large for a model file, {LARGEST / 1e6:.0f} MB are "
        "the most; keep long tables in Python (poinsot.Table)"
    )


def _near(file: Path) -> str:
    try:
        return near_match(file.name, [other.name for other in file.parent.iterdir()])
    except OSError:
        return f"; there is no folder '{file.parent}' either"


def near_match(name: str, known: list[str]) -> str:
    """Return the end of a message about an unknown name: a near match, or nothing."""
    near = get_close_matches(name, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
