"""The joint equations of a model for positions and velocities, and the loops that they form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body
from poinsot.bodies.flexible import Flexible
from poinsot.errors import InconsistentStartError, InputError
from poinsot.frames import twists
from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.stacks import Forms
from poinsot.model.singular import on_nearest_branch, on_one_branch
from poinsot.parts.closing import gap, too_wide
from poinsot.parts.contacts import Contact, contact_matrix
from poinsot.parts.driven import Driven
from poinsot.parts.joint import Joint
from poinsot.ph.dependence import dependent_rows
from poinsot.ph.equations import independent
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble
from poinsot.so3 import skew
from poinsot.systems.branches import Branching, find_branching
from poinsot.systems.redundancy import DEPENDENT, Loop, find_loops, find_repeated, longest_arm
from poinsot.systems.start import allowed_rates, complete, given_twists, sizes_of

#: How many joints a message names at most.
LISTED = 10
#: When motions of drives begin [s].
START = 0.0


def positions(bodies: Sequence[Body]) -> Vector:
    """Return q of some bodies at the start."""
    places = np.array([body.position for body in bodies]).reshape(-1, 3)
    rotations = np.array([body.R_WP for body in bodies]).reshape(-1, 3, 3)
    return twists.coordinates(places, rotations)


@dataclass(frozen=True, eq=False)
class JointEquations:
    """The equations of joints: those on positions, contacts that cannot slip, and drives.

    They may be `like` those of a model with the same bodies at the same places, and joints that
    differ in numbers: what does not depend on these is taken from there.
    """

    bodies: Sequence[Body]
    joints: Mapping[str, Joint]
    drives: Sequence[Driven] = ()
    like: Self | None = None

    @cached_property
    def contacts(self) -> dict[str, Contact]:
        """The contacts by the names of their joints."""
        found = {name: joint.contact() for name, joint in self.joints.items()}
        return {name: contact for name, contact in found.items() if contact is not None}

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """Joint and name of every equation but those of drives, those on positions first."""
        slips = [(name, label) for name, at in self.contacts.items() for label in at.labels]
        held = self.joints.items()
        return [*((name, row.label) for name, joint in held for row in joint.rows()), *slips]

    @cached_property
    def _same(self) -> Self | None:
        """Equations that are the same at the same places."""
        like = self.like
        if like is None or self.drives or like.drives:
            return None
        return like if all(map(is_, self.joints.values(), like.joints.values())) else None

    @cached_property
    def forms(self) -> Forms:
        """The equations on positions, on all bodies."""
        if self._same is not None:
            return self._same.forms
        parts = [joint.equations.forms for joint in self.joints.values()]
        return Forms(parts, len(self.bodies))

    @cached_property
    def movable(self) -> list[Body]:
        """The bodies without the places of elastic ones, which start undeformed."""
        return [body for body in self.bodies if not body.carried]

    @cached_property
    def _carried(self) -> Matrix | None:
        """What twists of movable bodies make of all; None: they are all; (6 bodies, 6 movable)."""
        if len(self.movable) == len(self.bodies):
            return None
        column = {body.index: k for k, body in enumerate(self.movable)}
        carriers = {body.index: body for body in self.movable}
        for body in self.movable:
            if isinstance(body, Flexible):
                carriers |= {place.index: body for place in body.places}
        placed: list[Placed] = []
        for k, body in enumerate(self.bodies):
            carrier, block = carriers[body.index], np.eye(6)
            block[:3, 3:] = -skew(body.position - carrier.position)
            placed.append((6 * k, 6 * column[carrier.index], block))
        return assemble((6 * len(self.bodies), 6 * len(self.movable)), placed)

    def of_all(self, twists: Vector) -> Vector:
        """Return the twists of all bodies, of those of movable ones."""
        return twists if self._carried is None else np.asarray(self._carried @ twists)

    @cached_property
    def jacobian(self) -> Matrix:
        """What twists (v, omega) of movable bodies violate, at the start; (equations, 6 bodies)."""
        if self._same is not None:
            return self._same.jacobian
        rows = self._rows
        return rows if self._carried is None else rows @ self._carried

    @property
    def m(self) -> int:
        """Number of equations of joints, those on positions and those of contacts."""
        return self.forms.m + sum(contact.size for contact in self.contacts.values())

    @property
    def _rows(self) -> Matrix:
        """What twists of all bodies violate, at the start."""
        q = positions(self.bodies)
        held = twists.joint_matrix(self.forms, q)
        if not self.contacts and not self.drives:
            return held
        slips = contact_matrix(list(self.contacts.values()), q)
        placed: list[Placed] = [(0, 0, held), (self.forms.m, 0, slips)]
        for k, driven in enumerate(self.drives, start=self.m):
            row = driven.on_twists(local(q, driven.bodies)).reshape(-1, 1, 6)
            placed += [(k, 6 * body, part) for body, part in zip(driven.bodies, row, strict=True)]
        return assemble((self.m + len(self.drives), 6 * len(self.bodies)), placed)

    @cached_property
    def rates(self) -> Vector:
        """What these are at the start: zero but for drives; (equations,)."""
        driven = [driven.motion(START)[0] for driven in self.drives]
        return np.array([0.0] * self.m + driven)

    @cached_property
    def loops(self) -> list[Loop]:
        """The loops in which equations on positions repeat others."""
        if self.like is not None:
            return self.like.loops
        loops, singular = [], {loop.joints: loop.rows or () for loop in self.singular}
        for joints, rows, bodies, forms in self._dependent:
            at = positions([self.bodies[k] for k in bodies])
            repeated, length = find_repeated(forms, at, branches=singular.get(joints, ()))
            if repeated.any():
                loops.append(Loop(rows, np.array(bodies), forms, repeated, length))
        return loops

    @cached_property
    def singular(self) -> list[Branching]:
        """The loops that are in a singular position at the start."""
        if self.like is not None:
            return self.like.singular
        found = []
        for joints, _, bodies, forms in self._dependent:
            q = positions([self.bodies[k] for k in bodies])
            found.append(find_branching(joints, np.array(bodies), forms, q))
        return [loop for loop in found if loop is not None]

    @cached_property
    def _dependent(self) -> list[tuple[tuple[str, ...], NDArray[np.intp], list[int], Forms]]:
        """Loops whose equations depend on each other at the start: joints, rows, bodies, forms."""
        names, joints = list(self.joints), list(self.joints.values())
        starts = np.cumsum([0, *(len(joint.equations.gaps) for joint in joints)])
        pairs = [joint.bodies for joint in joints]
        ends = [(a.index, b.index) for a, b in pairs]
        found = []
        for joined in find_loops(ends):
            rows = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in joined])
            bodies = list(dict.fromkeys(end for k in joined for end in ends[k] if end != GROUND))
            forms = self.forms.take(rows).among(bodies)
            J = twists.joint_matrix(forms, positions([self.bodies[k] for k in bodies]))
            if not independent(twists.in_lengths(J, longest_arm(J)), DEPENDENT, width=6):
                found.append((tuple(names[k] for k in joined), rows, bodies, forms))
        return found

    def require_closed(self) -> None:
        """Refuse joints that are open where bodies start."""
        frames = {body.index: body.frame for body in self.bodies}
        wide = {name: too_wide(at, gap(at, frames)) for name, at in self.joints.items()}
        listed = [f"'{name}' by {much}" for name, much in wide.items() if much]
        if listed:
            if len(listed) > LISTED:
                listed[LISTED:] = [f"and {len(listed) - LISTED} more"]
            raise InconsistentStartError(
                f"joints are open at the start: {', '.join(listed)}; call model.assemble(), or "
                "move the bodies"
            )

    def require_independent(self) -> None:
        """Refuse contacts that forbid what is forbidden already, and drives of what cannot move.

        [BHRS25, eq. (13)]
        """
        if self.like is not None or not (self.contacts or self.drives):
            return
        J = twists.in_lengths(self.jacobian, longest_arm(self.jacobian))
        if independent(J, DEPENDENT, width=6):
            return
        dependent = np.flatnonzero(dependent_rows(J, DEPENDENT, width=6)).tolist()
        names, split = self.labels, len(self.labels)
        idle = [f"'{': '.join(names[k])}'" for k in dependent if self.forms.m <= k < split]
        if idle:
            raise InputError(
                f"contacts are redundant at the start: "
                f"{', '.join(idle[:LISTED])} [BHRS25, eq. (13)]; leave them out, such as by "
                "RollingDisc(..., sideways=False) for all but one wheel of an axle"
            )
        held = [self.drives[k - split] for k in dependent if k >= split]
        for kind, text in (
            (False, "drives prescribe motions that joints or other drives determine already"),
            (True, "transmissions tie joints that cannot move, or that others tie already"),
        ):
            names_of = [f"'{driven.name}'" for driven in held if driven.transmits is kind]
            names_of = list(dict.fromkeys(names_of))
            if names_of:
                raise InputError(
                    f"{text}, at the start: {', '.join(names_of[:LISTED])}; leave them out, or "
                    "start away from a dead centre"
                )

    @cached_property
    def twists(self) -> Vector:
        """Those at the start, completed; refuses what contradicts the joints."""
        return self.completed(*given_twists(self.movable))

    def completed(self, known: Vector, given: NDArray[np.bool_]) -> Vector:
        """Return twists with what was not given completed; refuse those that contradict joints."""
        if self.drives:
            self.require_independent()
        if not known.any() and not self.rates.any():
            return known
        twist = complete(self.jacobian, self.movable, known, given, self.rates)
        wrong = self._wrong(twist, self.rates)
        if wrong and self.drives:
            self._require_rates(known, given)
        if wrong:
            listed = [f"'{name}' by {value:.3g}" for name, value in wrong.items()]
            if len(listed) > LISTED:
                listed[LISTED:] = [f"and {len(listed) - LISTED} more"]
            raise InconsistentStartError(
                f"the velocities at the start violate the joints: {', '.join(listed)}; leave some "
                "of them out, so that they are computed, or call model.project_velocities()"
            )
        if not self.singular:
            return twist
        return on_one_branch(self.singular, self.jacobian, self.movable, known, given, self.rates)

    def _wrong(self, twist: Vector, rates: Vector) -> dict[str, float]:
        """Return by how much twists violate the rates of joints and drives, by name."""
        wrong: dict[str, float] = {}
        values = abs(self.jacobian @ twist - rates)
        allowed = allowed_rates(self.jacobian, sizes_of(self.jacobian, self.movable), twist)
        names = [*(name for name, _ in self.labels), *(driven.name for driven in self.drives)]
        for k in np.flatnonzero(values > allowed).tolist():
            wrong[names[k]] = max(wrong.get(names[k], 0.0), float(values[k]))
        return wrong

    def _require_rates(self, known: Vector, given: NDArray[np.bool_]) -> None:
        """Refuse velocities that suit the joints but not the drives; say which ones do."""
        split = self.m
        alone = complete(self.jacobian[:split], self.movable, known, given)
        rates = np.append(self.rates[:split], self.jacobian[split:] @ alone)
        if self._wrong(alone, rates):
            return
        free = np.zeros_like(given)
        found = complete(self.jacobian, self.movable, known, free, self.rates)
        needed = self.of_all(found).reshape(-1, 2, 3)
        off = abs(rates - self.rates)[split:]
        k = int(np.argmax(off))
        driven, body = self.drives[k], self.bodies[self.drives[k].bodies[-1]]
        motion = f"its motion begins with a rate of {self.rates[split + k]:.6g}"
        if driven.transmits:
            motion = "it keeps its joints in step"
        velocity, spin = (", ".join(f"{x:.6g}" for x in part + 0.0) for part in needed[body.index])
        raise InconsistentStartError(
            f"{driven.title}: {motion}, "
            f"while the velocities given have {rates[split + k]:.6g}; leave them out to have them "
            f"completed, or give body '{body.name}' velocity ({velocity}) and angular_velocity "
            f"({spin})"
        )

    def nearest(self, known: Vector, given: NDArray[np.bool_]) -> Vector:
        """Return the nearest twists that suit the joints, what was not given completed first."""
        completed = complete(self.jacobian, self.movable, known, given, self.rates)
        return on_nearest_branch(self.singular, self.jacobian, self.movable, completed, self.rates)
