"""Parameters of a model: numbers of its file by path, and models with other values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, ModelFileError, did_you_mean
from poinsot.inputs import named
from poinsot.io import paths
from poinsot.io.document import Document
from poinsot.io.paths import Place
from poinsot.io.reading import read_content
from poinsot.model.build import build
from poinsot.model.describe import describe
from poinsot.model.model import Model
from poinsot.model.motions import coordinate_names
from poinsot.model.replacing import with_other_parts

Values = NDArray[np.float64]

#: What of a body is its motion at the start, and what is its place there.
MOTION, PLACE = ("velocity", "angular_velocity"), ("position", "rotation")
#: Paths that begin so are those of a section.
SECTIONS = {"options": "simulation"}


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number, a vector or a matrix of a model.

    Parameters
    ----------
    path : str
        What it is called.
    value : array or None
        Its value in the model; None: it is not given there.
    place : Place or None
        Where it stands in the file; None: it is a coordinate of a joint, which moves.
    """

    path: str
    value: Values | None
    place: Place | None

    @property
    def part(self) -> tuple[str, str]:
        """The section of the file that it stands in, and the part there, if it belongs to one."""
        section, *inner = ("",) if self.place is None else self.place.keys
        return str(section), str(inner[0]) if inner else ""

    def checked(self, value: ArrayLike) -> Values:
        """Return a value of the right shape, finite."""
        what = f"parameter '{self.path}'"
        try:
            numbers = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what}: expected numbers, got {value!r}") from None
        wanted = () if self.place is None else self.place.shape
        if wanted is not None and numbers.shape != wanted:
            raise InputError(
                f"{what} needs the shape {wanted}, but its value has {numbers.shape}; give "
                + (f"{wanted} numbers" if wanted else "one number")
            )
        if not np.all(np.isfinite(numbers)):
            raise InputError(f"{what}: expected finite numbers, got {numbers.tolist()}")
        return numbers


@dataclass(frozen=True, eq=False)
class Parameters:
    """Numbers of a model by the paths of its file, and models that have other values.

    `bodies.rod.mass`, `joints.A.point`, `joints.A.point.z`, `forces.spring.stiffness`, `gravity`:
    the keys of a model file, with or without the kind of a part; `.x`, `.y`, `.z` or a number is a
    component. `initial.rod.velocity`, `initial.rod.angular_velocity`, `initial.rod.position` and
    `initial.rod.rotation` are those of a body at the start, `initial.hinge` or
    `initial.hinge.angle` a coordinate of a joint there [rad or m]; `inputs.motor` is the input of a
    port, `options.step` and others are how to run it.

    Parameters
    ----------
    content : mapping
        What the file of the model says.
    items : mapping
        The parameters by path.
    moves : mapping
        Values of coordinates of joints, to which these are moved.
    kept : tuple
        Bodies whose places at the start are given.
    """

    content: dict[str, Any]
    items: Mapping[str, Parameter]
    moves: Mapping[str, float] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, model: Model, names: Iterable[str], inputs: Mapping[str, Any] | None = None
    ) -> Self:
        """Return the parameters of a model with these paths; `inputs` replace those of ports."""
        if not isinstance(model, Model):
            raise InputError(f"parameters: expected a Model, got {model!r}")
        fed = named(inputs, "inputs", "{'motor': 2.0}")
        content = describe(model, model.simulation, fed)
        document = read_content(content, name=f"model '{model.name}'").document
        for port in fed:
            if port not in (known := [*document.ports, *_ports_of_systems(document)]):
                raise InputError(f"inputs: no port '{port}'; {did_you_mean(port, known)}")
        items: dict[str, Parameter] = {}
        for path in names:
            if not isinstance(path, str):
                raise InputError(f"parameters: expected a path such as 'bodies.rod.mass': {path!r}")
            found = _found(model, document, path)
            for other in items.values():
                if found.place and other.place and found.place.meets(other.place):
                    raise InputError(
                        f"parameters: '{path}' and '{other.path}' are the same parameter; keep one "
                        "of them"
                    )
            items[path] = found
        return cls(content, items)

    @property
    def values(self) -> dict[str, Values | None]:
        """Their values in the model, by path; None: not given."""
        return {path: parameter.value for path, parameter in self.items.items()}

    def at(self, values: Mapping[str, ArrayLike]) -> Self:
        """Return the parameters of the model with other values."""
        values = named(values, "parameters", "{'bodies.rod.mass': 0.5}")
        content, moves, kept = self.content, dict(self.moves), list(self.kept)
        for path, given in values.items():
            if path not in self.items:
                raise InputError(f"no parameter '{path}'; {did_you_mean(path, self.items)}")
            parameter = self.items[path]
            value, place = parameter.checked(given), parameter.place
            if place is None:
                moves[path.partition(".")[2]] = float(value)
                continue
            if place.keys[0] == "start":
                content = _starting(content, str(place.keys[1]), parameter)
                kept.append(str(place.keys[1]))
            content = paths.put(content, place, value)
        return replace(self, content=content, moves=moves, kept=tuple(dict.fromkeys(kept)))

    def model(self, values: Mapping[str, ArrayLike]) -> Model:
        """Return the model with other values; its start is made consistent with them.

        Bodies stay where they are as far as joints close there, else they are assembled; velocities
        that contradict the joints are projected. Raises `InputError` for what cannot be built.
        """
        there = self.at(values)
        made = _built(there.content, there.kept)
        for coordinate, to in there.moves.items():
            made.move(coordinate, to=to)
        return made

    def near(self, model: Model, values: Mapping[str, ArrayLike]) -> Model | None:
        """Return a model that was built of these parameters with other values of some.

        Only parts with other values are built again, and bodies stay where they are; None if that
        is impossible, see `with_other_parts`.
        """
        changed = {self.items[path].part for path in values}
        return with_other_parts(model, self.at(values).content, changed)


