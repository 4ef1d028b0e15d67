"""Steps of beams in floating frames: every balance exact, order two, the limit of rigid bodies."""

import numpy as np
import pytest
from balance import turnover
from beam_models import OPTIONS, chain, flying, random_soft, soft
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from numerics import observed_orders
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.ph.matrices import dense

seeds = st.integers(0, 10**6)


def run(model, steps=4, h=0.02, **options):
    return ps.simulate(model, h=h, t_end=steps * h, **{"engine": "reference"} | options)


@laws(3)
@given(seed=seeds, option=st.sampled_from(sorted(set(OPTIONS) - {"undeformed"})))
def test_a_beam_in_free_flight_keeps_energy_and_both_momenta(seed, option):
    result = run(flying(random_soft(seed, **OPTIONS[option]), seed))
    balance = result.energy + result.dissipated
    assert abs(result.observation.energies["elastic"]).max() > 0
    for values in (result.linear_momentum, result.angular_momentum, balance[:, None]):
        size = 1 + np.linalg.norm(values[0])
        np.testing.assert_allclose(values - values[0], 0, atol=1e-12 * size)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_energy_balance_is_exact_and_every_joint_closed(option):
    inputs = {"push": lambda t: np.array([3 * t, 20.0, 5]), "twist": (0.2, 0.1, 0.3)}
    result = run(chain(soft(**OPTIONS[option])), inputs=inputs)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    assert np.diff(result.dissipated).min() > 0
    assert result.constraint_error.max() < 1e-12
    assert abs(result["beam.u"]).max() > 1e-3


def rate(system):
    """Return x' with the multipliers that keep K w = 0, for solvers of others."""
    bodies = system.bodies
    n, k = bodies.n, bodies.k

    def rates(t, y):
        x = np.concatenate([y, np.zeros(bodies.m)])
        zeta, w = y[:n], y[n:]
        force = system.flow(x, system.z(x), system.u(t))[n : n + k]
        M, K = dense(bodies.mass_matrix(zeta)), dense(bodies.K(zeta))
        moved = np.asarray(bodies.Z(zeta) @ w)
        saddle = np.block([[M, K.T], [K, np.zeros((bodies.m, bodies.m))]])
        right = np.append(force, -dense(bodies.slope(zeta, w)) @ moved)
        return np.append(moved, np.linalg.solve(saddle, right)[:k])

    return rates


@pytest.mark.parametrize("option", ["deformed", "undeformed", "stiffened"])
def test_positions_converge_with_order_two_to_what_scipy_makes_of_the_equations(option):
    model = chain(soft(1, youngs_modulus=2e6, **OPTIONS[option]))
    model.ports.clear()
    system, end = model.compile(), 0.03
    split = system.bodies.n + system.bodies.k
    outside = solve_ivp(
        rate(system), (0, end), system.start[:split], method="DOP853", rtol=1e-8, atol=1e-10
    )
    n, exact, errors = system.bodies.n, outside.y[:, -1], []
    for steps in (8, 16):
        result = run(model, steps, end / steps, engine="auto")
        last = np.concatenate([result[state.name][-1].reshape(-1) for state in system.states])
        errors.append(abs(last - np.append(exact, last[split:]))[:n].max())
    (order,) = observed_orders([1 / 8, 1 / 16], errors)
    assert order == pytest.approx(2.0, abs=0.15), errors


@pytest.mark.parametrize("option", ["deformed", "undeformed", "stiffened", "end masses"])
def test_every_coordinate_and_velocity_converges_with_order_two(option):
    """Each by itself: twist, of little inertia, must not hide behind bending."""
    model = chain(soft(1, youngs_modulus=2e6, **OPTIONS[option]))
    model.ports.clear()
    system, end, found = model.compile(), 0.03, []
    size = system.bodies.n + system.bodies.k
    for steps in (16, 32, 64):
        result = run(model, steps, end / steps, engine="auto")
        last = [result[state.name][-1].reshape(-1) for state in system.states]
        found.append(np.concatenate(last)[:size])
    coarse, fine = abs(np.diff(found, axis=0))
    seen = fine > 1e-10
    assert np.count_nonzero(seen) > size / 2
    np.testing.assert_allclose(np.log2(coarse[seen] / fine[seen]), 2.0, atol=0.1)


def test_a_stiff_beam_moves_like_a_rigid_body():
    """The tip of a pendulum comes nearer to that of a rigid bar by the factor of E."""
    away = []
    beam = soft(1, planar=True)
    rigid = ps.Model(gravity=(0, -9.81, 0))
    shape = ps.RigidBody(mass=beam.mass, inertia=np.diagonal(beam.flexibility.integrals.J()))
    bar = rigid.add_body("beam", shape, position=(0.6, 0, 0), angular_velocity=(0, 0, 2))
    rigid.add_joint("A", ps.Revolute(rigid.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    there = run(rigid, 10, coordinates="rotations").position("beam")[-1]
    for E in (1e9, 1e11):
        model = ps.Model(gravity=(0, -9.81, 0))
        beam = soft(1, planar=True, youngs_modulus=E)
        body = model.add_body("beam", beam, position=(0.6, 0, 0), angular_velocity=(0, 0, 2))
        model.add_joint("A", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
        away.append(np.linalg.norm(run(model, 10).position("beam")[-1] - there))
    assert away[0] > 1e-8
    assert away[1] < 0.03 * away[0]
