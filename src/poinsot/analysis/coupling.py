"""Energy gained or lost by the sampled exchange of co-simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poinsot.errors import InputError
from poinsot.inputs import number
from poinsot.result import Array, Result


@dataclass(frozen=True, eq=False)
class CouplingError:
    """Energy error of a port that is coupled by samples; result of `coupling_error`.

    Attributes
    ----------
    time : (samples,)
        Times of samples [s].
    energy : (samples,)
        Energy supplied to the model through the port since the start [J], exact.
    error : (samples,)
        Estimate of `energy` minus the energy delivered by the other side [J]: positive if the
        coupling creates energy, negative if it loses energy.
    """

    time: Array
    energy: Array
    error: Array

    @property
    def largest(self) -> float:
        """Largest magnitude of the error [J]."""
        return float(np.max(abs(self.error), initial=0.0))


def coupling_error(
    result: Result, port: str, *, every: float, means: bool = False
) -> CouplingError:
    r"""Return the energy through a port that an FMU drives, and the error of the coupling.

    Between two samples the model receives u_k y(t), because the input is held. The other side
    delivers u(t) y_k, because it sees the sampled y. With u linear between samples, the difference
    is

    .. math:: \delta E_k = \int_{t_k}^{t_{k+1}} u_k \cdot y\, dt
              - T\, \tfrac12 (u_k + u_{k+1}) \cdot y_k .

    It is proportional to the communication step T. If the outputs are means over the communication
    step that ends at a sample (`means`), the other side delivers :math:`T\, u_{k+1} \cdot y_k`.

    Parameters
    ----------
    result : Result
        A run whose saved times include all samples.
    port : str
        Name of the driven port.
    every : float
        Communication step T [s].
    means : bool
        Whether the outputs of the other side are means, as those of drives in FMUs of Poinsot.
    """
    record, T = result.port(port), number(every, "every")
    if T <= 0:
        raise InputError(f"every is {T:g} s; the communication step must be positive")
    time = result.time
    count = int(np.floor((time[-1] - time[0]) / T * (1 + 1e-12) + 1e-9))
    samples = time[0] + T * np.arange(count + 1)
    rows = np.clip(np.searchsorted(time, samples), 0, time.size - 1)
    rows = np.where(abs(time[rows - 1] - samples) < abs(time[rows] - samples), rows - 1, rows)
    if np.any(abs(time[rows] - samples) > 1e-6 * T):
        raise InputError(
            f"the samples every {T:g} s are not among the saved times of the result; use the "
            "communication step of the FMU, and save at least as often"
        )
    # Inputs hold from a sample on; outputs at one are the mean of those of the steps beside it.
    after = np.minimum(rows, record.u.shape[0] - 1)
    u, y = record.u[after], (record.y[after] + record.y[np.maximum(rows - 1, 0)]) / 2
    between = u[1:] if means else (u[:-1] + u[1:]) / 2
    given = T * np.einsum("ki,ki->k", between, y[:-1])
    taken = np.diff(record.energy[rows])
    error = np.concatenate([[0.0], np.cumsum(taken - given)])
    return CouplingError(time[rows], record.energy[rows], error)
