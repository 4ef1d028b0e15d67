"""Mechanisms with beams [BAPM21, sec. 6] by SciPy's Radau, on the same equations.

It gets the system's own E, J, z and B, with constraints on velocities differentiated once and
multipliers eliminated: what is left to differ is integration in time.
"""

import numpy as np
import pytest
from numerics import observed_orders
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.gallery import flexible_crank_slider as crank_slider
from poinsot.gallery import hinged_beam
from poinsot.ph.matrices import dense


def by_radau(model, inputs, t_end, tiny):
    """Return coordinates and velocities at the end; times `tiny` apart tell derivatives of G."""
    system = model.compile()
    n, k, start = system.bodies.n, system.bodies.k, system.start
    still, B = np.zeros(start.size - n - k), dense(system.B(start))

    def J(y):
        return dense(system.J(np.concatenate([y, still])))

    def rates(t, y):
        x = np.concatenate([y, still])
        own = J(y)
        push = own @ system.z(x) + B @ inputs(t)
        M, G = dense(system.E(x))[n : n + k, n : n + k], own[n + k :, n : n + k]
        # 0 = G w + B u: with constant B u, G w' = -G' w.
        step = np.concatenate([tiny * push[:n], np.zeros(k)])
        change = (J(y + step) - J(y - step))[n + k :, n : n + k] @ y[n:] / (2 * tiny)
        whole = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
        found = np.linalg.solve(whole, np.concatenate([push[n : n + k], -change]))
        return np.concatenate([push[:n], found[:k]])

    found = solve_ivp(
        rates, (0, t_end), start[: n + k], method="Radau", rtol=1e-6, atol=1e-7, first_step=tiny
    )
    assert found.success
    return found.y[:, -1]


def assert_second_order(model, exact, t_end, steps, near):
    """Our steps come nearer to the state of the other solver, with order two."""
    size, errors = abs(exact).max(), []
    for n in steps:
        result = ps.simulate(model, h=t_end / n, t_end=t_end, save_every=n)
        motion = np.concatenate([state.values[-1] for state in result.states.values()])
        errors.append(abs(motion[: exact.size] - exact).max() / size)
    assert errors[-1] < near
    (order,) = observed_orders([1 / n for n in steps], errors)
    assert order == pytest.approx(2.0, abs=0.1), errors


@pytest.mark.parametrize("stiffening", [False, True])
def test_the_crank_slider_moves_as_radau_says(stiffening):
    model, t_end = crank_slider.model(elements=1, stiffening=stiffening), 2e-4
    exact = by_radau(model, lambda t: [crank_slider.SPEED], t_end, 1e-7)
    assert_second_order(model, exact, t_end, (10, 20), 1e-4)


def test_the_hinged_beam_moves_as_radau_says():
    model, t_end = hinged_beam.model(elements=1), 0.1
    torque = hinged_beam.TORQUE / 0.2
    exact = by_radau(model, lambda t: [0, 0, torque * t, 0, 0, 0], t_end, 1e-5)
    assert_second_order(model, exact, t_end, (40, 80), 1e-5)
