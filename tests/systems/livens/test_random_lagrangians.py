"""Laws that hold for every Lagrangian: random polynomial masses, potentials and constraints."""

import warnings

import numpy as np
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from lagrangians import run
from numerics import jacobian

import poinsot as ps
from poinsot.ph.gradients import Rule
from poinsot.systems.livens.lagrangian import Interval


def random_lagrangian(seed, n, singular):
    """M = A^T A with A linear in q; singular ones have a constraint that fixes the rest.

    Half of them have terms a(q)·v.
    """
    random = np.random.default_rng(seed)
    q = sympy.symbols(f"q0:{n}")

    def number():
        return sympy.Float(round(random.uniform(-1, 1), 3))

    rows = n - 1 if singular else n
    A = sympy.Matrix(rows, n, lambda i, j: (2 if i == j else 0) + sum(number() * a for a in q) / 5)
    M = (A.T * A).applyfunc(sympy.expand)
    V = sum(a**2 + number() * a**3 / 4 for a in q) + sympy.cos(q[0] - number() * q[-1])
    # The null direction of A is near the last coordinate.
    g = [q[-1] - number() * q[0] ** 2 - number() * q[0]] if singular else []
    B = sympy.Matrix(n, 1, lambda i, j: 1 + number() * q[0])
    ports = [ps.ph.Port("push")]
    a = [number() * b**3 + sympy.sin(number() * q[0] * b) for b in q[::-1]] if seed % 2 else None
    own = ps.LagrangianSystem.symbolic("random", q=q, M=M, V=V, a=a, g=g, B=B, ports=ports)
    x, v = random.uniform(-0.4, 0.4, n), random.uniform(-0.5, 0.5, n)
    if singular:
        x[-1] -= own.lagrangian.g(x)[0]
        G = own.lagrangian.G(x)[0]
        v[-1] -= G @ v
    return own, {"q": x, "v": v}


def arguments(singular):
    """What a Lagrangian is made from; it is made in the tests, for that takes a while."""
    return st.tuples(st.integers(0, 2**32 - 1), st.integers(2, 3), singular)


lagrangians, regular = arguments(st.booleans()), arguments(st.just(False))


@settings(max_examples=3)
@given(lagrangians)
def test_energy_constraints_and_supply_are_exact(made):
    own, start = random_lagrangian(*made)
    for scheme in ("eml", "reml"):
        result = run(own, start, scheme, 0.02, 0.2, inputs={"push": np.cos})
        scale = max(1.0, abs(result.energy).max())
        assert result.stats.balance_error_max < 1e-11 * scale
        if own.lagrangian.m:
            assert result.constraint_error.max() < 1e-13


@settings(max_examples=2)
@given(regular)
def test_hamilton_s_form_is_exact_where_the_mass_is_regular(made):
    own, start = random_lagrangian(*made)
    result = run(own, start, "emh", 0.02, 0.2, inputs={"push": np.cos})
    assert result.stats.balance_error_max < 1e-11 * max(1.0, abs(result.energy).max())


@settings(max_examples=3)
@given(lagrangians, st.sampled_from([Rule.MIDPOINT, Rule.DISCRETE]))
def test_derivatives_of_a_step_have_exact_tangents_and_directionality(made, rule):
    own, start = random_lagrangian(*made)
    law, random = own.lagrangian, np.random.default_rng(3)
    q0, v0 = start["q"], start["v"]
    q1, v1 = q0 + 0.1 * random.standard_normal(law.n), v0 + random.standard_normal(law.n)
    slopes = [law.kinetic] if law.m else [law.kinetic, law.cokinetic]
    for slope, energy in zip(slopes, (law.T, law.co_T), strict=False):
        T = slope(rule, q0, v0, q1, v1)
        for tangent, f, at in (
            (T.qq, lambda a, slope=slope: slope(rule, q0, v0, a, v1).by_q, q1),
            (T.qs, lambda a, slope=slope: slope(rule, q0, v0, q1, a).by_q, v1),
            (T.sq, lambda a, slope=slope: slope(rule, q0, v0, a, v1).by_s, q1),
            (T.ss, lambda a, slope=slope: slope(rule, q0, v0, q1, a).by_s, v1),
        ):
            np.testing.assert_allclose(tangent, jacobian(f, at), rtol=0, atol=1e-7)
        if rule is Rule.DISCRETE:
            change = T.by_q @ (q1 - q0) + T.by_s @ (v1 - v0)
            assert abs(change - energy(q1, v1) + energy(q0, v0)) < 1e-12
    u, mu = np.array([0.7]), random.standard_normal(law.m)

    def push(q):
        return law.push(rule, Interval(0.0, 0.1, q0, q, u), mu)

    np.testing.assert_allclose(
        push(q1).tangent, jacobian(lambda q: push(q).impulse, q1), rtol=0, atol=1e-7
    )
    np.testing.assert_allclose(
        push(q1).G,
        -jacobian(lambda m: law.push(rule, Interval(0, 0.1, q0, q1, u), m).impulse, mu).T
        if law.m
        else np.zeros((0, law.n)),
        atol=1e-10,
    )


@settings(max_examples=3)
@given(lagrangians, st.integers(1, 14))
def test_derivatives_of_a_tiny_step_do_not_lose_digits(made, digits):
    own, start = random_lagrangian(*made)
    law, q0, v0 = own.lagrangian, start["q"], start["v"]
    q1 = q0 + 10.0**-digits * np.arange(1, law.n + 1) / law.n
    T = law.kinetic(Rule.DISCRETE, q0, v0, q1, v0)
    middle = law.dT((q0 + q1) / 2, v0)
    assert np.max(abs(T.by_q - middle)) < 1.0 * 10.0 ** (-2 * digits) + 1e-13


@settings(max_examples=2)
@given(lagrangians)
def test_functions_give_what_expressions_give(made):
    own, start = random_lagrangian(*made)
    law = own.lagrangian
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.MissingDerivativeWarning)
        same = ps.LagrangianSystem.from_functions(
            "same",
            n=law.n,
            m=law.m,
            M=law.M,
            V=law.V,
            a=law.a,
            g=law.g if law.m else None,
            B=law.B,
            ports=own.ports,
        )
    for scheme in ("eml", "ph-dg"):
        ours, theirs = (
            run(s, start, scheme, 0.05, 0.15, inputs={"push": 0.5}) for s in (own, same)
        )
        for state in ("q", "v"):
            np.testing.assert_allclose(ours[state], theirs[state], rtol=0, atol=1e-9)
        assert theirs.stats.balance_error_max < 1e-12
