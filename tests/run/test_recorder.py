"""What a run keeps: by steps or in blocks, in memory or on disk, it is the same result."""

import errno
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from io import FileIO

import mechanisms
import numpy as np
import pytest
from parts import mass, oscillator, spring
from same import assert_same, numbers

import poinsot as ps
from poinsot import ph
from poinsot.ph.runner import Clock
from poinsot.ph.stages import Newton
from poinsot.result import history, store
from poinsot.run import reference
from poinsot.run.recorder import Facts, Recorder, columns_of
from poinsot.run.reference import ReferenceEngine
from poinsot.schemes.records import find_scheme
from poinsot.systems.controlling import Sampled

H, STEPS = 0.05, 23


def mechanism():
    """Three bodies with springs, dampers, motors and loads; angles and displacements."""
    kinds = ("Revolute", "Cylindrical", "Universal", "Planar")
    return mechanisms.full(5, bodies=3, kinds=kinds).model().compile("directors", stabilised=False)


def stabilised():
    return mechanisms.full(8, bodies=2).model().compile("directors", stabilised=True)


def train():
    """Two parts, joined: ports that are open, fed and connected."""
    joint = ph.Gyrator("mass.force", "spring.end")
    system = ph.interconnect(mass(), spring(), connections=joint, name="train")
    assert system.connected
    return system


def plain():
    return ph.feed(oscillator(d=0.3), "oscillator.force", np.cos)


SYSTEMS = {f.__name__: f for f in (mechanism, stabilised, train, plain)}


def begin(system, every):
    x0 = system.start if system.proven else np.linspace(1, 2, system.n)
    return Recorder(system, x0, system.angles(x0), 0.0, STEPS, every)


def facts(system, **options):
    return Facts(find_scheme(system.default_scheme), "test", H, STEPS * H, **options)


def finish(recorder, **options):
    return recorder.result(facts(recorder.system, **options), "done")


def blocks(recorder, sizes):
    """A run by the reference engine in blocks of these sizes; 0: no step at all."""
    system, every, done = recorder.system, recorder.save_every, 0
    scheme, sampled = find_scheme(system.default_scheme), Sampled([], system, H, 1)
    clock = Clock(0.0, STEPS * H, H, STEPS)
    engine = ReferenceEngine(system, scheme, recorder.origin, Newton(), sampled)
    for size in sizes:
        block = engine.advance(clock, done, size, every, recorder.totals)
        assert block.steps == size
        yield block
        done += size


def by_blocks(system, sizes, every=1, **options):
    recorder = begin(system, every)
    for block in blocks(recorder, sizes):
        recorder.extend(block)
    return finish(recorder, **options)


