"""Transmissions: joints move in step, exactly over any number of turns, and create no energy."""

import mechanisms
import numpy as np
import pytest
from balance import step_errors, turnover
from engines import assert_same, both
from hypothesis import given
from strategies import seeds

import poinsot as ps

#: Coordinates and schemes that keep transmissions.
FORMS = [
    ("directors", "ph-mp"),
    ("rotations", "ph-mp"),
    ("quaternions", "emh-mean"),
    ("quaternions", "eml"),
]
INERTIA = {"a": 0.02, "b": 0.3}


def shafts(*transmissions, torque=2.0, **velocities):
    """Two shafts along z on the ground, tied by transmissions; a motor turns the first one."""
    model = ps.Model(gravity=(0, 0, -9.81))
    for k, (name, J) in enumerate(INERTIA.items()):
        body = model.add_body(
            name,
            ps.RigidBody(mass=1.0, inertia=(J, J, J)),
            position=(k, 0, 0),
            angular_velocity=velocities.get(name),
        )
        model.add_joint(
            f"shaft {name}", ps.Revolute(model.ground, body, point=(k, 0, 0), axis=(0, 0, 1))
        )
    for k, transmission in enumerate(transmissions):
        model.add_transmission("mesh" if k == 0 else f"mesh {k}", transmission)
    if torque is not None:
        model.add_port("motor", ps.JointPort("shaft a", value=torque))
    return model


def angles(result, *names):
    return [result.joint(name).coordinates["angle"] for name in names]


# -- closed forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("coordinates", "scheme"), FORMS)
def test_a_gear_pair_accelerates_with_the_reflected_inertia(coordinates, scheme, engine):
    n = -3.0
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=n))
    options = {"coordinates": coordinates, "scheme": scheme, "engine": engine}
    t_end = {"compiled": 0.1, "reference": 0.01}[engine]
    result = ps.simulate(model, h=1e-3, t_end=t_end, **options)
    # J_a + J_b / n^2, as seen from a; the torque of the mesh on a is what is left for a itself.
    acceleration = 2.0 / (INERTIA["a"] + INERTIA["b"] / n**2)
    a, b = angles(result, "shaft a", "shaft b")
    assert abs(a - n * b).max() < 1e-12
    assert result.angular_velocity("a")[-1, 2] == pytest.approx(acceleration * t_end, rel=1e-5)
    torque = result.port("mesh").y[:, 0]
    assert np.mean(torque[-2:]) == pytest.approx(INERTIA["a"] * acceleration - 2.0, rel=1e-4)
    assert abs(result.port("mesh").power).max() < 1e-12
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


def test_angles_stay_in_step_over_ten_thousand_steps_and_many_turns():
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=2.5), torque=None, a=(0, 0, 150.0))
    model.add_force("spring", ps.JointSpring("shaft b", stiffness=0.2))
    result = ps.simulate(model, h=1e-3, t_end=10.0, save_every=10, engine="compiled")
    a, b = angles(result, "shaft a", "shaft b")
    assert abs(a).max() > 20 * 2 * np.pi
    assert abs(a - 2.5 * b).max() < 1e-12 * abs(a).max()
    assert abs(result.balance_error).max() < 1e-11 * turnover(result)
    assert result.stats.single_steps == 0


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_turns_its_pulleys_by_their_radii(crossed):
    belt = ps.Belt("shaft a", "shaft b", radius_a=0.1, radius_b=0.25, crossed=crossed)
    result = ps.simulate(shafts(belt), h=1e-3, t_end=0.2)
    a, b = angles(result, "shaft a", "shaft b")
    assert abs(0.1 * a - (-0.25 if crossed else 0.25) * b).max() < 1e-13


