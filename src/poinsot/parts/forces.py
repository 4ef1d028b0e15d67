"""Springs and dampers of a model.

Each class is a plain description; `place` turns it into potentials and dampers of coordinates.
Points are given in world axes at the start; joint coordinates by the name of the joint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground, partner
from poinsot.errors import InputError, StructureError, failure
from poinsot.frames.charts import Linear
from poinsot.inputs import function, number, vector3
from poinsot.parts.coordinates import Coordinate, distance, of_joint
from poinsot.parts.elastic import ByEnergy, ByForce, Elastic, Integral, affine
from poinsot.parts.joint import Joint
from poinsot.parts.potentials import CoordinatePotential, Potential
from poinsot.parts.resistance import AnyLaw, Damper, Friction, Resistance
from poinsot.ph.formulas import Formula, Slope

Law: TypeAlias = Callable[[float], float]
#: Into so many cells the scale of a spring is divided to find its energy from its force.
CELLS = 16
Placed: TypeAlias = tuple[list[Potential], list[Damper]]


class Force(ABC):
    """Base class of forces, which are no ports: springs, dampers, friction and fields."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies that it refers to; empty for forces on joint coordinates."""
        return ()

    @abstractmethod
    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potentials and dampers."""


@dataclass(frozen=True)
class OneNumber:
    """A user's law of one number; raises an error with its name if it returns anything else."""

    function: Law
    what: str

    def __call__(self, x: float) -> float:
        """Return the number."""
        try:
            value = self.function(x)
        except Exception as error:
            raise InputError(f"{self.what} {failure(error)}, at {x:g}") from error
        if isinstance(value, float):
            return value
        try:
            return float(np.asarray(value, dtype=float).reshape(()))
        except (TypeError, ValueError):
            what = f"{self.what} gives {value!r} at {x:g}, expected a number"
            raise InputError(what) from None


def _one_number(f: Law, what: str) -> Law:
    """Return a law of one number, checked unless it is a formula."""
    return cast(Law, f) if isinstance(f, Formula) and f.is_of(1) else OneNumber(f, what)


def _derived(f: Law) -> Law | None:
    """Return the derivative of a law, if it is a formula."""
    if isinstance(f, Slope) or (isinstance(f, Formula) and f.is_of(1)):
        return f.slope()
    return None


@dataclass(frozen=True, eq=False, kw_only=True)
class SpringDamper(Force):
    """A spring and a damper along one coordinate chi.

    Parameters
    ----------
    stiffness : float
        k of the energy V = k (chi - rest)^2 / 2 [N/m or N m/rad].
    force : callable
        Alternative to `stiffness`: any force as a function of the coordinate, positive if it
        decreases the coordinate. Its energy is integrated numerically.
    potential, dpotential, ddpotential : callable
        Alternative to `stiffness`: any energy of the coordinate [J] and its derivatives. Default:
        finite differences.
    damping : float
        c of the damping force c chi' [N s/m or N m s/rad].
    law, dlaw : callable
        Additional damping force as a function of the rate, with rate * law(rate) >= 0, and its
        derivative.
    """

    stiffness: float | None = None
    force: Law | None = None
    potential: Law | None = None
    dpotential: Law | None = None
    ddpotential: Law | None = None
    damping: float = 0.0
    law: Law | None = None
    dlaw: Law | None = None

    def __post_init__(self) -> None:
        """Check that laws are functions and coefficients are numbers."""
        what = type(self).__name__
        for label in ("force", "potential", "dpotential", "ddpotential", "law", "dlaw"):
            if getattr(self, label) is not None:
                function(getattr(self, label), f"{what}: {label}")
        number(self.damping, f"{what}: damping", minimum=0.0)
        if self.stiffness is not None:
            number(self.stiffness, f"{what}: stiffness", minimum=0.0)

    @property
    def has_law(self) -> bool:
        """Whether it has laws of its own, which may have edges."""
        return any(law is not None for law in (self.force, self.potential, self.law))

    @abstractmethod
    def _coordinate(self, name: str, joints: Mapping[str, Joint]) -> Coordinate:
        """Return the coordinate that it acts along."""

    @abstractmethod
    def _rest(self, at: Coordinate) -> float:
        """Return the coordinate at which a linear spring is relaxed."""

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential and its damper."""
        at, what = self._coordinate(name, joints), f"force '{name}'"
        elastic, viscous = self._elastic(at, what), self._viscous(what)
        if elastic is None and viscous is None:
            raise InputError(f"{what}: give a stiffness, a force, a potential or a damping")
        potentials: list[Potential] = []
        if elastic is not None:
            potentials.append(CoordinatePotential(name, at.bodies, at.forms, at.chart, elastic))
        return potentials, [] if viscous is None else [Damper(name, at.direction, viscous)]

    def _elastic(self, at: Coordinate, what: str) -> Elastic | None:
        """Return the spring's energy and its derivatives."""
        if sum(law is not None for law in (self.stiffness, self.force, self.potential)) > 1:
            raise InputError(f"{what}: give one of stiffness, force and potential, not several")
        scale = at.scale
        if self.force is not None:
            f, origin = _one_number(self.force, f"{what}: force"), at.start
            return ByForce(Integral(f, origin, scale / CELLS), scale, f, _derived(f), origin)
        if self.potential is not None:
            V = _one_number(self.potential, f"{what}: potential")
            dV, ddV = self.dpotential, self.ddpotential
            dV = _derived(V) if dV is None else _one_number(dV, f"{what}: dpotential")
            if dV is None:
                return ByEnergy(V, scale)
            ddV = _derived(dV) if ddV is None else _one_number(ddV, f"{what}: ddpotential")
            return ByForce(V, scale, dV, ddV)
        if self.stiffness is None:
            return None
        return affine(0.0, float(self.stiffness), self._rest(at))

    def _viscous(self, what: str) -> Resistance | None:
        """Return the damping force, if there is any."""
        c, law = float(self.damping), self.law
        if law is None:
            return Friction(viscous=c) if c else None
        law = _one_number(law, f"{what}: law")
        for rate in np.concatenate([-np.logspace(3, -3, 13), np.logspace(-3, 3, 13)]):
            if law(float(rate)) * rate < 0:
                raise StructureError(f"{what}: the law creates energy at a rate of {rate:g}")
        dlaw = _derived(law)
        if self.dlaw is not None:
            dlaw = _one_number(self.dlaw, f"{what}: dlaw")
        return AnyLaw(c, law, dlaw)


