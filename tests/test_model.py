"""The model: a consistent start, and refusals that name the thing."""

import mechanisms
import numpy as np
import pytest

import poinsot as ps

NAN = float("nan")
BOX = ps.Box(mass=1, size=(1, 2, 3))


@pytest.fixture
def model():
    """Two bodies `a`, `b` on a hinge `J`; a ball joint `S` to the ground."""
    model = ps.Model(gravity=(0, 0, -9.81))
    a = model.add_body("a", BOX)
    b = model.add_body("b", BOX, position=(2, 0, 0))
    model.add_joint("J", ps.Revolute(a, b, point=(1, 0, 0), axis=(0, 0, 1)))
    model.add_joint("S", ps.Spherical(model.ground, a, point=(0, 0, 0)))
    return model


def slider_crank():
    """[LKB26, sec. 7.3]."""
    model = ps.Model(gravity=(0, 0, -9.81))
    A, B, C = np.array([(0, 0.1, 0.12), (0, 0.1, 0.2), (0.2, 0, 0)])
    e = (C - B) / np.linalg.norm(C - B)
    side = np.cross((1, 0, 0), e) / np.linalg.norm(np.cross((1, 0, 0), e))
    axes = np.column_stack([side, np.cross(e, side), e])
    crank = model.add_body(
        "crank",
        ps.RigidBody(mass=0.12, inertia=(1e-4, 1e-4, 1e-5)),
        position=(A + B) / 2,
        angular_velocity=(6, 0, 0),
    )
    rod = model.add_body(
        "rod",
        ps.RigidBody(mass=0.5, inertia=(4e-3, 4e-3, 4e-4)),
        position=(B + C) / 2,
        rotation=axes,
    )
    slider = model.add_body("slider", ps.RigidBody(mass=2, inertia=(1e-4,) * 3), position=C)
    model.add_joint("A", ps.Revolute(model.ground, crank, point=A, axis=(1, 0, 0)))
    model.add_joint("B", ps.Spherical(crank, rod, point=B))
    model.add_joint(
        "C", ps.Universal(slider, rod, point=C, axis_a=(1, 0, 0), axis_b=np.cross(e, (1, 0, 0)))
    )
    model.add_joint("D", ps.Prismatic(model.ground, slider, point=C, axis=(1, 0, 0)))
    return model


# -- the start -------------------------------------------------------------------------------------


def test_missing_velocities_are_completed():
    result = ps.simulate(slider_crank(), h=0.001, t_end=0.001)
    np.testing.assert_allclose(result.velocity("slider")[0], (0.24, 0, 0), atol=1e-14)
    np.testing.assert_allclose(result.angular_velocity("slider")[0], 0, atol=1e-14)
    np.testing.assert_allclose(result.angular_velocity("rod")[0], (1.92, -0.96, 0.48), atol=1e-13)
    assert result.energy[0] == pytest.approx(0.76643568, abs=1e-12)
    assert result.velocity_constraint_error[0] < 1e-14


def test_what_the_joints_leave_open_stays_at_rest(model):
    system = model.compile()
    n = system.mechanism.n
    np.testing.assert_allclose(system.start[n : 2 * n], 0, atol=1e-15)


def test_completed_velocities_have_the_least_kinetic_energy():
    """A given body moves; the other follows on a ball joint, as slowly as it can."""
    model = ps.Model()
    a = model.add_body("a", BOX, velocity=(1, 2, 0), angular_velocity=(0, 0, 1))
    b = model.add_body("b", ps.Box(mass=3, size=(1, 1, 2)), position=(2, 0, 1))
    model.add_joint("J", ps.Spherical(a, b, point=(1, 0, 0)))
    result = ps.simulate(model, h=0.01, t_end=0.01)
    v, w = result.velocity("b")[0], result.angular_velocity("b")[0]
    arm = np.array([-1.0, 0, -1.0])
    np.testing.assert_allclose(v + np.cross(w, arm), (1, 3, 0), atol=1e-13)
    # Stationary: momentum and spin about the ball vanish along every motion it leaves free.
    spin = np.diag(3 / 12 * np.array([5, 5, 2])) @ w
    np.testing.assert_allclose(spin + np.cross(-arm, 3 * v), 0, atol=1e-12)


