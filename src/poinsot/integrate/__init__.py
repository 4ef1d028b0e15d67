"""Time integration: schemes as data, Newton's method, the time loop."""

from poinsot.integrate.newton import Newton
from poinsot.integrate.schemes import SCHEMES, Scheme
from poinsot.integrate.simulate import simulate

__all__ = ["SCHEMES", "Newton", "Scheme", "simulate"]
