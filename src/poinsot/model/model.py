"""The model: named bodies, joints, transmissions, forces and ports, checked as it grows."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground, Marker, loaded_body
from poinsot.bodies.flexible import Flexible
from poinsot.bodies.kinds import kind_of
from poinsot.bodies.shapes import Shape
from poinsot.bodies.tensors import PrincipalInertia
from poinsot.errors import InconsistentStartError, InputError, did_you_mean, printable
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.garbage import no_collection
from poinsot.inputs import require_name, vector3
from poinsot.model.assemblies import Assembly, BodyAssembly, Start
from poinsot.model.check import ModelCheck
from poinsot.model.compiling import (
    System,
    choose_scheme,
    coordinates_of,
    in_numbers,
    require_body_axes,
    require_coordinates,
    require_directors,
    stabilisable,
)
from poinsot.model.equations import JointEquations, positions
from poinsot.model.regulation import Regulation, continuous
from poinsot.model.rods import ElasticRod
from poinsot.model.simulation import Simulation
from poinsot.parts.controllers import Controller, make_controller
from poinsot.parts.coordinates import Coordinate, of_joint
from poinsot.parts.drives import Drive
from poinsot.parts.feedback import Inlet
from poinsot.parts.forces import Force
from poinsot.parts.joints import Joint
from poinsot.parts.loads import JointPort, PortPlace
from poinsot.parts.rods import RodElements
from poinsot.parts.transmissions import Transmission
from poinsot.ph.connections import Connection
from poinsot.ph.interconnect import feed, interconnect
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.result import Lazy
from poinsot.result.channels import Channel, Known, find_channel
from poinsot.so3 import RotationLike, as_rotation_matrix
from poinsot.systems.directors import DirectorSystem, director_system
from poinsot.systems.floating.system import FloatingSystem, floating_system
from poinsot.systems.kinematics.configuration import Configuration
from poinsot.systems.kinematics.driving import Driving
from poinsot.systems.kinematics.inverse import InverseDynamics, inverse_dynamics
from poinsot.systems.kinematics.trajectories import trajectory
from poinsot.systems.quaternions.systems import quaternion_system
from poinsot.systems.relaxing import relaxing_system
from poinsot.systems.rotations.system import rotation_system
from poinsot.systems.slender import SPUN, require_thickness
from poinsot.systems.start import given_twists
from poinsot.systems.statics.equilibrium import Equilibrium, find_equilibrium

T = TypeVar("T")

#: What a part is called -> where a model keeps all of them by name.
PARTS = {
    "body": "bodies",
    "marker": "markers",
    "joint": "joints",
    "transmission": "transmissions",
    "force": "forces",
    "port": "ports",
    "system": "systems",
    "sensor": "sensors",
    "controller": "controllers",
}
#: What the ends of beams and rods are called.
ENDS = "start", "end"


@dataclass(frozen=True, eq=False)
class Projection:
    """Velocities at the start that were made to suit so many joints; twists (6 bodies,)."""

    twists: Vector
    joints: int


def _names(names: Sequence[str], what: str) -> list[str]:
    """Return a list of names; a single one is a list, too."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Sequence):
        raise InputError(f"{what}: expected a list of names, got {names!r}")
    return list(names)


