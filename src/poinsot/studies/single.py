"""One run of a study as `simulate` would take it, whatever it needs."""

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError
from poinsot.result import SimulationError
from poinsot.result.channels import Channel
from poinsot.studies.cases import Cases
from poinsot.studies.measures import ENERGIES, Measures
from poinsot.studies.outcomes import DONE, FAILED, WARNED, Outcomes

Array = NDArray[np.float64]


def take(cases: Cases, measures: Measures, row: Array, into: Outcomes, k: int) -> None:
    """Take the run with parameters row, and write what it was to place k."""
    try:
        _, run = cases.run(row)
    except PoinsotError as error:
        into.status[k], into.message[k] = FAILED, str(error)
        return
    try:
        result = run.loop.run(run.problem.clock, progress=False)
        into.status[k] = WARNED if result.status == "warned" else DONE
        into.message[k] = "; ".join(result.warnings) or result.message
    except SimulationError as error:
        into.status[k], into.message[k] = FAILED, str(error)
        if error.result is None:
            return
        result = error.result
    table, system = run.loop.recorder.table, run.problem.system
    rows = min(len(table), into.time.shape[1])
    x, turned, time = (table.rows(name, 0, rows) for name in ("x", "turned", "time"))
    energies = {name: table.rows(name, 0, rows) for name in ENERGIES}

    def reaction(channel: Channel) -> Array:
        steps = getattr(result.reaction(channel.owner), channel.which)[: rows - 1]
        return np.concatenate([np.full((1, 3), np.nan), steps])

    into.table[k, :rows] = measures.table(measures.look(system), x, turned, energies, reaction)
    into.time[k, :rows] = time
    into.balance_error[k] = result.stats.balance_error_max
    into.iterations[k] = result.stats.newton_iterations
