r"""Maxwell elements over a step backwards, see `engine.backward`.

A step from the strain e0 depends on e0 + (chi1 - chi0) / 2 alone, and ends at

.. math:: e_1 = 2 s\, (e_0 + \tfrac12 (\chi_1 - \chi_0)) - e_0, \qquad s = 1 / (1 + h / (2 \tau)) .

With the gradients sigma by e1 and l by the mean strain of mu times residuals, that by e0 is
(2 s - 1) sigma - l. Taken back, a step begins with e0 + (chi1 - chi0) instead of chi1, where what
residuals are by chi0 has the other sign: this adds l to what chi0 has, which is -s sigma besides.
"""

from poinsot.kernels.algebra import Array, Vec, axpy, dot, scale, sub
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.lanes import (
    ABREAST,
    Lane,
    Places4,
    across,
    gather_lanes,
    places_of,
    put_beside,
    vector_of,
)
from poinsot.kernels.relative import Middle, Six, changed, tensions, times_six
from poinsot.kernels.step import Step
from poinsot.kernels.tables import R, T
from poinsot.parts.connected import (
    APART,
    CHANGE,
    TURN_A,
    TURN_B,
    component,
    connect_exactly,
    keep,
    moved,
)
from poinsot.parts.connection_forces import FIRST, SECOND, course, forces_of, scale_tension
from poinsot.parts.reading_connections import (
    STRAIN,
    Connected,
    ends_of,
    motion_of,
    rows_of,
    six_of,
    start_of,
    stiffness_of,
)
from poinsot.parts.relaxing_table import (
    BEFORE,
    BEGIN,
    BY_MEAN,
    COLUMN,
    COUNT,
    HERE,
    SIGMA,
    STEP,
    WHICH,
    Relaxing,
    share_of,
    soften,
)

#: The six coordinates, one at a time.
UNITS = (
    ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.0, 1.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
)


@kernel
def recall_strains(relaxing: Relaxing, state: Array, x0: Array, x1: Array) -> None:
    """Begin a step with the strains of the run, where connections are."""
    connected, memory, places = relaxing.connected, relaxing.memory, relaxing.places
    for group in range(memory.shape[0]):
        _begin_group(connected, memory, group, state)
    for k in range(places.shape[0]):
        group, one = k // ABREAST, k % ABREAST
        for i in range(places[k, COUNT]):
            at = ABREAST * (BEGIN + places[k, WHICH + i]) + one
            memory[group, at] = x0[places[k, COLUMN + i]]


@arithmetic
def _begin_group(connected: Connected, memory: Array, group: int, state: Array) -> None:
    keep(connected.numbers, connected.start, state, group, connected.places)
    before = six_of(connected.start, group, STRAIN)
    zero = 0.0 * before[0][0]
    put_beside(memory, group, BEFORE, (*before[0], *before[1]))
    put_beside(memory, group, BEGIN, (zero, zero, zero, zero, zero, zero))


@kernel
def start_strains(relaxing: Relaxing, state: Array) -> None:
    """Begin a step where connections are, with the strains of the run."""
    for group in range(relaxing.memory.shape[0]):
        _start_group(relaxing.connected, relaxing.memory, group, state)


@arithmetic
def _start_group(connected: Connected, memory: Array, group: int, state: Array) -> None:
    keep(connected.numbers, connected.start, state, group, connected.places)
    here, begin = six_of(connected.start, group, STRAIN), six_of(memory, group, BEGIN)
    zero = 0.0 * here[0][0]
    put_beside(memory, group, HERE, (*here[0], *here[1]))
    put_beside(memory, group, STEP, (zero,))
    put_beside(connected.start, group, STRAIN, (*begin[0], *begin[1]))


@kernel
def relax_exactly(relaxing: Relaxing, step: Step, tiles: Array) -> None:
    """Add residuals and all of their derivatives, for a step taken back (h < 0) as well."""
    for group in range(relaxing.memory.shape[0]):
        if step.h < 0.0:
            _turn_group(relaxing.connected, relaxing.memory, group)
        soften(relaxing, group, abs(step.h))
    connect_exactly(relaxing.connected, step, tiles)


@arithmetic
def _turn_group(connected: Connected, memory: Array, group: int) -> None:
    """Begin with the strain of the step plus what chi changes by over it."""
    begin, here = six_of(memory, group, BEGIN), six_of(memory, group, HERE)
    before = six_of(memory, group, BEFORE)
    u, v = (
        axpy(1.0, sub(here[0], before[0]), begin[0]),
        axpy(1.0, sub(here[1], before[1]), begin[1]),
    )
    put_beside(connected.start, group, STRAIN, (*u, *v))


