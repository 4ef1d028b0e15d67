"""Steps whose size follows a tolerance: as exact in what schemes keep, and off by no more."""

import mechanisms
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ellipj, ellipk

import poinsot as ps
from poinsot.gallery import mass_spring, spatial_slider_crank, spring_pendulum
from poinsot.ph.newton import NewtonFailure
from poinsot.run import reference, stream
from poinsot.run.step_size import StepSize

G, SMALL = 9.81, 1e-6


def pendulum(**port):
    """A mass of 1 kg on an arm of 1 m, from rest in horizontal position."""
    model = ps.Model(gravity=(0, 0, -G))
    bob = model.add_body("bob", ps.RigidBody(mass=1, inertia=[SMALL] * 3), position=(1, 0, 0))
    model.add_joint("pin", ps.Revolute(model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    if port:
        model.add_port("motor", ps.JointPort("pin", **port))
    return model


def swung(t):
    """Where the pendulum is then, by elliptic functions."""
    k, rate = np.sin(np.pi / 4), np.sqrt(G / (1 + SMALL))
    angle = 2 * np.arcsin(k * ellipj(ellipk(k**2) - rate * t, k**2)[0])
    return np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=-1)


def ball(stiffness=1e6):
    """Falls on a hard stop and bounces, again and again."""
    model = ps.Model(gravity=(0, 0, -G))
    body = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(0, 0, 1))
    model.add_joint("rail", ps.Prismatic(model.ground, body, point=(0, 0, 1), axis=(0, 0, 1)))
    model.add_force("stop", ps.JointStop("rail", lower=-0.9, stiffness=stiffness))
    return model


def run(model, **options):
    return ps.simulate(model, **{"h": 0.01, "t_end": 1.0, **options})


def off(result, other):
    """How far bodies are apart at the end, at most [m]."""
    return max(
        np.linalg.norm(result.position(name)[-1] - other.position(name)[-1])
        for name in result.bodies
    )


# -- how far off ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "tolerances"),
    [
        ("ph-mp", (1e-2, 1e-3, 1e-4, 1e-5)),
        ("ph-mp-ggl", (1e-2, 1e-3, 1e-4)),
        ("emh-mean", (1e-2, 1e-3, 1e-4)),
        ("ph-mp-4", (1e-3, 1e-5, 1e-7, 1e-8)),
        ("ph-mp-6", (1e-3, 1e-5, 1e-7, 1e-8)),
        ("ph-mp-ggl-4", (1e-3, 1e-5, 1e-7)),
        ("emh-mean-4", (1e-3, 1e-5, 1e-7)),
        ("emh-mean-6", (1e-5, 1e-7, 1e-9)),
    ],
)
def test_a_pendulum_is_off_by_no_more_than_the_tolerance_at_any_time(scheme, tolerances):
    errors, steps = [], []
    for tolerance in tolerances:
        result = run(pendulum(), t_end=3.0, scheme=scheme, tolerance=tolerance, h_max=1.0)
        errors.append(abs(result.position("bob") - swung(result.time)).max())
        steps.append(result.stats.steps)
        assert result.time[-1] == 3.0
        assert result.stats.tolerance == tolerance
        assert result.stats.balance_error_max < 1e-12
    assert np.all(np.array(errors) < 2 * np.array(tolerances))
    assert np.all(np.diff(errors) < 0)
    assert np.all(np.diff(steps) > 0)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_both_engines_take_the_same_steps(engine):
    exact = run(spatial_slider_crank.model(), scheme="ph-mp-6", h=1e-3, t_end=0.3)
    result = run(spatial_slider_crank.model(), t_end=0.3, tolerance=3e-3, engine=engine)
    other = run(spatial_slider_crank.model(), t_end=0.3, tolerance=3e-3)
    assert off(result, exact) < 3e-4
    assert result.stats.steps == other.stats.steps
    np.testing.assert_allclose(result.time, other.time, rtol=1e-6)
    assert result.stats.balance_error_max < 1e-13
    assert result.constraint_error.max() < 1e-13


def test_a_slider_crank_has_the_accuracy_that_was_asked_for():
    exact = run(spatial_slider_crank.model(), scheme="ph-mp-6", h=5e-4, t_end=2.0)
    for tolerance in (1e-4, 1e-6, 1e-8):
        result = run(spatial_slider_crank.model(), scheme="ph-mp-4", t_end=2.0, tolerance=tolerance)
        assert off(result, exact) < tolerance
        assert abs(result.velocity("rod")[-1] - exact.velocity("rod")[-1]).max() < tolerance


