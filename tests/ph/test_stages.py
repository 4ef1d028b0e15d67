"""What a time step measures its residual by."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from poinsot.ph import stages


@given(blocks=st.lists(st.integers(1, 4), min_size=1, max_size=5), seed=st.integers(0, 9))
def test_every_entry_gets_the_largest_size_of_its_block(blocks, seed):
    sizes = np.random.default_rng(seed).uniform(0, 1, sum(blocks))
    parts = np.split(sizes, np.cumsum(blocks)[:-1])
    expected = np.concatenate([np.full(part.size, part.max()) for part in parts])
    np.testing.assert_array_equal(stages.largest_of_each(sizes, blocks), expected)


def test_layouts_of_many_systems_do_not_gather_in_memory():
    for size in range(1, 3 * stages.LAYOUTS):
        stages.largest_of_each(np.ones(size), [size])
    for table in (stages._starts, stages._owners):
        assert table.cache_info().currsize <= stages.LAYOUTS
