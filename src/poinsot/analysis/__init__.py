"""Equilibria, steady and periodic motions of models and systems."""

from poinsot.names import publish

publish(globals(), later=("poinsot",))
