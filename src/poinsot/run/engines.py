"""The choice between the engines that there are."""

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.runner import Runner
from poinsot.ph.stages import Newton
from poinsot.run.compiled import CompiledEngine, prepare
from poinsot.run.engine import Engine
from poinsot.run.problem import Problem
from poinsot.run.reference import ReferenceEngine
from poinsot.schemes.step import take_step

ENGINES = ("auto", "reference", "compiled")


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
            "the compiled engine cannot measure all channels that controllers read; use "
            "engine='auto'"
        )
    return None
