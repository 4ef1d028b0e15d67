"""Systems of SymPy expressions: everything derived, nothing unresolved."""

import numpy as np
import pytest
import sympy as sp
from numerics import jacobian
from parts import ENERGIES, nonlinear, polar_particle, polar_rhs

import poinsot as ps
from poinsot import ph

q, p, k, lam = sp.symbols("q p k lam")
J = [[0, 1], [-1, 0]]


def make(**changes):
    parts = {"states": {"q": q, "p": p}, "H": p**2 / 2 + q**4 / 4, "J": J}
    return ph.symbolic("duffing", **{**parts, **changes})


def test_a_system_without_ports_can_be_made_and_run():
    result = ps.simulate(make(), h=0.1, t_end=1, x0=[1, 0])
    assert result.stats.steps == 10
    assert not result.ports


@pytest.mark.parametrize("kind", ENERGIES)
def test_costate_is_the_gradient_of_H(kind):
    system = nonlinear(kind)
    x = np.array([0.7, -0.4])
    expected = [sp.diff(ENERGIES[kind](q, p), s).subs({q: x[0], p: x[1]}) for s in (q, p)]
    assert np.allclose(system.z(x), np.array(expected, dtype=float), rtol=1e-14)


def test_costate_of_a_mass_matrix_is_solved_from_E():
    m = 2 + sp.cos(q)
    system = make(H=m * p**2 / 2 + q**2, E=sp.diag(1, m))
    x = np.array([0.7, -0.4])
    assert np.allclose(system.z(x), [-np.sin(0.7) * 0.16 / 2 + 1.4, -0.4])


def test_equations_of_motion_in_polar_coordinates_are_newtons():
    system = ph.feed(polar_particle(0.3), "torque", lambda t: 0.7)
    x = np.array([1.2, 0.4, -0.3, 0.8])
    slope = np.linalg.solve(system.E(x), system.flow(x, system.z(x), system.u(0.0)))
    assert np.allclose(slope, polar_rhs(0.3, lambda t: 0.7)(0.0, x), rtol=1e-13)


def test_multipliers_are_their_own_costate_and_algebraic():
    system = make(
        states={"q": q, "p": p, "lam": lam},
        E=sp.diag(1, 1, 0),
        J=[[0, 1, 0], [-1, 0, -1], [0, 1, 0]],
    )
    assert list(system.algebraic) == [False, False, True]
    assert system.z(np.array([1.0, 2.0, 3.0]))[2] == 3.0


def test_parameters_go_by_symbol_or_by_name():
    by_symbol = make(H=k * q**2, parameters={k: 3})
    by_name = make(H=k * q**2, parameters={"k": 3})
    positive = make(H=sp.Symbol("k", positive=True) * q**2, parameters={"k": 3})
    x = np.array([2.0, 0.0])
    assert by_symbol.H(x) == by_name.H(x) == positive.H(x) == 12


def test_quadratic_energies_are_recognised():
    assert make(H=p**2 + q * p + 3 * q).storages[0].quadratic
    assert not make().storages[0].quadratic


def test_an_unresolved_symbol_is_named_with_a_remedy():
    with pytest.raises(ps.InputError) as error:
        make(H=k * q**2)
    assert "system 'duffing': H contains k, neither state nor parameter" in str(error.value)
    assert "parameters={...}" in str(error.value)
    with pytest.raises(ps.InputError, match="system 'duffing': R contains k"):
        make(R=[[0, 0], [0, k]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"J": [[0, q], [q, 0]]}, "J is not skew-symmetric"),
        ({"R": [[0, q], [0, 1]]}, "R is not symmetric"),
        ({"R": [[-1, 0], [0, 1]]}, "R is not positive semi-definite"),
        ({"z": [q, p]}, "z is not the costate of H"),
    ],
)
def test_a_broken_structure_is_refused_at_once(changes, message):
    with pytest.raises(ps.StructureError, match=f"system 'duffing': .*{message}"):
        make(**changes)


def test_structure_that_holds_only_by_an_identity_is_recognised():
    entry = sp.sin(q) ** 2 + sp.cos(q) ** 2
    make(J=[[0, entry], [-1, 0]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"J": [[0]]}, r"J has shape \(1, 1\), expected \(2, 2\)"),
        ({"B": [[1], [0]]}, r"B has shape \(2, 1\), expected \(2, 0\)"),
        ({"states": {"q": q, "p": q}}, "a symbol is used for two states; use different symbols"),
        ({"E": sp.zeros(2, 2) + sp.Matrix([[1, 1], [1, 1]])}, "E is singular .* give z"),
    ],
)
def test_bad_expressions_are_named(changes, message):
    with pytest.raises(ps.InputError, match=f"system 'duffing': {message}"):
        make(**changes)


def test_a_state_outside_the_domain_of_H_is_refused_by_simulate():
    system = make(H=p**2 / 2 - sp.log(q))
    with pytest.raises(ps.InputError, match="system 'duffing': the energy at the initial state"):
        ps.simulate(system, h=0.1, t_end=1, x0=[-1, 0])


def test_constant_entries_between_varying_ones_are_kept():
    system = make(J=[[0, 1 + q**2], [-1 - q**2, 0]], R=[[2, 0], [0, sp.exp(p)]])
    x = np.array([0.5, 0.25])
    assert np.allclose(system.J(x), [[0, 1.25], [-1.25, 0]])
    assert np.allclose(system.R(x), [[2, 0], [0, np.exp(0.25)]])
    assert np.allclose(system.dz(x), jacobian(system.z, x), atol=1e-9)
