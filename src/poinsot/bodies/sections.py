r"""Cross-sections of rods, and what they are made of.

A section lies in the plane of its directors d1 and d2, d3 is the axis of the rod; its origin is its
centre, d1 and d2 are its principal axes. Then

.. math:: A = \int dA, \qquad I_1 = \int x_2^2\, dA, \qquad I_2 = \int x_1^2\, dA

and J is Saint-Venant's torsion constant. Shear factors are those of [C66] without Poisson's effect.
SI units: m, Pa, kg/m^3.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.frames.relative import COORDINATES
from poinsot.inputs import number, numbers

Array = NDArray[np.float64]

#: Terms of the series of a rectangle's torsion constant: the next is below round-off.
TERMS = 40
#: A matrix counts as symmetric up to this share of its largest entry.
SYMMETRIC = 1e-12


def positive(value: object, what: str, unit: str) -> float:
    """Return a positive number."""
    given = number(value, what)
    if given <= 0:
        raise InputError(f"{what} is {given:g} {unit}; it must be positive")
    return given


@dataclass(frozen=True, kw_only=True)
class Material:
    """Linear elastic material: moduli [Pa] and density [kg/m^3]."""

    youngs_modulus: float
    shear_modulus: float
    density: float


@dataclass(frozen=True, eq=False)
class LineProperties:
    """What counts of a rod at a place: of unit length.

    Parameters
    ----------
    stiffness : (6, 6)
        C of two shears and the extension [N], two curvatures and the twist [N m^2].
    mass
        Mass [kg/m].
    inertia : (2,)
        Moments of inertia about d1 and d2 [kg m]; about d3 it is their sum.
    """

    stiffness: Array
    mass: float
    inertia: tuple[float, float]


class CrossSection(ABC):
    """A cross-section; with a material it tells the properties of a rod."""

    @abstractmethod
    def properties(self, material: Material | None) -> LineProperties:
        """Return them; some sections know them without a material."""


class Shaped(CrossSection):
    """A section of some shape and of one material."""

    @property
    @abstractmethod
    def constants(self) -> tuple[float, float, float, float]:
        """Area [m^2], I1, I2 and J [m^4]."""

    @property
    @abstractmethod
    def shear(self) -> tuple[float, float]:
        """Shear factors along d1 and d2."""

    def properties(self, material: Material | None) -> LineProperties:
        """Return C = diag(k1 G A, k2 G A, E A, E I1, E I2, G J), rho A and rho (I1, I2)."""
        if material is None:
            what = type(self).__name__
            raise InputError(f"{what}: give youngs_modulus, shear_modulus and density of the rod")
        E, G, rho = material.youngs_modulus, material.shear_modulus, material.density
        (A, I1, I2, J), (k1, k2) = self.constants, self.shear
        C = np.diag([k1 * G * A, k2 * G * A, E * A, E * I1, E * I2, G * J])
        return LineProperties(C, rho * A, (rho * I1, rho * I2))


@dataclass(frozen=True, kw_only=True)
class CircularSection(Shaped):
    """A circle of a `radius` [m], or a ring outside of an `inner_radius` [m]."""

    radius: float
    inner_radius: float = 0.0

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        positive(self.radius, "CircularSection: radius", "m")
        number(self.inner_radius, "CircularSection: inner_radius", minimum=0.0)
        if not self.inner_radius < self.radius:
            raise InputError(
                f"CircularSection: inner_radius {self.inner_radius:g} m is not smaller than radius "
                f"{self.radius:g} m; there is no material left"
            )

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Area, I1, I2 and J."""
        a, b = self.inner_radius, self.radius
        I = math.pi / 4 * (b**4 - a**4)
        return math.pi * (b**2 - a**2), I, I, 2 * I

    @property
    def shear(self) -> tuple[float, float]:
        """6 (1 + m^2)^2 / (7 (1 + m^2)^2 + 20 m^2) with m the ratio of the radii."""
        m2 = (self.inner_radius / self.radius) ** 2
        k = 6 * (1 + m2) ** 2 / (7 * (1 + m2) ** 2 + 20 * m2)
        return k, k


@dataclass(frozen=True, kw_only=True)
class RectangularSection(Shaped):
    """A rectangle: its `width` along d1 and its `height` along d2 [m]."""

    width: float
    height: float

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        for label in ("width", "height"):
            positive(getattr(self, label), f"RectangularSection: {label}", "m")

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Area, I1, I2 and J; the series of J is Saint-Venant's."""
        b, h = self.width, self.height
        long, short = max(b, h), min(b, h)
        odd = range(1, 2 * TERMS, 2)
        ends = sum(math.tanh(n * math.pi * long / (2 * short)) / n**5 for n in odd)
        J = long * short**3 * (1 / 3 - 64 / math.pi**5 * short / long * ends)
        return b * h, b * h**3 / 12, h * b**3 / 12, J

    @property
    def shear(self) -> tuple[float, float]:
        """5/6."""
        return 5 / 6, 5 / 6


