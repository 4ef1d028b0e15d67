"""Equilibria of models and systems."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.model import Model
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.systems.livens import LagrangianSystem
from poinsot.systems.statics.equilibrium import Equilibrium, find_equilibrium

__all__ = ["Equilibrium", "as_system", "equilibrium"]


def as_system(model: Model | LagrangianSystem | PHSystem, coordinates: str | None) -> PHSystem:
    """Return the system of a model, a Lagrangian as x = (q, v, lam), or a system as it is."""
    if isinstance(model, Model):
        return model.compile(coordinates)
    if coordinates is not None:
        raise InputError(
            f"coordinates: '{model.name}' has its own coordinates; leave the argument out, or give "
            "a Model"
        )
    if isinstance(model, LagrangianSystem):
        return model.port_hamiltonian()
    if not isinstance(model, PHSystem):
        raise InputError(f"expected a Model, a LagrangianSystem or a PHSystem, got {model!r}")
    return model


def equilibrium(
    model: Model | LagrangianSystem | PHSystem,
    *,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    t: float = 0.0,
    stable: bool = True,
) -> Equilibrium:
    """Return an equilibrium of a model or system.

    Mechanisms, Lagrangians and redundant systems descend their potential energy on the
    configurations that constraints allow. Other systems, such as circuits and interconnections,
    settle by implicit steps that dissipate energy.

    Parameters
    ----------
    model : Model, LagrangianSystem or PHSystem
        The system; a Lagrangian is taken in the form x = (q, v, lam).
    coordinates : str
        Coordinates of a model, see `Model.compile`.
    x0 : array or mapping
        Initial guess. Default: the start of the system.
    inputs : mapping
        Port name -> constant, or function that is evaluated at time t. Ports without an input have
        u = 0.
    t : float
        Time at which inputs and laws are evaluated [s].
    stable : bool
        True: find a stable equilibrium. False: return the stationary point that Newton's method
        finds, stable or not.

    Raises
    ------
    NoEquilibriumError
        If none is found. It has the remaining force and names what it accelerates.
    """
    system = as_system(model, coordinates)
    return find_equilibrium(system, x0=x0, inputs=inputs, t=t, stable=stable)
