"""Maxwell elements in the compiled engine: connections whose strain is what their springs take.

Over a step they act as connections do, with the strain e at its start and a stiffness that is
softer, see `relaxation`; at its end they are brought to where their dashpots leave them.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from poinsot.frames.relative import COORDINATES
from poinsot.kernels.algebra import Array, axpy, put, scale, sub, vector
from poinsot.kernels.kernel import kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import blocks, dot_six, times_six
from poinsot.kernels.step import Step
from poinsot.kernels.tables import LOST_POWER, Index2, Real2
from poinsot.parts.connected import (
    LAST,
    STRAIN,
    Connected,
    Connections,
    connect,
    connected_energy,
    go_on,
    room_for,
)
from poinsot.parts.connection_forces import STIFFNESS
from poinsot.parts.family import Assembly, Kernels, index
from poinsot.ph.matrices import Vector

#: Columns of numbers: S by blocks, the relaxation time, the step that the connection was softened
#: for, chi at the start and at the end of a step. Of places: how many strains, which, and where
#: they are in x.
SPRING, TIME, STEP, BEFORE, AFTER = 0, 27, 28, 29, 35
COUNT, WHICH, COLUMN = 0, 1, 7


class Relaxing(NamedTuple):
    """Maxwell elements as connections, and what these do not know."""

    connected: Connected
    numbers: Real2
    places: Index2


@kernel
def relax(relaxing: Relaxing, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    numbers, connected = relaxing.numbers, relaxing.connected.numbers
    for k in range(numbers.shape[0]):
        if numbers[k, STEP] != step.h:
            numbers[k, STEP] = step.h
            share = 1.0 / (1.0 + 0.5 * step.h / numbers[k, TIME])
            for i in range(TIME):
                connected[k, STIFFNESS + i] = share * numbers[k, SPRING + i]
    connect(relaxing.connected, step, tiles)


@kernel
def relaxed_energy(relaxing: Relaxing, state: Array, step: Step) -> float:
    """Return the energy of all [J]; keep where they are, and add up the power lost."""
    numbers, start, end = relaxing.numbers, relaxing.connected.start, relaxing.connected.end
    connected_energy(relaxing.connected, state, step)
    total = 0.0
    for k in range(numbers.shape[0]):
        tau, S = numbers[k, TIME], blocks(numbers, k, SPRING)
        share = 1.0 / (1.0 + 0.5 * step.h / tau)
        u0, v0 = vector(start, k, STRAIN), vector(start, k, STRAIN + 3)
        # Connections keep chi here.
        chi_u, chi_v = vector(end, k, STRAIN), vector(end, k, STRAIN + 3)
        du, dv = sub(chi_u, vector(numbers, k, BEFORE)), sub(chi_v, vector(numbers, k, BEFORE + 3))
        mean = scale(share, axpy(0.5, du, u0)), scale(share, axpy(0.5, dv, v0))
        step.sizes[LOST_POWER] += dot_six(times_six(S, mean), mean) / tau
        u, v = axpy(2.0, mean[0], scale(-1.0, u0)), axpy(2.0, mean[1], scale(-1.0, v0))
        put(numbers, k, AFTER, chi_u)
        put(numbers, k, AFTER + 3, chi_v)
        put(end, k, STRAIN, u)
        put(end, k, STRAIN + 3, v)
        strain = u, v
        total += 0.5 * dot_six(times_six(S, strain), strain)
    return total


@kernel
def go_on_relaxing(relaxing: Relaxing) -> None:
    """Go on from where elements are after the step."""
    go_on(relaxing.connected)
    numbers = relaxing.numbers
    for k in range(numbers.shape[0]):
        for i in range(6):
            numbers[k, BEFORE + i] = numbers[k, AFTER + i]


@kernel
def save_strains(relaxing: Relaxing, x: Array, mid: Array) -> None:
    """Write the strains after a step, and in its middle."""
    places, start = relaxing.places, relaxing.connected.start
    for k in range(places.shape[0]):
        for i in range(places[k, COUNT]):
            which, column = places[k, WHICH + i], places[k, COLUMN + i]
            x[column], mid[column] = start[k, STRAIN + which], start[k, LAST + which]


class Relaxations(Connections):
    """Maxwell elements."""

    Table: ClassVar = Relaxing  # type: ignore[assignment]
    kernels: ClassVar = Kernels(
        relax, energy=relaxed_energy, accept=go_on_relaxing, save=save_strains
    )

    def __init__(self, assembly: Assembly) -> None:
        self.elements = assembly.relaxing
        self.found = [element.connection for element in self.elements]
        nothing, at_ease = np.zeros((COORDINATES, COORDINATES)), np.zeros(COORDINATES)
        self.rest, self.damping = [at_ease] * len(self.found), [nothing] * len(self.found)
        self.stiffness = [each.ratio * each.spring.stiffness for each in self.elements]
        self.ends = np.array([c.ends for c in self.found], dtype=np.intp).reshape(-1, 2)
        self.kept = room_for(len(self.found))
        self.numbers = np.zeros((len(self.found), AFTER + COORDINATES))
        self.first = assembly.strains_at

    def table(self, graph: Graph, tiles: Tiles) -> Relaxing:  # type: ignore[override]
        """Return connections, their stiffness and times, and where strains are in x."""
        connected = super().table(graph, tiles)
        there = slice(0, len(self.found))
        self.numbers[:, SPRING:TIME] = connected.numbers[there, STIFFNESS : STIFFNESS + TIME]
        self.numbers[:, TIME] = [element.time for element in self.elements]
        places, column = np.zeros((len(self.elements), COLUMN + COORDINATES), np.intp), self.first
        for k, element in enumerate(self.elements):
            own, size = element.strains, element.size
            places[k, COUNT], places[k, WHICH : WHICH + size] = size, own
            places[k, COLUMN : COLUMN + size] = column + np.arange(size)
            column += size
        return Relaxing(connected, self.numbers, index(places))

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with where connections are at q."""
        super().start(q, angles)
        there = slice(0, len(self.found))
        self.numbers[:, BEFORE:AFTER] = self.kept[0, there, STRAIN : STRAIN + COORDINATES]

    @property
    def strains(self) -> Vector:
        """The strains e of all elements."""
        pieces = [self.kept[0, k, STRAIN + each.strains] for k, each in enumerate(self.elements)]
        return np.concatenate([np.zeros(0), *pieces])

    def remember(self, e: Vector) -> None:
        """Begin with these strains of all elements."""
        self.kept[:, :, STRAIN : STRAIN + COORDINATES] = 0.0
        first = 0
        for k, element in enumerate(self.elements):
            own = e[first : first + element.size]
            self.kept[:, k, STRAIN + element.strains] = own
            first += element.size
        self.kept[:, :, LAST:] = self.kept[:, :, STRAIN : STRAIN + COORDINATES]
