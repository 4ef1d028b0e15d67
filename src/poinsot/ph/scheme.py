"""Schemes are data: each names its ingredients and declares its properties."""

from __future__ import annotations

from dataclasses import dataclass, field

from poinsot.ph.gradients import DiscreteGradient, Rule


@dataclass(frozen=True)
class Scheme:
    """A one-step time integration scheme, described by its ingredients and properties.

    For a port-Hamiltonian system, a step is E(x_m)(x1 - x0) = h ((J - R) z - r + B u) at the
    midpoint x_m; for a Lagrangian in Livens' or Hamilton's form see [KB24]. The ingredients declare
    the stage equations that a scheme needs; a system forms them, or raises an error if it cannot.

    Attributes
    ----------
    name : str
        Name for `simulate(scheme=...)`.
    gradient : DiscreteGradient
        Discrete gradient.
    order : int
        Order of convergence.
    exact_energy : {"quadratic", "polynomial", "any"}
        Energies for which H1 - H0 = h (u·y - z·(R z + r)) holds exactly.
    constant_E : bool
        Whether the scheme needs a constant E.
    stabilised : bool
        Whether velocity constraints hold too, by the GGL form of a mechanism; models only.
    formulation : {"ph", "livens", "hamiltonian"}
        Form of the equations: of a model in directors ("ph"), or in quaternions.
    condensation : {"full", "reduced", "null-space"}
        Unknowns of Newton's method; the trajectory is the same.
    mean_lever_arms : bool
        Whether lever arms are those of the mean rotation over a step; models only.
    exact_momentum : {"any", "quadratic", "free", "none"}
        Which momenta are conserved exactly: those of all mechanisms ("any"), those of mechanisms
        with a quadratic energy ("quadratic"), those of free bodies only ("free"), or none.
    substeps : tuple of float
        Substeps as fractions of h, which add up to one. Negative ones go back in time; compositions
        of an order above two need them.
    citations : tuple of str
        Keys of the bibliography.
    """

    name: str
    gradient: DiscreteGradient
    order: int
    exact_energy: str
    constant_E: bool = False
    stabilised: bool = False
    formulation: str = "ph"
    condensation: str = "full"
    mean_lever_arms: bool = False
    exact_momentum: str = "any"
    substeps: tuple[float, ...] = (1.0,)
    citations: tuple[str, ...] = field(default=())

    @property
    def rule(self) -> Rule:
        """Discrete derivatives of energies and constraints over a step."""
        return Rule.MEAN_LEVER_ARMS if self.mean_lever_arms else self.gradient.rule
