"""Quadratic forms: values by hand, derivatives by differences, increments by the midpoint."""

import numpy as np
import pytest
from numerics import directions, jacobian

from poinsot.frames.forms import GROUND, components, direction, dot, half_square, point
from poinsot.frames.stacks import stack
from poinsot.ph.matrices import SPARSE_FROM, dense, is_sparse

COUNTS = (2, SPARSE_FROM // 12 + 1)  # dense and sparse


def vectors(count, seed):
    """Points and directions of the first, the last body and the ground, with their values."""
    random = np.random.default_rng(seed)
    X, a, w = random.standard_normal((3, 3))
    last = count - 1

    def values(q):
        blocks = q.reshape(-1, 4, 3)
        return (
            blocks[0, 0] + X @ blocks[0, 1:],
            a @ blocks[last, 1:],
            w,
        )

    return (point(0, X), direction(last, a), point(GROUND, w)), values


def stacked(count, seed):
    """Every way to make a form, and the same by hand."""
    (p, d, g), values = vectors(count, seed)
    forms = [
        dot(p, d, minus=0.3),
        dot(p - g, d),
        half_square(p - g, 1.5),
        half_square(d),
        *components(p - d),
        dot(d, g),
    ]

    def by_hand(q):
        p_, d_, g_ = values(q)
        r = p_ - g_
        return np.array(
            [p_ @ d_ - 0.3, r @ d_, (r @ r - 1.5**2) / 2, d_ @ d_ / 2, *(p_ - d_), d_ @ g_]
        )

    return stack(forms, count), by_hand


@pytest.mark.parametrize("count", COUNTS)
def test_a_form_is_the_product_of_its_vectors(count):
    forms, by_hand = stacked(count, 1)
    q = np.random.default_rng(2).standard_normal(12 * count)
    np.testing.assert_allclose(forms(q), by_hand(q), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("count", COUNTS)
def test_the_jacobian_is_the_derivative_of_the_forms(count):
    forms, by_hand = stacked(count, 3)
    q = np.random.default_rng(4).standard_normal(12 * count)
    assert is_sparse(forms.G(q)) == (count > 2)
    along = directions(q.size)
    np.testing.assert_allclose(forms.G(q) @ along, jacobian(by_hand, q, along=along), atol=1e-10)


@pytest.mark.parametrize("count", COUNTS)
def test_slope_and_curvature_are_the_second_derivatives(count):
    forms, by_hand = stacked(count, 5)
    random = np.random.default_rng(6)
    q, v = random.standard_normal((2, 12 * count))
    weights = random.standard_normal(forms.m)
    G = lambda x: dense(forms.G(x))  # noqa: E731
    along = directions(q.size)
    slope = jacobian(lambda x: G(x) @ v, q, along=along)
    np.testing.assert_allclose(forms.slope(v) @ along, slope, atol=1e-10)
    curvature = jacobian(lambda x: G(x).T @ weights, q, along=along)
    np.testing.assert_allclose(forms.curvature(weights) @ along, curvature, atol=1e-10)
    # and of the values themselves, so that G cannot be wrong along with them
    second = (weights @ by_hand(q + v) - 2 * weights @ by_hand(q) + weights @ by_hand(q - v)) / 2
    assert v @ (dense(forms.curvature(weights)) @ v) / 2 == pytest.approx(second, abs=1e-11)


@pytest.mark.parametrize("count", COUNTS)
def test_the_midpoint_jacobian_gives_the_exact_increment(count):
    """[LKB26, eq. (56)]."""
    forms, by_hand = stacked(count, 7)
    q0, q1 = np.random.default_rng(8).standard_normal((2, 12 * count))
    increment = forms.G((q0 + q1) / 2) @ (q1 - q0)
    np.testing.assert_allclose(increment, by_hand(q1) - by_hand(q0), atol=1e-12)
