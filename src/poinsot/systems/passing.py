r"""Through singular positions: a step goes on along the branch of the motion that it came along.

Where equations of joints lose rank, the motion of a mechanism branches (see `branches`). Its
velocity is continuous there, so that it stays on the branch it is on; but a step that ends in such
a position, or passes close by, has solutions on the others as well, and each of them keeps energy
and all constraints. A step with its mean velocity on another branch than the velocity at its start
has taken one of these.

Between singular positions equations are independent: if a step moves bodies by s, relative to the
size of their loop, the least singular value of their equations changes by no more than a few s. So
only steps are looked at that are as close as that, and in which velocities turn.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import SingularPositionError
from poinsot.frames.places import local
from poinsot.frames.stacks import Forms
from poinsot.frames.twists import joint_matrix, twists_from
from poinsot.ph.equations import smallest_singular_value
from poinsot.ph.matrices import Vector, dense
from poinsot.systems.branches import MANY, branches_at, measured, named
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.redundancy import kept_rows

Array = NDArray[np.float64]

#: Velocities that change in a step by less than this part of themselves have not changed branches.
TURNED = 0.05
#: How many times what a step moves by is the least singular value that shows a singular position;
#: and how small it is in any case.
CLOSE, SMALL = 3.0, 0.1
#: A step ends in a singular position, but for second orders, if the least singular value there is
#: so many times the square of what it moves by; and how small it is in any case.
ENDS, THERE = 10.0, 0.03
#: And it is so many times larger where the step begins: in large loops it is small everywhere.
FALLS = 2.0
#: A motion that is common to all branches, but for this part of it, is on any of them.
COMMON = 1e-3
#: Sine of the angle by which velocities in a step may be off their branch; where branches are not
#: known, off those before it.
ASTRAY = 0.5


@dataclass(frozen=True, eq=False)
class Closed:
    """A loop of joints by their names: the numbers of its `rows` and `bodies`."""

    joints: tuple[str, ...]
    rows: NDArray[np.intp]
    bodies: NDArray[np.intp]

    def require_same_branch(
        self, held: Mechanism, f0: Vector, v0: Vector, f1: Vector, h: float
    ) -> None:
        """Refuse a step of h [s] that changes branches, from frames f0 with rates v0 to f1.

        `held` are all joints.
        """
        q0, q1, rates = (local(a, self.bodies) for a in (f0, f1, v0))
        before, mean = twists_from(q0, rates), twists_from((q0 + q1) / 2, (q1 - q0) / h)
        if self.rows.size > MANY or not _turned(before, mean):
            return
        forms, repeated = self._equations(held)
        generic = int(np.count_nonzero(~repeated))
        _, rank, q = min(
            (_near(forms, q, generic, h * mean) for q in (q0, q1)), key=lambda near: near[0]
        )
        if rank < generic and _astray(forms, q, rank, before, mean):
            raise SingularPositionError(
                f"joints {named(self.joints)} pass a singular position, where their equations have "
                f"rank {rank} instead of {generic}, and this step switched to another branch of "
                "the motion; use another step size, so that no step ends there"
            )

    def ends_singular(self, held: Mechanism, f0: Vector, f1: Vector) -> bool:
        """Return whether a step from frames f0 to f1 ends in a singular position, or next to it."""
        q0, q1 = (local(f, self.bodies) for f in (f0, f1))
        forms, repeated = self._equations(held)
        least, lengths = _least(forms, q1, repeated)
        moved = np.max(abs(lengths * twists_from((q0 + q1) / 2, q1 - q0))) / np.max(lengths)
        close = least < min(ENDS * moved**2, THERE)
        return bool(close and FALLS * least < _least(forms, q0, repeated)[0])

    def _equations(self, held: Mechanism) -> tuple[Forms, NDArray[np.bool_]]:
        """Return those of the loop, of all joints `held`, and which of them repeat others."""
        repeated = [l.rows[l.repeated] for l in held.loops if l.rows[0] in self.rows]
        forms = held.constraints.take(self.rows).among(self.bodies.tolist())
        return forms, np.isin(self.rows, np.concatenate([self.rows[:0], *repeated]))


def _astray(forms: Forms, q: Vector, rank: int, before: Vector, mean: Vector) -> bool:
    """Return whether twists in a step are on another branch than those before it."""
    branches, own = branches_at(forms, q, rank)
    parts = [own @ twists for twists in (before, mean)]
    lengths = measured(joint_matrix(forms, q))[2]
    for part, twists in zip(parts, (before, mean), strict=True):
        if np.linalg.norm(part) <= COMMON * np.linalg.norm(lengths * twists):
            return False
    if not branches:
        one, other = (part / np.linalg.norm(part) for part in parts)
        return bool(1 - (one @ other) ** 2 > ASTRAY**2)
    came, goes = (
        [float(np.linalg.norm(rows @ twists)) for rows in branches] for twists in (before, mean)
    )
    same = int(np.argmin(came))
    return same != int(np.argmin(goes)) or goes[same] > ASTRAY * float(np.linalg.norm(parts[1]))


def _turned(before: Vector, mean: Vector) -> bool:
    """Return whether velocities or angular velocities have changed by more than a little."""
    old, new = (twists.reshape(-1, 2, 3) for twists in (before, mean))
    sizes = np.max(np.maximum(abs(old), abs(new)), axis=(0, 2))
    return bool(np.any(np.max(abs(new - old), axis=(0, 2)) > TURNED * sizes))


def _least(forms: Forms, q: Vector, repeated: NDArray[np.bool_]) -> tuple[float, Vector]:
    """Return the least singular value at q, of rows that do not repeat others; and lengths."""
    J, _, lengths = measured(joint_matrix(forms, q))
    return smallest_singular_value(J[kept_rows(J, repeated)]), lengths


def _near(forms: Forms, q: Vector, generic: int, moved: Vector) -> tuple[float, int, Vector]:
    """Return the least singular value at q, the rank that equations have close by, and q."""
    J, _, lengths = measured(joint_matrix(forms, q))
    singular = np.linalg.svd(dense(J), compute_uv=False)
    reach = np.max(abs(lengths * moved)) / np.max(lengths)
    rank = min(int(np.count_nonzero(singular > min(CLOSE * reach, SMALL))), generic)
    return float(singular[generic - 1]), rank, q
