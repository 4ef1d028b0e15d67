"""Schemes are data: a scheme names its ingredients and declares what it promises."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.gradients import DiscreteGradient, Gonzalez, MeanValue, Midpoint, Partitioned


@dataclass(frozen=True)
class Scheme:
    """A one-step method, by its ingredients and by what it promises.

    Of a port-Hamiltonian system E(x_m)(x1 - x0) = h ((J - R) z - r + B u), all at the midpoint x_m;
    of a Lagrangian in Livens' or Hamilton's form see [KB24].

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
    mean_levers : bool
        Whether lever arms are those of the mean rotation of a step; only for models.
    exact_momentum : {"any", "free", "none"}
        Whether the angular momentum of jointed bodies stays exact, or only that of free ones.
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
    mean_levers: bool = False
    exact_momentum: str = "any"
    citations: tuple[str, ...] = field(default=())


def _of_lagrangians() -> Iterator[Scheme]:
    """Yield the schemes of [KB24], and those that keep the momentum of jointed bodies."""
    livens: dict[str, Any] = {"formulation": "livens", "citations": ("KB24", "G96")}
    hamiltonian = {**livens, "formulation": "hamiltonian", "citations": ("KB24", "BS09")}
    exact, midpoint = Partitioned(), Midpoint()
    free: dict[str, Any] = {"exact_momentum": "free"}
    yield Scheme("eml", exact, 2, "any", **livens, **free)
    yield Scheme("reml", exact, 2, "any", condensation="reduced", **livens, **free)
    yield Scheme("null-eml", exact, 2, "any", condensation="null-space", **livens, **free)
    yield Scheme("emh", exact, 2, "any", **hamiltonian, **free)
    yield Scheme("mpl", midpoint, 2, "quadratic", **livens, **free)
    yield Scheme("mph", midpoint, 2, "quadratic", exact_momentum="none", **hamiltonian)
    yield Scheme("eml-mean", exact, 2, "any", mean_levers=True, **livens)
    yield Scheme("emh-mean", exact, 2, "any", mean_levers=True, **hamiltonian)


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("ph-mp", Midpoint(), 2, "quadratic", citations=("LKB26",)),
        Scheme("ph-mp-ggl", Midpoint(), 2, "quadratic", stabilised=True, citations=("LKB26",)),
        Scheme("ph-dg", Gonzalez(), 2, "any", citations=("KB24", "G96")),
        Scheme("ph-dg-partitioned", Partitioned(), 2, "any", citations=("KB24", "G96")),
        Scheme("ph-avf", MeanValue(), 2, "polynomial", constant_E=True, citations=("QM08",)),
        *_of_lagrangians(),
    )
}


def find_scheme(scheme: str | Scheme) -> Scheme:
    """Return the scheme of that name."""
    if isinstance(scheme, Scheme):
        return scheme
    if not isinstance(scheme, str):
        raise InputError(f"scheme: expected a name or a Scheme, got {scheme!r}")
    if scheme not in SCHEMES:
        raise InputError(f"no scheme '{scheme}'; {did_you_mean(scheme, SCHEMES)}")
    return SCHEMES[scheme]