@dataclass(frozen=True, eq=False)
class Spring(SpringDamper):
    """A spring-damper along the distance of two points; `SpringDamper` describes its laws.

    Parameters
    ----------
    a, b : Body or Ground
        The bodies that it connects.
    point_a, point_b : (3,)
        Its end points at the start [m], world axes.
    rest_length : float
        Relaxed length of a linear spring [m]. Default: the length at the start.
    stiffness, damping : float
        k [N/m] and c [N s/m].
    force, potential, dpotential, ddpotential, law, dlaw : callable
        Nonlinear laws, see `SpringDamper`.
    """

    a: Body | Ground
    b: Body | Ground
    point_a: ArrayLike
    point_b: ArrayLike
    rest_length: float | None = None

    def __post_init__(self) -> None:
        """Check the ends and copy their points."""
        super().__post_init__()
        a, b = partner(self.a, "Spring: a"), partner(self.b, "Spring: b")
        if a is b:
            raise InputError(f"Spring: both ends are on '{a.name}'; attach them to two bodies")
        for label in ("point_a", "point_b"):
            object.__setattr__(self, label, vector3(getattr(self, label), f"Spring: {label}"))
        object.__setattr__(self, "a", a.at(self.point_a))
        object.__setattr__(self, "b", b.at(self.point_b))
        if self.rest_length is not None:
            number(self.rest_length, "Spring: rest_length", minimum=0.0)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The connected bodies."""
        return tuple(end for end in (self.a, self.b) if isinstance(end, Body))

    def _coordinate(self, name: str, joints: Mapping[str, Joint]) -> Coordinate:
        at = distance(self.a, self.b, self.point_a, self.point_b)
        if self.rest_length == 0 and self.stiffness is not None and not self.damping:
            # k l^2 / 2 = k s is quadratic: no length is needed, and it may vanish.
            return replace(at, chart=Linear(), start=at.start**2 / 2)
        if at.start == 0:
            raise InputError(
                f"force '{name}': its ends coincide at the start, where a length has no direction; "
                "move one, or give a linear spring without damping rest_length=0"
            )
        return at

    def _elastic(self, at: Coordinate, what: str) -> Elastic | None:
        if isinstance(at.chart, Linear):
            return affine(float(self.stiffness or 0.0), 0.0, 0.0)
        return super()._elastic(at, what)

    def _rest(self, at: Coordinate) -> float:
        return at.start if self.rest_length is None else float(self.rest_length)


@dataclass(frozen=True, eq=False)
class JointSpring(SpringDamper):
    """A spring-damper on a joint coordinate; `SpringDamper` describes its laws.

    Parameters
    ----------
    joint : str
        Name of the joint.
    freedom : str
        Name of the coordinate, if the joint has several.
    rest : float
        Coordinate at which the spring is relaxed: an angle, counted over full turns [rad], or a
        displacement [m]. Default: zero, the start.
    stiffness, damping : float
        k [N m/rad or N/m] and c [N m s/rad or N s/m].
    force, potential, dpotential, ddpotential, law, dlaw : callable
        Nonlinear laws, see `SpringDamper`.
    """

    joint: str
    freedom: str | None = None
    rest: float = 0.0

    def __post_init__(self) -> None:
        """Check the coefficients."""
        super().__post_init__()
        number(self.rest, "JointSpring: rest")

    def _coordinate(self, name: str, joints: Mapping[str, Joint]) -> Coordinate:
        return of_joint(self.joint, joints, self.freedom, f"force '{name}'")

    def _rest(self, at: Coordinate) -> float:
        return float(self.rest)
