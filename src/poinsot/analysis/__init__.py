"""What systems do near rest, in steady and in periodic motion, and how they answer to inputs.

Systems in, systems out: names of states and ports are kept.
"""

from poinsot.names import publish

publish(globals(), later=("poinsot",))  # SciPy's solvers are loaded where they are used
