r"""Energy shaping: the input that gives a system the dynamics of another one.

Interconnection and damping assignment (IDA-PBC) [O02] finds the input u(x) by which

.. math:: E \dot x = (J - R) z - r + B u \quad\text{becomes}\quad
          E_d \dot x = (J_d - R_d) z_d - r_d, \qquad E_d^\top z_d = \nabla H_d .

Along this motion :math:`\dot H_d = -z_d \cdot (R_d z_d + r_d) \le 0`: H_d never increases. If the
ports cannot make up for the difference, the desired system does not match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.system import PHSystem


@dataclass(frozen=True, eq=False)
class EnergyShaping:
    """The input that gives a system the dynamics of a desired one; result of `energy_shaping`.

    Attributes
    ----------
    system, desired : PHSystem
        The controlled system and the desired one, with states of the same names and sizes.
    ports : tuple of str
        Actuated ports of the system; the others stay open.
    """

    system: PHSystem
    desired: PHSystem
    ports: tuple[str, ...]

    def _columns(self, x: Vector) -> Array:
        """Return B of the ports that act; (n, m)."""
        B = dense(self.system.B(x))
        return np.hstack([B[:, self.system.port_slices[name]] for name in self.ports])

    def _missing(self, x: Vector) -> tuple[Vector, Vector]:
        """Return what B u has to be, and the sizes of its terms; (n,) each."""
        system, desired = self.system, self.desired
        flow = desired.flow(x, desired.z(x), np.zeros(dense(desired.B(x)).shape[1]))
        wanted = dense(system.E(x)) @ np.linalg.solve(dense(desired.E(x)), flow)
        own = system.flow(x, system.z(x), np.zeros(dense(system.B(x)).shape[1]))
        return wanted - own, abs(wanted) + abs(own)

    def control(self, x: ArrayLike) -> Vector:
        """Return u(x) = B^+ (E E_d^-1 (J_d - R_d) z_d - (J - R) z), for all ports in order."""
        x = self.system.state(x)
        return np.asarray(np.linalg.lstsq(self._columns(x), self._missing(x)[0], rcond=None)[0])

    def defect(self, x: ArrayLike) -> float:
        """Return the remainder that no input can make up for, relative: 0 if both systems match."""
        x = self.system.state(x)
        missing, terms = self._missing(x)
        left = missing - self._columns(x) @ self.control(x)
        largest = float(np.max(terms, initial=0.0))
        return float(np.max(abs(left), initial=0.0)) / largest if largest else 0.0

    def output(self, x: ArrayLike) -> Vector:
        """Return y_d = B^T E^-T grad H_d; with u - k y_d for u, H_d decreases by k y_d·y_d."""
        x = self.system.state(x)
        gradient = dense(self.desired.E(x)).T @ self.desired.z(x)
        return np.asarray(self._columns(x).T @ np.linalg.solve(dense(self.system.E(x)).T, gradient))


def energy_shaping(
    system: PHSystem, desired: PHSystem, *, ports: Sequence[str] | None = None
) -> EnergyShaping:
    """Return the input that gives a system the dynamics of a desired one (IDA-PBC) [O02].

    Parameters
    ----------
    system : PHSystem
        The controlled system, without algebraic states, such as `ph.symbolic(...)`.
    desired : PHSystem
        The desired system: the same states, with J_d, R_d and H_d of choice, without ports.
    ports : sequence of str
        Actuated ports of the system. Default: all.
    """
    what = f"energy shaping of system '{system.name}'"
    names = tuple(system.port_slices) if ports is None else tuple(ports)
    for name in names:
        if name not in system.port_slices:
            raise InputError(f"{what}: no port '{name}'; {did_you_mean(name, system.port_slices)}")
    if not names:
        raise InputError(f"{what}: it has no ports; energy shaping needs at least one")
    own, wanted = ([(s.name, s.size) for s in each.states] for each in (system, desired))
    if own != wanted:
        raise InputError(
            f"{what}: its states are {own}, those of the desired system {wanted}; give both the "
            "same names and sizes, in the same order"
        )
    for each in (system, desired):
        if np.any(each.algebraic):
            raise InputError(
                f"{what}: system '{each.name}' has states without a derivative; use independent "
                "coordinates"
            )
    return EnergyShaping(system, desired, names)
