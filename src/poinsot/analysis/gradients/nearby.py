"""Models near by, in which what acts on bodies has other numbers: few of them for many parameters.

A sweep backwards sums mu times what residuals are more with other numbers, node by node. Forces act
on few nodes. So numbers of several parameters change in one model, where they act on different
nodes, as columns of a sparse Jacobian are found together [CPR74].
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis.gradients.beginnings import Slope
from poinsot.analysis.gradients.compression import MULTIPLES, WEIGHTS
from poinsot.ph.matrices import Array, Vector

Nodes = NDArray[np.bool_]

#: Residuals are linear in a parameter if they bend by no more than this part of their change.
STRAIGHT = 1e-9
#: Changes of a parameter that are looked at beforehand, and the one that is enough if it is linear.
ONCE, TWICE = MULTIPLES.index(1), MULTIPLES.index(2)


@dataclass(frozen=True, eq=False)
class Share:
    """What of the sums of a model belongs to a parameter: those of its nodes, with a weight."""

    parameter: int
    model: int
    weight: float
    nodes: Nodes | slice


class Nearby:
    """Models near by, and what they tell of parameters.

    Parameters
    ----------
    own : (k,)
        The numbers of what acts in the model itself.
    """

    def __init__(self, own: Vector) -> None:
        self.own = own
        self.models: list[Vector] = []
        self.shares: list[Share] = []
        self._known: dict[bytes, int] = {}

    def add(self, parameter: int, models: Iterable[tuple[float, Vector]]) -> None:
        """Add models that differ by a parameter alone, with the weights of its derivative."""
        for weight, numbers in models:
            place = self._known.setdefault(numbers.tobytes(), len(self.models))
            if place == len(self.models):
                self.models.append(numbers)
            self.shares.append(Share(parameter, place, weight, slice(None)))

    def add_together(
        self, slopes: Mapping[int, Slope], probe: Callable[[Sequence[Vector]], Array]
    ) -> None:
        """Add models for parameters whose forces have no edges.

        `probe` returns sums (models, nodes) for states anywhere.
        """
        acting = {k: slope for k, slope in slopes.items() if slope.acting.any()}
        looked = [self.own + s.acting[m] for s in acting.values() for m in (ONCE, TWICE)]
        sums = probe(looked).reshape(len(acting), 2, -1) if acting else ()
        groups: list[tuple[bool, Nodes, list[int]]] = []
        nodes = {}
        for k, (one, two) in zip(acting, sums, strict=True):
            nodes[k] = (one != 0) | (two != 0)
            straight = bool(np.all(abs(two - 2 * one) <= STRAIGHT * np.max(abs(two))))
            for j, (alike, taken, members) in enumerate(groups):
                if alike is straight and not np.any(taken & nodes[k]):
                    groups[j] = alike, taken | nodes[k], [*members, k]
                    break
            else:
                groups.append((straight, nodes[k], [k]))
        for straight, _, members in groups:
            weights = {TWICE: 0.5} if straight else dict(enumerate(WEIGHTS.tolist()))
            for m, weight in weights.items():
                changes = (acting[k].acting[m] for k in members)
                self.models.append(self.own + np.sum([*changes], axis=0))
                for k in members:
                    share = weight / acting[k].change
                    self.shares.append(Share(k, len(self.models) - 1, share, nodes[k]))

    def derivatives(self, sums: Array, count: int) -> Vector:
        """Return the derivatives by so many parameters of sums (models, nodes)."""
        found = np.zeros(count)
        for share in self.shares:
            found[share.parameter] += share.weight * np.sum(sums[share.model, share.nodes])
        return found
