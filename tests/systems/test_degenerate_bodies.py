"""Rods and plates have singular mass matrices, points none at all; they move as textbooks say."""

import mechanisms
import numpy as np
import pytest
from engines import both
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import SCHEMES, laws
from numerics import observed_orders
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import poinsot as ps

G = 9.81


def swing(scheme, h, t_end, engine="auto"):
    """A thin rod of length 1.2 m let go 2 rad from hanging, turning about y."""
    angle = 2.0
    down = np.array([np.sin(angle), 0, -np.cos(angle)])
    model = ps.Model(gravity=(0, 0, -G))
    turned = ps.Rotation.from_axis_angle((0, 1, 0), np.pi - angle)
    rod = model.add_body(
        "rod", ps.ThinRod(mass=0.7, length=1.2), position=0.6 * down, rotation=turned
    )
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    result = ps.simulate(model, scheme=scheme, h=h, t_end=t_end, engine=engine)
    x, _, z = result.position("rod").T
    return result, np.unwrap(np.arctan2(x, -z))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_thin_rod_swings_by_elliptic_functions(scheme):
    """sin(angle/2) = k sn(K - w t), k = sin(angle0/2), w^2 = 3 g/(2 l)."""
    k, w = np.sin(1.0), np.sqrt(1.5 * G / 1.2)
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for h in steps:
        result, angle = swing(scheme, h, 1.0)
        sn = ellipj(ellipk(k**2) - w * result.time, k**2)[0]
        errors.append(abs(angle - 2 * np.arcsin(k * sn)).max())
        assert result.stats.balance_error_max < 1e-12 * 10
        assert result.constraint_error.max() < 1e-12
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)
    assert errors[-1] < 1e-3


def test_the_period_of_a_thin_rod_is_the_complete_elliptic_integral():
    k, w = np.sin(1.0), np.sqrt(1.5 * G / 1.2)
    period = 4 * ellipk(k**2) / w
    rough, fine = (swing("ph-mp", period / n, period)[1][-1] for n in (400, 800))
    # At its turning point the angle is blind to first order; errors are of order h^4 there.
    assert abs(fine - 2.0) < abs(rough - 2.0) < 1e-4
    quarter = (swing("ph-mp", period / n, period / 4)[1][-1] for n in (400, 800))
    first, second = quarter
    assert (4 * second - first) / 3 == pytest.approx(0.0, abs=1e-6)  # extrapolated


PLATE = {"mass": 2.0, "inertia": (1.0, 2.0, 3.0)}  # Euler values (2, 1, 0)


def plate(h, t_end=1.0):
    model = ps.Model()
    model.add_body("plate", ps.RigidBody(**PLATE), angular_velocity=(1, 2, 3), velocity=(1, 0, 0))
    return ps.simulate(model, h=h, t_end=t_end)


