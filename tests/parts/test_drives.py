"""Drives: joints move as prescribed, exactly, and their forces do the work that it takes."""

import mechanisms
import numpy as np
import pytest
from balance import step_errors, turnover
from engines import assert_same, both
from hypothesis import given
from in_turn import in_turn
from schemes import DRIVEN as FORMS
from strategies import seeds

import poinsot as ps

ENGINES = ("compiled", "reference")


# -- slider-crank: everything is known -------------------------------------------------------------

CRANK, ROD, GRAVITY = 0.15, 0.3, 9.81
MASSES = {"crank": 0.5, "rod": 0.8, "slider": 0.3}
SPINS = {"crank": 1.1e-3, "rod": 6e-3}  # about the axis of the hinges [kg m^2]
START = 0.4


def slider_crank(**motion):
    """A crank in the x-z plane at `START` from the x axis, without redundant constraints."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    place = kinematics(START)

    def body(name, spin, angle):
        return model.add_body(
            name,
            ps.RigidBody(mass=MASSES[name], inertia=(1e-4, spin, spin)),
            position=(place[name][0], 0, place[name][1]),
            rotation=ps.Rotation.from_axis_angle((0, -1, 0), angle),
        )

    crank, rod = body("crank", SPINS["crank"], START), body("rod", SPINS["rod"], place["tilt"])
    x, z = place["slider"]
    slider = model.add_body(
        "slider", ps.Sphere(mass=MASSES["slider"], radius=0.02), position=(x, 0, z)
    )
    pin = (CRANK * np.cos(START), 0, CRANK * np.sin(START))
    # A positive angle turns x towards z.
    model.add_joint("A", ps.Revolute(model.ground, crank, point=(0, 0, 0), axis=(0, -1, 0)))
    model.add_joint("B", ps.Spherical(crank, rod, point=pin))
    model.add_joint(
        "C", ps.Universal(rod, slider, point=(x, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1))
    )
    model.add_joint("D", ps.Prismatic(model.ground, slider, point=(x, 0, 0), axis=(1, 0, 0)))
    model.add_port("drive", ps.Drive("A", **motion))
    return model


def kinematics(phi):
    """Centres (x, z) of all bodies and the tilt of the rod, where the crank is at phi."""
    tilt = -np.arcsin(CRANK * np.sin(phi) / ROD)
    pin = CRANK * np.array([np.cos(phi), np.sin(phi)])
    along = ROD * np.array([np.cos(tilt), np.sin(tilt)])
    return {"crank": pin / 2, "rod": pin + along / 2, "slider": pin + along, "tilt": tilt}


def energy(phi, rate):
    """Kinetic and potential energy [J] of the slider-crank; slopes by complex steps."""
    here, slopes = kinematics(phi), kinematics(phi + 1e-30j)
    slope = {name: np.imag(value) / 1e-30 for name, value in slopes.items()}
    total = 0.5 * SPINS["crank"] * rate**2 + 0.5 * SPINS["rod"] * (slope["tilt"] * rate) ** 2
    for name, mass in MASSES.items():
        total += 0.5 * mass * np.sum((slope[name] * rate) ** 2) + mass * GRAVITY * here[name][1]
    return total


def torque(phi, rate):
    """What the drive exerts at constant speed: its power is the rate of the energy."""
    d = 1e-4
    weights = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return sum(c * (energy(phi + k * d, rate) - energy(phi - k * d, rate)) for k, c in weights) / d


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("coordinates", "scheme"), FORMS)
def test_a_driven_slider_crank_moves_as_its_kinematics_say(coordinates, scheme, engine):
    speed, model = 150.0, slider_crank(coordinate="150*t")
    options = {"coordinates": coordinates, "scheme": scheme, "engine": engine}
    result = ps.simulate(
        model, h=1e-3, t_end={"compiled": 0.1, "reference": 0.01}[engine], **options
    )
    assert result.stats.single_steps == 0
    assert abs(result.joint("A").coordinates["angle"] - speed * result.time).max() < 1e-13
    for name in MASSES:
        exact = np.array([kinematics(START + speed * t)[name] for t in result.time])
        assert abs(result.position(name)[:, [0, 2]] - exact).max() < 1e-12
        assert abs(result.position(name)[:, 1]).max() < 1e-12
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    assert abs(step_errors(result)).max() < 1e-12 * turnover(result)


def test_nothing_drifts_over_a_hundred_thousand_steps():
    speed, model = 150.0, slider_crank(coordinate="150*t")
    result = ps.simulate(model, h=1e-4, t_end=10.0, save_every=50, engine="compiled")
    assert result.constraint_error.max() <= 1e-12
    assert abs(result.joint("A").coordinates["angle"] - speed * result.time).max() <= 1e-12
    exact = np.array([kinematics(START + speed * t)["slider"] for t in result.time])
    assert abs(result.position("slider")[:, [0, 2]] - exact).max() <= 1e-12
    gained = result.energy - result.energy[0]
    supplied = result.port("drive").energy
    assert abs(gained - supplied).max() <= 1e-11 * result.energy.max()


def test_the_torque_of_a_drive_is_that_of_inverse_dynamics_to_second_order():
    speed, errors = 20.0, []
    for h in (2e-3, 1e-3):
        result = ps.simulate(slider_crank(coordinate="20*t"), h=h, t_end=0.4)
        y, t = result.port("drive").y[:, 0], result.time[1:-1]
        exact = np.array([torque(START + speed * s, speed) for s in t])
        # Multipliers of the midpoint rule alternate; means of two steps do not.
        errors.append(abs((y[1:] + y[:-1]) / 2 - exact).max() / abs(exact).max())
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


def test_a_drive_supplies_what_dampers_take():
    model = slider_crank(coordinate="20*t")
    model.add_force("guide", ps.JointFriction("D", coulomb=2.0, viscous=1.0))
    model.add_force("brake", ps.JointSpring("A", damping=0.05))
    result = ps.simulate(model, h=1e-3, t_end=1.0)
    assert result.dissipated[-1] > 10
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    gained = result.energy[-1] - result.energy[0]
    assert result.port("drive").energy[-1] == pytest.approx(gained + result.dissipated[-1], 1e-11)


@pytest.mark.parametrize("rate", [20.0, "20", lambda t: 20.0, ps.Table([0, 1], [20, 20])])
def test_a_prescribed_rate_leads_as_far_as_its_integral(rate):
    result = ps.simulate(slider_crank(rate=rate), h=1e-3, t_end=0.5)
    assert abs(result.joint("A").coordinates["angle"] - 20 * result.time).max() < 1e-12
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


def test_a_rate_that_changes_is_integrated_to_high_order():
    result = ps.simulate(slider_crank(rate="8 + 5*cos(10*t)"), h=1e-2, t_end=1.0)
    exact = 8 * result.time + 0.5 * np.sin(10 * result.time)
    assert abs(result.joint("A").coordinates["angle"] - exact).max() < 1e-12


# -- displacements, several drives, joints of every kind -------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lift_takes_weight_and_inertia(engine):
    model = ps.Model(gravity=(0, 0, -9.81))
    cabin = model.add_body("cabin", ps.Box(mass=400.0, size=(1, 1, 2)))
    model.add_joint("shaft", ps.Prismatic(model.ground, cabin, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("rope", ps.Drive("shaft", "0.75*t**2"))
    result = ps.simulate(model, h=0.01, t_end=2.0, engine=engine)
    assert abs(result.position("cabin")[:, 2] - 0.75 * result.time**2).max() < 1e-14
    rope = result.port("rope")
    assert (rope.u_unit, rope.y_unit) == ("m/s", "N")
    assert np.allclose(rope.y, 400 * (9.81 + 1.5), rtol=1e-10)
    assert rope.energy[-1] == pytest.approx(400 * (9.81 * 3 + 0.5 * 3**2), rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_drives_on_one_joint_move_it_along_a_screw(engine):
    model = ps.Model(gravity=(1, 2, -9.81))
    bolt = model.add_body("bolt", ps.Box(mass=1, size=(0.1, 0.2, 0.5)), position=(0.1, 0, 0))
    model.add_joint("nut", ps.Cylindrical(model.ground, bolt, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("turn", ps.Drive("nut", "8*t", "angle"))
    model.add_port("feed", ps.Drive("nut", "0.4*t", "displacement"))
    assert model.check().freedoms == 0
    result = ps.simulate(model, h=0.01, t_end=1.0, engine=engine)
    seen = result.joint("nut").coordinates
    assert abs(seen["angle"] - 8 * result.time).max() < 1e-12
    assert abs(seen["displacement"] - 0.4 * result.time).max() < 1e-13
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bead_far_from_the_origin_is_driven_along_its_wire(engine):
    model = ps.Model(gravity=(0, 0, -9.81))
    bead = model.add_body("bead", ps.PointMass(mass=0.1), position=(7.1, -0.3, 2.7))
    wire = ps.PointOnLine(model.ground, bead, point=(7.1, -0.3, 2.7), axis=(1, 2, 3))
    model.add_joint("wire", wire)
    model.add_port("pull", ps.Drive("wire", np.sin))
    result = ps.simulate(model, h=0.01, t_end=1.0, engine=engine)
    way = np.linalg.norm(result.position("bead") - (7.1, -0.3, 2.7), axis=1)
    assert abs(way - np.sin(result.time)).max() < 1e-13
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


def drive(model, seed, every=1):
    """Drive every so many of the free directions of joints by smooth motions of any size."""
    random, chosen = np.random.default_rng(seed), []
    for name, joint in model.joints.items():
        chosen += [(name, freedom.label) for freedom in joint.freedoms()]
    for k, (name, label) in enumerate(chosen[::every]):
        a, b, c = random.uniform(-1, 1, 3)
        motion = ps.Formula(f"({a}) * t + ({b}) * sin(2 * t) + ({c}) * t**2")
        model.add_port(f"drive {k}", ps.Drive(name, motion, label))
    return chosen[::every]


@pytest.mark.parametrize(
    ("kind", "form"),
    in_turn([kind for kind, free in mechanisms.COORDINATES.items() if free], FORMS),
)
def test_every_free_direction_of_every_joint_can_be_driven(kind, form):
    coordinates, scheme = form
    model = mechanisms.pair(kind, 5, gravity=True).model(project=False)
    driven = drive(model, 7)
    model.project_velocities()
    options = {"coordinates": coordinates, "scheme": scheme}
    fast, slow = both(model, h=0.02, t_end=0.1, **options)
    assert_same(fast, slow)
    assert fast.stats.single_steps == 0
    for k, (name, label) in enumerate(driven):
        motion = model.ports[f"drive {k}"].coordinate
        exact = np.array([motion(t) for t in fast.time])
        assert abs(fast.joint(name).coordinates[label] - exact).max() < 1e-12
    assert abs(fast.balance_error).max() < 1e-12 * turnover(fast)


@mechanisms.laws(8)
@given(seed=seeds)
def test_drives_of_random_mechanisms_keep_motions_and_balance(seed):
    plan = mechanisms.full(seed, bodies=3, kinds=("Revolute", "Cylindrical", "Universal", "Planar"))
    model = plan.model(project=False)
    driven = drive(model, seed, every=2)
    model.project_velocities()
    result = ps.simulate(model, h=0.01, t_end=0.3, engine="compiled")
    for k, (name, label) in enumerate(driven):
        motion = model.ports[f"drive {k}"].coordinate
        exact = np.array([motion(t) for t in result.time])
        assert abs(result.joint(name).coordinates[label] - exact).max() < 1e-11
    assert abs(result.balance_error).max() < 1e-11 * turnover(result)


@pytest.mark.parametrize("seed", range(4))
def test_both_engines_drive_random_mechanisms_alike(seed):
    plan = mechanisms.full(seed, bodies=3, kinds=("Revolute", "Cylindrical", "Universal"))
    model = plan.model(project=False)
    drive(model, seed, every=2)
    model.project_velocities()
    assert_same(*both(model, h=0.01, t_end=0.05))


def test_a_drive_between_free_bodies_keeps_both_momenta():
    model = mechanisms.pair("Cylindrical", 3, ground=False, gravity=False).model(project=False)
    drive(model, 1)
    model.project_velocities()
    result = ps.simulate(model, h=0.01, t_end=2.0)
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-12
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-12
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


# -- as a port-Hamiltonian system ------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_a_driven_system_proves_its_structure(coordinates):
    system = slider_crank(coordinate="20*t").compile(coordinates)
    assert max(vars(system.defects(system.start)).values()) < 1e-12
    port = system.port("drive")
    assert (port.input, port.u_unit, port.y_unit) == ("flow", "rad/s", "N m")
    # The rate enters the row of the multiplier, and the output is the force.
    assert system.B(system.start)[-1, 0] == -1


# -- starts ----------------------------------------------------------------------------------------


def pendulum(drive=None, **velocities):
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body(
        "bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0), **velocities
    )
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("crank", drive or ps.Drive("hinge", "3*t"))
    return model


def test_velocities_that_are_left_out_follow_the_drive():
    velocity, spin = pendulum().start_velocities()["bar"]
    assert np.allclose(velocity, (0, 0, -1.5), atol=1e-14)
    assert np.allclose(spin, (0, 3, 0), atol=1e-14)


def test_a_velocity_that_contradicts_is_refused_with_the_one_that_is_needed():
    with pytest.raises(ps.InconsistentStartError) as refused:
        pendulum(angular_velocity=(0, 1, 0)).check()
    assert "port 'crank'" in str(refused.value)
    assert "rate of 3" in str(refused.value)
    assert "velocity (0, 0, -1.5) and angular_velocity (0, 3, 0)" in str(refused.value)


def test_check_counts_drives():
    check = pendulum().check()
    assert (check.drives, check.freedoms) == (1, 0)
    assert "drives              1" in str(check)


def test_a_motion_that_begins_elsewhere_is_refused():
    with pytest.raises(ps.InconsistentStartError, match=r"at 0\.3 rad at t = 0 s"):
        ps.simulate(pendulum(ps.Drive("hinge", "0.3 + t")), h=0.01, t_end=1)


def test_a_run_goes_on_where_another_one_ended():
    model = pendulum(ps.Drive("hinge", "9*t"))
    system = model.compile()
    first = ps.simulate(model, h=0.01, t_end=1)
    x = np.concatenate([state.values[-1] for state in first.states.values()])
    x = ps.ph.consistent_state(system, x, 1.0)
    with pytest.raises(ps.InconsistentStartError, match="whole turns away"):
        ps.simulate(model, h=0.01, t_start=1, t_end=2, x0=x)
    result = ps.simulate(model, h=0.01, t_start=1, t_end=2, x0=x, angles={"hinge.angle": 9.0})
    assert abs(result.joint("hinge").coordinates["angle"] - 9 * result.time).max() < 1e-12


# -- what is refused -------------------------------------------------------------------------------


def test_a_coordinate_that_is_determined_already_cannot_be_driven():
    model = slider_crank(coordinate="20*t")
    model.add_port("push", ps.Drive("D", "t"))
    with pytest.raises(ps.InputError, match="determine already, at the start: 'push'"):
        model.check()
    with pytest.raises(ps.InputError, match="determine already"):
        model.compile()


@pytest.mark.parametrize(
    ("drive", "message"),
    [
        (lambda: ps.Drive("hinge"), "give the coordinate or its rate over time"),
        (lambda: ps.Drive("hinge", "3*x"), "x"),
        (lambda: ps.Drive("hinge", [1, 2]), "expected a number"),
        (lambda: ps.Drive("hinge", float("nan")), "finite"),
        (lambda: ps.Drive("hinge", ps.Formula(["t", "t"])), "one formula of t"),
        (lambda: ps.Drive("hinge", ps.Table([0, 1], [[0, 0], [1, 1]])), "one number at each"),
        (lambda: ps.Drive("axle", "t"), "no joint 'axle'"),
        (lambda: ps.Drive("hinge", "t", "displacement"), "no coordinate 'displacement'"),
        (lambda: ps.Drive("hinge", lambda t: (t, t)), "one number at each time"),
        (
            lambda: ps.Drive("hinge", rate=lambda t: float("inf")),
            "rate of its motion is not finite: inf",
        ),
    ],
)
def test_what_is_no_motion_is_refused(drive, message):
    with pytest.raises(ps.InputError, match=message):
        pendulum(drive())


def test_a_joint_without_a_coordinate_cannot_be_driven():
    model = pendulum()
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(1, 0, 0))
    model.add_joint("pin", ps.Spherical(model.bodies["bar"], ball, point=(1, 0, 0)))
    with pytest.raises(ps.InputError, match="no coordinate"):
        model.add_port("wrist", ps.Drive("pin", "t"))


@pytest.mark.parametrize("scheme", ["ph-mp-ggl", "ph-dg", "mpl", "mph"])
def test_schemes_that_do_not_keep_drives_say_so(scheme):
    with pytest.raises(ps.PoinsotError, match="does not support drives"):
        ps.simulate(pendulum(), scheme=scheme, h=0.01, t_end=0.1)


def test_a_drive_is_neither_fed_nor_joined():
    with pytest.raises(ps.InputError, match="drive with a prescribed motion"):
        ps.simulate(pendulum(), h=0.01, t_end=0.1, inputs={"crank": 3.0})
    with pytest.raises(ps.InputError, match="'crank' is a drive with a prescribed motion"):
        ps.ph.swap(pendulum().compile(), "crank")


def test_no_equilibrium_is_looked_for_where_a_drive_moves():
    with pytest.raises(ps.InputError, match="not available with drives"):
        pendulum().equilibrium()


@pytest.mark.parametrize("engine", ENGINES)
def test_half_a_turn_in_a_step_is_taken_in_smaller_ones(engine):
    options = {"h": 0.01, "t_end": 0.1, "engine": engine}
    whole, model = ps.Newton(halvings=0), pendulum(ps.Drive("hinge", "400*t"))
    with pytest.raises(ps.SimulationError, match="4 rad in one step, half a turn or more"):
        ps.simulate(model, newton=whole, **options)
    result = ps.simulate(model, **options)
    assert result.stats.split_steps == 10
    assert result.joint("hinge").coordinates["angle"][-1] == pytest.approx(40.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_motion_that_fails_on_the_way_is_named_with_the_time(engine):
    motion = ps.Drive("hinge", lambda t: t if t < 0.5 else float("nan"), rate=1.0)
    with pytest.raises(ps.SimulationError, match=r"port 'crank'.*t = 0.495 s") as failed:
        ps.simulate(pendulum(motion), h=0.01, t_end=1, engine=engine)
    assert failed.value.result.time[-1] == pytest.approx(0.49)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "motion",
    [
        {"coordinate": "3*t"},
        {"coordinate": ps.Table([0, 1], [0, 2])},
        {"rate": 2.0},
        {"rate": "3*cos(t)", "freedom": "angle"},
    ],
)
def test_a_drive_is_written_to_a_model_file_and_read_back(motion, tmp_path):
    model = pendulum(ps.Drive("hinge", **motion))
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    one, other = (ps.simulate(m, h=0.01, t_end=0.2) for m in (model, again))
    assert np.array_equal(one.port("crank").y, other.port("crank").y)
    one.save(tmp_path / "run.nc")
    loaded = ps.load(tmp_path / "run.nc").port("crank")
    assert np.array_equal(loaded.y, one.port("crank").y)
    assert (loaded.u_unit, loaded.y_unit) == ("rad/s", "N m")
