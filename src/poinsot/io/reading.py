"""Read a model file: the result is its document, or a list of all problems."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from poinsot.errors import did_you_mean
from poinsot.io.document import VERSION, Document, Marker
from poinsot.io.entries import Entry, OneOf, describe
from poinsot.io.source import (
    KeyPath,
    Problem,
    Source,
    from_content,
    near_match,
    open_file,
    open_text,
)

GROUND = "ground"
#: YAML allows no key of more than 1024 characters.
LONGEST = 200
SECTIONS = ("bodies", "markers", "joints", "transmissions", "forces", "ports")


@dataclass(frozen=True)
class ModelFile:
    """A document, and where everything in it stands."""

    document: Document
    source: Source


@dataclass(frozen=True)
class Beside:
    """Names of a model that the parts of a file join."""

    bodies: Collection[str] = ()
    markers: Collection[str] = ()
    joints: Collection[str] = ()


ALONE = Beside()


def read_file(path: str | Path, *, beside: Beside = ALONE) -> ModelFile:
    """Return the document of a file; its parts may name those that they stand beside."""
    return _read(open_file(path), beside)


def read_text(text: str, *, name: str = "<text>") -> ModelFile:
    """Return the document of a text; `name` is what messages call it."""
    return _read(open_text(text, name))


def read_content(content: dict[str, Any], *, name: str) -> ModelFile:
    """Return the document of content that stands in no file; `name` is what messages call it."""
    return _read(from_content(content, name))


def _read(source: Source, beside: Beside = ALONE) -> ModelFile:
    problems = list(_check_version(source))
    if problems:
        raise source.error(problems)
    try:
        document = Document.model_validate(source.root.plain())
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise source.error(p for d in details for p in _explain(source, d)) from None
    problems = list(check_names(document, beside))
    if problems:
        raise source.error(problems)
    return ModelFile(document, source)


def _check_version(source: Source) -> Iterator[Problem]:
    """Yield what keeps a text from being a model file of this version at all."""
    content = source.root.value
    first = f"a model file begins with 'poinsot: {VERSION}'"
    if content is None:
        yield Problem((), f"the file is empty; {first}")
    elif not isinstance(content, dict):
        yield Problem((), f"expected keys and values, found {describe(source.root.plain())}")
    elif "poinsot" not in content:
        near = [key for key in content if key.lower().startswith("poins")]
        hint = f"; did you mean that by '{near[0]}'?" if near else ""
        yield Problem((), f"the key 'poinsot' is missing: {first}{hint}")
    else:
        version = content["poinsot"].plain()
        if isinstance(version, int | float) and version > VERSION:
            yield Problem(
                ("poinsot",),
                f"the file is of version {version}, newer than {VERSION}, which this program reads;"
                " update it: pip install --upgrade poinsot",
            )
        elif version != VERSION or isinstance(version, bool):
            found = describe(version)
            yield Problem(("poinsot",), f"expected the version {VERSION}, found {found}")


def _explain(source: Source, detail: Any) -> Iterator[Problem]:
    """Yield what one of pydantic's errors says, in words of the file."""
    path, kind, context = detail["loc"], detail["type"], detail.get("ctx", {})
    found = describe(detail["input"])
    if kind == "unknown_keys":
        for key in context["unknown"]:
            near = did_you_mean(key, context["known"])
            if ")" in key:  # a comma in a formula has split it
                near = "if it belongs to a formula, put that into quotes"
            yield Problem(path, f"unknown key '{key}'; {near}", source.key(path, key))
    elif kind == "empty_kind":
        yield Problem((*path, context["kind"]), "expected keys and values, found nothing")
    elif kind == "missing_keys":
        for key in context["missing"]:
            yield Problem(path, f"the key '{key}' is missing")
    elif kind == "missing":
        yield Problem(path[:-1], f"the key '{path[-1]}' is missing")
    elif kind == "literal_error":
        names = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        hint = near_match(str(detail["input"]), names)
        yield Problem(path, f"expected {context['expected']}, found {found}{hint}")
    elif kind in WANTED:
        yield Problem(path, f"expected {WANTED[kind]}, found {found}")
    else:
        yield Problem(path, detail["msg"])


#: What pydantic's own errors ask for.
WANTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "names and what they stand for",
}


