"""Systems of Python functions: checked shapes, missing derivatives named."""

import warnings

import numpy as np
import pytest
from parts import coupled_functions

import poinsot as ps
from poinsot import ph

J = np.array([[0, 1], [-1, 0]])


def make(**changes):
    parts = {
        "H": lambda x: x[0] ** 4 / 4 + x[1] ** 2 / 2,
        "z": lambda x: np.array([x[0] ** 3, x[1]]),
        "dz": lambda x: np.diag([3 * x[0] ** 2, 1]),
        "J": J,
    }
    return ph.from_functions("duffing", states=["q", "p"], **{**parts, **changes})


def test_a_complete_system_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make()
        coupled_functions(derivatives=True)


def test_the_warning_names_every_missing_derivative_and_no_other():
    with pytest.warns(ps.MissingDerivativeWarning) as caught:
        coupled_functions(derivatives=False)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "system 'functions': dz, dE, dJ, dR, dB, dr_dx, dr_dz not given" in message
    with pytest.warns(ps.MissingDerivativeWarning, match="'duffing': z, dz not given"):
        make(z=None, dz=None)


def test_missing_derivatives_give_the_same_motion():
    with pytest.warns(ps.MissingDerivativeWarning):
        bare = coupled_functions(derivatives=False)
    full = coupled_functions(derivatives=True)
    a, b = (ps.simulate(s, h=0.05, t_end=1, x0=[0.6, 0.4]) for s in (full, bare))
    assert np.allclose(a["q"], b["q"], rtol=0, atol=1e-12)
    assert np.allclose(a["p"], b["p"], rtol=0, atol=1e-12)


def test_E_without_z_is_refused():
    with pytest.raises(ps.InputError, match=r"'duffing': if E is given, z .* must be given"):
        make(z=None, E=np.eye(2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"z": lambda x: np.zeros(3)}, r"z has shape \(3,\), expected \(2,\)"),
        ({"r": lambda x, z: np.zeros(1), "dr_dx": None}, r"r has shape \(1,\), expected \(2,\)"),
        ({"J": lambda x: np.zeros((3, 3))}, r"J: shape \(3, 3\), expected \(2, 2\)"),
        ({"J": lambda x: J * np.nan}, "J: contains NaN or infinity"),
    ],
)
@pytest.mark.filterwarnings("ignore::poinsot.MissingDerivativeWarning")
def test_a_function_of_wrong_shape_is_named_before_the_first_step(changes, message):
    with pytest.raises(ps.InputError, match=f"system 'duffing': {message}"):
        ps.simulate(make(**changes), h=0.1, t_end=1, x0=[1, 0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"J": [[0, 1], [1, 0]]}, "J is not skew-symmetric"),
        ({"R": [[1, 0.5], [0, 1]]}, "R is not symmetric"),
        ({"R": [[0, 0], [0, -1]]}, "R is not positive semi-definite"),
    ],
)
def test_a_constant_matrix_that_breaks_the_structure_is_refused_at_once(changes, message):
    with pytest.raises(ps.StructureError, match=f"system 'duffing': {message}"):
        make(**changes)


def test_an_unknown_algebraic_state_is_named():
    with pytest.raises(ps.InputError, match="algebraic state 'lam' is not among its states"):
        make(algebraic=["lam"])


def test_algebraic_states_are_those_declared_or_seen_in_a_constant_E():
    seen = make(E=np.diag([1, 0]), z=lambda x: np.array([x[0] ** 3, x[1]]))
    assert list(seen.algebraic) == [False, True]
    declared = make(E=lambda x: np.diag([1, 0]), dE=lambda x, a: np.zeros((2, 2)), algebraic=["p"])
    assert list(declared.algebraic) == [False, True]
