r"""Polynomials of several variables through values of a function, as few as tell them apart.

A vector of numbers is interpolated in Newton's basis on a grid that grows where it must:

.. math::

    f(x) = \sum_{\nu \in \Lambda} s_\nu \prod_k N_{\nu_k}(x_k), \qquad
    N_j(x_k) = \prod_{i<j} \frac{x_k - z_{ki}}{z_{kj} - z_{ki}}

with nodes z_k of each variable, and a set of exponents that contains with each of them all smaller
ones [CCS14]. A new exponent costs one value, and its surplus s is by how much that is off.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Exponent = tuple[int, ...]

#: A polynomial has at most this degree in all variables together.
DEGREE = 6
#: Where further nodes of a variable are, as parts of the way from its first to its second one.
INSIDE = (0.53, 0.23, 0.79, 0.37, 0.91)
#: The first node may not be nearer to zero than this part of a range that contains it, or what is
#: multiplied by the variable would not be seen.
APART = 0.29


@dataclass(eq=False)
class Polynomials:
    """Polynomials of the same variables, one for each entry of a vector.

    Parameters
    ----------
    nodes : (variables, DEGREE + 1)
        Where values of each variable are taken.
    exponents : list
        Their highest powers of each variable, in the order in which they were found.
    surpluses : list of arrays (entries,)
        The coefficient of each, for every entry.
    """

    nodes: Array
    exponents: list[Exponent] = field(default_factory=list)
    surpluses: list[Array] = field(default_factory=list)

    def __call__(self, x: Array) -> Array:
        """Return values at points x (points, variables); (points, entries).

        Sums whose order, and so round-off, does not depend on how many points there are.
        """
        powers = [_powers(x[:, k], nodes) for k, nodes in enumerate(self.nodes)]
        found = np.zeros((len(x), self.surpluses[0].size))
        for exponent, surplus in zip(self.exponents, self.surpluses, strict=True):
            term = np.ones(len(x))
            for k, j in enumerate(exponent):
                if j:
                    term = term * powers[k][j]
            found += term[:, None] * surplus
        return found

    def gradient(self, x: Array) -> Array:
        """Return derivatives by the variables at a point (variables,); (variables, entries)."""
        nodes, count = self.nodes, x.size
        values, slopes = np.ones((count, DEGREE + 1)), np.zeros((count, DEGREE + 1))
        for k in range(count):
            for j in range(1, DEGREE + 1):
                factors = (x[k] - nodes[k, :j]) / (nodes[k, j] - nodes[k, :j])
                values[k, j] = np.prod(factors)
                others = (
                    np.prod(np.delete(factors, i)) / (nodes[k, j] - nodes[k, i]) for i in range(j)
                )
                slopes[k, j] = sum(others)
        found = np.ones((count, len(self.exponents)))
        for k in range(count):
            for i in range(count):
                table = slopes if i == k else values
                found[k] *= table[i, [each[i] for each in self.exponents]]
        gradient: Array = found @ np.array(self.surpluses)
        return gradient

    def node(self, exponent: Exponent) -> Array:
        """Return the point at which a surplus is found."""
        return self.nodes[np.arange(len(exponent)), list(exponent)]

    def add(self, exponent: Exponent, value: Array) -> None:
        """Take in the value at the point of an exponent; smaller ones must be there."""
        if self.exponents:
            value = value - self(self.node(exponent)[None])[0]
        self.exponents.append(exponent)
        self.surpluses.append(value)


def _powers(x: Array, nodes: Array) -> list[Array]:
    """Return the basis of one variable at x (points,), by degree."""
    found, product, scale = [np.ones(len(x))], np.ones(len(x)), 1.0
    for j in range(1, DEGREE + 1):
        product = product * (x - nodes[j - 1])
        scale = float(np.prod(nodes[j] - nodes[:j]))
        found.append(product / scale)
    return found


def nodes_between(low: Array, high: Array) -> Array:
    """Return nodes of variables in ranges, that of the least size first: it keeps errors small."""
    swap = abs(low) > abs(high)
    first, second = np.where(swap, high, low), np.where(swap, low, high)
    across = abs(first) < APART * abs(second)
    across &= first * second <= 0
    inner = first + APART * (second - first)
    inside = [first + part * (second - first) for part in INSIDE]
    # Where zero is in the range, an inner point comes first, then both ends.
    rows = np.column_stack([first, second, *inside])
    rows[across] = np.column_stack([inner, second, first, *inside[:-1]])[across]
    return rows


def interpolate(
    function: Callable[[Array], Array],
    nodes: Array,
    tests: Sequence[tuple[Array, Array]],
    agree: Callable[[Array, Array], Flags],
    most: int,
) -> tuple[Polynomials, Flags]:
    """Return polynomials that agree with values at tests, and which of them could not be found.

    Parameters
    ----------
    function : callable
        The values at a point (variables,).
    nodes : (variables, DEGREE + 1)
        Where it may be asked, see `nodes_between`.
    tests : sequence of (point, values)
        What polynomials are compared with.
    agree : callable
        Tells which values are as good as equal to others; (entries,).
    most : int
        So many values may be asked for.
    """
    count, found = len(nodes), Polynomials(nodes)
    zero = (0,) * count
    for exponent in (zero, *(_raised(zero, k) for k in range(count))):
        found.add(exponent, function(found.node(exponent)))
    while True:
        points, known = np.array([p for p, _ in tests]), [v for _, v in tests]
        pairs = zip(found(points), known, strict=True)
        wrong = ~np.all([agree(guess, value) for guess, value in pairs], axis=0)
        if not wrong.any():
            return found, wrong
        candidates = _next(found, wrong, agree)
        if not candidates or len(found.exponents) + len(candidates) > most:
            return found, wrong
        for exponent in candidates:
            found.add(exponent, function(found.node(exponent)))


def _next(
    found: Polynomials, wrong: Flags, agree: Callable[[Array, Array], Flags]
) -> list[Exponent]:
    """Return exponents of the least degree that some wrong entry may need.

    It has every smaller one, since nodes are nowhere special.
    """
    there = dict(zip(found.exponents, found.surpluses, strict=True))
    none = np.zeros_like(wrong, dtype=float)
    needed = {e: wrong & ~agree(none, s) for e, s in there.items()}
    count, candidates = len(found.nodes), set[Exponent]()
    for exponent in there:
        for k in range(count):
            new = _raised(exponent, k)
            lower = [_raised(new, i, -1) for i in range(count) if new[i]]
            if new in there or sum(new) > DEGREE or any(each not in there for each in lower):
                continue
            if np.all([needed[each] for each in lower if any(each)], axis=0)[...].any():
                candidates.add(new)
    least = min(map(sum, candidates), default=0)
    return sorted(each for each in candidates if sum(each) == least)


def _raised(exponent: Exponent, k: int, by: int = 1) -> Exponent:
    return tuple(power + by * (i == k) for i, power in enumerate(exponent))


def varying(values: Iterable[Array]) -> Flags:
    """Tell which entries are not the same in all of some vectors."""
    first, *others = values
    found = np.zeros(first.size, dtype=bool)
    for other in others:
        found |= ~((first == other) | (np.isnan(first) & np.isnan(other)))
    return found