@kernel
def begin_strains_back(relaxing: Relaxing, step: Step, lam: Array, mu: Array) -> None:
    """Add to mu what lam by strains after the step is by the motion of bodies."""
    memory, places = relaxing.memory, relaxing.places
    for group in range(memory.shape[0]):
        for i in range(ABREAST * 6):
            memory[group, ABREAST * SIGMA + i] = 0.0
    for k in range(places.shape[0]):
        group, one = k // ABREAST, k % ABREAST
        for i in range(places[k, COUNT]):
            at = ABREAST * (SIGMA + places[k, WHICH + i]) + one
            memory[group, at] = lam[places[k, COLUMN + i]]
    for group in range(memory.shape[0]):
        after = _after(relaxing.numbers, memory, group, step.h, 1.0)
        _give(relaxing.connected, step, group, after, mu)


@kernel
def end_strains_back(
    relaxing: Relaxing,
    by: Relaxing,
    step: Step,
    lam: Array,
    mu: Array,
    frames: Array,
    by_u: Array,
) -> None:
    """Make lam by strains after the step that by those before it."""
    memory, places = relaxing.memory, relaxing.places
    for group in range(memory.shape[0]):
        _end_group(relaxing, step, group, mu)
    for k in range(places.shape[0]):
        group, one = k // ABREAST, k % ABREAST
        for i in range(places[k, COUNT]):
            at = ABREAST * (HERE + places[k, WHICH + i]) + one
            lam[places[k, COLUMN + i]] = memory[group, at]


@inline
def _end_group(relaxing: Relaxing, step: Step, group: int, mu: Array) -> None:
    """Set the gradient by the mean strain, and that by the strain at the start."""
    memory = relaxing.memory
    soften(relaxing, group, step.h)
    _by_mean(relaxing.connected, memory, step, group, mu)
    _by_start(relaxing.numbers, memory, group, step.h)


@arithmetic
def _by_start(numbers: Array, memory: Array, group: int, h: float) -> None:
    share, sigma = share_of(numbers, group, h), six_of(memory, group, SIGMA)
    by_mean, kept = six_of(memory, group, BY_MEAN), _scaled(2.0 * share - 1.0, sigma)
    put_beside(memory, group, HERE, (*sub(kept[0], by_mean[0]), *sub(kept[1], by_mean[1])))


@arithmetic
def _by_mean(connected: Connected, memory: Array, step: Step, group: int, mu: Array) -> None:
    """Set what mu times residuals is by the mean strain of a step."""
    stage, places, bodies, rows = step.stage, connected.places, step.bodies, rows_of(group)
    first, second = places_of(places, rows, FIRST), places_of(places, rows, SECOND)
    motion_A, motion_B = motion_of(stage, first), motion_of(stage, second)
    ends = ends_of(connected.numbers, group, motion_A, motion_B)
    turns, _, m = course(step.h, motion_A, motion_B, ends, start_of(connected.start, group))
    mean, S = Middle(m[0], m[1], m[2], m[3]), stiffness_of(connected.numbers, group)
    push_A, push_B = (
        vector_of(across(mu, places_of(bodies, b, T), 0, 1), 0) for b in (first, second)
    )
    spin_A, spin_B = (
        vector_of(across(mu, places_of(bodies, b, R), 0, 1), 0) for b in (first, second)
    )
    found = []
    for unit in UNITS:
        tension = scale_tension(step.h, tensions(mean, times_six(S, unit)))
        F, torque_A, torque_B = forces_of(tension, ends, turns)
        found.append(dot(F, sub(push_B, push_A)) + dot(torque_A, spin_A) + dot(torque_B, spin_B))
    put_beside(memory, group, BY_MEAN, tuple(found))


@arithmetic
def _of_nodes(mu: Array, nodes: Places4) -> Vec:
    return vector_of(across(mu, nodes, 0, 1), 0)


@kernel
def give_strains(relaxing: Relaxing, step: Step, ends: Array) -> None:
    """Add to `ends` what strains are by both ends: of a step, or of the step taken back (h < 0)."""
    memory = relaxing.memory
    for group in range(memory.shape[0]):
        after = _after(relaxing.numbers, memory, group, abs(step.h), -1.0)
        if step.h < 0.0:
            after = _sum(after, six_of(memory, group, BY_MEAN))
        _give(relaxing.connected, step, group, after, ends)


@arithmetic
def _after(numbers: Array, memory: Array, group: int, h: float, sign: float) -> Six:
    """Return the gradient by the change of chi of that by strains at the end, times a sign."""
    return _scaled(sign * share_of(numbers, group, h), six_of(memory, group, SIGMA))


