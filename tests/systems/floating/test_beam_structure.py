"""Beams in floating frames as port-Hamiltonian systems: structure, derivatives, equations."""

import numpy as np
import pytest
from beam_models import OPTIONS, chain, flying, kinetic, random_soft, random_state, soft
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws

import poinsot as ps
from poinsot.ph.derivatives import jacobian
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.matrices import dense

seeds = st.integers(0, 10**6)


def check(tangent, f, x, tolerance=1e-8, seed=0, step=0.01):
    """Compare a derivative with differences along a direction."""
    a = np.random.default_rng(seed).standard_normal(x.size)
    along = jacobian(lambda s: f(x + s[0] * a), np.zeros(1), step)[:, 0]
    np.testing.assert_allclose(
        dense(tangent) @ a, along, atol=tolerance * (1 + abs(along).max()), rtol=0
    )


@pytest.fixture(scope="module", params=OPTIONS)
def system(request):
    return chain(soft(**OPTIONS[request.param])).compile()


def test_the_system_is_port_hamiltonian_with_every_option(system):
    x = random_state(system, 1)
    J = dense(system.J(x))
    assert abs(J + J.T).max() == 0
    defects = system.defects(x)
    assert defects.holds(1e-6), str(defects)


@laws(3)
@given(seed=seeds, option=st.sampled_from(sorted(OPTIONS)))
def test_random_beams_are_port_hamiltonian_at_any_state(seed, option):
    system = chain(random_soft(seed, **OPTIONS[option])).compile()
    x = random_state(system, seed)
    gradient = dense(system.E(x)).T @ system.z(x)
    # Multipliers have no energy.
    along = jacobian(lambda x: np.atleast_1d(system.H(x)), x, 0.01)[0]
    np.testing.assert_allclose(gradient, along, atol=1e-8 * (1 + abs(along).max()))
    assert abs(dense(system.J(x)) + dense(system.J(x)).T).max() == 0


def test_all_tangents_are_derivatives(system):
    random, x = np.random.default_rng(1), random_state(system, 2)
    z, u = random.standard_normal(system.n), random.standard_normal(system.m)
    a = random.standard_normal(system.n)
    check(system.dz(x), system.z, x)
    check(system.dE(x, a), lambda x: system.E(x) @ a, x)
    check(system.dflow(x, z, u), lambda x: system.flow(x, z, u), x)
    check(system.dflow_dz(x, z), lambda z: system.flow(x, z, u), z)
    check(system.dy(x, z), lambda x: system.y(x, z), x)


def test_the_newton_matrix_of_a_step_is_exact_away_from_its_solution(system):
    random = np.random.default_rng(4)
    x0, u = random_state(system, 5), random.standard_normal(system.m)
    problem = stage_equations(system, ps.SCHEMES["ph-mp"], 0.4, x0, u, 0.05)
    w = problem.guess + 0.2 * random.standard_normal(problem.guess.size)
    assert len(problem.labels) == w.size
    check(problem.evaluate(w).tangent().T, lambda w: problem.evaluate(w).F, w, 1e-7)


@laws(3)
@given(seed=seeds)
def test_the_kinetic_energy_is_that_of_all_points_of_the_beam(seed):
    """By Gauss points on the displacement of the axis [BAPM21, eq. (8)]."""
    beam = random_soft(seed)
    system = flying(beam, seed).compile()
    bodies = system.bodies
    zeta, w, _ = system.parts(random_state(system, seed))
    expected = kinetic(beam)(w, zeta[bodies.rigid.n :])
    assert bodies.kinetic(zeta, w) == pytest.approx(expected, rel=1e-12)


@laws(3)
@given(seed=seeds)
def test_the_equations_are_those_of_hamel_and_lagrange(seed):
    """(R p_t)' = 0, (phi x R p_t + R p_r)' = 0 and p_f' = dT/du - dV/du of a beam in free flight.

    Momenta and dT/du are derivatives of the energy by quadrature, which knows nothing of
    [BAPM21, eqs. (9) to (14)].
    """
    beam = random_soft(seed)
    system = flying(beam, seed).compile()
    bodies, x = system.bodies, random_state(system, seed)
    n, k = bodies.rigid.n, bodies.n
    rate = np.linalg.solve(dense(system.E(x)), system.flow(x, system.z(x), np.zeros(0)))

    energy = kinetic(beam)

    def momenta(w, u):
        return jacobian(lambda w: np.atleast_1d(energy(w, u)), w, 0.1)[0]

    def in_space(s):
        zeta, w = (x + s[0] * rate)[:k], (x + s[0] * rate)[k:]
        R, p = bodies.rigid.rotations(zeta[:n])[0], momenta(w, zeta[n:])
        P = R @ p[:3]
        return np.concatenate([P, np.cross(zeta[:3], P) + R @ p[3:6], p[6:]])

    found = jacobian(in_space, np.zeros(1), 1e-3)[:, 0]
    w, u = x[k:], x[n:k]
    push = jacobian(lambda u: np.atleast_1d(energy(w, u)), u, 0.1)[0]
    elastic = system.mechanism.elastic[0].data.dV(u)
    expected = np.concatenate([np.zeros(6), push - elastic])
    size = 1 + abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=1e-6 * size)


def test_an_undeformed_beam_has_the_matrices_of_a_rigid_body():
    """[BAPM21, rem. 3]: with u_f = 0 the equations are those of a rigid body in body axes."""
    beam = soft()
    system = flying(beam, 3).compile()
    J = beam.flexibility.integrals.J()
    rigid = ps.Model()
    body = system.layout.bodies[0]
    rigid.add_body(body, ps.RigidBody(mass=beam.mass, inertia=np.diagonal(J)))
    other = rigid.compile("rotations")
    bodies, random = system.bodies, np.random.default_rng(0)
    x = system.start.copy()
    x[bodies.n : bodies.n + 6] = random.standard_normal(6)
    w = x[bodies.n : bodies.n + 6]
    M = dense(bodies.mass_matrix(x[: bodies.n]))[:6, :6]
    np.testing.assert_allclose(M, dense(other.M), atol=1e-15)
    G = dense(system.gyration(x))[:6, :6]
    np.testing.assert_allclose(G, dense(other.G(M @ w)), atol=1e-13)
