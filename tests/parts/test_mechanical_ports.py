"""Ports of mechanisms: what is asked for is what goes in, and the output is what moves."""

import mechanisms
import numpy as np
import pytest
from mechanisms import SCHEMES
from numerics import observed_orders
from scipy.integrate import solve_ivp

import poinsot as ps

H = 0.02


def tumbling(**port):
    """A free body whose body axes are not its principal ones, with one port `p`."""
    model = ps.Model()
    shape = ps.RigidBody(mass=2.0, inertia=[[3.0, 0.4, 0.1], [0.4, 2.0, -0.3], [0.1, -0.3, 2.5]])
    body = model.add_body(
        "body",
        shape,
        position=(1, 2, 3),
        rotation=ps.Rotation.from_axis_angle((1, 2, 2), 0.8),
        velocity=(0.3, 0, -0.2),
        angular_velocity=(2, -3, 1),
    )
    kind = port.pop("kind")
    if "point" in port:
        port["point"] = body.position + body.R_WB @ port["point"]
    model.add_port("p", getattr(ps, kind)(body, **port))
    return model


def load(t):
    return np.array([np.cos(4 * t), 2.0, -np.sin(t)])


def mid(path):
    return (path[1:] + path[:-1]) / 2


def spin(result):
    """Angular momentum about the centre of mass."""
    return result.angular_momentum - np.cross(
        result.position("body"), 2.0 * result.velocity("body")
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_torque_is_put_in_exactly(scheme):
    result = ps.simulate(tumbling(kind="TorquePort", value=load), scheme=scheme, h=H, t_end=1.0)
    p = result.port("p")
    np.testing.assert_allclose(np.diff(spin(result), axis=0), H * p.u, atol=1e-12)
    np.testing.assert_allclose(p.u, [load(t) for t in p.time], rtol=1e-14)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("axes", ["world", "body"])
def test_the_output_of_a_torque_port_is_the_angular_velocity_of_the_step(scheme, axes):
    """R1 - R0 = h skew(omega) R_mid, a Cayley map; in body axes y = R_mid^T omega."""
    model = tumbling(kind="TorquePort", value=load, axes=axes)
    result = ps.simulate(model, scheme=scheme, h=H, t_end=1.0)
    R = result.rotation("body")
    W = np.diff(R, axis=0) @ np.linalg.inv(mid(R)) / H
    np.testing.assert_allclose(W, -np.swapaxes(W, 1, 2), atol=1e-11)
    omega = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)
    if axes == "body":
        omega = np.einsum("tji,tj->ti", mid(R), omega)
    np.testing.assert_allclose(result.port("p").y, omega, atol=1e-11)


def test_the_published_torque_falls_short_by_a_term_of_order_two():
    steps = np.array([0.04, 0.02, 0.01])
    short = []
    for h in steps:
        model = tumbling(kind="TorquePort", value=(0, 0, 1), published=True)
        result = ps.simulate(model, h=h, t_end=0.8)
        short.append(0.8 - (spin(result)[-1] - spin(result)[0])[2])
    assert min(short) > 1e-6
    np.testing.assert_allclose(observed_orders(steps, short), 2.0, atol=0.1)


