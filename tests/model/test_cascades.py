"""Controllers that read each other, and reactions."""

import numba
import numpy as np
import pytest
import scipy.signal
from same import assert_same

import poinsot as ps

ENGINES = ("compiled", "reference")


def pendulum(name="model"):
    model = ps.Model(gravity=(0, 0, -9.81), name=name)
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    return model


def run(model, engine="auto", **options):
    return ps.simulate(model, **{"h": 2e-3, "t_end": 0.2, "engine": engine, **options})


def cascade(every=0.01, slow=0.02, kind=str):
    """An outer loop asks for a speed, an inner one for a torque."""
    outer, inner = "-4*(hinge - 0.5*sin(t))", "-6*(hinge_rate - speed_output)"
    if kind is not str:

        def outer(t, y):
            return -4 * (y[0] - 0.5 * np.sin(t))

        def inner(t, y):
            return -6 * (y[0] - y[1])

    model = pendulum()
    model.add_controller("speed", outer, reads=["hinge"], every=slow, outputs=1)
    reads = ["hinge.rate", "speed.output"]
    model.add_controller("torque", inner, reads=reads, drives="hinge", every=every)
    return model


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cascade_is_one_law_that_does_both(engine):
    asked = []

    def both(t, y):
        k = round(t / 0.01)
        if k % 2 == 0:
            asked.append(-4 * (y[0] - 0.5 * np.sin(t)))
        return -6 * (y[1] - asked[-1])

    model = pendulum()
    reads = ["hinge", "hinge.rate"]
    model.add_controller("both", both, reads=reads, drives="hinge", every=0.01)
    expected = run(model, engine)
    for kind in (str, object):
        found = run(cascade(kind=kind), engine)
        assert found.engine == engine
        assert abs(found.port("hinge").u - expected.port("hinge").u).max() < 1e-12
        assert abs(found.position("rod") - expected.position("rod")).max() < 1e-14


def test_what_is_read_is_the_newest_output_within_its_limits_without_its_delay():
    for engine in ENGINES:
        model, seen = pendulum(), []
        model.add_controller(
            "ramp", "100*t", reads=[], outputs=1, every=0.01, delay=0.05, limits=(0, 9)
        )

        def follow(t, y, seen=seen):
            seen.append((t, y[0]))
            return 0.0

        model.add_controller("follow", follow, reads=["ramp.output"], drives="hinge", every=4e-3)
        run(model, engine)
        for t, value in seen:
            assert abs(value - min(9, np.floor(t / 0.01 + 1e-9))) < 1e-12
        assert len(seen) == 50


@pytest.mark.parametrize("engine", ENGINES)
def test_states_of_an_observer_are_read_by_their_names(engine):
    """A filter that drives nothing, and a law that only knows what that has found."""

    def together(t, y, x):
        lag = x[0] + 0.1 * (y[0] - x[0])
        return -5 * lag, [lag]

    whole = pendulum()
    options = {"reads": ["hinge"], "drives": "hinge", "every": 0.01, "states": [0.2]}
    whole.add_controller("whole", together, **options)
    model = pendulum()
    options = {"reads": ["hinge"], "every": 0.01, "states": {"lag": 0.2}, "outputs": 0}
    model.add_controller("filter", ["lag + 0.1*(hinge - lag)"], **options)
    model.add_controller("law", "-5*filter_lag", reads=["filter.lag"], drives=["hinge"], every=0.01)
    one, other = run(whole, engine), run(model, engine)
    assert abs(one.port("hinge").u - other.port("hinge").u).max() < 1e-13
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    assert_same(run(again, engine), other)


def assert_in_files_and_sub_assemblies(model):
    """The same motion from its file, and as a part of another model, which is returned."""
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    expected = run(model)
    assert_same(run(again), expected)
    outer = ps.Model(gravity=(0, 0, -9.81))
    outer.add_system("arm", model)
    assert abs(run(outer).position("arm.rod") - expected.position("rod")).max() < 1e-14
    return outer


