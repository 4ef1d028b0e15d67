"""Point masses: three unknowns, and motions that are known."""

import mechanisms
import numpy as np
import pytest
from balance import turnover
from engines import both
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from numerics import jacobian, observed_orders
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import poinsot as ps
from poinsot.ph.matrices import dense

G = 9.81
#: Schemes with exact balances, and the coordinates that they run in.
RUNS = [
    ("ph-mp", "directors"),
    ("ph-mp-ggl", "directors"),
    ("eml", "quaternions"),
    ("reml", "quaternions"),
    ("null-eml", "quaternions"),
    ("emh-mean", "quaternions"),
    ("ph-mp", "rotations"),
    ("ph-mp", "rotations-quaternion"),
    ("ph-mp", "rotations-euler"),
]
FORMS = ("directors", "stabilised", "quaternions", "rotations", "rotations-euler")
ENGINES = ("reference", "compiled")
runs = pytest.mark.parametrize(("scheme", "coordinates"), RUNS, ids=[" in ".join(r) for r in RUNS])
engines = pytest.mark.parametrize("engine", ENGINES)
#: One of each form of the equations in the reference engine, all others in the compiled one.
PAIRS = [(*each, "reference" if k in (0, 1, 5, 6) else "compiled") for k, each in enumerate(RUNS)]
pairs = pytest.mark.parametrize(
    ("scheme", "coordinates", "engine"),
    PAIRS,
    ids=[" in ".join(each[:2]) + f", {each[2]}" for each in PAIRS],
)


def compiled(model, form):
    if form == "stabilised":
        return model.compile(stabilised=True)
    return model.compile(form)


def hanging(count=1):
    """Masses on rods, one below the other, held out horizontally."""
    model = ps.Model(gravity=(0, 0, -G))
    last, at = model.ground, np.zeros(3)
    for i in range(count):
        place = at + np.array([1.0 - 0.2 * i, 0, 0])
        bob = model.add_body(f"bob{i}", ps.PointMass(mass=1.0 + i), position=place)
        model.add_joint(f"rod{i}", ps.Rod(last, bob, point_a=at, point_b=place))
        last, at = bob, place
    return model


def stone(shape, **start):
    model = ps.Model(gravity=(0, 0, -G))
    model.add_body("stone", shape, **start)
    return model


# -- unknowns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "size"),
    [("directors", 6), ("stabilised", 6), ("quaternions", 9), ("rotations", 6)],
)
def test_a_point_mass_has_three_unknowns_and_no_constraint_of_its_own(form, size):
    system = compiled(stone(ps.PointMass(mass=2)), form)
    assert system.n == size
    assert {state.size for state in system.states} == {3}


def test_beside_a_rigid_body_only_the_point_mass_has_fewer_unknowns():
    model = stone(ps.PointMass(mass=2))
    model.add_body("box", ps.Box(mass=1, size=(1, 2, 3)))
    sizes = {state.name: state.size for state in model.compile().states}
    assert sizes == {"stone.q": 3, "box.q": 12, "stone.v": 3, "box.v": 12, "box.rigidity": 6}
    sizes = {state.name: state.size for state in model.compile("quaternions").states}
    assert sizes["stone.p"], sizes["box.p"] == (3, 7)
    assert "box.unit" in sizes
    assert "stone.unit" not in sizes
    sizes = {state.name: state.size for state in model.compile("rotations-euler").states}
    assert sizes == {"stone.zeta": 3, "box.zeta": 6, "stone.w": 3, "box.w": 6}


def test_degrees_of_freedom_are_three_for_each_point_mass():
    assert stone(ps.PointMass(mass=1)).check().freedoms == 3
    assert hanging(3).check().freedoms == 6


# -- closed forms ---------------------------------------------------------------------------------


@pairs
def test_a_point_mass_falls_freely(scheme, coordinates, engine):
    model = stone(ps.PointMass(mass=3), velocity=(1, 0, 2))
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(model, h=0.1, t_end=1.0, **options)
    t = result.time
    exact = np.stack([t, 0 * t, 2 * t - G * t**2 / 2], axis=1)
    np.testing.assert_allclose(result.position("stone"), exact, atol=1e-12)
    np.testing.assert_allclose(result.linear_momentum, 3 * result.velocity("stone"), atol=1e-12)
    np.testing.assert_allclose(
        result.angular_momentum, np.cross(exact, result.linear_momentum), atol=1e-11
    )
    np.testing.assert_array_equal(result.rotation("stone"), np.tile(np.eye(3), (11, 1, 1)))
    assert not result.angular_velocity("stone").any()


