"""Sampled controllers: called when they should be, the same in both engines, exact in energy."""

import numba
import numpy as np
import pytest
from cranes import crane
from scipy.linalg import expm, solve_discrete_are

import poinsot as ps

GOAL = 1.5 * np.pi
GOAL_QUAT = np.array([0.8, 0.36, -0.48, 0.0])
ENGINES = ("reference", "compiled")


def lever(law, gravity: float = 0.0, **options) -> ps.Model:
    """Return a rod on a hinge that a controller turns."""
    model = ps.Model(gravity=(0, 0, -gravity))
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    options = {"every": 1e-2, "reads": ["hinge", "hinge.rate"], "drives": ["hinge"], **options}
    model.add_controller("pd", law, **options)
    return model


def pd(t, y):
    return 20 * (GOAL - y[0]) - 5 * y[1]


@numba.njit
def pd_numba(t, y):
    return np.array([20 * (GOAL - y[0]) - 5 * y[1]])


PD_TEXT = f"20*({GOAL!r} - hinge) - 5*hinge_rate"


# -- what controllers do ---------------------------------------------------------------------------


def test_a_joint_is_brought_to_270_degrees_and_not_to_minus_90():
    result = ps.simulate(lever(pd), h=2e-3, t_end=8, engine="compiled")
    angle = result.joint("hinge").coordinates["angle"]
    assert abs(angle[-1] - GOAL) < 1e-6
    assert angle.max() > np.pi


@pytest.mark.parametrize("engine", ENGINES)
def test_laws_of_python_numba_and_formulas_give_the_same_motion(engine):
    runs = [
        ps.simulate(lever(law, 9.81), h=5e-3, t_end=0.1, engine=engine)
        for law in (pd, pd_numba, PD_TEXT)
    ]
    angles = [run.joint("hinge").coordinates["angle"] for run in runs]
    for angle in angles[1:]:
        np.testing.assert_allclose(angle, angles[0], rtol=0, atol=1e-13)
    assert max(run.stats.balance_error_max for run in runs) < 1e-12


