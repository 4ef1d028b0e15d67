"""Goes on with a run that was killed, interrupted or failed, or is to go further."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import number
from poinsot.parts.events import Event
from poinsot.parts.fmus import FMULaw
from poinsot.ph.ports import Port
from poinsot.ph.runner import Memory
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.result import Result, find_checkpoint, load
from poinsot.run.checkpoint import Keeper
from poinsot.run.plan import Plan
from poinsot.run.problem import Compilable
from poinsot.run.recorder import Facts
from poinsot.run.run import Run
from poinsot.systems.controlling import Held


@dataclass(frozen=True)
class Stopped:
    """A run as its file knows it: what was written, and the last checkpoint.

    `rows` of what was written belong to the checkpoint.
    """

    path: Path
    result: Result
    plan: Plan
    rows: int
    facts: Mapping[str, Any]
    arrays: Memory

    @classmethod
    def at(cls, path: Path) -> Self:
        """Read a file; refuse one that has no checkpoint, or a damaged one."""
        result = load(path)
        found = find_checkpoint(path)
        if found is None:
            raise InputError(
                f"resume: '{path}' has no checkpoint, because it was written by Result.save, an "
                "earlier version or another program; run its model again with output=..."
            )
        facts, arrays = found
        try:
            plan, rows = Plan.read(facts["plan"]), int(facts["rows"])
            if not 1 <= rows <= result.time.size:
                raise ValueError("it belongs to rows that are missing")
            if not (isinstance(facts["run"]["done"], int) and facts["run"]["done"] >= 0):
                raise ValueError("its number of steps is invalid")
        except (KeyError, TypeError, ValueError, InputError) as error:
            raise _damaged(path, error) from error
        return cls(path, result, plan, rows, facts, arrays)

    def is_complete(self, t_end: float | None) -> bool:
        """Return whether there is nothing left to compute up to that time [s]."""
        return self.result.status in ("done", "warned") and t_end in (None, self.plan.t_end)

    def go_on(
        self,
        model: PHSystem | Compilable,
        t_end: float | None,
        inputs: Mapping[str, Signal | ArrayLike] | None,
        events: Mapping[str, Event] | None,
        output: Path,
        progress: bool | None,
    ) -> Result:
        """Simulate a model from the checkpoint on."""
        plan = self.plan if t_end is None else replace(self.plan, t_end=number(t_end, "t_end"))
        if not plan.known:
            raise InputError(
                f"resume: '{plan.scheme}' is a user-defined scheme; simulate again from the start"
            )
        start = self.arrays["start"] if plan.started else None
        try:
            run = Run.of(model, plan, plan.scheme, start, inputs, events, keep=False)
            self._require_later(run)
            _require_no_fmu(run)
            self._require_same_names(run.problem.system, run.loop.facts)
            keeper = Keeper(plan, run.loop)
            keeper.restore(self.facts, self.arrays)
            self._require_same_inputs(run.problem.system)
        except InputError as error:
            raise InputError(f"resume: '{self.path}': {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise _damaged(self.path, error) from error
        run.write_to(output, keeper, (self.result, self.rows))
        self.result.close()
        return run.loop.run(run.problem.clock, progress)

    def _require_later(self, run: Run) -> None:
        clock = run.problem.clock
        done, reached = self.facts["run"]["done"], self.facts["run"]["reached"]
        over = done > clock.steps - len(clock.fractions)
        if reached >= clock.end if run.plan.tolerance else over:
            raise InputError(
                f"the run has reached t = {reached:g} s; t_end = {clock.end:g} s must be later"
            )

    def _require_same_names(self, system: PHSystem, facts: Facts) -> None:
        own = [state.name for state in system.states if state.name not in facts.recovered]
        ports = [port.name for port in (*system.ports, *system.connected)]
        for what, names, known in (
            ("state", own, list(self.result.states)),
            ("port", ports, list(self.result.ports)),
            ("event", list(facts.events.what), list(self.result.events)),
        ):
            if names != known:
                other = sorted(set(names) ^ set(known)) or names
                raise InputError(
                    f"this is not the model of the run: it has {len(names)} {what}s and not "
                    f"{len(known)}, such as '{other[0]}'"
                )

    def _require_same_inputs(self, system: PHSystem) -> None:
        """Compare what ports are fed with to the last step that was saved, where time tells it."""
        if self.rows < 2:
            return
        end, middle = self.result.time[self.rows - 1], self.result.midpoint[self.rows - 2]
        ends = np.array([2 * middle - end, end])
        for port in filter(_of_time, system.ports):
            own, known = port.u_of_steps(ends)[0], self.result.ports[port.name].u[self.rows - 2]
            size = max(np.max(abs(own)), np.max(abs(known)))
            if not np.all(abs(own - known) <= 1e-6 * size):
                raise InputError(
                    f"port '{port.name}': the input is not that of the run: {own.tolist()} and not "
                    f"{known.tolist()} at t = {middle:g} s; give the same inputs=..."
                )


def _require_no_fmu(run: Run) -> None:
    """Refuse FMUs, whose states are not in the file."""
    for controller in run.problem.sampled.controllers:
        if isinstance(controller.law, FMULaw):
            raise InputError(
                f"FMU '{controller.name}' cannot continue, because its state is not in the file; "
                "simulate again from the start"
            )


def _of_time(port: Port) -> bool:
    """Return whether the input of a port is a function of time."""
    return port.takes_inputs and not (port.driven or isinstance(port.signal, Held))


def _damaged(path: Path, error: Exception) -> InputError:
    why = f"{type(error).__name__}: {error}"
    return InputError(f"resume: the checkpoint of '{path}' is damaged ({why}); run the model again")
