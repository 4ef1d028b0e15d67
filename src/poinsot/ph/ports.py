"""Ports, through which systems exchange power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from poinsot.errors import InputError, failure
from poinsot.inputs import require_name
from poinsot.ph import units
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Array
from poinsot.ph.motions import Prescribed
from poinsot.ph.signals import Constant, Signal, Table


@dataclass(frozen=True)
class Port:
    """A power port with input u and output y; u·y is the power supplied to the system [W].

    Parameters
    ----------
    name : str
        Unique within its system.
    size : int
        Length of u and of y.
    effort, flow : str or None
        SI units of effort and flow, such as `"N"` and `"m/s"`; their product must be W. None: not
        checked.
    input : {"effort", "flow"}
        Which of the two is the input u; the other one is the output y.
    signal : callable or None
        Input u(t) of a closed port; None: open, with u = 0.
    by_law : bool
        Whether the port is closed by a law of the state, which its system evaluates.
    """

    name: str
    size: int = 1
    effort: str | None = None
    flow: str | None = None
    input: Literal["effort", "flow"] = "effort"
    signal: Signal | None = None
    by_law: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not a power port."""
        require_name(self.name, "a port")
        if not isinstance(self.size, int) or self.size < 1:
            raise InputError(f"port '{self.name}': size is {self.size}; it must be at least 1")
        if self.input not in ("effort", "flow"):
            raise InputError(f"port '{self.name}': input is '{self.input}', not 'effort' or 'flow'")
        if (self.effort is None) != (self.flow is None):
            raise InputError(
                f"port '{self.name}': give the units of both effort and flow, or neither"
            )
        if self.effort is not None and self.flow is not None:
            power = units.product(self.effort, self.flow)
            if power != units.exponents("W"):
                raise InputError(
                    f"port '{self.name}': effort '{self.effort}' times flow '{self.flow}' is "
                    f"{units.format_exponents(power)}, not a power in W"
                )

    @property
    def u_unit(self) -> str | None:
        """Unit of the input."""
        return self.effort if self.input == "effort" else self.flow

    @property
    def y_unit(self) -> str | None:
        """Unit of the output."""
        return self.flow if self.input == "effort" else self.effort

    @property
    def status(self) -> Literal["open", "fed"]:
        """`"fed"` if closed by an input signal, otherwise `"open"`.

        Connected ports are no longer ports of a system; see `PHSystem.connected`.
        """
        return "fed" if self.by_law or self.signal is not None else "open"

    @property
    def driven(self) -> bool:
        """Whether a motion is prescribed at the port."""
        return isinstance(self.signal, Prescribed)

    @property
    def takes_inputs(self) -> bool:
        """Whether it accepts an input: not if it is closed by a law, nor for transmissions."""
        still = isinstance(self.signal, Prescribed) and self.signal.still
        return not (self.by_law or still)

    @property
    def swapped(self) -> Port:
        """The same port with input and output exchanged."""
        return replace(self, input="flow" if self.input == "effort" else "effort", signal=None)

    def __str__(self) -> str:
        """Name, size and units, as error messages show them."""
        unit = f", u in {self.u_unit}, y in {self.y_unit}" if self.u_unit else ""
        return f"'{self.name}' (size {self.size}{unit})"

    def u(self, t: float) -> Array:
        """Return the input at time t [s], checked; shape (size,)."""
        if self.signal is None:
            return np.zeros(self.size)
        return self.u_over(np.array([t])).reshape(-1)

    def u_over(self, times: Array) -> Array:
        """Return the input at many times [s], checked; shape (times, size)."""
        if self.signal is None:
            return np.zeros((times.size, self.size))
        if isinstance(self.signal, Constant | Table | Formula | Prescribed):
            u = self.signal.over(times)
            self._check(u, times)
            return u
        u = np.empty((times.size, self.size))
        for k, t in enumerate(times.tolist()):
            value = self._asked(self.signal, t)
            if not isinstance(value, float) and value.shape != (self.size,):
                self._check(value[None], times[k:])
            u[k] = value
        self._check(u, times)
        return u

    def _asked(self, signal: Signal, t: float) -> Any:
        """Return what a function gives at time t [s], one number or an array of numbers."""
        try:
            value = signal(t)
        except Exception as error:
            raise InputError(
                f"port '{self.name}': the input {failure(error)}, at t = {t:g} s"
            ) from error
        if self.size == 1 and isinstance(value, float):
            return value
        try:
            return np.atleast_1d(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            raise InputError(
                f"port '{self.name}': the input at t = {t:g} s is {value!r}, expected "
                f"{self.size} number(s)"
            ) from None

    def u_of_steps(self, times: Array) -> Array:
        """Return the input of every step between times [s], checked; shape (steps, size).

        It is the value at the midpoint, or the mean of a prescribed motion.
        """
        middle = (times[:-1] + times[1:]) / 2
        if not isinstance(self.signal, Prescribed):
            return self.u_over(middle)
        try:
            u = self.signal.mean(times)
        except InputError as error:
            raise type(error)(f"port '{self.name}': {error}") from error
        self._check(u, middle)
        return u

    def _check(self, u: Array, times: Array) -> None:
        """Refuse inputs (times, size) of another size, or that are not finite."""
        if u.shape[1:] != (self.size,):
            raise InputError(
                f"port '{self.name}': the input at t = {times[0]:g} s has shape {u.shape[1:]}, "
                f"expected ({self.size},)"
            )
        wrong = ~np.all(np.isfinite(u), axis=1)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(
                f"port '{self.name}': the input at t = {times[k]:g} s is {u[k]}, not finite"
            )


def count_inputs(name: str, B: Any, ports: Sequence[Port]) -> int:
    """Return the number of inputs; B and ports belong together."""
    if not isinstance(ports, Sequence):
        raise InputError(f"system '{name}': ports is {ports!r}; give a list of Ports")
    for port in ports:
        if not isinstance(port, Port):
            raise InputError(f"system '{name}': expected a Port, got {port!r}")
    if (B is None) != (len(ports) == 0):
        raise InputError(f"system '{name}': give both B and the ports of its columns, or neither")
    return sum(port.size for port in ports)
