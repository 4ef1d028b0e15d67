r"""Shapes and their mass properties: mass, centre of mass, inertia and Euler tensor.

.. math:: E = \int X X^\top dm, \qquad J = \int (X^\top X I - X X^\top) dm = tr(E) I - E

X is measured from the centre of mass, in the axes of the shape. The axis of cylinders, cones and
rods is the local z axis (director d3). SI units: kg, m, kg m^2, kg/m^3.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.flexibility import Flexibility
from poinsot.bodies.tensors import (
    Array,
    check_inertia,
    euler_from_inertia,
    inertia_from_euler,
    turn,
)
from poinsot.errors import InputError
from poinsot.so3 import Rotation, RotationLike, as_rotation_matrix

#: Default of a mass that follows from the density; `__post_init__` replaces it by a number.
FROM_DENSITY: Final = cast(float, None)


@dataclass(frozen=True, kw_only=True)
class Shape(ABC):
    """Base class of shapes: a mass [kg] and its tensors in the axes of the shape."""

    mass: float
    #: Lengths that it is given by [m], and those of them that may be zero.
    _lengths: ClassVar[tuple[str, ...]] = ()
    _thin: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Raise `InputError` for impossible sizes or a mass that is not positive."""
        self._check_sizes()
        _set(self, "mass", _number(self._given_mass(), f"{self._label}: mass", "kg"))

    def _check_sizes(self) -> None:
        """Check the sizes and convert them to floats."""
        for name in self._lengths:
            given, what = getattr(self, name), f"{self._label}: {name}"
            _set(self, name, _number(given, what, "m", zero=name in self._thin))

    def _given_mass(self) -> float:
        """Return the mass [kg], given or derived."""
        return self.mass

    @property
    def centre(self) -> Array:
        """Centre of mass relative to the reference point, in the axes of the shape [m]; (3,).

        Zero for all shapes except `Composite`: their reference point is the centre of mass.
        """
        return np.zeros(3)

    @property
    @abstractmethod
    def euler_B(self) -> Array:
        """Euler tensor about the centre of mass, the integral of X X^T dm [kg m^2]; (3, 3)."""

    @property
    def inertia_B(self) -> Array:
        """Inertia tensor J = tr(E) I - E about the centre of mass [kg m^2]; (3, 3)."""
        return inertia_from_euler(self.euler_B)

    def with_point_mass(self, mass: float, position: ArrayLike) -> Composite:
        """Return this shape with a point mass [kg] at a position from its reference point [m]."""
        return Composite(parts=[(self, (0, 0, 0), None), (PointMass(mass=mass), position, None)])

    @property
    def _label(self) -> str:
        """Name of this shape in messages."""
        return type(self).__name__


class Elasticity(Shape):
    """Base class of elastic shapes."""

    @property
    @abstractmethod
    def flexibility(self) -> Flexibility:
        """Inertia, stiffness and modes in the floating frame."""

    @property
    @abstractmethod
    def places(self) -> Sequence[str]:
        """Names of the places at which something can attach, in order."""

    @abstractmethod
    def off(self, X: Array) -> Array:
        """Return the distance of a point X of the frame from each place [m]."""


@dataclass(frozen=True, kw_only=True)
class Solid(Shape):
    """Base class of homogeneous solids, given by either `mass` [kg] or `density` [kg/m^3]."""

    mass: float = FROM_DENSITY
    density: float | None = None

    def _given_mass(self) -> float:
        """Return the mass, or density times volume."""
        if (self.mass is FROM_DENSITY) == (self.density is None):
            given = "neither" if self.density is None else "both"
            raise InputError(f"{self._label}: give mass or density, exactly one; got {given}")
        if self.density is None:
            return self.mass
        density = _number(self.density, f"{self._label}: density", "kg/m^3")
        if self.volume == 0:
            raise InputError(
                f"{self._label}: it has no thickness and no volume; give mass, not density"
            )
        _set(self, "density", density)
        return density * self.volume

    @property
    @abstractmethod
    def volume(self) -> float:
        """Volume of the material [m^3]."""

    @property
    @abstractmethod
    def second_moments(self) -> tuple[float, float, float]:
        """Mean squares of x, y, z over the volume, i.e. the Euler tensor per unit mass [m^2]."""

    @property
    def euler_B(self) -> Array:
        """Euler tensor: mass times the mean squares of x, y, z, diagonal [kg m^2]; (3, 3)."""
        return np.diag([self.mass * moment for moment in self.second_moments])


