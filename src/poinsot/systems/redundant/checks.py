"""What a system in redundant coordinates and its start must satisfy."""

from collections.abc import Sequence

import numpy as np

from poinsot.errors import InconsistentStartError, InputError, StructureError, did_you_mean
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.start import TOLERANCE
from poinsot.systems.livens import masses
from poinsot.systems.livens.smooth import Array
from poinsot.systems.redundant import dependence, edges
from poinsot.systems.redundant.laws import Laws, Outlet

#: Relative departure from skew-symmetry, from w·tau_d >= 0 and from p' Z = B^T that is round-off.
ROUND_OFF = 1e-10
#: The same, of derivatives by finite differences.
DIFFERENCES = 1e-6
#: On how many random momenta, velocities and coordinates laws are tried.
SAMPLES = 32


# -- the laws themselves ----------------------------------------------------------------------


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
            if not edges.inside(laws, zeta):
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
    tau_d = laws.tau_d(zeta, w)
    if float(w @ tau_d) < -ROUND_OFF * float(abs(w) @ abs(tau_d)):
        raise StructureError(
            f"system '{name}': the dissipation creates energy {where}: w·tau_d = "
            f"{float(w @ tau_d):.3g} W at w = {np.array2string(w, precision=3)}; tau_d stands on "
            "the right with a minus sign, check its sign"
        )


# -- a start ----------------------------------------------------------------------------------


def require_start(name: str, laws: Laws, ports: Sequence[Port], zeta: Vector, w: Vector) -> None:
    """Refuse a start that violates a constraint or repeats one, or at which energy is created."""
    edges.require_inside(name, laws, zeta)
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
    for what, names, values, sizes, wrong in (
        ("", laws.names_c, laws.c(zeta), np.array([1.0 + np.max(abs(zeta))]), "zeta"),
        ("the rate c' Z w of ", laws.names_c, dc @ Z @ w, abs(dc) @ abs(Z) @ speeds, "w"),
        ("A w = 0, ", laws.names_A, A @ w, abs(A) @ speeds, "w"),
    ):
        if values.size and not np.max(abs(values)) <= TOLERANCE * float(np.max(sizes)):
            row = int(np.argmax(abs(values)))
            raise InconsistentStartError(
                f"system '{name}': the initial state violates {what}'{names[row]}' by "
                f"{abs(values[row]):.3g}; correct {wrong}"
            )
    dependence.require_independent(name, laws, zeta)
    _require_kinetic_energy(name, laws, zeta)
    random = np.random.default_rng(0)
    for scale in 10.0 ** random.uniform(-3, 3, SAMPLES):
        require_passive(name, laws, zeta, scale * random.standard_normal(laws.k), "at the start")


def _require_kinetic_energy(name: str, laws: Laws, zeta: Vector) -> None:
    """Refuse an M that is indefinite on the motions that the constraints leave."""
    found = masses.weakest(laws.velocities, laws.M, laws.K(zeta))
    if found is not None and found.eigenvalue < -ROUND_OFF * float(np.max(abs(laws.M))):
        raise StructureError(
            f"system '{name}': M is indefinite on the motions that the constraints leave: it has "
            f"the eigenvalue {found.eigenvalue:.6g} along {found.along}; a kinetic energy is "
            "never negative, check the signs in M"
        )
