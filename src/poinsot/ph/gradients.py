r"""Discrete gradients, which make the energy balance exact in discrete time.

A discrete gradient of H satisfies directionality and consistency [KB24, def. 4.1]

.. math:: \bar\nabla H(x_0, x_1) \cdot (x_1 - x_0) = H(x_1) - H(x_0), \quad
          \bar\nabla H(x, x) = \nabla H(x).

A descriptor system needs its costate counterpart, a discrete z with
z·E(x_mid)(x_1 - x_0) = H(x_1) - H(x_0). All gradients here give that; for E = I they are the usual
ones. With e = E(x_mid)(x_1 - x_0), Gonzalez' correction is along e, so that multipliers (rows with
e = 0) are not changed and a singular E needs no special treatment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.ph.derivatives import jacobian
from poinsot.ph.matrices import Array, Matrix, Vector, add, dense, largest, scale_columns, total
from poinsot.ph.system import PHSystem, Stores

#: Multiple of the round-off of H within which the quadrature of grad H is the better number.
ROUND_OFF = 16 * float(np.finfo(float).eps)


class Rule(Enum):
    """How a step takes derivatives of energies and constraints, by the parts of a system."""

    #: At the midpoint.
    MIDPOINT = "midpoint"
    #: As discrete derivatives, which keep energy and constraints.
    DISCRETE = "discrete"
    #: The same with the lever arms of forces and the travel of bodies taken from mean rotations,
    #: which keeps the angular momentum of jointed bodies, too.
    MEAN_LEVER_ARMS = "mean lever arms"
    #: As means along the straight path.
    AVERAGE = "average"


@dataclass(frozen=True)
class Costate:
    """A discrete costate z and its derivative with respect to x1: dz + sum_k U_k V_k^T.

    The low-rank part (U, V of shape (n, k)) is kept apart so that a sparse dz stays sparse.
    """

    z: Vector
    dz: Matrix
    U: Array
    V: Array


@dataclass(frozen=True)
class Step:
    """A step from x0 to x1. States without derivative have one value in it, that of x1."""

    stores: Stores
    x0: Vector
    x1: Vector

    def at(self, s: float | Vector) -> Vector:
        """Return the state on the straight path, s in [0, 1]."""
        return np.where(self.stores.algebraic, self.x1, self.x0 + s * (self.x1 - self.x0))

    def weight(self, s: float) -> Vector:
        """Return the derivative of `at(s)` with respect to x1."""
        return np.where(self.stores.algebraic, 1.0, s)

    @property
    def dx(self) -> Vector:
        """x1 - x0, and zero for states without derivative."""
        return np.where(self.stores.algebraic, 0.0, self.x1 - self.x0)

    @cached_property
    def mid(self) -> Vector:
        """The midpoint state."""
        return self.at(0.5)

    @cached_property
    def E(self) -> Matrix:
        """E at the midpoint."""
        return self.stores.E(self.mid)

    @cached_property
    def e(self) -> Vector:
        """E(x_mid)(x1 - x0)."""
        return np.asarray(self.E @ self.dx)

    @cached_property
    def de(self) -> Matrix:
        """The derivative of e with respect to x1."""
        dE = self.stores.dE(self.mid, self.dx)
        return self.E if dE is None else add(self.E, scale_columns(dE, self.weight(0.5)))


@dataclass(frozen=True)
class DiscreteGradient(ABC):
    """Base class of rules that compute a discrete costate from two states."""

    #: What it does to parts of a system that have derivatives of their own over a step.
    rule: ClassVar[Rule] = Rule.DISCRETE

    @abstractmethod
    def costate(self, step: Step) -> Costate:
        """Return the discrete costate of a step and its tangent."""

    def __call__(
        self,
        H: Callable[[Vector], float],
        grad_H: Callable[[Vector], ArrayLike],
        x0: ArrayLike,
        x1: ArrayLike,
    ) -> Vector:
        """Return the discrete gradient of a function between two points; shape (n,)."""
        start, end = np.asarray(x0, dtype=float), np.asarray(x1, dtype=float)
        if start.shape != end.shape or start.ndim != 1:
            raise InputError(f"discrete gradient: points of shape {start.shape} and {end.shape}")
        return self.costate(Step(Function(H, grad_H, start.size), start, end)).z


@dataclass(frozen=True)
class Function(Stores):
    """A function of R^n as a storage with E = I."""

    function: Callable[[Vector], float]
    gradient: Callable[[Vector], ArrayLike]
    n: int

    @property
    def algebraic(self) -> NDArray[np.bool_]:
        """None."""
        return np.zeros(self.n, dtype=bool)

    def energies(self, x: Vector) -> Vector:
        """Return the value."""
        return np.array([float(self.function(x))])

    def z(self, x: Vector) -> Vector:
        """Return the gradient."""
        return np.asarray(self.gradient(x), dtype=float)

    def dz(self, x: Vector) -> Matrix:
        """Return the Hessian, by finite differences of the gradient."""
        return jacobian(self.z, x, rough=True)

    def E(self, x: Vector) -> Matrix:
        """Return the identity."""
        return np.eye(self.n)


@dataclass(frozen=True)
class Midpoint(DiscreteGradient):
    """z(x_mid): a discrete gradient for quadratic H only [LKB26, eq. (51)]."""

    rule = Rule.MIDPOINT

    def costate(self, step: Step) -> Costate:
        """Return the costate at the midpoint."""
        dz = scale_columns(step.stores.dz(step.mid), step.weight(0.5))
        return corrected(step, step.stores.z(step.mid), dz)


#: Nodes and weights of three-point Gauss quadrature on [0, 1]; the middle node is 1/2.
GAUSS_3 = ((0.5 - np.sqrt(0.15), 5 / 18), (0.5, 8 / 18), (0.5 + np.sqrt(0.15), 5 / 18))
#: Those of Gauss' rule with both ends, for Simpson's rule beside it.
NODES = (0.0, GAUSS_3[0][0], 0.5, GAUSS_3[2][0], 1.0)


@dataclass(frozen=True)
class Gonzalez(DiscreteGradient):
    r"""Gonzalez' discrete gradient, for each storage [KB24, eq. (71)].

    .. math:: z = z(x_m) + \frac{\Delta H - z(x_m) \cdot e}{e \cdot e}\, e,
              \qquad e = E(x_m)(x_1 - x_0)

    As dx -> 0 the numerator, a difference of nearly equal numbers, loses all its digits. It is then
    computed as the integral of (grad H - grad H(x_m))·dx along the path by Gauss quadrature, which
    loses
    none; see `excess`.
    """

    def costate(self, step: Step) -> Costate:
        """Return the corrected midpoint costate."""
        stores = step.stores
        dz = scale_columns(stores.dz(step.mid), step.weight(0.5))
        curved = [(k, s.rows) for k, s in enumerate(stores.storages) if not s.quadratic]
        if not curved:
            return corrected(step, stores.z(step.mid), dz)
        H0, H1 = stores.energies(step.x0), stores.energies(step.x1)
        nodes = [(stores.z(x), stores.E(x)) for x in map(step.at, NODES)]
        path = [(z, np.asarray(E @ step.dx)) for z, E in nodes]
        (z, _), (z1, E1) = nodes[2], nodes[-1]  # at the midpoint and at the end
        corrections = []
        for k, rows in curved:
            samples = [(z_[rows], e_[rows]) for z_, e_ in path]
            paired = float(z[rows] @ step.e[rows])
            numerator = excess(H0[k], H1[k], paired, samples, exact=stores.exact_costate)
            corrections.append(Correction(rows, numerator, np.asarray(E1[rows].T @ z1[rows])))
        return corrected(step, z, dz, corrections)


@dataclass(frozen=True)
class Correction:
    """A correction of z by alpha e on some rows, alpha = numerator / e·e.

    `numerator` is the difference of the energy less z·e, and `slope` (n,) that difference's
    derivative by x1.
    """

    rows: NDArray[np.intp]
    numerator: float
    slope: Vector


def corrected(step: Step, z: Vector, dz: Matrix, corrections: Sequence[Correction] = ()) -> Costate:
    """Return the costate z, whose derivative by x1 is dz, with corrections on separate rows."""
    alphas = np.zeros(z.size)
    U, V = [], []
    for correction in corrections:
        rows, slope = correction.rows, correction.slope
        e, de, z_rows, dz_rows = step.e[rows], step.de[rows], z[rows], dz[rows]
        square = float(e @ e)
        if square == 0:
            continue
        alpha = alphas[rows] = correction.numerator / square
        # alpha's own derivative: a rank-one term, dropped where it drowns in round-off.
        noise = np.finfo(float).eps * np.max(abs(slope), initial=0.0) / np.sqrt(square)
        if noise < 1e-6 * largest(dz_rows):
            direction = np.zeros(z.size)
            direction[rows] = e
            U.append(direction)
            # Of states that have one value in a step, both terms of the numerator change alike.
            dnumerator = np.where(step.stores.algebraic, 0.0, slope - de.T @ z_rows - dz_rows.T @ e)
            V.append((dnumerator - 2 * alpha * (de.T @ e)) / square)
    if alphas.any():
        z, dz = z + alphas * step.e, add(dz, scale_columns(step.de.T, alphas).T)
    low_rank = (np.array(columns).reshape(-1, z.size).T for columns in (U, V))
    return Costate(z, dz, *low_rank)


def excess(
    H0: float,
    H1: float,
    paired: float,
    samples: Sequence[tuple[Vector, Vector]],
    *,
    exact: bool,
) -> float:
    """Return H1 - H0 - paired, where paired is z·e at the midpoint, without loss of digits.

    `samples` are z and e at the `NODES` of the step.
    """
    along = np.array([float(z @ e) for z, e in samples])
    work = max(float(abs(z) @ abs(e)) for z, e in samples)
    return float(without_loss(H0, H1, paired, along, work, exact=exact))


def without_loss(
    H0: Any,
    H1: Any,
    paired: Any,
    along: Vector,
    work: Any,
    *,
    exact: bool,
) -> Vector:
    """Return H1 - H0 - paired, numbers or arrays (...), without loss of digits.

    `along` (5, ...) are the slopes z·e at the `NODES` of the step, `work` the size of the terms in
    them. Their integral by Gauss' rule is the better number if it agrees with the difference of
    energies to the round-off of these, or, where z is `exact`, with Simpson's rule to the round-off
    of its own terms.
    """
    start, first, middle, last, end = along
    gauss = 5 / 18 * ((first - middle) + (last - middle))
    simpson = ((start - middle) + (end - middle)) / 6
    integral, difference = gauss + (middle - paired), H1 - H0 - paired
    settled = exact & (abs(gauss - simpson) <= ROUND_OFF * work)
    agrees = abs(difference - integral) <= ROUND_OFF * (abs(H0) + abs(H1))
    return np.asarray(np.where(settled | agrees, integral, difference), dtype=float)


@dataclass(frozen=True)
class Partitioned(DiscreteGradient):
    """Gonzalez' gradient block by block, with the other blocks held at x0 and at x1 [KB24, app. A].

    `blocks` are index lists that partition the states; they are visited forwards and backwards and
    averaged, which for two blocks is eq. (129). E must not couple two blocks.
    """

    blocks: Sequence[Sequence[int]] = field(default=())

    def costate(self, step: Step) -> Costate:
        """Return the block-wise corrected costate."""
        stores, n = step.stores, step.x0.size
        blocks = self._blocks(step)
        self._check_uncoupled(step.E, blocks)
        z, dz = np.zeros(n), np.zeros((n, n))
        ends, ddifference = np.zeros((len(blocks), 2)), np.zeros((len(blocks), n))
        samples: list[list[list[tuple[Vector, Vector]]]] = [[] for _ in blocks]
        for order in (range(len(blocks)), reversed(range(len(blocks)))):
            done = np.zeros(n)
            for b in order:
                rows = blocks[b]
                here = np.zeros(n)
                here[rows] = 1.0
                mid = done + here / 2
                x_before, x_after = step.at(done), step.at(done + here)
                z_mid = stores.z(step.at(mid))[rows]
                z[rows] += z_mid / 2
                weights = np.where(stores.algebraic, 1.0, mid)
                dz[rows] += dense(stores.dz(step.at(mid)))[rows] * weights / 2
                ends[b] += stores.energies(x_before).sum() / 2, stores.energies(x_after).sum() / 2
                ddifference[b] += (
                    stores.E(x_after).T @ stores.z(x_after) * (done + here)
                    - stores.E(x_before).T @ stores.z(x_before) * done
                ) / 2
                xs = [step.at(done + s * here) for s in NODES]
                dx = here * step.dx
                samples[b].append([(stores.z(x)[rows], (stores.E(x) @ dx)[rows] / 2) for x in xs])
                done += here
        corrections = []
        for b, rows in enumerate(blocks):
            # Forwards and backwards, one after the other, at each node.
            both = [
                (np.concatenate([f[0], r[0]]), np.concatenate([f[1], r[1]]))
                for f, r in zip(*samples[b], strict=True)
            ]
            before, after = (float(end) for end in ends[b])
            paired = float(z[rows] @ step.e[rows])
            numerator = excess(before, after, paired, both, exact=stores.exact_costate)
            corrections.append(Correction(rows, numerator, ddifference[b]))
        return corrected(step, z, dz, corrections)

    def _blocks(self, step: Step) -> list[NDArray[np.intp]]:
        stores, n = step.stores, step.x0.size
        blocks = [np.asarray(block, dtype=np.intp) for block in self.blocks]
        if not blocks and isinstance(stores, PHSystem):
            blocks = [np.arange(s.start, s.stop) for s in stores.slices.values()]
        if sorted(i for block in blocks for i in block) != list(range(n)):
            raise InputError(
                "partitioned gradient: the blocks must contain each state exactly once"
            )
        return blocks

    def _check_uncoupled(self, E: Matrix, blocks: Sequence[NDArray[np.intp]]) -> None:
        owner = np.zeros(E.shape[0], dtype=int)
        for b, rows in enumerate(blocks):
            owner[rows] = b
        i, j = np.nonzero(dense(E))
        if np.any(owner[i] != owner[j]):
            raise InputError("partitioned gradient: E couples two of its blocks; merge them")


@dataclass(frozen=True)
class MeanValue(DiscreteGradient):
    """The mean of z along the straight path (average vector field) [QM08].

    Computed by Gauss quadrature with `nodes` points: exact for polynomial H of degree 2 nodes.
    Constant E only.
    """

    nodes: int = 6
    rule = Rule.AVERAGE

    def costate(self, step: Step) -> Costate:
        """Return the mean costate."""
        if step.stores.dE(step.mid, step.dx) is not None:
            raise InputError("mean-value gradient: E depends on the state; use 'ph-dg' instead")
        abscissae, weights = np.polynomial.legendre.leggauss(self.nodes)
        nodes = [(0.5 * (1 + a), 0.5 * w) for a, w in zip(abscissae, weights, strict=True)]
        z = sum((w * step.stores.z(step.at(s)) for s, w in nodes), np.zeros(step.x0.size))
        slopes = [w * scale_columns(step.stores.dz(step.at(s)), step.weight(s)) for s, w in nodes]
        return corrected(step, z, total(*slopes))
