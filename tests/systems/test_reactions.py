"""Reactions: Newton's and Euler's laws for every body, step by step; actio = reactio; no work."""

import mechanisms
import numpy as np
import pytest
from in_turn import in_turn
from mechanisms import KINDS, SCHEMES
from numerics import observed_orders

import poinsot as ps

H = 0.01


def loaded(seed, kinds=KINDS, **options):
    """A mechanism with loads in world axes: what acts on a body is known without the package."""
    plan = mechanisms.tree(seed, bodies=3, kinds=kinds, **options)
    ports = mechanisms.ports(plan, seed).ports
    ports = {name: port for name, port in ports.items() if "world" in name}
    return mechanisms.Plan(plan.gravity, plan.bodies, plan.joints, ports=ports)


def point_path(result, plan, body, world):
    """A material point over time, given where it is at the start."""
    position, rotation = result.position(body), result.rotation(body)
    X = rotation[0].T @ (world - position[0])
    return position + rotation @ X


def mid(path):
    return (path[1:] + path[:-1]) / 2


def joint_point(result, plan, name, side):
    """Where a joint's reaction on one side is given, at the midpoints."""
    kind, at = plan.joints[name]
    body = at[side]
    key = "point" if "point" in at else f"point_{side}"
    world = plan.bodies[at["b"]]["position"] if kind == "Weld" else at[key]
    if body == "ground":
        return np.broadcast_to(world, (result.time.size - 1, 3))
    return mid(point_path(result, plan, body, world))


def wrench_on(result, plan, body):
    """Force, and moment about the centre of mass, of everything that acts on a body."""
    mass = plan.bodies[body]["shape"].mass
    centre = mid(result.position(body))
    force = np.tile(mass * plan.gravity, (centre.shape[0], 1))
    moment = np.zeros_like(force)
    for name, (_, at) in plan.joints.items():
        reaction = result.reaction(name)
        for side, F, T in (
            ("a", reaction.force_a, reaction.torque_a),
            ("b", reaction.force, reaction.torque),
        ):
            if at[side] == body:
                force += F
                moment += T + np.cross(joint_point(result, plan, name, side) - centre, F)
    for name, (kind, at) in plan.ports.items():
        if at["body"] == body:
            u = result.port(name).u
            if kind == "TorquePort":
                moment += u
            else:
                force += u
                moment += np.cross(mid(point_path(result, plan, body, at["point"])) - centre, u)
    return force, moment


def spin(model, result, body):
    """Angular momentum about the centre of mass, from the states."""
    E = np.array(model.bodies[body].inertia)[1:, None]
    q, v = (result[f"{body}.{s}"].reshape(-1, 4, 3)[:, 1:] for s in "qv")
    return np.cross(q, E * v).sum(axis=1)


def newton_euler_defects(plan, scheme, h=H, steps=12):
    model = plan.model()
    result = ps.simulate(model, scheme=scheme, h=h, t_end=steps * h)
    worst = 0.0
    for body, arguments in plan.bodies.items():
        force, moment = wrench_on(result, plan, body)
        change = arguments["shape"].mass * np.diff(result.velocity(body), axis=0) / h
        turned = np.diff(spin(model, result, body), axis=0) / h
        scale = max(1.0, abs(force).max(), abs(moment).max())
        worst = max(worst, abs(change - force).max() / scale, abs(turned - moment).max() / scale)
    return worst


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ground", [True, False], ids=["on the ground", "free"])
def test_every_body_obeys_newton_and_euler_in_every_step(seed, ground):
    """m (v1 - v0)/h and the change of spin are what the reactions and loads amount to."""
    assert newton_euler_defects(loaded(seed, ground=ground), "ph-mp") < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_each_joint_alone_obeys_newton_and_euler(kind):
    assert newton_euler_defects(loaded(11, kinds=(kind,)), "ph-mp") < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_stabilised_reactions_obey_newton_and_euler_to_second_order(seed):
    """The velocity multipliers push too, by a term of order h^2 that is no reaction."""
    plan = loaded(seed)
    steps = np.array([0.02, 0.01, 0.005])
    defects = [newton_euler_defects(plan, "ph-mp-ggl", h, round(0.1 / h)) for h in steps]
    assert defects[-1] < 1e-9 or observed_orders(steps, defects).min() > 1.5, defects


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_action_is_reaction(kind, scheme):
    plan = mechanisms.pair(kind, 21, gravity=True)
    result = ps.simulate(plan.model(), scheme=scheme, h=H, t_end=5 * H)
    J = result.reaction("J")
    lever = joint_point(result, plan, "J", "b") - joint_point(result, plan, "J", "a")
    scale = max(1.0, abs(J.force).max(), abs(J.torque).max())
    assert max(abs(J.force).max(), abs(J.torque).max()) > 1e-3
    np.testing.assert_allclose(J.force + J.force_a, 0, atol=1e-10 * scale)
    moment = J.torque + J.torque_a + np.cross(lever, J.force)
    np.testing.assert_allclose(moment, 0, atol=1e-10 * scale)


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_the_ground_feels_the_opposite_of_what_its_partner_feels(kind, scheme):
    plan = mechanisms.pair(kind, 22, ground=True, gravity=True)
    result = ps.simulate(plan.model(), scheme=scheme, h=H, t_end=10 * H)
    J = result.reaction("J")
    lever = joint_point(result, plan, "J", "b") - joint_point(result, plan, "J", "a")
    np.testing.assert_allclose(J.force_a, -J.force, atol=1e-11)
    np.testing.assert_allclose(J.torque_a, -J.torque - np.cross(lever, J.force), atol=1e-10)


