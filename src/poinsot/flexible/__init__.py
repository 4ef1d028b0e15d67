"""Elastic bodies by finite elements as port-Hamiltonian systems, with scikit-fem."""

from poinsot.names import publish

publish(globals(), later=("poinsot",))  # finite elements are loaded where they are used