@arithmetic
def _scaled(factor: Lane, a: Six) -> Six:
    return scale(factor, a[0]), scale(factor, a[1])


@arithmetic
def _sum(a: Six, b: Six) -> Six:
    return axpy(1.0, a[0], b[0]), axpy(1.0, a[1], b[1])


@kernel
def strain_products(relaxing: Relaxing, step: Step, products: Array) -> None:
    """Subtract sigma times strains at the end from the products of nodes, with these numbers."""
    places = relaxing.places
    for group in range(relaxing.memory.shape[0]):
        _product_of_group(relaxing, step, group)
    for k in range(places.shape[0]):
        group, one = k // ABREAST, k % ABREAST
        first, second = relaxing.connected.places[k, FIRST], relaxing.connected.places[k, SECOND]
        ground = step.bodies.shape[0] - 1
        node = step.bodies[second, T] if second < ground else step.bodies[first, T]
        products[node] -= relaxing.memory[group, ABREAST * HERE + one]


@inline
def _product_of_group(relaxing: Relaxing, step: Step, group: int) -> None:
    change = _change(relaxing.connected, step, group, APART, 0, 0.0)
    _keep_product(relaxing.numbers, relaxing.memory, group, step.h, change)


@arithmetic
def _keep_product(numbers: Array, memory: Array, group: int, h: float, change: Six) -> None:
    share = share_of(numbers, group, h)
    begin, sigma = six_of(memory, group, BEGIN), six_of(memory, group, SIGMA)
    u, v = axpy(0.5, change[0], begin[0]), axpy(0.5, change[1], begin[1])
    after = sub(scale(2.0 * share, u), begin[0]), sub(scale(2.0 * share, v), begin[1])
    product = dot(sigma[0], after[0]) + dot(sigma[1], after[1])
    put_beside(memory, group, HERE, (product,))


# -- how chi changes over a step, by differences ---------------------------------------------------


@kernel
def _give(connected: Connected, step: Step, group: int, gamma: Six, to: Array) -> None:
    """Add to nodes what gamma times the change of chi is by the motion of both bodies."""
    places, bodies, rows = connected.places, step.bodies, rows_of(group)
    first, second = places_of(places, rows, FIRST), places_of(places, rows, SECOND)
    by_v = _slopes(connected, step, group, APART, gamma)
    gather_lanes(to, places_of(bodies, first, T), scale(-1.0, by_v))
    gather_lanes(to, places_of(bodies, second, T), by_v)
    gather_lanes(to, places_of(bodies, first, R), _slopes(connected, step, group, TURN_A, gamma))
    gather_lanes(to, places_of(bodies, second, R), _slopes(connected, step, group, TURN_B, gamma))


@kernel
def _slopes(connected: Connected, step: Step, group: int, what: int, gamma: Six) -> Vec:
    x = _slope(connected, step, group, what, 0, gamma)
    y = _slope(connected, step, group, what, 1, gamma)
    return x, y, _slope(connected, step, group, what, 2, gamma)


@kernel
def _slope(connected: Connected, step: Step, group: int, what: int, axis: int, gamma: Six) -> Lane:
    """Return how gamma times the change of chi changes with one component of the motion."""
    change = CHANGE / step.h * (step.length if what == APART else 1.0)
    more = _change(connected, step, group, what, axis, change)
    less = _change(connected, step, group, what, axis, -change)
    return _difference(gamma, more, less, 0.5 / change)


@arithmetic
def _difference(gamma: Six, more: Six, less: Six, factor: float) -> Lane:
    along, about = sub(more[0], less[0]), sub(more[1], less[1])
    return factor * (dot(gamma[0], along) + dot(gamma[1], about))


@kernel
def _change(
    connected: Connected, step: Step, group: int, what: int, axis: int, change: float
) -> Six:
    """Return the change of chi over a step with other velocities."""
    h, stage, numbers, places = step.h, step.stage, connected.numbers, connected.places
    rows, start, none = rows_of(group), start_of(connected.start, group), (0.0, 0.0, 0.0)
    motion_A = motion_of(stage, places_of(places, rows, FIRST))
    motion_B = motion_of(stage, places_of(places, rows, SECOND))
    dv = component(axis, change)
    motion_A = moved(h, motion_A, none, dv if what == TURN_A else none)
    motion_B = moved(h, motion_B, dv if what == APART else none, dv if what == TURN_B else none)
    ends = ends_of(numbers, group, motion_A, motion_B)
    _, (dx, dturn, _, dt), m = course(h, motion_A, motion_B, ends, start)
    return changed(Middle(m[0], m[1], m[2], m[3]), dx, dturn, dt)
