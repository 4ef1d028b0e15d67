"""Joined systems are systems of the same class [BHRS25, sec. 6]."""

from functools import cache

import numpy as np
import pytest
import sympy
from redundant_systems import GRAVITY, pendulum, run
from sympy import cos, sin

import poinsot as ps

LENGTH = 0.6


def parts(tag, hinged):
    """A bar in the plane, hinged to the ground at one end or free; `end` is its other end."""
    x, y, phi, vx, vy, omega = sympy.symbols(f"x{tag} y{tag} phi{tag} vx{tag} vy{tag} omega{tag}")
    half = LENGTH / 2

    def at(side):
        return [[1, 0], [0, 1], [-side * half * sin(phi), side * half * cos(phi)]]

    return {
        "zeta": [x, y, phi],
        "w": [vx, vy, omega],
        "M": sympy.diag(1.0, 1.0, LENGTH**2 / 12),
        "V": 1.0 * GRAVITY * y,
        "c": [x - half * cos(phi), y - half * sin(phi)] if hinged else [],
        "dissipation": [0, 0, 0.02 * omega],
    }, at


@cache
def bars():
    upper, at_upper = parts(1, hinged=True)
    lower, at_lower = parts(2, hinged=False)
    end = at_upper(1)
    a = ps.RedundantSystem.symbolic(
        "upper",
        B=[[0, *end[0]], [0, *end[1]], [1, *end[2]]],
        ports=[ps.ph.Port("motor", 1, "N m", "rad/s"), ps.ph.Port("end", 2, "N", "m/s")],
        **upper,
    )
    start = at_lower(-1)
    b = ps.RedundantSystem.symbolic(
        "lower", B=start, ports=[ps.ph.Port("start", 2, "N", "m/s")], **lower
    )
    return a, b


def double_pendulum():
    a, b = bars()
    return a.joined(b, {"end": "start"}, name="double")


@cache
def by_hand():
    """The same in one piece."""
    (upper, at_upper), (lower, at_lower) = parts(1, hinged=True), parts(2, hinged=False)
    tie = sympy.Matrix.hstack(sympy.Matrix(at_upper(1)).T, -sympy.Matrix(at_lower(-1)).T)
    return ps.RedundantSystem.symbolic(
        "hand",
        M=sympy.diag(upper["M"], lower["M"]),
        V=[upper["V"], lower["V"]],
        A=tie,
        B=[[0], [0], [1], [0], [0], [0]],
        ports=[ps.ph.Port("motor", 1, "N m", "rad/s")],
        **{key: upper[key] + lower[key] for key in ("zeta", "w", "c", "dissipation")},
    )


def start(phi1=0.3, phi2=-0.5, omega1=1.0, omega2=2.0):
    half = LENGTH / 2
    along = [np.array([np.cos(p), np.sin(p)]) for p in (phi1, phi2)]
    aside = [np.array([-a[1], a[0]]) for a in along]
    centres = half * along[0], LENGTH * along[0] + half * along[1]
    first = half * omega1 * aside[0]
    speeds = first, 2 * first + half * omega2 * aside[1]
    return {
        "zeta": [*centres[0], phi1, *centres[1], phi2],
        "w": [*speeds[0], omega1, *speeds[1], omega2],
    }


