"""Gears, racks, belts, screws, differentials and cams: joints whose coordinates move in step.

Each ties free directions of joints to each other by one equation, exactly over any number of
turns, see `driven`. Joints go by name, as "joint" or, where a joint has several free directions of
the kind, as "joint.freedom", such as "shaft.angle a".
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from math import tau
from typing import NamedTuple

import numpy as np

from poinsot.errors import InputError
from poinsot.inputs import number, positive
from poinsot.parts.coordinates import Coordinate, of_joint
from poinsot.parts.driven import Driven, Term
from poinsot.parts.feedback import Inlet
from poinsot.parts.joint import Joint
from poinsot.parts.profiles import Profile, profile_of
from poinsot.parts.resistance import SLIP, Friction
from poinsot.ph.formulas import Formula
from poinsot.ph.motions import ByPosition
from poinsot.ph.ports import Port
from poinsot.ph.signals import Constant, Table

#: What a formula of a profile is of, a coordinate x.
VARIABLES = ("x",)


class Tie(NamedTuple):
    """A coordinate of a joint in a transmission: an angle, a displacement, or (None) either."""

    joint: str
    coefficient: float
    rotates: bool | None = True
    profile: Formula | Table | None = None


class Transmission(ABC):
    """What makes free directions of joints move in step, sum_k c_k f_k(chi_k) = const.

    The constant is that of the start. It is a port without power, whose output is the torque [N m]
    or force [N] on the first coordinate.
    """

    @abstractmethod
    def ties(self) -> tuple[Tie, ...]:
        """Return the coordinates that it ties; the first one has the coefficient 1."""

    @property
    def _efficiency(self) -> tuple[float, float]:
        """The efficiency, and the rate below which its friction fades."""
        return 1.0, SLIP

    @property
    def lossless(self) -> bool:
        """Whether it passes on all of the power that it is given."""
        return self._efficiency[0] == 1.0

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port, which nothing is put into, and the relation."""
        what, ties = f"transmission '{name}'", self.ties()
        found = [_coordinate(tie, joints, what) for tie in ties]
        for k, (one, _) in enumerate(found):
            if one in [other for other, _ in found[:k]]:
                raise InputError(
                    f"{what}: it ties '{one}' to itself; give different joints, or different free "
                    "directions of one as 'joint.freedom'"
                )
        bodies = tuple(dict.fromkeys(body for _, at in found for body in at.bodies))
        terms = []
        for tie, (_, at) in zip(ties, found, strict=True):
            profile: Profile | None = None
            if tie.profile is not None:
                profile = profile_of(tie.profile, f"{what}: profile", turns=at.unit == "rad")
            own = tuple(bodies.index(body) for body in at.bodies)
            terms.append(Term(own, at.forms, at.chart, tie.coefficient, profile))
        start = sum(t.coefficient * t.profile(0.0) for t in terms if t.profile is not None)
        if not np.isfinite(start):
            raise InputError(f"{what}: its profile is not finite at the start")
        motion = ByPosition(Constant(np.array([start])), Constant(np.zeros(1)))
        efficiency, slip = self._efficiency
        friction = (Friction(coulomb=1.0, slip=slip),) * (len(terms) - 1)
        driven = Driven(
            bodies,
            name,
            tuple(terms),
            motion,
            what="transmission",
            efficiency=efficiency,
            friction=friction,
        )
        effort, flow = ("N m", "rad/s") if driven.rotates else ("N", "m/s")
        port = Port(name, 1, effort, flow, input="flow", signal=motion)
        return port, Inlet(driven, driven.size)


