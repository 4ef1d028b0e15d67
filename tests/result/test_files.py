"""Result files: what is loaded is what was saved."""

import copy
import errno
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parts import oscillator
from same import assert_same
from saved_runs import (
    at_once,
    chain,
    free,
    interrupted,
    momenta,
    quaternions,
    stabilised,
    train,
)

import poinsot as ps
from poinsot.result import blank, source, writer

RUNS = {
    f.__name__: f
    for f in (chain, stabilised, quaternions, momenta, free, train, interrupted, at_once)
}


@pytest.fixture(scope="module", params=RUNS)
def result(request):
    return RUNS[request.param]()


@pytest.fixture(scope="module")
def small():
    return train()


def saved(result, path):
    result.save(path)
    return ps.load(path)


# -- what is loaded is what was saved ---------------------------------------------------------


def test_a_loaded_result_is_the_same_to_the_bit(result, tmp_path):
    loaded = saved(result, tmp_path / "run.nc")
    assert_same(loaded, result)
    assert loaded.summary() == result.summary()
    assert type(loaded) is type(result)


def test_small_chunks_and_pieces_change_nothing(result, tmp_path, monkeypatch):
    monkeypatch.setattr(blank, "CHUNK", 500)
    monkeypatch.setattr(writer, "PIECE", 3000)
    assert_same(saved(result, tmp_path / "run.nc"), result)


def test_a_loaded_result_can_be_saved_again_even_over_itself(result, tmp_path):
    path = tmp_path / "run.nc"
    loaded = saved(result, path)
    loaded.save(path)
    assert_same(loaded, result)
    assert_same(ps.load(path), result)


def test_a_file_that_xarray_wrote_is_loaded_too(result, tmp_path):
    result.to_xarray().to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    assert_same(ps.load(tmp_path / "run.nc"), result)


def test_a_compressed_file_is_loaded_too(small, tmp_path):
    ds = small.to_xarray()
    packed = {name: {"zlib": True} for name in ds.data_vars if ds[name].dtype.kind == "f"}
    ds.to_netcdf(tmp_path / "run.nc", engine="h5netcdf", encoding=packed)
    loaded = ps.load(tmp_path / "run.nc")
    assert_same(loaded, small)
    with pytest.raises(ValueError, match="read-only"):
        loaded.energy[0] = 1.0


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip)


@given(
    names=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 30),
    message=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
    document=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_any_numbers_and_names_come_back(tmp_path, small, names, seed, rows, message, document):
    numbers = np.random.default_rng(seed)

    def draw(*shape):
        values = numbers.integers(0, 2**64, size=shape, dtype=np.uint64).view(np.float64)
        return np.where(np.isnan(values), 0.0, values)

    states = {
        name: ps.result.StateRecord(name, unit, draw(rows, k % 3 + 1))
        for k, (name, unit) in enumerate(zip(names, ("m", None, "kg m/s", "1"), strict=False))
    }
    ports = {
        name: replace(
            small.ports["mass.force"],
            name=name,
            u=draw(rows - 1, k + 1),
            y=draw(rows - 1, k + 1),
            power=draw(rows - 1),
            energy=np.zeros(rows),
            time=(midpoint := draw(rows - 1)),
        )
        for k, name in enumerate(names)
    }
    ports = {name: replace(port, time=midpoint) for name, port in ports.items()}
    result = replace(
        small,
        model=names[0],
        time=draw(rows),
        midpoint=midpoint,
        energy=draw(rows),
        dissipated=draw(rows),
        balance_error=draw(rows),
        states=states,
        ports=ports,
        stats=replace(small.stats, iterations=numbers.integers(0, 9, rows - 1)),
        observation=ps.result.Observation(),
        message=message,
        document=document,
    )
    assert_same(saved(result, tmp_path / "run.nc"), result)


def test_a_loaded_result_outlives_its_file(small, tmp_path):
    loaded = saved(small, tmp_path / "run.nc")
    os.unlink(tmp_path / "run.nc")
    assert_same(loaded, small)


def test_loaded_numbers_cannot_be_changed(small, tmp_path):
    loaded = saved(small, tmp_path / "run.nc")
    for array in (loaded.time, loaded["spring.q"], loaded.port("mass.force").u):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


# -- open files -------------------------------------------------------------------------------

MANY = """
import resource, sys
import numpy as np
import poinsot as ps
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
held = [ps.load(sys.argv[1]) for _ in range(120)]
assert len({result.summary() for result in held}) == 1
for result in held:
    assert np.isfinite(result.to_pandas()["energy [J]"]).all()
"""