def test_the_joined_system_is_that_written_by_hand():
    joined, hand = double_pendulum(), by_hand()
    assert [(s.name, s.size) for s in joined.states] == [(s.name, s.size) for s in hand.states]
    random = np.random.default_rng(0)
    x = joined.state(start())
    x[12:] = random.standard_normal(x.size - 12)
    z, u = random.standard_normal(x.size), np.array([0.3])
    for ours, theirs in (
        (joined.J(x), hand.J(x)),
        (joined.z(x), hand.z(x)),
        (joined.dz(x), hand.dz(x)),
        (joined.flow(x, z, u), hand.flow(x, z, u)),
        (joined.dflow(x, z, u), hand.dflow(x, z, u)),
        (joined.dflow_dz(x, z), hand.dflow_dz(x, z)),
        (joined.B(x), hand.B(x)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
    assert joined.H(x) == pytest.approx(hand.H(x), abs=1e-14)


def test_the_joined_system_is_port_hamiltonian():
    assert double_pendulum().defects(start()).holds(1e-9)


def test_the_motion_is_that_of_the_system_written_by_hand_with_an_exact_balance():
    inputs = {"motor": lambda t: 2 * np.sin(4 * t)}
    ours = run(double_pendulum(), start(), inputs=inputs, t_end=1.0)
    theirs = run(by_hand(), start(), inputs=inputs, t_end=1.0)
    np.testing.assert_allclose(ours["zeta"], theirs["zeta"], rtol=0, atol=1e-10)
    assert ours.stats.balance_error_max < 1e-12
    assert ours.constraint_error.max() < 1e-13


def test_the_ends_drift_apart_with_order_two():
    """Velocities are tied, not positions: the gap is the error of integration."""

    def gap(h):
        zeta = run(double_pendulum(), start(), h=h, t_end=0.5)["zeta"][-1]
        arms = [np.array([np.cos(p), np.sin(p)]) * LENGTH / 2 for p in zeta[[2, 5]]]
        return np.linalg.norm(zeta[:2] + arms[0] - zeta[3:5] + arms[1])

    assert np.log2(gap(0.01) / gap(0.005)) == pytest.approx(2.0, abs=0.1)


def test_ports_joined_twice_over_share_the_force():
    """A second joint at the same point repeats the first: the rank is constant, but not full."""
    fixed, at = parts(3, hinged=False)
    left, right = (
        ps.RedundantSystem.symbolic(
            name,
            B=np.hstack([np.array(at(1)), np.array(at(1))]).tolist(),
            ports=[ps.ph.Port(f"{name}{i}", 2) for i in range(2)],
            **fixed,
        )
        for name in ("left", "right")
    )
    start = {"w": [0.3, 0.2, 1.0, 0.3, 0.2, 1.0]}
    ties = {"left0": "right0", "left1": "right1"}
    twice, once = (
        run(left.joined(right, dict(list(ties.items())[:count])), start) for count in (2, 1)
    )
    np.testing.assert_allclose(twice["zeta"], once["zeta"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(twice["mu"][1:, :2], once["mu"][1:] / 2, rtol=0, atol=1e-9)


def test_ports_that_do_not_fit_are_refused():
    a, b = bars()
    for ports, message in (
        ({}, "at least one port to connect"),
        ({"motor": "start"}, "'motor' has the size 1, and 'start' 2; connect ports of equal size"),
        ({"tip": "start"}, "no port 'tip'"),
        ("end", r"ports is 'end'; give those of 'upper' .* e.g. \{'end': 'start'\}"),
        (["end"], r"ports is \['end'\]; give those of 'upper'"),
        ({"end": 1}, r"ports is \{'end': 1\}"),
    ):
        with pytest.raises(ps.InputError, match=message):
            a.joined(b, ports)
    with pytest.raises(ps.InputError, match="expected a RedundantSystem"):
        a.joined("b", {"end": "start"})
    with pytest.raises(ps.InputError, match="'torque' has an input"):
        ps.ph.feed(pendulum(), "torque", 1.0).joined(b, {"torque": "start"})


# -- names and units --------------------------------------------------------------------------


def rail(name, unit="m"):
    """A slide that ends at 1 m."""
    q, v = sympy.symbols("q v")
    return ps.RedundantSystem.symbolic(
        name,
        zeta=[q],
        w=[v],
        M=[[1]],
        V=q,
        B=[[1, 1]],
        ports=[ps.ph.Port(f"{name}.a"), ps.ph.Port(f"{name}.b")],
        positions={f"{name}.a": q, f"{name}.b": q},
        domain={"end": 1 - q},
        units={"zeta": unit, "w": "m/s"},
    )


def test_systems_of_one_name_are_not_joined():
    a, b = rail("a"), rail("b")
    both = a.joined(b, {"a.a": "b.a"})
    for one, other, ports in ((a, a, {"a.a": "a.b"}), (both, b, {"a.b": "b.b"})):
        with pytest.raises(ps.InputError, match=r"two parts '.'; rename one, .*prefixed\('left'\)"):
            one.joined(other, ports)


@pytest.mark.parametrize("level", ["velocity", "position"])
def test_prefixed_systems_are_joined_with_every_label_and_edge_their_own(level):
    a, b = rail("a"), rail("b")
    pair = a.joined(b, {"a.a": "b.a"}, level=level)
    left, right = pair.prefixed("left"), pair.prefixed("right")
    laws = left.joined(right, {"left.b.b": "right.a.b"}, level=level).laws
    assert laws.coordinates == ["left.a.q", "left.b.q", "right.a.q", "right.b.q"]
    assert list(laws.domain) == ["left.a.end", "left.b.end", "right.a.end", "right.b.end"]
    assert list(laws.positions) == ["left.a.b", "right.b.b"]
    assert (laws.names_c or laws.names_A) == [
        "left.a.a.a[0] = left.b.b.a[0]",
        "right.a.a.a[0] = right.b.b.a[0]",
        "left.b.b[0] = right.a.b[0]",
    ]


def test_a_prefixed_system_moves_as_before():
    whole = rail("a").joined(rail("b"), {"a.a": "b.a"}, level="position")
    x0 = {"zeta": [0.2, 0.2], "w": [0.5, 0.5]}
    plain = run(whole, x0)
    named = run(whole.prefixed("left"), {f"left.{key}": value for key, value in x0.items()})
    np.testing.assert_array_equal(named["left.zeta"], plain["zeta"])
    np.testing.assert_allclose(plain["zeta"][-1], 0.2 + 0.5 * 0.5 - 0.5**2 / 2, atol=1e-12)


def test_units_on_which_both_agree_are_kept():
    tie = {"a.a": "b.a"}
    assert [s.unit for s in rail("a").joined(rail("b"), tie).states] == ["m", "m/s", None]
    assert [s.unit for s in rail("a").joined(rail("b", "1"), tie).states] == [None, "m/s", None]
