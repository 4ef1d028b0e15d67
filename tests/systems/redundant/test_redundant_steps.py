"""The time step: exact balance and constraints, order two, exact tangents."""

import numpy as np
import pytest
from numerics import jacobian, observed_orders
from redundant_systems import (
    CASES,
    MODULES_START,
    NODE_START,
    PENDULUM_START,
    SKATE_START,
    SKATE_START_WORLD,
    body,
    body_start,
    exact,
    massless_node,
    modules,
    node_rate,
    pendulum,
    run,
    skate,
    skate_exact,
)

import poinsot as ps
from poinsot.ph.general_stages import stage_equations

STEPS = 0.04, 0.02, 0.01


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scheme", ["ph-mp", "ph-dg"])
def test_the_tangent_is_the_derivative_of_the_residual(case, scheme):
    make, start = CASES[case]
    system, random = make(), np.random.default_rng(3)
    u = np.full(system.m, 0.7)
    problem = stage_equations(system, ps.SCHEMES[scheme], 0.0, system.state(start), u, 0.1)
    w = problem.guess + 0.1 * random.standard_normal(system.n)
    expected = jacobian(lambda a: problem.evaluate(a).F, w)
    np.testing.assert_allclose(problem.evaluate(w).tangent().T, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_the_energy_balance_is_exact(case):
    make, start = CASES[case]
    inputs = {"torque": lambda t: np.sin(3 * t)} if make().ports else {}
    result = run(make(), start, inputs=inputs, h=0.05, t_end=2.0)
    assert result.stats.balance_error_max < 1e-12
    if make().laws.n_c:
        assert result.constraint_error.max() < 1e-13


def test_energy_goes_in_at_the_port_and_is_lost_to_drag():
    result = run(pendulum(), PENDULUM_START, inputs={"torque": 0.8}, h=0.02, t_end=2.0)
    port = result.port("torque")
    supplied = np.sum(np.diff(result.time) * port.u[:, 0] * port.y[:, 0])
    assert abs(supplied) > 0.1
    assert result.dissipated[-1] > 0.1
    gain = result.energy[-1] - result.energy[0]
    assert abs(gain - supplied + result.dissipated[-1]) < 1e-12


def test_the_midpoint_rule_keeps_quadratic_energies_only():
    errors = {
        s: run(pendulum(), PENDULUM_START, scheme=s).stats.balance_error_max
        for s in ("ph-mp", "ph-dg")
    }
    assert errors["ph-dg"] < 1e-13 < 1e-9 < errors["ph-mp"]


@pytest.mark.parametrize("axes", ["body", "world"])
def test_velocity_constraints_hold_in_the_middle_of_every_step(axes):
    system, start = skate(axes), SKATE_START if axes == "body" else SKATE_START_WORLD
    result = run(system, start, h=0.02, t_end=1.0)
    middle = (result["zeta"][1:] + result["zeta"][:-1]) / 2
    w = (result["w"][1:] + result["w"][:-1]) / 2
    slip = [system.laws.A(zeta) @ rate for zeta, rate in zip(middle, w, strict=True)]
    assert np.max(np.abs(slip)) < 1e-13


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-dg"])
def test_a_rotation_matrix_stays_one_by_itself(scheme):
    result = run(body("matrix"), body_start("matrix"), h=0.05, t_end=5.0, scheme=scheme)
    R = result["zeta"][:, 3:].reshape(-1, 3, 3)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1) - np.eye(3), 0.0, atol=2e-13)


def test_a_unit_quaternion_stays_one_by_itself():
    result = run(body("quaternion"), body_start("quaternion"), h=0.05, t_end=5.0)
    np.testing.assert_allclose(np.linalg.norm(result["zeta"][:, 3:], axis=1), 1.0, atol=1e-13)


def momenta_in_space(h):
    """Linear momentum, and angular momentum about the origin, of a body without gravity."""
    system = body("matrix", gravity=False)
    result = run(system, body_start("matrix"), h=h, t_end=2.0)
    r, R = result["zeta"][:, :3], result["zeta"][:, 3:].reshape(-1, 3, 3).transpose(0, 2, 1)
    Gamma = result["w"] @ system.laws.M
    p, L = (np.einsum("tij,tj->ti", R, part) for part in (Gamma[:, :3], Gamma[:, 3:]))
    return p, L + np.cross(r, p)


def test_momenta_of_a_free_body_stay_what_they_are_in_space():
    """A step turns linear momentum back by the Cayley map that turns the body: it is exact."""
    drifts = []
    for h in (0.02, 0.01):
        p, L = momenta_in_space(h)
        np.testing.assert_allclose(p - p[0], 0.0, atol=1e-13)
        drifts.append(np.max(abs(L - L[0])))
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(2.0, abs=0.1)


