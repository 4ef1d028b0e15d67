"""A joint as a power-preserving interconnection of two bodies [LKB26, sec. 4.3]."""

import mechanisms
import numpy as np
import pytest
from mechanisms import COORDINATES, KINDS, LOCKED
from numerics import jacobian, observed_orders, subspace_gap

import poinsot as ps
from poinsot import ph
from poinsot.bodies.body import Body
from poinsot.ph.matrices import dense
from poinsot.so3 import skew
from poinsot.systems.pairs import KinematicPair, external_ports, free_body, internal_ports

GRAVITY = np.array([0.5, -1.0, -9.0])


def setting(kind, seed):
    """A joint, its constraints as a function of q, and any q near the start."""
    model = mechanisms.pair(kind, seed).model()
    system = model.compile()
    random = np.random.default_rng(seed)
    q = system.start[:24] + 0.1 * random.standard_normal(24)
    joint = model.joints["J"]
    return joint, lambda x: system.mechanism.constraints(x)[12:], q, random


def null_space(A):
    _, s, Vt = np.linalg.svd(A)
    return Vt[int(np.sum(s > 1e-9)) :].T


@pytest.mark.parametrize("kind", KINDS)
def test_internal_ports_leave_the_null_space_of_the_constraints(kind):
    """[LKB26, eq. (48)]."""
    joint, g, q, _ = setting(kind, 1)
    B_A, B_B = internal_ports(joint, q[:12], q[12:])
    ports, constraint = np.hstack([-B_A.T, B_B.T]), jacobian(g, q)
    assert subspace_gap(null_space(ports), null_space(constraint)) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_internal_power_vanishes_for_velocities_that_the_joint_allows(kind):
    """[LKB26, eq. (43)]: u_A·y_A + u_B·y_B = 0 with u_A = -u_B = lambda."""
    joint, g, q, random = setting(kind, 2)
    B_A, B_B = internal_ports(joint, q[:12], q[12:])
    free = null_space(jacobian(g, q))
    v = free @ random.standard_normal(free.shape[1])
    lam = random.standard_normal(B_A.shape[1])
    power_a, power_b = lam @ B_A.T @ v[:12], -lam @ B_B.T @ v[12:]
    assert power_a + power_b == pytest.approx(0, abs=1e-9)
    if kind != "Weld":
        assert np.linalg.norm(v) > 0.1


@pytest.mark.parametrize("kind", [k for k in KINDS if COORDINATES[k]])
def test_external_ports_see_the_rate_of_the_joint_coordinates(kind):
    joint, _, q, random = setting(kind, 3)
    v = random.standard_normal(24)
    B_A, B_B = external_ports(joint, q[:12], q[12:])
    rates = -B_A.T @ v[:12] + B_B.T @ v[12:]
    for rate, freedom in zip(rates, joint.freedoms(), strict=False):

        def coordinate(s, freedom=freedom):
            frames = dict(enumerate((q + s[0] * v).reshape(-1, 4, 3)))
            return freedom.chart.value(np.array([form.at(frames) for form in freedom.forms]))

        assert rate == pytest.approx(jacobian(coordinate, np.zeros(1))[0], abs=1e-9)


