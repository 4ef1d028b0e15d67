"""How far from exact a run may be: multiples of round-off, stated here and nowhere else.

A number of size s is known to eps·s, and so is what is computed of it. Every error is divided by
that of its own terms (`checks.Measured`): gaps by the size of the mechanism or, for angles, by
one; energies by all energies there are and all that went through ports; momenta by the largest of
a body, and by impulses; velocities also by size/h, since positions over a step give them. So a
bound holds in any units.

The multiples come from what adds up over `STEPS` steps with up to ten bodies. A step is solved
until its residuals are round-off, each summed of some ten terms, and Newton's last correction
passes the condition of the equations on: ten to a hundred for these mechanisms, and no more than
their mass ratio for those that are heavy and light at once.
"""

#: Steps of every run, and of those that last; errors of the latter may grow in proportion.
STEPS, MANY = 6, 1000

MULTIPLES = {
    # Not a number at all.
    "finite": 0,
    # Of input functions at midpoints: the same number.
    "input": 4,
    # What is lost is a sum of squares, or of products of a force and its own rate.
    "dissipation": 4,
    # Position constraints are solved for, and do not add up.
    "distance": 200,
    "angle": 200,
    "slip": 1000,
    # Velocity constraints, where they are kept as well.
    "speed": 1000,
    "spin": 1000,
    # Rotations: columns of director coordinates are multiplied on from step to step.
    "rigidity": 500,
    # Positions from velocities: one sum.
    "velocity": 20,
    # As reported and as recomputed: the same terms in another order.
    "energy": 1000,
    "work": 100,
    "reaction": 100,
    # The promises.
    "balance": 4000,
    "linear momentum": 4000,
    "angular momentum": 4000,
    # Two ways to the same motion, whose errors the motion itself multiplies.
    "engines": 10**6,
    "coordinates": 10**6,
    "units": 10**6,
}

#: Two schemes of second order, whose errors are 4/3 of what halving the step changes, differ by
#: no more than this multiple of these changes, and by round-off, relative to the mechanism.
SECOND_ORDER = 4
COARSE = 1e-9


#: A run that is off by more than this multiple of the bounds says so itself.
UNTOLD = 10


def beyond(measured, slack=1):
    """Return what is out of bounds, or out of some multiple of them, in words."""
    # Written so that an error that is not a number is out of bounds.
    return [str(m) for m in measured if not m.multiple <= slack * MULTIPLES[m.what]]