def test_a_loaded_result_takes_one_descriptor(tmp_path):
    chain().save(tmp_path / "run.nc")
    done = subprocess.run(
        [sys.executable, "-c", MANY, tmp_path / "run.nc"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_too_many_open_results_are_told_as_such(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    chain().save(tmp_path / "run.nc")
    monkeypatch.setattr(source, "open", full, raising=False)
    with pytest.raises(ps.InputError, match="Too many open files; close other results"):
        ps.load(tmp_path / "run.nc")


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts open files in /proc")
def test_a_closed_result_is_opened_again_when_it_is_used(result, tmp_path):
    before, loaded = open_files(), saved(result, tmp_path / "run.nc")
    for _ in range(3):
        assert_same(loaded, result)
        assert open_files() == before + 1
        loaded.close()
        assert open_files() == before
    with loaded as same:
        assert same is loaded
        assert loaded.summary() == result.summary()
        energy = loaded.energy
    assert open_files() == before + 1
    assert np.array_equal(energy, result.energy)
    del energy
    assert open_files() == before
    del loaded, same
    ps.load(tmp_path / "run.nc").to_pandas()
    assert open_files() == before


def test_a_result_that_a_run_wrote_can_be_closed(tmp_path):
    before = open_files()
    with ps.simulate(oscillator(), h=0.1, t_end=1, x0=[1, 0], output=tmp_path / "run.nc") as run:
        assert open_files() == before + 1
    assert open_files() == before
    assert run.time.size == 11


def test_closing_a_result_in_memory_changes_nothing(small):
    with small:
        before = small.to_pandas()
    assert small.to_pandas().equals(before)


def test_a_file_that_changed_after_it_was_closed_is_not_mixed_up(small, tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    loaded = saved(small, path)
    monkeypatch.chdir(tmp_path)
    relative = ps.load("run.nc")
    loaded.close()
    relative.close()
    monkeypatch.chdir("/")
    assert relative.time.size == small.time.size
    small.save(path)
    with pytest.raises(ps.StorageError, match=r"'.*run.nc' has changed; load it again"):
        loaded.summary()
    path.unlink()
    with pytest.raises(ps.StorageError, match=r"cannot open '.*run.nc' again: No such file"):
        loaded.summary()
    assert relative.energy.size == small.time.size


def test_a_loaded_result_can_be_copied_and_sent(small, tmp_path):
    loaded = saved(small, tmp_path / "run.nc")
    for other in (copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        loaded.close()
        assert_same(other, small)


LARGE = """
import resource, sys
import poinsot as ps
import h5py, numpy as np
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = ps.load(sys.argv[1])
values = result.position("brick")
assert values.shape == (20_000_001, 3) and values[-1, 2] == 0
assert result.summary
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown / 1024)
"""


def test_a_file_larger_than_memory_opens_at_once(tmp_path):
    # Holes take no space: the file has 20 million rows, 10 gigabytes, and nothing in them.
    rows, result = 20_000_001, free()
    writer = ps.result.Writer(tmp_path / "run.nc", result, rows)
    writer._show({"time": rows, "midpoint": rows - 1})
    writer.publish()
    writer.close()
    assert os.path.getsize(tmp_path / "run.nc") > 9e9
    done = subprocess.run(
        [sys.executable, "-c", LARGE, tmp_path / "run.nc"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 50


# -- other readers ----------------------------------------------------------------------------


def test_xarray_reads_what_was_saved(result, tmp_path):
    result.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as found:
        expected = result.to_xarray()
        expected.attrs["date_created"] = found.attrs["date_created"]
        xarray.testing.assert_identical(found.load(), expected)


def test_everything_says_what_it_is_and_its_unit(small, tmp_path):
    small.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as ds:
        for name, variable in ds.variables.items():
            assert variable.attrs["long_name"], name
        for name in ds.data_vars:
            assert ds[name].attrs["units"], name
        for name in ("title", "scheme", "engine", "status", "poinsot_version", "Conventions"):
            assert ds.attrs[name]
        assert ds.attrs["step"] == small.h
        assert ds.attrs["balance_error_max"] == small.stats.balance_error_max
        assert not any(json.loads(ds.attrs["scene"]).values())


def test_long_documents_are_kept(small, tmp_path):
    text = "bodies: äöü\n" * 50_000
    assert saved(replace(small, document=text), tmp_path / "run.nc").document == text


# -- saving -----------------------------------------------------------------------------------


def test_a_folder_must_exist(small, tmp_path):
    with pytest.raises(ps.InputError, match=r"there is no folder '.*results'; create it first"):
        small.save(tmp_path / "results" / "run.nc")
    with pytest.raises(ps.InputError, match="is a folder; give the name of a file"):
        small.save(tmp_path)
    with pytest.raises(ps.InputError, match="expected the name of a file, got None"):
        small.save(None)


@contextmanager
def files_up_to(size):
    """No file may grow beyond this size."""
    limits, handler = (
        resource.getrlimit(resource.RLIMIT_FSIZE),
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [0, 5000, 20_000])
def test_a_disk_that_is_full_leaves_the_old_file_alone(small, tmp_path, size):
    path = tmp_path / "run.nc"
    old = saved(small, path)
    with files_up_to(size), pytest.raises(ps.StorageError, match=r"cannot write to '.*run.nc': .*"):
        small.save(path)
    assert os.listdir(tmp_path) == ["run.nc"]
    assert_same(ps.load(path), old)


def test_a_result_that_does_not_fit_is_refused(small, tmp_path):
    with pytest.raises(ps.StorageError, match=r"are needed, but only .* free in"):
        ps.result.Writer(tmp_path / "run.nc", small, 10**15)
    assert os.listdir(tmp_path) == []
