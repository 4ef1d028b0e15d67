"""Connections of frames in the compiled engine: their kernels, and the family of all of them."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    plus,
    scale,
    sub,
    transposed,
)
from poinsot.kernels.cayley import ahead, change_rows
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.lanes import (
    ABREAST,
    in_groups,
    places_of,
    put_beside,
    total,
)
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import (
    Middle,
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
    LOST_POWER,
)
from poinsot.parts.connection_forces import (
    AXES_A,
    AXES_B,
    DAMPED,
    FIRST,
    OFFSET,
    REST,
    SECOND,
    add_tension,
    add_to_tiles,
    before_cancelling,
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
from poinsot.parts.connections_backward import connections_backward
from poinsot.parts.family import (
    Assembly,
    Family,
    Indices,
    Kernels,
    Real,
    index,
)
from poinsot.parts.reading_connections import (
    COSINE,
    LAST,
    STRAIN,
    Connected,
    any_of,
    arms_of,
    damping_of,
    ends_of,
    last_strain,
    motion_of,
    rows_of,
    six_of,
    start_of,
    stiffness_of,
)
from poinsot.ph.matrices import Vector

#: What forces are derived by: the velocity between bodies, the angular velocities of A and B. These
#: change by so much over a step, in radians, and in lengths of the longest lever arm.
APART, TURN_A, TURN_B = range(3)
CHANGE = 1e-5


@kernel
def connect(connections: Connected, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; adds up the power lost."""
    h, stage, numbers, kept = step.h, step.stage, connections.numbers, connections.start
    places = connections.places
    for group in range(numbers.shape[0]):
        rows = rows_of(group)
        first, second = places_of(places, rows, FIRST), places_of(places, rows, SECOND)
        motion_A, motion_B = motion_of(stage, first), motion_of(stage, second)
        S, start = stiffness_of(numbers, group), start_of(kept, group)
        ends = ends_of(numbers, group, motion_A, motion_B)
        turns, change, m = course(h, motion_A, motion_B, ends, start)
        mean = Middle(m[0], m[1], m[2], m[3])
        tension = elastic_tension(mean, S, change, start)
        if any_of(places, rows, DAMPED) > 0:
            D = damping_of(numbers, group)
            more, lost = viscous_tension(h, D, ends, change)
            tension = add_tension(tension, more)
            step.sizes[LOST_POWER] += lost
        tension = scale_tension(h, tension)
        F, torque_A, torque_B = forces_of(tension, ends, turns)
        if step.arms_at != DIRECTORS:
            arms = arms_of(stage, step.arms_at, first), arms_of(stage, step.arms_at, second)
            torque_A, torque_B = torques_by_arms(numbers, group, arms, tension, ends, F)
        push_apart(step, first, second, F, torque_A, torque_B)
        if tiles is not None:
            # Where stiff directions meet soft ones, forces of a guess are far off. In the matrix
            # they are therefore those of the step before, as if they were unknowns themselves.
            f = times_six(S, last_strain(kept, group))
            S = scale_blocks(0.5, S)
            if any_of(places, rows, DAMPED) > 0:
                S = add_blocks(S, scale_blocks(1.0 / h, damping_of(numbers, group)))
            A, B, rho_A, rho_B, r = ends
            stiff = stiffness(mean, S, f[0], (A, B), r, (rho_A, rho_B), turns)
            halves = motion_A[2], motion_B[2]
            tension = scale_tension(h, tensions(mean, f))
            slopes = slopes_of(h, halves, stiff, ends, tension)
            if any_of(places, rows, OFFSET) > 0:
                slopes = off_centre(h, halves, slopes, ends, tension)
            add_to_tiles(tiles, places, rows, slopes)
            along, about, energy = before_cancelling(h, S, motion_A, motion_B, ends, change)
            look_inside(step, along, about, energy)


# -- all derivatives, by differences ---------------------------------------------------------------


@kernel
def connect_exactly(connections: Connected, step: Step, tiles: Array) -> None:
    """Add residuals, and all of their derivatives to tiles: by central differences."""
    connect(connections, step, None)
    for group in range(connections.numbers.shape[0]):
        F_v, A_v, B_v = _slopes(connections, step, group, APART)
        F_A, A_A, B_A = _slopes(connections, step, group, TURN_A)
        F_B, A_B, B_B = _slopes(connections, step, group, TURN_B)
        slopes = F_v, F_A, F_B, A_v, A_A, A_B, B_v, B_A, B_B
        add_to_tiles(tiles, connections.places, rows_of(group), slopes)


@kernel
def _slopes(connections: Connected, step: Step, group: int, what: int) -> tuple[Mat, Mat, Mat]:
    """Return how the force and the torques, times h, change with v_B - v_A, w_A or w_B."""
    F_x, A_x, B_x = _slope(connections, step, group, what, 0)
    F_y, A_y, B_y = _slope(connections, step, group, what, 1)
    F_z, A_z, B_z = _slope(connections, step, group, what, 2)
    return transposed((F_x, F_y, F_z)), transposed((A_x, A_y, A_z)), transposed((B_x, B_y, B_z))


@kernel
def _slope(
    connections: Connected, step: Step, group: int, what: int, axis: int
) -> tuple[Vec, Vec, Vec]:
    """Return how they change with one component."""
    change = CHANGE / step.h * (step.length if what == APART else 1.0)
    more = _pull_beside(connections, step, group, what, axis, change)
    less = _pull_beside(connections, step, group, what, axis, -change)
    f = 0.5 * step.h / change
    return (
        scale(f, sub(more[0], less[0])),
        scale(f, sub(more[1], less[1])),
        scale(f, sub(more[2], less[2])),
    )


