"""Repeated constraints combined to independent ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from poinsot.ph.combining import combined, labels_of, spread_out

#: Of four constraints the first two repeat each other.
T = np.array([[0, 0, 1.0, 0], [0, 0, 0, 1.0], [0.6, 0.8, 0, 0]])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_constraint_keeps_its_name_and_a_combination_is_a_loop(kind):
    assert labels_of(kind(T), ["a", "b", "c", "d"]) == ["c", "d", "loop"]
    assert labels_of(None, ["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_combined_rows_and_spread_multipliers_do_the_same_work(kind):
    random = np.random.default_rng(0)
    rows, mu = random.standard_normal(4), random.standard_normal(3)
    assert combined(kind(T), rows) @ mu == pytest.approx(rows @ spread_out(kind(T), mu))
    assert combined(None, rows) is spread_out(None, rows) is rows
