"""Reactions in quaternions: Newton's and Euler's laws for every body, and what joints carry."""

import mechanisms
import numpy as np
import pytest
from in_turn import in_turn
from mechanisms import KINDS
from numerics import observed_orders
from test_reactions import joint_point, loaded, wrench_on

import poinsot as ps

SCHEMES = ("eml", "emh", "emh-mean")


def run(model, scheme, h, steps):
    return ps.simulate(model, scheme=scheme, h=h, t_end=steps * h, engine="reference")


def spin(result, body):
    """Angular momentum about the centre of mass, E(q) p / 2, from the states."""
    (w, *u), p = result[f"{body}.q"][:, 3:].T, result[f"{body}.p"][:, 3:]
    u = np.transpose(u)
    return (w[:, None] * p[:, 1:] - p[:, :1] * u + np.cross(u, p[:, 1:])) / 2


def defects(plan, scheme, h, steps):
    """What is left of the balances of force and moment of any body."""
    result, force, moment = run(plan.model(), scheme, h, steps), 0.0, 0.0
    for body in plan.bodies:
        F, M = wrench_on(result, plan, body)
        mass = plan.bodies[body]["shape"].mass
        change = mass * np.diff(result.velocity(body), axis=0) / h
        force = max(force, abs(change - F).max() / (1 + abs(F).max()))
        turned = np.diff(spin(result, body), axis=0) / h
        moment = max(moment, abs(turned - M).max() / (1 + abs(M).max()))
    return force, moment


@pytest.mark.parametrize("scheme", ["eml-mean", "emh-mean"])
@pytest.mark.parametrize("seed", range(3))
def test_every_body_obeys_newton_and_euler_exactly_with_mean_lever_arms(seed, scheme):
    assert max(defects(loaded(seed), scheme, 0.02, 5)) < 1e-12


@pytest.mark.parametrize("scheme", ["eml", "emh"])
@pytest.mark.parametrize("seed", range(3))
def test_every_body_obeys_newton_and_euler_to_second_order_with_others(seed, scheme):
    """Reactions are shown at the mean directors, and act on those of the mean quaternion."""
    plan, steps = loaded(seed), np.array([0.02, 0.01])
    for found in np.transpose([defects(plan, scheme, h, round(0.1 / h)) for h in steps]):
        assert found[-1] < 1e-10 or observed_orders(steps, found)[0] > 1.5, found


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_action_is_reaction(kind, scheme):
    plan = mechanisms.pair(kind, 21, gravity=True)
    result = run(plan.model(), scheme, 0.01, 4)
    J = result.reaction("J")
    lever = joint_point(result, plan, "J", "b") - joint_point(result, plan, "J", "a")
    scale = max(1.0, abs(J.force).max(), abs(J.torque).max())
    assert max(abs(J.force).max(), abs(J.torque).max()) > 1e-3
    np.testing.assert_allclose(J.force + J.force_a, 0, atol=1e-10 * scale)
    moment = J.torque + J.torque_a + np.cross(lever, J.force)
    np.testing.assert_allclose(moment, 0, atol=1e-3 * scale)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_body_at_rest_is_carried_with_its_weight(scheme):
    model = ps.Model(gravity=(0, 0, -10))
    body = model.add_body("body", ps.Box(mass=3, size=(1, 1, 1)), position=(2, 0, 0))
    model.add_joint("J", ps.Weld(model.ground, body))
    bob = model.add_body("bob", ps.Box(mass=5, size=(1, 1, 1)), position=(0, 0, -2))
    model.add_joint("K", ps.Spherical(model.ground, bob, point=(0, 0, 0)))
    result = run(model, scheme, 0.1, 5)
    np.testing.assert_allclose(result.reaction("J").force, [[0, 0, 30]] * 5, atol=1e-11)
    np.testing.assert_allclose(result.reaction("J").torque, 0, atol=1e-11)
    np.testing.assert_allclose(result.reaction("K").force, [[0, 0, 50]] * 5, atol=1e-11)
    assert result.reaction("J").complete
