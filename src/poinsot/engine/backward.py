r"""Steps backwards: the gradient of a loss by the end of a step becomes one by its start.

A step solves F(u; y0, T) = 0 for its unknowns u, velocities and multipliers, from a state y0 with
the numbers T of its tables, and ends at y1 = M(u; y0). With the gradient lam of the loss by y1

.. math:: K^\top \mu = M_u^\top \lambda, \qquad \lambda \leftarrow M_y^\top \lambda - F_y^\top \mu,
          \qquad s \leftarrow s - F_T^\top \mu

where K = F_u is the matrix of Newton's method at the solution, and s the gradient by the tables.

Steps can be taken back: with both ends exchanged, -h for h and impulses of the other sign, the
residuals F~ of a step are S F, signs S = +-1 of theirs. So what F is by the start is what F~ is by
its end, which the tiles of either tell by the unknowns of motion. In the stabilised form that is
all: with K~ the matrix of the step taken back,

.. math:: K^\top \mu = M_u^\top \lambda, \qquad g = \tilde K^\top S \mu

give the gradient by the start: g by its velocities is that, but for the sign, and g by the motion
is that by the place which the motion, taken back, leads to. Constraints at the end of a step do not
depend on its start; S is 0 for these. In the plain form velocities at the end are no unknowns;
bodies, common points and products of vectors have their derivatives by hand there.

Where these are, the gradient s has as many numbers as tables have, and is contracted with their
derivatives by parameters after the last step: a step costs the same for any number of parameters.
Of other families mu times residuals is taken with the numbers of models near by as well, one after
the other.

Networks at ports have states of their own, and set the inputs of ports by all outputs: what is said
of steps taken back holds for given inputs, and the rest is in `parts.network_backward`. Those of
Maxwell elements are in `parts.relaxing_backward`.
"""

from typing import NamedTuple

from poinsot.bodies.directors_backward import (
    begin_backward,
    clear_backward,
    end_backward,
    load_motion,
    place_end,
    subtract_ends,
    turn_around,
)
from poinsot.bodies.in_directors import free_bodies, stabilised_bodies
from poinsot.bodies.stabilised_backward import (
    add_numbers,
    begin_stabilised,
    end_stabilised,
    exchange_ends,
    load_stabilised,
)
from poinsot.engine.families import (
    Tables,
    act_by_hand,
    act_on_ends,
    act_one,
    act_one_stabilised,
    act_stabilised_exactly,
    backward,
    begin,
    begin_back,
    close_exactly,
    end_back,
    fold,
    give_both,
    give_ends,
    products_one,
    recall,
    start,
    start_one,
    unfold,
)
from poinsot.engine.job import Machine, Work
from poinsot.engine.redundant import hold
from poinsot.engine.tiles import (
    clear,
    factorise,
    keep,
    multiply_transposed,
    refine_transposed,
    solve_transposed,
)
from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import BODY_NODES, Index1, Index2, Real1, Real2, Real3, Rows4, Rows12


class Sweep(NamedTuple):
    """Steps to go through backwards, and everything that this reads and writes.

    `machine` has the exact tangent. Of states x (steps + 1, n) at the `times` (steps + 1,) [s], and
    inputs u (steps, inputs), steps are solved already; `seeds` (steps + 1, n) are the derivatives
    of the loss by these states, the first of which is left to the caller. `lam` (n,) is the
    gradient by the last state, and then by the first one; `by_bodies` and `by_parts` are those by
    tables, added to. `places` (m, 4) as in a `Job`.

    The `families` (f,), by number, have no derivatives by hand; `acting` tells whether there are
    any. Their numbers in tables lie in one array, `numbers` (k,), each family's from `first`
    (f + 1,) on, and once more in `own`; those of models near by in `nearby` (models, k), of which
    `differs` (models, f) tells which are others. `by_nearby` (models, nodes) are sums of -mu times
    what residuals of nodes are more there; `products` (f + 1, nodes) has room for mu times
    residuals. `by_u` (steps, inputs) is the gradient by inputs, unless it has no columns; `fed` of
    them are those of what acts, the first ones. Some of them, `read_inputs`, are measured where a
    step begins: `reads` (steps, inputs, states) are their slopes by `read_states`.

    The rest is room for a step: `state`, `ahead`, `stage`, `multiplier`, `gap`, `mu`, `ends` and
    `spare` (nodes, 4), `frames` (bodies + 1, 12), and `tiles`.
    """

    machine: Machine
    by_bodies: Real2
    by_parts: Tables
    places: Index2
    times: Real1
    u: Real2
    y: Real2
    x: Real2
    seeds: Real2
    lam: Real1
    acting: bool
    families: Index1
    first: Index1
    numbers: Real1
    own: Real1
    nearby: Real2
    differs: Index2
    by_nearby: Real2
    products: Real2
    by_u: Real2
    fed: int
    reads: Real3
    read_inputs: Index1
    read_states: Index1
    state: Real2
    ahead: Real2
    stage: Real2
    multiplier: Real2
    gap: Real2
    frames: Real2
    mu: Rows4
    ends: Rows4
    spare: Rows4
    tiles: Rows12
    work: Work


