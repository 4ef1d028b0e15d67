"""Potentials: gradients by differences, exact differences over a step, and at rest no surprises."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from numerics import jacobian

import poinsot as ps

LAWS = {
    "linear": {"stiffness": 30.0},
    "quartic": {"potential": lambda x: x**4, "dpotential": lambda x: 4 * x**3},
    "exponential": {"potential": np.exp, "dpotential": np.exp, "ddpotential": np.exp},
    "cosine": {"potential": lambda x: -np.cos(3 * x)},
    "force": {"force": lambda x: 5 * np.sin(x)},
}


def points_field(points, directions):
    p, d = points[0], directions[0]
    return p @ p + np.cos(p @ d) + d[2] ** 3


def points_gradient(points, directions):
    p, d = points[0], directions[0]
    s = -np.sin(p @ d)
    return 2 * p + s * d, s * p + np.array([0, 0, 3 * d[2] ** 2])


def potential(kind, law):
    """A potential of two bodies, from the public model."""
    model = ps.Model()
    a = model.add_body("a", ps.Box(mass=1, size=(1, 2, 3)))
    b = model.add_body("b", ps.Box(mass=2, size=(2, 1, 1)), position=(0.5, 1, 2))
    if kind == "length":
        model.add_force("f", ps.Spring(a, b, (0.2, 0, 0), (0.5, 1, 1.8), **LAWS[law]))
    elif kind == "angle":
        model.add_joint("J", ps.Revolute(a, b, point=(0, 0, 1), axis=(1, 2, 2)))
        model.add_force("f", ps.JointSpring("J", **LAWS[law]))
    elif kind == "displacement":
        model.add_joint("J", ps.Prismatic(a, b, point=(0, 0, 1), axis=(1, 2, 2)))
        model.add_force("f", ps.JointSpring("J", **LAWS[law]))
    else:
        model.add_force(
            "f",
            ps.Field(
                points_field,
                points=[(b, (0.1, 0.2, 0.3))],
                directions=[(a, (0, 1, 1))],
                gradient=points_gradient if law == "given" else None,
            ),
        )
    system = model.compile()
    (placed,) = system.mechanism.potentials
    return placed, system.start[:24]


CASES = [(kind, law) for kind in ("length", "angle", "displacement") for law in LAWS]
FIELDS = [("field", "given"), ("field", "differences")]


def near(q, seed, size=0.2):
    return q + size * np.random.default_rng(seed).standard_normal(q.size)


@pytest.mark.parametrize(("kind", "law"), [*CASES, *FIELDS])
def test_gradient_and_hessian_are_derivatives_of_the_energy(kind, law):
    V, q = potential(kind, law)
    q = near(q, 1)
    np.testing.assert_allclose(V.gradient(q), jacobian(V.energy, q), rtol=1e-7, atol=1e-8)
    # The inner derivative may be one by differences.
    np.testing.assert_allclose(V.hessian(q), jacobian(V.gradient, q), rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize(("kind", "law"), [*CASES, *FIELDS])
@laws(15)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.3, 1e-2, 1e-4]))
def test_the_discrete_gradient_is_directional(kind, law, seed, size):
    V, q = potential(kind, law)
    q0 = near(q, seed)
    q1 = near(q0, seed + 1, size)
    gradient, _ = V.discrete(q0, q1)
    change = V.energy(q1) - V.energy(q0)
    scale = abs(V.energy(q0)) + abs(V.energy(q1)) + 10.0
    assert gradient @ (q1 - q0) == pytest.approx(change, abs=1e-13 * scale)


@pytest.mark.parametrize(("kind", "law"), [*CASES, *FIELDS])
def test_the_discrete_gradient_is_the_gradient_at_rest(kind, law):
    V, q = potential(kind, law)
    q = near(q, 3)
    gradient, _ = V.discrete(q, q)
    np.testing.assert_allclose(gradient, V.gradient(q), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("kind", "law"), [*CASES, *FIELDS])
@pytest.mark.parametrize("size", [0.2, 1e-3])
def test_the_tangent_of_the_discrete_gradient_is_its_derivative(kind, law, size):
    V, q = potential(kind, law)
    q0 = near(q, 4)
    q1 = near(q0, 5, size)
    _, tangent = V.discrete(q0, q1)
    numerical = jacobian(lambda x: V.discrete(q0, x)[0], q1, step=1e-3 if size > 0.1 else 1e-4)
    assert np.abs(tangent - numerical).max() <= 1e-4 * np.abs(numerical).max()


@pytest.mark.parametrize(("kind", "law"), CASES)
@laws(15)
@given(seed=st.integers(0, 10**6), turn=st.floats(0.01, 0.5))
def test_a_spring_that_only_turns_and_hardly_stretches_keeps_its_force(kind, law, seed, turn):
    """Both bodies turn together, so that the coordinate changes by round-off alone.

    The force must not be made of the quotient of two such numbers.
    """
    V, q = potential(kind, law)
    random = np.random.default_rng(seed)
    R = ps.Rotation.from_axis_angle(random.standard_normal(3), turn).matrix
    moved = (q.reshape(-1, 3) @ R.T).reshape(-1)
    mid = (q + moved) / 2
    gradient, _ = V.discrete(q, moved)
    # The exact direction at the midpoint, up to the shortening of the chord, 1 - O(turn^2).
    size = np.linalg.norm(V.gradient(q))
    assert np.linalg.norm(gradient) <= size * (1 + turn**2) + 1e-9
    assert np.linalg.norm(gradient) >= size * (1 - turn**2) - 1e-9
    assert np.linalg.norm(gradient - V.gradient(mid)) <= 3 * turn * (size + 60)


@pytest.mark.parametrize(("kind", "law"), CASES)
def test_springs_put_in_no_net_force_and_no_net_torque(kind, law):
    V, q = potential(kind, law)
    q0 = near(q, 6)
    q1 = near(q0, 7, 0.3)
    gradient, _ = V.discrete(q0, q1)
    mid, pull = ((q0 + q1) / 2).reshape(-1, 3), gradient.reshape(-1, 3)
    np.testing.assert_allclose(pull[::4].sum(axis=0), 0, atol=1e-11)
    np.testing.assert_allclose(np.cross(mid, pull).sum(axis=0), 0, atol=1e-11)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("share", [1.0, 1e-3, 1e-6, 0.0])
def test_a_field_of_unknown_derivatives_does_not_depend_on_units_of_length(unit, share):
    """V of a point p in units: differences are taken over lengths of the mechanism."""

    def V(points, directions):
        x, y, z = points[0] / unit
        return np.cos(3 * x) * y + np.exp(z) * x**2 + directions[0] @ points[0] / unit

    def dV(points, directions):
        x, y, z = points[0] / unit
        by_x = -3 * np.sin(3 * x) * y + 2 * x * np.exp(z)
        by_point = np.array([by_x, np.cos(3 * x), np.exp(z) * x**2]) + directions[0]
        return by_point / unit, points[0] / unit

    found = []
    for gradient in (None, dV):
        model = ps.Model()
        body = model.add_body(
            "body", ps.Box(mass=1, size=(unit, unit, 2 * unit)), position=(unit, 0, 0)
        )
        at = {"points": [(body, (1.2 * unit, 0, 0))], "directions": [(body, (0, 0.6, 0.8))]}
        model.add_force("field", ps.Field(V, gradient=gradient, **at))
        (p,) = model.compile().mechanism.potentials
        a0, e = np.array([1.2, 0.3, 0.4, 0.1, 0.6, 0.7]), np.array([0.1, 0.3, -0.2, 0.2, 0, 0.1])
        lengths = np.repeat([unit, 1.0], 3)
        found.append(p.step(a0 * lengths, (a0 + share * e) * lengths) * lengths)
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=2e-12)


@pytest.mark.parametrize("along", [None, np.array([0.7, 0, 0])], ids=["any way", "along an axis"])
@laws(12)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 3))
def test_a_derivative_that_is_off_by_a_thousandth_is_refused_in_any_mechanism(along, seed, bodies):
    plan = mechanisms.tree(seed, bodies=bodies)
    first, *_, last = ("ground", *plan.bodies)[-2:]
    end = plan.bodies[last]["position"]
    start = end + (mechanisms.unit(np.random.default_rng(seed)) if along is None else along)

    def sprung(slope):
        law = {"potential": lambda l: 5 * l**2, "dpotential": lambda l: slope * l}
        spring = {"a": first, "b": last, "point_a": start, "point_b": end, **law}
        return replace(plan, forces={"spring": ("Spring", spring)}).model()

    assert ps.simulate(sprung(10.0), h=0.001, t_end=0.001).status == "done"
    with pytest.raises(ps.StructureError, match=r"E\^T z is not the gradient of H"):
        ps.simulate(sprung(10.01), h=0.001, t_end=0.001)
