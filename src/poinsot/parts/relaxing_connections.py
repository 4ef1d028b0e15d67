"""Maxwell elements in the compiled engine, as connections with an own strain.

Over a step they act like connections with the strain e at its start and a reduced stiffness, see
`relaxation`; at its end their strains are updated.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.relative import COORDINATES
from poinsot.kernels.algebra import Array, axpy, scale, sub
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.lanes import ABREAST, beside, matrix_of, put_beside, total
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import dot_six, times_six
from poinsot.kernels.step import Step
from poinsot.kernels.tables import LOST_POWER
from poinsot.parts.connected import (
    Connections,
    connect,
    connected_energy,
    go_on,
    of_group,
    room_for,
)
from poinsot.parts.connection_forces import STIFFNESS
from poinsot.parts.family import Assembly, Kernels, index
from poinsot.parts.reading_connections import LAST, STRAIN, six_of
from poinsot.parts.relaxing_backward import (
    begin_strains_back,
    end_strains_back,
    give_strains,
    recall_strains,
    relax_exactly,
    start_strains,
    strain_products,
)
from poinsot.parts.relaxing_table import (
    AFTER,
    BEFORE,
    COLUMN,
    COUNT,
    SPRING,
    TIME,
    WHICH,
    WIDTH,
    Relaxing,
    share_of,
    soften,
)
from poinsot.ph.matrices import Vector


@kernel
def relax(relaxing: Relaxing, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    for group in range(relaxing.numbers.shape[0]):
        soften(relaxing, group, step.h)
    connect(relaxing.connected, step, tiles)


@kernel
def relaxed_energy(relaxing: Relaxing, state: Array, step: Step) -> float:
    """Return the energy of all [J]; keep where they are, and add up the power lost."""
    numbers, memory, connected = relaxing.numbers, relaxing.memory, relaxing.connected
    connected_energy(relaxing.connected, state, step)
    energy = 0.0
    for group in range(numbers.shape[0]):
        own, lost = _relaxed(numbers, memory, connected.start, connected.end, group, step.h)
        energy += own
        step.sizes[LOST_POWER] += lost
    return energy


@arithmetic
def _relaxed(
    numbers: Array, memory: Array, start: Array, end: Array, group: int, h: float
) -> tuple[float, float]:
    """Set strains at the end of a step; return their energy and the power lost."""
    share, (tau,) = share_of(numbers, group, h), beside(numbers, group, TIME, 1)
    columns = beside(numbers, group, SPRING, TIME)
    S = matrix_of(columns, 0), matrix_of(columns, 9), matrix_of(columns, 18)
    # Connections keep chi in the place of strains.
    chi = six_of(end, group, STRAIN)
    before, (u0, v0) = six_of(memory, group, BEFORE), six_of(start, group, STRAIN)
    du, dv = sub(chi[0], before[0]), sub(chi[1], before[1])
    mean = u, v = scale(share, axpy(0.5, du, u0)), scale(share, axpy(0.5, dv, v0))
    lost = dot_six(times_six(S, mean), mean) / tau
    after = axpy(2.0, u, scale(-1.0, u0)), axpy(2.0, v, scale(-1.0, v0))
    put_beside(memory, group, AFTER, (*chi[0], *chi[1]))
    put_beside(end, group, STRAIN, (*after[0], *after[1]))
    return total(0.5 * dot_six(times_six(S, after), after)), total(lost)


@kernel
def go_on_relaxing(relaxing: Relaxing) -> None:
    """Go on from where elements are after the step."""
    go_on(relaxing.connected)
    memory = relaxing.memory
    for group in range(memory.shape[0]):
        for i in range(ABREAST * COORDINATES):
            memory[group, ABREAST * BEFORE + i] = memory[group, ABREAST * AFTER + i]


@kernel
def save_strains(relaxing: Relaxing, x: Array, mid: Array) -> None:
    """Write the strains after a step, and in its middle."""
    places, start = relaxing.places, relaxing.connected.start
    for k in range(places.shape[0]):
        group, one = k // ABREAST, k % ABREAST
        for i in range(places[k, COUNT]):
            which, column = places[k, WHICH + i], places[k, COLUMN + i]
            x[column] = start[group, ABREAST * (STRAIN + which) + one]
            mid[column] = start[group, ABREAST * (LAST + which) + one]


class Relaxations(Connections):
    """Maxwell elements."""

    Table: ClassVar = Relaxing  # type: ignore[assignment]
    kernels: ClassVar = Kernels(
        relax,
        energy=relaxed_energy,
        accept=go_on_relaxing,
        save=save_strains,
        exactly=relax_exactly,
        start=start_strains,
        recall=recall_strains,
        begin_back=begin_strains_back,
        end_back=end_strains_back,
        give_both=give_strains,
        products=strain_products,
    )

    def __init__(self, assembly: Assembly) -> None:
        self.elements = assembly.relaxing
        self.found = [element.connection for element in self.elements]
        nothing, at_ease = np.zeros((COORDINATES, COORDINATES)), np.zeros(COORDINATES)
        self.rest, self.damping = [at_ease] * len(self.found), [nothing] * len(self.found)
        self.stiffness = [each.ratio * each.spring.stiffness for each in self.elements]
        self.ends = np.array([c.ends for c in self.found], dtype=np.intp).reshape(-1, 2)
        self.kept = room_for(len(self.found))
        self.numbers = np.zeros((self.kept.shape[1], ABREAST * (TIME + 1)))
        self.memory = np.zeros((self.kept.shape[1], ABREAST * WIDTH))
        self.first = assembly.strains_at
        self.softened: NDArray[np.float64] | None = None
        self.places = index(np.zeros((0, COLUMN + COORDINATES)))

    def table(self, graph: Graph, tiles: Tiles) -> Relaxing:  # type: ignore[override]
        """Return connections, their stiffness and times, and where strains are in x."""
        connected = super().table(graph, tiles)
        if self.softened is not None:  # by steps in another machine, which go on in this one
            connected = connected._replace(numbers=self.softened)
            return Relaxing(connected, self.numbers, self.memory, self.places)
        self.softened = connected.numbers
        first = ABREAST * STIFFNESS
        springs = connected.numbers[:, first : first + ABREAST * TIME]
        self.numbers[:, ABREAST * SPRING : ABREAST * TIME] = springs
        self.numbers[:, ABREAST * TIME :] = 1.0
        for k, element in enumerate(self.elements):
            self.numbers[k // ABREAST, ABREAST * TIME + k % ABREAST] = element.time
        places, column = np.zeros((len(self.elements), COLUMN + COORDINATES), np.intp), self.first
        for k, element in enumerate(self.elements):
            own, size = element.strains, element.size
            places[k, COUNT], places[k, WHICH : WHICH + size] = size, own
            places[k, COLUMN : COLUMN + size] = column + np.arange(size)
            column += size
        self.places = index(places)
        return Relaxing(connected, self.numbers, self.memory, self.places)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with where connections are at q."""
        super().start(q, angles)
        first, last = ABREAST * STRAIN, ABREAST * (STRAIN + COORDINATES)
        self.memory[:, ABREAST * BEFORE : ABREAST * AFTER] = self.kept[0, :, first:last]

    @property
    def strains(self) -> Vector:
        """The strains e of all elements."""
        pieces = [
            of_group(self.kept, k)[0, STRAIN + each.strains] for k, each in enumerate(self.elements)
        ]
        return np.concatenate([np.zeros(0), *pieces])

    def remember(self, e: Vector) -> None:
        """Begin with these strains of all elements."""
        first = 0
        for k, element in enumerate(self.elements):
            kept = of_group(self.kept, k)
            kept[:, STRAIN : STRAIN + COORDINATES] = 0.0
            kept[:, STRAIN + element.strains] = e[first : first + element.size]
            kept[:, LAST:] = kept[:, STRAIN : STRAIN + COORDINATES]
            first += element.size
