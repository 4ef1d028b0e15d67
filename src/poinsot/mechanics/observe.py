"""Positions, rotations, momenta, joint coordinates and reactions of a simulated mechanism."""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.history import History
from poinsot.integrate.observe import Looks, angles, lazily, observe
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem
from poinsot.mechanics.forms import GROUND, WIDTH, stack
from poinsot.mechanics.joints import Freedom
from poinsot.mechanics.layout import JointPlace, Layout
from poinsot.mechanics.mechanism import Mechanism
from poinsot.ph.matrices import Vector
from poinsot.result import BodyRecord, Counts, JointRecord, Lazy, Observation
from poinsot.so3 import log

Array = NDArray[np.float64]


def _observe(system: DirectorSystem | StabilisedSystem, history: History) -> Observation:
    return look_at(system.layout, system.mechanism, history)


def look_at(layout: Layout, mechanism: Mechanism, history: History) -> Observation:
    """Return what there is to see of a mechanism whose history is in directors."""
    places = {name: k for k, name in enumerate(layout.bodies)}
    markers = {marker.name: marker for marker in layout.markers}
    joints = {joint.name: joint for joint in layout.joints}
    # Where the angles of each joint are among those that were followed.
    rotating = accumulate((len(_rotating(joint)) for joint in layout.joints), initial=0)
    first = dict(zip(joints, rotating, strict=False))

    def body(name: str) -> BodyRecord:
        k = places[name]
        return _frame(name, history, mechanism.n, k, np.zeros(3), layout.R_BP[k].T)

    def marker(name: str) -> BodyRecord:
        at = markers[name]
        return _frame(name, history, mechanism.n, at.body, at.X, at.R_PM)

    def joint(name: str) -> JointRecord:
        return _joint(mechanism, joints[name], history, first[name])

    return Observation(
        bodies=Lazy(places, body),
        markers=Lazy(markers, marker),
        joints=Lazy(joints, joint),
        whole=lazily(_whole(mechanism), history, _slips(mechanism)),
        energies=lazily(_energies(mechanism), history),
        scene=layout.scene,
        counts=_counts(layout, mechanism),
    )


def _counts(layout: Layout, mechanism: Mechanism) -> Counts:
    constraints = sum(joint.rows.size + joint.slips.size for joint in layout.joints)
    repeated = mechanism.repeated
    return Counts(
        bodies=len(layout.bodies),
        joints=len(layout.joints),
        constraints=constraints,
        repeated=repeated,
        freedoms=6 * len(layout.bodies) - constraints + repeated,
    )


def _rotating(joint: JointPlace) -> list[Freedom]:
    return [freedom for freedom in joint.freedoms if freedom.rotates]


# -- the whole mechanism ---------------------------------------------------------------------------


