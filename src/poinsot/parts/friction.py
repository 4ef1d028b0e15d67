"""Joint friction, which always dissipates energy; `resistance` has its law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from poinsot.errors import InputError
from poinsot.parts.coordinates import of_joint
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.resistance import SLIP, Damper, Friction, require_coefficients


@dataclass(frozen=True, eq=False)
class JointFriction(Force):
    r"""Friction on a joint coordinate with the rate y [rad/s or m/s].

    .. math:: f(y) = \text{viscous}\; y + \text{quadratic}\; |y|\, y
              + \text{coulomb}\; \frac{y}{\sqrt{y^2 + \text{slip}^2}}

    The last term is regularised Coulomb friction: it reaches 71 % of its full value at \|y\| = slip
    and
    approaches it with a relative deviation of slip^2 / (2 y^2). There is no true sticking: a load
    below
    `coulomb` lets the joint creep, at a rate below `slip` for loads up to 71 % of it.

    Parameters
    ----------
    joint : str
        Name of the joint.
    freedom : str
        Name of the coordinate, if the joint has several.
    coulomb : float
        Coulomb friction [N m or N].
    slip : float
        Rate below which Coulomb friction decreases [rad/s or m/s].
    viscous : float
        Viscous friction [N m s/rad or N s/m].
    quadratic : float
        Quadratic friction [N m s^2/rad^2 or N s^2/m^2].
    """

    joint: str
    freedom: str | None = None
    _: KW_ONLY
    coulomb: float = 0.0
    slip: float = SLIP
    viscous: float = 0.0
    quadratic: float = 0.0

    def __post_init__(self) -> None:
        """Refuse coefficients that create energy, and a slip of zero with Coulomb friction."""
        require_coefficients(self, ("coulomb", "viscous", "quadratic", "slip"))
        if not self.slip > 0:
            raise InputError(
                f"JointFriction: slip is {self.slip!r}; it must be positive, because friction is "
                f"regularised: leave it out ({SLIP:g}) or give a rate that is small for this joint"
            )

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its damper."""
        at = of_joint(self.joint, joints, self.freedom, f"force '{name}'")
        if not (self.coulomb or self.viscous or self.quadratic):
            raise InputError(f"force '{name}': give coulomb, viscous or quadratic friction")
        numbers = self.viscous, self.quadratic, self.coulomb, self.slip
        return [], [Damper(name, at.direction, Friction(*map(float, numbers)))]
