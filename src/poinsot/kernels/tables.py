"""What kernels read and write: tables of numbers and of places, by name.

Parts of one kind have two tables, `numbers` and `places`, with a row for each; the columns have
names. Bodies are numbered from 0; the ground comes last and never moves, so that kernels need not
ask. It has a node and a tile of its own, which collect what nobody reads.
"""

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Arrays by their number of dimensions.
Real1: TypeAlias = Annotated[NDArray[np.float64], 1]
Real2: TypeAlias = Annotated[NDArray[np.float64], 2]
Real3: TypeAlias = Annotated[NDArray[np.float64], 3]
#: Unsigned: no kernel need ask whether an index counts from the end.
Index1: TypeAlias = Annotated[NDArray[np.uint32], 1]
Index2: TypeAlias = Annotated[NDArray[np.uint32], 2]
#: Addresses of functions.
Addresses: TypeAlias = Annotated[NDArray[np.int64], 1]

# -- columns -----------------------------------------------------------------------------------

#: Of a state, q and its rate: position, directors and their velocities; 24 columns.
POSITION, DIRECTORS, VELOCITY, RATES = 0, 3, 12, 15
#: Of a stage: position and directors at the midpoint as above, a = h w / 2; then the unknowns:
#: velocity v and angular velocity w of the motion over the step, (q1 - q0) / h; in the stabilised
#: form also velocity and angular velocity at its end. 21 or 27 columns.
HALF, V, W, V1, W1 = 12, 15, 18, 21, 24

#: Of a state in quaternions, after the velocity: the quaternion, scalar first; what its velocity
#: and its momentum have along it and across, seen from the body: q·q', Omega, q·p, Pi; 27 columns.
QUAT, SLIP, SPIN, SHARE, MOMENTUM = 15, 19, 20, 23, 24
#: Of a stage in quaternions, after v and w: further unknowns, and the directors of the mean
#: quaternion, on which forces have their lever arms; 39 columns.
AUXILIARY, ARMS = 21, 30

#: Of bodies: 2 m, 2 E_i, gradient of the potential of gravity.
MASS2, EULER2, WEIGHT = 0, 1, 4
#: The nodes of translation and rotation (of momentum), and their diagonal tiles; if the body is
#: condensed; the director without mass, or 3. The translation of a condensed body meets nothing but
#: points of joints: it is eliminated beforehand, and T is no node of the matrix.
T, R, TT, RR, CONDENSED, FLAT = range(6)
#: In the stabilised form, besides: the nodes of kinematics, and tiles (KT, KT), (KT, T), (T, T),
#: (KR, KR), (KR, R), (R, R); TT and RR are (T, KT) and (R, KR).
KT, KR, KT_KT, KT_T, T_T, KR_KR, KR_R, R_R = range(6, 14)

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


#: Sizes of terms, and the power that dampers take.
OF_TRANSLATION, OF_ROTATION, OF_CLOSURE, OF_POSITION, LOST_POWER = range(5)
