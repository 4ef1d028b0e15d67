r"""Positions and motion of a mechanism with prescribed joint coordinates.

Rows of joints, transmissions and prescribed coordinates on twists w of bodies determine these,

.. math:: K(f)\, w = N \dot\chi, \qquad K \dot w = N \ddot\chi - \dot K w ,

and positions follow by closing joints and coordinates step by step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from poinsot.errors import InputError
from poinsot.frames.places import frame_vectors, local
from poinsot.parts.coordinates import Coordinate
from poinsot.parts.driven import Driven, Term
from poinsot.parts.feedback import Inlet
from poinsot.ph.dependence import row_lengths
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.motions import ByPosition
from poinsot.systems.directors import DirectorSystem
from poinsot.systems.kinematics.trajectories import Held, Trajectory, trajectory
from poinsot.systems.statics.frames import FramePlace
from poinsot.systems.statics.rest import REPEATED
from poinsot.systems.statics.search import movers

#: How far coordinates go at once [rad, or sizes of the mechanism].
STRIDE = 0.2
#: How many names a message lists.
LISTED = 6


def require_coordinates(system: DirectorSystem, what: str) -> None:
    """Refuse a mechanism whose places do not follow from coordinates of joints."""
    if system.mechanism.contacts:
        raise InputError(
            f"{what}: the positions of rolling bodies ('{system.layout.contacts[0][0]}') do not "
            "follow from joint coordinates; leave them out"
        )
    if system.mechanism.relaxing:
        raise InputError(
            f"{what}: forces of force '{system.mechanism.relaxing[0].name}' depend on the past "
            "(relaxation); leave it out"
        )
    for driven in system.mechanism.drives:
        if not driven.motion.holds:
            raise InputError(
                f"{what}: {driven.title} prescribes a rate; prescribe the coordinate instead"
            )
        if not isinstance(driven.motion, ByPosition | Held):
            raise InputError(
                f"{what}: {driven.title} drives a whole body, which joint coordinates do not "
                "describe; use drives of joints instead"
            )


def following(name: str, at: Coordinate, value: float) -> Inlet:
    """Return what holds a coordinate of a joint at a value [rad or m]."""
    term = Term(tuple(range(len(at.bodies))), at.forms, at.chart)
    driven = Driven(at.bodies, name, (term,), Held(value))
    return Inlet(driven, driven.size)


@dataclass(frozen=True, eq=False)
class Driving:
    """A place of a mechanism with trajectories of coordinates, and of drives that it has.

    The last rows of K are those of the `names`, coordinates of joints.
    """

    names: tuple[str, ...]
    place: FramePlace
    what: str

    @classmethod
    def of(
        cls,
        system: DirectorSystem,
        coordinates: Mapping[str, Coordinate],
        what: str,
        ports: Sequence[Inlet] = (),
    ) -> "Driving":
        """Return the start of a system, where coordinates are zero, with further ports."""
        require_coordinates(system, what)
        place = FramePlace.of(system, system.start, 0.0)
        inlets = [*place.held.inlets, *ports]
        inlets += [following(name, at, 0.0) for name, at in coordinates.items()]
        held = replace(place.held, inlets=tuple(inlets))
        u = np.zeros(sum(inlet.size for inlet in inlets))
        place = replace(place, held=held, u=u, turned=np.zeros(len(system.angle_names)))
        return cls(tuple(coordinates), place.at(place.f), what)

    def beside(self, there: FramePlace) -> "Driving":
        """Return the same where another place is."""
        place = replace(self.place, turned=there.turned).at(there.f)
        return replace(self, place=place)

    # -- trajectories -------------------------------------------------------------------------

    def along(self, motions: Mapping[str, Trajectory], span: float) -> "Driving":
        """Return the same with trajectories by the names of coordinates; drives have their own."""
        found: list[Trajectory] = []
        for driven in self.place.held.drives:
            if driven.name in self.names:
                found.append(motions[driven.name])
            else:
                assert isinstance(driven.motion, ByPosition)
                found.append(trajectory(driven.motion.coordinate, span, driven.title))
        return self._with(found)

    def _with(self, motions: Sequence[Trajectory]) -> "Driving":
        """Return the same with a trajectory for every drive."""
        rest, inlets = iter(motions), []
        for inlet in self.place.held.inlets:
            if isinstance(inlet.driven, Driven):
                inlet = replace(inlet, direction=replace(inlet.driven, motion=next(rest)))
            inlets.append(inlet)
        held = replace(self.place.held, inlets=tuple(inlets))
        return replace(self, place=replace(self.place, held=held))

    def _states(self, t: float) -> list[tuple[float, float, float]]:
        """Return every driven coordinate with its rate and acceleration at time t [s]."""
        found = []
        for driven in self._drives:
            assert isinstance(driven.motion, Trajectory)
            try:
                found.append(driven.motion.at(t))
            except InputError as error:
                raise InputError(f"{self.what}: '{driven.name}': {error}") from None
        return found

    @property
    def _drives(self) -> tuple[Driven, ...]:
        return self.place.held.drives

    # -- positions ----------------------------------------------------------------------------

    def at(self, t: float, u: Vector | None = None) -> "Driving":
        """Return where the trajectories lead to at time t [s], from here on, with inputs u."""
        motions = [driven.motion for driven in self._drives]
        targets = np.array([state[0] for state in self._states(t)])
        here = np.array([d.value(local(self.place.f, d.bodies)) for d in self._drives])
        length = float(np.max(self.place.held.lengths(self.place.f), initial=0.0)) or 1.0
        sizes = np.array([1.0 if driven.rotates else length for driven in self._drives])
        far = float(np.max(abs(targets - here) / sizes, initial=0.0))
        count, at = max(1, ceil(far / STRIDE)), self
        for k in range(1, count + 1):
            aims = here + (targets - here) * (k / count)
            at = at._with([Held(aim) for aim in aims.tolist()])
            closed = at.place.closed(at.place.f)
            if closed is None:
                raise self._out_of_reach(t, aims)
            at = replace(at, place=closed)
        assert all(isinstance(motion, Trajectory) for motion in motions)
        there = at._with([motion for motion in motions if isinstance(motion, Trajectory)])
        return replace(there, place=replace(there.place, t=t, u=self.place.u if u is None else u))

    def _out_of_reach(self, t: float, aims: Vector) -> InputError:
        """Return what is said where joints stay open."""
        named = [
            f"'{driven.name}' = {aim:.6g} {'rad' if driven.rotates else 'm'}"
            for driven, aim in zip(self._drives, aims.tolist(), strict=True)
            if not driven.transmits
        ]
        return InputError(
            f"{self.what}: the joints do not close with {', '.join(named[:LISTED])} on the way to "
            f"t = {t:g} s; the motion exceeds the range of a loop of joints: stay within it, or "
            "prescribe another coordinate"
        )

    # -- freedoms -----------------------------------------------------------------------------

    @cached_property
    def rows(self) -> Array:
        """K on motions in their sizes, every row of length one; (m, k)."""
        K = dense(self.place.rows()) * self.place.sizes
        lengths = row_lengths(K)
        return np.asarray(K / np.where(lengths > 0, lengths, 1.0)[:, None])

    @property
    def split(self) -> int:
        """How many rows there are above those of the coordinates."""
        return int(self.rows.shape[0]) - len(self.names)

    @cached_property
    def free(self) -> Array:
        """Motions, in their sizes, that all rows but those of the coordinates leave; (k, f)."""
        return null_space(self.rows[: self.split])

    def require_determined(self, others: Sequence[str]) -> None:
        """Refuse coordinates that do not determine the place; `others` there are to choose from."""
        given, free = self.rows[self.split :] @ self.free, self.free.shape[1]
        still = [
            f"'{name}'"
            for name, row in zip(self.names, given, strict=True)
            if np.linalg.norm(row) <= REPEATED
        ]
        if still:
            raise InputError(
                f"{self.what}: {', '.join(still)} cannot move, because joints, transmissions or "
                "drives lock it; leave it out"
            )
        rank = np.linalg.matrix_rank(given, tol=REPEATED) if given.size else 0
        if rank < len(self.names):
            raise InputError(
                f"{self.what}: {len(self.names)} coordinates are given, "
                f"{', '.join(map(repr, self.names[:LISTED]))}, of which {rank} are independent; "
                f"joints leave {free} degrees of freedom: leave out those that depend on the others"
            )
        if rank < free:
            left = self.free @ null_space(given)
            moving = tuple(dict.fromkeys(n for w in left.T for n in movers(self.place, w)))
            more = [name for name in others if name not in self.names][:LISTED]
            choice = f", such as {' or '.join(map(repr, more))}" if more else ""
            raise InputError(
                f"{self.what}: {rank} coordinates are given, while the joints leave {free} degrees "
                "of "
                f"freedom, so that {', '.join(map(repr, moving[:LISTED]))} may move: give "
                f"{free - rank} more{choice}, or hold them by drives"
            )

    # -- velocities ---------------------------------------------------------------------------

    def _solved(self, right: Vector) -> Vector:
        """Return motions w (k,), or several, with K w = right, of which the last rows are given."""
        D = self.place.sizes
        K = dense(self.place.rows()) * D
        lengths = row_lengths(K)
        lengths[lengths == 0] = 1.0
        found = np.linalg.lstsq(K / lengths[:, None], (right.T / lengths).T, rcond=REPEATED)[0]
        return np.asarray((D * found.T).T)

    def _below(self, values: Vector) -> Vector:
        """Return the right-hand side with numbers in the rows of drives; (m,)."""
        right = np.zeros(self.rows.shape[0])
        right[right.size - values.size :] = values
        return right

    @cached_property
    def motions(self) -> Array:
        """What bodies move by with each coordinate, others held; (k, names)."""
        right = np.zeros((self.rows.shape[0], len(self.names)))
        right[self.split :] = np.eye(len(self.names))
        return self._solved(right)

    @cached_property
    def _now(self) -> Array:
        """Every driven coordinate, its rate and its acceleration; (drives, 3)."""
        return np.array(self._states(self.place.t)).reshape(-1, 3)

    @property
    def rates(self) -> Vector:
        """Rates of all driven coordinates, those of the names last; (drives,)."""
        return self._now[:, 1]

    @cached_property
    def twists(self) -> Vector:
        """Motions of bodies along the trajectories; (k,)."""
        return self._solved(self._below(self.rates))

    @cached_property
    def moving(self) -> FramePlace:
        """The place with the rates of its frames."""
        return replace(self.place, rates=np.asarray(self.place.P @ self.twists))

    @cached_property
    def accelerations(self) -> tuple[Vector, Vector]:
        """Those of bodies (k,), and of their frames (12 bodies,), along the trajectories."""
        at, held = self.moving, self.place.held
        d, rates = (frame_vectors(part) for part in (at.f, at.rates))
        # omega x (omega x d_i), with omega x d_i the rates of directors
        turning = np.zeros_like(d)
        omega = np.cross(d[:, 1:], rates[:, 1:]).sum(axis=1, keepdims=True) / 2
        turning[:, 1:] = np.cross(omega, rates[:, 1:])
        bent = held.slope(at.f, at.rates) @ at.rates + held.G(at.f) @ turning.reshape(-1)
        w = self._solved(np.asarray(self._below(self._now[:, 2]) - bent))
        return w, np.asarray(self.place.P @ w) + turning.reshape(-1)


def null_space(A: Array) -> Array:
    """Return an orthonormal basis of what rows of length one leave; (k, f)."""
    if not A.shape[0]:
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A)
    return np.asarray(Vt[int(np.sum(s > REPEATED * max(1.0, float(s[0])))) :].T)