@dataclass(frozen=True, kw_only=True)
class Box(Solid):
    """A homogeneous cuboid; E = m diag(a^2, b^2, c^2)/12.

    Parameters
    ----------
    size : (3,)
        Edge lengths (a, b, c) along x, y, z [m]. One may be zero (a plate) or two (a rod), if the
        mass is given.
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    size: Sequence[float]

    def _check_sizes(self) -> None:
        sizes = _numbers(self.size, f"{self._label}: size", "m", zero=True)
        if not any(sizes):
            raise InputError(f"{self._label}: size is zero in all directions; use PointMass")
        _set(self, "size", sizes)

    @property
    def volume(self) -> float:
        """Volume a b c [m^3]."""
        return math.prod(self.size)

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """(a^2, b^2, c^2)/12 [m^2]."""
        a, b, c = self.size
        return a**2 / 12, b**2 / 12, c**2 / 12


@dataclass(frozen=True, kw_only=True)
class Cylinder(Solid):
    """A homogeneous cylinder along z; E = m diag(r^2/4, r^2/4, l^2/12).

    Parameters
    ----------
    radius, length : float
        r and l [m]. A length of zero is a thin disc; give the mass then.
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    radius: float
    length: float
    _lengths, _thin = ("radius", "length"), ("length",)

    @property
    def volume(self) -> float:
        """Volume pi r^2 l [m^3]."""
        return math.pi * self.radius**2 * self.length

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """(r^2/4, r^2/4, l^2/12) [m^2]."""
        return self.radius**2 / 4, self.radius**2 / 4, self.length**2 / 12


@dataclass(frozen=True, kw_only=True)
class HollowCylinder(Solid):
    """A homogeneous tube along z; E = m diag((a^2 + b^2)/4, (a^2 + b^2)/4, l^2/12).

    Parameters
    ----------
    inner_radius, outer_radius, length : float
        a, b and l [m]. Equal radii are a thin wall, a length of zero is a flat ring; give the mass
        then.
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    inner_radius: float
    outer_radius: float
    length: float
    _lengths = ("inner_radius", "outer_radius", "length")
    _thin = ("inner_radius", "length")

    def _check_sizes(self) -> None:
        super()._check_sizes()
        inner, outer = self.inner_radius, self.outer_radius
        if inner > outer:
            raise InputError(
                f"{self._label}: inner_radius {inner:g} m is larger than outer_radius {outer:g} m; "
                "exchange them"
            )

    @property
    def volume(self) -> float:
        """Volume pi (b^2 - a^2) l [m^3]."""
        a, b = self.inner_radius, self.outer_radius
        return math.pi * (b - a) * (b + a) * self.length

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """((a^2 + b^2)/4, (a^2 + b^2)/4, l^2/12) [m^2]."""
        across = (self.inner_radius**2 + self.outer_radius**2) / 4
        return across, across, self.length**2 / 12


@dataclass(frozen=True, kw_only=True)
class Sphere(Solid):
    """A homogeneous ball; E = m r^2/5 I.

    Parameters
    ----------
    radius : float
        r [m].
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    radius: float
    _lengths = ("radius",)

    @property
    def volume(self) -> float:
        """Volume 4/3 pi r^3 [m^3]."""
        return 4 / 3 * math.pi * self.radius**3

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """(r^2, r^2, r^2)/5 [m^2]."""
        return self.radius**2 / 5, self.radius**2 / 5, self.radius**2 / 5


@dataclass(frozen=True, kw_only=True)
class Cone(Solid):
    """A homogeneous cone with its apex on the positive z axis.

    The reference point is the centre of mass: the apex is at z = 3h/4, the base at z = -h/4.
    E = m diag(3 r^2/20, 3 r^2/20, 3 h^2/80).

    Parameters
    ----------
    radius, height : float
        r of the base and h [m].
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    radius: float
    height: float
    _lengths = ("radius", "height")

    @property
    def volume(self) -> float:
        """Volume pi r^2 h/3 [m^3]."""
        return math.pi * self.radius**2 * self.height / 3

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """(3 r^2/20, 3 r^2/20, 3 h^2/80) [m^2]."""
        across = 3 * self.radius**2 / 20
        return across, across, 3 * self.height**2 / 80


@dataclass(frozen=True, kw_only=True)
class Ellipsoid(Solid):
    """A homogeneous ellipsoid; E = m diag(a^2, b^2, c^2)/5.

    Parameters
    ----------
    semi_axes : (3,)
        Semi-axes (a, b, c) along x, y, z [m].
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    semi_axes: Sequence[float]

    def _check_sizes(self) -> None:
        _set(self, "semi_axes", _numbers(self.semi_axes, f"{self._label}: semi_axes", "m"))

    @property
    def volume(self) -> float:
        """Volume 4/3 pi a b c [m^3]."""
        return 4 / 3 * math.pi * math.prod(self.semi_axes)

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """(a^2, b^2, c^2)/5 [m^2]."""
        a, b, c = self.semi_axes
        return a**2 / 5, b**2 / 5, c**2 / 5