@kernel
def sweep(job: Sweep) -> tuple[int, int]:
    """Go through all steps; return how many, and nothing: fewer if a matrix is singular."""
    steps, taken = job.times.size - 1, 0
    for k in range(steps):
        n = steps - 1 - k
        for i in range(job.lam.size):
            job.lam[i] += job.seeds[n + 1, i]
        total = _take_back(job, job.machine.stabilised, n, job.times[n + 1] - job.times[n])
        _by_readings(job, n)
        if total - total != 0.0:
            break
        taken += 1
    return taken, 0


@kernel
def _by_readings(job: Sweep, n: int) -> None:
    """Add what the gradient by inputs is by the states at the start at which they are measured."""
    for i in range(job.read_inputs.size):
        by_u = job.by_u[n, job.read_inputs[i]]
        for j in range(job.read_states.size):
            job.lam[job.read_states[j]] += by_u * job.reads[n, i, j]


@inline
def _take_back(job: Sweep, stabilised: Array, n: int, h: float) -> float:
    """Go back by a step; return a sum that shows whether lam is a number."""
    if stabilised is None:
        return _plain(job, n, h)
    return _stabilised(job, n, h)


@kernel
def _plain(job: Sweep, n: int, h: float) -> float:
    """Go back by a step of the plain form."""
    machine, x, lam, mu = job.machine, job.x, job.lam, job.mu
    bodies, stage = machine.bodies.places, job.stage
    load_motion(bodies, x[n], x[n + 1], job.state, stage)
    place_end(bodies, x[n + 1], job.ahead)
    _load_multipliers(job, n, h)
    step = _step(job, n, h, job.state)
    recall(machine.parts, job.state, x[n], x[n + 1])
    start(machine.parts, job.state)
    _linearise_plain(job, step)
    _factorise(job)
    clear_backward(mu, job.frames)
    begin_backward(bodies, h, x[n + 1], stage, lam, mu)
    _take_multipliers(job, h)
    begin_back(machine.parts, step, lam, mu)
    fold(machine.parts, machine.bodies, mu)
    _solve(job)
    unfold(machine.parts, machine.bodies, mu)
    _clear_row(mu, mu.shape[0] - 1)  # the ground's
    backward(machine.parts, job.by_parts, step, mu, job.frames)
    if job.acting:
        _by_numbers(job, n, step)
    end_back(machine.parts, job.by_parts, step, lam, mu, job.frames, job.by_u[n])
    total: float = end_backward(machine.bodies, job.by_bodies, h, x[n], stage, mu, job.frames, lam)
    if job.acting:
        _by_ends(job, n, h, step)
    return total


@kernel
def _stabilised(job: Sweep, n: int, h: float) -> float:
    """Go back by a step of the stabilised form."""
    machine, lam, mu, ends = job.machine, job.lam, job.mu, job.ends
    bodies, stage = machine.bodies.places, job.stage
    load_stabilised(bodies, h, job.x[n], job.x[n + 1], job.state, job.ahead, stage)
    _load_multipliers(job, n, h)
    step = _step(job, n, h, job.state)
    recall(machine.parts, job.state, job.x[n], job.x[n + 1])
    start(machine.parts, job.state)
    _linearise_stabilised(job, step, True)
    _factorise(job)
    clear_backward(mu, job.frames)
    begin_stabilised(bodies, h, job.ahead, stage, lam, mu)
    _take_multipliers(job, h)
    begin_back(machine.parts, step, lam, mu)
    _solve(job)
    _clear_row(mu, mu.shape[0] - 1)  # the ground's
    add_numbers(machine.bodies, job.by_bodies, h, job.state, stage, mu)
    _by_numbers(job, n, step)
    end_back(machine.parts, job.by_parts, step, lam, mu, job.frames, job.by_u[n])
    exchange_ends(bodies, mu, job.state, stage)
    _turn_impulses(job)
    start(machine.parts, job.ahead)
    back = _step(job, n, -h, job.ahead)
    _linearise_stabilised(job, back, False)
    start(machine.parts, job.state)  # angles are followed from step to step
    for i in range(ends.shape[0]):
        _clear_row(ends, i)
    multiply_transposed(machine.schedule, job.work.tiles, mu, ends)
    give_ends(machine.parts, back, ends)
    found: float = end_stabilised(bodies, h, job.state, stage, ends, lam)
    return found


