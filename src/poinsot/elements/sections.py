"""Cross-sections of beams: what the theory of beams needs to know of them."""

from dataclasses import dataclass
from math import pi, tanh
from typing import Final, cast

from poinsot.errors import InputError
from poinsot.inputs import number, positive

#: The value was left out and is Iy + Iz; `__post_init__` replaces it by a number.
_SUM: Final = cast(float, None)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A cross-section in its principal axes y and z, with the beam's axis x through its centroid.

    Parameters
    ----------
    area : float
        Area A [m^2].
    second_moment_y, second_moment_z : float
        Iy, the integral of z^2, which resists deflection in z, and Iz, that of y^2, which resists
        deflection in y [m^4].
    torsion_constant : float, optional
        Torsional stiffness over shear modulus [m^4]; default Iy + Iz, right for circles and rings.
    polar_moment : float, optional
        Ip, the integral of y^2 + z^2 [m^4], for the inertia about x; default Iy + Iz.
    """

    area: float
    second_moment_y: float
    second_moment_z: float
    torsion_constant: float = _SUM
    polar_moment: float = _SUM

    def __post_init__(self) -> None:
        """Refuse what is not positive, and fill in the defaults."""
        for name in ("area", "second_moment_y", "second_moment_z"):
            object.__setattr__(self, name, positive(getattr(self, name), f"Section: {name}"))
        for name in ("torsion_constant", "polar_moment"):
            given = getattr(self, name)
            value = self.second_moment_y + self.second_moment_z if given is _SUM else given
            object.__setattr__(self, name, positive(value, f"Section: {name}"))

    @classmethod
    def rectangle(cls, width_y: float, width_z: float) -> "Section":
        """Return a rectangle with edges along y and z [m]; torsion by Saint-Venant's series."""
        b, c = positive(width_y, "Section: width_y"), positive(width_z, "Section: width_z")
        long, short = max(b, c), min(b, c)
        series = sum(tanh(n * pi * long / (2 * short)) / n**5 for n in range(1, 200, 2))
        return cls(
            area=b * c,
            second_moment_y=b * c**3 / 12,
            second_moment_z=c * b**3 / 12,
            torsion_constant=long * short**3 / 3 * (1 - 192 / pi**5 * short / long * series),
        )

    @classmethod
    def circle(cls, radius: float, *, inner_radius: float = 0.0) -> "Section":
        """Return a circle, or a ring, of a radius [m]."""
        r = positive(radius, "Section: radius")
        hole = number(inner_radius, "Section: inner_radius", minimum=0)
        if hole >= r:
            raise InputError(
                f"Section: inner_radius is {hole:g} m; it must be less than the radius {r:g} m"
            )
        moment = pi / 4 * (r**2 - hole**2) * (r**2 + hole**2)
        return cls(
            area=pi * (r - hole) * (r + hole), second_moment_y=moment, second_moment_z=moment
        )
