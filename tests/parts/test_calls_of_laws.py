"""Python laws are called for what a step needs, and no more."""

from collections import Counter

import numpy as np
import pytest

import poinsot as ps

STEPS = 100


def arm():
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return model, bar


def calls_per_step(add, coordinates="directors", scheme="ph-mp"):
    """Run in the compiled engine; return how often each counted function was called per step."""
    model, bar = arm()
    calls = Counter()

    def counted(name, function):
        def call(*arguments):
            calls[name] += 1
            return function(*arguments)

        return call

    add(model, bar, counted)
    options = {"coordinates": coordinates, "scheme": scheme, "engine": "compiled"}
    result = ps.simulate(model, h=1e-3, t_end=1e-3 * STEPS, **options)
    assert result.stats.single_steps == 0
    return {name: count / STEPS for name, count in calls.items()}


@pytest.mark.parametrize(
    ("coordinates", "scheme"),
    [("directors", "ph-mp"), ("directors", "ph-mp-ggl"), ("quaternions", "eml")],
)
@pytest.mark.parametrize(
    "law",
    [
        lambda t, motion: (0.0, np.sin(t), 0.0),
        lambda t, motion: -0.1 * motion.angular_velocity,
        lambda t, motion: np.cross(motion.rotation[:, 0], motion.position) - 0.1 * motion.velocity,
    ],
)
def test_a_load_is_evaluated_about_once_in_an_iteration(law, coordinates, scheme):
    calls = calls_per_step(
        lambda model, bar, counted: model.add_port(
            "load", ps.TorquePort(bar, law=counted("law", law))
        ),
        coordinates,
        scheme,
    )
    assert calls["law"] < 5


def test_a_motor_is_evaluated_about_once_in_an_iteration():
    calls = calls_per_step(
        lambda model, bar, counted: model.add_port(
            "motor", ps.JointPort("hinge", law=counted("law", lambda t, x, v: -2 * np.sin(x) - v))
        )
    )
    assert calls["law"] < 5


def test_a_potential_without_derivatives_is_evaluated_at_ten_places_in_an_iteration():
    calls = calls_per_step(
        lambda model, bar, counted: model.add_force(
            "spring", ps.JointSpring("hinge", potential=counted("V", lambda x: x**4))
        )
    )
    assert calls["V"] < 45


def test_a_potential_with_its_force_is_evaluated_once_in_a_step():
    calls = calls_per_step(
        lambda model, bar, counted: model.add_force(
            "spring",
            ps.JointSpring(
                "hinge",
                potential=counted("V", lambda x: x**4),
                dpotential=counted("dV", lambda x: 4 * x**3),
            ),
        )
    )
    assert calls["V"] < 3
    assert calls["dV"] < 25


def test_a_field_with_its_gradient_is_evaluated_at_the_nodes_of_a_step():
    calls = calls_per_step(
        lambda model, bar, counted: model.add_force(
            "field",
            ps.Field(
                counted("V", lambda p, d: float(p[0] @ p[0]) ** 2),
                points=[(bar, (1, 0, 0))],
                gradient=counted("dV", lambda p, d: (4 * (p[0] @ p[0]) * p, d)),
            ),
        )
    )
    assert calls["V"] < 5
    assert calls["dV"] < 9


def test_a_field_keeps_the_slopes_of_its_potential_from_step_to_step():
    calls = calls_per_step(
        lambda model, bar, counted: model.add_force(
            "field",
            ps.Field(counted("V", lambda p, d: float(p[0] @ p[0]) ** 2), points=[(bar, (1, 0, 0))]),
        )
    )
    assert calls["V"] < 45


def test_slopes_of_laws_are_found_again_where_those_of_an_earlier_step_do_not_help():
    # A torque that grows hundredfold within the run, against the spin.
    def law(t, motion):
        return -np.exp(60 * t) * motion.angular_velocity

    model, bar = arm()
    model.add_port("brake", ps.TorquePort(bar, law=law))
    compiled, reference = (
        ps.simulate(model, h=1e-2, t_end=0.1, engine=engine) for engine in ("compiled", "reference")
    )
    assert compiled.stats.single_steps == 0
    assert compiled.stats.residual_max < 1e-13
    np.testing.assert_allclose(compiled.position("bar"), reference.position("bar"), atol=1e-13)


def test_a_motion_gives_what_is_asked_for_and_nothing_else():
    seen = []

    def law(t, motion):
        seen.append((motion.position, motion.rotation, motion.velocity, motion.angular_velocity))
        assert isinstance(motion, ps.Motion)
        with pytest.raises(AttributeError, match="position, rotation"):
            _ = motion.acceleration
        return np.zeros(3)

    model, bar = arm()
    model.add_port("load", ps.ForcePort(bar, point=(1, 0, 0), law=law))
    ps.simulate(model, h=1e-3, t_end=1e-3, engine="compiled")
    position, rotation, velocity, spin = seen[-1]
    np.testing.assert_allclose(rotation, np.eye(3), atol=1e-4)
    np.testing.assert_allclose(position, [1, 0, 0], atol=1e-4)
    np.testing.assert_allclose(velocity, np.cross(spin, position), atol=1e-12)


def test_an_input_that_returns_one_and_the_same_array_is_read_in_time():
    room = np.zeros(3)

    def value(t):
        room[:] = 0, 0, 1 + t
        return room

    result = {}
    for name, law in (("same", value), ("new", lambda t: [0, 0, 1 + t])):
        model, bar = arm()
        model.add_port("load", ps.ForcePort(bar, value=law))
        result[name] = ps.simulate(model, h=1e-2, t_end=0.5, engine="compiled").position("bar")
    np.testing.assert_array_equal(result["same"], result["new"])


@pytest.mark.parametrize("label", ["force", "potential", "law"])
def test_a_law_of_a_spring_that_gives_no_number_is_refused_by_name(label):
    def run():
        model, _ = arm()
        model.add_force("stop", ps.JointSpring("hinge", **{label: lambda x: [1, 2]}))
        ps.simulate(model, h=1e-2, t_end=0.1)

    with pytest.raises(ps.PoinsotError, match=f"force 'stop': {label} gives"):
        run()
