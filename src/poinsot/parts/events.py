"""Events: a function of what is measured crosses zero; the run stops, or records it."""

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
    """A joint lets its bodies go for the rest of the run; no energy changes by that.

    Parameters
    ----------
    joint : str
        Its name. Nothing else may act along it or read it.
    """

    joint: str

    def __str__(self) -> str:
        """What it does, in words."""
        return f"release {self.joint}"


@dataclass(frozen=True)
class Switch:
    """A spring, damper or field is switched on or off; what it stores comes or goes with it.

    Parameters
    ----------
    load : str
        Its name, as in `Model.add_force`. One that events switch on and none switches off is off
        at the start.
    on : bool
        Whether it acts from then on.
    """

    load: str
    on: bool = field(kw_only=True)

    def __str__(self) -> str:
        """What it does, in words."""
        return f"switch {'on' if self.on else 'off'} {self.load}"


@dataclass(frozen=True)
class Lock:
    """A joint becomes rigid where it is, for the rest of the run: a perfectly inelastic impact.

    Velocities become the nearest ones, in kinetic energy, that the joints allow. Momenta stay, as
    far as other joints let them; the kinetic energy that is lost is that of the event. The reaction
    of the joint is not recorded from then on (NaN).

    Parameters
    ----------
    joint : str
        Its name. Nothing else may act along it or read it.
    """

    joint: str

    def __str__(self) -> str:
        """What it does, in words."""
        return f"lock {self.joint}"


#: What an event does.
Action: TypeAlias = Literal["record", "stop"] | Release | Lock | Switch


@dataclass(frozen=True)
class Event:
    """A function g(t, y) of what is measured crosses zero.

    Parameters
    ----------
    when : str or function
        g. As text a formula of the time t and of channels as in `Model.add_sensor`, such as
        `"hinge.angle - 0.3"` or `"ball.position.z"`. A Python function of the time [s] and of an
        array of all numbers that it `reads`.
    direction : {0, 1, -1}
        Crossings that count: 1 from below to above, -1 from above to below, 0 both.
    then : "record", "stop", Release, Lock, Switch, or several of them
        What happens: `"record"` notes it, as all events are; `"stop"` ends the run; `Release` lets
        a joint go, `Lock` makes one rigid, and `Switch` switches a load on or off.
    reads : sequence of str
        The channels that a Python function reads, in the order of y. Formulas need it for names
        that cannot stand in one; they call a channel `"left-hinge.rate"` left_hinge_rate.
    """

    when: str | Callable[[float, Vector], float]
    direction: int = field(default=0, kw_only=True)
    then: Action | Sequence[Action] = field(default="record", kw_only=True)
    reads: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what is no event."""
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
        """What happens, one after the other."""
        given: Any = self.then
        return tuple(given) if isinstance(given, list | tuple) else (given,)

    @property
    def what(self) -> str:
        """What happens, in words."""
        return ", ".join(map(str, self.actions))


@dataclass(frozen=True, eq=False)
class Trigger:
    """An event of a model: its function, and the channels that it is one of.

    Parameters
    ----------
    name, event
        What it is called, and what it was made of.
    channels : tuple of Channel
        What is measured for it.
    law : FormulaRows or function
        Its function of the time and of the measured numbers.
    """

    name: str
    event: Event
    channels: tuple[Channel, ...]
    law: FormulaRows | Callable[[float, Vector], float]

    @classmethod
    def of(cls, name: str, event: Event, known: Known) -> "Trigger":
        """Return an event in what has these channels, or say what is wrong with it."""
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
        """Return its function, and what that reads, in a model in which this one has a name."""
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
        """Return the function at times (k,) of numbers (k, size); not finite where it fails."""
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
        """Return what went wrong where the function is not finite."""
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
    """Return the channels of a formula, after those that are `read` anyway, and what it says.

    Its variables are t and the numbers of all channels; reactions may be among these, or not.
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
    """Refuse reactions: they belong to whole steps, and an event may be anywhere in one."""
    for channel in channels:
        if channel.kind == "reaction":
            raise InputError(
                f"{what}: cannot read '{channel.text}': a reaction is the mean over a step, and "
                "events are located within steps; read coordinates and rates"
            )


def absent_at_start(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Return the loads that are off at the start: those that events only switch on."""
    switched = [a for t in triggers for a in t.event.actions if isinstance(a, Switch)]
    off = {action.load for action in switched if not action.on}
    return frozenset(action.load for action in switched if action.on) - off


def absent_ever(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Return the joints and loads that may be absent some time."""
    actions = [action for trigger in triggers for action in trigger.event.actions]
    joints = frozenset(a.joint for a in actions if isinstance(a, Release | Lock))
    return joints | frozenset(a.load for a in actions if isinstance(a, Switch))


def locked_ever(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Return the joints that may be locked some time."""
    actions = [action for trigger in triggers for action in trigger.event.actions]
    return frozenset(a.joint for a in actions if isinstance(a, Lock))
