r"""Cross-sections of beams and rods, and their material.

A section lies in the plane of its principal axes 1 and 2, with its centroid as the origin. These
axes are the directors d1 and d2 of a rod, whose axis is along d3, and y and z of a beam along x.

.. math:: A = \int dA, \qquad I_1 = \int x_2^2\, dA, \qquad I_2 = \int x_1^2\, dA

J is Saint-Venant's torsion constant. Shear factors are those of [C66] for zero Poisson's ratio.
SI units: m, Pa, kg/m^3.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poinsot.elements.definite import given_or_diagonal, require_definite
from poinsot.errors import InputError
from poinsot.inputs import number, numbers, positive
from poinsot.ph.matrices import Array

#: Terms of the series of a rectangle's torsion constant: the next is below round-off.
TERMS = 40
#: Strains of a rod: two shears and the extension, two curvatures and the twist.
STRAINS = 6


@dataclass(frozen=True, kw_only=True)
class Material:
    """Linear elastic material: moduli [Pa] and density [kg/m^3]."""

    youngs_modulus: float
    shear_modulus: float
    density: float


@dataclass(frozen=True, eq=False)
class LineProperties:
    """Stiffness and inertia of a rod per unit length.

    Parameters
    ----------
    stiffness : (6, 6)
        Stiffness matrix for two shears and the extension [N], two curvatures and the twist [N m^2].
    mass
        Mass per length [kg/m].
    inertia : (2,)
        Moments of inertia about d1 and d2 per length [kg m]; that about d3 is their sum.
    """

    stiffness: Array
    mass: float
    inertia: tuple[float, float]


class CrossSection(ABC):
    """Base class of cross-sections; with a material they give the properties of a rod."""

    @abstractmethod
    def properties(self, material: Material | None) -> LineProperties:
        """Return the properties per unit length; a `SectionLaw` needs no material."""


class Shaped(CrossSection):
    """Base class of sections of one material, given by geometric constants."""

    @property
    @abstractmethod
    def constants(self) -> tuple[float, float, float, float]:
        """Area [m^2], I1, I2 and J [m^4]."""

    @property
    @abstractmethod
    def shear(self) -> tuple[float, float]:
        """Shear factors along axes 1 and 2."""

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
    """A circular or annular section.

    Parameters
    ----------
    radius, inner_radius : float
        Outer and inner radius [m]. Default: a solid circle.
    """

    radius: float
    inner_radius: float = 0.0

    def __post_init__(self) -> None:
        """Raise `InputError` for impossible sizes."""
        positive(self.radius, "CircularSection: radius")
        number(self.inner_radius, "CircularSection: inner_radius", minimum=0.0)
        if not self.inner_radius < self.radius:
            raise InputError(
                f"CircularSection: inner_radius {self.inner_radius:g} m is not smaller than radius "
                f"{self.radius:g} m; decrease inner_radius"
            )

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Area [m^2], I1, I2 and J [m^4]."""
        a, b = self.inner_radius, self.radius
        I = math.pi / 4 * (b**4 - a**4)
        return math.pi * (b**2 - a**2), I, I, 2 * I

    @property
    def shear(self) -> tuple[float, float]:
        """Shear factors 6 (1 + m^2)^2 / (7 (1 + m^2)^2 + 20 m^2); m is the ratio of the radii."""
        m2 = (self.inner_radius / self.radius) ** 2
        k = 6 * (1 + m2) ** 2 / (7 * (1 + m2) ** 2 + 20 * m2)
        return k, k


@dataclass(frozen=True, kw_only=True)
class RectangularSection(Shaped):
    """A rectangular section.

    Parameters
    ----------
    width, height : float
        Width along axis 1 and height along axis 2 [m].
    """

    width: float
    height: float

    def __post_init__(self) -> None:
        """Raise `InputError` for impossible sizes."""
        for label in ("width", "height"):
            positive(getattr(self, label), f"RectangularSection: {label}")

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Area [m^2], I1, I2 and J [m^4]; J is Saint-Venant's series."""
        b, h = self.width, self.height
        long, short = max(b, h), min(b, h)
        odd = range(1, 2 * TERMS, 2)
        ends = sum(math.tanh(n * math.pi * long / (2 * short)) / n**5 for n in odd)
        J = long * short**3 * (1 / 3 - 64 / math.pi**5 * short / long * ends)
        return b * h, b * h**3 / 12, h * b**3 / 12, J

    @property
    def shear(self) -> tuple[float, float]:
        """Shear factors, 5/6."""
        return 5 / 6, 5 / 6


@dataclass(frozen=True, kw_only=True)
class Section(Shaped):
    """A section of any shape, given by its constants.

    Parameters
    ----------
    area : float
        A [m^2].
    I1, I2 : float
        Second moments of area about axes 1 and 2 [m^4]: I1 resists deflection along 2, I2 along 1.
    J : float
        Torsion constant [m^4].
    shear_factors : (2,)
        Shear factors along axes 1 and 2. Used by rods only; beams have no shear.
    """

    area: float
    I1: float
    I2: float
    J: float
    shear_factors: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Raise `InputError` for impossible constants."""
        for label in ("area", "I1", "I2", "J"):
            positive(getattr(self, label), f"Section: {label}")
        factors = numbers(self.shear_factors, "Section: shear_factors")
        if factors.shape != (2,) or not (factors > 0).all():
            raise InputError(
                f"Section: shear_factors: expected two positive numbers, got {factors}"
            )
        object.__setattr__(self, "shear_factors", tuple(factors.tolist()))

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Area [m^2], I1, I2 and J [m^4]."""
        return self.area, self.I1, self.I2, self.J

    @property
    def shear(self) -> tuple[float, float]:
        """Shear factors along axes 1 and 2."""
        return self.shear_factors


@dataclass(frozen=True, kw_only=True, eq=False)
class SectionLaw(CrossSection):
    """A section given directly by its stiffness and inertia, without a material.

    Parameters
    ----------
    stiffness : (6,) or (6, 6)
        Stiffness for shears along d1 and d2 and the extension [N], and for curvatures about d1 and
        d2 and the twist [N m^2]; or a symmetric positive definite matrix, which couples them.
    mass : float
        Mass per length [kg/m].
    inertia : (2,)
        Moments of inertia about d1 and d2 per length [kg m]; that about d3 is their sum.
    """

    stiffness: ArrayLike
    mass: float
    inertia: ArrayLike

    def __post_init__(self) -> None:
        """Raise `InputError` unless stiffness and inertia are positive definite."""
        C = given_or_diagonal(self.stiffness, "SectionLaw: stiffness", STRAINS)
        require_definite(
            C,
            "SectionLaw: stiffness is not positive definite; every deformation must store energy",
        )
        object.__setattr__(self, "stiffness", C)
        positive(self.mass, "SectionLaw: mass")
        inertia = numbers(self.inertia, "SectionLaw: inertia")
        if inertia.shape != (2,) or not (inertia > 0).all():
            raise InputError(
                f"SectionLaw: inertia: expected two positive numbers [kg m], got {self.inertia!r}"
            )
        object.__setattr__(self, "inertia", tuple(inertia.tolist()))

    def properties(self, material: Material | None) -> LineProperties:
        """Return the given properties."""
        if material is not None:
            raise InputError(
                "SectionLaw: it has stiffness and mass already; leave out youngs_modulus, "
                "shear_modulus and density"
            )
        I1, I2 = np.asarray(self.inertia, dtype=float).tolist()
        return LineProperties(np.asarray(self.stiffness), self.mass, (I1, I2))
