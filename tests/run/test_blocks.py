"""The loop of the compiled engine: many steps at once are the same run as one after the other."""

import json
import os
import subprocess
import sys

import mechanisms
import numba
import numpy as np
import pytest
from engines import add_every_part, assert_same, both, numbers

import poinsot as ps
from poinsot.engine import build, machine_code
from poinsot.errors import BuildError
from poinsot.ph.signals import Table
from poinsot.run import compiled, loop
from poinsot.systems.compiled.runner import MechanismRunner

H = 0.01


def swing(*, beside=add_every_part, **ports):
    """A pendulum with a motor, and a wheel with every part beside it."""
    model = ps.Model(gravity=(0, 0, -9.81))
    arm = model.add_body("arm", ps.Box(mass=1, size=(0.1, 0.2, 1)), position=(0, 0.3, -0.5))
    model.add_joint("pin", ps.Revolute(model.ground, arm, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_port("motor", ps.JointPort("pin", **ports))
    beside(model)
    return model


def run(model=None, **options):
    return ps.simulate(model or swing(), **{"h": H, "t_end": 0.3, "engine": "compiled", **options})


def failure(model, engine, **options):
    with pytest.raises(ps.SimulationError) as error:
        run(model, engine=engine, **options)
    assert str(error.value) == error.value.result.message
    return error.value.result


def assert_identical(one, other, rows=slice(None)):
    """Bit by bit; rows of the other at the saved times, and one less at the midpoints."""
    times = np.arange(other.time.size)[rows]
    assert np.array_equal(one.time, other.time[rows])
    for (_, name, a), (_, _, b) in zip(numbers(one), numbers(other), strict=True):
        expected = b[times] if len(b) == other.time.size else b[times[1:] - 1]
        assert np.array_equal(a, expected), name


@pytest.fixture
def sizes(monkeypatch):
    """How many steps each block had."""
    found, advance = [], MechanismRunner.advance

    def count(self, *arguments):
        block = advance(self, *arguments)
        found.append(block.steps)
        return block

    monkeypatch.setattr(MechanismRunner, "advance", count)
    monkeypatch.setattr(compiled, "FIRST", 0)
    return found


# -- what is saved ----------------------------------------------------------------------------


@pytest.mark.parametrize("every", [2, 7, 100])
def test_saving_less_often_changes_nothing_but_what_is_saved(every):
    full, thin = run(), run(save_every=every)
    kept = sorted({*range(0, 31, every), 30})
    assert_identical(thin, full, kept)
    assert np.array_equal(thin.balance_error, full.balance_error[kept])
    assert np.array_equal(thin.stats.iterations, full.stats.iterations[np.array(kept[1:]) - 1])
    for count in ("steps", "newton_iterations", "balance_error_max", "dissipation_min"):
        assert getattr(thin.stats, count) == getattr(full.stats, count)


def test_the_last_step_is_shortened_to_hit_the_end():
    one, other = both(swing(value=np.cos), h=H, t_end=0.125)
    assert one.time[-1] == 0.125
    assert one.stats.steps == 13
    assert_same(one, other)


def test_a_step_longer_than_the_span_is_cut():
    one, other = both(swing(), h=1.0, t_end=0.02)
    assert one.time.tolist() == [0, 0.02]
    assert_same(one, other)


def test_the_clock_may_start_anywhere():
    late = run(swing(value=np.cos), t_start=100.0, t_end=100.1)
    shifted = run(swing(value=lambda t: np.cos(t + 100)), t_end=0.1)
    np.testing.assert_allclose(late.time, shifted.time + 100, rtol=1e-15)
    np.testing.assert_allclose(late.position("arm"), shifted.position("arm"), atol=1e-12)
    assert_same(late, run(swing(value=np.cos), t_start=100.0, t_end=100.1, engine="reference"))


# -- blocks -----------------------------------------------------------------------------------


def by_law(t, angle, rate):
    return np.cos(t) - angle - 0.2 * rate


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("port", [{"value": np.cos}, {"law": by_law}], ids=["signal", "law"])
def test_single_steps_and_one_block_are_the_same_run(port, every, sizes, monkeypatch):
    results = []
    for pause in (0.0, 1e9):
        monkeypatch.setattr(loop, "PAUSE", pause)
        results.append(run(swing(**port), t_end=0.7, save_every=every))
    assert sizes == [1] * 70 + [1, 8, 61]
    assert_identical(*results)
    assert results[0].stats.newton_iterations == results[1].stats.newton_iterations


def test_blocks_are_no_larger_than_there_is_room_for(sizes, monkeypatch):
    whole = run()
    monkeypatch.setattr(loop, "PAUSE", 1e9)
    n = sum(state.values.shape[1] for state in whole.states.values())
    monkeypatch.setattr(loop, "ROOM", 5 * 16 * n)
    sizes.clear()
    assert_identical(run(), whole)
    assert sizes == [1] + [5] * 5 + [4]


def stumble(monkeypatch, *steps):
    """Let the compiled engine fail on some steps."""
    advance = MechanismRunner.advance

    def fail(self, clock, first, u, *arguments):
        ahead = min((n - first for n in steps if n >= first), default=len(u))
        return advance(self, clock, first, u[:ahead], *arguments)

    monkeypatch.setattr(MechanismRunner, "advance", fail)


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize("every", [1, 4])
def test_steps_of_the_reference_engine_fit_between_compiled_ones(every, scheme, monkeypatch):
    options = {"scheme": scheme, "save_every": every}
    reference = run(swing(law=by_law), engine="reference", **options)
    stumble(monkeypatch, 0, 7, 8, 20, 29)
    result = run(swing(law=by_law), **options)
    assert result.stats.single_steps == 5
    assert_same(result, reference)
    assert result.stats.balance_error_max < 1e-12


def test_ordinary_runs_need_no_step_of_the_reference_engine():
    result = run(swing(value=np.cos), t_end=2.0)
    assert result.stats.single_steps == 0


def test_a_body_that_turns_half_a_circle_in_a_step_is_left_to_the_reference_engine():
    """h w / 2 = 10 is a turn of 169 degrees."""
    model = ps.Model()
    model.add_body("top", ps.Box(mass=1, size=(1, 0.5, 0.2)), angular_velocity=(20, 0, 2000))
    add_every_part(model)
    one, other = both(model, h=H, t_end=0.1)
    assert one.stats.single_steps == one.stats.steps == 10
    assert_same(one, other)


# -- inputs -----------------------------------------------------------------------------------


@pytest.fixture
def counting():
    """A load that counts how often it is asked."""

    def load(t):
        load.times.append(t)
        return np.cos(t)

    load.times = []
    return load


def test_a_function_of_time_is_called_once_a_step(counting):
    result = run(swing(value=counting), t_end=1.0)
    assert result.stats.steps == 100
    assert len(counting.times) <= 103  # and when the start is checked
    np.testing.assert_allclose(counting.times[-100:], result.port("motor").time)


def test_a_function_of_time_is_not_called_over_and_over_where_steps_fail(counting, monkeypatch):
    stumble(monkeypatch, *range(100))
    result = run(swing(value=counting), t_end=1.0)
    assert result.stats.single_steps == 100
    assert len(counting.times) <= 400


@pytest.mark.parametrize("signal", [0.3, Table([0, 0.4, 1], [0, 1, -1])], ids=["number", "table"])
def test_constants_and_tables_are_not_called_at_every_step(signal, monkeypatch):
    calls = []
    for kind in (Table, ps.ph.signals.Constant):
        call = kind.__call__
        monkeypatch.setattr(kind, "__call__", lambda s, t, c=call: calls.append(t) or c(s, t))
    model = swing(value=signal)
    result = run(model, t_end=1.0)
    assert len(calls) < 20
    monkeypatch.undo()
    assert_same(result, run(model, t_end=1.0, engine="reference"))


def number(t):
    return np.cos(3 * t)


def triple(t):
    return np.cos(3 * t), 0.5, t


def array(t):
    return np.array([np.cos(3 * t), 0.5, t])


@pytest.mark.parametrize("load", [number, triple, array])
def test_a_numba_function_is_the_function_that_it_compiles(load):
    port = "motor" if load is number else "push"
    plain, compiled = (run(inputs={port: f}) for f in (load, numba.njit(load)))
    assert_same(compiled, plain, rtol=1e-13)


def test_a_numba_function_that_fails_is_reported_as_any_other():
    def load(t):
        return 1.0 if t < 0.2 else np.nan

    messages = {failure(swing(value=f), "compiled").message for f in (load, numba.njit(load))}
    assert messages == {failure(swing(value=load), "reference").message}


# -- failure ----------------------------------------------------------------------------------


def raises(t):
    if t > 0.2:
        raise ZeroDivisionError("oops")
    return 0.1


def turns_nan(t):
    return np.nan if t > 0.2 else 0.1


def grows(t):
    return [0.1, 0.2] if t > 0.2 else 0.1


@pytest.mark.parametrize("fault", [raises, turns_nan, grows])
@pytest.mark.parametrize("port", ["value", "law"])
def test_a_load_that_fails_is_reported_with_its_time_and_keeps_the_rest(fault, port):
    given = fault if port == "value" else lambda t, angle, rate: fault(t)
    model = swing(**{port: given})
    one, other = (failure(model, engine) for engine in ("compiled", "reference"))
    assert one.message == other.message
    assert "step 21 from t = 0.2 s" in one.message
    assert "oops" in one.message or "port 'motor'" in one.message
    assert_same(one, other)


def test_a_spring_whose_law_fails_is_reported_with_its_time():
    def pull(angle):
        if abs(angle) > 0.2:
            raise ValueError("torn")
        return angle

    model = swing(value=-3.0)
    model.add_force("band", ps.JointSpring("pin", potential=lambda a: a**2 / 2, dpotential=pull))
    one, other = (failure(model, engine, t_end=2.0) for engine in ("compiled", "reference"))
    assert one.message == other.message
    assert "force 'band': dpotential raised ValueError: torn, at -0.2" in one.message
    assert_same(one, other)


def kick(t):
    return 0.0 if t < 0.2 else 5000.0


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_a_step_that_cannot_be_solved_stops_both_engines_alike(scheme):
    model, few = swing(value=kick), ps.Newton(max_iterations=3, halvings=0)
    one, other = (
        failure(model, engine, scheme=scheme, newton=few) for engine in ("compiled", "reference")
    )
    assert "step 21 from t = 0.2 s with h = 0.01 s: no convergence in 3 iterations" in one.message
    assert one.message.split("; worst")[0] == other.message.split("; worst")[0]
    assert_same(one, other, rtol=1e-6)  # three iterations are not enough for more


def test_a_spring_far_too_stiff_for_the_weight_on_it_is_the_same_in_both_engines():
    model = swing()
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(1, 0, -1))
    rope = ps.Spring(
        model.ground, ball, (1, 0, 0), (1, 0, -1), stiffness=1e12, rest_length=1.0, damping=1.0
    )
    model.add_force("rope", rope)
    one, other = (run(model, engine=engine) for engine in ("compiled", "reference"))
    # The rope's force is known to 1e12 N/m times the round-off of its length, the ball's weight.
    np.testing.assert_allclose(one.position("ball"), other.position("ball"), rtol=0, atol=1e-14)


# -- angles -----------------------------------------------------------------------------------


def wheel(spin, **force):
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), angular_velocity=(0, 0, spin))
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    if force:
        model.add_force("coil of the bar", ps.JointSpring("pin", **force))
    add_every_part(model)
    return model


