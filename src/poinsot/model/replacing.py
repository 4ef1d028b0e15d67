"""Models that differ in numbers of a few parts: these are built again, all others are shared."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from poinsot.bodies.body import Body
from poinsot.errors import InputError
from poinsot.io.document import VERSION, Document
from poinsot.io.entries import OneOf
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
    try:
        return _Replacing(model, content, changed).made
    except (ValidationError, InputError, _ElsewhereError):
        return None


class _Replacing:
    """A model whose parts are replaced; see `with_other_parts`."""

    def __init__(
        self, model: Model, content: Mapping[str, Any], changed: Collection[tuple[str, str]]
    ) -> None:
        self.model, self.made = model, model.as_now()
        #: Nodes of elastic rods, and these.
        self.rods = {
            node.name: name for name in model.assemblies for node in model.forces[name].bodies
        }
        others = {name for section, name in changed if section == "bodies"}
        holding = [
            ("forces", name)
            for name, force in model.forces.items()
            if name not in model.assemblies
            and any(self.rods.get(body.name, body.name) in others for body in force.bodies)
        ]
        document = _read(content, {*changed, *holding})
        self.made.gravity = document.gravity
        self._replace_bodies(document)
        for section, add, kinds in (
            ("joints", self.made.add_joint, JOINTS),
            ("transmissions", self.made.add_transmission, TRANSMISSIONS),
            ("forces", self.made.add_force, FORCES),
        ):
            self._replace(section, getattr(document, section), add, kinds)

    def _replace_bodies(self, document: Document) -> None:
        """Build bodies again, and rods with all that belongs to them, in their order."""
        grown = Model()
        for name, body in self.model.bodies.items():
            part = self.rods.get(name, name)
            if part not in document.bodies:
                grown.bodies[name] = body
            elif name not in grown.bodies:
                Builder(grown).add_body(part, document.bodies[part])
        for name, body in self.model.bodies.items():
            _require_place(grown.bodies[name], body)
        for name, marker in self.model.markers.items():
            there = grown.bodies.get(marker.body.name, marker.body)
            self.made.markers[name] = replace(marker, body=there)
        self.made.bodies = grown.bodies
        for section in ("markers", "joints", "forces", "assemblies"):
            getattr(self.made, section).update(getattr(grown, section))

    def _replace(
        self,
        section: str,
        entries: Mapping[str, OneOf],
        add: Callable[[str, Any], Any],
        kinds: Mapping[str, type[Any]],
    ) -> None:
        """Build joints, transmissions or forces again."""
        before: dict[str, Any] = getattr(self.made, section)
        parts: dict[str, Any] = {}
        setattr(self.made, section, parts)
        for name, part in before.items():
            if name in entries:
                Builder(self.made).add(name, entries[name], add, kinds)
            else:
                parts[name] = part


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
    if body is not before and (
        type(body) is not type(before) or body.deforms or body.frame != before.frame
    ):
        raise _ElsewhereError