def planetary():
    """Sun and ring on the ground, a planet on the carrier: sun 20, planet 15, ring 50 teeth."""
    model = ps.Model()
    teeth = {"sun": 20, "planet": 15, "ring": 50}
    spins = {"carrier": 0.4, "sun": 0.05, "planet": 0.01, "ring": 0.9}
    arm = 0.35
    place = {"planet": (arm, 0, 0)}
    body = {
        name: model.add_body(
            name, ps.RigidBody(mass=0.5, inertia=(J, J, J)), position=place.get(name, (0, 0, 0))
        )
        for name, J in spins.items()
    }

    def hinge(name, a, b, point=(0, 0, 0)):
        model.add_joint(name, ps.Revolute(a, body[b], point=point, axis=(0, 0, 1)))

    hinge("carrier axle", model.ground, "carrier")
    # Relative to the carrier, where meshes are those of fixed axes.
    hinge("sun axle", body["carrier"], "sun")
    hinge("planet axle", body["carrier"], "planet", (arm, 0, 0))
    hinge("ring axle", body["carrier"], "ring")
    inner, outer = teeth["planet"] / teeth["sun"], teeth["ring"] / teeth["planet"]
    model.add_transmission("inner mesh", ps.Gear("sun axle", "planet axle", ratio=-inner))
    model.add_transmission("outer mesh", ps.Gear("planet axle", "ring axle", ratio=outer))
    return model, teeth, spins, arm


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_planetary_gear_obeys_willis_and_its_closed_form(engine):
    model, z, J, arm = planetary()
    assert model.check().freedoms == 2
    # The ring is held on the ground: a brake takes its torque.
    model.add_joint(
        "brake", ps.Revolute(model.ground, model.bodies["ring"], point=(0, 0, 0), axis=(0, 0, 1))
    )
    model.add_port("hold", ps.Drive("brake", rate=0.0))
    model.add_port("motor", ps.TorquePort(model.bodies["sun"], value=(0, 0, 3.0)))
    result = ps.simulate(model, h=2e-3, t_end=0.1, engine=engine)
    # Willis: the sun turns (1 + z_ring / z_sun) times as far as the carrier.
    i = 1 + z["ring"] / z["sun"]
    carrier, on_carrier = angles(result, "carrier axle", "sun axle")
    assert abs(on_carrier + carrier - i * carrier).max() < 1e-12
    sun = result.angular_velocity("sun")[-1, 2]
    planet = 1 - z["ring"] / z["planet"]  # of the carrier's rate
    reduced = J["sun"] + (J["carrier"] + 0.5 * arm**2 + J["planet"] * planet**2) / i**2
    assert sun == pytest.approx(3.0 / reduced * 0.1, rel=1e-5)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_nut_falls_on_its_screw_with_the_inertia_of_both(engine):
    m, J, lead = 2.0, 1e-3, 0.05
    model = ps.Model(gravity=(0, 0, -9.81))
    nut = model.add_body("nut", ps.RigidBody(mass=m, inertia=(J, J, J)))
    model.add_joint("thread", ps.Cylindrical(model.ground, nut, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_transmission("screw", ps.Screw("thread", lead=lead))
    result = ps.simulate(model, h=2e-3, t_end=0.1, engine=engine)
    seen = result.joint("thread").coordinates
    assert abs(seen["displacement"] - lead / (2 * np.pi) * seen["angle"]).max() < 1e-13
    acceleration = -9.81 / (1 + J / m * (2 * np.pi / lead) ** 2)
    assert result.velocity("nut")[-1, 2] == pytest.approx(acceleration * 0.1, rel=2e-4)
    assert abs(result.balance_error).max() < 1e-15


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_rack_falls_and_turns_its_pinion(engine):
    m, J, r = 3.0, 0.04, 0.1
    model = ps.Model(gravity=(0, 0, -9.81))
    pinion = model.add_body("pinion", ps.RigidBody(mass=1.0, inertia=(J, J, J)))
    rack = model.add_body("rack", ps.Box(mass=m, size=(0.1, 0.1, 1)), position=(r, 0, 0))
    model.add_joint("axle", ps.Revolute(model.ground, pinion, point=(0, 0, 0), axis=(0, -1, 0)))
    model.add_joint("guide", ps.Prismatic(model.ground, rack, point=(r, 0, 0), axis=(0, 0, 1)))
    model.add_transmission("teeth", ps.RackAndPinion("axle", "guide", radius=r))
    result = ps.simulate(model, h=5e-3, t_end=0.2, engine=engine)
    fallen = result.joint("guide").coordinates["displacement"]
    assert abs(fallen - r * angles(result, "axle")[0]).max() < 1e-13
    acceleration = -9.81 / (1 + J / (m * r**2))
    assert fallen[-1] == pytest.approx(acceleration * 0.2**2 / 2, rel=1e-4)


def test_a_differential_shares_the_torque_and_lets_its_sides_differ():
    model = ps.Model()
    spins = {"input": 0.1, "left": 0.5, "right": 2.0}
    for k, (name, J) in enumerate(spins.items()):
        body = model.add_body(name, ps.RigidBody(mass=1, inertia=(J, J, J)), position=(k, 0, 0))
        joint = ps.Revolute(model.ground, body, point=(k, 0, 0), axis=(0, 0, 1))
        model.add_joint(f"{name} shaft", joint)
    names = [f"{name} shaft" for name in spins]
    model.add_transmission("differential", ps.Differential(*names, ratio=4.0))
    model.add_port("motor", ps.JointPort("input shaft", value=5.0))
    result = ps.simulate(model, h=1e-3, t_end=0.3)
    motor, left, right = angles(result, *names)
    assert abs(motor - 4.0 * (left + right) / 2).max() < 1e-12
    # Each side gets T: 4 (T/J_left + T/J_right) / 2 = (5 - T/2) / J_input.
    T = 5 / (0.5 + spins["input"] * 2 * (1 / spins["left"] + 1 / spins["right"]))
    assert result.angular_velocity("left")[-1, 2] == pytest.approx(T / 0.5 * 0.3, rel=1e-5)
    assert result.angular_velocity("right")[-1, 2] == pytest.approx(T / 2.0 * 0.3, rel=1e-5)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


# -- cams ------------------------------------------------------------------------------------------

LIFT = 0.02
PROFILES = {
    "formula": "0.02*(1 - cos(x))",
    "table": ps.Table(
        np.linspace(0, 2 * np.pi, 73), LIFT * (1 - np.cos(np.linspace(0, 2 * np.pi, 73)))
    ),
}


def camshaft(profile, drive=None, spin=None):
    model = ps.Model(gravity=(0, 0, -9.81))
    lobe = ps.RigidBody(mass=1, inertia=(0.01, 0.01, 0.01))
    cam = model.add_body("cam", lobe, angular_velocity=spin)
    valve = model.add_body("valve", ps.Sphere(mass=0.5, radius=0.02), position=(0, 0, 0.1))
    model.add_joint("shaft", ps.Revolute(model.ground, cam, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("guide", ps.Prismatic(model.ground, valve, point=(0, 0, 0.1), axis=(0, 0, 1)))
    model.add_transmission("cam lobe", ps.Cam("shaft", "guide", profile=profile))
    if drive is not None:
        model.add_port("crank", ps.Drive("shaft", drive))
    return model


@pytest.mark.parametrize("name", PROFILES)
def test_a_follower_is_where_the_profile_is_over_many_turns(name):
    model = camshaft(PROFILES[name], drive="30*t")
    fast, slow = both(model, h=2e-3, t_end=0.06)
    assert_same(fast, slow)
    result = ps.simulate(model, h=1e-3, t_end=3.0, engine="compiled")
    lift = result.joint("guide").coordinates["displacement"]
    tolerance = 1e-12 if name == "formula" else 2e-7  # of the spline
    assert abs(lift - LIFT * (1 - np.cos(30 * result.time))).max() < tolerance
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    # N - m g = m a, with the acceleration of the profile.
    force, t = result.port("cam lobe").y[:, 0], result.time[1:-1]
    exact = 0.5 * (9.81 + LIFT * 30**2 * np.cos(30 * t))
    assert abs((force[1:] + force[:-1]) / 2 - exact).max() < 2e-3 * exact.max()


@pytest.mark.parametrize("name", PROFILES)
def test_a_free_cam_keeps_its_energy(name):
    model = camshaft(PROFILES[name], spin=(0, 40, 0))
    result = ps.simulate(model, h=1e-3, t_end=2.0, engine="compiled")
    assert np.ptp(result.energy) < 1e-12 * result.energy.max()
    # The cam alone is at J omega^2 / 2 + m (f' omega)^2 / 2 + m g f.
    phi, spin = angles(result, "shaft")[0], result.angular_velocity("cam")[:, 1]
    kinetic = (0.01 + 0.5 * (LIFT * np.sin(phi)) ** 2) * spin**2 / 2
    total = kinetic + 0.5 * 9.81 * LIFT * (1 - np.cos(phi))
    assert np.ptp(total) < 1e-3 * total.max()


# -- efficiency ------------------------------------------------------------------------------------


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_output_is_the_efficiency_of_the_input_in_steady_drive(driven, engine):
    eta, n = 0.8, 3.0
    gear = ps.Gear("shaft a", "shaft b", ratio=n, efficiency=eta, slip=1e-6)
    model = shafts(gear, torque=None)
    # A drive turns one side; a torque against it, or with it, loads the other one.
    held, loaded = ("shaft a", "shaft b") if driven else ("shaft b", "shaft a")
    model.add_port("drive", ps.Drive(held, "t"))
    model.add_port("load", ps.JointPort(loaded, value=-5.0))
    result = ps.simulate(model, h=1e-4, t_end=2e-3, engine=engine)
    put_in, taken = result.port("drive").power, -result.port("load").power
    assert np.allclose(taken / put_in, eta, rtol=1e-5)
    assert np.all(np.diff(result.dissipated) > 0)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


def test_losses_are_never_negative_and_the_balance_closes_where_the_load_changes_its_sign():
    model = shafts(
        ps.Gear("shaft a", "shaft b", ratio=-2.0, efficiency=0.7), torque=None, a=(0, 0, 4.0)
    )
    model.add_force("spring", ps.JointSpring("shaft b", stiffness=8.0))
    model.add_force("other", ps.JointSpring("shaft a", stiffness=0.5, rest=0.3))
    fast, slow = both(model, h=5e-3, t_end=0.2)
    assert_same(fast, slow)
    result = ps.simulate(model, h=1e-3, t_end=10.0, engine="compiled")
    assert np.diff(result.dissipated).min() >= -1e-15 * result.energy.max()
    assert result.stats.dissipation_min >= 0
    assert result.energy[-1] < 0.7 * result.energy[0]
    assert abs(result.balance_error).max() < 1e-11 * turnover(result)
    assert abs(step_errors(result)).max() < 1e-12 * turnover(result)
    a, b = angles(result, "shaft a", "shaft b")
    assert abs(a + 2 * b).max() < 1e-12


@pytest.mark.parametrize(("coordinates", "scheme"), FORMS)
def test_a_lossy_gear_runs_alike_in_both_engines(coordinates, scheme):
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=-2.0, efficiency=0.9))
    assert_same(*both(model, h=2e-3, t_end=0.03, coordinates=coordinates, scheme=scheme))


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_a_system_with_transmissions_proves_its_structure(coordinates):
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=-2.0, efficiency=0.9), a=(0, 0, 4.0))
    system = model.compile(coordinates)
    x = system.start + 1e-3 * np.arange(system.n)
    assert max(vars(system.defects(system.start)).values()) < 1e-12
    z = system.z(x)
    assert z @ system.r(x, z) > 0
    # The tangents of the friction.
    d = 1e-6
    slopes = np.array(
        [(system.r(x, z + e) - system.r(x, z - e)) / (2 * d) for e in d * np.eye(system.n)]
    ).T
    assert np.allclose(np.asarray(system.dr_dz(x, z)), slopes, atol=1e-6 * abs(slopes).max())


