"""Models that differ in numbers of a few parts: these are built again, all others are shared."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from poinsot.bodies.body import Body
from poinsot.errors import InputError
from poinsot.io.document import VERSION, Document
from poinsot.model.build import Builder
from poinsot.model.kinds import FORCES, JOINTS, TRANSMISSIONS
from poinsot.model.model import Model


def with_other_parts(
    model: Model, content: Mapping[str, Any], changed: Collection[tuple[str, str]]
) -> Model | None:
    """Return a model in which some parts, by section and name, are those of a file's content.

    Bodies stay where they are added, so that joints, markers and ports, which attach to their
    frames, are as they were. The start is not looked at, but joints that are built again must be
    closed. None if bodies move, if what is changed is neither a part of these kinds nor gravity, or
    if something cannot be built: a model that is built completely tells the reason.
    """
    made, wanted = model.as_now(), set(changed)
    bodies = {name for section, name in wanted if section == "bodies"}
    for name, force in model.forces.items():
        if any(body.name in bodies for body in force.bodies):
            wanted.add(("forces", name))
    try:
        document = _read(content, wanted)
        made.gravity = document.gravity
        builder = Builder(made)
        made.bodies = {}
        for name, body in model.bodies.items():
            if name in document.bodies:
                builder.add_body(name, document.bodies[name])
                _require_place(made.bodies[name], body)
            else:
                made.bodies[name] = body
        for name, marker in model.markers.items():
            made.markers[name] = replace(marker, body=made.bodies.get(marker.body.name, marker.body))
        for section, add, kinds in (
            ("joints", made.add_joint, JOINTS),
            ("transmissions", made.add_transmission, TRANSMISSIONS),
            ("forces", made.add_force, FORCES),
        ):
            entries, parts = getattr(document, section), {}
            setattr(made, section, parts)
            for name, part in getattr(model, section).items():
                if name in entries:
                    builder.add(name, entries[name], add, kinds)
                else:
                    parts[name] = part
    except (ValidationError, InputError, _ElsewhereError):
        return None
    return made


class _ElsewhereError(Exception):
    """Something else than numbers of parts is different."""


def _read(content: Mapping[str, Any], wanted: Collection[tuple[str, str]]) -> Document:
    """Return the document of some parts."""
    found: dict[str, Any] = {"poinsot": VERSION, "gravity": content["gravity"]}
    for section, name in wanted:
        if section == "gravity":
            continue
        if section not in ("bodies", "joints", "transmissions", "forces"):
            raise _ElsewhereError
        if name not in content.get(section, {}):
            raise _ElsewhereError
        found.setdefault(section, {})[name] = content[section][name]
    return Document.model_validate(found)


def _require_place(body: Body, before: Body) -> None:
    """Refuse a body whose directors are elsewhere, or that has others."""
    if type(body) is not type(before) or body.deforms or body.frame != before.frame:
        raise _ElsewhereError
