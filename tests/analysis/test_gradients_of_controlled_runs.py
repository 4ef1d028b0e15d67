"""Gradients through sampled controllers in machine code: those of converged runs."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_turn import in_turn
from mechanisms import laws
from strategies import seeds

import poinsot as ps
from poinsot.analysis import Final, Integral
from poinsot.systems.compiled.backward import DirectorSweep

H, END = 0.01, 0.12
#: Everything that machine code measures, and how large it is here.
CHANNELS = {
    "rail": 1,
    "rail.rate": 1,
    "pin": 1,
    "pin.rate": 1,
    "tip.position": 3,
    "tip.velocity": 3,
    "tip.rotation": 9,
    "tip.angular_velocity": 3,
    "pole.position": 3,
    "pin.force": 3,
    "pin.torque_a": 3,
    "axle": 1,
    "axle.rate": 1,
}
#: Of a change, weights of runs for a derivative of fourth order.
WEIGHTS = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}


def cart(values):
    """A cart on a rail with a pole, on which a wheel turns about a slanted axle."""
    model = ps.Model(gravity=(0.3, 0.1, -9.81))
    body = model.add_body("cart", ps.Box(mass=values.get("cart", 1.0), size=(0.3, 0.2, 0.1)))
    shape = ps.Box(mass=0.3, size=(0.05, 0.08, 1.0))
    pole = model.add_body("pole", shape, position=(0, 0, values.get("center", -0.5)))
    wheel = ps.Cylinder(mass=0.2, radius=0.1, length=0.05)
    wheel = model.add_body("wheel", wheel, position=(0, 0.1, -0.9), angular_velocity=(3, 9, 2))
    model.add_joint("rail", ps.Prismatic(model.ground, body, point=(0.1, 0, 0), axis=(1, 0.1, 0)))
    model.add_joint("pin", ps.Revolute(body, pole, point=(0, 0, 0.02), axis=(0, 1, 0.2)))
    model.add_joint("axle", ps.Revolute(pole, wheel, point=(0, 0.1, -0.9), axis=(0, 1, 1)))
    model.add_marker("tip", wheel, position=(0.1, 0.1, -0.9))
    model.add_force("spring", ps.JointSpring("rail", stiffness=20.0, damping=0.3))
    model.add_port("motor", ps.JointPort("rail"))
    model.add_port("drive", ps.JointPort("axle"))
    model.project_velocities()
    return model


def require_slopes(build, values, of, **how):
    """The gradient is the derivative of converged runs along a random direction."""
    found = ps.gradient(build, of, values, engine="compiled", **how)
    assert found.engine == "compiled"
    way = dict(zip(values, np.random.default_rng(1).uniform(0.5, 1, len(values)), strict=True))

    def at(k):
        there = {name: value + 1e-3 * k * way[name] for name, value in values.items()}
        return ps.gradient(build, of, there, newton=ps.Newton(rtol=1e-13), **how).value

    slope = sum(weight * at(k) for k, weight in WEIGHTS.items()) / 1e-3
    along = sum(found[name] * part for name, part in way.items())
    assert abs(along - slope) < 1e-8 * max(1e-2, np.max(abs(found.flat)))
    return found


@pytest.mark.parametrize(("channel", "scheme"), in_turn(CHANNELS, ["ph-mp", "ph-mp-ggl"]))
def test_what_controllers_measure_has_derivatives(channel, scheme):
    factors = 0.3 + 0.2 * np.arange(CHANNELS[channel])

    def build(values):
        model, gain = cart(values), values["gain"]
        model.add_controller(
            "law",
            lambda t, y: -gain * np.tanh(0.3 * factors @ y),
            reads=[channel],
            drives=["motor"],
            every=2 * H,
        )
        return model

    values = {"gain": 2.0, "cart": 1.0, "center": -0.5}
    found = require_slopes(build, values, Final("pin + rail"), h=H, t_end=END, scheme=scheme)
    assert np.all(found.flat != 0)


def filtered(t, y, x):
    u = -1.3 * (y[0] + x[0]) - 0.2 * y[1]
    return (u,), (0.9 * x[0] + 0.1 * np.sin(y[0]),)


#: The same law as formulas and functions.
LAWS = {
    "formulas": ["-1.3*(rail + s) - 0.2*pin_rate", "0.9*s + 0.1*sin(rail)"],
    "Python": filtered,
    "Numba": numba.njit(filtered),
}


@laws(6)
@given(seeds, st.sampled_from([*LAWS]))
def test_states_delays_limits_and_controllers_that_read_others_have_derivatives(seed, kind):
    random = np.random.default_rng(seed)
    every, delay = random.integers(1, 4, 2) * H
    limits = {"limits": [(-1.5, 1.5)], "rate_limits": [20.0]} if seed % 3 == 0 else {}

    def build(values):
        model, gain, start = cart(values), values["gain"], values["start"]
        reads = ["rail", "pin.rate"]
        law = LAWS[kind]
        own = {"outputs": 1, "every": every, "states": {"s": start}}
        model.add_controller("outer", law, reads=reads, drives=[], **own)
        model.add_controller(
            "inner",
            f"{gain}*outer_output - 0.1*axle_rate",
            reads=["outer.output", "axle.rate"],
            drives=["motor"],
            every=H,
            delay=delay,
            **limits,
        )
        model.add_controller(
            "last", "-0.1*inner_output", reads=["inner.output"], drives=["drive"], every=2 * H
        )
        return model

    values = {"gain": 0.8, "start": 0.4, "cart": 1.0}
    of = Final("pin + rail") + Integral("axle.rate**2")
    require_slopes(build, values, of, h=H, t_end=END)


def test_parts_of_controlled_models_have_derivatives_by_paths():
    model = cart({})
    model.add_controller(
        "law",
        "-3*rail - 0.4*rail_rate + sin(pin)",
        reads=["rail", "rail.rate", "pin"],
        drives=["motor"],
        every=H,
    )
    paths = ["bodies.cart.mass", "joints.pin.point", "forces.spring.stiffness", "gravity"]
    paths += ["joints.rail.point", "inputs.drive"]
    how = {"h": H, "t_end": END, "inputs": {"drive": ps.Table([0, 0.05, 0.12], [1.0, -1.0, 0.5])}}
    found, expected = (
        ps.gradient(model, Final("pin"), paths, engine=engine, **how)
        for engine in ("compiled", "reference")
    )
    np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-8, atol=1e-10)


def test_segments_of_controlled_runs_are_taken_again(monkeypatch):
    monkeypatch.setattr("poinsot.analysis.gradients.compiled.TOGETHER", 7)

    def build(values):
        model = cart(values)
        law = f"-{values['gain']}*(rail + rail_rate)"
        model.add_controller(
            "law", law, reads=["rail", "rail.rate"], drives=["motor"], every=3 * H, delay=2 * H
        )
        return model

    how = {"h": H, "t_end": 0.5, "engine": "compiled"}
    whole = ps.gradient(build, Final("pin"), {"gain": 1.2, "cart": 1.0}, **how)
    least = ps.gradient(build, Final("pin"), {"gain": 1.2, "cart": 1.0}, memory=1e3, **how)
    assert least.value == whole.value
    np.testing.assert_allclose(least.flat, whole.flat, rtol=1e-12)


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_what_losses_measure_has_the_derivatives_of_differences(monkeypatch, scheme):
    random = np.random.default_rng(3)

    def some(times, *seen):
        weights = [random.standard_normal(each.shape) for each in seen]
        return sum(np.sum(w * y) for w, y in zip(weights, seen, strict=True)), weights

    def gradient():
        nonlocal random
        random = np.random.default_rng(3)
        of = ps.analysis.FunctionOf([*CHANNELS], some)
        how = {"h": H, "t_end": END, "scheme": scheme, "engine": "compiled"}
        return ps.gradient(cart({}), of, ["bodies.cart.mass", "gravity", "joints.pin.point"], **how)

    found = gradient()
    monkeypatch.setattr(DirectorSweep, "rows_of", lambda self, measurement: None)
    atol = 1e-10 * np.max(abs(found.flat))
    np.testing.assert_allclose(found.flat, gradient().flat, rtol=1e-8, atol=atol)