@pytest.mark.parametrize(("spin", "every"), [(150.0, 1), (-900.0, 30)])
def test_angles_are_followed_over_many_turns(spin, every):
    """Each step turns by 2 atan(h w/2), 74 or 155 degrees: 12 or 26 turns in 0.6 s."""
    one, other = both(wheel(spin), h=H, t_end=0.6, save_every=every)
    angle = one.joint("pin").coordinates["angle"]
    np.testing.assert_allclose(angle, 2 * np.arctan(spin * H / 2) * one.time / H, rtol=1e-11)
    assert_same(one, other)


def test_angles_go_on_over_steps_of_the_reference_engine(monkeypatch):
    stumble(monkeypatch, 3, 50, 51, 90)
    result = run(wheel(150.0), t_end=1.2)
    assert result.stats.single_steps == 4
    angle = result.joint("pin").coordinates["angle"]
    np.testing.assert_allclose(angle, 2 * np.arctan(0.75) * np.arange(121), rtol=1e-11)


def test_springs_go_on_over_steps_of_the_reference_engine(monkeypatch):
    """Wound up by two turns and more."""
    whole = run(wheel(15.0, stiffness=0.05), t_end=1.2)
    stumble(monkeypatch, 3, 50, 51, 90, 110)
    result = run(wheel(15.0, stiffness=0.05), t_end=1.2)
    assert result.stats.single_steps == 5
    assert result.joint("pin").coordinates["angle"][-1] > 4 * np.pi
    assert result.stats.balance_error_max < 1e-12
    assert_same(result, whole)


