"""What a system in redundant coordinates and its start must satisfy."""

import numpy as np

from poinsot.errors import InconsistentStartError, InputError, StructureError
from poinsot.livens.smooth import Array
from poinsot.ph.matrices import Vector
from poinsot.ph.start import TOLERANCE
from poinsot.redundant.laws import Laws

#: Relative departure from skew-symmetry and from w·tau_d >= 0 that is taken for round-off.
ROUND_OFF = 1e-10
#: On how many random momenta and velocities laws are tried.
SAMPLES = 32
#: Singular values of the constraints below this, relative to the largest one, are zero.
RANK = 1e-10


def require_skew(name: str, laws: Laws) -> None:
    """Refuse a G that is not skew, at random momenta of many magnitudes."""
    random = np.random.default_rng(0)
    for scale in 10.0 ** random.uniform(-3, 3, SAMPLES):
        G = laws.G(laws.M @ (scale * random.standard_normal(laws.k)))
        gap = abs(G + G.T)
        if not np.max(gap) <= ROUND_OFF * np.max(abs(G)):
            i, j = (int(place) for place in np.unravel_index(np.argmax(gap), gap.shape))
            raise StructureError(
                f"system '{name}': G is not skew-symmetric: its entry ({i}, {j}) is {G[i, j]:.6g}, "
                f"and ({j}, {i}) is {G[j, i]:.6g}; gyroscopic forces do no work, check the signs"
            )


def require_passive(name: str, laws: Laws, zeta: Vector, w: Vector, where: str) -> None:
    """Refuse forces tau_d that put energy in at these velocities."""
    tau_d = laws.tau_d(zeta, w)
    if float(w @ tau_d) < -ROUND_OFF * float(abs(w) @ abs(tau_d)):
        raise StructureError(
            f"system '{name}': the dissipation creates energy {where}: w·tau_d = "
            f"{float(w @ tau_d):.3g} W at w = {np.array2string(w, precision=3)}; tau_d stands on "
            "the right with a minus sign, check its sign"
        )


def require_start(name: str, laws: Laws, zeta: Vector, w: Vector) -> None:
    """Refuse a start at which a constraint is violated or repeated, or energy is created."""
    dc, Z, A = laws.dc(zeta), laws.Z(zeta), laws.A(zeta)
    for what, values, sizes, wrong in (
        ("c", laws.c(zeta), np.array([1.0 + np.max(abs(zeta))]), "zeta"),
        ("rate c' Z w of c", dc @ Z @ w, abs(dc) @ abs(Z) @ abs(w), "w"),
        ("A w", A @ w, abs(A) @ abs(w), "w"),
    ):
        if values.size and not np.max(abs(values)) <= TOLERANCE * float(np.max(sizes)):
            row = int(np.argmax(abs(values)))
            raise InconsistentStartError(
                f"system '{name}': the initial state violates row {row} of {what} = 0 by "
                f"{abs(values[row]):.3g}; correct {wrong}"
            )
    require_independent(name, laws, zeta)
    random = np.random.default_rng(0)
    for scale in 10.0 ** random.uniform(-3, 3, SAMPLES):
        require_passive(name, laws, zeta, scale * random.standard_normal(laws.k), "at the start")


def require_independent(name: str, laws: Laws, zeta: Vector) -> None:
    """Refuse constraints that say the same twice, or that the kinematics fulfils by itself."""
    rows = laws.rates(zeta)
    lengths = np.linalg.norm(rows, axis=1)
    size = np.linalg.norm(laws.dc(zeta), axis=1) * np.linalg.norm(laws.Z(zeta))
    for i in np.flatnonzero(lengths[: laws.n_c] <= RANK * size):
        raise InputError(
            f"system '{name}': the kinematics keeps row {i} of c by itself, c' Z = 0, as it does "
            "the orthonormality of a rotation matrix [BHRS25, sec. 5]; leave this row out"
        )
    if not rows.size:
        return
    U, singular, _ = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0)[:, None])
    rank = int(np.sum(singular > RANK))
    if rank < len(rows):
        raise InputError(
            f"system '{name}': {len(rows)} constraints on {laws.k} velocities have the rank {rank} "
            f"at the start: {_combination(laws, U[:, -1])} depend on each other [BHRS25, eq. "
            "(13)]; leave one out"
        )


def _combination(laws: Laws, weights: Array) -> str:
    names = [f"c[{i}]" for i in range(laws.n_c)] + [f"A[{i}]" for i in range(laws.n_A)]
    size = abs(weights)
    return ", ".join(names[i] for i in np.flatnonzero(size > 1e-6 * size.max()))
