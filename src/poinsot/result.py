"""The result of a simulation: named arrays, units, balances. It never calls back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, PoinsotError, did_you_mean

Array: TypeAlias = NDArray[np.float64]
Status: TypeAlias = Literal["done", "interrupted", "failed"]


@dataclass(frozen=True, eq=False)
class StateRecord:
    """A named state over time: values of shape (times, size), unit SI."""

    name: str
    unit: str | None
    values: Array


@dataclass(frozen=True, eq=False)
class PortRecord:
    """What went through a port.

    `time` [s] are the midpoints of the saved steps, where input `u` and output `y` (steps, size)
    are taken and `power` = u·y [W] is put in; `energy` [J] is what was put in since the start, up
    to each saved time, every step counted. A `connected` port is internal: its power comes from
    another part of the same system.
    """

    name: str
    u_unit: str | None
    y_unit: str | None
    connected: bool
    time: Array
    u: Array
    y: Array
    power: Array
    energy: Array


@dataclass(frozen=True)
class Stats:
    """How the run went.

    `iterations` per saved step; `balance_error_max` [J] over all steps, saved or not;
    `residual_max` is the largest residual accepted, relative to the terms of its equation.
    """

    steps: int
    newton_iterations: int
    iterations: NDArray[np.intp]
    residual_max: float
    balance_error_max: float
    dissipation_min: float
    wall_time: float


@dataclass(frozen=True, eq=False)
class Result:
    """A simulated motion.

    Parameters
    ----------
    model, scheme, engine : str
        What was run, and how.
    h, t_end : float
        Step and end time asked for [s].
    time : (times,)
        Saved times [s].
    energy : (times,)
        Stored energy H [J].
    dissipated : (times,)
        Energy lost since the start [J].
    balance_error : (times,)
        H - H0 - supplied + dissipated [J]: zero but for round-off.
    status : {"done", "interrupted", "failed"}
        Whether the run reached `t_end`; `message` says why not.
    """

    model: str
    scheme: str
    engine: str
    h: float
    t_end: float
    time: Array
    states: Mapping[str, StateRecord]
    ports: Mapping[str, PortRecord]
    energy: Array
    dissipated: Array
    balance_error: Array
    stats: Stats
    status: Status = "done"
    message: str = ""

    def __getitem__(self, name: str) -> Array:
        """Return a state by name: (times,) if it has one entry, else (times, size)."""
        if name not in self.states:
            raise InputError(f"no state '{name}'; {did_you_mean(name, self.states)}")
        values = self.states[name].values
        return values[:, 0] if values.shape[1] == 1 else values

    def port(self, name: str) -> PortRecord:
        """Return what went through a port."""
        if name not in self.ports:
            raise InputError(f"no port '{name}'; {did_you_mean(name, self.ports)}")
        return self.ports[name]

    @property
    def supplied(self) -> Array:
        """Energy put in through all outer ports since the start [J]; shape (times,)."""
        outer = (port.energy for port in self.ports.values() if not port.connected)
        return sum(outer, np.zeros_like(self.time))

    def summary(self) -> str:
        """Return the balance of the run as a few lines of text."""
        rows = [
            ("model", self.model),
            ("scheme", f"{self.scheme}, h = {self.h:g} s, {self.stats.steps} steps"),
            ("time", f"{self.time[0]:g} to {self.time[-1]:g} s ({self.status})"),
            ("energy at the start", f"{self.energy[0]:.9g} J"),
            ("energy at the end", f"{self.energy[-1]:.9g} J"),
            *(
                (f"supplied by '{port.name}'", f"{port.energy[-1]:.9g} J")
                for port in self.ports.values()
                if not port.connected
            ),
            ("dissipated", f"{self.dissipated[-1]:.9g} J"),
            ("largest balance error", f"{self.stats.balance_error_max:.2e} J"),
            ("Newton iterations", f"{self.stats.newton_iterations}"),
            ("wall time", f"{self.stats.wall_time:.2f} s"),
        ]
        if self.message:
            rows.append(("stopped", self.message))
        width = max(len(label) for label, _ in rows)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in rows)


class SimulationError(PoinsotError, RuntimeError):
    """A run stopped before its end; `result` holds everything computed until then."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result
