"""Measures channels of a model: of states for the reference engine, by rows for the compiled."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.charts import Angle
from poinsot.frames.forms import GROUND
from poinsot.frames.products import Kind, lines
from poinsot.frames.stacks import Forms
from poinsot.kernels import sampling
from poinsot.kernels.tables import Index2
from poinsot.parts.coordinates import Coordinate, of_joint
from poinsot.parts.family import index, rows
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel
from poinsot.systems.observer import MOTION, Frames, MechanismObserver, flat
from poinsot.systems.reaction_terms import Term, reaction_terms
from poinsot.systems.views import Indices

Array = NDArray[np.float64]

#: (states x of the whole (k, n), angles over turns (k, angles)) -> numbers (k, size).
Look: TypeAlias = Callable[[Array, Array], Array]
#: No signals, and what is given or put out of them.
EMPTY: Mapping[str, tuple[int, slice]] = MappingProxyType({})
NOTHING = np.zeros(0)
#: What is measured of a motion in the compiled engine.
KINDS = dict(
    zip(
        MOTION,
        (sampling.POSITION, sampling.ROTATION, sampling.VELOCITY, sampling.SPIN),
        strict=True,
    )
)


@dataclass(frozen=True)
class Row:
    """One measured number in the compiled engine, see `kernels.sampling`."""

    kind: int
    ends: tuple[int, int] = (GROUND, GROUND)
    component: int = 0
    which: int = 0
    numbers: tuple[float, ...] = (0.0,) * 13
    terms: tuple[Term, ...] = ()


class RowTables(NamedTuple):
    """Measured numbers as tables, see `kernels.sampling`.

    The multipliers of terms of reactions are places in x, and no column of `factors` yet.
    """

    numbers: Array
    channels: Index2
    pulls: Array
    factors: Index2
    multipliers: Indices

    @classmethod
    def of(cls, every: Sequence[Row], bodies: int) -> "RowTables":
        """Return the tables of rows; the ground comes after so many bodies."""
        terms = [term for row in every for term in row.terms]
        factors = [[0, *term.first, *term.second] for term in terms]
        others, term = [], 0
        for row in every:
            after = term + len(row.terms)
            others.append([term, after] if row.terms else [row.component, row.which])
            term = after
        ends = _grounded([row.ends for row in every], 2, bodies)
        return cls(
            numbers=rows([row.numbers for row in every], 13),
            channels=index([row.kind for row in every], ends, rows(others, 2)),
            pulls=np.array([term.coefficient for term in terms]),
            factors=_grounded(factors, 5, bodies),
            multipliers=np.array([term.multiplier for term in terms], dtype=np.intp),
        )


def _grounded(places: Sequence[Sequence[int]], columns: int, bodies: int) -> Index2:
    """Return numbers of bodies and others, with that of the ground after all bodies."""
    numbers = np.array(places, dtype=np.intp).reshape(-1, columns)
    return np.where(numbers == GROUND, bodies, numbers).astype(np.uint32)


class Measurement:
    """What there is to measure of a system, with a mechanism as its first part, or as the whole.

    Signals of controllers are in what these were `given` or put out `last`, by kind and place.
    Other systems have states only.
    """

    def __init__(
        self,
        system: PHSystem,
        channels: Sequence[Channel],
        signals: Mapping[str, tuple[int, slice]] = EMPTY,
        given: Vector = NOTHING,
        last: Vector = NOTHING,
    ) -> None:
        self.system, self.signals = system, signals
        self.kept = {sampling.SIGNAL: last, sampling.MEMORY: given}
        host, self.span = system, slice(0, system.n)
        if isinstance(system, Interconnection):
            host, self.span = system.parts[0], system.spans[0]
        observer = host.observer()
        if isinstance(observer, MechanismObserver):
            self.observer, self.layout, self.view = observer, observer.layout, observer.view
            self.joints = {place.name: place.joint for place in self.layout.joints}
        self.channels = channels
        self.looks = [self._look(channel) for channel in channels]

    def of(self, system: PHSystem) -> "Measurement":
        """Return what measures the same of another system."""
        given, last = self.kept[sampling.MEMORY], self.kept[sampling.SIGNAL]
        return Measurement(system, self.channels, self.signals, given, last)

    def __call__(self, x: Vector, turned: Vector) -> Vector:
        """Return what is measured at a state, with angles counted over turns [rad]."""
        numbers: Vector = self.over(x[None], turned[None])[0]
        return numbers

    def over(self, x: Array, turned: Array) -> Array:
        """Return what is measured at many states (k, n), and angles (k, angles); (k, measured)."""
        none = np.zeros((len(x), 0))
        return np.concatenate([none, *(look(x, turned) for look in self.looks)], axis=1)

    def _look(self, channel: Channel) -> Look:
        match channel.kind:
            case "state":
                piece = self.system.slices[channel.owner]
                return lambda x, turned: x[:, piece]
            case "signal":
                signal, place = self.signals[channel.owner]
                return lambda x, turned: np.tile(self.kept[signal][place], (len(x), 1))
            case "reaction":
                return self._reaction(channel)
            case "motion":
                frame, which = self._frame(channel.owner), MOTION.index(channel.which)

                def motion(x: Array, turned: Array) -> Array:
                    seen: Array = frame.look(*self._moving(x, frame.bodies))[which][:, 0]
                    return seen.reshape(len(x), math.prod(seen.shape[1:]))

                return motion
            case "coordinate" if self._coordinate(channel).unit == "rad":
                k = self._angle(channel)
                return lambda x, turned: turned[:, k : k + 1]
        joint = self.observer.joint(channel.owner)
        which = joint.labels.index(channel.which)
        length = int(np.sum(~joint.rotates[:which]))

        def value(x: Array, turned: Array) -> Array:
            f = flat(self._moving(x, joint.bodies)[0])
            return np.asarray(joint.displacements.values(f)[:, length : length + 1])

        def rate(x: Array, turned: Array) -> Array:
            f, df = map(flat, self._moving(x, joint.bodies))
            return joint.rates(f, df)[:, which : which + 1]

        return value if channel.kind == "coordinate" else rate

    def _moving(self, x: Array, bodies: Indices) -> tuple[Array, Array]:
        """Return directors of bodies at states of the whole, and their rates; (k, bodies, 4, 3)."""
        own = x[:, self.span.start + self.view.columns(bodies)]
        return self.view.directors(own, bodies), self.view.rates(own, bodies)

    def angles(self, joints: Sequence[str], x: Array) -> Array:
        """Return the angles of joints at states (k, n), within half a turn [rad]; (k, angles)."""
        found = [np.zeros((len(x), 0))]
        for name in joints:
            joint = self.observer.joint(name)
            found.append(joint.within(flat(self._moving(x, joint.bodies)[0])))
        return np.concatenate(found, axis=1)

    def angle(self, channel: Channel) -> tuple[int, Callable[[Array], Array]]:
        """Return the place of a joint's angle among all, and what gives it of states (k, n) [rad].

        Within half a turn; (k,).
        """
        joint = self.observer.joint(channel.owner)
        which = [label for label, turns in zip(joint.labels, joint.rotates, strict=True) if turns]
        column = which.index(channel.which)

        def within(x: Array) -> Array:
            return np.asarray(joint.within(flat(self._moving(x, joint.bodies)[0]))[:, column])

        return self._angle(channel), within

    def _reaction(self, channel: Channel) -> Look:
        """Return a reaction, by the multipliers of the step before."""
        joint, side, start = self.observer.joint(channel.owner), channel.which, self.span.start

        def reaction(x: Array, turned: Array) -> Array:
            lam = x[:, start + joint.multipliers]
            return joint.reaction(self._moving(x, joint.bodies)[0], lam, side)

        return reaction

    def mean_reaction(self, channel: Channel, means: Array, ends: Array, h: Array) -> Array:
        """Return the means of a reaction over steps with these midpoints and ends; (k, 3)."""
        joint, start = self.observer.joint(channel.owner), self.span.start
        columns = start + self.view.columns(joint.bodies)
        q, _ = self.view.over_steps(means[:, columns], ends[:, columns], h, joint.bodies)
        return joint.reaction(q, means[:, start + joint.multipliers], channel.which)

    def determines(self, joint: str) -> bool:
        """Tell whether the reaction of a joint follows from its constraints alone."""
        return joint not in self.layout.undetermined

    def _frame(self, name: str) -> Frames:
        frames = self.observer.frames
        found = next(each for each in frames if name in each.names)
        return found.only(list(found.names).index(name))

    def _coordinate(self, channel: Channel) -> Coordinate:
        return of_joint(channel.owner, self.joints, channel.which, f"channel '{channel.text}'")

    def _angle(self, channel: Channel) -> int:
        return self.layout.angle_names.index(f"{channel.owner}.{channel.which}")

    # -- the compiled engine ------------------------------------------------------------------

    def rows(self) -> list[Row] | None:
        """Return every measured number as a row; None if the compiled engine cannot measure it."""
        if self.view.mechanism.elastic:
            return None
        found: list[Row] = []
        for channel in self.channels:
            own = self._rows(channel)
            if own is None:
                return None
            found += own
        return found

    def _rows(self, channel: Channel) -> list[Row] | None:
        match channel.kind:
            case "state":
                piece = self.system.slices[channel.owner]
                return [Row(sampling.STATE, which=k) for k in range(piece.start, piece.stop)]
            case "signal":
                kind, place = self.signals[channel.owner]
                return [Row(kind, which=k) for k in range(place.start, place.stop)]
            case "reaction":
                return self._of_joint(channel)
            case "motion":
                return self._of_frame(channel)
        coordinate, rated = self._coordinate(channel), channel.kind == "rate"
        if isinstance(coordinate.chart, Angle):
            kind = sampling.ANGLE_RATE if rated else sampling.ANGLE
            return [Row(kind, which=self._angle(channel))]
        forms = Forms([coordinate.forms.onto(coordinate.bodies)], len(self.layout.bodies))
        at = lines(forms, [1]).products
        if len(at.kind) != 1 or at.kind[0] not in (Kind.OFFSET, Kind.AXIS):
            return None
        kind = (sampling.OFFSET if at.kind[0] == Kind.OFFSET else sampling.AXIS) + rated
        a, b = at.ends[0].tolist()
        return [Row(kind, (a, b), numbers=tuple(at.numbers[0].tolist()))]

    def _of_joint(self, channel: Channel) -> list[Row] | None:
        """Return components of a reaction; None if it is one of many, or one of rolling."""
        terms = reaction_terms(self.observer.joint(channel.owner), channel.which)
        return None if terms is None else [Row(sampling.REACTION, terms=own) for own in terms]

    def _of_frame(self, channel: Channel) -> list[Row]:
        """Return components of a vector, or those of the axes of a frame row by row."""
        frame = self._frame(channel.owner)
        kind, body, none = KINDS[channel.which], int(frame.bodies[0]), [0.0] * 3
        columns = frame.R[0].T.tolist() if channel.which == "rotation" else [none]
        return [
            Row(kind, (body, body), i, numbers=(*column, *none, *frame.X[0].tolist(), *none, 0.0))
            for i in range(3)
            for column in columns
        ]
