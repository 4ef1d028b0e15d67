"""Steady motions of Lagrangians and redundant systems: tops, pendulums and skates."""

import numpy as np
import pytest
import sympy

import poinsot as ps
from poinsot import analysis

G, MASS, ARM, I1, I3, TILT = 9.81, 1.0, 0.2, 0.06, 0.008, 0.4


def hat(a):
    return sympy.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def skewed(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


def top():
    """A heavy top: nine numbers of its rotation matrix, row by row, and Omega in its own axes."""
    R, Omega = sympy.Matrix(3, 3, sympy.symbols("R:9")), sympy.symbols("O1:4")
    return ps.RedundantSystem.symbolic(
        "top",
        zeta=list(R),
        w=Omega,
        M=sympy.diag(I1, I1, I3),
        V=G * MASS * ARM * R[2, 2],
        Z=sympy.Matrix(list(R * hat(Omega))).jacobian(Omega),
        G=lambda Gamma: -hat(Gamma),
    )


#: R' = hat(e_z) R, and R' = R hat(e_3), on the numbers of R row by row.
PRECESSION = np.kron(skewed((0, 0, 1)), np.eye(3))
SPIN = np.kron(np.eye(3), skewed((0, 0, 1)).T)


def turned(angle):
    return ps.Rotation.from_axis_angle((0, 1, 0), angle).matrix.reshape(-1)


def same_top():
    model = ps.Model(gravity=(0, 0, -G))
    body = model.add_body(
        "top",
        ps.RigidBody(mass=MASS, inertia=(I1 - MASS * ARM**2, I1 - MASS * ARM**2, I3)),
        position=(ARM * np.sin(TILT), 0, ARM * np.cos(TILT)),
        rotation=ps.Rotation.from_axis_angle((0, 1, 0), TILT),
    )
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    return model


@pytest.mark.parametrize("guess", [100.0, 1.0])
def test_a_top_precesses_at_both_rates_of_the_closed_form_and_nutates_as_the_model_does(guess):
    rates = {"precession": (PRECESSION, None), "spin": (SPIN, 150.0)}
    motion = analysis.steady_motion(top(), rates=rates, x0={"zeta": turned(TILT)}, guess=guess)
    roots = np.sort(np.roots([(I3 - I1) * np.cos(TILT), I3 * 150.0, -G * MASS * ARM]))
    assert motion.rates["precession"] == pytest.approx(roots[int(guess > 10)], rel=1e-12)
    linear = analysis.linearise(motion)
    assert isinstance(linear, analysis.LinearPHSystem)
    assert linear.about.steady
    assert abs(linear.about.residual).max() < 1e-10
    same = analysis.steady_motion(same_top(), rate=None, spins={"top": 150.0}, guess=guess)
    found, expected = analysis.modes(linear), analysis.modes(same)
    assert found.rigid == expected.rigid == 2
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-8)
    run = ps.simulate(motion.system, x0=motion.x, h=1e-3, t_end=0.05, engine="reference")
    assert np.ptp(run["zeta"][:, 8]) < 1e-13


def test_the_sleeping_top_is_stable_from_the_limit_on():
    limit = np.sqrt(4 * G * MASS * ARM * I1) / I3
    for speed, stable in ((0.999, False), (1.001, True)):
        spin = {"spin": (SPIN, speed * limit)}
        motion = analysis.steady_motion(top(), rates=spin, x0={"zeta": turned(0.0)})
        assert analysis.modes(motion).stable is stable


def pendulum():
    theta, phi = sympy.symbols("theta phi")
    return ps.LagrangianSystem.symbolic(
        "pendulum",
        q=[theta, phi],
        M=sympy.diag(1, sympy.sin(theta) ** 2),
        V=G * (1 - sympy.cos(theta)),
    )


