"""Energy shaping: the input makes a system move like the desired one, and says where it cannot."""

import numpy as np
import pytest
import sympy as sy
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot import ph

q1, q2, p1, p2 = sy.symbols("q1 q2 p1 p2")
STATES = {"q": [q1, q2], "p": [p1, p2]}
O, P = sy.zeros(2), sy.Matrix([p1, p2])
I1, I2, M3 = 0.186, 0.09, 6.18
MASS, LINE = sy.diag(I1, I2), sy.Matrix([-1, 1])
START = np.array([3.0, 0.0, 0.0, 0.0])


def wheel_pendulum():
    """A pendulum whose wheel has a motor [O02]."""
    return ph.symbolic(
        "wheel pendulum",
        states=STATES,
        H=(P.T * MASS.inv() * P)[0] / 2 + M3 * sy.cos(q1),
        J=sy.Matrix([[O, sy.eye(2)], [-sy.eye(2), O]]),
        B=sy.Matrix([0, 0, -1, 1]),
        ports=[ph.Port("motor", 1, "N m", "rad/s")],
    )


def shaped(kv=1.0, a=(0.2, -0.3, 0.6), kp=0.5, slope=1.0):
    """The system of the paper; with another slope its potential does not match."""
    shape = sy.Matrix([[a[0], a[1]], [a[1], a[2]]])
    gamma = -slope * I1 * (a[1] + a[2]) / (I2 * (a[0] + a[1]))
    V = I1 * M3 / (a[0] + a[1]) * sy.cos(q1) + kp / 2 * (q2 + gamma * q1) ** 2
    return ph.symbolic(
        "shaped",
        states=STATES,
        H=(P.T * shape.inv() * P)[0] / 2 + V,
        J=sy.Matrix([[O, MASS.inv() * shape], [-shape * MASS.inv(), O]]),
        R=sy.Matrix([[O, O], [O, kv * LINE * LINE.T]]),
    )


def test_the_input_matches_and_a_wrong_potential_does_not():
    right, wrong = (ph.energy_shaping(wheel_pendulum(), shaped(slope=s)) for s in (1.0, 1.1))
    states = np.random.default_rng(1).standard_normal((10, 4))
    assert max(right.defect(x) for x in states) < 1e-14
    assert min(wrong.defect(x) for x in states) > 1e-5


def test_the_closed_loop_moves_like_the_desired_system_and_its_energy_never_rises():
    """The pendulum with its input, by SciPy, against the run of the desired system."""
    system, desired = wheel_pendulum(), shaped()
    shaping = ph.energy_shaping(system, desired)
    run = ps.simulate(desired, h=0.002, t_end=1.5, x0=START)
    assert np.diff(run.energy).max() <= 0

    def rate(_, x):
        return system.flow(x, system.z(x), shaping.control(x))

    x = solve_ivp(rate, (0, 1.5), START, "DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    assert run["q"][-1] == pytest.approx(x[:2], abs=2e-4)


def test_the_passive_output_injects_damping():
    """H_d' = -k y_d·y_d with u - k y_d, of a desired system without losses."""
    system, desired = wheel_pendulum(), shaped(kv=0.0)
    shaping, lossy = (ph.energy_shaping(system, shaped(kv=kv)) for kv in (0.0, 0.7))
    for x in np.random.default_rng(2).standard_normal((5, 4)):
        y = shaping.output(x)
        u = shaping.control(x) - 0.7 * y
        assert u == pytest.approx(lossy.control(x))
        rate = desired.z(x) @ system.flow(x, system.z(x), u)
        assert rate == pytest.approx(-0.7 * y @ y)


def test_what_cannot_be_shaped_is_refused():
    system, desired = wheel_pendulum(), shaped()
    with pytest.raises(ps.InputError, match=r"no port 'motors'.*'motor'"):
        ph.energy_shaping(system, desired, ports=["motors"])
    with pytest.raises(ps.InputError, match="it has no ports"):
        ph.energy_shaping(desired, desired)
    other = ph.linear("other", states=["a"], J=[[0.0]], Q=[[1.0]])
    with pytest.raises(ps.InputError, match="same names and sizes"):
        ph.energy_shaping(system, other)
    model = ps.Model()
    body = model.add_body("body", ps.Box(mass=1.0, size=(1, 1, 1)))
    model.add_joint("hinge", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("motor", ps.JointPort("hinge"))
    mechanism = model.compile()
    with pytest.raises(ps.InputError, match="states without a derivative"):
        ph.energy_shaping(mechanism, mechanism)
