"""Connections of frames in the compiled engine: their kernels, and the family of all of them."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    combine,
    multiply,
    put_four,
    scale,
    sub,
    three,
)
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.lanes import (
    Lane,
    Places4,
    across,
    apart,
    matrix_of,
    total,
    vector_of,
)
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import (
    Blocks,
    Middle,
    Six,
    add_blocks,
    dot_six,
    forms_of,
    placed,
    scale_blocks,
    stiffness,
    tensions,
    times_six,
)
from poinsot.kernels.step import Step, look_inside
from poinsot.kernels.tables import (
    DIRECTORS,
    HALF,
    LOST_POWER,
    POSITION,
    Index2,
    Real2,
    V,
)
from poinsot.parts.connection_forces import (
    AXES_A,
    AXES_B,
    DAMPED,
    DAMPING,
    FIRST,
    OFFSET,
    POINT_A,
    POINT_B,
    REST,
    SECOND,
    STIFFNESS,
    Ends,
    add_tension,
    add_to_tiles,
    before_cancelling,
    column,
    course,
    elastic_tension,
    forces_of,
    off_centre,
    push_apart,
    scale_tension,
    slopes_of,
    torques_by_arms,
    viscous_tension,
)
from poinsot.parts.connections import ElasticConnection, LinearResistance, RelativeMotion
from poinsot.parts.family import (
    Assembly,
    Family,
    Indices,
    Kernels,
    Real,
    index,
    real,
)
from poinsot.ph.matrices import Vector

#: Columns of what is kept of a state: x, t, chi - rest, w; of the start of a step also the mean of
#: chi - rest over the last one.
X, TURN, STRAIN, COSINE, LAST = 0, 3, 6, 12, 13


#: So many connections are evaluated side by side.
ABREAST = 4


class Connected(NamedTuple):
    """Connections; what is kept of the start of a step, and of its end, has a row for each.

    They fill up whole groups of `ABREAST`, with some between the ground and itself at the end.
    """

    numbers: Real2
    places: Index2
    start: Real2
    end: Real2


@kernel
def connect(connections: Connected, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; adds up the power lost."""
    h, stage, numbers, kept = step.h, step.stage, connections.numbers, connections.start
    places = connections.places
    for group in range(places.shape[0] // ABREAST):
        k = ABREAST * group
        rows, first, second = _which(places, k)
        motion_A, motion_B = _motion(stage, first), _motion(stage, second)
        S, start = _stiffness(numbers, rows), _start(kept, rows)
        ends = _ends(numbers, rows, motion_A, motion_B)
        turns, change, m = course(h, motion_A, motion_B, ends, start)
        mean = Middle(m[0], m[1], m[2], m[3])
        tension = elastic_tension(mean, S, change, start)
        if _any(places, k, DAMPED) > 0:
            D = _damping(numbers, rows)
            more, lost = viscous_tension(h, D, ends, change)
            tension = add_tension(tension, more)
            step.sizes[LOST_POWER] += lost
        tension = scale_tension(h, tension)
        F, torque_A, torque_B = forces_of(tension, ends, turns)
        if step.arms_at != DIRECTORS:
            arms = _arms(stage, step.arms_at, first), _arms(stage, step.arms_at, second)
            torque_A, torque_B = torques_by_arms(numbers, rows, arms, tension, ends, F)
        push_apart(step, first, second, F, torque_A, torque_B)
        if tiles is not None:
            # Where stiff directions meet soft ones, forces of a guess are far off. In the matrix
            # they are therefore those of the step before, as if they were unknowns themselves.
            f = times_six(S, _last(kept, rows))
            S = scale_blocks(0.5, S)
            if _any(places, k, DAMPED) > 0:
                S = add_blocks(S, scale_blocks(1.0 / h, _damping(numbers, rows)))
            A, B, rho_A, rho_B, r = ends
            stiff = stiffness(mean, S, f[0], (A, B), r, (rho_A, rho_B), turns)
            halves = motion_A[2], motion_B[2]
            tension = scale_tension(h, tensions(mean, f))
            slopes = slopes_of(h, halves, stiff, ends, tension)
            if _any(places, k, OFFSET) > 0:
                slopes = off_centre(h, halves, slopes, ends, tension)
            add_to_tiles(tiles, places, k, slopes)
            along, about, energy = before_cancelling(h, S, motion_A, motion_B, ends, change)
            look_inside(step, along, about, energy)


# -- reading connections side by side --------------------------------------------------------------


@arithmetic
def _which(places: Array, k: int) -> tuple[Places4, Places4, Places4]:
    """Return rows of connections from k on, and their bodies A and B."""
    return (k, k + 1, k + 2, k + 3), column(places, k, FIRST), column(places, k, SECOND)


@arithmetic
def _any(places: Array, k: int, at: int) -> int:
    """Return of how many something is true."""
    count: int = places[k, at] + places[k + 1, at] + places[k + 2, at] + places[k + 3, at]
    return count


@arithmetic
def _motion(stage: Array, bodies: Places4) -> tuple[Vec, Mat, Vec, Vec]:
    """Return positions, directors, half turns and velocities of bodies."""
    columns = across(stage, bodies, 0, 5)
    position, half = vector_of(columns, POSITION), vector_of(columns, HALF)
    return position, matrix_of(columns, DIRECTORS), half, vector_of(columns, V)


@arithmetic
def _stiffness(numbers: Array, rows: Places4) -> Blocks:
    return _blocks(across(numbers, rows, STIFFNESS, 7))


@arithmetic
def _damping(numbers: Array, rows: Places4) -> Blocks:
    return _blocks(across(numbers, rows, DAMPING, 7))


@arithmetic
def _blocks(columns: tuple[Lane, ...]) -> Blocks:
    return matrix_of(columns, 0), matrix_of(columns, 9), matrix_of(columns, 18)


@arithmetic
def _start(kept: Array, rows: Places4) -> tuple[Vec, Vec, Vec, Vec, Lane]:
    """Return x, t, both parts of chi - rest, and w."""
    columns = across(kept, rows, 0, 4)
    u, v = vector_of(columns, STRAIN), vector_of(columns, STRAIN + 3)
    return vector_of(columns, X), vector_of(columns, TURN), u, v, columns[COSINE]


@arithmetic
def _last(kept: Array, rows: Places4) -> Six:
    """Return the mean of chi - rest over the last step."""
    columns = across(kept, rows, LAST, 1) + across(kept, rows, LAST + 2, 1)
    return vector_of(columns, 0), (columns[5], columns[6], columns[7])


@arithmetic
def _arms(stage: Array, at: int, bodies: Places4) -> Mat:
    """Return the directors that forces act on."""
    columns = across(stage, bodies, at, 2) + across(stage, bodies, at + 5, 1)
    last = columns[9], columns[10], columns[11]
    return vector_of(columns, 0), vector_of(columns, 3), last


@arithmetic
def _ends(
    numbers: Array,
    rows: Places4,
    motion_A: tuple[Vec, Mat, Vec, Vec],
    motion_B: tuple[Vec, Mat, Vec, Vec],
) -> Ends:
    (r_A, D_A, _, _), (r_B, D_B, _, _) = motion_A, motion_B
    columns = across(numbers, rows, 0, 6)
    A, B = (
        multiply(matrix_of(columns, AXES_A), D_A),
        multiply(matrix_of(columns, AXES_B), D_B),
    )
    rho_A = combine(vector_of(columns, POINT_A), D_A)
    rho_B = combine(vector_of(columns, POINT_B), D_B)
    return A, B, rho_A, rho_B, sub(add(r_B, rho_B), add(r_A, rho_A))


@kernel
def connected_energy(connections: Connected, state: Array, step: Step) -> float:
    """Return the energy of all [J]; keep where they are."""
    energy, numbers, kept = 0.0, connections.numbers, connections.end
    for group in range(connections.places.shape[0] // ABREAST):
        rows, first, second = _which(connections.places, ABREAST * group)
        energy += _keep(numbers, kept, state, rows, first, second)
    return energy


@arithmetic
def _keep(
    numbers: Array, kept: Array, state: Array, rows: Places4, first: Places4, second: Places4
) -> float:
    """Keep where four connections are; return their energy."""
    ends = _ends(numbers, rows, _motion(state, first), _motion(state, second))
    A, B, _, _, r = ends
    x, turn, w = forms_of(A, B, r)
    t = scale(0.5 / w, turn)
    u, v = placed(t, turn, x)
    rest = across(numbers, rows, REST - 2, 2)
    strain = u, v = sub(u, vector_of(rest, 2)), sub(v, vector_of(rest, 5))
    columns = *x, *t, *u, *v
    for at in range(0, COSINE, 4):
        for row, own in zip(rows, apart(*columns[at : at + 4]), strict=True):
            put_four(kept, row, at, own)
    for row, own in zip(rows, apart(w, w, w, w), strict=True):
        kept[row, COSINE] = three(own)[0]
    S = _stiffness(numbers, rows)
    return total(0.5 * dot_six(times_six(S, strain), strain))


@kernel
def go_on(connections: Connected) -> None:
    """Go on from where connections are after the step."""
    start, end = connections.start, connections.end
    for k in range(start.shape[0]):
        for i in range(6):
            start[k, LAST + i] = 0.5 * (start[k, STRAIN + i] + end[k, STRAIN + i])
        for i in range(LAST):
            start[k, i] = end[k, i]


def room_for(count: int) -> Real:
    """Return room for what is kept of connections, in whole groups; (2, rows, columns)."""
    kept = np.zeros((2, -(-count // ABREAST) * ABREAST, LAST + COORDINATES))
    kept[:, :, COSINE] = 1.0
    return kept


class Connections(Family):
    """Frames of bodies that pull and resist each other in all directions."""

    Table: ClassVar = Connected
    kernels: ClassVar = Kernels(connect, connect, energy=connected_energy, accept=go_on)

    def __init__(self, assembly: Assembly) -> None:
        elastic = {p.connection: p for p in assembly.potentials if isinstance(p, ElasticConnection)}
        viscous = {
            d.direction.connection: d.law.D
            for d in assembly.dampers
            if isinstance(d.direction, RelativeMotion) and isinstance(d.law, LinearResistance)
        }
        self.found = [*elastic, *(each for each in viscous if each not in elastic)]
        nothing, at_ease = np.zeros((COORDINATES, COORDINATES)), np.zeros(COORDINATES)
        self.rest = [elastic[c].rest if c in elastic else at_ease for c in self.found]
        self.stiffness = [elastic[c].stiffness if c in elastic else nothing for c in self.found]
        self.damping = [viscous.get(c, nothing) for c in self.found]
        self.ends = np.array([c.ends for c in self.found], dtype=np.intp).reshape(-1, 2)
        self.kept = room_for(len(self.found))

    def __len__(self) -> int:
        """Return their number."""
        return len(self.found)

    @property
    def moved(self) -> Indices:
        """Their bodies."""
        return np.asarray(self.ends[self.ends != GROUND])

    def meet(self, graph: Graph) -> None:
        """Join both bodies with each other."""
        graph.meet(*(graph.of_bodies(bodies) for bodies in self.ends.T))

    def table(self, graph: Graph, tiles: Tiles) -> Connected:
        """Return connections, and room for where they are."""
        numbers = [
            np.concatenate(
                [
                    *(np.append(X, U.T) for X, U in zip(c.points, c.axes, strict=True)),
                    *(
                        np.concatenate([M[:3, :3], M[:3, 3:], M[3:, 3:]]).reshape(-1)
                        for M in (S, D)
                    ),
                    rest,
                ]
            )
            for c, S, D, rest in zip(
                self.found, self.stiffness, self.damping, self.rest, strict=True
            )
        ]
        spare = self.kept.shape[1] - len(self)
        nothing = np.zeros(REST + COORDINATES)
        nothing[[AXES_A, AXES_A + 4, AXES_A + 8, AXES_B, AXES_B + 4, AXES_B + 8]] = 1.0
        numbers += spare * [nothing]
        ends = np.vstack([self.ends, np.full((spare, 2), GROUND)])
        pairs = tiles.table(graph.pair(ends), graph.pair(ends, moving=True))
        offset = [bool(c.points.any()) for c in self.found] + spare * [False]
        damped = [bool(D.any()) for D in self.damping] + spare * [False]
        places = index(graph.ends(ends), offset, damped, pairs)
        return Connected(real(np.reshape(numbers, (-1, nothing.size))), places, *self.kept)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with where connections are at q."""
        for k, (c, rest) in enumerate(zip(self.found, self.rest, strict=True)):
            s = c.forms(local(q, c.bodies))
            at = Placed.at(s)
            strain = coordinates(s) - rest
            self.kept[:, k] = [*at.x, *at.t, *strain, at.w, *strain]
