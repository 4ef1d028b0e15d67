"""Keeps what a run computes: saved steps, and balances summed over every step."""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, StorageError
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Block, Memory, Totals
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.ph.system import PHSystem
from poinsot.result import Lazy, Observation, PortRecord, Result, StateRecord, Stats, Status
from poinsot.result.history import History, Recover, Saved
from poinsot.result.store import Column, Table
from poinsot.run.doubled import Doubled
from poinsot.run.event_log import EventLog
from poinsot.run.exactness import KEPT, Run, Sample, judge

#: Saved steps that do not stay take about so much memory [bytes].
ROOM = 2**25
#: What is counted over all steps.
COUNTED = (
    *("done", "reached", "total_iterations", "residual_max"),
    *("single_steps", "balance_error_max", "dissipation_min"),
    *("split_steps", "pieces", "smallest", "largest", "rejected_steps"),
)
#: Columns with states.
STATES = ("x", "stage_x")
#: One state or step, by the names of the table's columns.
Row: TypeAlias = Mapping[str, ArrayLike]


@dataclass(frozen=True)
class Facts:
    """What a result says of its run: scheme, engine, step and end [s], tolerances, the document.

    `tolerance` is that of the size of steps, 0: they are of one size.

    `doubled` is the same run in steps of twice the size, if errors are to be estimated.

    `sensors` are the channels that were asked for, by name; `events` tell what happened when.

    `recover` fills in the states named `recovered`, which the run leaves out; it is called when one
    of them is asked for.
    """

    scheme: Scheme
    engine: str
    h: float
    t_end: float
    newton: Newton = field(default_factory=Newton)
    recover: Recover | None = None
    recovered: frozenset[str] = frozenset()
    document: Callable[[], str] = str
    sensors: Mapping[str, str] = field(default_factory=dict)
    events: EventLog = field(default_factory=EventLog)
    tolerance: float = 0.0
    doubled: Doubled | None = None


