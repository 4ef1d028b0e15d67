r"""Shapes and their mass properties: mass, centre of mass, inertia and Euler tensor.

.. math:: E = \int X X^\top dm, \qquad J = \int (X^\top X I - X X^\top) dm = tr(E) I - E

X runs from the centre of mass, components in the axes of the shape. Cylinder, cone and rod have
their axis along the local z (director d3). SI units: kg, m, kg m^2, kg/m^3.
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

#: The mass was left out and follows from the density; `__post_init__` replaces it by a number.
FROM_DENSITY: Final = cast(float, None)


@dataclass(frozen=True, kw_only=True)
class Shape(ABC):
    """Something with mass; `mass` in kg, all tensors in the axes of the shape."""

    mass: float
    #: Lengths that it is given by [m], and those of them that may be zero.
    _lengths: ClassVar[tuple[str, ...]] = ()
    _thin: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Refuse impossible sizes, and a mass that is not positive."""
        self._check_sizes()
        _set(self, "mass", _number(self._given_mass(), f"{self._label}: mass", "kg"))

    def _check_sizes(self) -> None:
        """Refuse impossible sizes and keep the others as floats."""
        for name in self._lengths:
            given, what = getattr(self, name), f"{self._label}: {name}"
            _set(self, name, _number(given, what, "m", zero=name in self._thin))

    def _given_mass(self) -> float:
        """Return the mass [kg], which may follow from something else."""
        return self.mass

    @property
    def centre(self) -> Array:
        """Centre of mass from the reference point of the shape, in its axes [m]; (3,).

        Zero for all shapes but `Composite`: their reference point is the centre of mass.
        """
        return np.zeros(3)

    @property
    @abstractmethod
    def euler_B(self) -> Array:
        """Euler tensor, the integral of X X^T dm about the centre of mass [kg m^2]; (3, 3)."""

    @property
    def inertia_B(self) -> Array:
        """Inertia tensor J = tr(E) I - E about the centre of mass [kg m^2]; (3, 3)."""
        return inertia_from_euler(self.euler_B)

    def with_point_mass(self, mass: float, position: ArrayLike) -> Composite:
        """Return this shape with a point mass [kg] at a position from its reference point [m]."""
        return Composite(parts=[(self, (0, 0, 0), None), (PointMass(mass=mass), position, None)])

    @property
    def _label(self) -> str:
        """How messages call this shape."""
        return type(self).__name__


class Elasticity(Shape):
    """A shape that deforms."""

    @property
    @abstractmethod
    def flexibility(self) -> Flexibility:
        """Its numbers in the floating frame."""

    @property
    @abstractmethod
    def places(self) -> Sequence[str]:
        """What its places are called, in order."""

    @abstractmethod
    def off(self, X: Array) -> Array:
        """Return how far a point X of its frame is from the section of each place [m]."""


@dataclass(frozen=True, kw_only=True)
class Solid(Shape):
    """A homogeneous shape, given by `mass` [kg] or by `density` [kg/m^3] (exactly one of them)."""

    mass: float = FROM_DENSITY
    density: float | None = None

    def _given_mass(self) -> float:
        """Return mass = density * volume, unless the mass is given."""
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
        """Mean squares of x, y, z over the volume, the Euler tensor for unit mass [m^2]."""

    @property
    def euler_B(self) -> Array:
        """Euler tensor, diagonal: mass times the mean squares of x, y, z [kg m^2]; (3, 3)."""
        return np.diag([self.mass * moment for moment in self.second_moments])


