"""Blades, wheels and spheres on a plane of the ground: velocity constraints.

These nonholonomic constraints cannot be written as equations of positions: a skate can reach any
place, but never move sideways [BHRS25, sec. 7.1]. Points and directions are given in world axes at
the start; contact forces are the reaction of the joint.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground, turned_body
from poinsot.errors import InputError
from poinsot.frames.forms import GROUND, Height, VectorForm, direction, point, three
from poinsot.inputs import number, unit3, vector3
from poinsot.parts.contacts import LYING, Ball, Blade, Contact, Disc
from poinsot.parts.joint import Joint, Row
from poinsot.parts.joints import perpendicular

Vector3 = NDArray[np.float64]

#: Sine of the angle between two directions, below which they are parallel.
FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class Rolling(Joint):
    """Base class of contacts between a plane of the ground, `a`, and a body, `b`."""

    def __post_init__(self) -> None:
        """Check the ground, the body and the geometry."""
        if not isinstance(self.a, Ground):
            raise InputError(
                f"{self.kind}: a: the plane belongs to model.ground, got {self.a!r}; give the "
                "ground first and the body second"
            )
        turned_body(self.b, f"{self.kind}: b")

    def _check(self, **vectors: ArrayLike) -> None:
        """Keep copies of points and directions."""
        for label, value in vectors.items():
            object.__setattr__(self, label, vector3(value, f"{self.kind}: {label}"))

    @property
    def body(self) -> Body:
        """The body that rolls."""
        assert isinstance(self.b, Body)
        return self.b

    @abstractmethod
    def contact(self) -> Contact:
        """Return the velocity constraints."""

    def rows(self) -> tuple[Row, ...]:
        """Return nothing: only velocities are constrained."""
        return ()


@dataclass(frozen=True, eq=False)
class KnifeEdge(Rolling):
    r"""A blade or ideal wheel: a point of the body moves along a body-fixed direction only.

    .. math:: n \cdot \dot r_P = 0, \qquad n = \text{normal} \times \text{along}

    The body is not held on the plane; add `Planar` or `PointOnPlane` for that.

    Parameters
    ----------
    a : Ground
        The ground.
    b : Body
        The body.
    point : (3,)
        Position of the blade at the start [m], world axes.
    along, normal : (3,)
        Direction of motion and normal of the plane at the start, world axes, of any length.
    """

    point: ArrayLike
    along: ArrayLike
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Check the vectors."""
        super().__post_init__()
        self._check(point=self.point, along=self.along, normal=self.normal)
        lengths = np.linalg.norm(self.along) * np.linalg.norm(self.normal)
        if not np.linalg.norm(self._across) > FLAT * lengths:
            raise InputError(
                "KnifeEdge: along and normal are parallel or zero; give two different directions"
            )

    @property
    def _across(self) -> Vector3:
        return np.cross(np.asarray(self.normal), np.asarray(self.along))

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The point of the blade."""
        on_b = self.body.on(self.point)
        return on_b, on_b

    def contact(self) -> Blade:
        """Return the blade."""
        n = unit3(self._across, "KnifeEdge: normal x along")
        X = self.body.local_point(np.asarray(self.point))
        return Blade((self.body.index,), three(X), three(self.body.local_direction(n)))


@dataclass(frozen=True, eq=False)
class _OnPlane(Rolling):
    """A round body on a plane."""

    radius: float
    centre: ArrayLike | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Check numbers and vectors."""
        super().__post_init__()
        centre = self.body.position if self.centre is None else self.centre
        self._check(centre=centre, point=self.point, normal=self.normal)
        if number(self.radius, f"{self.kind}: radius") <= 0:
            raise InputError(f"{self.kind}: radius is {self.radius!r}; it must be positive")
        if not self._N @ (np.asarray(self.centre) - np.asarray(self.point)) > 0:
            raise InputError(
                f"{self.kind}: its centre is not above the plane; move the body, or reverse the "
                "normal"
            )

    @property
    def remedy(self) -> str:
        """Advice in the message for a body that does not touch the plane."""
        height = self._N @ (np.asarray(self.centre) - np.asarray(self.point))
        return (
            f"its centre is {height:.6g} m above the plane, and its lowest point does not touch "
            "it: move the body, or correct radius, centre or point"
        )

    @property
    def _N(self) -> Vector3:
        return unit3(self.normal, f"{self.kind}: normal")

    @property
    def _X(self) -> Vector3:
        """The centre in director axes."""
        return self.body.local_point(np.asarray(self.centre))


