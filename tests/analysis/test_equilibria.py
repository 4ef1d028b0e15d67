"""Where models and systems rest: closed forms, virtual work, all coordinates, damped runs."""

from itertools import pairwise

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import poinsot as ps
from poinsot import analysis, ph

G = 9.81
COORDINATES = ("directors", "quaternions", "rotations", "rotations-quaternion", "rotations-euler")


def pendulum(angle, mass=2.0, length=1.0, g=G):
    """A bar on a hinge, turned by an angle from where it hangs."""
    model = ps.Model(gravity=(0, 0, -g), name="pendulum")
    bar = model.add_body(
        "bar",
        ps.Box(mass=mass, size=(length / 10, length / 10, length)),
        position=length / 2 * np.array((np.sin(angle), 0, -np.cos(angle))),
        rotation=ps.Rotation.from_axis_angle((0, 1, 0), -angle),
    )
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return model


def linkage(points, masses, *, closed=True, name="linkage"):
    """Bars on hinges along y from point to point, from the ground and, closed, back to it."""
    points = np.array(points, dtype=float)
    model = ps.Model(gravity=(0, 0, -G), name=name)
    bars = []
    for k, mass in enumerate(masses):
        along = points[k + 1] - points[k]
        bars.append(
            model.add_body(
                f"bar {k}",
                ps.Box(mass=mass, size=(np.linalg.norm(along), 0.02, 0.02)),
                position=(points[k] + points[k + 1]) / 2,
                rotation=ps.Rotation.from_axis_angle((0, 1, 0), -np.arctan2(along[2], along[0])),
            )
        )
    chain = [model.ground, *bars, *([model.ground] if closed else [])]
    for k, (a, b) in enumerate(pairwise(chain)):
        model.add_joint(f"hinge {k}", ps.Revolute(a, b, point=points[k], axis=(0, 1, 0)))
    return model


def random_mechanism(seed, scale=1.0, charge=1.0):
    """A tree of bodies on random joints and springs, sometimes closed to a loop by a rod."""
    random = np.random.default_rng(seed)
    model = ps.Model(gravity=G * scale * np.array((0.1, -0.2, -1)))
    tips, bodies = [np.zeros(3)], [model.ground]
    for k in range(random.integers(1, 4)):
        parent = random.integers(0, k + 1) if k else 0
        along, axis, other = random.standard_normal((3, 3))
        along *= scale * random.uniform(0.3, 1) / np.linalg.norm(along)
        at = tips[parent]
        position = at + along / 2 + 0.05 * scale * random.standard_normal(3)
        inertia = scale**2 * charge * np.array((0.1, 0.15, 0.2))
        body = model.add_body(
            f"body {k}",
            ps.RigidBody(mass=charge * random.uniform(0.5, 3), inertia=inertia),
            position=position,
            rotation=ps.Rotation.from_axis_angle(random.standard_normal(3), random.uniform(0, 3)),
        )
        pair = bodies[parent], body
        joint = [
            lambda: ps.Revolute(*pair, point=at, axis=axis),  # noqa: B023
            lambda: ps.Spherical(*pair, point=at),  # noqa: B023
            lambda: ps.Universal(*pair, point=at, axis_a=axis, axis_b=np.cross(axis, other)),  # noqa: B023
            lambda: ps.Prismatic(*pair, point=at, axis=axis),  # noqa: B023
        ][random.integers(0, 4)]()
        model.add_joint(f"joint {k}", joint)
        if isinstance(joint, ps.Revolute):
            stiffness = charge * scale**2 * random.uniform(1, 20)
            model.add_force(f"coil {k}", ps.JointSpring(f"joint {k}", stiffness=stiffness))
        spring = ps.Spring(
            model.ground,
            body,
            point_a=2 * scale * random.standard_normal(3),
            point_b=position + 0.2 * scale * random.standard_normal(3),
            stiffness=charge * random.uniform(10, 60),
            rest_length=scale * random.uniform(0, 1),
        )
        model.add_force(f"spring {k}", spring)
        bodies.append(body)
        tips.append(at + along)
    if len(bodies) > 2 and random.random() < 0.5:
        end = tips[-2] + 0.2 * scale * random.standard_normal(3)
        model.add_joint("rod", ps.Rod(bodies[-1], bodies[-2], point_a=tips[-1], point_b=end))
    return model


