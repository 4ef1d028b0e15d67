"""The equations of joints in groups of up to three, one for each node of the Newton matrix."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.contacts import BALL, BLADE, FORWARDS, HEIGHT, SIDEWAYS
from poinsot.frames.forms import GROUND, Height, members
from poinsot.parts.contacts import Ball, Blade, Contact, Disc, Vector3
from poinsot.systems.compiled.products import Index, Kind, Products, products
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism

#: Equations of a node.
SLOTS = 3
NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Points:
    """Three equations r_B - r_A = 0 each; `joint` (p,) counts groups of up to three equations."""

    at: Products
    joint: Index


@dataclass(frozen=True, eq=False)
class Rows:
    """Single equations, their groups and their slots there, and the constants that they keep."""

    at: Products
    constant: NDArray[np.float64]
    joint: Index
    slot: Index

    @property
    def begins(self) -> NDArray[np.bool_]:
        """Whether each differs from the one before it in the group in more than one vector."""
        shared = np.column_stack(
            [self.joint, self.slot - np.arange(self.slot.size), self.at.shared]
        )
        return np.append(True, (shared[1:] != shared[:-1]).any(axis=1))[: self.slot.size]


@dataclass(frozen=True, eq=False)
class ContactRow:
    """One row of a contact: its kind, its vectors, its group and its slot there; see the kernel.

    `held` is the constant that a height keeps.
    """

    joint: int
    slot: int
    kind: int
    body: int
    edge: Vector3
    spot: Vector3
    normal: Vector3
    base: Vector3
    held: float = 0.0


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of joints, and the group and slot of each multiplier, `places` (m, 2)."""

    points: Points
    rows: Rows
    contacts: list[ContactRow]
    places: Index

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.places[:, 0].max(initial=-1)) + 1

    @cached_property
    def pairs(self) -> tuple[list[list[int]], list[int]]:
        """The bodies of each joint, the ground left out, and the joint that each group is part of.

        Groups between the same two bodies are one joint to the rest.
        """
        pairs, joint = np.unique(np.sort(self._ends, axis=1), axis=0, return_inverse=True)
        bodies = [[body for body in pair if body != GROUND] for pair in pairs.tolist()]
        return bodies, joint.reshape(-1).tolist()

    @property
    def _ends(self) -> Index:
        """The two bodies of each group, the ground where there is one; (groups, 2)."""
        ends = np.full((self.groups, 2), GROUND)
        for contact_row in self.contacts:
            ends[contact_row.joint, 1] = contact_row.body
        ends[self.rows.joint] = self.rows.at.ends
        ends[self.points.joint] = self.points.at.ends
        return ends


def group_equations(mechanism: Mechanism, layout: Layout) -> Equations:
    """Return the equations of joints; those of contacts come last among their places."""
    total = mechanism.constraints
    sizes = np.array([joint.rows.size for joint in layout.joints], dtype=np.intp)
    forms = total.take(np.arange(total.m - sizes.sum(), total.m))
    slips = np.array([joint.slips.size for joint in layout.joints], dtype=np.intp)
    first_row, joint = np.cumsum(sizes) - sizes, members(sizes)[0]
    # Every form but heights is one product.
    of_row, at, constant = forms.terms.form, products(forms), -forms.c
    meet = _meet_in_points(at, of_row, first_row, sizes, slips)
    points, inside = np.zeros((2, forms.m), dtype=bool)
    points[meet] = inside[meet] = inside[meet + 1] = inside[meet + 2] = True
    begins = np.ones(forms.m + 1, dtype=bool)
    begins[of_row[1:]] = (at.shared[1:] != at.shared[:-1]).any(axis=1)
    begins[first_row] = begins[meet] = begins[meet + SLOTS] = True
    group, slot = _fill_groups(begins[:-1], first_row, sizes)
    groups = np.zeros(sizes.size, dtype=np.intp)
    np.maximum.at(groups, joint, group + 1)
    groups = np.maximum(groups, slips > 0)
    first = np.cumsum(groups) - groups
    places = np.column_stack([first[joint] + group, slot])
    rolling, k = members(slips)
    sliding = np.column_stack([first[rolling], sizes[rolling] + k])
    one, alone = points[of_row], ~inside[of_row]
    row = of_row[alone]
    contact_rows = [
        _height(form, int(places[k, 0]), int(places[k, 1]), layout.joints[joint[k]].b)
        for k, form in forms.heights.items()
    ]
    contacts = [place.contact for place in layout.joints if place.contact is not None]
    kinds = [found for contact in contacts for found in _slips(contact)]
    contact_rows += [
        ContactRow(k, l, *kind) for (k, l), kind in zip(sliding.tolist(), kinds, strict=True)
    ]
    return Equations(
        Points(at.take(one), places[of_row[one], 0]),
        Rows(at.take(alone), constant[row], places[row, 0], places[row, 1]),
        contact_rows,
        np.vstack([places, sliding]),
    )


def _fill_groups(begins: NDArray[np.bool_], first: Index, sizes: Index) -> tuple[Index, Index]:
    """Return the group, counted within its joint, and the slot of each equation.

    Equations that differ in one vector only, from one that `begins` to the next, stay together.
    """
    run = np.cumsum(begins) - 1
    length = np.minimum(np.bincount(run, minlength=1), SLOTS)
    group, slot = np.zeros((2, begins.size), dtype=np.intp)
    number, taken = np.zeros((2, sizes.size), dtype=np.intp)
    for k in range(sizes.max(initial=0)):
        joint = np.flatnonzero(sizes > k)
        row = first[joint] + k
        full = taken[joint] + np.where(begins[row], length[run[row]], 1) > SLOTS
        number[joint] += full
        taken[joint] = np.where(full, 0, taken[joint])
        group[row], slot[row] = number[joint], taken[joint]
        taken[joint] += 1
    return group, slot


def _height(form: Height, joint: int, slot: int, body: int) -> ContactRow:
    (_, X), (_, a) = form.r.weights[0], form.a.weights[0]
    x, y, z = form.r.constant
    return ContactRow(joint, slot, HEIGHT, body, a[1:], X[1:], form.n, (-x, -y, -z), -form.c)


def _slips(contact: Contact) -> list[tuple[int, int, Vector3, Vector3, Vector3, Vector3]]:
    """Return the velocities that a contact forbids, as kinds, bodies and vectors of contacts."""
    (body,), X = contact.bodies, contact.X
    if isinstance(contact, Blade):
        return [(BLADE, body, contact.n, X, NONE, NONE)]
    if isinstance(contact, Ball):
        return [(BALL, body, NONE, X, e, contact.arm) for e in contact.along]
    assert isinstance(contact, Disc)
    kinds = (FORWARDS, SIDEWAYS)[: contact.rows]
    return [(kind, body, contact.a, X, contact.N, contact.base) for kind in kinds]


def _meet_in_points(at: Products, of_row: Index, first: Index, sizes: Index, slips: Index) -> Index:
    """Return the first rows of joints that begin with r_B - r_A = 0, one for each world axis.

    Joints with contacts do not.
    """
    joints = first[(sizes >= SLOTS) & (slips == 0)]
    terms = np.searchsorted(of_row, joints)[:, None] + np.arange(SLOTS)
    kind = at.kind[terms]
    offset = np.isin(kind, (Kind.AXIS, Kind.OFFSET)).all(axis=1)
    along = (at.a[terms] == np.eye(SLOTS)).all(axis=(1, 2))
    fixed = (kind[:, 0] == Kind.AXIS) | (at.A[terms[:, 0]] == GROUND)
    return np.asarray(joints[offset & along & fixed])
