r"""Connections: elastic and viscous coupling of two frames in all six directions.

The six coordinates chi of `frames.relative`, three displacements and three rotations, have a
quadratic energy and viscous damping,

.. math:: V = \tfrac12 (\chi - \chi_0) \cdot S\, (\chi - \chi_0), \qquad f = D\, \dot\chi .

chi is a function of quadratic forms s of both frames. Over a step its differences are those of s
times a secant B, and :math:`\Delta s = G(q_m)\,\Delta q`. The discrete gradient
:math:`G(q_m)^\top B^\top S (\bar\chi - \chi_0)` therefore conserves energy exactly, and both
momenta,
which are in the null space of G(q_m). Bushings (`bushings`) and elements of rods (`rods`) are such
connections.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground
from poinsot.frames.directions import Direction
from poinsot.frames.relative import COORDINATES, Placed, coordinates, relative_forms
from poinsot.frames.stacks import Forms, stack
from poinsot.parts.forces import Placed as Acting
from poinsot.parts.potentials import Potential
from poinsot.parts.resistance import Damper, Resistance
from poinsot.ph.matrices import Vector, dense

Real = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Connection:
    """A frame on A and one on B: points, and axes as columns, in director axes [m].

    `ends` are the indices of both; `forms` are on the frames of `bodies`, those of both that move.
    """

    ends: tuple[int, int]
    points: Real
    axes: Real
    bodies: tuple[int, ...]
    forms: Forms

    @classmethod
    def of(
        cls, ends: Sequence[Body | Ground], points: Sequence[ArrayLike], axes: Sequence[Real]
    ) -> "Connection":
        """Connect points of bodies and axes there, given in world axes at the start."""
        bodies = tuple(end.index for end in ends if isinstance(end, Body))
        at = [end.on(point) for end, point in zip(ends, points, strict=True)]
        along = [
            tuple(end.along(axis).among(bodies) for axis in R.T)
            for end, R in zip(ends, axes, strict=True)
        ]
        forms = relative_forms((at[1] - at[0]).among(bodies), *along)
        local = [_in_directors(*each) for each in zip(ends, points, axes, strict=True)]
        return cls(
            (ends[0].index, ends[1].index),
            np.array([point for point, _ in local]),
            np.array([R for _, R in local]),
            bodies,
            stack(forms, len(bodies)),
        )

    def at(self, q: Vector) -> tuple[Vector, Real]:
        """Return the forms at q, and their Jacobian."""
        return self.forms(q), dense(self.forms.G(q))


def _in_directors(end: Body | Ground, point: ArrayLike, axes: Real) -> tuple[Real, Real]:
    """Return a point and axes of a body in director axes; of the ground they are as they are."""
    world = np.asarray(point, dtype=float)
    if isinstance(end, Ground):
        return world, axes
    return end.local_point(world), np.column_stack([end.local_direction(axis) for axis in axes.T])


@dataclass(frozen=True, eq=False)
class ElasticConnection(Potential):
    """V = (chi - rest)·S (chi - rest) / 2 of a connection; S is its `stiffness` (6, 6).

    `relaxation` are pairs of ratio and time [s] of Maxwell elements beside it, see `relaxation`.
    """

    connection: Connection
    stiffness: Real
    rest: Vector
    relaxation: tuple[tuple[float, float], ...] = ()

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        strain = coordinates(self.forms(q)) - self.rest
        return float(strain @ self.stiffness @ strain) / 2

    def force(self, chi: Vector) -> Vector:
        """Return dV/dchi [N, N m]."""
        return np.asarray(self.stiffness @ (chi - self.rest))

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""
        s, G = self.connection.at(q)
        return np.asarray(G.T @ (Placed.at(s).slope.T @ self.force(coordinates(s))))

    def hessian(self, q: Vector) -> Real:
        """Return d^2V/dq^2."""
        s, G = self.connection.at(q)
        at, f = Placed.at(s), self.force(coordinates(s))
        slope = at.slope
        inner = slope.T @ self.stiffness @ slope + at.bend(f, at, 1.0)
        return np.asarray(G.T @ inner @ G + dense(self.forms.curvature(slope.T @ f)))

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, Real]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        s0, (s1, G1), G = (
            self.forms(q0),
            self.connection.at(q1),
            self.connection.at((q0 + q1) / 2)[1],
        )
        end = Placed.at(s1)
        mean = Placed.at(s0).mean(end)
        B = mean.slope
        f = self.force(coordinates(s0) + B @ (G @ (q1 - q0)) / 2)
        inner = B.T @ self.stiffness @ end.slope / 2 + mean.bend(f, end, 0.5)
        tangent = G.T @ inner @ G1 + dense(self.forms.curvature(B.T @ f)) / 2
        return G.T @ (B.T @ f), np.asarray(tangent)


@dataclass(frozen=True, eq=False)
class RelativeMotion(Direction):
    """Along the six coordinates of a connection: B = G^T (dchi/ds)^T."""

    connection: Connection

    def B(self, q: Vector) -> Real:
        """Return the gradients of chi as columns."""
        s, G = self.connection.at(q)
        return np.asarray(G.T @ Placed.at(s).slope.T)

    def dB(self, q: Vector, u: Vector) -> Real:
        """Return the Hessian of u·chi."""
        s, G = self.connection.at(q)
        at = Placed.at(s)
        curvature = dense(self.connection.forms.curvature(at.slope.T @ u))
        return np.asarray(curvature + G.T @ at.bend(u, at, 1.0) @ G)

    def dy(self, q: Vector, v: Vector) -> Real:
        """Return the Hessians of chi times v."""
        return np.array([self.dB(q, unit) @ v for unit in np.eye(COORDINATES)])


@dataclass(frozen=True, eq=False)
class LinearResistance(Resistance):
    """f(y) = D y with a matrix D that is symmetric and positive semidefinite."""

    D: Real

    def __call__(self, y: Vector) -> Vector:
        """Return f(y)."""
        return np.asarray(self.D @ y)

    def slope(self, y: Vector) -> Real:
        """Return D."""
        return self.D


def connected(
    name: str,
    connection: Connection,
    stiffness: Real | None,
    rest: Vector,
    damping: Real | None,
    relaxation: tuple[tuple[float, float], ...] = (),
) -> Acting:
    """Return the potential and the damper of a connection, if it has them."""
    potentials: list[Potential] = []
    if stiffness is not None:
        at = connection.bodies, connection.forms, connection
        potentials.append(ElasticConnection(name, *at, stiffness, rest, relaxation))
    if damping is None:
        return potentials, []
    along = RelativeMotion(connection.bodies, connection)
    return potentials, [Damper(name, along, LinearResistance(damping))]
