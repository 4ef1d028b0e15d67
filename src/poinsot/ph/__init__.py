"""Port-Hamiltonian systems without mechanics: define them, connect them, check their structure.

SI units; u·y is the power supplied to a system.
"""

from poinsot.names import publish

publish(globals(), later=("poinsot.ph.expressions",))  # needs SymPy