#: Free directions: six less those locked; of a rod its rotations only.
FREE = {kind: 3 if kind == "Rod" else 6 - LOCKED[kind] for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_locked_and_free_directions_are_all_relative_motions(kind):
    """[LKB26, eq. (40)]: B = [B_int, B_ext] of all six relative velocities."""
    model = mechanisms.pair(kind, 7).model()
    joint, q = model.joints["J"], model.compile().start[:24]
    B_int, B_ext = (np.vstack(f(joint, q[:12], q[12:])) for f in (internal_ports, external_ports))
    assert B_ext.shape[1] == FREE[kind]
    # What rotates and moves body B as a whole.
    d, moves = q[15:].reshape(3, 3), np.zeros((12, 6))
    moves[:3, :3] = np.eye(3)
    for i in range(3):
        moves[3 + 3 * i : 6 + 3 * i, 3:] = -skew(d[i])
    seen = np.hstack([B_int, B_ext])[12:].T @ moves
    assert np.linalg.matrix_rank(seen, tol=1e-8) == seen.shape[0]


def interconnected(model, ports=("wrench",), **options):
    """Free bodies that kinematic pairs join, each at a port of its own."""
    taken = {name: iter(ports) for name in model.bodies}
    pairs = []
    for name, joint in model.joints.items():
        ends = [end.name for end in (joint.a, joint.b) if isinstance(end, Body)]
        pairs.append(KinematicPair(joint, *(f"{e}.{next(taken[e])}" for e in ends), name=name))
    bodies = (free_body(b, gravity=model.gravity, ports=ports) for b in model.bodies.values())
    return ph.interconnect(*bodies, connections=pairs, **options)


def same_motion(model, system, inputs=None, fed=None, t_end=0.1):
    """Compare interconnected bodies with the model, step by step; the runs."""
    joined = ps.simulate(model, scheme="ph-mp", h=0.01, t_end=t_end, inputs=inputs or {})
    x0 = {f"{b}.{s}": joined[f"{b}.{s}"][0] for b in model.bodies for s in "qv"}
    paired = ps.simulate(system, scheme="ph-mp", h=0.01, t_end=t_end, x0=x0, inputs=fed or {})
    for name in x0:
        np.testing.assert_allclose(paired[name], joined[name], rtol=1e-10, atol=1e-10)
    return joined, paired


@pytest.mark.parametrize("kind", KINDS)
def test_interconnected_bodies_move_like_the_joint_in_a_model(kind):
    model = mechanisms.pair(kind, 4, gravity=True).model()
    joined, paired = same_motion(model, interconnected(model))
    between = paired["lambda(body0.wrench, body1.wrench)"].reshape(11, -1)
    scale = abs(joined["J"]).max()
    np.testing.assert_allclose(between[1:], joined["J"].reshape(11, -1)[1:], atol=1e-8 * scale)


@pytest.mark.parametrize("kind", [k for k in KINDS if COORDINATES[k]])
def test_motors_on_what_a_pair_leaves_open_are_motors_of_the_model(kind):
    """[LKB26, eqs. (44)-(45)]: B_ext u_ext, and its power is all that changes the energy."""
    model, size = mechanisms.pair(kind, 4).model(), len(COORDINATES[kind])
    loads = [lambda t, k=k: np.sin(3 * t + k) for k in range(size)]
    for name, load in zip(COORDINATES[kind], loads, strict=True):
        model.add_port(name, ps.JointPort("J", name, value=load))
    system = interconnected(mechanisms.pair(kind, 4).model())
    assert system.port("J").size == FREE[kind]
    fed = {"J": lambda t: np.append([f(t) for f in loads], np.zeros(FREE[kind] - size))}
    joined, paired = same_motion(model, system, fed=fed)
    assert paired.stats.balance_error_max < 1e-11
    rates = paired.port("J").y
    for k, name in enumerate(COORDINATES[kind]):
        own = joined.port(name).y.reshape(-1)
        np.testing.assert_allclose(rates[1:, k], own[1:], rtol=1e-9, atol=1e-9)


def test_a_spherical_pair_has_three_columns_that_turn_both_bodies():
    """Torques on both bodies of a model are those on the port of the pair."""
    plan = mechanisms.pair("Spherical", 5)
    model, torque = plan.model(), np.array([0.3, -0.2, 0.5])
    for body, sign in (("body0", -1), ("body1", 1)):
        model.add_port(f"on {body}", ps.TorquePort(model.bodies[body], value=sign * torque))
    system = interconnected(plan.model())
    joined, paired = same_motion(model, system, fed={"J": torque})
    omega = joined.port("on body1").y - joined.port("on body0").y
    np.testing.assert_allclose(paired.port("J").y[1:], omega[1:], atol=1e-9)


@pytest.mark.parametrize("seed", [1, 4])
def test_chains_on_the_ground_move_like_the_model(seed):
    """Any number of bodies and kinds of joints; every joint takes a port of its own."""
    model = mechanisms.tree(seed, bodies=4, ground=True).model()
    system = interconnected(model, ports=[f"side{k}" for k in range(5)])
    assert len(system.parts) == 4
    joined, paired = same_motion(model, system)
    np.testing.assert_allclose(paired.energy, joined.energy, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_interconnection_is_port_hamiltonian_with_exact_tangents(kind):
    system = interconnected(mechanisms.pair(kind, 5).model())
    x = mechanisms.random_state(system, 6)
    defects = system.defects(x)
    assert defects.holds(1e-7), str(defects)
    random = np.random.default_rng(8)
    z, u = random.standard_normal(system.n), random.standard_normal(system.m)
    for exact, value in (
        (system.dflow(x, z, u), lambda x: system.flow(x, z, u)),
        (system.dy(x, z), lambda x: system.B(x).T @ z),
    ):
        slopes = np.zeros((1, 1)) if exact is None else dense(exact)
        np.testing.assert_allclose(slopes - jacobian(value, x), 0, atol=1e-6)


def test_a_pair_needs_its_bodies_and_their_ports():
    model = mechanisms.pair("Revolute", 1, ground=True).model()
    (body,) = model.bodies
    B_A, B_B = internal_ports(model.joints["J"], *np.zeros((2, 12)))
    assert not B_A.any() or not B_B.any()
    with pytest.raises(ps.InputError, match=r"Revolute of body1: 2 ports for 1 bodies"):
        ph.interconnect(
            free_body(model.bodies[body], ports=("left", "right")),
            connections=KinematicPair(model.joints["J"], f"{body}.left", f"{body}.right"),
        )
    model = mechanisms.pair("Revolute", 1).model()
    mass = ph.linear("m", states=["p"], J=[[0]], Q=[[1]], B=[[1]], ports=[ph.Port("m.force")])
    with pytest.raises(
        ps.InputError, match=r"Revolute: port 'm.force' .* is not that of a free body"
    ):
        ph.interconnect(
            mass,
            free_body(model.bodies["body0"]),
            connections=KinematicPair(model.joints["J"], "m.force", "body0.wrench"),
        )


# -- forces and torques ---------------------------------------------------------------------------


def loaded(published, point, push):
    """A body alone with a six-component port, and in a model with a force and a torque."""
    model = ps.Model()
    body = model.add_body(
        "body",
        ps.RigidBody(mass=2, inertia=(0.3, 0.4, 0.5)),
        rotation=ps.Rotation.from_axis_angle((1, 2, 3), 0.7),
        angular_velocity=(1, 2, 3),
    )
    system = free_body(body, loads={"hand": point}, published=published)
    model.add_port("force", ps.ForcePort(body, point, value=push[:3], published=published))
    model.add_port("torque", ps.TorquePort(body, value=push[3:], published=published))
    return model, system


@pytest.mark.parametrize("published", [False, True])
def test_a_wrench_is_a_force_at_a_point_and_a_torque(published):
    push = np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1])
    model, system = loaded(published, (0.2, 0.1, -0.3), push)
    joined, paired = same_motion(model, system, fed={"body.hand": push})
    y = np.hstack([joined.port("force").y, joined.port("torque").y])
    np.testing.assert_allclose(paired.port("body.hand").y[1:], y[1:], atol=1e-10)
    assert paired.stats.balance_error_max < 1e-12


