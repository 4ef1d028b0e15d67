"""All bodies and joints of a simulated mechanism at once, for runs that are written as they go.

The same quantities as in `observe`, which shows one body or joint at a time; here a block of steps
of a thousand bodies takes a few operations on large arrays.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.integrate.history import History
from poinsot.integrate.observe import observe, surveyor
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem
from poinsot.mechanics.forms import GROUND, WIDTH, VectorForm, Vectors, flat, stack
from poinsot.mechanics.layout import Layout
from poinsot.mechanics.mechanism import Mechanism
from poinsot.result import JointRecord, Lazy, Observation
from poinsot.so3 import log

Array = NDArray[np.float64]

#: What a joint does to its first body, and to its second.
SIDES = ("force_a", "torque_a", "force", "torque")
#: The ground as a body: at the origin, its directors along the axes of the world.
AT_REST = np.vstack([np.zeros(3), np.eye(3)])


class Survey:
    """Looks at all bodies, markers and joints of a mechanism whose history is in directors."""

    def __init__(self, layout: Layout, mechanism: Mechanism) -> None:
        self.layout = layout
        joints, markers = layout.joints, layout.markers
        self.n, self.bodies = mechanism.n, len(layout.bodies)
        self.axes = np.swapaxes(layout.R_BP, 1, 2)
        self.marked = np.array([marker.body for marker in markers], dtype=np.intp)
        self.marks = np.array([(1.0, *marker.X) for marker in markers]).reshape(-1, 4)
        self.marker_axes = np.array([marker.R_PM for marker in markers]).reshape(-1, 3, 3)
        self.pairs = np.array([(joint.a, joint.b) for joint in joints], dtype=np.intp).reshape(
            -1, 2
        )
        self.points = [
            _vectors([joint.origin[side] for joint in joints], self.n) for side in (0, 1)
        ]
        freedoms = [freedom for joint in joints for freedom in joint.freedoms]
        self.rotates = np.array([freedom.rotates for freedom in freedoms], dtype=bool)
        lengths = [freedom.forms[0] for freedom in freedoms if not freedom.rotates]
        self.displacements = stack(lengths, self.bodies)
        self.rows = np.concatenate([np.zeros(0, np.intp), *(joint.rows for joint in joints)])
        self.slips = np.concatenate([np.zeros(0, np.intp), *(joint.slips for joint in joints)])
        self._entries(mechanism)

    def _entries(self, mechanism: Mechanism) -> None:
        """Prepare G^T lam for each joint by itself, on its two bodies."""
        forms, size = mechanism.constraints.take(self.rows), 2 * WIDTH * len(self.pairs)
        joint = np.repeat(np.arange(len(self.pairs)), [at.rows.size for at in self.layout.joints])

        def place(row: NDArray[np.intp], i: NDArray[np.intp]) -> NDArray[np.intp]:
            """Return where coordinates of the two bodies are among those of all joints."""
            k = joint[row]
            return np.asarray((2 * k + (i // WIDTH == self.pairs[k, 1])) * WIDTH + i % WIDTH)

        self.of_row, i, self.of_q, values = forms.A
        where = np.arange(i.size), place(self.of_row, i)
        self.collect = sp.csr_array((values, where), shape=(i.size, size))
        row, i, values = forms.b
        self.constant = sp.csr_array((values, (row, place(row, i))), shape=(forms.m, size))

    def complete(self, seen: Observation, history: History) -> Observation:
        """Return what was seen; the records of joints are views of what all of them show."""
        together, joints = self._together(history), self.layout.joints
        places = {joint.name: k for k, joint in enumerate(joints)}
        ends = [0, *accumulate(len(joint.freedoms) for joint in joints)]

        def joint(name: str) -> JointRecord:
            k = places[name]
            labels = [freedom.label for freedom in joints[k].freedoms]
            coordinates = together["joint_coordinate"][:, ends[k] : ends[k + 1]]
            return JointRecord(
                name=name,
                time=history.at_midpoints("stage_time"),
                coordinates=dict(zip(labels, coordinates.T, strict=True)),
                rotation=together["joint_rotation"][:, k],
                complete=joints[k].complete,
                **{side: together[f"reaction_{side}"][:, k] for side in SIDES},
            )

        return replace(seen, joints=Lazy(places, joint), together=together)

    def _together(self, history: History) -> dict[str, Array]:
        """Return the variables of bodies, markers and joints, by their names in a file."""
        names = [
            *("position", "rotation", "velocity", "angular_velocity"),
            *("marker_position", "marker_rotation", "marker_velocity", "marker_angular_velocity"),
            *("joint_rotation", "displacement"),
        ]
        start = self._with_ground(history.start[None, : self.n])
        looks = history.over_times(lambda x: self._at_times(x, start), slice(0, 2 * self.n))
        found = dict(zip(names, looks, strict=True))
        coordinates = np.empty((history.times, self.rotates.size))
        coordinates[:, self.rotates] = history.at_times("turned")
        coordinates[:, ~self.rotates] = found.pop("displacement")
        multipliers = 2 * self.n + np.concatenate([self.rows, self.slips])
        columns = np.concatenate([np.arange(self.n), multipliers])
        reactions = history.over_midpoints(self._reactions, columns)
        return {
            **found,
            "joint_coordinate": coordinates,
            **{f"reaction_{name}": a for name, a in zip(SIDES, reactions, strict=True)},
        }

    def _with_ground(self, q: Array) -> Array:
        """Return the blocks of all bodies, and of the ground last; (times, bodies + 1, 4, 3)."""
        blocks = np.empty((q.shape[0], self.bodies + 1, 4, 3))
        blocks[:, :-1], blocks[:, GROUND] = q.reshape(len(q), self.bodies, 4, 3), AT_REST
        return blocks

    def _at_times(self, x: Array, start: Array) -> tuple[Array, ...]:
        q = self._with_ground(x[:, : self.n])
        v = x[:, self.n :].reshape(-1, self.bodies, 4, 3)
        bodies, directors = q[:, :-1], q[:, :-1, 1:]
        spin = _moment(directors, v[:, :, 1:]) / 2
        turned = np.swapaxes(q[:, :, 1:], 2, 3) @ start[:, :, 1:]
        a, b = self.pairs.T
        points = (np.einsum("mi,tmij->tmj", self.marks, block[:, self.marked]) for block in (q, v))
        position, velocity = points
        return (
            bodies[:, :, 0].copy(),
            np.swapaxes(directors, 2, 3) @ self.axes,
            v[:, :, 0].copy(),
            spin,
            position,
            np.swapaxes(directors[:, self.marked], 2, 3) @ self.marker_axes,
            velocity,
            spin[:, self.marked],
            log(np.swapaxes(turned[:, a], 2, 3) @ turned[:, b]),
            self.displacements.values(x[:, : self.n]),
        )

    def _reactions(self, x: Array) -> tuple[Array, ...]:
        """Return force and torque on the first bodies, then on the second; (times, joints, 3)."""
        q, (lam, mu) = x[:, : self.n], np.split(x[:, self.n :], [self.rows.size], axis=1)
        products = lam[:, self.of_row] * q[:, self.of_q]
        shape = (len(x), len(self.pairs), 2, 4, 3)
        pulls = -np.asarray(products @ self.collect + lam @ self.constant).reshape(shape)
        blocks = self._with_ground(q)[:, self.pairs]
        r = np.stack([np.asarray(q @ W).reshape(*shape[:2], 3) + c for W, c in self.points], axis=2)
        force = pulls[:, :, :, 0]
        torque = _moment(blocks[:, :, :, 1:], pulls[:, :, :, 1:])
        for at, pull, turn in self._contacts(q, mu):
            force[:, at, 1] -= pull
            torque[:, at, 1] -= turn
        torque -= np.cross(r - blocks[:, :, :, 0], force)
        # The ground feels the opposite of what its partner feels.
        for side in (0, 1):
            k = np.flatnonzero(self.pairs[:, side] == GROUND)
            partner = force[:, k, 1 - side]
            arm = r[:, k, 1 - side] - r[:, k, side]
            force[:, k, side] = -partner
            torque[:, k, side] = -torque[:, k, 1 - side] - np.cross(arm, partner)
        return force[:, :, 0], torque[:, :, 0], force[:, :, 1], torque[:, :, 1]

    def _contacts(self, q: Array, mu: Array) -> Iterator[tuple[int, Array, Array]]:
        """Return number, force and torque about the centre of mass of each contact."""
        first = 0
        for k, joint in enumerate(self.layout.joints):
            if joint.contact is not None:
                own = q[:, WIDTH * joint.b : WIDTH * (joint.b + 1)]
                yield k, *joint.contact.pulls(own, mu[:, first : first + joint.slips.size])
                first += joint.slips.size


def _moment(d: Array, f: Array) -> Array:
    """Return the sum of d_i x f_i over i: what is skew in the sum of products; (..., 3)."""
    M = np.swapaxes(d, -1, -2) @ f
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.stack([M[..., i, j] - M[..., j, i] for i, j in pairs], axis=-1)


def _vectors(forms: list[VectorForm], n: int) -> tuple[sp.csr_array, Array]:
    """Return many world vectors as q @ W + c, with W (n, 3 vectors) and c (vectors, 3)."""
    vectors, x = Vectors.of(np.array([flat(form) for form in forms]).reshape(-1, 13)), np.arange(3)
    first, column, weight = vectors.entries
    number = np.repeat(np.arange(len(forms)), np.diff(first))
    where = (column[:, None] + x).reshape(-1), (3 * number[:, None] + x).reshape(-1)
    W = sp.csr_array((np.repeat(weight, 3), where), shape=(n, 3 * len(forms)))
    return W, vectors.constants


def _surveyor(
    system: DirectorSystem | StabilisedSystem,
) -> Callable[[History], Observation]:
    survey = Survey(system.layout, system.mechanism)
    return lambda history: survey.complete(observe(system, history), history)


for _kind in (DirectorSystem, StabilisedSystem):
    surveyor.register(_kind, _surveyor)
