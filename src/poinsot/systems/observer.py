"""Positions, rotations, momenta, joint coordinates and reactions of a simulated mechanism.

Everything is computed of many states, and of some bodies or joints or of all of them: one at a time
for those who ask, all at once for files.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.rigid import RIGIDITY
from poinsot.frames.forms import GROUND, Form, VectorForm
from poinsot.frames.places import AT_REST
from poinsot.frames.stacks import Forms, affine_vectors, stack
from poinsot.ph.matrices import each_times
from poinsot.ph.stages import EPS
from poinsot.result import BodyRecord, Counts, JointRecord, Lazy, Observation, StressRecord
from poinsot.result.history import History
from poinsot.result.observer import Look, Observer, Poses, Rows, lazily
from poinsot.result.records import Coordinates
from poinsot.so3 import log
from poinsot.systems import sizes as natural
from poinsot.systems.layout import JointPlace, Layout
from poinsot.systems.views import Indices, View

Array = NDArray[np.float64]
AnyForm = TypeVar("AnyForm", Form, Forms, VectorForm)
_NONE = np.zeros(0, dtype=np.intp)

#: What is seen of a frame, and of a joint: on its first body, and on its second.
MOTION = ("position", "rotation", "velocity", "angular_velocity")
REACTIONS = ("force_a", "torque_a", "force", "torque")


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames at places of bodies: points X (k, 3) and axes R (k, 3, 3), both in director axes."""

    names: Sequence[str]
    bodies: Indices
    X: Array
    R: Array

    def only(self, k: int) -> "Frames":
        """Return one of them."""
        return Frames([self.names[k]], self.bodies[[k]], self.X[[k]], self.R[[k]])

    def look(self, q: Array, v: Array) -> tuple[Array, ...]:
        """Return `MOTION` of directors q and rates v of the bodies; (states, k, ...)."""
        d, weights = q[:, :, 1:], np.hstack([np.ones((len(self.X), 1)), self.X])
        position, velocity = (np.einsum("ki,tkij->tkj", weights, block) for block in (q, v))
        return position, np.swapaxes(d, 2, 3) @ self.R, velocity, _moment(d, v[:, :, 1:]) / 2


