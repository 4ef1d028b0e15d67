r"""Rest of a mechanical system: forces that are in balance on all motions that constraints leave.

.. math:: Z^\top \nabla V(\zeta) + K(\zeta)^\top \lambda = B(\zeta)\, u, \qquad g(\zeta) = 0

It is looked for by going down the energy on the constraint manifold, along the eigenvectors of the
second variation: a motion along which the energy bends downwards is followed away from its
stationary point instead of towards it. Near the end these steps are those of Newton's method.

Motions are measured by sizes of their own, and stiffness by that of its terms: a direction is soft,
or no direction at all, compared with what acts along it and with nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.errors import NoEquilibriumError
from poinsot.ph.dependence import row_lengths
from poinsot.ph.matrices import Array, Matrix, Vector, dense

#: Singular values of constraints below this part of the largest are those of repeated ones.
REPEATED = 1e-8
#: Curvature, as a part of its terms, that is none.
FLAT = 1e-9
#: Force along a motion without curvature, as a part of its terms, that is round-off.
ROUND_OFF = 1e-11
#: A step that is as small as this, in sizes of motions, ends the search.
SMALL = 1e-10
#: Residual, as a part of the forces on a body, that an equilibrium may have.
TOLERANCE = 1e-8
#: First and smallest length of a step, longest turn [rad], and where a motion has no end.
FIRST, LEAST, TURN, FAR = 0.3, 1e-13, 0.5, 1e7
ITERATIONS, KICKS, KICK, POLISH = 250, 12, 0.05, 4
#: Part of the promised decrease that a step must keep.
KEPT = 1e-4
#: How many names a message lists.
LISTED = 6


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
    def stiffness(self, lam: Vector) -> tuple[Array, Array]:
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
    def _constraints(self) -> tuple[Array, Vector, Array, Vector]:
        """Constraints on scaled motions as rows of length one, their lengths, and their SVD."""
        K = dense(self.place.rows()) * self.place.sizes
        lengths = row_lengths(K)
        lengths[lengths == 0] = 1.0
        return K, lengths, *self._null(K / lengths[:, None])

    def _null(self, K: Array) -> tuple[Array, Vector]:
        """Return a basis of the motions that K leaves, and the shortest lam with K^T lam = -F."""
        F = self.place.forces()[0] * self.place.sizes
        if not K.shape[0]:
            return np.eye(F.size), np.zeros(0)
        U, s, Vt = np.linalg.svd(K)
        rank = int(np.sum(s > REPEATED * s[0]))
        return Vt[rank:].T, -U[:, :rank] @ ((Vt[:rank] @ F) / s[:rank])

    @cached_property
    def lam(self) -> Vector:
        """Multipliers, the smallest of many where constraints repeat each other; (m,)."""
        _, lengths, _, lam = self._constraints
        return np.asarray(lam / lengths)

    @cached_property
    def free(self) -> Array:
        """A basis of the motions that constraints leave, in their sizes; (k, f)."""
        return self._constraints[2]

    @cached_property
    def balance(self) -> tuple[Vector, Vector]:
        """What forces and constraints leave over, and the forces on each body; (k,) each [J]."""
        K, D = self._constraints[0], self.place.sizes
        F, terms = (D * part for part in self.place.forces())
        _, body = np.unique(list(self.place.groups), return_inverse=True)
        largest = np.zeros(body.max(initial=-1) + 1)
        np.maximum.at(largest, body, terms + abs(K).T @ abs(self.lam))
        return F + K.T @ self.lam, largest[body]

    @cached_property
    def residual(self) -> float:
        """The largest force that is left over, as a part of the forces on its body."""
        left, terms = self.balance
        return float(np.max(np.divide(abs(left), terms, out=abs(left), where=terms > 0), initial=0))

    @cached_property
    def variation(self) -> tuple[Array, Array]:
        """The second variation on free motions, and the sizes of its terms; (f, f) each."""
        D, P = self.place.sizes, self.free
        stiffness, terms = (D[:, None] * part * D for part in self.place.stiffness(self.lam))
        sizes = terms.sum(axis=1) + self.balance[1]
        sizes += np.finfo(float).eps * np.max(sizes, initial=0.0)
        sizes[sizes == 0] = 1.0
        return P.T @ stiffness @ P, P.T @ (sizes[:, None] * P)

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
        D = self.place.sizes
        return float(self.balance[0] @ w + w @ (D * (self._stiffness @ (D * w))) / 2)

    @cached_property
    def _stiffness(self) -> Array:
        return self.place.stiffness(self.lam)[0]

    @property
    def defect(self) -> float:
        """Length of the forces along free motions, each measured by its own terms."""
        return float(np.linalg.norm(self.slopes))

    def accepts(self, there: "Rest", w: Vector, *, down: bool) -> bool:
        """Tell whether a step led down, or, near the end, to smaller forces."""
        if not np.isfinite(there.residual):
            return False
        if not down:
            return there.residual < self.residual or there.defect < self.defect
        promised = self.promised(w)
        gained = self.place.work(there.place, self.place.sizes * w)
        near = abs(promised) <= 1e-9 * float(abs(w) @ self.balance[1])
        return gained <= KEPT * min(promised, 0.0) or (
            (near or self.one_sided) and there.defect < self.defect
        )


def find_rest(place: Place, *, stable: bool, what: str) -> Rest:
    """Return where a system rests, from a place on: a stable one, or the nearest stationary one.

    `what` is rest, for messages.
    """
    here, radius, kicks = Rest(place), FIRST, 0
    for _ in range(ITERATIONS):
        w = here.step(radius, down=stable)
        length = float(np.max(abs(w), initial=0.0))
        if length <= SMALL:
            here = _polished(here)
            if here.residual > TOLERANCE:
                break
            kicked = _kicked(here) if stable and kicks < KICKS else None
            if kicked is None:
                return here
            here, radius, kicks = kicked, FIRST, kicks + 1
            continue
        there = here.after(w)
        if there is None or not here.accepts(there, w, down=stable):
            radius = length / 4
            if radius < LEAST:
                break
            continue
        here, radius = there, max(radius, 2 * length)
        if radius > FAR:
            break
    raise _failure(here, what)


def _polished(here: Rest) -> Rest:
    """Return the same after Newton's last steps, as long as forces get smaller."""
    for _ in range(POLISH):
        there = here.after(here.step(FIRST, down=False))
        if there is None or not there.residual < here.residual / 2:
            break
        here = there
    return here


