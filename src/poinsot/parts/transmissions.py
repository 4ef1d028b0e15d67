"""Gears, racks, belts, screws, differentials and cams: couplings of joint coordinates.

Each couples joint coordinates by one equation, exactly over any number of turns, see `driven`.
Coordinates are named "joint" or, if a joint has several of the kind, "joint.freedom", such as
"shaft.angle a".
"""

from __future__ import annotations

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
    """A joint coordinate in a transmission: an angle, a displacement, or either (None)."""

    joint: str
    coefficient: float
    rotates: bool | None = True
    profile: Formula | Table | None = None


class Transmission(ABC):
    """Base class of couplings of joint coordinates, sum_k c_k f_k(chi_k) = const.

    The constant is its value at the start. A transmission is a port without power, whose output is
    the torque [N m] or force [N] on the first coordinate.
    """

    @abstractmethod
    def ties(self) -> tuple[Tie, ...]:
        """Return the coupled coordinates; the first one has the coefficient 1."""

    @property
    def _efficiency(self) -> tuple[float, float]:
        """The efficiency, and the rate below which its friction decreases."""
        return 1.0, SLIP

    @property
    def lossless(self) -> bool:
        """Whether it passes on all of the power that it is given."""
        return self._efficiency[0] == 1.0

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return its port, which takes no input, and the relation."""
        what, ties = f"transmission '{name}'", self.ties()
        found = [_coordinate(tie, joints, what) for tie in ties]
        for k, (one, _) in enumerate(found):
            if one in [other for other, _ in found[:k]]:
                raise InputError(
                    f"{what}: it couples '{one}' to itself; give different joints, or different "
                    "coordinates of one as 'joint.freedom'"
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
            raise InputError(f"{what}: its profile is not finite at the start; correct the formula")
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
                f"{what}: joint '{name}' ({joints[name].kind}) has several: choose one by "
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
        raise InputError(f"{what} is 0; give a nonzero value")
    return float(value)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Lossy(Transmission):
    """Base class of transmissions with an efficiency.

    The friction is proportional to the load, and decreases at rates below `slip` of the second
    coordinate [rad/s or m/s].
    """

    efficiency: float = 1.0
    slip: float = SLIP

    def __post_init__(self) -> None:
        """Refuse an efficiency that is not in (0, 1]."""
        what = type(self).__name__
        if not 0 < number(self.efficiency, f"{what}: efficiency") <= 1:
            raise InputError(
                f"{what}: efficiency is {self.efficiency!r}; it must be more than 0 and at most 1"
            )
        positive(self.slip, f"{what}: slip")

    @property
    def _efficiency(self) -> tuple[float, float]:
        return float(self.efficiency), float(self.slip)


@dataclass(frozen=True, eq=False)
class Gear(_Lossy):
    """A gear pair or gearbox: angle_a = ratio * angle_b.

    The angles are those of joints, which may have a common carrier, as in planetary gears.

    Parameters
    ----------
    joint_a, joint_b : str
        Names of the joints; a turns `ratio` times as fast as b.
    ratio : float
        Negative for opposite directions of rotation about the axes, as of two external gears on
        parallel axes.
    efficiency : float
        Output power over input power in either direction; 1: no losses.
    slip : float
        Rate of b below which the friction decreases [rad/s].
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
    """A belt or chain without slip: radius_a * angle_a = radius_b * angle_b.

    Parameters
    ----------
    joint_a, joint_b : str
        Names of the joints of the pulleys.
    radius_a, radius_b : float
        Radii of the pulleys [m].
    crossed : bool
        A crossed belt, with opposite directions of rotation.
    efficiency, slip : float
        As for `Gear`.
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
    """A rack and pinion: displacement = radius * angle.

    Parameters
    ----------
    pinion, rack : str
        Names of the joints with the angle and the displacement.
    radius : float
        Radius of the pinion [m]; negative if the rack moves against its axis.
    efficiency, slip : float
        As for `Gear`; slip is a rate of the rack [m/s].
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
    """A screw: displacement = lead * angle / (2 pi), of a cylindrical joint or of two joints.

    Parameters
    ----------
    shaft : str
        Name of the joint with the angle.
    lead : float
        Displacement per turn [m]; negative for a left-hand thread.
    nut : str
        Name of the joint with the displacement. Default: the same joint.
    efficiency, slip : float
        As for `Gear`; slip is a rate of the displacement [m/s].
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

    Both sides receive the same torque, without losses. For losses, model its gears by `Gear` with
    an efficiency on joints of a carrier.

    Parameters
    ----------
    input, left, right : str
        Names of the joints, all on the same housing.
    ratio : float
        Turns of the input per turn of both sides; 1 if the input is the carrier.
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
    """A cam with a follower: coordinate_follower = profile(coordinate_cam).

    Both coordinates and the profile count from the start: the follower moves by profile(x) -
    profile(0). It never lifts off the cam, and there are no losses.

    Parameters
    ----------
    cam, follower : str
        Names of the joints; each may have an angle or a displacement.
    profile : str, Formula or Table
        A formula in x, `Formula("0.02*(1 - cos(x))", "x")`, or a `Table` of coordinates of the cam
        [rad or m] and the follower [m or rad], which is interpolated by a cubic spline. A table of
        a full turn (2 pi) with equal ends is periodic; others are extrapolated by straight lines.
    """

    cam: str
    follower: str
    _: KW_ONLY
    profile: Formula | Table | str

    def __post_init__(self) -> None:
        """Parse the profile and check it."""
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
