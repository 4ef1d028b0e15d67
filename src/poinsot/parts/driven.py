r"""Driven relations: velocity constraints with a prescribed rate.

A drive prescribes a joint coordinate :math:`\chi`; its force is the multiplier. A transmission
constrains a sum of coordinates of several joints, with the profile f of a cam:

.. math:: \frac{d}{dt} \sum_k c_k f_k(\chi_k) = G(q)\, v = u(t)

This is a port in the row of a constraint [BAPM21, eq. (43)]: the input is the rate, zero for a
transmission, and the output the force. Over a step each row is the secant of its chart and profile,
so that the sum changes by exactly the prescribed increment, and the forces do exactly the work of
the output over that increment, which is zero for a transmission.

A transmission with the efficiency :math:`\eta` dissipates part of the transmitted power. On all but
its first coordinate, friction acts in proportion to the load :math:`\tau_k = -c_k \lambda`,

.. math::

    f_k = \kappa\, |\tau_k|\, \frac{\omega_k}{\sqrt{\omega_k^2 + s^2}}, \qquad
    \kappa = 1 - \eta \text{ if } \tau_k \omega_k > 0, \text{ else } 1 / \eta - 1

so that the output power is :math:`\eta` times the input power, whichever end drives.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import pi
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import LargeStepError
from poinsot.frames.charts import Angle, Chart
from poinsot.frames.directions import Direction
from poinsot.frames.forms import GROUND
from poinsot.frames.places import WIDTH, in_both, local, scatter
from poinsot.frames.stacks import Forms
from poinsot.frames.twists import joint_matrix
from poinsot.parts.profiles import Profile
from poinsot.parts.resistance import SLIP, Friction, Resistance
from poinsot.ph.matrices import Vector, assemble, dense
from poinsot.ph.motions import Prescribed

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Term:
    """c f(chi(s(q))), a coordinate of a joint in a relation; f is the identity without a profile.

    `at` are the places of its bodies among those of the relation.
    """

    at: tuple[int, ...]
    forms: Forms
    chart: Chart
    coefficient: float = 1.0
    profile: Profile | None = None

    def coordinate(self, q: Vector) -> float:
        """Return the coordinate, an angle counted over turns [m or rad]."""
        return self.chart.value(self.forms(q))

    def value(self, q: Vector) -> float:
        """Return c f(chi)."""
        chi = self.coordinate(q)
        return self.coefficient * (chi if self.profile is None else self.profile(chi))

    def along(self, q: Vector, start: Vector | None) -> tuple[Vector, Array]:
        """Return a, a·v the rate of chi, and da/dq.

        Over a step that begins at `start`, with q its midpoint, a is G(q)^T b with the secant b of
        the chart; without, it is the gradient of chi at q. The end of the step moves twice as far
        as its midpoint.
        """
        G = dense(self.forms.G(q))
        if start is None:
            s = self.forms(q)
            b, db, G1 = self.chart.slope(s), self.chart.bend(s), G
        else:
            b, db, G1, _ = self._secant(q, start)
        return G.T @ b, dense(self.forms.curvature(b)) + G.T @ db @ G1

    def _secant(self, q: Vector, start: Vector) -> tuple[Vector, Array, Array, float]:
        """Return the secant of the chart, its slope by the forms at the end, 2 G there, dchi."""
        G, end = dense(self.forms.G(q)), 2 * q - start
        ds = 2 * G @ (q - start)
        b, db = self.chart.secant(self.forms(start), self.forms(end), ds)
        return b, db, 2 * dense(self.forms.G(end)), float(b @ ds)

    def weight(self, q: Vector, start: Vector | None) -> tuple[float, Vector]:
        """Return the slope of c f over the same, and its derivative by q."""
        c, f = self.coefficient, self.profile
        if f is None:
            return c, np.zeros(q.size)
        if start is None:
            s, chi = self.forms(q), self.coordinate(q)
            along = dense(self.forms.G(q)).T @ self.chart.slope(s)
            return c * f.slope(chi), c * f.bend(chi) * along
        _, _, G1, dchi = self._secant(q, start)
        mean, slope = f.mean_and_slope(self.coordinate(start), dchi)
        return c * mean, c * slope * (G1.T @ self.chart.slope(self.forms(2 * q - start)))

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        chart = self.chart.near(angles)
        return self if chart is self.chart else replace(self, chart=chart)


class Loss(NamedTuple):
    """Friction of a transmission: force (12 bodies,), derivatives by q, by v and by lambda."""

    force: Vector
    by_q: Array
    by_v: Array
    by_lam: Vector


class DrivenDirection(Direction):
    """A direction along which a motion is prescribed, as one relation or several."""

    @property
    @abstractmethod
    def relations(self) -> "tuple[Driven, ...]":
        """Each relation, one input and one multiplier."""

    @abstractmethod
    def since(self, start: Vector) -> Self:
        """Return the same for a step that begins there."""

    @abstractmethod
    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""

    @abstractmethod
    def remembering(self) -> Self:
        """Return the same for one run of Newton's method: friction has slopes for it."""


