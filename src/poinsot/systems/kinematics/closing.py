r"""From a rough guess to positions with closed joints, by damped steps that move little mass.

With gaps r, in units of the size of the mechanism, and their derivatives K with respect to twists
w, a step is that of Levenberg and Marquardt in the metric M of the masses,

.. math:: \min_w\; |r + K w|^2 + \mu\, w^\top M w ,

and mu decreases with the gaps, so that the last steps are Gauss-Newton steps, with or without
redundant equations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from poinsot.frames.places import local
from poinsot.frames.stacks import Forms, pack
from poinsot.frames.twists import joint_matrix
from poinsot.parts.closing import closing_forms
from poinsot.parts.joint import Joint
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, is_sparse
from poinsot.systems.kinematics.tethers import START, Tethered
from poinsot.systems.kinematics.trajectories import Held

#: Gaps, in lengths of the mechanism and rad, that the exact equations take on from.
NEAR = 1e-6
#: Iterations, longest turn of one [rad], first damping and least, and progress that is none.
ITERATIONS, TURN, DAMPING, LEAST, STUCK = 150, 0.7, 1e-2, 1e-13, 1e-9
#: What a coordinate that is wished for weighs beside a gap, unless it is tried otherwise.
WEAK = 0.1
#: By which part of the largest entry equations are kept positive definite.
ROUND_OFF = 1e-13


@dataclass(frozen=True, eq=False)
class Closing:
    """Equations that close joints from far away, on all bodies; `weights` make lengths numbers.

    `wish` is what a coordinate that is wished for weighs beside a gap.
    """

    forms: Forms
    weights: Vector
    wish: float

    @classmethod
    def of(
        cls, joints: Sequence[Joint], bodies: int, length: float, wish: float = WEAK
    ) -> "Closing":
        """Return those of some joints."""
        parts, weights = [], []
        for joint in joints:
            own = list(closing_forms(joint, length))  # none of a contact on velocities alone
            if own:
                parts.append(pack([form for form, _ in own]))
                weights += [1 / size for _, size in own]
        return cls(Forms(parts, bodies), np.array(weights), wish)

    def at(self, place: Tethered) -> tuple[Vector, Matrix]:
        """Return gaps of joints, transmissions and drives, and what motions change them by."""
        drives = place.held.drives
        r = self.weights * self.forms(place.f)
        rows: list[Placed] = [(0, 0, joint_matrix(self.forms, place.f) * self.weights[:, None])]
        ahead = []
        for k, driven in enumerate(drives, start=r.size):
            own = local(place.f, driven.bodies)
            weight = 1.0 if driven.rotates else 1 / place.length
            weight *= self.wish if isinstance(driven.motion, Held) else 1.0
            ahead.append(-weight * driven.lacking(own, START))
            row = weight * driven.on_twists(own).reshape(-1, 1, 6)
            rows += [(k, 6 * body, part) for body, part in zip(driven.bodies, row, strict=True)]
        K = assemble((r.size + len(drives), 6 * len(place.turns)), rows)
        return np.append(r, ahead), place.twists.by(K)

    def closed(self, place: Tethered) -> tuple[Tethered, float, int]:
        """Return the nearest place that steps lead to, its largest gap, and how many there were."""
        (r, K), mu, grow = self.at(place), DAMPING, 2.0
        for count in range(1, ITERATIONS + 1):  # noqa: B007
            size = float(r @ r)
            if np.max(abs(r), initial=0.0) <= NEAR:
                break
            roots = place.roots
            A = K @ roots
            w = roots @ _damped(A, r, mu * min(1.0, size))
            turn = np.max(abs(w[place.turning]), initial=0.0)
            w = w * min(1.0, TURN / turn) if turn > 0 else w
            promised = size - float(np.sum((r + K @ w) ** 2))
            there = place.at(place.step(w))
            found, slope = self.at(there)
            gained = size - float(found @ found)
            if gained > 0 and promised > 0:
                mu *= max(1 / 3, 1 - (2 * gained / promised - 1) ** 3)
                mu, grow = max(mu, LEAST), 2.0
                place, r, K = there, found, slope
                if gained <= STUCK * size:
                    break
            else:
                mu, grow = mu * grow, 2 * grow
                if mu > 1e12:
                    break
        return place, float(np.max(abs(r), initial=0.0)), count


def _damped(A: Matrix, r: Vector, mu: float) -> Vector:
    """Return y with |r + A y|^2 + mu |y|^2 least."""
    m = A.shape[0]
    if is_sparse(A):
        S = sp.csc_array(A @ A.T + mu * sp.eye_array(m))
        return np.asarray(-A.T @ scipy.sparse.linalg.splu(S).solve(r))
    # However many equations repeat others, this keeps the matrix positive definite.
    S = A @ A.T
    S[np.diag_indices(m)] += mu + ROUND_OFF * float(np.max(np.diag(S), initial=0.0))
    return np.asarray(-A.T @ scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), r))