@pytest.mark.parametrize(
    ("example", "scheme"), [(spring_pendulum, "ph-dg"), (mass_spring, "ph-avf")]
)
def test_any_port_hamiltonian_system_has_it_too(example, scheme):
    model, options = example.model(), {"x0": example.START, "scheme": scheme, "t_end": 0.3}
    exact, result = run(model, h=1e-3, **options), run(model, tolerance=1e-3, **options)
    for name in ("q", "v"):
        size = max(1.0, abs(exact[name]).max())
        assert abs(result[name][-1] - exact[name][-1]).max() < 2e-3 * size
    assert result.stats.balance_error_max < 1e-12


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_random_mechanisms_are_off_by_about_the_tolerance_and_keep_their_balances(seed):
    plan = mechanisms.tree(seed, bodies=3, loops=seed % 2)
    exact = run(plan.model(), scheme="ph-mp-6", tolerance=1e-9, t_end=0.5)
    for scheme, tolerance in (("ph-mp", 1e-3), ("ph-mp-4", 1e-5)):
        result = run(plan.model(), scheme=scheme, tolerance=tolerance, t_end=0.5)
        assert result.status == "done"
        assert off(result, exact) < 20 * tolerance
        assert result.stats.balance_error_max < 1e-10 * max(1.0, abs(result.energy).max())
        assert result.constraint_error.max() < 1e-11


def test_momenta_stay_as_exact():
    plan = mechanisms.tree(3, bodies=4, ground=False, gravity=False)
    result = run(plan.model(), tolerance=1e-4)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert abs(momentum - momentum[0]).max() < 1e-12
    assert result.stats.smallest_step < 0.5 * result.stats.largest_step


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_velocities_stay_as_near_to_the_constraints(scheme):
    """Pairs of steps leave what they are off as it was."""
    result = run(spatial_slider_crank.model(), scheme=scheme, t_end=5.0, tolerance=1e-3)
    fixed = run(spatial_slider_crank.model(), scheme=scheme, t_end=5.0, h=result.stats.largest_step)
    ends = result.velocity_constraint_error
    assert ends.max() < 2 * fixed.velocity_constraint_error.max() + 1e-12


# -- events ---------------------------------------------------------------------------------------


def test_hard_stops_take_far_fewer_steps_than_steps_of_one_size():
    exact = run(ball(), h=4e-6, t_end=2.0, save_every=10**4)
    fixed = run(ball(), h=1e-4, t_end=2.0, save_every=100)
    result = run(ball(), t_end=2.0, tolerance=1e-3)
    assert off(result, exact) < off(fixed, exact)
    assert result.stats.steps + result.stats.rejected_steps < fixed.stats.steps / 20
    assert result.stats.balance_error_max < 1e-11


def test_steps_become_small_only_where_they_have_to():
    result = run(ball(), t_end=1.0, tolerance=1e-3)
    sizes = np.diff(result.time)
    assert sizes.min() == pytest.approx(result.stats.smallest_step)
    assert sizes.max() == pytest.approx(result.stats.largest_step)
    contact = result.position("ball")[1:, 2] < 0.1
    assert sizes[contact].max() < 0.1 * sizes[~contact].max()


@pytest.mark.parametrize("jump", [0.25, 0.3, 0.3137, 0.4999])
def test_inputs_that_jump_are_seen_wherever_they_do(jump):
    """Steps of all sizes may agree on a time of the jump that is wrong."""

    def kick(t):
        return 0.0 if t < jump else 10.0

    exact = run(pendulum(value=kick), h=1e-4)  # jumps between two steps
    result = run(pendulum(value=kick), tolerance=1e-3)
    assert off(result, exact) < 1e-3
    assert result.stats.steps < 2000


def test_newton_failures_are_rejections(monkeypatch):
    take = reference.take_step

    def take_step(system, scheme, t, x0, h, options):
        if 0.1 < t < 0.12 and h > 2e-4:
            raise NewtonFailure("refused", [1.0], "x")
        return take(system, scheme, t, x0, h, options)

    monkeypatch.setattr(reference, "take_step", take_step)
    result = run(pendulum(), tolerance=1e-2, t_end=0.3, engine="reference")
    assert result.status == "done"
    assert result.stats.split_steps == 0
    middle = (result.midpoint > 0.1) & (result.midpoint < 0.12)
    assert np.diff(result.time)[middle].max() <= 2e-4
    assert result.stats.balance_error_max < 1e-12


def test_a_motion_that_ends_is_given_up_with_the_cause(monkeypatch):
    take = reference.take_step

    def take_step(system, scheme, t, x0, h, options):
        if t > 0.3:
            raise NewtonFailure("refused", [1.0], "x")
        return take(system, scheme, t, x0, h, options)

    monkeypatch.setattr(reference, "take_step", take_step)
    with pytest.raises(ps.SimulationError, match=r"refused, also in steps of \de-1\d s") as error:
        run(pendulum(), tolerance=1e-3, engine="reference")
    assert error.value.result.time[-1] == pytest.approx(0.3)
    np.testing.assert_allclose(error.value.result.position("bob")[-1], swung(0.3), atol=1e-3)


# -- the run around it ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_first_step_that_is_far_too_large_is_no_trouble(engine):
    result = run(pendulum(), h=100.0, h_max=100.0, tolerance=1e-2, engine=engine)
    assert off_pendulum(result) < 1e-2
    assert result.stats.rejected_steps > 0


def off_pendulum(result):
    return abs(result.position("bob") - swung(result.time)).max()