def test_a_cascade_is_read_from_files_and_goes_into_sub_assemblies():
    outer = assert_in_files_and_sub_assemblies(cascade())
    assert outer.to_yaml().count("arm_speed_output") == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_reactions_are_those_of_the_step_before(engine):
    model, seen = pendulum(), []

    def law(t, y):
        seen.append(y.copy())
        return -0.1 * y[0] + 0.2 * y[4]

    reads = ["hinge.force", "hinge.torque"]
    model.add_controller("feel", law, reads=reads, drives="hinge", every=2e-3)
    result = run(model, engine)
    felt, hinge = np.array(seen), result.reaction("hinge")
    assert not felt[0].any()
    np.testing.assert_allclose(felt[1:, :3], hinge.force[:-1], atol=1e-10)
    # Axes of the torque have turned on by half a step.
    np.testing.assert_allclose(felt[1:, 3:], hinge.torque[:-1], atol=0.05)
    assert abs(felt[:, 2]).max() > 1


def chain(joint):
    """Two bars under way; all that a law feels of the joint between them goes to the hinge."""
    model, seen = ps.Model(gravity=(0, 0, -9.81)), []
    place = {"position": (0.5, 0, 0), "angular_velocity": (0, 1, 0)}
    a = model.add_body("a", ps.Box(mass=1, size=(1, 0.1, 0.1)), **place)
    b = model.add_body("b", ps.Box(mass=0.7, size=(1, 0.2, 0.1)), position=(1.4, 0, 0.3))
    model.add_joint("hinge", ps.Revolute(model.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("tie", joint(a, b))
    reads = [f"{name}.{side}" for name in ("hinge", "tie") for side in ("force_a", "torque_a")]
    reads += ["tie.force", "tie.torque", "hinge.torque"]

    def law(t, y):
        seen.append(y.copy())
        return 1e-2 * np.cos(np.arange(y.size)) @ y

    model.add_controller("feel", law, reads=reads, drives="hinge", every=4e-3, limits=(-2, 2))
    return model, seen


JOINTS = [
    lambda a, b: ps.Spherical(a, b, point=(1, 0, 0)),
    lambda a, b: ps.Revolute(a, b, point=(1, 0, 0.1), axis=(1, 2, 0)),
    lambda a, b: ps.Prismatic(a, b, point=(1, 0, 0), axis=(1, 0, 1)),
    lambda a, b: ps.Planar(a, b, point=(1, 0, 0), normal=(0, 1, 1)),
    lambda a, b: ps.Rod(a, b, point_a=(1, 0, 0), point_b=(1, 0.2, 0.3)),
    lambda a, b: ps.Universal(a, b, point=(1, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1)),
    lambda a, b: ps.Weld(a, b),
]
FORMS = [
    {},
    {"scheme": "ph-mp-ggl"},
    {"coordinates": "quaternions"},
    {"scheme": "ph-mp-4"},
    {"scheme": "eml"},
    {"coordinates": "quaternions", "scheme": "emh"},
    {"scheme": "ph-mp-ggl-4"},
]


@pytest.mark.parametrize(("joint", "options"), [*zip(JOINTS, FORMS, strict=True)])
def test_both_engines_feel_the_same_reactions(joint, options):
    felt = []
    for engine in ENGINES:
        model, seen = chain(joint)
        # The last step is a shorter one.
        assert run(model, engine, t_end=0.0831, **options).engine == engine
        felt.append(np.array(seen))
    sizes = np.linalg.norm(felt[1], axis=1).max()
    assert sizes > 1
    assert felt[1].shape == (21, 21)
    np.testing.assert_allclose(felt[0], felt[1], rtol=0, atol=1e-9 * sizes)


def test_reactions_that_are_one_of_many_are_felt_in_the_reference_engine():
    model, _ = chain(JOINTS[1])
    also = ps.Revolute(model.bodies["a"], model.bodies["b"], point=(1.2, 0.4, 0.1), axis=(1, 2, 0))
    model.add_joint("also", also)
    assert run(model, t_end=0.01).engine == "reference"
    with pytest.raises(ps.InputError, match="the compiled engine cannot measure all"):
        run(model, "compiled")


# -- continuous time -------------------------------------------------------------------------------

FAST = "-6*(hinge_rate - speed_output) - 0.1*speed_output**2"
BOTH = "-6*(hinge_rate - {0}) - 0.1*({0})**2".format("(-4*(hinge - 0.5*sin(t)))")


def continuous(kind=str, *, outer=None, **options):
    """The cascade in continuous time."""
    slow, fast = outer or "-4*(hinge - 0.5*sin(t))", FAST
    if kind is not str:

        def slow(t, y):
            return -4 * (y[0] - 0.5 * np.sin(t))

        def fast(t, y):
            return -6 * (y[0] - y[1]) - 0.1 * y[1] ** 2

    made = kind if callable(kind) and kind is not str else (lambda law: law)
    model = pendulum()
    model.add_controller("speed", made(slow), reads=["hinge"], outputs=1, **options)
    reads = ["hinge.rate", "speed.output"]
    model.add_controller("torque", made(fast), reads=reads, drives="hinge")
    return model


def one_law():
    model = pendulum()
    model.add_controller("one", BOTH, reads=["hinge", "hinge.rate"], drives="hinge")
    return model


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [str, lambda law: law, numba.njit])
def test_laws_in_continuous_time_that_read_each_other_are_one_law(engine, kind):
    expected = run(one_law(), "reference")
    found = run(continuous(kind), engine)
    assert found.engine == engine
    np.testing.assert_allclose(found.position("rod"), expected.position("rod"), atol=1e-12)
    np.testing.assert_allclose(found.port("hinge").u, expected.port("hinge").u, atol=1e-9)
    assert found.stats.balance_error_max < 1e-12
    assert not found.port("speed.outputs").y.any()


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_linear_laws_with_states_read_each_other_by_matrices(scheme):
    """Three in a row, the last of which reads what the second puts into the hinge."""

    def model(split):
        model = pendulum()
        model.add_port("lift", ps.ForcePort(model.bodies["rod"]))
        reads = ["hinge", "hinge.rate"]
        lag = scipy.signal.StateSpace([[-9.0]], [[1.0]], [[-30.0]], [[-4.0]])
        if split:
            model.add_controller("slow", lag, reads=["hinge"], outputs=1, states=[0.1])
            model.add_controller("fast", *GAIN, reads=["hinge.rate", "slow.output"], drives="hinge")
            other = gain([[1.0], [0.0], [0.5]])
            model.add_controller("more", other, reads=["fast.output"], drives="lift")
            return model
        rows = [[-120.0], [-120.0], [0.0], [-60.0]], [[-16, -2], [-16, -2], [0, 0], [-8, -1]]
        both = scipy.signal.StateSpace([[-9.0]], [[1.0, 0.0]], *rows)
        model.add_controller("both", both, reads=reads, drives=["hinge", "lift"], states=[0.1])
        return model

    def gain(D):
        D = np.array(D)
        zero = np.zeros((1, D.shape[1])), np.zeros((D.shape[0], 1))
        return scipy.signal.StateSpace(np.zeros((1, 1)), *zero, D)

    GAIN = (gain([[-2.0, 4.0]]),)
    expected = run(model(False), "reference", scheme=scheme)
    for engine in ENGINES:
        found = run(model(True), engine, scheme=scheme)
        assert found.engine == engine
        np.testing.assert_allclose(found.position("rod"), expected.position("rod"), atol=1e-12)
        np.testing.assert_allclose(found.port("lift").u, expected.port("lift").u, atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_three_functions_in_a_row_are_solved_by_as_few_iterations_as_one(engine):
    """Each is far from linear, so that a slope that were missing would be seen."""
    laws = [
        lambda t, y: np.sin(3 * y[0]) - y[1],
        lambda t, y: 2 * np.tanh(y[0]) - 0.3 * y[1] ** 2,
        lambda t, y: 4 * np.cos(y[0]) - 5 * y[1] - y[2],
    ]

    def nested(t, y):
        first = laws[0](t, y)
        second = laws[1](t, [first, y[1]])
        return laws[2](t, [second, y[1], first])

    rows, one = pendulum(), pendulum()
    rows.add_controller("a", laws[0], reads=["hinge", "hinge.rate"], outputs=1)
    rows.add_controller("b", laws[1], reads=["a.output", "hinge.rate"], outputs=1)
    reads = ["b.output", "hinge.rate", "a.output"]
    rows.add_controller("c", laws[2], reads=reads, drives="hinge")
    one.add_controller("one", nested, reads=["hinge", "hinge.rate"], drives="hinge")
    found, expected = (run(model, engine, h=0.01, t_end=0.5) for model in (rows, one))
    np.testing.assert_allclose(found.position("rod"), expected.position("rod"), atol=1e-12)
    most = 1.1 * expected.stats.newton_iterations
    assert found.stats.newton_iterations <= most


@pytest.mark.parametrize("engine", ENGINES)
def test_outputs_are_read_within_their_limits_and_those_of_samples_as_held(engine):
    limited = run(continuous(outer="100*hinge", limits=(-0.1, 0.1)), engine)
    assert abs(limited.port("speed.outputs").u).max() == 0.1
    held = run(continuous(outer="10*t", every=0.02), engine, t_end=0.1)
    stage = held.port("hinge")
    t, rate = (held.time[:-1] + held.time[1:]) / 2, held.port("hinge").y[:, 0]
    speed = 10 * np.floor(t / 0.02) * 0.02
    np.testing.assert_allclose(stage.u[:, 0], -6 * (rate - speed) - 0.1 * speed**2, atol=1e-9)


def test_laws_in_continuous_time_that_read_each_other_are_in_files_and_sub_assemblies():
    assert_in_files_and_sub_assemblies(continuous(every=None))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"every": None, "drives": "hinge"},
            {"reads": ["a.output"], "drives": "lift", "every": 0.01},
            "controller 'b': cannot read 'a.output': at the instant of a sample what.*loop",
        ),
        (
            {"every": 0.01, "outputs": 1},
            {"reads": ["b.output"], "drives": "hinge", "every": 0.01},
            "controller 'b': cannot read 'b.output': its output would depend on itself, an",
        ),
        (
            {"every": 0.01, "outputs": 1},
            {"reads": ["c.output"], "drives": "hinge", "every": 0.01},
            "controller 'b': there is no 'c' in 'c.output'",
        ),
        ({"every": 0.01}, {}, "controller 'a': drives no port; give drives="),
        (
            {"every": None, "outputs": 1},
            {"reads": ["b.output"], "drives": "hinge", "every": None},
            "controller 'b': cannot read 'b.output': its output would depend on itself, an",
        ),
        (
            {"every": None, "outputs": 1},
            {"reads": ["c.output"], "drives": "hinge", "every": None},
            "controller 'b': there is no 'c' in 'c.output'",
        ),
        ({"every": 0.01, "outputs": -1}, {}, "controller 'a': outputs is -1"),
        ({"every": 0.01, "outputs": 0, "drives": "hinge"}, {}, "outputs is 0, but 1 are driven"),
        (
            {"every": None, "drives": "hinge", "reads": ["hinge.force"]},
            {},
            "cannot read 'hinge.force': in continuous time, reactions depend on its output",
        ),
        ({"every": 0.01, "outputs": 1, "states": {"output": 0.0}}, {}, "a state cannot be named"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(first, second, message):
    model = pendulum()
    model.add_port("lift", ps.ForcePort(model.bodies["rod"]))

    def law(t, y, *states):
        return (0.0, states[0]) if states else 0.0

    def add_both():
        model.add_controller("a", law, **{"reads": [], **first})
        model.add_controller("b", law, **second)

    with pytest.raises(ps.InputError, match=message):
        add_both()


def test_a_law_that_reads_another_one_and_fails_is_named():
    model = pendulum()
    model.add_controller(
        "a", lambda t, y: np.nan if t > 0.05 else t, reads=[], every=0.01, outputs=1
    )
    reads = ["a.output"]
    model.add_controller("b", lambda t, y: y[0], reads=reads, drives="hinge", every=0.01)
    for engine in ENGINES:
        with pytest.raises(ps.SimulationError, match=r"controller 'a': .*nan.* at t = 0.06 s"):
            run(model, engine)
