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
        """Return a copy of all that was noted."""
        kinds = {"times": self.times, "energies": self.energies}
        names = [name for name in self.what if name in self.times]
        return {f"{kind} of {n}": np.array(each[n]) for kind, each in kinds.items() for n in names}

    def restore(self, memory: Memory) -> None:
        """Go back to what was noted when `memory` was called."""
        for kind, each in (("times", self.times), ("energies", self.energies)):
            each.clear()
            each.update(
                {
                    name: memory[f"{kind} of {name}"].tolist()
                    for name in self.what
                    if f"{kind} of {name}" in memory
                }
            )

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