@dataclass(frozen=True, kw_only=True)
class ThinRod(Shape):
    """A homogeneous rod along z without thickness; E = m diag(0, 0, l^2/12).

    Parameters
    ----------
    length : float
        l [m].
    mass : float
        Mass [kg].
    """

    length: float
    _lengths = ("length",)

    @property
    def euler_B(self) -> Array:
        """Euler tensor m diag(0, 0, l^2/12) [kg m^2]; (3, 3)."""
        return np.diag([0.0, 0.0, self.mass * self.length**2 / 12])


@dataclass(frozen=True, kw_only=True)
class PointMass(Shape):
    """A point mass, E = 0: a body with a position and no orientation.

    Parameters
    ----------
    mass : float
        Mass [kg].
    """

    @property
    def euler_B(self) -> Array:
        """Euler tensor, zero; (3, 3)."""
        return np.zeros((3, 3))


@dataclass(frozen=True, kw_only=True)
class RigidBody(Shape):
    """A rigid body given by its mass and its inertia about the centre of mass.

    Parameters
    ----------
    mass : float
        Mass [kg].
    inertia : (3,) or (3, 3)
        Principal values (J1, J2, J3), or a symmetric tensor with the off-diagonal entries
        J_xy = -integral of x y dm [kg m^2].
    frame
        Rotation R_BF of the axes F in which the inertia is given, J_B = R_BF J_F R_BF^T: 3x3
        matrix, scalar-first quaternion, or `Rotation`. Default: the axes of the body.
    """

    inertia: ArrayLike
    frame: RotationLike = None

    def __post_init__(self) -> None:
        """Raise `InputError` for an inertia that no body has."""
        super().__post_init__()
        J = _floats(self.inertia, f"{self._label}: inertia", "kg m^2")
        if J.shape not in ((3,), (3, 3)):
            raise InputError(
                f"{self._label}: inertia has shape {J.shape}; give three principal values or a 3x3 "
                "tensor [kg m^2]"
            )
        if not J.any():
            raise InputError(
                f"{self._label}: inertia is zero; give its principal values [kg m^2], or use "
                "PointMass for a body that does not rotate"
            )
        check_inertia(np.diag(J) if J.ndim == 1 else J, f"{self._label}: inertia")
        # Tuples make bodies comparable, and unchangeable like the rest.
        entries = J.tolist()
        _set(self, "inertia", tuple(entries if J.ndim == 1 else map(tuple, entries)))
        if self.frame is not None:
            frame = as_rotation_matrix(self.frame, name=f"{self._label}: frame")
            _set(self, "frame", Rotation(frame))

    @property
    def inertia_B(self) -> Array:
        """Inertia tensor about the centre of mass in the axes of the body [kg m^2]; (3, 3)."""
        J = np.asarray(self.inertia, dtype=float)
        J_F = np.diag(J) if J.ndim == 1 else (J + J.T) / 2
        if self.frame is None:
            return J_F
        return turn(as_rotation_matrix(self.frame), J_F)

    @property
    def euler_B(self) -> Array:
        """Euler tensor E = tr(J)/2 I - J [kg m^2]; (3, 3)."""
        return euler_from_inertia(self.inertia_B)


class Part(NamedTuple):
    """A shape of a `Composite`, with the position of its reference point [m] and its rotation."""

    shape: Shape
    position: tuple[float, float, float]
    rotation: Rotation


