"""What kernels read and write: tables of numbers and of places, by name.

A part of a mechanism has two tables, `numbers` and `places`, with a row for each of its kind; the
columns have names, given here. Bodies are numbered from 0; the ground comes last and never moves,
so that kernels need not ask. It has a node and a tile of its own, which collect what nobody reads.
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
#: condensed; the director without mass, or 3; its first node, and its first coordinate in x. The
#: translation of a condensed body meets nothing but points of joints: it is eliminated beforehand,
#: and T is no node of the matrix. One that does not turn has the rotation of the ground.
T, R, TT, RR, CONDENSED, FLAT, BODY_NODES, COORDINATES = range(8)
#: In the stabilised form, besides: the nodes of kinematics, and tiles (KT, KT), (KT, T), (T, T),
#: (KR, KR), (KR, R), (R, R); TT and RR are (T, KT) and (R, KR).
KT, KR, KT_KT, KT_T, T_T, KR_KR, KR_R, R_R = range(8, 16)

#: Of terms, which are products of vectors of bodies A and B: directions a on A and b on B, points
#: on either, coefficient, and a constant that constraints keep.
DIRECTION_A, DIRECTION_B, POINT_A, POINT_B, COEFFICIENT, CONSTANT = 0, 3, 6, 9, 12, 13
#: Their kind, bodies, and the form (0 or 1) that they are part of.
KIND, A, B, FORM = range(4)
#: Of constraints, which are up to three equations: a constant for each, and the vector in which
#: they differ, times their coefficient, three of either.
VARIED = 16
#: How many they are; node and first slot of the multipliers, tiles of the node with
#: (T_A, R_A, T_B, R_B): column and row; tiles of these four with each other, 16 of them.
COUNT = 3
NODE, SLOT, COLUMN, ROW, ROW_PAIR = 4, 5, 6, 10, 14
#: In the stabilised form every equation is by itself: the node of velocities besides; tiles of
#: either node with kinematics (K) and momentum (M) of A and B, and those with each other.
VELOCITY_NODE, K_G, M_G, M_H, G_K, H_K, H_M, K_K, M_K, M_M = 6, 7, 11, 15, 19, 23, 27, 31, 47, 63

#: Of points common to A and B: where they are on either; the node, tiles of rotations (R_A, R_B)
#: with the node.
ON_A, ON_B = 0, 3
POINT_NODE, POINT_COLUMN, POINT_ROW = 3, 4, 6

#: Of struts, which are coordinates of bodies A and B: of points the numbers of a term, of
#: directions the matrices N of one or two forms; kind, bodies, chart, the first that acts along it
#: and the one after the last, and tiles of (T_A, R_A, T_B, R_B) with each other.
FORM_0, FORM_1 = 0, 9
CHART, FIRST, LAST, STRUT_PAIR = 3, 4, 5, 6
#: Of what acts along struts: its role and its first input.
ROLE, PORT = 0, 1

#: Of dampers along struts, and of drags: viscous and quadratic; of the former also dry friction
#: and the rate that it fades below.
VISCOUS, QUADRATIC, COULOMB, SLIP_RATE = range(4)
#: Of drags: point; kind, body, tiles of (T, R) with each other.
DRAG_POINT = 4
DRAGGED, DRAG_OWN = 1, 2

#: Of loads: point and axes; kind, body, first input, tiles of (T, R) with each other.
POINT, AXES = 0, 3
LOADED, INPUT, OWN = 1, 2, 3

#: Of contacts with a plane: edge or axis a and spot X in director axes; normal and base in world
#: axes, see `contacts`; a constant that is held. Kind, body, node and slot of the multiplier, tiles
#: of (T, R) with the node: column and row; tiles of (T, R) with each other.
EDGE, SPOT, NORMAL, BASE, HELD = 0, 3, 6, 9, 12
CONTACT_BODY, CONTACT_NODE, CONTACT_SLOT, CONTACT_COLUMN, CONTACT_ROW, CONTACT_OWN = (
    1,
    2,
    3,
    4,
    6,
    8,
)


class Part(NamedTuple):
    """Parts of one kind: numbers and places, a row each."""

    numbers: Real2
    places: Index2


class Acts(NamedTuple):
    """Loads, or what acts along struts: by numbers, or by the `law` at an address (0: none)."""

    numbers: Real2
    places: Index2
    laws: Addresses


class Fields(NamedTuple):
    """Potentials of many vectors, which are points (`moves` 1) or directions (0) of bodies.

    `numbers` (vectors, 4) are moves and X in director axes, `bodies` (vectors,) their bodies.
    Field k has vectors first[k]:first[k+1]; `pairs` (pairs of its vectors, 4), from first[k, 1]
    on, are the tiles of (T, R) of either.
    """

    numbers: Real2
    bodies: Index1
    first: Index2
    pairs: Index2
    laws: Addresses


#: Forms of the equations of rotation in quaternions, and how many nodes a body has besides.
HAMILTON, LIVENS = 0, 1
SHORTEST, REDUCED, FULL = 0, 1, 3


class Spins(NamedTuple):
    """Bodies in quaternions: principal moments of `inertia` (bodies, 3) [kg m^2].

    `form` of the equations, `mean` lever arms or those of the mean quaternion, and `places` of
    auxiliary nodes: these and their tiles, see `livens_bodies`.
    """

    inertia: Real2
    places: Index2
    form: int
    mean: bool


class Schedule(NamedTuple):
    """The elimination as lists.

    `pivots` (P + 1, 3): diagonal tile, node, and first entry of each pivot; `entries` (k, 3): the
    tiles below and right of the pivot, and their node; `updates`: the tiles that all products of
    lower and upper ones are subtracted from, in order.
    """

    pivots: Index2
    entries: Index2
    updates: Index1


class Machine(NamedTuple):
    """A mechanism, complete: what it consists of, and the tiles of its Newton matrix.

    `template` (tiles, 9) is what tiles hold before bodies and joints add to them. Of parts that a
    mechanism does not have, tables have no rows; it is `unloaded` if nothing but weight acts on its
    bodies. Turn counters follow angles over turns, by terms; `turn_counters` (k, 2) are the first
    term and the one after the last of each. `kinds` (nodes,) tells which of the sizes measures a
    node's equations; `redundant` whether some constraints repeat others, which `shift` (nodes, 3),
    part of the template, makes regular; `exact` whether the matrix is that of Newton's method, or
    lacks a small part of it. `stabilised` is there in the stabilised form (its content does not
    matter), `spins` are there in quaternions. `arms_at` is the column of a stage with the directors
    on which forces have their lever arms, `auxiliary` the number of nodes that bodies have besides
    translation and rotation.
    """

    bodies: Part
    points: Part
    rows: Part
    contacts: Part
    struts: Part
    strut_acts: Acts
    loads: Acts
    drags: Part
    fields: Fields
    turn_counters: Index2
    turn_counter_terms: Part
    schedule: Schedule
    template: Real2
    kinds: Index1
    unloaded: bool
    redundant: bool
    shift: Real2
    exact: bool
    stabilised: Index1 | None
    spins: Spins | None
    arms_at: int
    auxiliary: int


class Run(NamedTuple):
    """What a run carries from step to step.

    `gap` (nodes, 3) is what constraints lacked at the start of the run, and keep lacking; `stage`
    and `multiplier` (nodes, 3, times h) are the unknowns, or a guess of them; `past` and
    `past_multiplier` (..., 5) those of the last step and their differences, `order` (1,) that of
    the next guess; `chi` (2, acts along struts) the coordinates of springs, before the step in hand
    and after it; `turns` (2, turn counters) sine and full turns of turn counters.
    """

    gap: Real2
    stage: Real2
    multiplier: Real2
    past: Real3
    past_multiplier: Real3
    order: Index1
    chi: Real2
    turns: Real2


class Work(NamedTuple):
    """Room for one step: residual and solution x (nodes, 3), tiles, growth of gaps (nodes, 3).

    `sizes` (5,): of the terms of translation, rotation, and constraints on velocities and on
    positions; power lost. `given`, `found`: of laws. `memory` (acts along struts, 2): of dry
    friction, none if there is none.
    """

    x: Real2
    tiles: Real2
    gap: Real2
    sizes: Real1
    given: Real1
    found: Real1
    memory: Real2


#: Sizes of terms, and the power that dampers take.
OF_TRANSLATION, OF_ROTATION, OF_CLOSURE, OF_POSITION, LOST_POWER = range(5)

#: Energy at the start of the run and now, energy dissipated, error of the balance and its largest,
#: least power dissipated, largest residual, iterations in all and of the last step; then the energy
#: put in by each port [J].
START, ENERGY, LOST, BALANCE, ERROR, LEAST, RESIDUAL, ITERATIONS, LAST_ITERATIONS, SUPPLIED = range(
    10
)


class Saved(NamedTuple):
    """Saved steps, one row each: states at the end, stages, sums, turns, number in the block."""

    x: Real2
    stage: Real2
    sums: Real2
    turns: Real2
    step: Index1


class Job(NamedTuple):
    """What `run` is asked to do: steps of a mechanism, and everything that they read and write.

    `places` (m, 4) are, of every joint's multiplier, node, slot, column of x, and 1 if it is times
    h; `ports` (ports + 1,) the first input of every port; `times` (steps + 1,) [s] the ends of the
    steps; u, y (steps, inputs) inputs and outputs. `done` steps were taken before, of a `total` in
    the whole run; `known` is how many of them `carried` knows of. `rtol` and `limit` are Newton's
    tolerance and the most iterations. The places of `state`, `ahead` and `before` are exchanged in
    turn, once for every step. `sums` (9 + ports,) are balances, carried on.
    """

    machine: Machine
    places: Index2
    ports: Index1
    times: Real1
    u: Real2
    y: Real2
    done: int
    total: int
    save_every: int
    rtol: float
    limit: int
    known: int
    state: Real2
    ahead: Real2
    before: Real2
    carried: Run
    work: Work
    sums: Real1
    saved: Saved
