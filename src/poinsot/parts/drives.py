"""Drives: prescribed motions of joint coordinates."""

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
    """A prescribed motion of a joint coordinate, such as a crank at constant speed.

    The drive is a port with the rate as its input u [rad/s or m/s] and the torque [N m] or force
    [N] as its output y; u·y is the power supplied [BAPM21, eq. (43)]. The motion holds at the end
    of each step, without drift.

    Parameters
    ----------
    joint : str
        Name of the joint.
    coordinate
        Angle, counted over full turns [rad], or displacement [m], zero at the start: a formula in t
        as a string, a `Formula`, a `Table`, or a function of time [s].
    rate
        Alternative to `coordinate`: the rate [rad/s or m/s], a number or as above; the coordinate
        is then not corrected. Together with a Python function as `coordinate`: its derivative, for
        the velocity at the start.
    freedom : str
        Name of the coordinate, if the joint has several.
    """

    joint: str
    coordinate: Signal | ArrayLike | str | None = None
    freedom: str | None = None
    rate: Signal | ArrayLike | str | None = None

    def __post_init__(self) -> None:
        """Parse formulas and check the motion."""
        for label in ("coordinate", "rate"):
            value = getattr(self, label)
            if value is not None:
                object.__setattr__(self, label, _signal(value, f"Drive: {label}"))
        if self.coordinate is None and self.rate is None:
            raise InputError("Drive: give the coordinate or its rate over time")

    @property
    def motion(self) -> Prescribed:
        """The prescribed motion."""
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
            raise InputError(
                f"port '{name}': the rate of its motion is not finite: {rate} at the start"
            )
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
