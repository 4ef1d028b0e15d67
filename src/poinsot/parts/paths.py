"""Paths of bodies: prescribed motions of points and orientations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import pi

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, LargeStepError, failure
from poinsot.ph.derivatives import RELATIVE_STEP, slope_by
from poinsot.ph.motions import Prescribed
from poinsot.so3 import axial, log

Array = NDArray[np.float64]
#: 1 + tr Q of a turn that is so near to half a turn that a step cannot follow it.
HALF_TURN = 1e-6


@dataclass(frozen=True, eq=False)
class Path(Prescribed):
    """Several motions side by side: what is fed into the port of a body that follows them."""

    parts: Sequence[Prescribed]
    holds = True

    def over(self, times: Array) -> Array:
        """Return the rates; shape (times, parts)."""
        return np.hstack([part.over(times) for part in self.parts])

    def mean(self, times: Array) -> Array:
        """Return their means over every step."""
        return np.hstack([part.mean(times) for part in self.parts])

    def positions(self, times: Array) -> Array:
        """Return all coordinates; shape (times, parts)."""
        return np.column_stack([part.positions(times) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Orientation:
    """The directors of a body over time, R(t); by an `angle` about one axis where that is known."""

    function: Callable[[float], Array]
    angle: Callable[[float], float] | None = None
    #: The times that it was asked for last, and what it was then.
    _last: dict[bytes, Array] = field(default_factory=dict)

    def at(self, times: Array) -> Array:
        """Return R at times [s]; shape (times, 3, 3)."""
        key = times.tobytes()
        found = self._last.get(key)
        if found is None:
            found = np.array([self._asked(t) for t in times.tolist()]).reshape(-1, 3, 3)
            self._last.clear()
            self._last[key] = found
        return found

    def _asked(self, t: float) -> Array:
        try:
            return self.function(t)
        except Exception as error:
            raise InputError(f"a prescribed rotation {failure(error)}, at t = {t:g} s") from error

    def rates(self, times: Array) -> Array:
        """Return the angular velocity, world axes [rad/s]; shape (times, 3)."""
        return np.array([self._rate(t) for t in times.tolist()])

    def _rate(self, t: float) -> Array:
        step = RELATIVE_STEP * max(1.0, abs(t))

        def entry(k: int) -> Callable[[float], float]:
            return lambda at: float(self._asked(at).flat[k])

        dR = [slope_by(entry(k), t, step) for k in range(9)]
        return axial(np.reshape(dR, (3, 3)) @ self._asked(t).T)

    def means(self, times: Array) -> Array:
        """Return the angular velocities whose Cayley image leads from each time to the next."""
        R = self.at(times)
        Q = R[1:] @ np.swapaxes(R[:-1], 1, 2)
        # tan(theta/2) = |axial part| / (1 + tr Q), and a step h turns by 2 atan(h |omega| / 2).
        whole = 1 + np.trace(Q, axis1=1, axis2=2)
        lost = whole < HALF_TURN
        if self.angle is not None:
            lost |= abs(np.diff([self.angle(t) for t in times.tolist()])) >= pi
        if lost.any():
            t = times[int(np.argmax(lost))]
            raise LargeStepError(
                f"a prescribed rotation is half a turn or more in the step from t = {t:g} s, which "
                "is ambiguous; use a smaller step"
            )
        return np.asarray(4 * axial(Q) / (whole * np.diff(times))[:, None])


@dataclass(frozen=True, eq=False)
class Turn(Prescribed):
    """One component of the angular velocity of an orientation, world axes."""

    orientation: Orientation
    axis: int
    holds = True

    def over(self, times: Array) -> Array:
        """Return the angular velocity about the axis."""
        return self.orientation.rates(times)[:, self.axis, None]

    def mean(self, times: Array) -> Array:
        """Return that of every step."""
        return self.orientation.means(times)[:, self.axis, None]

    def positions(self, times: Array) -> Array:
        """Return the component of the rotation vector of the directors [rad]."""
        return np.asarray(log(self.orientation.at(times))[:, self.axis])
