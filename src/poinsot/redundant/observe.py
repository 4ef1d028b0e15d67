"""What a system in redundant coordinates shows besides its states."""

import numpy as np

from poinsot.integrate.history import History
from poinsot.integrate.observe import observe, state_by_state
from poinsot.ph.matrices import Vector
from poinsot.redundant.system import RedundantSystem
from poinsot.result import Observation


@observe.register
def _observe(system: RedundantSystem, history: History) -> Observation:
    laws = system.laws

    def potential(x: Vector) -> float:
        return laws.V(system.split(x)[0])

    def kinetic(x: Vector) -> float:
        return laws.T(system.split(x)[1])

    def gap(x: Vector) -> float:
        return float(np.max(abs(laws.c(system.split(x)[0])), initial=0.0))

    def rate(x: Vector) -> float:
        zeta, w, _, _ = system.split(x)
        return float(np.max(abs(laws.rates(zeta) @ w), initial=0.0))

    def slip(x: Vector) -> float:
        zeta, w, _, _ = system.split(x)
        return float(np.max(abs(laws.A(zeta) @ w)))

    energies = {"kinetic": kinetic, "potential": potential}
    whole = {"constraint_error": gap} if laws.n_c else {}
    if laws.n_c or laws.n_A:
        whole["velocity_constraint_error"] = rate
    middle = {"velocity_constraint_error_mid": slip} if laws.n_A else {}

    return Observation(
        whole=state_by_state(system, whole, history, middle),
        energies=state_by_state(system, energies, history),
    )