@pairs
def test_a_pendulum_on_a_rod_swings_by_elliptic_functions(scheme, coordinates, engine):
    """sin(angle/2) = k sn(K - w t), k = sin(pi/4), w^2 = g/l."""
    steps, errors = np.array([0.02, 0.01]), []
    for h in steps:
        options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
        result = ps.simulate(hanging(), h=h, t_end=0.6, **options)
        sn = ellipj(ellipk(0.5) - np.sqrt(G) * result.time, 0.5)[0]
        angle = 2 * np.arcsin(np.sqrt(0.5) * sn)
        exact = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
        errors.append(abs(result.position("bob0") - exact).max())
        assert result.stats.balance_error_max < 1e-12
        assert result.constraint_error.max() < 1e-13
        pull = np.linalg.norm(result.reaction("rod0").force, axis=1)
        middle = (result.position("bob0")[1:, 2] + result.position("bob0")[:-1, 2]) / 2
        np.testing.assert_allclose(pull, -3 * G * middle, atol=0.1)
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


@pairs
def test_a_mass_on_the_tip_of_a_bar_moves_like_one_body_with_it(scheme, coordinates, engine):
    """A ball joint holds it there; as a part of the bar it is rigid anyhow."""
    bar = ps.Box(mass=1.0, size=(1.0, 0.1, 0.2))

    def swinging(tip):
        model = ps.Model(gravity=(0, 0, -G))
        spin = {"angular_velocity": (1, 0.5, 2)}
        if tip == "held":
            body = model.add_body("bar", bar, position=(0.5, 0, 0), **spin)
            bob = model.add_body("bob", ps.PointMass(mass=2), position=(1, 0, 0))
            model.add_joint("tip", ps.Spherical(body, bob, point=(1, 0, 0)))
        else:
            whole = bar.with_point_mass(2, (0.5, 0, 0))
            centre = whole.centre + np.array([0.5, 0, 0])
            body = model.add_body("bar", whole, position=centre, **spin)
        model.add_joint("pin", ps.Spherical(model.ground, body, point=(0, 0, 0)))
        model.add_marker("end", body, position=(1, 0, 0))
        options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
        result = ps.simulate(model, h=0.005, t_end=0.1, **options)
        assert result.stats.balance_error_max < 1e-11
        return result

    held, whole = swinging("held"), swinging("whole")
    np.testing.assert_allclose(held.position("bob"), held.marker("end").position, atol=1e-12)
    np.testing.assert_allclose(held.marker("end").position, whole.marker("end").position, atol=2e-4)
    np.testing.assert_allclose(held.reaction("tip").torque, 0, atol=1e-10)


