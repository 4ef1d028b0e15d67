"""Beams, rods and their cross-sections in a model file."""

from typing import Literal

from poinsot.io.entries import OneOf, Part
from poinsot.io.numbers import (
    Elements,
    Held,
    Number,
    OneOrSix,
    Relaxation,
    Rigid,
    Rows,
    Six,
    Two,
    Vector,
)


class CircularSection(Part):
    """A circle, or a ring."""

    radius: Number
    """Radius [m]."""
    inner_radius: Number = 0.0
    """Inner radius of a ring [m]."""


class RectangularSection(Part):
    """A rectangle."""

    width: Number
    """Along d1 of a rod, y of a beam [m]."""
    height: Number
    """Along d2 of a rod, z of a beam [m]."""


class Section(Part):
    """Any section by its constants."""

    area: Number
    """Area [m^2]."""
    I1: Number
    """Second moment about d1 of a rod, y of a beam [m^4]."""
    I2: Number
    """Second moment about d2 of a rod, z of a beam [m^4]."""
    J: Number
    """Torsion constant [m^4]."""
    shear_factors: Two | None = None
    """Of a rod along d1 and d2; 1 if left out."""


class SectionLaw(Part):
    """A section by its stiffness and its inertia, of unit length; a rod of it needs no material."""

    stiffness: Six
    """Of two shears and the extension [N], two curvatures and the twist [N m^2]; or a matrix."""
    mass: Number
    """Mass [kg/m]."""
    inertia: Two
    """Moments of inertia about d1 and d2 [kg m]."""


class Sections(OneOf):
    """The kinds of cross-sections."""

    circular: CircularSection | None = None
    rectangular: RectangularSection | None = None
    constants: Section | None = None
    law: SectionLaw | None = None


class Beam(Part):
    """An elastic beam along x; things attach to its places name.start, name.1, ..., name.end."""

    length: Number
    """Length along x [m]."""
    section: Sections
    """Cross-section."""
    density: Number
    """Density [kg/m^3]."""
    youngs_modulus: Number
    """Young's modulus [Pa]."""
    shear_modulus: Number | None = None
    """Shear modulus [Pa]; Young's modulus over 2.6 if left out."""
    elements: Elements | None = None
    """Number of elements, 4 if left out, or the places of all nodes from 0 to the length [m]."""
    held: Held | None = None
    """clamped-free (default), simply supported, or pairs such as [0, u_x]."""
    momenta: Literal["deformed", "undeformed"] | None = None
    """Whether momenta depend on the deformation; they do if left out."""
    stiffening: bool | None = None
    """Whether axial forces stiffen a bent beam; they do not if left out."""
    planar: bool | None = None
    """Whether it bends in y only."""
    start_mass: Number | None = None
    """Point mass at its start [kg]."""
    end_mass: Number | None = None
    """Point mass at its end [kg]."""
    damping: Number | None = None
    """Damping, so many times the stiffness [s]."""
    rotary_inertia: bool | None = None
    """Whether sections that turn in bending have inertia."""

    @property
    def nodes(self) -> int:
        """How many places it has."""
        if isinstance(self.elements, tuple):
            return len(self.elements)
        return 1 + (4 if self.elements is None else max(self.elements, 0))


class ElasticRod(Part):
    """An elastic rod; its nodes are called by its name and a number, or `start` and `end`."""

    curve: Rows
    """Two ends of a straight rod, or all nodes [m]."""
    section: Sections | list[Sections]
    """Its section, all along or at each node."""
    elements: int | None = None
    """How many, between two ends."""
    youngs_modulus: Number | None = None
    """Young's modulus [Pa]."""
    shear_modulus: Number | None = None
    """Shear modulus [Pa]."""
    density: Number | None = None
    """Density [kg/m^3]."""
    normal: Vector | None = None
    """Where d1 points at the start of the rod; default: some direction across."""
    twist: Number = 0.0
    """By how much d1 is turned about the axis at the end [rad], growing evenly."""
    natural: Rows | None = None
    """The axis without stress, where that is another [m]."""
    damping_time: OneOrSix = 0.0
    """Kelvin-Voigt damping: one time or six of them [s], or a matrix [N s], [N m^2 s]."""
    relaxation: Relaxation | None = None
    """Maxwell damping: stiffness of each element over that of the rod, and its time [s]."""
    rigid: Rigid | None = None
    """What has no give: shear, extension, or a list of both."""

    @property
    def nodes(self) -> int:
        """How many it has."""
        return len(self.curve) if self.elements is None else self.elements + 1
