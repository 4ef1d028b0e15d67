"""Every joint of the table: what it lets move stays allowed, and its coordinates say how far."""

import mechanisms
import numpy as np
import pytest
from mechanisms import COORDINATES, KINDS, LOCKED, unit
from numerics import jacobian

import poinsot as ps
from poinsot.ph.matrices import dense

SEEDS = range(3)


def turn(axis, angle, through):
    """A rotation about a line, as (R, shift)."""
    R = ps.Rotation.from_axis_angle(axis, angle).matrix
    return R, through - R @ through


def after(second, first):
    """One motion after another."""
    return second[0] @ first[0], second[0] @ first[1] + second[1]


def slide(vector):
    return np.eye(3), vector


def move(q, motion):
    R, shift = motion
    blocks = q.reshape(4, 3) @ R.T
    blocks[0] += shift
    return blocks.reshape(-1)


def allowed(kind, at, random):
    """A large random motion of the second body that the joint allows, and its coordinates."""
    a, d, b = random.uniform(-1.4, 1.4, 3)
    p, any_turn = at.get("point"), (unit(random), b)
    n = at.get("axis", at.get("normal"))
    n = None if n is None else n / np.linalg.norm(n)
    if kind == "Spherical":
        return turn(*any_turn, p), {}
    if kind == "Universal":
        motion = after(turn(at["axis_a"], a, p), turn(at["axis_b"], b, p))
        return motion, {"angle a": a, "angle b": b}
    if kind == "Revolute":
        return turn(n, a, p), {"angle": a}
    if kind == "Cylindrical":
        return after(slide(d * n), turn(n, a, p)), {"angle": a, "displacement": d}
    if kind == "Prismatic":
        return slide(d * n), {"displacement": d}
    if kind == "Weld":
        return slide(np.zeros(3)), {}
    if kind == "PointOnLine":
        return after(slide(d * n), turn(*any_turn, p)), {"displacement": d}
    if kind == "Rod":
        swing = turn(*any_turn, at["point_a"])
        return after(swing, turn(unit(random), a, at["point_b"])), {}
    if kind == "Cartesian":
        x, y = (at[label] / np.linalg.norm(at[label]) for label in "xy")
        found = zip(mechanisms.COORDINATES[kind], (a, d, b), strict=True)
        return slide(a * x + d * y + b * np.cross(x, y)), dict(found)
    across = np.cross(n, unit(random))
    if kind == "Planar":
        return after(slide(across), turn(n, a, p)), {"angle": a, "in the plane": across}
    return after(slide(across), turn(*any_turn, p)), {"in the plane": across}


def joined(kind, seed):
    plan = mechanisms.pair(kind, seed)
    return plan, plan.model().compile()


def coordinates(system, q):
    (joint,) = system.layout.joints
    frames = dict(enumerate(q.reshape(-1, 4, 3)))
    return {
        f.label: f.chart.value(np.array([form.at(frames) for form in f.forms]))
        for f in joint.joint.freedoms()
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_large_allowed_motions_satisfy_the_joint_and_are_measured(kind, seed):
    plan, system = joined(kind, seed)
    random = np.random.default_rng(100 + seed)
    motion, expected = allowed(kind, plan.joints["J"][1], random)
    common = turn(unit(random), 2.0, random.standard_normal(3))
    q = system.start[:24]
    q = np.concatenate([move(q[:12], common), move(q[12:], after(common, motion))])
    np.testing.assert_allclose(system.mechanism.constraints(q), 0, atol=1e-12)
    measured = coordinates(system, q)
    assert tuple(measured) == COORDINATES[kind]
    if "in the plane" in expected:
        size = np.linalg.norm(expected.pop("in the plane"))
        parts = [measured.pop(f"displacement {i}") for i in (1, 2)]
        assert np.linalg.norm(parts) == pytest.approx(size, abs=1e-12)
    assert measured == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_locks_as_many_directions_as_the_table_says(kind, seed):
    """By the rank of dg/dq among rigid motions, at the start and after a large motion."""
    plan, system = joined(kind, seed)
    random = np.random.default_rng(200 + seed)
    motion, _ = allowed(kind, plan.joints["J"][1], random)
    q0 = system.start[:24]
    for q in (q0, np.concatenate([q0[:12], move(q0[12:], motion)])):
        G = jacobian(system.mechanism.constraints, q)
        assert G.shape[0] - 12 == LOCKED[kind]
        assert np.linalg.matrix_rank(G, tol=1e-8) == 12 + LOCKED[kind]
        np.testing.assert_allclose(dense(system.mechanism.constraints.G(q)), G, atol=1e-9)
    assert plan.model().check().freedoms == 12 - LOCKED[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_with_the_ground_locks_the_same(kind):
    plan = mechanisms.pair(kind, 5, ground=True)
    system = plan.model().compile()
    G = jacobian(system.mechanism.constraints, system.start[:12])
    assert np.linalg.matrix_rank(G, tol=1e-8) == 6 + LOCKED[kind]
    assert plan.model().check().freedoms == 6 - LOCKED[kind]


@pytest.mark.parametrize("kind", ["Spherical", "Universal", "Revolute", "Weld", "Rod"])
def test_the_order_of_the_partners_does_not_matter_for_what_is_locked(kind):
    plan = mechanisms.pair(kind, 6)
    _, arguments = plan.joints["J"]
    swapped = {**arguments, "a": "body1", "b": "body0"}
    for one, other in (("point_a", "point_b"), ("axis_a", "axis_b")):
        if one in arguments:
            swapped[one], swapped[other] = arguments[other], arguments[one]
    both = [
        mechanisms.Plan(bodies=plan.bodies, joints={"J": (kind, p)}) for p in (arguments, swapped)
    ]
    results = [ps.simulate(p.model(), h=0.01, t_end=0.1) for p in both]
    for body in ("body0", "body1"):
        np.testing.assert_allclose(results[0].rotation(body), results[1].rotation(body), atol=1e-11)


def test_the_axes_of_a_stage_are_perpendicular():
    model = ps.Model()
    body = model.add_body("stage", ps.Sphere(mass=1, radius=0.1))
    with pytest.raises(ps.InputError, match="x and y are not perpendicular"):
        ps.Cartesian(model.ground, body, (0, 0, 0), x=(1, 0, 0), y=(1, 1, 0))
