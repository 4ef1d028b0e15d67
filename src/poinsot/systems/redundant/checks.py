"""What a system in redundant coordinates, its start and its steps must satisfy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from poinsot.errors import InputError, StructureError, did_you_mean
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.ports import Port
from poinsot.ph.start import VANISHED, require_satisfied
from poinsot.systems.livens import masses
from poinsot.systems.livens.smooth import Smooth
from poinsot.systems.redundant.laws import Laws, Outlet

#: Relative departure from skew-symmetry, from w·tau_d >= 0 and from p' Z = B^T that is round-off.
ROUND_OFF = 1e-10
#: The same, of derivatives by finite differences.
DIFFERENCES = 1e-6
#: Singular values of the constraints, rows brought to length one, below this are zero.
RANK = 1e-10
#: How far away, as a part of the coordinates, a rank is looked at that should be constant.
NEARBY = 1e-4
#: What constraints that depend on others may be off by after a step, as a part of their terms.
CLOSED = 1e-8
#: Below this, one is worth a word when a step fails.
WEAK = 1e-2
#: An edge that is fewer steps away than this is worth a word when a step fails.
NEAR = 10.0
#: On how many random momenta, velocities and coordinates laws are tried.
SAMPLES = 32
REMEDY = "use coordinates without this edge; for rotations, a matrix or a quaternion"


# -- the laws themselves ----------------------------------------------------------------------


def require_kinematics(name: str, Z: Any, n: int, k: int) -> None:
    """Refuse to take the identity for Z where n coordinates have k velocities."""
    if Z is None and n != k:
        raise InputError(f"system '{name}': {n} coordinates and {k} velocities need Z ({n}, {k})")


def require_mass(name: str, laws: Laws) -> None:
    """Refuse an M that is not symmetric, or indefinite where nothing restricts the motion."""
    if laws.n_c or laws.n_A:
        masses.require_symmetric(name, laws.M)
    else:
        masses.require_mass(name, laws.velocities, laws.M)


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


def require_positions(name: str, laws: Laws, ports: Sequence[Port]) -> None:
    """Refuse positions of ports whose rates are not their outputs.

    At random coordinates inside of the domain at which all functions have values; there may be
    none, and a run looks again where it starts.
    """
    sizes = {port.name: port.size for port in ports}
    for port, position in laws.positions.items():
        if port not in sizes:
            raise InputError(
                f"system '{name}': positions: no port '{port}'; {did_you_mean(port, sizes)}"
            )
        if position.size != sizes[port]:
            raise InputError(
                f"system '{name}': the position of port '{port}' has {position.size} entries, and "
                f"the port {sizes[port]}"
            )
    outlets = laws.outlets(ports)
    for zeta in np.random.default_rng(0).uniform(-1.5, 1.5, (SAMPLES, laws.n)):
        for outlet in outlets:
            found = _slip(laws, outlet, zeta)
            if found is not None:
                _require_small(name, outlet, zeta, *found)


def _slip(laws: Laws, outlet: Outlet, zeta: Vector) -> tuple[Array, float] | None:
    """Return |p' Z - B^T| of a port and the size of its terms; None where they have no value."""
    try:
        with np.errstate(all="ignore"):
            if not inside(laws, zeta):
                return None
            slope, Z, B = outlet.position.jacobian(zeta), laws.Z(zeta), outlet.B(zeta)
            gap, size = abs(slope @ Z - B.T), max(np.max(abs(slope) @ abs(Z)), np.max(abs(B)))
    except InputError:
        raise
    except (ArithmeticError, ValueError):  # as math.sqrt(-1) raises
        return None
    return (gap, float(size)) if np.all(np.isfinite(gap)) else None


def _require_small(name: str, outlet: Outlet, zeta: Vector, gap: Array, size: float) -> None:
    allowed = ROUND_OFF if outlet.position.exact else DIFFERENCES
    if not np.max(gap) <= allowed * size:
        i, j = (int(place) for place in np.unravel_index(np.argmax(gap), gap.shape))
        raise StructureError(
            f"system '{name}': the rate of the position of port '{outlet.port}' is not its "
            f"output: entry ({i}, {j}) of p' Z - B^T is {gap[i, j]:.3g} at zeta = "
            f"{np.array2string(zeta, precision=3)}; give B the columns (p' Z)^T"
        )


def require_passive(name: str, laws: Laws, zeta: Vector, w: Vector, where: str) -> None:
    """Refuse forces tau_d that put energy in at these velocities."""
    if laws.lossless:
        return
    tau_d = laws.damping(zeta, w)
    if float(w @ tau_d) < -ROUND_OFF * float(abs(w) @ abs(tau_d)):
        raise StructureError(
            f"system '{name}': the dissipation creates energy {where}: w·tau_d = "
            f"{float(w @ tau_d):.3g} W at w = {np.array2string(w, precision=3)}; check the sign of "
            "tau_d, which enters the equation of motion with a minus sign"
        )


# -- a start ----------------------------------------------------------------------------------