def newton_euler(model, t_end):
    """Accelerations of masses on rods from M a = f - G^T lam, G a = -G' v."""
    bodies, rods = list(model.bodies.values()), list(model.joints.values())
    masses = np.repeat([body.mass for body in bodies], 3)
    gravity = np.tile(model.gravity, len(bodies))

    def rate(t, y):
        q, v = y.reshape(2, -1, 3)
        rows, rhs = np.zeros((len(rods), len(bodies), 3)), np.zeros(len(rods))
        for k, rod in enumerate(rods):
            r, w = q[rod.b.index].copy(), v[rod.b.index].copy()
            if rod.a is not model.ground:
                r, w = r - q[rod.a.index], w - v[rod.a.index]
                rows[k, rod.a.index] = -r
            rows[k, rod.b.index], rhs[k] = r, -w @ w
        J = rows.reshape(len(rods), -1)
        lam = np.linalg.solve(J / masses @ J.T, rhs - J @ gravity)
        return np.concatenate([v.reshape(-1), gravity + J.T @ lam / masses])

    start = np.concatenate([*(b.position for b in bodies), np.zeros(masses.size)])
    y = solve_ivp(rate, (0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return y[: masses.size].reshape(-1, 3)


@runs
def test_a_chain_of_masses_on_rods_converges_to_newtons_equations(scheme, coordinates):
    exact = newton_euler(hanging(3), 0.6)
    steps, errors = np.array([0.01, 0.005]), []
    for h in steps:
        result = ps.simulate(hanging(3), h=h, t_end=0.6, scheme=scheme, coordinates=coordinates)
        end = np.array([result.position(f"bob{i}")[-1] for i in range(3)])
        errors.append(abs(end - exact).max())
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.15)


@pairs
def test_two_masses_on_a_spring_go_round_on_ellipses(scheme, coordinates, engine):
    """r'' = -w^2 r with w^2 = k (1/m1 + 1/m2), and the centre goes straight on."""
    w, start, speed = np.sqrt(30 * (1 / 1 + 1 / 2)), np.array([1.0, 0, 0]), np.array([0.2, 3, 1])
    steps, errors = np.array([0.02, 0.01]), []
    for h in steps:
        model = ps.Model()
        a = model.add_body("a", ps.PointMass(mass=1))
        b = model.add_body("b", ps.PointMass(mass=2), position=start, velocity=speed)
        spring = {"stiffness": 30.0, "rest_length": 0.0}
        model.add_force("spring", ps.Spring(a, b, (0, 0, 0), start, **spring))
        options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
        result = ps.simulate(model, h=h, t_end=0.6, **options)
        angle = w * result.time[:, None]
        r = result.position("b") - result.position("a")
        errors.append(abs(r - start * np.cos(angle) - speed / w * np.sin(angle)).max())
        centre = (result.position("a") + 2 * result.position("b")) / 3
        straight = 2 / 3 * (start + result.time[:, None] * speed)
        np.testing.assert_allclose(centre, straight, atol=1e-12)
        for momentum in (result.linear_momentum, result.angular_momentum):
            np.testing.assert_allclose(momentum, momentum[[0]].repeat(len(r), 0), atol=1e-11)
        assert result.stats.balance_error_max < 1e-11
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


@pairs
def test_two_masses_that_attract_each_other_keep_their_circle(scheme, coordinates, engine):
    """w^2 r^3 = k (1/m1 + 1/m2); the discrete force keeps the distance of a circle."""
    model, k = ps.Model(), 3.0
    w = np.sqrt(k * (1 / 1 + 1 / 2))
    a = model.add_body("a", ps.PointMass(mass=1), velocity=(0, -2 / 3 * w, 0))
    b = model.add_body("b", ps.PointMass(mass=2), position=(1, 0, 0), velocity=(0, w / 3, 0))
    model.add_force("attraction", ps.Gravitation(a, b, strength=k))
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(model, h=0.01, t_end=0.5, **options)
    r = result.position("b") - result.position("a")
    angle = np.unwrap(np.arctan2(r[:, 1], r[:, 0]))
    np.testing.assert_allclose(angle, w * result.time, atol=3e-4)
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), 1.0, atol=3e-4)
    np.testing.assert_allclose(result.angular_momentum, result.angular_momentum[[0]].repeat(51, 0))
    assert result.stats.balance_error_max < 1e-12


# -- laws over random mechanisms ------------------------------------------------------------------


def hung(seed, bodies, **options):
    """A random mechanism with point masses on it, which are pushed and dragged."""
    plan = mechanisms.tree(seed, bodies=bodies, **options)
    return mechanisms.push_points(mechanisms.with_points(plan, seed)).model()


def assert_alike(one, other):
    for name in one.observation.bodies:
        for read in ("position", "velocity", "rotation", "angular_velocity"):
            a, b = (getattr(result, read)(name) for result in (one, other))
            np.testing.assert_allclose(a, b, atol=1e-9 * (1 + abs(b).max()))
    for name in one.observation.joints:
        a, b = (result.reaction(name).force for result in (one, other))
        np.testing.assert_allclose(a, b, atol=1e-7 * (1 + abs(b).max()))
    np.testing.assert_allclose(one.energy, other.energy, atol=1e-10 * (1 + turnover(one)))


