"""The schemes that apply to every system; others need a mechanism or a Lagrangian."""

import poinsot as ps

GENERAL = [
    name
    for name, scheme in ps.SCHEMES.items()
    if scheme.formulation == "ph" and not scheme.stabilised
]
EXACT_FOR_ANY = [s for s in GENERAL if ps.SCHEMES[s].exact_energy == "any"]
#: The schemes of models in unit quaternions.
QUATERNIONS = [name for name, scheme in ps.SCHEMES.items() if scheme.formulation != "ph"]
EXACT_QUATERNIONS = [s for s in QUATERNIONS if ps.SCHEMES[s].exact_energy == "any"]
