"""Who is who in the numbers of a mechanism: names of bodies and joints, and where they are kept."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.mechanics.bodies import RIGIDITY, Body, Marker
from poinsot.mechanics.contacts import Contact
from poinsot.mechanics.forces import Force
from poinsot.mechanics.forms import WIDTH, Forms, VectorForm, stack
from poinsot.mechanics.joints import Freedom, Joint
from poinsot.mechanics.scene import scene
from poinsot.ph.matrices import Vector
from poinsot.ph.system import State
from poinsot.result import Scene


@dataclass(frozen=True, eq=False)
class JointPlace:
    """A joint: the indices of its bodies (the ground is -1), its point on either, its rows.

    `rows` index the constraints of the mechanism, `slips` those on velocities, which its `contact`
    has. `complete` is False if constraints of its loop are repeated, so that its reaction is one of
    many.
    """

    name: str
    a: int
    b: int
    origin: tuple[VectorForm, VectorForm]
    freedoms: tuple[Freedom, ...]
    rows: NDArray[np.intp]
    complete: bool
    contact: Contact | None
    slips: NDArray[np.intp]

    @property
    def multipliers(self) -> NDArray[np.intp]:
        """All of its constraints."""
        return np.concatenate([self.rows, self.slips])


@dataclass(frozen=True, eq=False)
class MarkerPlace:
    """A marker: its body, its point X and its axes R_PM in director axes."""

    name: str
    body: int
    X: NDArray[np.float64]
    R_PM: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Names of bodies in order, their principal axes R_BP (bodies, 3, 3), the joints, the looks."""

    bodies: tuple[str, ...]
    R_BP: NDArray[np.float64]
    joints: tuple[JointPlace, ...]
    markers: tuple[MarkerPlace, ...] = ()
    scene: Scene = field(default_factory=Scene)

    @classmethod
    def of(
        cls,
        bodies: Sequence[Body],
        joints: Mapping[str, Joint],
        undetermined: Collection[str] = (),
        markers: Sequence[Marker] = (),
        forces: Mapping[str, Force] | None = None,
    ) -> "Layout":
        """Return the layout; `undetermined` names the joints whose reactions are not unique."""
        places, first = [], RIGIDITY * len(bodies)
        first_slip = first + sum(len(joint.rows()) for joint in joints.values())
        for name, joint in joints.items():
            rows, contact = np.arange(first, first + len(joint.rows())), joint.contact()
            slips = np.arange(first_slip, first_slip + (contact.size if contact else 0))
            first, first_slip = first + rows.size, first_slip + slips.size
            places.append(
                JointPlace(
                    name=name,
                    a=joint.a.index,
                    b=joint.b.index,
                    origin=joint.origin,
                    freedoms=joint.freedoms(),
                    rows=rows,
                    complete=name not in undetermined,
                    contact=contact,
                    slips=slips,
                )
            )
        return cls(
            tuple(body.name for body in bodies),
            np.array([body.principal.R_BP for body in bodies]),
            tuple(places),
            tuple(MarkerPlace(m.name, m.body.index, m.X, m.R_PM) for m in markers),
            scene(bodies, joints, forces or {}),
        )

    @cached_property
    def angle_forms(self) -> Forms:
        """Cosine and sine of every angle of every joint, in order."""
        free = [f for joint in self.joints for f in joint.freedoms if f.rotates]
        return stack([form for f in free for form in f.forms], len(self.bodies))

    @property
    def multipliers(self) -> tuple[State, ...]:
        """Those of joints as states: of positions, then of contacts that cannot slip."""
        held = [State(joint.name, joint.rows.size) for joint in self.joints if joint.rows.size]
        slips = [(joint.name, joint.slips.size) for joint in self.joints if joint.slips.size]
        return (*held, *(State(f"{name} (contact)", size) for name, size in slips))

    @cached_property
    def contacts(self) -> tuple[tuple[str, int, Contact], ...]:
        """Joint, body and contact of every constraint on velocities alone."""
        found = [(joint.name, joint.b, joint.contact) for joint in self.joints]
        return tuple((name, body, contact) for name, body, contact in found if contact is not None)

    def angles(self, q: Vector) -> Vector:
        """Return the angles of all joints in (-pi, pi] [rad], q in directors."""
        cosines_and_sines = self.angle_forms(q).reshape(-1, 2)
        return np.arctan2(cosines_and_sines[:, 1], cosines_and_sines[:, 0])

    def require_contact(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step from q0 to q1, in directors, in which a contact comes to an end."""
        start, end = q0.reshape(-1, WIDTH), q1.reshape(-1, WIDTH)
        for name, body, contact in self.contacts:
            if contact.ended(end[body]):
                trouble = contact.trouble(start[body]) or "the disc falls on its side"
                raise InputError(
                    f"joint '{name}': {trouble}; its rim then touches the plane everywhere, "
                    "and it rolls no more"
                )

    def diagnose(self, q: Vector) -> str:
        """Return what is the matter with contacts at q, in directors; empty if nothing is."""
        blocks = q.reshape(-1, WIDTH)
        found = [(name, contact.trouble(blocks[body])) for name, body, contact in self.contacts]
        return "".join(f"; joint '{name}': {trouble}" for name, trouble in found if trouble)
