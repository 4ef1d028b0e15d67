"""Velocity constraints at the ends of steps: Lagrangians, contacts, gears, joined bodies."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from rolling_models import ball, coin, sleigh
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot import ph
from poinsot.schemes.records import find_scheme

GGL = {"scheme": "ph-mp-ggl", "progress": False}

# -- Lagrangians -----------------------------------------------------------------------------------

X, Y, Z = sympy.symbols("x y z")


def pendulum(V=9.81 * Z, **options) -> ps.LagrangianSystem:
    """Return a point of 2 kg at the distance 1 m, with a force as a port."""
    given = {"M": 2 * sympy.eye(3), "g": [(X**2 + Y**2 + Z**2 - 1) / 2]} | options
    port = ph.Port("push", 3, "N", "m/s")
    return ps.LagrangianSystem.symbolic(
        "point", q=[X, Y, Z], V=2 * V, B=sympy.eye(3), ports=[port], **given
    )


START = {"q": [1.0, 0.0, 0.0], "v": [0.0, 1.0, 0.3]}


@pytest.mark.parametrize("V", [9.81 * Z, 9.81 * Z + (X**2 + Y**2) ** 2, sympy.sin(X * Y)])
def test_a_lagrangian_keeps_energy_positions_and_velocities(V):
    result = ps.simulate(pendulum(V), h=0.02, t_end=10.0, x0=START, **GGL)
    assert result.constraint_error.max() < 1e-15
    assert result.velocity_constraint_error.max() < 4e-15
    assert result.stats.balance_error_max < 1e-13 * abs(result.energy).max()
    q, v = result["q"], result["v"]
    moment = q[:, 0] * v[:, 1] - q[:, 1] * v[:, 0]
    if not V.has(sympy.sin):
        np.testing.assert_allclose(moment, moment[0], rtol=0, atol=2e-14)


def test_a_lagrangian_moves_as_newton_says_with_second_order():
    def rates(t, x):
        q, v = x[:3], x[3:]
        force = np.array([np.sin(t), 0, 0.5]) / 2 - [0, 0, 9.81]
        return [*v, *(force - (v @ v + force @ q) / (q @ q) * q)]

    start = [*START["q"], *START["v"]]
    exact = solve_ivp(rates, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]

    def error(h):
        push = {"push": lambda t: (np.sin(t), 0, 0.5)}
        result = ps.simulate(pendulum(), h=h, t_end=1.0, x0=START, inputs=push, **GGL)
        assert result.stats.balance_error_max < 1e-13
        return abs(np.concatenate([result["q"][-1], result["v"][-1]]) - exact).max()

    errors = error(0.01), error(0.005)
    assert errors[1] < 1e-3
    assert 3.7 < errors[0] / errors[1] < 4.3


def random_lagrangian(seed: int) -> tuple[ps.LagrangianSystem, dict[str, np.ndarray]]:
    """Return quadratic constraints between coordinates with a full mass matrix, and a start."""
    random = np.random.default_rng(seed)
    n, m = 4, 2
    q = sympy.symbols(f"q:{n}")
    A, L = random.standard_normal((m, n, n)), random.standard_normal((n, n))
    at, b = random.standard_normal(n), random.standard_normal((m, n))
    column = sympy.Matrix(q)
    forms = [
        (column.T * sympy.Matrix(a) * column)[0] / 4 + sympy.Matrix(c).dot(column)
        for a, c in zip(A, b, strict=True)
    ]
    start = dict(zip(q, at, strict=True))
    g = [form - form.subs(start) for form in forms]
    V = sum(sympy.cos(x) for x in q) + (column.T * column)[0]
    slopes = (A + A.transpose(0, 2, 1)) @ at / 4 + b
    v = random.standard_normal(n)
    v -= np.linalg.pinv(slopes) @ (slopes @ v)
    M = L @ L.T + np.eye(n)
    return ps.LagrangianSystem.symbolic("random", q=q, M=M, V=V, g=g), {"q": at, "v": v}


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_random_lagrangians_are_exact_and_port_hamiltonian(seed):
    system, start = random_lagrangian(seed)
    form = system.port_hamiltonian(stabilised=True)
    assert form.defects(form.state(start)).holds()
    result = ps.simulate(system, h=2e-3, t_end=0.05, x0=start, **GGL)
    scale = 1 + abs(result.energy).max()
    assert result.stats.balance_error_max < 1e-13 * scale
    assert result.constraint_error.max() < 1e-13
    assert result.velocity_constraint_error.max() < 1e-12
    plain = ps.simulate(system, h=2e-3, t_end=0.05, x0=start, scheme="ph-dg", progress=False)
    np.testing.assert_allclose(result["q"][-1], plain["q"][-1], rtol=0, atol=1e-3 * scale)


def test_the_tangent_of_a_step_is_the_derivative_of_its_residual():
    system, start = random_lagrangian(7)
    form = system.port_hamiltonian(stabilised=True)
    scheme = find_scheme("ph-mp-ggl")
    x0 = form.state(start)
    stages = form.stage_equations(scheme, 0.0, x0, np.zeros(0), 0.05)
    w = stages.guess + 0.1 * np.random.default_rng(1).standard_normal(stages.guess.size)
    T, eps = stages.evaluate(w).tangent().T, 1e-6
    for k, unit in enumerate(np.eye(w.size)):
        ends = [stages.evaluate(w + side * eps * unit).F for side in (1, -1)]
        np.testing.assert_allclose(T[:, k], (ends[0] - ends[1]) / (2 * eps), atol=2e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"M": sympy.diag(1 + X**2, 1, 1)}, "M depends on q, and these equations need a"),
        ({"a": [Y, 0, 0]}, r"it has terms a\(q\)·v, which these equations do not support"),
        ({"g": [X**3 + Y]}, r"'g\[0\]' is not known to be quadratic in q"),
        ({"M": sympy.diag(1, 1, 0)}, "M is singular"),
    ],
)
def test_a_lagrangian_of_another_kind_is_refused_with_the_reason(options, message):
    with pytest.raises(ps.InputError, match=message):
        ps.simulate(pendulum(**options), h=0.01, t_end=0.1, **GGL)


# -- contacts, gears, joined bodies ----------------------------------------------------------------


@pytest.mark.parametrize("make", [coin, ball, sleigh])
def test_contacts_do_not_slip_at_the_ends_of_steps(make):
    model = make()[0]
    body = next(iter(model.bodies))
    result = ps.simulate(model, h=0.01, t_end=0.3, **GGL)
    assert result.engine == "reference"
    assert result.velocity_constraint_error.max() < 2e-13
    assert result.constraint_error.max() < 1e-14
    assert result.stats.balance_error_max < 2e-14 * (1 + abs(result.energy).max())

    def end(scheme, h):
        given = {"h": h, "t_end": 0.3, "engine": "reference", "progress": False}
        return ps.simulate(model, scheme=scheme, **given).position(body)[-1]

    exact = end("ph-mp", 1e-3)
    errors = [abs(end("ph-mp-ggl", h) - exact).max() for h in (0.02, 0.01)]
    assert errors[1] < errors[0] / 3 or errors[0] < 1e-6


def test_geared_joints_turn_in_step_to_round_off():
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.Box(mass=2, size=(1, 0.1, 0.2))
    upper = model.add_body("upper", shape, position=(0.5, 0, 0))
    lower = model.add_body("lower", shape, position=(1.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("B", ps.Revolute(upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    model.add_transmission("mesh", ps.Gear("A", "B", ratio=-2.5))
    result = ps.simulate(model, h=0.01, t_end=1.0, **GGL)
    assert result.stats.balance_error_max < 1e-13
    angles = [result.joint(name).coordinates["angle"] for name in "AB"]
    rates = [result.joint(name).rates["angle"] for name in "AB"]
    for one, other in (angles, rates):
        assert abs(one).max() > 1
        np.testing.assert_allclose(one, -2.5 * other, rtol=0, atol=2e-12)
    plain = ps.simulate(model, h=0.01, t_end=1.0, scheme="ph-mp", progress=False)
    given = ps.simulate(model, h=0.0025, t_end=1.0, scheme="ph-mp", progress=False)
    errors = [abs(r.position("lower")[-1] - given.position("lower")[-1]) for r in (result, plain)]
    assert errors[0].max() < 4 * errors[1].max() + 1e-5


def test_what_ends_of_steps_do_not_know_is_refused_with_the_reason():
    def shafts(**gear):
        model = ps.Model()
        for k, name in enumerate("ab"):
            body = model.add_body(name, ps.Sphere(mass=1, radius=0.1), position=(k, 0, 0))
            hinge = ps.Revolute(model.ground, body, point=(k, 0, 0), axis=(0, 0, 1))
            model.add_joint(f"shaft {name}", hinge)
        if gear:
            model.add_transmission("mesh", ps.Gear("shaft a", "shaft b", **gear))
        else:
            model.add_port("crank", ps.Drive("shaft a", rate=1.0))
        return model

    for model, message in (
        (shafts(ratio=2, efficiency=0.9), "the efficiency of transmissions \\('mesh'\\)"),
        (shafts(), "drives \\('crank'\\), whose rates are means over steps"),
    ):
        with pytest.raises(ps.InputError, match=message):
            ps.simulate(model, h=0.01, t_end=0.1, **GGL)


def double(inertia) -> ps.Model:
    model = ps.Model(gravity=(0, 0, -9.81))
    plate = ps.RigidBody(mass=1, inertia=inertia)
    first = model.add_body("first", plate, position=(0.5, 0, 0))
    second = model.add_body("second", plate, position=(1.5, 0, 0))
    model.add_joint("A", ps.Spherical(model.ground, first, point=(0, 0, 0)))
    model.add_joint("B", ps.Revolute(first, second, point=(1, 0, 0), axis=(0, 1, 0)))
    return model


FLAT, THICK = (0.01, 0.01, 0.02), (0.01, 0.011, 0.02)


def test_flat_bodies_and_swapped_joints_keep_velocities():
    swapped, rotor = double(THICK), double(FLAT)
    swapped.connect(ph.Swap("B"))
    ports = [ph.Port("shaft", 1, "N m", "rad/s")]
    rotor.add_system("rotor", ph.linear("r", states=["p"], J=[[0]], Q=[[9]], B=[[1]], ports=ports))
    rotor.connect(ph.Transformer("rotor.shaft", "B", C=0.2))
    for model in (double(FLAT), rotor, swapped):
        result = ps.simulate(model, h=0.01, t_end=0.2, **GGL)
        assert result.velocity_constraint_error.max() < 1e-12
        assert result.stats.balance_error_max < 1e-13
    assert abs(result.joint("B").coordinates["angle"]).max() < 1e-12


def test_flat_bodies_that_are_swapped_are_refused_with_the_reason():
    model = double(FLAT)
    model.connect(ph.Swap("B"))
    with pytest.raises(ps.PoinsotError, match="the inertia of flat bodies \\('first', 'second'\\)"):
        ps.simulate(model, h=0.01, t_end=0.2, **GGL)


# -- midpoints -------------------------------------------------------------------------------------


def swing(**spring):
    """A bar on a hinge with a torsion spring, thrown so that it turns over."""
    model, bar = ps.Model(gravity=(0, 0, -9.81)), ps.Box(mass=1, size=(1, 0.3, 0.2))
    body = model.add_body("bar", bar, position=(0.5, 0, 0), angular_velocity=(0, 9, 0))
    model.add_joint("pin", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("coil", ps.JointSpring("pin", **spring))
    return model


@pytest.mark.parametrize("scheme", ["ph-dg", "ph-dg-partitioned", "ph-avf"])
def test_discrete_gradients_of_springs_leave_velocities_within_the_constraints(scheme):
    quartic = {"potential": lambda a: 0.1 * a**4, "dpotential": lambda a: 0.4 * a**3}
    for law in ({"stiffness": 1.0}, quartic):
        result = ps.simulate(swing(**law), scheme=scheme, h=0.01, t_end=0.5)
        assert result.velocity_constraint_error_mid.max() < 1e-12
        assert (result.status, result.warnings) == ("done", ())
