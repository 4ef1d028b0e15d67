"""Constrained Lagrangians with additional velocity constraints, by the GGL principle."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.matrices import Array, Matrix, Vector, dense
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import StageEquations
from poinsot.systems.livens import masses
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.systems import VelocitySystem
from poinsot.systems.stabilised import StabilisedForm, StabilisedStages


@dataclass(frozen=True, eq=False)
class StabilisedVelocitySystem(StabilisedForm, VelocitySystem):
    """The form (q, v, lambda, gamma) of a Lagrangian [LKB26, eq. (61)]."""

    default_scheme = "ph-mp-ggl"

    @property
    def mechanics(self) -> GeneralLagrangian:
        """The Lagrangian."""
        return self.lagrangian

    @cached_property
    def mass(self) -> Matrix:
        """M, constant."""
        return self.lagrangian.M(np.zeros(self.lagrangian.n))

    @cached_property
    def inverse_mass(self) -> Array:
        """M^-1."""
        own = self.lagrangian
        return masses.require_inverse(self.name, own.coordinates, dense(self.mass))

    def by_mass(self, A: Any) -> Any:
        """Return M^-1 A."""
        return self.inverse_mass @ dense(A)

    @property
    def operations(self) -> None:
        """None: its steps are its own."""
        return

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return those of the scheme with velocity constraints; for all others the general ones."""
        return StabilisedStages(scheme, t, x0, u, h, self) if scheme.stabilised else None

    def exact_under(self, scheme: Scheme) -> bool:
        """Whether energy is exact: gradients of potentials are discrete, whatever these are."""
        exact = all(part.exact for part in self.lagrangian.potentials)
        return exact if scheme.stabilised else super().exact_under(scheme)


def require_stabilisable(name: str, own: GeneralLagrangian) -> None:
    """Refuse a Lagrangian that the equations with velocity constraints are not those of."""
    reason = ""
    if not own.mass.constant:
        reason = "M depends on q, and these equations need a constant one"
    elif own.a is not None:
        reason = "it has terms a(q)·v, which these equations do not support"
    elif not own.constraints.is_quadratic:
        rows = np.flatnonzero(~own.constraints.quadratic)
        reason = (
            f"'{own.names()[int(rows[0])]}' is not known to be quadratic in q, which is necessary "
            "for an exact energy balance; give it as an expression"
        )
    if reason:
        raise InputError(
            f"system '{name}': velocity constraints cannot be added [LKB26, eq. (61)]: "
            f"{reason}; use 'ph-dg' or 'eml'"
        )
    masses.require_inverse(name, own.coordinates, own.M(np.zeros(own.n)))
