"""Quaternions of a run, their rates and momenta, as the examples in quaternions look at them."""

import numpy as np

from poinsot.result import Array, Result


def quaternion(result: Result, body: str) -> Array:
    """Return the unit quaternion of a body's principal axes, scalar first; shape (times, 4)."""
    return result[f"{body}.q"][:, 3:]


def along(result: Result, body: str) -> Array:
    """Return quat·v of a run in Livens' form, quat·p of one in Hamilton's form; shape (times,).

    Both vanish in the exact motion, as |quat| = 1.
    """
    of = f"{body}.v" if f"{body}.v" in result.states else f"{body}.p"
    return np.asarray(np.sum(quaternion(result, body) * result[of][:, 3:], axis=1))
