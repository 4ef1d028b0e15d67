r"""Driven coordinates: constraints on velocities whose right-hand side is a prescribed rate.

A drive holds a coordinate :math:`\chi` of a joint by a force along it, its multiplier:

.. math:: \dot\chi = G(q)\, v = u(t)

A port in the row of a constraint [BAPM21, eq. (43)]: the input is the rate, the output the force.
Over a step the row is the secant of the chart, so that :math:`\chi` changes by exactly the
increment that is prescribed, and the force does exactly as much work as it times that increment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import pi
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.charts import Angle
from poinsot.frames.directions import Charted
from poinsot.ph.matrices import Vector, dense
from poinsot.ph.motions import Prescribed


@dataclass(frozen=True, eq=False)
class Driven(Charted):
    """A coordinate chi(s(q)) with a prescribed motion, by the name of its drive.

    Over a step that begins at `start`, with q its midpoint, B is G(q)^T b with the secant b of the
    chart; without, B is the gradient of chi at q.
    """

    name: str
    motion: Prescribed
    start: Vector | None = None
    size: ClassVar[int] = 1

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return the direction of the force as a column."""
        if self.start is None:
            return super().B(q)
        b, _, G = self._secant(q, self.start)
        return (G.T @ b)[:, None]

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivative of B u; the end of the step moves twice as far as its midpoint."""
        if self.start is None:
            return super().dB(q, u)
        b, db, G = self._secant(q, self.start)
        G1 = dense(self.forms.G(2 * q - self.start))
        return float(u[0]) * (dense(self.forms.curvature(b)) + 2 * G.T @ db @ G1)

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivative of B^T v, as a row."""
        return (v @ self.dB(q, np.ones(1)))[None, :]

    def _secant(
        self, q: Vector, start: Vector
    ) -> tuple[Vector, NDArray[np.float64], NDArray[np.float64]]:
        """Return the secant of the chart, its derivative by the forms at the end, and G(q)."""
        G, end = dense(self.forms.G(q)), 2 * q - start
        ds = 2 * G @ (q - start)
        return *self.chart.secant(self.forms(start), self.forms(end), ds), G

    def value(self, q: Vector) -> float:
        """Return the coordinate, an angle counted over turns [m or rad]."""
        return self.chart.value(self.forms(q))

    def lacking(self, q: Vector, t: float) -> float:
        """Return by how much the coordinate is behind its motion at time t [s]."""
        if not self.motion.holds:
            return 0.0
        return float(self.motion.positions(np.array([t]))[0]) - self.value(q)

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        chart = self.chart.near(angles)
        return self if chart is self.chart else replace(self, chart=chart)

    def since(self, start: Vector) -> Self:
        """Return the same for a step that begins there."""
        return replace(self, start=start)

    def require_followed(self, moved: float) -> None:
        """Refuse to turn an angle by half a turn or more in one step."""
        if isinstance(self.chart, Angle) and abs(moved) >= pi:
            raise InputError(
                f"port '{self.name}': its angle is to change by {abs(moved):.3g} rad in one step, "
                "half a turn or more, and cannot be followed; take a smaller step"
            )

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Tell whether its angle turns too far to be followed over a step."""
        return self.chart.loses(self.forms(q0), self.forms(q_mid))
