"""Phases of a run: what is left of a model while some joints are released and loads are off.

Each phase is a system of its own, with an engine of its own. Its states, angles and ports are some
of those of the whole model, by name; what is absent is zero.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.parts.events import Action, Release, Switch, absent_at_start, absent_ever
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Block, Clock, Memory, Totals, counted
from poinsot.ph.system import PHSystem
from poinsot.result.history import Saved
from poinsot.run.compiled import CompiledEngine
from poinsot.run.engine import Engine
from poinsot.run.problem import Problem

Indices = NDArray[np.intp]
Side: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class Phase:
    """A system in place of the whole one.

    Parameters
    ----------
    whole : PHSystem
        The system with everything.
    problem, engine : Problem, Engine
        What is there, and what takes its steps.
    states, angles, ports : array
        Where its own are among those of the whole.
    """

    whole: PHSystem
    problem: Problem
    engine: Engine
    states: Indices
    angles: Indices
    ports: Indices

    @classmethod
    def of(cls, whole: PHSystem, problem: Problem, engine: Engine) -> "Phase":
        """Return a phase of a run."""
        own, indices = problem.system, np.arange(whole.n)
        pieces = [indices[whole.slices[state.name]] for state in own.states]
        return cls(
            whole,
            problem,
            engine,
            np.concatenate(pieces),
            _places(own.angle_names, whole.angle_names),
            _places(_ports(own), _ports(whole)),
        )

    def H(self, x: Vector, turned: Vector) -> float:
        """Return the energy of a state of the whole that is stored in what is there [J]."""
        return self.problem.system.near(turned[self.angles]).H(x[self.states])

    def totals(self, totals: Totals) -> Totals:
        """Return the sums of what is there."""
        supplied, turn = totals.supplied[self.ports], totals.turn[self.angles]
        return Totals(totals.energy0, totals.lost, supplied, turn)

    def add(self, own: Totals, totals: Totals, x: Vector) -> None:
        """Carry the sums of the whole on; `x` is its state."""
        totals.lost = own.lost
        totals.supplied = _put(totals.supplied, self.ports, own.supplied)
        totals.turn = self.turned(x, own.turn, totals.turn)

    def turned(self, x: Vector, own: Vector, about: Vector) -> Vector:
        """Return all angles of a state of the whole; those of released joints are near others."""
        return _put(counted(self.whole.angles(x), about), self.angles, own)

    def widened(self, saved: Saved, before: Totals) -> Saved:
        """Return saved steps of the whole."""
        k, whole = len(saved.time), self.whole
        x, stage_x = np.zeros((2, k, whole.n))
        x[:, self.states], stage_x[:, self.states] = saved.x, saved.stage_x
        supplied = np.tile(before.supplied, (k, 1))
        supplied[:, self.ports] = saved.port_energy
        turned, about = saved.turned, before.turn
        if self.angles.size < about.size:
            turned = np.zeros((k, about.size))
            for row in range(k):
                about = turned[row] = self.turned(x[row], saved.turned[row], about)
        sizes = [port.size for port in (*whole.ports, *whole.connected)]
        u, y = ([np.zeros((k, size)) for size in sizes] for _ in range(2))
        for place, own_u, own_y in zip(self.ports.tolist(), saved.u, saved.y, strict=True):
            u[place], y[place] = own_u, own_y
        return replace(saved, x=x, stage_x=stage_x, port_energy=supplied, turned=turned, u=u, y=y)

    def narrowed(self, saved: Saved) -> Saved:
        """Return what saved steps of the whole are here."""
        ports = self.ports.tolist()
        return replace(
            saved,
            x=saved.x[:, self.states],
            stage_x=saved.stage_x[:, self.states],
            port_energy=saved.port_energy[:, self.ports],
            turned=saved.turned[:, self.angles],
            u=[saved.u[k] for k in ports],
            y=[saved.y[k] for k in ports],
        )


class PhasedEngine(Engine):
    """Engines of phases, one after the other, as one engine of the whole system.

    Parameters
    ----------
    first : Phase
        With what the run begins.
    make : function
        Returns the phase without some joints and loads, by their names.
    absent : set
        Names of those that are absent at the start.
    t : float
        Time at the start [s].
    """

    def __init__(
        self,
        first: Phase,
        make: Callable[[frozenset[str]], Phase],
        absent: frozenset[str],
        t: float,
    ) -> None:
        self.phase, self.make, self.absent = first, make, absent
        self.name, self.first_block = first.engine.name, first.engine.first_block
        self.began: list[tuple[float, Phase]] = [(t, first)]
        self.made = {absent: first}

    @property
    def x(self) -> Vector:
        """The state of the whole."""
        x = np.zeros(self.phase.whole.n)
        x[self.phase.states] = self.phase.engine.x
        return x

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state of the whole."""
        self.phase.engine.start(x[self.phase.states], turned[self.phase.angles])

    def memory(self) -> Memory:
        """Return what the engine of this phase carries."""
        return self.phase.engine.memory()

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called, in this phase."""
        self.phase.engine.restore(memory)

    def undisturbed(self) -> AbstractContextManager[list[int]]:
        """Return in what context steps are taken."""
        return self.phase.engine.undisturbed()

    def advance(
        self, clock: Clock, first: int, steps: int, save_every: int, totals: Totals
    ) -> Block:
        """Take steps of this phase."""
        phase, own = self.phase, self.phase.totals(totals)
        block = phase.engine.advance(clock, first, steps, save_every, own)
        saved = phase.widened(block.saved, totals)
        pending = None if block.pending is None else phase.widened(block.pending, totals)
        phase.add(own, totals, self.x)
        return replace(block, saved=saved, pending=pending)

    def change(self, actions: Sequence[Action], t: float, totals: Totals) -> float:
        """Change what is there at time t [s]; return what that adds to the stored energy [J]."""
        absent = set(self.absent)
        for action in actions:
            if isinstance(action, Release):
                absent.add(action.joint)
            elif isinstance(action, Switch):
                (absent.discard if action.on else absent.add)(action.load)
        if absent == self.absent:
            return 0.0
        before, x = self.phase, self.x
        self.absent = frozenset(absent)
        if self.absent not in self.made:
            self.made[self.absent] = self.make(self.absent)
        self.phase = self.made[self.absent]
        # Samples go on where they are.
        tables = zip(_samples(self.phase), _samples(before), strict=True)
        for new, old in tables:
            new[...] = old
        self.start(x, totals.turn)
        energy = self.phase.H(x, totals.turn) - before.H(x, totals.turn)
        totals.energy0 += energy
        self.began.append((t, self.phase))
        return energy

    def of_times(self, times: Vector, side: Side = "right") -> Iterator[tuple[slice, Phase]]:
        """Yield which times belong to which phase; that of an event to the one before ("right")."""
        ends = [*np.searchsorted(times, [t for t, _ in self.began[1:]], side=side), times.size]
        start = 0
        for (_, phase), end in zip(self.began, ends, strict=True):
            if end > start:
                yield slice(start, int(end)), phase
            start = max(start, int(end))

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x of saved steps of the whole, with what engines leave out."""
        x, stage_x = saved.x.copy(), saved.stage_x.copy()
        for rows, phase in self.of_times(saved.time):
            engine = phase.engine
            if isinstance(engine, CompiledEngine):
                own = phase.narrowed(saved.take(np.arange(rows.start, rows.stop)))
                found = engine.runner.recover(own)
                x[rows, phase.states], stage_x[rows, phase.states] = found
        return x, stage_x