def test_pendulums_at_rest_half_a_turn_away_stay_there():
    """The sines of their angles are round-off of either sign: no reason to count a turn."""
    random = np.random.default_rng(0)
    up = mechanisms.unit(random)
    model = ps.Model(gravity=-9.81 * up)
    for i in range(20):
        axis = np.cross(up, mechanisms.unit(random))
        axis /= np.linalg.norm(axis)
        rod = model.add_body(
            f"rod{i}",
            ps.Box(mass=1, size=(0.1, 0.1, 1)),
            position=0.5 * up,
            rotation=np.column_stack([np.cross(axis, up), axis, up]),
            angular_velocity=0.1 * axis,
        )
        model.add_joint(f"pin{i}", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=axis))
        model.add_force(f"brake{i}", ps.JointSpring(f"pin{i}", damping=2.0))
    add_every_part(model)
    result = run(model, h=0.05, t_end=20.0)
    angles = np.array([result.joint(f"pin{i}").coordinates["angle"] for i in range(20)])
    np.testing.assert_allclose(angles[:, -1], np.pi, atol=1e-9)
    assert abs(np.diff(angles)).max() < 0.2


def test_a_periodic_spring_goes_round_and_round():
    model = wheel(
        5.0, potential=lambda a: 0.3 * (1 - np.cos(a)), dpotential=lambda a: 0.3 * np.sin(a)
    )
    one, other = both(model, h=H, t_end=2.0)
    assert one.joint("pin").coordinates["angle"][-1] > 2 * np.pi
    assert_same(one, other)