@dataclass(frozen=True, eq=False)
class Driven(DrivenDirection):
    """A relation between coordinates of joints with a prescribed motion, by the name of its part.

    `start` is where the step in hand begins. Of a transmission, `what` it is called in messages,
    its `efficiency`, and the friction of load 1 along all terms but the first; `of` a body that is
    led, the component.
    """

    name: str
    terms: tuple[Term, ...]
    motion: Prescribed
    start: Vector | None = None
    what: str = "port"
    efficiency: float = 1.0
    friction: tuple[Resistance, ...] = field(default=(Friction(coulomb=1.0, slip=SLIP),))
    of: str = ""
    size: ClassVar[int] = 1

    @property
    def relations(self) -> "tuple[Driven, ...]":
        """Itself."""
        return (self,)

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.what} '{self.name}'"

    @property
    def label(self) -> str:
        """What its multiplier is called."""
        return f"{self.name} ({self.of or ('transmission' if self.transmits else 'drive')})"

    @property
    def transmits(self) -> bool:
        """Whether it is a transmission, which nothing is put into."""
        return self.what != "port"

    @property
    def rotates(self) -> bool:
        """Whether its motion is that of an angle; it has the unit of its first coordinate."""
        return isinstance(self.terms[0].chart, Angle)

    @property
    def ends(self) -> tuple[int, ...]:
        """Its bodies, with the ground if a joint of it is on the ground."""
        grounded = any(len(term.at) == 1 for term in self.terms)
        return (*self.bodies, GROUND) if grounded else self.bodies

    @property
    def lossless(self) -> bool:
        """Whether it has no friction."""
        return self.efficiency == 1.0

    def _each(self, q: Vector) -> Iterator[tuple[Term, Vector, Vector | None]]:
        """Return all terms, q and the start on their bodies."""
        for term in self.terms:
            yield (
                term,
                local(q, term.at),
                None if self.start is None else local(self.start, term.at),
            )

    def on_twists(self, q: Vector) -> Array:
        """Return the rate as a row on the twists (v, omega) of its bodies; (6 bodies,)."""
        total = np.zeros((len(self.bodies), 6))
        for term, own, _ in self._each(q):
            motions = dense(joint_matrix(term.forms, own))
            row = term.weight(own, None)[0] * term.chart.slope(term.forms(own)) @ motions
            total[list(term.at)] += row.reshape(-1, 6)
        return total.reshape(-1)

    def B(self, q: Vector) -> Array:
        """Return the direction of the force as a column."""
        total = np.zeros(q.size)
        for term, own, start in self._each(q):
            weight, _ = term.weight(own, start)
            scatter(total, term.at, weight * term.along(own, start)[0])
        return total[:, None]

    def dB(self, q: Vector, u: Vector) -> Array:
        """Return the derivative of B u."""
        blocks = []
        for term, own, start in self._each(q):
            (weight, slope), (a, da) = term.weight(own, start), term.along(own, start)
            blocks.append((term.at, float(u[0]) * (weight * da + np.outer(a, slope))))
        return self._square(blocks)

    def dy(self, q: Vector, v: Vector) -> Array:
        """Return the derivative of B^T v, as a row."""
        return (v @ self.dB(q, np.ones(1)))[None, :]

    def _square(self, blocks: list[tuple[tuple[int, ...], Array]]) -> Array:
        n = WIDTH * len(self.bodies)
        return dense(assemble((n, n), [p for at, M in blocks for p in in_both(at, M)]))

    def loss(self, q: Vector, v: Vector, lam: float) -> Loss:
        """Return the friction of a load lambda, against the motion v."""
        force, by_lam, by_q, by_v = np.zeros(q.size), np.zeros(q.size), [], []
        for (term, own, start), law in zip(list(self._each(q))[1:], self.friction, strict=True):
            (a, da), rates, c = term.along(own, start), local(v, term.at), term.coefficient
            omega = a @ rates
            kappa = 1 - self.efficiency if -c * lam * omega > 0 else 1 / self.efficiency - 1
            load, y = kappa * abs(c * lam), np.array([omega])
            s, slope = float(law(y)[0]), float(law.slope(y)[0, 0])
            scatter(force, term.at, load * s * a)
            scatter(by_lam, term.at, kappa * abs(c) * np.sign(lam) * s * a)
            by_q.append((term.at, load * (s * da + slope * np.outer(a, rates @ da))))
            by_v.append((term.at, load * slope * np.outer(a, a)))
        return Loss(force, self._square(by_q), self._square(by_v), by_lam)

    def remembering(self) -> Self:
        """Return the same for one run of Newton's method: friction has slopes for it."""
        if self.lossless:
            return self
        return replace(self, friction=tuple(law.remembering() for law in self.friction))

    def value(self, q: Vector) -> float:
        """Return the sum of the terms."""
        return sum(term.value(local(q, term.at)) for term in self.terms)

    def lacking(self, q: Vector, t: float) -> float:
        """Return by how much the sum is behind its motion at time t [s]."""
        if not self.motion.holds:
            return 0.0
        return float(self.motion.positions(np.array([t]))[0]) - self.value(q)

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        terms = tuple(term.near(angles) for term in self.terms)
        same = all(new is old for new, old in zip(terms, self.terms, strict=True))
        return self if same else replace(self, terms=terms)

    def since(self, start: Vector) -> Self:
        """Return the same for a step that begins there."""
        return replace(self, start=start)

    def require_followed(self, moved: float) -> None:
        """Refuse to turn an angle by half a turn or more in one step."""
        if self.rotates and abs(moved) >= pi:
            raise LargeStepError(
                f"{self.title}: its angle changes by {abs(moved):.3g} rad in one step, "
                "half a turn or more, which is ambiguous; use a smaller step"
            )

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Return whether one of its angles turns too far to be followed over a step."""
        return any(
            term.chart.loses(term.forms(local(q0, term.at)), term.forms(local(q_mid, term.at)))
            for term in self.terms
        )
