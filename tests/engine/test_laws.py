"""Python functions that kernels call by their address."""

import numpy as np
import pytest

from poinsot.kernels.laws import Law, call_law, law_energy


def call(law, *given):
    """As a kernel does: read numbers, write numbers."""
    found = np.full(law.sizes[1], 7.0)
    call_law(law.address, np.array(given, dtype=float), found, True)
    return found


def test_a_law_reads_what_it_is_given_and_writes_what_it_finds():
    law = Law(lambda x, wanted: [x[0] + x[1], x[0] * x[1], 5.0], 2, 3)
    np.testing.assert_array_equal(call(law, 3, 4), [7, 12, 5])


def test_a_law_follows_its_numbers_to_another_place():
    law = Law(lambda x, wanted: [2 * x[0]], 1, 1)
    rooms = [(np.array([float(k)]), np.zeros(1)) for k in range(5)]
    for k in (0, 1, 0, 2, 3, 3, 4, 1):
        given, found = rooms[k]
        found[0] = -1.0
        call_law(law.address, given, found, False)
        assert found[0] == 2 * k


def test_a_law_that_changes_its_argument_changes_nothing_else():
    def spoil(x, wanted):
        x[:] = [0.0]
        return [1.0]

    given = np.array([3.0, 4.0])
    call_law(Law(spoil, 2, 1).address, given, np.zeros(1), True)
    np.testing.assert_array_equal(given, [3, 4])


def interrupt(x, wanted):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, wanted: 1 / 0,
        lambda x, wanted: [1.0, 2.0],
        lambda x, wanted: [1.0],
        lambda x, wanted: 1.0,
        lambda x, wanted: "123",
        interrupt,
    ],
)
def test_a_law_that_fails_finds_nothing_but_nan(wrong):
    law = Law(wrong, 1, 3)
    assert np.isnan(call(law, 1.0)).all()


def test_slopes_are_asked_for_only_where_they_are_wanted():
    asked = []

    def square(x, wanted):
        asked.append(wanted)
        return [x[0] ** 2, 2 * x[0]][: 1 + wanted]

    law, found = Law(square, 1, 1, 1), np.full(2, 7.0)
    call_law(law.address, np.array([3.0]), found, False)
    np.testing.assert_array_equal(found, [9, 7])
    call_law(law.address, np.array([4.0]), found, True)
    np.testing.assert_array_equal(found, [16, 8])
    assert asked == [0, 1]


def test_an_energy_is_asked_for_by_itself():
    law = Law(lambda x, wanted: [5.0] if wanted == 2 else [1.0, 2.0], 1, 2)
    assert law_energy(law.address, np.zeros(1), np.zeros(2)) == 5.0
