"""The beginning of a run in numbers: all that machine code needs to take it from start to end."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from poinsot.engine.job import Job
from poinsot.ph.matrices import Array, Vector
from poinsot.run.compiled import CompiledEngine, inputs_of
from poinsot.run.run import Run
from poinsot.systems.compiled.image import Image
from poinsot.systems.compiled.runner import MechanismRunner


@dataclass(frozen=True, eq=False)
class Opening:
    """A run before its first step, as machine code knows it.

    Parameters
    ----------
    run : Run
        The run; nothing of it has been taken.
    job : Job
        All steps of it at once.
    """

    run: Run
    job: Job

    @classmethod
    def of(cls, run: Run) -> Self | None:
        """Return the beginning of a run; None: machine code alone cannot take it.

        Events, Python functions and steps of changing size are looked after between steps; states
        in body axes are translated.
        """
        engine = run.loop.engine
        if type(engine) is not CompiledEngine or run.plan.tolerance is not None:
            return None
        runner, clock, totals = engine.runner, run.problem.clock, run.loop.recorder.totals
        if not isinstance(runner, MechanismRunner) or runner.calls_python:
            return None
        u = inputs_of(engine.system, clock.span(0, clock.steps))
        job = runner.as_job(clock, 0, u, run.loop.recorder.save_every, totals)
        return cls(run, job) if job.times.size == clock.steps + 1 else None

    @property
    def runner(self) -> MechanismRunner:
        """What knows the system in the compiled engine."""
        engine = self.run.loop.engine
        assert isinstance(engine, CompiledEngine)
        assert isinstance(engine.runner, MechanismRunner)
        return engine.runner

    @cached_property
    def image(self) -> Image:
        """Where everything is in the memory of the job."""
        return Image(self.job)

    def numbers(self, image: Image) -> Vector:
        """Return the memory of the job, then the state and the angles at the start, in one vector.

        `image` is that of another run of the same structure, see `Image.fits`.
        """
        problem = self.run.problem
        return np.concatenate([image.read(self.job), problem.x, problem.turned])

    def parts(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Return memory, state and angles of such vectors; (..., size) each."""
        memory, n = self.image.size, self.run.problem.x.size
        return numbers[..., :memory], numbers[..., memory : memory + n], numbers[..., memory + n :]
