"""Linear systems: H = x·E^T Q x/2, and no matrix that breaks the structure gets in."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SINGULARITIES, as_system, random_matrices, seeds

import poinsot as ps
from poinsot import ph

GOOD = {"J": [[0, 1], [-1, 0]], "Q": [[2, 0], [0, 3]]}


def make(**changes):
    return ph.linear("box", states=["q", "p"], **{**GOOD, **changes})


@settings(max_examples=20)
@given(seed=seeds, n=st.integers(2, 6), singularity=st.sampled_from(SINGULARITIES))
def test_energy_and_costate_are_those_of_the_matrices(seed, n, singularity):
    matrices = random_matrices(seed, n, 1, singularity)
    system = as_system(matrices)
    x = np.random.default_rng(seed).standard_normal(n)
    E, Q = matrices["E"], matrices["Q"]
    assert system.H(x) == pytest.approx(x @ E.T @ Q @ x / 2, rel=1e-12, abs=1e-12)
    assert np.allclose(system.z(x), Q @ x)
    assert np.allclose(system.grad_H(x), E.T @ Q @ x)
    assert list(system.algebraic) == [not column.any() for column in E.T]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"J": [[0, 1], [-0.5, 0]]}, "J is not skew-symmetric"),
        ({"R": [[1, 0.5], [0, 1]]}, "R is not symmetric"),
        ({"R": [[1, 0], [0, -1e-3]]}, "R is not positive semi-definite"),
        ({"R": [[0, 1], [1, 0]]}, "R is not positive semi-definite"),
        ({"Q": [[1, 1], [0, 1]]}, "E^T Q is not symmetric"),
    ],
)
def test_a_matrix_that_breaks_the_structure_is_refused_at_once(changes, message):
    with pytest.raises(ps.StructureError) as error:
        make(**changes)
    assert str(error.value).startswith(f"system 'box': {message}")
    assert "defect is" in str(error.value)


@pytest.mark.parametrize("letter", ["J", "R", "Q", "E", "B"])
def test_a_matrix_of_wrong_shape_is_named_with_both_shapes(letter):
    ports = [ph.Port("a")] if letter == "B" else []
    expected = (2, 1) if letter == "B" else (2, 2)
    with pytest.raises(ps.InputError) as error:
        make(**{letter: np.zeros((3, 3))}, ports=ports)
    assert f"system 'box': {letter}: shape (3, 3), expected {expected}" in str(error.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_with_nan_or_infinity_is_named(bad):
    with pytest.raises(ps.InputError, match="system 'box': Q: contains NaN or infinity"):
        make(Q=[[bad, 0], [0, 1]])


def test_a_matrix_of_words_is_named():
    with pytest.raises(ps.InputError, match="system 'box': Q: not a matrix of numbers"):
        make(Q=[["a", 0], [0, 1]])


def test_B_without_ports_is_refused():
    with pytest.raises(ps.InputError, match=r"system 'box': B"):
        make(B=[[0], [1]])


def test_round_off_in_the_matrices_is_forgiven():
    make(J=[[0, 1], [-1 - 1e-15, 0]], R=[[1, 1 + 1e-15], [1, 1]])


def test_sparse_matrices_give_the_same_run_as_dense_ones():
    matrices = random_matrices(3, 6, 2, "aligned")
    dense = as_system(matrices)
    thin = as_system({key: sparse.csr_array(value) for key, value in matrices.items()})
    x0 = ph.consistent_state(dense, np.ones(6))
    run = [ps.simulate(s, h=0.05, t_end=1, x0=x0) for s in (dense, thin)]
    for name in run[0].states:
        assert np.allclose(run[0][name], run[1][name], rtol=1e-12, atol=1e-12)


# -- names ------------------------------------------------------------------------------------


def test_duplicate_names_are_refused_with_a_remedy():
    with pytest.raises(ps.InputError, match=r"state name 'q' is used twice; rename one"):
        ph.linear("box", states=["q", "q"], **GOOD)
    with pytest.raises(ps.InputError, match=r"port name 'a' is used twice; rename one"):
        make(B=np.ones((2, 2)), ports=[ph.Port("a"), ph.Port("a")])


def test_a_state_needs_a_name_and_a_size():
    with pytest.raises(ps.InputError, match="needs a name"):
        ph.State("")
    with pytest.raises(ps.InputError, match=r"a state needs a name .a string., got 1"):
        ph.State(1)
    with pytest.raises(ps.InputError, match=r"a system needs a name .a string., got 1"):
        ph.linear(1, states=["q", "p"], **GOOD)
    with pytest.raises(ps.InputError, match="state 'q'"):
        ph.State("q", 0)


def test_a_state_is_made_from_names_or_numbers():
    system = ph.linear("box", states=["q", ph.State("p", 2)], J=np.zeros((3, 3)), Q=np.eye(3))
    assert list(system.state({"p": [1, 2]})) == [0, 1, 2]
    assert list(system.state([3, 4, 5])) == [3, 4, 5]
    assert system.labels == ("q", "p[0]", "p[1]")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2, 3], r"the state has 3 entries, expected 2 \(q, p\)"),
        ({"q": [1, 2]}, "state 'q' has 2 entries, expected 1"),
        ({"Q": 1}, "no state 'Q'; known: 'q', 'p'"),
        ({"q": np.nan}, "state 'q' is nan, not finite"),
        ([0, np.inf], "state 'p' is inf, not finite"),
    ],
)
def test_a_bad_state_says_which_entry_and_what_is_expected(values, message):
    with pytest.raises(ps.InputError, match=f"system 'box': {message}"):
        make().state(values)


def test_an_unknown_state_gets_a_suggestion():
    system = ph.linear("box", states=["velocity", "p"], **GOOD)
    with pytest.raises(ps.InputError, match="no state 'velocty'; did you mean 'velocity'"):
        system.state({"velocty": 1})


def test_an_unknown_port_gets_a_suggestion():
    system = make(B=[[0], [1]], ports=[ph.Port("motor")])
    with pytest.raises(ps.InputError, match="system 'box': no port 'moter'; did you mean 'motor'"):
        system.port("moter")


def test_prefixed_renames_states_and_ports_only():
    system = make(B=[[0], [1]], ports=[ph.Port("motor")]).prefixed("left")
    assert [s.name for s in system.states] == ["left.q", "left.p"]
    assert [p.name for p in system.ports] == ["left.motor"]
    assert system.H(np.array([1.0, 1.0])) == pytest.approx(2.5)
