"""Names in a model file: each is unique, and each that is referred to is there."""

from collections.abc import Iterator

from poinsot.errors import did_you_mean
from poinsot.io.document import Document
from poinsot.io.entries import Entry, OneOf
from poinsot.io.source import Problem

GROUND = "ground"
#: YAML allows no key of more than 1024 characters.
LONGEST = 200
SECTIONS = ("bodies", "markers", "joints", "forces", "ports")


def check_names(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the names in a document."""
    taken: dict[str, str] = {}
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
                yield from _references(entry.part, (*path, entry.kind), document)
            else:
                yield from _references(entry, path, document)


def _references(part: Entry, path: tuple[str, ...], document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the names that a part refers to, wherever it has such keys."""
    pair = getattr(part, "bodies", ())
    for i, name in enumerate(pair):
        if name != GROUND and name not in document.bodies:
            known = [GROUND, *document.bodies]
            yield Problem((*path, "bodies", i), f"no body '{name}'; {did_you_mean(name, known)}")
    if pair and pair[0] == pair[1]:
        yield Problem((*path, "bodies"), f"it joins '{pair[0]}' with itself; name two bodies")
    body, joint = getattr(part, "body", None), getattr(part, "joint", None)
    if body == GROUND:
        yield Problem((*path, "body"), "the ground cannot move; name a body")
    elif body is not None and body not in document.bodies:
        yield Problem((*path, "body"), f"no body '{body}'; {did_you_mean(body, document.bodies)}")
    if joint is not None and joint not in document.joints:
        near = did_you_mean(joint, document.joints)
        yield Problem((*path, "joint"), f"no joint '{joint}'; {near}")