@dataclass(frozen=True, kw_only=True)
class Composite(Shape):
    """Several shapes joined to one rigid body.

    The Euler tensor follows from the parallel-axis theorem, E = sum of R_i E_i R_i^T + m_i s_i
    s_i^T with s_i = c_i - centre.

    Parameters
    ----------
    parts : sequence of tuples
        Each is (shape, position, rotation). `position` [m] is that of the reference point of the
        shape, and `rotation` that of its axes (3x3 matrix, scalar-first quaternion, `Rotation` or
        None), both in the axes of the composite. Stored as `Part` tuples.
    """

    parts: Sequence[tuple[Shape, ArrayLike, RotationLike]]
    mass: float = field(init=False)

    def __post_init__(self) -> None:
        """Check the parts and add their masses."""
        parts = tuple(_part(part, f"{self._label}: part {i}") for i, part in enumerate(self.parts))
        if not parts:
            raise InputError(f"{self._label}: no parts; give [(shape, position, rotation), ...]")
        _set(self, "parts", parts)
        _set(self, "mass", math.fsum(part.shape.mass for part in parts))
        super().__post_init__()

    @property
    def centre(self) -> Array:
        """Centre of mass, sum of m_i c_i over the mass, in the axes of the composite [m]; (3,)."""
        moments = [shape.mass * c for shape, c, _ in self._placed()]
        return np.asarray(np.sum(moments, axis=0) / self.mass)

    @property
    def euler_B(self) -> Array:
        """Euler tensor about the common centre of mass [kg m^2]; (3, 3)."""
        centre, E = self.centre, np.zeros((3, 3))
        for shape, c, R in self._placed():
            s = c - centre
            E += turn(R, shape.euler_B) + shape.mass * np.outer(s, s)
        return E

    def _placed(self) -> list[tuple[Shape, Array, Array]]:
        """Return each shape with centre of mass [m] and rotation in the composite's axes."""
        placed = []
        for shape, position, rotation in self.parts:
            R = as_rotation_matrix(rotation)
            placed.append((shape, np.asarray(position, dtype=float) + R @ shape.centre, R))
        return placed


def _part(part: Any, name: str) -> Part:
    """Return a part of a composite; raise `InputError` if it is none."""
    try:
        shape, position, rotation = part
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: expected (shape, position, rotation), rotation may be None; got {part!r}"
        ) from None
    if not isinstance(shape, Shape):
        raise InputError(f"{name}: {shape!r} is not a shape; give a Box, a RigidBody, ... first")
    if isinstance(shape, Elasticity):
        raise InputError(
            f"{name}: a {shape._label} is elastic and cannot be a part of a rigid body; add it as "
            "a body and connect it by a Weld"
        )
    place = _floats(position, f"{name}: position", "m")
    if place.shape != (3,):
        raise InputError(f"{name}: position has shape {place.shape}; give three numbers [m]")
    x, y, z = place.tolist()
    R = as_rotation_matrix(rotation, name=f"{name}: rotation")
    return Part(shape, (x, y, z), Rotation(R))


def _set(shape: Shape, name: str, value: object) -> None:
    """Set a field of a frozen shape while it is being made."""
    object.__setattr__(shape, name, value)


def _floats(value: Any, name: str, unit: str) -> Array:
    """Return finite numbers as an array."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give numbers in {unit}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains NaN or infinity; give numbers in {unit}")
    return array


def _number(value: Any, name: str, unit: str, *, zero: bool = False) -> float:
    """Return one finite positive number; zero only where it is allowed."""
    if isinstance(value, float) and math.isfinite(value):
        return _positive(value, name, unit, zero)
    array = _floats(value, name, unit)
    if array.shape != ():
        raise InputError(f"{name} has shape {array.shape}; give one number in {unit}")
    return _positive(float(array), name, unit, zero)


def _numbers(value: Any, name: str, unit: str, *, zero: bool = False) -> tuple[float, ...]:
    """Return three finite positive numbers; zeros only where they are allowed."""
    array = _floats(value, name, unit)
    if array.shape != (3,):
        raise InputError(f"{name} has shape {array.shape}; give three numbers in {unit}")
    x, y, z = array.tolist()
    for axis, number in (("x", x), ("y", y), ("z", z)):
        if not number > 0:
            _positive(number, f"{name} along {axis}", unit, zero)
    return x, y, z


def _positive(number: float, name: str, unit: str, zero: bool) -> float:
    """Return a positive number; zero only where it is allowed."""
    if number < 0 or (number == 0 and not zero):
        needed = "positive or zero" if zero else "positive"
        raise InputError(f"{name} is {number:g} {unit}; it must be {needed}")
    return number
