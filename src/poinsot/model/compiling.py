"""From a model to the system that is simulated."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import is_
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body, Marker
from poinsot.errors import InputError
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.garbage import no_collection
from poinsot.inputs import flag
from poinsot.model.contents import Contents
from poinsot.model.coordinates import coordinates_of, require_body_axes, require_coordinates
from poinsot.model.equations import JointEquations, positions
from poinsot.model.initial import equations_of, twists_of
from poinsot.model.wiring import Wiring
from poinsot.parts.forces import Force
from poinsot.parts.loads import PortPlace
from poinsot.parts.relaxation import maxwell_elements
from poinsot.parts.transmissions import Transmission
from poinsot.ph.interconnect import interconnect
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.scheme import Scheme
from poinsot.ph.system import PHSystem
from poinsot.systems import slender
from poinsot.systems.directors import (
    DirectorSystem,
    StabilisedSystem,
    director_system,
)
from poinsot.systems.floating.system import FloatingSystem, floating_system
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm, quaternion_system
from poinsot.systems.relaxing import relaxing_system
from poinsot.systems.rotations.system import RotationSystem, rotation_system

#: A body that is heavier than this by its density may have its lengths in millimetres [kg].
HEAVY = 1e6

#: What a model compiles to.
System: TypeAlias = (
    DirectorSystem | StabilisedSystem | QuaternionForm | RotationSystem | FloatingSystem
)


def is_elastic(model: Contents) -> bool:
    """Return whether there are elastic bodies."""
    return any(body.deforms for body in model.bodies.values())


def usual_coordinates(model: Contents) -> str:
    """Return those that are taken unless others are asked for: elastic bodies need body axes."""
    return "rotations" if is_elastic(model) else "directors"


def compiled(model: Contents, coordinates: str | None, stabilised: bool) -> PHSystem:
    """Return the system of a model."""
    return _joined(model, mechanism_of(model, coordinates, flag(stabilised, "stabilised")))


def compiled_for(model: Contents, scheme: Scheme, coordinates: str | None) -> PHSystem:
    """Return the system that a scheme integrates, in coordinates that suit it."""
    chosen = coordinates or coordinates_of(scheme)
    if coordinates is None and chosen == "directors":
        chosen = usual_coordinates(model)
    system = mechanism_of(model, chosen, stabilised=scheme.stabilised)
    whole, regulation = system.in_form(scheme.formulation), Wiring(model).regulation
    if not regulation.controllers:
        return _joined(model, whole)
    members = whole, *model.systems.values(), *regulation.systems
    return regulation.of(interconnect(*members, connections=model.connections, name=model.name))


def _joined(model: Contents, mechanism: PHSystem) -> PHSystem:
    """Return the mechanism with all systems, joined by the connections."""
    if not model.systems and not model.connections:
        return mechanism
    members = mechanism, *model.systems.values()
    return interconnect(*members, connections=model.connections, name=model.name)


@no_collection()
def mechanism_of(model: Contents, coordinates: str | None, stabilised: bool) -> System:
    """Return the system of bodies, joints, forces and ports."""
    if coordinates is None:
        coordinates = usual_coordinates(model)
    require_coordinates(coordinates)
    if not model.bodies:
        raise InputError(f"model '{model.name}' has no bodies; add one by model.add_body(...)")
    equations = equations_of(model)
    bodies = equations.bodies
    mechanism, layout, ports = in_numbers(
        equations,
        model.carried_markers.values(),
        model.forces,
        Wiring(model).with_ports,
        model.gravity,
    )
    q, motion = positions(bodies), equations.of_all(twists_of(model, equations))
    require_directors(mechanism, coordinates, stabilised)
    if stabilised and coordinates != "directors":
        elastic = ", and elastic bodies have velocities in body axes"
        raise InputError(
            "stabilised velocity constraints need coordinates 'directors'"
            f"{elastic if mechanism.elastic else ''}; use scheme 'ph-mp'"
        )
    if stabilised:
        mechanism = stabilisable(mechanism)
    if coordinates == "quaternions":
        slender.require_thickness(list(model.bodies), np.array([body.inertia for body in bodies]))
        mechanism = replace(mechanism, least=np.full(len(bodies), slender.SPUN))
    known = model.name, mechanism, layout, ports, q, motion
    if mechanism.elastic:
        return floating_system(*known, require_body_axes(coordinates))
    if coordinates == "quaternions":
        return quaternion_system(*known)
    if coordinates in PARAMETRISATIONS:
        return rotation_system(*known, coordinates)
    if mechanism.relaxing:
        return relaxing_system(*known)
    return director_system(*known, stabilised=stabilised)


def compiled_near(
    model: Contents, like: Contents, system: MechanismForm | QuaternionForm
) -> MechanismForm | QuaternionForm:
    """Return the system of a model whose parts are those of another one, some with other numbers.

    The other one has a system, whose inputs and start are taken.
    """
    equations = equations_of(model)
    if _only_bodies_differ(model, like):
        weighing = slender.with_spins(_inertia(equations.bodies)), model.gravity
        mechanism, layout = system.mechanism.weighing(*weighing), system.layout
    else:
        mechanism, layout, _ = in_numbers(
            equations,
            model.carried_markers.values(),
            model.forces,
            Wiring(model).with_ports,
            model.gravity,
        )
    if system.stabilised:
        mechanism = stabilisable(mechanism)
    return system.with_mechanism(mechanism, layout)


def _only_bodies_differ(model: Contents, like: Contents) -> bool:
    """Tell whether two models have the same parts that act on the frames of bodies."""
    pairs = (
        (model.joints, like.joints),
        (model.transmissions, like.transmissions),
        (model.forces, like.forces),
    )
    return all(all(map(is_, some.values(), others.values())) for some, others in pairs)


def _inertia(bodies: Iterable[Body]) -> NDArray[np.float64]:
    return np.array([body.inertia for body in bodies])


def in_numbers(
    equations: JointEquations,
    markers: Iterable[Marker],
    forces: Mapping[str, Force],
    ports: Mapping[str, Transmission | PortPlace],
    gravity: Vector,
) -> tuple[Mechanism, Layout, tuple[Port, ...]]:
    """Return a model as numbers: its mechanism, who is who in it, and its ports."""
    bodies, joints = equations.bodies, equations.joints
    equations.require_independent()
    placed = [force.place(name, joints) for name, force in forces.items()]
    inlets = [port.place(name, joints) for name, port in ports.items()]
    rows = [driven.label for _, inlet in inlets for driven in inlet.drives]
    inertia = _inertia(bodies)
    q, free = positions(bodies), np.zeros(len(bodies), dtype=bool)
    movable = [body.index for body in equations.movable]
    own = inertia[movable], equations.jacobian, positions(equations.movable)
    free[movable] = slender.free_spins(*own)
    pushes = [(f"force '{p.name}'", p) for potentials, _ in placed for p in potentials]
    drags = [(f"force '{d.name}'", d.direction) for _, dampers in placed for d in dampers]
    loads = [(f"port '{port.name}'", inlet.direction) for port, inlet in inlets]
    names = [body.name for body in bodies]
    slender.require_no_torque(names, inertia, free, q, [*pushes, *drags, *loads])
    potentials = tuple(p for potentials, _ in placed for p in potentials)
    mechanism = Mechanism.of(
        bodies,
        gravity,
        equations.forms.parts,
        equations.loops,
        inertia=slender.with_spins(inertia),
        least=np.where(free, slender.SPUN, 0.0),
        potentials=potentials,
        dampers=tuple(d for _, dampers in placed for d in dampers),
        inlets=tuple(inlet for _, inlet in inlets),
        contacts=tuple(equations.contacts.values()),
        singular=tuple(equations.singular),
        relaxing=tuple(maxwell_elements(potentials)),
    )
    undetermined = {equations.labels[k][0] for loop in equations.loops for k in loop.rows}
    layout = Layout.of(
        bodies, joints, undetermined, list(markers), forces, rows, ports, odd_units(gravity, bodies)
    )
    return mechanism, layout, tuple(port for port, _ in inlets)


def odd_units(gravity: Vector, bodies: Iterable[Body]) -> list[str]:
    """Return remarks on values that look as if lengths were in millimetres."""
    found = []
    g = float(np.linalg.norm(gravity))
    if 5e3 < g < 2e4:
        found.append(
            f"gravity is {g:g} m/s^2, a thousand times that of the Earth: units are SI, so give "
            "lengths in metres and 9.81 m/s^2"
        )
    for body in bodies:
        if getattr(body.shape, "density", None) is not None and body.mass > HEAVY:
            found.append(
                f"body '{body.name}' has a mass of {body.mass:.3g} kg by its density: units are "
                "SI, so check that its lengths are in metres, not millimetres"
            )
            break
    return found


def require_directors(mechanism: Mechanism, coordinates: str, stabilised: bool) -> None:
    """Refuse Maxwell elements but in directors, without stabilised velocity constraints."""
    if mechanism.relaxing and (coordinates != "directors" or stabilised):
        name = mechanism.relaxing[0].name
        remedy = "leave out coordinates and scheme, or use Kelvin-Voigt damping"
        if mechanism.elastic:
            remedy = "elastic bodies, which have velocities in body axes, cannot be combined with "
            remedy += "it; use Kelvin-Voigt damping"
        raise InputError(
            f"force '{name}': relaxation needs coordinates 'directors' and scheme 'ph-mp'; {remedy}"
        )


def stabilisable(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose mass can be inverted; refuse drives and lossy transmissions."""
    for driven in mechanism.drives:
        if not driven.transmits:
            raise InputError(
                f"the stabilised form does not support drives ('{driven.name}'), whose rates are "
                "means over steps; use scheme 'ph-mp'"
            )
        if not driven.lossless:
            raise InputError(
                f"the stabilised form does not support the efficiency of transmissions "
                f"('{driven.name}'); use scheme 'ph-mp'"
            )
    return replace(mechanism, inertia=slender.thickened(mechanism.inertia))
