"""Paths of numbers in a model file, such as `bodies.rod.mass` or `joints.A.point.z`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.io.document import Document
from poinsot.io.entries import Entry, OneOf
from poinsot.io.inputs import ScalarInput, VectorInput
from poinsot.io.numbers import is_number

Keys: TypeAlias = tuple[str | int, ...]
Values: TypeAlias = NDArray[np.float64]

#: Components of a vector by name.
COMPONENTS = {"x": 0, "y": 1, "z": 2}
#: Of these keys one replaces the other.
EXCLUSIVE = {"mass": "density", "density": "mass"}
#: What may be given in several shapes.
OF_ANY_SHAPE = ("rotation", "frame", "inertia", "value")
#: Keys whose text is a formula, which a number may replace.
FORMULAS = ("value", "law", "force", "potential", "motion", "stiffness")


@dataclass(frozen=True, eq=False)
class Place:
    """A number, a vector or a matrix of a document.

    Parameters
    ----------
    keys : tuple
        Keys and places in lists that lead to it, from the top.
    index : tuple of int
        Which of the numbers there, empty: all of them.
    whole : array or None
        All numbers there; None: there are none now.
    """

    keys: Keys
    index: tuple[int, ...] = ()
    whole: Values | None = None

    @property
    def value(self) -> Values | None:
        """What stands there now, if these are numbers."""
        return None if self.whole is None else np.asarray(self.whole[self.index])

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape that values must have; None: any that the document allows."""
        if self.value is None or (not self.index and self.keys[-1] in OF_ANY_SHAPE):
            return None
        return self.value.shape

    def meets(self, other: "Place") -> bool:
        """Return whether some numbers belong to both places."""
        shared = zip(self.index, other.index, strict=False)
        return self.keys == other.keys and all(a == b for a, b in shared)


def find(document: Document, path: str) -> Place:
    """Return the place of a path; kinds, such as `box`, may be left out of it."""
    found = _find(document, (), path)
    if found is None:
        raise InputError(f"no parameter '{path}'; {did_you_mean(path, known(document))}")
    return found


def known(document: Document) -> list[str]:
    """Return the paths of everything that is a number, a vector or a matrix, or may be one."""
    return list(_walk(document, ""))


def component(place: Place, path: str) -> Place | None:
    """Return one of the numbers of a place, by its indices or as x, y or z; "": all of them."""
    numbers, steps = place.whole, path.split(".") if path else []
    if numbers is None or numbers.ndim == 0 or len(steps) > numbers.ndim:
        return None
    index = []
    for step, size in zip(steps, numbers.shape, strict=False):
        k = COMPONENTS.get(step) if size == 3 else None
        k = int(step) if k is None and step.isdecimal() else k
        if k is None or k >= size:
            return None
        index.append(k)
    return Place(place.keys, tuple(index), numbers)


def put(content: dict[str, Any], place: Place, value: Values) -> dict[str, Any]:
    """Return the content of a file with other numbers at a place."""
    *above, key = place.keys
    node: Any
    content = node = dict(content)
    for step in above:
        inner = node[step] if isinstance(step, int) else node.get(step, {})
        node[step] = list(inner) if isinstance(inner, list) else dict(inner)
        node = node[step]
    if place.index:
        before = node.get(key, place.whole) if isinstance(node, dict) else node[key]
        numbers = np.array(before, dtype=float)
        numbers[place.index] = value
    else:
        numbers = np.asarray(value)
    whole = place.whole is not None and place.whole.dtype.kind == "i"
    node[key] = _plain(numbers.tolist(), whole)
    if isinstance(node, dict) and key in EXCLUSIVE:
        node.pop(EXCLUSIVE[str(key)], None)
    return content


def _plain(numbers: Any, whole: bool) -> Any:
    """Return numbers as a file has them; whole ones stay so, if they were."""
    if isinstance(numbers, list):
        return [_plain(each, whole) for each in numbers]
    return int(numbers) if whole and float(numbers).is_integer() else float(numbers)


def _find(value: Any, keys: Keys, path: str) -> Place | None:
    steps = sorted(_children(value), key=lambda child: len(child[0]), reverse=True)
    for label, more, child in steps:
        if path == label:
            place = _leaf(child, (*keys, *more))
            if place is not None:
                return place
        elif path.startswith(f"{label}."):
            place = _find(child, (*keys, *more), path[len(label) + 1 :])
            if place is not None:
                return place
    whole = _leaf(value, keys)
    if not steps and whole is not None and whole.whole is not None:
        return component(whole, path)
    return None


def _children(value: Any) -> Iterator[tuple[str, Keys, Any]]:
    """Yield what is inside: label, keys and value; the kind of a part may be left out."""
    if isinstance(value, OneOf):
        kinds = value.kinds()
        own = [name for name in type(value).model_fields if name not in kinds]
        yield from ((name, (name,), getattr(value, name)) for name in own)
        yield value.kind, (value.kind,), value.part
        for label, keys, child in _children(value.part):
            if label not in own:
                yield label, (value.kind, *keys), child
    elif isinstance(value, Entry):
        yield from ((name, (name,), getattr(value, name)) for name in type(value).model_fields)
    elif isinstance(value, dict):
        yield from ((name, (name,), each) for name, each in value.items())
    elif isinstance(value, list | tuple) and any(isinstance(each, Entry) for each in value):
        yield from ((str(k), (k,), each) for k, each in enumerate(value))


def _leaf(value: Any, keys: Keys) -> Place | None:
    """Return the place of what is numbers, or may be."""
    if value is None or isinstance(value, ScalarInput | VectorInput):
        return Place(keys)
    if isinstance(value, str):
        return _text(value, keys)
    if is_number(value):
        return Place(keys, whole=np.array(value))
    if isinstance(value, list | tuple) and value:
        try:
            numbers = np.array(value, dtype=float)
        except (TypeError, ValueError):  # names, or formulas among numbers
            return Place(keys) if keys[-1] in FORMULAS else None
        return Place(keys, whole=numbers)
    return None


def _text(value: str, keys: Keys) -> Place | None:
    """Return the place of a formula."""
    try:
        return Place(keys, whole=np.array(float(value)))
    except ValueError:
        return Place(keys) if keys[-1] in FORMULAS else None


def _walk(value: Any, before: str) -> Iterator[str]:
    kinds = value.kinds() if isinstance(value, OneOf) else ()
    for label, keys, child in _children(value):
        if label in kinds:  # what is in there comes without the kind
            continue
        path = f"{before}{label}"
        if _leaf(child, keys) is not None:
            yield path
        yield from _walk(child, f"{path}.")
