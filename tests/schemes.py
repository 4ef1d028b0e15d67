"""The schemes that apply to every system; others need a mechanism or a Lagrangian."""

import poinsot as ps

#: Steps of these are composed of substeps, some of which go back in time.
COMPOSED = [name for name, scheme in ps.SCHEMES.items() if len(scheme.substeps) > 1]
SIMPLE = [name for name in ps.SCHEMES if name not in COMPOSED]
GENERAL = [
    name
    for name in SIMPLE
    if ps.SCHEMES[name].formulation == "ph" and not ps.SCHEMES[name].stabilised
]
EXACT_FOR_ANY = [s for s in GENERAL if ps.SCHEMES[s].exact_energy == "any"]
#: The schemes of models in unit quaternions.
QUATERNIONS = [name for name in SIMPLE if ps.SCHEMES[name].formulation != "ph"]
EXACT_QUATERNIONS = [s for s in QUATERNIONS if ps.SCHEMES[s].exact_energy == "any"]
#: Coordinates and schemes that keep the motion of drives.
DRIVEN = [
    ("directors", "ph-mp"),
    ("rotations", "ph-mp"),
    ("rotations-quaternion", "ph-mp"),
    ("quaternions", "emh-mean"),
    ("quaternions", "emh"),
    ("quaternions", "eml"),
    ("quaternions", "null-eml"),
]
