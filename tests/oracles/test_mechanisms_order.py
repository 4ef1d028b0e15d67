"""Order of convergence for every joint, against Newton-Euler equations solved independently."""

from dataclasses import replace
from functools import cache

import mechanisms
import numpy as np
import pytest
from in_turn import in_turn
from mechanisms import FORCED, KINDS, SCHEMES
from mechanisms_newton_euler import Reference
from numerics import observed_orders
from schemes import COMPOSED

import poinsot as ps

END = 0.32
STEPS = np.array([32, 64])
MIDPOINTS = (np.arange(16) + 0.5) * END / 16


@cache
def loaded(kind, damping=0.6):
    """Two bodies on a joint, under gravity, a spring-damper to the ground, and loads."""
    plan = mechanisms.pair(kind, 7, gravity=True, speed=1.5)
    loads = mechanisms.ports(plan, 8).ports
    loads = {name: port for name, port in loads.items() if "motor" not in name}
    end = plan.bodies["body0"]["position"] + np.array([0.2, 0.1, 0.3])
    spring = {
        "a": "ground",
        "b": "body0",
        "point_a": end + np.array([0.5, 1.0, 0.7]),
        "point_b": end,
        "stiffness": 15.0,
        "damping": damping,
    }
    plan = replace(plan, ports=loads, forces={"spring": ("Spring", spring)})
    model = plan.model()
    reference = Reference(plan, model)
    times = np.union1d(np.linspace(0, END, 17), MIDPOINTS)
    return plan, model, reference, times, reference.solve(times)


def errors(kind, scheme):
    """Largest errors of q and v over common times."""
    plan, model, _, times, exact = loaded(kind)
    exact = exact[np.isin(times, np.linspace(0, END, 17))]
    found = []
    for steps in STEPS:
        result = ps.simulate(model, scheme=scheme, h=END / steps, t_end=END)
        every = slice(None, None, steps // 16)
        worst = np.zeros(2)
        for i, name in enumerate(plan.bodies):
            body = result.body(name)
            q = np.hstack([body.position, body.rotation.reshape(-1, 9)])[every]
            v = np.hstack([body.velocity, body.angular_velocity])[every]
            worst = np.maximum(
                worst, [abs(q - exact[:, i, :12]).max(), abs(v - exact[:, i, 12:]).max()]
            )
        found.append(worst)
    return np.array(found)


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_positions_and_velocities_converge_with_order_two(kind, scheme):
    found = errors(kind, scheme)
    assert found[0].min() > 1e-7  # well above what the reference itself is worth
    for column in found.T:
        order = observed_orders(STEPS, column)[-1]
        assert -order == pytest.approx(2.0, abs=0.1), found


def reaction_errors(kind, scheme):
    """Largest errors of the joint's force at midpoints, for steps that share them: h, h/3, h/9."""
    _, model, reference, times, exact = loaded(kind)
    at = np.flatnonzero(np.isin(times, MIDPOINTS))
    force = np.array([reference.reaction(times[k], exact[k]) for k in at])
    found = []
    for steps in (16, 48, 144):
        result = ps.simulate(model, scheme=scheme, h=END / steps, t_end=END)
        middle = slice((steps // 16 - 1) // 2, None, steps // 16)
        found.append(abs(result.reaction("J").force[middle] - force).max())
    return np.array(found)


@pytest.mark.parametrize("kind", FORCED)
def test_reactions_converge_with_order_one(kind):
    """PH-MP leaves velocities off the constraints by an error of order h^2 that changes its sign
    with every step; the multipliers carry its difference over h, which is of order one.
    """
    found = reaction_errors(kind, "ph-mp")
    assert -observed_orders([16, 48, 144], found)[-1] == pytest.approx(1.0, abs=0.2), found


@pytest.mark.parametrize("kind", FORCED)
def test_stabilised_reactions_converge_with_order_two(kind):
    """With velocities on the constraints there is nothing that alternates."""
    found = reaction_errors(kind, "ph-mp-ggl")
    assert -observed_orders([16, 48, 144], found)[-1] == pytest.approx(2.0, abs=0.1), found


def end_errors(kind, scheme, coordinates, steps):
    """Errors of q and v at the end, without damping: not every substep of a composition has any."""
    plan, model, _, _, exact = loaded(kind, damping=0.0)
    found = []
    for count in steps:
        result = ps.simulate(
            model, scheme=scheme, coordinates=coordinates, h=END / count, t_end=END
        )
        ends = [[], []]
        for i, name in enumerate(plan.bodies):
            body = result.body(name)
            q = np.append(body.position[-1], body.rotation[-1])
            ends[0].append(abs(q - exact[-1, i, :12]).max())
            v = np.append(body.velocity[-1], body.angular_velocity[-1])
            ends[1].append(abs(v - exact[-1, i, 12:]).max())
        found.append([max(errors) for errors in ends])
    return np.array(found)


IN_BODY_AXES = [("ph-mp-4", "rotations"), ("ph-mp-6", "rotations-quaternion")]


@pytest.mark.parametrize(
    ("kind", "method"), in_turn(KINDS, [*((s, None) for s in COMPOSED), *IN_BODY_AXES], times=2)
)
def test_compositions_have_their_order_in_positions_and_velocities(kind, method):
    order = ps.SCHEMES[method[0]].order
    steps = (4, 8, 16) if order == 6 else (8, 16, 32)
    found = end_errors(kind, *method, steps)
    for errors in found.T:
        finest = np.flatnonzero(errors > 1e-9)[-1]  # well above what the reference itself is worth
        observed = -observed_orders(steps, errors)[max(finest, 1) - 1]
        assert observed == pytest.approx(order, abs=0.6 if order == 6 else 0.1), found
