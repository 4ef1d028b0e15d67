"""Whatever acts on bodies does in quaternions what it does in directors, with an exact balance."""

from functools import cache

import mechanisms
import numpy as np
import pytest
from balance import step_errors, turnover
from in_turn import in_turn
from numerics import observed_orders
from schemes import EXACT_QUATERNIONS

import poinsot as ps

END = 0.12
STEPS = (6, 12)


def spring(model, body, **law):
    end = body.position + np.array([0.2, 0.1, -0.3])
    ends = {"point_a": end + np.array([0.9, -0.4, 0.7]), "point_b": end}
    model.add_force("spring", ps.Spring(model.ground, body, **ends, **law))


def joint_spring(model, body, **law):
    model.add_force("spring", ps.JointSpring("J", freedom="angle", **law))


def field(model, body):
    end = body.position + np.array([0.2, 0.1, -0.3])
    model.add_force(
        "field",
        ps.Field(
            lambda p, d: 9 * float(np.sum(p**4)) + 20 * float(d[0] @ p[0]),
            points=[(body, end)],
            directions=[(body, (0.0, 0.6, 0.8))],
        ),
    )


def force(model, body, **load):
    model.add_port("load", ps.ForcePort(body, point=body.position + 0.3, **load))


def torque(model, body, **load):
    model.add_port("load", ps.TorquePort(body, **load))


def motor(model, body, **load):
    model.add_port("load", ps.JointPort("J", freedom="angle", **load))


def push(t):
    return np.array([30 * np.cos(4 * t), 20.0, -20 * np.sin(t)])


def drag(t, motion):
    return push(t) - 4 * motion.velocity - 9 * motion.position


def brake(t, motion):
    return push(t) - 4 * motion.angular_velocity


LOADS = {
    "linear spring": (spring, {"stiffness": 300.0, "rest_length": 0.4}),
    "nonlinear spring": (spring, {"potential": lambda l: 50 * l**4}),
    "force law": (spring, {"force": lambda l: 90 * np.sin(l)}),
    "damper": (spring, {"damping": 9.0}),
    "nonlinear damper": (spring, {"law": lambda w: 9 * w**3}),
    "joint spring": (joint_spring, {"stiffness": 90.0, "rest": 0.5}),
    "joint damper": (joint_spring, {"damping": 5.0}),
    "field": (field, {}),
    "force in world axes": (force, {"value": push}),
    "force in body axes": (force, {"value": push, "axes": "body"}),
    "force by law": (force, {"law": drag}),
    "force by law in body axes": (force, {"law": drag, "axes": "body"}),
    "torque in world axes": (torque, {"value": push}),
    "torque in body axes": (torque, {"value": push, "axes": "body"}),
    "torque by law": (torque, {"law": brake}),
    "torque by law in body axes": (torque, {"law": brake, "axes": "body"}),
    "published torque": (torque, {"value": push, "published": True}),
    "motor": (motor, {"value": lambda t: 20 * np.cos(t)}),
    "motor by law": (motor, {"law": lambda t, x, v: 20 * np.cos(t) - 5 * x**3 - v}),
}


def built(what):
    model = mechanisms.pair("Cylindrical", 9, gravity=True).model()
    if what:
        add, arguments = LOADS[what]
        add(model, model.bodies["body1"], **arguments)
    return model


@cache
def run(what, scheme, steps):
    return ps.simulate(built(what), scheme=scheme, h=END / steps, t_end=END)


def difference(one, other):
    bodies = (one.body("body1"), other.body("body1"))
    return max(
        abs(getattr(bodies[0], name) - getattr(bodies[1], name)).max()
        for name in ("position", "rotation", "velocity", "angular_velocity")
    )


@pytest.mark.parametrize(("what", "scheme"), in_turn(LOADS, EXACT_QUATERNIONS))
def test_the_balance_of_energy_is_exact_with_every_load(what, scheme):
    result = run(what, scheme, STEPS[0])
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    assert abs(step_errors(result)).max() < 1e-12 * turnover(result)
    assert np.diff(result.dissipated).min() >= 0
    assert (result.dissipated[-1] > 1e-3) == ("damper" in what)


@pytest.mark.parametrize(("what", "scheme"), in_turn(LOADS, ["eml", "emh", "emh-mean"]))
def test_motion_under_every_load_converges_to_that_in_directors(what, scheme):
    found = [difference(run(what, scheme, steps), run(what, "ph-mp", steps)) for steps in STEPS]
    effect = difference(run(what, scheme, STEPS[0]), run(None, scheme, STEPS[0]))
    assert effect > 20 * found[0]  # the load matters
    assert observed_orders([2.0, 1.0], found)[0] == pytest.approx(2.0, abs=0.3), found


@pytest.mark.parametrize("scheme", ["eml-mean", "emh-mean"])
@pytest.mark.parametrize("axes", ["world", "body"])
def test_mean_lever_arms_put_a_torque_in_exactly(axes, scheme):
    """The change of spin is h times the torque, turned by the mean rotation in body axes."""
    model = ps.Model()
    body = model.add_body("body", ps.Box(mass=2, size=(1, 2, 3)), angular_velocity=(1, 2, 3))
    model.add_port("load", ps.TorquePort(body, value=push, axes=axes))
    result = ps.simulate(model, scheme=scheme, h=0.02, t_end=0.4, engine="reference")
    R, u = result.rotation("body"), result.port("load").u
    if axes == "body":
        u = np.einsum("tij,tj->ti", (R[1:] + R[:-1]) / 2, u)
    np.testing.assert_allclose(np.diff(result.angular_momentum, axis=0), 0.02 * u, atol=1e-12)


@pytest.mark.parametrize("scheme", EXACT_QUATERNIONS)
def test_the_output_of_a_force_port_is_the_travel_of_its_point(scheme):
    result = run("force in world axes", scheme, STEPS[0])
    b = result.body("body1")
    path = b.position + b.rotation @ (b.rotation[0].T @ np.full(3, 0.3))
    y = np.diff(path, axis=0) * STEPS[0] / END
    np.testing.assert_allclose(result.port("load").y, y, atol=1e-11)
