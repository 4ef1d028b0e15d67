"""Which constraints depend on each other: the rank condition [BHRS25, eq. (13)]."""

from dataclasses import dataclass

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.matrices import Vector
from poinsot.systems.redundant.laws import Laws

#: Singular values of the constraints, rows brought to length one, below this are zero.
RANK = 1e-10
#: Below this, one is worth a word when a step fails.
WEAK = 1e-2


@dataclass(frozen=True)
class Dependence:
    """The weakest combination of constraints: its singular value, rows, and the rank without it."""

    singular: float
    rows: str
    rank: int


def weakest(laws: Laws, zeta: Vector) -> Dependence | None:
    """Return the combination of rows c' Z and A that is closest to zero; None without any."""
    rows = laws.K(zeta)
    if not rows.size or not np.all(np.isfinite(rows)):
        return None
    lengths = np.linalg.norm(rows, axis=1)
    U, singular, _ = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0)[:, None])
    least = float(singular[-1]) if len(rows) <= laws.k else 0.0
    size = abs(U[:, -1])
    names = [*laws.names_c, *laws.names_A]
    named = [f"'{names[i]}'" for i in np.flatnonzero(size > 1e-6 * size.max())]
    return Dependence(least, ", ".join(named), int(np.sum(singular > RANK)))


def require_independent(name: str, laws: Laws, zeta: Vector) -> None:
    """Refuse constraints that say the same twice, or that the kinematics fulfils by itself."""
    lengths = np.linalg.norm(laws.K(zeta), axis=1)
    size = np.linalg.norm(laws.dc(zeta), axis=1) * np.linalg.norm(laws.Z(zeta))
    for i in np.flatnonzero(lengths[: laws.n_c] <= RANK * size):
        raise InputError(
            f"system '{name}': the kinematics keeps '{laws.names_c[int(i)]}' by itself, c' Z = 0, "
            "as it keeps a rotation matrix orthonormal [BHRS25, sec. 5]; leave this row out"
        )
    found = weakest(laws, zeta)
    if found is not None and found.rank < len(lengths):
        raise InputError(
            f"system '{name}': {len(lengths)} constraints on {laws.k} velocities have the rank "
            f"{found.rank} at the start: {found.rows} depend on each other [BHRS25, eq. (13)]; "
            "leave one of them out: join fewer ports, or ports with fewer entries"
        )


def along(laws: Laws, zeta: Vector, travel: Vector) -> str:
    """Return that the constraints nearly lose their rank on the way from zeta, if they do."""
    found = [weakest(laws, zeta + s * travel) for s in np.linspace(0.0, 1.0, 9)]
    least = min((d for d in found if d is not None), key=lambda d: d.singular, default=None)
    if least is None or least.singular > WEAK:
        return ""
    return (
        f" (near here the constraints lose their rank [BHRS25, eq. (13)]: {least.rows} depend on "
        f"each other but for {least.singular:.1g}; the mechanism is in a singular position, such "
        "as a dead point; keep it away from there, or leave one of these constraints out)"
    )
