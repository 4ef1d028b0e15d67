r"""Equilibria of mechanical systems: forces in balance on all motions that constraints allow.

.. math:: Z^\top \nabla V(\zeta) + K(\zeta)^\top \lambda = B(\zeta)\, u, \qquad g(\zeta) = 0

Motions are in natural units, and stiffness is relative to its terms: whether a direction is soft is
decided by comparison with what acts along it, and with nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.ph.dependence import row_lengths
from poinsot.ph.matrices import Array, Matrix, Vector, dense, scale_columns

#: Singular values of constraints below this part of the largest are those of repeated ones.
REPEATED = 1e-8
#: Part of the largest forces that is none.
NOTHING = 1e-30
#: Curvature, as a part of its terms, that is none.
FLAT = 1e-9
#: Force along a motion without curvature, as a part of its terms, that is round-off.
ROUND_OFF = 1e-11
#: Longest turn of a step [rad].
TURN = 0.5
#: Part of the promised decrease that a step must keep; decreases that round-off hides, as parts of
#: all energies and of the work of forces in the step.
KEPT, ENERGY, SLOPE = 1e-4, 1e-13, 1e-9


class Place(ABC):
    """A configuration of a mechanical system with k motions w, and what acts there."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What each motion moves; (k,)."""

    @property
    def groups(self) -> Sequence[str]:
        """To which of several each motion belongs, whose forces are compared; (k,)."""
        return self.names

    @property
    @abstractmethod
    def sizes(self) -> Vector:
        """How large each motion is by nature; (k,)."""

    @property
    @abstractmethod
    def turning(self) -> NDArray[np.bool_]:
        """Which motions are turns of bodies [rad]; (k,)."""

    @abstractmethod
    def forces(self) -> tuple[Vector, Vector]:
        """Return Z^T grad V - B u, and the sizes of its terms; (k,) each."""

    @abstractmethod
    def rows(self) -> Matrix:
        """Return the constraints on motions, K; (m, k)."""

    @abstractmethod
    def stiffness(self, lam: Vector) -> tuple[Matrix, Matrix]:
        """Return what Z^T grad V + K^T lam - B u changes by with motions, and sizes; (k, k)."""

    @abstractmethod
    def masses(self) -> Array:
        """Return the mass of motions; (k, k)."""

    @abstractmethod
    def moved(self, w: Vector) -> Self | None:
        """Return the place that a motion leads to, constraints closed; None if they stay open."""

    @abstractmethod
    def work(self, there: Self, w: Vector) -> float:
        """Return V there less V here, less the work of inputs on the way [J]."""


