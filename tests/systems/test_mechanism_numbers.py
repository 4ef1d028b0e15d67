"""Energies, dampers and ports of a mechanism: every tangent by differences, dense and sparse."""

import mechanisms
import numpy as np
import pytest
from numerics import directions, jacobian

import poinsot as ps
from poinsot.ph.matrices import SPARSE_FROM, is_sparse

COUNTS = (2, SPARSE_FROM // 12 + 1)  # dense and sparse


def numbers(count):
    plan = mechanisms.full(3, bodies=count, loops=1)
    system = plan.model().compile()
    random = np.random.default_rng(4)
    q = system.start[: 12 * count] + 0.1 * random.standard_normal(12 * count)
    return system.mechanism, q, random


def assert_derivative(matrix, f, x, atol):
    along = directions(x.size)
    np.testing.assert_allclose(matrix @ along, jacobian(f, x, along=along), atol=atol)


@pytest.mark.parametrize("count", COUNTS)
def test_the_gradient_of_the_potential_energy_is_its_derivative(count):
    mechanism, q, _ = numbers(count)
    assert_derivative(mechanism.dV(q), mechanism.V, q, atol=2e-7)
    ddV = mechanism.ddV(q)
    assert is_sparse(ddV) == (count > 2)
    assert_derivative(ddV, mechanism.dV, q, atol=3e-5)


@pytest.mark.parametrize("count", COUNTS)
def test_the_discrete_gradient_of_all_potentials_is_directional(count):
    mechanism, q0, random = numbers(count)
    q1 = q0 + 0.05 * random.standard_normal(q0.size)
    gradient, tangent = mechanism.discrete_dV(q0, q1)
    assert gradient @ (q1 - q0) == pytest.approx(mechanism.V(q1) - mechanism.V(q0), rel=1e-11)
    assert_derivative(tangent, lambda x: mechanism.discrete_dV(q0, x)[0], q1, atol=1e-4)


@pytest.mark.parametrize("count", COUNTS)
def test_damping_never_creates_energy_and_its_tangents_are_derivatives(count):
    mechanism, q, random = numbers(count)
    v = random.standard_normal(q.size)
    assert v @ mechanism.damping(q, v) > 0
    by_q, by_v = mechanism.ddamping(q, v)
    assert_derivative(by_q, lambda x: mechanism.damping(x, v), q, atol=2e-5)
    assert_derivative(by_v, lambda x: mechanism.damping(q, x), v, atol=2e-5)


@pytest.mark.parametrize("count", COUNTS)
def test_tangents_of_the_ports_are_derivatives(count):
    mechanism, q, random = numbers(count)
    v, u = random.standard_normal(q.size), random.standard_normal(mechanism.B(q).shape[1])
    assert_derivative(mechanism.dB(q, u), lambda x: mechanism.B(x) @ u, q, atol=1e-9)
    assert_derivative(mechanism.dy(q, v), lambda x: mechanism.B(x).T @ v, q, atol=1e-9)


@pytest.mark.parametrize("count", COUNTS)
def test_momenta_are_sums_over_bodies(count):
    plan = mechanisms.tree(5, bodies=count, loops=0)
    model = plan.model()
    result = ps.simulate(model, h=1e-3, t_end=1e-3)
    P, L = np.zeros(3), np.zeros(3)
    for name, (v, omega) in model.start_velocities().items():
        body = model.bodies[name]
        P += body.mass * v
        L += np.cross(body.position, body.mass * v) + _inertia(body) @ omega
    np.testing.assert_allclose(result.linear_momentum[0], P, atol=1e-12)
    np.testing.assert_allclose(result.angular_momentum[0], L, atol=1e-12)


def _inertia(body):
    """The inertia in world axes, from the principal values."""
    return body.R_WP @ np.diag(body.principal.inertia) @ body.R_WP.T
