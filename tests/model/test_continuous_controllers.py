"""Controllers in continuous time: part of the step, exact in energy, of second order."""

import numba
import numpy as np
import pytest
import scipy.signal
import sympy
from cranes import crane
from scipy.integrate import solve_ivp

import poinsot as ps

ENGINES = ("reference", "compiled")
MASS, LENGTH, GRAVITY = 1.5, 0.8, 9.81
KP, KD, KI, GOAL = 30.0, 4.0, 25.0, 2.0
#: About the pin: a bar with a square cross-section of 0.1 m.
INERTIA = MASS * (LENGTH**2 + 0.1**2) / 12 + MASS * LENGTH**2 / 4


def pendulum(law, **options) -> ps.Model:
    """Return a bar that hangs from a pin and is pushed; it starts with 1 rad/s."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    bar = model.add_body(
        "bar",
        ps.Box(mass=MASS, size=(0.1, 0.1, LENGTH)),
        position=(0, 0, -LENGTH / 2),
        angular_velocity=(0, 1, 0),
    )
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    given = {"reads": ["pin", "pin.rate"], "drives": ["pin"]}
    model.add_controller("pd", law, **given | options)
    return model


def pd(t, y):
    return KP * (GOAL * np.sin(t) - y[0]) - KD * y[1]


PD_TEXT = f"{KP}*({GOAL}*sin(t) - pin) - {KD}*pin_rate"


def reference(torque, states=(), t_end=1.0):
    """Return angle and rate from SciPy: J chi'' = -m g l/2 sin(chi) + u, with x' of the law."""

    def rates(t, z):
        u, dx = torque(t, z[:2], z[2:])
        return [z[1], (u - MASS * GRAVITY * LENGTH / 2 * np.sin(z[0])) / INERTIA, *dx]

    start = [0.0, 1.0, *states]
    found = solve_ivp(rates, (0, t_end), start, "DOP853", rtol=1e-12, atol=1e-13)
    return found.y[:, -1]


def end(model, h, t_end=1.0, **options):
    result = ps.simulate(model, h=h, t_end=t_end, **options)
    assert result.stats.balance_error_max < 1e-12
    pin = result.joint("pin")
    return np.array([pin.coordinates["angle"][-1], pin.rates["angle"][-1]])


# -- order and engines -----------------------------------------------------------------------------


FORMS = [
    {"engine": "compiled"},
    {"engine": "compiled", "scheme": "ph-mp-ggl"},
    {"engine": "compiled", "coordinates": "quaternions"},
    {"engine": "reference", "coordinates": "rotations"},
]


@pytest.mark.parametrize("options", FORMS)
def test_a_pd_controlled_pendulum_converges_with_second_order_to_scipy(options):
    exact = reference(lambda t, y, x: (pd(t, y), ()))
    errors = [abs(end(pendulum(PD_TEXT), h, **options) - exact).max() for h in (0.02, 0.01)]
    assert 3.7 < errors[0] / errors[1] < 4.3
    assert errors[1] < 2e-3


def test_all_kinds_of_laws_give_the_same_motion_in_both_engines():
    pin, rate, t = sympy.symbols("pin pin_rate t")
    symbols = KP * (GOAL * sympy.sin(t) - pin) - KD * rate
    expected = end(pendulum(pd), 0.01, t_end=0.2, engine="reference")
    for law in (pd, numba.njit(pd), PD_TEXT, symbols):
        found = end(pendulum(law), 0.01, t_end=0.2, engine="compiled")
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def pid(t, y, x):
    error = GOAL - y[0]
    return KP * error + KI * x[0] - KD * y[1], [error - 0.1 * x[0]]