# -- random mechanisms -----------------------------------------------------------------------------


def tie(model, seed):
    """Tie free directions of joints to each other, pair by pair, by random ratios."""
    random = np.random.default_rng(seed)
    free = [(name, freedom) for name, joint in model.joints.items() for freedom in joint.freedoms()]
    random.shuffle(free)
    ties = []
    for k, ((one, f), (other, g)) in enumerate(zip(free[::2], free[1::2], strict=False)):
        profile = ps.Formula(f"{random.uniform(-2, 2)}*x + 0.1*sin(x)", "x")
        transmission = ps.Cam(f"{one}.{f.label}", f"{other}.{g.label}", profile=profile)
        if f.rotates and g.rotates and k % 2:
            profile = ps.Formula(f"{random.uniform(0.3, 2)}*x", "x")
            ratio = 1 / profile(1.0)
            transmission = ps.Gear(f"{one}.{f.label}", f"{other}.{g.label}", ratio=ratio)
        model.add_transmission(f"tie {k}", transmission)
        ties.append(((one, f.label), (other, g.label), profile))
    return ties


KINDS = ("Revolute", "Cylindrical", "Universal", "Planar", "Prismatic")


@mechanisms.laws(8)
@given(seed=seeds)
def test_random_trees_with_random_transmissions_keep_step_and_balance(seed):
    model = mechanisms.full(seed, bodies=4, kinds=KINDS).model(project=False)
    ties = tie(model, seed)
    model.project_velocities()
    result = ps.simulate(model, h=0.005, t_end=0.2, engine="compiled")
    for (one, f), (other, g), profile in ties:
        x = result.joint(one).coordinates[f]
        y = result.joint(other).coordinates[g]
        exact = np.array([profile(value) for value in x]).reshape(-1)
        assert abs(y - exact).max() < 1e-11 * (1 + abs(exact).max())
    assert abs(result.balance_error).max() < 1e-11 * turnover(result)


