"""The three relations as printed, [BHRS25, eqs. (7) to (9)], and what lies in them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics import subspace_gap
from redundant_systems import CASES, SKATE_START, consistent, pendulum, run, skate
from strategies import seeds

from poinsot import ph
from poinsot.systems.redundant.relations import dirac_structure, lagrangian_submanifold, relations

sizes = st.tuples(*(st.integers(low, 5) for low in (1, 1, 0, 0)))


def matrices(seed, sizes, rank=None):
    """Random Z, skew G, A of a given rank, and B."""
    random = np.random.default_rng(seed)
    n, k, rows, m = sizes
    rank = min(rows, k) if rank is None else min(rank, rows, k)
    Z, B, G = (random.standard_normal(shape) for shape in ((n, k), (k, m), (k, k)))
    A = random.standard_normal((rows, rank)) @ random.standard_normal((rank, k))
    return Z, G - G.T, A, B


def as_printed(Z, G, A, B):
    """The kernel of the equations in (7), without the multiplier; rows (flows; efforts)."""
    (n, k), rows, m = Z.shape, len(A), B.shape[1]
    widths = n, k, k, m, n, k, k, m, rows
    _, tau_f, w_R, w_ext, tau_e, w_e, tau_R, tau_ext, mu = range(9)

    def equation(height, terms):
        blocks = [np.zeros((height, width)) for width in widths]
        for place, block in terms.items():
            blocks[place] = block
        return np.hstack(blocks)

    one = np.eye(k)
    law = np.vstack(
        [
            equation(n, {0: np.eye(n), w_e: -Z}),
            equation(k, {w_R: one, w_e: -one}),
            equation(rows, {w_e: A}),
            equation(m, {w_ext: np.eye(m), w_e: -B.T}),
            equation(k, {tau_f: one, tau_e: Z.T, w_e: G, tau_R: one, tau_ext: B, mu: A.T}),
        ]
    )
    return scipy.linalg.null_space(law)[: law.shape[1] - rows]


def members(space):
    return np.vstack([space.F, space.E])


@settings(max_examples=25)
@given(seed=seeds, sizes=sizes)
def test_point_masses_have_a_dirac_structure(seed, sizes):
    """[BHRS25, prop. 1]: Z = I and G = 0."""
    _, k, rows, m = sizes
    _, G, A, B = matrices(seed, (k, k, rows, m))
    space = dirac_structure(np.eye(k), 0 * G, A, B)
    assert space.defect < 1e-10
    assert np.linalg.matrix_rank(members(space)) == 3 * k + m


@settings(max_examples=40)
@given(seed=seeds, sizes=sizes, rank=st.integers(0, 5))
def test_any_kinematics_and_gyroscopic_forces_have_a_dirac_structure(seed, sizes, rank):
    """[BHRS25, prop. 2]: of the equations as printed, and of dimension n + 2k + m for any A."""
    given_ = matrices(seed, sizes, rank)
    n, k, _, m = sizes
    space = dirac_structure(*given_)
    assert space.defect < 1e-10
    assert space.F.shape == space.E.shape == (n + 2 * k + m, n + 2 * k + m)
    A = given_[2]
    condition = 1.0 + np.linalg.norm(A) * np.linalg.norm(np.linalg.pinv(A, rcond=1e-10))
    assert subspace_gap(members(space), as_printed(*given_)) < 1e-11 * condition


@settings(max_examples=10)
@given(seed=seeds)
def test_gyroscopic_forces_that_do_work_show(seed):
    Z, G, _, B = matrices(seed, (3, 4, 1, 2))
    wrong = np.diag([0.0, 0.0, 0.0, 1.0])
    assert dirac_structure(Z, G + wrong, np.zeros((0, 4)), B).power_defect > 0.1
    assert dirac_structure(Z, G + wrong, np.eye(4)[3:], B).defect < 1e-10  # held: it does no work


@settings(max_examples=30)
@given(seed=seeds, n=st.integers(1, 5), k=st.integers(1, 4), rows=st.integers(0, 3))
def test_stored_energy_is_a_lagrangian_submanifold(seed, n, k, rows):
    """[BHRS25, prop. 5] with H = p·M^+ p / 2 + V and d = (c, W p), W spanning the kernel of M."""
    random = np.random.default_rng(seed)
    root = random.standard_normal((k, random.integers(0, k + 1)))
    M, stiffness = root @ root.T, random.standard_normal((n, n))
    stiffness, dc = stiffness + stiffness.T, random.standard_normal((min(rows, n), n))
    ours = lagrangian_submanifold(M, stiffness, dc)
    assert ours.defect < 1e-9
    hessian = scipy.linalg.block_diag(stiffness, np.linalg.pinv(M))
    d = scipy.linalg.block_diag(dc, scipy.linalg.null_space(M).T)
    free = scipy.linalg.null_space(d) if d.size else np.eye(n + k)
    printed = np.block([[free, np.zeros(d.T.shape)], [hessian @ free, d.T]])
    assert subspace_gap(np.vstack([ours.S, ours.P]), printed) < 1e-8


def test_a_stiffness_that_is_no_second_derivative_shows():
    wrong = np.array([[1.0, 0.5], [0.0, 1.0]])
    assert lagrangian_submanifold(np.eye(2), wrong, np.zeros((0, 2))).isotropy_defect > 0.1


def test_forces_that_put_energy_in_show():
    system, x = consistent("pendulum")
    parts = system.split(x)[:3]
    assert relations(system.laws, *parts).resistive.defect == 0.0
    law = system.laws.dissipation
    active = replace(law, value=lambda q: -law.value(q), jacobian=lambda q: -law.jacobian(q))
    assert relations(replace(system.laws, dissipation=active), *parts).resistive.defect > 0.1


@pytest.mark.parametrize("case", CASES)
def test_motions_lie_in_all_three_relations(case):
    """Flow and effort of [BHRS25, eq. (10)], the effort at the port being -u."""
    for seed in range(3):
        system, x = consistent(case, seed)
        laws, (zeta, w, lam, _) = system.laws, system.split(x)
        found, u = system.relations(x), np.full(system.m, 0.7)
        rates = system.flow(x, system.z(x), u)
        tau, y = laws.dV(zeta) + lam @ laws.dc(zeta), system.y(x, system.z(x))
        flow = np.concatenate([rates[: laws.n + laws.k], w, y])
        effort = np.concatenate([tau, w, laws.damping(zeta, w), -u])
        assert found.dirac.defect < 1e-12
        assert found.dirac.distance(flow, effort) < 1e-12
        assert abs(flow @ effort) < 1e-12 * np.linalg.norm(flow) * np.linalg.norm(effort)
        assert found.dirac.distance(flow, -effort) > 1e-2
        assert found.lagrangian.defect < 1e-12
        assert found.resistive.defect == 0.0
        assert found.resistive.distance(w, laws.damping(zeta, w)) == 0.0


def test_the_tangent_of_a_motion_lies_in_the_stored_energy():
    system, x = consistent("pendulum")
    laws, (zeta, w, lam, _) = system.laws, system.split(x)
    step, rate, turn = 1e-6, laws.Z(zeta) @ w, np.array([0.3, -0.2])

    def stored(s):
        at, l_ = zeta + s * rate, lam + s * 0.4
        return np.concatenate([at, laws.M @ (w + s * turn)]), np.concatenate(
            [laws.dV(at) + l_ @ laws.dc(at), w + s * turn]
        )

    change = [(b - a) / (2 * step) for a, b in zip(stored(-step), stored(step), strict=True)]
    assert system.relations(x).lagrangian.distance(*change) < 1e-8


def test_a_step_lies_in_the_dirac_structure_at_its_midpoint():
    system = skate()
    result, laws = run(system, SKATE_START, h=0.1, t_end=0.5), system.laws
    for k in range(5):
        (zeta0, zeta1), (w0, w1) = result["zeta"][k : k + 2], result["w"][k : k + 2]
        zeta, w = (zeta0 + zeta1) / 2, (w0 + w1) / 2
        space = relations(laws, zeta, w, np.zeros(0)).dirac
        flow = np.concatenate([(zeta1 - zeta0) / 0.1, laws.M @ (w1 - w0) / 0.1, w])
        effort = np.concatenate([laws.dV(zeta), w, np.zeros(3)])
        assert space.distance(flow, effort) < 1e-13


@pytest.mark.parametrize("case", CASES)
def test_the_general_relations_have_no_defects_either(case):
    system, x = consistent(case)
    assert ph.lagrangian_submanifold(system, x).defect < 1e-9
    assert ph.resistive_relation(system, x).defect == 0.0
    assert ph.dirac_structure(system, x).defect < 1e-9


def test_relations_take_states_by_name():
    assert pendulum().relations({"zeta": [0.0, -1.0]}).dirac.defect < 1e-14
