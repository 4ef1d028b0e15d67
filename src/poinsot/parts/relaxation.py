r"""Maxwell elements: a spring and a dashpot in series, in parallel to the spring of a connection.

The coordinates chi of a connection (`frames.relative`) are the sum of the strain e of the spring
and that of the dashpot,

.. math:: \dot e = \dot\chi - e / \tau, \qquad f = S\, e, \qquad H = \tfrac12\, e \cdot S\, e ,

so that the force decays with the time constant tau if nothing moves, and the power
:math:`e \cdot S\, e / \tau \ge 0` is dissipated. Over a step

.. math:: \Delta e = \Delta\chi - h\, \bar e / \tau

with the mean :math:`\bar e` of both ends, which follows from :math:`\Delta\chi`: the energy balance
is exact, and the element acts like a spring that is softer by 1 / (1 + h / (2 tau)).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates
from poinsot.inputs import numbers
from poinsot.parts.connections import Connection, ElasticConnection, RelativeMotion
from poinsot.parts.potentials import Potential
from poinsot.ph.matrices import Vector

Real = NDArray[np.float64]


def relaxations(value: Any, what: str) -> tuple[tuple[float, float], ...]:
    """Return pairs of a ratio and a time [s], both positive."""
    pairs = numbers(value, what)
    if pairs.size == 0:
        return ()
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.isfinite(pairs).all():
        raise InputError(
            f"{what} is {value!r}; expected pairs such as (0.5, 0.1): the stiffness of a Maxwell "
            "element over that of the spring, and its relaxation time [s]"
        )
    if not (pairs > 0).all():
        raise InputError(f"{what} is {value!r}; ratios and times must be positive")
    return tuple((float(ratio), float(time)) for ratio, time in pairs)


class Relaxed(NamedTuple):
    """Where a step leaves a Maxwell element: e in the middle and at the end, the power lost [W]."""

    middle: Vector
    end: Vector
    lost: float


@dataclass(frozen=True, eq=False)
class MaxwellElement:
    """A Maxwell element of a connection.

    `spring` is what it is beside, `ratio` times as stiff as itself; `time` is tau [s]. Its state e
    has the coordinates in which the spring is stiff, `strains`.
    """

    name: str
    spring: ElasticConnection
    ratio: float
    time: float

    @cached_property
    def strains(self) -> NDArray[np.intp]:
        """The coordinates in which there is stiffness."""
        found = np.flatnonzero(self.spring.stiffness.any(axis=1))
        if np.linalg.eigvalsh(self.spring.stiffness[np.ix_(found, found)]).min(initial=1.0) <= 0:
            raise InputError(
                f"force '{self.name}': relaxation needs a stiffness that is positive definite "
                "except for directions without any stiffness"
            )
        return found

    @property
    def size(self) -> int:
        """Number of states."""
        return self.strains.size

    @cached_property
    def stiffness(self) -> Real:
        """S among its coordinates; (size, size)."""
        own = np.ix_(self.strains, self.strains)
        return np.asarray(self.ratio * self.spring.stiffness[own])

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies that it acts on."""
        return self.spring.bodies

    @property
    def connection(self) -> Connection:
        """The connection."""
        return self.spring.connection

    @cached_property
    def motion(self) -> RelativeMotion:
        """The direction of all six coordinates."""
        return RelativeMotion(self.bodies, self.connection)

    def B(self, q: Vector) -> Real:
        """Return what S e acts by on its frames; (frames, size)."""
        return self.motion.B(q)[:, self.strains]

    def dB(self, q: Vector, f: Vector) -> Real:
        """Return the derivative of B f."""
        return self.motion.dB(q, self._all(f))

    def dy(self, q: Vector, v: Vector) -> Real:
        """Return the derivative of B^T v."""
        return self.motion.dy(q, v)[self.strains]

    def _all(self, e: Vector) -> Vector:
        whole = np.zeros(COORDINATES)
        whole[self.strains] = e
        return whole

    def share(self, h: float) -> float:
        """Return by how much it is softer over a step of size h [s]."""
        return 1 / (1 + h / (2 * self.time))

    def over(self, e: Vector, f0: Vector, h: float) -> ElasticConnection:
        """Return the spring that it is like over a step from e and frames f0 of all bodies."""
        chi = coordinates(self.spring.forms(local(f0, self.bodies)))
        softened = self.share(h) * self.ratio * self.spring.stiffness
        return replace(self.spring, stiffness=softened, rest=chi - self._all(e), relaxation=())

    def relaxed(self, e: Vector, f0: Vector, f1: Vector, h: float) -> Relaxed:
        """Return where a step from e and frames f0 to f1 of all bodies leads."""
        q0, q1 = local(f0, self.bodies), local(f1, self.bodies)
        forms, (_, G) = self.spring.forms, self.connection.at((q0 + q1) / 2)
        mean = Placed.at(forms(q0)).mean(Placed.at(forms(q1)))
        middle = self.share(h) * (e + (mean.slope @ (G @ (q1 - q0)))[self.strains] / 2)
        return Relaxed(middle, 2 * middle - e, float(middle @ self.stiffness @ middle) / self.time)


def maxwell_elements(potentials: Iterable[Potential]) -> Iterator[MaxwellElement]:
    """Return the Maxwell elements that are beside springs."""
    for spring in potentials:
        if isinstance(spring, ElasticConnection):
            for ratio, time in spring.relaxation:
                yield MaxwellElement(spring.name, spring, ratio, time)
