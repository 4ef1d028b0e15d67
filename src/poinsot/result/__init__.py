"""Results of simulations, their records and files."""

from poinsot.names import publish

publish(globals())
