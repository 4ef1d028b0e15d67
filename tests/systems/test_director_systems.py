"""The plain and the stabilised form as port-Hamiltonian systems, at states that satisfy nothing."""

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from numerics import jacobian

from poinsot.ph.matrices import dense, is_sparse

FORMS = [False, True]
IDS = ["plain", "stabilised"]


def system_of(seed, *, bodies, stabilised):
    plan = mechanisms.full(seed, bodies=bodies, loops=1, ground=seed % 2 == 0)
    return plan.model().compile(stabilised=stabilised)


@pytest.mark.parametrize("stabilised", FORMS, ids=IDS)
@laws(5)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 2))
def test_every_structure_proof_holds_at_any_state(stabilised, seed, bodies):
    system = system_of(seed, bodies=bodies, stabilised=stabilised)
    defects = system.defects(mechanisms.random_state(system, seed))
    assert defects.holds(1e-6), str(defects)
    assert max(defects.skew, defects.semidefinite, defects.resistive) < 1e-14
    assert defects.dirac < 1e-10


@pytest.mark.parametrize("stabilised", FORMS, ids=IDS)
@pytest.mark.parametrize("bodies", [2, 10], ids=["dense", "sparse"])
def test_all_tangents_are_derivatives(stabilised, bodies):
    """Along random directions, so that the sparse case stays cheap."""
    system = system_of(4, bodies=bodies, stabilised=stabilised)
    random = np.random.default_rng(1)
    x = mechanisms.random_state(system, 2)
    z, u = random.standard_normal(system.n), random.standard_normal(system.m)
    assert is_sparse(system.J(x)) == is_sparse(system.dflow(x, z, u)) == (bodies == 10)
    for _ in range(3):
        a = random.standard_normal(system.n)

        def along(f, at, a=a):
            return jacobian(lambda s: f(at + s[0] * a), np.zeros(1), step=1e-3)[..., 0]

        def check(tangent, numerical, a=a):
            scale = 1 + np.abs(numerical).max()
            np.testing.assert_allclose(dense(tangent) @ a, numerical, atol=2e-5 * scale)

        check(system.dflow(x, z, u), along(lambda x_: system.flow(x_, z, u), x))
        check(system.dflow_dz(x, z), along(lambda z_: system.flow(x, z_, u), z))
        check(system.dr_dz(x, z), along(lambda z_: system.r(x, z_), z))
        check(system.dz(x), along(system.z, x))
        check(system.dy(x, z), along(lambda x_: system.y(x_, z), x))
        gradient = along(lambda x_: np.array([system.H(x_)]), x)
        np.testing.assert_allclose(system.grad_H(x) @ a, gradient[0], rtol=1e-6)


def test_the_plain_structure_matrix_is_the_published_one():
    """[LKB26, eq. (24)]."""
    system = system_of(6, bodies=2, stabilised=False)
    x = mechanisms.random_state(system, 3)
    n, m = system.mechanism.n, system.mechanism.m
    G = jacobian(system.mechanism.constraints, x[:n])
    I, O = np.eye(n), np.zeros
    J = np.block(
        [
            [O((n, n)), I, O((n, m))],
            [-I, O((n, n)), -G.T],
            [O((m, n)), G, O((m, m))],
        ]
    )
    np.testing.assert_allclose(dense(system.J(x)), J, atol=1e-9)


def test_the_stabilised_structure_matrix_is_the_published_one():
    """[LKB26, eq. (61)], with J44 = W M^-1 G^T - G M^-1 W^T."""
    system = system_of(6, bodies=2, stabilised=True)
    x = mechanisms.random_state(system, 3)
    n, m = system.mechanism.n, system.mechanism.m
    q, v = x[:n], x[n : 2 * n]
    G = jacobian(system.mechanism.constraints, q)
    W = jacobian(lambda q_: dense(system.mechanism.constraints.G(q_)) @ v, q)
    Mi = np.diag(1 / system.mechanism.mass)
    I, O = np.eye(n), np.zeros
    J = np.block(
        [
            [O((n, n)), I, O((n, m)), Mi @ G.T],
            [-I, O((n, n)), -G.T, -W.T],
            [O((m, n)), G, O((m, m)), G @ Mi @ G.T],
            [-G @ Mi, W, -G @ Mi @ G.T, W @ Mi @ G.T - G @ Mi @ W.T],
        ]
    )
    np.testing.assert_allclose(dense(system.J(x)), J, atol=1e-8)


@pytest.mark.parametrize("stabilised", FORMS, ids=IDS)
def test_algebraic_equations_say_that_constraints_do_not_change(stabilised):
    """The rows without derivative are d/dt g = 0, and d/dt (G v) = 0 along the flow."""
    system = system_of(8, bodies=2, stabilised=stabilised)
    x = mechanisms.random_state(system, 4)
    random = np.random.default_rng(5)
    u = random.standard_normal(system.m)
    n, m = system.mechanism.n, system.mechanism.m
    flow = system.flow(x, system.z(x), u)
    rates = np.concatenate([flow[:n], flow[n : 2 * n] / system.mechanism.mass])
    forms = system.mechanism.constraints

    def along(f):
        return jacobian(lambda s: f(x[: 2 * n] + s[0] * rates), np.zeros(1), step=1e-4)[:, 0]

    np.testing.assert_allclose(
        flow[2 * n : 2 * n + m], along(lambda y: forms(y[:n])), rtol=1e-6, atol=1e-6
    )
    if stabilised:
        change = along(lambda y: dense(forms.G(y[:n])) @ y[n:])
        np.testing.assert_allclose(flow[2 * n + m :], change, rtol=1e-6, atol=1e-5)
