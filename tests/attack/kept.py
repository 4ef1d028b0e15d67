"""Cases that failed once, each with the law that it broke; every run tries them before others."""

from plans import Case

#: A part of the name of a test, and what broke it.
KEPT: tuple[tuple[str, Case], ...] = ()
