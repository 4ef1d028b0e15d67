"""YAML text to a tree of values with line numbers; nothing in it can be executed.

Only events of the parser are used: no tags, no objects, no YAML 1.1 booleans such as `yes`. A plain
word is a number if it looks like one (1e-3, too), true or false, nothing (~, null), otherwise text.
"""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import yaml

#: Values nested deeper are refused, and so are more values, those that aliases repeat included.
DEEPEST, MOST = 64, 400_000

Scalar: TypeAlias = bool | int | float | str | None
Mark: TypeAlias = tuple[int, int]

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"([-+]?\.?inf|\.?nan)", re.IGNORECASE)

NO_KEYS: dict[str, Mark] = {}


class Node(NamedTuple):
    """A value with its line and column, counted from 1; `keys` are the places of its keys."""

    value: "Scalar | list[Node] | dict[str, Node]"
    mark: Mark
    keys: dict[str, Mark]
    size: int

    def plain(self) -> Any:
        """Return the value as plain Python data."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


class TreeError(Exception):
    """The text cannot be read; `mark` says where."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.mark = mark


@dataclass
class _Open:
    """A list or mapping that is being read."""

    mark: Mark
    anchor: str | None
    items: Any
    keys: dict[str, Mark] = field(default_factory=dict)
    key: str | None = None
    size: int = 1

    @property
    def wants_key(self) -> bool:
        """Whether a key must come next."""
        return isinstance(self.items, dict) and self.key is None

    def start(self, key: str, mark: Mark) -> None:
        """Begin an entry of a mapping."""
        if key in self.keys:
            line = self.keys[key][0]
            raise TreeError(f"the key '{key}' is given twice, first in line {line}", mark)
        self.key, self.keys[key] = key, mark

    def add(self, node: Node) -> None:
        """Add a value to the list, or the value of the key."""
        self.size += node.size
        if isinstance(self.items, list):
            self.items.append(node)
        else:
            self.items[self.key], self.key = node, None


@dataclass
class _Reader:
    """The tree as far as it was read: lists and mappings that are open, and named values."""

    root: Node | None = None
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)
    total: int = 0

    def take(self, event: Any) -> None:
        """Go on by an event of the parser."""
        mark = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.ScalarEvent):
            self.check(event.tag, mark)
            if self.stack and self.stack[-1].wants_key:
                self.stack[-1].start(event.value, mark)
            else:
                value = resolve(event.value) if event.implicit[0] else event.value
                self.place(Node(value, mark, NO_KEYS, 1), event.anchor, mark, 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self.stack.pop()
            self.place(Node(done.items, done.mark, done.keys, done.size), done.anchor, mark, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self.check(event.tag, mark)
            self.refuse_as_key(mark)
            if len(self.stack) == DEEPEST:
                raise TreeError(f"values are nested more deeply than {DEEPEST}", mark)
            items: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            self.stack.append(_Open(mark, event.anchor, items))
        elif isinstance(event, yaml.AliasEvent):
            self.refuse_as_key(mark)
            node = self.aliased(str(event.anchor), mark)
            self.place(node, None, mark, node.size)

    def check(self, tag: str | None, mark: Mark) -> None:
        """Refuse a second document, and tags."""
        if self.root is not None:
            raise TreeError("a second document starts here; keep one", mark)
        if tag:
            raise TreeError(f"tags such as {tag} are not allowed; remove it", mark)

    def refuse_as_key(self, mark: Mark) -> None:
        """Refuse lists, mappings and aliases where a key must come next."""
        if self.stack and self.stack[-1].wants_key:
            raise TreeError("a key must be a single string", mark)

    def place(self, node: Node, anchor: str | None, mark: Mark, count: int) -> None:
        """Put a value where it belongs; it stands for so many values."""
        self.total += count
        if self.total > MOST:
            message = f"more than {MOST} values, those that aliases repeat included"
            raise TreeError(message, mark)
        if anchor:
            self.anchors[anchor] = node
        if self.stack:
            self.stack[-1].add(node)
        else:
            self.root = node

    def aliased(self, name: str, mark: Mark) -> Node:
        """Return the value with that anchor."""
        if any(part.anchor == name for part in self.stack):
            raise TreeError(f"the alias '*{name}' refers to a value that contains it", mark)
        if name not in self.anchors:
            raise TreeError(f"the alias '*{name}' has no anchor '&{name}' before it", mark)
        return self.anchors[name]


def resolve(word: str) -> Scalar:
    """Return what a word without quotes stands for."""
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if _NOT_FINITE.fullmatch(word):
        return float(word.replace(".", ""))
    return word


def read_tree(text: str) -> Node:
    """Return the tree of a YAML text with one document."""
    # The parser written in C is an option of PyYAML, and ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        mark = (at.line + 1, at.column + 1) if at else (1, 1)
        line = "".join(text.splitlines()[mark[0] - 1 : mark[0]])
        hint = "; indent by spaces, not by tabs" if "\t" in line else ""
        raise TreeError(f"this is not YAML: {error.problem}{hint}", mark) from None
    except yaml.YAMLError as error:
        raise TreeError(f"this is not YAML: {error}", (1, 1)) from None
    return reader.root or Node(None, (1, 1), NO_KEYS, 1)
