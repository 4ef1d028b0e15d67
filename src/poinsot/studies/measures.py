"""What is kept of the runs of a study: energies, and what sensors and events may read, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.model.model import Model
from poinsot.model.wiring import Wiring
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel, find_channel
from poinsot.systems.measuring import Measurement

Array = NDArray[np.float64]

#: What every run adds up [J]: what it is called in a study, and as a column of saved steps.
ENERGIES = ("energy", "dissipated", "balance_error")
#: The time of saved steps, where runs differ in it.
TIME = "time"


@dataclass(frozen=True)
class Measure:
    """A quantity: its name in a study, its shape and unit, and the channel; None: an energy."""

    name: str
    shape: tuple[int, ...]
    unit: str | None
    channel: Channel | None = None

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Measures:
    """The quantities that are kept of each run."""

    each: tuple[Measure, ...]

    @classmethod
    def of(cls, what: str | Iterable[str], model: Model) -> Self:
        """Return quantities by name: energies, channels as in `Model.add_sensor`, and sensors."""
        if not isinstance(what, Iterable):
            raise InputError(f"what is {what!r}; give names, e.g. ['energy', 'rod.position']")
        names = [what] if isinstance(what, str) else list(what)
        known, found = Wiring(model).channels, list[Measure]()
        for name in names:
            if name in ENERGIES:
                found.append(Measure(name, (), "J"))
                continue
            text = model.sensors.get(name, name) if isinstance(name, str) else name
            channel = find_channel(text, known, "what")
            if channel.kind not in ("coordinate", "rate", "motion", "state"):
                raise InputError(
                    f"what: cannot keep '{name}' of many runs: a {channel.kind} is the mean over a "
                    "step; keep coordinates, rates, motions, states, or "
                    + ", ".join(f"'{energy}'" for energy in ENERGIES)
                )
            found.append(Measure(name, channel.shape, channel.unit, channel))
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise InputError(f"what: '{min(repeated)}' is there more than once")
        return cls(tuple(found))

    @property
    def width(self) -> int:
        """How many numbers are kept of a saved state."""
        return sum(measure.size for measure in self.each)

    def look(self, system: PHSystem) -> Measurement:
        """Return what measures the channels of a system."""
        return Measurement(system, [each.channel for each in self.each if each.channel is not None])

    def table(
        self, look: Measurement, x: Array, turned: Array, energies: Mapping[str, Array]
    ) -> Array:
        """Return all quantities of states (k, n), side by side; (k, width)."""
        measured, column, found = look.over(x, turned), 0, np.empty((len(x), self.width))
        first = 0
        for each in self.each:
            if each.channel is None:
                found[:, column] = energies[each.name]
            else:
                found[:, column : column + each.size] = measured[:, first : first + each.size]
                first += each.size
            column += each.size
        return found