@inline
def _step(job: Sweep, n: int, h: float, state: Array) -> Step:
    """Return step n of duration h, with a sign [s], from a state."""
    machine, work = job.machine, job.work
    return Step(
        0.5 * (job.times[n] + job.times[n + 1]),
        h,
        machine.length,
        machine.speeds,
        0.0,
        machine.arms_at,
        False,
        job.u[n],
        job.y[n],
        state,
        job.stage,
        job.multiplier,
        machine.bodies.places,
        job.gap,
        work.x,
        work.sizes,
        work.given,
        work.found,
    )


@kernel
def _factorise(job: Sweep) -> None:
    """Factorise the matrix; it is kept where solutions are refined."""
    machine, work = job.machine, job.work
    hold(machine.repeated, work.tiles)
    keep(work.tiles, work.refinement.matrix)
    factorise(machine.schedule, work.tiles, job.spare, machine.hardly)


@kernel
def _solve(job: Sweep) -> None:
    """Replace mu by the solution of the transposed system."""
    schedule, work = job.machine.schedule, job.work
    keep(job.mu, work.refinement.right)
    solve_transposed(schedule, work.tiles, job.mu)
    refine_transposed(schedule, work.tiles, work.refinement, job.mu)


@kernel
def _load_multipliers(job: Sweep, n: int, h: float) -> None:
    places = job.places
    for j in range(places.shape[0]):
        times_h = h if places[j, 3] == 1 else 1.0
        job.multiplier[places[j, 0], places[j, 1]] = times_h * job.x[n + 1, places[j, 2]]


@kernel
def _take_multipliers(job: Sweep, h: float) -> None:
    """Move the gradient by multipliers from lam to mu."""
    places, lam = job.places, job.lam
    for j in range(places.shape[0]):
        times_h = h if places[j, 3] == 1 else 1.0
        job.mu[places[j, 0], places[j, 1]] = lam[places[j, 2]] / times_h
        lam[places[j, 2]] = 0.0


@kernel
def _turn_impulses(job: Sweep) -> None:
    """Let multipliers that are times h be those of the step taken back."""
    places, multiplier = job.places, job.multiplier
    for j in range(places.shape[0]):
        if places[j, 3] == 1:
            multiplier[places[j, 0], places[j, 1]] *= -1.0


# -- how residuals change --------------------------------------------------------------------------


@kernel
def _linearise_plain(job: Sweep, step: Step) -> None:
    """Set the matrix of the plain form; what has no derivatives by hand is in `tiles`, too."""
    machine, matrix, tiles = job.machine, job.work.tiles, job.tiles
    clear(machine.template, matrix)
    bodies, h, length = machine.bodies, step.h, step.length
    free_bodies(bodies, h, length, step.state, step.stage, step.x, matrix, step.sizes)
    close_exactly(machine.parts, step, matrix)
    act_by_hand(machine.parts, step, matrix)
    if job.acting:
        _act_on_ends(job, step)
        for i in range(matrix.shape[0]):
            for j in range(12):
                matrix[i, j] += tiles[i, j]


@kernel
def _linearise_stabilised(job: Sweep, step: Step, closed: bool) -> None:
    """Set the matrix of the stabilised form; ports are `closed`, or have the inputs of before."""
    machine, matrix = job.machine, job.work.tiles
    bodies, h, length = machine.bodies, step.h, step.length
    for _ in range(_asked(machine)):
        begin(machine.parts, step.state)
        clear(machine.template, matrix)
        stabilised_bodies(bodies, h, length, step.state, step.stage, step.x, matrix, step.sizes)
        if closed:
            close_exactly(machine.parts, step, matrix)
        act_stabilised_exactly(machine.parts, step, matrix)