def _coordinate(tie: Tie, joints: Mapping[str, Joint], what: str) -> tuple[str, Coordinate]:
    """Return the name of a coordinate, "joint.freedom", and the coordinate."""
    name, freedom = tie.joint, None
    if isinstance(name, str) and name not in joints:
        head, dot, tail = name.rpartition(".")
        if dot and head in joints:
            name, freedom = head, tail
    if freedom is None and name in joints:
        free = joints[name].freedoms()
        own = [f.label for f in free if tie.rotates is None or f.rotates is tie.rotates]
        kind = {True: "angle", False: "displacement", None: "coordinate"}[tie.rotates]
        if free and not own:
            raise InputError(
                f"{what}: joint '{name}' ({joints[name].kind}) has no {kind}, only "
                f"{', '.join(f.label for f in free)}"
            )
        if len(own) > 1:
            raise InputError(
                f"{what}: joint '{name}' ({joints[name].kind}) has several: say which by "
                f"{' or '.join(repr(f'{name}.{label}') for label in own)}"
            )
        freedom = own[0] if own else None
    at = of_joint(name, joints, freedom, what)
    if tie.rotates is not None and tie.rotates is not (at.unit == "rad"):
        wanted = "an angle" if tie.rotates else "a displacement"
        raise InputError(f"{what}: '{name}.{freedom}' is not {wanted}")
    return f"{name}.{freedom}", at


def _ratio(value: float, what: str) -> float:
    if not number(value, what):
        raise InputError(f"{what} is 0; nothing would be passed on")
    return float(value)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Lossy(Transmission):
    """A transmission that may lose a share of the power that it passes on.

    Its friction is in proportion to the load, and fades at rates below `slip` of the second
    coordinate [rad/s or m/s].
    """

    efficiency: float = 1.0
    slip: float = SLIP

    def __post_init__(self) -> None:
        """Refuse an efficiency that creates energy, or passes nothing on."""
        what = type(self).__name__
        if not 0 < number(self.efficiency, f"{what}: efficiency") <= 1:
            raise InputError(
                f"{what}: efficiency is {self.efficiency!r}; it is a part of the power that goes "
                "in, more than 0 and at most 1"
            )
        positive(self.slip, f"{what}: slip")

    @property
    def _efficiency(self) -> tuple[float, float]:
        return float(self.efficiency), float(self.slip)


@dataclass(frozen=True, eq=False)
class Gear(_Lossy):
    """A pair of gears, or any gearbox: angle a = ratio * angle b.

    The angles are those of joints, which may have a common carrier, as in planetary gears.

    Parameters
    ----------
    joint_a, joint_b : str
        The joints by name: a turns `ratio` times as fast as b.
    ratio : float
        Negative where both turn in opposite directions about their axes, as two external gears
        on parallel axes do.
    efficiency : float
        Output power over input power, whichever side drives; 1: nothing is lost.
    slip : float
        Rate of b below which the friction of an efficiency fades [rad/s].
    """

    joint_a: str
    joint_b: str
    _: KW_ONLY
    ratio: float

    def ties(self) -> tuple[Tie, ...]:
        """Return both coordinates."""
        return Tie(self.joint_a, 1.0), Tie(self.joint_b, -_ratio(self.ratio, "Gear: ratio"))


@dataclass(frozen=True, eq=False)
class Belt(_Lossy):
    """A belt or chain that does not slip: radius_a * angle a = radius_b * angle b.

    Parameters
    ----------
    joint_a, joint_b : str
        The joints of both pulleys by name.
    radius_a, radius_b : float
        Of the pulleys [m].
    crossed : bool
        Whether the belt is crossed, so that both turn in opposite directions.
    efficiency, slip : float
        As of a `Gear`.
    """

    joint_a: str
    joint_b: str
    _: KW_ONLY
    radius_a: float
    radius_b: float
    crossed: bool = False

    def ties(self) -> tuple[Tie, ...]:
        """Return both coordinates."""
        a, b = positive(self.radius_a, "Belt: radius_a"), positive(self.radius_b, "Belt: radius_b")
        return Tie(self.joint_a, 1.0), Tie(self.joint_b, b / a if self.crossed else -b / a)