def test_the_published_wrench_is_equation_32():
    point = np.array([0.2, 0.1, -0.3])
    _, system = loaded(True, point, np.zeros(6))
    x = system.start
    r, d = point - x[:3], x[3:12].reshape(3, 3)
    expected = np.zeros((12, 6))
    expected[:3, :3] = np.eye(3)
    for i in range(3):
        expected[3 + 3 * i : 6 + 3 * i] = -skew(d[i]) / 2 @ np.hstack([skew(r), np.eye(3)])
    np.testing.assert_allclose(dense(system.B(x))[12:24, 12:], expected, atol=1e-14)


def test_the_published_force_falls_short_by_second_order():
    """It takes L from the torque r x F, in which directors at midpoints are too short."""
    push, short = np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1]), []
    for h in (0.02, 0.01):
        runs = [
            ps.simulate(loaded(published, (0.2, 0.1, -0.3), push)[0], h=h, t_end=0.2)
            for published in (False, True)
        ]
        short.append(abs(runs[1].angular_momentum[-1] - runs[0].angular_momentum[-1]).max())
        assert runs[1].stats.balance_error_max < 1e-12
    assert short[0] > 1e-6
    np.testing.assert_allclose(observed_orders((0.02, 0.01), short), 2.0, atol=0.2)


@pytest.mark.parametrize("coordinates", ["quaternions", "rotations"])
def test_a_published_force_runs_in_other_coordinates(coordinates):
    push = np.array([1.0, -2.0, 0.5, 0.0, 0.0, 0.0])
    model, _ = loaded(True, (0.2, 0.1, -0.3), push)
    result = ps.simulate(model, coordinates=coordinates, h=0.01, t_end=0.1)
    assert result.stats.balance_error_max < 1e-11


@pytest.mark.parametrize("published", [False, True])
def test_wrenches_have_exact_tangents(published):
    _, system = loaded(published, (0.2, 0.1, -0.3), np.zeros(6))
    line, random = system.mechanism.inlets[1].direction, np.random.default_rng(1)
    q, v, u = random.standard_normal(12), random.standard_normal(12), random.standard_normal(6)
    np.testing.assert_allclose(line.dB(q, u), jacobian(lambda a: line.B(a) @ u, q), atol=1e-6)
    np.testing.assert_allclose(line.dy(q, v), jacobian(lambda a: line.B(a).T @ v, q), atol=1e-6)
