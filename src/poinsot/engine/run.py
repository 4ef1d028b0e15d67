"""The time loop: many steps at once, balances of every one, and every so many of them saved."""

from math import inf

from poinsot.bodies.in_directors import move, move_stabilised, save_directors, straighten
from poinsot.bodies.in_quaternions import move_quaternions, save_quaternions
from poinsot.engine import DRIFT
from poinsot.engine.control import control
from poinsot.engine.extrapolation import extrapolate, go_back
from poinsot.engine.families import accept, end, ended, energy, save
from poinsot.engine.job import Job, Machine, Run, account, in_quaternions
from poinsot.engine.prediction import predict
from poinsot.engine.step import take_step
from poinsot.engine.turn_counters import count_turns, read_turns
from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import BODY_NODES, LOST_POWER, Spins, V

#: Directors are straightened every so many steps: seldom, since that is rounded, too, and what it
#: does to lengths is work of the joints that keep them closed.
STRAIGHTEN = 1024


@kernel
def run(job: Job) -> tuple[int, int]:
    """Take steps; return how many, and the rows saved.

    Fewer than asked for: the next one cannot be solved, and the state is that before it. The last
    step is saved in any case, in a row that is not counted unless it was due.
    """
    machine, carried, work = job.machine, job.carried, job.work
    state, ahead, before = job.state, job.ahead, job.before
    times, known, done = job.times, job.known, job.done
    stage, multiplier = carried.stage, carried.multiplier
    joints = machine.bodies.places[machine.bodies.numbers.shape[0], BODY_NODES]
    rows, taken, due, order = 0, 0, True, carried.order
    for n in range(times.size - 1):
        if not control(job, done + n, n, state):
            break
        h = times[n + 1] - times[n]
        step = Step(
            0.5 * (times[n] + times[n + 1]),
            h,
            machine.length,
            machine.speeds,
            DRIFT / h,
            machine.arms_at,
            in_quaternions(machine.spins),
            job.u[n],
            job.y[n],
            state,
            stage,
            multiplier,
            machine.bodies.places,
            work.gap,
            work.x,
            work.sizes,
            work.given,
            work.found,
        )
        iterations, residual, again = 0, inf, known + n > 0
        while residual == inf:
            iterations, residual = take_step(machine, step, carried, work, job.rtol, job.limit)
            if residual == inf:
                go_back(carried.past, stage, V)
                go_back(carried.past_multiplier, multiplier, 0)
                if not again:
                    break
                again = False
        if residual == inf:
            break
        H = _move(machine, machine.stabilised, machine.spins, h, state, stage, ahead)
        end(machine.parts, step, ahead)
        H += energy(machine.parts, ahead, step)
        power = work.sizes[LOST_POWER]
        if power < 0.0 or H - H != 0.0 or ended(machine.parts, ahead, step):
            break
        accept(machine.parts)
        account(job, n, H, h, power, iterations, residual)
        state, ahead, before = go_on(state, ahead, before)
        if carried.weights.shape[1] == 0:
            guessed, reverses = min(order[0], known + n), _reverses(machine.stabilised)
            order[0] = extrapolate(carried.past, stage, 0, V, guessed, reverses, known + n)
            extrapolate(
                carried.past_multiplier, multiplier, joints, 0, guessed, reverses, known + n
            )
        else:
            _predict(carried, done + n + 1, known + n + 1, stage, multiplier, joints)
        taken += 1
        if (done + taken) % STRAIGHTEN == 0:
            _straighten(machine, machine.spins, state)
        counters, terms = machine.turn_counters, machine.turn_counter_terms
        count_turns(counters, terms, before, state, carried.turns)
        due = (done + taken) % job.save_every == 0 or done + taken == job.total
        if due:
            _save(job, machine.spins, machine.stabilised, rows, n, h, state, before)
            rows += 1
    if not due:
        n = taken - 1
        h = times[n + 1] - times[n]
        _save(job, machine.spins, machine.stabilised, rows, n, h, state, before)
    return taken, rows


@inline
def go_on(state: Array, ahead: Array, before: Array) -> tuple[Array, Array, Array]:
    """Return the state of the next step, room for what is ahead of it, and the state before it."""
    return ahead, before, state


@inline
def swap(state: Array, ahead: Array, before: Array) -> tuple[Array, Array, Array]:
    """Do what `go_on` does with two arrays: if a step fails, the state before it is lost."""
    return ahead, state, state


@kernel
def _predict(
    carried: Run, number: int, known: int, stage: Array, multiplier: Array, joints: int
) -> None:
    """Guess the unknowns of a substep, by its number in the run; so many before it are known."""
    weights, order = carried.weights, carried.order
    count = weights.shape[2]
    k, slot, trusted = number % weights.shape[1], number % count, order[0] == 1 and known >= count
    nearer = predict(carried.past, stage, 0, V, weights[0, k], slot, trusted)
    predict(carried.past_multiplier, multiplier, joints, 0, weights[1, k], slot, trusted)
    order[0] = 1 if nearer else 0


@inline
def _reverses(stabilised: Array) -> bool:
    """Tell whether velocities across constraints change their sign from step to step."""
    return stabilised is None


@inline
def _move(
    machine: Machine,
    stabilised: Array,
    spins: Spins | None,
    h: float,
    state: Array,
    stage: Array,
    ahead: Array,
) -> float:
    """Set the motion at the end of a step; return kinetic energy and that of gravity [J]."""
    if stabilised is not None:
        return move_stabilised(machine.bodies, h, state, stage, ahead)
    if spins is None:
        return move(machine.bodies, h, state, stage, ahead)
    return move_quaternions(machine.bodies, spins, h, state, stage, ahead)


@inline
def _straighten(machine: Machine, spins: Spins | None, state: Array) -> None:
    """Take back what round-off has done to directors; those of quaternions need it not."""
    if spins is None:
        straighten(machine.bodies.numbers.shape[0], state)


@kernel
def _save(
    job: Job,
    spins: Spins | None,
    stabilised: Array,
    row: int,
    n: int,
    h: float,
    state: Array,
    before: Array,
) -> None:
    """Write the last step to a row: x = (q, v, multipliers) at its end and at its midpoint.

    Multipliers of rigidity and of unit quaternions are left out.
    """
    machine, carried, saved, places = job.machine, job.carried, job.saved, job.places
    x, stage, bodies = saved.x[row], saved.stage[row], machine.bodies
    if spins is not None:
        save_quaternions(bodies, spins, state, before, x, stage)
    else:
        save_directors(bodies.places, carried.past, stabilised, state, before, x, stage)
    save(machine.parts, x, stage)
    for k in range(places.shape[0]):
        lam = carried.past_multiplier[places[k, 0], 0, places[k, 1]]
        if places[k, 3] == 1:
            lam /= h
        x[places[k, 2]] = stage[places[k, 2]] = lam
    saved.step[row] = n
    for i in range(job.sums.size):
        saved.sums[row, i] = job.sums[i]
    counters, terms = machine.turn_counters, machine.turn_counter_terms
    read_turns(counters, terms, state, carried.turns, saved.turns[row])