@pytest.mark.parametrize("kind", ["ForcePort", "TorquePort"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_load_in_body_axes_turns_with_the_body(kind, scheme):
    arguments = {"point": (0.3, -0.2, 0.5)} if kind == "ForcePort" else {}
    model = tumbling(kind=kind, value=load, axes="body", **arguments)
    result = ps.simulate(model, scheme=scheme, h=H, t_end=1.0)
    R, u = mid(result.rotation("body")), result.port("p").u
    world = np.einsum("tij,tj->ti", R, u)
    if kind == "TorquePort":
        force, moment = np.zeros_like(world), world
    else:
        force, moment = world, np.cross(R @ arguments["point"], world)
    np.testing.assert_allclose(np.diff(result.linear_momentum, axis=0), H * force, atol=1e-12)
    np.testing.assert_allclose(np.diff(spin(result), axis=0), H * moment, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_force_at_a_point_moves_and_turns(scheme):
    model = tumbling(kind="ForcePort", value=load, point=(0.3, -0.2, 0.5))
    result = ps.simulate(model, scheme=scheme, h=H, t_end=1.0)
    R, u = mid(result.rotation("body")), result.port("p").u
    np.testing.assert_allclose(np.diff(result.linear_momentum, axis=0), H * u, atol=1e-12)
    moment = np.cross(R @ [0.3, -0.2, 0.5], u)
    np.testing.assert_allclose(np.diff(spin(result), axis=0), H * moment, atol=1e-12)
    path = result.position("body") + result.rotation("body") @ [0.3, -0.2, 0.5]
    np.testing.assert_allclose(result.port("p").y, np.diff(path, axis=0) / H, atol=1e-11)


def test_a_constant_torque_in_body_axes_follows_eulers_equations():
    model = tumbling(kind="TorquePort", value=(0.5, -1.0, 2.0), axes="body")
    body = model.bodies["body"]
    J, tau = np.array(body.shape.inertia, dtype=float), np.array([0.5, -1.0, 2.0])

    def euler(t, w):
        return np.linalg.solve(J, tau - np.cross(w, J @ w))

    start = body.R_WB.T @ body.angular_velocity
    exact = solve_ivp(euler, (0, 0.64), start, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for h in steps:
        result = ps.simulate(model, h=h, t_end=0.64)
        w = result.rotation("body")[-1].T @ result.angular_velocity("body")[-1]
        errors.append(abs(w - exact).max())
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def hinged(**port):
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body("body", ps.Box(mass=2, size=(1, 1, 1)), position=(1, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    return model, body


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_motor_law_that_brakes_is_a_damper(scheme):
    motor, _ = hinged()
    motor.add_port("brake", ps.JointPort("hinge", law=lambda t, angle, rate: -0.8 * rate))
    damper, _ = hinged()
    damper.add_force("brake", ps.JointSpring("hinge", damping=0.8))
    one, two = (ps.simulate(m, scheme=scheme, h=0.01, t_end=0.5) for m in (motor, damper))
    np.testing.assert_allclose(one.position("body"), two.position("body"), atol=1e-10)
    np.testing.assert_allclose(one.supplied, -two.dissipated, atol=1e-10)
    assert two.dissipated[-1] > 0.1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_load_that_depends_on_position_is_a_spring(scheme):
    """-k r at the midpoint is the discrete gradient of k r·r/2."""
    results = []
    for by_law in (True, False):
        model, body = hinged()
        end = (1.5, 0.2, 0.1)
        if by_law:
            law = lambda t, motion: -7.0 * motion.position  # noqa: E731
            model.add_port("spring", ps.ForcePort(body, point=end, law=law))
        else:
            pull = ps.Field(
                lambda p, d: 3.5 * float(p[0] @ p[0]),
                points=[(body, end)],
                gradient=lambda p, d: (7.0 * p, d),
            )
            model.add_force("spring", pull)
        results.append(ps.simulate(model, scheme=scheme, h=0.01, t_end=0.3))
    one, two = results
    np.testing.assert_allclose(one.position("body"), two.position("body"), atol=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_motor_puts_its_torque_about_the_axis_to_second_order(scheme):
    """About a principal axis through the centre of mass: I w' = tau."""
    steps, errors = np.array([0.04, 0.02, 0.01]), []
    for h in steps:
        model = ps.Model()
        body = model.add_body("wheel", ps.Cylinder(mass=2, radius=0.5, length=0.2))
        model.add_joint("axle", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
        model.add_port("motor", ps.JointPort("axle", value=3.0))
        result = ps.simulate(model, scheme=scheme, h=h, t_end=0.8)
        errors.append(abs(result.angular_velocity("wheel")[-1, 2] - 3.0 * 0.8 / 0.25))
    assert errors[-1] < 1e-9 or observed_orders(steps, errors).min() > 1.9


def test_markers_move_with_their_body():
    random = np.random.default_rng(1)
    plan = mechanisms.pair("Revolute", 3, gravity=True)
    model = plan.model()
    body = model.bodies["body1"]
    X, R_BM = random.standard_normal(3), mechanisms.rotation(random)
    model.add_marker("tip", body, position=body.position + body.R_WB @ X, rotation=body.R_WB @ R_BM)
    result = ps.simulate(model, scheme="ph-mp-ggl", h=0.01, t_end=0.2)
    tip, b = result.marker("tip"), result.body("body1")
    arm = b.rotation @ X
    np.testing.assert_allclose(tip.position, b.position + arm, atol=1e-12)
    np.testing.assert_allclose(tip.rotation, b.rotation @ R_BM, atol=1e-12)
    np.testing.assert_allclose(tip.angular_velocity, b.angular_velocity, atol=1e-12)
    speed = b.velocity + np.cross(b.angular_velocity, arm)
    np.testing.assert_allclose(tip.velocity, speed, atol=1e-11)


def spinning(save_every):
    model = ps.Model()
    body = model.add_body(
        "wheel", ps.Cylinder(mass=2, radius=1, length=1), angular_velocity=(0, 0, 10)
    )
    model.add_joint("axle", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    return ps.simulate(model, h=0.01, t_end=2, save_every=save_every).joint("axle")


def test_angles_are_unwrapped_over_turns():
    """Each step turns by 2 atan(h w/2), a Cayley map: 3.18 turns in 2 s."""
    angle = spinning(1).coordinates["angle"]
    np.testing.assert_allclose(angle, 2 * np.arctan(0.05) * np.arange(201), atol=1e-11)


def test_angles_are_unwrapped_also_between_saved_steps():
    every, seldom = spinning(1), spinning(50)
    np.testing.assert_allclose(
        seldom.coordinates["angle"], every.coordinates["angle"][::50], atol=1e-11
    )