@runs
@laws(2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 3))
def test_energy_and_constraints_are_exact_in_both_engines(scheme, coordinates, seed, bodies):
    model = hung(seed, bodies, speed=0.4)
    options = {"scheme": scheme, "coordinates": coordinates}
    one, other = both(model, h=0.005, t_end=0.04, **options)
    for result in (one, other):
        assert result.stats.balance_error_max <= 1e-11 * turnover(result)
        assert result.constraint_error.max() <= 1e-11
        assert np.diff(result.dissipated).min() >= 0
    assert_alike(one, other)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("scheme", "coordinates"),
    [run for run in RUNS if run[0] not in ("eml", "reml", "null-eml")],
    ids=" in ".join,
)
@laws(2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 3))
def test_free_mechanisms_keep_both_momenta(scheme, coordinates, engine, seed, bodies):
    tree = mechanisms.tree(seed, bodies=bodies, ground=False, gravity=False, speed=0.4)
    model = mechanisms.with_points(tree, seed, ground=False).model()
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(model, h=0.005, t_end=0.04, **options)
    for momentum in (result.linear_momentum, result.angular_momentum):
        size = 1 + abs(momentum).max()
        assert abs(momentum - momentum[0]).max() <= 1e-11 * size
    assert result.stats.balance_error_max <= 1e-11 * turnover(result)


@pytest.mark.parametrize("form", FORMS)
@laws(2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 2))
def test_every_structure_proof_holds_at_any_state(form, seed, bodies):
    model = hung(seed, bodies)
    system = compiled(model, form)
    if form == "quaternions":
        system = system.in_form("hamiltonian")  # Livens' holds where p = dL/dv
    defects = system.defects(system.start + 0.1 * mechanisms.random_state(system, seed))
    assert defects.holds(1e-6), str(defects)
    assert max(defects.skew, defects.semidefinite, defects.resistive) < 1e-13


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bodies", [2, 30], ids=["dense", "sparse"])
def test_all_tangents_are_derivatives(form, bodies):
    model = hung(3, bodies)
    system, random = compiled(model, form), np.random.default_rng(5)
    x = system.start + 0.05 * random.standard_normal(system.n)
    z, u = random.standard_normal(system.n), random.standard_normal(system.m)
    a = random.standard_normal(system.n)

    def check(tangent, f, at):
        along = jacobian(lambda s: f(at + s[0] * a), np.zeros(1), step=1e-3)[..., 0]
        allowed = 2e-6 * (1 + abs(along).max())
        np.testing.assert_allclose(dense(tangent) @ a, along, atol=allowed)

    check(system.dflow(x, z, u), lambda x_: system.flow(x_, z, u), x)
    check(system.dz(x), system.z, x)
    check(system.dy(x, z), lambda x_: system.y(x_, z), x)
    check(system.dr_dz(x, z), lambda z_: system.r(x, z_), z)


@engines
@pytest.mark.parametrize(("scheme", "coordinates"), RUNS[:2] + RUNS[5:7], ids=" in ".join)
def test_redundant_constraints_on_a_point_mass_are_found_and_handled(scheme, coordinates, engine):
    """A mass that a ball joint holds on a hinged bar slides on the plane in which it moves."""
    model = ps.Model(gravity=(0, 0, -G))
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    bob = model.add_body("bob", ps.PointMass(mass=2), position=(1, 0, 0))
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("tip", ps.Spherical(bar, bob, point=(1, 0, 0)))
    model.add_joint("wall", ps.PointOnPlane(model.ground, bob, point=(1, 0, 0), normal=(0, 1, 0)))
    check = model.check()
    assert (check.freedoms, len(check.repeated)) == (1, 1)
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(model, h=0.01, t_end=0.15, **options)
    assert result.stats.balance_error_max < 1e-8
    assert result.constraint_error.max() < 1e-10
    J = (1 + 0.01) / 12 + 0.25 + 2.0
    np.testing.assert_allclose(
        result.angular_velocity("bar")[1, 1], 0.01 * G * (0.5 + 2.0) / J, rtol=1e-3
    )


# -- what is refused ------------------------------------------------------------------------------


def bob_and_box():
    model = ps.Model()
    bob = model.add_body("bob", ps.PointMass(mass=1), position=(1, 0, 0))
    box = model.add_body("box", ps.Box(mass=1, size=(1, 1, 1)))
    return model, bob, box


NO_ORIENTATION = r"body 'bob' is a point mass, which has no orientation; .*Sphere, RigidBody"


