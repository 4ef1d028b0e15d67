"""From a model to the system that is simulated."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from poinsot.bodies.body import Marker
from poinsot.errors import InputError, did_you_mean
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.model.equations import JointEquations, positions
from poinsot.parts.forces import Force
from poinsot.parts.loads import PortPlace
from poinsot.parts.relaxation import maxwell_elements
from poinsot.parts.transmissions import Transmission
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.scheme import Scheme
from poinsot.schemes.records import find_scheme
from poinsot.systems import slender
from poinsot.systems.directors import DirectorSystem, StabilisedSystem
from poinsot.systems.floating.system import FloatingSystem
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.rotations.system import RotationSystem

#: What a model compiles to.
System: TypeAlias = (
    DirectorSystem | StabilisedSystem | QuaternionForm | RotationSystem | FloatingSystem
)

#: What rotations are described by, and the scheme for it unless another one is given.
COORDINATES = {
    "directors": "ph-mp",
    "quaternions": "emh-mean",
    **dict.fromkeys(PARAMETRISATIONS, "ph-mp"),
}


def require_coordinates(coordinates: str) -> None:
    """Refuse coordinates that there are not."""
    if not isinstance(coordinates, str):
        raise InputError(f"coordinates: expected one of {', '.join(COORDINATES)}")
    if coordinates not in COORDINATES:
        hint = did_you_mean(coordinates, COORDINATES)
        raise InputError(f"no coordinates '{coordinates}'; {hint}")


def require_body_axes(coordinates: str) -> str:
    """Return coordinates that elastic bodies can have, or say which."""
    if coordinates in PARAMETRISATIONS:
        return coordinates
    raise InputError(
        f"elastic bodies have velocities in body axes, not coordinates '{coordinates}'; leave the "
        "coordinates out, or take 'rotations' with scheme 'ph-mp'"
    )


def choose_scheme(scheme: str | Scheme | None, coordinates: str | None) -> Scheme:
    """Return the scheme for a model in some coordinates; None: those that the scheme needs."""
    if coordinates is None:
        return find_scheme(scheme or COORDINATES["directors"])
    require_coordinates(coordinates)
    method = find_scheme(scheme or COORDINATES[coordinates])
    if not fits(method, coordinates):
        raise InputError(
            f"scheme '{method.name}' runs in {coordinates_of(method)}, not in {coordinates}; "
            f"leave the coordinates out, or take another scheme such as "
            f"'{COORDINATES[coordinates]}'"
        )
    return method


def coordinates_of(scheme: Scheme) -> str:
    """Return the coordinates that a scheme needs, or takes unless told otherwise."""
    return "directors" if scheme.formulation == "ph" else "quaternions"


def fits(scheme: Scheme, coordinates: str) -> bool:
    """Tell whether a scheme integrates models in these coordinates."""
    if coordinates in PARAMETRISATIONS:
        midpoint = scheme.formulation == "ph" and scheme.rule is Rule.MIDPOINT
        return midpoint and not scheme.stabilised
    return coordinates_of(scheme) == coordinates


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
    drives = [inlet.driven for _, inlet in inlets if inlet.driven is not None]
    rows = [
        f"{driven.name} ({'transmission' if driven.transmits else 'drive'})" for driven in drives
    ]
    inertia = np.array([body.inertia for body in bodies])
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
    layout = Layout.of(bodies, joints, undetermined, list(markers), forces, rows)
    return mechanism, layout, tuple(port for port, _ in inlets)


def require_directors(mechanism: Mechanism, coordinates: str, stabilised: bool) -> None:
    """Refuse Maxwell elements but in directors, without stabilised velocity constraints."""
    if mechanism.relaxing and (coordinates != "directors" or stabilised):
        name = mechanism.relaxing[0].name
        remedy = "leave out coordinates and scheme, or take Kelvin-Voigt damping"
        if mechanism.elastic:
            remedy = "beams and other elastic bodies, which have velocities in body axes, need "
            remedy += "a model without; take Kelvin-Voigt damping"
        raise InputError(
            f"force '{name}': relaxation is there in directors only, with scheme 'ph-mp'; {remedy}"
        )


def stabilisable(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose mass can be inverted; refuse drives and lossy transmissions."""
    for driven in mechanism.drives:
        if not driven.transmits:
            raise InputError(
                f"the stabilised form does not keep the motion of drives ('{driven.name}'): their "
                "rates are known as means over steps, not at the ends of these; use scheme 'ph-mp'"
            )
        if not driven.lossless:
            raise InputError(
                f"the stabilised form does not know the friction of transmissions "
                f"('{driven.name}'), which is in proportion to one multiplier, and has two; use "
                "scheme 'ph-mp'"
            )
    return replace(mechanism, inertia=slender.thickened(mechanism.inertia))
