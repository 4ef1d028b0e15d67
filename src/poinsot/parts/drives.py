"""Drives: joints that move as prescribed, whatever force that takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import number
from poinsot.parts.coordinates import of_joint
from poinsot.parts.driven import Driven, Term
from poinsot.parts.feedback import Inlet
from poinsot.parts.joint import Joint
from poinsot.parts.loads import PortPlace
from poinsot.ph.formulas import Formula
from poinsot.ph.motions import ByPosition, ByRate, Prescribed
from poinsot.ph.ports import Port
from poinsot.ph.signals import Signal, Table, as_signal


@dataclass(frozen=True, eq=False)
class Drive(PortPlace):
    """A prescribed motion of a free direction of a joint, such as a crank at constant speed.

    The drive exerts the torque [N m] or force [N] that the motion takes: it is the output y of a
    port whose input u is the rate [rad/s or m/s], so that u·y is the power put in
    [BAPM21, eq. (43)]. Steps end where the motion is, without drift.

    Parameters
    ----------
    joint : str
        The joint by name.
    coordinate
        Its angle [rad], counted over turns, or displacement [m], from the start on: a formula of t
        as text, `Formula`, `Table`, or a function of time [s].
    rate
        Its rate instead [rad/s or m/s]: a number, or as above; where it leads to is not looked at.
        With a coordinate that is a Python function, its derivative, for the velocity at the start.
    freedom : str
        The free direction, where the joint has several.
    """

    joint: str
    coordinate: Signal | ArrayLike | str | None = None
    freedom: str | None = None
    rate: Signal | ArrayLike | str | None = None

    def __post_init__(self) -> None:
        """Read formulas, and refuse what is no motion."""
        for label in ("coordinate", "rate"):
            value = getattr(self, label)
            if value is not None:
                object.__setattr__(self, label, _signal(value, f"Drive: {label}"))
        if self.coordinate is None and self.rate is None:
            raise InputError("Drive: give the coordinate over time, or its rate")

    @property
    def motion(self) -> Prescribed:
        """What is prescribed."""
        rate = None if self.rate is None else as_signal(self.rate)
        if self.coordinate is not None:
            return ByPosition(as_signal(self.coordinate), rate)
        assert rate is not None
        return ByRate(rate)

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and the coordinate that it drives."""
        at = of_joint(self.joint, joints, self.freedom, f"port '{name}'")
        effort, flow = ("N m", "rad/s") if at.unit == "rad" else ("N", "m/s")
        motion = self.motion
        try:
            rate = motion(0.0)[0]
        except InputError as error:
            raise InputError(f"port '{name}': {error}") from None
        if not isfinite(rate):
            raise InputError(f"port '{name}': the rate of its motion is {rate} at the start")
        port = Port(name, 1, effort, flow, input="flow", signal=motion)
        own = tuple(range(len(at.bodies)))
        driven = Driven(at.bodies, name, (Term(own, at.forms, at.chart),), motion)
        return port, Inlet(driven, driven.size)


def _signal(value: Any, what: str) -> Any:
    """Return a formula, a table, a function of time, or a number."""
    if isinstance(value, str):
        value = Formula(value)
    if isinstance(value, Formula) and not value.is_of(1):
        raise InputError(f"{what}: expected one formula of t, got {value!r}")
    if isinstance(value, Table) and value.values.size != value.times.size:
        raise InputError(f"{what}: expected a table of one number at each time")
    return value if callable(value) else number(value, what)
