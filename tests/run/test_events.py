"""Events: where functions cross zero in the motion of a scheme, and that nothing else changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import full, laws, tree
from same import numbers
from scipy.integrate import solve_ivp
from scipy.special import ellipk
from strategies import seeds

import poinsot as ps

ENGINES = ("reference", "compiled")
G = 9.81


def ball(**events):
    """A ball that is thrown up, 1 m above the floor."""
    model = ps.Model(gravity=(0, 0, -G))
    model.add_body(
        "ball",
        ps.Sphere(mass=0.3, radius=0.1),
        position=(0, 0, 1),
        velocity=(1, 0, 5),
        angular_velocity=(0, 3, 0),
    )
    for name, event in events.items():
        model.add_event(name, event)
    return model


def pendulum(angle=1.0, rate=0.0, **events):
    """A pendulum of 1 m at an angle from below; it hangs down at hinge = -angle."""
    model = ps.Model(gravity=(0, 0, -G))
    turn = ps.Rotation.from_axis_angle((0, 1, 0), angle)
    arm = turn.matrix @ (0, 0, -0.5)
    rod = model.add_body(
        "rod",
        ps.Box(mass=2, size=(0.1, 0.1, 1)),
        position=arm,
        rotation=turn,
        velocity=np.cross((0, rate, 0), arm),
        angular_velocity=(0, rate, 0),
    )
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    for name, event in events.items():
        model.add_event(name, event)
    return model


#: Gravity over inertia of that pendulum: angle'' = -W sin(angle).
W = G * 0.5 / (1.01 / 12 + 0.25)


# -- closed forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_a_thrown_ball_has_its_apex_and_its_time_of_flight(engine):
    model = ball(
        apex=ps.Event("ball.velocity.z", direction=-1),
        floor=ps.Event("ball.position.z", direction=-1, then="stop"),
    )
    result = ps.simulate(model, h=0.07, t_end=5, engine=engine)
    assert result.status == "done"
    assert "event 'floor' at t = 1.19060" in result.message
    flight = (5 + np.sqrt(25 + 2 * G)) / G
    # The midpoint rule is exact for free fall, wherever steps end.
    np.testing.assert_allclose(result.events["apex"].time, [5 / G], rtol=1e-13)
    np.testing.assert_allclose(result.events["floor"].time, [flight], rtol=1e-13)
    assert result.time[-1] == result.events["floor"].time[0]
    assert abs(result.position("ball")[-1, 2]) < 1e-13
    assert result.stats.balance_error_max < 1e-13
    assert "event 'apex'" in result.summary()


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "emh-mean", "ph-mp-4"])
def test_the_period_of_a_pendulum_is_an_elliptic_integral(scheme):
    period = 4 * ellipk(np.sin(0.5) ** 2) / np.sqrt(W)
    errors = []
    for h in (0.04, 0.02):
        model = pendulum(low=ps.Event("hinge + 1"), back=ps.Event("hinge.rate", direction=-1))
        result = ps.simulate(model, h=h, t_end=1.2 * period, scheme=scheme)
        low, back = result.events["low"], result.events["back"]
        hinge = result.joint("hinge")
        assert np.max(abs(hinge.coordinates["angle"][low.index] + 1)) < 1e-12
        assert np.max(abs(hinge.rates["angle"][back.index])) < 1e-12
        assert result.stats.balance_error_max < 1e-12
        quarters = np.array([1, 3]) * period / 4
        errors.append([*abs(low.time - quarters), abs(back.time[-1] - period)])
    order = np.log2(np.max(errors[0]) / np.max(errors[1]))
    assert order > 1.8
    assert np.max(errors[1]) < (1e-6 if scheme == "ph-mp-4" else 2e-3)


@laws(12)
@given(seed=seeds)
def test_random_pendulums_have_the_events_of_solve_ivp(seed):
    random = np.random.default_rng(seed)
    angle, rate, level = random.uniform(-2, 2), random.uniform(-3, 3), random.uniform(-1, 1)
    direction = int(random.integers(-1, 2))

    def crossing(t, y):
        return y[0] - level

    crossing.direction = direction
    exact = solve_ivp(
        lambda t, y: [y[1], -W * np.sin(y[0])],
        (0, 2),
        [angle, rate],
        events=crossing,
        rtol=1e-11,
        atol=1e-11,
    )
    model = pendulum(
        angle, rate, level=ps.Event(f"hinge + {angle} - ({level})", direction=direction)
    )
    found = ps.simulate(model, h=1e-3, t_end=2).events["level"].time
    swing = solve_ivp(
        lambda t, y: [y[1], -W * np.sin(y[0])], (0, 2), [angle, rate], dense_output=True
    )
    near = (
        np.min(abs(swing.sol(np.linspace(0, 2, 400))[0] - level)) > 1e-2 or exact.t_events[0].size
    )
    speeds = [abs(y[1]) for y in exact.y_events[0]]
    if near and all(speed > 0.1 for speed in speeds) and np.all(exact.t_events[0] < 1.99):
        np.testing.assert_allclose(found, exact.t_events[0], atol=1e-4)


def test_a_swing_of_an_electric_circuit_has_events_by_the_names_of_its_states():
    circuit = ps.ph.linear(
        "circuit",
        states=["flux", "charge"],
        J=[[0, -1], [1, 0]],
        Q=[[4, 0], [0, 1]],
    )
    events = {"empty": ps.Event("charge"), "peak": ps.Event("flux", direction=-1)}
    result = ps.simulate(circuit, x0=[0.0, 1.0], h=4e-3, t_end=2 * np.pi, events=events)
    # charge = cos(2 t), flux = -sin(2 t)/2
    quarter = np.pi / 4
    np.testing.assert_allclose(
        result.events["empty"].time, quarter * np.array([1, 3, 5, 7]), atol=2e-4
    )
    np.testing.assert_allclose(result.events["peak"].time, [np.pi], atol=2e-4)


# -- what events do not change ---------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "eml", "emh-mean", "ph-mp-4"])
def test_saved_times_stay_where_they_are_and_both_engines_agree(scheme):
    model = pendulum(low=ps.Event("hinge + 1"), turn=ps.Event("rod.angular_velocity.y"))
    plain = ps.simulate(pendulum(), h=0.01, t_end=1.5, scheme=scheme, save_every=4)
    results = [
        ps.simulate(model, h=0.01, t_end=1.5, scheme=scheme, save_every=4, engine=engine)
        for engine in ENGINES
    ]
    for result in results:
        happened = [i for event in result.events.values() for i in event.index]
        assert len(happened) == 3
        assert np.array_equal(np.delete(result.time, happened), plain.time)
        assert result.status == "done"
        assert result.stats.balance_error_max < 1e-12
    for name in results[0].events:
        a, b = (result.events[name].time for result in results)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        results[0].position("rod"), results[1].position("rod"), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_controllers_are_sampled_at_the_same_times(engine):
    calls = {True: {}, False: {}}
    results = []
    for watched in (True, False):
        events = {"up": ps.Event("hinge + 0.2"), "down": ps.Event("hinge.rate + 0.5")}
        model = pendulum(**events if watched else {})

        def law(t, y, watched=watched):
            calls[watched][t] = y[0]
            return -3 * y[0]

        model.add_controller("law", law, reads=["hinge"], drives=["hinge"], every=0.02, delay=0.01)
        results.append(ps.simulate(model, h=0.01, t_end=0.8, engine=engine))
    assert list(calls[True]) == list(calls[False])
    assert len(results[0].events["up"].time) > 0
    for a, b in zip(calls[True].values(), calls[False].values(), strict=True):
        assert abs(a - b) < 1e-3
    assert results[0].stats.balance_error_max < 1e-12


@laws(9)
@given(seed=seeds, engine=st.sampled_from(ENGINES))
def test_balances_of_random_mechanisms_stay_exact(seed, engine):
    plan = full(seed) if seed % 2 else tree(seed, bodies=3, loops=1)
    model = plan.model()
    random = np.random.default_rng(seed)
    for name in model.bodies:
        level = model.bodies[name].position[2] + random.normal() * 1e-2
        model.add_event(f"level of {name}", ps.Event(f"{name}.position.z - ({level})"))
        model.add_event(f"speed of {name}", ps.Event(f"{name}.velocity.x"))
    result = ps.simulate(model, h=0.01, t_end=0.2, engine=engine)
    assert result.status == "done"
    assert result.stats.balance_error_max < 1e-9 * max(1, np.max(abs(result.energy)))
    for name in model.bodies:
        index = result.events[f"speed of {name}"].index
        assert np.max(abs(result.velocity(name)[index, 0]), initial=0) < 1e-9


# -- which crossings count -------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "times"), [(1, [1.0, 3.0]), (-1, [2.0]), (0, [1, 2, 3])])
def test_directions(direction, times):
    model = ball(wave=ps.Event("-sin(pi*t)", direction=direction))
    result = ps.simulate(model, h=0.03, t_end=3.5)
    np.testing.assert_allclose(result.events["wave"].time, times, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_at_the_end_of_a_step_adds_no_step(engine):
    model = ball(now=ps.Event("t - 0.25"), then=ps.Event("t - 0.1 - 0.2"))
    result = ps.simulate(model, h=0.05, t_end=0.5, engine=engine)
    np.testing.assert_allclose(result.time, np.arange(11) * 0.05, atol=1e-15)
    assert [event.index.tolist() for event in result.events.values()] == [[5], [6]]


def test_a_function_that_begins_at_zero_has_no_event_there():
    model = ball(level=ps.Event("ball.position.z - 1"))
    result = ps.simulate(model, h=0.01, t_end=2)
    np.testing.assert_allclose(result.events["level"].time, [10 / G], rtol=1e-13)


def test_several_events_of_a_step_come_in_order_and_those_at_once_together():
    model = ball(
        c=ps.Event("t - 0.037"),
        a=ps.Event("t - 0.031"),
        b=ps.Event("t - 0.034"),
        again=ps.Event("0.034 - t"),
        both=ps.Event("(t - 0.032)*(t - 0.036)"),
    )
    result = ps.simulate(model, h=0.01, t_end=0.1)
    found = {name: event.time for name, event in result.events.items()}
    np.testing.assert_allclose(found["a"], [0.031], atol=1e-15)
    np.testing.assert_allclose(found["c"], [0.037], atol=1e-15)
    assert np.array_equal(found["b"], found["again"])
    # Twice within a step, between events of others: the sides are known at ends of steps.
    assert found["both"].size in (0, 2)
    assert np.all(np.diff(result.time) > 0)
    assert result.stats.steps == 10


def test_turns_are_counted_one_by_one():
    model = ps.Model()
    top = model.add_body("top", ps.Sphere(mass=1, radius=0.1), angular_velocity=(0, 0, 40))
    model.add_joint("pin", ps.Revolute(model.ground, top, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_event("turn", ps.Event("sin(pin/2)"))
    result = ps.simulate(model, h=0.01, t_end=3)
    index = result.events["turn"].index
    turned = result.joint("pin").coordinates["angle"][index]
    # 118.4 rad in the motion of the scheme: its rate is 2/h atan(0.4/2).
    np.testing.assert_allclose(turned, 2 * np.pi * np.arange(1, 19), rtol=1e-12)


def test_a_stop_at_the_very_end_and_one_among_others():
    model = ball(end=ps.Event("t - 0.5", then="stop"), before=ps.Event("t - 0.4"))
    result = ps.simulate(model, h=0.1, t_end=0.5)
    assert result.time[-1] == 0.5
    assert result.message.startswith("event 'end'")
    result = ps.simulate(model, h=0.3, t_end=5)
    assert result.time[-1] == pytest.approx(0.5, abs=1e-15)
    assert result.events["before"].time.size == 1


# -- functions -------------------------------------------------------------------------------------


def test_python_functions_get_the_time_and_what_they_read():
    numba = pytest.importorskip("numba")
    heights = [
        ps.Event(lambda t, y: y[2] - 0.5, reads="ball.position"),
        ps.Event(numba.njit(lambda t, y: y[2] - 0.5), reads=["ball.position"]),
        ps.Event("ball_position_z - 0.5", reads=["ball.position"]),
        ps.Event("ball.position.z - 0.5"),
    ]
    times = [ps.simulate(ball(e=e), h=0.1, t_end=2).events["e"].time for e in heights]
    assert times[0].size == 1
    assert all(np.array_equal(each, times[0]) for each in times)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_function_that_fails_says_so_and_keeps_what_was_computed(engine):
    broken = {
        "is not finite, at t = 0.6 s; it reads ball.position: ": "sqrt(0.55 - t) + ball.position.z",
        "raises ZeroDivisionError: ": lambda t, y: 1 / (t < 0.55),
        r"gives array\(": lambda t, y: 1.0 if t < 0.55 else np.ones(2),
    }
    for told, when in broken.items():
        model = ball(bad=ps.Event(when))
        with pytest.raises(
            ps.result.SimulationError, match=f"event 'bad': its function {told}"
        ) as e:
            ps.simulate(model, h=0.1, t_end=1, engine=engine)
        np.testing.assert_allclose(e.value.result.time, np.arange(6) * 0.1, atol=1e-12)
        assert e.value.result.status == "failed"


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"when": "bal.position.z"}, "event 'e': there is no 'bal' in 'bal.position.z'"),
        (
            {"when": "ball.positon.z"},  # codespell:ignore
            "no '.*' of body 'ball'; did you mean 'position'",
        ),
        ({"when": "ball.position"}, "'ball.position' has several numbers; write one of ball_pos"),
        ({"when": "ball.position.z +"}, "cannot be read"),
        ({"when": "ball.position.z*frob(t)"}, "no function 'frob'"),
        ({"when": "hinge.force.x"}, "there is no 'hinge'"),
        ({"when": "t", "direction": 2}, "direction is 2; choose -1, 0 or 1"),
        ({"when": "t", "then": "explode"}, "then is 'explode'; choose from 'record', 'stop'"),
        ({"when": 3}, "expected a function, got 3"),
        ({"when": "1", "reads": ["ball"]}, "say what of body 'ball'"),
    ],
)
def test_bad_events_are_refused(event, told):
    with pytest.raises(ps.InputError, match=told):
        ball(e=ps.Event(**event))


def test_reactions_and_names_that_are_taken_are_refused():
    with pytest.raises(ps.InputError, match="reactions are means over a step"):
        pendulum(e=ps.Event("hinge.force.x - 3"))
    with pytest.raises(ps.InputError, match="the name 'ball' is taken by a body"):
        ball(ball=ps.Event("t"))
    with pytest.raises(ps.InputError, match="the model already has an event 'e'"):
        ps.simulate(ball(e=ps.Event("t")), h=0.1, t_end=1, events={"e": ps.Event("t")})
    with pytest.raises(ps.InputError, match=r"expected poinsot\.Event"):
        ps.simulate(ball(), h=0.1, t_end=1, events={"e": "t"})
    with pytest.raises(ps.InputError, match="give a mapping"):
        ps.simulate(ball(), h=0.1, t_end=1, events=ps.Event("t"))


# -- files -----------------------------------------------------------------------------------------


def test_files_keep_events(tmp_path):
    model = pendulum(low=ps.Event("hinge + 1"), never=ps.Event("hinge + 99", then="stop"))
    streamed = ps.simulate(model, h=0.01, t_end=3, save_every=9, output=tmp_path / "streamed.nc")
    kept = ps.simulate(model, h=0.01, t_end=3, save_every=9)
    kept.save(tmp_path / "kept.nc")
    loaded = ps.load(tmp_path / "kept.nc")
    for result in (streamed, kept, loaded):
        low, never = result.events["low"], result.events["never"]
        assert np.array_equal(low.time, kept.events["low"].time)
        assert low.time.size > 2
        assert np.array_equal(result.time[low.index], low.time)
        assert not low.energy.any()
        assert (low.what, never.what, never.when) == ("record", "stop", "never")
        assert (
            np.sum(np.isfinite(result.to_xarray().event_energy.sel(event="low"))) == low.time.size
        )
    again = ps.Model.from_yaml_text(kept.document)
    assert again.events == model.events


def test_events_of_one_run_are_in_its_document():
    result = ps.simulate(
        ball(), h=0.01, t_end=0.1, events={"up": ps.Event("ball.position.z - 1.1")}
    )
    (event,) = ps.Model.from_yaml_text(result.document).events.values()
    assert event == ps.Event("ball.position.z - 1.1")


def test_a_file_makes_room_for_many_events(tmp_path):
    model, options = (
        ball(wave=ps.Event("sin(3000*t)")),
        {"h": 1e-3, "t_end": 0.5, "save_every": 500},
    )
    result = ps.simulate(model, **options, output=tmp_path / "run.nc")
    assert result.time.size > 400
    in_memory = numbers(ps.simulate(model, **options))
    # A file has all but multipliers that follow from the rest.
    different = [
        name
        for name, value in numbers(result).items()
        if not np.array_equal(value, in_memory[name])
    ]
    assert different == []


def test_events_of_a_part_are_events_of_the_whole():
    inner = pendulum(low=ps.Event("hinge + 1 + 0*rod.position.x"))
    inner.add_event("side", ps.Event(lambda t, y: y[0], reads=["rod.position"]))
    inner.add_event("told", ps.Event("2*hinge_rate + t - t", reads=["hinge.rate"]))
    model = ps.Model(gravity=(0, 0, -G))
    for place, name in enumerate(("arm", "left arm")):
        model.add_system(name, inner, position=(0, 3 * place, 0))
    result = ps.simulate(model, h=0.01, t_end=2)
    alone = ps.simulate(inner, h=0.01, t_end=2)
    for name in ("low", "side", "told"):
        for part in ("arm", "left arm"):
            found = result.events[f"{part}.{name}"].time
            np.testing.assert_allclose(found, alone.events[name].time, atol=1e-11)
            assert found.size > 0
