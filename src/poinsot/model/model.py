"""The model of a mechanism: parts are added by name and checked, and compiled to a system."""

from __future__ import annotations

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
from poinsot.errors import InconsistentStartError, InputError
from poinsot.inputs import named, require_name, vector3
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
from poinsot.parts.fmus import FMUFile, FMULaw
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
    """Return checked position, rotation and velocities at the start."""
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
        Acceleration of gravity [m/s^2], world axes. Default: no gravity.
    name : str
        Name of the model.

    Examples
    --------
    A pendulum that starts horizontally::

        model = ps.Model(gravity=(0, 0, -9.81))
        box = ps.Box(mass=1.0, size=(0.5, 0.02, 0.02))
        rod = model.add_body("rod", box, position=(0.25, 0, 0))
        hinge = ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0))
        model.add_joint("hinge", hinge)
        result = ps.simulate(model, h=0.01, t_end=5.0)
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
        """Add a body and return it. An `ElasticRod` is added as its nodes and elements.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        shape : Shape
            Mass [kg], inertia and geometry: `Box`, `Sphere`, `RigidBody`, ... A `Beam` is elastic;
            joints, forces and ports attach to its nodes `name.start`, `name.1`, ..., `name.end`.
        position : (3,)
            Position of the centre of mass [m], world axes; for a beam, of its middle.
        rotation
            3x3 matrix R_WB, scalar-first quaternion, or `Rotation`. Default: the world axes.
        velocity, angular_velocity : (3,)
            Velocity of the centre of mass [m/s] and angular velocity [rad/s], world axes. Missing
            velocities are computed so that they satisfy the joints. For an `ElasticRod`, position,
            rotation and velocities are those of the origin of its curve; with an angular velocity
            alone, that point is at rest.
        looks : sequence of Look
            What is drawn of a rigid body instead of its shape, such as meshes; they have no mass.
        """
        require_new(self, name)
        what = f"body '{name}'"
        start = _start(what, position, rotation, velocity, angular_velocity)
        if looks and isinstance(shape, BodyAssembly | Elasticity):
            raise InputError(f"{what}: looks are available for rigid bodies only; leave them out")
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
        """Add an elastic body, its attachment points, and markers at its ends."""
        for part in (body, *body.places):
            require_new(self, part.name)
            self.bodies[part.name] = part
        self.mark_ends(body.name, body.start, body.end)

    def mark_ends(self, name: str, start: Body, end: Body) -> None:
        """Add markers `name.start` and `name.end`, unless bodies already have these names."""
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
        """Attach a frame to a body or the ground, for joints or to follow a point.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        body : Body or Ground
            The body that carries the marker.
        position : (3,)
            Position of its origin [m].
        rotation
            Its axes; see `add_body`.
        axes : {"world", "body"}
            `"world"`: position and rotation are given in world axes, for the start position of the
            body. `"body"`: in the axes of the body, from its centre of mass.
        """
        require_new(self, name)
        what = f"marker '{name}'"
        require_own(self, partner(body, what), what)
        if axes not in ("world", "body"):
            raise InputError(f"{what}: axes is {axes!r}; it must be 'world' or 'body'")
        point = vector3(position, f"{what}: position")
        R = as_rotation_matrix(rotation, name=f"{what}: rotation")
        if axes == "body":
            point, R = body.position + body.R_WB @ point, body.R_WB @ R
        self.markers[name] = Marker(name, body, point, R)
        return self.markers[name]

    def add_joint(self, name: str, joint: Joint) -> Joint:
        """Add a joint, such as `Revolute`, and return it.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        joint : Joint
            The joint. Its equations must hold at the start to 1e-8 of the size of the joint. Joints
            between markers, and a `Rod` with a `length`, may be open; `assemble` closes them.

        Raises
        ------
        InconsistentStartError
            If the bodies do not fit the joint at the start.
        """
        require_part(self, name, joint, Joint, "joint", "Revolute")
        for end in (joint.a, joint.b):
            if isinstance(end, Marker) and self.markers.get(end.name) is not end:
                raise InputError(
                    f"joint '{name}': marker '{end.name}' belongs to another model; "
                    "add one to this model by model.add_marker(...)"
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
        """Add a transmission between joint coordinates and return it.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        transmission : Transmission
            A `Gear`, `Belt`, `RackAndPinion`, `Screw`, `Differential` or `Cam` between joints of
            this model.
        """
        require_part(self, name, transmission, Transmission, "transmission", "Gear")
        transmission.place(name, self.joints)
        self.transmissions[name] = transmission
        return transmission

    def add_force(self, name: str, force: Force) -> Force:
        """Add a force that depends on positions and velocities, and return it.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        force : Force
            A spring, damper, bushing, friction, stop, drag or field, such as `Spring`.
        """
        require_part(self, name, force, Force, "force", "Spring")
        force.place(name, self.joints)
        self.forces[name] = force
        return force

    def add_port(self, name: str, port: PortPlace) -> PortPlace:
        """Add a port, through which the model exchanges energy, and return it.

        Parameters
        ----------
        name : str
            Unique among everything in the model. Inputs are given to `simulate` by this name.
        port : PortPlace
            `ForcePort` and `TorquePort` act on a body, `JointPort` on a joint coordinate; `Drive`
            and `BodyDrive` prescribe a motion.
        """
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
        system: Model,
        *,
        position: ArrayLike = ...,
        rotation: RotationLike = ...,
        velocity: ArrayLike | None = ...,
        angular_velocity: ArrayLike | None = ...,
        ground: Body | Ground | None = ...,
    ) -> dict[str, Body]: ...

    def add_system(self, name: str, system: PHSystem | Model, **placing: Any) -> Any:
        """Add a system with ports, such as a circuit, or another model as a sub-assembly.

        States and ports of a port-Hamiltonian system are named `name.state` and `name.port` in this
        model. `connect` connects its ports; ports that stay open take inputs of `simulate`.

        The parts of another model are copied as they are at the time of the call and named
        `name.part`. Its gravity is ignored; forces and torques in world axes keep their direction.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        system : PHSystem or Model
            What to add. The other parameters apply to models only.
        position : (3,)
            Position of its origin [m], world axes.
        rotation
            Rotation of its axes: 3x3 matrix, scalar-first quaternion, or `Rotation`.
        velocity, angular_velocity : (3,)
            Velocity of `position` [m/s] and angular velocity [rad/s] of all its bodies, in addition
            to those in their own model. If left out, velocities that are missing there are
            computed here.
        ground : Body
            The body that replaces its ground: what is attached to its ground is attached to this
            body. Default: the ground.

        Returns
        -------
        PHSystem or dict
            The system with its new names, or the added bodies by their names in the other model.
        """
        require_new(self, name)
        if isinstance(system, Contents):
            return self._add_model(name, system, **placing)
        if placing:
            raise InputError(
                f"system '{name}': {next(iter(placing))} is an option for models, not for systems; "
                "leave it out"
            )
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
            raise InputError(f"{what}: a model cannot contain itself; add another model")
        ground = self.ground if ground is None else partner(ground, f"{what}: ground")
        require_own(self, ground, f"{what}: ground")
        start = _start(what, position, rotation, velocity, angular_velocity)
        return all_or_nothing(self, Submodel(self, name, model, start, ground).add)

    def connect(self, connection: Connection) -> Connection:
        """Connect ports of systems, joints and bodies. Connections conserve power.

        Parameters
        ----------
        connection : Connection
            `ps.ph.Gyrator`, `Transformer`, `Junction`, `Resistor` or `Swap` between ports by name:
            `"motor.shaft"` is port `shaft` of system `motor`, `"tip"` a port that was added by
            `add_port`, `"hinge"` the free coordinate of a joint, `"hinge.angle"` one of several.
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
        """Record a quantity: `result.sensor(name)`, tables, plots and files have it.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        channel : str
            `"hinge"` or `"hinge.angle"`: a coordinate of a joint, with angles counted over full
            turns. `"hinge.rate"` or `"hinge.angle.rate"`: its rate. `"hinge.force"` and
            `"hinge.torque"`: the force and torque of a joint. `"rod.position"`, `"rod.velocity"`,
            `"rod.rotation"` and `"rod.angular_velocity"`: of a body or marker, world axes.
            `"motor.flux"`: a state of a system.
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
        """Add a controller, which reads channels and sets the inputs of ports.

        A sampled controller is called once for each sample at t_k = t_start + k T, with the values
        at that time; its outputs are held until the next sample. A controller in continuous time is
        part of the equations of a step, at its midpoint. The work of its outputs is energy that is
        supplied through the ports.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        law : function, str or sequence of str, SymPy, state space, or PHSystem
            u = law(t, y), where y has the values of `reads` and u the inputs of `drives`, in order.
            With `states`, (u, x_next) = law(t, y, x), where x_next are the states at the next
            sample, or in continuous time their rates. Numba functions and formulas run in machine
            code. Formulas are strings or SymPy expressions, one for each output, then one for each
            state: `"-20*hinge - 3*hinge_rate"` uses the channels `"hinge"` and `"hinge.rate"`, and
            t is the time. A state space of SciPy or python-control gives u = C x + D y; a
            continuous one is discretised exactly for held y. A port-Hamiltonian system takes y as
            its input and gives u as its negative output: negative feedback.
        reads : sequence of str
            Channels as in `add_sensor`, and of controllers that were added before it:
            `"pilot.output"`, their outputs, and `"pilot.x_0"`, their states by name. Outputs of
            continuous controllers can be read by other continuous ones only. A sampled controller
            reads joint forces of the previous step, which are zero at the start; if these are not
            unique, or those of rolling contacts, the run uses the reference engine.
        drives : sequence of str
            Ports as in `connect`: `"hinge"`, `"hinge.angle"`, a port that was added by `add_port`,
            or an open port of a system such as `"motor.supply"`.
        every : float
            Sampling time T [s], a multiple of the step size. None: continuous time.
        delay : float
            Time between a sample and its output [s], a multiple of the step size.
        limits : (2,) or (outputs, 2)
            Smallest and largest output.
        rate_limits : float or (outputs,)
            Largest change of an output per second; outputs start at zero.
        states : (n,) or mapping
            Initial states of the controller. Formulas use the names of a mapping, or x_0, x_1, ...
            States of state spaces and systems are zero by default.
        outputs : int
            Number of outputs, if there are more than the ports need. Additional outputs are only
            read by other controllers.
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

    def add_fmu(
        self,
        name: str,
        path: str | Path,
        *,
        every: float,
        reads: Mapping[str, str] | None = None,
        drives: Mapping[str, str] | None = None,
        outputs: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
    ) -> Controller:
        """Add an FMU of another program, coupled by co-simulation.

        The FMU is a sampled controller: at t_k = t_start + k T it advances from t_{k-1} to t_k with
        the inputs read at t_{k-1}, then reads its inputs anew; its outputs are held until t_{k+1}.
        The energy through a port that it drives is in `result.port(...)`, exactly as the model sees
        it. The energy gained or lost by the coupling is returned by `ps.analysis.coupling_error`.
        Every run has its own instance of the FMU. Needs FMPy, `pip install "poinsot[fmi]"`.

        Parameters
        ----------
        name : str
            Unique among everything in the model.
        path : path
            An FMU for co-simulation, FMI 2.0 or 3.0, with a binary for this platform.
        every : float
            Communication step T [s], a multiple of the step size.
        reads : mapping
            Input of the FMU -> channel as in `add_sensor`: `{"speed": "axle.rate"}`. A vector is
            read by variables `"v[0]"`, `"v[1]"`, ... under their common name `"v"`.
        drives : mapping
            Port as in `add_controller` -> output of the FMU: `{"axle": "torque"}`. A minus sign
            reverses it: `"-torque"` is the reaction to what acts on the FMU.
        outputs : sequence of str
            Further outputs of the FMU for controllers that are added later. They follow those of
            `drives` in `"name.output"`.
        parameters : mapping
            Parameters of the FMU, and values of inputs that read no channel.

        Raises
        ------
        FMUError
            If the file is not an FMU that can run here, or has no variables of these names.
        """
        require_new(self, name)
        what, wiring = f"FMU '{name}'", Wiring(self)
        measured = named(reads or {}, f"{what}: reads", "{'speed': 'axle.rate'}")
        driven = named(drives or {}, f"{what}: drives", "{'axle': 'torque'}")
        set_up = named(parameters or {}, f"{what}: parameters", "{'mass': 2.0}")
        file = FMUFile.at(Path(path).resolve(), what)
        channels = wiring.read(list(measured.values()), name, sampled=True)
        ports = wiring.driven(list(driven), what)
        law = FMULaw.of(
            file,
            [(v, channel.size) for v, channel in zip(measured, channels, strict=True)],
            [(text, port.size) for text, port in zip(driven.values(), ports, strict=True)],
            list_of_names(outputs, f"{what}: outputs"),
            set_up,
            what,
        )
        self.controllers[name] = make_controller(
            name, law, channels, ports, every=every, outputs=len(law.outputs) or None
        )
        return self.controllers[name]

    def add_event(self, name: str, event: Event) -> Event:
        """Add an event, a zero crossing such as `ps.Event("hinge.angle - 0.3")`.

        Events are located within a step to round-off, and recorded in `result.events`. They can
        stop the run or change the model; see `Event`.
        """
        require_new(self, name)
        self.trigger(name, event)
        self.events[name] = event
        return event

    def trigger(self, name: str, event: Event) -> Trigger:
        """Return an event with the channels of this model, checked."""
        trigger = Trigger.of(name, event, Wiring(self).channels)
        changes.require_possible(self, name, event)
        return trigger

    def without(self, names: Collection[str]) -> Model:
        """Return a copy without some joints and loads, and without sensors and events."""
        return changes.without(self, names)

    def locked(
        self, joint: str, motion: Mapping[str, tuple[Vector, Array, Vector, Vector]]
    ) -> Model:
        """Return a copy that starts from a given motion with one joint locked in its position.

        The motion maps each body to its position, the directors as columns, and its linear and
        angular momentum.
        """
        return changes.locked(self, joint, motion)

    def add_assembly(self, name: str, assembly: Assembly) -> tuple[Body, ...]:
        """Add an assembly, such as a `Wheel`, and return its bodies.

        Parameters
        ----------
        name : str
            Unique among everything in the model. The names of all parts begin with it.
        assembly : Assembly
            `Wheel` or `DifferentialDrive`.
        """
        if not isinstance(assembly, Assembly):
            raise InputError(
                f"assembly '{name}': expected an assembly such as Wheel, got {assembly!r}"
            )
        require_name(name, "an assembly")
        return all_or_nothing(self, lambda: assembly.add_to(self, name))

    # -- the start ----------------------------------------------------------------------------

    def start_places(self) -> dict[str, tuple[Vector, Vector]]:
        """Return position [m] and rotation matrix R_WB of each body at the start, by name.

        World axes. These are the places at which bodies were added, or those found by `assemble`
        or `move`.
        """
        bodies = map(self.at_start, self.bodies.values())
        return {body.name: (body.position, body.R_WB) for body in bodies}

    def start_coordinates(self) -> dict[str, float]:
        """Return the coordinates of all joints at the start, angles [rad] and displacements [m].

        Names are those of `configuration`: `"joint"`, or `"joint.freedom"` if it has several.
        """
        return motions.start_coordinates(self)

    def assemble(
        self,
        *,
        keep: Sequence[str] | str = (),
        near: Mapping[str, float] | None = None,
    ) -> Assembled:
        r"""Move the bodies by as little as possible until all joints are closed; return the moves.

        Among all positions at which joints are closed, transmissions fit and drives are at the
        start of their motions, the model starts at a local minimum of the mean square displacement,

        .. math:: \min \int |x - x_0|^2\, dm
                  = \sum m\, |\Delta\varphi|^2 + \sum_i E_i\, |\Delta d_i|^2 ,

        Rough starts are good enough: gaps of half a body, and axes that are off by 60 degrees.
        Velocities that violate the joints there are projected. Points and axes in world axes always
        refer to the positions at which bodies were added, also for parts that are added later.

        Parameters
        ----------
        keep : sequence of str
            Bodies that stay where they are; elastic bodies and rods always do.
        near : mapping
            Joint coordinate -> desired angle [rad] or displacement [m], as in `configuration`, such
            as `{"elbow": 2.0}`, to choose one of several solutions. If the joints do not close with
            these values, the closest solution is taken.

        Raises
        ------
        AssemblyError
            If joints do not close. It has the remaining gaps and the best positions.
        """
        self.assembled = assembled(self, keep, near)
        return self.assembled

    def move(self, joint: str, to: ArrayLike) -> Sweep:
        """Move a joint coordinate to one or several values; the model then starts at the last.

        Loops stay closed and on their branch, transmissions fit, and drives are at the start of
        their motions. If the motion is not unique, it has the smallest kinetic energy. Velocities
        that violate the joints at the end are projected.

        Parameters
        ----------
        joint : str
            Its name, or `"joint.freedom"` of one with several coordinates.
        to : float or (n,)
            Angle, counted over full turns [rad], or displacement [m], as in `configuration`. Zero
            is the position at which the bodies were added, or at which two markers coincide.

        Raises
        ------
        OutOfReachError
            If the value cannot be reached. It has the limit and the motion up to there; the model
            is not changed.
        """
        return moved(self, joint, to)

    def start_velocities(self) -> dict[str, tuple[Vector, Vector]]:
        """Return velocity [m/s] and angular velocity [rad/s] of each body at the start, by name.

        In world axes. Missing velocities are computed; see also `project_velocities`.
        """
        return initial.start_velocities(self)

    def project_velocities(self) -> None:
        """Project the start velocities onto those that satisfy the joints.

        The change has the smallest kinetic energy. Missing velocities are computed first. Adding a
        body afterwards undoes this.
        """
        self.projection = initial.projected(self)

    def check(self) -> ModelCheck:
        """Return degrees of freedom, redundant constraints and singular positions.

        Raises
        ------
        InconsistentStartError
            If positions or velocities at the start violate the joints.
        """
        return check(self)

    # -- compiling ----------------------------------------------------------------------------

    def compile(self, coordinates: str | None = None, *, stabilised: bool = False) -> PHSystem:
        """Return the port-Hamiltonian system of this model, with its initial state.

        A model with systems or connections is an `Interconnection`, whose first part is the
        mechanism.

        Parameters
        ----------
        coordinates : str
            How rotations are described: `"directors"` (default), nine numbers per body and a
            constant mass matrix [LKB26, eq. (24)]; `"quaternions"`, a unit quaternion, scalar
            first, in Livens' form [KB24, eq. (47)]; or velocities in body axes and a rotation
            matrix (`"rotations"`), a unit quaternion (`"rotations-quaternion"`) or Euler angles
            (`"rotations-euler"`) [BHRS25, eqs. (10), (11), (16a)].
        stabilised : bool
            Add velocity constraints (GGL), as the scheme `"ph-mp-ggl"` needs; in directors only.
        """
        return compiling.compiled(self, coordinates, stabilised)

    def scheme_for(self, scheme: str | Scheme | None, coordinates: str | None) -> Scheme:
        """Return the scheme for this model; raise `InputError` if it needs other coordinates."""
        return choose_scheme(scheme, coordinates)

    @property
    def usual_coordinates(self) -> str:
        """Default coordinates of this model; elastic bodies need velocities in body axes."""
        return compiling.usual_coordinates(self)

    def compile_for(self, scheme: Scheme, coordinates: str | None = None) -> PHSystem:
        """Return the system that a scheme integrates, in coordinates that suit the scheme."""
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
        r"""Return an equilibrium of the model: grad V + G^T lambda = B u, g = 0, v = 0.

        It is found by descending the potential energy from the start, with joints closed. With
        redundant constraints, the smallest multipliers are returned. Dampers and dry friction do
        not act in equilibrium, so that a position at which friction alone holds the model is not
        one.

        Parameters
        ----------
        coordinates : str
            Coordinates of the returned state, see `compile`. The position is the same for all.
        inputs : mapping
            Port name -> constant, or function or formula that is evaluated at time t. Ports without
            an input have u = 0.
        x0 : array or mapping
            State to begin with instead of the start of the model.
        t : float
            Time at which inputs and laws are evaluated [s].
        stable : bool
            True: find a stable equilibrium, and not a pendulum upside down. False: return the
            stationary point that Newton's method finds, stable or not.

        Raises
        ------
        NoEquilibriumError
            If none is found. It has the remaining force and names what it accelerates.
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
        """Return the positions of all bodies at given joint coordinates, with Jacobians.

        Loops and transmissions are followed from the start in small steps.

        Parameters
        ----------
        at : mapping
            Joint coordinate -> angle, counted over full turns [rad], or displacement [m]; zero is
            the position at which the bodies were added, or at which two markers coincide. Named
            `"joint"`, or `"joint.freedom"` for a joint with several. As many independent
            coordinates as there are degrees of freedom. Default: the start.
        coordinates : sequence of str
            Independent coordinates for the Jacobians. Default: those of `at`, or all.
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
        r"""Return the torques, forces and joint forces for a given motion of joint coordinates.

        P^T (M f'' + grad V + damping) + K^T lambda = P^T B u + P^T B_a tau, at each time by itself.
        The model may have closed loops, redundant constraints, transmissions and drives. Its
        controllers are ignored.

        Parameters
        ----------
        motion : mapping
            Joint coordinate as in `configuration` -> its motion: a number, a formula in t, a
            `Formula`, a `Table` (interpolated by a cubic spline), a function of time [s], or three
            functions for coordinate, rate and acceleration. As many independent coordinates as
            there are degrees of freedom.
        times : float or (n,)
            Times [s].
        by : sequence of str
            The actuators: joints (`"joint"`, `"joint.freedom"`) and open ports. Default: the joints
            of the motion. With more actuators than degrees of freedom, the smallest forces are
            returned.
        inputs : mapping
            Port name -> input of other ports, as in `simulate`.
        """
        return motions.inverse_dynamics(self, motion, times, by, inputs)

    # -- files --------------------------------------------------------------------------------

    @staticmethod
    def from_yaml(path: str | Path, *, assemble: bool = False) -> Model:
        """Read a model file (YAML); `simulation` of the model holds how to run it.

        Parameters
        ----------
        path : path
            The file.
        assemble : bool
            Move the bodies until all joints are closed, as with `assemble: true` in the file.
            `assembled` of the model has the result.

        Raises
        ------
        ModelFileError
            If the file is invalid. It lists all problems with file, line and key.
        """
        from poinsot.io.reading import read_file
        from poinsot.model.build import build

        return build(read_file(path), assemble=assemble)

    @staticmethod
    def from_yaml_text(text: str) -> Model:
        """Read a model from the text of a model file; see `from_yaml`."""
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
    ) -> Model:
        """Read a URDF file; needs the extra `poinsot[robots]`.

        Links become bodies and joints become joints of the same names, with the same zero
        positions. Every link has a marker at its frame, `link.frame`. A link without mass becomes a
        marker, `link`. Every moving joint has a port, `joint.motor`. Elements that the model cannot
        represent are listed by an `OmissionWarning`.

        Parameters
        ----------
        path : path
            The file.
        floating_base : bool
            Let the first link move freely. Default: it is fixed to the ground.
        merge_fixed : bool
            Merge links that are connected by fixed joints into one body.
        repair_inertia : bool
            Replace inertias that no rigid body can have by the nearest possible ones. Default:
            raise.
        stops : bool
            Represent joint limits by `JointStop`.
        loops : path
            Model file with additional parts, such as joints that close loops. It refers to links,
            frames and joints of the robot by name.
        packages : mapping
            Package name -> folder, for references `package://name/...`. Other packages are searched
            in the folders above the file.
        looks : bool
            Load the visual geometry of links.

        Raises
        ------
        RobotFileError
            If the file is invalid or makes no model. It has the file and the element.
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
    ) -> Model:
        """Read an MJCF file with MuJoCo's compiler; needs the extra `poinsot[robots]`.

        Bodies keep their names, each with a marker at its frame, `body.frame`; sites become
        markers. Joint coordinates are zero in the configuration `qpos0`. Equality constraints
        `connect` and `weld` become exact joints, those between joints become transmissions,
        armatures become rotors, and actuators become ports. Elements that the model cannot
        represent are listed by an `OmissionWarning`.

        Parameters
        ----------
        path : path
            The file.
        keyframe : str
            Name of the keyframe at which the model starts. Default: `qpos0`.
        merge_fixed : bool
            Merge bodies without a joint between them into one body.
        repair_inertia : bool
            Replace inertias that no rigid body can have by the nearest possible ones. Default:
            raise.
        stops : bool
            Represent joint limits by `JointStop`.
        looks : bool
            Load the visual geometry of bodies.

        Raises
        ------
        RobotFileError
            If the file is invalid or makes no model. It has the file and the element.
        """
        from poinsot.model.robots import read_robot
        from poinsot.robots.mjcf import read_mjcf

        robot = read_mjcf(path, keyframe=keyframe, looks=looks)
        return read_robot(
            robot, merge_fixed=merge_fixed, repair_inertia=repair_inertia, stops=stops
        )

    def to_urdf(self, path: str | Path | None = None) -> str:
        """Return the model as URDF text; with a path, also write the file and its meshes.

        URDF represents a tree of rigid bodies with joints, limits, friction and gears. A joint with
        several coordinates becomes several joints with massless links between them. Parts that the
        format cannot represent are listed by an `OmissionWarning`.
        """
        from poinsot.model.robots import write_robot
        from poinsot.robots.write_urdf import write_urdf

        return write_robot(self, path, write_urdf)

    def to_mjcf(self, path: str | Path | None = None) -> str:
        """Return the model as MJCF text; with a path, also write the file and its meshes.

        MJCF represents rigid bodies with joints, springs, limits, friction, rotors, gears and
        motors. Joints that close loops become equality constraints, which are soft in MuJoCo. Parts
        that the format cannot represent are listed by an `OmissionWarning`.
        """
        from poinsot.model.robots import write_robot
        from poinsot.robots.write_mjcf import write_mjcf

        return write_robot(self, path, write_mjcf)

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Return the text of a model file; with a path, also write the file and its meshes.

        Reading the text gives the same model, bit by bit. Python functions cannot be written; use
        `Formula` or `Table` instead. Meshes are written as STL files in a folder `NAME_meshes` next
        to the file; without a path, meshes are left out.
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
        """Return a function that writes the model file of a run with these inputs and events.

        It describes the model at the time of this call, and returns an empty text for a model that
        cannot be written.
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