@dataclass(frozen=True, kw_only=True)
class Section(Shaped):
    """Any section, by its constants.

    Parameters
    ----------
    area
        A [m^2].
    I1, I2
        Second moments about d1 and d2 [m^4].
    J
        Torsion constant [m^4].
    shear_factors : (2,)
        Along d1 and d2.
    """

    area: float
    I1: float
    I2: float
    J: float
    shear_factors: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse what no section has."""
        for label, unit in (("area", "m^2"), ("I1", "m^4"), ("I2", "m^4"), ("J", "m^4")):
            positive(getattr(self, label), f"Section: {label}", unit)
        factors = numbers(self.shear_factors, "Section: shear_factors")
        if factors.shape != (2,) or not (factors > 0).all():
            raise InputError(
                f"Section: shear_factors: expected two positive numbers, got {factors}"
            )
        object.__setattr__(self, "shear_factors", tuple(factors.tolist()))

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Area, I1, I2 and J."""
        return self.area, self.I1, self.I2, self.J

    @property
    def shear(self) -> tuple[float, float]:
        """As given."""
        return self.shear_factors


@dataclass(frozen=True, kw_only=True, eq=False)
class SectionLaw(CrossSection):
    """A section by its stiffness and its inertia; it needs no material.

    Parameters
    ----------
    stiffness : (6,) or (6, 6)
        Of two shears along d1 and d2 and the extension [N], of curvatures about d1 and d2 and the
        twist [N m^2]; or a symmetric matrix, which couples them.
    mass
        Mass per length [kg/m].
    inertia : (2,)
        Moments of inertia about d1 and d2 per length [kg m]; about d3 it is their sum.
    """

    stiffness: ArrayLike
    mass: float
    inertia: ArrayLike

    def __post_init__(self) -> None:
        """Refuse a stiffness that is not positive definite, and impossible inertia."""
        C = definite_matrix(self.stiffness, "SectionLaw: stiffness")
        object.__setattr__(self, "stiffness", C)
        positive(self.mass, "SectionLaw: mass", "kg/m")
        inertia = numbers(self.inertia, "SectionLaw: inertia")
        if inertia.shape != (2,) or not (inertia > 0).all():
            raise InputError(
                f"SectionLaw: inertia: expected two positive numbers [kg m], got {self.inertia!r}"
            )
        object.__setattr__(self, "inertia", tuple(inertia.tolist()))

    def properties(self, material: Material | None) -> LineProperties:
        """Return them as they are."""
        if material is not None:
            raise InputError("SectionLaw: it has its stiffness and mass; leave out the material")
        I1, I2 = np.asarray(self.inertia, dtype=float).tolist()
        return LineProperties(np.asarray(self.stiffness), self.mass, (I1, I2))


def symmetric_matrix(value: ArrayLike, what: str) -> Array:
    """Return six numbers or a matrix (6, 6) as a matrix, which must be symmetric."""
    given = numbers(value, what)
    matrix = np.diag(given) if given.shape == (COORDINATES,) else given
    if matrix.shape != (COORDINATES, COORDINATES):
        raise InputError(f"{what}: expected six numbers or a 6x6 matrix, got shape {given.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(f"{what} contains NaN or infinity")
    if np.max(abs(matrix - matrix.T)) > SYMMETRIC * np.max(abs(matrix)):
        raise InputError(f"{what} is not symmetric; it would create energy")
    matrix = (matrix + matrix.T) / 2
    matrix.flags.writeable = False
    return matrix


def definite_matrix(value: ArrayLike, what: str) -> Array:
    """Return a symmetric matrix (6, 6), which must be positive definite."""
    matrix = symmetric_matrix(value, what)
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    # By units: forces and moments may be orders of magnitude apart.
    if not size.all() or not np.linalg.eigvalsh(matrix / np.outer(size, size))[0] > SYMMETRIC:
        raise InputError(f"{what} is not positive definite; every deformation must cost energy")
    return matrix


def semidefinite_matrix(value: ArrayLike, what: str) -> Array:
    """Return a symmetric matrix (6, 6), which must have no negative eigenvalue."""
    matrix = symmetric_matrix(value, what)
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -SYMMETRIC * np.max(abs(matrix)):
        raise InputError(
            f"{what} is not positive semidefinite: its least eigenvalue is {least:.3g}; it would "
            "create energy"
        )
    return matrix
