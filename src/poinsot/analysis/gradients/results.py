"""What gradients and sensitivities are given as."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poinsot.analysis.losses import between
from poinsot.ph.matrices import Array, Vector


@dataclass(frozen=True, eq=False)
class Gradient:
    """A loss and its derivatives; result of `gradient`.

    Parameters
    ----------
    value : float
        The loss.
    by : mapping
        Parameter -> derivative, in the shape of the parameter.
    engine : str
        Engine of the backward sweep: "compiled" or "reference".
    """

    value: float
    by: Mapping[str, Array]
    engine: str

    def __getitem__(self, name: str) -> Array:
        """Return the derivative by a parameter."""
        return self.by[name]

    @property
    def flat(self) -> Vector:
        """All derivatives, one after the other."""
        return np.concatenate([np.zeros(0), *(each.reshape(-1) for each in self.by.values())])


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Channels over time and their derivatives; result of `sensitivities`.

    Parameters
    ----------
    time : (times,)
        The ends of steps, and the start [s].
    values : mapping
        Channel -> its values, (times, ...).
    by : mapping
        Channel -> parameter -> derivative, (times, ..., then the shape of the parameter).
    """

    time: Vector
    values: Mapping[str, Array]
    by: Mapping[str, Mapping[str, Array]]

    def __getitem__(self, name: str) -> Mapping[str, Array]:
        """Return the derivatives of a channel, by parameter."""
        return self.by[name]

    def at(self, times: ArrayLike) -> "Sensitivities":
        """Return the same at other times, linear in between."""
        at = np.asarray(times, dtype=float).reshape(-1)
        before, part = between(self.time, at)

        def look(values: Array) -> Array:
            weight = part.reshape(-1, *(1,) * (values.ndim - 1))
            return np.asarray((1 - weight) * values[before] + weight * values[before + 1])

        return Sensitivities(
            at,
            {name: look(values) for name, values in self.values.items()},
            {w: {p: look(each) for p, each in own.items()} for w, own in self.by.items()},
        )

    @property
    def jacobian(self) -> Array:
        """The Jacobian: a row for each number and time, a column for each number of parameters.

        Rows are ordered by channel, then by time, then by component.
        """
        rows = []
        for name, values in self.values.items():
            columns = [each.reshape(values.size, -1) for each in self.by[name].values()]
            rows.append(np.column_stack(columns))
        return np.concatenate(rows)

    @property
    def flat(self) -> Vector:
        """The values in the order of the rows of `jacobian`."""
        return np.concatenate([values.reshape(-1) for values in self.values.values()])