def _kicked(here: Rest) -> Rest | None:
    """Return a place beside a stationary point from which the energy goes down; None: none."""
    if not here.curvatures.size or here.curvatures[0] >= -FLAT:
        return None
    w = here.motions[:, 0] / np.max(abs(here.motions[:, 0])) * KICK
    lower = []
    for side in (w, -w):
        there = here.after(side)
        if there is not None:
            lower.append((here.place.work(there.place, here.place.sizes * side), there))
    energy, there = min(lower, key=lambda found: found[0], default=(0.0, here))
    return there if energy < 0 else None


def movers(place: Place, w: Vector, part: float = 0.1) -> tuple[str, ...]:
    """Return the names of what moves most in a motion, in its sizes, the largest first."""
    most: dict[str, float] = {}
    for name, size in zip(place.names, abs(w), strict=True):
        most[name] = max(most.get(name, 0.0), float(size))
    largest = max(most.values(), default=0.0)
    return tuple(
        name
        for name, size in sorted(most.items(), key=lambda item: -item[1])
        if size > part * largest
    )


def _failure(here: Rest, what: str) -> NoEquilibriumError:
    """Return what is said if no rest was found."""
    left, _ = here.balance
    pushed = here.free @ (here.free.T @ left)
    names = movers(here.place, pushed)
    listed = ", ".join(f"'{name}'" for name in names[:LISTED])
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return NoEquilibriumError(
        f"no {what} found: forces stay unbalanced by {here.residual:.3g} of their size, and move "
        f"{listed or 'nothing'}{more}; hold it by a joint or a spring, give inputs that balance "
        "the forces, or start nearer to the place you look for",
        residual=here.residual,
        moving=names,
    )