def test_a_law_is_called_once_for_each_sample_and_held_in_between():
    for engine in ENGINES:
        calls = []

        def law(t, y, calls=calls):
            calls.append(t)
            return np.cos(30 * t)

        result = ps.simulate(
            lever(law, every=6e-3), h=2e-3, t_start=1.0, t_end=1.05, save_every=4, engine=engine
        )
        assert calls == [1.0 + 2e-3 * n for n in range(0, 25, 3)]
        every = ps.simulate(lever(law, every=6e-3), h=2e-3, t_start=1.0, t_end=1.05, engine=engine)
        sampled = np.cos(30 * (1.0 + 6e-3 * (np.arange(25) // 3)))
        np.testing.assert_allclose(every.port("hinge").u[:, 0], sampled, rtol=0, atol=1e-14)
        assert result.energy[-1] == every.energy[-1]


CRANE = [
    *("rail", "rail.rate", "pin.angle", "pin.rate", "tip.position", "tip.velocity"),
    *("rod.rotation", "rod.angular_velocity", "motor.flux"),
]


@pytest.mark.parametrize("options", [{}, {"scheme": "ph-mp-ggl"}, {"coordinates": "quaternions"}])
def test_both_engines_measure_the_same_and_give_the_same_motion(options):
    seen, runs = {}, {}
    for engine in ENGINES:
        got = seen[engine] = []

        def law(t, y, got=got):
            got.append(y.copy())
            return np.array([5 * np.sin(5 * t), -0.1 * y[1], 0.3, y[4], -y[7]])

        run = runs[engine] = ps.simulate(
            crane(law, CRANE, every=1e-2), h=5e-3, t_end=0.06, engine=engine, **options
        )
        assert run.engine == engine
        assert run.stats.balance_error_max < 1e-12
    np.testing.assert_allclose(seen["compiled"], seen["reference"], rtol=0, atol=1e-11)
    run = runs["compiled"]
    tip, rod, at = run.marker("tip"), run.body("rod"), slice(0, -1, 2)
    expected = [
        *(run.joint("rail").coordinates["displacement"], run.joint("rail").rates["displacement"]),
        *(run.joint("pin").coordinates["angle"], run.joint("pin").rates["angle"]),
        *(*tip.position.T, *tip.velocity.T, *rod.rotation.reshape(-1, 9).T),
        *(*rod.angular_velocity.T, run["motor.flux"]),
    ]
    np.testing.assert_allclose(seen["compiled"], np.array(expected).T[at], rtol=0, atol=1e-12)


def test_a_sampled_run_is_a_chain_of_runs_with_constant_inputs():
    options = {"scheme": "ph-mp-ggl", "h": 2e-3, "engine": "reference"}
    whole = ps.simulate(lever(pd, 9.81), t_end=0.05, **options).joint("hinge")
    model = lever(pd, 9.81)
    del model.controllers["pd"]
    model.add_port("motor", ps.JointPort("hinge"))
    state, turned, rate = None, 0.0, 0.0
    for k in range(5):
        piece = ps.simulate(
            model,
            t_start=0.01 * k,
            t_end=0.01 * (k + 1),
            x0=state,
            angles={"hinge.angle": turned},
            inputs={"motor": pd(0, (turned, rate))},
            **options,
        )
        state = {name: piece[name][-1] for name in ("rod.q", "rod.v")}
        hinge = piece.joint("hinge")
        turned, rate = hinge.coordinates["angle"][-1], hinge.rates["angle"][-1]
    assert abs(turned - whole.coordinates["angle"][-1]) < 1e-12
    assert abs(rate - whole.rates["angle"][-1]) < 1e-10


def test_results_do_not_depend_on_which_steps_are_saved():
    one, other = (
        ps.simulate(lever(pd, 9.81), h=2e-3, t_end=0.3, save_every=k, engine="compiled")
        for k in (1, 7)
    )
    np.testing.assert_array_equal(one.position("rod")[::7], other.position("rod")[:-1])


def test_calls_are_right_where_single_steps_are_taken_by_the_reference_engine(monkeypatch):
    from poinsot.engine import machine_code
    from poinsot.engine.control import control
    from poinsot.run import compiled, loop

    def stumbling(form, function=machine_code.function):
        def run(job):
            if job.done % 3 == 1:
                control(job, job.done, 0, job.state)
                return 0, 0
            return function(form)(job)

        return run

    calls = []

    def law(t, y):
        calls.append(t)
        return pd(t, y)

    smooth = ps.simulate(lever(law, 9.81, every=4e-3), h=2e-3, t_end=0.04, engine="compiled")
    expected = calls.copy()
    calls.clear()
    monkeypatch.setattr(machine_code, "function", stumbling)
    monkeypatch.setattr(compiled, "FIRST", 0)  # blocks of one step
    monkeypatch.setattr(loop, "PAUSE", 0.0)
    result = ps.simulate(lever(law, 9.81, every=4e-3), h=2e-3, t_end=0.04, engine="compiled")
    assert result.stats.single_steps == 7
    assert calls == expected == [2e-3 * n for n in range(0, 20, 2)]
    np.testing.assert_allclose(result.position("rod"), smooth.position("rod"), atol=1e-13)


# -- limits, delays, states ------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_outputs_are_limited_delayed_and_change_no_faster_than_allowed(engine):
    def law(t, y):
        return 10 * np.sin(40 * t)

    def inputs(**options):
        model = lever(law, every=4e-3, **options)
        return ps.simulate(model, h=2e-3, t_end=0.08, engine=engine).port("hinge").u[:, 0]

    plain = np.repeat(10 * np.sin(40 * 4e-3 * np.arange(20)), 2)
    np.testing.assert_allclose(inputs(), plain, atol=1e-14)
    np.testing.assert_allclose(inputs(limits=(-3, 5)), np.clip(plain, -3, 5), atol=1e-14)
    for steps in (1, 2, 5):
        late = np.concatenate([np.zeros(steps), plain[:-steps]])
        np.testing.assert_allclose(inputs(delay=steps * 2e-3), late, atol=1e-14)
    slow, value = [], 0.0
    for wanted in plain[::2]:
        value += np.clip(wanted - value, -0.8, 0.8)
        slow += [value, value]
    np.testing.assert_allclose(inputs(rate_limits=200), slow, atol=1e-14)


def with_integral(t, y, x):
    error = 0.3 - y[0]
    return np.array([60 * error + 100 * x[0] - 12 * y[1]]), np.array([x[0] + 1e-2 * error])


@pytest.mark.parametrize("law", [with_integral, numba.njit(with_integral)], ids=["python", "numba"])
def test_states_of_a_controller_are_carried_from_sample_to_sample(law):
    result = ps.simulate(lever(law, 9.81, states=[0.0]), h=5e-3, t_end=6, engine="compiled")
    assert abs(result.joint("hinge").coordinates["angle"][-1] - 0.3) < 1e-3
    holding = 9.81 * 0.5 * np.cos(0.3)
    assert abs(abs(result.port("hinge").u[-1, 0]) - holding) < 2e-2


# -- published ways of control ---------------------------------------------------------------------


def test_lqr_balances_a_cart_pole_with_the_eigenvalues_of_the_sampled_linear_system():
    M, m, l, g, T, h = 1.0, 0.2, 0.5, 9.81, 0.02, 2e-3
    pole = ps.Box(mass=m, size=(0.02, 0.02, 2 * l))
    J = m * ((2 * l) ** 2 + 0.02**2) / 12 + m * l**2
    mass = np.array([[M + m, m * l], [m * l, J]])
    A, B = np.zeros((4, 4)), np.zeros((4, 1))
    A[:2, 2:], A[2:, 1] = np.eye(2), np.linalg.solve(mass, [0, m * g * l])
    B[2:, 0] = np.linalg.solve(mass, [1, 0])
    both = expm(T * np.block([[A, B], [np.zeros((1, 5))]]))
    A_d, B_d = both[:4, :4], both[:4, 4:]
    P = solve_discrete_are(A_d, B_d, np.diag([1, 10, 1, 1]), np.eye(1))
    K = np.linalg.solve(np.eye(1) + B_d.T @ P @ B_d, B_d.T @ P @ A_d)[0]

    def cart_pole(law, rate):
        model = ps.Model(gravity=(0, 0, -g))
        cart = model.add_body("cart", ps.Box(mass=M, size=(0.3, 0.2, 0.1)), velocity=(rate, 0, 0))
        rod = model.add_body("pole", pole, position=(0, 0, l), angular_velocity=(0, rate, 0))
        model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
        model.add_joint("pin", ps.Revolute(cart, rod, point=(0, 0, 0), axis=(0, 1, 0)))
        reads = ["rail", "pin", "rail.rate", "pin.rate"]
        model.add_controller("lqr", law, reads=reads, drives=["rail"], every=T)
        return model

    seen = []

    def law(t, y):
        seen.append(y)
        return -K @ y

    ps.simulate(cart_pole(law, 1e-3), h=h, t_end=12, engine="compiled")
    Z = np.array(seen)
    assert abs(Z[-1]).max() < 0.05 * abs(Z).max()
    found = np.linalg.lstsq(Z[:-1], Z[1:], rcond=None)[0].T
    expected = np.linalg.eigvals(A_d - B_d @ K[None])
    assert abs(expected).max() < 1
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(found)), np.sort_complex(expected), atol=2e-4
    )


def test_wheels_turn_a_satellite_by_quaternion_feedback_and_keep_its_angular_momentum():
    model = ps.Model()
    hull = model.add_body("hull", ps.Box(mass=50, size=(1, 0.8, 0.6)))
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        place = 0.2 * axis
        wheel = model.add_body(name, ps.Cylinder(mass=2, radius=0.15, length=0.05), position=place)
        model.add_joint(f"axle {name}", ps.Revolute(hull, wheel, point=place, axis=axis))

    def law(t, y):
        R = y[:9].reshape(3, 3)
        w = np.sqrt(1 + R[0, 0] + R[1, 1] + R[2, 2]) / 2
        turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)
        # The error is q times the conjugate of the goal; wheels feel the opposite of its torque.
        error = GOAL_QUAT[0] * turn - w * GOAL_QUAT[1:] - np.cross(turn, GOAL_QUAT[1:])
        return R.T @ (8 * error + 20 * y[9:12])

    model.add_controller(
        "attitude",
        law,
        reads=["hull.rotation", "hull.angular_velocity"],
        drives=["axle x", "axle y", "axle z"],
        every=0.1,
    )
    result = ps.simulate(model, h=0.02, t_end=60, engine="compiled")
    R = result.rotation("hull")[-1]
    w, x, y, z = GOAL_QUAT
    third = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    np.testing.assert_allclose(R[:, 2], third, atol=1e-4)
    assert np.trace(R) == pytest.approx(4 * w * w - 1, abs=1e-4)
    assert abs(result.angular_velocity("hull")[-1]).max() < 1e-4
    assert abs(result.angular_momentum).max() < 1e-12
    assert result.stats.balance_error_max < 1e-12


