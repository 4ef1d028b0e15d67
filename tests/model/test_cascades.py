"""Controllers that read each other, and reactions."""

import numpy as np
import pytest

import poinsot as ps
from tests.same import assert_same

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


def test_a_cascade_is_read_from_files_and_goes_into_sub_assemblies():
    model = cascade()
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    expected = run(model)
    assert_same(run(again), expected)
    outer = ps.Model(gravity=(0, 0, -9.81))
    outer.add_system("arm", model)
    assert abs(run(outer).position("arm.rod") - expected.position("rod")).max() < 1e-14
    assert outer.to_yaml().count("arm_speed_output") == 1


def test_reactions_are_those_of_the_step_before():
    model, seen = pendulum(), []

    def law(t, y):
        seen.append(y.copy())
        return -0.1 * y[0] + 0.2 * y[4]

    reads = ["hinge.force", "hinge.torque"]
    model.add_controller("feel", law, reads=reads, drives="hinge", every=2e-3)
    result = run(model)
    assert result.engine == "reference"
    felt, hinge = np.array(seen), result.reaction("hinge")
    assert not felt[0].any()
    np.testing.assert_allclose(felt[1:, :3], hinge.force[:-1], atol=1e-10)
    # Axes of the torque have turned on by half a step.
    np.testing.assert_allclose(felt[1:, 3:], hinge.torque[:-1], atol=0.05)
    assert abs(felt[:, 2]).max() > 1
    with pytest.raises(ps.InputError, match="the compiled engine cannot measure all"):
        run(model, "compiled")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"every": None, "drives": "hinge"},
            {"reads": ["a.output"], "drives": "lift", "every": 0.01},
            "controller 'b': cannot read 'a.output': outputs of controllers 'a' and 'b'.*loop",
        ),
        (
            {"every": 0.01, "outputs": 1},
            {"reads": ["a.output"], "drives": "hinge", "every": None},
            "controller 'b': cannot read 'a.output': that changes from sample to sample; give",
        ),
        (
            {"every": 0.01, "outputs": 1},
            {"reads": ["b.output"], "drives": "hinge", "every": 0.01},
            "controller 'b': cannot read 'b.output': what it puts out would depend on itself, an",
        ),
        (
            {"every": 0.01, "outputs": 1},
            {"reads": ["c.output"], "drives": "hinge", "every": 0.01},
            "controller 'b': nothing is called 'c' in 'c.output'",
        ),
        ({"every": 0.01}, {}, "controller 'a': drives nothing; name the ports that it feeds, or"),
        ({"every": None, "outputs": 1}, {}, "controller 'a': outputs for others to read are those"),
        ({"every": 0.01, "outputs": -1}, {}, "controller 'a': outputs is -1"),
        ({"every": 0.01, "outputs": 0, "drives": "hinge"}, {}, "outputs is 0, but 1 are driven"),
        (
            {"every": None, "drives": "hinge", "reads": ["hinge.force"]},
            {},
            "cannot read 'hinge.force': in continuous time reactions depend on what the law puts",
        ),
        ({"every": 0.01, "outputs": 1, "states": {"output": 0.0}}, {}, "a state cannot be called"),
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
