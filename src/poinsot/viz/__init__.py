"""Plots, pictures, 3D pages, live views and reports of results."""

from poinsot.names import publish

publish(globals())
