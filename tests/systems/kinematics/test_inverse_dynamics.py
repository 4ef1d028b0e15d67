"""Torques of a given motion: closed forms, power balances, runs with drives and with torques."""

import numpy as np
import pytest
from arms import G, four_bar, two_link_arm, two_link_torques
from scipy.interpolate import make_interp_spline

import poinsot as ps

TIMES = np.linspace(0.1, 2.0, 11)
#: Angles over time, with rate and acceleration.
SHOULDER = (
    lambda t: 0.5 * np.sin(2 * t),
    lambda t: np.cos(2 * t),
    lambda t: -2 * np.sin(2 * t),
)
ELBOW = (
    lambda t: 4 * (1 - np.cos(3 * t)),
    lambda t: 12 * np.sin(3 * t),
    lambda t: 36 * np.cos(3 * t),
)
FINE = np.linspace(-0.5, 2.5, 3001)
MOTIONS = {
    "formula": ("0.5*sin(2*t)", ps.Formula("4*(1 - cos(3*t))"), 1e-12),
    "three functions": (SHOULDER, ELBOW, 1e-12),
    "function": (SHOULDER[0], ELBOW[0], 1e-7),
    "table": (ps.Table(FINE, SHOULDER[0](FINE)), ps.Table(FINE, ELBOW[0](FINE)), 1e-5),
}


def crank(model, **options):
    """What the crank of a four-bar takes that speeds up over several turns."""
    return model.inverse_dynamics({"hinge 0": "0.4*t + 2*t**2"}, **options)


# -- closed forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MOTIONS)
def test_the_torques_of_a_two_link_arm_are_those_of_the_textbook(kind):
    shoulder, elbow, tolerance = MOTIONS[kind]
    motion = {"shoulder": shoulder, "elbow": elbow}
    found = two_link_arm().inverse_dynamics(motion, times=TIMES)
    q, rate, bend = np.array([[f(TIMES) for f in SHOULDER], [f(TIMES) for f in ELBOW]]).swapaxes(
        0, 1
    )
    exact = two_link_torques(q, rate, bend)
    for name, torque in zip(("shoulder", "elbow"), exact, strict=True):
        assert abs(found.force(name) - torque).max() < tolerance * abs(exact).max()
    assert abs(found.joint("elbow").coordinates["angle"] - q[1]).max() < 1e-9
    assert abs(found.joint("elbow").coordinates["angle"]).max() > 2 * np.pi
    assert abs(found.joint("elbow").rates["angle"] - rate[1]).max() < max(1e-10, tolerance)
    assert found.unique


def test_reactions_carry_weight_and_inertia_of_all_that_is_above():
    """The force on the shoulder is the change of the momentum of the arm, less its weight."""
    times = np.linspace(0, 0.3, 61)
    motion = {"shoulder": SHOULDER, "elbow": ELBOW}
    found = two_link_arm().inverse_dynamics(motion, times=times)
    p = 3.0 * found.velocity("upper") + 2.0 * found.velocity("lower")
    change = make_interp_spline(times, p, k=7).derivative()(times)
    force = found.reaction("shoulder").force
    inside = slice(10, -10)
    assert force[inside] == pytest.approx(
        (change + np.array((0, 0, 5 * G)))[inside], rel=1e-7, abs=1e-6
    )
    assert found.reaction("shoulder").torque[:, 1] == pytest.approx(0, abs=1e-10)


def test_a_gear_passes_its_load_on_with_its_efficiency_and_its_rotor():
    """tau = J n theta'' + (I theta'' + m g a cos theta) / (n eta) where the motor drives."""
    model = ps.Model(gravity=(0, 0, -G))
    arm = model.add_body("arm", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    rotor = model.add_body("rotor", ps.RigidBody(mass=1.0, inertia=(0.01,) * 3))
    for name, body in (("joint", arm), ("shaft", rotor)):
        model.add_joint(name, ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, -1, 0)))
    gear = ps.Gear("shaft", "joint", ratio=50.0, efficiency=0.8, slip=1e-9)
    model.add_transmission("gear", gear)
    times = np.array([0.2, 0.5, 0.7])
    found = model.inverse_dynamics({"joint": "0.8*t + 0.5*t**2"}, times=times, by=["shaft"])
    theta = 0.8 * times + 0.5 * times**2
    load = (2 * (1 + 0.01) / 12 + 0.5) * 1.0 + 2 * G * 0.5 * np.cos(theta)
    assert found.force("shaft") == pytest.approx(0.01 * 50 + load / (50 * 0.8), rel=1e-9)
    assert found.force("gear") == pytest.approx(-load / (50 * 0.8), rel=1e-9)
    assert found.joint("shaft").coordinates["angle"] == pytest.approx(50 * theta, rel=1e-12)
    with pytest.raises(ps.InputError, match="'shaft', of which 1 are independent"):
        model.inverse_dynamics({"joint": "t", "shaft": "50*t"}, times=times)


# -- loops and repeated constraints ------------------------------------------------------------


