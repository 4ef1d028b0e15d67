"""Positions, rotations, momenta, joint coordinates and reactions of a simulated mechanism."""

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.observe import observe
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem
from poinsot.mechanics.forms import GROUND, VectorForm, stack
from poinsot.mechanics.layout import JointPlace
from poinsot.ph.matrices import Vector
from poinsot.result import BodyRecord, JointRecord, Observation

Array = NDArray[np.float64]


def _observe(
    system: DirectorSystem | StabilisedSystem, x: Array, stage_time: Array, stage_x: Array
) -> Observation:
    n, layout, mechanism = system.mechanism.n, system.layout, system.mechanism
    q, v = x[:, :n], x[:, n : 2 * n]
    blocks, rates = q.reshape(-1, n // 12, 4, 3), v.reshape(-1, n // 12, 4, 3)
    bodies, markers = {}, {}
    for k, name in enumerate(layout.bodies):
        directors = np.swapaxes(blocks[:, k, 1:], 1, 2)  # columns
        spin = np.cross(blocks[:, k, 1:], rates[:, k, 1:]).sum(axis=1) / 2
        rotation = directors @ layout.R_BP[k].T
        bodies[name] = BodyRecord(name, blocks[:, k, 0], rotation, rates[:, k, 0], spin)
    for marker in layout.markers:
        body = blocks[:, marker.body]
        weights = np.array([1.0, *marker.X])
        position, velocity = (
            np.einsum("i,tij->tj", weights, b) for b in (body, rates[:, marker.body])
        )
        spin = np.cross(body[:, 1:], rates[:, marker.body, 1:]).sum(axis=1) / 2
        rotation = np.swapaxes(body[:, 1:], 1, 2) @ marker.R_PM
        markers[marker.name] = BodyRecord(marker.name, position, rotation, velocity, spin)
    momenta = (mechanism.mass * v).reshape(-1, n // 3, 3)
    forms = mechanism.constraints
    return Observation(
        bodies=bodies,
        markers=markers,
        joints={
            joint.name: _joint(system, joint, q, stage_time, stage_x) for joint in layout.joints
        },
        linear_momentum=momenta.reshape(-1, n // 12, 4, 3)[:, :, 0].sum(axis=1),
        angular_momentum=np.cross(q.reshape(-1, n // 3, 3), momenta).sum(axis=1),
        constraint_error=np.array([np.max(abs(forms(row))) for row in q]),
        velocity_constraint_error=np.array(
            [np.max(abs(forms.G(row) @ rate)) for row, rate in zip(q, v, strict=True)]
        ),
    )


def _joint(
    system: DirectorSystem | StabilisedSystem,
    joint: JointPlace,
    q: Array,
    stage_time: Array,
    stage_x: Array,
) -> JointRecord:
    coordinates = {}
    for freedom in joint.freedoms:
        forms = stack(freedom.forms, system.mechanism.n // 12)
        values = np.array([freedom.chart.value(forms(row)) for row in q])
        coordinates[freedom.label] = np.unwrap(values) if freedom.rotates else values
    wrenches = [_wrenches(system, joint, row) for row in stage_x]
    return JointRecord(
        name=joint.name,
        time=stage_time,
        coordinates=coordinates,
        force_a=np.array([w[0][0] for w in wrenches]).reshape(-1, 3),
        torque_a=np.array([w[0][1] for w in wrenches]).reshape(-1, 3),
        force=np.array([w[1][0] for w in wrenches]).reshape(-1, 3),
        torque=np.array([w[1][1] for w in wrenches]).reshape(-1, 3),
        complete=joint.complete,
    )


def _wrenches(
    system: DirectorSystem | StabilisedSystem, joint: JointPlace, x: Vector
) -> list[tuple[Vector, Vector]]:
    """Return force and torque of the joint on its first and second body, at the joint's point.

    The generalised force -G^T lambda at the midpoint; its moment about the centre of mass is the
    sum of d_i x f_i.
    """
    n = system.mechanism.n
    q, multipliers = x[:n], x[2 * n :]
    lam = np.zeros(system.mechanism.m)
    lam[joint.rows] = multipliers[joint.rows]
    pull = -np.asarray(system.mechanism.constraints.G(q).T @ lam).reshape(-1, 4, 3)
    blocks = q.reshape(-1, 4, 3)
    sides: list[tuple[int, VectorForm]] = [(joint.a, joint.origin[0]), (joint.b, joint.origin[1])]
    wrenches: list[tuple[Vector, Vector] | None] = []
    for body, at in sides:
        if body == GROUND:
            wrenches.append(None)
            continue
        force = pull[body, 0]
        about_centre = np.cross(blocks[body, 1:], pull[body, 1:]).sum(axis=0)
        wrenches.append((force, about_centre - np.cross(at(q) - blocks[body, 0], force)))
    # The ground feels the opposite of what its partner feels.
    first, second = wrenches
    first = _opposite(second, sides[1][1](q) - sides[0][1](q)) if first is None else first
    second = _opposite(first, sides[0][1](q) - sides[1][1](q)) if second is None else second
    return [first, second]


def _opposite(wrench: tuple[Vector, Vector] | None, lever: Vector) -> tuple[Vector, Vector]:
    assert wrench is not None
    force, torque = wrench
    return -force, -torque - np.cross(lever, force)


@observe.register
def _(system: DirectorSystem, x: Vector, stage_time: Vector, stage_x: Vector) -> Observation:
    return _observe(system, x, stage_time, stage_x)


@observe.register
def _(system: StabilisedSystem, x: Vector, stage_time: Vector, stage_x: Vector) -> Observation:
    return _observe(system, x, stage_time, stage_x)
