"""What a Lagrangian shows besides its states: energies, and how well constraints hold."""

import numpy as np

from poinsot.integrate.history import History
from poinsot.integrate.observe import observe, state_by_state
from poinsot.livens.general import GeneralLagrangian
from poinsot.livens.systems import HamiltonianSystem, LivensSystem
from poinsot.livens.velocities import VelocitySystem
from poinsot.ph.matrices import Vector
from poinsot.result import Observation


def _velocity(system: LivensSystem | HamiltonianSystem | VelocitySystem, x: Vector) -> Vector:
    if isinstance(system, VelocitySystem):
        n = system.lagrangian.n
        return x[n : 2 * n]
    return system.velocity(x)


def _observe(
    system: LivensSystem | HamiltonianSystem | VelocitySystem, history: History
) -> Observation:
    lagrangian, n = system.lagrangian, system.lagrangian.n
    if not isinstance(lagrangian, GeneralLagrangian):
        return Observation()

    def potential(x: Vector) -> float:
        return lagrangian.V(x[:n])

    def kinetic(x: Vector) -> float:
        return system.H(x) - lagrangian.V(x[:n])

    def gap(x: Vector) -> float:
        return float(np.max(abs(lagrangian.g(x[:n])), initial=0.0))

    def rate(x: Vector) -> float:
        v = _velocity(system, x)
        return float(np.max(abs(lagrangian.G(x[:n]) @ v), initial=0.0))

    energies = {"kinetic": kinetic, "potential": potential}
    whole = {"constraint_error": gap, "velocity_constraint_error": rate}

    return Observation(
        whole=state_by_state(system, whole if lagrangian.m else {}, history),
        energies=state_by_state(system, energies, history),
    )


for _kind in (LivensSystem, HamiltonianSystem, VelocitySystem):
    observe.register(_kind, _observe)
