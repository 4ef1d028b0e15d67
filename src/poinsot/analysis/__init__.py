"""Linear analysis of systems: linearisation, modes, frequency response, minimal forms.

Systems in, systems out: names of states and ports are kept.
"""

from poinsot.names import publish

publish(globals(), later=("poinsot",))  # SciPy's solvers are loaded where they are used
