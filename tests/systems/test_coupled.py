"""Systems joined to mechanisms: one exact balance, all names, both engines, every formulation."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot import ph

#: Coordinates and schemes; each runs in both engines.
FORMS = [
    ("directors", "ph-mp"),
    ("directors", "ph-mp-ggl"),
    ("rotations", "ph-mp"),
    ("quaternions", "emh-mean"),
    ("quaternions", "eml"),
]

ENGINES = ("reference", "compiled")


def motor(resistance=1.2, inductance=2e-3):
    """Return the circuit of a DC motor."""
    return ph.linear(
        "circuit",
        states=[ph.State("flux", unit="Wb")],
        J=[[0.0]],
        R=[[resistance]],
        Q=[[1 / inductance]],
        B=[[1.0, 1.0]],
        ports=[ph.Port("supply", 1, "V", "A"), ph.Port("coil", 1, "V", "A")],
    )


def arm():
    """Return a double pendulum on hinges."""
    model = ps.Model(gravity=(0, 0, -9.81), name="arm")
    shape = ps.Box(mass=2, size=(1, 0.1, 0.1))
    upper = model.add_body("upper", shape, position=(0.5, 0, 0))
    lower = model.add_body("lower", shape, position=(1.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("B", ps.Revolute(upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    return model


def with_motors(model=None):
    """Return the arm with a motor on each hinge."""
    model = arm() if model is None else model
    for joint, k in (("A", 0.5), ("B", 0.3)):
        model.add_system(f"motor {joint}", motor())
        model.connect(ph.Gyrator(joint, f"motor {joint}.coil", C=-k, unit="N m/A"))
    return model


def run(model, coordinates="directors", scheme="ph-mp", engine="compiled", **options):
    given = {"h": 2e-3, "t_end": 0.1} | options
    return ps.simulate(model, coordinates=coordinates, scheme=scheme, engine=engine, **given)


def same_states(one, other, tolerance):
    """Compare all states, to a part of their size."""
    assert set(one.states) == set(other.states)
    for name in one.states:
        size = 1 + abs(other[name]).max()
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=tolerance * size)


# -- kinds of networks -----------------------------------------------------------------------------


def with_pendulum():
    """Return the arm with a system whose energy is not quadratic on its second hinge."""
    model, (q, p) = arm(), sympy.symbols("q p")
    system = ph.symbolic(
        "swing",
        states={"q": q, "p": p},
        H=p**2 / 0.6 + 20 * (1 - sympy.cos(q)),
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, 0.05]],
        B=[[0], [1]],
        ports=[ph.Port("shaft", 1, "N m", "rad/s")],
    )
    model.add_system("swing", system)
    model.connect(ph.Transformer("B", "swing.shaft"))
    return model


def with_spring_in_space():
    """Return the arm with a spring of its own states at its tip, in all three directions."""
    model = arm()
    spring = ph.linear(
        "spring",
        states=[ph.State("x", 3, "m")],
        J=np.zeros((3, 3)),
        Q=100 * np.eye(3),
        B=np.eye(3),
        ports=[ph.Port("end", 3, "m/s", "N")],
    )
    model.add_port("tip", ps.ForcePort(model.body("lower"), point=(2, 0, 0)))
    model.add_system("spring", spring)
    model.connect(ph.Gyrator("tip", "spring.end"))
    return model


def with_coupling():
    """Return the arm with a spring that couples both hinges."""
    model = arm()
    spring = ph.linear(
        "spring",
        states=[ph.State("x", 2)],
        J=np.zeros((2, 2)),
        Q=[[30.0, 7.0], [7.0, 20.0]],
        B=np.eye(2),
        ports=[ph.Port("a", 1, "rad/s", "N m"), ph.Port("b", 1, "rad/s", "N m")],
    )
    model.add_system("spring", spring)
    model.connect(ph.Gyrator("A", "spring.a"))
    model.connect(ph.Gyrator("B", "spring.b"))
    return model


def with_resistors():
    """Return the arm with a linear and a nonlinear resistor on its hinges."""
    model = arm()
    model.connect(ph.Resistor("B", 0.3))
    model.connect(ph.Resistor("A", law=lambda y: 0.1 * y**3, dlaw=lambda y: np.diag(0.3 * y**2)))
    return model


NETWORKS = [with_motors, with_pendulum, with_spring_in_space, with_coupling, with_resistors]


@pytest.mark.parametrize("build", NETWORKS, ids=lambda build: build.__name__)
def test_both_engines_take_the_same_steps_with_an_exact_balance(build):
    reference, compiled = run(build(), engine="reference"), run(build())
    for result in (reference, compiled):
        assert result.status == "done"
        assert result.stats.single_steps == 0
        scale = abs(result.energy).max() + result.dissipated[-1] + 1
        assert result.stats.balance_error_max < 1e-13 * scale
    same_states(compiled, reference, 1e-9)
    for name in reference.ports:
        one, other = reference.port(name), compiled.port(name)
        np.testing.assert_allclose(one.energy, other.energy, rtol=0, atol=1e-10)
        np.testing.assert_allclose(one.u, other.u, rtol=0, atol=1e-7 * (1 + abs(one.u).max()))


@pytest.mark.parametrize(("coordinates", "scheme"), FORMS)
def test_every_formulation_keeps_the_balance_in_both_engines(coordinates, scheme):
    results = [run(with_motors(), coordinates, scheme, engine) for engine in ENGINES]
    for result in results:
        assert result.stats.balance_error_max < 1e-13
    one, other = (result.position("lower") for result in results)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_random_passive_networks_keep_the_balance(seed):
    random = np.random.default_rng(seed)
    n, model = int(random.integers(1, 4)), arm()
    L, A, D = random.standard_normal((3, n, n))
    B = random.standard_normal((n, 3))
    system = ph.linear(
        "s",
        states=[ph.State("x", n)],
        J=A - A.T,
        R=D @ D.T,
        Q=L @ L.T + 0.1 * np.eye(n),
        B=B,
        ports=[ph.Port("a"), ph.Port("b"), ph.Port("free")],
    )
    model.add_system("s", system)
    kinds = [ph.Gyrator, ph.Transformer] if n > 1 else [ph.Gyrator]
    kind = kinds[int(random.integers(len(kinds)))]
    model.connect(kind("A", "s.a", C=random.uniform(0.5, 2)))
    if n > 2 or kind is ph.Gyrator:
        model.connect(kind("B", "s.b", C=random.uniform(0.5, 2)))
    results = [
        run(model, engine=engine, t_end=0.01, inputs={"s.free": lambda t: np.sin(30 * t)})
        for engine in ENGINES
    ]
    for result in results:
        scale = 1 + abs(result.energy).max() + abs(result.port("s.free").energy).max()
        assert result.stats.balance_error_max < 1e-12 * scale
    np.testing.assert_allclose(*(r.position("lower") for r in results), rtol=0, atol=1e-9)


# -- the same as other ways of saying it -----------------------------------------------------------


def test_a_model_with_systems_is_the_interconnection_of_its_parts():
    model, plain = with_motors(), arm()
    for joint in "AB":
        plain.add_port(joint.lower(), ps.JointPort(joint))
    outside = ph.interconnect(
        plain.compile(),
        *(motor().prefixed(f"motor {joint}") for joint in "AB"),
        connections=[
            ph.Gyrator("a", "motor A.coil", C=-0.5, unit="N m/A"),
            ph.Gyrator("b", "motor B.coil", C=-0.3, unit="N m/A"),
        ],
    )
    one = run(model, inputs={"motor A.supply": 6.0})
    other = ps.simulate(outside, h=2e-3, t_end=0.1, inputs={"motor A.supply": 6.0})
    assert other.scheme == "ph-mp"
    assert other.engine == "compiled"
    same_states(one, other, 1e-13)


def test_a_spring_as_a_system_is_a_spring_of_the_model():
    model, plain = arm(), arm()
    spring = ph.linear(
        "spring", states=["angle"], J=[[0]], Q=[[40.0]], B=[[1]], ports=[ph.Port("end", 1)]
    )
    model.add_system("spring", spring)
    model.connect(ph.Gyrator("B", "spring.end"))
    plain.add_force("spring", ps.JointSpring("B", stiffness=40.0))
    one, other = (run(m, h=1e-3, t_end=0.3) for m in (model, plain))
    # The rate at midpoints is that of the angle up to h^2.
    np.testing.assert_allclose(one.position("lower"), other.position("lower"), rtol=0, atol=2e-6)


def test_a_rotor_behind_a_gear_adds_its_inertia_times_the_ratio_squared():
    inertia, ratio, torque = 0.02, 5.0, 3.0
    model = ps.Model()
    wheel = model.add_body("wheel", ps.Cylinder(mass=2, radius=0.3, length=0.1))
    model.add_joint("axle", ps.Revolute(model.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    rotor = ph.linear(
        "rotor",
        states=["p"],
        J=[[0]],
        Q=[[1 / inertia]],
        B=[[1, 1]],
        ports=[ph.Port("shaft", 1, "N m", "rad/s"), ph.Port("motor", 1, "N m", "rad/s")],
    )
    model.add_system("rotor", rotor)
    model.connect(ph.Transformer("rotor.shaft", "axle", C=1 / ratio))
    result = run(model, h=1e-2, t_end=1.0, inputs={"rotor.motor": torque})
    assert result.engine == "compiled"
    about_axle = 0.5 * 2 * 0.3**2
    rate = abs(ratio * torque / (about_axle + ratio**2 * inertia))
    np.testing.assert_allclose(abs(result.angular_velocity("wheel")[-1, 2]), rate, rtol=1e-6)


def test_motors_drive_the_arm_as_the_equations_of_circuit_and_arm_say():
    inertia = 2 * (1 + 0.1**2) / 12 + 2 * 0.5**2
    R, L, k, U, weight = 1.2, 2e-3, 0.5, 12.0, 2 * 9.81 * 0.5
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=2, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_system("motor", motor(R, L))
    model.connect(ph.Gyrator("A", "motor.coil", C=k, unit="N m/A"))

    def rates(t, x):
        angle, rate, current = x
        return (
            rate,
            (weight * np.cos(angle) - k * current) / inertia,
            (k * rate - R * current + U) / L,
        )

    exact = solve_ivp(rates, (0, 0.5), [0, 0, 0], method="Radau", rtol=1e-10, atol=1e-12).y[:, -1]

    def at(h):
        result = run(model, h=h, t_end=0.5, inputs={"motor.supply": U})
        return np.array([result.joint("A").coordinates["angle"][-1], result["motor.flux"][-1] / L])

    errors = [abs(at(h) - exact[[0, 2]]).max() for h in (2e-3, 1e-3)]
    assert errors[1] < 2e-5
    assert 3.5 < errors[0] / errors[1] < 4.5


# -- names, files ----------------------------------------------------------------------------------


def test_a_coupled_model_shows_what_a_plain_one_shows(tmp_path):
    result = run(with_motors(), output=tmp_path / "run.nc", inputs={"motor A.supply": 6.0})
    loaded = ps.load(tmp_path / "run.nc")
    plain = run(arm())
    for each in (result, loaded):
        assert {"upper", "lower"} <= set(each.observation.bodies)
        assert each.reaction("A").force.shape == plain.reaction("A").force.shape
        assert each.joint("B").coordinates["angle"].shape == each.time.shape
        assert each.port("motor A.coil").connected
        assert each.observation.energies["motor A"][-1] == pytest.approx(
            result["motor A.flux"][-1] ** 2 / 2 / 2e-3
        )
    assert result.constraint_error.max() < 1e-13
    power = result.port("motor A.coil").energy + result.port("A").energy
    assert abs(power).max() < 1e-13


def test_members_of_the_same_names_get_prefixes():
    left, right = (arm().compile().prefixed(side) for side in ("left", "right"))
    both = ph.interconnect(left, right, connections=[])
    result = ps.simulate(both, scheme="ph-mp", h=1e-2, t_end=0.02)
    assert set(result.observation.bodies) == {
        f"{side}.{body}" for side in ("left", "right") for body in ("upper", "lower")
    }
    np.testing.assert_array_equal(result.position("left.lower"), result.position("right.lower"))
    assert result.joint("left.A").name == "left.A"


def test_results_do_not_depend_on_what_is_saved_nor_on_the_last_step():
    model = with_motors()
    every, few = (run(model, t_end=0.0971, save_every=k) for k in (1, 7))
    for name in every.states:
        np.testing.assert_array_equal(every[name][-1], few[name][-1])
    assert every.time[-1] == 0.0971


def test_files_hold_linear_systems_and_connections():
    model = with_motors()
    model.connect(ph.Resistor("motor A.supply", 2.0))
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    given = {"motor B.supply": ps.Formula("6*sin(t)")}
    one, other = (run(each, inputs=given) for each in (model, again))
    same_states(one, other, 0.0)
    written = ps.Model.from_yaml_text(one.document)
    same_states(run(written), one, 0.0)
    with pytest.raises(
        ps.InputError, match="a SymbolicSystem cannot be represented in a model file"
    ):
        with_pendulum().to_yaml()


# -- bad input -------------------------------------------------------------------------------------


def test_bad_connections_are_refused_by_name():
    model = with_motors()
    with pytest.raises(ps.InputError, match="port 'A' is connected twice"):
        model.connect(ph.Resistor("A", 1.0))
    with pytest.raises(ps.InputError, match=r"no port 'motor A\.suply'; did you mean"):
        model.connect(ph.Resistor("motor A.suply", 1.0))  # codespell:ignore
    with pytest.raises(ps.InputError, match="name 'upper' is taken"):
        model.add_system("upper", motor())
    with pytest.raises(ps.InputError, match="expected a port-Hamiltonian system"):
        model.add_system("m", "motor")
    with pytest.raises(ps.InputError, match="expected a connection"):
        model.connect("A")
    fresh = arm()
    fresh.add_system("motor", motor())
    with pytest.raises(ps.InputError, match="if C is right, give its unit by unit"):
        fresh.connect(ph.Gyrator("A", "motor.coil", C=0.5))


def test_a_rigid_connection_to_a_driven_mechanism_is_refused():
    model = arm()
    model.add_port("turn", ps.Drive("A", lambda t: 0.0))
    model.connect(ph.Swap("B"))
    with pytest.raises(ps.SimulationError, match="drive 'turn'"):
        run(model, engine="reference")
