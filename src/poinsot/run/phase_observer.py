"""What there is to see of a run in phases: each phase has its own constraints and energies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from poinsot.ph.matrices import Array
from poinsot.result import JointRecord, Lazy, Observation
from poinsot.result.history import ROWS, History
from poinsot.result.observer import Observer, Rows
from poinsot.result.result import VIOLATIONS
from poinsot.result.store import Column, Table
from poinsot.result.variables import REACTIONS
from poinsot.run.phase import Phase
from poinsot.run.phases import PhasedEngine, Side

#: What is seen in the columns of a table.
SEEN = ("time", "x", "stage_time", "stage_x", "turned")
MIDPOINTS = "velocity_constraint_error_mid"


class PhasedObserver(Observer):
    """Looks at the whole system, and at the phases of a run for what they differ in."""

    def __init__(self, observer: Observer, engine: PhasedEngine) -> None:
        self.observer, self.engine = observer, engine

    @property
    def undetermined(self) -> Sequence[str]:
        """Names of the joints whose reactions are one of many."""
        return self.observer.undetermined

    @property
    def remarks(self) -> Sequence[str]:
        """What is odd about the numbers of the model."""
        return self.observer.remarks

    def observe(self, history: History) -> Observation:
        """Return what there is to see; what takes time, when it is asked for."""
        return self._phased(self.observer.observe(history), history)

    def survey(self, history: History) -> Observation:
        """Return the same, all of it computed at once."""
        return self._phased(self.observer.survey(history), history)

    def constraints(self, ends: Array, means: Array, h: Array) -> Mapping[str, Rows]:
        """Return how well those constraints hold that are there all the time."""
        gone = tuple(f"joint '{name}'" for name in self.engine.absent | self.engine.locked.keys())
        found = self.observer.constraints(ends, means, h)
        return {name: _others(rows, gone) for name, rows in found.items()}

    def _phased(self, seen: Observation, history: History) -> Observation:
        def violations(name: str) -> Array:
            if name not in VIOLATIONS.values():
                return seen.whole[name]
            return self._over(history, name, "right", lambda each: each.whole)

        def energy(name: str) -> Array:
            return self._over(history, name, "left", lambda each: each.energies)

        midpoints = history.at_midpoints("stage_time")
        return replace(
            seen,
            whole=Lazy(seen.whole, violations),
            energies=Lazy(seen.energies, energy),
            joints=Lazy(seen.joints, lambda name: self._known(seen.joints[name], midpoints)),
            together=self._together(seen, midpoints),
        )

    def _known(self, joint: JointRecord, midpoints: Array) -> JointRecord:
        """Return a joint whose reactions are not known while it is locked."""
        if joint.name not in self.engine.locked:
            return joint
        after = (midpoints > self.engine.locked[joint.name])[:, None]

        def known(values: Array) -> Array:
            return np.where(after, np.nan, values)

        return replace(
            joint,
            force=known(joint.force),
            torque=known(joint.torque),
            force_a=known(joint.force_a),
            torque_a=known(joint.torque_a),
        )

    def _together(self, seen: Observation, midpoints: Array) -> Mapping[str, Array]:
        """Return the arrays of all joints, without the reactions of those that are locked."""
        arrays = dict(seen.together)
        for k, name in enumerate(seen.joints):
            after = midpoints > self.engine.locked.get(name, np.inf)
            for label, *_ in REACTIONS.values() if after.any() else ():
                if label in arrays:
                    arrays[label] = arrays[label].copy()
                    arrays[label][after, k] = np.nan
        return arrays

    def _over(
        self,
        history: History,
        name: str,
        side: Side,
        kind: Callable[[Observation], Mapping[str, Array]],
    ) -> Array:
        """Return an array of all phases."""
        parts = []
        for rows, phase in self.engine.of_times(history.at_times("time"), side):
            first = max(rows.start - 1, 0)
            own = _of_phase(history, phase, first, rows.stop)
            arrays = kind(phase.problem.system.observer().observe(own))
            values = arrays[name] if name in arrays else np.zeros(rows.stop - first)
            parts.append(values if name == MIDPOINTS else values[rows.start - first :])
        return np.concatenate(parts)


def _others(rows: Rows, gone: tuple[str, ...]) -> Rows:
    """Return constraints without those of some joints."""
    kept = np.array([not name.endswith(gone) for name in rows.names], dtype=bool)
    if kept.all():
        return rows
    error, size, noisy = rows.error[:, kept], rows.size[..., kept], rows.noisy[..., kept]
    names = [name for name, keep in zip(rows.names, kept, strict=True) if keep]
    return Rows(error, size, noisy, names, rows.energy)


def _of_phase(history: History, phase: Phase, first: int, last: int) -> History:
    """Return some rows of a history as those of a phase."""
    sizes = {"turned": phase.angles.size} | dict.fromkeys(("x", "stage_x"), phase.problem.system.n)
    columns = {name: Column((sizes[name],) if name in sizes else ()) for name in SEEN}
    table = Table(columns, last - first)
    for start in range(first, last, ROWS):
        stop = min(start + ROWS, last)
        rows = {name: history.table.rows(name, start, stop) for name in SEEN}
        rows |= {name: phase.narrow(rows[name]) for name in ("x", "stage_x")}
        table.extend(rows | {"turned": rows["turned"][:, phase.angles]})
    table.flush()
    return History(table, last - first, origin=phase.narrow(history.start))
