"""Mechanisms with elastic bodies in floating frames [BAPM21]."""
