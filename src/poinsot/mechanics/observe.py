"""Positions, rotations, momenta, joint coordinates and reactions of a simulated mechanism."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.observe import angles, observe
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem
from poinsot.mechanics.forms import GROUND, WIDTH, Forms, VectorForm, stack
from poinsot.mechanics.layout import JointPlace
from poinsot.ph.matrices import Vector
from poinsot.result import BodyRecord, JointRecord, Observation
from poinsot.so3 import log

Array = NDArray[np.float64]

#: How many states are looked at in one go.
CHUNK = 2000


def _observe(
    system: DirectorSystem | StabilisedSystem,
    x: Array,
    stage_time: Array,
    stage_x: Array,
    turned: Array,
) -> Observation:
    n, layout, mechanism = system.mechanism.n, system.layout, system.mechanism
    q, v = x[:, :n], x[:, n : 2 * n]
    blocks, rates = q.reshape(-1, n // 12, 4, 3), v.reshape(-1, n // 12, 4, 3)
    bodies = {
        name: _frame(name, blocks[:, k], rates[:, k], np.zeros(3), layout.R_BP[k].T)
        for k, name in enumerate(layout.bodies)
    }
    markers = {
        m.name: _frame(m.name, blocks[:, m.body], rates[:, m.body], m.X, m.R_PM)
        for m in layout.markers
    }
    momenta = (mechanism.mass * v).reshape(-1, n // 3, 3)
    forms, columns = mechanism.constraints, iter(turned.T)
    return Observation(
        bodies=bodies,
        markers=markers,
        joints={
            joint.name: _joint(system, joint, q, stage_time, stage_x, columns)
            for joint in layout.joints
        },
        linear_momentum=momenta.reshape(-1, n // 12, 4, 3)[:, :, 0].sum(axis=1),
        angular_momentum=np.cross(q.reshape(-1, n // 3, 3), momenta).sum(axis=1),
        constraint_error=_in_chunks(lambda q_: _worst(forms.values(q_)), q),
        velocity_constraint_error=_in_chunks(lambda q_, v_: _worst(forms.rates(q_, v_)), q, v),
    )


def _frame(name: str, body: Array, rates: Array, X: Array, R: Array) -> BodyRecord:
    """Return a frame of a body over time: a point X and axes R, both in director axes."""
    weights = np.array([1.0, *X])
    position, velocity = (np.einsum("i,tij->tj", weights, b) for b in (body, rates))
    spin = np.cross(body[:, 1:], rates[:, 1:]).sum(axis=1) / 2
    return BodyRecord(name, position, np.swapaxes(body[:, 1:], 1, 2) @ R, velocity, spin)


def _worst(values: Array) -> Array:
    return np.asarray(np.max(abs(values), axis=1, initial=0.0))


def _in_chunks(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function to a few thousand states at a time: memory must not grow with the run."""
    starts = range(0, max(1, arrays[0].shape[0]), CHUNK)
    return np.concatenate([function(*(a[k : k + CHUNK] for a in arrays)) for k in starts])


def _joint(
    system: DirectorSystem | StabilisedSystem,
    joint: JointPlace,
    q: Array,
    stage_time: Array,
    stage_x: Array,
    turned: Iterator[Array],
) -> JointRecord:
    """Return a joint over time; its angles are the next of those `turned`."""
    n = system.mechanism.n
    coordinates = {}
    for freedom in joint.freedoms:
        if freedom.rotates:
            coordinates[freedom.label] = next(turned)
        else:
            values = _in_chunks(stack(freedom.forms, n // 12).values, q)
            coordinates[freedom.label] = np.array([freedom.chart.value(row) for row in values])
    turn_a, turn_b = (_turns(body, q) for body in (joint.a, joint.b))
    stage_q, lam = stage_x[:, :n], stage_x[:, 2 * n + joint.rows]
    forms = Forms(tuple(system.mechanism.constraints.forms[k] for k in joint.rows), n // 12)
    pulls = -_in_chunks(forms.pulls, stage_q, lam)
    first, second = (
        _wrench(body, at, stage_q, pulls)
        for body, at in zip((joint.a, joint.b), joint.origin, strict=True)
    )
    # The ground feels the opposite of what its partner feels.
    lever = joint.origin[1].many(stage_q) - joint.origin[0].many(stage_q)
    if first is None and second is not None:
        first = -second[0], -second[1] - np.cross(lever, second[0])
    if second is None and first is not None:
        second = -first[0], -first[1] + np.cross(lever, first[0])
    assert first is not None
    assert second is not None
    return JointRecord(
        name=joint.name,
        time=stage_time,
        coordinates=coordinates,
        rotation=log(np.swapaxes(turn_a, 1, 2) @ turn_b),
        force_a=first[0],
        torque_a=first[1],
        force=second[0],
        torque=second[1],
        complete=joint.complete,
    )


def _turns(body: int, q: Array) -> Array:
    """Return how a body has turned since the start, R(t) R(0)^T in world axes; (times, 3, 3)."""
    if body == GROUND:
        return np.tile(np.eye(3), (q.shape[0], 1, 1))
    directors = q.reshape(q.shape[0], q.shape[1] // WIDTH, 4, 3)[:, body, 1:]
    return np.asarray(np.swapaxes(directors, 1, 2) @ directors[0])


def _wrench(body: int, at: VectorForm, q: Array, pulls: Array) -> tuple[Array, Array] | None:
    """Return force and torque on a body at a point of it, of generalised forces at midpoints.

    The moment about the centre of mass is the sum of d_i x f_i; None for the ground.
    """
    if body == GROUND:
        return None
    shape = (q.shape[0], q.shape[1] // WIDTH, 4, 3)
    blocks, pull = q.reshape(shape)[:, body], pulls.reshape(shape)[:, body]
    force = pull[:, 0]
    about_centre = np.cross(blocks[:, 1:], pull[:, 1:]).sum(axis=1)
    return force, about_centre - np.cross(at.many(q) - blocks[:, 0], force)


def _angles(system: DirectorSystem | StabilisedSystem, x: Vector) -> Vector:
    cosines_and_sines = system.layout.angle_forms(x[: system.mechanism.n]).reshape(-1, 2)
    return np.arctan2(cosines_and_sines[:, 1], cosines_and_sines[:, 0])


for _kind in (DirectorSystem, StabilisedSystem):
    observe.register(_kind, _observe)
    angles.register(_kind, _angles)
