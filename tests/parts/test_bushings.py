"""Bushings: closed forms of oscillators, exact balances in every form and engine, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws

import poinsot as ps

SCHEMES = ("ph-mp", "ph-mp-ggl", "eml-mean", "emh-mean")
BLOCK = ps.RigidBody(mass=2.0, inertia=(0.3, 0.4, 0.5))


def definite(random, size):
    """A random symmetric positive definite matrix."""
    A = random.standard_normal((6, 6))
    return size * (A @ A.T + np.eye(6))


def pair(seed, *, damped, grounded):
    """Two bodies with a bushing between them and, if grounded, one to the ground."""
    random, model = np.random.default_rng(seed), ps.Model()
    a, b = (
        model.add_body(
            name,
            BLOCK,
            position=random.uniform(-1, 1, 3),
            rotation=ps.Rotation.from_axis_angle(random.standard_normal(3), 1.0),
            velocity=random.uniform(-1, 1, 3),
            angular_velocity=random.uniform(-2, 2, 3),
        )
        for name in "ab"
    )
    for name, ends in (("between", (a, b)), ("held", (model.ground, a)))[: 1 + grounded]:
        turn = ps.Rotation.from_axis_angle(random.standard_normal(3), 2.0)
        bushing = ps.Bushing(
            *ends,
            point=random.uniform(-1, 1, 3),
            stiffness=definite(random, 20.0),
            damping=definite(random, 1.0) if damped else None,
            rotation=turn,
        )
        model.add_force(name, bushing)
    return model


@laws(5)
@given(
    seed=st.integers(0, 10**6),
    scheme=st.sampled_from(SCHEMES),
    damped=st.booleans(),
    grounded=st.booleans(),
)
def test_balances_are_exact_and_both_engines_agree(seed, scheme, damped, grounded):
    model = pair(seed, damped=damped, grounded=grounded)
    runs = [
        ps.simulate(model, scheme=scheme, h=0.01, t_end=0.1, engine=engine)
        for engine in ("compiled", "reference")
    ]
    for result in runs:
        size = np.max(abs(result.energy))
        assert np.max(abs(result.balance_error)) < 1e-12 * size
        assert np.all(np.diff(result.dissipated) >= 0)
        if not grounded:
            L = result.angular_momentum
            assert np.max(abs(L - L[0])) < 1e-11 * (1 + np.max(abs(L)))
    for name in "ab":
        one, other = (result.position(name) for result in runs)
        assert one == pytest.approx(other, rel=0, abs=1e-11)
        one, other = (result.rotation(name) for result in runs)
        assert one == pytest.approx(other, rel=0, abs=1e-11)


@pytest.mark.parametrize("coordinates", ["rotations", "rotations-quaternion", "rotations-euler"])
def test_energy_is_exact_in_body_axes(coordinates):
    model = pair(7, damped=False, grounded=True)
    result = ps.simulate(model, coordinates=coordinates, h=0.01, t_end=0.2)
    assert np.max(abs(result.balance_error)) < 1e-12 * np.max(abs(result.energy))


@pytest.mark.parametrize("k", range(6))
def test_small_motions_are_those_of_a_damped_oscillator(k):
    model, turn = ps.Model(), ps.Rotation.from_axis_angle((1, 2, 3), 0.7)
    body = model.add_body("body", BLOCK, rotation=turn)
    S, D = np.array([50.0, 60, 70, 8, 9, 10]), np.array([1.0, 2, 3, 0.1, 0.2, 0.3])
    bushing = ps.Bushing(model.ground, body, point=(0, 0, 0), stiffness=S, damping=D, rotation=turn)
    model.add_force("bushing", bushing)
    inertia = np.array([2.0, 2, 2, 0.3, 0.4, 0.5])
    decay, omega = D / (2 * inertia), np.sqrt(S / inertia - (D / (2 * inertia)) ** 2)
    values = ps.analysis.modes(model).eigenvalues
    assert np.min(abs(values - (-decay[k] + 1j * omega[k]))) < 1e-9 * omega[k]


def test_a_torque_of_a_large_angle_follows_its_formula():
    theta, stiffness = 1.3, 5.0
    model = ps.Model()
    body = model.add_body("body", BLOCK, angular_velocity=(0, 0, 0), velocity=(0, 0, 0))
    bushing = ps.Bushing(model.ground, body, point=(0, 0, 0), stiffness=(1, 1, 1, 5, 5, 5))
    (potential,), _ = bushing.place("bushing", {})
    R = ps.Rotation.from_axis_angle((0, 0, 1), theta).matrix
    q = np.concatenate([np.zeros(3), R.T.reshape(-1)])
    chi = (4 * np.tan(theta / 2) + np.sin(theta)) / 3
    assert potential.energy(q) == pytest.approx(stiffness * chi**2 / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give a stiffness or a damping"),
        ({"stiffness": (1, 2, 3)}, "6 numbers or a 6x6 matrix"),
        ({"stiffness": (1, 1, 1, 1, 1, -1)}, "not positive semi-definite"),
        ({"stiffness": np.triu(np.ones((6, 6)))}, "not symmetric"),
        ({"damping": (1, 1, 1, 1, 1, np.nan)}, "NaN"),
        ({"stiffness": np.ones(6), "point": (0, 0)}, "three"),
    ],
)
def test_impossible_bushings_are_refused(arguments, message):
    model = ps.Model()
    body = model.add_body("body", BLOCK)
    with pytest.raises(ps.InputError, match=message):
        ps.Bushing(model.ground, body, **{"point": (0, 0, 0), **arguments})


def test_a_bushing_needs_two_bodies_that_turn():
    model = ps.Model()
    body = model.add_body("body", BLOCK)
    dot = model.add_body("dot", ps.PointMass(mass=1.0))
    with pytest.raises(ps.InputError, match="to itself"):
        ps.Bushing(body, body, point=(0, 0, 0), stiffness=np.ones(6))
    with pytest.raises(ps.InputError, match="no orientation"):
        ps.Bushing(body, dot, point=(0, 0, 0), stiffness=np.ones(6))
