"""The schemes that apply to every system; the stabilised ones need a mechanism."""

import poinsot as ps

GENERAL = [s for s, scheme in ps.SCHEMES.items() if not getattr(scheme, "stabilised", False)]
EXACT_FOR_ANY = [s for s in GENERAL if ps.SCHEMES[s].exact_energy == "any"]