class Recorder:
    """A growing table of saved steps; a result can be made of it at any moment.

    Parameters
    ----------
    system : PHSystem
        What is simulated.
    x0, turned, t0
        Initial state, its angles counted over turns [rad], and time [s].
    steps, save_every : int
        How many steps there will be, and which of them are saved: every so many, and the last.
    substeps : int
        How many each of them is composed of; what is added are these.
    keep : bool
        Whether all of them stay here; if not, somebody takes them and calls `forget`.
    energy : float
        Stored energy at the start [J], if it is not that of the system.
    """

    def __init__(
        self,
        system: PHSystem,
        x0: Vector,
        turned: Vector,
        t0: float,
        steps: int,
        save_every: int,
        substeps: int = 1,
        *,
        keep: bool = True,
        energy: float | None = None,
    ) -> None:
        self.system, self.substeps = system, substeps
        self.steps, self.save_every = steps * substeps, save_every * substeps
        self.ports = (*system.ports, *system.connected)
        self.observer = system.observer()
        energy = system.near(turned).H(x0) if energy is None else energy
        self.totals = Totals(energy, 0.0, np.zeros(len(self.ports)), turned)
        start: Row = {"time": t0, "x": x0, "energy": self.totals.energy0, "turned": turned}
        self.origin, self.rows = x0.copy(), -(-steps // save_every) + 1
        self.table = _table(system, start, self.rows, keep)
        self.done, self.reached = 0, t0
        self.pending: Row | None = None
        self.sample = Sample(system.n)
        self.total_iterations, self.residual_max, self.single_steps = 0, 0.0, 0
        self.split_steps, self.pieces, self.smallest, self.largest = 0, 0, np.inf, 0.0
        self.rejected_steps = 0
        self.balance_error_max, self.dissipation_min = 0.0, 0.0
        self.spent = 0.0
        self.start_clock()

    @property
    def complete(self) -> int:
        """How many steps are done with all of their substeps."""
        return self.done // self.substeps

    def start_clock(self) -> None:
        """Count the time from here on, beside what was spent before."""
        self.started = clock.perf_counter()

    @property
    def seconds(self) -> float:
        """How long the run has taken [s]."""
        return self.spent + clock.perf_counter() - self.started

    def in_steps(self, h: float) -> None:
        """Note that steps of size h [s] follow."""
        self.smallest, self.largest = min(self.smallest, h), max(self.largest, h)

    def extend(self, block: Block) -> None:
        """Account for many steps at once, all of them or none; the totals are left to the caller.

        The arrays are copied and may be used again.
        """
        saved = block.saved.columns()
        try:
            self.table.extend(saved)
        except StorageError:
            self.pending = None
            raise
        self.sample.add(saved)
        if len(block.saved.time):
            self.pending = None
        if block.pending is not None:
            columns = block.pending.columns()
            self.pending = {name: column[0].copy() for name, column in columns.items()}
        self.total_iterations += block.newton_iterations
        self.residual_max = max(self.residual_max, block.residual_max)
        self.balance_error_max = max(self.balance_error_max, block.balance_error_max)
        self.dissipation_min = min(self.dissipation_min, block.dissipation_min)
        self.single_steps += block.single_steps
        self.split_steps += block.split_steps
        self.pieces += block.pieces
        self.smallest = min(self.smallest, block.smallest)
        self.done, self.reached = self.done + block.steps, block.reached

    def _save(self) -> None:
        """Keep the last step, if it is not kept already."""
        if self.pending is None:
            return
        try:
            self.table.append(self.pending)
        except StorageError:
            self.pending = None
            raise
        self.sample.add({name: np.asarray(value)[None] for name, value in self.pending.items()})
        self.pending = None

    def finish(self) -> None:
        """Keep the last step in any case, and write out what is still in memory if need be."""
        self._save()
        self.table.flush()

    def result(self, facts: Facts, status: Status, message: str = "") -> Result:
        """Return everything saved so far, and the last step in any case."""
        try:
            self.finish()
        except StorageError as error:
            message = f"{message}; {error}" if message else str(error)
        states = [state.name for state in self.system.states]
        made = self._made(facts, status, message, states, self.observer.observe)
        return self.judged(made, facts)

    def judged(self, result: Result, facts: Facts) -> Result:
        """Return a result of everything so far with what is to be said of the run."""
        last = len(self.table) - 1
        ended = {name: self.table.rows(name, last, last + 1)[0] for name in KEPT}
        rows = [*self.sample.rows, ended] if self.done else []
        absent = np.zeros(self.system.n, dtype=bool)
        for name in facts.recovered & self.system.slices.keys():
            absent[self.system.slices[name]] = True
        found = [row | {n: np.where(absent, 0.0, row[n]) for n in STATES} for row in rows]
        verdict = judge(
            Run(
                self.system,
                self.observer,
                facts.scheme,
                facts.newton,
                self.origin,
                facts.h,
                found,
                partial(self._recovered, facts, rows),
                self.done - self.split_steps + self.pieces,
                self.balance_error_max,
                self.single_steps,
                self.split_steps,
                self.smallest,
            )
        )
        status: Status = "warned" if verdict.warnings and result.status == "done" else result.status
        told = replace(result, status=status, warnings=verdict.warnings, notes=verdict.notes)
        if facts.doubled is None or not rows:
            return told
        return facts.doubled.judged(told, found, self.observer)

    def _recovered(self, facts: Facts, rows: Sequence[dict[str, Array]]) -> list[dict[str, Array]]:
        """Return rows of the sample with the states that the run left out, as far as known."""
        if facts.recover is None:
            return list(rows)
        kept = {name: np.array([row[name] for row in rows]) for name in KEPT}
        inputs, none = kept.pop("u"), np.zeros(len(rows))
        u = [inputs[:, piece] for piece in self._pieces]
        saved = Saved(
            **kept, u=u, y=u, energy=none, balance_error=none, iterations=none.astype(np.intp)
        )
        found = zip(*map(np.nan_to_num, facts.recover(saved)), strict=True)
        return [
            row | dict(zip(STATES, each, strict=True))
            for row, each in zip(rows, found, strict=True)
        ]

    @property
    def _pieces(self) -> list[slice]:
        """Where each port is in u and y."""
        ends = list(accumulate(port.size for port in self.ports))
        return [slice(end - port.size, end) for port, end in zip(self.ports, ends, strict=True)]

    def snapshot(self, facts: Facts, status: Status, message: str) -> Result:
        """Return what is saved now, all of it computed, without states that the run leaves out."""
        states = [s.name for s in self.system.states if s.name not in facts.recovered]
        return self._made(facts, status, message, states, self.observer.survey)

    def _made(
        self,
        facts: Facts,
        status: Status,
        message: str,
        states: Sequence[str],
        look: Callable[[History], Observation],
    ) -> Result:
        system, history = self.system, self._history(facts)
        units = {state.name: state.unit for state in system.states}
        places = {port.name: i for i, port in enumerate(self.ports)}
        return Result(
            model=system.name,
            scheme=facts.scheme.name,
            engine=facts.engine,
            h=facts.h,
            t_end=facts.t_end,
            time=history.at_times("time"),
            midpoint=history.at_midpoints("stage_time"),
            states=Lazy(
                states,
                lambda name: StateRecord(name, units[name], history.state(system.slices[name])),
            ),
            ports=Lazy(places, lambda name: self._port(history, places[name])),
            energy=history.at_times("energy"),
            dissipated=history.at_times("dissipated"),
            balance_error=history.at_times("balance_error"),
            stats=Stats(
                steps=self.complete,
                newton_iterations=self.total_iterations,
                iterations=history.iterations,
                residual_max=self.residual_max,
                balance_error_max=self.balance_error_max,
                dissipation_min=self.dissipation_min,
                wall_time=self.seconds,
                single_steps=self.single_steps,
                split_steps=self.split_steps,
                rejected_steps=self.rejected_steps,
                tolerance=facts.tolerance,
                smallest_step=min(self.smallest, self.largest),
                largest_step=self.largest,
            ),
            status=status,
            message=message,
            observation=look(history),
            document=facts.document(),
            sensors=facts.sensors,
            events=facts.events.records(history.at_times("time")),
        )

    def _history(self, facts: Facts) -> History:
        indices, slices = np.arange(self.system.n), self.system.slices
        none = np.zeros(0, dtype=np.intp)
        missing = [indices[piece] for name, piece in slices.items() if name in facts.recovered]
        absent = np.concatenate([none, *missing])
        return History(
            self.table, len(self.table), self._pieces, facts.recover, absent, self.origin
        )

    def forget(self) -> None:
        """Drop all saved steps but the last one, from which the next block goes on."""
        self.table.keep_last()

    # -- memory -------------------------------------------------------------------------------

    def memory(self) -> tuple[dict[str, float], Memory]:
        """Return counts, and a copy of arrays: all that it adds later steps to, but saved rows."""
        totals, sample, last = self.totals, self.sample, len(self.table) - 1
        counts = {name: getattr(self, name) for name in COUNTED}
        counts |= {"spent": self.seconds, "energy0": totals.energy0, "lost": totals.lost}
        counts |= {"seen": sample.seen, "stride": sample.stride}
        arrays = {"supplied": totals.supplied.copy(), "turn": totals.turn.copy()}
        for name in self.table.columns:
            arrays[f"last {name}"] = self.table.rows(name, last, last + 1)[0].copy()
            if self.pending is not None:
                arrays[f"pending {name}"] = np.array(self.pending[name])
        if sample.rows:
            for name in KEPT:
                arrays[f"sample {name}"] = np.array([row[name] for row in sample.rows])
        return {name: np.asarray(value).item() for name, value in counts.items()}, arrays

    def restore(self, counts: Mapping[str, Any], arrays: Memory) -> None:
        """Go to where `memory` was called; the table has the last row then."""
        for name in COUNTED:
            setattr(self, name, counts[name])
        self.spent = counts["spent"]
        supplied, turn = arrays["supplied"].copy(), arrays["turn"].copy()
        self.totals = Totals(counts["energy0"], counts["lost"], supplied, turn)
        columns = self.table.columns
        self.table.extend({name: arrays[f"last {name}"][None] for name in columns})
        self.forget()
        self.pending = None
        if "pending time" in arrays:
            self.pending = {name: arrays[f"pending {name}"].copy() for name in columns}
        self.sample.seen, self.sample.stride = counts["seen"], counts["stride"]
        own = {name: arrays[f"sample {name}"] for name in KEPT if f"sample {name}" in arrays}
        rows = range(len(own["time"]) if own else 0)
        self.sample.rows = [{name: own[name][k].copy() for name in KEPT} for k in rows]

    def _port(self, history: History, i: int) -> PortRecord:
        port, piece = self.ports[i], history.port_slices[i]
        u, y = (history.at_midpoints(name)[:, piece] for name in "uy")
        return PortRecord(
            name=port.name,
            u_unit=port.u_unit,
            y_unit=port.y_unit,
            connected=i >= len(self.system.ports),
            time=history.at_midpoints("stage_time"),
            u=u,
            y=y,
            power=np.einsum("ij,ij->i", u, y),
            energy=history.at_times("port_energy")[:, i],
        )


def columns_of(system: PHSystem, angles: int) -> dict[str, Column]:
    """Return the columns of a table of saved steps; the names are those of `Saved`."""
    ports = (*system.ports, *system.connected)
    through = sum(port.size for port in ports)
    widths = {"port_energy": len(ports), "turned": angles, "u": through, "y": through}
    widths |= dict.fromkeys(("x", "stage_x"), system.n)
    columns = {f.name: Column((widths[f.name],) if f.name in widths else ()) for f in fields(Saved)}
    return columns | {"iterations": Column(dtype=np.dtype(np.intp))}


def _table(system: PHSystem, start: Row, rows: int, keep: bool) -> Table:
    """Return a table for so many saved states, with the first; or say that there is no room.

    If they do not stay, the table has room for those of a while.
    """
    columns = columns_of(system, np.size(start["turned"]))
    if not keep:
        rows = min(rows, ROOM // sum(column.size for column in columns.values()))
    try:
        table = Table(columns, rows)
        table.append({**dict.fromkeys(columns, 0), **start})
        table.flush()
    except StorageError as error:
        raise InputError(
            f"{rows} saved steps of {system.n} states do not fit into memory or on disk: {error}; "
            "save fewer of them by save_every=..., or take a larger step"
        ) from None
    return table
