"""What a run of the engine reads and writes: a machine, what is carried from step to step, a job.

A mechanism on its way through the engine is nothing but numbers, see `kernels.tables`.
"""

from typing import NamedTuple

from poinsot.engine.families import Tables
from poinsot.engine.tiles import Refinement, Schedule, Template
from poinsot.kernels.kernel import inline
from poinsot.kernels.sampling import Sampling
from poinsot.kernels.tables import (
    Index1,
    Index2,
    Part,
    Real1,
    Real2,
    Real3,
    Repeated,
    Rows4,
    Rows12,
    Spins,
)


class Machine(NamedTuple):
    """A mechanism, complete: what it consists of, and the tiles of its Newton matrix.

    Of `parts` that a mechanism does not have, tables have no rows; it is `unloaded` if nothing but
    weight acts on its bodies and no constraint repeats others, and `dry` if there is dry friction.
    Turn counters follow angles over turns, by terms; `turn_counters` (k, 2) are the first term and
    the one after the last of each. `kinds` (nodes,) tells which of the sizes measures a node's
    equations, `speeds` (nodes, 3) what makes the rates of constraints speeds; `gyration` (2,) are
    the least and the greatest radius of gyration of its bodies, `length` the longest lever arm [m];
    `repeated` tells which constraints are left out since they repeat others; `exact` whether the
    matrix is that of Newton's method, or lacks a small part of it; `linear` whether nothing but
    turns of bodies makes it change; `keeping` whether laws begin a step with slopes of an earlier
    one; `costly` whether a matrix costs more than a few evaluations, and is kept for the next
    steps; `hardly` whether pivots may be hardly regular, see `tiles.factorise`. `stabilised` is
    there in the stabilised form (its content does not matter), `spins` are there in quaternions.
    `arms_at` is the column of a stage with the directors on which forces have their lever arms,
    `auxiliary` the number of nodes that bodies have besides translation and rotation.
    """

    bodies: Part
    parts: Tables
    turn_counters: Index2
    turn_counter_terms: Part
    schedule: Schedule
    template: Template
    kinds: Index1
    speeds: Real2
    gyration: Real1
    length: float
    unloaded: bool
    dry: bool
    repeated: Repeated
    exact: bool
    linear: bool
    keeping: bool
    costly: bool
    hardly: bool
    stabilised: Index1 | None
    spins: Spins | None
    arms_at: int
    auxiliary: int


class Run(NamedTuple):
    """What a run carries from step to step.

    `gap` (nodes, 3) is what constraints lacked at the start of the run, and keep lacking; `stage`
    and `multiplier` (nodes, 3, times h) are the unknowns, or a guess of them; `past` and
    `past_multiplier` (..., 5, 4 for each 3) those of the last step and their differences, `order`
    (1,) that of the next guess; `turns` (2, turn counters) sine and full turns of turn counters.
    Steps that are composed of substeps have `weights` of guesses, see `engine.prediction`; `past`
    is what these remember, and `order` 1 if they are better than none.
    """

    gap: Real2
    stage: Real2
    multiplier: Real2
    past: Real3
    past_multiplier: Real3
    order: Index1
    turns: Real2
    weights: Real3


class Work(NamedTuple):
    """Room for one step: residual and solution x (nodes, 4), tiles, growth of gaps (nodes, 3).

    `sizes` (12,): of the terms of translation, rotation, and constraints on velocities and on
    positions; power lost; what cancels inside of terms of translation and rotation, and its energy;
    the first four of bodies alone. `given`, `found`: of laws. `refinement` has room where it is
    needed. `factorised` (2,): how many corrections the last step took, whose factors tiles hold, 0
    if they hold none; and the step that made these.
    """

    x: Rows4
    tiles: Rows12
    refinement: Refinement
    gap: Real2
    sizes: Real1
    given: Real1
    found: Real1
    factorised: Index1


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
    h; `ports` (ports, 3) the first input of every port, the one after its last, and 1 if energy
    that it puts in comes from outside; `times` (steps + 1,) [s] the ends of the
    steps; u, y (steps, inputs) inputs and outputs. `done` steps were taken before, of a `total` in
    the whole run; `known` is how many of them `carried` knows of. `rtol` and `limit` are Newton's
    tolerance and the most iterations. The places of `state`, `ahead` and `before` are exchanged in
    turn, once for every step. `sums` (9 + ports,) are balances, carried on; `sampling` are
    controllers that set inputs.
    """

    machine: Machine
    places: Index2
    ports: Index2
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
    sampling: Sampling


@inline
def in_quaternions(spins: Spins | None) -> bool:
    """Tell whether bodies turn by quaternions."""
    return spins is not None


@inline
def account(
    job: Job, n: int, H: float, h: float, power: float, iterations: int, residual: float
) -> None:
    """Add one step to the balances."""
    sums, ports, supplied = job.sums, job.ports, 0.0
    for p in range(ports.shape[0]):
        put_in = 0.0
        for i in range(ports[p, 0], ports[p, 1]):
            put_in += job.u[n, i] * job.y[n, i]
        sums[SUPPLIED + p] += h * put_in
        if ports[p, 2] == 1:
            supplied += sums[SUPPLIED + p]
    sums[LOST] += h * power
    sums[RESIDUAL] = max(sums[RESIDUAL], residual)
    sums[BALANCE] = H - sums[START] - supplied + sums[LOST]
    sums[ERROR] = max(sums[ERROR], abs(sums[BALANCE]))
    sums[LEAST] = min(sums[LEAST], power)
    sums[ITERATIONS] += iterations
    sums[LAST_ITERATIONS] = iterations
    sums[ENERGY] = H