def left_over(found):
    """The equations of motion at rest, relative to their largest term."""
    system = found.system.near(np.array(list(found.angles.values())))
    z = system.z(found.x)
    u = system.feedback(0.0, found.x, z, system.u(0.0))
    terms = abs(system.J(found.x)) @ abs(z)
    return np.max(abs(system.flow(found.x, z, u))) / (np.max(terms) or 1.0)


# -- closed forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("angle", [0.0, 0.5, 2.9])
def test_a_pendulum_hangs_down_and_its_hinge_carries_its_weight(angle, coordinates):
    found = pendulum(angle).equilibrium(coordinates)
    assert found.position("bar") == pytest.approx((0, 0, -0.5), abs=1e-14)
    assert found.rotation("bar") == pytest.approx(np.eye(3), abs=1e-12)
    assert found.coordinates("hinge")["angle"] == pytest.approx(angle)
    assert found.reaction("hinge").force == pytest.approx((0, 0, 2 * G), abs=1e-11)
    assert found.stability == "stable"
    assert left_over(found) < 1e-14


def test_a_pendulum_upside_down_is_left_unless_it_is_asked_for():
    down, up = pendulum(np.pi).equilibrium(), pendulum(np.pi).equilibrium(stable=False)
    assert down.position("bar")[2] == pytest.approx(-0.5)
    assert up.position("bar")[2] == pytest.approx(0.5)
    assert up.stability == "unstable"
    assert up.unstable_motions == (("bar",),)
    assert pendulum(2.6).equilibrium(stable=False).position("bar")[2] == pytest.approx(0.5)


def test_a_double_pendulum_has_four_stationary_places_and_one_is_stable():
    counts = []
    for first in (0, np.pi):
        for second in (0, np.pi):
            elbow = np.array((np.sin(first), 0, -np.cos(first)))
            end = elbow + np.array((np.sin(second), 0, -np.cos(second)))
            model = linkage([(0, 0, 0), elbow, end], [1.0, 2.0], closed=False)
            counts.append(len(model.equilibrium(stable=False).unstable_motions))
    assert counts == [0, 1, 1, 2]


def test_three_rods_share_a_weight_as_their_slopes_say():
    """A mass on three rods to a circle above: each carries m g / 3 over its cosine."""
    model = ps.Model(gravity=(0, 0, -G))
    mass = model.add_body("mass", ps.PointMass(mass=3.0), position=(0, 0, 0))
    for k in range(3):
        phi = 2 * np.pi * k / 3
        above = (0.5 * np.cos(phi), 0.5 * np.sin(phi), 1.2)
        model.add_joint(f"rod {k}", ps.Rod(model.ground, mass, point_a=above, point_b=(0, 0, 0)))
    found = model.equilibrium()
    assert found.stability == "stable"
    assert found.unstable_motions == found.neutral_motions == ()
    for k in range(3):
        assert np.linalg.norm(found.reaction(f"rod {k}").force) == pytest.approx(G * 1.3 / 1.2)


def test_a_beam_on_two_springs_sinks_and_tilts_by_their_stiffness():
    model = ps.Model(gravity=(0, 0, -G))
    beam = model.add_body("beam", ps.Box(mass=4.0, size=(2.0, 0.1, 0.1)), position=(0, 0, 0))
    model.add_joint("guide", ps.Planar(model.ground, beam, point=(0, 0, 0), normal=(0, 1, 0)))
    far = 1e4  # springs so long that they stay upright
    stiffness = {-1: 500.0, 1: 800.0}
    for side, k in stiffness.items():
        spring = ps.Spring(
            model.ground,
            beam,
            point_a=(side, 0, far),
            point_b=(side, 0, 0),
            stiffness=k,
            rest_length=far,
        )
        model.add_force(f"spring {side}", spring)
    found = model.equilibrium()
    ends = {s: found.position("beam") + s * found.rotation("beam")[:, 0] for s in (-1, 1)}
    for side, k in stiffness.items():
        assert ends[side][2] == pytest.approx(-2 * G / k, rel=1e-4)


