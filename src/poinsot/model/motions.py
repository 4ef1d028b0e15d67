"""Configurations and inverse dynamics of a model, by joint coordinates."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.frames.places import local
from poinsot.inputs import named
from poinsot.model.compiling import is_elastic, mechanism_of
from poinsot.model.contents import Contents, list_of_names
from poinsot.model.equations import positions
from poinsot.model.wiring import Wiring
from poinsot.parts.coordinates import Coordinate, of_joint
from poinsot.parts.drives import Drive
from poinsot.parts.feedback import Inlet
from poinsot.parts.loads import JointPort
from poinsot.ph.connections import Transformer
from poinsot.ph.interconnect import feed
from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import dense
from poinsot.ph.ports import Port
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.systems.directors import DirectorSystem
from poinsot.systems.kinematics import inverse
from poinsot.systems.kinematics.configuration import Configuration
from poinsot.systems.kinematics.driving import Driving
from poinsot.systems.kinematics.rotors import Rotor
from poinsot.systems.kinematics.trajectories import trajectory


def configuration(
    model: Contents, at: Mapping[str, float] | None, coordinates: Sequence[str] | None
) -> Configuration:
    """Return where bodies are at given coordinates of joints, and Jacobians there."""
    what, values = "configuration", dict(at or {})
    names = list(values) if coordinates is None and values else coordinates
    every = coordinate_names(model)
    names = every if names is None else list_of_names(names, f"{what}: coordinates")
    system = plain(model, what)
    if values:
        driving = Driving.of(system, coordinates_of(model, list(values), what), what)
        driving.require_determined(every)
        held = {name: trajectory(each, 1.0, f"{what}: '{name}'") for name, each in values.items()}
        there = driving.along(held, 1.0).at(0.0).place
    else:
        there = Driving.of(system, {}, what).place
    by = Driving.of(system, coordinates_of(model, names, what), what).beside(there)
    by.require_determined(every)
    return Configuration(system, by.names, by, tuple(rotors_of(model).values()))


def start_coordinates(model: Contents) -> dict[str, float]:
    """Return all coordinates of joints at the start [rad or m] by name."""
    found = coordinates_of(model, coordinate_names(model), "start")
    q = positions([model.at_start(body) for body in model.bodies.values()])
    return {name: at.chart.value(at.forms(local(q, at.bodies))) for name, at in found.items()}


def inverse_dynamics(
    model: Contents,
    motion: Mapping[str, Any],
    times: ArrayLike,
    by: Sequence[str] | None,
    inputs: Mapping[str, Signal | ArrayLike] | None,
) -> inverse.InverseDynamics:
    """Return the torques and forces that a motion of joint coordinates takes, and reactions."""
    what = "inverse_dynamics"
    if not isinstance(motion, Mapping):
        raise InputError(f"{what}: expected motions by the names of joints, got {motion!r}")
    system: PHSystem = plain(model, what)
    acting: dict[str, tuple[Port, Inlet] | None] = {}
    for name in list(motion) if by is None else list_of_names(by, f"{what}: by"):
        place = Wiring(model).place(name)
        if place is None or isinstance(place, Drive):
            known = [n for n, each in model.ports.items() if not isinstance(each, Drive)]
            hint = did_you_mean(name, [*known, *model.joints])
            raise InputError(f"{what}: no port or joint '{name}'; {hint}")
        port, inlet = place.place(name, model.joints)
        if port.status == "fed" or name in (inputs or {}):
            raise InputError(
                f"{what}: port '{name}' has an input already; leave out its value, law or input, "
                "or use another actuator"
            )
        acting[name] = None if name in system.port_slices else (port, inlet)
    for port_name, signal in named(inputs, "inputs", "{'motor': 2.0}").items():
        system = feed(system, port_name, signal)
    assert isinstance(system, DirectorSystem)
    coordinates = coordinates_of(model, list(motion), what)
    every = coordinate_names(model)
    rotors = rotors_of(model)
    return inverse.inverse_dynamics(
        system, coordinates, motion, times, acting, every, list(rotors.values())
    )


def plain(model: Contents, what: str) -> DirectorSystem:
    """Return the mechanism in directors; refuse what has states of its own."""
    if is_elastic(model):
        name = next(name for name, body in model.bodies.items() if body.deforms)
        raise InputError(
            f"{what}: the positions of elastic bodies ('{name}') do not follow from joint "
            "coordinates; use rigid bodies"
        )
    others = [name for name in model.systems if name not in rotors_of(model)]
    if others:
        raise InputError(
            f"{what}: systems ('{others[0]}') have states of their own; leave them out of the "
            "model, and use the connected joints as actuators"
        )
    system = mechanism_of(model, "directors", stabilised=False)
    assert isinstance(system, DirectorSystem)
    return system


def rotors_of(model: Contents) -> dict[str, Rotor]:
    """Return systems that are nothing but an inertia on a coordinate of a joint, by name."""
    found: dict[str, Rotor] = {}
    for name, system in model.systems.items():
        place = model.ports.get(rotor_port(model, name))
        if not isinstance(system, LinearSystem) or not isinstance(place, JointPort):
            continue
        if system.n != 1 or len(system.ports) != 1:
            continue
        J, R, E, Q, B = (
            float(dense(A).sum())
            for A in (
                system.matrix_J,
                system.matrix_R,
                system.matrix_E,
                system.matrix_Q,
                system.matrix_B,
            )
        )
        if not J and not R and E * Q > 0:
            at = of_joint(place.joint, model.joints, place.freedom, f"system '{name}'")
            found[name] = Rotor(at, E / (Q * B * B))
    return found


def rotor_port(model: Contents, system: str) -> str:
    """Return the port that a system of one port is connected with, as it is; empty: none."""
    for link in model.connections:
        if isinstance(link, Transformer) and link.C is None:
            for port, other in (link.ports, link.ports[::-1]):
                if port.rpartition(".")[0] == system:
                    return other
    return ""


def coordinates_of(model: Contents, names: Sequence[str], what: str) -> dict[str, Coordinate]:
    """Return coordinates of joints by name."""
    found: dict[str, Coordinate] = {}
    for name in names:
        joint, _, freedom = name.rpartition(".") if name not in model.joints else (name, "", "")
        if joint not in model.joints:
            raise InputError(f"{what}: no joint '{name}'; {did_you_mean(name, model.joints)}")
        found[name] = of_joint(joint, model.joints, freedom or None, what)
    return found


def coordinate_names(model: Contents) -> list[str]:
    """Return all coordinates of joints, by the shortest name of each."""
    found = []
    for name, joint in model.joints.items():
        free = [each.label for each in joint.freedoms()]
        found += [name] if len(free) == 1 else [f"{name}.{label}" for label in free]
    return found
