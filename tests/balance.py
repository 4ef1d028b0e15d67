"""What every balance law is measured by."""

import numpy as np


def turnover(result):
    """The energy turned over in a run: the scale of its balance errors."""
    supplied = sum(
        (np.abs(np.diff(p.energy)).sum() for p in result.ports.values() if not p.connected), 0.0
    )
    return max(np.abs(result.energy).max(), supplied, result.dissipated.max(), 1e-300)


def step_errors(result):
    """H1 - H0 - h u·y + h z·(R z + r) of every step, from what the result says."""
    h = np.diff(result.time)
    supplied = sum(
        (h * np.sum(p.u * p.y, axis=1) for p in result.ports.values() if not p.connected),
        np.zeros(h.size),
    )
    return np.diff(result.energy) - supplied + np.diff(result.dissipated)
