"""The model: it grows part by part, checked as it grows, and becomes a system."""

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, overload

from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground, Marker, partner
from poinsot.bodies.flexible import Flexible
from poinsot.bodies.kinds import kind_of
from poinsot.bodies.looks import Look
from poinsot.bodies.shapes import Elasticity, Shape
from poinsot.bodies.tensors import PrincipalInertia
from poinsot.errors import InconsistentStartError, InputError, did_you_mean
from poinsot.inputs import require_name, vector3
from poinsot.model import changes, compiling, initial, motions
from poinsot.model.assemblies import Assembly, BodyAssembly, Start
from poinsot.model.assembling import Assembled, assembled
from poinsot.model.check import ModelCheck, check
from poinsot.model.contents import (
    ENDS,
    Contents,
    all_or_nothing,
    list_of_names,
    require_new,
    require_own,
    require_part,
)
from poinsot.model.coordinates import choose_scheme
from poinsot.model.moving import Sweep, moved
from poinsot.model.rods import ElasticRod
from poinsot.model.simulation import Simulation
from poinsot.model.submodels import Submodel
from poinsot.model.wiring import Wiring
from poinsot.parts.controllers import Controller, make_controller
from poinsot.parts.events import Event, Trigger
from poinsot.parts.forces import Force
from poinsot.parts.joint import Joint
from poinsot.parts.loads import PortPlace
from poinsot.parts.rods import RodElements
from poinsot.parts.transmissions import Transmission
from poinsot.ph.connections import Connection
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel, find_channel
from poinsot.so3 import RotationLike, as_rotation_matrix
from poinsot.systems.kinematics.configuration import Configuration
from poinsot.systems.kinematics.inverse import InverseDynamics
from poinsot.systems.statics.equilibrium import Equilibrium, find_equilibrium


def _start(
    what: str,
    position: ArrayLike,
    rotation: RotationLike,
    velocity: ArrayLike | None,
    spin: ArrayLike | None,
) -> Start:
    """Return where something is at the start and how it moves, checked."""
    return Start(
        vector3(position, f"{what}: position"),
        as_rotation_matrix(rotation, name=f"{what}: rotation"),
        None if velocity is None else vector3(velocity, f"{what}: velocity"),
        None if spin is None else vector3(spin, f"{what}: angular_velocity"),
    )


