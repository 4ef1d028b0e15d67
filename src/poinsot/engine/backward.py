r"""Steps backwards: the gradient of a loss by the end of a step becomes one by its start.

A step solves F(u; y0, T) = 0 for its unknowns u, velocities and multipliers, from a state y0 with
the numbers T of its tables, and ends at y1 = M(u; y0). With the gradient lam of the loss by y1

.. math:: K^\top \mu = M_u^\top \lambda, \qquad \lambda \leftarrow M_y^\top \lambda - F_y^\top \mu,
          \qquad s \leftarrow s - F_T^\top \mu

where K = F_u is the matrix of Newton's method at the solution, and s the gradient by the tables. It
has as many numbers as the tables, and is contracted with their derivatives by parameters after the
last step: what a step costs does not depend on the number of parameters.
"""

from typing import NamedTuple

from poinsot.bodies.directors_backward import (
    begin_backward,
    clear_backward,
    end_backward,
    load_motion,
)
from poinsot.engine.families import Tables, backward, fold, unfold
from poinsot.engine.job import Machine, Work
from poinsot.engine.redundant import hold
from poinsot.engine.step import evaluate
from poinsot.engine.tiles import clear, factorise, solve_transposed
from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import Index2, Real1, Real2, Rows4


class Sweep(NamedTuple):
    """Steps to go through backwards, and everything that this reads and writes.

    `machine` has the exact tangent. Of states x (steps + 1, n) at the `times` (steps + 1,) [s], and
    inputs u (steps, inputs), steps are solved already; `seeds` (steps + 1, n) are the derivatives
    of the loss by these states, the first of which is left to the caller. `lam` (n,) is the
    gradient by the last state, and then by the first one; `by_bodies` and `by_parts` are those by
    tables, added to. `places` (m, 4) as in a `Job`. `state`, `stage`, `multiplier`, `gap`, `mu`,
    `frames` (bodies + 1, 12) and `spare` are room for a step.
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
    state: Real2
    stage: Real2
    multiplier: Real2
    gap: Real2
    frames: Real2
    mu: Rows4
    spare: Rows4
    work: Work


@kernel
def sweep(job: Sweep) -> tuple[int, int]:
    """Go through all steps; return how many, and nothing: fewer if a matrix is singular."""
    machine, work, x, lam, places = job.machine, job.work, job.x, job.lam, job.places
    stage, mu, tiles, schedule = job.stage, job.mu, work.tiles, machine.schedule
    steps, taken = job.times.size - 1, 0
    for k in range(steps):
        n = steps - 1 - k
        h = job.times[n + 1] - job.times[n]
        step = Step(
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
            stage,
            job.multiplier,
            machine.bodies.places,
            job.gap,
            work.x,
            work.sizes,
            work.given,
            work.found,
        )
        for i in range(lam.size):
            lam[i] += job.seeds[n + 1, i]
        load_motion(machine.bodies.places, x[n], x[n + 1], job.state, stage)
        for j in range(places.shape[0]):
            times_h = h if places[j, 3] == 1 else 1.0
            job.multiplier[places[j, 0], places[j, 1]] = times_h * x[n + 1, places[j, 2]]
        clear(machine.template, tiles)
        evaluate(machine, step, tiles)
        hold(machine.repeated, tiles)
        factorise(schedule, tiles, job.spare, machine.hardly)
        clear_backward(mu, job.frames)
        begin_backward(machine.bodies.places, h, x[n + 1], stage, lam, mu)
        for j in range(places.shape[0]):
            times_h = h if places[j, 3] == 1 else 1.0
            mu[places[j, 0], places[j, 1]] = lam[places[j, 2]] / times_h
            lam[places[j, 2]] = 0.0
        fold(machine.parts, machine.bodies, mu)
        solve_transposed(schedule, tiles, mu)
        unfold(machine.parts, machine.bodies, mu)
        clear_ground(mu)
        backward(machine.parts, job.by_parts, step, mu, job.frames)
        total = end_backward(machine.bodies, job.by_bodies, h, x[n], stage, mu, job.frames, lam)
        if total - total != 0.0:
            break
        taken += 1
    return taken, 0


@kernel
def clear_ground(mu: Array) -> None:
    """Give the ground no part in what moves."""
    for i in range(4):
        mu[mu.shape[0] - 1, i] = 0.0
