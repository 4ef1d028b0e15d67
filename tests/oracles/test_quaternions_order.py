"""Order of convergence in quaternions for every joint, against Newton-Euler equations."""

from functools import cache

import numpy as np
import pytest
from in_turn import in_turn
from mechanisms import COORDINATES, FORCED, KINDS
from numerics import observed_orders
from test_mechanisms_order import loaded

import poinsot as ps

SCHEMES = ("eml", "emh", "emh-mean")
END = 0.16
STEPS = (16, 32)
TIMES = np.linspace(0, END, 9)


@cache
def run(kind, scheme, steps):
    model = loaded(kind)[1]
    return ps.simulate(model, scheme=scheme, h=END / steps, t_end=END, engine="compiled")


def exact(kind):
    """The oracle's states at common times."""
    _, _, _, times, states = loaded(kind)
    return states[[int(np.argmin(abs(times - t))) for t in TIMES]]


def order_of(found):
    (order,) = observed_orders([END / steps for steps in STEPS], found)
    return order


def errors(kind, scheme):
    """Largest errors of positions with rotations, velocities, and angular velocities."""
    plan, right, found = loaded(kind)[0], exact(kind), []
    for steps in STEPS:
        result, every, worst = run(kind, scheme, steps), slice(None, None, steps // 8), []
        for i, name in enumerate(plan.bodies):
            body = result.body(name)
            q = np.hstack([body.position, body.rotation.reshape(-1, 9)])[every]
            v, omega = body.velocity[every], body.angular_velocity[every]
            pairs = ((q, right[:, i, :12]), (v, right[:, i, 12:15]), (omega, right[:, i, 15:]))
            worst.append([abs(a - b).max() for a, b in pairs])
        found.append(np.max(worst, axis=0))
    return np.array(found)


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_motion_in_quaternions_converges_with_order_two(kind, scheme):
    found = errors(kind, scheme)
    assert found[0].min() > 1e-7  # well above what the reference itself is worth
    for column in found.T:
        assert order_of(column) == pytest.approx(2.0, abs=0.1), found


@pytest.mark.parametrize(("kind", "scheme"), in_turn(FORCED, SCHEMES))
def test_means_of_reactions_of_two_steps_converge_with_order_two(kind, scheme):
    reference, right = loaded(kind)[2], exact(kind)
    force = np.array([reference.reaction(TIMES[k], right[k]) for k in range(1, 8)])
    found = []
    for steps in STEPS:
        F, every = run(kind, scheme, steps).reaction("J").force, steps // 8
        means = (F[every - 1 : -1 : every] + F[every::every]) / 2
        found.append(abs(means - force).max())
    assert order_of(found) == pytest.approx(2.0, abs=0.1), found


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", ["Spherical", "Universal", "PointOnPlane"])
def test_reactions_of_single_steps_alternate_by_a_term_of_order_one(kind, scheme):
    """As with PH-MP: velocities leave the constraints by a term of order two, to and fro."""
    found = [
        abs(np.diff(run(kind, scheme, steps).reaction("J").force, 2, axis=0)).max()
        for steps in STEPS
    ]
    assert order_of(found) == pytest.approx(1.0, abs=0.2), found


@pytest.mark.parametrize(
    ("kind", "scheme"), in_turn([kind for kind in KINDS if COORDINATES[kind]], SCHEMES)
)
def test_coordinates_of_joints_converge_to_those_in_directors(kind, scheme):
    for name in COORDINATES[kind]:
        found = []
        for steps in STEPS:
            here, there = run(kind, scheme, steps), run(kind, "ph-mp", steps)
            a, b = (result.joint("J").coordinates[name] for result in (here, there))
            found.append(abs(a - b).max())
        assert found[0] > 1e-9
        assert abs(a).max() > 1e-2
        assert order_of(found) == pytest.approx(2.0, abs=0.1), (name, found)
