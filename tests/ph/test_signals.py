"""Inputs over time: constants and tables, evaluated one by one or at many times at once."""

import numpy as np
import pytest
from parts import mass

import poinsot as ps
from poinsot import ph
from poinsot.ph.signals import Constant, Table, as_signal

TIMES = [0.0, 1.0, 3.0]


def test_a_table_is_linear_between_its_times():
    table = Table(TIMES, [0.0, 2.0, -2.0])
    assert table(0.5) == pytest.approx([1.0])
    assert table(2.0) == pytest.approx([0.0])


def test_a_table_has_its_values_at_its_times():
    values = [0.3, 2.1, -2.7]
    assert [float(Table(TIMES, values)(t)[0]) for t in TIMES] == values


def test_a_table_is_constant_before_its_first_time_and_after_its_last():
    table = Table(TIMES, [5.0, 2.0, -2.0])
    assert (table(-100.0)[0], table(100.0)[0]) == (5.0, -2.0)


def test_a_table_of_one_time_is_a_constant():
    assert [Table([2.0], [7.0])(t)[0] for t in (0, 2, 4)] == [7, 7, 7]


def test_every_column_of_a_table_is_a_component():
    table = Table(TIMES, [[0, 1, 2], [2, 1, 0], [4, 1, -4]])
    np.testing.assert_allclose(table(2.0), [3, 1, -2])


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 3)])
def test_a_table_at_many_times_is_the_table_at_each(shape):
    table = Table(TIMES, np.random.default_rng(0).standard_normal(shape))
    times = np.linspace(-1, 4, 23)
    np.testing.assert_array_equal(table.over(times), [table(t) for t in times])
    assert table.over(times[:0]).shape == (0, 3 if shape == (3, 3) else 1)


def test_a_table_keeps_copies():
    times, values = np.array(TIMES), np.array([1.0, 2.0, 3.0])
    table = Table(times, values)
    times[:], values[:] = 0, 0
    assert table(2.0)[0] == 2.5


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ([0, 1, 1], [1, 2, 3], "times must increase; 1 s follows 1 s"),
        ([0, 2, 1], [1, 2, 3], "times must increase; 1 s follows 2 s"),
        ([0, 1], [1, np.nan], "values must be finite"),
        ([0, 1], [1, np.inf], "values must be finite"),
        ([0, np.nan], [1, 2], "give at least one time, all of them finite"),
        ([0, np.inf], [1, 2], "give at least one time, all of them finite"),
        ([], [], "give at least one time"),
        ([0, 1], [1, 2, 3], "give one value for each time"),
        ([0, 1], [[1, 2, 3]], "give one value for each time"),
        ([[0, 1]], [[1, 2]], "give one value for each time"),
        (0.0, 1.0, "give one value for each time"),
        ([0, 1], np.zeros((2, 3, 1)), "give one value for each time"),
        (["a", "b"], [1, 2], "times and values must be numbers"),
        ([0, 1], [[1, 2], [3]], "times and values must be numbers"),
        ([0, 1], None, "times and values must be numbers|one value for each time"),
    ],
)
def test_what_is_no_table_is_refused(times, values, message):
    with pytest.raises(ps.InputError, match=f"Table: .*{message}"):
        Table(times, values)


def test_a_constant_is_the_same_at_many_times():
    np.testing.assert_array_equal(Constant(np.array(2.0)).over(np.zeros(2)), [[2], [2]])
    np.testing.assert_array_equal(Constant(np.array([1.0, 2])).over(np.zeros(2)), [[1, 2]] * 2)
    assert Constant(np.array([1.0, 2])).over(np.zeros(0)).shape == (0, 2)


def test_numbers_become_constants_and_functions_stay():
    table = Table(TIMES, TIMES)
    assert as_signal(np.cos) is np.cos
    assert as_signal(table) is table
    assert isinstance(as_signal([1, 2, 3]), Constant)
    assert as_signal("2*t")(3.0) == 6.0
    assert as_signal(["2*t", 1])(3.0).tolist() == [6.0, 1.0]
    with pytest.raises(ps.InputError, match="unknown name 'fast'"):
        as_signal("fast")
    with pytest.raises(ps.InputError, match=r"a formula in t, or numbers\), got {}"):
        as_signal({})


@pytest.mark.parametrize("signal", [None, 2.0, Table(TIMES, [0, 3, 1.0]), lambda t: np.cos(t)])
def test_a_port_at_many_times_is_the_port_at_each(signal):
    port = ph.Port("p", signal=None if signal is None else as_signal(signal))
    times = np.linspace(0, 3, 7)
    np.testing.assert_array_equal(port.u_over(times), [port.u(t) for t in times])


@pytest.mark.parametrize("signal", [Table(TIMES, np.ones((3, 2))), Constant(np.ones(2))])
def test_a_port_refuses_a_signal_of_another_size(signal):
    port = ph.Port("p", 3, signal=signal)
    with pytest.raises(ps.InputError, match=r"port 'p': the input at t = 1 s has shape \(2,\)"):
        port.u_over(np.array([1.0, 2.0]))


def test_a_port_names_the_first_time_at_which_its_input_is_not_finite():
    port = ph.Port("p", signal=lambda t: np.inf if t > 1.5 else 0.0)
    with pytest.raises(ps.InputError, match=r"port 'p': the input at t = 2 s is \[inf\]"):
        port.u_over(np.array([1.0, 2.0, 3.0]))


def test_a_table_drives_a_system_like_the_function_it_tabulates():
    """A ramp of 2 N/s on 2 kg: v = t^2/2, and the midpoint rule is exact for it."""
    result = ps.simulate(mass(m=2.0), h=0.1, t_end=1, inputs={"mass.force": Table([0, 1], [0, 2])})
    np.testing.assert_allclose(result["mass.p"], result.time**2, atol=1e-14)