def rate_of_turn(result, body, h):
    """The angular velocity of each step: d_i1 - d_i0 = h omega x d_i,mid."""
    R = result.rotation(body)
    W = np.diff(R, axis=0) @ np.linalg.inv(mid(R)) / h
    return np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_reactions_do_no_work(kind, scheme):
    plan = mechanisms.pair(kind, 23, gravity=True)
    result = ps.simulate(plan.model(), scheme=scheme, h=H, t_end=10 * H)
    J, at = result.reaction("J"), plan.joints["J"][1]
    power = 0.0
    for side, F, T in (("a", J.force_a, J.torque_a), ("b", J.force, J.torque)):
        body = at[side]
        key = "point" if "point" in at else f"point_{side}"
        world = plan.bodies["body1"]["position"] if kind == "Weld" else at[key]
        speed = np.diff(point_path(result, plan, body, world), axis=0) / H
        power = power + np.sum(F * speed + T * rate_of_turn(result, body, H), axis=1)
    scale = max(1.0, abs(J.force).max() * abs(result.velocity("body1")).max())
    np.testing.assert_allclose(power, 0, atol=1e-10 * scale)


def on_ground(kind):
    """Reaction of a joint on the ground, whose axes stand still, and those axes."""
    plan = mechanisms.pair(kind, 24, ground=True, gravity=True)
    result = ps.simulate(plan.model(), scheme="ph-mp", h=H, t_end=10 * H)
    J, at = result.reaction("J"), plan.joints["J"][1]
    n = at.get("axis", at.get("normal", at.get("axis_a", np.zeros(3))))
    return J.force, J.torque, n / (np.linalg.norm(n) or 1), plan, result


@pytest.mark.parametrize("kind", ["Revolute", "Cylindrical", "Planar", "Universal"])
def test_a_joint_that_turns_freely_about_an_axis_carries_no_torque_about_it(kind):
    _, torque, n, _, _ = on_ground(kind)
    assert abs(torque).max() > 1e-3
    np.testing.assert_allclose(torque @ n, 0, atol=1e-11)


@pytest.mark.parametrize("kind", ["Spherical", "Rod", "PointOnLine", "PointOnPlane"])
def test_a_joint_that_turns_freely_carries_no_torque(kind):
    force, torque, _, _, _ = on_ground(kind)
    assert abs(force).max() > 1e-2
    np.testing.assert_allclose(torque, 0, atol=1e-11)


@pytest.mark.parametrize("kind", ["Cylindrical", "Prismatic", "PointOnLine"])
def test_a_joint_that_slides_carries_no_force_along_it(kind):
    force, _, n, _, _ = on_ground(kind)
    assert abs(force).max() > 1e-2
    np.testing.assert_allclose(force @ n, 0, atol=1e-11)


@pytest.mark.parametrize("kind", ["Planar", "PointOnPlane"])
def test_a_plane_pushes_along_its_normal_only(kind):
    force, _, n, _, _ = on_ground(kind)
    assert abs(force @ n).max() > 1e-2
    np.testing.assert_allclose(np.cross(force, n), 0, atol=1e-11)


def test_a_rod_pulls_along_itself():
    force, _, _, plan, result = on_ground("Rod")
    at = plan.joints["J"][1]
    span = mid(point_path(result, plan, "body1", at["point_b"])) - at["point_a"]
    np.testing.assert_allclose(np.cross(force, span), 0, atol=1e-11)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_body_at_rest_is_carried_with_its_weight(scheme):
    model = ps.Model(gravity=(0, 0, -10))
    body = model.add_body("body", ps.Box(mass=3, size=(1, 1, 1)), position=(2, 0, 0))
    model.add_joint("J", ps.Weld(model.ground, body))
    bob = model.add_body("bob", ps.Box(mass=5, size=(1, 1, 1)), position=(0, 0, -2))
    model.add_joint("K", ps.Spherical(model.ground, bob, point=(0, 0, 0)))
    result = ps.simulate(model, scheme=scheme, h=0.1, t_end=0.5)
    np.testing.assert_allclose(result.reaction("J").force, [[0, 0, 30]] * 5, atol=1e-11)
    np.testing.assert_allclose(result.reaction("J").force_a, [[0, 0, -30]] * 5, atol=1e-11)
    np.testing.assert_allclose(result.reaction("J").torque, 0, atol=1e-11)
    np.testing.assert_allclose(result.reaction("K").force, [[0, 0, 50]] * 5, atol=1e-11)
    assert result.reaction("J").complete
