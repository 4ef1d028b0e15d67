"""Which rows of a redundant loop are kept: the same as long as they are well conditioned."""

import numpy as np
import pytest
import scipy.sparse as sp
from test_repeated_constraints import four_bar, ladder

import poinsot as ps
from poinsot.ph.matrices import dense
from poinsot.systems.redundancy import COEFFICIENT, kept_rows

KINDS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def rows(angle):
    """Two directions, and a third one at an angle [rad] to the first: one of three repeats."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0, 0], [c, s, 0], [0, 1.0, 0]])


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.8])
def test_rows_that_were_found_independent_are_kept_while_they_are_well_conditioned(kind, angle):
    repeated = np.array([False, False, True])
    np.testing.assert_array_equal(kept_rows(kind(rows(angle)), repeated), ~repeated)


@pytest.mark.parametrize("angle", [1e-2, 1e-4, 0.0])
def test_others_are_taken_where_coefficients_would_be_large(kind, angle):
    """The third row is 1/sin(angle) times a difference of the first two."""
    assert angle < 1 / COEFFICIENT
    repeated = np.array([False, False, True])
    np.testing.assert_array_equal(kept_rows(kind(rows(angle)), repeated), [True, False, True])


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_choice_does_not_depend_on_the_size_of_rows(kind, unit):
    J = rows(1e-3) * np.array([[1.0], [unit], [1 / unit]])
    found = kept_rows(kind(J), np.array([False, False, True]))
    np.testing.assert_array_equal(found, [True, False, True])


@pytest.mark.parametrize("model", [four_bar, lambda: ladder(2), lambda: ladder(12)])
def test_kept_rows_are_as_well_conditioned_as_all_rows_but_for_a_factor(model):
    system = model().compile()
    (loop,) = system.mechanism.loops
    q = system.start[: system.mechanism.n]
    J, kept = dense(loop.jacobian(q)), loop.independent(q)
    J = J / np.linalg.norm(J, axis=1, keepdims=True)
    rank = np.count_nonzero(kept)
    all_rows = np.linalg.svd(J, compute_uv=False)
    assert all_rows[rank:].max(initial=0.0) < 1e-12 * all_rows[0]
    least = np.linalg.svd(J[kept], compute_uv=False)[-1]
    assert least > all_rows[rank - 1] / (COEFFICIENT * J.shape[0])


def test_the_choice_depends_on_the_place_alone_and_not_on_the_way_there():
    mechanism = four_bar().compile().mechanism
    q = four_bar().compile().start[: mechanism.n]
    first = mechanism.independent(q)
    mechanism.independent(q + 0.1)
    np.testing.assert_array_equal(mechanism.independent(q), first)


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_large_loops_have_the_same_reactions_in_both_engines(scheme):
    """Ladders from some size on are solved by sparse matrices."""
    model = ladder(12)
    one, other = (
        ps.simulate(model, scheme=scheme, h=0.01, t_end=0.03, engine=engine, progress=False)
        for engine in ("reference", "compiled")
    )
    assert one.constraint_error.max() < 1e-12
    for name in ("foot3", "tip7", "top12"):
        np.testing.assert_allclose(one.reaction(name).force, other.reaction(name).force, atol=1e-6)