def test_a_table_on_four_legs_has_the_smallest_of_many_reactions():
    model = ps.Model(gravity=(0, 0, -G))
    top = model.add_body("top", ps.Box(mass=10.0, size=(1, 1, 0.05)), position=(0, 0, 1))
    for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        leg = ps.PointOnPlane(model.ground, top, point=(x / 2, y / 2, 1), normal=(0, 0, 1))
        model.add_joint(f"leg {k}", leg)
    found = model.equilibrium()
    for k in range(4):
        reaction = found.reaction(f"leg {k}")
        assert not reaction.complete
        assert reaction.force == pytest.approx((0, 0, 2.5 * G), abs=1e-11)
    assert found.stability == "neutral"
    assert found.neutral_motions == (("top",),) * 3  # two slides and a turn


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_four_bar_with_repeated_constraints_rests_where_its_energy_is_least(coordinates):
    """The planar loop in one angle, minimised by a root of its derivative."""
    points = [(0, 0, 0), (0.05, 0, 0.3), (0.6, 0, 0.4), (0.5, 0, 0)]
    model = linkage(points, [1.0, 2.0, 3.0], name="four-bar")
    model.add_force("coil", ps.JointSpring("hinge 0", stiffness=5.0))
    found = model.equilibrium(coordinates)
    p = np.array(points)[:, ::2]
    a, b, c = (np.linalg.norm(p[k + 1] - p[k]) for k in range(3))
    start = np.arctan2(*p[1][::-1])

    def heights(angle):
        elbow = a * np.array((np.cos(angle), np.sin(angle)))
        span = p[3] - elbow
        d = np.linalg.norm(span)
        along = (d**2 + b**2 - c**2) / (2 * d)
        side = np.sqrt(b**2 - along**2)
        sign = np.sign(np.linalg.det([p[3] - p[1], p[2] - p[1]]))
        far = elbow + along * span / d + sign * side * np.array((-span[1], span[0])) / d
        return elbow, far

    def energy(angle):
        elbow, far = heights(angle)
        weights = 1.0 * elbow[1] / 2 + 2.0 * (elbow[1] + far[1]) / 2 + 3.0 * far[1] / 2
        return G * weights + 5.0 * (angle - start) ** 2 / 2

    elbow = 2 * found.position("bar 0")[::2]
    angle = np.arctan2(*elbow[::-1])
    slope = (energy(angle + 1e-5) - energy(angle - 1e-5)) / 2e-5
    assert slope == pytest.approx(0, abs=1e-8)
    assert energy(angle) < min(energy(angle + 1e-2), energy(angle - 1e-2))
    assert left_over(found) < 1e-13
    assert found.stability == "stable"


def test_a_motor_holds_a_pendulum_where_its_torque_balances_the_weight():
    model = pendulum(0.0)
    model.add_port("motor", ps.JointPort("hinge"))
    found = model.equilibrium(inputs={"motor": -4.0})
    # A positive angle about y lifts the bar to negative x.
    angle = found.coordinates("hinge")["angle"]
    assert 2 * G * 0.5 * np.sin(angle) == pytest.approx(-4.0, rel=1e-12)
    assert found.u == pytest.approx([-4.0])


