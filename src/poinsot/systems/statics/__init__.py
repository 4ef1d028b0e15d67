"""Equilibria and steady motions: configurations in which forces are in balance."""
