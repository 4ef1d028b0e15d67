"""The equations of joints in groups of up to three, one for each node of the Newton matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.forms import GROUND, Height
from poinsot.frames.products import Index, Kind, Products, products
from poinsot.frames.stacks import Forms, members
from poinsot.parts.contacts import Contact

#: Equations of a node.
SLOTS = 3


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


class Strains(NamedTuple):
    """Strains of rods that are held: their groups, slots, sections A and B, and vectors on both.

    (a + b)·(r_B - r_A) / 2 - (a·u_B + u_A·b) / 6 keeps a constant, see `rigid_strains`.
    """

    joint: Index
    slot: Index
    ends: Index
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    u_A: NDArray[np.float64]
    u_B: NDArray[np.float64]
    constant: NDArray[np.float64]


class Slip(NamedTuple):
    """Row `row` of a contact, its group and its slot there; or, of a disc, its height."""

    joint: int
    slot: int
    contact: Contact | Height
    row: int = 0

    @property
    def body(self) -> int:
        """The body that touches the ground."""
        if isinstance(self.contact, Height):
            return self.contact.r.weights[0][0]
        return self.contact.bodies[0]


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of joints, and the group and slot of each multiplier, `places` (m, 2).

    Drives and transmissions have the last groups, `driven` are the bodies of each, two or more.
    """

    points: Points
    rows: Rows
    strains: Strains
    slips: list[Slip]
    places: Index
    driven: Sequence[tuple[int, ...]]

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.places[:, 0].max(initial=-1)) + 1

    @cached_property
    def pairs(self) -> tuple[list[list[int]], list[int]]:
        """The bodies of each joint, and the joint that each group is part of.

        Groups between the same two bodies are one joint to the rest. The ground is left out, but
        where there are more than two.
        """
        pairs, joint = np.unique(np.sort(self.ends, axis=1), axis=0, return_inverse=True)
        bodies = [[body for body in pair if body != GROUND] for pair in pairs.tolist()]
        of_groups = joint.reshape(-1).tolist()
        if self.driven:
            known = {tuple(pair): k for k, pair in enumerate(pairs.tolist())}
            for ends in map(tuple, map(sorted, self.driven)):
                if ends not in known:
                    known[ends] = len(bodies)
                    bodies.append(list(ends) if len(ends) > 2 else [b for b in ends if b != GROUND])
                of_groups.append(known[ends])
        return bodies, of_groups

    @property
    def ends(self) -> Index:
        """The two bodies of each group of joints, the ground where there is one; (groups, 2)."""
        ends = np.full((self.groups - len(self.driven), 2), GROUND)
        for slip in self.slips:
            ends[slip.joint, 1] = slip.body
        ends[self.rows.joint] = self.rows.at.ends
        ends[self.strains.joint] = self.strains.ends
        ends[self.points.joint] = self.points.at.ends
        return ends


def group_equations(
    forms: Forms,
    sizes: Index,
    contacts: Sequence[Contact | None],
    driven: Sequence[tuple[int, ...]] = (),
) -> Equations:
    """Return the equations of joints; those of contacts and drives come last among their places.

    Each joint has so many (`sizes`) of the forms, and may have a contact; `driven` are the bodies
    of drives and transmissions, the ground among them, two or more each.
    """
    slips = np.array([0 if at is None else at.size for at in contacts], dtype=np.intp)
    first_row, joint = np.cumsum(sizes) - sizes, members(sizes)[0]
    # Every form but heights and strains is one product.
    of_row, at, constant = forms.terms.form, products(forms), -forms.c
    meet = _meet_in_points(at, of_row, first_row, sizes, slips)
    points, inside = np.zeros((2, forms.m), dtype=bool)
    points[meet] = inside[meet] = inside[meet + 1] = inside[meet + 2] = True
    begins = np.ones(forms.m + 1, dtype=bool)
    begins[of_row[1:]] = (at.shared[1:] != at.shared[:-1]).any(axis=1)
    strained = np.bincount(of_row, minlength=forms.m) > 1
    begins[:-1][strained] = True
    begins[first_row] = begins[meet] = begins[meet + SLOTS] = True
    group, slot = _fill_groups(begins[:-1], first_row, sizes)
    groups = np.zeros(sizes.size, dtype=np.intp)
    np.maximum.at(groups, joint, group + 1)
    groups = np.maximum(groups, slips > 0)
    first = np.cumsum(groups) - groups
    places = np.column_stack([first[joint] + group, slot])
    rolling, k = members(slips)
    sliding = np.column_stack([first[rolling], sizes[rolling] + k])
    one, alone = points[of_row], ~(inside | strained)[of_row]
    row = of_row[alone]
    held = [Slip(int(places[k, 0]), int(places[k, 1]), form) for k, form in forms.heights.items()]
    touching = [(at, i) for at in contacts if at is not None for i in range(at.size)]
    slipping = [
        Slip(k, l, at, i) for (k, l), (at, i) in zip(sliding.tolist(), touching, strict=True)
    ]
    alone_in_group = np.arange(len(driven)) + groups.sum()
    driving = np.column_stack([alone_in_group, np.zeros_like(alone_in_group)])
    return Equations(
        Points(at.take(one), places[of_row[one], 0]),
        Rows(at.take(alone), constant[row], places[row, 0], places[row, 1]),
        _strains(at.take(strained[of_row]), places[: forms.m][strained], constant[strained]),
        [*held, *slipping],
        np.vstack([places, sliding, driving]),
        tuple(driven),
    )


def _strains(at: Products, places: Index, constant: NDArray[np.float64]) -> Strains:
    """Return strains by their products a·r, b·r, a·u_B and u_A·b, one after the other."""
    a, b, u_A = at.a[::4], at.a[1::4], at.a[3::4]
    group, slot = places.T
    return Strains(group, slot, at.ends[::4], a, b, u_A, at.b[2::4], constant)


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
