"""Takes runs of mechanisms backwards in machine code: gradients by states, and by tables."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import machine_code
from poinsot.engine.backward import Sweep
from poinsot.engine.calls import fields_of
from poinsot.engine.control_backward import Decisions, no_decisions
from poinsot.engine.families import FAMILIES
from poinsot.engine.families import Tables as PartTables
from poinsot.engine.job import Machine
from poinsot.engine.tiles import aligned
from poinsot.kernels import tables
from poinsot.kernels.sampling import MEMORY, MULTIPLIER, SIGNAL, STATE, Sampling, no_controllers
from poinsot.parts.family import real
from poinsot.parts.network_table import Networks
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.systems.compiled.machine import Parts
from poinsot.systems.compiled.runner import DirectorRunner, MechanismRunner
from poinsot.systems.directors import DirectorForm
from poinsot.systems.form import MechanismForm
from poinsot.systems.measuring import Measurement, RowTables
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm

Array = NDArray[np.float64]
#: Systems whose tables are those of a mechanism.
Tabulated: TypeAlias = MechanismForm | QuaternionForm

#: What of a mechanism in directors does not depend on the inertia of bodies.
ON_FRAMES = "constraints", "contacts", "potentials", "dampers", "inlets", "networks"
#: Kinds of measured numbers that are not of mechanisms.
BESIDE = STATE, SIGNAL, MEMORY
#: So many steps are looked at beforehand, to see on which nodes forces act.
PROBES = 3


def not_backwards(runner: MechanismRunner) -> str:
    """Return what machine code does not take backwards, nothing if it can."""
    for family in runner.parts.families:
        if len(family) and not family.reversible:
            return f"the family {type(family).__name__}"
    if not runner.networks.follows:
        return "systems at ports, or controllers, that are called as functions"
    return ""


@dataclass(frozen=True, eq=False)
class LossSlopes:
    """Derivatives of a loss by states (steps + 1, n), or by what is measured of them, row by row.

    Either may be empty.
    """

    by_states: Array = field(default_factory=lambda: np.zeros((0, 0)))
    measured: Sampling = field(default_factory=no_controllers)
    by_measured: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def take(self, rows: slice) -> Self:
        """Return those by some of the states."""
        return replace(self, by_states=self.by_states[rows], by_measured=self.by_measured[rows])


class MechanismSweep(ABC):
    """Goes through steps of a run backwards, some at a time, the last ones first.

    Parameters
    ----------
    runner : MechanismRunner
        What has taken them.
    system : MechanismForm or QuaternionForm
        The system of the run, whose states are not always those of the runner.
    """

    #: Systems whose tables are alike.
    forms: ClassVar[type[Tabulated]]

    def __init__(self, runner: MechanismRunner, system: Tabulated) -> None:
        self.runner, self.system, self.plan = runner, system, runner.tables()
        self.places = self.plan.places
        machine, self.work = runner.thorough_machine()
        stabilised, families = runner.system.stabilised, runner.parts.families
        #: Which families have derivatives by hand of all but laws that are functions.
        self.by_hand = [family.by_hand(stabilised=stabilised) for family in families]
        self.present = [len(family) > 0 for family in families]
        self.rest = np.flatnonzero(np.array(self.present) > self.by_hand).astype(np.uint32)
        sizes = [_flat(self._acting(machine.parts, k)).size for k in range(len(families))]
        #: Those of whose numbers, or laws, some are known by models near by.
        self.families = np.flatnonzero(sizes).astype(np.uint32)
        self.first = np.cumsum([0, *(sizes[k] for k in self.families)]).astype(np.uint32)
        self.own = _flat(self._all_acting(machine.parts))
        self.block = self.own.copy()
        self.machine = machine._replace(parts=self._in_a_block(machine.parts))
        #: Networks, with what only the way back needs.
        self.networks = runner.networks.backwards(self._table_of_networks)
        nodes, moving = self.plan.graph.nodes + 1, runner.bodies + 1
        self.stage, self.state = runner.carried.stage.copy(), runner.rest()
        self.bodies = self.of_bodies(runner.system.mechanism)
        self.by_bodies, self.by_parts = np.zeros_like(self.bodies), _emptied(machine.parts)
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

    @property
    @abstractmethod
    def form(self) -> str:
        """The kernel that takes steps of this form backwards."""

    @staticmethod
    @abstractmethod
    def of_bodies(mechanism: Mechanism) -> Array:
        """Return the numbers of bodies by which `by_bodies` is the gradient; (bodies, k)."""

    def use(self, models: list[Vector]) -> None:
        """Take numbers of what acts in models near by, in whose residuals there is interest."""
        self.nearby = np.array(models).reshape(len(models), self.own.size)
        others = self.nearby.view(np.int64) != self.own.view(np.int64)
        pieces = [others[:, a:b].any(axis=1) for a, b in pairwise(self.first.tolist())]
        self.differs = np.zeros((len(models), len(pieces)), dtype=np.uint32)
        if pieces:
            self.differs[:] = np.column_stack(pieces)
        self.by_nearby = np.zeros((len(models), self.plan.graph.nodes + 1))

    def probe(
        self,
        times: Vector,
        u: Array,
        near: tuple[Vector, Vector],
        sizes: Vector,
        models: Sequence[Vector],
    ) -> Array:
        """Return the sums of models (models, nodes) for steps between states anywhere.

        These are near a state (n,) with its angles, whose components have these sizes; `times` (2,)
        and inputs u (1, inputs) are those of a step.
        """
        random = np.random.default_rng(0)
        self.use([*models])
        for _ in range(PROBES):
            self.end(*near)
            x = near[0] + sizes * 0.1 * random.standard_normal((2, sizes.size))
            lam = random.standard_normal(sizes.size)
            self.back(times, u, x, LossSlopes(), lam, np.zeros((1, 0)))
        # Angles of joints are remembered by what takes the steps of the run, too.
        self.end(*near)
        self.by_bodies, self.by_parts = 0.0 * self.by_bodies, _emptied(self.machine.parts)
        return self.by_nearby

    @property
    def acting(self) -> Vector:
        """Numbers, and addresses of laws, that models near by differ in."""
        return self.own

    def end(self, x: Vector, turned: Vector) -> None:
        """Go backwards from this state."""
        q, angles = self.system.directors(x), self.system.layout.counted(turned)
        for family in self.runner.parts.families:
            family.start(q, angles)

    def back(
        self,
        times: Vector,
        u: Array,
        x: Array,
        loss: LossSlopes,
        lam: Vector,
        by_u: Array,
        decisions: Decisions | None = None,
    ) -> int:
        """Make lam, the gradient by the last of states x, that by the first; return steps done.

        Derivatives of the loss are added at all states but the first. What it is by the numbers of
        tables, and by those of models near by, is kept; that by inputs is written.
        """
        asked = Sweep(
            machine=self._taken_back,
            by_bodies=self.by_bodies,
            by_parts=self.by_parts,
            places=self.places,
            times=times,
            u=u.copy(),
            y=np.zeros_like(u),
            x=x,
            seeds=loss.by_states,
            measured=loss.measured,
            slopes=loss.by_measured,
            lam=lam,
            rest=self.rest,
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
            decisions=no_decisions() if decisions is None else decisions,
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

    def rows_of(self, measurement: Measurement) -> Sampling | None:
        """Return what is measured as rows; None if machine code does not know their derivatives."""
        return None

    # -- numbers of tables --------------------------------------------------------------------

    @property
    def slopes(self) -> Vector:
        """The gradient by all numbers that have derivatives by hand; (numbers,)."""
        return _flat([self.by_bodies, *self._all_known([*self.by_parts])])

    @property
    def sizes(self) -> tuple[Vector, Vector]:
        """By what sizes the round-off of `numbers` is judged: those of a part by the largest.

        What bodies have is a product each, while points and directions are differences. Beside
        these, what acts has numbers of any size, such as stiffnesses and bounds that are none: so
        points count as no larger than 1 m.
        """
        bodies, parts = abs(self.bodies), self.machine.parts
        known = (
            _bounded(each) if family.loads else _largest_of_rows(each)
            for k, family in enumerate(FAMILIES)
            for each in self._known(parts, k)
        )
        return _flat([bodies, *known]), _flat(map(_bounded, self._all_acting(parts)))

    def numbers(self, system: PHSystem) -> tuple[Vector, Vector] | None:
        """Return the numbers of another system that have derivatives by hand, and all others.

        None if its tables have another structure.
        """
        if not isinstance(system, self.forms):
            return None
        mechanism, own = system.mechanism, list[Any](self.machine.parts)
        bodies = self.of_bodies(mechanism)
        before = self.system.mechanism
        if all(getattr(mechanism, name) is getattr(before, name) for name in ON_FRAMES):
            return _flat([bodies, *self._all_known(own)]), self.own
        plan, families = self.plan, self.runner.parts.families
        others = Parts.of(mechanism, system.layout).families
        if [len(family) for family in families] != [len(family) for family in others]:
            return None
        parts = [
            family.table(plan.graph, plan.tiles) if len(family) else table
            for family, table in zip(others, own, strict=True)
        ]
        if not all(map(_alike, parts, own)):
            return None
        self._alive.append(others)  # functions that numbers are addresses of
        return _flat([bodies, *self._all_known(parts)]), _flat(self._all_acting(parts))

    def inputs(self, system: PHSystem, u: Array, times: Vector) -> Array:
        """Return inputs u (steps, m) of a system, and where its drives lead to."""
        assert isinstance(system, self.forms)
        return system.mechanism.with_targets(u[:, : system.m], times[:-1])

    def _all_known(self, parts: Sequence[Any]) -> Iterator[Array]:
        """Yield all numbers that have derivatives by hand."""
        for k in np.flatnonzero(self.present).tolist():
            yield from self._known(parts, k)

    def _all_acting(self, parts: Sequence[Any]) -> Iterator[Array]:
        """Yield all others."""
        for k in np.flatnonzero(self.present).tolist():
            yield from self._acting(parts, k)

    def _known(self, parts: Sequence[Any], k: int) -> Iterator[Array]:
        """Yield numbers of a family that have derivatives by hand."""
        return (value for value in _numbers(parts[k]) if self.by_hand[k] and _is_real(value))

    def _acting(self, parts: Sequence[Any], k: int) -> Iterator[Array]:
        """Yield all other numbers of a family, and addresses of laws by their bits."""
        found = (value for value in _numbers(parts[k]) if self._acts(k, value))
        return (value.view(np.float64) for value in found)

    def _acts(self, k: int, value: NDArray[Any]) -> bool:
        """Tell whether numbers of a family, or addresses if there are, differ in models near by."""
        if _is_real(value):
            return not self.by_hand[k]
        # Networks have their own ones of models near by.
        return not FAMILIES[k].closes and bool(np.any(value))

    def _in_a_block(self, parts: Sequence[Any]) -> PartTables:
        """Return tables of what acts with its numbers in one array."""
        first = 0

        def moved(table: Any, k: int) -> Any:
            nonlocal first
            if not isinstance(table, tuple):
                return table
            fields = []
            for value, hint in fields_of(table):
                if isinstance(value, tuple):
                    fields.append(moved(value, k))
                elif _is_numbers(value, hint) and self._acts(k, value):
                    own = self.block[first : first + value.size].view(value.dtype)
                    fields.append(own.reshape(value.shape))
                    first += value.size
                else:
                    fields.append(value)
            return type(table)(*fields)

        return PartTables(*(moved(table, k) for k, table in enumerate(parts)))


class DirectorSweep(MechanismSweep):
    """Goes through steps of a run in directors backwards.

    Parameters
    ----------
    runner : DirectorRunner
        What has taken them.
    """

    forms = DirectorForm

    def __init__(self, runner: DirectorRunner) -> None:
        super().__init__(runner, runner.system)

    @property
    def form(self) -> str:
        """The plain form, or the stabilised one."""
        return "stabilised_backward" if self.system.stabilised else "backward"

    @staticmethod
    def of_bodies(mechanism: Mechanism) -> Array:
        """Return 2 m, 2 E_i and the gradient of gravity."""
        return real(2 * mechanism.inertia, mechanism.weight)

    def rows_of(self, measurement: Measurement) -> Sampling | None:
        """Return what is measured as rows; None if it is not measured of the mechanism alone."""
        every = measurement.rows()
        if every is None or any(row.kind in BESIDE for row in every):
            return None
        own = RowTables.of(every, self.runner.bodies)
        own.factors[:, MULTIPLIER] = self.runner.places_of(own.multipliers)
        return no_controllers()._replace(
            numbers=own.numbers, channels=own.channels, pulls=own.pulls, factors=own.factors
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


def _numbers(table: Any) -> Iterator[NDArray[Any]]:
    """Yield all arrays of numbers in a table, and those of addresses."""
    for value, hint in fields_of(table):
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif _is_numbers(value, hint):
            yield value


def _alike(a: Any, b: Any) -> bool:
    """Tell whether tables differ in numbers, or functions, only."""
    if a is b:
        return True
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


def _is_real(value: NDArray[Any]) -> bool:
    return value.dtype.kind == "f"


def _bounded(numbers: Array) -> Array:
    """Return numbers of the same shape, each the largest of its row up to itself or 1."""
    return np.minimum(_largest_of_rows(numbers), np.maximum(abs(numbers), 1.0))


def _largest_of_rows(numbers: Array) -> Array:
    """Return numbers of the same shape, each the largest of its row, without sign."""
    axes = tuple(range(1, numbers.ndim))
    largest = np.max(abs(numbers), axis=axes, initial=0.0, keepdims=True)
    return np.broadcast_to(largest, numbers.shape)


def _flat(found: Iterable[Array]) -> Vector:
    return np.concatenate([np.zeros(0), *(each.reshape(-1) for each in found)])