def test_a_spring_may_be_wound_up_over_turns():
    model = pendulum(0.0, g=0.0)
    model.add_force("coil", ps.JointSpring("hinge", stiffness=2.0, rest=9.0))
    found = model.equilibrium()
    assert found.coordinates("hinge")["angle"] == pytest.approx(9.0)
    assert found.angles["hinge.angle"] == pytest.approx(9.0)
    run = ps.simulate(found.system, x0=found.x, angles=found.angles, h=0.01, t_end=0.1)
    assert np.ptp(run.joint("hinge").coordinates["angle"]) < 1e-12


def test_a_controller_holds_its_target():
    model = pendulum(0.0)
    law = lambda t, angle, rate: 60.0 * (1.0 - angle) - 12 * rate + G * np.sin(1.0)  # noqa: E731
    model.add_port("motor", ps.JointPort("hinge", law=law))
    assert model.equilibrium().coordinates("hinge")["angle"] == pytest.approx(1.0)


def test_a_rolling_ball_in_a_spring_comes_to_rest_without_slipping():
    model = ps.Model(gravity=(0, 0, -G))
    ball = model.add_body("ball", ps.Sphere(mass=1.0, radius=0.2), position=(0.3, 0, 0.2))
    contact = ps.RollingSphere(model.ground, ball, radius=0.2, point=(0, 0, 0), normal=(0, 0, 1))
    model.add_joint("contact", contact)
    spring = ps.Spring(
        model.ground, ball, point_a=(0, 0, 1), point_b=(0.3, 0, 0.2), stiffness=50.0, rest_length=0
    )
    model.add_force("spring", spring)
    found = model.equilibrium()
    assert found.position("ball") == pytest.approx((0, 0, 0.2), abs=1e-10)
    turned = found.rotation("ball") @ (0, 0, 1.0)
    angle = 0.3 / 0.2
    assert turned == pytest.approx((-np.sin(angle), 0, np.cos(angle)), abs=1e-8)


# -- laws over random mechanisms ---------------------------------------------------------------


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_virtual_work_vanishes_where_scipy_finds_the_least_energy(seed):
    found = random_mechanism(seed).equilibrium()
    mechanism = found.system.mechanism
    q = found.x[: mechanism.n]
    push = 1e-4 * np.random.default_rng(seed).standard_normal(q.size)
    closed = {
        "type": "eq",
        "fun": lambda y: mechanism.gap(q + y),
        "jac": lambda y: np.asarray(mechanism.G(q + y)),
    }
    least = minimize(
        lambda y: mechanism.V(q + y),
        push,
        jac=lambda y: mechanism.dV(q + y),
        constraints=closed,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 200},
    )
    assert least.x == pytest.approx(np.zeros(q.size), abs=1e-6)
    assert found.stability == "stable"
    assert left_over(found) < 1e-12


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6))
def test_all_coordinates_find_the_same_equilibrium(seed):
    model = random_mechanism(seed)
    found = [model.equilibrium(coordinates) for coordinates in COORDINATES[:4]]
    for other in found:
        assert left_over(other) < 1e-12
        for body in model.bodies:
            assert other.position(body) == pytest.approx(found[0].position(body), abs=1e-9)
            assert other.rotation(body) == pytest.approx(found[0].rotation(body), abs=1e-9)
        for joint in model.joints:
            force = found[0].reaction(joint).force
            assert other.reaction(joint).force == pytest.approx(force, abs=1e-7)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(1e-6, 1e-9), (1e5, 1e3)]))
def test_units_do_not_matter(seed, units):
    scale, charge = units
    one, other = random_mechanism(seed).equilibrium(), random_mechanism(seed, *units).equilibrium()
    assert other.stability == one.stability
    for body in one.system.layout.bodies:
        assert other.position(body) / scale == pytest.approx(one.position(body), abs=1e-9)
    assert other.energy / (scale**2 * charge) == pytest.approx(one.energy)


