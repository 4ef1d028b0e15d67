"""What a time step measures its residual by, and repeated constraints combined."""

import numpy as np
import pytest
import scipy.sparse as sp
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
    assert stages._layout.cache_info().currsize <= stages.LAYOUTS


# -- repeated constraints combined to independent ones ---------------------------------------------

#: Of four constraints the first two repeat each other.
T = np.array([[0, 0, 1.0, 0], [0, 0, 0, 1.0], [0.6, 0.8, 0, 0]])


def constrained(T):
    """Stage equations of which nothing is known but what combines their constraints."""
    unknown = dict.fromkeys(stages.ConstrainedStages.__abstractmethods__)
    kind = type("Stages", (stages.ConstrainedStages,), unknown | {"combination": lambda self: T})
    return kind(scheme=None, t=0.0, x0=np.zeros(5), u=np.zeros(0), h=0.1)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_constraint_keeps_its_name_and_a_combination_is_a_loop(kind):
    assert constrained(kind(T)).combined_labels(["a", "b", "c", "d"]) == ["c", "d", "loop"]
    assert constrained(None).combined_labels(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("combination", [T, None], ids=["repeated", "independent"])
def test_combined_rows_and_spread_multipliers_do_the_same_work(kind, combination):
    step = constrained(combination if combination is None else kind(combination))
    random = np.random.default_rng(0)
    rows, G = random.standard_normal(4), random.standard_normal((4, 5))
    mu = random.standard_normal(4 if combination is None else 3)
    assert step.combined(rows) @ mu == pytest.approx(rows @ step.spread(mu))
    force = G.T @ step.spread(mu)
    np.testing.assert_allclose(step.pull(kind(G)) @ mu, force, rtol=0, atol=1e-14)
    np.testing.assert_allclose(step.combined(G).T @ mu, force, rtol=0, atol=1e-14)
