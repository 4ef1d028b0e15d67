"""Springs much stiffer than a step can follow: exact, in any units and in both engines."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import poinsot as ps

EPS = float(np.finfo(float).eps)
H = 0.01


def attainable(result, stiffness):
    """Round-off of the energy of a spring of about two metres, whose length is rounded [J]."""
    energy = abs(result.energy).max()
    return 20 * EPS * result.stats.steps * (energy + 2 * np.sqrt(2 * stiffness * energy))


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize("stiffness", [1e2, 1e6, 1e9, 1e12])
def test_a_stiff_spring_keeps_its_balances(stiffness, scheme):
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body(
        "bar",
        ps.Box(mass=1, size=(1, 0.1, 0.1)),
        position=(0.5, 0, 0),
        angular_velocity=(0, 0, 1),
    )
    model.add_joint("hook", ps.Spherical(model.ground, bar, point=(0, 0, 0)))
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(1, 0, -1))
    spring = ps.Spring(bar, ball, (1, 0, 0), (1, 0, -1), stiffness=stiffness, rest_length=0.999)
    model.add_force("spring", spring)
    result = ps.simulate(model, h=H, t_end=0.25, scheme=scheme)
    assert result.stats.balance_error_max <= attainable(result, stiffness)
    assert result.constraint_error.max() <= 1e-13


def dumbbell(stiffness, *, speed, seed, gravity=0.0, units=(1.0, 1.0, 1.0)):
    """Two balls and a spring at its rest length, in units of mass, length and time."""
    kilogram, metre, second = units
    random = np.random.default_rng(seed)
    a, b = (metre * random.uniform(-1, 1, 3) for _ in range(2))
    model = ps.Model(gravity=(0, 0, -gravity * metre / second**2))
    shape = ps.Sphere(mass=kilogram, radius=0.1 * metre)
    v = speed * metre / second * random.uniform(-1, 1, 3)
    one = model.add_body("one", shape, position=a, velocity=v)
    other = model.add_body("other", shape, position=b)
    k, length = stiffness * kilogram / second**2, float(np.linalg.norm(a - b))
    model.add_force("spring", ps.Spring(one, other, a, b, stiffness=k, rest_length=length))
    return model


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@given(
    exponent=st.floats(4, 14),
    speed=st.sampled_from([0.0, 0.1, 1.0]),
    gravity=st.sampled_from([0.0, 9.81]),
    scheme=st.sampled_from(["ph-mp", "ph-mp-ggl", "eml", "null-eml", "reml", "emh"]),
    seed=st.integers(0, 100),
)
@example(exponent=10.0, speed=0.0, gravity=9.81, scheme="ph-mp", seed=0)
@example(exponent=14.0, speed=0.1, gravity=0.0, scheme="ph-mp", seed=1)
@example(exponent=14.0, speed=0.1, gravity=0.0, scheme="null-eml", seed=1)
@settings(max_examples=8, deadline=None)
def test_springs_of_any_stiffness_have_an_exact_balance(
    engine, exponent, speed, gravity, scheme, seed
):
    if engine == "compiled" and scheme in ("eml", "null-eml", "reml"):
        scheme = "eml-mean"
    stiffness = 10.0**exponent
    model = dumbbell(stiffness, speed=speed, seed=seed, gravity=gravity)
    result = ps.simulate(model, h=H, t_end=10 * H, scheme=scheme, engine=engine)
    assert result.stats.balance_error_max <= attainable(result, stiffness)
    stretch = np.linalg.norm(result.position("one") - result.position("other"), axis=1)
    assert abs(stretch - stretch[0]).max() <= 4 * speed * np.sqrt(3 / stiffness) + 1e-12


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "emh"])
@given(
    exponent=st.floats(4, 13.5), speed=st.sampled_from([0.0, 0.1, 1.0]), seed=st.integers(0, 100)
)
@example(exponent=9.0, speed=0.1, seed=0)
@example(exponent=13.0, speed=0.1, seed=0)
@example(exponent=13.0, speed=0.0, seed=1)
@settings(max_examples=3, deadline=None)
def test_springs_that_steps_can_hardly_follow_run_in_compiled_steps(scheme, exponent, speed, seed):
    model = dumbbell(10.0**exponent, speed=speed, seed=seed, gravity=9.81)
    one, other = (
        ps.simulate(model, h=H, t_end=10 * H, scheme=scheme, engine=engine)
        for engine in ("compiled", "reference")
    )
    assert one.stats.single_steps == 0
    assert one.status == "done"
    assert one.stats.balance_error_max <= attainable(one, 10.0**exponent)
    # The force of a rounded length moves a kilogram by h^2 k / m of its round-off in every step.
    far = np.linalg.norm(one.position("one") - other.position("one"), axis=1)
    assert far.max() <= 10 * EPS * one.stats.steps * (1 + 10.0**exponent * H**2)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@given(
    powers=st.tuples(st.integers(-39, 39), st.integers(-10, 26), st.integers(-19, 19)),
    exponent=st.floats(2, 8),
    scheme=st.sampled_from(["ph-mp", "ph-mp-ggl", "emh"]),
    seed=st.integers(0, 100),
)
@settings(max_examples=4, deadline=None)
def test_units_of_mass_length_and_time_change_nothing(engine, powers, exponent, scheme, seed):
    def run(units):
        model = dumbbell(10.0**exponent, speed=0.1, seed=seed, units=units)
        h = H * units[2]
        return ps.simulate(model, h=h, t_end=10 * h, scheme=scheme, engine=engine)

    units = tuple(2.0**power for power in powers)
    known, other = run((1.0, 1.0, 1.0)), run(units)
    change = other.stats.iterations.astype(int) - known.stats.iterations
    assert abs(change).max() <= 1
    expected = units[1] * known.position("one")
    assert abs(other.position("one") - expected).max() <= 1e-11 * units[1]
