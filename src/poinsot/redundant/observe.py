"""What a system in redundant coordinates shows besides its states."""

from functools import partial

import numpy as np

from poinsot.integrate.history import History
from poinsot.integrate.observe import observe
from poinsot.ph.matrices import Vector
from poinsot.redundant.system import RedundantSystem
from poinsot.result import Array, Lazy, Observation


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

    energies = {"kinetic": kinetic, "potential": potential}
    whole = {"constraint_error": gap} if laws.n_c else {}
    if laws.n_c or laws.n_A:
        whole["velocity_constraint_error"] = rate

    def look(name: str) -> Array:
        one = {**energies, **whole}[name]
        rows = partial(np.apply_along_axis, one, 1)
        return history.over_times(lambda x: (np.asarray(rows(x)),), slice(0, system.n))[0]

    return Observation(whole=Lazy(whole, look), energies=Lazy(energies, look))
