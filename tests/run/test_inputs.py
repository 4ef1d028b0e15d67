"""Inputs as text, and what is said of functions that fail."""

import numpy as np
import pytest
from same import assert_same

import poinsot as ps


def pendulum(port=None, **parts):
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("motor", port or ps.JointPort("hinge"))
    for name, force in parts.items():
        model.add_force(name, force)
    return model


def run(model, engine="auto", **inputs):
    return ps.simulate(model, h=0.01, t_end=0.1, inputs=inputs, engine=engine)


def test_a_formula_as_text_is_the_same_input_as_the_formula_and_goes_to_files():
    text, model = "2*sin(3*t) - 1", pendulum()
    one, other = run(model, motor=text), run(model, motor=ps.Formula(text))
    assert_same(one, other)
    assert_same(run(pendulum(ps.JointPort("hinge", value=text))), run(model, motor=text))
    assert text in one.document
    again = ps.Model.from_yaml_text(one.document)
    np.testing.assert_array_equal(
        ps.simulate(again, **again.simulation.options()).energy, one.energy
    )


def test_a_vector_may_be_texts_and_numbers():
    model = pendulum()
    model.add_port("wind", ps.ForcePort(model.bodies["rod"], value=["sin(t)", 0, 1.5]))
    fixed, varying = run(model), run(model, wind=["2*t", "0", 1])
    t = fixed.midpoint
    np.testing.assert_array_equal(
        fixed.port("wind").u, np.column_stack([np.sin(t), 0 * t, 1.5 + 0 * t])
    )
    np.testing.assert_array_equal(
        varying.port("wind").u, np.column_stack([2 * t, 0 * t, 1 + 0 * t])
    )
    assert ps.Model.from_yaml_text(model.to_yaml()).to_yaml() == model.to_yaml()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2*sine(t)", r"port 'motor': formula '2\*sine\(t\)': no function 'sine'; did you mean"),
        ("2*x", "port 'motor': formula '2\\*x': unknown name 'x'"),
        ("", "port 'motor': formula"),
        (["t", "t"], r"port 'motor': the input at t = 0 s has shape \(2,\), expected \(1,\)"),
        ("1/(t - 0.005)", "port 'motor': the input at t = 0.005 s is .*not finite"),
    ],
)
def test_what_is_no_input_is_refused_by_name(text, message):
    with np.errstate(divide="ignore"), pytest.raises(ps.PoinsotError, match=message):
        run(pendulum(), motor=text)


def late(value=0.0, then=None):
    """Return a function that fails when it is given a number above 0.05, or gives `then`."""

    def function(x, *rest):
        if abs(x) > 0.05:
            return then if then is not None else 1 / 0
        return value

    return function


RAISED = r"raised ZeroDivisionError: division by zero, at "


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_function_that_fails_is_named_with_time_and_arguments(engine):
    def body_law(t, motion):
        return late((0, 0, 0))(t)

    pushed = pendulum()
    pushed.add_port("wind", ps.ForcePort(pushed.bodies["rod"], law=body_law))
    for model, inputs, message in (
        (pendulum(), {"motor": late()}, rf"port 'motor': the input {RAISED}t = 0.055 s"),
        (
            pendulum(),
            {"motor": late(then="much")},
            r"port 'motor': the input at t = 0.055 s is 'much', expected 1 number\(s\)",
        ),
        (
            pendulum(ps.JointPort("hinge", law=late())),
            {},
            rf"port 'motor': its law {RAISED}t = 0.055 s with x = 0.022\d*, v = 0.73",
        ),
        (pushed, {}, rf"port 'wind': its law {RAISED}t = 0.055 s with position \[0.49"),
        (
            pendulum(ps.Drive("hinge", coordinate=late())),
            {},
            rf"port 'motor': a prescribed motion {RAISED}t = 0.06 s",
        ),
        (
            pendulum(soft=ps.JointSpring("hinge", force=late())),
            {},
            rf"force 'soft': force {RAISED}0.0",
        ),
    ):
        with pytest.raises(ps.SimulationError, match=r"step \d+ from t = 0.0\d s: .*" + message):
            run(model, engine, **inputs)


def test_a_function_that_fails_before_the_start_is_named_too():
    def wrong(x):
        raise ValueError("no such place")

    with pytest.raises(ps.InputError, match="force 'soft': potential raised ValueError: no such"):
        run(pendulum(soft=ps.JointSpring("hinge", potential=wrong)))
