"""Port-Hamiltonian systems, free of mechanics: make them, join them, prove their structure.

Units SI; u·y is the power put INTO a system.
"""

from poinsot.names import publish

publish(globals(), later=("poinsot.ph.expressions",))  # needs SymPy