@dataclass(frozen=True, eq=False)
class Rest:
    """A place with its multipliers and its second variation, motions in their sizes.

    `curvatures` (f,) of the energy are parts of the terms that they consist of, smallest first;
    `motions` (k, f) are those along which they are taken.
    """

    place: Place

    @cached_property
    def _null(self) -> tuple[Array, Vector]:
        """A basis of the motions that K leaves, and the shortest lam that balances forces best."""
        K, F = dense(self.place.rows()) * self.place.sizes, self._force
        if not K.shape[0]:
            return np.eye(F.size), np.zeros(0)
        # Forces on one body may be round-off to another: again, each measured by its own.
        roots = np.sqrt(self._measured(_null_and_multipliers(K, F)[1]))
        free, lam = _null_and_multipliers(K / roots, F / roots)
        return free / roots[:, None], lam

    @property
    def _force(self) -> Vector:
        return self.place.forces()[0] * self.place.sizes

    def _measured(self, lam: Vector) -> Vector:
        """Return what forces on each body amount to in its motions, with multipliers; (k,) [J]."""
        (_, terms), K, D = self.place.forces(), self.place.rows(), self.place.sizes
        _, body = np.unique(list(self.place.groups), return_inverse=True)
        largest = np.zeros(body.max(initial=-1) + 1)
        np.maximum.at(largest, body, D * (terms + abs(K).T @ abs(lam)))
        largest = np.maximum(largest, NOTHING * np.max(largest, initial=0.0))
        return np.where(largest > 0, largest, 1.0)[body]

    @property
    def lam(self) -> Vector:
        """Multipliers, the smallest of many where constraints repeat each other; (m,)."""
        return self._null[1]

    @property
    def free(self) -> Array:
        """A basis of the motions that constraints leave, in their sizes; (k, f)."""
        return self._null[0]

    @cached_property
    def balance(self) -> tuple[Vector, Vector]:
        """What forces and constraints leave over, and the forces on each body; (k,) each [J]."""
        K, D, F = self.place.rows(), self.place.sizes, self.place.forces()[0]
        return np.asarray(D * (F + K.T @ self.lam)), self._measured(self.lam)

    @cached_property
    def residual(self) -> float:
        """The largest force that is left over, as a part of the forces on its body."""
        left, terms = self.balance
        return float(np.max(abs(left) / terms, initial=0.0))

    @cached_property
    def variation(self) -> tuple[Array, Array]:
        """The second variation on free motions, and the sizes of its terms; (f, f) each."""
        (stiffness, sizes), P = self._stiffness, self.free
        return P.T @ dense(stiffness) @ P, P.T @ (sizes[:, None] * P)

    @cached_property
    def _stiffness(self) -> tuple[Matrix, Vector]:
        """The second variation on all motions (k, k), and what it is measured by; (k,)."""
        D, (stiffness, terms) = self.place.sizes, self.place.stiffness(self.lam)
        sizes = D * np.asarray(terms @ D) + self.balance[1]
        sizes += np.finfo(float).eps * np.max(sizes, initial=0.0)
        sizes[sizes == 0] = 1.0
        return scale_columns(scale_columns(stiffness, D).T, D).T, sizes

    @cached_property
    def _modes(self) -> tuple[Vector, Array]:
        H, S = self.variation
        if not H.size:
            return np.zeros(0), self.free
        kappa, vectors = scipy.linalg.eigh((H + H.T) / 2, S)
        return kappa, self.free @ vectors

    @property
    def curvatures(self) -> Vector:
        """Parts of the terms that the curvature of the energy is; (f,)."""
        return self._modes[0]

    @property
    def motions(self) -> Array:
        """The motions along which curvatures are taken; (k, f)."""
        return self._modes[1]

    @cached_property
    def slopes(self) -> Vector:
        """Forces along these motions, without what is round-off where nothing bends; (f,)."""
        left, terms = self.balance
        slopes = self.motions.T @ left
        noise = ROUND_OFF * (abs(self.motions).T @ terms)
        return np.where((abs(self.curvatures) <= FLAT) & (abs(slopes) <= noise), 0.0, slopes)

    @cached_property
    def one_sided(self) -> bool:
        """Whether forces have no energy: the second variation is not symmetric."""
        H, S = self.variation
        return bool(np.max(abs(H - H.T), initial=0.0) > FLAT * np.max(abs(S), initial=0.0))

    # -- steps --------------------------------------------------------------------------------

    def step(self, radius: float, *, down: bool) -> Vector:
        """Return a step down, or to the nearest stationary point; in sizes of motions; (k,)."""
        kappa = abs(self.curvatures) if down else self.curvatures
        if self.one_sided and (not down or np.min(self.curvatures, initial=1.0) > FLAT):
            return self._limited(self._newton(), radius)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            amounts = np.where(self.slopes == 0, 0.0, -self.slopes / kappa)
        parts = self.motions * np.clip(amounts, -1e150, 1e150)
        limited = [self._limited(part, radius) for part in parts.T]
        return self._limited(np.sum(limited, axis=0) + np.zeros(self.free.shape[0]), radius)

    def _newton(self) -> Vector:
        """Return Newton's step of forces that have no energy."""
        H, S = self.variation
        scale = 1 / np.sqrt(np.diag(S))
        right = -(self.free.T @ self.balance[0]) * scale
        return np.asarray(
            self.free @ (scale * np.linalg.lstsq(scale[:, None] * H * scale, right, rcond=FLAT)[0])
        )

    def _limited(self, w: Vector, radius: float) -> Vector:
        """Return a motion no longer than the radius, and turns no larger than they may be."""
        turns = np.max(abs(w[self.place.turning]), initial=0.0)
        longest = max(np.max(abs(w), initial=0.0) / radius, turns / TURN)
        return w / longest if longest > 1 else w

    def after(self, w: Vector) -> "Rest | None":
        """Return what is found after a step, in sizes of motions."""
        place = self.place.moved(self.place.sizes * w)
        return None if place is None else replace(self, place=place)

    def promised(self, w: Vector) -> float:
        """Return what the energy changes by along a step, to second order [J]."""
        return float(self.balance[0] @ w + w @ (self._stiffness[0] @ w) / 2)

    @property
    def defect(self) -> float:
        """Length of the forces along free motions, each measured by its own terms."""
        return float(np.linalg.norm(self.slopes))

    def accepts(self, there: "Rest", w: Vector, *, down: bool) -> bool:
        """Return whether a step led down, or, near the end, to smaller forces."""
        if not np.isfinite(there.residual):
            return False
        if not down:
            return there.residual < self.residual or there.defect < self.defect
        promised = self.promised(w)
        gained = self.place.work(there.place, self.place.sizes * w)
        terms = self.balance[1]
        near = abs(promised) <= ENERGY * float(np.sum(terms)) + SLOPE * float(abs(w) @ terms)
        return gained <= KEPT * min(promised, 0.0) or (
            (near or self.one_sided) and there.defect < self.defect
        )


def _null_and_multipliers(K: Array, F: Vector) -> tuple[Array, Vector]:
    """Return a basis of the null space of K, and the shortest lam with K^T lam = -F at best."""
    lengths = row_lengths(K)
    lengths[lengths == 0] = 1.0
    U, s, Vt = np.linalg.svd(K / lengths[:, None])
    rank = int(np.sum(s > REPEATED * s[0]))
    return Vt[rank:].T, -U[:, :rank] @ ((Vt[:rank] @ F) / s[:rank]) / lengths
