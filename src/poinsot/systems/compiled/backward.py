"""Takes runs in directors backwards in machine code: gradients by states, and by tables."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import machine_code
from poinsot.engine.backward import Sweep
from poinsot.engine.calls import fields_of
from poinsot.engine.families import FAMILIES
from poinsot.engine.families import Tables as PartTables
from poinsot.engine.job import Machine
from poinsot.engine.tiles import aligned
from poinsot.kernels import tables
from poinsot.parts.family import real
from poinsot.parts.network_table import Networks
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.systems.compiled.machine import Parts
from poinsot.systems.compiled.runner import DirectorRunner
from poinsot.systems.directors import DirectorForm

Array = NDArray[np.float64]

#: So many steps are looked at beforehand, to see on which nodes forces act.
PROBES = 3


def not_backwards(runner: DirectorRunner) -> str:
    """Return what machine code does not take backwards, nothing if it can."""
    for family in runner.parts.families:
        if len(family) and not family.reversible:
            return f"the family {type(family).__name__}"
    if not runner.networks.follows:
        return "systems at ports, or controllers, that are called as functions"
    return ""


#: Slopes of inputs by states where steps begin (steps, inputs, states), and which these are.
Read: TypeAlias = tuple[Array, NDArray[np.intp], NDArray[np.intp]]


class DirectorSweep:
    """Goes through steps of a run backwards, some at a time, the last ones first.

    Parameters
    ----------
    runner : DirectorRunner
        What has taken them.
    """

    def __init__(self, runner: DirectorRunner) -> None:
        self.runner, self.plan = runner, runner.tables()
        self.form = "stabilised_backward" if runner.system.stabilised else "backward"
        machine, self.work = runner.thorough_machine()
        plain = self.form == "backward"
        by_hand = [f.closes or bool(plain and f.kernels.backward) for f in FAMILIES]
        #: Which families act by numbers whose derivatives are found with models near by.
        self.acting = [
            len(family) > 0 and not known
            for family, known in zip(runner.parts.families, by_hand, strict=True)
        ]
        self.families = np.flatnonzero(self.acting).astype(np.uint32)
        sizes = [_flat(_numbers(machine.parts[k])).size for k in self.families]
        self.first = np.cumsum([0, *sizes]).astype(np.uint32)
        self.own = self._acting_numbers(machine.parts)
        self.block = self.own.copy()
        self.machine = machine._replace(parts=self._in_a_block(machine.parts))
        #: Networks, with what only the way back needs.
        self.networks = runner.networks.backwards(self._table_of_networks)
        nodes, moving = self.plan.graph.nodes + 1, runner.bodies + 1
        self.stage, self.state = runner.carried.stage.copy(), runner.rest()
        self.by_bodies = np.zeros_like(machine.bodies.numbers)
        self.by_parts = _emptied(machine.parts)
        self.room: dict[str, Array] = {
            "state": runner.rest(),
            "ahead": runner.rest(),
            "multiplier": np.zeros((nodes, 3)),
            "gap": np.zeros((nodes, 3)),
            "frames": np.zeros((moving, tables.VELOCITY)),
            **{name: aligned(nodes, 4) for name in ("mu", "ends", "spare")},
            "tiles": aligned(self.plan.tiles.count + 1, 12),
        }
        self._alive = list[Any]()
        self.use([])

    def use(self, models: list[Vector]) -> None:
        """Take numbers of what acts in models near by, in whose residuals there is interest."""
        self.nearby = np.array(models).reshape(len(models), self.own.size)
        others = self.nearby.view(np.int64) != self.own.view(np.int64)
        pieces = [others[:, a:b].any(axis=1) for a, b in pairwise(self.first.tolist())]
        self.differs = np.zeros((len(models), len(pieces)), dtype=np.uint32)
        if pieces:
            self.differs[:] = np.column_stack(pieces)
        self.by_nearby = np.zeros((len(models), self.plan.graph.nodes + 1))

    def probe(self, h: float, near: Vector, turned: Vector, models: Sequence[Vector]) -> Array:
        """Return the sums of models (models, nodes) for steps of size h between states anywhere.

        They are near a state (n,) with these angles.
        """
        system, random = self.runner.system, np.random.default_rng(0)
        self.use([*models])
        for _ in range(PROBES):
            self.end(near, turned)
            shifts = 0.1 * random.standard_normal((2, system.n))
            x, lam = near + system.sizes(near) * shifts, random.standard_normal(system.n)
            nothing = np.zeros((1, system.m))
            times, seeds = h * np.arange(2.0), np.zeros_like(x)
            self.back(times, nothing, x, seeds, lam, np.zeros((1, 0)))
        # Angles of joints are remembered by what takes the steps of the run, too.
        self.end(near, turned)
        self.by_bodies, self.by_parts = 0.0 * self.by_bodies, _emptied(self.machine.parts)
        return self.by_nearby

    def end(self, x: Vector, turned: Vector) -> None:
        """Go backwards from this state."""
        system = self.runner.system
        for family in self.runner.parts.families:
            family.start(system.directors(x), system.layout.counted(turned))

    def back(
        self,
        times: Vector,
        u: Array,
        x: Array,
        seeds: Array,
        lam: Vector,
        by_u: Array,
        read: Read | None = None,
    ) -> int:
        """Make lam, the gradient by the last of states x, that by the first; return steps done.

        Derivatives of the loss by states, `seeds`, are added at all but the first. What it is by
        the numbers of tables, and by those of models near by, is kept; that by inputs is written.
        Those inputs count that are `read` where steps begin.
        """
        reads, inputs, states = read or (np.zeros((len(u), 0, 0)), (), ())
        asked = Sweep(
            machine=self._taken_back,
            by_bodies=self.by_bodies,
            by_parts=self.by_parts,
            places=self.plan.places,
            times=times,
            u=u.copy(),
            y=np.zeros_like(u),
            x=x,
            seeds=seeds,
            lam=lam,
            acting=any(self.acting),
            families=self.families,
            first=self.first,
            numbers=self.block,
            own=self.own,
            nearby=self.nearby,
            differs=self.differs,
            by_nearby=self.by_nearby,
            products=np.zeros((self.families.size + 1, self.plan.graph.nodes + 1)),
            by_u=by_u,
            fed=self.runner.networks.first_column,
            reads=np.ascontiguousarray(reads),
            read_inputs=np.array(inputs, dtype=np.uint32),
            read_states=np.array(states, dtype=np.uint32),
            stage=self.stage,
            work=self.work,
            **self.room,
        )
        return machine_code.function(self.form)(asked)[0]

    @property
    def _table_of_networks(self) -> Networks:
        """The table of networks, the same as that of the run."""
        parts: Any = self.machine.parts
        table: Networks = parts.PortNetworks
        return table

    @property
    def _taken_back(self) -> Machine:
        """The machine with networks as they are taken back."""
        parts: Any = self.machine.parts
        return self.machine._replace(parts=parts._replace(PortNetworks=self.networks))

    # -- numbers of tables --------------------------------------------------------------------

    @property
    def slopes(self) -> Vector:
        """The gradient by all numbers of bodies and joints; (numbers,)."""
        return _flat([self.by_bodies, *_numbers(self._others([*self.by_parts]))])

    @property
    def sizes(self) -> tuple[Vector, Vector]:
        """By what sizes the round-off of `numbers` is judged: those of a part by the largest.

        What bodies have is a product each, while points and directions are differences. Beside
        these, what acts has numbers of any size, such as stiffnesses and bounds that are none: so
        points count as no larger than 1 m.
        """
        bodies, tables = abs(self.machine.bodies.numbers), self.machine.parts
        parts = map(_largest_of_rows, _numbers(self._others(tables)))
        acting = _flat(map(_largest_of_rows, _numbers(self._act(tables))))
        return _flat([bodies, *parts]), np.minimum(acting, np.maximum(abs(self.own), 1.0))

    def numbers(self, system: PHSystem) -> tuple[Vector, Vector] | None:
        """Return the numbers of bodies and joints of another system, and those of what acts.

        None if its tables have another structure.
        """
        if not isinstance(system, DirectorForm):
            return None
        mechanism, plan, families = system.mechanism, self.plan, self.runner.parts.families
        others = Parts.of(mechanism, system.layout).families
        if [len(family) for family in families] != [len(family) for family in others]:
            return None
        own: list[Any] = [*self.machine.parts]
        parts = [
            family.table(plan.graph, plan.tiles) if len(family) else table
            for family, table in zip(others, own, strict=True)
        ]
        if not all(map(_alike, parts, own)):
            return None
        bodies = real(2 * mechanism.inertia, mechanism.weight)
        self._alive.append(others)  # functions that numbers are addresses of
        return _flat([bodies, *_numbers(self._others(parts))]), self._acting_numbers(parts)

    def inputs(self, system: PHSystem, u: Array, times: Vector) -> Array:
        """Return inputs u (steps, m) of a system, and where its drives lead to."""
        assert isinstance(system, DirectorForm)
        return system.mechanism.with_targets(u[:, : system.m], times[:-1])

    def _others(self, parts: Sequence[Any]) -> list[Any]:
        return [table for table, acts in zip(parts, self.acting, strict=True) if not acts]

    def _act(self, parts: Sequence[Any]) -> list[Any]:
        return [table for table, acts in zip(parts, self.acting, strict=True) if acts]

    def _acting_numbers(self, parts: Sequence[Any]) -> Vector:
        return _flat(_numbers(self._act(parts)))

    def _in_a_block(self, parts: Sequence[Any]) -> PartTables:
        """Return tables of what acts with their numbers in one array."""
        first = 0

        def moved(table: Any) -> Any:
            nonlocal first
            if not isinstance(table, tuple):
                return table
            fields = []
            for value, hint in fields_of(table):
                if isinstance(value, tuple) or not _is_numbers(value, hint):
                    fields.append(moved(value))
                    continue
                own = self.block[first : first + value.size].view(value.dtype)
                fields.append(own.reshape(value.shape))
                first += value.size
            return type(table)(*fields)

        return PartTables(
            *(
                moved(table) if acts else table
                for table, acts in zip(parts, self.acting, strict=True)
            )
        )


def _emptied(table: Any) -> Any:
    """Return tables of the same shapes with zeros for numbers."""
    if isinstance(table, tuple):
        return type(table)(*map(_emptied, table))
    return np.zeros_like(table) if table.dtype.kind == "f" else table


def _is_numbers(value: NDArray[Any], hint: Any) -> bool:
    """Tell whether an array has numbers of parts, or addresses of their laws."""
    marks = get_args(hint)[2:]
    if value.dtype.kind == "f":
        return "written" not in marks or "numbers" in marks
    return "addresses" in marks


def _numbers(tables: Any) -> Iterator[Array]:
    """Yield all arrays of numbers in tables, addresses by their bits."""
    for value, hint in fields_of(tables):
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif _is_numbers(value, hint):
            yield value.view(np.float64)


def _alike(a: Any, b: Any) -> bool:
    """Tell whether tables differ in numbers, or functions, only."""
    if not isinstance(a, tuple):
        same: bool = a.shape == b.shape and (a.dtype.kind == "f" or np.array_equal(a, b))
        return same
    for (one, hint), (other, _) in zip(fields_of(a), fields_of(b), strict=True):
        if isinstance(one, np.ndarray) and one.dtype.kind == "i" and _is_numbers(one, hint):
            if not np.array_equal(one != 0, other != 0):
                return False
        elif not _alike(one, other):
            return False
    return True


def _largest_of_rows(numbers: Array) -> Array:
    """Return numbers of the same shape, each the largest of its row, without sign."""
    axes = tuple(range(1, numbers.ndim))
    largest = np.max(abs(numbers), axis=axes, initial=0.0, keepdims=True)
    return np.broadcast_to(largest, numbers.shape)


def _flat(found: Iterable[Array]) -> Vector:
    return np.concatenate([np.zeros(0), *(each.reshape(-1) for each in found)])
