"""Forces, loads and motors in the compiled engine: what they do is what the reference says."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from engines import add_every_part, assert_same, both
from in_turn import in_turn
from mechanisms import SCHEMES

import poinsot as ps
from poinsot.frames.directions import Generalised
from poinsot.parts.feedback import Inlet

INERTIA = [[3.0, 0.4, 0.1], [0.4, 2.0, -0.3], [0.1, -0.3, 2.5]]


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


def mechanism():
    """A body on a universal joint, another on a prismatic one on it; axes are not principal."""
    model = ps.Model(gravity=(0, 0, -9.81))
    turned = ps.Rotation.from_axis_angle((1, 2, 3), 0.7)
    body = ps.RigidBody(mass=2, inertia=INERTIA)
    a = model.add_body("a", body, position=(0, 0.5, 0), rotation=turned)
    b = model.add_body("b", body, position=(0.4, 0.5, 1), velocity=(0, 0, 1))
    cross = ps.Universal(model.ground, a, point=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0))
    model.add_joint("cross", cross)
    model.add_joint("slide", ps.Prismatic(a, b, point=(0.2, 0.5, 0.5), axis=(0.1, 0, 1)))
    add_every_part(model)
    model.project_velocities()
    return model, a, b


def compare(model, scheme, **options):
    result, reference = both(model, **{"scheme": scheme, "h": 0.02, "t_end": 0.06, **options})
    assert_same(result, reference)
    return result


# -- springs and dampers ----------------------------------------------------------------------


SPRINGS = {
    "linear": {"stiffness": 30.0},
    "damped": {"stiffness": 30.0, "damping": 2.0},
    "without length": {"stiffness": 30.0, "rest_length": 0.0},
    "by potential": {"potential": lambda l: l**4, "dpotential": lambda l: 4 * l**3},
    "by potential alone": {"potential": lambda l: 9 * np.cosh(l)},
    "by force": {"force": lambda l: 5 * np.sin(l)},
    "damper": {"damping": 3.0},
    "damper by law": {"law": lambda w: w**3, "dlaw": lambda w: 3 * w**2},
    "damper by law and number": {"law": np.tanh, "damping": 0.4, "stiffness": 1.0},
}


@pytest.mark.parametrize(("law", "scheme"), in_turn(SPRINGS, SCHEMES))
def test_springs_between_points(law, scheme):
    model, a, b = mechanism()
    for name, end in (("inner", a), ("outer", model.ground)):
        spring = ps.Spring(end, b, (1, 0, 0.3), (0.5, 0.6, 0.9), **SPRINGS[law])
        model.add_force(name, spring)
    compare(model, scheme)


@pytest.mark.parametrize(
    ("law", "scheme"), in_turn([law for law in SPRINGS if law != "without length"], SCHEMES[::-1])
)
def test_springs_along_joints(law, scheme):
    model, *_ = mechanism()
    for joint, freedom in (("cross", "angle a"), ("cross", "angle b"), ("slide", None)):
        spring = ps.JointSpring(joint, freedom=freedom, **SPRINGS[law])
        model.add_force(f"{joint} {freedom}", spring)
    compare(model, scheme)


@pytest.mark.parametrize("given", ["potential and gradient", "potential alone"])
def test_fields_of_points_and_directions_of_several_bodies(given, scheme):
    def potential(points, directions):
        far = points[0] - points[1]
        return float(far @ far + points[2, 0] ** 3 + 4 * (directions[0] @ directions[1]) ** 2)

    def gradient(points, directions):
        far, angle = points[0] - points[1], directions[0] @ directions[1]
        by_third = np.array([3 * points[2, 0] ** 2, 0, 0])
        return [2 * far, -2 * far, by_third], 8 * angle * directions[::-1]

    model, a, b = mechanism()
    pull = ps.Field(
        potential,
        points=[(a, (0, 1, 0)), (b, (0, 1, 1)), (b, (1, 0, 0))],
        directions=[(a, (1, 0, 0)), (b, (0.6, 0.8, 0))],
        gradient=gradient if given == "potential and gradient" else None,
    )
    model.add_force("pull", pull)
    model.add_force("tilt", ps.Field(lambda p, d: float(3 * d[0, 0]), directions=[(a, (0, 0, 1))]))
    compare(model, scheme, t_end=0.05)


# -- loads ------------------------------------------------------------------------------------


def load(t):
    return np.array([np.cos(4 * t), 2.0, -np.sin(t)])


def chase(t, motion):
    """Everything that a law can see."""
    push = motion.rotation[:, 1] - motion.velocity * np.linalg.norm(motion.velocity)
    return t * push + np.cross(motion.angular_velocity, motion.position)


LOADS = {
    "force": (ps.ForcePort, {"point": (0.6, 0.8, 1.1)}),
    "force in body axes": (ps.ForcePort, {"point": (0.6, 0.8, 1.1), "axes": "body"}),
    "force at the centre": (ps.ForcePort, {}),
    "torque": (ps.TorquePort, {}),
    "torque in body axes": (ps.TorquePort, {"axes": "body"}),
    "published torque": (ps.TorquePort, {"published": True}),
}


@pytest.mark.parametrize("source", [{"value": load}, {"law": chase}], ids=["of time", "by law"])
@pytest.mark.parametrize(("kind", "scheme"), in_turn(LOADS, SCHEMES))
def test_loads_on_bodies(kind, source, scheme):
    model, a, b = mechanism()
    port, arguments = LOADS[kind]
    model.add_port("first", port(b, **arguments, **source))
    model.add_port("second", port(a, **arguments, **source))
    result = compare(model, scheme)
    assert abs(result.port("first").energy[-1]) > 1e-4
    assert result.stats.single_steps == 0


def steer(t, coordinate, rate):
    return np.cos(t) - 3 * coordinate - 0.5 * rate + np.sin(coordinate * rate)


@pytest.mark.parametrize("source", [{"value": np.cos}, {"law": steer}], ids=["of time", "by law"])
def test_motors_on_joints(source, scheme):
    model, *_ = mechanism()
    for joint, freedom in (("cross", "angle a"), ("cross", "angle b"), ("slide", None)):
        model.add_port(f"{joint} {freedom}", ps.JointPort(joint, freedom=freedom, **source))
    result = compare(model, scheme)
    assert result.stats.single_steps == 0


def test_a_torque_that_depends_on_the_velocity_of_the_body_needs_few_iterations(scheme):
    """The tangent knows that the torque changes with the velocity, also of a slim body."""
    model = ps.Model(gravity=(0, 0, -9.81))
    top = model.add_body("top", ps.Box(mass=1, size=(0.3, 0.4, 0.5)), angular_velocity=(1, 0, 2))
    model.add_joint("tip", ps.Spherical(model.ground, top, point=(0.3, 0.3, 0.3)))
    add_every_part(model)
    model.project_velocities()
    model.add_port("brake", ps.TorquePort(top, law=lambda t, motion: -30 * motion.velocity))
    one, other = both(model, scheme=scheme, h=0.02, t_end=0.2)
    assert_same(one, other)
    assert one.stats.single_steps == 0
    assert one.stats.newton_iterations <= 3 * other.stats.newton_iterations


def test_a_port_for_all_forces_of_a_body(scheme):
    """Twelve generalised forces, as interconnections of free bodies use them."""
    model, *_ = mechanism()
    system = model.compile("directors", stabilised=scheme == "ph-mp-ggl")
    inlets = (*system.mechanism.inlets, Inlet(Generalised((1,)), 12))
    system = replace(
        system,
        mechanism=replace(system.mechanism, inlets=inlets),
        ports=(*system.ports, ps.ph.Port("wrench", 12)),
    )
    weights = np.random.default_rng(0).standard_normal(12)
    compare(system, scheme, inputs={"wrench": lambda t: weights * np.cos(t)})


# -- effort -----------------------------------------------------------------------------------


def test_springs_under_tension_in_balance_need_no_step_of_the_reference_engine():
    """Nothing moves: residuals are round-off of the springs' forces, and measured by them."""
    model = ps.Model()
    where = np.array([0.1, 0.2, 0.3])
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=where)
    for name, way in (("left", [1, 0.3, 0]), ("right", [-1, -0.3, 0])):
        spring = ps.Spring(model.ground, ball, where + way, where, stiffness=1e10, rest_length=0.3)
        model.add_force(name, spring)
    add_every_part(model)
    one, other = both(model, h=0.01, t_end=0.2)
    assert one.stats.single_steps == 0
    np.testing.assert_allclose(one.position("ball"), other.position("ball"), atol=1e-14)


def test_a_load_on_bodies_at_rest_needs_no_step_of_the_reference_engine():
    model = ps.Model()
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1))
    model.add_port("pull", ps.ForcePort(ball, value=(0, 0, 1)))
    add_every_part(model, spin=0.0)
    result = ps.simulate(model, h=0.01, t_end=0.2, engine="compiled")
    assert result.stats.single_steps == 0


def test_numbers_of_random_mechanisms_need_no_step_of_the_reference_engine(scheme):
    for seed in range(5):
        model = mechanisms.full(seed, bodies=3).model(project=False)
        add_every_part(model)
        model.project_velocities()
        result = ps.simulate(model, scheme=scheme, h=0.01, t_end=0.1, engine="compiled")
        assert result.stats.single_steps == 0
