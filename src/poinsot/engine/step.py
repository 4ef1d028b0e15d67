"""One time step: Newton's method on v, w and the multipliers, from an extrapolated guess.

The matrix is factorised for the guess, and again only if that does not converge fast: the guess
is of up to fifth order in h, so that the first correction mostly hits. Where a matrix costs more
than a few evaluations, a step begins with the factors of the one before.
"""

from math import inf

from poinsot.bodies.in_directors import begin_bodies, free_bodies, stabilised_bodies
from poinsot.bodies.in_quaternions import quaternion_bodies
from poinsot.engine import REST, ROUND_OFF, STALLED
from poinsot.engine.families import act, act_stabilised, begin, fold, gaps, place, unfold
from poinsot.engine.job import Machine, Run, Work
from poinsot.engine.redundant import combines, hold, look_away, overlook_gaps
from poinsot.engine.tiles import Refinement, clear, factorise, keep, reduce, refine, solve
from poinsot.kernels import tables
from poinsot.kernels.algebra import Array, dot, each, gather, put, scale, size, vector
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.step import Step, enlarge
from poinsot.kernels.tables import (
    INSIDE_ENERGY,
    INSIDE_ROTATION,
    INSIDE_TRANSLATION,
    LASTING,
    OF_CLOSURE,
    OF_POSITION,
    OF_ROTATION,
    OF_TRANSLATION,
    R,
    T,
    V,
    W,
    twist,
)

EPS = 2.220446049250313e-16
#: What is left of the residual may be that small, relative to its terms, and unseen: it has a sign,
#: and energy creeps by it.
NEGLIGIBLE = EPS / 1024
#: So much of the residual do corrections leave, because they are rounded.
SOLVED = 1e-13
#: A correction that reduces the residual by less than this asks for a new matrix. So does one with
#: the factors of an earlier step, if three more like it would not do: a new matrix costs little
#: more than a correction, and two are enough with it.
SLOW = 0.02
#: Factors serve the next step if this one took at most so many more corrections than the one that
#: made them.
MORE = 1
#: So many corrections may lead over a hill first, where the guess is far off; any number where dry
#: friction may begin to stick.
FAR = 3
#: Where h w / 2 is that large, a body makes half a turn in a step, or Newton's method goes astray.
HALF_TURN = 5.0


@kernel
def evaluate(machine: Machine, step: Step, tiles: Array) -> None:
    """Set the residual in step.x, and tiles unless None."""
    step.sizes[tables.LOST_POWER] = 0.0
    if tiles is not None:
        for k in range(INSIDE_TRANSLATION, step.sizes.size):
            step.sizes[k] = 0.0
        step.sizes[LASTING + OF_CLOSURE] = REST * step.length / abs(step.h)
    put(step.x, step.x.shape[0] - 1, 0, (0.0, 0.0, 0.0))
    _evaluate(machine, machine.stabilised, machine.spins, step, tiles)
    look_away(machine.repeated, step.x)
    _measure_what_vanishes(machine.gyration, step.sizes)


@inline
def _evaluate(
    machine: Machine, stabilised: Array, spins: tables.Spins | None, step: Step, tiles: Array
) -> None:
    """Go through bodies and parts, plain or stabilised (`stabilised` is not None)."""
    bodies, h, state, stage = machine.bodies, step.h, step.state, step.stage
    length, x, sizes = step.length, step.x, step.sizes
    if stabilised is None:
        if spins is None:
            free_bodies(bodies, h, length, state, stage, x, tiles, sizes)
        else:
            auxiliary = machine.auxiliary
            quaternion_bodies(bodies, spins, auxiliary, h, length, state, stage, x, tiles, sizes)
        _begin_sizes(sizes)
        place(machine.parts, step)
        act(machine.parts, step, tiles)
    else:
        stabilised_bodies(bodies, h, length, state, stage, x, tiles, sizes)
        _begin_sizes(sizes)
        act_stabilised(machine.parts, step, tiles)


