"""Mechanisms in the compiled engine; importing the modules of this package imports Numba."""
