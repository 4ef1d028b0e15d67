"""Friction in joints and drag on bodies: forces that take energy and never give any.

Each is a plain description; `place` turns it into dampers, see `resistance` for their laws.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, loaded_body, turned_body
from poinsot.errors import InputError
from poinsot.frames.directions import Along, Direction, Torque
from poinsot.frames.forms import components, point, stack
from poinsot.inputs import number, vector3
from poinsot.parts.coordinates import of_joint
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joints import Joint
from poinsot.parts.resistance import SLIP, Damper, Friction


def _require_coefficients(part: Any, labels: tuple[str, ...]) -> None:
    """Refuse coefficients that are no numbers, or would create energy."""
    for label in labels:
        number(getattr(part, label), f"{type(part).__name__}: {label}", minimum=0.0)


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
        _require_coefficients(self, ("coulomb", "viscous", "quadratic", "slip"))
        if not self.slip > 0:
            raise InputError(
                f"JointFriction: slip is {self.slip!r}; it must be > 0, friction that jumps has no "
                f"slope: leave it out ({SLIP:g}) or give a rate that counts as rest"
            )

    @property
    def bodies(self) -> tuple[Body, ...]:
        """None of its own."""
        return ()

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its damper."""
        at = of_joint(self.joint, joints, self.freedom, f"force '{name}'")
        if not (self.coulomb or self.viscous or self.quadratic):
            raise InputError(f"force '{name}': give coulomb, viscous or quadratic friction")
        law = Friction(
            float(self.viscous), float(self.quadratic), float(self.coulomb), float(self.slip)
        )
        return [], [Damper(name, at.direction, law)]


@dataclass(frozen=True, eq=False)
class Drag(Force):
    r"""Drag on a body that moves and turns in a medium at rest.

    .. math:: F = -(\text{viscous} + \text{quadratic}\, |v|)\, v, \qquad
              \tau = -(\text{angular\_viscous} + \text{angular\_quadratic}\, |\omega|)\, \omega

    F acts at a point of the body, v is its velocity and omega the angular velocity of the body.

    Parameters
    ----------
    body : Body
        The body.
    point : (3,)
        Where the force acts, world axes at the start [m]; default: the centre of mass.
    viscous, quadratic
        Of the force [N s/m], [N s^2/m^2]; in air quadratic is density c_d area / 2.
    angular_viscous, angular_quadratic
        Of the torque [N m s/rad], [N m s^2/rad^2].
    """

    body: Body
    point: ArrayLike | None = None
    _: KW_ONLY
    viscous: float = 0.0
    quadratic: float = 0.0
    angular_viscous: float = 0.0
    angular_quadratic: float = 0.0

    def __post_init__(self) -> None:
        """Check the body, and refuse drag that would create energy."""
        loaded_body(self.body, "Drag: body")
        if self.point is not None:
            object.__setattr__(self, "point", vector3(self.point, "Drag: point"))
        _require_coefficients(
            self, ("viscous", "quadratic", "angular_viscous", "angular_quadratic")
        )
        if self.angular_viscous or self.angular_quadratic:
            turned_body(self.body, "Drag: body")

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The body."""
        return (self.body,)

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its dampers, one for the force and one for the torque."""
        world = self.body.position if self.point is None else np.asarray(self.point)
        bodies, at = (self.body.index,), components(point(0, self.body.local_point(world)))
        acting: list[tuple[Direction, float, float]] = [
            (Along(bodies, stack(at, 1)), self.viscous, self.quadratic),
            (Torque(bodies), self.angular_viscous, self.angular_quadratic),
        ]
        dampers = [
            Damper(name, direction, Friction(float(viscous), float(quadratic)))
            for direction, viscous, quadratic in acting
            if viscous or quadratic
        ]
        if not dampers:
            raise InputError(
                f"force '{name}': give viscous or quadratic drag, or angular_viscous or "
                "angular_quadratic"
            )
        return [], dampers
