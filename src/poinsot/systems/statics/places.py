"""Where a mechanical system is, whatever its coordinates are, and back to its state."""

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


def place_of(system: MechanicalForm, x: Vector, t: float) -> FramePlace | CoordinatePlace:
    """Return where a mechanical system is at a state."""
    if isinstance(system, FloatingSystem):
        return FloatingPlace.of(system, x, t)
    if isinstance(system, MechanismForm | QuaternionForm):
        return FramePlace.of(system, x, t)
    return CoordinatePlace.of(system, x, t)


def closed_place(system: MechanicalForm, x: Vector, t: float) -> FramePlace | CoordinatePlace:
    """Return where a system is near a state, joints closed; refuse one with drives.

    Such a system moves by itself.
    """
    require_undriven(system)
    closed = place_of(system, x, t).nearest()
    if closed is None:
        raise InconsistentStartError(
            f"system '{system.name}': the joints are open at the start, and do not close nearby; "
            "correct the positions"
        )
    return closed


def require_undriven(system: MechanicalForm) -> None:
    """Refuse a system whose motion is prescribed."""
    drives = system.mechanism.drives if isinstance(system, MechanismForm | QuaternionForm) else ()
    if drives and drives[0].transmits:
        raise InputError(
            f"system '{system.name}': no rest and no motion of its own is looked for with "
            f"transmissions ('{drives[0].name}'); let it come to rest by friction in a run"
        )
    if drives:
        raise InputError(
            f"system '{system.name}': no rest and no motion of its own is looked for where drives "
            f"prescribe one ('{drives[0].name}'); leave them out, and hold joints by springs or a "
            "Weld"
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
