"""Schemes by name, and the solver of their stage equations."""

from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.schemes.records import SCHEMES, find_scheme

__all__ = ["SCHEMES", "Newton", "Scheme", "find_scheme"]