@kernel
def _act_on_ends(job: Sweep, step: Step) -> None:
    """Set tiles of families without derivatives by hand, in the plain form."""
    machine, tiles = job.machine, job.tiles
    for _ in range(_asked(machine)):
        begin(machine.parts, step.state)
        for i in range(tiles.shape[0]):
            for j in range(12):
                tiles[i, j] = 0.0
        act_on_ends(machine.parts, step, tiles)


@inline
def _asked(machine: Machine) -> int:
    """Return how often laws are asked: some begin a step with slopes of an earlier one."""
    return 2 if machine.keeping else 1


@kernel
def _by_ends(job: Sweep, n: int, h: float, step: Step) -> None:
    """Subtract from lam what families without own derivatives add to mu times residuals."""
    bodies, schedule = job.machine.bodies.places, job.machine.schedule
    mu, ends, stage, tiles = job.mu, job.ends, job.stage, job.tiles
    for i in range(ends.shape[0]):
        _clear_row(ends, i)
    multiply_transposed(schedule, tiles, mu, ends)
    give_both(job.machine.parts, step, ends)
    start(job.machine.parts, job.ahead)
    turn_around(stage)
    _turn_impulses(job)
    back = _step(job, n, -h, job.ahead)
    _act_on_ends(job, back)
    # What constrains changes no sign: all else does, which makes up for the sign of h.
    for i in range(0 + bodies[bodies.shape[0] - 1, BODY_NODES], mu.shape[0]):
        for slot in range(3):
            mu[i, slot] *= -1.0
    multiply_transposed(schedule, tiles, mu, ends)
    give_both(job.machine.parts, back, ends)
    turn_around(stage)
    start(job.machine.parts, job.state)  # angles are followed from step to step
    subtract_ends(bodies, h, job.state, stage, ends, job.lam)


@kernel
def _by_numbers(job: Sweep, n: int, step: Step) -> None:
    """Subtract what families add with other numbers, and with other inputs."""
    models, families, u = job.nearby.shape[0], job.families, job.u
    inputs = min(job.fed, job.by_u.shape[1])
    if models > 0 or inputs > 0:
        here = 0.0
        for i in range(families.size):
            here += _multiply(job, families[i], step, i)
            _by_others(job, i, step)
        for j in range(inputs):
            u[n, j] += 1.0
            job.by_u[n, j] = here
            for i in range(families.size):
                job.by_u[n, j] -= _multiply(job, families[i], step, families.size)
            u[n, j] -= 1.0


@kernel
def _by_others(job: Sweep, i: int, step: Step) -> None:
    """Subtract what a family adds with the numbers of models near by; its own come back then."""
    products, numbers, family, changed = job.products, job.numbers, job.families[i], False
    for k in range(job.nearby.shape[0]):
        if job.differs[k, i] == 1:
            changed = True
            for j in range(job.first[i], job.first[i + 1]):
                numbers[j] = job.nearby[k, j]
            start_one(job.machine.parts, family, job.state)
            _multiply(job, family, step, job.families.size)
            for node in range(products.shape[1]):
                more = products[job.families.size, node] - products[i, node]
                job.by_nearby[k, node] -= more
    if changed:
        for j in range(job.first[i], job.first[i + 1]):
            numbers[j] = job.own[j]
        start_one(job.machine.parts, family, job.state)


@kernel
def _multiply(job: Sweep, family: int, step: Step, row: int) -> float:
    """Set products of mu and residuals of a family, node by node; return their sum."""
    x, mu, total = step.x, job.mu, 0.0
    for i in range(x.shape[0]):
        _clear_row(x, i)
    _act_alone(job.machine, job.machine.stabilised, family, step)
    for i in range(x.shape[0] - 1):
        product = x[i, 0] * mu[i, 0] + x[i, 1] * mu[i, 1] + x[i, 2] * mu[i, 2]
        job.products[row, i] = product
        total += product
    products_one(job.machine.parts, family, step, job.products[row])
    return total


@inline
def _act_alone(machine: Machine, stabilised: Array, family: int, step: Step) -> None:
    if stabilised is None:
        act_one(machine.parts, family, step, None)
    else:
        act_one_stabilised(machine.parts, family, step, None)


@kernel
def _clear_row(x: Array, i: int) -> None:
    for j in range(4):
        x[i, j] = 0.0
