"""H1 - H0 = h (u·y - z·(R z + r)), step by step and in the long run [LKB26, eq. (52)]."""

import numpy as np
import pytest
from balance import step_errors, turnover
from hypothesis import given, settings
from hypothesis import strategies as st
from parts import ENERGIES, cartesian_pendulum, nonlinear, polar_particle
from schemes import EXACT_FOR_ANY, GENERAL
from strategies import SINGULARITIES, as_system, fed, linear_systems, random_matrices, wave

import poinsot as ps
from poinsot import ph

TOLERANCE = 1e-12


def assert_balanced(result):
    assert np.abs(step_errors(result)).max() <= TOLERANCE * turnover(result)
    assert np.abs(result.balance_error).max() <= TOLERANCE * turnover(result)
    assert result.stats.balance_error_max <= TOLERANCE * turnover(result)


def assert_never_gains_from_dissipation(result):
    lost = np.diff(result.dissipated)
    assert lost.min() >= -1e-15 * turnover(result)
    assert result.stats.dissipation_min >= -1e-15 * turnover(result) / result.h


def balance_from_matrices(system, result):
    """The same balance, from the saved states and the system's matrices alone."""
    E, Q, R, B = system.matrix_E, system.matrix_Q, system.matrix_R, system.matrix_B
    x = np.column_stack([result[name] for name in result.states])
    algebraic = ~np.any(E, axis=0)
    mid = np.where(algebraic, x[1:], (x[1:] + x[:-1]) / 2)
    h, z = np.diff(result.time), mid @ Q.T
    u = np.array([system.u(t) for t in (result.time[1:] + result.time[:-1]) / 2])
    H = np.einsum("ti,ij,tj->t", x, E.T @ Q, x) / 2
    supplied = np.einsum("ti,ij,tj->t", z, B, u)
    lost = np.einsum("ti,ij,tj->t", z, R, z)
    return np.diff(H) - h * supplied + h * lost


@settings(max_examples=20)
@given(case=linear_systems(), scheme=st.sampled_from(GENERAL))
def test_power_balance_is_exact_for_random_linear_systems(case, scheme):
    system, x0 = case
    if scheme == "ph-dg-partitioned":  # E couples the states, so they are one block
        scheme = ps.Scheme("one block", ph.Partitioned([range(system.n)]), 2, "any")
    x0 = ph.consistent_state(system, x0)
    result = ps.simulate(system, h=0.05, t_end=1.0, x0=x0, scheme=scheme)
    assert_balanced(result)
    assert_never_gains_from_dissipation(result)
    errors = balance_from_matrices(system, result)
    assert np.abs(errors).max() <= TOLERANCE * turnover(result)


@pytest.mark.parametrize(
    ("singularity", "steps"), [(s, 2000 if s == "rotated" else 500) for s in SINGULARITIES]
)
def test_power_balance_of_a_linear_system_holds_over_many_steps(singularity, steps):
    system = fed(as_system(random_matrices(7, 5, 2, singularity)))
    x0 = ph.consistent_state(system, np.ones(system.n))
    result = ps.simulate(system, h=0.01, t_end=0.01 * steps, x0=x0, scheme="ph-mp")
    assert result.stats.steps == steps
    assert_balanced(result)
    assert_never_gains_from_dissipation(result)


@settings(max_examples=25)
@given(
    kind=st.sampled_from(list(ENERGIES)),
    scheme=st.sampled_from(EXACT_FOR_ANY),
    damping=st.sampled_from([(0.0, 0.0), (0.3, 0.0), (0.0, 0.5), (0.2, 0.4)]),
    q=st.integers(-12, 12).map(lambda i: i / 10),
    p=st.integers(-10, 10).map(lambda i: i / 10),
    h=st.sampled_from([0.01, 0.1, 0.3]),
)
def test_power_balance_is_exact_for_any_energy_with_a_discrete_gradient(
    kind, scheme, damping, q, p, h
):
    system = ph.feed(nonlinear(kind, *damping), "body.force", wave(1))
    result = ps.simulate(system, h=h, t_end=10 * h, x0=[q, p], scheme=scheme)
    assert_balanced(result)
    assert_never_gains_from_dissipation(result)


@pytest.mark.parametrize(
    ("kind", "scheme"), [("cosine", "ph-dg"), ("coupled", "ph-dg-partitioned")]
)
def test_power_balance_of_any_energy_holds_over_hundreds_of_steps(kind, scheme):
    system = ph.feed(nonlinear(kind, 0.05, 0.1), "body.force", np.cos)
    result = ps.simulate(system, h=0.02, t_end=4.0, x0=[0.9, 0.2], scheme=scheme)
    assert result.stats.steps == 200
    assert_balanced(result)
    assert_never_gains_from_dissipation(result)


@pytest.mark.parametrize("scheme", EXACT_FOR_ANY)
@settings(max_examples=10)
@given(
    radius=st.floats(0.7, 1.5),
    angle=st.floats(-2, 2),
    v=st.floats(-0.5, 0.5),
    w=st.floats(-0.8, 0.8),
)
def test_power_balance_is_exact_with_a_mass_matrix_that_depends_on_the_state(
    scheme, radius, angle, v, w
):
    system = ph.feed(polar_particle(d=0.1), "torque", wave(0))
    x0 = {"q": [radius, angle], "v": [v, w]}
    result = ps.simulate(system, h=0.05, t_end=0.5, x0=x0, scheme=scheme)
    assert_balanced(result)
    assert_never_gains_from_dissipation(result)


@pytest.mark.parametrize("scheme", GENERAL)
def test_power_balance_is_exact_with_a_constraint(scheme):
    system = ph.feed(cartesian_pendulum(d=0.1), "push", np.sin)
    x0 = {"q": [0.6, -0.8], "v": [0.4, 0.3]}
    result = ps.simulate(system, h=0.02, t_end=1.0, x0=x0, scheme=scheme)
    assert_balanced(result)
    assert_never_gains_from_dissipation(result)


@pytest.mark.parametrize("singularity", ["permuted", "rotated"])
@pytest.mark.parametrize("scheme", EXACT_FOR_ANY)
def test_power_balance_is_exact_for_any_energy_when_E_mixes_rows_and_states(singularity, scheme):
    # A quartic term in E's row space: with s = V1^T x, H = s·S s/2 + sum s^4/4.
    n = 4
    matrices = random_matrices(0, n, 1, singularity)
    E, Q = matrices["E"], matrices["Q"]
    U, D, Vt = np.linalg.svd(E)
    kept = int(np.sum(D > 1e-12))

    def H(x):
        s = Vt[:kept] @ x
        return x @ E.T @ Q @ x / 2 + np.sum(s**4) / 4

    def z(x):
        return Q @ x + U[:, :kept] @ ((Vt[:kept] @ x) ** 3 / D[:kept])

    def dz(x):
        return Q + U[:, :kept] @ np.diag(3 * (Vt[:kept] @ x) ** 2 / D[:kept]) @ Vt[:kept]

    system = ph.from_functions(
        "mixed",
        states=[ph.State("x", n)],
        H=H,
        z=z,
        dz=dz,
        **{key: matrices[key] for key in "EJRB"},
        ports=[ph.Port("port")],
    )
    system = fed(system)
    x0 = ph.consistent_state(system, np.ones(n))
    result = ps.simulate(system, h=0.02, t_end=1.0, x0=x0, scheme=scheme)
    assert_balanced(result)
