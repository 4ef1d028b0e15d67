"""Equilibria, steady and periodic motions, linearisation, modes, responses, reduction, gradients.

All functions take models or systems; linear systems keep the names of states and ports.
"""

from poinsot.names import publish

publish(globals(), later=("poinsot",))  # SciPy's solvers are loaded where they are used
