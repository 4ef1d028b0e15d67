r"""What steps miss of inputs that are functions of time alone.

Steps know an input u by its values in their middles. Where u jumps, steps of any size may agree on
a state that is wrong, since all of them have the same time of the jump wrong. But the trapezoidal
rule, by values at their ends, has another one:

.. math:: e = \frac{1}{T \max |u|} \Big| \sum h\,u_{n+1/2} - \sum \frac h2 (u_n + u_{n+1}) \Big|

of smooth inputs about three times what the steps are off.
"""

import numpy as np

from poinsot.ph.matrices import Array
from poinsot.ph.ports import Port
from poinsot.ph.signals import Constant
from poinsot.ph.system import PHSystem


class Impulses:
    """The integrals of inputs over time in a run.

    Parameters
    ----------
    system : PHSystem
        What is simulated.
    span : float
        How long the run is [s].
    """

    def __init__(self, system: PHSystem, span: float) -> None:
        self.ports = [port for port in system.ports if _sampled(port)]
        self.span, self.largest = span, np.zeros(len(self.ports))

    def error(self, times: Array) -> float:
        """Return what steps between times [s] miss at most, as a part of inputs over the run."""
        worst, h = 0.0, np.diff(times)[:, None]
        for k, port in enumerate(self.ports):
            middle, ends = port.u_over((times[:-1] + times[1:]) / 2), port.u_over(times)
            self.largest[k] = max(self.largest[k], np.max(abs(middle)), np.max(abs(ends)))
            if self.largest[k] > 0:
                missed = np.sum(h * (middle - (ends[:-1] + ends[1:]) / 2), axis=0)
                worst = max(worst, float(np.max(abs(missed)) / (self.largest[k] * self.span)))
        return worst


def _sampled(port: Port) -> bool:
    """Return whether the input of a port is a function of time that may change."""
    constant = port.signal is None or isinstance(port.signal, Constant)
    return not (constant or port.by_law or port.driven)
