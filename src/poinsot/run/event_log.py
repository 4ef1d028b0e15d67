"""When events happened in a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poinsot.ph.matrices import Array
from poinsot.ph.runner import Memory
from poinsot.result import EventRecord, Lazy


@dataclass(eq=False)
class EventLog:
    """Times of events [s] and what they added to the stored energy [J].

    `what` says what each event does, by its name.
    """

    what: Mapping[str, str] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)
    energies: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, t: float, energy: float = 0.0) -> None:
        """Note that an event happened at time t."""
        self.times.setdefault(name, []).append(t)
        self.energies.setdefault(name, []).append(energy)

    def memory(self) -> Memory:
        """Return all that was noted: which event, when, and its energy."""
        names = list(self.what)
        rows = [
            (names.index(name), t, energy)
            for name in self.times
            for t, energy in zip(self.times[name], self.energies[name], strict=True)
        ]
        return {"events": np.array(rows).reshape(-1, 3)}

    def restore(self, memory: Memory) -> None:
        """Go back to what was noted when `memory` was called."""
        self.times.clear()
        self.energies.clear()
        names = list(self.what)
        for which, t, energy in memory["events"].tolist():
            self.note(names[int(which)], t, energy)

    def records(self, saved: Array) -> Mapping[str, EventRecord]:
        """Return a record of every event at some of the saved times of the run."""
        return Lazy(self.what, lambda name: self._record(name, saved))

    def _record(self, name: str, saved: Array) -> EventRecord:
        energies = np.full(saved.size, np.nan)
        times = np.array(self.times.get(name, []))
        places = np.searchsorted(saved, times)
        here = places < saved.size
        here[here] = saved[places[here]] == times[here]
        energies[places[here]] = np.array(self.energies.get(name, []))[here]
        return EventRecord(name, self.what[name], saved, energies)