def by_steps(system, every=1, steps=STEPS, **options):
    return by_blocks(system, [1] * steps, every, **options)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Blocks are as long as they are asked for."""
    monkeypatch.setattr(reference, "PAUSE", np.inf)


@pytest.fixture(params=SYSTEMS, scope="module")
def system(request):
    return SYSTEMS[request.param]()


@pytest.fixture
def on_disk(monkeypatch):
    """Everything goes to disk, a kilobyte at a time."""
    monkeypatch.setattr(store, "LIMIT", 0)
    monkeypatch.setattr(store, "PIECE", 1000)


# -- blocks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("sizes", [[23], [4, 8, 11], [1, 5, 2, 15]], ids=str)
def test_blocks_make_the_same_result_as_steps(system, sizes, every):
    assert_same(by_blocks(system, sizes, every), by_steps(system, every))


@pytest.mark.parametrize("sizes", [[6], [3, 3], [4, 2], [1, 5]], ids=str)
def test_the_last_step_is_kept_even_if_it_is_not_due(system, sizes):
    recorder = begin(system, 4)
    for block in blocks(recorder, sizes):
        recorder.extend(block)
    assert recorder.pending is not None
    result = finish(recorder)
    assert np.allclose(result.time, [0, 4 * H, 6 * H])
    assert result.stats.steps == 6
    assert_same(result, by_steps(system, 4, 6))


def test_the_arrays_of_a_block_may_be_used_again(system):
    recorder = begin(system, 4)
    for block in blocks(recorder, [10, 8]):
        recorder.extend(block)
        for part in (block.saved, block.pending):
            part.x[:], part.time[:] = np.nan, np.nan
    assert_same(finish(recorder), by_steps(system, 4, 18))


# -- memory and disk --------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 4])
def test_a_result_on_disk_is_the_same_as_one_in_memory(system, every, monkeypatch):
    in_memory = by_steps(system, every)
    monkeypatch.setattr(store, "LIMIT", 0)
    monkeypatch.setattr(store, "PIECE", 1000)
    assert_same(by_steps(system, every), in_memory)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts files by /proc")
def test_looking_at_everything_opens_few_files(on_disk, monkeypatch):
    monkeypatch.setattr(history, "ROWS", 3)
    system = mechanism()
    before = len(os.listdir("/proc/self/fd"))
    result = by_steps(system)
    for _ in numbers(result), numbers(result):
        assert len(os.listdir("/proc/self/fd")) - before <= 2 * len(columns_of(system, 0))
    assert len(result.states) + len(result.observation.joints) > 11


@pytest.mark.parametrize("rows", [1, 4])
def test_looking_at_a_few_states_at_a_time_changes_nothing(system, rows, monkeypatch):
    at_once = numbers(by_steps(system))
    monkeypatch.setattr(history, "ROWS", rows)
    few = numbers(by_steps(system))
    assert list(few) == list(at_once)
    for name, values in at_once.items():
        if isinstance(values, np.ndarray):
            np.testing.assert_allclose(few[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_run_without_steps_has_a_start_and_empty_reactions():
    system = mechanism()
    result = finish(begin(system, 1))
    assert result.time.tolist() == [0.0]
    for name in result.observation.joints:
        joint = result.joint(name)
        assert joint.force.shape == joint.torque_a.shape == (0, 3)
        assert joint.rotation.shape == (1, 3)
    assert result.constraint_error.shape == (1,)


@pytest.fixture
def full(monkeypatch, on_disk):
    """A disk on which each file may have two kilobytes."""
    anonymous = tempfile.TemporaryFile

    class Small(FileIO):
        def __init__(self):
            with anonymous(buffering=0) as file:
                super().__init__(os.dup(file.fileno()), "w+b")

        def write(self, data):
            if self.tell() + len(data) > 2000:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda buffering: Small())


def run(**options):
    return ps.simulate(plain(), **{"h": 0.01, "t_end": 4.0, "x0": [1.0, 0.0], **options})


def test_a_full_disk_stops_the_run_and_keeps_what_was_written(full, monkeypatch):
    monkeypatch.setattr(reference, "PAUSE", 0.0)
    with pytest.raises(ps.SimulationError, match="No space left on device; free some") as error:
        run()
    result = error.value.result
    assert result.status == "failed"
    assert str(error.value) == result.message
    assert result.message.count("No space left") == 1
    monkeypatch.undo()
    whole, kept = run(), result.time.size
    assert 60 < kept <= result.stats.steps + 1 < 400
    for name in ("time", "energy", "dissipated", "balance_error"):
        assert np.array_equal(getattr(result, name), getattr(whole, name)[:kept])
    assert np.array_equal(result["oscillator.q"], whole["oscillator.q"][:kept])
    port, expected = (r.port("oscillator.force") for r in (result, whole))
    assert np.array_equal(port.energy, expected.energy[:kept])
    assert np.array_equal(port.u, expected.u[: kept - 1])


def test_a_disk_that_is_full_at_the_very_end_is_reported(full, monkeypatch):
    # One piece is on disk when the last steps, less than a piece, find no room.
    monkeypatch.setattr(store, "PIECE", 8000)
    monkeypatch.setattr(reference, "PAUSE", 0.0)
    with pytest.raises(ps.SimulationError, match="No space left") as error:
        run(t_end=1.4)
    assert error.value.result.stats.steps == 140
    assert 60 < error.value.result.time.size < 140


def test_a_full_disk_at_an_interrupt_is_reported_too(full, monkeypatch):
    monkeypatch.setattr(store, "PIECE", 8000)
    monkeypatch.setattr(reference, "PAUSE", 0.0)

    def force(t):
        if t > 1.4:
            raise KeyboardInterrupt
        return 0.0

    result = ps.simulate(
        oscillator(), h=0.01, t_end=4.0, x0=[1, 0], inputs={"oscillator.force": force}
    )
    assert result.status == "interrupted"
    assert "interrupted at t = 1.4 s; cannot write" in result.message
    assert 60 < result.time.size < 140


def test_a_block_that_finds_no_room_leaves_no_gap(request):
    system = mechanism()
    one, many = blocks(begin(system, 1), [1, 22])
    request.getfixturevalue("full")
    recorder = begin(system, 1)
    recorder.extend(one)
    with pytest.raises(store.StorageError, match="No space left"):
        recorder.extend(many)
    assert recorder.done == 1
    assert finish(recorder).time == pytest.approx([0, H])


def test_the_start_is_written_before_anything_is_computed(full, monkeypatch):
    monkeypatch.setattr(store, "PIECE", 10**6)
    with pytest.raises(ps.SimulationError, match="No space left") as error:
        run()
    assert error.value.result.time.tolist() == [0.0]
    assert "0 to 0 s (failed)" in error.value.result.summary()


def test_what_cannot_fit_anywhere_is_refused_before_anything_is_computed():
    with pytest.raises(ps.InputError, match=r"do not fit into memory or on disk: .* free in .*;"):
        run(h=1e-14)


LONG_RUN = """
import os, sys
import numpy as np
import mechanisms
from poinsot.result.history import Saved
from poinsot.ph.runner import Block, Clock
from poinsot.run.recorder import Facts, Recorder
from poinsot.schemes.records import SCHEMES

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20

