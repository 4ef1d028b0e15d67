"""Citations of schemes, by the keys of the bibliography."""

#: Scheme -> keys.
CITATIONS = {
    "ph-mp": ("LKB26",),
    "ph-mp-ggl": ("LKB26",),
    "ph-dg": ("KB24", "G96"),
    "ph-dg-partitioned": ("KB24", "G96"),
    "ph-avf": ("QM08",),
    "eml": ("KB24", "G96"),
    "reml": ("KB24", "G96"),
    "null-eml": ("KB24", "G96"),
    "emh": ("KB24", "BS09"),
    "mpl": ("KB24", "G96"),
    "mph": ("KB24", "BS09"),
    "eml-mean": ("KB24", "G96"),
    "emh-mean": ("KB24", "BS09"),
    "ph-mp-4": ("LKB26", "S90", "HLW06"),
    "ph-mp-6": ("LKB26", "SS05", "HLW06"),
    "ph-mp-ggl-4": ("LKB26", "S90", "HLW06"),
    "ph-mp-ggl-6": ("LKB26", "SS05", "HLW06"),
    "emh-mean-4": ("KB24", "BS09", "S90", "HLW06"),
    "emh-mean-6": ("KB24", "BS09", "SS05", "HLW06"),
}

#: Key -> reference and address.
REFERENCES = {
    "LKB26": (
        "L. Latussek, P. L. Kinon, P. Betsch. Port-Hamiltonian multibody dynamics: Lagrangian "
        "formulation, consistent interconnection, structure-preserving simulation and "
        "index-reduction. Preprint, 2026.",
        "https://arxiv.org/abs/2603.12841",
    ),
    "KB24": (
        "P. L. Kinon, P. Betsch. Conserving integration of multibody systems with singular and "
        "non-constant mass matrix including quaternion-based rigid body dynamics. Multibody "
        "System Dynamics 63(1), 303–340, 2024.",
        "https://doi.org/10.1007/s11044-024-10001-9",
    ),
    "G96": (
        "O. Gonzalez. Time integration and discrete Hamiltonian systems. Journal of Nonlinear "
        "Science 6, 449–467, 1996.",
        "https://doi.org/10.1007/BF02440162",
    ),
    "BS09": (
        "P. Betsch, R. Siebert. Rigid body dynamics in terms of quaternions: Hamiltonian "
        "formulation and conserving numerical integration. International Journal for Numerical "
        "Methods in Engineering 79(4), 444–473, 2009.",
        "https://doi.org/10.1002/nme.2586",
    ),
    "QM08": (
        "G. R. W. Quispel, D. I. McLaren. A new class of energy-preserving numerical integration "
        "methods. Journal of Physics A 41(4), 045206, 2008.",
        "https://doi.org/10.1088/1751-8113/41/4/045206",
    ),
    "S90": (
        "M. Suzuki. Fractal decomposition of exponential operators with applications to many-body "
        "theories and Monte Carlo simulations. Physics Letters A 146(6), 319–323, 1990.",
        "https://doi.org/10.1016/0375-9601(90)90962-N",
    ),
    "SS05": (
        "M. Sofroniou, G. Spaletta. Derivation of symmetric composition constants for symmetric "
        "integrators. Optimization Methods and Software 20(4–5), 597–613, 2005.",
        "https://doi.org/10.1080/10556780500140664",
    ),
    "HLW06": (
        "E. Hairer, C. Lubich, G. Wanner. Geometric Numerical Integration: Structure-Preserving "
        "Algorithms for Ordinary Differential Equations. Second edition, Springer, 2006.",
        "https://doi.org/10.1007/3-540-30666-8",
    ),
}


def citations(scheme: str) -> list[tuple[str, str, str]]:
    """Return key, reference and address of what to cite for a scheme."""
    return [(key, *REFERENCES[key]) for key in CITATIONS.get(scheme, ())]
