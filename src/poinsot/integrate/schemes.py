"""Schemes are data: a scheme names its ingredients and declares what it promises."""

from dataclasses import dataclass, field

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.gradients import DiscreteGradient, Gonzalez, MeanValue, Midpoint, Partitioned


@dataclass(frozen=True)
class Scheme:
    """A one-step method E(x_m)(x1 - x0) = h ((J - R) z - r + B u), all at the midpoint x_m.

    Parameters
    ----------
    name : str
        What `simulate(scheme=...)` takes.
    gradient : DiscreteGradient
        How the discrete costate z is made; the only thing in which these schemes differ.
    order : int
        Order of convergence, proven by test.
    exact_energy : str
        The energies for which H1 - H0 = h (u·y - z·(R z + r)) holds exactly:
        `"quadratic"`, `"polynomial"` or `"any"`.
    constant_E : bool
        Whether the scheme needs a constant E.
    stabilised : bool
        Whether it keeps velocity constraints too, by the GGL form of a mechanism; only for models.
    citations : tuple of str
        Keys of the bibliography.
    """

    name: str
    gradient: DiscreteGradient
    order: int
    exact_energy: str
    constant_E: bool = False
    stabilised: bool = False
    citations: tuple[str, ...] = field(default=())


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("ph-mp", Midpoint(), 2, "quadratic", citations=("LKB26",)),
        Scheme("ph-mp-ggl", Midpoint(), 2, "quadratic", stabilised=True, citations=("LKB26",)),
        Scheme("ph-dg", Gonzalez(), 2, "any", citations=("KB24", "G96")),
        Scheme("ph-dg-partitioned", Partitioned(), 2, "any", citations=("KB24", "G96")),
        Scheme("ph-avf", MeanValue(), 2, "polynomial", constant_E=True, citations=("QM08",)),
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
