"""A run: everything that it consists of, put together before its first step."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from poinsot.errors import InexactRunWarning
from poinsot.parts.events import Event, absent_ever
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton
from poinsot.ph.system import PHSystem
from poinsot.result import Result
from poinsot.run.adaptive import AdaptiveLoop, require_adaptive
from poinsot.run.checkpoint import Keeper
from poinsot.run.compiled import CompiledEngine
from poinsot.run.engine import Engine
from poinsot.run.engines import choose_engine
from poinsot.run.event_log import EventLog
from poinsot.run.events import watched
from poinsot.run.loop import Loop
from poinsot.run.phase_observer import PhasedObserver
from poinsot.run.phases import PhasedEngine
from poinsot.run.plan import Plan, is_known
from poinsot.run.problem import Compilable, Instrumented, Problem
from poinsot.run.recorder import Facts, Recorder
from poinsot.run.stream import Stream


@dataclass(frozen=True, eq=False)
class Run:
    """A run that can begin, or go on from a checkpoint.

    Parameters
    ----------
    problem : Problem
        What is simulated.
    plan : Plan
        How that was asked for.
    loop : Loop
        What takes and keeps its steps.
    """

    problem: Problem
    plan: Plan
    loop: Loop

    @classmethod
    def of(
        cls,
        model: PHSystem | Compilable,
        plan: Plan,
        scheme: str | Scheme | None,
        start: ArrayLike | Mapping[str, ArrayLike] | None,
        inputs: Mapping[str, Signal | ArrayLike] | None,
        events: Mapping[str, Event] | None,
        *,
        keep: bool,
    ) -> Self:
        """Return the run of a model; saved steps stay in memory or on disk if they are kept."""
        problem = Problem.of(
            model, scheme, plan.coordinates, plan.span, start, plan.angles, inputs, events
        )
        options, clock = plan.newton, problem.clock
        require_adaptive(problem, plan.tolerance, plan.h_max)
        if plan.tolerance is not None:
            options = replace(options, halvings=0)
        engine = choose_engine(problem, plan.engine or plan.asked, options)
        method = problem.scheme
        plan = replace(
            plan,
            h=float(plan.h),
            t_start=float(plan.t_start),
            t_end=float(plan.t_end),
            angles={name: float(angle) for name, angle in plan.angles.items()},
            scheme=method.name,
            known=is_known(method),
            engine=engine.name,
        )
        phased = _phased(model, plan, scheme, inputs, problem, engine)
        recorder = Recorder(
            problem.system,
            problem.x,
            problem.turned,
            clock.start,
            clock.whole,
            plan.save_every,
            len(clock.fractions),
            keep=keep,
            energy=None if phased is None else phased.phase.H(problem.x, problem.turned),
        )
        facts = _facts(model, plan, inputs, events, problem, engine)
        if phased is not None:
            recorder.observer = PhasedObserver(recorder.observer, phased)
            facts, engine = replace(facts, recover=phased.recover), phased
        if problem.triggers:
            engine = watched(engine, problem, facts.events)
        if plan.tolerance is None:
            return cls(problem, plan, Loop(engine, recorder, facts))
        loop = AdaptiveLoop(engine, recorder, facts, plan.tolerance, plan.h_max)
        return cls(problem, plan, loop)

    def write_to(
        self, path: Path, keeper: Keeper | None = None, before: tuple[Result, int] | None = None
    ) -> None:
        """Write saved steps to a file while the run goes on; see `Stream`."""
        keeper = keeper or Keeper(self.plan, self.loop)
        self.loop.stream = Stream(path, self.loop.recorder, self.loop.facts, keeper, before)


def warn_of(ended: Result) -> None:
    """Warn whoever called the caller of a result that is not to be trusted."""
    if ended.status == "warned":
        warnings.warn("\n".join(ended.warnings), InexactRunWarning, stacklevel=3)


def _phased(
    model: PHSystem | Compilable,
    plan: Plan,
    scheme: str | Scheme | None,
    inputs: Mapping[str, Signal | ArrayLike] | None,
    problem: Problem,
    engine: Engine,
) -> PhasedEngine | None:
    """Return an engine for the phases of a run whose events change the model."""
    if not absent_ever(problem.triggers) or not isinstance(model, Instrumented):
        return None

    def pose(rest: Any, t: float, turned: dict[str, float]) -> tuple[Problem, Engine]:
        later = plan.h, t, max(plan.t_end, t + plan.h)
        left = Problem.of(rest, scheme, plan.coordinates, later, None, turned, inputs, None)
        return left, choose_engine(left, plan.engine, plan.newton)

    phased = PhasedEngine(problem, engine, model, pose)
    phased.require_possible(problem)
    return phased


def _facts(
    model: PHSystem | Compilable,
    plan: Plan,
    inputs: Mapping[str, Signal | ArrayLike] | None,
    events: Mapping[str, Event] | None,
    problem: Problem,
    engine: Engine,
) -> Facts:
    """Return what the result of a run says of it."""
    document: Callable[[], str] = str
    if not (plan.started or plan.angles or isinstance(model, PHSystem)):
        document = model.document(
            inputs or {},
            events or {},
            scheme=plan.scheme,
            coordinates=plan.coordinates,
            step=plan.h,
            tolerance=plan.tolerance,
            h_max=plan.h_max,
            t_end=plan.t_end,
            t_start=plan.t_start,
            save_every=plan.save_every,
            engine=plan.asked,
            newton=None if plan.newton == Newton() else plan.newton,
        )
    facts = Facts(
        problem.scheme,
        engine.name,
        plan.h,
        plan.t_end,
        plan.newton,
        document=cache(document),
        sensors=problem.sensors,
        events=EventLog({trigger.name: trigger.event.what for trigger in problem.triggers}),
        tolerance=plan.tolerance or 0.0,
    )
    if isinstance(engine, CompiledEngine):
        runner = engine.runner
        facts = replace(facts, recover=runner.recover, recovered=runner.recovered)
    return facts