#: The same about the goal: u = C x + D y, with y the angle less the goal, and its rate.
PID = scipy.signal.StateSpace([[-0.1]], [[-1.0, 0.0]], [[KI]], [[-KP, -KD]])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_controller_with_states_converges_with_second_order_to_scipy(engine):
    exact = reference(pid, [0.3])
    texts = [f"{KP}*({GOAL} - pin) + {KI}*sum - {KD}*pin_rate", f"{GOAL} - pin - 0.1*sum"]
    errors = []
    for h in (0.02, 0.01):
        model = pendulum(texts, states={"sum": 0.3})
        result = ps.simulate(model, h=h, t_end=1.0, engine=engine)
        found = np.array([result.joint("pin").coordinates["angle"][-1], result["pd.sum"][-1]])
        errors.append(abs(found - exact[[0, 2]]).max())
    assert 3.7 < errors[0] / errors[1] < 4.3
    by_function = end(pendulum(pid, states=[0.3]), 0.01, t_end=0.1, engine=engine)
    by_text = end(pendulum(texts, states={"sum": 0.3}), 0.01, t_end=0.1, engine=engine)
    np.testing.assert_allclose(by_function, by_text, rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_space_is_a_law_by_matrices(engine):
    exact = reference(lambda t, y, x: (PID.C[0] @ x + PID.D[0] @ y, PID.A @ x + PID.B @ y), [0.3])
    found = [end(pendulum(PID, states=[0.3]), h, engine=engine) for h in (0.02, 0.01)]
    errors = [abs(each - exact[:2]).max() for each in found]
    assert 3.7 < errors[0] / errors[1] < 4.3


# -- energy ----------------------------------------------------------------------------------------


def test_a_spring_by_formula_keeps_energy_as_work_of_its_port():
    result = ps.simulate(pendulum("-50*pin", reads=["pin"]), h=0.01, t_end=5, engine="compiled")
    chi = result.joint("pin").coordinates["angle"]
    work = result.port("pin").energy
    np.testing.assert_allclose(work, result.energy - result.energy[0], rtol=0, atol=1e-12)
    assert abs(work + 25 * chi**2).max() < 2e-2 * work.max() + 2e-2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_system_as_a_law_is_the_same_as_one_that_is_connected(engine):
    spring = ps.ph.linear(
        "spring",
        states=["x"],
        J=[[0.0]],
        R=[[0.02]],
        Q=[[50.0]],
        B=[[1.0]],
        ports=[ps.ph.Port("end", 1, "N m", "rad/s", input="flow")],
    )
    by_law = pendulum(spring, reads=["pin.rate"])
    joined = pendulum(spring, reads=["pin.rate"])
    del joined.controllers["pd"]
    joined.add_system("spring", spring)
    joined.connect(ps.ph.Gyrator("pin", "spring.end"))
    a, b = (end(model, 0.01, engine=engine) for model in (by_law, joined))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


# -- everything that can be read -------------------------------------------------------------------


READS = [
    *("rail", "rail.rate", "pin.angle", "pin.rate", "tip.position", "tip.velocity"),
    *("rod.rotation", "rod.angular_velocity", "motor.flux"),
]


def everything(t, y):
    R = y[10:19].reshape(3, 3)
    assert abs(R.T @ R - np.eye(3)).max() < 1e-7  # slopes are found by differences
    wind = -0.5 * y[7:10] + 2 * R[:, 0] - 0.3 * y[19:22] - [y[4], 0, y[6]]
    return [5 * np.sin(5 * t) - 3 * y[22] - y[3], -3 * y[0] - y[1] + 2 * y[2], *wind]


@pytest.mark.parametrize("options", [{}, {"scheme": "ph-mp-ggl"}, {"coordinates": "quaternions"}])
def test_both_engines_agree_whatever_is_read_and_driven(options):
    runs = [
        ps.simulate(crane(everything, READS), h=5e-3, t_end=0.05, engine=engine, **options)
        for engine in ENGINES
    ]
    for run in runs:
        assert run.stats.balance_error_max < 1e-12
    for name in ("cart", "rod"):
        np.testing.assert_allclose(runs[1].position(name), runs[0].position(name), atol=1e-11)
    np.testing.assert_allclose(runs[1]["motor.flux"], runs[0]["motor.flux"], rtol=0, atol=1e-11)
    for port in ("motor.supply", "rail", "wind"):
        np.testing.assert_allclose(runs[1].port(port).u, runs[0].port(port).u, atol=1e-9)


def test_sampling_ever_faster_is_continuous_control():
    def last(h, **options):
        run = ps.simulate(crane(everything, READS, **options), h=h, t_end=0.2)
        return np.array([*run.position("rod")[-1], run["motor.flux"][-1]])

    exact, h = last(2e-3), 1e-3
    errors = [abs(last(h, every=every) - exact).max() for every in (4e-3, 2e-3)]
    assert errors[0] < 5e-2
    assert 1.7 < errors[0] / errors[1] < 2.3


# -- what is wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("law", "why"),
    [
        (lambda t, y: np.nan if t > 0.05 else 0.0, "gives nan, expected 1 finite number"),
        (lambda t, y: [1, 2] if t > 0.05 else 0.0, "gives [1, 2], expected 1 finite number"),
        (lambda t, y: 1 / 0 if t > 0.05 else 0.0, "raised ZeroDivisionError: division by zero"),
        ("0*log(0.05 - t)", "gives [nan]"),
    ],
)
def test_a_law_that_fails_is_named_with_the_time_and_what_it_got(law, why, engine):
    with pytest.raises(ps.SimulationError) as raised:
        ps.simulate(pendulum(law), h=0.01, t_end=0.1, engine=engine)
    message = str(raised.value)
    assert f"controller 'pd': its law {why}" in message
    assert "at t = 0.055 s with y = [0.0544" in message


