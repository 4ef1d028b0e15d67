"""From the document of a model file to a model; errors refer to lines of the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground
from poinsot.bodies.looks import Look
from poinsot.bodies.meshes import Triangles, load_mesh
from poinsot.bodies.shapes import Shape
from poinsot.elements.sections import CrossSection
from poinsot.errors import InconsistentStartError, InputError
from poinsot.io import document as files
from poinsot.io.controllers import Controllers
from poinsot.io.entries import Entry, OneOf
from poinsot.io.inputs import ScalarInput, VectorInput
from poinsot.io.numbers import AxisAngle, Turn
from poinsot.io.parts import Composite, Looks, MeshLook, Shapes
from poinsot.io.parts import Mesh as MeshEntry
from poinsot.io.reading import ModelFile, is_joint, read_file
from poinsot.io.slender import ElasticRod as RodEntry
from poinsot.io.slender import Sections
from poinsot.io.source import Problem
from poinsot.io.systems import Connections, SubModel, Systems
from poinsot.io.variables import OF_TIME
from poinsot.model.controller_files import add_controller
from poinsot.model.event_files import event_of
from poinsot.model.initial import equations_of
from poinsot.model.kinds import (
    FORCES,
    FUNCTIONS,
    JOINTS,
    PORTS,
    SECTIONS,
    SHAPES,
    TRANSMISSIONS,
)
from poinsot.model.model import Model
from poinsot.model.rods import ElasticRod
from poinsot.model.simulation import Simulation
from poinsot.model.system_files import connection_of, system_of
from poinsot.ph.formulas import Formula
from poinsot.ph.signals import Table
from poinsot.ph.stages import Newton
from poinsot.so3 import Rotation, RotationLike, as_rotation_matrix

#: Keys of a simulation that make sense only with another one.
PAIRED = {"t_end": "t_start", "coordinates": "scheme"}


def build(
    file: ModelFile,
    within: tuple[Path, ...] = (),
    *,
    assemble: bool = False,
    into: Model | None = None,
) -> Model:
    """Return the model of a file, or the list of the parts that cannot be built.

    `within` are the files that it is a sub-model of. `assemble`: as if the file asked for it.
    `into`: a model that its parts are added to; that has its own name and gravity.
    """
    document = file.document
    stem = Path(file.source.name).stem if file.source.name.endswith((".yaml", ".yml")) else "model"
    model = Model(gravity=document.gravity, name=document.name or stem) if into is None else into
    builder = Builder(model, (*within, Path(file.source.name).resolve()))
    for name, body in document.bodies.items():
        builder.attempt(("bodies", name), builder.add_body, name, body)
    for name, marker in document.markers.items():
        builder.attempt(("markers", name), builder.add_marker, name, marker)
    for name, system in document.systems.items():
        if system.model is not None:
            builder.attempt(("systems", name), builder.add_model, name, system.model)
    for section, entries, add, kinds in (
        ("joints", document.joints, model.add_joint, JOINTS),
        ("transmissions", document.transmissions, model.add_transmission, TRANSMISSIONS),
        ("forces", document.forces, model.add_force, FORCES),
        ("ports", document.ports, model.add_port, PORTS),
    ):
        for name, entry in entries.items():
            builder.attempt((section, name), builder.add, name, entry, add, kinds)
    for name, system in document.systems.items():
        if system.model is None:
            builder.attempt(("systems", name), builder.add_system, name, system)
    for name, connection in document.connections.items():
        builder.attempt(("connections", name), builder.connect, connection)
    for name, channel in document.sensors.items():
        builder.attempt(("sensors", name), model.add_sensor, name, channel)
    for name, controller in document.controllers.items():
        builder.attempt(("controllers", name), builder.add_controller, name, controller)
    for name, event in document.events.items():
        builder.attempt(("events", name), builder.add_event, name, event)
    if document.simulation is not None:
        builder.set_simulation(document.simulation)
    if not builder.problems:
        builder.place(document, assemble)
    if not builder.problems:
        builder.attempt(("bodies",), builder.start, document.project_velocities)
    if builder.problems:
        raise file.source.error(builder.problems)
    return model


@dataclass
class Builder:
    """A model that grows, and what could not be added to it."""

    model: Model
    within: tuple[Path, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    def attempt(
        self, path: tuple[str, ...], action: Callable[..., object], *arguments: Any
    ) -> None:
        """Do something, and note why it failed."""
        try:
            action(*arguments)
        except InputError as error:
            self.problems.append(Problem(path, str(error)))

    def add_body(self, name: str, entry: files.Body) -> None:
        """Add a body."""
        shape: Any = self.shape(entry) if entry.elastic_rod is None else _rod(entry.elastic_rod)
        self.model.add_body(
            name,
            shape,
            position=entry.position,
            rotation=_rotation(entry.rotation),
            velocity=entry.velocity,
            angular_velocity=entry.angular_velocity,
            looks=[self.look(look) for look in entry.looks or ()],
        )

    def shape(self, entry: Shapes) -> Shape:
        """Return a shape."""
        part, arguments = entry.part, _given(entry.part)
        if isinstance(part, Composite):
            parts = [
                (self.shape(item), item.position, _rotation(item.rotation)) for item in part.parts
            ]
            return SHAPES[entry.kind](parts=parts)  # type: ignore[call-arg]
        if isinstance(part, MeshEntry):
            arguments["surface"] = self.mesh(arguments.pop("file"), arguments.pop("scale", 1.0))
        if "frame" in arguments:
            arguments["frame"] = _rotation(arguments["frame"])
        if "section" in arguments:
            arguments["section"] = _section(arguments["section"])
        return SHAPES[entry.kind](**arguments)

    def look(self, entry: Looks) -> Look:
        """Return what is drawn of a body."""
        part = entry.part
        how: dict[str, Any] = {"colour": entry.colour, "opacity": entry.opacity}
        how |= {"position": entry.position, "rotation": _rotation(entry.rotation)}
        if isinstance(part, MeshLook):
            mesh = self.mesh(part.file, 1.0 if part.scale is None else part.scale)
            return Look(kind=entry.kind, mesh=mesh, **how)
        return Look(kind=entry.kind, sizes=np.hstack([*_given(part).values()]).tolist(), **how)

    def mesh(self, file: str, scale: ArrayLike) -> Triangles:
        """Return the mesh of a file in the folder of the model file, or below."""
        folder = self.within[-1].parent
        path = (folder / file).resolve()
        if not path.is_relative_to(folder):
            raise InputError(f"mesh '{file}' is not in the folder of the model file; put it there")
        return load_mesh(path, scale)[0]

    def add_marker(self, name: str, entry: files.Marker) -> None:
        """Add a marker, unless its body failed."""
        body = self.partner(entry.body)
        if body is not None:
            R, axes = _rotation(entry.rotation), entry.axes
            self.model.add_marker(name, body, position=entry.position, rotation=R, axes=axes)

    def add(
        self, name: str, entry: OneOf, add: Callable[..., Any], kinds: Mapping[str, type[Any]]
    ) -> None:
        """Add a joint, transmission, force or port, unless what it acts on failed."""
        functions, arguments = FUNCTIONS.get(entry.kind, {}), dict[str, Any]()
        ties = "joint", *getattr(entry.part, "ties", ())
        for key, value in _given(entry.part).items():
            if key == "bodies":
                a, b = map(self.partner, value)
                if a is None or b is None:
                    return
                arguments |= {"a": a, "b": b}
            elif key == "markers":
                if self.problems and not set(value) <= set(self.model.markers):
                    return
                arguments["a"], arguments["b"] = (self.model.markers[name] for name in value)
            elif key == "body":
                body = self.body(value)
                if body is None:
                    return
                arguments["body"] = body
            elif key == "rotation":
                arguments[key] = _rotation(value)
            elif key in ties and self.problems and not is_joint(value, self.model.joints):
                return
            else:
                arguments[key] = _function(value, functions[key]) if key in functions else value
        add(name, kinds[entry.kind](**arguments))

    def add_model(self, name: str, entry: SubModel) -> None:
        """Add the model of another file."""
        path = (self.within[-1].parent / entry.file).resolve()
        if path in self.within:
            files = " in ".join(f"'{each.name}'" for each in (path, *reversed(self.within)))
            raise InputError(f"a model cannot contain itself: {files}")
        placing = {key: value for key, value in _given(entry).items() if key != "file"}
        if "rotation" in placing:
            placing["rotation"] = _rotation(placing["rotation"])
        if "ground" in placing:
            placing["ground"] = self.partner(placing["ground"])
        self.model.add_system(name, build(read_file(path), self.within), **placing)

    def add_system(self, name: str, entry: Systems) -> None:
        """Add a system."""
        self.model.add_system(name, system_of(name, entry, lambda v: _function(v, OF_TIME)))

    def connect(self, entry: Connections) -> None:
        """Join ports, unless something before failed: they may not be there."""
        if not self.problems:
            self.model.connect(connection_of(entry))

    def add_controller(self, name: str, entry: Controllers) -> None:
        """Add a controller, unless something before failed: it may not be there."""
        if not self.problems:
            folder, model = self.within[-1].parent, self.model
            add_controller(name, entry, folder, model.add_controller, model.add_fmu)

    def add_event(self, name: str, entry: files.Event) -> None:
        """Add an event, unless something before failed: it may not be there."""
        if not self.problems:
            self.model.add_event(name, event_of(entry))

    def partner(self, name: str) -> Body | Ground | None:
        """Return a body or the ground; None if the body failed."""
        ground = self.model.ground
        return ground if name == ground.name else self.body(name)

    def body(self, name: str) -> Body | None:
        """Return a body; None if it failed."""
        try:
            return self.model.body(name)
        except InputError:
            if not self.problems:
                raise
            return None

    def set_simulation(self, entry: files.Simulation) -> None:
        """Keep how to run the model; each key is tried alone, so that a message can name it."""
        given, before = _given(entry), len(self.problems)
        for key, value in given.items():
            if key not in PAIRED:
                self.attempt(("simulation", key), _simulation, {key: value})
        if len(self.problems) == before:
            for key in [key for key in PAIRED if key in given]:
                pair = {name: given[name] for name in (PAIRED[key], key) if name in given}
                self.attempt(("simulation", key), _simulation, pair)
        if len(self.problems) == before:
            self.model.simulation = _simulation(given)

    def place(self, document: files.Document, assemble: bool) -> None:
        """Put bodies where they start, and assemble them if that is asked for."""
        for name, entry in document.start.items():
            self.attempt(("start", name), self.put, name, entry)
        asked = document.assemble
        if asked or assemble:
            how = _given(asked) if isinstance(asked, files.Assembly) else {}
            self.attempt(("assemble",), partial(self.model.assemble, **how))

    def put(self, name: str, entry: files.Place) -> None:
        """Let a body start at another place than where it was added."""
        body = self.model.body(name)
        if body.deforms or body.carried:
            raise InputError(
                f"start: '{name}' is elastic and always starts where it is added; leave it out"
            )
        R = as_rotation_matrix(_rotation(entry.rotation), name=f"start: '{name}': rotation")
        self.model.starts[body.name] = np.array(entry.position), R

    def start(self, projected: bool) -> None:
        """Refuse joints that are open, and velocities that contradict them."""
        try:
            equations_of(self.model)
        except InconsistentStartError as error:
            raise InputError(f"{error} (in a file: 'assemble: true')") from None
        if projected:
            self.model.project_velocities()
        try:
            self.model.start_velocities()
        except InputError as error:
            raise InputError(f"{error} (in a file: 'project_velocities: true')") from None


def _given(part: Entry) -> dict[str, Any]:
    """Return what stands in the file, key by key."""
    keys = [key for key in type(part).model_fields if key in part.model_fields_set]
    return {key: getattr(part, key) for key in keys if getattr(part, key) is not None}


def _simulation(given: dict[str, Any]) -> Simulation:
    newton = given.get("newton")
    tolerances = {} if newton is None else {"newton": Newton(**_given(newton))}
    return Simulation(**given | tolerances)


def _rod(part: RodEntry) -> ElasticRod:
    given = _given(part)
    section = given.pop("section")
    several = isinstance(section, list)
    return ElasticRod(
        section=[_section(one) for one in section] if several else _section(section), **given
    )


def _section(entry: Sections) -> CrossSection:
    return SECTIONS[entry.kind](**_given(entry.part))


def _rotation(value: Any) -> RotationLike:
    if not isinstance(value, Turn):
        turn: RotationLike = value
        return turn
    part = value.part
    if isinstance(part, AxisAngle):
        return Rotation.from_axis_angle(part.axis, part.angle)
    return Rotation.from_euler(part.sequence, part.angles)  # type: ignore[attr-defined]


def _function(value: Any, variables: tuple[str, ...]) -> Any:
    """Return a number, a formula or a table as the package knows it."""
    if isinstance(value, ScalarInput | VectorInput) and value.table is not None:
        return Table(value.table.times, value.table.values)
    if isinstance(value, str):
        return Formula(value, variables)
    if isinstance(value, tuple) and any(isinstance(entry, str) for entry in value):
        return Formula([v if isinstance(v, str) else repr(v) for v in value], variables)
    return value
