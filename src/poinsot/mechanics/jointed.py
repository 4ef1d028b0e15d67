"""The constraints of joints alone, for coordinates in which bodies are rigid by themselves."""

from dataclasses import replace

import numpy as np

from poinsot.mechanics.bodies import RIGIDITY
from poinsot.mechanics.forms import WIDTH
from poinsot.mechanics.mechanism import Mechanism
from poinsot.ph.matrices import Matrix, Vector


def _rigid(mechanism: Mechanism) -> int:
    """Return how many constraints of rigidity come before those of the joints."""
    return RIGIDITY * (mechanism.n // WIDTH)


def held(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism without rigidity: joints, and contacts that cannot slip."""
    forms = mechanism.constraints
    return replace(mechanism, constraints=forms.take(np.arange(_rigid(mechanism), forms.m)))


def independent(mechanism: Mechanism, q: Vector) -> Matrix | None:
    """Return what combines the joints' constraints to independent ones; see `Mechanism`."""
    combination, rigid = mechanism.independent(q), _rigid(mechanism)
    if combination is None:
        return None
    inner: Matrix = combination[rigid:, rigid:]
    return inner


def smallest(mechanism: Mechanism, q: Vector, lam: Vector) -> Vector:
    """Return the smallest multipliers of the joints that move bodies like `lam` does at q."""
    if not mechanism.redundant:
        return lam
    rigid = _rigid(mechanism)
    return mechanism.smallest(q, np.concatenate([np.zeros(rigid), lam]))[rigid:]
