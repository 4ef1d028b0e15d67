"""Simulations: from a model to a result."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InexactRunWarning, InputError
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton
from poinsot.ph.system import PHSystem
from poinsot.result import Result, output_path
from poinsot.run.checkpoint import Keeper, Plan, is_known
from poinsot.run.compiled import CompiledEngine, prepare
from poinsot.run.engine import Engine
from poinsot.run.loop import Loop
from poinsot.run.problem import Compilable, Problem
from poinsot.run.recorder import Facts, Recorder
from poinsot.run.reference import ReferenceEngine
from poinsot.run.stream import Stream
from poinsot.schemes.step import take_step

ENGINES = ("auto", "reference", "compiled")


def simulate(
    model: PHSystem | Compilable,
    *,
    h: float,
    t_end: float,
    scheme: str | Scheme | None = None,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    angles: Mapping[str, float] | None = None,
    t_start: float = 0.0,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    engine: str = "auto",
    save_every: int = 1,
    newton: Newton | None = None,
    progress: bool | None = None,
    output: str | PathLike[str] | None = None,
) -> Result:
    """Integrate a model or a port-Hamiltonian system in time, with an exact energy balance.

    Parameters
    ----------
    model : Model, LagrangianSystem or PHSystem
        What to simulate.
    h, t_end, t_start : float
        Step, end and start [s]; the last step is shortened if the span is no multiple of h.
    scheme : str
        `"ph-mp"` (midpoint), `"ph-mp-ggl"` (with velocity constraints, for models), `"ph-dg"`
        (Gonzalez), `"ph-dg-partitioned"` or `"ph-avf"`; `"eml"`, `"emh-mean"` and others for models
        in quaternions and Lagrangians; `"ph-mp-4"`, `"ph-mp-6"` and others of a higher order,
        without dissipation; see `SCHEMES`. Default: `"ph-mp"` for a model, `"eml"` for a
        Lagrangian, `"ph-dg"` for a system.
    coordinates : str
        How a model describes rotations: `"directors"`, `"quaternions"`, or, with velocities in
        body axes, `"rotations"`, `"rotations-quaternion"` and `"rotations-euler"`; see
        `Model.compile`. Default: as the scheme needs it. Quaternions without a scheme are
        integrated by `"emh-mean"`, all others by `"ph-mp"`.
    x0 : array or mapping
        Initial state, whole or by name; what is left out is as in `system.start`. That of a
        Lagrangian is `{"q": [...], "v": [...]}` for all schemes.
    angles : mapping
        Angles of joints at the start, such as `{"hinge.angle": 31.5}` [rad], to go on with the
        turns of another run: a state tells angles only up to whole turns. Default: those within
        half a turn.
    inputs : mapping
        Port name -> constant, function of time [s], or formula of t as text, such as
        `"2*sin(3*t)"`, or one for each component; open ports have u = 0.
    engine : {"auto", "compiled", "reference"}
        The compiled engine runs mechanisms, fast; the reference engine, NumPy and SciPy, runs
        everything. By default the compiled one where it can.
    save_every : int
        Keep every so many steps; balances are summed over all of them.
    newton : Newton
        Tolerances.
    progress : bool
        Show a progress bar; default: on a terminal, for runs over a second.
    output : path
        A netCDF file that saved steps are written to while the run goes on, about twice a second.
        It can be read at any time, even if the run is killed, and `resume` goes on from there. The
        result then reads from it. A file that exists is replaced as soon as the input has been
        accepted.

    Returns
    -------
    Result
        With status `"interrupted"` if Ctrl-C ended the run early, and `"warned"` if its energy
        balance or its constraints are off by more than round-off; an `InexactRunWarning` says so.

    Raises
    ------
    InputError
        Before anything is computed, if the input makes no sense.
    SimulationError
        If a step fails; its `result` holds everything up to there.
    """
    place = None if output is None else output_path(output, "output")
    options = newton or Newton()
    if not isinstance(options, Newton):
        raise InputError(f"newton: expected poinsot.Newton(...), got {newton!r}")
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'; choose from {', '.join(ENGINES)}")
    if not isinstance(save_every, int) or save_every < 1:
        raise InputError(f"save_every is {save_every!r}; it must be a whole number, at least 1")
    problem = Problem.of(model, scheme, coordinates, (h, t_start, t_end), x0, angles, inputs)
    method, clock = problem.scheme, problem.clock
    chosen = choose_engine(problem, engine, options)
    plan = Plan(
        scheme=method.name,
        known=is_known(method),
        coordinates=coordinates,
        h=float(h),
        t_start=float(t_start),
        t_end=float(t_end),
        save_every=save_every,
        asked=engine,
        engine=chosen.name,
        newton=options,
        started=x0 is not None,
        angles={name: float(angle) for name, angle in (angles or {}).items()},
    )
    recorder = recorder_of(problem, plan, keep=place is None)
    facts = facts_of(problem, plan, chosen, model, inputs)
    stream = None
    if place is not None:
        stream = Stream(place, recorder, facts, Keeper(plan, chosen, recorder))
    ended = Loop(chosen, recorder, facts, stream).run(clock, progress)
    warn_of(ended)
    return ended


def recorder_of(problem: Problem, plan: Plan, *, keep: bool) -> Recorder:
    """Return what keeps the steps of a run, all of them or for a while."""
    clock = problem.clock
    return Recorder(
        problem.system,
        problem.x,
        problem.turned,
        clock.start,
        clock.whole,
        plan.save_every,
        len(clock.fractions),
        keep=keep,
    )


def facts_of(
    problem: Problem,
    plan: Plan,
    engine: Engine,
    model: PHSystem | Compilable,
    inputs: Mapping[str, Signal | ArrayLike] | None,
) -> Facts:
    """Return what the result of a run says of it."""
    document: Callable[[], str] = str
    if not (plan.started or plan.angles or isinstance(model, PHSystem)):
        document = model.document(
            inputs or {},
            scheme=plan.scheme,
            coordinates=plan.coordinates,
            step=plan.h,
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
    )
    if isinstance(engine, CompiledEngine):
        runner = engine.runner
        facts = replace(facts, recover=runner.recover, recovered=runner.recovered)
    return facts


def warn_of(ended: Result) -> None:
    """Warn whoever called the caller of a result that is not to be trusted."""
    if ended.status == "warned":
        warnings.warn("\n".join(ended.warnings), InexactRunWarning, stacklevel=3)


def choose_engine(problem: Problem, engine: str, options: Newton) -> Engine:
    """Return the engine that was asked for, or "auto": the compiled one where it can."""
    system, method, clock = problem.system, problem.scheme, problem.clock
    reference = ReferenceEngine(system, method, problem.x, options, problem.sampled)
    if engine == "reference":
        return reference
    required = engine == "compiled"
    runner = system.runner(method, problem.x, clock.h, options)
    if runner is not None and problem.sampled.controllers:
        runner = _controlled(runner, problem, required)
    if runner is None:
        if required:
            raise InputError(
                "the compiled engine runs mechanisms with 'ph-mp', 'ph-mp-ggl' and the exact "
                f"schemes of quaternions, not system '{system.name}' with '{method.name}'"
                f"{system.uncompiled}; use engine='auto'"
            )
        return reference
    middle = clock.start + clock.h / 2
    if not prepare(
        runner,
        required=required,
        steps=clock.steps,
        step=lambda: take_step(system, method, middle, problem.x, clock.h, options),
    ):
        return reference
    if not np.array_equal(problem.turned, system.angles(problem.x)):
        runner.start(problem.x, problem.turned)
    return CompiledEngine(runner, reference)


def _controlled(runner: Runner, problem: Problem, required: bool) -> Runner | None:
    """Return a runner with the controllers of a problem, if it can measure what they read."""
    sampled = problem.sampled
    if sampled.compiled and runner.control(sampled.controls(problem.system)):
        return runner
    if required:
        raise InputError(
            "the compiled engine cannot measure all that controllers read; use engine='auto'"
        )
    return None
