"""Channels: quantities of a model by name, which sensors record and controllers read.

`"hinge"` or `"hinge.angle"` is the coordinate of a joint, `"hinge.rate"` or `"hinge.angle.rate"`
its rate, `"hinge.force"` its reaction; `"rod.position"` is that of a body or marker, and
`"motor.flux"` a state of a system. Controllers also read outputs of other controllers,
`"pilot.output"`, and their states, `"pilot.lag"`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal, TypeAlias

from poinsot.errors import InputError, did_you_mean

Kind: TypeAlias = Literal["coordinate", "rate", "motion", "reaction", "state", "signal", "output"]

#: What there is of a body or marker, and of the reaction of a joint: shape and unit.
MOTION: dict[str, tuple[tuple[int, ...], str]] = {
    "position": ((3,), "m"),
    "rotation": ((3, 3), "1"),
    "velocity": ((3,), "m/s"),
    "angular_velocity": ((3,), "rad/s"),
}
REACTION = {"force": "N", "torque": "N m", "force_a": "N", "torque_a": "N m"}
RATE = "rate"


@dataclass(frozen=True)
class Channel:
    """A quantity: its kind, owner and name, its shape and unit."""

    text: str
    kind: Kind
    owner: str
    which: str
    shape: tuple[int, ...] = ()
    unit: str | None = None

    @property
    def size(self) -> int:
        """Number of values."""
        return prod(self.shape)


@dataclass(frozen=True)
class Known:
    """What channels there may be.

    Parameters
    ----------
    joints : mapping
        Names of joints -> those of their coordinates.
    frames : mapping
        Names of bodies and markers -> which of the two each is.
    states : mapping
        Names of states -> how many numbers each has, and its unit.
    signals : mapping
        Names of outputs and states of sampled controllers -> how many numbers each has.
    outputs : mapping
        The same of outputs of controllers in continuous time.
    """

    joints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    frames: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, tuple[int, str | None]] = field(default_factory=dict)
    signals: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)


def freedom_unit(freedom: str) -> str:
    """Return the unit of a coordinate of a joint by its name."""
    return "rad" if freedom.startswith("angle") else "m"


def find_channel(text: str, known: Known, what: str) -> Channel:
    """Return a channel by its name; raise `InputError` with the known names otherwise."""
    if not isinstance(text, str):
        raise InputError(
            f"{what}: expected the name of a channel such as 'hinge.angle', got {text!r}"
        )
    kinds: tuple[tuple[Kind, Mapping[str, int]], ...]
    kinds = ("signal", known.signals), ("output", known.outputs)
    for kind, there in kinds:
        if text in there:
            return Channel(text, kind, text, "", () if there[text] == 1 else (there[text],))
    joint, frame = _owner(text, known.joints), _owner(text, known.frames)
    if text in known.states and joint is None and frame is None:
        size, unit = known.states[text]
        return Channel(text, "state", text, "", () if size == 1 else (size,), unit)
    if joint is not None and (frame is None or len(joint) >= len(frame)):
        return _of_joint(text, joint, known.joints[joint], what)
    if frame is not None:
        return _of_frame(text, frame, known.frames[frame], what)
    owners = [*known.joints, *known.frames, *known.states, *known.signals, *known.outputs]
    owner = text.split(".")[0]
    hint = did_you_mean(text if "." not in text else owner, owners)
    raise InputError(f"{what}: there is no '{owner}' in '{text}'; {hint}")


def _owner(text: str, names: Mapping[str, object]) -> str | None:
    """Return the longest known name that a text begins with, up to a dot."""
    pieces = text.split(".")
    for count in range(len(pieces), 0, -1):
        name = ".".join(pieces[:count])
        if name in names:
            return name
    return None


def _of_joint(text: str, joint: str, labels: tuple[str, ...], what: str) -> Channel:
    rest = text[len(joint) + 1 :]
    if rest in REACTION:
        return Channel(text, "reaction", joint, rest, (3,), REACTION[rest])
    rated = rest == RATE or rest.endswith(f".{RATE}")
    label = rest.removesuffix(RATE).removesuffix(".") if rated else rest
    if not label and len(labels) == 1:
        label = labels[0]
    if not label:
        there = ", ".join(f"'{joint}.{each}'" for each in labels) or "no coordinate"
        raise InputError(f"{what}: joint '{joint}' has {there}; choose one")
    if label not in labels:
        hint = did_you_mean(label, [*labels, RATE, *REACTION])
        raise InputError(f"{what}: no '{label}' of joint '{joint}'; {hint}")
    unit = freedom_unit(label)
    if rated:
        return Channel(text, "rate", joint, label, (), f"{unit}/s")
    return Channel(text, "coordinate", joint, label, (), unit)


def _of_frame(text: str, frame: str, kind: str, what: str) -> Channel:
    which = text[len(frame) + 1 :]
    if which not in MOTION:
        hint = did_you_mean(which, MOTION)
        missing = f"no '{which}' of {kind} '{frame}'" if which else f"say what of {kind} '{frame}'"
        raise InputError(f"{what}: {missing}; {hint}")
    return Channel(text, "motion", frame, which, *MOTION[which])
