r"""Networks at the ports of a mechanism in the compiled engine.

Each closes ports of joints and bodies by inputs u(y) of all their outputs at once; see
`ph.network`. Ports become rows, y_i = n·(v_B - v_A) + t_A·w_A + t_B·w_B at midpoints. Inputs are
set here before the ports themselves act, and what is added to the matrix is how they follow from
velocities, B S B^T; how rows turn with the bodies is left out, a term of order h.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.charts import Angle
from poinsot.frames.directions import Charted, Direction
from poinsot.frames.products import Kind, lines, struts
from poinsot.frames.stacks import Forms
from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Vec,
    add,
    add_tile,
    axial,
    axpy,
    combine,
    cross,
    dot,
    matrix,
    outer,
    put,
    scale,
    sub,
    times,
    trace,
    transposed,
    vector,
)
from poinsot.kernels.charts import ANGLE, LINEAR, chart_slope
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.laws import Called, Law, call_law
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step
from poinsot.kernels.tables import (
    KIND,
    LOST_POWER,
    A,
    Addresses,
    B,
    Index2,
    Real1,
    Real2,
    frame,
    twist,
)
from poinsot.kernels.terms import NONE
from poinsot.parts.body_loads import (
    AXES,
    GENERALISED,
    POINT,
    PUBLISHED_TORQUE,
    directions_of,
    kind_of,
    numbers_of,
)
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, rows
from poinsot.parts.feedback import Inlet
from poinsot.parts.regulator_formulas import formula_of
from poinsot.parts.struts import FORM_0, FORM_1, product
from poinsot.ph.compiled import CompiledFunction
from poinsot.ph.matrices import Vector
from poinsot.ph.network import LinearNetwork, Network

#: Kinds of rows: along an angle, along an offset; from there on, of the kinds of loads.
TURN, SLIDE, LOAD = 0, 1, 2
#: Columns of rows, after kind, A and B: the component of a load, the input.
COMPONENT, INPUT = 3, 4
#: Columns of work: force n on B, torques on A and B; output; input.
FORCE, TORQUE_A, TORQUE_B, OUT, IN = 0, 3, 6, 9, 10
#: Columns of networks: rows from, to; states from, to; how many inputs of ports that are left
#: open; the first number of matrices; the first pair of rows; the first column of u and y, with
#: how many numbers pass through ports; and where it stands among those of laws.
ROW, ROWS_END, STATE, STATES_END, OPEN, MATRICES, PAIRS, COLUMN, THROUGH = range(9)
#: Rows of states: at the start, at the midpoint, at the end; residuals; 1 where algebraic.
START, MIDDLE, END, RESIDUAL, ALGEBRAIC = range(5)
#: Columns of what a law leaves, before its ports: energy at the end [J], power lost [W].
ENERGY, LOST, OUTPUTS = 0, 1, 2
#: So often is a solution refined.
REFINED = 2


class Networks(NamedTuple):
    """Networks: rows with their numbers and room for them, states, matrices, tiles of pairs.

    `left` holds what a network leaves after a step: its energy, the power lost, and inputs and
    outputs of its ports, one row each.
    """

    numbers: Real2
    places: Index2
    work: Real2
    networks: Index2
    states: Real2
    matrices: Real1
    left: Real2
    pairs: Index2
    laws: Addresses


@kernel
def close_ports(table: Networks, step: Step, tiles: Array) -> None:
    """Set the inputs of ports, add to tiles unless None; adds up the power lost."""
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        for i in range(at[ROW], at[ROWS_END]):
            _look_along(table, i, step)
        if table.laws[k] != 0:
            _by_law(table, k, step, tiles is not None)
        else:
            _by_matrices(table, k, step)
        step.sizes[LOST_POWER] += table.left[k, LOST]
        for i in range(at[ROW], at[ROWS_END]):
            step.u[table.places[i, INPUT]] = table.work[i, IN]
        if tiles is not None:
            _couple(table, k, step, tiles)


@inline
def _look_along(table: Networks, i: int, step: Step) -> None:
    """Set row i at the midpoint, and its output."""
    numbers, at, stage, work = table.numbers, table.places[i], step.stage, table.work
    first, second = at[A], at[B]
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
    n, on_A, on_B = NONE, NONE, NONE
    if at[KIND] == TURN:
        K_0 = product(matrix(numbers, i, FORM_0), D_A, D_B)
        K_1 = product(matrix(numbers, i, FORM_1), D_A, D_B)
        d = chart_slope(ANGLE, (trace(K_0), trace(K_1)))
        on_A = axpy(d[0], axial(K_0), scale(d[1], axial(K_1)))
        on_B = scale(-1.0, on_A)
    elif at[KIND] == SLIDE:
        rho_B = combine(vector(numbers, i, terms.POINT_B), D_B)
        along = combine(vector(numbers, i, terms.DIRECTION_A), D_A)
        n = scale(numbers[i, terms.COEFFICIENT], along)
        on_A, on_B = cross(n, sub(add(r_B, rho_B), r_A)), cross(rho_B, n)
    else:
        rho, axes = combine(vector(numbers, i, POINT), D_B), matrix(numbers, i, AXES)
        by_force, by_torque = directions_of(at[KIND] - LOAD, axes, D_B, rho)
        n, on_B = transposed(by_force)[0], transposed(by_torque)[0]
        if at[COMPONENT] == 1:
            n, on_B = transposed(by_force)[1], transposed(by_torque)[1]
        if at[COMPONENT] == 2:
            n, on_B = transposed(by_force)[2], transposed(by_torque)[2]
    put(work, i, FORCE, n)
    put(work, i, TORQUE_A, on_A)
    put(work, i, TORQUE_B, on_B)
    work[i, OUT] = dot(n, sub(v_B, v_A)) + dot(on_A, w_A) + dot(on_B, w_B)


@inline
def _outer_input(table: Networks, k: int, j: int, step: Step) -> float:
    """Return number j of w = (outputs of the rows, inputs of ports that are left open)."""
    at = table.networks[k]
    count = at[ROWS_END] - at[ROW]
    if j < count:
        return float(table.work[at[ROW] + j, OUT])
    return float(step.u[at[COLUMN] + at[THROUGH] - at[OPEN] + j - count])


@kernel
def _by_matrices(table: Networks, k: int, step: Step) -> None:
    """Solve for the states at the midpoint, 2 E (xi - x0) = h (M xi + B w), and set inputs."""
    at, x, m = table.networks[k], table.states, table.matrices
    first, n = at[STATE], at[STATES_END] - at[STATE]
    count = at[ROWS_END] - at[ROW]
    w, h = count + at[OPEN], step.h
    E = at[MATRICES]
    M, inverse = E + n * n, E + 2 * n * n
    B_ = E + 3 * n * n
    O = B_ + n * w
    P = O + (count + 2 * at[THROUGH]) * (n + w)
    for _ in range(REFINED):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += 2.0 * m[E + i * n + j] * (x[START, first + j] - x[MIDDLE, first + j])
                total += h * m[M + i * n + j] * x[MIDDLE, first + j]
            for j in range(w):
                total += h * m[B_ + i * w + j] * _outer_input(table, k, j, step)
            x[RESIDUAL, first + i] = total
        for i in range(n):
            for j in range(n):
                x[MIDDLE, first + i] += m[inverse + i * n + j] * x[RESIDUAL, first + j]
    for i in range(count):
        table.work[at[ROW] + i, IN] = _row_of(table, k, O + i * (n + w), n, w, step)
    lost = 0.0
    for i in range(n + w):
        s = x[MIDDLE, first + i] if i < n else _outer_input(table, k, i - n, step)
        lost += s * _row_of(table, k, P + i * (n + w), n, w, step)
    table.left[k, LOST] = lost


@inline
def _row_of(table: Networks, k: int, place: int, n: int, w: int, step: Step) -> float:
    """Return a row of a matrix, from that place on, times s = (xi, w)."""
    m, first, total = table.matrices, table.networks[k, STATE], 0.0
    for j in range(n):
        total += m[place + j] * table.states[MIDDLE, first + j]
    for j in range(w):
        total += m[place + n + j] * _outer_input(table, k, j, step)
    return total


@kernel
def _by_law(table: Networks, k: int, step: Step, slopes: bool) -> None:
    """Ask a Python function for the inputs, and for their slopes where they are wanted.

    It leaves states, ports, energy and power lost in the table.
    """
    at, given, found = table.networks[k], step.given, step.found
    count = at[ROWS_END] - at[ROW]
    given[0], given[1] = step.t, step.h
    for j in range(count + at[OPEN]):
        given[2 + j] = _outer_input(table, k, j, step)
    call_law(table.laws[k], given, found, slopes)
    for i in range(count):
        table.work[at[ROW] + i, IN] = found[i]
    if slopes:
        for i in range(count * count):
            table.matrices[at[MATRICES] + i] = found[count + i]


@kernel
def _couple(table: Networks, k: int, step: Step, tiles: Array) -> None:
    """Add -h B S B^T."""
    at, work = table.networks[k], table.work
    count, n = at[ROWS_END] - at[ROW], at[STATES_END] - at[STATE]
    S = at[MATRICES]
    if table.laws[k] == 0:
        w = count + at[OPEN]
        S += 3 * n * n + n * w + (count + 2 * at[THROUGH]) * (n + w) + (n + w) * (n + w) + n * n
    for i in range(count):
        for j in range(count):
            gain = -step.h * table.matrices[S + i * count + j]
            if gain != 0.0:
                a, b = at[ROW] + i, at[ROW] + j
                places = table.pairs[at[PAIRS] + i * count + j]
                n_a, n_b = vector(work, a, FORCE), vector(work, b, FORCE)
                _add_row(tiles, places, 0, scale(-gain, n_a), n_b, work, b)
                _add_row(tiles, places, 4, scale(gain, vector(work, a, TORQUE_A)), n_b, work, b)
                _add_row(tiles, places, 8, scale(gain, n_a), n_b, work, b)
                _add_row(tiles, places, 12, scale(gain, vector(work, a, TORQUE_B)), n_b, work, b)


@inline
def _add_row(tiles: Array, places: Array, first: int, a: Vec, n: Vec, work: Array, b: int) -> None:
    """Add a times the row b of (v_A, w_A, v_B, w_B)."""
    add_tile(tiles, places[first], times(-1.0, outer(a, n)))
    add_tile(tiles, places[first + 1], outer(a, vector(work, b, TORQUE_A)))
    add_tile(tiles, places[first + 2], outer(a, n))
    add_tile(tiles, places[first + 3], outer(a, vector(work, b, TORQUE_B)))


@kernel
def end_networks(table: Networks, step: Step, state: Array) -> None:
    """Set the states after the step, and what went through ports."""
    x, m = table.states, table.matrices
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        first, n = at[STATE], at[STATES_END] - at[STATE]
        through = at[THROUGH]
        if table.laws[k] == 0:
            count = at[ROWS_END] - at[ROW]
            w = count + at[OPEN]
            O = at[MATRICES] + 3 * n * n + n * w + count * (n + w)
            Q = O + 2 * through * (n + w) + (n + w) * (n + w)
            for i in range(n):
                middle, x0 = x[MIDDLE, first + i], x[START, first + i]
                x[END, first + i] = middle if x[ALGEBRAIC, first + i] == 1.0 else 2.0 * middle - x0
            for i in range(2 * through):
                table.left[k, OUTPUTS + i] = _row_of(table, k, O + i * (n + w), n, w, step)
            energy = 0.0
            for i in range(n):
                for j in range(n):
                    energy += 0.5 * x[END, first + i] * m[Q + i * n + j] * x[END, first + j]
            table.left[k, ENERGY] = energy
        for i in range(through):
            step.u[at[COLUMN] + i] = table.left[k, OUTPUTS + i]
            step.y[at[COLUMN] + i] = table.left[k, OUTPUTS + through + i]
        states_at = step.u.size - x.shape[1] + first
        for i in range(n):
            step.u[states_at + i] = x[END, first + i]
            step.y[states_at + i] = x[MIDDLE, first + i]


@kernel
def network_energy(table: Networks, state: Array, step: Step) -> float:
    """Return the energy of all after the step [J]."""
    total = 0.0
    for k in range(table.networks.shape[0]):
        total += table.left[k, ENERGY]
    return total


@kernel
def go_on_from_there(table: Networks) -> None:
    """Go on from the states after the step."""
    x = table.states
    for i in range(x.shape[1]):
        x[START, i] = x[END, i]


class PortNetworks(Family):
    """Networks that close ports of a mechanism."""

    Table: ClassVar = Networks
    kernels: ClassVar = Kernels(
        close_ports,
        close_ports,
        end=end_networks,
        energy=network_energy,
        accept=go_on_from_there,
    )

    def __init__(self, assembly: Assembly) -> None:
        self.networks = [each.network for each in assembly.networks]
        ports = assembly.ports
        self.rows = [
            _row(ports, int(k), assembly.count) for each in self.networks for k in each.inputs
        ]
        targets = 2 * len(assembly.drives)
        self.first_column = sum(inlet.size for inlet in assembly.inlets) + targets
        self.behind = [each.system.n - each.size for each in self.networks]
        self.through = [_through(each) for each in self.networks]
        self.states = np.zeros((5, sum(self.behind)))
        self.left = np.zeros((len(self.networks), OUTPUTS + 2 * max(self.through, default=0)))
        self._laws = [
            None if each.linear is not None else formula_of(each) or self._law(k, each)
            for k, each in enumerate(self.networks)
        ]
        self.h = 0.0
        self.matrices = np.zeros(0)

    def __len__(self) -> int:
        """Return their number."""
        return len(self.networks)

    @property
    def columns(self) -> int:
        """How many columns of u and y are theirs: ports, then states."""
        return sum(self.through) + sum(self.behind)

    @property
    def ports(self) -> list[tuple[int, int, bool]]:
        """Of every port behind those of the mechanism: its columns, and whether it is open."""
        found, first = [], self.first_column
        for network in self.networks:
            sizes = [(port.size, False) for port in network.joined_ports]
            sizes += [(port.size, True) for port in network.ports]
            for size, left in sizes:
                found.append((first, first + size, left))
                first += size
        return found

    @property
    def laws(self) -> list[Called | None]:
        """Those of networks that are not linear."""
        return [*self._laws]

    @property
    def exact(self) -> bool:
        """Whether nothing is left out of the matrix: how rows turn is."""
        return not self.networks

    @property
    def moved(self) -> Indices:
        """Bodies whose translation their ports meet."""
        ends = [row.ends for row in self.rows if row.kind not in (TURN,)]
        found = np.array(ends, dtype=np.intp).reshape(-1)
        return found[found >= 0]

    def _ends(self, network: int) -> NDArray[np.intp]:
        """Return the bodies A and B of the rows of a network; (rows, 2)."""
        first = sum(each.size for each in self.networks[:network])
        rows = self.rows[first : first + self.networks[network].size]
        return np.array([row.ends for row in rows], dtype=np.intp).reshape(-1, 2)

    def _columns(self, k: int, column: int) -> tuple[int, int]:
        """Return the first column of a network, and how many numbers pass through its ports.

        What formulas are given stays as it is: they come after it.
        """
        if isinstance(self._laws[k], CompiledFunction):
            return column + self.through[k], 0
        return column, self.through[k]

    def meet(self, graph: Graph) -> None:
        """Join all bodies of a network with each other."""
        moved = {int(body) for body in self.moved}
        for k in range(len(self.networks)):
            bodies = np.unique(self._ends(k))
            bodies = bodies[bodies >= 0]
            moves = np.array([int(body) in moved for body in bodies], dtype=bool)
            graph.meet(graph.of_bodies(bodies, moves=moves).reshape(1, -1))

    def table(self, graph: Graph, tiles: Tiles) -> Networks:
        """Return rows, matrices, and tiles of all pairs of rows."""
        places, pairs, networks = [], [], []
        row, state, column, matrices, pair = 0, 0, self.first_column, 0, 0
        for k, each in enumerate(self.networks):
            count, n, linear = each.size, self.behind[k], each.linear
            ranges = row, row + count, state, state + n
            networks.append([*ranges, each.m, matrices, pair, *self._columns(k, column)])
            ends = self._ends(k)
            i, j = np.divmod(np.arange(count * count), max(1, count))
            pairs.append(tiles.table(graph.pair(ends[i]), graph.pair(ends[j], moving=True)))
            row, state, column = row + count, state + n, column + self.through[k]
            matrices += count * count if linear is None else _numbers(linear, 1.0).size
            pair += count * count
        for one in self.rows:
            places.append([one.kind, *graph.ends(np.array(one.ends)), one.component, one.input])
        algebraic = [each.system.algebraic[each.size :] for each in self.networks]
        self.states[ALGEBRAIC] = np.concatenate([np.zeros(0), *algebraic])
        if self.matrices.size != matrices:
            self.matrices, self.h = np.zeros(matrices), 0.0
        none = np.zeros((0, 16), dtype=np.intp)
        return Networks(
            rows([one.numbers for one in self.rows], 18),
            index(rows(places, 5)),
            np.zeros((len(self.rows), IN + 1)),
            index(rows(networks, 9)),
            self.states,
            self.matrices,
            self.left,
            index(np.concatenate([none, *pairs])),
            addresses(self._laws),
        )

    # -- the run ------------------------------------------------------------------------------

    @property
    def x(self) -> Vector:
        """States of all networks."""
        return np.array(self.states[START])

    def remember(self, x: Vector) -> None:
        """Begin with these states."""
        self.states[: END + 1] = x

    def prepare(self, h: float) -> None:
        """Make matrices for steps of size h [s]."""
        if h == self.h:
            return
        self.h, first = h, 0
        for each in self.networks:
            if each.linear is None:
                first += each.size**2
                continue
            numbers = _numbers(each.linear, h)
            self.matrices[first : first + numbers.size] = numbers
            first += numbers.size

    def _law(self, k: int, network: Network) -> Law:
        """Return a network as a function that is called from the engine."""
        count, first = network.size, sum(self.behind[:k])
        own = slice(first, first + self.behind[k])
        outputs, left = network.m, slice(network.direct, None)

        def law(given: list[float], wanted: int) -> Sequence[float]:
            t, h, y, u = given[0], given[1], np.array(given[2 : 2 + count]), given[2 + count :]
            step = network.over_own(t, self.states[START, own], np.array(u[:outputs]), h)
            found, S = step(y)
            x1, stage = step.finish(y)
            self.states[MIDDLE, own], self.states[END, own] = stage.x[count:], x1
            through = network.port_values(stage.x, stage.z, stage.u)
            through.append((stage.u[left], stage.y[left]))
            ports = np.concatenate([pair[side] for side in (0, 1) for pair in through])
            self.left[k, OUTPUTS : OUTPUTS + ports.size] = ports
            whole = np.concatenate([y, x1])
            self.left[k, ENERGY] = network.system.H(whole)
            self.left[k, LOST] = stage.z @ network.system.resistive(stage.x, stage.z)
            return [*found.tolist(), *S.reshape(-1).tolist()]

        return Law(law, 2 + count + outputs, count + count * count)


class _Row(NamedTuple):
    """One output of a port as a row: its bodies, numbers, component and input."""

    kind: int
    ends: tuple[int, int]
    numbers: list[float]
    component: int
    input: int


def _row(ports: Sequence[tuple[int, Inlet]], k: int, bodies: int) -> _Row:
    """Return input k as a row."""
    first, inlet = next((at, inlet) for at, inlet in ports if at <= k < at + inlet.size)
    direction = inlet.direction
    if isinstance(direction, Charted):
        chart = ANGLE if isinstance(direction.chart, Angle) else LINEAR
        forms = Forms([direction.forms.onto(direction.bodies)], bodies)
        one = struts(lines(forms, [direction.forms.m]), [chart])
        kind = TURN if one.kind[0] == Kind.DOT else SLIDE
        a, b = one.ends[0].tolist()
        return _Row(kind, (a, b), one.numbers[0].tolist(), 0, k)
    (body,) = direction.bodies
    numbers = [*numbers_of(inlet), *([0.0] * 6)]
    return _Row(LOAD + kind_of(direction), (-1, body), numbers, k - first, k)


def _through(network: Network) -> int:
    """Return how many numbers pass through ports of members."""
    return sum(port.size for port in network.joined_ports) + network.m


def _numbers(linear: LinearNetwork, h: float) -> Vector:
    """Return all matrices of a linear network one after the other, in the order of the kernels."""
    linear = linear.over(h)
    inverse, S = linear.solved(h)
    matrices = linear.E, linear.M, inverse, linear.B, linear.O, linear.P, linear.Q, S
    return np.concatenate([each.reshape(-1) for each in matrices])


def closes(inlets: Sequence[Inlet], inputs: Indices) -> bool:
    """Tell whether there are rows for all of these inputs."""
    first = np.cumsum([0, *(inlet.size for inlet in inlets)])
    owners = {int(np.searchsorted(first, k, side="right")) - 1 for k in inputs}
    return all(_has_rows(inlets[k].direction) for k in owners)


def _has_rows(direction: Direction) -> bool:
    if not isinstance(direction, Charted):
        return kind_of(direction) not in (PUBLISHED_TORQUE, GENERALISED)
    bodies = 1 + max(direction.bodies, default=0)
    along = lines(Forms([direction.forms.onto(direction.bodies)], bodies), [direction.forms.m])
    return bool(along.products.kind[0] in (Kind.DOT, Kind.OFFSET))
