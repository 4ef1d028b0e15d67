"""Charts: lengths and angles of quadratic forms, their derivatives and their differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numerics import jacobian

from poinsot.frames.charts import Angle, Length, Linear

angles = st.floats(-3.0, 3.0)
radii = st.floats(0.5, 1.5)
lengths = st.floats(0.1, 10.0)


def samples():
    yield Linear(), np.array([-0.7])
    yield Length(), np.array([0.9])
    for angle in (-3.0, -1.2, 0.0, 0.4, 2.9):
        yield Angle(), 0.9 * np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize(("chart", "s"), list(samples()))
def test_slope_and_bend_are_derivatives_of_the_value(chart, s):
    by_differences = jacobian(chart.value, s)
    np.testing.assert_allclose(chart.slope(s), by_differences, atol=1e-10)
    np.testing.assert_allclose(chart.bend(s), jacobian(chart.slope, s), atol=1e-9)


def test_values_are_what_they_are_called():
    assert Length().value(np.array([4.5])) == pytest.approx(3.0)
    assert Angle().value(np.array([0.0, 2.0])) == pytest.approx(np.pi / 2)
    assert Linear().value(np.array([-2.0])) == -2.0


def secant(chart, s0, s1):
    return chart.secant(s0, s1, s1 - s0)


def circle(radius, angle):
    return radius * np.array([np.cos(angle), np.sin(angle)])


@given(lengths, lengths)
def test_the_secant_of_a_length_gives_the_difference(l0, l1):
    s0, s1 = np.array([l0**2 / 2]), np.array([l1**2 / 2])
    b, db = secant(Length(), s0, s1)
    assert b @ (s1 - s0) == pytest.approx(l1 - l0, abs=1e-13)
    numerical = jacobian(lambda s: secant(Length(), s0, s)[0], s1, step=1e-3 * s1[0])
    np.testing.assert_allclose(db, numerical, rtol=1e-8)


@given(angles, st.floats(-3.0, 3.0), radii, radii)
def test_the_secant_of_an_angle_gives_the_turn_even_across_half_a_turn(start, turn, r0, r1):
    s0, s1 = circle(r0, start), circle(r1, start + turn)
    b, _ = secant(Angle(), s0, s1)
    assert b @ (s1 - s0) == pytest.approx(turn, abs=1e-13)


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-4, 5e-3, 0.02, 0.3, -1.0, 2.0])
@pytest.mark.parametrize("ratio", [1.0, 0.9])
def test_the_slope_of_the_secant_of_an_angle_is_its_derivative(turn, ratio):
    s0, s1 = circle(1.0, 0.7), circle(ratio, 0.7 + turn)
    _, db = secant(Angle(), s0, s1)
    numerical = jacobian(lambda s: secant(Angle(), s0, s)[0], s1)
    np.testing.assert_allclose(db, numerical, atol=1e-7)


@pytest.mark.parametrize(("chart", "s"), list(samples()))
def test_the_secant_is_the_slope_at_rest(chart, s):
    b, db = secant(chart, s, s)
    np.testing.assert_allclose(b, chart.slope(s), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(db, chart.bend(s) / 2, rtol=1e-9, atol=1e-12)


@given(st.floats(1e-14, 1e-7), angles)
def test_the_secant_of_a_tiny_turn_is_free_of_round_off(turn, start):
    """The increment ds is given apart, so that no quotient of small differences is left."""
    s0, s1 = circle(1.0, start), circle(1.0, start + turn)
    ds = turn * np.array([-np.sin(start + turn / 2), np.cos(start + turn / 2)])
    b, _ = Angle().secant(s0, s1, ds)
    assert b @ ds == pytest.approx(turn, rel=1e-9)
    np.testing.assert_allclose(b, Angle().slope(s0), atol=1e-6)
