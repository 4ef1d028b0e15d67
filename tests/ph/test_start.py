"""A start satisfies the algebraic equations, or the equation that it violates is named."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from parts import cartesian_pendulum, mass
from strategies import linear_systems

import poinsot as ps
from poinsot import ph
from poinsot.gallery import find_example


def gear():
    law = ph.Transformer("a.force", "b.force", 0.5)
    return ph.interconnect(mass("a", 2.0), mass("b", 4.0), connections=law, name="gear")


def algebraic_residual(system, x, t=0.0):
    """The equations without derivative, found as the left kernel of E."""
    E = np.asarray(system.E(x))
    U, s, _ = np.linalg.svd(E)
    rank = int(np.sum(s > 1e-12))
    flow = (system.J(x) - system.R(x)) @ system.z(x) + system.B(x) @ system.u(t)
    return U[:, rank:].T @ flow


def test_an_inconsistent_start_names_the_equation_and_the_remedy():
    with pytest.raises(ps.InconsistentStartError) as error:
        ps.simulate(gear(), h=0.1, t_end=1, x0={"a.p": 1.0, "b.p": 0.0})
    message = str(error.value)
    assert "system 'gear'" in message
    assert "'lambda(a.force, b.force)' by 0.25" in message
    assert "consistent_state" in message


def test_a_start_off_its_hidden_velocity_constraint_is_refused():
    with pytest.raises(ps.InconsistentStartError, match="'lam'"):
        ps.simulate(cartesian_pendulum(), h=0.1, t_end=1, x0={"q": [0.6, -0.8], "v": [1.0, 1.0]})


def test_the_nearest_consistent_state_is_found():
    # The momenta must satisfy p_a/4 = p_b/4; the nearest such point to (1, 0) is (1/2, 1/2).
    x = ph.consistent_state(gear(), {"a.p": 1.0})
    assert np.allclose(x[:2], [0.5, 0.5], rtol=1e-12)
    ps.simulate(gear(), h=0.1, t_end=1, x0=x)


@settings(max_examples=30)
@given(case=linear_systems(singularities=("aligned", "permuted", "rotated")))
def test_consistent_states_satisfy_the_algebraic_equations(case):
    system, x0 = case
    x = ph.consistent_state(system, x0)
    assert np.abs(algebraic_residual(system, x)).max() <= 1e-8 * max(1, np.abs(x).max())


@settings(max_examples=20)
@given(case=linear_systems(singularities=("aligned",)))
def test_multipliers_left_out_are_filled_in(case):
    system, x0 = case
    stored = ~system.algebraic
    x = np.where(stored, x0, 0.0)
    result = ps.simulate(system, h=0.05, t_end=0.05, x0=x)
    start = np.array([result[name][0] for name in result.states])
    assert np.array_equal(start[stored], x[stored])
    assert np.abs(algebraic_residual(system, start)).max() <= 1e-8 * max(1, np.abs(x).max())


@pytest.mark.parametrize("scheme", ["ph-mp", "emh-mean"])
def test_a_start_of_a_mechanism_takes_no_singular_values(scheme, monkeypatch):
    """Those of E took most of the time of a short run, and many times as long with threads."""

    def refuse(*args, **options):
        raise AssertionError("singular values")

    monkeypatch.setattr(scipy.linalg, "null_space", refuse)
    assert find_example("closed-loop").run(t_end=0.2, scheme=scheme).status == "done"


def test_a_nonlinear_constraint_is_met_by_iteration():
    # x vx + y vy = 0, all of q and v free to move.
    x = ph.consistent_state(cartesian_pendulum(), {"q": [0.6, -0.8], "v": [1.0, 1.0]})
    assert abs(x[:2] @ x[2:4]) <= 1e-10


def test_an_input_that_contradicts_the_start_counts():
    driven = ph.feed(ph.swap(mass(m=2.0), "mass.force"), "mass.force", lambda t: 1.0 + t)
    with pytest.raises(ps.InconsistentStartError, match=r"'lambda\(mass.force\)'"):
        ps.simulate(driven, h=0.1, t_end=1, x0={"mass.p": 0.0})
    assert ph.consistent_state(driven, {}, t=2.0)[0] == pytest.approx(6.0)


def test_a_contradiction_in_the_equations_is_reported():
    impossible = ph.linear(
        "clamped",
        states=["p", "lam"],
        E=np.diag([1, 0]),
        Q=np.eye(2),
        J=np.zeros((2, 2)),
        B=[[0], [1]],
        ports=[ph.Port("w", signal=lambda t: 1.0)],
    )
    with pytest.raises(ps.InconsistentStartError, match=r"found no consistent state .* 'lam'"):
        ph.consistent_state(impossible, {})
