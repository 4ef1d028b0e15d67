"""Generalised directions: port matrices against Newton's laws, tangents against differences."""

import numpy as np
import pytest
from numerics import jacobian

from poinsot.frames.charts import Angle, Length
from poinsot.frames.directions import (
    Along,
    BodyForce,
    BodyTorque,
    Charted,
    Generalised,
    Torque,
)
from poinsot.frames.forms import components, direction, dot, half_square, point
from poinsot.frames.stacks import stack
from poinsot.so3 import Rotation

AXES = tuple(map(tuple, Rotation.from_axis_angle((1, 2, -1), 0.7).matrix))
X = (0.3, -0.2, 0.5)


def every_direction():
    a, b = direction(0, (1, 0.2, 0)), direction(1, (0.5, 1, 0))
    span = point(1, X) - point(0, (0.1, 0, 0))
    return {
        "force at a point": Along((0,), stack(components(point(0, X)), 1)),
        "all forces": Generalised((0,)),
        "length": Charted((0, 1), stack([half_square(span)], 2), Length()),
        "angle": Charted((0, 1), stack([dot(a, b), dot(direction(0, (0, 0, 1)), b)], 2), Angle()),
        "torque": Torque((0,)),
        "published torque": Torque((0,), reciprocal=False),
        "force in body axes": BodyForce((0,), X, AXES),
        "torque in body axes": BodyTorque((0,), AXES),
    }


DIRECTIONS = every_direction()


def coordinates(line, seed):
    """Any coordinates, directors not orthonormal, as at a midpoint."""
    random = np.random.default_rng(seed)
    blocks = [
        np.concatenate([random.standard_normal(3), np.eye(3).reshape(-1)]) for _ in line.bodies
    ]
    return np.concatenate(blocks) + 0.2 * random.standard_normal(12 * len(line.bodies))


@pytest.mark.parametrize("name", DIRECTIONS)
def test_tangents_are_derivatives_of_the_port_matrix(name):
    line = DIRECTIONS[name]
    random = np.random.default_rng(1)
    q, v = coordinates(line, 2), random.standard_normal(12 * len(line.bodies))
    u = random.standard_normal(line.B(q).shape[1])
    np.testing.assert_allclose(line.dB(q, u), jacobian(lambda x: line.B(x) @ u, q), atol=1e-9)
    np.testing.assert_allclose(line.dy(q, v), jacobian(lambda x: line.B(x).T @ v, q), atol=1e-9)


def wrench(q, f):
    """Force and moment about the centre of mass of generalised forces on one body."""
    blocks, pulls = q.reshape(4, 3), f.reshape(4, 3)
    return pulls[0], np.cross(blocks[1:], pulls[1:]).sum(axis=0)


def test_a_torque_with_reciprocal_directors_is_put_in_exactly():
    q, tau = coordinates(DIRECTIONS["torque"], 3), np.array([1.0, -2.0, 0.7])
    force, moment = wrench(q, Torque((0,)).B(q) @ tau)
    np.testing.assert_allclose(force, 0, atol=1e-15)
    np.testing.assert_allclose(moment, tau, rtol=1e-13)
    _, published = wrench(q, Torque((0,), reciprocal=False).B(q) @ tau)
    assert np.linalg.norm(published - tau) > 1e-2


def test_the_output_of_a_torque_is_the_angular_velocity():
    q, omega = coordinates(DIRECTIONS["torque"], 4), np.array([0.4, 2.0, -1.0])
    v = np.concatenate([[9.0, 9.0, 9.0], np.cross(omega, q.reshape(4, 3)[1:]).reshape(-1)])
    np.testing.assert_allclose(Torque((0,)).B(q).T @ v, omega, rtol=1e-13)


@pytest.mark.parametrize("axes", [np.eye(3), np.array(AXES)], ids=["principal", "turned"])
def test_loads_in_body_axes_turn_with_the_body(axes):
    """Body axes B sit in the directors P by R_PB = `axes`."""
    random = np.random.default_rng(5)
    R_WP = Rotation.from_axis_angle(random.standard_normal(3), 1.1).matrix
    q = np.concatenate([random.standard_normal(3), R_WP.T.reshape(-1)])
    u, table = random.standard_normal(3), tuple(map(tuple, axes))
    world = R_WP @ axes @ u
    force, moment = wrench(q, BodyForce((0,), X, table).B(q) @ u)
    np.testing.assert_allclose(force, world, rtol=1e-13)
    np.testing.assert_allclose(moment, np.cross(R_WP @ X, world), atol=1e-13)
    force, moment = wrench(q, BodyTorque((0,), table).B(q) @ u)
    np.testing.assert_allclose(force, 0, atol=1e-15)
    np.testing.assert_allclose(moment, world, rtol=1e-13)