def gate(gain: str) -> ps.Model:
    """Return a pendulum with a resistor whose voltage a controller reads and feeds."""
    model = pendulum("0")
    system = ps.ph.linear(
        "gate",
        states=["v"],
        E=[[0.0]],
        J=[[0.0]],
        R=[[1.0]],
        Q=[[1.0]],
        B=[[1.0]],
        ports=[ps.ph.Port("in")],
    )
    model.add_system("gate", system)
    model.add_controller("echo", gain, reads=["gate.v"], drives=["gate.in"])
    return model


def test_an_algebraic_loop_is_solved_where_it_can_be_and_named_where_it_cannot():
    result = ps.simulate(gate("0.5*gate_v + 3"), h=0.01, t_end=0.02)
    assert result.port("gate.in").u[-1, 0] == pytest.approx(6.0, abs=1e-12)
    with pytest.raises(
        ps.PoinsotError, match="controllers 'echo': their channels depend on their own outputs"
    ):
        ps.simulate(gate("gate_v + 3"), h=0.01, t_end=0.02)


def test_a_controller_reads_states_of_another_one_by_name():
    model = pendulum(["-slow", "pin - slow"], states={"slow": 0.0}, reads=["pin"])
    model.add_port("tip", ps.TorquePort(model.bodies["bar"]))
    model.add_controller("other", ["0", "-pd_slow", "0"], reads=["pd.slow"], drives=["tip"])
    result = ps.simulate(model, h=0.01, t_end=0.1, engine="compiled")
    middle = (result["pd.slow"][1:] + result["pd.slow"][:-1]) / 2
    np.testing.assert_allclose(result.port("tip").u[:, 1], -middle, rtol=0, atol=1e-12)
    with pytest.raises(
        ps.InputError, match=r"specify which channel of controller 'pd' to read: 'pd\.output'"
    ):
        model.add_controller("next", "pd", reads=["pd"], drives=["pin"])


def test_a_drive_is_no_port_for_a_controller_and_no_second_one_for_a_locked_joint():
    model = pendulum("0", every=0.01)
    del model.controllers["pd"]
    model.add_port("turn", ps.Drive("pin", rate=1.0))
    with pytest.raises(
        ps.InputError,
        match="controller 'pd': port 'turn' has an input already; leave one of them out",
    ):
        model.add_controller("pd", "1", reads=["pin"], drives=["turn"])
    model.add_joint("stuck", ps.Weld(model.ground, model.bodies["bar"]))
    with pytest.raises(ps.InputError, match=r"that joints or other drives determine.*'turn'"):
        ps.simulate(model, h=0.01, t_end=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delay": 0.1}, "delay and rate_limits need a sampled controller"),
        ({"limits": (1,)}, "give (low, high)"),
        (
            {"states": {"pin": 0.0}},
            "'pin' is the name of a state and of a channel that it reads; rename the state",
        ),
        ({"law": PID.to_discrete(0.1)}, "its state space is in discrete time; give every"),
    ],
)
def test_a_continuous_controller_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(ps.InputError) as raised:
        pendulum(**{"law": "1", **options})
    assert message in str(raised.value)
