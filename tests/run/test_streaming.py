"""A run that is written to a file while it goes on: readable at every moment, whatever happens."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import mechanisms
import numpy as np
import pytest
import xarray
from parts import mass, oscillator, spring
from same import assert_same, numbers

import poinsot as ps
from poinsot import ph
from poinsot.result.writer import Writer
from poinsot.run import recorder, reference, stream

KINDS = ("Revolute", "Cylindrical", "Universal", "Planar")


def chain():
    return mechanisms.full(5, bodies=3, kinds=KINDS).model()


def train():
    joint = ph.Gyrator("mass.force", "spring.end")
    return ph.interconnect(mass(), spring(), connections=joint, name="train")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.nc"


@pytest.fixture
def at_every_step(monkeypatch):
    """The reference engine writes every step, the compiled one every block."""
    monkeypatch.setattr(reference, "PAUSE", -1.0)
    monkeypatch.setattr(stream, "PAUSE", -1.0)
    monkeypatch.setattr(stream, "SHARE", np.inf)


def assert_close(streamed, whole):
    one, other = numbers(streamed), numbers(whole)
    assert one.keys() <= other.keys()
    for name, values in one.items():
        if isinstance(values, np.ndarray):
            np.testing.assert_allclose(values, other[name], rtol=1e-11, atol=1e-11, err_msg=name)
        elif name not in ("stats.residual_max", "stats.balance_error_max"):
            assert values == other[name], name


def oscillate(**options):
    force = {"oscillator.force": np.cos}
    given = {"h": 0.01, "t_end": 1.0, "x0": [1.0, 0.0], "inputs": force, **options}
    return ps.simulate(oscillator(d=0.3), **given)


# -- the same result --------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("model", [chain, train], ids=lambda f: f.__name__)
def test_a_streamed_run_has_the_same_result(model, every, path, at_every_step):
    x0 = None if model is chain else [1.0, 0.5]
    options = {"h": 0.05, "t_end": 0.6, "x0": x0, "engine": "auto", "save_every": every}
    if model is chain:
        options["engine"] = "reference"
    whole = ps.simulate(model(), **options)
    streamed = ps.simulate(model(), **options, output=path)
    assert_close(streamed, whole)
    assert list(streamed.states) == list(whole.states)
    assert streamed.status == "done"
    assert_same(ps.load(path), streamed)
    with xarray.open_dataset(path) as ds:
        assert ds.time.values.tolist() == whole.time.tolist()
        assert ds.attrs["status"] == "done"


@pytest.mark.parametrize("scheme", ["eml", "emh-mean"])
def test_a_streamed_run_in_quaternions_has_the_same_result(scheme, path, at_every_step):
    options = {"h": 0.02, "t_end": 0.2, "scheme": scheme, "engine": "reference"}
    whole = ps.simulate(chain(), **options)
    streamed = ps.simulate(chain(), **options, output=path)
    assert_close(streamed, whole)
    assert list(streamed.states) == list(whole.states)
    assert_same(ps.load(path), streamed)


def test_a_compiled_run_is_streamed_without_the_states_that_the_engine_leaves_out(
    path, monkeypatch
):
    monkeypatch.setattr(stream, "PAUSE", 0.0)
    options = {"h": 1e-3, "t_end": 5.0, "save_every": 10, "engine": "compiled"}
    model = mechanisms.tree(3, bodies=2).model()
    whole = ps.simulate(model, **options)
    streamed = ps.simulate(model, **options, output=path)
    assert_close(streamed, whole)
    left_out = whole.states.keys() - streamed.states.keys()
    assert left_out == {name for name in whole.states if name.endswith("rigidity")}
    assert_same(ps.load(path), streamed)


def test_reactions_in_loops_with_repeated_constraints_are_written(path):
    model = ps.Model(gravity=(0, 0, -9.81))
    door = model.add_body("door", ps.Box(mass=20, size=(1, 0.05, 2)), position=(0.5, 0, 0))
    for name, z in (("low", -0.8), ("high", 0.8)):
        hinge = ps.Revolute(model.ground, door, point=(0, 0, z), axis=(0, 0, 1))
        model.add_joint(name, hinge)
    options = {"h": 1e-3, "t_end": 0.1, "engine": "compiled"}
    whole = ps.simulate(model, **options)
    streamed = ps.simulate(model, **options, output=path)
    assert not whole.joint("low").complete
    assert_close(streamed, whole)
    total = streamed.reaction("low").force + streamed.reaction("high").force
    assert total[:, 2] == pytest.approx(20 * 9.81)


def test_steps_do_not_stay_in_memory(path, at_every_step, monkeypatch):
    sizes, extend = [], recorder.Recorder.extend

    def watched(self, block):
        extend(self, block)
        sizes.append(len(self.table))

    monkeypatch.setattr(recorder.Recorder, "extend", watched)
    assert oscillate(output=path).time.size == 101
    assert max(sizes) == 2


def test_many_steps_are_written_early(path, monkeypatch):
    monkeypatch.setattr(stream, "PAUSE", 1e9)
    monkeypatch.setattr(stream, "ROOM", 2000)
    written, write = [], Writer.write
    monkeypatch.setattr(Writer, "write", lambda self, *a: written.append(write(self, *a)))
    oscillate(output=path)
    assert 4 < len(written) < 20


# -- while it runs ----------------------------------------------------------------------------


def test_the_file_can_be_read_while_it_is_written(path, at_every_step):
    seen = []

    def force(t):
        if t > 0.5 and not seen:
            seen.append(ps.load(path))
            with xarray.open_dataset(path) as ds:
                seen.append(ds.load())
        return 0.0

    whole = oscillate(inputs={"oscillator.force": force}, output=path)
    part, ds = seen
    assert part.status == ds.attrs["status"] == "unfinished"
    assert "written up to t = 0.5 s by a run that is still going on" in part.message
    assert "(unfinished)" in part.summary()
    assert part.stats.steps == 50
    assert np.array_equal(part.energy, whole.energy[:51])
    assert np.array_equal(ds.energy, part.energy)
    assert np.array_equal(ds.x, whole.to_xarray().x[:51])


def test_an_interrupted_run_is_in_the_file(path, at_every_step):
    def force(t):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0.0

    result = oscillate(inputs={"oscillator.force": force}, output=path, save_every=4)
    assert result.status == "interrupted"
    assert result.time == pytest.approx([*np.arange(0, 0.29, 0.04), 0.3])
    assert_same(ps.load(path), result)


def test_an_interrupt_while_writing_waits(path, at_every_step, monkeypatch):
    write = Writer._write

    def interrupted(self, place, data):
        write(self, place, data)
        if self.shown["time"] == 20:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Writer, "_write", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        result = oscillate(output=path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.status == "interrupted"
    assert result.time.size in (20, 21)
    assert np.all(np.diff(result.time) > 0)
    assert_same(ps.load(path), result)


@pytest.mark.parametrize("pause", [-1.0, 1e9], ids=["every step", "at the end"])
def test_a_failed_run_is_in_the_file(path, pause, monkeypatch):
    monkeypatch.setattr(stream, "PAUSE", pause)

    def force(t):
        if t > 0.5:
            raise ZeroDivisionError("at last")
        return 0.0

    with pytest.raises(ps.SimulationError, match="ZeroDivisionError: at last") as error:
        oscillate(inputs={"oscillator.force": force}, output=path)
    loaded = ps.load(path)
    assert loaded.status == "failed"
    assert loaded.message == str(error.value)
    assert loaded.time.size == 51
    assert_same(loaded, error.value.result)


def test_a_step_without_solution_is_in_the_file(path):
    options = {"newton": ps.Newton(max_iterations=1, halvings=0), "engine": "reference"}
    with pytest.raises(ps.SimulationError, match="try a smaller step"):
        ps.simulate(chain(), h=0.1, t_end=1, output=path, **options)
    assert ps.load(path).status == "failed"
    assert ps.load(path).time.tolist() == [0.0]


def test_a_message_that_is_too_long_is_cut_in_the_file(path):
    def force(t):
        if t > 0.5:
            raise ZeroDivisionError(1000 * "äh ")
        return 0.0

    with pytest.raises(ps.SimulationError) as error:
        oscillate(inputs={"oscillator.force": force}, output=path)
    kept = ps.load(path).message
    assert kept.endswith("...")
    assert len(kept.encode()) <= 2000
    assert str(error.value).startswith(kept[:-3])


# -- files that exist, and places that do not -------------------------------------------------


def test_an_old_file_is_replaced_when_the_input_is_accepted(path):
    path.write_text("old")
    for wrong in ({"h": -1}, {"x0": [1.0]}, {"inputs": {"nothing": 1.0}}, {"save_every": 0}):
        with pytest.raises(ps.InputError):
            oscillate(output=path, **wrong)
        assert path.read_text() == "old"
    oscillate(output=path)
    assert ps.load(path).status == "done"
    assert os.listdir(path.parent) == ["run.nc"]


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ps.InputError, match="output: there is no folder"):
        oscillate(output=tmp_path / "results" / "run.nc")
    with pytest.raises(ps.InputError, match=r"output: .* is a folder"):
        oscillate(output=tmp_path)
    with pytest.raises(ps.InputError, match="output: expected the name of a file, got 3"):
        oscillate(output=3)
    with pytest.raises(ps.InputError, match=r"output: .* are needed, but only .* free in"):
        oscillate(output=tmp_path / "run.nc", h=1e-14)
    assert os.listdir(tmp_path) == []


def test_a_result_outlives_the_next_run_into_the_same_file(path):
    first = oscillate(output=path)
    energy = np.array(first.energy)
    oscillate(output=path, t_end=0.1)
    assert np.array_equal(first.energy, energy)
    assert first["oscillator.q"].shape == (101,)


# -- a full disk ------------------------------------------------------------------------------


def test_a_full_disk_stops_the_run_and_keeps_what_was_written(path, at_every_step, monkeypatch):
    write = Writer._write

    def full(self, place, data):
        if self.shown["time"] == 40 and len(data) > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, place, data)

    whole = oscillate()
    monkeypatch.setattr(Writer, "_write", full)
    with pytest.raises(ps.SimulationError, match=r"No space left on device; free some") as error:
        oscillate(output=path)
    assert str(error.value).count("No space left") == 1
    result = error.value.result
    assert result.status == "failed"
    assert result.message == str(error.value)
    assert np.array_equal(result.energy, whole.energy[:40])
    monkeypatch.undo()
    assert ps.load(path).time.size == 40


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_fills_up_while_the_run_goes_on(small_disk, at_every_step):
    path = small_disk / "run.nc"

    def force(t):
        if 0.5 < t < 0.505:
            with (small_disk / "other").open("wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
        return 0.0

    def careful(t):
        try:
            return force(t)
        except OSError:
            return 0.0

    force_ = {"oscillator.force": careful}
    with pytest.raises(ps.SimulationError, match="No space left on device") as error:
        oscillate(inputs=force_, output=path, h=1e-3, t_end=3.0)
    loaded = ps.load(path)
    assert loaded.status == "failed"
    assert "No space left" in loaded.message
    assert 500 <= loaded.time.size < 2000
    assert_same(loaded, error.value.result)


# -- a run that is killed ---------------------------------------------------------------------


def readable(path, whole):
    """Load a file that a dead run left behind, by HDF5 too; return how many rows it has."""
    part = ps.load(path)
    rows = part.time.size
    assert rows == part.midpoint.size + 1
    assert np.array_equal(part.time, whole.time[:rows])
    assert np.array_equal(part.energy, whole.energy[:rows])
    for name in whole.states:
        assert np.array_equal(part[name], whole[name][:rows])
    assert part.summary()
    with h5py.File(path) as file:
        assert np.array_equal(file["energy"][:rows], part.energy)
        for k, body in enumerate(whole.observation.bodies):
            assert np.array_equal(file["position"][:rows, k], part.position(body))
    return rows


def open_by_xarray(path, whole):
    part = ps.load(path)
    rows = part.time.size
    with xarray.open_dataset(path) as ds:
        ds.load()
        assert ds.sizes["time"] >= rows
        assert np.array_equal(ds.energy[:rows], part.energy)
        for body in whole.observation.bodies:
            assert np.array_equal(ds.position.sel(body=body)[:rows], part.position(body))


def test_the_file_is_whole_after_every_single_write(path, at_every_step, monkeypatch, tmp_path):
    copies, write = [], Writer._write

    def copying(self, place, data):
        write(self, place, data)
        if path.exists() and self.shown["time"] == 17:
            copies.append(tmp_path / f"{len(copies)}.nc")
            shutil.copy(path, copies[-1])

    monkeypatch.setattr(Writer, "_write", copying)
    options = {"h": 0.05, "t_end": 1.0, "engine": "reference"}
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("brick", ps.Box(mass=1, size=(1, 2, 3)), angular_velocity=(1, 2, 3))
    ps.simulate(model, **options, output=path)
    whole = ps.simulate(model, **options)
    assert len(copies) > 35
    rows = [readable(copy, whole) for copy in copies]
    assert rows == sorted(rows)
    assert set(rows) == {17, 18}
    for copy in copies[::8]:  # rows half written, lengths half advanced
        open_by_xarray(copy, whole)


KILLS = """
import os, random, signal, sys, time
from pathlib import Path
import mechanisms
import poinsot as ps
from poinsot.run import stream