system = mechanisms.tree(3, bodies=3).model().compile("directors", stabilised=False)
k, n, total = 3000, system.n, 120_000

def run(steps):
    recorder = Recorder(system, system.start, system.angles(system.start), 0.0, steps, 1)
    angles = recorder.totals.turn.size
    for done in range(0, steps, k):
        t, one = 1e-3 * np.arange(done + 1, done + k + 1), np.ones(k)
        x = np.tile(system.start, (k, 1))
        saved = Saved(t, x, one, one, 0 * one, np.zeros((k, 0)), np.zeros((k, angles)), t, x,
                      [], [], np.ones(k, dtype=int))
        recorder.extend(Block(k, t[-1], k, 0.0, 0.0, 0.0, 1e-3, saved))
    assert recorder.table.on_disk == (steps == total)
    return recorder.result(Facts(SCHEMES["ph-mp"], "test", 1e-3, 1e-3 * steps), "done")

run(2 * k).constraint_error.max()  # what is needed once
before = resident()
result = run(total)
written = resident()
assert result.time[-1] == 1e-3 * total
assert result.energy.size == total + 1
assert result.constraint_error.max() < 1e-9
assert np.ptp(result.angular_momentum, axis=0).max() < 1e-9
print(n * 16 * total / 2**20, written - before, resident() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads memory from /proc")
def test_memory_does_not_grow_with_the_run():
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", LONG_RUN],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    states, written, looked_at = (float(number) for number in done.stdout.split())
    assert states > 150
    assert written < 20
    assert looked_at < 50


# -- states that a run leaves out -------------------------------------------------------------


@pytest.fixture(params=["memory", "disk"])
def recovering(request):
    """A run that leaves out some states, and what fills them in from the right steps."""
    if request.param == "disk":
        request.getfixturevalue("on_disk")
    system = mechanism()
    calls, complete = [], by_steps(system)
    left_out = frozenset({"body1.rigidity", list(complete.observation.joints)[1], "body0.rigidity"})
    missing = np.concatenate([np.r_[system.slices[name]] for name in left_out])
    recorder, right = begin(system, 1), {}
    for block in blocks(recorder, [9, 14]):
        saved = block.saved
        for k, t in enumerate(saved.time):
            right[t] = saved.x[k].copy(), saved.stage_x[k].copy(), [u[k].copy() for u in saved.u]
        x, stage_x = saved.x.copy(), saved.stage_x.copy()
        x[:, missing], stage_x[:, missing] = np.nan, np.nan
        recorder.extend(replace(block, saved=replace(saved, x=x, stage_x=stage_x)))

    def recover(saved):
        calls.append(saved.time.size)
        x, stage_x, u = zip(*(right[t] for t in saved.time), strict=True)
        for i, inputs in enumerate(saved.u):
            assert np.array_equal(inputs, [each[i] for each in u])
        return np.array(x), np.array(stage_x)

    result = finish(recorder, recover=recover, recovered=left_out)
    return result, complete, left_out, calls


def test_states_left_out_are_recovered_when_they_are_asked_for(recovering):
    result, complete, left_out, calls = recovering
    for name in result.states:
        if name not in left_out:
            assert np.array_equal(result[name], complete[name])
    for name in result.observation.bodies:
        assert np.array_equal(result.position(name), complete.position(name))
    assert np.array_equal(result.constraint_error, complete.constraint_error)
    for name in set(result.observation.joints) - left_out:
        assert np.array_equal(result.reaction(name).force, complete.reaction(name).force)
    assert calls == []
    for name in left_out:
        assert np.array_equal(result[name], complete[name])
    assert calls == [STEPS]
    assert_same(result, complete)
    assert calls == [STEPS]


def test_reactions_of_multipliers_left_out_are_recovered_in_pieces(recovering, monkeypatch):
    result, complete, left_out, calls = recovering
    monkeypatch.setattr(history, "ROWS", 7)
    (joint,) = left_out & set(result.observation.joints)
    np.testing.assert_allclose(
        result.reaction(joint).force, complete.reaction(joint).force, rtol=1e-12, atol=1e-12
    )
    assert calls == [7, 7, 7, 2]


def test_a_run_without_steps_has_nothing_to_recover():
    system = mechanism()
    result = finish(
        begin(system, 1), recover=lambda saved: 1 / 0, recovered=frozenset(system.slices)
    )
    for name, piece in system.slices.items():
        assert np.array_equal(result.states[name].values, system.start[None, piece])
    for name in result.observation.joints:
        assert result.reaction(name).force.shape == (0, 3)