def test_the_power_of_a_crank_is_what_energy_gains_and_dampers_lose():
    times = np.linspace(1.0, 1.2, 61)
    oil = ps.JointFriction("hinge 3", viscous=0.3)
    found = crank(four_bar(oil=oil), times=times)
    H = np.array([found.system.H(x) for x in found.states])
    gained = make_interp_spline(times, H, k=7).derivative()(times)
    lost = 0.3 * found.joint("hinge 3").rates["angle"] ** 2
    inside = slice(10, -10)
    assert found.power("hinge 0")[inside] == pytest.approx((gained + lost)[inside], abs=1e-6)
    assert not found.joint("hinge 0").complete


def test_whichever_joint_acts_puts_the_same_power_in():
    model, times = four_bar(), np.linspace(0, 1.5, 16)
    by = [["hinge 0"], ["hinge 3"], ["hinge 0", "hinge 3"]]
    one, other, both = (crank(model, times=times, by=names) for names in by)
    power = one.power("hinge 0")
    assert other.power("hinge 3") == pytest.approx(power, abs=1e-9)
    assert both.power("hinge 0") + both.power("hinge 3") == pytest.approx(power, abs=1e-9)
    assert one.unique
    assert not both.unique
    assert np.all(abs(both.force("hinge 0")) <= abs(one.force("hinge 0")) + 1e-9)


def test_a_drive_exerts_the_same_torque_in_a_run_and_joints_the_same_reactions():
    model = four_bar()
    model.add_port("motor", ps.Drive("hinge 0", "0.4*t + 2*t**2"))
    run = ps.simulate(model, h=0.001, t_end=0.8)
    found = model.inverse_dynamics({}, times=run.time[100:-1:100])
    # Multipliers of the midpoint rule alternate about their means by as much as h.
    torque = (run.port("motor").y[:-1] + run.port("motor").y[1:])[99::100, 0] / 2
    assert found.force("motor") == pytest.approx(torque, abs=2e-4)
    pulls = run.reaction("hinge 2").force
    means = (pulls[:-1] + pulls[1:])[99::100] / 2
    assert found.reaction("hinge 2").force == pytest.approx(means, abs=2e-4)


def test_torques_fed_back_into_a_run_make_the_motion():
    motion = {"shoulder": "0.6*(1 - cos(2*t))", "elbow": "1 - cos(3*t)"}
    arm = two_link_arm(a=ps.JointPort("shoulder"), b=ps.JointPort("elbow"))
    errors = []
    for h in (0.01, 0.005):
        middles = np.arange(h / 2, 1.0, h)
        found = arm.inverse_dynamics(motion, times=middles, by=["a", "b"])
        inputs = {name: found.signal(name) for name in ("a", "b")}
        run = ps.simulate(arm, h=h, t_end=1.0, inputs=inputs)
        reached = [run.joint(name).coordinates["angle"] for name in ("shoulder", "elbow")]
        wanted = 0.6 * (1 - np.cos(2 * run.time)), 1 - np.cos(3 * run.time)
        errors.append(abs(np.array(reached) - wanted).max())
    assert errors[1] < 5e-4
    assert errors[0] / errors[1] > 3.5


# -- refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motion", "options", "message"),
    [
        ({"shoulder": "t"}, {}, r"leave 2 degrees.*'lower' may move.*such as 'elbow'"),
        ({"shoulder": "t", "elbow": 0, "wrist": 0}, {}, "no port or joint 'wrist'"),
        ({"shoulder": "t", "elbow": lambda t: [t, t]}, {}, "'elbow': its motion is"),
        ({"shoulder": "t", "elbow": np.nan}, {}, "'elbow': nan is not finite"),
        ({"shoulder": "t", "elbow": "t"}, {"by": ["shoulder"]}, "no force balances.*'lower'"),
        (
            {"shoulder": "t", "elbow": "t"},
            {"by": ["fed", "elbow"]},
            "port 'fed' has an input already; leave out its value",
        ),
        ([1, 2], {}, "by the names of joints"),
    ],
)
def test_motions_that_say_too_little_or_too_much_are_refused(motion, options, message):
    arm = two_link_arm(fed=ps.JointPort("shoulder", value=1.0))
    with pytest.raises(ps.InputError, match=message):
        arm.inverse_dynamics(motion, times=[0.0, 1.0], **options)


def test_a_motion_that_a_loop_does_not_allow_is_refused():
    times = np.linspace(0, 3, 31)
    with pytest.raises(ps.InputError, match=r"of which 1 are independent; .* 1 degrees"):
        four_bar().inverse_dynamics({"hinge 0": "t", "hinge 3": "t"}, times=times)
    with pytest.raises(
        ps.InputError, match=r"'hinge 3' = .* exceeds the range of a loop of joints"
    ):
        four_bar().inverse_dynamics({"hinge 3": "3*t"}, times=times)


def test_a_coordinate_that_is_held_cannot_be_prescribed():
    model = four_bar()
    model.add_port("brake", ps.Drive("hinge 0", 0.0))
    with pytest.raises(ps.InputError, match="'hinge 3' cannot move"):
        model.inverse_dynamics({"hinge 3": 0.0}, times=[0.0])