@dataclass(frozen=True, eq=False)
class RackAndPinion(_Lossy):
    """A pinion on a rack: displacement = radius * angle.

    Parameters
    ----------
    pinion, rack : str
        The joints by name: an angle and a displacement.
    radius : float
        Of the pinion [m]; negative where the rack moves against its axis.
    efficiency, slip : float
        As of a `Gear`; slip is a rate of the rack [m/s].
    """

    pinion: str
    rack: str
    _: KW_ONLY
    radius: float

    def ties(self) -> tuple[Tie, ...]:
        """Return both coordinates."""
        radius = _ratio(self.radius, "RackAndPinion: radius")
        return Tie(self.pinion, 1.0), Tie(self.rack, -1 / radius, rotates=False)


@dataclass(frozen=True, eq=False)
class Screw(_Lossy):
    """A screw: lead * angle / (2 pi) = displacement, of a cylindrical joint or of two joints.

    Parameters
    ----------
    shaft : str
        The joint that turns, by name.
    lead : float
        How far it moves in a turn [m]; negative for a left-hand thread.
    nut : str
        The joint that moves; default: the same one.
    efficiency, slip : float
        As of a `Gear`; slip is a rate of the displacement [m/s].
    """

    shaft: str
    nut: str | None = None
    _: KW_ONLY
    lead: float

    def ties(self) -> tuple[Tie, ...]:
        """Return both coordinates."""
        lead, nut = _ratio(self.lead, "Screw: lead"), self.shaft if self.nut is None else self.nut
        return Tie(self.shaft, 1.0), Tie(nut, -tau / lead, rotates=False)


@dataclass(frozen=True, eq=False)
class Differential(Transmission):
    """A differential: angle_input = ratio * (angle_left + angle_right) / 2.

    Both sides get the same torque. Nothing is lost: what its meshes lose depends on how both sides
    turn, which `Gear` with an efficiency on joints of a carrier tells.

    Parameters
    ----------
    input, left, right : str
        The joints by name, all on the same housing.
    ratio : float
        Turns of the input for one turn of both sides; 1 if the input is the carrier.
    """

    input: str
    left: str
    right: str
    _: KW_ONLY
    ratio: float = 1.0

    def ties(self) -> tuple[Tie, ...]:
        """Return the coordinates of input, left and right."""
        half = -_ratio(self.ratio, "Differential: ratio") / 2
        return Tie(self.input, 1.0), Tie(self.left, half), Tie(self.right, half)


@dataclass(frozen=True, eq=False)
class Cam(Transmission):
    """A cam: the follower is where the profile is, coordinate = profile(coordinate of the cam).

    Both coordinates count from the start, and so does the follower on the profile: it moves by
    profile(x) - profile(0). It never leaves the cam; nothing is lost.

    Parameters
    ----------
    cam, follower : str
        The joints by name; each may turn or slide.
    profile
        A formula of x as text, `Formula("0.02*(1 - cos(x))", "x")`, or a `Table` of coordinates of
        the cam [rad or m] and of the follower [m or rad]. A table becomes a smooth curve, a cubic
        spline; one of a whole turn (2 pi) that ends where it begins repeats itself, any other one
        goes on straight beyond its ends.
    """

    cam: str
    follower: str
    _: KW_ONLY
    profile: Formula | Table | str

    def __post_init__(self) -> None:
        """Read formulas, and refuse what is no profile."""
        profile = self.profile
        if isinstance(profile, str):
            profile = Formula(profile, VARIABLES)
            object.__setattr__(self, "profile", profile)
        single = isinstance(profile, Formula) and profile.is_of(1)
        if not single and not (isinstance(profile, Table) and profile.values.ndim == 1):
            raise InputError(
                f"Cam: profile: expected a formula of x or a Table of one number each, got "
                f"{self.profile!r}"
            )

    def ties(self) -> tuple[Tie, ...]:
        """Return both coordinates."""
        assert isinstance(self.profile, Formula | Table)
        return Tie(self.follower, 1.0, None), Tie(self.cam, -1.0, None, self.profile)
