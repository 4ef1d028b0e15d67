"""From a model to the content of its file, without loss; refuses what cannot be written."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body, Ground, Marker
from poinsot.bodies.flexible import Place
from poinsot.bodies.looks import Look
from poinsot.bodies.meshes import Mesh
from poinsot.bodies.shapes import Composite, Part, RigidBody, Shape
from poinsot.elements.sections import CrossSection
from poinsot.errors import InputError
from poinsot.io.variables import OF_TIME
from poinsot.model.assemblies import BodyAssembly, Start
from poinsot.model.contents import Contents, own_parts
from poinsot.model.controller_files import describe_controller
from poinsot.model.event_files import describe_event
from poinsot.model.kinds import (
    FORCES,
    FUNCTIONS,
    JOINTS,
    PORTS,
    SECTIONS,
    SHAPES,
    TRANSMISSIONS,
)
from poinsot.model.rods import ElasticRod
from poinsot.model.simulation import Simulation
from poinsot.model.system_files import UnwritableError, describe_connection, describe_system
from poinsot.parts.forces import Force
from poinsot.parts.joint import Joint
from poinsot.parts.loads import PortPlace
from poinsot.parts.transmissions import Transmission
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Vector
from poinsot.ph.signals import Constant, Table, as_signal
from poinsot.ph.stages import Newton
from poinsot.robots.writing import Store
from poinsot.so3 import Rotation, as_rotation_matrix

#: An error names at most so many parts.
LISTED = 10
#: A longer table does not belong into a file that people read.
LONGEST = 100_000
EMPTY: Mapping[str, Any] = MappingProxyType({})


def describe(
    model: Contents,
    simulation: Simulation | None,
    inputs: Mapping[str, Any] | None = None,
    store: Store | None = None,
) -> dict[str, Any]:
    """Return what a model file says of a model; `inputs` replace those of its ports.

    Without a store for meshes, bodies are drawn without, and those that meshes enclose are rigid
    bodies with the same mass and inertia.
    """
    refused: list[str] = []

    def each(what: str, parts: Mapping[str, Any], write: Callable[..., Any]) -> dict[str, Any]:
        written = {}
        for name, part in parts.items():
            try:
                written[name] = write(name, part)
            except UnwritableError as error:
                refused.append(f"{what} '{name}': {error}")
        return written

    fed, projection, own = inputs or {}, model.projection, own_parts(model)
    repeatable = projection is not None and projection.joints == len(model.joints)
    twists = None if projection is None or repeatable else projection.twists.reshape(-1, 2, 3)
    movable = [name for name, body in model.bodies.items() if not isinstance(body, Place)]
    moving = {} if twists is None else dict(zip(movable, twists, strict=True))

    def write_body(name: str, body: Any) -> dict[str, Any]:
        if isinstance(body, tuple):
            rod, start = body
            return _rod(rod, start, projected=bool(moving))
        return _body(body, moving.get(name), store)

    content: dict[str, Any] = {
        "poinsot": 1,
        "name": model.name,
        "gravity": model.gravity.tolist(),
        "bodies": each("body", own["bodies"], write_body),
        "markers": each("marker", own["markers"], lambda name, marker: _marker(marker)),
        "joints": each("joint", own["joints"], lambda name, joint: _entry(joint, JOINTS)),
        "transmissions": each(
            "transmission", model.transmissions, lambda name, part: _entry(part, TRANSMISSIONS)
        ),
        "forces": each("force", own["forces"], lambda name, force: _entry(force, FORCES)),
        "ports": each("port", model.ports, lambda name, port: _entry(port, PORTS, fed.get(name))),
        "systems": each(
            "system",
            model.systems,
            lambda name, system: describe_system(
                name, system, fed, lambda given: _function("value", given, OF_TIME)
            ),
        ),
        "connections": each(
            "connection",
            {" - ".join(one.ports): one for one in model.connections},
            lambda name, one: describe_connection(one),
        ),
        "sensors": dict(model.sensors),
        "controllers": each("controller", model.controllers, describe_controller),
        "events": each("event", model.events, describe_event),
        "project_velocities": repeatable,
        "start": {name: _placed(*place) for name, place in model.starts.items()},
        "simulation": {} if simulation is None else _fields(simulation),
    }
    if refused:
        if len(refused) > LISTED:
            refused[LISTED:] = [f"and {len(refused) - LISTED} more"]
        raise InputError(
            f"model '{model.name}' cannot be written to a file: {'; '.join(refused)}; replace "
            "Python functions by poinsot.Formula or poinsot.Table"
        )
    return {key: value for key, value in content.items() if value or key == "gravity"}


def _rod(shape: BodyAssembly, start: Start, projected: bool) -> dict[str, Any]:
    if not isinstance(shape, ElasticRod):
        raise UnwritableError(f"a {type(shape).__name__} cannot be represented in a model file")
    if projected:
        raise UnwritableError("the velocities of its nodes were projected")
    for label in ("curve", "section", "twist", "natural"):
        if callable(getattr(shape, label)):
            raise UnwritableError(f"{label} is a Python function")
    written: dict[str, Any] = {"elastic_rod": _fields(shape)}
    written |= {"position": start.position.tolist()} | _turned(start.R_WB)
    return written | _moving(start.velocity, start.angular_velocity)


def _moving(velocity: Any, spin: Any) -> dict[str, Any]:
    """Return what is known of velocities."""
    pair = {"velocity": velocity, "angular_velocity": spin}
    return {key: value.tolist() for key, value in pair.items() if value is not None}


def _body(body: Body, twist: NDArray[np.float64] | None, store: Store | None) -> dict[str, Any]:
    velocities = body.velocity, body.angular_velocity
    if twist is not None:
        velocity, spin = twist
        velocities = velocity, spin if body.turns else None
    written = _shape(body.shape, body.name, store)
    written |= {"position": body.position.tolist()} | _turned(body.R_WB) | _moving(*velocities)
    looks = [
        _look(look, f"{body.name}_{k + 1}", store)
        for k, look in enumerate(body.looks)
        if look.mesh is None or store is not None
    ]
    return written | ({"looks": looks} if looks else {})


def _look(look: Look, name: str, store: Store | None) -> dict[str, Any]:
    if look.mesh is not None and store is not None:
        own: dict[str, Any] = {"file": store(name, look.mesh)}
    elif look.kind == "cylinder":
        own = dict(zip(("radius", "length"), look.sizes, strict=True))
    else:
        own = {"size" if look.kind == "box" else "semi_axes": list(look.sizes)}
    R = as_rotation_matrix(look.rotation)
    written = {look.kind: own, "position": np.asarray(look.position).tolist()} | _turned(R)
    return written | _fields_of_look(look)


def _fields_of_look(look: Look) -> dict[str, Any]:
    """Return colour and opacity, unless they are the usual ones."""
    given = {"colour": look.colour, "opacity": look.opacity}
    return {key: value for key, value in given.items() if value is not None and value != 1.0}


def _marker(marker: Marker) -> dict[str, Any]:
    place = {"body": marker.body.name, "position": marker.position.tolist()}
    return place | _turned(marker.R_WM)


def _placed(position: Vector, R_WB: NDArray[np.float64]) -> dict[str, Any]:
    return {"position": position.tolist()} | _turned(R_WB)


def _turned(R: NDArray[np.float64]) -> dict[str, Any]:
    """Return the rotation, unless it is the identity to the bit."""
    return {} if R.tobytes() == np.eye(3).tobytes() else {"rotation": R.tolist()}


def _shape(shape: Shape, name: str, store: Store | None) -> dict[str, Any]:
    kind = _kind(shape, SHAPES)
    if isinstance(shape, Composite):
        parts = [part for part in shape.parts if isinstance(part, Part)]
        named = ((part, f"{name}_part_{k + 1}") for k, part in enumerate(parts))
        return {kind: {"parts": [_part(part, label, store) for part, label in named]}}
    if isinstance(shape, Mesh) and store is None:
        return _shape(RigidBody(mass=shape.mass, inertia=shape.inertia_B), name, None)
    if isinstance(shape, Mesh) and store is not None:
        given = {"density": shape.density} if shape.density is not None else {"mass": shape.mass}
        return {kind: {"file": store(name, shape.surface), **given}}
    written = _fields(shape)
    if written.get("density") is not None:
        del written["mass"]  # it follows from the density, to the bit
    return {kind: written}


def _part(part: Part, name: str, store: Store | None) -> dict[str, Any]:
    return (
        _shape(part.shape, name, store)
        | {"position": list(part.position)}
        | _turned(part.rotation.matrix)
    )


def _entry(
    part: Joint | Transmission | Force | PortPlace, kinds: Mapping[str, type[Any]], fed: Any = None
) -> dict[str, Any]:
    """Return a joint, transmission, force or port; what it is fed with replaces its own input."""
    kind = _kind(part, kinds)
    written = _fields(part, FUNCTIONS.get(kind, {}), {} if fed is None else {"value": fed})
    if fed is not None:
        written.pop("law", None)
    if "a" in written:
        ends = "markers" if isinstance(part, Joint) and part.between_markers else "bodies"
        written = {ends: [written.pop("a"), written.pop("b")]} | written
    return {kind: written}


def _kind(part: object, kinds: Mapping[str, type[Any]]) -> str:
    for kind, known in kinds.items():
        if type(part) is known:
            return kind
    raise UnwritableError(f"a {type(part).__name__} cannot be represented in a model file")


def _fields(
    part: Any, functions: Mapping[str, tuple[str, ...]] = EMPTY, changed: Mapping[str, Any] = EMPTY
) -> dict[str, Any]:
    """Return the arguments of a part by name; those that have their default are left out."""
    written = {}
    for name, default in _arguments(type(part)):  # type: ignore[arg-type]
        value = changed.get(name, getattr(part, name))
        if value is None or (type(value) is type(default) and value == default):
            continue
        if name in functions:
            written[name] = _function(name, value, functions[name])
        else:
            written[name] = _plain(name, value)
    return written


@cache
def _arguments(kind: type[Any]) -> list[tuple[str, Any]]:
    """Return the arguments of a class and their defaults, those without one first."""
    found = [(field.name, field.default) for field in fields(kind) if field.init]
    return sorted(found, key=lambda argument: argument[1] is not MISSING)


def _function(key: str, value: Any, variables: tuple[str, ...]) -> Any:
    """Return a law or an input as a file holds it."""
    value = as_signal(value)
    if isinstance(value, Constant):
        value = value.value
    if isinstance(value, Table):
        if value.values.size > LONGEST:
            raise UnwritableError(f"{key} is a table of more than {LONGEST} numbers")
        return {"table": {"times": value.times.tolist(), "values": _rows(value.values)}}
    if isinstance(value, Formula):
        if tuple(value.variables) != variables:
            used, wanted = ", ".join(value.variables), ", ".join(variables)
            raise UnwritableError(f"{key} is a formula of {used}; write it in {wanted}")
        return value.text if isinstance(value.text, str) else _one_or_all(list(value.text))
    if callable(value):
        raise UnwritableError(f"{key} is a Python function")
    return _one_or_all(np.asarray(value, dtype=float).tolist())


def _rows(values: NDArray[np.float64]) -> Any:
    return values.reshape(-1).tolist() if values.size == len(values) else values.tolist()


def _one_or_all(values: Any) -> Any:
    """Return the input of a joint as itself, not as a list of one."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _plain(key: str, value: Any) -> Any:
    """Return an argument as plain data."""
    if isinstance(value, Body | Ground | Marker):
        return value.name
    if isinstance(value, Rotation):
        return value.matrix.tolist()
    if isinstance(value, Newton):
        return _fields(value)
    if isinstance(value, CrossSection):
        return {_kind(value, SECTIONS): _fields(value)}
    if callable(value):
        raise UnwritableError(
            f"{key} is a function of the motion of the body, which model files cannot represent"
        )
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, list | tuple):
        return [_plain(key, part) for part in value]
    return np.asarray(value).tolist()