@pytest.mark.parametrize("form", ["port_hamiltonian", "livens", "hamiltonian"])
def test_a_conical_pendulum_in_all_forms_of_its_lagrangian(form):
    """cos(theta) = g / Omega^2, and small motions with Omega sqrt(1 + 3 cos(theta)^2)."""
    system, cosine = getattr(pendulum(), form)(), G / 16
    motion = analysis.steady_motion(system, rates={"phi": 4.0}, x0={"q": [0.8, 0], "v": [0, 0]})
    assert np.cos(motion.state("q")[0]) == pytest.approx(cosine, rel=1e-12)
    linear = analysis.linearise(motion)
    assert isinstance(linear, analysis.LinearPHSystem)
    expected = [0, 4 * np.sqrt(1 + 3 * cosine**2)]
    np.testing.assert_allclose(analysis.modes(linear).frequencies, expected, rtol=1e-9)


def test_a_rate_is_found_where_coordinates_are_given():
    motion = analysis.steady_motion(pendulum(), rates={"phi": None}, x0={"q": [0.8, 0.0]}, guess=2)
    assert motion.rates["phi"] == pytest.approx(np.sqrt(G / np.cos(0.8)), rel=1e-12)
    assert "'phi' moves at 3.7524/s" in repr(motion)


def skate():
    x, y, phi, v_x, v_y, omega = sympy.symbols("x y phi v_x v_y omega")
    cos, sin = sympy.cos(phi), sympy.sin(phi)
    return ps.RedundantSystem.symbolic(
        "skate",
        zeta=[x, y, phi],
        w=[v_x, v_y, omega],
        M=sympy.diag(70, 70, 2),
        Z=[[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]],
        G=lambda g: [[0, 0, -g[1]], [0, 0, g[0]], [g[1], -g[0], 0]],
        A=[[0, 1, 0]],
    )


def test_a_skate_goes_round_the_origin_with_its_blade_along_the_circle():
    def circle(zeta):
        return np.array([-zeta[1], zeta[0], 1.0])

    start = {"zeta": [2.0, 0.1, 1.5]}
    motion = analysis.steady_motion(skate(), rates={"circle": (circle, 1.5)}, x0=start)
    x, y, phi = motion.state("zeta")
    assert np.cos(phi) * x + np.sin(phi) * y == pytest.approx(0, abs=1e-12)
    force = 70 * 1.5**2 * np.hypot(x, y)
    assert abs(motion.state("mu")[0]) == pytest.approx(force, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "'skate' has no bodies; give the rates of the coordinates that move"),
        ({"rate": 1.0}, "'skate' has no bodies"),
        ({"rates": {"z": 1.0}}, "no coordinate 'z'; known: 'x', 'y', 'phi'"),
        ({"rates": {"turn": (np.eye(2), 1.0)}}, r"has shape \(2, 2\), expected \(3, 3\)"),
        ({"rates": {"turn": (lambda zeta: zeta[:1], 1.0)}}, "returns 1 numbers, expected 3"),
    ],
)
def test_rates_that_are_none_of_the_system_are_refused(options, message):
    with pytest.raises(ps.InputError, match=message):
        analysis.steady_motion(skate(), **options)


def test_rates_of_coordinates_are_refused_for_a_model():
    with pytest.raises(ps.InputError, match="a model has an axis, a rate and spins"):
        analysis.steady_motion(same_top(), rates={"phi": 1.0})


def test_a_motion_in_balance_at_one_instant_only_is_no_steady_one():
    """A pendulum that hangs down and turns about its hinge; an angle that energies depend on."""
    model = ps.Model(gravity=(0, 0, -G))
    arm = model.add_body("arm", ps.Box(mass=1.0, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    with pytest.raises(ps.NoEquilibriumError, match="not along its motion: the force on 'arm'"):
        analysis.steady_motion(model, axis=(0, 1, 0), rate=3.0)
    with pytest.raises(ps.NoEquilibriumError):
        analysis.steady_motion(pendulum(), rates={"theta": 1.0}, x0={"q": [0.0, 0.0]})