@pytest.mark.parametrize("seed", range(3))
def test_both_engines_move_random_transmissions_alike(seed):
    model = mechanisms.full(seed, bodies=3, kinds=KINDS).model(project=False)
    tie(model, seed)
    model.project_velocities()
    assert_same(*both(model, h=0.005, t_end=0.04))


# -- starts, and what is refused -------------------------------------------------------------------


def test_velocities_that_are_left_out_are_completed_by_the_gear():
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=-4.0), a=(0, 0, 8.0))
    assert np.allclose(model.start_velocities()["b"][1], (0, 0, -2.0))


def test_velocities_that_contradict_a_gear_are_refused():
    gear = ps.Gear("shaft a", "shaft b", ratio=-4.0)
    with pytest.raises(ps.InconsistentStartError, match=r"transmission 'mesh'.*in step"):
        shafts(gear, a=(0, 0, 8.0), b=(0, 0, 2.0)).check()


def test_check_counts_transmissions():
    check = shafts(ps.Gear("shaft a", "shaft b", ratio=2)).check()
    assert (check.transmissions, check.drives, check.freedoms) == (1, 0, 1)
    assert "transmissions       1" in str(check)


def test_a_transmission_that_repeats_or_locks_is_refused_by_name():
    one, other = (ps.Gear("shaft a", "shaft b", ratio=n) for n in (2, 3))
    with pytest.raises(ps.InputError, match="tie already, at the start: 'mesh 1'"):
        shafts(one, one).check()
    shafts(one, other).check()  # locked, but not twice
    with pytest.raises(ps.InputError, match="'mesh 2'"):
        shafts(one, other, ps.Belt("shaft a", "shaft b", radius_a=1, radius_b=1)).compile()