def exact_plate(t_end=1.0):
    J = np.diag(PLATE["inertia"])

    def euler(t, y):
        R, W = y[:9].reshape(3, 3), y[9:]
        skew = np.array([[0, -W[2], W[1]], [W[2], 0, -W[0]], [-W[1], W[0], 0]])
        return np.concatenate([(R @ skew).reshape(-1), np.linalg.solve(J, -np.cross(W, J @ W))])

    start = np.concatenate([np.eye(3).reshape(-1), [1.0, 2.0, 3.0]])
    y = solve_ivp(euler, (0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    R = y[:9].reshape(3, 3)
    return R, R @ y[9:]


def test_a_flat_plate_spins_by_eulers_equations():
    R, _ = exact_plate()
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for h in steps:
        result = plate(h)
        errors.append(abs(result.rotation("plate")[-1] - R).max())
        L, H = result.angular_momentum, result.energy
        np.testing.assert_allclose(L, [L[0]] * len(L), rtol=1e-12)
        np.testing.assert_allclose(H, H[0], rtol=1e-12)
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def test_the_angular_velocity_of_a_flat_plate_is_of_order_two():
    """The director without mass has no velocity of its own: it must come from the others."""
    _, omega = exact_plate()
    steps = np.array([0.02, 0.01, 0.005])
    errors = [abs(plate(h).angular_velocity("plate")[-1] - omega).max() for h in steps]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def test_a_flat_box_is_a_plate():
    model = ps.Model(gravity=(0, 0, -G))
    body = model.add_body("sheet", ps.RigidBody(mass=2, inertia=(1, 2, 3)), position=(1, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    result = ps.simulate(model, h=0.01, t_end=1.0)
    np.testing.assert_allclose(result.energy, result.energy[0], atol=1e-12 * 40)
    assert result.constraint_error.max() < 1e-12


# -- laws over random mechanisms of discs and needles ---------------------------------------------

FORMS = [("ph-mp", "directors"), ("ph-mp-ggl", "directors"), ("ph-mp", "rotations")]
FORMS.append(("emh-mean", "quaternions"))
seeds = st.integers(0, 10**6)


def solid(kind, thickness):
    """A body with Euler values (1, 0.6, t) / 10 or (1, t, t) / 10."""
    E1, E2, E3 = np.array([1.0, 0.6 if kind == "disc" else thickness, thickness]) / 10
    return ps.RigidBody(mass=1.5, inertia=(E2 + E3, E3 + E1, E1 + E2))


def chain(seed, kind, thickness=0.0):
    """Such bodies on a hinge, a universal joint and a hinge, which hold them at any axes."""
    random, model = np.random.default_rng(seed), ps.Model(gravity=(0.3, -0.2, -G))
    partner, point = model.ground, np.zeros(3)
    for k in range(3):
        position, R = point + random.uniform(-0.5, 0.5, 3), mechanisms.rotation(random)
        shape = solid(kind, thickness)
        body = model.add_body(f"body{k}", shape, position=position, rotation=R)
        a, b = np.linalg.qr(random.standard_normal((3, 2)))[0].T
        joint = ps.Revolute(partner, body, point=point, axis=a)
        if k == 1:
            joint = ps.Universal(partner, body, point=point, axis_a=a, axis_b=b)
        model.add_joint(f"joint{k}", joint)
        partner, point = body, position + random.uniform(-0.5, 0.5, 3)
    end = {"stiffness": 10.0, "rest_length": 0.2, "damping": 0.1}
    model.add_force("spring", ps.Spring(model.ground, partner, (1, 1, 0), point, **end))
    return model


@pytest.mark.parametrize(("scheme", "coordinates"), FORMS)
@pytest.mark.parametrize("kind", ["disc", "needle"])
@laws(2)
@given(seed=seeds)
def test_bodies_that_joints_hold_are_the_limit_of_thin_ones(kind, scheme, coordinates, seed):
    options = {"h": 0.005, "t_end": 0.05, "scheme": scheme, "coordinates": coordinates}
    one, other = both(chain(seed, kind), **options)
    for k in range(3):
        a, b = (result.position(f"body{k}") for result in (one, other))
        np.testing.assert_allclose(a, b, atol=1e-10)
    for result in (one, other):
        assert result.stats.balance_error_max < 1e-10
        assert result.constraint_error.max() < 1e-12
    # Quaternions take no smaller moment about an axis than 1e-5 of the largest one.
    coarse = (kind, coordinates) == ("needle", "quaternions")
    blind = 3e-6 if coarse else 1e-9
    for thickness in (1e-4, 1e-5) if coarse else (1e-5, 1e-7):
        thin = ps.simulate(chain(seed, kind, thickness), **options)
        for k in range(3):
            a, b = (result.position(f"body{k}")[-1] for result in (one, thin))
            np.testing.assert_allclose(a, b, atol=3 * thickness + blind)


def needle(seed, act):
    """A thin rod on a ball joint, or on none, with something on it."""
    random, model = np.random.default_rng(seed), ps.Model(gravity=(0, 0, -G))
    R = mechanisms.rotation(random)
    spin = R @ np.append(random.standard_normal(2), 0.0)
    rod = ps.ThinRod(mass=1, length=1)
    body = model.add_body("rod", rod, rotation=R, angular_velocity=spin)
    if random.integers(2):
        model.add_joint("ball", ps.Spherical(model.ground, body, point=0.5 * R[:, 2]))
    act(model, body, R @ np.array([0.1, 0.0, 0.2]), R[:, 2])
    return model


def spring(body, point, **options):
    return ps.Spring(ps.Model().ground, body, (1, 0, 0), point, **options)


OFF = {
    "a spring": lambda m, b, r, a: m.add_force("it", spring(b, r, stiffness=9.0, rest_length=0.1)),
    "a damper": lambda m, b, r, a: m.add_force("it", spring(b, r, damping=1.0)),
    "a force": lambda m, b, r, a: m.add_port("it", ps.ForcePort(b, point=r)),
    "a torque": lambda m, b, r, a: m.add_port("it", ps.TorquePort(b)),
}


@pytest.mark.parametrize("what", OFF)
@laws(2)
@given(seed=seeds)
def test_what_would_spin_up_a_free_needle_is_refused_in_all_coordinates(what, seed):
    model = needle(seed, OFF[what])
    for scheme, coordinates in FORMS:
        with pytest.raises(ps.InputError, match=r"'it' turns body 'rod' about its axis.*thickness"):
            ps.simulate(model, scheme=scheme, coordinates=coordinates, h=0.01, t_end=0.1)


@laws(3)
@given(seed=seeds)
def test_a_free_needle_with_forces_on_its_axis_is_the_limit_of_thin_ones(seed):
    def act(model, body, r, axis):
        model.add_force("it", spring(body, 0.2 * axis, stiffness=9.0, rest_length=0.1))

    model, ends = needle(seed, act), []
    for scheme, coordinates in FORMS:
        options = {"h": 0.002, "t_end": 0.04, "scheme": scheme, "coordinates": coordinates}
        one, other = both(model, **options)
        np.testing.assert_allclose(one.position("rod"), other.position("rod"), atol=1e-10)
        np.testing.assert_allclose(other.energy, other.energy[0], atol=1e-11)
        ends.append(one.position("rod")[-1])
    np.testing.assert_allclose(ends, [ends[0]] * len(ends), atol=1e-5)


def test_an_off_centre_ball_joint_holds_the_spin_of_a_needle():
    """It swings about the joint with m r^2 about a parallel of its axis."""

    def act(model, body, r, axis):
        model.joints.clear()
        model.add_joint("off", ps.Spherical(model.ground, body, point=r))
        model.add_port("push", ps.TorquePort(body))

    for scheme, coordinates in FORMS:
        options = {"scheme": scheme, "coordinates": coordinates}
        one, other = both(needle(3, act), h=0.002, t_end=0.05, **options)
        np.testing.assert_allclose(one.position("rod"), other.position("rod"), atol=1e-10)


def test_a_body_without_any_inertia_is_refused():
    with pytest.raises(ps.InputError, match=r"inertia is zero.*use PointMass"):
        ps.Model().add_body("speck", ps.RigidBody(mass=1, inertia=(0, 0, 0)))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_point_mass_on_a_rod_is_a_conical_pendulum(scheme):
    """w^2 = g / (l cos a): it goes round steadily."""
    length, tilt = 0.8, 0.6
    w = np.sqrt(G / (length * np.cos(tilt)))
    start = length * np.array([np.sin(tilt), 0, -np.cos(tilt)])
    steps, errors = np.array([0.02, 0.01]), []
    for h in steps:
        model = ps.Model(gravity=(0, 0, -G))
        bob = model.add_body(
            "bob",
            ps.PointMass(mass=0.3),
            position=start,
            velocity=(0, w * start[0], 0),
        )
        model.add_joint("string", ps.Rod(model.ground, bob, point_a=(0, 0, 0), point_b=start))
        result = ps.simulate(model, scheme=scheme, h=h, t_end=1.0)
        t = result.time
        exact = np.stack(
            [start[0] * np.cos(w * t), start[0] * np.sin(w * t), np.full_like(t, start[2])], axis=1
        )
        errors.append(abs(result.position("bob") - exact).max())
        tension = np.linalg.norm(result.reaction("string").force, axis=1)
        np.testing.assert_allclose(tension, 0.3 * G / np.cos(tilt), rtol=0.05)
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


@pytest.mark.parametrize("radius", [1e-3, 1e-4])
def test_a_torque_spins_a_wire_by_its_own_inertia_or_it_is_refused(radius):
    model = ps.Model()
    wire = model.add_body("wire", ps.Cylinder(mass=1, radius=radius, length=1))
    torque = radius**2 / 2  # 1 rad/s^2 about the axis
    model.add_port("motor", ps.TorquePort(wire, value=(0, 0, torque)))
    for coordinates in ("directors", "rotations", "rotations-quaternion"):
        system = model.compile(coordinates=coordinates)
        result = ps.simulate(system, h=0.01, t_end=1.0, progress=False)
        np.testing.assert_allclose(result.angular_velocity("wire")[-1], (0, 0, 1), atol=1e-9)
    with pytest.raises(ps.InputError, match=r"body 'wire': its smallest moment of inertia is 6e-0"):
        model.compile(coordinates="quaternions")


@pytest.mark.parametrize(
    "shape",
    [ps.ThinRod(mass=1.0, length=1.0), ps.RigidBody(mass=1.0, inertia=(0.3, 0.1 + 0.2, 0.0))],
)
def test_a_needle_on_a_hinge_has_an_exact_balance_in_compiled_stabilised_steps(shape):
    """Its tiles are singular but for the hinge, and elimination must not lose that."""
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body("needle", shape, position=(0.5, 0.1, 0), angular_velocity=(0, 2, 0))
    model.add_joint("pin", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    result = ps.simulate(model, scheme="ph-mp-ggl", h=0.01, t_end=0.5, engine="compiled")
    assert (result.status, result.stats.single_steps) == ("done", 0)
    assert result.stats.newton_iterations < 4 * result.stats.steps
    assert result.stats.balance_error_max < 2e-14


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@laws(3)
@given(seed=seeds)
def test_discs_with_dampers_and_loads_have_an_exact_balance_in_the_stabilised_form(engine, seed):
    """What is lost and put in is that along the way of points that lie off the disc."""
    random = np.random.default_rng(seed)
    model, away = ps.Model(gravity=(0, 0, -G)), lambda: random.uniform(0.3, 1.0, 3)
    disc = ps.Cylinder(mass=2.0, radius=0.4, length=0.0)
    body = model.add_body("disc", disc, position=away(), angular_velocity=2 * away())
    model.add_joint("hook", ps.Spherical(model.ground, body, point=-away()))
    post, eye = 2 * away(), away()
    model.add_force("strut", ps.Spring(model.ground, body, post, eye, stiffness=30.0, damping=5.0))
    model.add_port("pull", ps.ForcePort(body, point=away(), value=tuple(away())))
    result = ps.simulate(model, scheme="ph-mp-ggl", engine=engine, h=0.02, t_end=0.2)
    assert result.status == "done"
    assert result.stats.balance_error_max < 1e-13 * (1 + abs(result.energy).max())
