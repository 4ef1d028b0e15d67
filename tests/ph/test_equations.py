"""Sparse equations have the dependent rows and the shortest solutions that dense ones have."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import seeds

from poinsot.ph.dependence import dependent_rows, spanning_rows
from poinsot.ph.equations import independent, shortest_solution

DEPENDENT = 1e-7


@st.composite
def matrices(draw):
    """A sparse matrix some of whose rows are combinations of earlier ones, zero or repeated."""
    m, n, seed = draw(st.integers(1, 25)), draw(st.integers(1, 20)), draw(seeds)
    random = np.random.default_rng(seed)
    A = random.standard_normal((m, n)) * (random.random((m, n)) < random.uniform(0.1, 0.8))
    for k in range(1, m):
        fate = random.random()
        if fate < 0.3:
            others = random.integers(k, size=3)
            A[k] = random.standard_normal(3) @ A[others]
        elif fate < 0.35:
            A[k] = 0.0
    A *= 10.0 ** random.uniform(-2, 2, (m, 1))
    return A, random


def grid(n):
    """The edges of an n x n grid of knots as rows, +1 at one end and -1 at the other."""
    number = np.arange(n * n).reshape(n, n)
    pairs = np.vstack(
        [
            np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
            np.column_stack([number[:-1].ravel(), number[1:].ravel()]),
        ]
    )
    edges = np.arange(len(pairs))
    entries = np.concatenate([np.ones(len(pairs)), -np.ones(len(pairs))])
    places = np.concatenate([edges, edges]), pairs.T.ravel()
    return sp.csr_array((entries, places), shape=(len(pairs), n * n)), pairs


@settings(max_examples=200, deadline=None)
@given(case=matrices(), width=st.integers(1, 7))
def test_dependent_rows_are_the_same_for_sparse_matrices(case, width):
    A, _ = case
    expected = dependent_rows(A, DEPENDENT)
    assert np.array_equal(dependent_rows(sp.csr_array(A), DEPENDENT, width=width), expected)
    assert independent(sp.csr_array(A), DEPENDENT, width=width) == independent(A, DEPENDENT)
    assert independent(A, DEPENDENT) == (not expected.any())


@settings(max_examples=100, deadline=None)
@given(case=matrices(), width=st.integers(1, 7))
def test_spanning_rows_are_independent_and_span_all(case, width):
    A, _ = case
    rows = spanning_rows(sp.csr_array(A), DEPENDENT, width=width)
    scaled = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    assert rows.size == np.linalg.matrix_rank(scaled, tol=1e-7)
    assert rows.size == np.linalg.matrix_rank(scaled[rows], tol=1e-7)


@settings(max_examples=200, deadline=None)
@given(case=matrices())
def test_shortest_solutions_are_the_same_for_sparse_matrices(case):
    A, random = case
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    b = A @ random.standard_normal(A.shape[1])
    expected, found = shortest_solution(A, b), shortest_solution(sp.csr_array(A), b)
    # Both are solutions, and neither is longer than the other.
    assert np.abs(A @ found - b).max() <= 1e-10 * np.abs(b).max()
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(expected), rel=1e-9)


@settings(max_examples=50, deadline=None)
@given(case=matrices())
def test_contradicting_sparse_equations_are_solved_roughly_in_least_squares(case):
    A, random = case
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    b = random.standard_normal(A.shape[0])
    best = np.linalg.norm(A @ shortest_solution(A, b) - b)
    found = np.linalg.norm(A @ shortest_solution(sp.csr_array(A), b) - b)
    assert found <= 1.1 * best + 1e-9


def test_equations_without_entries_have_the_solution_zero():
    assert not shortest_solution(sp.csr_array((3, 5)), np.ones(3)).any()
    assert not shortest_solution(sp.csr_array((0, 5)), np.ones(0)).any()
    assert dependent_rows(sp.csr_array((3, 5)), DEPENDENT).all()
    assert not independent(sp.csr_array((3, 5)), DEPENDENT)


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_edges_that_close_a_loop_of_a_large_grid_are_found(shuffled):
    """A row depends on earlier ones if its edge connects what is already connected."""
    A, pairs = grid(30)
    order = np.random.default_rng(0).permutation(len(pairs)) if shuffled else np.arange(len(pairs))
    top = np.arange(A.shape[1])

    def root(k):
        while top[k] != k:
            k = top[k]
        return k

    closing = []
    for a, b in pairs[order]:
        closing.append(root(a) == root(b))
        top[root(a)] = root(b)
    assert np.array_equal(dependent_rows(A[order], DEPENDENT), closing)
    assert spanning_rows(A[order], DEPENDENT).size == A.shape[1] - 1


def test_the_currents_of_a_large_grid_are_the_shortest():
    """Potentials at the knots with given differences along edges: their mean is zero."""
    A, _ = grid(40)
    height = np.random.default_rng(0).standard_normal(A.shape[1])
    x = shortest_solution(A, A @ height)
    np.testing.assert_allclose(x, height - height.mean(), atol=1e-10)


@pytest.mark.parametrize("n", [300, 3000, 10000])
def test_ill_conditioned_equations_are_solved(n):
    """A string under load: the smallest singular value falls with the square of its length."""
    sides = [np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)]
    A = sp.diags_array(sides, offsets=[-1, 0, 1], format="csr")
    b = np.random.default_rng(0).standard_normal(n)
    x = shortest_solution(A, b)
    assert np.abs(A @ x - b).max() <= 1e-14 * np.abs(x).max()