def test_a_damped_run_ends_where_the_model_rests():
    points = [(0, 0, 0), (0.05, 0, 0.3), (0.6, 0, 0.4), (0.5, 0, 0)]
    model = linkage(points, [1.0, 2.0, 3.0])
    model.add_force("coil", ps.JointSpring("hinge 0", stiffness=5.0, damping=3.0))
    found = model.equilibrium()
    run = ps.simulate(model, h=0.01, t_end=60.0, save_every=6000)
    for body in model.bodies:
        assert run.position(body)[-1] == pytest.approx(found.position(body), abs=1e-8)


def test_a_long_chain_hangs_down_by_sparse_matrices():
    along = np.array((np.sin(0.2), 0, -np.cos(0.2)))
    points = [k * along for k in range(61)]
    chain = linkage(points, [1.0] * 60, closed=False)
    found = chain.equilibrium()
    assert found.position("bar 59") == pytest.approx((0, 0, -59.5), abs=1e-9)
    assert found.reaction("hinge 0").force == pytest.approx((0, 0, 60 * G), abs=1e-8)
    assert found.stability == "stable"
    assert left_over(found) < 1e-13
    inverted = linkage([-point for point in points], [1.0] * 60, closed=False)
    assert inverted.equilibrium(stable=False).stability == "unstable"


# -- other systems -----------------------------------------------------------------------------


def test_a_lagrangian_leaves_the_hill_between_two_valleys():
    (q,) = symbols = sympy.symbols("q:1")
    well = ps.LagrangianSystem.symbolic("well", q=symbols, M=[[1]], V=(q**2 - 1) ** 2)
    assert abs(analysis.equilibrium(well).x[0]) == pytest.approx(1.0)
    assert analysis.equilibrium(well, x0={"q": [-3.0]}).x[0] == pytest.approx(-1.0)
    hill = analysis.equilibrium(well, x0={"q": [0.1]}, stable=False)
    assert hill.x[0] == pytest.approx(0, abs=1e-12)
    assert hill.unstable_motions == (("q",),)


def test_a_constrained_lagrangian_rests_at_the_bottom_of_its_circle():
    x, z = symbols = sympy.symbols("x z")
    bob = ps.LagrangianSystem.symbolic(
        "bob", q=symbols, M=sympy.eye(2), V=9.81 * z, g=[(x**2 + z**2 - 4) / 2]
    )
    found = analysis.equilibrium(bob, x0={"q": [2 * np.sin(2), -2 * np.cos(2)]})
    assert found.state("q") == pytest.approx((0, -2), abs=1e-12)
    assert found.state("lam") == pytest.approx(9.81 / 2)


def test_a_circuit_rests_at_the_voltage_of_its_source():
    for resistance in (2.0, 0.0):
        circuit = ph.linear(
            "circuit",
            states=["charge", "flux"],
            E=np.eye(2),
            J=[[0, 1], [-1, 0]],
            R=np.diag([0, resistance]),
            Q=np.diag([1 / 3e-6, 1 / 2e-3]),
            B=[[0], [1]],
            ports=[ph.Port("source")],
        )
        found = analysis.equilibrium(circuit, inputs={"source": 5.0})
        assert found.state("charge") == pytest.approx(5.0 * 3e-6)
        assert found.state("flux") == pytest.approx(0, abs=1e-15)
        assert found.stability == "stable"


def test_an_interconnection_keeps_its_joints_on_the_way_to_rest():
    """A pendulum with a coil on its hinge: sin(angle) = C U / (R m g l)."""
    model = pendulum(2.5)
    model.add_port("hinge torque", ps.JointPort("hinge"))
    coil = ph.linear(
        "coil",
        states=["flux"],
        E=[[1]],
        J=[[0]],
        R=[[2.0]],
        Q=[[500.0]],
        B=[[1, 1]],
        ports=[ph.Port("shaft"), ph.Port("voltage")],
    )
    both = ph.interconnect(
        model.compile(), coil, connections=ph.Gyrator("shaft", "hinge torque", C=0.3)
    )
    found = analysis.equilibrium(both, inputs={"voltage": 4.0})
    position = found.state("bar.q")[:3]
    assert np.linalg.norm(position) == pytest.approx(0.5, abs=1e-9)
    assert abs(position[0]) / 0.5 == pytest.approx(0.3 * 4.0 / 2.0 / (2 * G * 0.5), rel=1e-8)
    assert found.state("flux") == pytest.approx(4.0 / 2.0 / 500.0)
    assert found.stability == "stable"