def test_a_run_goes_on_where_another_one_ended():
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=3), torque=None, a=(0, 0, 9.0))
    first = ps.simulate(model, h=0.01, t_end=1.0)
    x = np.concatenate([state.values[-1] for state in first.states.values()])
    x = ps.ph.consistent_state(model.compile(), x, 1.0)
    with pytest.raises(ps.InconsistentStartError, match="apart at the start"):
        ps.simulate(model, h=0.01, t_end=1.0, x0=x)
    counted = {"shaft a.angle": 9.0, "shaft b.angle": 3.0}
    result = ps.simulate(model, h=0.01, t_end=1.0, x0=x, angles=counted)
    a, b = angles(result, "shaft a", "shaft b")
    assert abs(a - 3 * b).max() < 1e-12
    assert a[-1] == pytest.approx(18.0, rel=1e-3)


GEAR = {"ratio": 2}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ps.Gear("shaft a", "shaft b", ratio=0), "ratio is 0"),
        (lambda: ps.Gear("shaft a", "shaft b", ratio=float("nan")), "finite"),
        (lambda: ps.Gear("shaft a", "shaft c", **GEAR), "no joint 'shaft c'"),
        (lambda: ps.Gear("shaft a", "shaft a", **GEAR), "'shaft a.angle' to itself"),
        (lambda: ps.Gear("shaft a", "shaft b.tilt", **GEAR), "no coordinate 'tilt'"),
        (lambda: ps.Gear("shaft a", 3, **GEAR), "name of a joint"),
        (lambda: ps.Gear("shaft a", "shaft b", efficiency=1.1, **GEAR), "at most 1"),
        (lambda: ps.Gear("shaft a", "shaft b", efficiency=0, **GEAR), "more than 0"),
        (lambda: ps.Gear("shaft a", "shaft b", slip=0, efficiency=0.9, **GEAR), "slip"),
        (lambda: ps.RackAndPinion("shaft a", "shaft b", radius=1), "has no displacement"),
        (lambda: ps.Screw("shaft a", lead=1), "has no displacement"),
        (lambda: ps.Belt("shaft a", "shaft b", radius_a=0, radius_b=1), "radius_a"),
        (lambda: ps.Cam("shaft a", "shaft b", profile="t"), "t"),
        (lambda: ps.Cam("shaft a", "shaft b", profile=np.sin), "formula of x or a Table"),
        (lambda: ps.Cam("shaft a", "shaft b", profile=ps.Table([0, 1], [0, 1])), "three points"),
        (lambda: ps.Revolute, "expected a transmission such as Gear"),
    ],
)
def test_what_is_no_transmission_is_refused(make, message):
    with pytest.raises(ps.InputError, match=message):
        shafts(make())


