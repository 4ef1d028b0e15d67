"""The table that kernels have of Maxwell elements."""

from typing import NamedTuple

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.lanes import ABREAST, Lane, beside, put_beside
from poinsot.kernels.tables import Index2, Lanes2, NumberLanes2
from poinsot.parts.connection_forces import STIFFNESS
from poinsot.parts.reading_connections import Connected

#: Columns of numbers, in groups: S by blocks, the relaxation time.
SPRING, TIME = 0, 27
#: Columns of memory, in groups: the step that the connection was softened for, chi at the start and
#: at the end of a step. On the way back, besides: the strain that a step begins with, chi where it
#: is taken from, gradients by the strain at its end and by the mean strain.
STEP, BEFORE, AFTER, BEGIN, HERE, SIGMA, BY_MEAN, WIDTH = 0, 1, 7, 13, 19, 25, 31, 37
#: Columns of places: how many strains, which, and where they are in x.
COUNT, WHICH, COLUMN = 0, 1, 7


class Relaxing(NamedTuple):
    """Maxwell elements as connections, and what these do not know."""

    connected: Connected
    numbers: NumberLanes2
    memory: Lanes2
    places: Index2


@kernel
def soften(relaxing: Relaxing, group: int, h: float) -> None:
    """Make connections as soft as they are over a step, unless they are."""
    if relaxing.memory[group, ABREAST * STEP] != h:
        _soften(relaxing.connected.numbers, relaxing.numbers, relaxing.memory, group, h)


@arithmetic
def _soften(connected: Array, numbers: Array, memory: Array, group: int, h: float) -> None:
    share = share_of(numbers, group, h)
    stiffness = beside(numbers, group, SPRING, TIME)
    put_beside(connected, group, STIFFNESS, tuple(share * each for each in stiffness))
    put_beside(memory, group, STEP, (h,))


@arithmetic
def share_of(numbers: Array, group: int, h: float) -> Lane:
    """Return which share of a change of strain springs take over half a step."""
    (tau,) = beside(numbers, group, TIME, 1)
    return 1.0 / (1.0 + 0.5 * h / tau)