# -- refusals ----------------------------------------------------------------------------------


def test_a_falling_stone_has_no_equilibrium_and_the_message_names_it():
    model = pendulum(0.3)
    model.add_body("stone", ps.Sphere(mass=1.0, radius=0.1), position=(3, 0, 0))
    with pytest.raises(ps.NoEquilibriumError, match=r"is 1 of their size.*'stone'") as no:
        model.equilibrium()
    assert no.value.moving == ("stone",)
    assert no.value.residual == pytest.approx(1.0)


def test_a_motor_without_a_counterforce_turns_for_ever():
    model = pendulum(0.0)
    model.add_port("motor", ps.JointPort("hinge"))
    with pytest.raises(ps.NoEquilibriumError, match="'bar'"):
        model.equilibrium(inputs={"motor": 10.0})


def test_what_is_no_system_and_names_that_do_not_exist_are_refused():
    with pytest.raises(ps.InputError, match="expected a Model"):
        analysis.equilibrium(3)
    found = pendulum(0.1).equilibrium()
    for ask in (found.position, found.coordinates, found.reaction, found.state):
        with pytest.raises(ps.InputError, match="'baz'"):
            ask("baz")
    assert "stable" in repr(found)


def test_bodies_that_fall_into_each_other_have_no_equilibrium():
    model = ps.Model()
    sun = model.add_body("sun", ps.Sphere(mass=1e3, radius=0.1))
    earth = model.add_body("earth", ps.Sphere(mass=1.0, radius=0.01), position=(1, 0, 0))
    model.add_force("attraction", ps.Gravitation(sun, earth, strength=1.0))
    with pytest.raises(ps.NoEquilibriumError, match="without end"):
        model.equilibrium()