@kernel
def _pull_beside(
    connections: Connected, step: Step, group: int, what: int, axis: int, change: float
) -> tuple[Vec, Vec, Vec]:
    """Return the force on B, and torques on A and B, with other velocities over the step."""
    h, stage, numbers, places = step.h, step.stage, connections.numbers, connections.places
    rows, start, none = rows_of(group), start_of(connections.start, group), (0.0, 0.0, 0.0)
    motion_A = motion_of(stage, places_of(places, rows, FIRST))
    motion_B = motion_of(stage, places_of(places, rows, SECOND))
    dv = component(axis, change)
    motion_A = moved(h, motion_A, none, dv if what == TURN_A else none)
    motion_B = moved(h, motion_B, dv if what == APART else none, dv if what == TURN_B else none)
    ends = ends_of(numbers, group, motion_A, motion_B)
    turns, change_of, m = course(h, motion_A, motion_B, ends, start)
    mean = Middle(m[0], m[1], m[2], m[3])
    tension = elastic_tension(mean, stiffness_of(numbers, group), change_of, start)
    more, _ = viscous_tension(h, damping_of(numbers, group), ends, change_of)
    return forces_of(add_tension(tension, more), ends, turns)


@inline
def component(axis: int, x: float) -> Vec:
    """Return a vector along an axis."""
    return x if axis == 0 else 0.0, x if axis == 1 else 0.0, x if axis == 2 else 0.0


@arithmetic
def moved(
    h: float, motion: tuple[Vec, Mat, Vec, Vec], dv: Vec, dw: Vec
) -> tuple[Vec, Mat, Vec, Vec]:
    """Return a motion from the same start with another velocity and angular velocity."""
    position, D, half, v = motion
    back, turned = scale(-1.0, half), axpy(0.5 * h, dw, half)
    D0 = ahead(back, D[0]), ahead(back, D[1]), ahead(back, D[2])
    return axpy(0.5 * h, dv, position), plus(D0, change_rows(turned, D0)), turned, add(v, dv)


@kernel
def connected_energy(connections: Connected, state: Array, step: Step) -> float:
    """Return the energy of all [J]; keep where they are."""
    energy, numbers, kept = 0.0, connections.numbers, connections.end
    for group in range(numbers.shape[0]):
        energy += keep(numbers, kept, state, group, connections.places)
    return energy


@arithmetic
def keep(numbers: Array, kept: Array, state: Array, group: int, places: Array) -> float:
    """Keep where the connections of a group are; return their energy."""
    rows = rows_of(group)
    motions = (motion_of(state, places_of(places, rows, at)) for at in (FIRST, SECOND))
    A, B, _, _, r = ends_of(numbers, group, *motions)
    x, turn, w = forms_of(A, B, r)
    t = scale(0.5 / w, turn)
    (u, v), (u0, v0) = placed(t, turn, x), six_of(numbers, group, REST)
    strain = u, v = sub(u, u0), sub(v, v0)
    put_beside(kept, group, 0, (*x, *t, *u, *v, w))
    return total(0.5 * dot_six(times_six(stiffness_of(numbers, group), strain), strain))


@kernel
def go_on(connections: Connected) -> None:
    """Go on from where connections are after the step."""
    start, end = connections.start, connections.end
    for group in range(start.shape[0]):
        for i in range(ABREAST * COORDINATES):
            k = ABREAST * STRAIN + i
            start[group, ABREAST * LAST + i] = 0.5 * (start[group, k] + end[group, k])
        for i in range(ABREAST * LAST):
            start[group, i] = end[group, i]


@kernel
def start_again(connections: Connected, state: Array) -> None:
    """Begin a step where connections are."""
    numbers, kept = connections.numbers, connections.start
    for group in range(numbers.shape[0]):
        keep(numbers, kept, state, group, connections.places)


def room_for(count: int) -> Real:
    """Return room for what is kept of connections at both ends of a step, in groups."""
    kept = np.zeros((2, -(-count // ABREAST), ABREAST * (LAST + COORDINATES)))
    kept[:, :, ABREAST * COSINE : ABREAST * LAST] = 1.0
    return kept


def of_group(kept: Real, k: int) -> Real:
    """Return what is kept of a connection, as a view; (2, columns)."""
    return kept[:, k // ABREAST, k % ABREAST :: ABREAST]


class Connections(Family):
    """Frames of bodies that pull and resist each other in all directions."""

    Table: ClassVar = Connected
    kernels: ClassVar = Kernels(
        connect,
        connect,
        energy=connected_energy,
        accept=go_on,
        backward=connections_backward,
        backward_stabilised=connections_backward,
        start=start_again,
        exactly=connect_exactly,
    )
    costly: ClassVar = True

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
        spare = ABREAST * self.kept.shape[1] - len(self)
        nothing = np.zeros(REST + COORDINATES)
        nothing[[AXES_A, AXES_A + 4, AXES_A + 8, AXES_B, AXES_B + 4, AXES_B + 8]] = 1.0
        numbers += spare * [nothing]
        ends = np.vstack([self.ends, np.full((spare, 2), GROUND)])
        pairs = tiles.table(graph.pair(ends), graph.pair(ends, moving=True))
        offset = [bool(c.points.any()) for c in self.found] + spare * [False]
        damped = [bool(D.any()) for D in self.damping] + spare * [False]
        places = index(graph.ends(ends), offset, damped, pairs)
        return Connected(in_groups(np.reshape(numbers, (-1, nothing.size))), places, *self.kept)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with where connections are at q."""
        for k, (c, rest) in enumerate(zip(self.found, self.rest, strict=True)):
            s = c.forms(local(q, c.bodies))
            at = Placed.at(s)
            strain = coordinates(s) - rest
            of_group(self.kept, k)[:] = [*at.x, *at.t, *strain, at.w, *strain]
