"""Schemes are data: a scheme names its ingredients and declares what it promises."""

from __future__ import annotations

from dataclasses import dataclass, field

from poinsot.ph.gradients import DiscreteGradient, Rule


@dataclass(frozen=True)
class Scheme:
    """A one-step method, by its ingredients and by what it promises.

    Of a port-Hamiltonian system E(x_m)(x1 - x0) = h ((J - R) z - r + B u), all at the midpoint x_m;
    of a Lagrangian in Livens' or Hamilton's form see [KB24]. The ingredients declare the stage
    equations that it needs; a system forms them, or says that it cannot.

    Parameters
    ----------
    name : str
        What `simulate(scheme=...)` takes.
    gradient : DiscreteGradient
        How discrete derivatives are made.
    order : int
        Order of convergence, proven by test.
    exact_energy : str
        The energies for which H1 - H0 = h (u·y - z·(R z + r)) holds exactly:
        `"quadratic"`, `"polynomial"` or `"any"`.
    constant_E : bool
        Whether the scheme needs a constant E.
    stabilised : bool
        Whether it keeps velocity constraints too, by the GGL form of a mechanism; only for models.
    formulation : {"ph", "livens", "hamiltonian"}
        The form of the equations: of a model in directors, or in quaternions.
    condensation : {"full", "reduced", "null-space"}
        How many unknowns Newton's method sees; the trajectory is the same.
    mean_lever_arms : bool
        Whether lever arms are those of the mean rotation of a step; only for models.
    exact_momentum : {"any", "quadratic", "free", "none"}
        Whether momenta stay exact: those of jointed bodies; the same without springs and other
        forces, as long as the energy is quadratic; those of free bodies only.
    substeps : tuple of float
        What a step is composed of: fractions of h, one after the other, that add up to one.
        Negative ones go back in time, without which no composition is of an order above two.
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
        """How derivatives of energies and constraints are taken over a step."""
        return Rule.MEAN_LEVER_ARMS if self.mean_lever_arms else self.gradient.rule