def test_a_light_body_on_a_heavy_one_finds_its_rest_as_well():
    model = linkage([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [1e9, 1e-3], closed=False)
    found = model.equilibrium()
    assert found.position("bar 1") == pytest.approx((0, 0, -1.5), abs=1e-6)
    assert found.reaction("hinge 1").force == pytest.approx((0, 0, 1e-3 * G), rel=1e-6, abs=1e-8)


def test_a_rigid_triangle_of_bars_carries_its_weight_without_moving():
    model = linkage([(0, 0, 0), (0.5, 0, 0.5), (1, 0, 0)], [1.0, 1.0])
    found = model.equilibrium()
    assert found.stability == "stable"
    forces = [found.reaction(f"hinge {k}").force for k in (0, 2)]
    assert forces[0][2] - forces[1][2] == pytest.approx(2 * G)  # the last is on the ground


# -- transmissions and drives ------------------------------------------------------------------


def geared_arm(efficiency=1.0):
    """An arm of 1 m on a gear of 20:1 whose fast shaft has a coil spring."""
    model = ps.Model(gravity=(0, 0, -G), name="geared arm")
    arm = model.add_body("arm", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    rotor = model.add_body("rotor", ps.RigidBody(mass=1.0, inertia=(0.01,) * 3))
    for name, body in (("shoulder", arm), ("shaft", rotor)):
        model.add_joint(name, ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("coil", ps.JointSpring("shaft", stiffness=0.01))
    gear = ps.Gear("shaft", "shoulder", ratio=20.0, efficiency=efficiency)
    model.add_transmission("gear", gear)
    return model


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_gear_holds_an_arm_by_the_spring_of_its_fast_shaft(coordinates):
    """n^2 k theta = m g / 2 cos theta, over several turns of the fast shaft."""
    found = geared_arm(efficiency=0.8).equilibrium(coordinates)
    theta, phi = (found.coordinates(name)["angle"] for name in ("shoulder", "shaft"))
    assert 400 * 0.01 * theta == pytest.approx(G * np.cos(theta), rel=1e-13)
    assert phi == pytest.approx(20 * theta, rel=1e-14)
    assert found.reaction("shoulder").force == pytest.approx((0, 0, 2 * G), abs=1e-11)
    assert found.stability == "stable"
    assert left_over(found) < 1e-13


def test_a_geared_arm_comes_to_rest_where_its_equilibrium_is():
    model = geared_arm()
    model.add_force("oil", ps.JointFriction("shaft", viscous=0.02))
    run = ps.simulate(model, h=0.02, t_end=40.0)
    found = model.equilibrium()
    for name in ("shoulder", "shaft"):
        last = run.joint(name).coordinates["angle"][-1]
        assert found.coordinates(name)["angle"] == pytest.approx(last, rel=1e-6)


def test_a_cam_carries_a_weight_at_its_virtual_work():
    """tau dphi = m g dy with y = 0.02 (1 - cos phi): a spring k phi_0 balances where slopes do."""
    model = ps.Model(gravity=(0, 0, -G), name="valve")
    cam = model.add_body("cam", ps.Cylinder(mass=0.5, radius=0.03, length=0.02))
    valve = model.add_body("valve", ps.RigidBody(mass=0.2, inertia=(1e-4,) * 3), position=(0, 0, 1))
    model.add_joint("shaft", ps.Revolute(model.ground, cam, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("guide", ps.Prismatic(model.ground, valve, point=(0, 0, 1), axis=(0, 0, 1)))
    model.add_force("coil", ps.JointSpring("shaft", stiffness=0.03, rest=1.2))
    model.add_transmission("lobe", ps.Cam("shaft", "guide", profile="0.02*(1 - cos(x))"))
    found = model.equilibrium()
    phi = found.coordinates("shaft")["angle"]
    assert found.coordinates("guide")["displacement"] == pytest.approx(0.02 * (1 - np.cos(phi)))
    assert 0.03 * (1.2 - phi) == pytest.approx(0.2 * G * 0.02 * np.sin(phi), rel=1e-12)


def test_a_beam_on_a_gear_rests_where_its_weight_is_carried():
    model = ps.Model(gravity=(0, 0, -G), name="geared beam")
    section = ps.RectangularSection(width=0.02, height=0.02)
    beam = ps.Beam(length=1.0, section=section, youngs_modulus=2e14, density=7800.0, elements=2)
    model.add_body("beam", beam, position=(0.5, 0, 0))
    rotor = model.add_body("rotor", ps.RigidBody(mass=1.0, inertia=(0.01,) * 3))
    for name, body in (("shoulder", model.body("beam.start")), ("shaft", rotor)):
        model.add_joint(name, ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("coil", ps.JointSpring("shaft", stiffness=0.05))
    model.add_transmission("gear", ps.Gear("shaft", "shoulder", ratio=20.0))
    found = model.equilibrium()
    theta = found.coordinates("shoulder")["angle"]
    assert found.coordinates("shaft")["angle"] == pytest.approx(20 * theta)
    assert 20 * theta == pytest.approx(7800 * 4e-4 * G / 2 * np.cos(theta), rel=1e-6)


def test_a_drive_that_stands_still_holds_its_joint_and_a_moving_one_is_refused():
    model = geared_arm()
    model.add_port("brake", ps.Drive("shoulder", coordinate="0.3*(1 - cos(t))"))
    found = model.equilibrium(t=np.pi)
    assert found.coordinates("shaft")["angle"] == pytest.approx(12.0)
    torque = 400 * 0.01 * 0.6 - G * np.cos(0.6)
    assert found.state("brake (drive)") == pytest.approx([-torque])
    with pytest.raises(ps.InputError, match="Drive with a constant coordinate"):
        model.equilibrium(t=1.0)
