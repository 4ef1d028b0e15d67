"""Mechanisms in the compiled engine.

Importing the modules of this package imports Numba; only this one does not.
"""

from poinsot.integrate.blocks import Runner, accelerate
from poinsot.integrate.newton import Newton
from poinsot.integrate.schemes import Scheme
from poinsot.mechanics.directions import Torque
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem
from poinsot.mechanics.quaternions import (
    QuaternionForm,
    QuaternionHamiltonian,
    QuaternionSystem,
)
from poinsot.mechanics.rotations import RotationSystem
from poinsot.ph.gradients import Midpoint
from poinsot.ph.matrices import Vector


def _accelerate(
    system: DirectorSystem | StabilisedSystem, scheme: Scheme, x: Vector, h: float, options: Newton
) -> Runner | None:
    """Return a runner for the midpoint rule."""
    if not isinstance(scheme.gradient, Midpoint):
        return None
    from poinsot.mechanics.compiled.runner import DirectorRunner

    return DirectorRunner(system, x, h, options)


def _accelerate_quaternions(
    system: QuaternionForm, scheme: Scheme, x: Vector, h: float, options: Newton
) -> Runner | None:
    """Return a runner for the energy-momentum schemes.

    Repeated constraints leave a share of the multipliers open. It does nothing with mean levers;
    with others the motion depends on it, and the reference engine chooses. Contacts that cannot
    slip act on mean levers only.
    """
    mechanism = system.lagrangian.mechanism
    by_mean = mechanism.redundant or mechanism.rolls
    if isinstance(scheme.gradient, Midpoint) or (by_mean and not scheme.mean_levers):
        return None
    from poinsot.mechanics.compiled.quaternions import QuaternionRunner

    return QuaternionRunner(system, scheme, x, h, options)


@accelerate.register
def _accelerate_rotations(
    system: RotationSystem, scheme: Scheme, x: Vector, h: float, options: Newton
) -> Runner | None:
    """Return a runner for the midpoint rule.

    Torques as [LKB26, eq. (32)] puts them in are others in the engine's quaternions.
    """
    lines = [inlet.direction for inlet in system.mechanism.inlets]
    if any(isinstance(line, Torque) and not line.reciprocal for line in lines):
        return None
    if not isinstance(scheme.gradient, Midpoint):
        return None
    if system.coordinates == "rotations-euler":
        from poinsot.mechanics.compiled.euler import EulerRunner

        return EulerRunner(system, x, h, options)
    from poinsot.mechanics.compiled.rotations import RotationRunner

    return RotationRunner(system, x, h, options)


for _kind in (DirectorSystem, StabilisedSystem):
    accelerate.register(_kind, _accelerate)
for _form in (QuaternionSystem, QuaternionHamiltonian):
    accelerate.register(_form, _accelerate_quaternions)
