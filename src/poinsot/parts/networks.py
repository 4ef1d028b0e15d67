"""Networks at the ports of a mechanism in the compiled engine.

Each closes ports of joints and bodies by inputs u(y) of all their outputs; see `ph.network`. Inputs
are set before the ports act. A network is solved by matrices if it is linear, by machine code if it
consists of expressions, and in Python otherwise.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel
from poinsot.kernels.laws import Called, Law, call_law
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step
from poinsot.kernels.tables import LOST_POWER
from poinsot.parts.control_laws import PythonLaw
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, rows
from poinsot.parts.network_backward import (
    begin_networks_back,
    close_ports_exactly,
    end_networks_back,
    give_ends_of_networks,
    recall_networks,
)
from poinsot.parts.network_code import NetworkCode, code_of_product, code_of_slopes
from poinsot.parts.network_matrices import end_by_matrices, matrices_of, solve_by_matrices
from poinsot.parts.network_steps import begin_by_code, end_by_code, room_of, solve_by_code
from poinsot.parts.network_table import (
    ALGEBRAIC,
    BY_CALL,
    BY_CODE,
    BY_MATRICES,
    BY_OUT,
    COLUMN,
    END,
    ENERGY,
    IN,
    INPUT,
    LOST,
    MIDDLE,
    MOTIONS,
    NU,
    OPEN,
    OUTPUTS,
    RESIDUAL,
    ROW,
    ROWS_END,
    SLOPE,
    START,
    STATE,
    STATES_END,
    THROUGH,
    WAY,
    Networks,
    outer_input,
)
from poinsot.parts.port_rows import TURN, couple, look_along, row_of
from poinsot.ph.compiled import CompiledFunction
from poinsot.ph.matrices import Vector
from poinsot.ph.network import Network

#: Steps whose sizes differ by no more than this, relative, are of one size.
SAME = 1e-6


@kernel
def close_ports(table: Networks, step: Step, tiles: Array) -> None:
    """Set the inputs of ports, add to tiles unless None; adds up the power lost."""
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        for i in range(at[ROW], at[ROWS_END]):
            look_along(table, i, step)
        if at[WAY] == BY_MATRICES:
            solve_by_matrices(table, k, step)
        elif at[WAY] == BY_CODE:
            solve_by_code(table, k, step, tiles is not None)
        else:
            _call(table, k, step, tiles is not None)
        step.sizes[LOST_POWER] += table.left[k, LOST]
        for i in range(at[ROW], at[ROWS_END]):
            step.u[table.places[i, INPUT]] = table.work[i, IN]
        if tiles is not None:
            couple(table, k, step, tiles)


@kernel
def _call(table: Networks, k: int, step: Step, slopes: bool) -> None:
    """Ask a Python function for the inputs, and for their slopes where they are wanted.

    It leaves states, ports, energy and power lost in the table.
    """
    at, given, found = table.networks[k], step.given, step.found
    count = at[ROWS_END] - at[ROW]
    given[0], given[1] = step.t, step.h
    for j in range(count + at[OPEN]):
        given[2 + j] = outer_input(table, k, j, step)
    call_law(table.laws[k], given, found, slopes)
    for i in range(count):
        table.work[at[ROW] + i, IN] = found[i]
    if slopes:
        for i in range(count * count):
            table.matrices[at[SLOPE] + i] = found[count + i]


@kernel
def begin_networks(table: Networks, state: Array) -> None:
    """Prepare for another run of Newton's method."""
    for k in range(table.networks.shape[0]):
        if table.networks[k, WAY] == BY_CODE:
            begin_by_code(table, k)


