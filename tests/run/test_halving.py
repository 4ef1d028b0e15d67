"""Steps that have no solution are taken in smaller ones, which keep what the scheme keeps."""

import mechanisms
import numpy as np
import pytest
from engines import numbers
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as ps
from poinsot.ph.newton import NewtonFailure
from poinsot.run import reference
from poinsot.run.halving import Halving
from poinsot.systems.compiled.runner import MechanismRunner

H, END = 0.02, 0.4


def pendulums(links=2):
    """A chain on ball joints that swings in three dimensions."""
    model, before = ps.Model(gravity=(0, 0, -9.81)), None
    for k in range(links):
        bar = model.add_body(
            f"bar{k}",
            ps.Box(mass=1 + k, size=(1, 0.2, 0.1)),
            position=(k + 0.5, 0, 0),
            angular_velocity=(0.3, 0, 1.0) if k == 0 else None,
        )
        point, ground = (float(k), 0, 0), before is None
        model.add_joint(f"J{k}", ps.Spherical(model.ground if ground else before, bar, point=point))
        before = bar
    return model


def run(model=None, **options):
    return ps.simulate(model or pendulums(), **{"h": H, "t_end": END, **options})


def limit_steps(patch, limit):
    """Let steps fail that are larger than a limit, a function of the time they begin [s]."""
    take, advance = reference.take_step, MechanismRunner.advance

    def fits(t0, h):
        return abs(h) <= limit(t0) * (1 + 1e-9)

    def take_step(system, scheme, t, x0, h, options):
        if not fits(t - h / 2, h):
            raise NewtonFailure("refused", [1.0], "x")
        return take(system, scheme, t, x0, h, options)

    def stop(self, clock, first, u, *arguments):
        times = clock.span(first, first + len(u))
        fine = [fits(t, h) for t, h in zip(times[:-1], np.diff(times), strict=True)]
        ahead = fine.index(False) if False in fine else len(u)
        return advance(self, clock, first, u[:ahead], *arguments)

    patch.setattr(reference, "take_step", take_step)
    patch.setattr(MechanismRunner, "advance", stop)


