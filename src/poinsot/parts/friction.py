"""Friction in joints, which takes energy and never gives any; see `resistance` for its law."""

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
    r"""Friction on a free direction of a joint, against its rate y [rad/s or m/s].

    .. math:: f(y) = \text{viscous}\; y + \text{quadratic}\; |y|\, y
              + \text{coulomb}\; \frac{y}{\sqrt{y^2 + \text{slip}^2}}

    The last term is Coulomb's friction made smooth: 71 % of the full value at \|y\| = slip, and
    short of it by slip^2 / (2 y^2) of it where \|y\| is much greater. There is no true sticking: a
    load below `coulomb` makes the joint creep, slower than `slip` up to 71 % of it.

    Parameters
    ----------
    joint, freedom : str
        The joint by name, and its free direction where it has several.
    coulomb
        Dry friction [N m or N].
    slip
        Rate below which dry friction fades [rad/s or m/s].
    viscous
        [N m s/rad or N s/m].
    quadratic
        [N m s^2/rad^2 or N s^2/m^2].
    """

    joint: str
    freedom: str | None = None
    _: KW_ONLY
    coulomb: float = 0.0
    slip: float = SLIP
    viscous: float = 0.0
    quadratic: float = 0.0

    def __post_init__(self) -> None:
        """Refuse friction that would create energy, or jump."""
        require_coefficients(self, ("coulomb", "viscous", "quadratic", "slip"))
        if not self.slip > 0:
            raise InputError(
                f"JointFriction: slip is {self.slip!r}; it must be > 0, friction that jumps has no "
                f"slope: leave it out ({SLIP:g}) or give a rate that counts as rest"
            )

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its damper."""
        at = of_joint(self.joint, joints, self.freedom, f"force '{name}'")
        if not (self.coulomb or self.viscous or self.quadratic):
            raise InputError(f"force '{name}': give coulomb, viscous or quadratic friction")
        numbers = self.viscous, self.quadratic, self.coulomb, self.slip
        return [], [Damper(name, at.direction, Friction(*map(float, numbers)))]
