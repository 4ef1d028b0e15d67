"""Names of bodies and joints of a mechanism, and their indices."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body, Marker
from poinsot.bodies.unknowns import Unknowns
from poinsot.errors import InputError, LargeStepError
from poinsot.frames.forms import GROUND
from poinsot.frames.places import frame_vectors, of_frame
from poinsot.frames.stacks import Forms, pack
from poinsot.frames.twists import move, twists_from
from poinsot.parts.contacts import Contact
from poinsot.parts.forces import Force
from poinsot.parts.joint import Joint
from poinsot.parts.loads import PortPlace
from poinsot.parts.paths import HALF_TURN
from poinsot.parts.transmissions import Transmission
from poinsot.ph.matrices import Vector
from poinsot.ph.system import State
from poinsot.result import Scene
from poinsot.systems.branches import named, singular_rows
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.passing import Closed
from poinsot.systems.redundancy import find_loops
from poinsot.systems.resultants import Slender, slender
from poinsot.systems.scene import scene


@dataclass(frozen=True, eq=False)
class JointPlace:
    """A joint and its rows.

    `rows` index the constraints of joints, `slips` those on velocities, which its `contact` has and
    which follow them. `complete` is False if constraints of its loop are repeated, so that its
    reaction is one of many.
    """

    name: str
    joint: Joint
    rows: NDArray[np.intp]
    complete: bool
    contact: Contact | None
    slips: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Layout:
    """Names of bodies, their principal axes R_BP (bodies, 3, 3), joints, drives, beams, looks."""

    bodies: tuple[str, ...]
    R_BP: NDArray[np.float64]
    joints: tuple[JointPlace, ...]
    markers: tuple[Marker, ...]
    drives: tuple[str, ...]
    slender: tuple[Slender, ...]
    _look: Callable[[], Scene]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        bodies: Sequence[Body],
        joints: Mapping[str, Joint],
        undetermined: Collection[str] = (),
        markers: Sequence[Marker] = (),
        forces: Mapping[str, Force] | None = None,
        drives: Sequence[str] = (),
        ports: Mapping[str, Transmission | PortPlace] | None = None,
        remarks: Sequence[str] = (),
    ) -> "Layout":
        """Return the layout; `undetermined` names the joints whose reactions are not unique."""
        contacts = [joint.contact() for joint in joints.values()]
        held = np.cumsum([0, *(len(joint.equations.gaps) for joint in joints.values())])
        slipping = np.cumsum([0, *(0 if at is None else at.size for at in contacts)])
        rows, slips = np.arange(held[-1]), held[-1] + np.arange(slipping[-1])
        places = [
            JointPlace(name, joint, rows[i:j], name not in undetermined, contact, slips[k:l])
            for (name, joint), contact, (i, j), (k, l) in zip(
                joints.items(), contacts, pairwise(held), pairwise(slipping), strict=True
            )
        ]
        return cls(
            tuple(body.name for body in bodies),
            np.array([body.principal.R_BP for body in bodies]),
            tuple(places),
            tuple(markers),
            tuple(drives),
            slender(bodies, (forces or {}).items()),
            partial(scene, tuple(bodies), dict(joints), dict(forces or {}), dict(ports or {})),
            tuple(remarks),
        )

    def states(self, parts: Mapping[str, Unknowns]) -> list[State]:
        """Return what parts of states hold of bodies with unknowns, part by part."""
        return [
            State(f"{body}.{part}", size)
            for part, own in parts.items()
            for body, size in zip(self.bodies, own.sizes.tolist(), strict=True)
            if size
        ]

    def among(self, chosen: NDArray[np.bool_]) -> list[str]:
        """Return the names of some bodies."""
        return [name for name, there in zip(self.bodies, chosen.tolist(), strict=True) if there]

    @property
    def undetermined(self) -> set[str]:
        """Names of the joints whose reactions are not unique."""
        return {joint.name for joint in self.joints if not joint.complete}

    @cached_property
    def scene(self) -> Scene:
        """What the mechanism looks like."""
        return self._look()

    @cached_property
    def angle_forms(self) -> Forms:
        """Cosine and sine of every angle of every joint, in order."""
        free = (f for place in self.joints for f in place.joint.freedoms() if f.rotates)
        return Forms([pack([form for f in free for form in f.forms])], len(self.bodies))

    @cached_property
    def angle_names(self) -> tuple[str, ...]:
        """The names of these angles, such as `hinge.angle`."""
        free = ((place.name, f) for place in self.joints for f in place.joint.freedoms())
        return tuple(f"{name}.{freedom.label}" for name, freedom in free if freedom.rotates)

    def counted(self, turned: Vector) -> dict[str, float]:
        """Return angles of all joints, counted over turns [rad], by name."""
        return dict(zip(self.angle_names, turned.tolist(), strict=True))

    @property
    def multipliers(self) -> tuple[State, ...]:
        """Those of joints as states: of positions, of contacts that cannot slip, of drives.

        Those of transmissions are among the last ones, in the order of the ports.
        """
        held = [State(joint.name, joint.rows.size) for joint in self.joints if joint.rows.size]
        slips = [(joint.name, joint.slips.size) for joint in self.joints if joint.slips.size]
        touching = (State(f"{name} (contact)", size) for name, size in slips)
        return *held, *touching, *map(State, self.drives)

    @cached_property
    def contacts(self) -> tuple[tuple[str, int, Contact], ...]:
        """Joint, body and contact of every constraint on velocities alone."""
        found = [(joint.name, joint.joint.bodies[1].index, joint.contact) for joint in self.joints]
        return tuple((name, body, contact) for name, body, contact in found if contact is not None)

    def angles(self, q: Vector) -> Vector:
        """Return the angles of all joints in (-pi, pi] [rad], q in directors."""
        cosines_and_sines = self.angle_forms(q).reshape(-1, 2)
        return np.arctan2(cosines_and_sines[:, 1], cosines_and_sines[:, 0])

    def require_turns(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step from q0 to q1, in directors, in which a body turns by half a turn.

        From there on an angular velocity may have any size, and Newton's method goes astray to it.
        """
        start, end = frame_vectors(q0)[:, 1:], frame_vectors(q1)[:, 1:]
        whole = 1 + np.sum(start * end, axis=(1, 2))
        if not np.all(whole >= HALF_TURN):
            name = self.bodies[int(np.argmin(whole >= HALF_TURN))]
            raise LargeStepError(
                f"body '{name}' rotates by half a turn in one step, which is ambiguous; use a "
                "smaller step"
            )

    def require_contact(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step from q0 to q1, in directors, in which a contact comes to an end."""
        for name, body, contact in self.contacts:
            if contact.ended(of_frame(q1, body)):
                trouble = contact.trouble(of_frame(q0, body)) or "the disc falls on its side"
                raise InputError(
                    f"joint '{name}': {trouble}; its whole rim then touches the plane, and rolling "
                    "is not defined"
                )

    @cached_property
    def closed(self) -> list[Closed]:
        """The loops of joints."""
        found = []
        pairs = [(a.index, b.index) for a, b in (at.joint.bodies for at in self.joints)]
        for joined in find_loops(pairs):
            places = [self.joints[k] for k in joined]
            own = (end for k in joined for end in pairs[k])
            bodies = np.array(list(dict.fromkeys(end for end in own if end != GROUND)))
            rows = np.concatenate([at.rows for at in places])
            found.append(Closed(tuple(at.name for at in places), rows, bodies))
        return found

    def diagnose(self, held: Mechanism, q: Vector, rates: Vector, h: float) -> str:
        """Return what is the matter with contacts, joints or forces, all `held`; empty: nothing is.

        From frames q with these rates in a step of h [s], as far as velocities tell its way.
        """
        found = [(name, at.trouble(of_frame(q, body))) for name, body, at in self.contacts]
        text = "".join(f"; joint '{name}': {trouble}" for name, trouble in found if trouble)
        if text:
            return text
        twists = twists_from(q, rates)
        for part in (0.0, 0.5, 1.0):
            moved = part * h * twists
            there = move(q, moved)
            endless = [f"'{p.name}'" for p in held.potentials if not p.finite(there)]
            if endless:
                return f"; force {', '.join(endless)} is NaN or infinite at the end of the step"
            rows, lost = singular_rows(held.constraints, there, held.repeated, moved)
            singular = [at.name for at in self.joints if np.isin(at.rows, rows).any()]
            if singular:
                return (
                    f"; joints {named(singular)} are in a singular position: the rank of their "
                    f"equations decreases by {lost} there, and the motion may branch; smaller "
                    "steps do not help, start elsewhere or with velocities along one branch (see "
                    "model.check())"
                )
        return ""
