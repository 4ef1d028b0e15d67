"""Events: zero crossings of functions of measured channels, and the actions that they trigger."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from poinsot.errors import InputError, PoinsotError
from poinsot.inputs import function as callable_law
from poinsot.inputs import number
from poinsot.parts.control_laws import as_numbers
from poinsot.parts.controllers import variable_names
from poinsot.ph.formula_rows import FormulaRows
from poinsot.ph.formulas import CONSTANTS, FUNCTIONS
from poinsot.ph.matrices import Array, Vector
from poinsot.result.channels import Channel, Known, find_channel

#: What an event may do besides changing the model.
PLAIN = ("record", "stop")
#: A name in a formula, with its dots; that of an exponent in 1e5 is none.
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)*")
#: What a component of a vector ends in.
COMPONENT = re.compile(r"(?:\.[xyz]{1,2}|[._]\d+)$")
#: Channels that say where something is, and not how fast it moves.
PLACES = "position", "rotation"


@dataclass(frozen=True)
class Release:
    """Release the bodies of a joint for the rest of the run; energy does not change.

    Parameters
    ----------
    joint : str
        Name of the joint. No other part may act on it or read its coordinates.
    """

    joint: str

    def __str__(self) -> str:
        """Return the action in words."""
        return f"release {self.joint}"


@dataclass(frozen=True)
class Switch:
    """Switch a spring, damper or field on or off; its stored energy is added or removed.

    Parameters
    ----------
    load : str
        Name as in `Model.add_force`. A load that events only switch on is off at the start.
    on : bool
        True: switch on. False: switch off.
    """

    load: str
    on: bool = field(kw_only=True)

    def __str__(self) -> str:
        """Return the action in words."""
        return f"switch {'on' if self.on else 'off'} {self.load}"


@dataclass(frozen=True)
class Lock:
    """Lock a joint in its position for the rest of the run: a perfectly inelastic impact.

    Velocities are projected onto those that the locked joint allows, with the smallest change in
    the norm of kinetic energy. Momenta are conserved as far as other joints allow. The kinetic
    energy lost is recorded with the event. The reaction of the joint is not recorded afterwards
    (NaN).

    Parameters
    ----------
    joint : str
        Name of the joint. No other part may act on it or read its coordinates.
    """

    joint: str

    def __str__(self) -> str:
        """Return the action in words."""
        return f"lock {self.joint}"


#: What an event does.
Action: TypeAlias = Literal["record", "stop"] | Release | Lock | Switch


@dataclass(frozen=True)
class Event:
    """A zero crossing of a function g(t, y) of measured channels.

    Parameters
    ----------
    when : str or function
        g, as a formula of time t and of channels as in `Model.add_sensor`, such as `"hinge.angle -
        0.3"` or `"ball.position.z"`; or as a Python function of the time [s] and of an array of the
        channels in `reads`.
    direction : {0, 1, -1}
        Crossings to detect: 1 rising, -1 falling, 0 both.
    then : {"record", "stop"}, Release, Lock, Switch, or a sequence of these
        Actions. Every event is recorded; `"stop"` ends the run, `Release` releases a joint, `Lock`
        locks one, and `Switch` switches a load on or off.
    reads : sequence of str
        Channels that a Python function reads, in the order of y. Formulas need it only for channels
        whose names are not valid identifiers: `"left-hinge.rate"` is left_hinge_rate in a formula.
    """

    when: str | Callable[[float, Vector], float]
    direction: int = field(default=0, kw_only=True)
    then: Action | Sequence[Action] = field(default="record", kw_only=True)
    reads: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check all parameters."""
        if not isinstance(self.when, str):
            callable_law(self.when, "Event: when")
        if number(self.direction, "Event: direction") not in (-1, 0, 1):
            raise InputError(f"Event: direction is {self.direction!r}; choose -1, 0 or 1")
        for action in self.actions:
            if action not in PLAIN and not isinstance(action, Release | Lock | Switch):
                raise InputError(
                    f"Event: then is {self.then!r}; choose from 'record', 'stop', "
                    "Release(joint), Lock(joint) and Switch(load, on=...)"
                )
        reads: Any = (self.reads,) if isinstance(self.reads, str) else self.reads
        if not isinstance(reads, Sequence) or not all(isinstance(each, str) for each in reads):
            raise InputError(f"Event: reads is {self.reads!r}; give channels, e.g. ['hinge.rate']")
        object.__setattr__(self, "direction", int(self.direction))
        if isinstance(self.then, list):
            object.__setattr__(self, "then", self.actions)
        object.__setattr__(self, "reads", tuple(reads))

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions as a tuple."""
        given: Any = self.then
        return tuple(given) if isinstance(given, list | tuple) else (given,)

    @property
    def what(self) -> str:
        """The actions in words."""
        return ", ".join(map(str, self.actions))


@dataclass(frozen=True, eq=False)
class Trigger:
    """An event of a model, with its function and its channels.

    Parameters
    ----------
    name, event
        Name in the model, and the event.
    channels : tuple of Channel
        Channels that are measured for it.
    law : FormulaRows or function
        Function of time and of the measured numbers.
    """

    name: str
    event: Event
    channels: tuple[Channel, ...]
    law: FormulaRows | Callable[[float, Vector], float]

    @classmethod
    def of(cls, name: str, event: Event, known: Known) -> Trigger:
        """Return an event with its channels; raise `InputError` if it is invalid."""
        what = f"event '{name}'"
        if not isinstance(event, Event):
            raise InputError(f"{what}: expected poinsot.Event(...), got {event!r}")
        channels = [find_channel(text, known, what) for text in event.reads]
        if not isinstance(event.when, str):
            _require_measurable(channels, what)
            return cls(name, event, tuple(channels), event.when)
        found, law = of_channels(event.when, known, what, channels, reactions=False)
        _require_measurable(found, what)
        return cls(name, event, found, law)

    def prefixed(self, name: str) -> tuple[Any, list[str]]:
        """Return its function and channels with names in an enclosing model."""
        when, texts = self.event.when, [channel.text for channel in self.channels]
        told = list(self.event.reads)
        if isinstance(when, str):
            plain = "".join(letter if letter.isalnum() else "_" for letter in name)
            known = set(_names(when))
            if not all(part.isidentifier() for part in name.split(".")):
                told = texts
            of_told = [own for c in self.channels if c.text in told for own in variable_names(c)]

            def named(found: re.Match[str]) -> str:
                text = found[0]
                if text.replace(".", "_") in of_told:
                    return f"{plain}_{text.replace('.', '_')}"
                return f"{name}.{text}" if text in known else text

            when = NAME.sub(named, when)
        return when, [f"{name}.{text}" for text in told]

    @property
    def moves(self) -> bool:
        """Whether it depends on velocities."""
        return any(
            channel.kind != "coordinate" and channel.which not in PLACES
            for channel in self.channels
        )

    def values(self, times: Vector, measured: Array) -> Vector:
        """Return the function at times (k,) of numbers (k, size); not finite if it fails."""
        with np.errstate(all="ignore"):
            if isinstance(self.law, FormulaRows):
                found = self.law.program(times, *measured.T)[0]
                return np.broadcast_to(np.asarray(found, dtype=float), times.shape)
            return np.array([self._value(t, y) for t, y in zip(times, measured, strict=True)])

    def _value(self, t: float, y: Vector) -> float:
        try:
            return self._called(t, y)
        except Exception:  # `refusal` says it when the run has come to it
            return np.nan

    def _called(self, t: float, y: Vector) -> float:
        assert not isinstance(self.law, FormulaRows)
        return as_numbers(self.law(float(t), y.copy()), 1, "")[0]

    def refusal(self, t: float, y: Vector) -> InputError:
        """Return the error of an evaluation that was not finite."""
        why, cause = "is not finite", None
        if not isinstance(self.law, FormulaRows):
            try:
                self._called(t, y)
            except PoinsotError as error:
                why = str(error)
            except Exception as error:
                why, cause = f"raises {type(error).__name__}: {error}", error
        given = ", ".join(f"{number:.6g}" for number in y)
        reads = ", ".join(channel.text for channel in self.channels)
        where = f"t = {t:g} s; it reads {reads}: {given}" if reads else f"t = {t:g} s"
        refusal = InputError(f"event '{self.name}': its function {why}, at {where}")
        refusal.__cause__ = cause
        return refusal


def of_channels(
    text: str,
    known: Known,
    what: str,
    read: Sequence[Channel] = (),
    *,
    reactions: bool = True,
) -> tuple[tuple[Channel, ...], FormulaRows]:
    """Return the channels of a formula, after those in `read`, and the parsed formula.

    Its variables are t and the numbers of all channels; reactions are optional.
    """
    channels = list(read)
    names = [own for channel in channels for own in variable_names(channel)]
    for each in _names(text):
        if each.replace(".", "_") not in names:
            channels.append(_channel(each, known, what, reactions=reactions))
            names += variable_names(channels[-1])
    plain = NAME.sub(lambda found: found[0].replace(".", "_"), text)
    law = FormulaRows.of(plain, ("t", *names), what)
    assert law is not None
    return tuple(channels), law


def _names(formula: str) -> Iterator[str]:
    """Yield the names of channels in a formula, with their components."""
    for found in NAME.finditer(formula):
        text = found[0]
        called = formula[found.end() :].lstrip().startswith("(")
        if not called and text != "t" and text not in (*CONSTANTS, *FUNCTIONS, "if", "else"):
            yield text


def _channel(text: str, known: Known, what: str, *, reactions: bool) -> Channel:
    """Return the channel of a name in a formula, such as `ball.position.z` of `ball.position`."""
    refusal: InputError | None = None
    for name in (text, COMPONENT.sub("", text)):
        try:
            channel = find_channel(name, known, what)
        except InputError as error:
            refusal = refusal or error
            continue
        if not reactions:
            _require_measurable([channel], what)
        if text.replace(".", "_") in variable_names(channel):
            return channel
        entries = ", ".join(list(variable_names(channel))[:9])
        refusal = InputError(f"{what}: '{text}' has several numbers; write one of {entries}")
    assert refusal is not None
    raise refusal


def _require_measurable(channels: Sequence[Channel], what: str) -> None:
    """Refuse reactions, which belong to whole steps; events occur within a step."""
    for channel in channels:
        if channel.kind == "reaction":
            raise InputError(
                f"{what}: cannot read '{channel.text}': reactions are means over a step, and "
                "events are located within steps; use coordinates and rates"
            )


def absent_at_start(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Return the loads that are off at the start: those that events only switch on."""
    switched = [a for t in triggers for a in t.event.actions if isinstance(a, Switch)]
    off = {action.load for action in switched if not action.on}
    return frozenset(action.load for action in switched if action.on) - off


def absent_ever(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Return the joints and loads that events may remove."""
    actions = [action for trigger in triggers for action in trigger.event.actions]
    joints = frozenset(a.joint for a in actions if isinstance(a, Release | Lock))
    return joints | frozenset(a.load for a in actions if isinstance(a, Switch))


def locked_ever(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Return the joints that events may lock."""
    actions = [action for trigger in triggers for action in trigger.event.actions]
    return frozenset(a.joint for a in actions if isinstance(a, Lock))
