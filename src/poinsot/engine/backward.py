r"""Steps backwards: the gradient of a loss by the end of a step becomes one by its start.

A step solves F(u; y0, T) = 0 for its unknowns u, velocities and multipliers, from a state y0 with
the numbers T of its tables, and ends at y1 = M(u; y0). With the gradient lam of the loss by y1

.. math:: K^\top \mu = M_u^\top \lambda, \qquad \lambda \leftarrow M_y^\top \lambda - F_y^\top \mu,
          \qquad s \leftarrow s - F_T^\top \mu

where K = F_u is the matrix of Newton's method at the solution, and s the gradient by the tables. It
has as many numbers as the tables, and is contracted with their derivatives by parameters after the
last step: of bodies and joints a step costs the same for any number of parameters.

What else acts can be taken back: its residuals are those of the step from the end with -h, but for
the sign, so that the tiles of both tell how they change with the start. How they change with their
numbers is told by mu times residuals with the numbers of models near by, one after the other.
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
from poinsot.engine.families import Tables, act_reversibly, backward, fold, start, unfold
from poinsot.engine.job import Machine, Work
from poinsot.engine.redundant import hold
from poinsot.engine.step import evaluate
from poinsot.engine.tiles import clear, factorise, multiply_transposed, solve_transposed
from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import Index2, Real1, Real2, Rows4, Rows12


class Sweep(NamedTuple):
    """Steps to go through backwards, and everything that this reads and writes.

    `machine` has the exact tangent. Of states x (steps + 1, n) at the `times` (steps + 1,) [s], and
    inputs u (steps, inputs), steps are solved already; `seeds` (steps + 1, n) are the derivatives
    of the loss by these states, the first of which is left to the caller. `lam` (n,) is the
    gradient by the last state, and then by the first one; `by_bodies` and `by_parts` are those by
    tables, added to. `places` (m, 4) as in a `Job`.

    `acting` tells whether there is more than bodies and joints. Its numbers in tables lie in one
    array, `numbers` (k,), and once more in `own`; those of models near by in `nearby` (models, k):
    `by_nearby` (models,) are sums of -mu times their residuals. `by_u` (steps, inputs) is the
    gradient by inputs, unless it has no columns.

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
    numbers: Real1
    own: Real1
    nearby: Real2
    by_nearby: Real1
    by_u: Real2
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
    machine, work, x, lam, places = job.machine, job.work, job.x, job.lam, job.places
    stage, mu, tiles, schedule = job.stage, job.mu, work.tiles, machine.schedule
    bodies, steps, taken = machine.bodies.places, job.times.size - 1, 0
    for k in range(steps):
        n = steps - 1 - k
        h = job.times[n + 1] - job.times[n]
        step = _step(job, n, h)
        for i in range(lam.size):
            lam[i] += job.seeds[n + 1, i]
        load_motion(bodies, x[n], x[n + 1], job.state, stage)
        for j in range(places.shape[0]):
            times_h = h if places[j, 3] == 1 else 1.0
            job.multiplier[places[j, 0], places[j, 1]] = times_h * x[n + 1, places[j, 2]]
        start(machine.parts, job.state)
        clear(machine.template, tiles)
        evaluate(machine, step, tiles)
        hold(machine.repeated, tiles)
        factorise(schedule, tiles, job.spare, machine.hardly)
        clear_backward(mu, job.frames)
        begin_backward(bodies, h, x[n + 1], stage, lam, mu)
        for j in range(places.shape[0]):
            times_h = h if places[j, 3] == 1 else 1.0
            mu[places[j, 0], places[j, 1]] = lam[places[j, 2]] / times_h
            lam[places[j, 2]] = 0.0
        fold(machine.parts, machine.bodies, mu)
        solve_transposed(schedule, tiles, mu)
        unfold(machine.parts, machine.bodies, mu)
        _clear_row(mu, mu.shape[0] - 1)  # the ground's
        backward(machine.parts, job.by_parts, step, mu, job.frames)
        total = end_backward(machine.bodies, job.by_bodies, h, x[n], stage, mu, job.frames, lam)
        if job.acting:
            _by_ends(job, n, h, step)
            _by_numbers(job, n, step)
        if total - total != 0.0:
            break
        taken += 1
    return taken, 0


@inline
def _step(job: Sweep, n: int, h: float) -> Step:
    """Return step n of duration h, with a sign [s]."""
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
        job.state,
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
def _by_ends(job: Sweep, n: int, h: float, step: Step) -> None:
    """Subtract from lam what parts that can be taken back add to mu times residuals."""
    machine, tiles, ends = job.machine, job.tiles, job.ends
    bodies = machine.bodies.places
    for i in range(tiles.shape[0]):
        for j in range(12):
            tiles[i, j] = 0.0
    act_reversibly(machine.parts, step, tiles)
    place_end(bodies, job.x[n + 1], job.ahead)
    start(machine.parts, job.ahead)
    turn_around(job.stage)
    act_reversibly(machine.parts, _step(job, n, -h), tiles)
    turn_around(job.stage)
    start(machine.parts, job.state)
    for i in range(ends.shape[0]):
        _clear_row(ends, i)
    multiply_transposed(machine.schedule, tiles, job.mu, ends)
    subtract_ends(bodies, h, job.state, job.stage, ends, job.lam)


@kernel
def _by_numbers(job: Sweep, n: int, step: Step) -> None:
    """Subtract what these add with other numbers, and with other inputs."""
    parts, numbers, u = job.machine.parts, job.numbers, job.u
    if job.nearby.shape[0] > 0:
        for k in range(job.nearby.shape[0]):
            for i in range(numbers.size):
                numbers[i] = job.nearby[k, i]
            start(parts, job.state)
            job.by_nearby[k] -= _against(job, step)
        for i in range(numbers.size):
            numbers[i] = job.own[i]
        start(parts, job.state)
    if job.by_u.shape[1] > 0:
        here = _against(job, step)
        for j in range(job.by_u.shape[1]):
            u[n, j] += 1.0
            job.by_u[n, j] = here - _against(job, step)
            u[n, j] -= 1.0


@kernel
def _against(job: Sweep, step: Step) -> float:
    """Return mu times the residuals of what can be taken back."""
    x, mu, total = step.x, job.mu, 0.0
    for i in range(x.shape[0]):
        _clear_row(x, i)
    act_reversibly(job.machine.parts, step, None)
    for i in range(x.shape[0] - 1):
        total += x[i, 0] * mu[i, 0] + x[i, 1] * mu[i, 1] + x[i, 2] * mu[i, 2]
    return total


@kernel
def _clear_row(x: Array, i: int) -> None:
    for j in range(4):
        x[i, j] = 0.0
