r"""Masses of a robot: merged links, and massless frames between joints.

A frame between two joints becomes a body, which needs a mass. The motion does not change if this
mass is taken from a neighbouring body with which it moves: a point mass at a point that the joints
between both do not move, or a rod along an axis that they do not rotate,

.. math:: E = e\, a a^\top ,

whose Euler tensor is invariant under rotations about that axis. A body of mass m, centre c and
Euler tensor E remains a body if

.. math:: m_x \le \left(\frac1m + (s - c)^\top E^{-1} (s - c)\right)^{-1}, \qquad
          e \le \left(a^\top E^{-1} a\right)^{-1} .
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.bodies.tensors import euler_from_inertia, inertia_from_euler
from poinsot.model.robot_joints import meeting_point
from poinsot.robots.description import Array, Link, Step

#: The part of what could be taken that is: of a point mass, and of a rod, whose spin about itself
#: gets 1e-8 of its inertia in the equations (`systems/slender.py`).
SHARE, ROD_SHARE = 0.1, 1e-4
#: Relative size of an Euler value that counts as zero.
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass [kg], centre [m] and Euler tensor [kg m^2] about it, in the world."""

    mass: float
    centre: Array
    euler: Array

    @classmethod
    def of(cls, link: Link) -> "Mass":
        """Return that of a link."""
        J = link.rotation @ link.inertia @ link.rotation.T
        return cls(link.mass, link.centre_in_world, euler_from_inertia((J + J.T) / 2))

    @classmethod
    def joined(cls, parts: Iterable["Mass"]) -> "Mass":
        """Return that of several parts."""
        parts = list(parts)
        mass = sum(part.mass for part in parts)
        centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
        euler = np.zeros((3, 3))
        for part in parts:
            s = part.centre - centre
            euler = euler + part.euler + part.mass * np.outer(s, s)
        return cls(mass, centre, euler)

    def _inverse(self, s: Array) -> float:
        """Return s·E^-1·s; infinite for what sticks out of a flat body."""
        values, axes = np.linalg.eigh(self.euler)
        along, floor = axes.T @ s, FLAT * float(values[-1])
        thin = values <= floor
        if np.any(thin & (abs(along) > FLAT * float(np.linalg.norm(s)))):
            return np.inf
        return float(np.sum(along[~thin] ** 2 / values[~thin]))

    def point_share(self, s: Array) -> float:
        """Return a mass [kg] that can be taken away at a point."""
        return SHARE / (1 / self.mass + self._inverse(s - self.centre))

    def rod_share(self, a: Array) -> float:
        """Return an Euler value [kg m^2] that can be taken away along an axis."""
        inverse = self._inverse(a)
        return ROD_SHARE / inverse if inverse else 0.0

    def without_point(self, m: float, s: Array) -> "Mass":
        """Return this without a point mass."""
        left = self.mass - m
        centre = (self.mass * self.centre - m * s) / left
        to_self, to_point = self.centre - centre, s - centre
        euler = (
            self.euler + self.mass * np.outer(to_self, to_self) - m * np.outer(to_point, to_point)
        )
        return Mass(left, centre, euler)

    def without_rod(self, e: float, a: Array) -> "Mass":
        """Return this without a rod about its own centre."""
        return Mass(self.mass, self.centre, self.euler - e * np.outer(a, a))

    def in_link(self, link: Link) -> tuple[float, Array, Array]:
        """Return mass, centre and inertia in the axes of a link."""
        R = link.rotation
        J = R.T @ inertia_from_euler(np.array(self.euler)) @ R
        return self.mass, R.T @ (self.centre - link.position), (J + J.T) / 2


@dataclass(frozen=True, eq=False)
class Lent:
    """A body of a frame between joints, and what is left of the neighbours (None: the ground)."""

    own: Mass
    parent: Mass | None
    child: Mass


def lend(
    before: Sequence[Step], after: Sequence[Step], parent: Mass | None, child: Mass
) -> Lent | None:
    """Return a mass for the frame between steps; None: no neighbour has any that it could use."""
    places = [(parent, meeting_point(before), True), (child, meeting_point(after), False)]
    turns = [[step for step in side if step.turns] for side in (before, after)]
    axes = []
    for donor, steps, first in ((parent, turns[0], True), (child, turns[1], False)):
        if len(steps) > 1 or any(step.kind == "ball" for step in steps):
            continue
        other = turns[1] if first else turns[0]
        # A frame that does not turn has room for any axis: one that the other joint turns about.
        chosen = steps or [step for step in other if step.kind == "hinge"] or [before[0]]
        axes.append((donor, chosen[0].axis, first))
    for donor, s, lower in places:
        for giver, a, below in axes:
            if s is None:
                continue
            left, m = {True: parent, False: child}, SHARE * child.mass
            if donor is not None:
                m = donor.point_share(s)
                left[lower] = donor.without_point(m, s)
            held, e = left[below], ROD_SHARE * float(np.trace(child.euler)) / 3
            if giver is not None and held is not None:
                e = held.rod_share(a)
                left[below] = held.without_rod(e, a)
            remaining = left[False]
            if remaining is not None and m > FLAT * child.mass and e > 0:
                return Lent(Mass(m, s, e * np.outer(a, a)), left[True], remaining)
    return None