def require_start(name: str, laws: Laws, ports: Sequence[Port], zeta: Vector, w: Vector) -> None:
    """Refuse a start that violates a constraint, is singular, or at which energy is created."""
    require_inside(name, laws, zeta)
    for outlet in (*laws.tied, *laws.outlets(ports)):
        found = _slip(laws, outlet, zeta)
        if found is None:
            raise InputError(
                f"system '{name}': the position of port '{outlet.port}' is not differentiable at "
                "the start, "
                f"zeta = {np.array2string(zeta, precision=3)}; start elsewhere, or leave it out of "
                "positions"
            )
        _require_small(name, outlet, zeta, *found)
    dc, Z, A, speeds = laws.dc(zeta), laws.Z(zeta), laws.A(zeta), laws.speeds(w)
    places = abs(dc) @ (abs(zeta) + VANISHED * np.max(abs(zeta)))
    rows = (
        ("", laws.names_c, laws.c(zeta), places, "zeta"),
        ("the rate c' Z w of ", laws.names_c, dc @ Z @ w, abs(dc) @ abs(Z) @ speeds, "w"),
        ("A w = 0, ", laws.names_A, A @ w, abs(A) @ speeds, "w"),
    )
    require_satisfied(name, rows)
    require_constant_rank(name, laws, zeta)
    left = " on the motions that the constraints leave"
    masses.require_mass(name, laws.velocities, laws.M, left, laws.K(zeta))
    random = np.random.default_rng(0)
    for scale in 10.0 ** random.uniform(-3, 3, SAMPLES):
        require_passive(name, laws, zeta, scale * random.standard_normal(laws.k), "at the start")


# -- constraints that depend on each other: the rank condition [BHRS25, eq. (13)] -------------


@dataclass(frozen=True)
class _Rows:
    """The rows c' Z and A at a place, brought to length one where they have any.

    `sizes` are those of their terms.
    """

    K: Array
    lengths: Vector
    sizes: Vector

    @classmethod
    def at(cls, laws: Laws, zeta: Vector) -> "_Rows":
        """Return those at some coordinates; rows that the kinematics keeps by itself are zero."""
        K = laws.K(zeta)
        lengths = np.linalg.norm(K, axis=1)
        sizes = lengths.copy()
        sizes[: laws.n_c] = np.linalg.norm(laws.dc(zeta), axis=1) * np.linalg.norm(laws.Z(zeta))
        there = lengths > RANK * sizes
        scaled = np.divide(K, lengths[:, None], out=np.zeros(K.shape), where=there[:, None])
        return cls(scaled, np.where(there, lengths, 1.0), np.where(there, sizes, 1.0))

    def rank(self) -> int:
        """Return how many are independent."""
        return _above(RANK, self.K)

    def rank_nearby(self) -> int:
        """Return how many are, near a place with that rank: what is small in its terms is not."""
        return _above(NEARBY**1.5, self.K * (self.lengths / self.sizes)[:, None])


def _above(tolerance: float, K: Array) -> int:
    finite = bool(K.size) and bool(np.all(np.isfinite(K)))
    return int(np.sum(np.linalg.svd(K, compute_uv=False) > tolerance)) if finite else 0


def combination(laws: Laws, zeta: Vector) -> Array | None:
    """Return T, whose rows combine the rows c' Z and A to independent ones; None: all are."""
    rows = _Rows.at(laws, zeta)
    rank = rows.rank()
    if rank == len(rows.K) or not np.all(np.isfinite(rows.K)):
        return None
    U = np.linalg.svd(rows.K)[0]
    return np.asarray(U[:, :rank].T / rows.lengths)


def require_constant_rank(name: str, laws: Laws, zeta: Vector) -> None:
    """Refuse a start at which constraints depend on each other, and nearby they do not.

    On a way of length s that the constraints leave, a rank that is less at its beginning alone
    grows by singular values of order s; those of a constant rank stay of order s^2.
    """
    here = _Rows.at(laws, zeta)
    rank = here.rank()
    if rank == len(here.K):
        return
    free, random = scipy.linalg.null_space(here.K, rcond=RANK), np.random.default_rng(0)
    for _ in range(3 if free.size else 0):
        way = laws.Z(zeta) @ free @ random.standard_normal(free.shape[1])
        reach = np.linalg.norm(way) / max(1.0, float(np.linalg.norm(zeta)))
        near = _Rows.at(laws, zeta + NEARBY / (reach or 1.0) * way)
        if near.rank_nearby() > rank:
            found = weakest_rows(laws, zeta, near.rank_nearby())
            assert found is not None
            raise InputError(
                f"system '{name}': the {len(here.K)} constraints on {laws.k} velocities have the "
                f"rank {rank} at the start, and more nearby: {found.rows} are dependent only there "
                "[BHRS25, eq. (13)], as at a dead centre; start elsewhere"
            )