def test_contradicting_velocities_are_refused_naming_the_joints():
    model = ps.Model()
    a = model.add_body("a", BOX, velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    b = model.add_body("b", BOX, position=(2, 0, 0), velocity=(0, 1, 0), angular_velocity=(0, 0, 0))
    model.add_joint("hinge", ps.Revolute(a, b, point=(1, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(ps.InconsistentStartError, match=r"violate the joints: 'hinge' by 1;"):
        model.check()
    with pytest.raises(ps.InconsistentStartError, match=r"model.project_velocities\(\)"):
        ps.simulate(model, h=0.01, t_end=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_projected_velocities_suit_the_joints_and_are_the_nearest(seed):
    plan = mechanisms.tree(seed, bodies=3, loops=1)
    rough, model = plan.model(project=False), plan.model()
    system = model.compile()
    q, v, _ = system.parts(system.start)
    G = system.mechanism.constraints.G(q)
    assert abs(G @ v).max() < 1e-12
    # The change is a reaction: M dv = G^T lambda, so that it does no work on what is allowed.
    given = np.concatenate(
        [
            np.concatenate([b.velocity, *np.cross(b.angular_velocity, b.R_WP.T)])
            for b in rough.bodies.values()
        ]
    )
    impulse = system.mechanism.mass * (v - given)
    lam = np.linalg.lstsq(G.T, impulse)[0]
    np.testing.assert_allclose(G.T @ lam, impulse, atol=1e-10)


def test_an_empty_model_has_no_velocities_to_project():
    model = ps.Model()
    model.project_velocities()
    model.add_body("ball", BOX, velocity=(1, 0, 0))
    result = ps.simulate(model, h=0.1, t_end=0.2, engine="reference")
    np.testing.assert_allclose(result.position("ball")[-1], (0.2, 0, 0), atol=1e-15)


def test_a_model_can_grow_after_its_velocities_were_projected(model):
    a, b = model.bodies["a"], model.bodies["b"]
    model.project_velocities()
    model.add_joint("K", ps.Rod(a, b, point_a=(0, 0, 0), point_b=(2, 0, 0)))
    model.add_marker("tip", a, position=(0, 0, 1))
    assert model.check().joints == 3


def test_gaps_are_refused_naming_joint_and_size():
    model = ps.Model()
    a, b = model.add_body("a", BOX), model.add_body("b", BOX, position=(2, 0, 0))
    joint = ps.Universal(a, b, point=(1, 0, 0), axis_a=(1, 0, 0), axis_b=(1, 1, 0))
    match = r"joint 'U' \(Universal\): its equation 'cross' is violated by 0.707 at the start"
    with pytest.raises(ps.InconsistentStartError, match=match):
        model.add_joint("U", joint)
    assert "U" not in model.joints


# -- refusals --------------------------------------------------------------------------------------


def test_velocities_of_an_empty_model_are_projected_to_none():
    model = ps.Model()
    model.project_velocities()
    assert model.start_velocities() == {}
    again = ps.Model.from_yaml_text("poinsot: 1\nproject_velocities: true\n")
    assert again.start_velocities() == {}


def other():
    return ps.Model().add_body("stranger", BOX)


REFUSED = {
    "no bodies": (lambda m: ps.Model(name="empty").compile(), "model 'empty' has no bodies"),
    "coordinates": (lambda m: m.compile("euler"), "no coordinates 'euler'"),
    "gravity": (lambda m: ps.Model(gravity=(0, 0)), "gravity: expected three finite numbers"),
    "gravity text": (lambda m: ps.Model(gravity="down"), "gravity: expected three numbers"),
    "body name taken": (lambda m: m.add_body("a", BOX), "the name 'a' is taken by a body"),
    "body named like a joint": (lambda m: m.add_body("J", BOX), "'J' is taken by a joint"),
    "body named ground": (
        lambda m: m.add_body("ground", BOX),
        "'ground' is the name of the ground",
    ),
    "body without name": (lambda m: m.add_body("", BOX), "got ''"),
    "body named by a number": (lambda m: m.add_body(1, BOX), "got 1"),
    "marker named by a number": (
        lambda m: m.add_marker(1, m.bodies["a"], position=(0, 0, 0)),
        "a part of a model needs a name .a string., got 1",
    ),
    "joint named by a list": (
        lambda m: m.add_joint(["K"], ps.Weld(m.bodies["a"], m.bodies["b"])),
        r"got \['K'\]",
    ),
    "assembly named by a number": (
        lambda m: m.add_assembly(
            1, ps.Wheel(m.bodies["a"], ps.Cylinder(mass=1, radius=1, length=1), (0, 0, 1))
        ),
        "an assembly needs a name",
    ),
    "model named by a number": (lambda m: ps.Model(name=1), "a model needs a name"),
    "body without shape": (lambda m: m.add_body("c", 3.0), "body 'c': expected a shape"),
    "position": (
        lambda m: m.add_body("c", BOX, position=(0, NAN, 0)),
        "body 'c': position: expected three finite numbers",
    ),
    "rotation": (
        lambda m: m.add_body("c", BOX, rotation=2 * np.eye(3)),
        "body 'c': rotation: the matrix is not orthogonal",
    ),
    "velocity": (
        lambda m: m.add_body("c", BOX, velocity=(1, 2)),
        "body 'c': velocity: expected three finite numbers",
    ),
    "angular velocity": (
        lambda m: m.add_body("c", BOX, angular_velocity=(1, 2, np.inf)),
        "body 'c': angular_velocity: expected three finite numbers",
    ),
    "marker on a stranger": (
        lambda m: m.add_marker("c", other(), position=(0, 0, 0)),
        "marker 'c': body 'stranger' belongs to another model",
    ),
    "marker position": (
        lambda m: m.add_marker("c", m.bodies["a"], position=(0, 0)),
        "marker 'c': position",
    ),
    "marker on nothing": (
        lambda m: m.add_marker("c", "a", position=(0, 0, 0)),
        "marker 'c': expected a body",
    ),
    "no joint": (lambda m: m.add_joint("K", BOX), "joint 'K': expected a joint"),
    "joint name taken": (
        lambda m: m.add_joint("J", ps.Weld(m.bodies["a"], m.bodies["b"])),
        "the name 'J' is taken by a joint",
    ),
    "joint with a stranger": (
        lambda m: m.add_joint("K", ps.Weld(m.bodies["a"], other())),
        "joint 'K': body 'stranger' belongs to another model",
    ),
    "joint with itself": (
        lambda m: ps.Weld(m.bodies["a"], m.bodies["a"]),
        "Weld: connects 'a' to itself",
    ),
    "joint of names": (
        lambda m: m.add_joint("K", ps.Spherical("a", "b", point=(0, 0, 0))),
        "'a'",
    ),
    "point": (
        lambda m: m.add_joint("K", ps.Spherical(m.bodies["a"], m.bodies["b"], point=(0, NAN, 0))),
        "Spherical: point: expected three finite numbers",
    ),
    "point in words": (
        lambda m: m.add_joint("K", ps.Spherical(m.bodies["a"], m.bodies["b"], point="here")),
        "Spherical: point",
    ),
    "zero axis": (
        lambda m: m.add_joint(
            "K", ps.Revolute(m.bodies["a"], m.bodies["b"], point=(0, 0, 0), axis=(0, 0, 0))
        ),
        "Revolute: axis: the vector is zero",
    ),
    "zero normal": (
        lambda m: m.add_joint(
            "K", ps.Planar(m.bodies["a"], m.bodies["b"], point=(0, 0, 0), normal=(0, 0, 0))
        ),
        "Planar: normal: the vector is zero",
    ),
    "rod of no length": (
        lambda m: m.add_joint(
            "K", ps.Rod(m.bodies["a"], m.bodies["b"], point_a=(0, 0, 0), point_b=(0, 0, 0))
        ),
        "Rod: its two points coincide",
    ),
    "rod of different shapes": (
        lambda m: m.add_joint(
            "K", ps.Rod(m.bodies["a"], m.bodies["b"], point_a=(0, 0), point_b=(0, 0, 1))
        ),
        "Rod: point_a: expected three finite numbers",
    ),
    "no force": (lambda m: m.add_force("f", BOX), "force 'f': expected a force"),
    "negative stiffness": (
        lambda m: m.add_force("f", spring(m, stiffness=-1)),
        "Spring: stiffness is -1",
    ),
    "stiffness NaN": (
        lambda m: m.add_force("f", spring(m, stiffness=NAN)),
        "Spring: stiffness is nan",
    ),
    "rest length NaN": (
        lambda m: m.add_force("f", spring(m, stiffness=1, rest_length=NAN)),
        "Spring: ",
    ),
    "negative damping": (
        lambda m: m.add_force("f", spring(m, damping=-1)),
        "damping is -1",
    ),
    "creating law": (
        lambda m: m.add_force("f", spring(m, law=lambda w: -w)),
        "force 'f': the law creates energy at a rate of",
    ),
    "empty spring": (
        lambda m: m.add_force("f", spring(m)),
        "force 'f': give a stiffness, .* or a damping",
    ),
    "two laws": (
        lambda m: m.add_force("f", spring(m, stiffness=1, force=np.sin)),
        "force 'f': give one of stiffness, force and potential",
    ),
    "spring point": (
        lambda m: m.add_force(
            "f", ps.Spring(m.bodies["a"], m.bodies["b"], (0, 0, NAN), (1, 1, 1), stiffness=1)
        ),
        "Spring: ",
    ),
    "spring shape": (
        lambda m: m.add_force(
            "f", ps.Spring(m.bodies["a"], m.bodies["b"], (0, 0), (1, 1, 1), stiffness=1)
        ),
        "Spring: ",
    ),
    "spring of no length": (
        lambda m: m.add_force(
            "f", ps.Spring(m.bodies["a"], m.bodies["b"], (1, 1, 1), (1, 1, 1), stiffness=1)
        ),
        "force 'f': its ends coincide",
    ),
    "spring on one body": (
        lambda m: m.add_force(
            "f", ps.Spring(m.bodies["a"], m.bodies["a"], (0, 0, 0), (1, 1, 1), stiffness=1)
        ),
        "both ends are on 'a'",
    ),
    "spring on the ground alone": (
        lambda m: m.add_force(
            "f", ps.Spring(m.ground, m.ground, (0, 0, 0), (1, 1, 1), stiffness=1)
        ),
        "Spring: both ends are on 'ground'",
    ),
    "spring on a stranger": (
        lambda m: m.add_force("f", ps.Spring(m.ground, other(), (0, 0, 0), (1, 1, 1), stiffness=1)),
        "force 'f': body 'stranger' belongs to another model",
    ),
    "field of nothing": (
        lambda m: m.add_force("f", ps.Field(lambda p, d: 0.0)),
        "force 'f': give at least one point or direction",
    ),
    "field of a stranger": (
        lambda m: m.add_force("f", ps.Field(lambda p, d: 0.0, points=[(other(), (0, 0, 0))])),
        "force 'f': body 'stranger' belongs to another model",
    ),
    "spring on an unknown joint": (
        lambda m: m.add_force("f", ps.JointSpring("K", stiffness=1)),
        "force 'f': no joint 'K'",
    ),
    "spring on an unknown freedom": (
        lambda m: m.add_force("f", ps.JointSpring("J", stiffness=1, freedom="angel")),
        "force 'f': joint 'J' has no coordinate 'angel'; did you mean 'angle'",
    ),
    "spring on a ball": (
        lambda m: m.add_force("f", ps.JointSpring("S", stiffness=1)),
        r"force 'f': joint 'S' \(Spherical\) has no coordinate to act on",
    ),
    "no port": (lambda m: m.add_port("p", BOX), "port 'p': expected a port"),
    "port on an unknown joint": (
        lambda m: m.add_port("p", ps.JointPort("H")),
        "port 'p': no joint 'H'",
    ),
    "force axes": (
        lambda m: m.add_port("p", ps.ForcePort(m.bodies["a"], axes="local")),
        "port 'p': axes is 'local', not 'world' or 'body'",
    ),
    "torque axes": (
        lambda m: m.add_port("p", ps.TorquePort(m.bodies["a"], axes="local")),
        "port 'p': axes is 'local', not 'world' or 'body'",
    ),
    "port point": (
        lambda m: m.add_port("p", ps.ForcePort(m.bodies["a"], point=(0, NAN, 0))),
        "ForcePort: point",
    ),
    "port point shape": (
        lambda m: m.add_port("p", ps.ForcePort(m.bodies["a"], point=(0, 0))),
        "ForcePort: point",
    ),
    "two sources": (
        lambda m: m.add_port("p", ps.JointPort("J", value=1.0, law=lambda t, angle, rate: 0.0)),
        "port 'p': give either a value or a law",
    ),
    "force on a stranger": (
        lambda m: m.add_port("p", ps.ForcePort(other())),
        "port 'p': body 'stranger' belongs to another model",
    ),
    "torque on a stranger": (
        lambda m: m.add_port("p", ps.TorquePort(other())),
        "port 'p': body 'stranger' belongs to another model",
    ),
    "force on the ground": (lambda m: m.add_port("p", ps.ForcePort(m.ground)), "ForcePort: body"),
    "torque on the ground": (
        lambda m: m.add_port("p", ps.TorquePort(m.ground)),
        "TorquePort: body",
    ),
    "port value": (
        lambda m: (
            m.add_port("p", ps.ForcePort(m.bodies["a"], value=(1, 2))),
            ps.simulate(m, h=0.1, t_end=0.1),
        ),
        r"port 'p': the input at t = .* has shape \(2,\)",
    ),
    "unknown scheme": (
        lambda m: ps.simulate(m, scheme="ph-mb", h=0.1, t_end=0.1),
        "no scheme 'ph-mb'; did you mean 'ph-mp'",
    ),
    "unknown port": (
        lambda m: ps.simulate(m, h=0.1, t_end=0.1, inputs={"motor": 1.0}),
        "no port 'motor'",
    ),
}


def spring(model, **law):
    return ps.Spring(model.bodies["a"], model.bodies["b"], (0, 0, 1), (2, 0, 1), **law)


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(model, what):
    action, message = REFUSED[what]
    with pytest.raises(ps.InputError, match=message):
        action(model)


def test_a_refused_part_leaves_the_model_as_it_was(model):
    for what in ("no joint", "zero axis", "negative stiffness", "port on an unknown joint"):
        with pytest.raises(ps.InputError):
            REFUSED[what][0](model)
    assert (list(model.joints), list(model.forces), list(model.ports)) == (["J", "S"], [], [])
    assert ps.simulate(model, h=0.01, t_end=0.02).status == "done"


def test_a_run_that_fails_in_its_first_step_says_so(model):
    model.add_port("kick", ps.ForcePort(model.bodies["b"], value=lambda t: (1e30, 0, 0)))
    options = ps.Newton(max_iterations=1, halvings=0)
    with pytest.raises(ps.SimulationError, match="step 1 from t = 0 s") as failure:
        ps.simulate(model, h=10.0, t_end=20.0, newton=options)
    assert failure.value.result.time.size == 1


@pytest.mark.parametrize("scheme", mechanisms.SCHEMES)
def test_a_free_body_needs_no_joints(scheme):
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("stone", BOX, velocity=(1, 0, 0), angular_velocity=(1, 2, 3))
    assert model.check().freedoms == 6
    result = ps.simulate(model, scheme=scheme, h=0.01, t_end=0.1)
    np.testing.assert_allclose(result.position("stone")[-1], (0.1, 0, -0.04905), atol=1e-12)


@pytest.mark.parametrize("scheme", mechanisms.SCHEMES)
@pytest.mark.parametrize("seed", [6, 20])
def test_a_loaded_body_welded_to_the_ground_stays_where_it_is(scheme, seed):
    """Nothing moves, so that velocities are round-off: that must not stop Newton's method."""
    plan = mechanisms.full(seed, bodies=1, kinds=("Weld",))
    result = ps.simulate(plan.model(), scheme=scheme, h=0.01, t_end=0.2)
    assert np.ptp(result.position("body0"), axis=0).max() < 1e-13


def test_models_bodies_and_results_introduce_themselves_in_one_line():
    model = ps.Model(name="swing")
    assert repr(model) == "<Model 'swing': empty>"
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    pin = ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("pin", pin)
    assert repr(model) == "<Model 'swing': 1 body, 1 joint>"
    assert repr(pin).startswith("Revolute(a=<ground>, b=<Body 'bar': Box, 1 kg>, point=")
    result = ps.simulate(model, h=0.1, t_end=0.2, engine="reference")
    assert repr(result) == "<Result of 'swing': ph-mp, h = 0.1 s, 2 steps, 0 to 0.2 s (done)>"


def test_what_is_left_out_is_completed_before_velocities_are_projected():
    """A crank that turns and a block that rests contradict each other; the rod has no say."""
    model = ps.Model()
    crank = model.add_body(
        "crank",
        ps.Box(mass=1, size=(1, 0.1, 0.1)),
        position=(0.5, 0, 0),
        angular_velocity=(0, 0, 2),
    )
    rod = model.add_body("rod", ps.Box(mass=100, size=(1, 0.1, 0.1)), position=(1.5, 0, 0))
    model.add_joint("pin", ps.Revolute(model.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_joint("knee", ps.Revolute(crank, rod, point=(1, 0, 0), axis=(0, 0, 1)))
    model.project_velocities()
    velocities = model.start_velocities()
    np.testing.assert_allclose(velocities["crank"][1], (0, 0, 2), atol=1e-12)


def test_gravity_in_millimetres_is_noted_and_not_refused():
    def drop(g):
        model = ps.Model(gravity=(0, 0, -g))
        model.add_body("ball", ps.Sphere(mass=1, radius=0.1))
        return model, ps.simulate(model, h=1e-3, t_end=0.01)

    model, result = drop(9810)
    assert "gravity is 9810 m/s^2" in str(model.check())
    assert any("units are SI" in note for note in result.notes)
    model, result = drop(9.81)
    assert "note" not in str(model.check())
    assert result.notes == ()


def test_a_body_in_millimetres_with_its_density_is_noted():
    model = ps.Model()
    model.add_body("beam", ps.Box(density=7850, size=(200, 20, 10)))
    assert "'beam' has a mass of 3.14e+08 kg by its density" in str(model.check())


def test_velocities_at_the_start_follow_every_change_of_a_model_and_of_it_alone():
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.Box(mass=1, size=(1, 0.1, 0.1))
    one = model.add_body("one", shape, angular_velocity=(0, 0, 2))
    two = model.add_body("two", shape, position=(1, 0, 0))
    model.add_joint("J", ps.Weld(one, two))
    welded = {"one": (0, -1, 0), "two": (0, 1, 0)}

    def velocities(of):
        return {name: v for name, (v, _) in of.start_velocities().items()}

    def same(found, expected):
        return all(np.allclose(found[name], expected[name], atol=1e-12) for name in expected)

    assert same(velocities(model), welded)
    before = model.as_now()
    model.add_joint("hinge", ps.Revolute(model.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
    assert same(velocities(model), {"one": (0, 0, 0), "two": (0, 2, 0)})
    assert same(velocities(before), welded)
    model.move("hinge", to=np.pi / 2)
    assert same(velocities(model), {"one": (0, 0, 0), "two": (-2, 0, 0)})
    assert before.compile().labels != model.compile().labels