@inline
def _begin_sizes(sizes: Array) -> None:
    """Begin the sizes of terms with those of bodies and constraints, noted with the matrix."""
    for kind in range(OF_POSITION + 1):
        sizes[kind] = sizes[LASTING + kind]


@inline
def _measure_what_vanishes(gyration: Array, sizes: Array) -> None:
    """Measure torques by forces at the least radius of gyration, and forces by torques.

    Equations all of whose terms vanish are nothing but round-off, and are solved at once.
    """
    torque = gyration[0] * sizes[OF_TRANSLATION]
    enlarge(sizes, OF_TRANSLATION, sizes[OF_ROTATION] / gyration[1])
    enlarge(sizes, OF_ROTATION, torque)


@inline
def _ratio(a: float, b: float) -> float:
    return 0.0 if a == 0.0 else a / max(a, b)


@inline
def _relative(kinds: Array, speeds: Array, x: Array, sizes: Array, inside: float) -> float:
    """Return the largest residual over the size of its terms; infinite if there is a NaN.

    Constraints are measured as speeds, whether they hold points or directions. Inside of the terms
    (1) is looked, or not (0): there they are before they cancel.
    """
    translation, rotation, closure, position, whole = 0.0, 0.0, 0.0, 0.0, 0.0
    for node in range(kinds.size):
        residual = vector(x, node, 0)
        whole += residual[0] + residual[1] + residual[2]
        if kinds[node] == OF_TRANSLATION:
            translation = max(translation, size(residual))
        elif kinds[node] == OF_ROTATION:
            rotation = max(rotation, size(residual))
        elif kinds[node] == OF_CLOSURE:
            closure = max(closure, size(each(vector(speeds, node, 0), residual)))
        else:
            position = max(position, size(each(vector(speeds, node, 0), residual)))
    if whole - whole != 0.0:
        return inf
    forces = max(sizes[OF_TRANSLATION], inside * sizes[INSIDE_TRANSLATION])
    torques = max(sizes[OF_ROTATION], inside * sizes[INSIDE_ROTATION])
    by_force, by_torque = _ratio(translation, forces), _ratio(rotation, torques)
    by_velocity = _ratio(closure, sizes[OF_CLOSURE])
    return max(by_force, by_torque, by_velocity, _ratio(position, sizes[OF_POSITION]))


@kernel
def _look_inside(bodies: tables.Part, kinds: Array, step: Step) -> float:
    """Return the largest residual over what its terms are before they cancel.

    Positions are rounded, and velocities with them: no momentum is known better than that of a body
    that would move as far in a step as it is from the origin, and turn by a radian. The energy of
    all residuals is as small: rounded forces do no work where nothing gives way.
    """
    numbers, places, x, sizes, h = bodies.numbers, bodies.places, step.x, step.sizes, step.h
    energy, rounded = 0.0, sizes[INSIDE_ENERGY]
    for b in range(numbers.shape[0]):
        v, w = twist(step.stage, b)
        push, spin = vector(x, places[b, T], 0), vector(x, places[b, R], 0)
        way = size(vector(step.state, b, tables.POSITION)) / abs(h)
        momentum = numbers[b, tables.MASS2] * way
        turning = size(vector(numbers, b, tables.EULER2)) / abs(h)
        enlarge(sizes, INSIDE_TRANSLATION, momentum)
        enlarge(sizes, INSIDE_ROTATION, turning)
        energy += dot(v, push) + dot(w, spin)
        rounded += size(v) * (sizes[OF_TRANSLATION] + momentum)
        rounded += size(w) * (sizes[OF_ROTATION] + turning)
    reached = _relative(kinds, step.speeds, x, sizes, 1.0)
    return max(reached, _ratio(abs(energy), rounded))


@inline
def _begin(stabilised: Array, spins: tables.Spins | None, state: Array, stage: Array) -> None:
    """Note by how much the guess changes velocities, which the plain form solves for."""
    if stabilised is None and spins is None:
        begin_bodies(state, stage)


