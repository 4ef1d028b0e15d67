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
depend on its start; S is 0 for these. In the plain form velocities at the end are no unknowns, and
residuals depend on the start by frames at the midpoint alone, the unknowns being held. Bodies,
joints and most of what acts have their derivatives by these by hand, and steps are taken back for
the rest. So it is in quaternions with mean lever arms, where bodies alone differ.

Networks at ports have states of their own, and set the inputs of ports by all outputs: what is said
of steps taken back holds for given inputs, and the rest is in `parts.network_backward`. Those of
Maxwell elements are in `parts.relaxing_backward`.

By numbers, the same have derivatives by hand in both forms. There the gradient s has as many
numbers as tables have, and is contracted with their derivatives by parameters after the last step:
a step costs the same for any number of parameters. Of laws that are functions, and of the rest, mu
times residuals is taken with those of models near by as well, one after the other.
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
from poinsot.bodies.in_quaternions import quaternion_bodies
from poinsot.bodies.quaternions_backward import (
    begin_turning,
    end_turning,
    load_turning,
    subtract_turning,
)
from poinsot.bodies.stabilised_backward import (
    add_numbers,
    begin_stabilised,
    end_stabilised,
    exchange_ends,
    load_stabilised,
)
from poinsot.engine.control_backward import Decisions, take_decisions_back
from poinsot.engine.families import (
    Tables,
    act_by_hand,
    act_on_ends,
    act_one,
    act_one_stabilised,
    act_stabilised_exactly,
    backward,
    backward_stabilised,
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
from poinsot.engine.job import Machine, Work, in_quaternions
from poinsot.engine.measure_backward import measure_back
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
from poinsot.kernels.sampling import Sampling
from poinsot.kernels.step import Step
from poinsot.kernels.tables import BODY_NODES, Index1, Index2, Real1, Real2, Rows4, Rows12, Spins


class Sweep(NamedTuple):
    """Steps to go through backwards, and everything that this reads and writes.

    `machine` has the exact tangent. Of states x (steps + 1, n), in quaternions those of
    `bodies.quaternions_backward`, at the `times` (steps + 1,) [s], and inputs u (steps, inputs),
    steps are solved already. The derivatives of the loss are those by states, `seeds` (steps + 1,
    n), or those by what is `measured` of them, `slopes` (steps + 1, rows), or both; either may be
    empty. The first state is left to the caller. `lam` (n,) is the gradient by the last state, and
    then by the first one; `by_bodies` and `by_parts` are those by tables, added to. `places`
    (m, 4) as in a `Job`.

    The families `rest` (r,), by number, have no derivatives by hand. Their numbers, and addresses
    of laws of any `families` (f,), lie in one array, `numbers` (k,), each family's from `first`
    (f + 1,) on, and once more in `own`; those of models near by in `nearby` (models, k), of which
    `differs` (models, f) tells which are others. `by_nearby` (models, nodes) are sums of -mu times
    what residuals of nodes are more there; `products` (f + 1, nodes) has room for mu times
    residuals. `by_u` (steps, inputs) is the gradient by inputs, unless it has no columns; `fed` of
    them are those of what acts, the first ones.

    `decisions` are those of sampled controllers, which inputs follow.

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
    measured: Sampling
    slopes: Real2
    lam: Real1
    rest: Index1
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
    decisions: Decisions
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
        _add_slopes(job, n + 1)
        total = _take_back(job, job.machine.stabilised, n, job.times[n + 1] - job.times[n])
        if total - total != 0.0:
            break
        if job.decisions.slopes.size > 0:
            decisions, u = job.decisions, job.by_u[n]
            take_decisions_back(decisions, job.machine, job.places, n, job.x[n], u, job.lam)
        taken += 1
    return taken, 0


@kernel
def _add_slopes(job: Sweep, n: int) -> None:
    """Add to lam the derivatives of the loss by state number n."""
    if job.seeds.shape[0] > 0:
        for i in range(job.lam.size):
            job.lam[i] += job.seeds[n, i]
    for row in range(job.slopes.shape[1]):
        nu = job.slopes[n, row]
        if nu != 0.0:
            measure_back(job.measured, job.machine, job.places, row, nu, job.x[n], job.lam)


@inline
def _take_back(job: Sweep, stabilised: Array, n: int, h: float) -> float:
    """Go back by a step; return a sum that shows whether lam is a number."""
    if stabilised is None:
        return _plain(job, n, h)
    return _stabilised(job, n, h)


@kernel
def _plain(job: Sweep, n: int, h: float) -> float:
    """Go back by a step of the plain form."""
    machine, mu = job.machine, job.mu
    _load(job, machine.spins, n, h)
    _load_multipliers(job, n, h)
    step = _step(job, n, h, job.state)
    recall(machine.parts, job.state, job.x[n], job.x[n + 1])
    start(machine.parts, job.state)
    _linearise_plain(job, step)
    _factorise(job)
    clear_backward(mu, job.frames)
    _begin(job, machine.spins, n, h)
    _take_multipliers(job, h)
    begin_back(machine.parts, step, job.lam, mu)
    fold(machine.parts, machine.bodies, mu)
    _solve(job)
    unfold(machine.parts, machine.bodies, mu)
    _clear_row(mu, mu.shape[0] - 1)  # the ground's
    backward(machine.parts, job.by_parts, step, mu, job.frames, job.by_u[n])
    _by_numbers(job, n, step)
    end_back(machine.parts, job.by_parts, step, job.lam, mu, job.frames, job.by_u[n])
    total = _end(job, machine.spins, n, h)
    if job.rest.size > 0:
        _by_ends(job, n, h, step)
    return total


@inline
def _load(job: Sweep, spins: Spins | None, n: int, h: float) -> None:
    """Set both ends of a step and its unknowns, in the plain form."""
    places, x0, x1 = job.machine.bodies.places, job.x[n], job.x[n + 1]
    if spins is None:
        load_motion(places, x0, x1, job.state, job.stage)
        place_end(places, x1, job.ahead)
    else:
        load_turning(places, spins, h, x0, x1, job.state, job.ahead, job.stage)


@inline
def _begin(job: Sweep, spins: Spins | None, n: int, h: float) -> None:
    """Go from the gradient by the end of a step to that by its unknowns, in the plain form."""
    places = job.machine.bodies.places
    if spins is None:
        begin_backward(places, h, job.x[n + 1], job.stage, job.lam, job.mu)
    else:
        begin_turning(places, spins, h, job.state, job.stage, job.lam, job.mu)


@inline
def _end(job: Sweep, spins: Spins | None, n: int, h: float) -> float:
    """Subtract what bodies are by the start of a step and by their numbers, in the plain form."""
    bodies, by, stage, mu, frames = job.machine.bodies, job.by_bodies, job.stage, job.mu, job.frames
    if spins is None:
        return end_backward(bodies, by, h, job.x[n], stage, mu, frames, job.lam)
    state, ahead = job.state, job.ahead
    return end_turning(bodies, spins, by, h, state, ahead, stage, mu, frames, job.lam)


@inline
def _subtract_ends(job: Sweep, spins: Spins | None, h: float) -> None:
    """Subtract what is known by both ends of a step, in the plain form."""
    places = job.machine.bodies.places
    if spins is None:
        subtract_ends(places, h, job.state, job.stage, job.ends, job.lam)
    else:
        subtract_turning(places, h, job.stage, job.ends, job.lam)


@inline
def _free_bodies(machine: Machine, spins: Spins | None, step: Step, tiles: Array) -> None:
    """Set what bodies put into residual and tiles of the plain form."""
    bodies, h, length, state, stage = machine.bodies, step.h, step.length, step.state, step.stage
    if spins is None:
        free_bodies(bodies, h, length, state, stage, step.x, tiles, step.sizes)
    else:
        more, x, sizes = machine.auxiliary, step.x, step.sizes
        quaternion_bodies(bodies, spins, more, h, length, state, stage, x, tiles, sizes)


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
    backward_stabilised(machine.parts, job.by_parts, step, mu, job.frames, job.by_u[n])
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
        in_quaternions(machine.spins),
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
    for _ in range(_asked(machine)):
        begin(machine.parts, step.state)
        clear(machine.template, matrix)
        _free_bodies(machine, machine.spins, step, matrix)
        close_exactly(machine.parts, step, matrix)
        act_by_hand(machine.parts, step, matrix)
    if job.rest.size > 0:
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
    machine, bodies, schedule = job.machine, job.machine.bodies.places, job.machine.schedule
    mu, ends, stage, tiles = job.mu, job.ends, job.stage, job.tiles
    for i in range(ends.shape[0]):
        _clear_row(ends, i)
    multiply_transposed(schedule, tiles, mu, ends)
    give_both(machine.parts, step, ends)
    start(machine.parts, job.ahead)
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
    start(machine.parts, job.state)  # angles are followed from step to step
    _subtract_ends(job, machine.spins, h)


@kernel
def _by_numbers(job: Sweep, n: int, step: Step) -> None:
    """Subtract what families add with other numbers, and with other inputs."""
    if job.nearby.shape[0] > 0:
        for i in range(job.families.size):
            _multiply(job, job.families[i], step, i)
            _by_others(job, i, step)
    if job.by_u.shape[1] > 0 and job.rest.size > 0:
        here, u = _of_rest(job, step), job.u
        for j in range(min(job.fed, job.by_u.shape[1])):
            u[n, j] += 1.0
            job.by_u[n, j] += here - _of_rest(job, step)
            u[n, j] -= 1.0


@kernel
def _of_rest(job: Sweep, step: Step) -> float:
    """Return mu times the residuals of all families without derivatives by hand."""
    total = 0.0
    for i in range(job.rest.size):
        total += _multiply(job, job.rest[i], step, job.families.size)
    return total


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