def _whole(mechanism: Mechanism) -> Looks:
    """Return momenta and violations of constraints."""
    n, forms = mechanism.n, mechanism.constraints

    def linear_momentum(v: Array) -> Array:
        return np.asarray((mechanism.mass * v).reshape(-1, n // WIDTH, 4, 3)[:, :, 0].sum(axis=1))

    def angular_momentum(x: Array) -> Array:
        q, p = (part.reshape(-1, n // 3, 3) for part in (x[:, :n], mechanism.mass * x[:, n:]))
        return np.asarray(np.cross(q, p).sum(axis=1))

    def rates(x: Array) -> Array:
        q, v = x[:, :n], x[:, n:]
        return worst(np.hstack([forms.rates(q, v), mechanism.slip_rates(q, v)]))

    return {
        "linear_momentum": (linear_momentum, slice(n, 2 * n)),
        "angular_momentum": (angular_momentum, slice(0, 2 * n)),
        "constraint_error": (lambda q: worst(forms.values(q)), slice(0, n)),
        "velocity_constraint_error": (rates, slice(0, 2 * n)),
    }


def _slips(mechanism: Mechanism) -> Looks:
    """Return how fast contacts slip in the middle of steps, where they must not."""
    n = mechanism.n

    def slips(x: Array) -> Array:
        return worst(mechanism.slip_rates(x[:, :n], x[:, n:]))

    if not mechanism.rolls:
        return {}
    return {"velocity_constraint_error_mid": (slips, slice(0, 2 * n))}


def _energies(mechanism: Mechanism) -> Looks:
    """Return the kinds of energy [J]."""
    n = mechanism.n

    def kinetic(v: Array) -> Array:
        return np.asarray(v**2 @ mechanism.mass / 2)

    return {"kinetic": (kinetic, slice(n, 2 * n)), **potential_energies(mechanism)}


def potential_energies(mechanism: Mechanism) -> Looks:
    """Return the kinds of potential energy [J]."""
    n = mechanism.n

    def gravity(q: Array) -> Array:
        return np.asarray(q @ mechanism.weight)

    def stored(q: Array) -> Array:
        return np.array([mechanism.stored(row) for row in q])

    looks = {"gravity": (gravity, slice(0, n))}
    if mechanism.potentials:
        looks["springs and fields"] = stored, slice(0, n)
    return looks


def worst(values: Array) -> Array:
    """Return the largest absolute value of each row."""
    return np.asarray(np.max(abs(values), axis=1, initial=0.0))


# -- bodies and markers ----------------------------------------------------------------------------


def _coordinates(bodies: tuple[int, ...]) -> NDArray[np.intp]:
    """Return where the coordinates of a few bodies are in q."""
    return (WIDTH * np.array(bodies, dtype=np.intp)[:, None] + np.arange(WIDTH)).reshape(-1)


def _frame(name: str, history: History, n: int, body: int, X: Array, R: Array) -> BodyRecord:
    """Return a frame of a body over time: a point X and axes R, both in director axes."""
    weights, columns = np.array([1.0, *X]), _coordinates((body,))

    def look(x: Array) -> tuple[Array, ...]:
        q, v = (x[:, part].reshape(-1, 4, 3) for part in (slice(WIDTH), slice(WIDTH, None)))
        position, velocity = (np.einsum("i,tij->tj", weights, b) for b in (q, v))
        spin = np.cross(q[:, 1:], v[:, 1:]).sum(axis=1) / 2
        return position, np.swapaxes(q[:, 1:], 1, 2) @ R, velocity, spin

    return BodyRecord(name, *history.over_times(look, np.concatenate([columns, n + columns])))


# -- joints ----------------------------------------------------------------------------------------


def _joint(
    mechanism: Mechanism, joint: JointPlace, history: History, first_angle: int
) -> JointRecord:
    """Return a joint over time, from the coordinates of its own bodies."""
    bodies = tuple(body for body in (joint.a, joint.b) if body != GROUND)
    labels = [free.label for free in _rotating(joint)]
    turned = dict(zip(labels, history.at_times("turned").T[first_angle:], strict=False))
    force_a, torque_a, force, torque = _reactions(mechanism, joint, bodies, history)
    return JointRecord(
        name=joint.name,
        time=history.at_midpoints("stage_time"),
        coordinates={
            free.label: turned[free.label] if free.rotates else _displacement(free, bodies, history)
            for free in joint.freedoms
        },
        rotation=_rotation(joint, bodies, history),
        force_a=force_a,
        torque_a=torque_a,
        force=force,
        torque=torque,
        complete=joint.complete,
    )


def _displacement(freedom: Freedom, bodies: tuple[int, ...], history: History) -> Array:
    """Return a displacement of a joint over time: the value of its one form."""
    forms = stack([form.among(bodies) for form in freedom.forms], len(bodies))
    return history.over_times(lambda q: (forms.values(q)[:, 0],), _coordinates(bodies))[0]


def _rotation(joint: JointPlace, bodies: tuple[int, ...], history: History) -> Array:
    """Return how the second body has turned relative to the first, as a rotation vector."""
    columns = _coordinates(bodies)
    start = history.start[columns]

    def turn(body: int, q: Array) -> Array:
        """Return R(t) R(0)^T in world axes; (times, 3, 3)."""
        if body == GROUND:
            return np.eye(3)[None]
        k = bodies.index(body)
        directors, at_start = (c.reshape(-1, len(bodies), 4, 3)[:, k, 1:] for c in (q, start))
        return np.asarray(np.swapaxes(directors, 1, 2) @ at_start)

    def look(q: Array) -> tuple[Array, ...]:
        return (log(np.swapaxes(turn(joint.a, q), 1, 2) @ turn(joint.b, q)),)

    return history.over_times(look, columns)[0]


def _reactions(
    mechanism: Mechanism, joint: JointPlace, bodies: tuple[int, ...], history: History
) -> tuple[Array, ...]:
    """Return force and torque on the first body, then on the second, at the midpoints."""
    forms = mechanism.constraints.take(joint.rows).among(bodies)
    at_a, at_b = (origin.among(bodies) for origin in joint.origin)
    columns = _coordinates(bodies)
    split = columns.size + joint.rows.size

    def look(x: Array) -> tuple[Array, ...]:
        q, lam, mu = x[:, : columns.size], x[:, columns.size : split], x[:, split:]
        shape = (-1, len(bodies), 4, 3)
        blocks, pulls = q.reshape(shape), -forms.pulls(q, lam).reshape(shape)
        r_a, r_b = at_a.many(q), at_b.many(q)
        # The ground feels the opposite of what its partner feels.
        if joint.a == GROUND:
            force, torque = _wrench(blocks[:, 0], pulls[:, 0], r_b)
            if joint.contact is not None:
                pull, turn = joint.contact.pulls(q, mu)
                force -= pull
                torque -= turn - np.cross(r_b - blocks[:, 0, 0], pull)
            return -force, -torque - np.cross(r_b - r_a, force), force, torque
        force, torque = _wrench(blocks[:, 0], pulls[:, 0], r_a)
        if joint.b == GROUND:
            return force, torque, -force, -torque + np.cross(r_b - r_a, force)
        return force, torque, *_wrench(blocks[:, 1], pulls[:, 1], r_b)

    multipliers = 2 * mechanism.n + np.concatenate([joint.rows, joint.slips])
    return history.over_midpoints(look, np.concatenate([columns, multipliers]))


def _wrench(block: Array, pull: Array, at: Array) -> tuple[Array, Array]:
    """Return force and torque on a body at a point of it, of generalised forces at midpoints.

    The moment about the centre of mass is the sum of d_i x f_i. All (times, 4, 3) and (times, 3).
    """
    force = pull[:, 0].copy()
    about_centre = np.cross(block[:, 1:], pull[:, 1:]).sum(axis=1)
    return force, about_centre - np.cross(at - block[:, 0], force)


def _angles(system: DirectorSystem | StabilisedSystem, x: Vector) -> Vector:
    return joint_angles(system.layout, x[: system.mechanism.n])


def joint_angles(layout: Layout, q: Vector) -> Vector:
    """Return the angles of all joints in (-pi, pi], q in directors."""
    cosines_and_sines = layout.angle_forms(q).reshape(-1, 2)
    return np.arctan2(cosines_and_sines[:, 1], cosines_and_sines[:, 0])


for _kind in (DirectorSystem, StabilisedSystem):
    observe.register(_kind, _observe)
    angles.register(_kind, _angles)