# -- names -----------------------------------------------------------------------------------------


def check_names(document: Document, beside: Beside = ALONE) -> Iterator[Problem]:
    """Yield what is wrong with the names in a document."""
    taken: dict[str, str] = {}
    known = _WithSubModels([*_partners(document), *beside.bodies], document)
    joints = _WithSubModels([*document.joints, *beside.joints], document)
    markers = _WithSubModels([*document.markers, *_ends(document), *beside.markers], document)
    for section in SECTIONS:
        for name, entry in getattr(document, section).items():
            path = (section, name)
            if name in ("", GROUND) or len(name) > LONGEST:
                yield Problem(path, f"'{name[:40]}' cannot be a name; choose another one")
            elif name in taken:
                where = taken[name]
                yield Problem(path, f"the name is taken in {where}.{name}; choose another one")
            taken[name] = section
            if isinstance(entry, OneOf):
                yield from _references(entry.part, (*path, entry.kind), joints, known, markers)
            else:
                yield from _references(entry, path, joints, known, markers)
    for name in document.start:
        if name not in known:
            yield _unknown("body", name, ("start", name), known)


def _references(
    part: Entry,
    path: tuple[str, ...],
    joints: Collection[str],
    known: Collection[str],
    markers: Collection[str],
) -> Iterator[Problem]:
    """Yield what is wrong with the names that a part refers to, wherever it has such keys."""
    pair = getattr(part, "bodies", None) or ()
    for i, name in enumerate(pair):
        if name != GROUND and name not in known:
            yield _unknown("body", name, (*path, "bodies", i), known, GROUND)
    if pair and pair[0] == pair[1]:
        yield Problem((*path, "bodies"), f"it joins '{pair[0]}' with itself; name two bodies")
    body, joint = getattr(part, "body", None), getattr(part, "joint", None)
    if body == GROUND and isinstance(part, Marker):
        return
    for i, name in enumerate(getattr(part, "markers", None) or ()):
        if name not in markers:
            yield _unknown("marker", name, (*path, "markers", i), markers)
    if body == GROUND:
        yield Problem((*path, "body"), "the ground cannot move; name a body")
    elif body is not None and body not in known:
        yield _unknown("body", body, (*path, "body"), known)
    if joint is not None and joint not in joints:
        yield _unknown("joint", joint, (*path, "joint"), joints)
    for key in getattr(part, "ties", ()):
        tied = getattr(part, key)
        if tied is not None and not is_joint(tied, joints):
            yield _unknown("joint", tied, (*path, key), joints)


def is_joint(name: str, joints: Collection[str]) -> bool:
    """Return whether a joint is there, named as "joint" or "joint.freedom"."""
    return name in joints or name.rpartition(".")[0] in joints


def _partners(document: Document) -> Collection[str]:
    """Return the names of what things attach to: bodies, and the places of beams and rods.

    A beam stands for its place at a point; a rod does not.
    """
    names = dict.fromkeys(name for name, body in document.bodies.items() if not body.elastic_rod)
    for name, body in document.bodies.items():
        slender = body.beam or body.elastic_rod
        if slender is not None:
            places = "start", *range(slender.nodes), "end"
            names |= dict.fromkeys(f"{name}.{place}" for place in places)
    return _WithSubModels(names, document)


def _ends(document: Document) -> Iterator[str]:
    """Yield the names of the markers on the ends of beams and rods."""
    for name, body in document.bodies.items():
        if body.beam or body.elastic_rod:
            yield from (f"{name}.start", f"{name}.end")


class _WithSubModels(Collection[str]):
    """Names of a document; those of parts of its sub-models count as known until these are read."""

    def __init__(self, names: Collection[str], document: Document) -> None:
        self.names = names
        self.inside = tuple(f"{name}." for name, one in document.systems.items() if one.model)

    def __contains__(self, name: object) -> bool:
        return name in self.names or (isinstance(name, str) and name.startswith(self.inside))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def _unknown(kind: str, name: str, path: KeyPath, known: Iterable[str], *more: str) -> Problem:
    def hint() -> str:
        return f"; {did_you_mean(name, [*more, *known])}"

    return Problem(tuple(path), f"no {kind} '{name}'", hint=hint)
