"""Every tangent that Newton's method relies on equals a numerical derivative."""

import numpy as np
import pytest
import sympy as sp
from numerics import jacobian
from parts import (
    cartesian_pendulum,
    coupled_functions,
    nonlinear,
    polar_particle,
    rotating_body,
    rotation,
    rotation_tangent,
)

import poinsot as ps
from poinsot import ph


def symbolic_everything():
    """E, J, R, B and r all depend on the state."""
    q, p = sp.symbols("q p")
    return ph.symbolic(
        "everything",
        states={"q": q, "p": p},
        H=p**2 / (2 * (1 + q**2)) + sp.exp(q),
        E=sp.diag(2 + sp.sin(q), 1),
        J=sp.Matrix([[0, 1 + q**2], [-1 - q**2, 0]]),
        R=sp.diag(0, sp.exp(p)),
        B=[[sp.sin(q), 0], [q * p, 1]],
        r=lambda z: [0, (1 + q**2) * z[1] ** 3],
        ports=[ph.Port("one"), ph.Port("two")],
    )


def functions_without_derivatives():
    with pytest.warns(ps.MissingDerivativeWarning):
        return coupled_functions(derivatives=False)


def joined(kind, *, given=True):
    connection, unit = {"gyrator": (ph.Gyrator, "N s/m"), "transformer": (ph.Transformer, "1")}[
        kind
    ]
    dC = rotation_tangent if given else None
    law = connection("a.point", "b.point", rotation, dC, unit=unit)
    return ph.interconnect(rotating_body("a", "cosine"), rotating_body("b"), connections=law)


def joined_without_derivative():
    with pytest.warns(ps.MissingDerivativeWarning, match="dC"):
        return joined("transformer", given=False)


def resistor_on_a_moving_port():
    system = coupled_functions(derivatives=True)
    return ph.interconnect(
        system,
        connections=[
            ph.Resistor("one", 0.7, law=lambda y: y**3, dlaw=lambda y: 3 * y**2),
            ph.Swap("two"),
        ],
    )


def self_connected():
    system = coupled_functions(derivatives=True)
    law = ph.Gyrator(
        "one",
        "two",
        lambda xa, xb: [[xa[0] * xb[1]]],
        lambda xa, xb: np.array([[[xb[1], 0, 0, xa[0]]]]),
    )
    return ph.interconnect(system, connections=law)


def nested():
    inner = joined("transformer")
    law = ph.Gyrator("a.torque", "one", lambda xa, xb: [[1 + xa[0] * xb[1]]])
    with pytest.warns(ps.MissingDerivativeWarning):
        return ph.interconnect(inner, coupled_functions(derivatives=True), connections=law)


def junction():
    systems = [coupled_functions(derivatives=True).prefixed(f"s{i}") for i in range(3)]
    return ph.interconnect(*systems, connections=ph.Junction(("s0.one", "s1.one", "s2.two")))


SYSTEMS = {
    "symbolic": symbolic_everything,
    "symbolic with friction": lambda: nonlinear("coupled", 0.2, 0.4),
    "symbolic with mass matrix": polar_particle,
    "symbolic with constraint": cartesian_pendulum,
    "functions": lambda: coupled_functions(derivatives=True),
    "functions, derivatives missing": functions_without_derivatives,
    "gyrator": lambda: joined("gyrator"),
    "transformer": lambda: joined("transformer"),
    "transformer, dC missing": joined_without_derivative,
    "resistor and swap": resistor_on_a_moving_port,
    "joined with itself": self_connected,
    "nested": nested,
    "junction": junction,
}


def assert_is(tangent, expected):
    tangent = np.zeros_like(expected) if tangent is None else np.asarray(tangent)
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    assert tangent.shape == expected.shape
    assert np.abs(tangent - expected).max(initial=0.0) <= 1e-8 * scale


@pytest.fixture(params=SYSTEMS, ids=SYSTEMS.keys(), scope="module")
def system(request):
    return SYSTEMS[request.param]()


@pytest.fixture(params=range(3))
def point(request, system):
    """A random state, effort, input and flow; z is no function of x here."""
    random = np.random.default_rng(request.param)
    n, m = system.n, system.m
    return (*random.uniform(-1, 1, (2, n)), random.uniform(-1, 1, m), random.uniform(-1, 1, n))


def test_dE_is_the_derivative_of_E_times_a_fixed_vector(system, point):
    x, _, _, a = point
    assert_is(system.dE(x, a), jacobian(lambda x_: system.E(x_) @ a, x))


def test_dz_is_the_derivative_of_the_costate(system, point):
    x, *_ = point
    assert_is(system.dz(x), jacobian(system.z, x))


def test_dflow_is_the_derivative_of_the_flow_at_fixed_effort_and_input(system, point):
    x, z, u, _ = point

    def flow(x_):
        effort = system.R(x_) @ z
        r = system.r(x_, z)
        effort = effort if r is None else effort + r
        return system.J(x_) @ z - effort + system.B(x_) @ u

    assert_is(system.dflow(x, z, u), jacobian(flow, x))


def test_dy_is_the_derivative_of_the_output_at_fixed_effort(system, point):
    x, z, _, _ = point
    assert_is(system.dy(x, z), jacobian(lambda x_: system.B(x_).T @ z, x))


def test_dr_dz_is_the_derivative_of_the_nonlinear_dissipation(system, point):
    x, z, _, _ = point
    if system.r(x, z) is None:
        assert system.dr_dz(x, z) is None
    else:
        assert_is(system.dr_dz(x, z), jacobian(lambda z_: system.r(x, z_), z))


def test_dflow_dz_is_the_derivative_of_the_flow_by_the_effort(system, point):
    x, z, u, _ = point
    assert_is(system.dflow_dz(x, z), jacobian(lambda z_: system.flow(x, z_, u), z))


def test_flow_is_J_z_minus_R_z_minus_r_plus_B_u(system, point):
    x, z, u, _ = point
    r = system.r(x, z)
    expected = (system.J(x) - system.R(x)) @ z - (0 if r is None else r) + system.B(x) @ u
    assert np.allclose(system.flow(x, z, u), expected, rtol=1e-13, atol=1e-13)


def test_costate_is_the_gradient_of_the_energy(system, point):
    x, *_ = point
    assert np.allclose(system.E(x).T @ system.z(x), jacobian(system.H, x), rtol=1e-8, atol=1e-8)
