"""Rules of integration that both engines share."""

from math import sqrt

from numpy.polynomial import Legendre

EPS = 2.220446049250313e-16
#: Multiple of the size of terms within which two of their sums are the same.
ROUND_OFF = 16 * EPS
#: Increments below this, relative to the scale, have slopes by other means than their quotient.
SMALL = sqrt(EPS)

#: Places of Gauss' rule with three points on [0, 1].
FIRST, MIDDLE, LAST = 0.5 - sqrt(0.15), 0.5, 0.5 + sqrt(0.15)

#: Lobatto's rule with ten points on [0, 1]. It has both ends: a corner near one is not missed.
_ENDS_AND_BETWEEN = [-1.0, *Legendre.basis(9).deriv().roots().real.tolist(), 1.0]
POINTS = tuple(0.5 + 0.5 * x for x in _ENDS_AND_BETWEEN)
WEIGHTS = tuple(float(1 / (90 * Legendre.basis(9)(x) ** 2)) for x in _ENDS_AND_BETWEEN)

#: An interval is halved until its halves agree with the whole to this, but not more often.
AGREED, HALVINGS = 1e-13, 500