def _places(names: Sequence[str], among: Sequence[str]) -> Indices:
    """Return where names are among others."""
    return np.array([list(among).index(name) for name in names], dtype=np.intp)


def _ports(system: PHSystem) -> list[str]:
    """Return the names of all ports, those that are connected last."""
    return [port.name for port in (*system.ports, *system.connected)]


def _put(values: Vector, places: Indices, own: Vector) -> Vector:
    """Return values with some of them replaced."""
    found = values.copy()
    found[places] = own
    return found


def _samples(phase: Phase) -> Iterator[NDArray[Any]]:
    """Yield what sampled controllers remember."""
    table = phase.problem.sampled.table
    return iter((table.sampled, table.given, table.found, table.ring, table.held, table.last))


def in_phases(
    problem: Problem,
    engine: Engine,
    without: Callable[[frozenset[str]], tuple[Problem, Engine]],
) -> PhasedEngine:
    """Return an engine that goes through the phases of a problem.

    `without` returns what is left of it without some joints and loads.
    """
    whole, absent = problem.system, absent_at_start(problem.triggers)

    def make(names: frozenset[str]) -> Phase:
        if not names:
            return Phase.of(whole, problem, engine)
        try:
            return Phase.of(whole, *without(names))
        except InputError as error:
            listed = ", ".join(f"'{name}'" for name in sorted(names))
            raise InputError(f"events that leave the model without {listed}: {error}") from error

    phased = PhasedEngine(make(absent), make, absent, problem.clock.start)
    phased.start(problem.x, problem.turned)
    every = absent_ever(problem.triggers) | absent
    phased.made[every] = make(every)  # what cannot be is said now
    return phased
