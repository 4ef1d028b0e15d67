"""A run in phases: events release joints, lock them, and switch loads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from poinsot.errors import InputError
from poinsot.parts.events import (
    Action,
    Lock,
    Release,
    Switch,
    absent_at_start,
    absent_ever,
    locked_ever,
)
from poinsot.parts.fmus import FMULaw
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Block, Clock, Memory, Totals
from poinsot.result.history import Saved
from poinsot.run.compiled import CompiledEngine
from poinsot.run.engine import Engine
from poinsot.run.phase import Phase
from poinsot.run.problem import Instrumented, Motion, Problem
from poinsot.systems.measuring import Measurement

Side: TypeAlias = Literal["left", "right"]
#: (model, time at which it begins [s], angles then [rad]) -> a problem, and its engine.
Pose: TypeAlias = Callable[[Instrumented, float, dict[str, float]], tuple[Problem, Engine]]


@dataclass(frozen=True, eq=False)
class Origin:
    """A model from which phases are made by taking parts away: where and when it begins.

    Where joints were locked, velocities are those before that, and are projected.
    """

    model: Instrumented
    t: float
    angles: dict[str, float]
    locks: bool = False

    def without(self, names: frozenset[str], pose: Pose) -> tuple[Problem, Engine]:
        """Return what is left without some parts, with velocities that suit its joints."""
        rest = self.model.without(names)
        if self.locks:
            rest.project_velocities()
        known = [f"{joint}." for joint in rest.joints]
        angles = {n: a for n, a in self.angles.items() if any(n.startswith(own) for own in known)}
        return pose(rest, self.t, angles)


class PhasedEngine(Engine):
    """Engines of phases, one after the other, as one engine of the whole system.

    Parameters
    ----------
    problem, engine : Problem, Engine
        The whole system, and what takes its steps.
    model : Instrumented
        Its model.
    pose : function
        Returns the problem of what is left of the model, and its engine.
    """

    def __init__(self, problem: Problem, engine: Engine, model: Instrumented, pose: Pose) -> None:
        self.whole, self.pose = problem.system, pose
        #: What may be absent or locked some time.
        self.names = sorted(absent_ever(problem.triggers))
        self.first = (
            Origin(model, problem.clock.start, {}),
            Phase.of(problem.system, problem, engine),
        )
        self._begin(absent_at_start(problem.triggers))
        self.name, self.first_block = self.phase.engine.name, self.phase.engine.first_block
        self.start(problem.x, problem.turned)

    def _begin(self, absent: frozenset[str]) -> None:
        """Begin with the first phase."""
        self.origin, whole = self.first
        self.made, self.absent = {frozenset[str](): whole}, absent
        self.phase = self._phase()
        #: When each phase began [s], and what is absent in it.
        self.began = [(self.origin.t, absent, self.phase)]
        #: Joints -> since when they are locked [s]; and for each the number of the phase that
        #: began by that, which of the names it is, and the state and angles before.
        self.locked: dict[str, float] = {}
        self.holds: list[Vector] = []

    @property
    def x(self) -> Vector:
        """The state of the whole."""
        return self.phase.widen(self.phase.engine.x)

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state of the whole."""
        self.phase.engine.start(self.phase.narrow(x), turned[self.phase.angles])

    def memory(self) -> Memory:
        """Return what the engine of this phase carries, and what phases there were, and why."""
        phases = [[t, *(name in gone for name in self.names)] for t, gone, _ in self.began]
        size = 2 + self.whole.n + len(self.whole.angle_names)
        return self._named(self.phase.engine.memory()) | {
            "phases": np.array(phases),
            "locked": np.array(self.holds).reshape(-1, size),
        }

    def _named(self, memory: Memory) -> Memory:
        """Return the memory of an engine by names that tell its phase."""
        return {f"phase {len(self.began)} {name}": array for name, array in memory.items()}

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        if len(memory["phases"]) != len(self.began):
            self._go_through(memory)
        own = self.phase.engine.memory()
        for name, known in zip(self._named(own), list(own), strict=True):
            if name in memory:
                own[known] = memory[name]
        self.phase.engine.restore(own)

    def _go_through(self, memory: Memory) -> None:
        """Go to the phase of a memory, through those before it, in this process or in another."""
        absent = [
            frozenset(name for name, yes in zip(self.names, gone, strict=True) if yes)
            for _, *gone in memory["phases"].tolist()
        ]
        before = {int(row[0]): row for row in memory["locked"]}
        self._begin(absent[0])
        for k, t in list(enumerate(memory["phases"][:, 0].tolist()))[1:]:
            if k in before:
                joint, (x, angles) = int(before[k][1]), np.split(before[k][2:], [self.whole.n])
                self._hold(self.names[joint], x, t, angles)
            self.absent = absent[k]
            self.phase = self._phase()
            self.began.append((t, self.absent, self.phase))

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

    # -- changes ------------------------------------------------------------------------------

    def change(self, actions: Sequence[Action], t: float, totals: Totals) -> float:
        """Change what is there at time t [s]; return what that adds to the stored energy [J]."""
        whole = 0.0
        for action in actions:
            if isinstance(action, Lock) and action.joint not in self.absent | self.locked.keys():
                whole += self._lock(action.joint, t, totals)
            elif isinstance(action, Release) and action.joint not in self.locked:
                whole += self._go_on(self.absent | {action.joint}, self.x, t, totals)
            elif isinstance(action, Switch):
                load = {action.load}
                absent = self.absent - load if action.on else self.absent | load
                whole += self._go_on(absent, self.x, t, totals)
        return whole

    def _go_on(self, absent: frozenset[str], x: Vector, t: float, totals: Totals) -> float:
        """Go on in another phase, from a state of the whole; return the energy that this adds."""
        before, here, self.absent = self.phase, self.x, absent
        self.phase = self._phase()
        if self.phase is before:
            return 0.0
        for new, old in zip(self.phase.samples(), before.samples(), strict=True):
            new[...] = old
        self.start(x, totals.turn)
        energy = self.phase.H(x, totals.turn) - before.H(here, totals.turn)
        totals.energy0 += energy
        self.began.append((t, absent, self.phase))
        return energy

    def _lock(self, joint: str, t: float, totals: Totals) -> float:
        """Make a joint rigid; velocities become the nearest ones that all joints allow."""
        x = self.x
        seen = self._hold(joint, x, t, totals.turn)
        projected = self._phase()
        # Positions stay as they are, to the last bit.
        begin, end = seen.view.parts[0].n, seen.view.motion
        there = projected.narrow(x)
        there[seen.span][begin:end] = projected.problem.x[seen.span][begin:end]
        return self._go_on(self.absent, projected.widen(there), t, totals)

    def _hold(self, joint: str, x: Vector, t: float, turned: Vector) -> Measurement:
        """Let phases to come have a joint rigid as it is in a state; return what looks at it."""
        moved, seen = self._with_lock(joint, x)
        angles = dict(zip(self.whole.angle_names, turned.tolist(), strict=True))
        self.origin, self.made = Origin(moved, t, angles, True), {}
        self.locked[joint] = t
        number = len(self.began), self.names.index(joint)
        self.holds.append(np.concatenate([number, x, turned]))
        return seen

    def _with_lock(self, joint: str, x: Vector) -> tuple[Instrumented, Measurement]:
        """Return the model in a state of the whole with a joint locked, and what looks at it."""
        seen = Measurement(self.phase.problem.system, [])
        return self.origin.model.locked(joint, _motion(seen, self.phase.narrow(x))), seen

    def _phase(self) -> Phase:
        """Return the phase of what is there now."""
        absent = self.absent
        if absent not in self.made:
            try:
                left = self.origin.without(absent, self.pose)
            except InputError as error:
                listed = ", ".join(f"'{name}'" for name in sorted(absent))
                raise InputError(f"events remove {listed} from the model: {error}") from error
            self.made[absent] = Phase.of(self.whole, *left)
        return self.made[absent]

    def require_possible(self, problem: Problem) -> None:
        """Refuse changes that no phase can have, by what is left if all of them are made."""
        for controller in problem.sampled.controllers:
            if isinstance(controller.law, FMULaw):
                raise InputError(
                    f"FMU '{controller.name}' would restart when an event changes the model; use "
                    "then='record' or 'stop'"
                )
        here, self.absent = self.absent, self.absent | set(self.names)
        self._phase()
        for joint in locked_ever(problem.triggers):
            moved, _ = self._with_lock(joint, problem.x)
            try:
                moved.without(here).project_velocities()
            except InputError as error:
                raise InputError(f"joint '{joint}' cannot be locked: {error}") from error
        self.absent = here

    # -- what was saved -----------------------------------------------------------------------

    def of_times(self, times: Vector, side: Side = "right") -> Iterator[tuple[slice, Phase]]:
        """Yield which times belong to which phase; that of an event to the one before ("right")."""
        ends = [*np.searchsorted(times, [t for t, *_ in self.began[1:]], side=side), times.size]
        start = 0
        for (*_, phase), end in zip(self.began, ends, strict=True):
            if end > start:
                yield slice(start, int(end)), phase
            start = max(start, int(end))

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x of saved steps, with what engines leave out.

        That is not known (NaN) where joints are locked, by forces that the whole does not have.
        """
        x, stage_x = saved.x.copy(), saved.stage_x.copy()
        for rows, phase in self.of_times(saved.time):
            engine = phase.engine
            if not isinstance(engine, CompiledEngine):
                continue
            some = saved.take(np.arange(rows.start, rows.stop))
            x[rows], stage_x[rows] = map(phase.widen, engine.runner.recover(phase.narrowed(some)))
            if phase.own.size < phase.problem.system.n:
                for name in engine.runner.recovered & self.whole.slices.keys():
                    piece = self.whole.slices[name]
                    x[rows, piece] = stage_x[rows, piece] = np.nan
        return x, stage_x


def _motion(seen: Measurement, x: Vector) -> Motion:
    """Return position, directors, and linear and angular momentum of each body in a state."""
    view, own = seen.view, x[None, seen.span]
    q = view.directors(own[:, : view.motion], view.bodies)[0]
    p, L = (each[0] for each in view.momenta(own))
    return {name: (q[k, 0], q[k, 1:].T, p[k], L[k]) for k, name in enumerate(seen.layout.bodies)}