class Model:
    """A mechanism: bodies, joints, transmissions, forces and ports by name.

    Parameters
    ----------
    gravity : (3,)
        Acceleration of gravity [m/s^2], world axes; none by default.
    name : str
        Name of the model.
    """

    def __init__(self, *, gravity: ArrayLike = (0.0, 0.0, 0.0), name: str = "model") -> None:
        self.gravity = vector3(gravity, "gravity")
        self.name = require_name(name, "a model")
        self.ground = Ground()
        self.bodies: dict[str, Body] = {}
        self.markers: dict[str, Marker] = {}
        self.joints: dict[str, Joint] = {}
        self.transmissions: dict[str, Transmission] = {}
        self.forces: dict[str, Force] = {}
        self.ports: dict[str, PortPlace] = {}
        self.systems: dict[str, PHSystem] = {}
        self.connections: list[Connection] = []
        #: Names of sensors -> the channels that they record.
        self.sensors: dict[str, str] = {}
        self.controllers: dict[str, Controller] = {}
        #: What was added as several bodies, and how.
        self.assemblies: dict[str, tuple[BodyAssembly, Start]] = {}
        self.simulation: Simulation | None = None
        self._projection: Projection | None = None

    def __repr__(self) -> str:
        """One line: name and counts."""
        parts = {part: len(getattr(self, part)) for part in PARTS.values()}
        counts = [f"{count} {part}" for part, count in parts.items() if count]
        return f"<Model '{printable(self.name)}': {', '.join(counts) or 'empty'}>"

    # -- growing ------------------------------------------------------------------------------

    @overload
    def add_body(
        self,
        name: str,
        shape: Shape,
        *,
        position: ArrayLike = ...,
        rotation: RotationLike = ...,
        velocity: ArrayLike | None = ...,
        angular_velocity: ArrayLike | None = ...,
    ) -> Body: ...

    @overload
    def add_body(
        self,
        name: str,
        shape: ElasticRod,
        *,
        position: ArrayLike = ...,
        rotation: RotationLike = ...,
        velocity: ArrayLike | None = ...,
        angular_velocity: ArrayLike | None = ...,
    ) -> RodElements: ...

    def add_body(
        self,
        name: str,
        shape: Shape | BodyAssembly,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Any:
        """Add a body, or an `ElasticRod` as the bodies and elements that it consists of.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        shape : Shape
            `Box`, `RigidBody`, ...: mass [kg], inertia, geometry. A `Beam` is elastic; joints,
            forces and ports attach to its places `name.start`, `name.1`, ..., `name.end`.
        position : (3,)
            Centre of mass, world axes [m]; of a beam, its middle.
        rotation
            3x3 matrix R_WB, scalar-first quaternion, or `Rotation`; default: axes of the world.
        velocity, angular_velocity : (3,)
            Of the centre of mass [m/s] and of the body [rad/s], world axes; what is left out is
            completed so that the start agrees with the joints. A rod is moved and turned as a
            whole, about the origin of its curve, and moves so; with an angular velocity alone,
            that point is at rest.
        """
        self._new(name)
        what = f"body '{name}'"
        start = Start(
            vector3(position, f"{what}: position"),
            as_rotation_matrix(rotation, name=f"{what}: rotation"),
            None if velocity is None else vector3(velocity, f"{what}: velocity"),
            None
            if angular_velocity is None
            else vector3(angular_velocity, f"{what}: angular_velocity"),
        )
        if isinstance(shape, BodyAssembly):
            added = self._all_or_nothing(lambda: shape.add_to(self, name, start))
            self.assemblies[name] = shape, start
            return added
        if not isinstance(shape, Shape):
            raise InputError(f"{what}: expected a shape such as Box or RigidBody, got {shape!r}")
        body = kind_of(shape)(
            name=name,
            index=len(self.bodies),
            shape=shape,
            principal=PrincipalInertia.of(shape),
            **vars(start),
        )
        if isinstance(body, Flexible):
            self._all_or_nothing(lambda: self._add_elastic(body))
        else:
            self.bodies[name] = body
        return body

    def _add_elastic(self, body: Flexible) -> None:
        """Add an elastic body, its places, and markers on its ends."""
        for part in (body, *body.places):
            self._new(part.name)
            self.bodies[part.name] = part
        self.mark_ends(body.name, body.start, body.end)

    def mark_ends(self, name: str, start: Body, end: Body) -> None:
        """Add markers `name.start` and `name.end` on what is there, unless a place is called so."""
        for label, body in zip(ENDS, (start, end), strict=True):
            if f"{name}.{label}" in self.bodies:
                continue
            self.add_marker(f"{name}.{label}", body, position=body.position, rotation=body.R_WB)

    def add_marker(
        self, name: str, body: Body, *, position: ArrayLike, rotation: RotationLike = None
    ) -> Marker:
        """Attach a frame to a body: a point [m] and axes, given in the world at the start."""
        self._new(name)
        self._own(loaded_body(body, f"marker '{name}'"), f"marker '{name}'")
        what = f"marker '{name}'"
        self.markers[name] = Marker(
            name,
            body,
            vector3(position, f"{what}: position"),
            as_rotation_matrix(rotation, name=f"{what}: rotation"),
        )
        return self.markers[name]

    def add_joint(self, name: str, joint: Joint) -> Joint:
        """Add a joint; it must fit where the bodies are, to 1e-8 of its size."""
        self._check_part(name, joint, Joint, "joint", "Revolute")
        gaps = joint.equations.gaps
        for k, gap in enumerate(gaps):
            if gap > 0 and gap > joint.allowed_gaps()[k]:
                raise InconsistentStartError(
                    f"joint '{name}' ({joint.kind}): its equation '{joint.rows()[k].label}' is "
                    f"violated by {gap:.3g} at the start; {joint.remedy}"
                )
        self.joints[name] = joint
        return joint

    def add_transmission(self, name: str, transmission: Transmission) -> Transmission:
        """Add a `Gear`, `Belt`, `RackAndPinion`, `Screw`, `Differential` or `Cam` of joints."""
        self._check_part(name, transmission, Transmission, "transmission", "Gear")
        transmission.place(name, self.joints)
        self.transmissions[name] = transmission
        return transmission

    def add_force(self, name: str, force: Force) -> Force:
        """Add a spring or damper."""
        self._check_part(name, force, Force, "force", "Spring")
        force.place(name, self.joints)
        self.forces[name] = force
        return force

    def add_port(self, name: str, port: PortPlace) -> PortPlace:
        """Add a port: `ForcePort`, `TorquePort`, `JointPort`, or a `Drive`."""
        self._check_part(name, port, PortPlace, "port", "JointPort")
        port.place(name, self.joints)
        self.ports[name] = port
        return port

    def add_system(self, name: str, system: PHSystem) -> PHSystem:
        """Add a port-Hamiltonian system of any kind: a circuit, a hydraulic drive, a controller.

        Its states and ports are called `name.state` and `name.port` in the model; `connect` joins
        its ports with others. What is left open takes inputs of `simulate`.
        """
        self._new(name)
        if not isinstance(system, PHSystem):
            raise InputError(
                f"system '{name}': expected a port-Hamiltonian system, such as ps.ph.linear(...) "
                f"or ps.ph.symbolic(...), got {system!r}"
            )
        self.systems[name] = system.prefixed(name)
        return self.systems[name]

    def connect(self, connection: Connection) -> Connection:
        """Join ports of systems, joints and bodies, power for power.

        Parameters
        ----------
        connection : Connection
            `ps.ph.Gyrator`, `Transformer`, `Junction`, `Resistor` or `Swap` between ports by name:
            `"motor.shaft"` is port `shaft` of system `motor`, `"tip"` what `add_port` added, and
            `"hinge"` the free direction of a joint, `"hinge.angle"` one of several.
        """
        if not isinstance(connection, Connection):
            raise InputError(f"connect: expected a connection such as Gyrator, got {connection!r}")
        for name in connection.ports:
            self._require_free(name, "connect")
        joined = [self._port_named(name, "connect") for name in connection.ports]
        connection.check(joined)
        self.connections.append(connection)
        return connection

    def add_sensor(self, name: str, channel: str) -> Channel:
        """Record a quantity under a name: `result.sensor(name)`, tables, plots and files have it.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        channel : str
            `"hinge"` or `"hinge.angle"`, a coordinate of a joint, an angle counted over turns;
            `"hinge.rate"` or `"hinge.angle.rate"`; `"hinge.force"` and `"hinge.torque"`, its
            reaction; `"rod.position"`, `"rod.velocity"`, `"rod.rotation"` and
            `"rod.angular_velocity"` of a body or marker, world axes; `"motor.flux"`, a state of a
            system.
        """
        self._new(name)
        found = find_channel(channel, self._channels, f"sensor '{name}'")
        self.sensors[name] = channel
        return found

    def add_controller(
        self,
        name: str,
        law: Any,
        *,
        reads: Sequence[str],
        drives: Sequence[str],
        every: float | None = None,
        delay: float = 0.0,
        limits: ArrayLike | None = None,
        rate_limits: ArrayLike | None = None,
        states: ArrayLike | Mapping[str, float] | None = None,
    ) -> Controller:
        """Let a law feed ports with what it measures: at t_k = t_start + k T, held in between.

        The law of a sampled controller is called exactly once for each sample, with what is
        measured at that instant. One in continuous time is part of the equations of a step, at its
        midpoint. The work of outputs is energy put in through the ports that are driven.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        law : function, text or texts, SymPy, state space, or PHSystem
            u = law(t, y): numbers in the order of the ports, where y has all measured numbers in
            the order of `reads`; with `states`, (u, x_next) = law(t, y, x), where x_next are the
            states at the next sample, in continuous time their rates x'. A Numba function runs
            in machine code, and so do formulas, as texts or expressions of SymPy, one for each
            output and then one for each state: `"-20*hinge - 3*hinge_rate"` is one of channels
            `"hinge"` and `"hinge.rate"`, and may use the time t. A state space of SciPy or
            python-control gives u = C x + D y; a continuous one is discretised exactly for y that
            is held. A port-Hamiltonian system takes y as its inputs, and u are its outputs with
            the opposite sign: negative feedback.
        reads : sequence of str
            Channels as in `add_sensor`, all but reactions. Angles are counted over turns.
        drives : sequence of str
            Ports as in `connect`: `"hinge"`, `"hinge.angle"`, what `add_port` added, or an open
            port of a system such as `"motor.supply"`.
        every : float
            The sampling time T [s], a multiple of the step of a run. None: continuous time.
        delay : float
            How long after a sample its outputs act [s], a multiple of the step; zero before.
        limits : (2,) or (outputs, 2)
            Least and greatest output, in which it saturates.
        rate_limits : float or (outputs,)
            By how much an output may change in a second; it begins at zero.
        states : (n,) or mapping
            States of the law's own at the start. Formulas call them by the names of a mapping, or
            x_0, x_1 and so on. Those of state spaces and systems are zero unless they are given.
        """
        self._new(name)
        what = f"controller '{name}'"
        read = _names(reads, what)
        for each in read:
            self._require_no_controller(each, name)
        channels = [find_channel(each, self._channels, what) for each in read]
        ports = [self._port_named(each, what) for each in _names(drives, what)]
        for port in ports:
            self._require_free(port.name, what)
            if port.status == "fed":
                raise InputError(f"{what}: port '{port.name}' is fed already")
        if len({port.name for port in ports}) < len(ports):
            raise InputError(f"{what}: drives names a port twice")
        self.controllers[name] = make_controller(
            name,
            law,
            channels,
            ports,
            every=every,
            delay=delay,
            limits=limits,
            rate_limits=rate_limits,
            states=states,
        )
        return self.controllers[name]

    def _require_free(self, port: str, what: str) -> None:
        """Refuse a port that is connected or driven."""
        if any(port in each.ports for each in self.connections):
            raise InputError(f"{what}: port '{port}' is connected twice")
        for each in self.controllers.values():
            if any(port == driven.name for driven in each.drives):
                raise InputError(f"{what}: port '{port}' is driven by controller '{each.name}'")

    def _require_no_controller(self, channel: str, reader: str) -> None:
        """Refuse to read what a controller puts out; its states may be read."""
        owner = str(channel).split(".")[0]
        known = channel in self._channels.states or channel in self.joints
        if known or owner not in (*self.controllers, reader):
            return
        raise InputError(
            f"controller '{reader}': cannot read '{channel}': outputs of controllers '{owner}' and "
            f"'{reader}' at one instant would depend on each other, an algebraic loop; write both "
            "laws as one, or read states of a controller in continuous time"
        )

    @property
    def _channels(self) -> Known:
        """What sensors can record and controllers read."""
        joints, systems = self.joints, [*self.systems.values(), *self._regulation.systems]
        return Known(
            Lazy(joints, lambda name: tuple(f.label for f in joints[name].freedoms())),
            {**dict.fromkeys(self.markers, "marker"), **dict.fromkeys(self.bodies, "body")},
            {s.name: (s.size, s.unit) for each in systems for s in each.states},
        )

    def _port_named(self, name: str, what: str) -> Port:
        """Return a port of a system, one that was added, or that of a joint's free direction."""
        of_systems = {port.name: port for system in self.systems.values() for port in system.ports}
        if name in of_systems:
            return of_systems[name]
        place = self.ports.get(name) or self._joint_port(name)
        if place is None:
            known = [*of_systems, *self.ports, *self.joints]
            raise InputError(f"{what}: no port '{name}'; {did_you_mean(name, known)}")
        return place.place(name, self.joints)[0]

    def _joint_port(self, name: str) -> JointPort | None:
        """Return a port on a free direction of a joint, `joint` or `joint.freedom`; or None."""
        joint, _, freedom = name.rpartition(".")
        if name in self.joints:
            return JointPort(name)
        return JointPort(joint, freedom) if joint in self.joints else None

    @property
    def _all_ports(self) -> dict[str, PortPlace]:
        """The ports that were added, and those of joints that are connected or driven."""
        names = [name for each in self.connections for name in each.ports]
        names += [port.name for each in self.controllers.values() for port in each.drives]
        implied = {name: self._joint_port(name) for name in names if name not in self.ports}
        named = {name: port for name, port in implied.items() if port is not None}
        return {**self.ports, **named, **self._regulation.ports}

    @property
    def _regulation(self) -> Regulation:
        """The controllers in continuous time."""
        regulated = continuous(self.controllers.values())
        names = [port.name for each in regulated for port in each.drives]
        names += [name for each in self.connections for name in each.ports]
        closed = {name: self.ports.get(name) or self._joint_port(name) for name in names}
        known = {name: place for name, place in closed.items() if place is not None}
        return Regulation(regulated, self.joints, self.bodies, self.markers, known)

    def add_assembly(self, name: str, assembly: Assembly) -> tuple[Body, ...]:
        """Add an assembly, such as a `Wheel`; return its bodies. Its names begin with `name`."""
        if not isinstance(assembly, Assembly):
            raise InputError(
                f"assembly '{name}': expected an assembly such as Wheel, got {assembly!r}"
            )
        require_name(name, "an assembly")
        return self._all_or_nothing(lambda: assembly.add_to(self, name))

    def _all_or_nothing(self, add: Callable[[], T]) -> T:
        """Add several parts; if one fails, none is left whose name would be taken next time."""
        before = {parts: dict(getattr(self, parts)) for parts in PARTS.values()}
        try:
            return add()
        except InputError:
            vars(self).update(before)
            raise

    def body(self, name: str) -> Body:
        """Return a body by its name, or by that of a marker on it, such as `beam.end`."""
        if name in self.markers:
            return self.markers[name].body
        if name not in self.bodies:
            raise InputError(
                f"no body '{name}'; {did_you_mean(name, [*self.bodies, *self.markers])}"
            )
        return self.bodies[name]

    def _new(self, name: str) -> None:
        if require_name(name, "a part of a model") == self.ground.name:
            raise InputError(f"'{name}' cannot be a name: it is that of the ground")
        for kind, parts in PARTS.items():
            if name in getattr(self, parts):
                raise InputError(f"the name '{name}' is taken by a {kind}; choose another one")

    def _check_part(
        self,
        name: str,
        part: Joint | Transmission | Force | PortPlace,
        kind: type,
        what: str,
        example: str,
    ) -> None:
        """Refuse a name that is taken, a part of another kind, and bodies of another model."""
        self._new(name)
        if not isinstance(part, kind):
            raise InputError(f"{what} '{name}': expected a {what} such as {example}, got {part!r}")
        bodies: tuple[Body | Ground, ...] = ()
        if isinstance(part, Joint):
            bodies = part.a, part.b
        elif not isinstance(part, Transmission):
            bodies = part.bodies
        for body in bodies:
            self._own(body, f"{what} '{name}'")

    def _own(self, partner: Body | Ground, what: str) -> None:
        if isinstance(partner, Body) and self.bodies.get(partner.name) is not partner:
            raise InputError(
                f"{what}: body '{partner.name}' is not in this model; "
                + did_you_mean(partner.name, self.bodies)
            )

    # -- the start ----------------------------------------------------------------------------

    @property
    def _equations(self) -> JointEquations:
        """The equations of the joints, with those of transmissions and drives."""
        parts = self._with_ports.items()
        inlets = (part.place(name, self.joints)[1] for name, part in parts)
        drives = [inlet.driven for inlet in inlets if inlet.driven is not None]
        return JointEquations(list(self.bodies.values()), self.joints, drives)

    @property
    def _with_ports(self) -> dict[str, Transmission | PortPlace]:
        """All that has a port."""
        return {**self.transmissions, **self._all_ports}

    def _velocities(self, equations: JointEquations) -> Vector:
        """Return the twists at the start, completed; refuse what contradicts the joints."""
        known, given = given_twists(equations.movable)
        if self.projection is not None:
            known, given = self.projection.twists, np.ones_like(given)
        return equations.completed(known, given)

    def start_velocities(self) -> dict[str, tuple[Vector, Vector]]:
        """Return velocity [m/s] and angular velocity [rad/s] of every body at the start, by name.

        World axes; with what was left out completed, or projected where that was asked for.
        """
        equations = self._equations
        pairs = equations.of_all(self._velocities(equations)).reshape(-1, 2, 3)
        return {name: (v, omega) for name, (v, omega) in zip(self.bodies, pairs, strict=True)}

    def project_velocities(self) -> None:
        """Start from the nearest velocities, in kinetic energy, that suit the joints.

        What was left out is completed first, as well as the joints allow. A body that is added
        later undoes this.
        """
        equations = self._equations
        nearest = equations.nearest(*given_twists(equations.movable))
        self._projection = Projection(nearest, len(self.joints))

    @property
    def projection(self) -> Projection | None:
        """What `project_velocities` found, unless a body was added since."""
        if self._projection is None:
            return None
        if self._projection.twists.size != 6 * len(self._equations.movable):
            return None
        return self._projection

    def check(self) -> ModelCheck:
        """Return degrees of freedom, repeated constraints and singular positions.

        Refuses an inconsistent start.
        """
        equations = self._equations
        self._velocities(equations)
        repeated = self._repeated(equations)
        equations.require_independent()
        names = [f"{name}: {label}" for name, label in equations.labels]
        free = sum(6 if body.turns else 3 for body in equations.movable)
        free += sum(b.elastic.data.n for b in equations.bodies if isinstance(b, Flexible))
        return ModelCheck(
            bodies=len(equations.movable),
            joints=len(self.joints),
            constraints=len(names),
            freedoms=free - len(names) + len(repeated) - len(equations.drives),
            repeated=tuple(names[k] for k in sorted(repeated)),
            singular=tuple(loop.joints for loop in equations.singular),
            drives=sum(not driven.transmits for driven in equations.drives),
            transmissions=len(self.transmissions),
        )

    def _repeated(self, equations: JointEquations) -> list[int]:
        """Return the constraints that repeat others, as deformations of elastic bodies allow."""
        if self._elastic:
            system = self._mechanism(None, stabilised=False)
            assert isinstance(system, FloatingSystem)
            found = np.flatnonzero(system.redundancy.repeated[: len(equations.labels)])
            return [int(k) for k in found]
        return [int(k) for loop in equations.loops for k in loop.rows[loop.repeated]]

    # -- compiling ----------------------------------------------------------------------------

    def compile(self, coordinates: str | None = None, *, stabilised: bool = False) -> PHSystem:
        """Return the port-Hamiltonian system of this model, with its start.

        With systems or connections it is an `Interconnection`, whose first part is the mechanism.

        Parameters
        ----------
        coordinates : str
            How rotations are described: `"directors"` (default), nine numbers a body and a
            constant mass [LKB26, eq. (24)]; `"quaternions"`, a unit quaternion, scalar first, in
            Livens' form [KB24, eq. (47)]; or velocities in body axes and a rotation matrix
            (`"rotations"`), a unit quaternion (`"rotations-quaternion"`) or Euler angles
            (`"rotations-euler"`) [BHRS25, eqs. (10), (11), (16a)].
        stabilised : bool
            Add velocity constraints (GGL), as the scheme `"ph-mp-ggl"` needs; in directors only.
        """
        mechanism = self._mechanism(coordinates, stabilised)
        return self._joined(mechanism)

    def _joined(self, mechanism: PHSystem) -> PHSystem:
        """Return the mechanism with all systems, joined by the connections."""
        if not self.systems and not self.connections:
            return mechanism
        members = mechanism, *self.systems.values()
        return interconnect(*members, connections=self.connections, name=self.name)

    @no_collection()
    def _mechanism(self, coordinates: str | None, stabilised: bool) -> System:
        """Return the system of bodies, joints, forces and ports."""
        if coordinates is None:
            coordinates = self.usual_coordinates
        require_coordinates(coordinates)
        if not self.bodies:
            raise InputError(f"model '{self.name}' has no bodies; add one by model.add_body(...)")
        equations = self._equations
        bodies = equations.bodies
        mechanism, layout, ports = in_numbers(
            equations, self.markers.values(), self.forces, self._with_ports, self.gravity
        )
        q, motion = positions(bodies), equations.of_all(self._velocities(equations))
        require_directors(mechanism, coordinates, stabilised)
        if stabilised and coordinates != "directors":
            elastic = ", and elastic bodies have velocities in body axes"
            raise InputError(
                "velocity constraints are stabilised in directors only"
                f"{elastic if mechanism.elastic else ''}; use scheme 'ph-mp'"
            )
        if stabilised:
            mechanism = stabilisable(mechanism)
        if coordinates == "quaternions":
            require_thickness(list(self.bodies), np.array([body.inertia for body in bodies]))
            mechanism = replace(mechanism, least=np.full(len(bodies), SPUN))
        known = self.name, mechanism, layout, ports, q, motion
        if mechanism.elastic:
            return floating_system(*known, require_body_axes(coordinates))
        if coordinates == "quaternions":
            return quaternion_system(*known)
        if coordinates in PARAMETRISATIONS:
            return rotation_system(*known, coordinates)
        if mechanism.relaxing:
            return relaxing_system(*known)
        return director_system(*known, stabilised=stabilised)

    def scheme_for(self, scheme: str | Scheme | None, coordinates: str | None) -> Scheme:
        """Return the scheme that a model runs with; refuse one that needs other coordinates."""
        return choose_scheme(scheme, coordinates)

    @property
    def _elastic(self) -> bool:
        """Whether there are elastic bodies."""
        return any(body.deforms for body in self.bodies.values())

    @property
    def usual_coordinates(self) -> str:
        """Those that are taken unless others are asked for: elastic bodies need body axes."""
        return "rotations" if self._elastic else "directors"

    def compile_for(self, scheme: Scheme, coordinates: str | None = None) -> PHSystem:
        """Return the system that a scheme integrates, in coordinates that suit it."""
        chosen = coordinates or coordinates_of(scheme)
        if coordinates is None and chosen == "directors":
            chosen = self.usual_coordinates
        system = self._mechanism(chosen, stabilised=scheme.stabilised)
        whole, regulation = system.in_form(scheme.formulation), self._regulation
        if not regulation.controllers:
            return self._joined(whole)
        members = whole, *self.systems.values(), *regulation.systems
        return regulation.of(interconnect(*members, connections=self.connections, name=self.name))

    # -- statics ------------------------------------------------------------------------------

    def equilibrium(
        self,
        coordinates: str | None = None,
        *,
        inputs: Mapping[str, Signal | ArrayLike] | None = None,
        x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
        t: float = 0.0,
        stable: bool = True,
    ) -> Equilibrium:
        r"""Return where the model rests: grad V + G^T lambda = B u, g = 0, v = 0.

        From the start on the energy is followed downwards on the configurations that the joints
        allow. The multipliers are the smallest of many where constraints repeat each other.
        Dampers and dry friction do not act at rest: a place at which friction alone would hold the
        model is none.

        Parameters
        ----------
        coordinates : str
            Those of the system that the state belongs to, see `compile`; the place is the same.
        inputs : mapping
            Port name -> constant, or function whose value at time t counts; open ports have u = 0.
        x0 : array or mapping
            Where to start from instead.
        t : float
            Time at which inputs and laws are taken [s].
        stable : bool
            Leave a stationary point that is not stable, such as a pendulum upside down. False:
            return the stationary point that Newton's method finds, stable or not.

        Raises
        ------
        NoEquilibriumError
            If there is none on the way down: says what is left over and which bodies it moves.
        """
        system = self.compile(coordinates)
        return find_equilibrium(system, inputs=inputs, x0=x0, t=t, stable=stable)

    # -- kinematics and inverse dynamics ------------------------------------------------------

    def configuration(
        self,
        at: Mapping[str, float] | None = None,
        *,
        coordinates: Sequence[str] | None = None,
    ) -> Configuration:
        """Return where bodies are at given coordinates of joints, and Jacobians there.

        Loops and transmissions are closed, from the start on in small steps.

        Parameters
        ----------
        at : mapping
            Coordinate -> angle over turns [rad] or displacement [m], zero at the start: `"joint"`,
            or `"joint.freedom"` of one that has several. Independent ones, as many as there are
            degrees of freedom; the others follow. Default: the start.
        coordinates : sequence of str
            The independent coordinates that Jacobians are taken by; default: those of `at`, or
            all that there are.
        """
        what, values = "configuration", dict(at or {})
        names = list(values) if coordinates is None and values else coordinates
        names = self._coordinate_names if names is None else _names(names, f"{what}: coordinates")
        system = self._plain(what)
        if values:
            driving = Driving.of(system, self._coordinates(list(values), what), what)
            driving.require_determined(self._coordinate_names)
            held = {
                name: trajectory(each, 1.0, f"{what}: '{name}'") for name, each in values.items()
            }
            there = driving.along(held, 1.0).at(0.0).place
        else:
            there = Driving.of(system, {}, what).place
        by = Driving.of(system, self._coordinates(names, what), what).beside(there)
        by.require_determined(self._coordinate_names)
        return Configuration(system, by.names, by)

    def inverse_dynamics(
        self,
        motion: Mapping[str, Any],
        *,
        times: ArrayLike,
        by: Sequence[str] | None = None,
        inputs: Mapping[str, Signal | ArrayLike] | None = None,
    ) -> InverseDynamics:
        r"""Return the torques and forces that a motion of joint coordinates takes, and reactions.

        P^T (M f'' + grad V + damping) + K^T lambda = P^T B u + P^T B_a tau, at each time by itself.
        Closed loops, repeated constraints, transmissions and drives may be there. Controllers do
        not act: what they would have to do is what is found.

        Parameters
        ----------
        motion : mapping
            Coordinate -> its angle over turns [rad] or displacement [m], zero at the start:
            `"joint"`, or `"joint.freedom"` of one that has several. A number, a formula of t as
            text, `Formula`, `Table` (a cubic spline through its points), a function of time [s], or
            three functions: of coordinate, rate and acceleration. As many independent coordinates
            as there are degrees of freedom.
        times : float or (n,)
            When [s].
        by : sequence of str
            What acts: joints (`"joint"`, `"joint.freedom"`) and open ports by name; default: the
            joints of the motion. Of more than there are degrees of freedom, the smallest forces
            are returned.
        inputs : mapping
            Port name -> input of other ports, as in `simulate`.
        """
        what = "inverse_dynamics"
        if not isinstance(motion, Mapping):
            raise InputError(f"{what}: expected motions by the names of joints, got {motion!r}")
        system: PHSystem = self._plain(what)
        acting: dict[str, tuple[Port, Inlet] | None] = {}
        for name in list(motion) if by is None else _names(by, f"{what}: by"):
            place = self.ports.get(name) or self._joint_port(name)
            if place is None or isinstance(place, Drive):
                known = [*(n for n, each in self.ports.items() if not isinstance(each, Drive))]
                known += self.joints
                raise InputError(f"{what}: no port or joint '{name}'; {did_you_mean(name, known)}")
            port, inlet = place.place(name, self.joints)
            if port.status == "fed" or name in (inputs or {}):
                raise InputError(
                    f"{what}: port '{name}' is fed already; leave its value, law or input out, or "
                    "let another one act"
                )
            acting[name] = None if name in system.port_slices else (port, inlet)
        for port_name, signal in (inputs or {}).items():
            system = feed(system, port_name, signal)
        assert isinstance(system, DirectorSystem)
        coordinates = self._coordinates(list(motion), what)
        return inverse_dynamics(system, coordinates, motion, times, acting, self._coordinate_names)

    def _plain(self, what: str) -> DirectorSystem:
        """Return the mechanism in directors; refuse what has states of its own."""
        if self._elastic:
            name = next(name for name, body in self.bodies.items() if body.deforms)
            raise InputError(
                f"{what}: where elastic bodies are ('{name}') does not follow from coordinates of "
                "joints; take rigid bodies"
            )
        if self.systems:
            raise InputError(
                f"{what}: systems ('{next(iter(self.systems))}') have states of their own; take "
                "the model without them, and let the joints act that they are connected with"
            )
        system = self._mechanism("directors", stabilised=False)
        assert isinstance(system, DirectorSystem)
        return system

    def _coordinates(self, names: Sequence[str], what: str) -> dict[str, Coordinate]:
        """Return coordinates of joints by name."""
        found: dict[str, Coordinate] = {}
        for name in names:
            joint, _, freedom = name.rpartition(".") if name not in self.joints else (name, "", "")
            if joint not in self.joints:
                raise InputError(f"{what}: no joint '{name}'; {did_you_mean(name, self.joints)}")
            found[name] = of_joint(joint, self.joints, freedom or None, what)
        return found

    @property
    def _coordinate_names(self) -> list[str]:
        """All coordinates of joints, by the shortest name of each."""
        found = []
        for name, joint in self.joints.items():
            free = [each.label for each in joint.freedoms()]
            found += [name] if len(free) == 1 else [f"{name}.{label}" for label in free]
        return found

    # -- files --------------------------------------------------------------------------------

    @staticmethod
    def from_yaml(path: str | Path) -> "Model":
        """Return the model of a model file; `simulation` holds how to run it.

        Raises `ModelFileError` with file, line and key of everything that is wrong.
        """
        from poinsot.io.reading import read_file
        from poinsot.model.build import build

        return build(read_file(path))

    @staticmethod
    def from_yaml_text(text: str) -> "Model":
        """Return the model of the text of a model file."""
        from poinsot.io.reading import read_text
        from poinsot.model.build import build

        return build(read_text(text))

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Return the text of a model file, and write it if a path is given.

        Reading it gives the same model, bit by bit. Python functions cannot be written; use
        `Formula` or `Table`.
        """
        from poinsot.io.writing import write
        from poinsot.model.describe import describe

        text = write(describe(self, self.simulation))
        if path is not None:
            try:
                Path(path).write_text(text, encoding="utf-8", newline="\n")
            except OSError as error:
                raise InputError(f"cannot write '{path}': {error.strerror}") from None
        return text

    def document(
        self, inputs: Mapping[str, Signal | ArrayLike], **simulation: Any
    ) -> Callable[[], str]:
        """Return what writes the model file of a run with these inputs, of the model as it is now.

        It gives an empty text if the model cannot be written.
        """
        as_now = copy(self)
        for parts in (*PARTS.values(), "assemblies"):
            setattr(as_now, parts, dict(getattr(self, parts)))
        given = {name: u if callable(u) else deepcopy(u) for name, u in inputs.items()}

        def text() -> str:
            from poinsot.io.writing import write
            from poinsot.model.describe import describe

            try:
                return write(describe(as_now, Simulation(**simulation), given))
            except InputError:
                return ""

        return text