stream.PAUSE, stream.SHARE = -1.0, float("inf")
folder, engine = Path(sys.argv[1]), sys.argv[2]
model = mechanisms.tree(3, bodies=2).model()
ps.simulate(model, h=0.01, t_end=0.1, engine=engine, output=folder / "first.nc")
choice = random.Random(int(sys.argv[3]))
for k in range(int(sys.argv[4])):
    path = folder / f"{k}.nc"
    child = os.fork()
    if child == 0:
        end = 200.0 if engine == "reference" else 2000.0  # s, later than any of the kills
        ps.simulate(model, h=0.01, t_end=end, engine=engine, output=path)
        os._exit(0)
    while not path.exists():
        time.sleep(1e-3)
    time.sleep(choice.uniform(0, 0.15))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
"""


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_killed_run_leaves_a_file_that_can_be_read(engine, tmp_path):
    seed, kills = time.time_ns() % 2**32, 4
    tests = str(Path(__file__).parent.parent)
    place = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", KILLS, tmp_path, engine, str(seed), str(kills)],
        check=True,
        env={**os.environ, "PYTHONPATH": place},
    )
    files = [tmp_path / f"{k}.nc" for k in range(kills)]
    rows = [ps.load(file).time.size for file in files]
    model = mechanisms.tree(3, bodies=2).model()
    t_end = max(1, max(rows) - 1) * 0.01
    whole = ps.simulate(model, h=0.01, t_end=t_end, engine=engine)
    for file in files:
        part = ps.load(file)
        assert part.status == "unfinished"
        assert f"written up to t = {part.time[-1]:g} s" in part.message
        n = part.time.size
        assert np.allclose(part.time, whole.time[:n], rtol=1e-14)
        with xarray.open_dataset(file) as ds:
            ds.load()
            assert n <= ds.sizes["time"]
            for body in whole.observation.bodies:
                assert np.allclose(part.position(body), whole.position(body)[:n], atol=1e-9)
                assert np.array_equal(ds.position.sel(body=body)[:n], part.position(body))
    assert max(rows) > 1, seed
