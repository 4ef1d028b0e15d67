"""The available schemes."""

from collections.abc import Iterator
from typing import Any

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.gradients import Gonzalez, MeanValue, Midpoint, Partitioned
from poinsot.ph.scheme import Scheme
from poinsot.schemes.compositions import composed


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
    yield Scheme("eml-mean", exact, 2, "any", mean_lever_arms=True, **livens)
    yield Scheme("emh-mean", exact, 2, "any", mean_lever_arms=True, **hamiltonian)


#: What discrete gradients of the energy of a whole system leave of momenta.
_GENERAL: dict[str, Any] = {"exact_momentum": "quadratic"}
_SECOND_ORDER: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("ph-mp", Midpoint(), 2, "quadratic", citations=("LKB26",)),
        Scheme("ph-mp-ggl", Midpoint(), 2, "quadratic", stabilised=True, citations=("LKB26",)),
        Scheme("ph-dg", Gonzalez(), 2, "any", **_GENERAL, citations=("KB24", "G96")),
        Scheme("ph-dg-partitioned", Partitioned(), 2, "any", **_GENERAL, citations=("KB24", "G96")),
        Scheme(
            "ph-avf",
            MeanValue(),
            2,
            "polynomial",
            constant_E=True,
            **_GENERAL,
            citations=("QM08",),
        ),
        *_of_lagrangians(),
    )
}
#: Schemes that steps of higher order are composed of.
_COMPOSED = "ph-mp", "ph-mp-ggl", "emh-mean"
SCHEMES: dict[str, Scheme] = _SECOND_ORDER | {
    scheme.name: scheme
    for scheme in (composed(_SECOND_ORDER[name], order) for name in _COMPOSED for order in (4, 6))
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
