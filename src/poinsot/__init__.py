"""Poinsot: port-Hamiltonian multibody dynamics with exact balances.

SI units, radians, right-handed frames, scalar-first quaternions, world axes.
"""

from poinsot.names import publish

__version__ = "0.2.0"
__all__ = ["__version__"]

publish(globals(), later=("poinsot",))  # a program needs a few of them