def require_closed(name: str, laws: Laws, zeta: Vector, step: tuple[Vector, Vector]) -> None:
    """Refuse a step that starts at zeta and after which constraints that were left out do not hold.

    `step` are zeta at its end, and w at its midpoint.
    """
    if combination(laws, zeta) is None:
        return
    end, w = step
    middle, dc, speeds = (zeta + end) / 2, laws.dc(end), laws.speeds(w)
    places = abs(dc) @ (abs(end) + VANISHED * np.max(abs(end)))
    A = laws.A(middle)
    gaps = np.concatenate([laws.c(end), A @ w])
    sizes = np.concatenate([places, abs(A) @ speeds])
    wrong = np.flatnonzero(abs(gaps) > CLOSED * sizes)
    if wrong.size:
        names = [*laws.names_c, *laws.names_A]
        raise InputError(
            f"system '{name}': '{names[int(wrong[0])]}' is no longer redundant: the rank of the "
            "constraints has changed [BHRS25, eq. (13)]"
        )


@dataclass(frozen=True)
class Dependence:
    """The weakest combination of so many independent constraints: its singular value and rows."""

    singular: float
    rows: str


def weakest_rows(laws: Laws, zeta: Vector, rank: int) -> Dependence | None:
    """Return the combination of rows c' Z and A that is the last of so many independent ones."""
    rows = _Rows.at(laws, zeta).K
    if not rank or not np.all(np.isfinite(rows)):
        return None
    U, singular, _ = np.linalg.svd(rows)
    size = abs(U[:, rank - 1])
    names = [*laws.names_c, *laws.names_A]
    named = [f"'{names[i]}'" for i in np.flatnonzero(size > 1e-6 * size.max())]
    return Dependence(float(singular[rank - 1]), ", ".join(named))


def near_singularity(laws: Laws, zeta: Vector, travel: Vector) -> str:
    """Return that the constraints nearly lose their rank on the way from zeta, if they do."""
    way = [zeta + s * travel for s in np.linspace(0.0, 1.0, 9)]
    rank = max(_Rows.at(laws, at).rank() for at in way)
    found = [weakest_rows(laws, at, rank) for at in way]
    least = min((d for d in found if d is not None), key=lambda d: d.singular, default=None)
    if least is None or least.singular > WEAK:
        return ""
    return (
        f" (near here the constraints lose their rank [BHRS25, eq. (13)]: {least.rows} depend on "
        f"each other but for {least.singular:.1g}; the mechanism is in a singular position, such "
        "as a dead centre; avoid it, or leave one of these constraints out)"
    )


# -- where coordinates end: the edge of the admissible positions U_pos [BHRS25, sec. 4] -------


def inside(laws: Laws, zeta: Vector) -> bool:
    """Return whether coordinates are inside of all edges."""
    return all(_value(inside, zeta) > 0 for inside in laws.domain.values())


def require_inside(name: str, laws: Laws, zeta: Vector) -> None:
    """Refuse a start outside."""
    for edge, inside in laws.domain.items():
        if not _value(inside, zeta) > 0:
            raise InputError(
                f"system '{name}': the initial state is outside of its coordinates: '{edge}' is "
                f"at {_value(inside, zeta):.3g}, inside it is positive; {REMEDY}"
            )


def require_not_crossed(laws: Laws, zeta0: Vector, zeta1: Vector, t0: float, h: float) -> None:
    """Refuse a step that leads over an edge, and say where and when it does."""
    from scipy.optimize import brentq

    for edge, inside in laws.domain.items():
        if not _value(inside, zeta1) > 0:

            def at(s: float, inside: Smooth = inside) -> float:
                return _value(inside, zeta0 + s * (zeta1 - zeta0))

            s = float(brentq(at, 0.0, 1.0, xtol=1e-12)) if np.isfinite(at(1.0)) else 0.0
            raise InputError(
                f"{edge}: the coordinates end at "
                f"{_named(laws, inside, zeta0 + s * (zeta1 - zeta0))}, reached at "
                f"t = {t0 + s * h:.6g} s; {REMEDY}"
            )


def near_edge(laws: Laws, zeta: Vector, rate: Vector, t0: float, h: float) -> str:
    """Return that an edge is near, if it is; `rate` is that of zeta."""
    for edge, inside in laws.domain.items():
        value, slope = _value(inside, zeta), float(inside.jacobian(zeta)[0] @ rate)
        if value <= NEAR * h * abs(slope):
            return (
                f" (near {edge}, where the coordinates end: {_named(laws, inside, zeta)} at "
                f"t = {t0:.6g} s; {REMEDY})"
            )
    return ""


def _value(inside: Smooth, zeta: Vector) -> float:
    """Return the value at an edge, NaN where the function has none."""
    try:
        return float(inside.value(zeta)[0])
    except InputError:
        raise
    except (ArithmeticError, ValueError):  # as math.sqrt(-1) raises
        return float("nan")


def _named(laws: Laws, inside: Smooth, zeta: Vector) -> str:
    """Return the coordinates that an edge depends on."""
    places = np.flatnonzero(inside.depends)
    return ", ".join(f"{laws.coordinates[int(i)]} = {zeta[i]:.6g}" for i in places)
