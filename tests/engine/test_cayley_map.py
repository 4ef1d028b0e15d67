"""Cayley's map of a step and the small algebra, against NumPy."""

import numpy as np
import pytest
from numerics import jacobian

from poinsot.engine.tiles import pack
from poinsot.kernels import algebra, cayley

random = np.random.default_rng(0)
a, b, c = (tuple(random.standard_normal(3)) for _ in range(3))
A, B = (tuple(map(tuple, random.standard_normal((3, 3)))) for _ in range(2))


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def C(x):
    """(I - [x])^-1: from the directors at the start to those at the midpoint."""
    return np.linalg.inv(np.eye(3) - skew(x))


ALGEBRA = {
    "add": (algebra.add(a, b), np.add(a, b)),
    "sub": (algebra.sub(a, b), np.subtract(a, b)),
    "scale": (algebra.scale(2.5, a), 2.5 * np.array(a)),
    "axpy": (algebra.axpy(2.5, a, b), 2.5 * np.array(a) + b),
    "dot": (algebra.dot(a, b), np.dot(a, b)),
    "cross": (algebra.cross(a, b), np.cross(a, b)),
    "size": (algebra.size(a), max(np.abs(a))),
    "combine": (algebra.combine(a, A), a @ np.array(A)),
    "apply": (algebra.apply(A, b), np.array(A) @ b),
    "plus": (algebra.plus(A, B), np.add(A, B)),
    "minus": (algebra.minus(A, B), np.subtract(A, B)),
    "times": (algebra.times(2.5, A), 2.5 * np.array(A)),
    "multiply": (algebra.multiply(A, B), np.array(A) @ B),
    "outer": (algebra.outer(a, b), np.outer(a, b)),
    "skew": (algebra.skew(a), skew(a)),
    "skew_times": (algebra.skew_times(a, B), skew(a) @ B),
    "times_skew": (algebra.times_skew(A, b), np.array(A) @ skew(b)),
    "adjugate": (algebra.adjugate(A)[0], np.linalg.det(A) * np.linalg.inv(A)),
    "determinant": (algebra.adjugate(A)[1], np.linalg.det(A)),
}
CAYLEY = {
    "change": (cayley.change(a, b), C(a) @ b - b),
    "turn_back": (cayley.turn_back(a, b), C(a).T @ b),
    "cayley": (cayley.cayley(a), C(a)),
    "lever": (cayley.lever(a, b), C(a) @ skew(b)),
    "leading": (cayley.leading(0.1, a), -0.05 * C(a)),
}


@pytest.mark.parametrize("name", [*ALGEBRA, *CAYLEY])
def test_vectors_and_matrices_are_those_of_numpy(name):
    found, expected = (ALGEBRA | CAYLEY)[name]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


def test_arrays_are_read_and_written_row_by_row():
    table = np.arange(24.0).reshape(2, 12)
    assert algebra.vector(table, 1, 2) == (14, 15, 16)
    assert algebra.matrix(table, 0, 3) == ((3, 4, 5), (6, 7, 8), (9, 10, 11))
    algebra.put_matrix(table, 1, 0, A)
    algebra.put(table, 1, 9, a)
    algebra.gather(table, 1, 9, b)
    np.testing.assert_allclose(table[1], [*np.reshape(A, -1), *np.add(a, b)], rtol=1e-14)


def test_tiles_are_matrices_by_columns_with_a_zero_each():
    tiles = np.zeros((2, 12))
    algebra.put_tile(tiles, 1, A)
    algebra.add_tile(tiles, 1, B)
    np.testing.assert_allclose(algebra.tile(tiles, 1), np.add(A, B), rtol=1e-14)
    algebra.put_row(tiles, 1, 2, a)
    algebra.put_column(tiles, 1, 0, b)
    expected = np.add(A, B)
    expected[2], expected[:, 0] = a, b
    np.testing.assert_allclose(pack(expected[None])[0], tiles[1], rtol=1e-14)
    found = algebra.apply_columns(algebra.columns(tiles, 1), c)
    np.testing.assert_allclose(found, [*(expected @ c), 0], rtol=1e-14)
    found = algebra.less(found, algebra.columns(tiles, 1), c)
    np.testing.assert_allclose(found, np.zeros(4), atol=1e-15)


def test_the_end_of_a_step_is_a_rotation_whose_axis_stays():
    R = 2 * np.array(cayley.cayley(a)) - np.eye(3)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose(R @ a, a, rtol=1e-14)
    turned = 2 * np.arctan(np.linalg.norm(a))
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(turned), rel=1e-13)


def test_a_step_is_a_midpoint_rule():
    """R1 - R0 = h [w] R_mid with a = h w / 2."""
    R_mid = np.array(cayley.cayley(a))
    np.testing.assert_allclose(2 * R_mid - 2 * np.eye(3), 2 * skew(a) @ R_mid, atol=1e-14)


def test_a_vector_at_the_midpoint_changes_by_the_lever():
    """d(C x)/da = -C [C x], which is -lever(a, C x)."""
    slope = jacobian(lambda y: cayley.change(tuple(y), b), a)
    np.testing.assert_allclose(slope, -np.array(cayley.lever(a, tuple(C(a) @ b))), atol=1e-9)