# -- what a run is in the end ---------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "emh-mean"])
def test_a_run_in_pieces_is_the_run_with_smaller_steps(scheme, engine, monkeypatch):
    small = run(h=H / 4, save_every=4, scheme=scheme)
    limit_steps(monkeypatch, lambda t: H / 4)
    result = run(scheme=scheme, engine=engine, newton=ps.Newton(halvings=2))
    assert result.stats.split_steps == result.stats.steps == 20
    assert result.stats.smallest_step == pytest.approx(H / 4)
    assert result.stats.largest_step == H
    assert result.stats.balance_error_max < 1e-12
    np.testing.assert_allclose(result.time, small.time, rtol=1e-14)
    np.testing.assert_allclose(result.midpoint, small.midpoint, rtol=1e-12)
    assert result.constraint_error.max() < 1e-13
    for (_, name, a), (_, _, b) in zip(numbers(result), numbers(small), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 * max(1.0, abs(b).max()), err_msg=name)


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), engine=st.sampled_from(["reference", "compiled"]))
def test_steps_that_fail_at_random_change_no_balance(seed, engine):
    random = np.random.default_rng(seed)
    sizes = H * 0.5 ** random.integers(0, 6, 64)
    plain = run()
    with pytest.MonkeyPatch.context() as patch:
        limit_steps(patch, lambda t: sizes[int(t / END * 63)])
        result = run(engine=engine, save_every=int(random.integers(1, 4)))
    assert result.status == "done"
    assert result.time[-1] == END
    assert result.stats.balance_error_max < 1e-12
    assert result.constraint_error.max() < 1e-13
    assert result.stats.split_steps > 0
    np.testing.assert_allclose(result.position("bar1")[-1], plain.position("bar1")[-1], atol=5e-3)
    change = result.angular_momentum[:, 2] - plain.angular_momentum[0, 2]
    assert abs(change).max() < 1e-12  # about the vertical through the point that is held


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("pattern", [(1, 2), (1, 4, 1), (1, 1, 2, 8)])
def test_velocities_stay_as_near_to_the_constraints(pattern, engine, monkeypatch):
    """What they are off is turned round by every step, and does not add up."""
    plain = run(t_end=2.0)
    limit_steps(monkeypatch, lambda t: H / pattern[round(t // H + 0.01) % len(pattern)])
    result = run(t_end=2.0, engine=engine)
    assert result.stats.split_steps > 20
    assert result.velocity_constraint_error.max() < 2 * plain.velocity_constraint_error.max()


@pytest.mark.parametrize(("seed", "h"), [(11, 8.0), (84, 4.0), (84, 8.0)])
def test_a_step_that_throws_a_tree_about_is_not_taken_for_a_singular_position(seed, h):
    """Where it leads by velocities joints are open; trees are singular nowhere: it is halved."""
    system = mechanisms.tree(seed, bodies=3, speed=1.0).model().compile("directors")
    assert system.diagnose(0.0, system.start, h) == ""


def test_the_order_of_convergence_stays(monkeypatch):
    exact = run(h=2.5e-4).position("bar1")[-1]
    limit_steps(monkeypatch, lambda t: 1.0 if t < 0.1 else 3e-3)
    errors = []
    for h in (0.02, 0.01):
        result = run(h=h)
        errors.append(np.linalg.norm(result.position("bar1")[-1] - exact))
        assert result.stats.split_steps > 0
    assert errors[0] < 2e-4
    assert errors[1] < errors[0]


def test_substeps_of_a_composition_are_split_as_well(monkeypatch):
    whole = run(scheme="ph-mp-4")
    limit_steps(monkeypatch, lambda t: H / 10)
    result = run(scheme="ph-mp-4", engine="compiled")
    assert result.stats.split_steps > 100
    assert result.stats.balance_error_max < 1e-12
    np.testing.assert_allclose(result.position("bar1")[-1], whole.position("bar1")[-1], atol=1e-5)


def rates(t, angle, rate):
    return np.cos(9 * t) - 2 * angle - 0.1 * rate


@pytest.mark.parametrize("every", [None, 0.04])
def test_laws_measure_where_pieces_begin_and_samples_are_held(every, monkeypatch):
    def controlled():
        model = ps.Model(gravity=(0, 0, -9.81))
        arm = model.add_body("arm", ps.Box(mass=1, size=(0.1, 0.2, 1)), position=(0, 0.3, -0.5))
        model.add_joint("pin", ps.Revolute(model.ground, arm, point=(0, 0, 0), axis=(1, 0, 0)))
        model.add_port("motor", ps.JointPort("pin"))
        reads, given = ["pin.angle", "pin.rate"], {} if every is None else {"every": every}
        law = lambda t, y: [rates(t, *y)]  # noqa: E731
        model.add_controller("pd", law, reads=reads, drives=["motor"], **given)
        return model

    small = run(controlled(), h=H / 4, save_every=4)
    limit_steps(monkeypatch, lambda t: H / 4)
    for engine in ("reference", "compiled"):
        result = run(controlled(), engine=engine)
        np.testing.assert_allclose(result.position("arm"), small.position("arm"), atol=1e-10)
        assert result.stats.balance_error_max < 1e-12


# -- steps that really fail -----------------------------------------------------------------------


def coil(stiffness, spin):
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), angular_velocity=(0, 0, spin))
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_force("coil", ps.JointSpring("pin", stiffness=stiffness))
    return model


def kicked():
    model = pendulums(1)
    push = ps.ForcePort(model.bodies["bar0"], value=lambda t: (0, 0, 1e5 if t > 0.2 else 0))
    model.add_port("kick", push)
    return model


HARD = {
    "joint spring past half a turn": (lambda: coil(2000.0, 500.0), 0.1, 0.5),
    "chain in enormous steps": (lambda: pendulums(4), 1.0, 5.0),
    "kick": (kicked, 0.1, 0.3),
}


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("what", HARD)
def test_what_failed_without_smaller_steps_goes_through_with_exact_balances(what, engine):
    make, h, t_end = HARD[what]
    with pytest.raises(ps.SimulationError):
        run(make(), h=h, t_end=t_end, engine=engine, newton=ps.Newton(halvings=0))
    result = run(make(), h=h, t_end=t_end, engine=engine)
    assert result.status == "done"
    assert result.stats.split_steps > 0
    assert any("smaller ones" in note for note in result.notes)
    size = abs(result.observation.energies["kinetic"]).max()
    assert result.stats.balance_error_max < 1e-11 * size
    assert result.constraint_error.max() < 1e-11


def test_laws_that_jump_are_given_up_with_the_cause_and_what_was_computed(tmp_path):
    model = pendulums(1)

    def jump(x):
        return 1e9 if x > 0.3 else -1e9

    spring = ps.Spring(
        model.ground,
        model.bodies["bar0"],
        (0, 0, -3),
        (1, 0, 0),
        potential=lambda x: 1e9 * abs(x - 0.3),
        dpotential=jump,
    )
    model.add_force("jump", spring)
    with pytest.raises(ps.SimulationError, match=r"also in steps of h/8; worst") as error:
        run(model, h=0.05, t_end=2.0, output=tmp_path / "run.nc", newton=ps.Newton(halvings=3))
    assert error.value.result.status == "failed"
    assert ps.load(tmp_path / "run.nc").message == error.value.result.message


def test_what_is_no_matter_of_size_is_not_tried_again(monkeypatch):
    tried = []

    def fail(system, scheme, t, x0, h, options):
        tried.append(h)
        raise NewtonFailure("refused", [1.0], "x", by_size=len(tried) < 3)

    monkeypatch.setattr(reference, "take_step", fail)
    with pytest.raises(ps.SimulationError, match="refused; worst"):
        run(engine="reference")
    assert tried == pytest.approx([H, H / 2, H / 4])


def test_hard_stretches_do_not_cost_all_failures_in_every_step(monkeypatch):
    tried, limit = [], H / 64
    limit_steps(monkeypatch, lambda t: limit if t < 0.2 else 1.0)
    take = reference.take_step

    def count(system, scheme, t, x0, h, options):
        tried.append(h > limit * (1 + 1e-9) and t < 0.2)
        return take(system, scheme, t, x0, h, options)

    monkeypatch.setattr(reference, "take_step", count)
    result = run(engine="reference")
    assert sum(tried) < 0.1 * len(tried)
    assert result.stats.split_steps < 13  # and soon after they are whole again


# -- the run around it ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_an_interrupt_within_a_step_leaves_the_step_before(engine, monkeypatch):
    limit_steps(monkeypatch, lambda t: H / 4)
    take, plain = reference.take_step, run(engine=engine)

    def interrupt(system, scheme, t, *arguments):
        if t > 0.21:
            raise KeyboardInterrupt
        return take(system, scheme, t, *arguments)

    monkeypatch.setattr(reference, "take_step", interrupt)
    result = run(engine=engine)
    assert result.status == "interrupted"
    assert result.time[-1] == pytest.approx(0.2)
    assert np.array_equal(result.position("bar1"), plain.position("bar1")[:11])
    assert result.stats.balance_error_max <= plain.stats.balance_error_max


def test_split_steps_are_in_files_and_summaries(tmp_path, monkeypatch):
    limit_steps(monkeypatch, lambda t: H / 8)
    result = run(output=tmp_path / "run.nc", save_every=3)
    for each in (result, ps.load(tmp_path / "run.nc")):
        assert each.stats.split_steps == 20
        assert each.stats.smallest_step == pytest.approx(H / 8)


def test_how_small_pieces_are_is_part_of_the_memory():
    one, other = Halving(6), Halving(6)
    for _ in range(4):
        one.failed()
    one.reached(8)
    assert one != other
    other.restore(one.memory())
    assert one == other


@pytest.mark.parametrize("halvings", [-1, 31, 2.0])
def test_a_number_of_halvings_that_makes_no_sense_is_refused(halvings):
    with pytest.raises(ps.InputError, match="halvings"):
        ps.Newton(halvings=halvings)


@given(limits=st.lists(st.integers(0, 4), min_size=1, max_size=40), data=st.data())
def test_pieces_come_in_pairs_and_fill_every_step(limits, data):
    halving = Halving(4)
    for least in limits:
        place = 0
        while place < halving.whole:
            places = halving.next(place)
            assert places[-1] <= halving.whole
            assert len(places) == (2 if halving.level == 0 else 3)
            assert place % (places[-1] - place) == 0
            if halving.level < least:
                assert halving.failed()
                continue
            place = places[-1]
            halving.reached(place, alone=data.draw(st.booleans()))
