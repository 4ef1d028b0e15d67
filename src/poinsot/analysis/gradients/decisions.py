"""Sampled controllers of a run that machine code goes through backwards: what they have decided."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis.gradients.run import Run
from poinsot.analysis.held import Held
from poinsot.analysis.variations import Direction
from poinsot.engine.control_backward import Decisions
from poinsot.kernels.sampling import (
    CHANGE,
    EVERY,
    GIVEN,
    GIVEN_END,
    HIGH,
    LOW,
    OUTPUT,
    OUTPUTS_END,
    STATES,
)
from poinsot.ph.matrices import Array, Vector
from poinsot.run.problem import Problem
from poinsot.systems.compiled.backward import DirectorSweep, MechanismSweep
from poinsot.systems.compiled.runner import MechanismRunner


def measured_in_machine_code(held: Held, sweep: MechanismSweep) -> bool:
    """Tell whether machine code measures what controllers read, and goes back over all of it."""
    table, known = held.sampled.table, isinstance(sweep, DirectorSweep)
    return known and sweep.runner.sampling is table


class Decided:
    """What controllers decided in steps, and the gradient by what they hold.

    Parameters
    ----------
    run : Run
        A run with sampled controllers.
    runner : MechanismRunner
        What takes its steps.
    """

    def __init__(self, run: Run, runner: MechanismRunner, held: Held) -> None:
        self.run, self.runner, self.held = run, runner, held
        table = runner.sampling
        self.outputs, self.given = table.last.size, table.given.size
        laws = held.sampled.laws
        self._slopes = [law.slopes for law in laws]
        addresses = [0 if each is None else each.address for each in self._slopes]
        self.slopes = np.array(addresses, dtype=np.int64)
        self.by = {
            name: np.zeros_like(getattr(table, name)) for name in ("given", "ring", "held", "last")
        }
        sizes = [each.sizes for each in held.sampled.controllers]
        most = max(each.given for each in sizes), max(each.found for each in sizes)
        self.room = np.zeros(most[0]), np.zeros(most[0] * most[1]), *np.zeros((2, most[1]))

    # -- forwards -----------------------------------------------------------------------------

    def traced(self, steps: int) -> Array:
        """Return a table for what is decided in so many steps."""
        return np.full((steps, self.runner.sampling.trace.shape[1]), np.nan)

    def write_to(self, rows: Array) -> None:
        """Let what is decided in the next steps be written to these rows."""
        self.runner.sampling = self.runner.sampling._replace(trace=rows)

    def is_complete(self, number: int, trace: Array) -> bool:
        """Tell whether everything is there that was decided in steps, the first of this number."""
        return all(
            np.all(np.isfinite(trace[rows, at[GIVEN]])) for at, rows in self._due(number, trace)
        )

    # -- backwards ----------------------------------------------------------------------------

    def put_inputs(self, u: Array, trace: Array) -> None:
        """Set the inputs that controllers held in steps."""
        table = self.runner.sampling
        u[:, self.held.columns] = trace[:, self.given + self.outputs + table.driving]

    def of_steps(self, number: int, trace: Array) -> Decisions:
        """Return what was decided in steps, and the gradients by what is held after them.

        `number` is that of the first step.
        """
        own, found, other, by = self.room
        return Decisions(
            table=self.runner.sampling,
            trace=trace,
            number=number,
            slopes=self.slopes,
            by_outputs=np.zeros((len(trace), self.outputs)),
            by_states=np.zeros((len(trace), self.given)),
            own=own,
            found=found,
            other=other,
            by=by,
            **self.by,
        )

    def by_start(self, directions: Iterable[Direction]) -> Vector:
        """Return the derivatives by parameters that change what is held at the start."""
        parts = self.by["given"], np.zeros_like(self.runner.sampling.found), self.by["ring"]
        nu = np.concatenate([*parts, self.by["held"], self.by["last"]])
        return self.run.by_start([*directions], nu)

    def by_parameters(
        self, decisions: Decisions, directions: Mapping[int, Direction], x: Array, turned: Array
    ) -> dict[int, float]:
        """Return the derivatives by parameters that change laws, or what these measure.

        Steps begin at states x (steps, n), with these angles.
        """
        known: dict[Problem, Vector] = {}
        nu = [np.zeros(0)]
        for at, rows in self._due(decisions.number, decisions.trace):
            nu.append(decisions.by_outputs[rows, at[OUTPUT] : at[OUTPUTS_END]].reshape(-1))
            nu.append(decisions.by_states[rows, at[STATES] : at[GIVEN_END]].reshape(-1))
        by = np.concatenate(nu)

        def decided(problem: Problem) -> Vector:
            if problem not in known:
                known[problem] = self._decided(problem, decisions, x, turned)
            return known[problem]

        return {k: float(by @ each.of(decided)) for k, each in directions.items() if each.nearby}

    def _decided(self, problem: Problem, decisions: Decisions, x: Array, turned: Array) -> Vector:
        """Return what another run would have decided, at the same states of all that is held."""
        held, parts = self.run.held_of(problem), [np.zeros(0)]
        limits, laws = held.sampled.table.limits, held.sampled.laws
        for c, (at, rows) in enumerate(self._due(decisions.number, decisions.trace)):
            own = slice(at[OUTPUT], at[OUTPUTS_END])
            given = decisions.trace[rows, at[GIVEN] : at[GIVEN_END]]
            measured = given[:, 1 : at[STATES] - at[GIVEN]]
            read = measured.copy()
            measured[:] = held.measures[c](x[rows], turned[rows])
            for columns, _ in held.signals[c]:
                measured[:, columns] = read[:, columns]
            found = laws[c].over(given)
            values, states = np.split(found, [at[OUTPUTS_END] - at[OUTPUT]], axis=1)
            before, change = decisions.trace[rows, self.given :][:, own], limits[own, CHANGE]
            values = np.clip(values, before - change, before + change)
            values = np.clip(values, limits[own, LOW], limits[own, HIGH])
            parts += [values.reshape(-1), states.reshape(-1)]
        return np.concatenate(parts)

    def _due(self, number: int, trace: Array) -> Iterator[tuple[list[int], NDArray[np.intp]]]:
        """Yield for each controller its places in tables, and the steps in which it decides."""
        numbers = number + np.arange(len(trace))
        for at in self.runner.sampling.controllers.tolist():
            yield at, np.flatnonzero(numbers % at[EVERY] == 0)
