"""Cases that failed once, each with what it showed; every run of the suite tries them first."""

from plans import Case

KEPT: list[Case] = []