@pytest.mark.parametrize(
    "joint",
    [
        lambda m, bob, box: ps.Weld(box, bob),
        lambda m, bob, box: ps.Revolute(m.ground, bob, point=(1, 0, 0), axis=(0, 1, 0)),
        lambda m, bob, box: ps.Prismatic(bob, box, point=(1, 0, 0), axis=(0, 1, 0)),
        lambda m, bob, box: ps.Cylindrical(bob, m.ground, point=(1, 0, 0), axis=(0, 1, 0)),
        lambda m, bob, box: ps.Planar(m.ground, bob, point=(1, 0, 0), normal=(0, 1, 0)),
        lambda m, bob, box: ps.Universal(
            box, bob, point=(1, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0)
        ),
        lambda m, bob, box: ps.Cartesian(box, bob, point=(1, 0, 0)),
        lambda m, bob, box: ps.PointOnLine(bob, box, point=(1, 0, 0), axis=(0, 1, 0)),
        lambda m, bob, box: ps.PointOnPlane(bob, box, point=(1, 0, 0), normal=(0, 1, 0)),
        lambda m, bob, box: ps.Spherical(bob, box, point=(0.9, 0, 0)),
        lambda m, bob, box: ps.Rod(m.ground, bob, point_a=(0, 0, 0), point_b=(1, 0.1, 0)),
    ],
)
def test_joints_that_need_an_orientation_are_refused(joint):
    model, bob, box = bob_and_box()
    with pytest.raises(ps.InputError, match=NO_ORIENTATION):
        model.add_joint("joint", joint(model, bob, box))


def test_a_message_says_where_to_attach():
    model, bob, _ = bob_and_box()
    with pytest.raises(ps.InputError, match=r"at its position \(1, 0, 0\), not 0.5 m from there"):
        model.add_joint("rod", ps.Rod(model.ground, bob, point_a=(0, 0, 0), point_b=(1, 0, 0.5)))


@pytest.mark.parametrize(
    "act",
    [
        lambda m, bob: m.add_force("s", ps.Spring(m.ground, bob, (0, 0, 0), (0, 1, 0), damping=1)),
        lambda m, bob: m.add_force("d", ps.Drag(bob, point=(0, 0, 0), viscous=1)),
        lambda m, bob: m.add_port("p", ps.ForcePort(bob, point=(0, 0, 0))),
        lambda m, bob: m.add_force("f", ps.Field(lambda p, d: 0.0, points=[(bob, (0, 0, 0))])),
        lambda m, bob: m.add_force("f", ps.Field(lambda p, d: 0.0, directions=[(bob, (1, 0, 0))])),
    ],
)
def test_forces_away_from_the_point_are_refused(act):
    model, bob, _ = bob_and_box()
    with pytest.raises(ps.InputError, match=NO_ORIENTATION):
        act(model, bob)


@pytest.mark.parametrize(
    "act",
    [
        lambda bob: ps.TorquePort(bob),
        lambda bob: ps.Drag(bob, viscous=1, angular_viscous=1),
        lambda bob: ps.ForcePort(bob, axes="body"),
        lambda bob: ps.RollingSphere(ps.Model().ground, bob, radius=1, point=(1, 0, -1)),
    ],
)
def test_torques_and_body_axes_are_refused(act):
    with pytest.raises(ps.InputError, match=r"'bob'.* has no orientation.*Sphere or RigidBody"):
        act(bob_and_box()[1])


@pytest.mark.parametrize(
    "start", [{"rotation": (0, 1, 0, 0)}, {"angular_velocity": (0, 0, 1)}], ids=str
)
def test_an_orientation_and_a_spin_at_the_start_are_refused(start):
    (key,) = start
    with pytest.raises(ps.InputError, match=f"point mass, .*leave its {key} out"):
        stone(ps.PointMass(mass=1), **start)


def test_a_marker_away_from_the_point_is_refused():
    model, bob, _ = bob_and_box()
    model.add_marker("here", bob, position=(1, 0, 0))
    with pytest.raises(ps.InputError, match=NO_ORIENTATION):
        model.add_marker("there", bob, position=(2, 0, 0))


# -- files and pictures ---------------------------------------------------------------------------


def test_models_and_results_are_written_and_read(tmp_path):
    model = hung(1, 1)
    model.ports.clear()
    model.forces.pop("drag on spring")
    again = ps.Model.from_yaml_text(model.to_yaml())
    result = ps.simulate(again, h=0.01, t_end=0.1)
    np.testing.assert_array_equal(again.compile().start, model.compile().start)
    result.save(tmp_path / "run.nc")
    read = ps.load(tmp_path / "run.nc")
    for name in result.observation.bodies:
        np.testing.assert_array_equal(read.position(name), result.position(name))
        np.testing.assert_array_equal(read.rotation(name), result.rotation(name))
    np.testing.assert_array_equal(read.reaction("to rod").force, result.reaction("to rod").force)