class Joints:
    """Some joints, prepared to be looked at.

    Parameters
    ----------
    joints : sequence of JointPlace
        Which ones.
    bodies : array
        Those that they join, or all of them, in order.
    angles : array
        Where their angles are among those that were followed over turns.
    view : View
        Reads states.
    """

    def __init__(
        self, joints: Sequence[JointPlace], bodies: Indices, angles: Indices, view: View
    ) -> None:
        self.joints, self.bodies, self.angles, self.view = joints, bodies, angles, view
        known, every = tuple(bodies.tolist()), bodies.size == view.bodies.size
        parts = [place.joint for place in joints]
        ends = np.array([[end.index for end in joint.bodies] for joint in parts], dtype=np.intp)
        # Bodies are counted among those of these joints from here on; the ground comes last.
        self.pairs = np.where(ends == GROUND, GROUND, np.searchsorted(bodies, ends)).reshape(-1, 2)

        def own(form: AnyForm) -> AnyForm:
            return form if every else form.among(known)

        origins = ([own(joint.origin[side]) for joint in parts] for side in (0, 1))
        self.points = [affine_vectors(vectors, bodies.size) for vectors in origins]
        free = [joint.freedoms() for joint in parts]
        freedoms = [freedom for each in free for freedom in each]
        self.labels = [freedom.label for freedom in freedoms]
        self.rotates = np.array([freedom.rotates for freedom in freedoms], dtype=bool)
        self.first = [0, *accumulate(map(len, free))]
        lengths = [own(freedom.forms[0]) for freedom in freedoms if not freedom.rotates]
        self.displacements = stack(lengths, bodies.size)
        turns = [own(form) for freedom in freedoms if freedom.rotates for form in freedom.forms]
        self.turns = stack(turns, bodies.size)
        # G^T lam of each joint by itself, on its two bodies.
        mechanism = view.mechanism
        rows = np.concatenate([_NONE, *(joint.rows for joint in joints)])
        owner = np.repeat(np.arange(len(joints)), [joint.rows.size for joint in joints])
        forms = own(mechanism.constraints.take(mechanism.rigid + rows))

        def places(row: Indices, body: Indices) -> Indices:
            return np.asarray(2 * owner[row] + (body == self.pairs[owner[row], 1]))

        self.pullers = forms.pullers(places, 2 * len(joints))
        slips = np.concatenate([_NONE, *(joint.slips for joint in joints)])
        self.multipliers, self.rows = view.joints + np.concatenate([rows, slips]), rows.size

    def start(self, history: History) -> Array:
        """Return the directors in which the run began; (1, bodies + 1, 4, 3)."""
        x = history.start[None, self.view.columns(self.bodies)]
        return _with_ground(self.view.directors(x, self.bodies))

    def look(self, q: Array, v: Array, start: Array) -> tuple[Array, ...]:
        """Return turns since the start, displacements, and rates, of directors and their rates."""
        turned = np.swapaxes(_with_ground(q)[:, :, 1:], 2, 3) @ start[:, :, 1:]
        a, b = self.pairs.T
        rotation = log(np.swapaxes(turned[:, a], 2, 3) @ turned[:, b])
        f = flat(q)
        return rotation, self.displacements.values(f), self.rates(f, flat(v))

    def rates(self, f: Array, v: Array) -> Array:
        """Return the rates of all coordinates of frames f and their rates v; (states, ...)."""
        found = np.empty((len(f), self.rotates.size))
        found[:, ~self.rotates] = self.displacements.rates(f, v)
        cosine, sine = self._pairs(self.turns.values(f))
        dcosine, dsine = self._pairs(self.turns.rates(f, v))
        found[:, self.rotates] = (cosine * dsine - sine * dcosine) / (cosine**2 + sine**2)
        return found

    @staticmethod
    def _pairs(values: Array) -> tuple[Array, Array]:
        """Return cosines and sines of all angles; a block of a run may have no saved steps."""
        return values[:, 0::2], values[:, 1::2]

    def within(self, f: Array) -> Array:
        """Return the angles of frames f, within half a turn [rad]; (states, angles)."""
        cosine, sine = self._pairs(self.turns.values(f))
        return np.arctan2(sine, cosine)

    def seen(
        self, history: History, rotation: Array, displacements: Array, rates: Array
    ) -> dict[str, Array]:
        """Return all that they show, by the names in a file; turns and displacements are known.

        Angles among the coordinates, of all joints in order, are those that were followed;
        `REACTIONS` at midpoints have the shape (steps, joints, 3).
        """
        coordinates = np.empty((len(displacements), self.rotates.size))
        coordinates[:, self.rotates] = history.at_times("turned")[:, self.angles]
        coordinates[:, ~self.rotates] = displacements
        motion = self.view.columns(self.bodies)

        def look(means: Array, ends: Array, h: Array) -> tuple[Array, ...]:
            moving, lam = means[:, : motion.size], means[:, motion.size :]
            q, _ = self.view.over_steps(moving, ends[:, : motion.size], h, self.bodies)
            return self._reactions(q, lam[:, : self.rows], lam[:, self.rows :])

        reactions = history.over_steps(look, np.concatenate([motion, self.multipliers]))
        named = zip((f"reaction_{side}" for side in REACTIONS), reactions, strict=True)
        moving = {"joint_coordinate": coordinates, "joint_rate": rates}
        return {"joint_rotation": rotation, **moving, **dict(named)}

    def _reactions(self, blocks: Array, lam: Array, mu: Array) -> tuple[Array, ...]:
        states, q = len(blocks), flat(blocks)
        row, place, A, b = self.pullers
        shape = (states, len(self.pairs), 2, 4, 3)
        pulls = -np.asarray((lam[:, row] * q[:, place]) @ A + lam @ b).reshape(shape)
        ends = _with_ground(blocks)[:, self.pairs]
        r = np.stack([np.asarray(q @ W).reshape(*shape[:2], 3) + c for W, c in self.points], axis=2)
        force = pulls[:, :, :, 0]
        # The moment about the centre of mass is the sum of d_i x f_i.
        torque = _moment(ends[:, :, :, 1:], pulls[:, :, :, 1:])
        first = 0
        for k, joint in enumerate(self.joints):
            if joint.contact is not None:
                own, last = flat(ends[:, k, 1]), first + joint.slips.size
                pull, turn = joint.contact.pulls(own, mu[:, first:last])
                force[:, k, 1] -= pull
                torque[:, k, 1] -= turn
                first = last
        torque -= np.cross(r - ends[:, :, :, 0], force)
        # The ground feels the opposite of what its partner feels.
        for side in (0, 1):
            at = np.flatnonzero(self.pairs[:, side] == GROUND)
            partner = force[:, at, 1 - side]
            arm = r[:, at, 1 - side] - r[:, at, side]
            force[:, at, side] = -partner
            torque[:, at, side] = -torque[:, at, 1 - side] - np.cross(arm, partner)
        return force[:, :, 0], torque[:, :, 0], force[:, :, 1], torque[:, :, 1]

    def reaction(self, blocks: Array, lam: Array, side: str) -> Array:
        """Return one of the `REACTIONS` of the first joint, of frames and multipliers of states."""
        found = self._reactions(blocks, lam[:, : self.rows], lam[:, self.rows :])
        return np.asarray(found[REACTIONS.index(side)][:, 0])

    def record(self, k: int, history: History, seen: Mapping[str, Array]) -> JointRecord:
        """Return one of them, of what all show."""
        joint, own = self.joints[k], slice(self.first[k], self.first[k + 1])

        def by_name(variable: str) -> Coordinates:
            values = zip(self.labels[own], seen[variable][:, own].T, strict=True)
            return Coordinates(joint.name, dict(values))

        return JointRecord(
            name=joint.name,
            time=history.at_times("time"),
            midpoint=history.at_midpoints("stage_time"),
            coordinates=by_name("joint_coordinate"),
            rates=by_name("joint_rate"),
            rotation=seen["joint_rotation"][:, k],
            complete=joint.complete,
            **{side: seen[f"reaction_{side}"][:, k] for side in REACTIONS},
        )