def free_motion(system, start, t):
    laws = system.laws

    def rate(_, x):
        zeta, w = x[: laws.n], x[laws.n :]
        Z = laws.Z(zeta)
        force = -Z.T @ laws.dV(zeta) - laws.G(laws.M @ w) @ w
        return np.concatenate([Z @ w, np.linalg.solve(laws.M, force)])

    return exact(rate, system.state(start), t)


@pytest.mark.parametrize("attitude", ["matrix", "quaternion"])
@pytest.mark.parametrize("scheme", ["ph-mp", "ph-dg"])
def test_a_rigid_body_is_approached_with_order_two(attitude, scheme):
    system, start = body(attitude), body_start(attitude)
    end = free_motion(system, start, 0.4)
    errors = []
    for h in STEPS:
        result = run(system, start, h=h, t_end=0.4, scheme=scheme)
        errors.append(np.linalg.norm(np.hstack([result["zeta"][-1], result["w"][-1]]) - end))
    np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)


@pytest.mark.parametrize("axes", ["body", "world"])
def test_a_knife_edge_on_an_incline_is_approached_with_order_two(axes):
    system, start = skate(axes), SKATE_START if axes == "body" else SKATE_START_WORLD
    end = skate_exact(0.8)[:3]
    errors = [np.linalg.norm(run(system, start, h=h, t_end=0.8)["zeta"][-1] - end) for h in STEPS]
    np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)


def test_a_massless_velocity_follows_its_own_equation_with_order_two():
    a, b, vb = exact(node_rate, [*NODE_START["zeta"], NODE_START["w"][1]], 0.8)
    errors = []
    for h in STEPS:
        result = run(massless_node(), NODE_START, h=h, t_end=0.8)
        found = np.array([*result["zeta"][-1], result["w"][-1, 1]])
        errors.append(np.linalg.norm(found - [a, b, vb]))
    np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)


def test_a_mass_matrix_that_is_singular_along_no_axis_gives_the_published_motion():
    """x1, x2 and rates at 2 s without error of integration [KB24, sec. 5.1]."""
    published = [0.653291556463027, 0.557978352688358, 0.208969584063921, -0.489873424313435]
    errors = []
    for h in STEPS:
        result = run(modules(), MODULES_START, h=h, t_end=2.0)
        found = np.hstack([result["zeta"][-1, [0, 2]], result["w"][-1, [0, 2]]])
        errors.append(np.linalg.norm(found - published))
    np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)


def test_body_axes_and_world_axes_give_the_same_path():
    h = 0.005
    paths = [
        run(skate(axes), start, h=h)["zeta"]
        for axes, start in (("body", SKATE_START), ("world", SKATE_START_WORLD))
    ]
    np.testing.assert_allclose(paths[0], paths[1], rtol=0, atol=5 * h**2)


def test_energies_and_constraints_are_observed():
    result = run(pendulum(), PENDULUM_START)
    parts = result.observation.energies
    np.testing.assert_allclose(parts["kinetic"] + parts["potential"], result.energy, atol=1e-14)
    assert result.velocity_constraint_error.max() < 1e-2


def test_a_velocity_that_is_held_at_zero_does_not_stop_newton():
    """The only term of v_y = 0 is round-off; it is measured by the kinetic energy."""
    result = run(skate(slope=0.0), {"zeta": [0, 0, 0], "w": [0.0, 0.0, 1.5]}, h=0.05)
    assert result.status == "done"
    np.testing.assert_allclose(result["w"][:, :2], 0.0, atol=1e-13)


def test_both_errors_of_velocity_constraints_are_reported(tmp_path):
    """None in the middle of steps; at their ends a drift of order two."""
    drifts = []
    for h in (0.02, 0.01):
        result = run(skate("world"), SKATE_START_WORLD, h=h, t_end=1.0)
        assert result.velocity_constraint_error_mid.shape == result.midpoint.shape
        assert result.velocity_constraint_error_mid.max() < 1e-13
        drifts.append(result.velocity_constraint_error.max())
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(2.0, abs=0.1)
    assert "at midpoints" in result.summary()
    result.save(tmp_path / "run.nc")
    loaded = ps.load(tmp_path / "run.nc")
    for name in ("velocity_constraint_error", "velocity_constraint_error_mid"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
        assert f"{name} [SI]" in result.to_pandas()


def test_without_velocity_constraints_there_is_no_error_of_them():
    with pytest.raises(ps.InputError, match="no constraints on velocities that hold at midpoints"):
        _ = run(pendulum(), PENDULUM_START).velocity_constraint_error_mid
