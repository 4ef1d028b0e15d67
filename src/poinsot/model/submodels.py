"""A model as a part of another one: placed, renamed, and added part by part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from poinsot.bodies.body import Body, Ground, Marker
from poinsot.errors import InputError
from poinsot.model.assemblies import Start
from poinsot.model.contents import Contents, own_parts, require_new
from poinsot.model.initial import start_velocities
from poinsot.model.wiring import Wiring
from poinsot.parts.body_drives import BodyDrive
from poinsot.parts.controllers import Controller, variable_names
from poinsot.parts.events import Action, Event, Lock, Release, Switch, Trigger
from poinsot.parts.forces import Force
from poinsot.parts.joint import Joint
from poinsot.parts.joints import OnPlane
from poinsot.parts.loads import PortPlace
from poinsot.parts.transmissions import Transmission
from poinsot.ph.formula_rows import FormulaRows
from poinsot.ph.matrices import Vector

if TYPE_CHECKING:
    from poinsot.model.model import Model

P = TypeVar("P", Joint, Transmission, Force, PortPlace)

#: Arguments of parts that are points, directions and rotations in the world at the start.
POINTS = "point", "point_a", "point_b", "centre"
DIRECTIONS = "axis", "axis_a", "axis_b", "normal", "along", "x", "y"
ROTATIONS = ("rotation",)
#: Those that are bodies, and those that name joints.
BODIES = "a", "b", "body"
GEARS = "joint_a", "joint_b", "pinion", "rack", "shaft", "nut", "input", "left", "right"
TIES = "joint", *GEARS, "cam", "follower"
#: By how much of its speed a rod may deform at the start and count as one that moves as a whole.
RIGID = 1e-9
#: Velocity [m/s] and angular velocity [rad/s]; None: to be completed.
Twist: TypeAlias = tuple[Vector | None, Vector | None]


@dataclass(frozen=True, eq=False)
class Submodel:
    """A model `inner` on its way into the model `outer`, under a name, on what is its ground."""

    outer: "Model"
    name: str
    inner: Contents
    setting: Start
    ground: Body | Ground

    def add(self) -> dict[str, Body]:
        """Add all parts; return the bodies by their names in the model that they come from."""
        outer, inner, own = self.outer, self.inner, own_parts(self.inner)
        placed: dict[str, Body] = {}
        for name, body in own["bodies"].items():
            placed |= self._add_rod(name) if isinstance(body, tuple) else self._add_body(body)
        for name, (position, R_WB) in inner.starts.items():
            outer.starts[self._named(name)] = self._point(position), self.setting.R_WB @ R_WB
        for name, marker in own["markers"].items():
            place = self._point(marker.position)
            on, R = self._here(marker.body, placed), self.setting.R_WB @ marker.R_WM
            outer.add_marker(self._named(name), on, position=place, rotation=R)
        sections: list[tuple[Mapping[str, Any], Callable[[str, Any], Any]]] = [
            (own["joints"], outer.add_joint),
            (inner.transmissions, outer.add_transmission),
            (own["forces"], outer.add_force),
            (inner.ports, outer.add_port),
        ]
        for parts, add in sections:
            for name, part in parts.items():
                add(self._named(name), self._moved(part, placed))
        for name, system in inner.systems.items():
            require_new(outer, self._named(name))
            renamed = replace(system.prefixed(self.name), name=self._named(name))
            outer.systems[self._named(name)] = renamed
        for connection in inner.connections:
            outer.connect(connection.between([self._named(port) for port in connection.ports]))
        for name, channel in inner.sensors.items():
            outer.add_sensor(self._named(name), self._named(channel))
        for name, controller in inner.controllers.items():
            require_new(outer, self._named(name))
            outer.controllers[self._named(name)] = self._controller(controller)
        for name, event in inner.events.items():
            outer.add_event(self._named(name), self._event(name, event))
        return placed

    def _named(self, name: str) -> str:
        return f"{self.name}.{name}"

    # -- its place ----------------------------------------------------------------------------

    def _point(self, own: Vector) -> Vector:
        """Return where a point is."""
        return self.setting.position + self.setting.R_WB @ own

    @property
    def _moves(self) -> bool:
        """Whether it is said how it moves."""
        return self.setting.velocity is not None or self.setting.angular_velocity is not None

    def _twist(self, own: Vector, twist: Twist, turns: bool = True) -> Twist:
        """Return the velocities of a body at a point of the model that has others in it."""
        velocity, spin = (None if part is None else self.setting.R_WB @ part for part in twist)
        if self._moves:
            carried, omega = (
                np.zeros(3) if part is None else part
                for part in (self.setting.velocity, self.setting.angular_velocity)
            )
            arm = self.setting.R_WB @ own
            carried = carried + np.cross(omega, arm)
            velocity = carried if velocity is None else carried + velocity
            spin = omega if spin is None else omega + spin
        return velocity, spin if turns else None

    # -- bodies -------------------------------------------------------------------------------

    @property
    def _completed(self) -> bool:
        """Whether velocities are those of the model by itself, and not what was given for them."""
        return self._moves or self.inner.projection is not None

    @cached_property
    def _twists(self) -> Mapping[str, Twist]:
        """Velocities of bodies in their own model."""
        if self._completed:
            return start_velocities(self.inner)
        return {name: (b.velocity, b.angular_velocity) for name, b in self.inner.bodies.items()}

    def _add_body(self, body: Body) -> dict[str, Body]:
        """Add a body, with its places if it is elastic."""
        origin = self.inner.at_start(body).position
        velocity, spin = self._twist(origin, self._twists[body.name], body.turns)
        made = self.outer.add_body(
            self._named(body.name),
            body.shape,
            position=self._point(body.position),
            rotation=self.setting.R_WB @ body.R_WB if body.turns else None,
            velocity=velocity,
            angular_velocity=spin,
            looks=body.looks,
        )
        own = [body, *getattr(body, "places", ())]
        there = [made, *getattr(made, "places", ())]
        return {one.name: other for one, other in zip(own, there, strict=True)}

    def _add_rod(self, name: str) -> dict[str, Body]:
        """Add a rod, moving as a whole."""
        rod: Any
        rod, start = self.inner.assemblies[name]
        twist: Twist = (start.velocity, start.angular_velocity)
        if self._completed:
            twist = self._as_a_whole(name, start.position)
        velocity, spin = self._twist(start.position, twist)
        made = self.outer.add_body(
            self._named(name),
            rod,
            position=self._point(start.position),
            rotation=self.setting.R_WB @ start.R_WB,
            velocity=velocity,
            angular_velocity=spin,
        )
        own = self.inner.forces[name].bodies
        return {one.name: other for one, other in zip(own, made, strict=True)}

    def _as_a_whole(self, name: str, origin: Vector) -> Twist:
        """Return the velocities of a rod that moves as a whole, or refuse one that does not."""
        nodes = self.inner.forces[name].bodies
        twists = np.array([self._twists[node.name] for node in nodes], dtype=float)
        arms = np.array([node.position for node in nodes]) - nodes[0].position
        v, omega = twists[0]
        off = twists - np.stack([v + np.cross(omega, arms), np.tile(omega, (len(nodes), 1))], 1)
        reach = np.linalg.norm(arms[-1])
        if np.abs(off * [[1.0], [reach]]).max() > RIGID * np.abs(twists[:, 0]).max():
            raise InputError(
                f"rod '{name}' of system '{self.name}' deforms at the start, so that a velocity of "
                "the whole system cannot be added; leave velocity and angular_velocity out"
            )
        return v + np.cross(omega, origin - nodes[0].position), omega

    # -- what acts on them --------------------------------------------------------------------

    def _moved(self, part: P, placed: Mapping[str, Body]) -> P:
        """Return a part on the bodies and joints as they are called here, where they are here."""
        changed: dict[str, Any] = {}
        for field in fields(part):  # type: ignore[arg-type]
            name, value = field.name, getattr(part, field.name)
            if value is None:
                continue
            if name in BODIES:
                changed[name] = self._here(value, placed)
            elif name in TIES:
                changed[name] = self._named(value)
            elif isinstance(part, Joint) and part.between_markers:
                continue  # points and axes are those of the markers
            elif name in POINTS:
                changed[name] = self._point(np.asarray(value))
            elif name in DIRECTIONS + ROTATIONS and not callable(value):
                changed[name] = self.setting.R_WB @ np.asarray(value)
        if isinstance(part, BodyDrive):
            changed |= part.moved(self.setting.position, self.setting.R_WB)
        moved = replace(part, **changed)  # type: ignore[type-var]
        if isinstance(part, OnPlane) and isinstance(moved, OnPlane) and not part.between_markers:
            x = self.setting.R_WB @ np.asarray(part.in_plane[0])
            # Of itself, a plane of another normal may choose another direction.
            if not np.array_equal(moved.in_plane[0], x):
                return replace(moved, x=x)
        return moved

    def _here(self, end: Body | Ground | Marker, placed: Mapping[str, Body]) -> Any:
        """Return what a part attaches to, as it is here."""
        if isinstance(end, Marker):
            return self.outer.markers[self._named(end.name)]
        return self.ground if isinstance(end, Ground) else placed[end.name]

    def _controller(self, controller: Controller) -> Controller:
        """Return a controller of channels and ports as they are called here."""
        name, wiring = self._named(controller.name), Wiring(self.outer)
        known = [self._named(channel.text) for channel in controller.reads]
        reads = wiring.read(known, name, sampled=controller.every is not None)
        drives = [self._named(port.name) for port in controller.drives]
        law = controller.law
        if isinstance(law, FormulaRows):
            own, new = (
                [name for channel in channels for name in variable_names(channel)]
                for channels in (controller.reads, reads)
            )
            law = law.renamed(dict(zip(own, new, strict=True)))
        return replace(
            controller,
            name=name,
            law=law,
            reads=tuple(reads),
            drives=tuple(wiring.driven(drives, f"controller '{name}'")),
        )

    def _event(self, name: str, event: Event) -> Event:
        """Return an event of channels, joints and loads as they are called here."""
        trigger = Trigger.of(name, event, Wiring(self.inner).channels)
        actions = tuple(self._action(action) for action in event.actions)
        then = actions if isinstance(event.then, tuple) else actions[0]
        when, reads = trigger.prefixed(self.name)
        return replace(event, when=when, reads=reads, then=then)

    def _action(self, action: Action) -> Action:
        """Return what an event does to joints and loads as they are called here."""
        if isinstance(action, Release | Lock):
            return replace(action, joint=self._named(action.joint))
        return (
            Switch(self._named(action.load), on=action.on) if isinstance(action, Switch) else action
        )
