"""Python functions that kernels call by their address."""

import ctypes

import numpy as np
import pytest

from poinsot.kernels.laws import _SIGNATURE, Law, call_law


def call(law, *given):
    """As a kernel does: read numbers, write numbers."""
    found = np.full(law.sizes[1], 7.0)
    call_law(law.address, np.array(given, dtype=float), found)
    return found


def test_a_law_reads_what_it_is_given_and_writes_what_it_finds():
    law = Law(lambda x: [x[0] + x[1], x[0] * x[1], 5.0], 2, 3)
    np.testing.assert_array_equal(call(law, 3, 4), [7, 12, 5])


def test_a_law_that_changes_its_argument_changes_nothing_else():
    def spoil(x):
        x[:] = 0
        return [1.0]

    given = np.array([3.0, 4.0])
    call_law(Law(spoil, 2, 1).address, given, np.zeros(1))
    np.testing.assert_array_equal(given, [3, 4])


def interrupt(x):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "wrong", [lambda x: 1 / 0, lambda x: [1.0, 2.0], lambda x: "text", interrupt]
)
def test_a_law_that_fails_finds_nothing_but_nan(wrong):
    law = Law(wrong, 1, 3)
    assert np.isnan(call(law, 1.0)).all()


def test_an_address_is_that_of_a_function():
    law = Law(lambda x: 2 * x, 1, 1)
    source, target = (ctypes.c_double * 1)(4.0), (ctypes.c_double * 1)(0.0)
    _SIGNATURE(law.address)(source, target, 1)
    assert target[0] == 8


def test_slopes_are_asked_for_only_where_they_are_wanted():
    asked = []

    def slopes(x):
        asked.append(x)
        return [2 * x[0]]

    law, found = Law(lambda x: x**2, 1, 2, slopes, 1), np.zeros(2)
    call_law(law.address, np.array([3.0]), found, False)
    assert (found[0], asked) == (9.0, [])
    call_law(law.address, np.array([4.0]), found, True)
    np.testing.assert_array_equal(found, [16, 8])