@kernel
def end_networks(table: Networks, step: Step, state: Array) -> None:
    """Set the states after the step, and what went through ports."""
    x = table.states
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        first, n = at[STATE], at[STATES_END] - at[STATE]
        through = at[THROUGH]
        if at[WAY] == BY_MATRICES:
            end_by_matrices(table, k, step)
        elif at[WAY] == BY_CODE:
            end_by_code(table, k)
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
        begin=begin_networks,
        end=end_networks,
        energy=network_energy,
        accept=go_on_from_there,
        exactly=close_ports_exactly,
        recall=recall_networks,
        begin_back=begin_networks_back,
        end_back=end_networks_back,
        give_ends=give_ends_of_networks,
    )
    closes: ClassVar = True

    def __init__(self, assembly: Assembly) -> None:
        self.networks = [each.network for each in assembly.networks]
        ports = assembly.ports
        self.rows = [
            row_of(ports, int(k), assembly.count) for each in self.networks for k in each.inputs
        ]
        targets = 2 * len(assembly.drives)
        self.first_column = sum(inlet.size for inlet in assembly.inlets) + targets
        self.behind = [each.system.n - each.size for each in self.networks]
        self.through = [_through(each) for each in self.networks]
        self.states = np.zeros((NU + 1, sum(self.behind)))
        self.left = np.zeros((len(self.networks), OUTPUTS + 2 * max(self.through, default=0)))
        linear = [each.linear is not None for each in self.networks]
        self.codes = [
            None if known else NetworkCode.of(each)
            for known, each in zip(linear, self.networks, strict=True)
        ]
        self.calls = [
            None if known or code is not None else self._law(k, each)
            for k, (known, code, each) in enumerate(
                zip(linear, self.codes, self.networks, strict=True)
            )
        ]
        self.h = np.zeros(1)
        self.matrices, self.room = np.zeros(0), np.zeros(0)

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
        """Functions of Python: networks that are called, and laws that others call."""
        called = [law for code in self.codes if code is not None for law in code.laws]
        return [*self.calls, *(law.called for law in called if isinstance(law, PythonLaw))]

    @property
    def follows(self) -> bool:
        """Whether all of them are matrices or expressions, which can be gone through backwards."""
        called = [code for code in self.codes if code is not None and code.laws]
        return not called and all(call is None for call in self.calls)

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
        places, pairs, networks, codes = [], [], [], []
        called = [law for code in self.codes if code is not None for law in code.laws]
        sizes = [size for code in self.codes if code is not None for size in code.sizes]
        row, state, column, matrices, pair, room, law = 0, 0, self.first_column, 0, 0, 0, 0
        for k, (each, code) in enumerate(zip(self.networks, self.codes, strict=True)):
            count, n, linear = each.size, self.behind[k], each.linear
            ranges, first = [row, row + count, state, state + n, each.m], matrices
            way = BY_CALL if code is None else BY_CODE
            matrices += count * count
            if linear is not None:
                way, matrices = BY_MATRICES, first + matrices_of(linear, 1.0).size
            slope = matrices - count * count
            networks.append([*ranges, first, slope, pair, column, self.through[k], way])
            codes.append([0] * 13)
            if code is not None:
                codes[-1], room = room_of(each, code, room, law)
                law += len(code.laws)
            ends = self._ends(k)
            i, j = np.divmod(np.arange(count * count), max(1, count))
            pairs.append(tiles.table(graph.pair(ends[i]), graph.pair(ends[j], moving=True)))
            row, state, column = row + count, state + n, column + self.through[k]
            pair += count * count
        for one in self.rows:
            ends = np.array([one.ends], dtype=np.intp)
            nodes = [*graph.pair(ends)[0], *graph.pair(ends, moving=True)[0]]
            places.append([one.kind, *graph.ends(ends[0]), one.component, one.input, *nodes])
        algebraic = [each.system.algebraic[each.size :] for each in self.networks]
        self.states[ALGEBRAIC] = np.concatenate([np.zeros(0), *algebraic])
        if self.matrices.size != matrices:
            self.matrices, self.room, self.h[:] = np.zeros(matrices), np.zeros(room), 0.0
        none = np.zeros((0, 16), dtype=np.intp)
        both = zip(self.codes, self.calls, strict=True)
        functions = [code.function if code is not None else call for code, call in both]
        return Networks(
            rows([one.numbers for one in self.rows], 18),
            index(rows(places, MOTIONS + 4)),
            np.zeros((len(self.rows), BY_OUT + 1)),
            index(rows(networks, 11)),
            self.states,
            self.matrices,
            self.left,
            index(np.concatenate([none, *pairs])),
            addresses(functions),
            index(rows(codes, 13)),
            self.room,
            np.array([law.address for law in called], dtype=np.int64),
            index(rows(sizes, 2)),
            addresses([None] * len(functions)),
            addresses([None] * len(functions)),
            addresses([]),
            np.zeros(0),
            np.zeros(0),
            np.zeros(0),
        )

    @cached_property
    def products(self) -> list[CompiledFunction | None]:
        """What is derived of networks of expressions, see `network_code.code_of_product`."""
        coded = zip(self.networks, self.codes, strict=True)
        return [None if code is None else code_of_product(each) for each, code in coded]

    def backwards(self, table: Networks) -> Networks:
        """Return the table with what goes backwards through networks of expressions."""
        coded = [code is not None for code in self.codes]
        own = [each if code else None for each, code in zip(self.networks, coded, strict=True)]
        self.slopes = [None if each is None else code_of_slopes(each) for each in own]
        sizes = [code.sizes for code in (*self.slopes, *self.products) if code is not None]
        return table._replace(
            backs=addresses(self.slopes),
            products=addresses(self.products),
            given=np.zeros(max((given for given, _ in sizes), default=0)),
            told=np.zeros(max((told for _, told in sizes), default=0)),
        )

    # -- the run ------------------------------------------------------------------------------

    @property
    def x(self) -> Vector:
        """States of all networks."""
        return np.array(self.states[START])

    def remember(self, x: Vector) -> None:
        """Begin with these states."""
        self.states[: END + 1], self.states[RESIDUAL] = x, 0.0

    def prepare(self, h: float) -> None:
        """Make matrices for steps of size h [s], unless they are there but for round-off of h."""
        if abs(h - self.h[0]) <= SAME * abs(h):
            return
        self.h[0], first = h, 0
        for each in self.networks:
            if each.linear is None:
                first += each.size**2
                continue
            numbers = matrices_of(each.linear, h)
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


def _through(network: Network) -> int:
    """Return how many numbers pass through ports of members."""
    return sum(port.size for port in network.joined_ports) + network.m
