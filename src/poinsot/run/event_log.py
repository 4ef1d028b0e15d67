"""When events happened in a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poinsot.ph.matrices import Array
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
