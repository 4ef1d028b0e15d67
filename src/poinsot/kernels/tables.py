"""What kernels read and write: tables of numbers and of places, by name.

Parts of one kind have two tables, `numbers` and `places`, with a row for each; the columns have
names. Bodies are numbered from 0; the ground comes last and never moves, so that kernels need not
ask. It has a node and a tile of its own, which collect what nobody reads.
"""

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.algebra import Array, Mat, Vec, matrix, vector
from poinsot.kernels.kernel import arithmetic

#: Arrays by their number of dimensions.
Real1: TypeAlias = Annotated[NDArray[np.float64], 1]
Real2: TypeAlias = Annotated[NDArray[np.float64], 2]
Real3: TypeAlias = Annotated[NDArray[np.float64], 3]
#: Those whose rows have 4 or 12 columns, which no kernel need ask for.
Rows4: TypeAlias = Annotated[NDArray[np.float64], 2, 4]
Rows12: TypeAlias = Annotated[NDArray[np.float64], 2, 12]
#: Those that kernels write to; and those with rows side by side, see `lanes.in_groups`, the last of
#: numbers of parts, which few kernels change.
Written1: TypeAlias = Annotated[NDArray[np.float64], 1, "written"]
Written2: TypeAlias = Annotated[NDArray[np.float64], 2, "written"]
Lanes2: TypeAlias = Annotated[NDArray[np.float64], 2, "written", "in groups"]
NumberLanes2: TypeAlias = Annotated[NDArray[np.float64], 2, "written", "in groups", "numbers"]
#: Unsigned: no kernel need ask whether an index counts from the end. The last have 3 columns.
Index1: TypeAlias = Annotated[NDArray[np.uint32], 1]
Index2: TypeAlias = Annotated[NDArray[np.uint32], 2]
Triples: TypeAlias = Annotated[NDArray[np.uint32], 2, 3]
#: Addresses of functions, which another process has elsewhere; and signed numbers.
Addresses: TypeAlias = Annotated[NDArray[np.int64], 1, "addresses"]
Signed1: TypeAlias = Annotated[NDArray[np.int64], 1, "written"]

# -- columns -----------------------------------------------------------------------------------

#: Of a state, q and its rate: position, directors and their velocities. In the plain form RATES are
#: only what these have besides w x d; then come w, that of the last step, and what rounding took
#: from the position; 30 columns.
POSITION, DIRECTORS, VELOCITY, RATES, SPUN, ROUNDED = 0, 3, 12, 15, 24, 27
#: Of a stage: position and directors at the midpoint as above, a = h w / 2; then the unknowns:
#: velocity v and angular velocity w of the motion over the step, (q1 - q0) / h; then, in the plain
#: form, what they have more than v at its start and w of the last step; in the stabilised form,
#: velocity and angular velocity at its end. 27 columns.
HALF, V, W, V1, W1 = 12, 15, 18, 21, 24
DV, DW = V1, W1

#: Of a state in quaternions, after the velocity: the quaternion, scalar first; what its velocity
#: and its momentum have along it and across, seen from the body: q·q', Omega, q·p, Pi; 27 columns.
QUAT, SLIP, SPIN, SHARE, MOMENTUM = 15, 19, 20, 23, 24
#: Of a stage in quaternions, after v and w: further unknowns, and the directors of the mean
#: quaternion, on which forces have their lever arms; 39 columns.
AUXILIARY, ARMS = 21, 30

#: Of bodies: 2 m, 2 E_i, gradient of the potential of gravity.
MASS2, EULER2, WEIGHT = 0, 1, 4
#: The nodes of translation and rotation (of momentum), and their diagonal tiles; if the body is
#: condensed; the director without mass, or 3; its first node, and its first coordinate in x. The
#: translation of a condensed body meets nothing but points of joints: it is eliminated beforehand,
#: and T is no node of the matrix. One that does not turn has the rotation of the ground.
T, R, TT, RR, CONDENSED, FLAT, BODY_NODES, COORDINATES = range(8)
#: In the stabilised form, besides: the nodes of kinematics, and tiles (KT, KT), (KT, T), (T, T),
#: (KR, KR), (KR, R), (R, R); TT and RR are (T, KT) and (R, KR).
KT, KR, KT_KT, KT_T, T_T, KR_KR, KR_R, R_R = range(8, 16)

#: Of parts of several kinds, and of bodies A and B: which.
KIND, A, B = range(3)


class Part(NamedTuple):
    """Parts of one kind: numbers and places, a row each."""

    numbers: Real2
    places: Index2


class Acts(NamedTuple):
    """Parts that act by numbers, or by the law at an address (0: none)."""

    numbers: Real2
    places: Index2
    laws: Addresses


#: Forms of the equations of rotation in quaternions, and how many nodes a body has besides.
HAMILTON, LIVENS = 0, 1
SHORTEST, REDUCED, FULL = 0, 1, 3


class Spins(NamedTuple):
    """Bodies in quaternions: principal moments of `inertia` (bodies, 3) [kg m^2].

    `form` of the equations, `mean` lever arms or those of the mean quaternion, and `places` of
    auxiliary nodes: these and their tiles, see `bodies.livens_unknowns`.
    """

    inertia: Real2
    places: Index2
    form: int
    mean: bool


class Repeated(NamedTuple):
    """Equations of which some repeat others, see `engine.redundant`.

    `places` (k, 2) are their nodes and the tiles of these; `out` (nodes, 3) is 1 for equations that
    are left out; `sizes` (nodes, 3) are those of their terms, 0 where they need not be looked at,
    and `most` (nodes, 3) how large gaps may become, in multiples `slack` (1,); 1: what is left out
    is watched in other ways, too.
    """

    places: Index2
    out: Real2
    sizes: Real2
    most: Real2
    slack: Real1


#: Sizes of terms, and the power that dampers take; sizes of what cancels inside of forces and
#: torques, and what energy that is over the step; sizes of the terms of bodies and constraints,
#: noted with the matrix and kept until the next one, in the order of those of all.
OF_TRANSLATION, OF_ROTATION, OF_CLOSURE, OF_POSITION, LOST_POWER = range(5)
INSIDE_TRANSLATION, INSIDE_ROTATION, INSIDE_ENERGY = range(5, 8)
LASTING = 8

# -- the motion of a body ----------------------------------------------------------------------


@arithmetic
def frame(motion: Array, b: int) -> tuple[Vec, Mat]:
    """Return position and directors, at the start of a step (of a state) or at its midpoint."""
    return vector(motion, b, POSITION), matrix(motion, b, DIRECTORS)


@arithmetic
def rates(state: Array, b: int) -> tuple[Vec, Mat]:
    """Return the velocities of position and directors at the start of a step."""
    return vector(state, b, VELOCITY), matrix(state, b, RATES)


@arithmetic
def twist(stage: Array, b: int) -> tuple[Vec, Vec]:
    """Return v and w of the motion over a step."""
    return vector(stage, b, V), vector(stage, b, W)


@arithmetic
def twist_at_end(stage: Array, b: int) -> tuple[Vec, Vec]:
    """Return velocity and angular velocity at the end of a step, in the stabilised form."""
    return vector(stage, b, V1), vector(stage, b, W1)


@arithmetic
def half_turn(stage: Array, b: int) -> Vec:
    """Return a = h w / 2."""
    return vector(stage, b, HALF)