class Model(Contents):
    """A mechanism: bodies, joints, transmissions, forces and ports by name.

    Parameters
    ----------
    gravity : (3,)
        Acceleration of gravity [m/s^2], world axes; none by default.
    name : str
        Name of the model.
    """

    def __init__(self, *, gravity: ArrayLike = (0.0, 0.0, 0.0), name: str = "model") -> None:
        super().__init__(gravity, name)
        #: What `assemble` found last.
        self.assembled: Assembled | None = None

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
        looks: Sequence[Look] = ...,
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
        looks: Sequence[Look] = (),
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
        looks : sequence of Look
            What is drawn of a rigid body instead of its shape, such as meshes; they have no mass.
        """
        require_new(self, name)
        what = f"body '{name}'"
        start = _start(what, position, rotation, velocity, angular_velocity)
        if looks and isinstance(shape, BodyAssembly | Elasticity):
            raise InputError(f"{what}: looks are for rigid bodies; what deforms is drawn as it is")
        for look in looks:
            if not isinstance(look, Look):
                raise InputError(f"{what}: looks: expected a Look, got {look!r}")
        if isinstance(shape, BodyAssembly):
            added = all_or_nothing(self, lambda: shape.add_to(self, name, start))
            self.assemblies[name] = shape, start
            return added
        if not isinstance(shape, Shape):
            raise InputError(f"{what}: expected a shape such as Box or RigidBody, got {shape!r}")
        body = kind_of(shape)(
            name=name,
            index=len(self.bodies),
            shape=shape,
            principal=PrincipalInertia.of(shape),
            looks=tuple(looks),
            **vars(start),
        )
        if isinstance(body, Flexible):
            all_or_nothing(self, lambda: self._add_elastic(body))
        else:
            self.bodies[name] = body
        return body

    def _add_elastic(self, body: Flexible) -> None:
        """Add an elastic body, its places, and markers on its ends."""
        for part in (body, *body.places):
            require_new(self, part.name)
            self.bodies[part.name] = part
        self.mark_ends(body.name, body.start, body.end)

    def mark_ends(self, name: str, start: Body, end: Body) -> None:
        """Add markers `name.start` and `name.end` on what is there, unless a place is called so."""
        for label, body in zip(ENDS, (start, end), strict=True):
            if f"{name}.{label}" in self.bodies:
                continue
            self.add_marker(f"{name}.{label}", body, position=body.position, rotation=body.R_WB)

    def add_marker(
        self,
        name: str,
        body: Body | Ground,
        *,
        position: ArrayLike,
        rotation: RotationLike = None,
        axes: str = "world",
    ) -> Marker:
        """Attach a frame to a body or the ground, such as one end of a joint.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        body : Body or Ground
            What carries it.
        position : (3,), rotation
            Its point [m] and its axes, in the world, where the body was added.
        axes : {"world", "body"}
            `"body"`: these are given in the axes of the body, from its centre of mass instead.
        """
        require_new(self, name)
        what = f"marker '{name}'"
        require_own(self, partner(body, what), what)
        if axes not in ("world", "body"):
            raise InputError(f"{what}: axes is {axes!r}; it is 'world' or 'body'")
        point = vector3(position, f"{what}: position")
        R = as_rotation_matrix(rotation, name=f"{what}: rotation")
        if axes == "body":
            point, R = body.position + body.R_WB @ point, body.R_WB @ R
        self.markers[name] = Marker(name, body, point, R)
        return self.markers[name]

    def add_joint(self, name: str, joint: Joint) -> Joint:
        """Add a joint; it must fit where bodies are added, to 1e-8 of its size.

        One between markers may be open there, and so may a `Rod` of a length; `assemble` closes it.
        """
        require_part(self, name, joint, Joint, "joint", "Revolute")
        for end in (joint.a, joint.b):
            if isinstance(end, Marker) and self.markers.get(end.name) is not end:
                raise InputError(
                    f"joint '{name}': marker '{end.name}' is not in this model; "
                    + did_you_mean(end.name, self.markers)
                )
        gaps = () if joint.may_be_open else joint.equations.gaps
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
        require_part(self, name, transmission, Transmission, "transmission", "Gear")
        transmission.place(name, self.joints)
        self.transmissions[name] = transmission
        return transmission

    def add_force(self, name: str, force: Force) -> Force:
        """Add a spring or damper."""
        require_part(self, name, force, Force, "force", "Spring")
        force.place(name, self.joints)
        self.forces[name] = force
        return force

    def add_port(self, name: str, port: PortPlace) -> PortPlace:
        """Add a port: `ForcePort`, `TorquePort`, `JointPort`, or a `Drive`."""
        require_part(self, name, port, PortPlace, "port", "JointPort")
        port.place(name, self.joints)
        self.ports[name] = port
        return port

    @overload
    def add_system(self, name: str, system: PHSystem) -> PHSystem: ...

    @overload
    def add_system(
        self,
        name: str,
        system: "Model",
        *,
        position: ArrayLike = ...,
        rotation: RotationLike = ...,
        velocity: ArrayLike | None = ...,
        angular_velocity: ArrayLike | None = ...,
        ground: Body | Ground | None = ...,
    ) -> dict[str, Body]: ...

    def add_system(self, name: str, system: "PHSystem | Model", **placing: Any) -> Any:
        """Add a system with ports, such as a circuit, or another model as a sub-assembly.

        A port-Hamiltonian system of any kind has states and ports, called `name.state` and
        `name.port` here; `connect` joins its ports with others. What is left open takes inputs of
        `simulate`.

        All parts of a model are added as they are now, and called `name.part` here: bodies,
        joints, systems, sensors, controllers and all others. Its bodies are returned by the names
        that they have in it. Its gravity does not count here; forces and torques in world axes keep
        their direction.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        system : PHSystem or Model
            What to add. The rest is for models.
        position : (3,)
            Where its origin is, world axes [m].
        rotation
            How its axes are turned: 3x3 matrix, scalar-first quaternion, or `Rotation`.
        velocity, angular_velocity : (3,)
            Its bodies move so as a whole [m/s], [rad/s], about `position`, in addition to how they
            move in their own model. Left out: velocities that were left out there are completed
            here.
        ground : Body
            What stands for its ground: joints and forces that attach to that attach to this body;
            default: the ground.
        """
        require_new(self, name)
        if isinstance(system, Contents):
            return self._add_model(name, system, **placing)
        if placing:
            raise InputError(f"system '{name}': {next(iter(placing))} is for models, not systems")
        if not isinstance(system, PHSystem):
            raise InputError(
                f"system '{name}': expected a port-Hamiltonian system, such as ps.ph.linear(...) "
                f"or ps.ph.symbolic(...), or a Model, got {system!r}"
            )
        self.systems[name] = system.prefixed(name)
        return self.systems[name]

    def _add_model(
        self,
        name: str,
        model: Contents,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        ground: Body | Ground | None = None,
    ) -> dict[str, Body]:
        """Add the parts of another model."""
        what = f"system '{name}'"
        if model is self:
            raise InputError(f"{what}: a model cannot be a part of itself")
        ground = self.ground if ground is None else partner(ground, f"{what}: ground")
        require_own(self, ground, f"{what}: ground")
        start = _start(what, position, rotation, velocity, angular_velocity)
        return all_or_nothing(self, Submodel(self, name, model, start, ground).add)

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
        wiring = Wiring(self)
        for name in connection.ports:
            wiring.require_free(name, "connect")
        joined = [wiring.port(name, "connect") for name in connection.ports]
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
        require_new(self, name)
        found = find_channel(channel, Wiring(self).channels, f"sensor '{name}'")
        self.sensors[name] = channel
        return found

    def add_controller(
        self,
        name: str,
        law: Any,
        *,
        reads: Sequence[str],
        drives: Sequence[str] = (),
        every: float | None = None,
        delay: float = 0.0,
        limits: ArrayLike | None = None,
        rate_limits: ArrayLike | None = None,
        states: ArrayLike | Mapping[str, float] | None = None,
        outputs: int | None = None,
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
            Channels as in `add_sensor`; angles are counted over turns; and of controllers that were
            added before it `"pilot.output"`, what they put out, and `"pilot.x_0"`, their states by
            name. Of sampled ones these are the newest; what one in continuous time puts out is
            there for others of its kind only. A sampled controller reads reactions of the step
            before, zero at the start; runs in which they are one of many, or those of rolling, take
            the reference engine.
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
        outputs : int
            How many numbers the law puts out, if it is more than the ports take: those after are
            only read by other controllers.
        """
        require_new(self, name)
        what, wiring = f"controller '{name}'", Wiring(self)
        self.controllers[name] = make_controller(
            name,
            law,
            wiring.read(list_of_names(reads, what), name, sampled=every is not None),
            wiring.driven(list_of_names(drives, what), what),
            every=every,
            delay=delay,
            limits=limits,
            rate_limits=rate_limits,
            states=states,
            outputs=outputs,
        )
        return self.controllers[name]

    def add_event(self, name: str, event: Event) -> Event:
        """Watch a function of what is measured cross zero: `ps.Event("hinge.angle - 0.3")`.

        It is located within a step, to round-off, and recorded in `result.events`; it may stop the
        run, see `Event`.
        """
        require_new(self, name)
        self.trigger(name, event)
        self.events[name] = event
        return event

    def trigger(self, name: str, event: Event) -> Trigger:
        """Return an event with the channels of this model that it is one of."""
        trigger = Trigger.of(name, event, Wiring(self).channels)
        changes.require_possible(self, name, event)
        return trigger

    def without(self, names: Collection[str]) -> "Model":
        """Return a copy without some joints and loads; it has no sensors and no events."""
        return changes.without(self, names)

    def locked(
        self, joint: str, motion: Mapping[str, tuple[Vector, Array, Vector, Vector]]
    ) -> "Model":
        """Return a copy that begins with a motion, one of its joints rigid as it is there.

        The motion has for each body its position, the directors as columns, and its linear and
        angular momentum.
        """
        return changes.locked(self, joint, motion)

    def add_assembly(self, name: str, assembly: Assembly) -> tuple[Body, ...]:
        """Add an assembly, such as a `Wheel`; return its bodies. Its names begin with `name`."""
        if not isinstance(assembly, Assembly):
            raise InputError(
                f"assembly '{name}': expected an assembly such as Wheel, got {assembly!r}"
            )
        require_name(name, "an assembly")
        return all_or_nothing(self, lambda: assembly.add_to(self, name))

    # -- the start ----------------------------------------------------------------------------

    def start_places(self) -> dict[str, tuple[Vector, Vector]]:
        """Return position [m] and rotation R_WB of every body at the start, by name.

        World axes; these are where bodies were added, unless `assemble` or `move` moved them.
        """
        bodies = map(self.at_start, self.bodies.values())
        return {body.name: (body.position, body.R_WB) for body in bodies}

    def start_coordinates(self) -> dict[str, float]:
        """Return angles [rad] and displacements [m] of all joints at the start, by name.

        As in `configuration`: `"joint"`, or `"joint.freedom"` of one that has several.
        """
        return motions.start_coordinates(self)

    def assemble(
        self,
        *,
        keep: Sequence[str] | str = (),
        near: Mapping[str, float] | None = None,
    ) -> Assembled:
        r"""Move the bodies by as little as possible until all joints close; return what moved.

        Of all places at which joints close, transmissions fit and drives are where their motions
        begin, the model starts at the one that the least way of matter leads to,

        .. math:: \min \int |x - x_0|^2\, dm
                  = \sum m\, |\Delta\varphi|^2 + \sum_i E_i\, |\Delta d_i|^2 ,

        a local minimum. Rough starts will do: gaps between markers of half a body, and axes that
        are off by 60 degrees. Velocities that contradict the joints there are projected. What is
        given in world axes, of parts that are added later, too, belongs to where bodies were added
        and not to where they start.

        Parameters
        ----------
        keep : sequence of str
            Bodies that stay where they start now; elastic bodies and rods do in any case.
        near : mapping
            Coordinate of a joint -> angle [rad] or displacement [m] that it is to have, as in
            `configuration`: such as `{"elbow": 2.0}`, to choose one of several ways to close. If
            joints do not close with all of them, they are where that is nearly so.

        Raises
        ------
        AssemblyError
            If joints do not close: says which ones stay open and how far, and has the best places.
        """
        self.assembled = assembled(self, keep, near)
        return self.assembled

    def move(self, joint: str, to: ArrayLike) -> Sweep:
        """Let a coordinate of a joint go to a value, or to several; the model then starts there.

        Loops stay closed and on their branch, transmissions fit, and drives are where their motions
        begin; of several ways to follow, all bodies take that of least kinetic energy. Velocities
        that contradict the joints at the end are projected.

        Parameters
        ----------
        joint : str
            Its name, or `"joint.freedom"` of one with several coordinates.
        to : float or (n,)
            Angle over turns [rad] or displacement [m], as in `configuration`: zero where the bodies
            were added, or where two markers coincide.

        Raises
        ------
        OutOfReachError
            If it does not get there: has the limit, and what was reached; nothing is moved.
        """
        return moved(self, joint, to)

    def start_velocities(self) -> dict[str, tuple[Vector, Vector]]:
        """Return velocity [m/s] and angular velocity [rad/s] of every body at the start, by name.

        World axes; with what was left out completed, or projected where that was asked for.
        """
        return initial.start_velocities(self)

    def project_velocities(self) -> None:
        """Start from the nearest velocities, in kinetic energy, that suit the joints.

        What was left out is completed first, as well as the joints allow. A body that is added
        later undoes this.
        """
        self.projection = initial.projected(self)

    def check(self) -> ModelCheck:
        """Return degrees of freedom, repeated constraints and singular positions.

        Refuses an inconsistent start.
        """
        return check(self)

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
        return compiling.compiled(self, coordinates, stabilised)

    def scheme_for(self, scheme: str | Scheme | None, coordinates: str | None) -> Scheme:
        """Return the scheme that a model runs with; refuse one that needs other coordinates."""
        return choose_scheme(scheme, coordinates)

    @property
    def usual_coordinates(self) -> str:
        """Those that are taken unless others are asked for: elastic bodies need body axes."""
        return compiling.usual_coordinates(self)

    def compile_for(self, scheme: Scheme, coordinates: str | None = None) -> PHSystem:
        """Return the system that a scheme integrates, in coordinates that suit it."""
        return compiling.compiled_for(self, scheme, coordinates)

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
            Port name -> constant, or function or formula whose value at time t counts; open ports
            have u = 0.
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
            Coordinate -> angle over turns [rad] or displacement [m], zero where bodies were added,
            or where two markers coincide: `"joint"`, or `"joint.freedom"` of one that has several.
            Independent ones, as many as there are degrees of freedom; the others follow. Default:
            the start.
        coordinates : sequence of str
            The independent coordinates that Jacobians are taken by; default: those of `at`, or
            all that there are.
        """
        return motions.configuration(self, at, coordinates)

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
            Coordinate -> its angle over turns [rad] or displacement [m], as in `configuration`:
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
        return motions.inverse_dynamics(self, motion, times, by, inputs)

    # -- files --------------------------------------------------------------------------------

    @staticmethod
    def from_yaml(path: str | Path, *, assemble: bool = False) -> "Model":
        """Return the model of a model file; `simulation` holds how to run it.

        `assemble`: move its bodies until joints close, as if the file said so; `assembled` tells
        what moved. Raises `ModelFileError` with file, line and key of everything that is wrong.
        """
        from poinsot.io.reading import read_file
        from poinsot.model.build import build

        return build(read_file(path), assemble=assemble)

    @staticmethod
    def from_yaml_text(text: str) -> "Model":
        """Return the model of the text of a model file."""
        from poinsot.io.reading import read_text
        from poinsot.model.build import build

        return build(read_text(text))

    @staticmethod
    def from_urdf(
        path: str | Path,
        *,
        floating_base: bool = False,
        merge_fixed: bool = False,
        repair_inertia: bool = False,
        stops: bool = True,
        loops: str | Path | None = None,
        packages: Mapping[str, str | Path] | None = None,
        looks: bool = True,
    ) -> "Model":
        """Return the model of a URDF file; needs the extra `poinsot[robots]`.

        Links are bodies, by name, and joints are joints, whose coordinates are zero where those of
        the file are. Every link has a marker at its frame, `link.frame`; a link without mass is
        that marker alone, `link`. Joints have ports, `joint.motor`. What the model cannot hold is
        listed by an `OmissionWarning`.

        Parameters
        ----------
        path : str or Path
            The file.
        floating_base : bool
            Whether the first link is free; else it is fixed to the ground.
        merge_fixed : bool
            Make one body of links that are fixed to each other.
        repair_inertia : bool
            Take the nearest one where an inertia belongs to no body, which is refused else.
        stops : bool
            Whether limits of joints are there, as `JointStop`.
        loops : str or Path
            A model file with joints that close loops, and others of its parts: they name links,
            frames and joints of the robot.
        packages : mapping
            Where packages are that the file refers to, `package://name/...`; they are also looked
            for in the folders above the file.
        looks : bool
            Whether to load what links look like.
        """
        from poinsot.model.robots import read_robot
        from poinsot.robots.urdf import read_urdf

        robot = read_urdf(path, floating_base=floating_base, packages=packages, looks=looks)
        return read_robot(
            robot,
            merge_fixed=merge_fixed,
            repair_inertia=repair_inertia,
            stops=stops,
            loops=loops,
        )

    @staticmethod
    def from_mjcf(
        path: str | Path,
        *,
        keyframe: str | None = None,
        merge_fixed: bool = False,
        repair_inertia: bool = False,
        stops: bool = True,
        looks: bool = True,
    ) -> "Model":
        """Return the model of an MJCF file; needs the extra `poinsot[robots]`.

        MuJoCo compiles it. Bodies are bodies, by name, each with a marker at its frame,
        `body.frame`, and sites are markers. Coordinates of joints count from the configuration
        `qpos0`. Equalities that connect or weld bodies are exact joints, those of joints are
        transmissions, armatures are rotors on their joints, and actuators are ports by name. What
        the model cannot hold is listed by an `OmissionWarning`.

        Parameters
        ----------
        path : str or Path
            The file.
        keyframe : str
            Where it starts, by the name of a keyframe.
        merge_fixed : bool
            Make one body of bodies without joints between them.
        repair_inertia : bool
            Take the nearest one where an inertia belongs to no body, which is refused else.
        stops : bool
            Whether limits of joints are there, as `JointStop`.
        looks : bool
            Whether to keep what bodies look like.
        """
        from poinsot.model.robots import read_robot
        from poinsot.robots.mjcf import read_mjcf

        robot = read_mjcf(path, keyframe=keyframe, looks=looks)
        return read_robot(
            robot, merge_fixed=merge_fixed, repair_inertia=repair_inertia, stops=stops
        )

    def to_urdf(self, path: str | Path | None = None) -> str:
        """Return the text of a URDF file, and write it and its meshes if a path is given.

        A tree of rigid bodies with its joints, limits, friction and gears; joints of several
        coordinates become as many, with links without mass between them. What the format cannot
        hold is listed by an `OmissionWarning`.
        """
        from poinsot.model.robots import write_robot
        from poinsot.robots.write_urdf import write_urdf

        return write_robot(self, path, write_urdf)

    def to_mjcf(self, path: str | Path | None = None) -> str:
        """Return the text of an MJCF file for MuJoCo, and write it and its meshes.

        Rigid bodies with their joints, springs, limits, friction, rotors, gears and motors; joints
        that close loops are equalities, which MuJoCo keeps softly. What the format cannot hold is
        listed by an `OmissionWarning`.
        """
        from poinsot.model.robots import write_robot
        from poinsot.robots.write_mjcf import write_mjcf

        return write_robot(self, path, write_mjcf)

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Return the text of a model file, and write it if a path is given.

        Reading it gives the same model, bit by bit. Python functions cannot be written; use
        `Formula` or `Table`. Meshes go to STL files in a folder `NAME_meshes` next to the file;
        without a path, bodies have no meshes.
        """
        from poinsot.io.writing import write
        from poinsot.model.describe import describe
        from poinsot.robots.writing import mesh_store

        if path is None:
            return write(describe(self, self.simulation))
        try:
            text = write(describe(self, self.simulation, store=mesh_store(Path(path))))
            Path(path).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"cannot write '{path}': {error.strerror}") from None
        return text

    def document(
        self,
        inputs: Mapping[str, Signal | ArrayLike],
        events: Mapping[str, Event],
        **simulation: Any,
    ) -> Callable[[], str]:
        """Return what writes the model file of a run with these inputs and additional events.

        Of the model as it is now; it gives an empty text if that cannot be written.
        """
        as_now = self.as_now()
        as_now.events.update(events)
        given = {name: u if callable(u) else deepcopy(u) for name, u in inputs.items()}

        def text() -> str:
            from poinsot.io.writing import write
            from poinsot.model.describe import describe

            try:
                return write(describe(as_now, Simulation(**simulation), given))
            except InputError:
                return ""

        return text