@dataclass(frozen=True, kw_only=True)
class Box(Solid):
    """A cuboid with edges `size` = (a, b, c) [m] along x, y, z; E = m diag(a^2, b^2, c^2)/12.

    One edge may be zero (a plate), or two (a rod): then give the mass.
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
    """A cylinder of `radius` r and `length` l [m] along z; E = m diag(r^2/4, r^2/4, l^2/12).

    Length zero is a thin disc: then give the mass.
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
    """A tube between `inner_radius` a and `outer_radius` b, of `length` l [m] along z.

    E = m diag((a^2 + b^2)/4, (a^2 + b^2)/4, l^2/12). Equal radii are a thin wall, length zero
    a flat ring: then give the mass.
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
    """A ball of `radius` r [m]; E = m r^2/5 I."""

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
    """A cone with base `radius` r and `height` h [m], its apex on the positive z axis.

    Its reference point is the centre of mass: the apex lies at z = 3h/4, the base at z = -h/4.
    E = m diag(3 r^2/20, 3 r^2/20, 3 h^2/80).
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
    """An ellipsoid with `semi_axes` (a, b, c) [m] along x, y, z; E = m diag(a^2, b^2, c^2)/5."""

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
    """A rod of `length` l [m] along z, without thickness; E = m diag(0, 0, l^2/12)."""

    length: float
    _lengths = ("length",)

    @property
    def euler_B(self) -> Array:
        """Euler tensor m diag(0, 0, l^2/12) [kg m^2]; (3, 3)."""
        return np.diag([0.0, 0.0, self.mass * self.length**2 / 12])


@dataclass(frozen=True, kw_only=True)
class PointMass(Shape):
    """A mass without extension, E = 0: a body with a position only, which does not turn."""

    @property
    def euler_B(self) -> Array:
        """Euler tensor, zero; (3, 3)."""
        return np.zeros((3, 3))


@dataclass(frozen=True, kw_only=True)
class RigidBody(Shape):
    """A body known by its mass and inertia alone, about its centre of mass.

    `inertia` is three principal values (J1, J2, J3) or a symmetric 3x3 tensor, whose off-diagonal
    entries are J_xy = -integral of x y dm [kg m^2]. `frame` is the rotation R_BF of the axes F in
    which the inertia is given; J_B = R_BF J_F R_BF^T. None: the axes of the body.
    """

    inertia: ArrayLike
    frame: RotationLike = None

    def __post_init__(self) -> None:
        """Refuse an inertia that belongs to no body."""
        super().__post_init__()
        J = _floats(self.inertia, f"{self._label}: inertia", "kg m^2")
        if J.shape not in ((3,), (3, 3)):
            raise InputError(
                f"{self._label}: inertia has shape {J.shape}; give three principal values or a 3x3 "
                "tensor [kg m^2]"
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
    """A shape of a `Composite`: where its reference point lies [m], and how its axes are turned."""

    shape: Shape
    position: tuple[float, float, float]
    rotation: Rotation


@dataclass(frozen=True, kw_only=True)
class Composite(Shape):
    """Shapes joined to one rigid body; `parts` = [(shape, position, rotation), ...].

    `position` places the reference point of a part in the axes of the composite [m]; `rotation`
    turns its axes (3x3 matrix, scalar-first quaternion, Rotation, or None). Kept as `Part` tuples.
    By the parallel-axes theorem E = sum of R_i E_i R_i^T + m_i s_i s_i^T, s_i = c_i - centre.
    """

    parts: Sequence[tuple[Shape, ArrayLike, RotationLike]]
    mass: float = field(init=False)

    def __post_init__(self) -> None:
        """Check the parts and add up their masses."""
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
        """Each shape with its centre of mass and rotation in the axes of the composite."""
        placed = []
        for shape, position, rotation in self.parts:
            R = as_rotation_matrix(rotation)
            placed.append((shape, np.asarray(position, dtype=float) + R @ shape.centre, R))
        return placed


def _part(part: Any, name: str) -> Part:
    """Return a part of a composite, checked."""
    try:
        shape, position, rotation = part
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: expected (shape, position, rotation), rotation may be None; got {part!r}"
        ) from None
    if not isinstance(shape, Shape):
        raise InputError(f"{name}: {shape!r} is not a shape; give a Box, a RigidBody, ... first")
    if isinstance(shape, Elasticity):
        raise InputError(f"{name}: a {shape._label} is elastic; weld it to a body by a joint")
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
