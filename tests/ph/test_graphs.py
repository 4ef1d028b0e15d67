"""Tables of operations: values, derivatives and machine code are those of the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as ps
from poinsot.ph.compiled import CompiledFunction
from poinsot.ph.graphs import OPERATIONS

ONE = ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt", "abs", "sign"]
ONE += ["asin", "acos", "atan", "floor", "ceil", "heaviside"]


def formulas():
    """Texts of two variables, of all that formulas can hold."""
    leaf = st.sampled_from(["x", "y", "0.7", "2", "pi"])

    def larger(inner):
        two = st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({''.join(t)})")
        power = st.tuples(inner, st.integers(-3, 20)).map(lambda t: f"({t[0]})**{t[1]}")
        one = st.tuples(st.sampled_from(ONE), inner).map(lambda t: f"{t[0]}({t[1]})")
        pair = st.tuples(st.sampled_from(["min", "max", "atan2"]), inner, inner)
        test = st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner, inner)
        return (
            two
            | power
            | one
            | pair.map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
            | test.map(lambda t: f"({t[3]} if {t[0]} {t[1]} {t[2]} else x)")
            | st.tuples(inner, inner).map(lambda t: f"({t[0]})**({t[1]})")
        )

    return st.recursive(leaf, larger, max_leaves=8)


def read(text):
    try:
        return ps.Formula(text, ("x", "y"))
    except ps.InputError:  # a constant part of it is not finite
        return None


POINTS = [(0.3, -1.2), (2.5, 0.4), (0.0, 0.0), (-3.0, 2.0), (np.nan, 1.0), (1.0, np.inf)]


@settings(max_examples=60, deadline=None)
@given(text=formulas())
def test_machine_code_has_the_values_of_the_table_even_where_they_are_no_numbers(text):
    formula = read(text)
    if formula is None:
        return
    graph, row = formula.graph, formula.rows[0]
    program = graph.program(row, graph.slope(row, 0), graph.slope(row, 1))
    function = CompiledFunction(2, graph.program(row), program)
    for point in POINTS:
        expected = np.array(program(*map(np.float64, point)), dtype=float)
        found = function(np.array(point), 1)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(function(np.array(point), 0), found[:1])


SMOOTH = [
    "sin(x)*cos(y) - tan(x/4)",
    "sinh(x) + cosh(y)*tanh(x*y)",
    "exp(-x)*log(y) + log10(x) + sqrt(x*y)",
    "asin(x/9) + acos(y/9) + atan(x*y) + atan2(x, -y)",
    "x**3 - y**-2 + x**2.5 + x**y + 2**x",
    "x/y - -y + (+x)",
    "min(x, y)**2 + max(x, 2*y, 1)**2",
    "abs(x - y)*sign(x) + heaviside(x) + floor(x) + ceil(y)",
    "x**2 if x > y else y**2",
    "(x > 1)*x**2 + (1 <= y < 5)*y",
]


@pytest.mark.parametrize("text", SMOOTH)
@given(x=st.floats(0.5, 4), y=st.floats(0.5, 4))
def test_slopes_are_derivatives(text, x, y):
    formula, h = ps.Formula(text, ("x", "y")), 1e-5
    corners = [
        abs(x - y),
        abs(x - 1),
        abs(2 * y - 1),
        abs(2 * y - x),
        abs(x - round(x)),
        abs(y - round(y)),
    ]
    if min(corners) < 1e-3:
        return
    differences = [
        (formula(x + h, y) - formula(x - h, y)) / (2 * h),
        (formula(x, y + h) - formula(x, y - h)) / (2 * h),
    ]
    slopes = [formula.slope(place)(x, y) for place in range(2)]
    np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-6)


def test_a_slope_has_slopes():
    assert ps.Formula("x**4", "x").slope().slope()(2.0) == 48


def test_equal_operations_are_one_row():
    assert len(ps.Formula("sin(t)*sin(t) + sin(t)").graph.rows) == 4


def test_every_operation_has_a_derivative():
    texts = " + ".join(SMOOTH)
    rows = ps.Formula(texts, ("x", "y")).graph.rows
    assert {operation for operation, _ in rows} >= set(OPERATIONS) - {"le", "ne", "eq", "ge"}
