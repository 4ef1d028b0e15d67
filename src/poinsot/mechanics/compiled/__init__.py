"""Mechanisms in the compiled engine.

Importing the modules of this package imports Numba; only this one does not.
"""

from poinsot.integrate.blocks import Runner, accelerate
from poinsot.integrate.newton import Newton
from poinsot.integrate.schemes import Scheme
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem
from poinsot.ph.gradients import Midpoint
from poinsot.ph.matrices import Vector


def _accelerate(
    system: DirectorSystem | StabilisedSystem, scheme: Scheme, x: Vector, h: float, options: Newton
) -> Runner | None:
    """Return a runner for the midpoint rule."""
    if not isinstance(scheme.gradient, Midpoint):
        return None
    from poinsot.mechanics.compiled.runner import MechanismRunner

    return MechanismRunner(system, x, h, options)


for _kind in (DirectorSystem, StabilisedSystem):
    accelerate.register(_kind, _accelerate)