def test_steps_are_no_larger_than_asked_for():
    result = run(pendulum(), tolerance=0.5, h_max=2e-3)
    assert np.diff(result.time).max() <= 2e-3 * (1 + 1e-9)
    assert run(pendulum(), h=1.0, tolerance=0.5).stats.steps >= 100


def test_saving_less_often_changes_nothing_but_what_is_saved(tmp_path):
    full, thin = run(pendulum(), tolerance=1e-4), run(pendulum(), tolerance=1e-4, save_every=7)
    kept = sorted({*range(0, full.time.size, 7), full.time.size - 1})
    assert np.array_equal(thin.time, full.time[kept])
    assert np.array_equal(thin.position("bob"), full.position("bob")[kept])
    assert np.array_equal(thin.balance_error, full.balance_error[kept])


def test_files_make_room_for_as_many_steps_as_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "PAUSE", 0.0)
    path, result = tmp_path / "run.nc", run(pendulum(), h=0.1, tolerance=1e-4)
    written = run(pendulum(), h=0.1, tolerance=1e-4, output=path)
    for each in (written, ps.load(path)):
        assert np.array_equal(each.time, result.time)
        assert np.array_equal(each.position("bob"), result.position("bob"))
        assert each.stats.tolerance == 1e-4
        assert each.stats.rejected_steps == result.stats.rejected_steps
    assert [each.name for each in tmp_path.iterdir()] == ["run.nc"]


def test_the_summary_says_how_large_steps_were():
    result = run(ball(), tolerance=1e-3)
    assert "s by a tolerance of 0.001 (" in result.summary()
    assert f"{result.stats.rejected_steps} rejected" in result.summary()
    assert "by a tolerance" in repr(result)


def test_a_run_can_be_repeated_from_its_document(tmp_path):
    result = run(pendulum(), tolerance=1e-3, h_max=0.005)
    path = tmp_path / "again.yaml"
    path.write_text(result.document)
    again = ps.Model.from_yaml(path)
    repeated = ps.simulate(again, **again.simulation.options())
    assert np.array_equal(repeated.time, result.time)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_interrupts_and_laws_that_fail_leave_the_segments_before(engine):
    def stop(t):
        if t > 0.5:
            raise KeyboardInterrupt
        return 0.1

    def fail(t):
        return 0.1 if t < 0.5 else np.nan

    plain = run(pendulum(value=0.1), tolerance=1e-3)
    interrupted = run(pendulum(value=stop), tolerance=1e-3, engine=engine)
    assert interrupted.status == "interrupted"
    with pytest.raises(ps.SimulationError, match="port 'motor'") as error:
        run(pendulum(value=fail), tolerance=1e-3, engine=engine)
    assert error.value.result.time[-1] > 0.47
    for result in (interrupted, error.value.result):
        assert 0.0 < result.time[-1] <= 0.5
        rows = min(result.time.size, np.searchsorted(plain.time, 0.2))
        np.testing.assert_allclose(result.position("bob")[:rows], plain.position("bob")[:rows])


def test_laws_in_continuous_time_are_part_of_the_equations():
    def controlled():
        model = pendulum(value=None)
        model.add_controller(
            "pd",
            lambda t, y: [-2 * y[0] - 0.3 * y[1]],
            reads=["pin.angle", "pin.rate"],
            drives=["motor"],
        )
        return model

    exact = run(controlled(), h=1e-4)
    for engine in ("reference", "compiled"):
        assert off(run(controlled(), tolerance=1e-3, engine=engine), exact) < 1e-3


def test_sampled_controllers_need_steps_of_one_size():
    model = pendulum(value=None)
    model.add_controller(
        "pd", lambda t, y: [-y[0]], reads=["pin.angle"], drives=["motor"], every=0.02
    )
    with pytest.raises(ps.InputError, match=r"controller 'pd' is sampled every 0.02 s"):
        run(model, tolerance=1e-3)


@pytest.mark.parametrize("tolerance", [-1e-6, 0, 1e-13, 1.0, np.nan, "small"])
def test_tolerances_that_make_no_sense_are_refused(tolerance):
    with pytest.raises(ps.InputError, match="tolerance"):
        run(pendulum(), tolerance=tolerance)


def test_a_largest_step_that_makes_no_sense_is_refused():
    with pytest.raises(ps.InputError, match="h_max"):
        run(pendulum(), tolerance=1e-3, h_max=0.0)
    with pytest.raises(ps.InputError, match="h_max"):
        run(pendulum(), h_max=0.1)


@given(ratios=st.lists(st.floats(0, 1e12), max_size=30), order=st.sampled_from([2, 4, 6]))
def test_sizes_change_within_limits(ratios, order):
    size = StepSize(0.1, 0.5, order)
    for ratio in ratios:
        before = size.h
        if ratio <= 1:
            size.accept(ratio)
            assert size.h <= min(5 * before, 0.5) * (1 + 1e-12)
        else:
            size.refuse(ratio)
            assert size.h <= 0.5 * before
        assert size.h >= 0.0999 * before
        assert 1 <= size.units <= 32