@inline
def _correct(
    places: Array,
    stabilised: Array,
    spins: tables.Spins | None,
    auxiliary: int,
    stage: Array,
    multiplier: Array,
    x: Array,
) -> tuple[float, float]:
    """Subtract the solution from the unknowns; return the sizes of w and of its correction."""
    spin, turn, ground, nobody = 0.0, 0.0, places.shape[0] - 1, x.shape[0] - 1
    # Bodies that do not turn have the rotation of the ground.
    put(x, nobody, 0, (0.0, 0.0, 0.0))
    for b in range(ground):
        if stabilised is None:
            node = places[b, R]
            _subtract(stage, b, V, x, places[b, T])
            _subtract(stage, b, W, x, node)
            if spins is None:
                _subtract(stage, b, tables.DV, x, places[b, T])
                _subtract(stage, b, tables.DW, x, node)
            for k in range(auxiliary):
                _subtract(stage, b, tables.AUXILIARY + 3 * k, x, min(places[b, R] + 1 + k, nobody))
        else:
            node = places[b, tables.KR]
            _subtract(stage, b, V, x, places[b, tables.KT])
            _subtract(stage, b, W, x, node)
            _subtract(stage, b, tables.V1, x, places[b, T])
            _subtract(stage, b, tables.W1, x, places[b, R])
        spin, turn = max(spin, size(vector(stage, b, W))), max(turn, size(vector(x, node, 0)))
    for node in range(places[ground, tables.BODY_NODES], nobody):
        _subtract(multiplier, node, 0, x, node)
    return spin, turn


@kernel
def _stays(step: Step, stabilised: Array, x: Array) -> bool:
    """Tell whether the last correction, still in x, moves no body by more than round-off.

    A residual that is round-off beside the forces on heavy bodies may move light ones by more.
    """
    places, h = step.bodies, abs(step.h)
    for b in range(places.shape[0] - 1):
        v, _ = twist(step.stage, b)
        if stabilised is None:
            dv, dw = vector(x, places[b, T], 0), vector(x, places[b, R], 0)
        else:
            dv, dw = vector(x, places[b, tables.KT], 0), vector(x, places[b, tables.KR], 0)
        if h * size(dw) > ROUND_OFF or h * size(dv) > ROUND_OFF * (step.length + h * size(v)):
            return False
    return True


@arithmetic
def _subtract(target: Array, row: int, at: int, x: Array, node: int) -> None:
    gather(target, row, at, scale(-1.0, vector(x, node, 0)))


@inline
def _look_at_gaps(machine: Machine, stabilised: Array, kept: Array, step: Step) -> bool:
    """Set how gaps of constraints have grown, which the plain form takes back little by little.

    Tell whether they are as they should be.
    """
    if stabilised is None:
        gaps(machine.parts, step.state, kept, step.gap)
        return not overlook_gaps(machine.repeated, step.gap)
    return True


@inline
def _well_chosen(
    machine: Machine, stabilised: Array, tiles: Array, room: Refinement, x: Array
) -> bool:
    """Tell whether constraints that are left out are good combinations, in the stabilised form."""
    if stabilised is not None:
        repeated = machine.repeated
        if repeated.places.shape[0] > 0 and repeated.slack[0] <= 1.0:
            return combines(repeated, machine.schedule, tiles, room, x)
    return True


@inline
def _fold(machine: Machine, stabilised: Array, x: Array) -> None:
    if stabilised is None:
        fold(machine.parts, machine.bodies, x)


@inline
def _unfold(machine: Machine, stabilised: Array, x: Array) -> None:
    if stabilised is None:
        unfold(machine.parts, machine.bodies, x)


@inline
def _remember(factorised: Array, corrections: int, made: int) -> None:
    """Note how many corrections a step took, and how many since it made its matrix, if it did."""
    factorised[0] = corrections
    if made >= 0:
        factorised[1] = corrections - made


