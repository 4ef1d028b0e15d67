"""Bushings: elastic and viscous connections of two bodies in all six directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground, partner, turned_body
from poinsot.elements.definite import semidefinite
from poinsot.errors import InputError
from poinsot.frames.relative import COORDINATES
from poinsot.inputs import vector3
from poinsot.parts.connections import Connection, connected
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.relaxation import relaxations
from poinsot.so3 import RotationLike, as_rotation_matrix


@dataclass(frozen=True, eq=False)
class Bushing(Force):
    r"""An elastic and viscous connection of two bodies in all six directions.

    .. math:: (F, \tau) = -S\, (u, \vartheta) - D\, (\dot u, \dot\vartheta)

    acts on b, where u is the displacement of its point relative to that of a, and theta the
    rotation
    vector of b relative to a. Both are zero at the start and along axes halfway between those of a
    and
    b. The rotation has a relative error of theta^4/120 and diverges towards half a turn.

    Parameters
    ----------
    a, b : Body or Ground
        The connected bodies.
    point : (3,)
        Position of the bushing at the start [m], world axes.
    stiffness, damping : (6,) or (6, 6)
        S and D for three displacements [N/m], [N s/m] and three rotations [N m/rad], [N m s/rad];
        values along the axes, or symmetric matrices, which couple them.
    rotation
        Axes of the bushing at the start: 3x3 matrix, scalar-first quaternion, or `Rotation`.
        Default: the world axes.
    relaxation : sequence of pairs
        Maxwell elements in parallel to the spring: stiffness relative to `stiffness`, and
        relaxation time [s].
    """

    a: Body | Ground
    b: Body | Ground
    point: ArrayLike
    stiffness: ArrayLike | None = None
    damping: ArrayLike | None = None
    rotation: RotationLike = None
    relaxation: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        """Check bodies, point and matrices."""
        a, b = partner(self.a, "Bushing: a"), partner(self.b, "Bushing: b")
        if a is b:
            raise InputError(f"Bushing: it connects '{a.name}' to itself; give two bodies")
        for body in self.bodies:
            turned_body(body, "Bushing: b" if body is b else "Bushing: a")
        object.__setattr__(self, "point", vector3(self.point, "Bushing: point"))
        for label in ("stiffness", "damping"):
            value = getattr(self, label)
            if value is not None:
                matrix = semidefinite(value, f"Bushing: {label}", COORDINATES)
                object.__setattr__(self, label, matrix)
        if self.stiffness is None and self.damping is None:
            raise InputError("Bushing: give a stiffness or a damping")
        relaxing = relaxations(self.relaxation, "Bushing: relaxation")
        if relaxing and self.stiffness is None:
            raise InputError("Bushing: relaxation is relative to a stiffness; give one")
        object.__setattr__(self, "relaxation", relaxing)
        R = as_rotation_matrix(self.rotation, name="Bushing: rotation")
        object.__setattr__(self, "rotation", R)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The connected bodies."""
        return tuple(end for end in (self.a, self.b) if isinstance(end, Body))

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential and its damper."""
        R = np.asarray(self.rotation, dtype=float)
        connection = Connection.of((self.a, self.b), (self.point, self.point), (R, R))
        stiffness, damping = (
            None if each is None else np.asarray(each) for each in (self.stiffness, self.damping)
        )
        rest, relaxing = np.zeros(COORDINATES), tuple(self.relaxation)
        return connected(name, connection, stiffness, rest, damping, relaxing)
