"""The time axis: the same whether it is asked step by step or for many steps."""

import numpy as np
import pytest

from poinsot.ph.runner import Clock

CLOCKS = [
    Clock(0.0, 1.0, 0.1, 10),
    Clock(2.0, 2.95, 0.1, 10),
    Clock(1e5, 1e5 + 0.7, 0.7 / 699, 699),
]


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_span_is_the_times_of_its_steps(clock):
    for first, last in [(0, clock.steps), (3, 7), (4, 4), (clock.steps - 1, clock.steps)]:
        times = [clock.at(n) for n in range(first, last + 1)]
        np.testing.assert_array_equal(clock.span(first, last), times)


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_last_step_ends_exactly_at_the_end(clock):
    assert clock.at(clock.steps) == clock.span(0, clock.steps)[-1] == clock.end
    assert clock.at(0) == clock.start


def test_all_steps_but_the_last_are_as_long_as_asked_for():
    lengths = np.diff(Clock(2.0, 2.95, 0.1, 10).span(0, 10))
    np.testing.assert_allclose(lengths, [0.1] * 9 + [0.05], rtol=1e-12)