# -- what is wrong ---------------------------------------------------------------------------------


def raising(t, y):
    if t > 0.025:
        raise ValueError("too late")
    return 0.0


@numba.njit
def raising_numba(t, y):
    if t > 0.025:
        raise ValueError("too late")
    return 0.0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("law", "why"),
    [
        (raising, r"its law raised ValueError: too late, at t = 0\.03 s with y = \[0\.0, 0\.0\]"),
        (raising_numba, r"its law raised ValueError: too late, at t = 0\.03 s"),
        (lambda t, y: np.nan if t > 0.025 else 0.0, r"gives nan, expected 1 finite number"),
        (lambda t, y: [1, 2] if t > 0.025 else 0.0, r"gives \[1, 2\], expected 1 finite number"),
        ("0*log(0.025 - t)", r"its law gives \[nan\], at t = 0\.03 s"),
    ],
    ids=["raises", "numba", "nan", "shape", "formula"],
)
def test_a_law_that_fails_is_named_with_the_time_and_what_it_got(engine, law, why):
    with pytest.raises(ps.SimulationError, match=f"controller 'pd': .*{why}") as raised:
        ps.simulate(lever(law), h=5e-3, t_end=1, engine=engine)
    assert raised.value.result.time[-1] == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0.0}, "every is 0 s; the sampling time must be positive"),
        ({"delay": -1.0}, "delay is -1 s"),
        ({"reads": ["hinge.angel"]}, "no 'angel' of joint 'hinge'; did you mean 'angle'?"),
        ({"drives": ["hing"]}, "no port 'hing'; did you mean 'hinge'?"),
        ({"drives": []}, "drives no port"),
        ({"drives": ["hinge", "hinge"]}, "drives contains a port twice"),
        ({"limits": (1, 2, 3)}, "limits is (1, 2, 3); give (low, high)"),
        ({"limits": (2, 1)}, "the first value must be the lower one"),
        ({"rate_limits": -1}, "rate_limits is -1; give a positive number"),
        ({"law": 3}, "law: expected a function, got 3"),
        ({"law": "hinge + speed"}, "unknown name 'speed'"),
        ({"law": ["1", "2"]}, "2 formula(s) for 1 output(s)"),
        ({"law": ps.Formula("2*t")}, "its formula is one of (t), expected the time and 2 measured"),
    ],
)
def test_a_controller_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(ps.InputError) as raised:
        lever(**{"law": pd, **options})
    assert message in str(raised.value)


def test_a_sampling_time_that_is_no_multiple_of_the_step_is_refused_with_steps_that_fit():
    with pytest.raises(ps.InputError, match=r"use h = 0\.005 or 0\.00333333 s"):
        ps.simulate(lever(pd), h=4e-3, t_end=1)


def test_a_port_has_one_driver():
    model = lever(pd)
    with pytest.raises(ps.InputError, match="port 'hinge' is driven by controller 'pd'"):
        model.add_controller("other", pd, reads=["hinge", "hinge.rate"], drives=["hinge"], every=1)
    with pytest.raises(ps.InputError, match="port 'hinge' is driven by controller 'pd'"):
        ps.simulate(model, h=1e-2, t_end=1, inputs={"hinge": 1.0})
    with pytest.raises(
        ps.InputError, match=r"specify which channel of controller 'pd' to read: 'pd.output'"
    ):
        model.add_controller("other", pd, reads=["pd"], drives=["hinge.angle"], every=1)