@kernel
def take_step(
    machine: Machine, step: Step, carried: Run, work: Work, rtol: float, limit: int
) -> tuple[int, float]:
    """Solve for the stage and multipliers, which hold a guess; return iterations and residual.

    Infinite residual: not solved.
    """
    stage, multiplier, x, schedule = step.stage, step.multiplier, work.x, machine.schedule
    tiles, room = work.tiles, work.refinement
    kept = machine.costly and 0 < work.factorised[0] <= work.factorised[1] + MORE
    begin(machine.parts, step.state)
    _begin(machine.stabilised, machine.spins, step.state, stage)
    work.factorised[0] = 0
    if not _look_at_gaps(machine, machine.stabilised, carried.gap, step):
        return limit, inf
    residual, previous, hidden, turned = inf, inf, inf, 0.0
    iteration, old, made = 0, kept, -1
    if kept:
        evaluate(machine, step, None)
        residual = _relative(machine.kinds, step.speeds, x, step.sizes, 0.0)
    while True:
        fresh = not kept
        if fresh:
            turned, old, made = 0.0, False, iteration
            clear(machine.template, tiles)
            evaluate(machine, step, tiles)
            hold(machine.repeated, tiles)
            if previous == inf:
                residual = _relative(machine.kinds, step.speeds, x, step.sizes, 0.0)
            _fold(machine, machine.stabilised, x)
            keep(x, room.right)
            keep(tiles, room.matrix)
            factorise(schedule, tiles, x, machine.hardly)
        # Corrections with this matrix, as long as they converge fast.
        while True:
            if residual == inf or iteration == limit:
                return limit, inf
            if not fresh:
                _fold(machine, machine.stabilised, x)
                keep(x, room.right)
                reduce(schedule, tiles, x)
            solve(schedule, tiles, x)
            refine(schedule, tiles, room, x)
            _unfold(machine, machine.stabilised, x)
            stabilised, spins, auxiliary = machine.stabilised, machine.spins, machine.auxiliary
            spin, turn = _correct(step.bodies, stabilised, spins, auxiliary, stage, multiplier, x)
            if 0.5 * abs(step.h) * spin > HALF_TURN:
                return limit, inf
            if iteration == 0 and not _well_chosen(machine, machine.stabilised, tiles, room, x):
                return limit, inf
            turned += abs(step.h) * turn
            rate = residual / previous
            if previous == inf:
                rate = residual if machine.exact and fresh else 1.0
            # A last correction may stay unseen, unless power through struts, loads and fields is
            # taken from the last evaluation, or equations left out have to be seen to hold.
            left, unseen = rate * residual, machine.unloaded and residual <= rtol
            if machine.linear:
                left = min(left, (turned + SOLVED) * residual + turned * turned)
                unseen = machine.unloaded
            if left < NEGLIGIBLE:
                if not unseen and residual <= EPS and iteration > 0:
                    unseen = _stays(step, machine.stabilised, x)
                if unseen:
                    _remember(work.factorised, iteration + 1, made)
                    return iteration + 1, left
            previous = residual
            iteration += 1
            evaluate(machine, step, None)
            residual = _relative(machine.kinds, step.speeds, x, step.sizes, 0.0)
            stalled, reached = residual >= STALLED * previous, residual
            falls = False
            if stalled and residual > ROUND_OFF and fresh:
                # What is rounded may hide that the rest, and its energy, still falls.
                reached = _look_inside(machine.bodies, machine.kinds, step)
                falls, hidden = reached < STALLED * hidden, reached
            # What is larger than round-off may be that, if the matrix is exact, or dry friction
            # multiplies the round-off of rates.
            known = (machine.exact or machine.dry) and (iteration > 1 or not machine.keeping)
            known = known and fresh and residual <= rtol and not falls
            if stalled and (reached <= ROUND_OFF or known):
                _remember(work.factorised, iteration, made)
                return iteration, reached
            if stalled and fresh and iteration > FAR and not (machine.dry or falls):
                return limit, inf
            rate = residual / previous
            slow = rate > SLOW or (old and residual * rate * rate * rate > EPS)
            fresh, kept = False, not (slow and residual > ROUND_OFF)
            if not kept:
                break