@dataclass(frozen=True, eq=False)
class RollingSphere(_OnPlane):
    r"""A sphere that rolls on a plane without slipping; it may spin about the normal.

    .. math:: N \cdot (r_C - r_P) = r, \qquad e_k \cdot (\dot r_C - \omega \times r N) = 0

    Parameters
    ----------
    a : Ground
        The ground.
    b : Body
        The body.
    radius : float
        r [m].
    centre : (3,)
        Centre of the sphere at the start [m], world axes. Default: the centre of mass.
    point, normal : (3,)
        A point [m] and the normal of the plane, towards the sphere; world axes.
    """

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The lowest point."""
        centre = point(self.body.index, self._X)
        lowest = centre - VectorForm((), three(self.radius * self._N))
        return lowest, lowest

    def rows(self) -> tuple[Row, ...]:
        """Return the height of the lowest point above the plane."""
        _, lowest = self.origin
        return (Row("height", direction(GROUND, self._N), lowest - point(GROUND, self.point)),)

    def contact(self) -> Ball:
        """Return the sphere."""
        first, second = perpendicular(self._N)
        arm, along = three(-self.radius * self._N), (three(first), three(second))
        return Ball((self.body.index,), three(self._X), arm, along)


@dataclass(frozen=True)
class _HeightRow(Row):
    """The height of the centre of a disc, which depends on its tilt."""

    n: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def form(self) -> Height:
        """The equation as a quadratic form: `a` leads to the centre, `b` is the axis."""
        radius = self.length or 0.0
        return Height((), -(radius**2) / 2, n=self.n, r=self.a, a=self.b)


@dataclass(frozen=True, eq=False)
class RollingDisc(_OnPlane):
    r"""A disc, coin or wheel with a sharp rim that rolls on a plane without slipping.

    With the unit axis a and the height :math:`h = N \cdot (r_C - r_P)` of the centre,

    .. math::

        h^2 + r^2 (N \cdot a)^2 = r^2, \qquad
        (a \times N) \cdot v_C = h\, a \cdot \omega, \qquad
        (a - (a \cdot N) N) \cdot v_C = -h\, (a \times N) \cdot \omega :

    the rim touches the plane, and the velocity of the contact point is zero.

    Parameters
    ----------
    a : Ground
        The ground.
    b : Body
        The body.
    radius : float
        r [m].
    centre : (3,)
        Centre of the disc at the start [m], world axes. Default: the centre of mass.
    point, normal : (3,)
        A point [m] and the normal of the plane, towards the disc; world axes.
    axis : (3,)
        Axis of the disc at the start, world axes.
    sideways : bool
        Prevent sideways slip, too. Of two wheels on one axle, only one needs this.
    """

    axis: ArrayLike = (0.0, 1.0, 0.0)
    sideways: bool = True

    def __post_init__(self) -> None:
        """Check that the disc does not lie on the plane."""
        super().__post_init__()
        self._check(axis=self.axis)
        if np.linalg.norm(np.cross(self._a, self._N)) < LYING:
            raise InputError(
                "RollingDisc: its axis is normal to the plane, so that the disc lies flat on it; "
                "tilt the axis"
            )
        if not isinstance(self.sideways, bool):
            raise InputError(f"RollingDisc: sideways is {self.sideways!r}, expected true or false")

    @property
    def _a(self) -> Vector3:
        return unit3(self.axis, "RollingDisc: axis")

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The centre."""
        centre = point(self.body.index, self._X)
        return centre, centre

    def rows(self) -> tuple[Row, ...]:
        """Return the height of the centre above the plane."""
        _, centre = self.origin
        axis = self.body.along(self.radius * self._a)
        up = centre - point(GROUND, self.point)
        return (_HeightRow("height", up, axis, float(self.radius), three(self._N)),)

    def contact(self) -> Disc:
        """Return the disc."""
        return Disc(
            bodies=(self.body.index,),
            X=three(self._X),
            a=three(self.body.local_direction(self._a)),
            N=three(self._N),
            base=three(self.point),
            rows=2 if self.sideways else 1,
        )
