r"""Joint stops: one-sided springs with damping that never pull.

At a depth :math:`\delta > 0` beyond a limit, the stop pushes back with

.. math:: F = \max(0,\ k\, \delta + c\, \delta\, \dot\delta)

[HC75]: the damping starts at zero depth and ends with the contact. The spring has the energy
:math:`k \delta^2 / 2` and acts by its mean force over a step, so that it conserves energy; the rest
of F is a resistance, which dissipates energy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.directions import Charted
from poinsot.inputs import number, positive
from poinsot.kernels.algebra import Array, Four, Vec, vector
from poinsot.kernels.kernel import inline
from poinsot.parts.coordinates import of_joint
from poinsot.parts.elastic import Elastic
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.potentials import CoordinatePotential
from poinsot.parts.resistance import Damper, Resistance
from poinsot.ph.matrices import Vector

# -- the law, in both engines ----------------------------------------------------------------------

#: Columns: both limits, stiffness and damping.
LOWER, UPPER, STIFFNESS, DAMPING = range(4)
#: A limit that is never reached.
FAR = 1e300


@inline
def mean_push(numbers: Array, k: int, chi: float, dchi: float) -> tuple[float, float]:
    """Return the mean of dV/dchi over an increment, and its derivative by the end of it."""
    lower, upper, stiffness = vector(numbers, k, LOWER)
    above, by_above = _mean(chi - upper, dchi)
    below, by_below = _mean(lower - chi, -dchi)
    return stiffness * (above - below), stiffness * (by_above + by_below)


@inline
def _mean(depth: float, change: float) -> tuple[float, float]:
    """Return the mean depth over a change of it, and its derivative by the end of it.

    Where it is in contact at one end only, that is the difference of depth^2/2 over the change.
    """
    start, end = max(0.0, depth), max(0.0, depth + change)
    if start > 0.0 and end > 0.0:
        return 0.5 * (start + end), 0.5
    if start > 0.0 or end > 0.0:
        mean = 0.5 * (end * end - start * start) / change
        return mean, (end - mean) / change
    return 0.0, 0.0


@inline
def push_by_numbers(numbers: Array, k: int, chi: float, dchi: float) -> Vec:
    """Return the derivatives of the mean force by both limits and the stiffness."""
    lower, upper, stiffness = vector(numbers, k, LOWER)
    above, below = _mean(chi - upper, dchi)[0], _mean(lower - chi, -dchi)[0]
    by_lower = -stiffness * _in_contact(lower - chi, -dchi)
    return by_lower, -stiffness * _in_contact(chi - upper, dchi), above - below


@inline
def _in_contact(depth: float, change: float) -> float:
    """Return the part of a change in depth that is in contact: the slope of its mean by depth."""
    start, end = max(0.0, depth), max(0.0, depth + change)
    if start > 0.0 and end > 0.0:
        return 1.0
    return (end - start) / change if start > 0.0 or end > 0.0 else 0.0


@inline
def stored_in(numbers: Array, k: int, chi: float) -> float:
    """Return the energy [J]."""
    lower, upper, stiffness = vector(numbers, k, LOWER)
    depth = max(0.0, chi - upper, lower - chi)
    return 0.5 * stiffness * depth * depth


@inline
def resistance_at(numbers: Array, k: int, chi: float, rate: float) -> Vec:
    """Return the resistance at a coordinate and a rate, its derivatives by both.

    With the depth of the contact, it is c depth rate, but never so much that the stop would pull.
    """
    lower, upper, stiffness = vector(numbers, k, LOWER)
    depth, outwards = chi - upper, 1.0
    if lower - chi > depth:
        depth, outwards = lower - chi, -1.0
    if depth <= 0.0:
        return 0.0, 0.0, 0.0
    c, speed = numbers[k, DAMPING], outwards * rate
    if stiffness + c * speed < 0.0:
        return -outwards * stiffness * depth, -stiffness, 0.0
    return c * depth * rate, outwards * c * rate, c * depth


@inline
def resistance_by_numbers(numbers: Array, k: int, chi: float, rate: float) -> Four:
    """Return the derivatives of the resistance by both limits, the stiffness and the damping."""
    lower, upper, stiffness = vector(numbers, k, LOWER)
    c, by_chi = numbers[k, DAMPING], resistance_at(numbers, k, chi, rate)[1]
    above, below = chi - upper, lower - chi
    if above <= 0.0 and below <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if below > above:
        held = stiffness - c * rate < 0.0
        return -by_chi, 0.0, below if held else 0.0, 0.0 if held else below * rate
    held = stiffness + c * rate < 0.0
    return 0.0, -by_chi, -above if held else 0.0, 0.0 if held else above * rate


# -- in the reference engine -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OneSided(Elastic):
    """The energy of a stop; `numbers` (1, 4) as above."""

    numbers: NDArray[np.float64]

    def dV(self, chi: float) -> float:
        """Return the force."""
        return mean_push(self.numbers, 0, chi, 0.0)[0]

    def ddV(self, chi: float) -> float:
        """Return the stiffness."""
        return 2 * mean_push(self.numbers, 0, chi, 0.0)[1]

    def mean(self, chi: float, dchi: float) -> float:
        """Return the mean force over the increment."""
        return mean_push(self.numbers, 0, chi, dchi)[0]

    def mean_and_slope(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return it with its derivative by the end of the increment."""
        return mean_push(self.numbers, 0, chi, dchi)