@dataclass(frozen=True, eq=False)
class MechanismObserver(Observer):
    """What there is to see of a mechanism in any coordinates.

    Its velocities satisfy constraints in the middle of steps or, `stabilised`, at their ends.
    """

    layout: Layout
    view: View
    stabilised: bool = False

    def of_general_steps(self) -> Observer:
        """Return what looks at steps that act at the midpoints of states."""
        return replace(self, view=replace(self.view, general=True))

    @cached_property
    def _bodies(self) -> Frames:
        axes = np.swapaxes(self.layout.R_BP, 1, 2)
        return Frames(self.layout.bodies, self.view.bodies, np.zeros((len(axes), 3)), axes)

    @cached_property
    def _markers(self) -> Frames:
        markers = self.layout.markers
        return Frames(
            [marker.name for marker in markers],
            np.array([marker.body.index for marker in markers], dtype=np.intp),
            np.array([marker.X for marker in markers]).reshape(-1, 3),
            np.array([marker.R_PM for marker in markers]).reshape(-1, 3, 3),
        )

    @property
    def frames(self) -> tuple[Frames, Frames]:
        """Those of bodies and of markers."""
        return self._bodies, self._markers

    @cached_property
    def _angles(self) -> list[int]:
        """Where the angles of each joint begin among those that were followed."""
        free = (place.joint.freedoms() for place in self.layout.joints)
        return [0, *accumulate(sum(freedom.rotates for freedom in each) for each in free)]

    def _joints(self, first: int, last: int, bodies: Indices) -> Joints:
        """Return joints from number `first` to before `last`, which join these bodies."""
        followed = np.arange(self._angles[first], self._angles[last])
        return Joints(self.layout.joints[first:last], bodies, followed, self.view)

    def joint(self, name: str) -> Joints:
        """Return one joint."""
        k = [place.name for place in self.layout.joints].index(name)
        ends = {end.index for end in self.layout.joints[k].joint.bodies}
        return self._joints(k, k + 1, np.array(sorted(ends - {GROUND}), dtype=np.intp))

    @cached_property
    def _all_joints(self) -> Joints:
        return self._joints(0, len(self.layout.joints), self.view.bodies)

    def poses(self, x: Array) -> Poses:
        """Return where all bodies are in states (k, n)."""
        frames, view = self._bodies, self.view
        x = x[:, view.columns(frames.bodies)]
        seen = frames.look(view.directors(x, frames.bodies), view.rates(x, frames.bodies))
        return Poses(*seen[:2])

    # -- one at a time ------------------------------------------------------------------------

    def observe(self, history: History) -> Observation:
        """Return what there is to see, computed when it is asked for."""
        joints = {joint.name: k for k, joint in enumerate(self.layout.joints)}
        return Observation(
            bodies=self._records(self._bodies, history),
            markers=self._records(self._markers, history),
            joints=Lazy(joints, lambda name: self._joint(joints[name], history)),
            stresses=self._stresses(history),
            whole=lazily(self._whole(), history, self._in_the_middle(history)),
            energies=lazily(self._energies(), history, self._stored(history)),
            scene=self.layout.scene,
            counts=self._counts(),
        )

    def _records(self, frames: Frames, history: History) -> Lazy[BodyRecord]:
        view, places = self.view, {name: k for k, name in enumerate(frames.names)}

        def record(name: str) -> BodyRecord:
            one = frames.only(places[name])
            seen = history.over_times(
                lambda x: one.look(view.directors(x, one.bodies), view.rates(x, one.bodies)),
                view.columns(one.bodies),
            )
            return BodyRecord(name, *(array[:, 0] for array in seen))

        return Lazy(places, record)

    def _joint(self, k: int, history: History) -> JointRecord:
        joint, view = self.layout.joints[k].joint, self.view
        bodies = sorted({end.index for end in joint.bodies} - {GROUND})
        one = self._joints(k, k + 1, np.array(bodies, dtype=np.intp))
        start = one.start(history)
        moved = history.over_times(
            lambda x: one.look(view.directors(x, one.bodies), view.rates(x, one.bodies), start),
            view.columns(one.bodies),
        )
        return one.record(0, history, one.seen(history, *moved))

    def _stresses(self, history: History) -> Lazy[StressRecord]:
        view, known = self.view, {slender.name: slender for slender in self.layout.slender}

        def record(name: str) -> StressRecord:
            one = known[name]
            (values,) = history.over_times(
                lambda x: (one.resultants(x, view),), view.columns(one.bodies)
            )
            return StressRecord(name, one.place, values)

        return Lazy(known, record)

    # -- all at once --------------------------------------------------------------------------

    def survey(self, history: History) -> Observation:
        """Return the same, with all bodies, markers and joints computed now."""
        together, joints = self._together(history), self._all_joints
        places = {joint.name: k for k, joint in enumerate(self.layout.joints)}
        records = Lazy(places, lambda name: joints.record(places[name], history, together))
        return replace(self.observe(history), joints=records, together=together)

    def _together(self, history: History) -> dict[str, Array]:
        """Return the variables of bodies, markers and joints, by their names in a file."""
        view, bodies, markers, joints = self.view, self._bodies, self._markers, self._all_joints
        start = joints.start(history)

        def look(x: Array) -> tuple[Array, ...]:
            q, v = view.directors(x, bodies.bodies), view.rates(x, bodies.bodies)
            on = markers.bodies
            on_bodies, on_markers = bodies.look(q, v), markers.look(q[:, on], v[:, on])
            return *on_bodies, *on_markers, *joints.look(q, v, start)

        names = [*MOTION, *(f"marker_{name}" for name in MOTION)]
        *seen, rotation, moved, rates = history.over_times(look, view.columns(bodies.bodies))
        return dict(zip(names, seen, strict=True)) | joints.seen(history, rotation, moved, rates)

    # -- the whole mechanism ------------------------------------------------------------------

    def _directors(self, x: Array) -> Array:
        """Return the coordinates in directors; (states, 12 bodies)."""
        return flat(self.view.directors(x, self.view.bodies))

    @property
    def _motion(self) -> slice:
        """Where the motion of all bodies is in x."""
        return slice(0, self.view.motion)

    def _over_all(self, **looks: Callable[[Array], Array]) -> dict[str, Look]:
        """Return looks at the motion of all bodies."""
        return {name: (look, self._motion) for name, look in looks.items()}

    def _whole(self) -> dict[str, Look]:
        """Return momenta and violations of constraints."""
        view, mechanism = self.view, self.view.mechanism

        def linear_momentum(x: Array) -> Array:
            return np.asarray(view.momenta(x)[0].sum(axis=1))

        def angular_momentum(x: Array) -> Array:
            (p, L), phi = view.momenta(x), view.directors(x, view.bodies)[:, :, 0]
            return np.asarray((np.cross(phi, p) + L).sum(axis=1))

        def gaps(x: Array) -> Array:
            joints = mechanism.constraints.values(self._directors(x))
            return _worst(np.hstack([view.own_errors(x)[0], joints]))

        def rates(x: Array) -> Array:
            v = flat(view.rates(x, view.bodies))
            own = view.own_errors(x)[1]
            return _worst(np.hstack([own, mechanism.rates(self._directors(x), v)]))

        return self._over_all(
            linear_momentum=linear_momentum,
            angular_momentum=angular_momentum,
            constraint_error=gaps,
            velocity_constraint_error=rates,
        )

    def _in_the_middle(self, history: History) -> dict[str, Callable[[], Array]]:
        """Return how well constraints on velocities hold in the middle of steps."""

        def look(means: Array, ends: Array, h: Array) -> tuple[Array, ...]:
            return (_worst(self._rates_mid(means, ends, h)),)

        def error() -> Array:
            return history.over_steps(look, self.view.columns(self.view.bodies))[0]

        return {} if self.stabilised else {"velocity_constraint_error_mid": error}

    def _rates_mid(self, means: Array, ends: Array, h: Array) -> Array:
        """Return rows of G v in the middle of steps."""
        view = self.view
        q, v = map(flat, view.over_steps(means, ends, h, view.bodies))
        return view.mechanism.rates(q, v)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is odd about the numbers of the model."""
        return self.layout.remarks

    @property
    def undetermined(self) -> list[str]:
        """Joints of loops with redundant constraints."""
        return [joint.name for joint in self.layout.joints if not joint.complete]

    def _names(self) -> tuple[list[str], list[str]]:
        """Return what rows of g belong to, and rows of G v."""
        layout, mechanism = self.layout, self.view.mechanism
        turning = layout.among(self.view.parts[0].turns) if mechanism.rigid else []
        rigid = [f"body '{name}'" for name in turning for _ in range(RIGIDITY)]
        joints = [f"joint '{joint.name}'" for joint in layout.joints for _ in joint.rows]
        slips = [f"joint '{joint.name}'" for joint in layout.joints for _ in joint.slips]
        return rigid + joints, rigid + joints + slips

    def constraints(self, ends: Array, means: Array, h: Array) -> dict[str, Rows]:
        """Return rows of g, and of G v at ends and midpoints; weights act like reactions."""
        view, mechanism, held = self.view, self.view.mechanism, self.view.mechanism.constraints.m
        q, v = self._directors(ends), flat(view.rates(ends, view.bodies))
        sizes, rate = natural.sizes(mechanism, q), natural.pace(mechanism, q, v)[:, None]
        speeds, noisy = rate * sizes, (rate + 1 / h[:, None]) * sizes
        turned, _ = view.own_errors(ends)
        own = [f"body '{name}'" for name in self.layout.bodies][: turned.shape[1]]
        held_by, rows = self._names()
        gaps = np.hstack([turned, mechanism.constraints.values(q)])
        places = np.hstack([np.ones_like(turned), sizes[:, :held]])
        joints = slice(mechanism.rigid, held)
        lam = ends[:, view.joints :][:, : held - mechanism.rigid]
        extent = mechanism.extent(q)
        weight = np.linalg.norm(mechanism.weight, axis=1).sum() * extent
        # Positions are rounded, and so bodies at rest move by a part eps of the extent in a step.
        rest = EPS * mechanism.masses.sum() * (extent / h) ** 2
        energy = np.sum(abs(lam) * sizes[:, joints], axis=1) + weight + rest
        found = {
            "constraint_error": Rows(gaps, places, places, own + held_by, energy),
            "velocity_constraint_error": Rows(mechanism.rates(q, v), speeds, noisy, rows),
        }
        if not self.stabilised:
            middle = Rows(self._rates_mid(means, ends, h), speeds, noisy, rows)
            found["velocity_constraint_error_mid"] = middle
        return found

    def _energies(self) -> dict[str, Look]:
        """Return the kinds of energy [J]."""
        mechanism = self.view.mechanism

        def gravity(x: Array) -> Array:
            own = each_times(self._directors(x), mechanism.gravity)
            return np.asarray(own + self.view.lowered(x))

        return self._over_all(kinetic=self.view.kinetic, gravity=gravity, **self.view.stores)

    def _stored(self, history: History) -> dict[str, Callable[[], Array]]:
        """Return the energy of springs and fields [J], of angles counted over turns."""
        mechanism, counted = self.view.mechanism, self.layout.counted

        def look(x: Array, turned: Array) -> tuple[Array, ...]:
            states = zip(self._directors(x), map(counted, turned), strict=True)
            return (np.array([mechanism.stored(q, angles) for q, angles in states]),)

        def stored() -> Array:
            return history.over_times_and_angles(look, self._motion)[0]

        return {"springs and fields": stored} if mechanism.potentials else {}

    def _counts(self) -> Counts:
        layout, mechanism = self.layout, self.view.mechanism
        constraints = sum(joint.rows.size + joint.slips.size for joint in layout.joints)
        repeated = mechanism.repeated
        return Counts(
            bodies=len(layout.bodies),
            joints=len(layout.joints),
            constraints=constraints,
            repeated=repeated,
            freedoms=self.view.freedoms - constraints + repeated - len(layout.drives),
        )


def _worst(values: Array) -> Array:
    """Return the largest absolute value of each row."""
    return np.asarray(np.max(abs(values), axis=1, initial=0.0))


def _with_ground(q: Array) -> Array:
    """Return the blocks of bodies, and of the ground last; (states, bodies + 1, 4, 3)."""
    return np.concatenate([q, np.broadcast_to(AT_REST.reshape(4, 3), (len(q), 1, 4, 3))], axis=1)


def _moment(d: Array, f: Array) -> Array:
    """Return the sum of d_i x f_i over i: what is skew in the sum of products; (..., 3)."""
    M = np.swapaxes(d, -1, -2) @ f
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.stack([M[..., i, j] - M[..., j, i] for i, j in pairs], axis=-1)


def flat(blocks: Array) -> Array:
    """Return all numbers of each state in a row; (states, numbers)."""
    return blocks.reshape(len(blocks), math.prod(blocks.shape[1:]))
