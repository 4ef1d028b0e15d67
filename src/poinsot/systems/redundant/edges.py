"""Where coordinates end: the edge of the admissible positions U_pos [BHRS25, sec. 4]."""

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.matrices import Vector
from poinsot.systems.livens.smooth import Smooth
from poinsot.systems.redundant.laws import Laws

#: An edge that is fewer steps away than this is worth a word when a step fails.
NEAR = 10.0
REMEDY = "use coordinates without this edge; for rotations, a matrix or a quaternion"


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


def near(laws: Laws, zeta: Vector, rate: Vector, t0: float, h: float) -> str:
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
    places = np.flatnonzero(inside.along)
    return ", ".join(f"{laws.coordinates[int(i)]} = {zeta[i]:.6g}" for i in places)