# -- interrupts -------------------------------------------------------------------------------


def test_an_interrupt_in_a_law_keeps_every_step_before_it():
    def law(t, angle, rate):
        if t > 0.2:
            raise KeyboardInterrupt
        return by_law(t, angle, rate)

    one, other = both(swing(law=law), h=H, t_end=1.0)
    assert one.status == "interrupted"
    assert one.message == other.message == "interrupted at t = 0.2 s"
    assert_same(one, other)


def test_an_interrupt_in_a_load_keeps_every_step_that_was_taken(sizes):
    def load(t):
        if t > 0.2:
            raise KeyboardInterrupt
        return np.cos(t)

    result, taken = run(swing(value=load), t_end=1.0), sum(sizes)
    assert result.status == "interrupted"
    assert result.stats.steps == taken
    assert result.message == f"interrupted at t = {result.time[-1]:g} s"
    assert_identical(result, run(swing(value=np.cos), t_end=1.0), slice(0, taken + 1))


INTERRUPTED = """
import json, os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from test_blocks import by_law, run, swing

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
ports = {"law": by_law} if sys.argv[2] == "law" else {"value": 0.1}
model = swing(beside=lambda model: None, **ports)
run(model, t_end=0.1)  # compiled, or loaded
from poinsot.run.loop import Loop
advance = Loop.advance
for k in range(3):
    pressed = []
    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.1 + 0.071 * k, press)
    def started(*given):
        timer.start()
        advance(*given)
    Loop.advance = started
    result = run(model, t_end=float(sys.argv[3]), save_every=50)
    delay = time.perf_counter() - pressed[0] if pressed else None
    timer.cancel()
    timer.join()
    print(json.dumps([result.status, result.stats.steps, result.time[-1], delay]))
"""


@pytest.mark.parametrize(("source", "t_end"), [("law", 1500.0), ("number", 10000.0)])
def test_ctrl_c_ends_a_run_within_a_second_and_keeps_what_was_computed(source, t_end):
    """Whenever it comes: while compiled code runs, or the Python law that this calls."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([os.path.dirname(here), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, here, source, str(t_end)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert "ignored" not in done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [status for status, *_ in runs] == ["interrupted"] * 3
    for _, steps, reached, delay in runs:
        assert steps > 0
        assert reached == pytest.approx(H * steps)
        assert delay < 1.0


# -- without machine code ---------------------------------------------------------------------


@pytest.fixture
def unbuilt(monkeypatch):
    """No machine code there, and a build that fails."""

    def fail(form):
        raise BuildError("the compiled engine cannot be built here: no room; use ...")

    monkeypatch.setattr(machine_code, "loaded", lambda form: None)
    monkeypatch.setattr(machine_code, "function", fail)
    monkeypatch.setattr(build, "in_background", lambda: None)


def test_a_short_run_does_not_wait_for_a_build(unbuilt):
    assert run(engine="auto").engine == "reference"


def test_a_long_run_waits_and_goes_on_without_if_nothing_can_be_built(unbuilt, monkeypatch):
    monkeypatch.setattr(build, "DURATION", 0.0)
    with pytest.warns(UserWarning, match="cannot be built here: no room"):
        assert run(engine="auto").engine == "reference"


def test_the_compiled_engine_is_missed_if_it_was_asked_for(unbuilt):
    with pytest.raises(BuildError, match="no room"):
        run(engine="compiled")


def test_a_step_that_fails_is_reported_by_the_reference_engine(unbuilt):
    with pytest.raises(ps.SimulationError) as failed:
        run(engine="auto", newton=ps.Newton(max_iterations=1, halvings=0), h=0.3, t_end=3.0)
    assert failed.value.result.engine == "reference"


def test_where_no_process_can_be_started_the_reference_engine_runs(unbuilt, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(13, "Permission denied", sys.executable)

    monkeypatch.setattr(build, "in_background", refuse)
    monkeypatch.setattr(machine_code, "function", refuse)
    with pytest.warns(UserWarning, match="cannot be built here: PermissionError"):
        assert run(engine="auto").engine == "reference"
    with pytest.raises(BuildError, match=r"Permission denied.*use engine='reference'"):
        run(engine="compiled")
