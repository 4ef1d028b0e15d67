"""Export of models as FMUs for co-simulation, FMI 3.0 and 2.0."""

from poinsot.names import publish

publish(globals(), later=("poinsot",))  # a run needs none of it
