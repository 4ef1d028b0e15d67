"""What a system in redundant coordinates, its start and its steps must satisfy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
            f"{float(w @ tau_d):.3g} W at w = {np.array2string(w, precision=3)}; tau_d stands on "
            "the right with a minus sign, check its sign"
        )


# -- a start ----------------------------------------------------------------------------------


def require_start(name: str, laws: Laws, ports: Sequence[Port], zeta: Vector, w: Vector) -> None:
    """Refuse a start that violates a constraint or repeats one, or at which energy is created."""
    require_inside(name, laws, zeta)
    for outlet in (*laws.tied, *laws.outlets(ports)):
        found = _slip(laws, outlet, zeta)
        if found is None:
            raise InputError(
                f"system '{name}': the position of port '{outlet.port}' has no rate at the start, "
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
    require_independent(name, laws, zeta)
    left = " on the motions that the constraints leave"
    masses.require_mass(name, laws.velocities, laws.M, left, laws.K(zeta))
    random = np.random.default_rng(0)
    for scale in 10.0 ** random.uniform(-3, 3, SAMPLES):
        require_passive(name, laws, zeta, scale * random.standard_normal(laws.k), "at the start")


# -- constraints that depend on each other: the rank condition [BHRS25, eq. (13)] -------------


@dataclass(frozen=True)
class Dependence:
    """The weakest combination of constraints: its singular value, rows, and the rank without it."""

    singular: float
    rows: str
    rank: int


def weakest_rows(laws: Laws, zeta: Vector) -> Dependence | None:
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
    found = weakest_rows(laws, zeta)
    if found is not None and found.rank < len(lengths):
        raise InputError(
            f"system '{name}': {len(lengths)} constraints on {laws.k} velocities have the rank "
            f"{found.rank} at the start: {found.rows} depend on each other [BHRS25, eq. (13)]; "
            "leave one of them out: join fewer ports, or ports with fewer entries"
        )


def near_singularity(laws: Laws, zeta: Vector, travel: Vector) -> str:
    """Return that the constraints nearly lose their rank on the way from zeta, if they do."""
    found = [weakest_rows(laws, zeta + s * travel) for s in np.linspace(0.0, 1.0, 9)]
    least = min((d for d in found if d is not None), key=lambda d: d.singular, default=None)
    if least is None or least.singular > WEAK:
        return ""
    return (
        f" (near here the constraints lose their rank [BHRS25, eq. (13)]: {least.rows} depend on "
        f"each other but for {least.singular:.1g}; the mechanism is in a singular position, such "
        "as a dead point; keep it away from there, or leave one of these constraints out)"
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
