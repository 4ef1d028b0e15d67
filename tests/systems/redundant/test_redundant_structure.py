"""The three relations of a port-Hamiltonian system [BHRS25, (7)-(9)], proven by number."""

import numpy as np
import pytest
from numerics import jacobian
from redundant_systems import CASES, body, body_start, consistent

import poinsot as ps


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_dirac_structure_submanifold_and_resistive_relation_hold(case, seed):
    system, x = consistent(case, seed)
    assert system.defects(x).holds(1e-9), str(system.defects(x))


@pytest.mark.parametrize("case", CASES)
def test_tangents_are_the_derivatives_of_the_equations(case):
    system, x = consistent(case)
    z, u = np.random.default_rng(1).standard_normal(system.n), np.full(system.m, 0.7)
    for ours, function, at in (
        (system.dz(x), system.z, x),
        (system.dflow(x, z, u), lambda a: system.flow(a, z, u), x),
        (system.dflow_dz(x, z), lambda a: system.flow(x, a, u), z),
        (system.dy(x, z), lambda a: system.y(a, z), x),
    ):
        if ours is not None:
            np.testing.assert_allclose(ours, jacobian(function, at), rtol=0, atol=2e-8)


def test_the_right_hand_side_is_that_of_the_paper():
    """[BHRS25, eq. (10)], letter by letter, with our sign of the port."""
    system, x = consistent("pendulum")
    laws, (zeta, w, lam, _) = system.laws, system.split(x)
    u = np.array([0.4])
    Z, dc = laws.Z(zeta), laws.dc(zeta)
    force = -Z.T @ laws.dV(zeta) - Z.T @ dc.T @ lam - laws.tau_d(zeta, w)
    force += laws.B(zeta) @ u - laws.G(laws.M @ w) @ w
    expected = np.concatenate([Z @ w, force, dc @ Z @ w])
    np.testing.assert_allclose(system.flow(x, system.z(x), u), expected, rtol=0, atol=1e-14)


def test_multipliers_exist_only_with_constraints():
    names = {case: [s.name for s in make().states] for case, (make, _) in CASES.items()}
    assert names["matrix"] == ["zeta", "w"]
    assert names["skate"] == ["zeta", "w", "mu"]
    assert names["pendulum"] == ["zeta", "w", "lam"]


def test_functions_and_expressions_make_the_same_system():
    reference = body("quaternion")
    laws = reference.laws
    with pytest.warns(ps.MissingDerivativeWarning, match="dZ, dG not given"):
        system = ps.RedundantSystem.from_functions(
            "functions",
            n_zeta=7,
            n_w=6,
            M=laws.M,
            V=laws.V,
            dV=laws.dV,
            ddV=laws.ddV,
            Z=laws.Z.value,
            G=laws.G.value,
        )
    x = reference.state(body_start("quaternion"))
    z, u = np.random.default_rng(2).standard_normal(13), np.zeros(0)
    for ours, theirs in (
        (system.flow(x, z, u), reference.flow(x, z, u)),
        (system.dflow(x, z, u), reference.dflow(x, z, u)),
        (system.dz(x), reference.dz(x)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