def test_a_joint_with_several_angles_says_how_to_name_them():
    model = shafts(torque=None)
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(2, 0, 0))
    cross = ps.Universal(model.ground, ball, point=(2, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0))
    model.add_joint("cross", cross)
    with pytest.raises(ps.InputError, match=r"'cross.angle a' or 'cross.angle b'"):
        model.add_transmission("mesh", ps.Gear("cross", "shaft a", ratio=1))
    model.add_transmission("mesh", ps.Gear("cross.angle a", "shaft a", ratio=1))
    assert model.check().freedoms == 3


@pytest.mark.parametrize("scheme", ["ph-dg", "mpl"])
def test_schemes_that_do_not_keep_transmissions_say_so(scheme):
    with pytest.raises(ps.PoinsotError, match=r"transmissions \('mesh'\)"):
        ps.simulate(
            shafts(ps.Gear("shaft a", "shaft b", ratio=2)), scheme=scheme, h=0.01, t_end=0.1
        )


def test_no_steady_motion_is_looked_for_with_transmissions():
    model = shafts(ps.Gear("shaft a", "shaft b", ratio=2), torque=None)
    with pytest.raises(ps.InputError, match=r"transmissions \('mesh'\)"):
        ps.analysis.steady_motion(model, axis=(0, 0, 1), rate=1.0)


# -- files -----------------------------------------------------------------------------------------


def test_transmissions_are_written_to_model_files_and_results(tmp_path):
    model = camshaft(PROFILES["table"], drive="3*t")
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    one, other = (ps.simulate(m, h=0.01, t_end=0.1) for m in (model, again))
    assert np.array_equal(one.port("cam lobe").y, other.port("cam lobe").y)
    one.save(tmp_path / "run.nc")
    loaded = ps.load(tmp_path / "run.nc").port("cam lobe")
    assert np.array_equal(loaded.y, one.port("cam lobe").y)
    assert (loaded.u_unit, loaded.y_unit) == ("m/s", "N")
