"""Places of mechanical systems in any coordinates, and their states."""

import numpy as np

from poinsot.errors import InconsistentStartError, InputError
from poinsot.ph.matrices import Vector
from poinsot.systems.floating.system import FloatingSystem
from poinsot.systems.form import MechanismForm
from poinsot.systems.livens import LagrangianForm
from poinsot.systems.mechanical import MechanicalForm
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.coordinates import CoordinatePlace
from poinsot.systems.statics.floating import FloatingPlace
from poinsot.systems.statics.frames import FramePlace

#: Rate below which a drive stands still [rad/s or m/s].
STILL = 1e-9


def place_of(system: MechanicalForm, x: Vector, t: float) -> FramePlace | CoordinatePlace:
    """Return where a mechanical system is at a state."""
    if isinstance(system, FloatingSystem):
        return FloatingPlace.of(system, x, t)
    if isinstance(system, MechanismForm | QuaternionForm):
        return FramePlace.of(system, x, t)
    return CoordinatePlace.of(system, x, t)


def closed_place(system: MechanicalForm, x: Vector, t: float) -> FramePlace | CoordinatePlace:
    """Return where a system is near a state, joints and transmissions closed; refuse drives.

    A system with a drive moves by itself, unless the drive stands still at time t.
    """
    require_undriven(system, t)
    closed = place_of(system, x, t).nearest()
    if closed is None:
        raise InconsistentStartError(
            f"system '{system.name}': the joints are open at the start and cannot be closed "
            "nearby; correct the positions"
        )
    return closed


def require_undriven(system: MechanicalForm, t: float | None = None) -> None:
    """Refuse a system whose motion is prescribed; at time t [s] of rest, drives may stand still."""
    if not isinstance(system, MechanismForm | QuaternionForm):
        return
    for driven in system.mechanism.drives:
        still = t is not None and driven.motion.holds and abs(driven.motion(t)).max() <= STILL
        if not driven.transmits and not still:
            raise InputError(
                f"system '{system.name}': equilibria and steady motions are not available with "
                f"drives ('{driven.name}'); leave them out, and hold joints by springs, a Weld, or "
                "a Drive with a constant coordinate"
            )


def state_at(system: MechanicalForm, place: FramePlace | CoordinatePlace, w: Vector) -> Vector:
    """Return the state of a system at a place that moves by w (k,), multipliers zero."""
    if isinstance(place, FramePlace):
        assert isinstance(system, MechanismForm | QuaternionForm)
        return system.state_at(place.f, place.twists.full(w))
    if isinstance(system, LagrangianForm):
        return system.state({"q": place.zeta, "v": w})
    x = np.zeros(system.n)
    system.parts(x)[0][:], system.parts(x)[1][:] = place.zeta, w
    return x
