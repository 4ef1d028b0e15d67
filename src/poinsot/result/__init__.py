"""The result of a simulation. It never calls back."""

from poinsot.names import publish

publish(globals())