@dataclass(frozen=True, eq=False)
class Cushion(Resistance):
    """The resistance of a stop, where its coordinate is chi."""

    numbers: NDArray[np.float64]
    chi: float = 0.0

    def __call__(self, y: Vector) -> Vector:
        """Return f(y)."""
        return np.array([resistance_at(self.numbers, 0, self.chi, float(y[0]))[0]])

    def slope(self, y: Vector) -> NDArray[np.float64]:
        """Return df/dy."""
        return np.array([[resistance_at(self.numbers, 0, self.chi, float(y[0]))[2]]])


@dataclass(frozen=True, eq=False)
class StopDamper(Damper):
    """The resistance of a stop along its coordinate."""

    direction: Charted
    law: Cushion

    def at(self, q: Vector) -> Cushion:
        """Return the resistance at q."""
        forms, chart = self.direction.forms, self.direction.chart
        return replace(self.law, chi=chart.value(forms(q)))

    def by_place(self, q: Vector, y: Vector) -> NDArray[np.float64]:
        """Return the derivative of the resistance by q."""
        by_chi = resistance_at(self.law.numbers, 0, self.at(q).chi, float(y[0]))[1]
        return by_chi * self.direction.B(q).T

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        chart = self.direction.chart.near(angles)
        if chart is self.direction.chart:
            return self
        return replace(self, direction=replace(self.direction, chart=chart))


@dataclass(frozen=True, eq=False)
class JointStop(Force):
    r"""Limits of a joint coordinate: stops that push back beyond a limit and never pull.

    .. math:: F = \max(0,\ k\, \delta + c\, \delta\, \dot\delta)

    where :math:`\delta > 0` is the depth beyond a limit [HC75].

    Parameters
    ----------
    joint : str
        Name of the joint.
    freedom : str
        Name of the coordinate, if the joint has several.
    lower, upper : float
        Limits of the angle, counted over full turns [rad], or of the displacement [m], zero at the
        start. At least one is required.
    stiffness : float
        k [N m/rad or N/m].
    damping : float
        c [N m s/rad^2 or N s/m^2]. The coefficient of restitution is e = 1 - (2/3) (c/k) v for
        moderate impact speeds v [HC75]; c = 0 is an elastic impact.
    """

    joint: str
    freedom: str | None = None
    _: KW_ONLY
    stiffness: float
    lower: float | None = None
    upper: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        """Check the limits and coefficients."""
        positive(self.stiffness, "JointStop: stiffness")
        number(self.damping, "JointStop: damping", minimum=0.0)
        given = {"lower": self.lower, "upper": self.upper}
        known = [number(v, f"JointStop: {label}") for label, v in given.items() if v is not None]
        if not known:
            raise InputError("JointStop: give lower, upper or both")
        if len(known) == 2 and not known[0] < known[1]:
            raise InputError(
                f"JointStop: lower is {self.lower!r} and upper {self.upper!r}; lower must be less "
                "than upper"
            )

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential and its damper."""
        at = of_joint(self.joint, joints, self.freedom, f"force '{name}'")
        lower = -FAR if self.lower is None else self.lower
        upper = FAR if self.upper is None else self.upper
        numbers = np.array([[lower, upper, self.stiffness, self.damping]], dtype=float)
        law = OneSided(lambda chi: stored_in(numbers, 0, chi), at.scale, numbers)
        spring = CoordinatePotential(name, at.bodies, at.forms, at.chart, law)
        dampers: list[Damper] = []
        if self.damping:
            dampers.append(StopDamper(name, at.direction, Cushion(numbers)))
        return [spring], dampers
