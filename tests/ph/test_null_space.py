"""Sparse null spaces."""

import numpy as np
import pytest
import scipy.sparse as sp

from poinsot.ph.null_space import null_space


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize(
    ("rows", "columns", "density"), [(12, 30, 0.2), (120, 200, 0.02), (9, 9, 0)]
)
def test_the_basis_is_orthonormal_and_complete_whatever_repeats(rows, columns, density, width):
    rng = np.random.default_rng(rows)
    A = sp.random_array((rows, columns), density=density, rng=rng, format="csr")
    A = sp.csr_array(sp.vstack([A, 2 * A[:3] + A[1:4]]))
    P = null_space(A, 1e-10, width=width)
    assert P.shape == (columns, columns - np.linalg.matrix_rank(A.toarray()))
    np.testing.assert_allclose((P.T @ P).toarray(), np.eye(P.shape[1]), atol=1e-13)
    np.testing.assert_allclose((A @ P).toarray(), 0, atol=1e-13)


def test_rows_that_have_nothing_in_common_leave_vectors_of_their_own():
    one = sp.csr_array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])
    P = null_space(sp.csr_array(sp.block_diag([one] * 50)), 1e-10)
    assert P.shape == (150, 50)
    assert P.nnz == 150