def _found(model: Model, document: Document, path: str) -> Parameter:
    first, _, rest = path.partition(".")
    if first == "initial":
        return _initial(model, document, path, rest)
    if first == "inputs":
        place = _input(model, document, path, rest)
    else:
        inner = ".".join(filter(None, (SECTIONS.get(first, first), rest)))
        if inner.startswith("simulation.") and document.simulation is None:
            document = document.model_copy(update={"simulation": _no_options()})
        place = _place(document, inner, path)
    return Parameter(path, _value(model, place), place)


def _place(document: Document, inner: str, path: str) -> Place:
    """Return the place of a parameter, which is called `inner` in the file."""
    try:
        return paths.find(document, inner)
    except InputError:
        known = paths.known(document)
        for own, section in SECTIONS.items():
            known += [each.replace(section, own, 1) for each in known if each.startswith(section)]
        raise InputError(f"no parameter '{path}'; {did_you_mean(path, known)}") from None


def _no_options() -> Any:
    from poinsot.io.document import Simulation

    return Simulation()


def _value(model: Model, place: Place) -> Values | None:
    """Return the value at a place; a mass that follows from a density is known, too."""
    match place.keys:
        case ("bodies", str(name), str(), "mass") if place.value is None:
            return np.array(model.body(name).mass)
    return place.value


def _initial(model: Model, document: Document, path: str, rest: str) -> Parameter:
    """Return a parameter of the start."""
    for name in document.bodies:
        key, _, component = rest.removeprefix(f"{name}.").partition(".")
        if not rest.startswith(f"{name}."):
            continue
        if key in MOTION and (not component or getattr(document.bodies[name], key) is not None):
            place = _place(document, f"bodies.{rest}", path)
            return Parameter(path, place.value, place)
        if key in PLACE:
            now = np.array(model.start_places()[name][PLACE.index(key)])
            found = paths.component(Place(("start", name, key), whole=now), component)
            if found is not None:
                return Parameter(path, found.value, found)
    coordinates = coordinate_names(model)
    if rest in coordinates:
        return Parameter(path, np.array(model.start_coordinates()[rest]), None)
    movable = [f"{body}.{each}" for body in document.bodies for each in (*MOTION, *PLACE)]
    raise InputError(f"no parameter '{path}'; {_near(path, 'initial', [*coordinates, *movable])}")


def _input(model: Model, document: Document, path: str, rest: str) -> Place:
    """Return the place of the input of a port, of the model or of one of its systems."""
    if rest in document.ports:
        return paths.find(document, f"ports.{rest}.value")
    own = _ports_of_systems(document)
    if rest not in own:
        raise InputError(f"no parameter '{path}'; {_near(path, 'inputs', [*document.ports, *own])}")
    return paths.find(document, own[rest])


def _ports_of_systems(document: Document) -> dict[str, str]:
    """Return the places of the inputs of systems by the names of their ports."""
    return {
        f"{name}.{port}": f"systems.{name}.ports.{port}.value"
        for name, system in document.systems.items()
        if system.linear is not None
        for port in system.linear.ports
    }


def _near(path: str, first: str, names: list[str]) -> str:
    return did_you_mean(path, [f"{first}.{name}" for name in names])


def _starting(content: dict[str, Any], name: str, parameter: Parameter) -> dict[str, Any]:
    """Return the content with the whole place at which a body starts."""
    start = content.get("start", {})
    added = content["bodies"][name]
    here = start.get(name) or {key: added[key] for key in PLACE if key in added}
    return {**content, "start": {**start, name: dict(here)}}


def _built(content: dict[str, Any], kept: Sequence[str]) -> Model:
    """Return the model of a file's content; joints are closed and velocities projected if need be.

    Bodies whose places were given stay there if joints close so. What cannot be built in any way is
    said as if it stood in a file.
    """
    name = f"model '{content['name']}'"
    try:
        return build(read_content(content, name=name))
    except ModelFileError:
        consistent = {**content, "assemble": True, "project_velocities": True}
    if kept:
        try:
            return build(read_content({**consistent, "assemble": {"keep": [*kept]}}, name=name))
        except ModelFileError:
            pass
    return build(read_content(consistent, name=name))
