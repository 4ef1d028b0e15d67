"""Schemes by name, and the one solver of the stage equations that they declare."""

from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.schemes.records import SCHEMES, find_scheme

__all__ = ["SCHEMES", "Newton", "Scheme", "find_scheme"]
