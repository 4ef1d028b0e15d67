"""Lengths and angles in the compiled engine are those of the mechanics."""

import numpy as np
import pytest

from poinsot.frames.charts import Angle, Length, Linear
from poinsot.kernels import charts

CHARTS = {"linear": (charts.LINEAR, Linear()), "length": (charts.LENGTH, Length())}
CHARTS["angle"] = (charts.ANGLE, Angle())


def on_circle(angle, radius=1.0):
    return radius * np.array([np.cos(angle), np.sin(angle)])


#: Forms at both ends of a step: turns that vanish, that are small, and up to nearly half a circle.
TURNS = [(2.9, 2.9 + turn) for turn in (0.0, 1e-9, -0.009, 0.011, 0.5, -0.8, 1.6, -2.5, 3.1)]
ENDS = {
    "linear": [(np.array([0.3]), np.array([-0.4]))],
    "length": [(np.array([0.3]), np.array([0.9])), (np.array([0.3]), np.array([0.3 + 1e-12]))],
    "angle": [(on_circle(a), on_circle(b, 0.99)) for a, b in TURNS],
}
CASES = [(name, *pair) for name, pairs in ENDS.items() for pair in pairs]


def two(s):
    """The forms as the kernels take them: always two."""
    return float(s[0]), float(s[1]) if s.size > 1 else 0.0


@pytest.mark.parametrize(("name", "s0", "s1"), CASES)
def test_value_slope_and_curvature_are_those_of_the_mechanics(name, s0, s1):
    number, chart = CHARTS[name]
    k = s1.size
    assert charts.chart_value(number, two(s1)) == pytest.approx(chart.value(s1), rel=1e-14)
    slope, bend = charts.chart_slope(number, two(s1)), charts.chart_bend(number, two(s1))
    np.testing.assert_allclose(slope[:k], chart.slope(s1), rtol=1e-13)
    np.testing.assert_allclose(np.array(bend)[:k, :k], chart.bend(s1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("name", "s0", "s1"), CASES)
def test_secants_and_their_slopes_are_those_of_the_mechanics(name, s0, s1):
    number, chart = CHARTS[name]
    k = s1.size
    b, db = charts.chart_secant(number, two(s0), two(s1), two(s1 - s0))
    expected, slope = chart.secant(s0, s1, s1 - s0)
    np.testing.assert_allclose(b[:k], expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(np.array(db)[:k, :k], slope, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("name", "s0", "s1"), CASES)
def test_a_secant_gives_the_increment_of_the_coordinate(name, s0, s1):
    number, chart = CHARTS[name]
    b, _ = charts.chart_secant(number, two(s0), two(s1), two(s1 - s0))
    increment = chart.value(s1) - chart.value(s0)
    if name == "angle":
        increment = (increment + np.pi) % (2 * np.pi) - np.pi
    assert np.dot(b, two(s1 - s0)) == pytest.approx(increment, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "angle"])
def test_what_a_chart_of_one_form_says_of_a_second_is_nothing(name):
    number, _ = CHARTS[name]
    b, db = charts.chart_secant(number, (0.3, 7.0), (0.5, 8.0), (0.2, 1.0))
    slope, bend = charts.chart_slope(number, (0.3, 7.0)), charts.chart_bend(number, (0.3, 7.0))
    assert (b[1], slope[1]) == (0, 0)
    for square in (db, bend):
        assert (square[0][1], *square[1]) == (0, 0, 0)
