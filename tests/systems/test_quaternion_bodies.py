"""Bodies and mechanisms of every kind in quaternions: degenerate, skew, looped, large."""

import mechanisms
import numpy as np
import pytest
from numerics import observed_orders
from schemes import QUATERNIONS
from scipy.special import ellipj, ellipk
from test_degenerate_bodies import G, exact_plate, swing
from test_repeated_constraints import four_bar, ladder

import poinsot as ps

SCHEMES = ("eml", "null-eml", "emh", "emh-mean")


def run(model, scheme, h=0.01, t_end=0.1, engine="auto"):
    return ps.simulate(model, scheme=scheme, h=h, t_end=t_end, engine=engine)


@pytest.mark.parametrize("scheme", [*SCHEMES, "reml", "eml-mean"])
def test_a_redundant_four_bar_moves_like_the_one_without_repeats(scheme):
    twice, once = (run(four_bar(last=last), scheme) for last in (ps.Revolute, ps.PointOnLine))
    for name in ("bar0", "bar1", "bar2"):
        np.testing.assert_allclose(twice.rotation(name), once.rotation(name), atol=1e-10)
    assert twice.stats.balance_error_max < 1e-12 * abs(twice.energy).max()
    assert twice.constraint_error.max() < 1e-12
    assert not twice.reaction("J0").complete


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_redundant_four_bar_moves_as_in_directors(scheme):
    """With mean lever arms even to fourth order."""
    steps, found = np.array([0.02, 0.01]), []
    for h in steps:
        here, there = (run(four_bar(), s, h, 0.2).rotation("bar1") for s in (scheme, "ph-mp"))
        found.append(abs(here - there).max())
    order = 4.0 if ps.SCHEMES[scheme].mean_lever_arms else 2.0
    assert observed_orders(steps, found)[0] == pytest.approx(order, abs=0.2), found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_joint_twice_shares_its_load(scheme):
    plan = mechanisms.pair("Universal", 3)
    twice = mechanisms.Plan(bodies=plan.bodies, joints={**plan.joints, "K": plan.joints["J"]})
    a, b = (run(p.model(), scheme) for p in (plan, twice))
    np.testing.assert_allclose(a.position("body1"), b.position("body1"), atol=1e-12)
    np.testing.assert_allclose(b.reaction("K").force, b.reaction("J").force, atol=1e-9)
    total = b.reaction("K").force + b.reaction("J").force
    np.testing.assert_allclose(total, a.reaction("J").force, atol=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_ladder_of_ten_loops_keeps_its_posts_parallel(scheme):
    result = run(ladder(10), scheme, t_end=0.02)
    assert result.constraint_error.max() < 1e-12
    assert result.stats.balance_error_max < 1e-12 * abs(result.energy).max()
    for i in range(1, 11):
        np.testing.assert_allclose(
            result.rotation(f"post{i}"), result.rotation("post0"), atol=1e-10
        )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_flat_plate_spins_by_eulers_equations(scheme):
    """One Euler value is zero; moments of inertia, which quaternions need, are not."""
    R, omega = exact_plate(0.4)
    steps, errors = np.array([0.02, 0.01]), []
    for h in steps:
        model = ps.Model()
        plate = ps.RigidBody(mass=2.0, inertia=(1.0, 2.0, 3.0))
        model.add_body("plate", plate, angular_velocity=(1, 2, 3), velocity=(1, 0, 0))
        result = run(model, scheme, h, 0.4)
        turned, spun = result.rotation("plate")[-1], result.angular_velocity("plate")[-1]
        errors.append([abs(turned - R).max(), abs(spun - omega).max()])
        np.testing.assert_allclose(result.energy, result.energy[0], rtol=1e-12)
    for column in np.transpose(errors):
        assert observed_orders(steps, column)[0] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("scheme", QUATERNIONS)
def test_a_thin_rod_swings_by_elliptic_functions(scheme):
    """sin(angle/2) = k sn(K - w t), k = sin(angle0/2), w^2 = 3 g/(2 l)."""
    k, w = np.sin(1.0), np.sqrt(1.5 * G / 1.2)
    steps, found = np.array([0.02, 0.01]), []
    for h in steps:
        result, angle = swing(scheme, h, 0.4)
        sn = ellipj(ellipk(k**2) - w * result.time, k**2)[0]
        found.append(abs(angle - 2 * np.arcsin(k * sn)).max())
    assert observed_orders(steps, found)[0] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("scheme", ["emh", "emh-mean"])
@pytest.mark.parametrize("h", [0.02, 0.005])
def test_thin_rods_on_balls_move_as_in_directors(scheme, h):
    """Nothing holds their spin, and next to no inertia."""
    model, last = ps.Model(gravity=(0, 0, -G)), None
    across = ps.Rotation.from_axis_angle((0, 1, 0), np.pi / 2)
    for i in range(2):
        rod = model.add_body(
            f"rod{i}",
            ps.ThinRod(mass=1, length=1),
            position=(i + 0.5, 0, 0),
            rotation=across,
            angular_velocity=(0, 0.5, 1 + i),
        )
        model.add_joint(f"ball{i}", ps.Spherical(last or model.ground, rod, point=(i, 0, 0)))
        last = rod
    model.project_velocities()
    here, there = (run(model, s, h, 0.2, "reference") for s in (scheme, "ph-mp"))
    assert abs(here.position("rod1") - there.position("rod1")).max() < 1e-5 + 0.1 * h**2
    assert here.stats.balance_error_max < 1e-11
    assert here.stats.newton_iterations < 8 * here.stats.steps


def tilted(turn):
    """One and the same body, described in axes that are turned by some angle from its own."""
    A = ps.Rotation.from_axis_angle((1, 2, 3), turn).matrix
    inertia = A @ np.diag([1.0, 2.0, 2.5]) @ A.T
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body(
        "body",
        ps.RigidBody(mass=2, inertia=inertia),
        position=(1, 0, 0),
        rotation=A.T,
        angular_velocity=(1, 2, 3),
        velocity=(0, 3, -2),
    )
    model.add_joint("ball", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    load = ps.TorquePort(body, axes="body", value=A @ np.array([1.0, 2.0, 3.0]))
    model.add_port("load", load)
    return A, model


@pytest.mark.parametrize("scheme", SCHEMES)
def test_body_axes_other_than_the_principal_ones_do_not_change_the_motion(scheme):
    (_, plain), (A, turned) = tilted(0.0), tilted(0.7)
    one, other = run(plain, scheme), run(turned, scheme)
    np.testing.assert_allclose(other.position("body"), one.position("body"), atol=1e-12)
    np.testing.assert_allclose(other.rotation("body") @ A, one.rotation("body"), atol=1e-12)
    np.testing.assert_allclose(
        other.angular_velocity("body"), one.angular_velocity("body"), atol=1e-11
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_chain_of_sixty_bodies_is_balanced(scheme):
    """So many that matrices are sparse."""
    model = ps.Model(gravity=(0, 0, -9.81))
    last = model.ground
    for i in range(60):
        bar = ps.Box(mass=1, size=(1, 0.1, 0.1))
        body = model.add_body(f"bar{i}", bar, position=(i + 0.5, 0, 0))
        pair = ps.Spherical if i % 2 else ps.Revolute
        axis = {} if i % 2 else {"axis": (0, 1, 0)}
        model.add_joint(f"J{i}", pair(last, body, point=(i, 0, 0), **axis))
        last = body
    here, there = (run(model, s, 0.01, 0.03, "reference") for s in (scheme, "ph-mp"))
    assert here.stats.balance_error_max < 1e-11 * abs(here.energy).max() + 1e-11
    assert here.constraint_error.max() < 1e-11
    assert abs(here.position("bar59") - there.position("bar59")).max() < 1e-4
    assert abs(here.position("bar0")[-1, 2]) > 1e-3


@pytest.mark.parametrize("scheme", QUATERNIONS)
def test_markers_move_with_their_body(scheme):
    model = mechanisms.pair("Revolute", 3, gravity=True).model()
    body, X = model.bodies["body1"], np.array([0.3, -0.2, 0.5])
    model.add_marker("tip", body, position=body.position + body.R_WB @ X, rotation=body.R_WB)
    result = run(model, scheme)
    tip, b = result.marker("tip"), result.body("body1")
    np.testing.assert_allclose(tip.position, b.position + b.rotation @ X, atol=1e-12)
    np.testing.assert_allclose(tip.rotation, b.rotation, atol=1e-12)
    np.testing.assert_allclose(tip.angular_velocity, b.angular_velocity, atol=1e-11)
    speed = b.velocity + np.cross(b.angular_velocity, b.rotation @ X)
    tolerance = 1e-11 + 2 * result.velocity_constraint_error.max()
    np.testing.assert_allclose(tip.velocity, speed, atol=tolerance)
