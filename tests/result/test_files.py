"""Result files: what is loaded is what was saved, and what is wrong with a file is said."""

import copy
import json
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace

import h5py
import mechanisms
import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parts import mass, oscillator, spring
from same import assert_same

import poinsot as ps
from poinsot import ph
from poinsot.result import blank, writer


def chain():
    """Bodies, markers, springs, dampers, motors and loads; angles and displacements."""
    model = mechanisms.full(
        5, bodies=3, kinds=("Revolute", "Cylindrical", "Universal", "Planar")
    ).model()
    body = next(iter(model.bodies.values()))
    model.add_marker("tip", body, position=(0.1, 0.2, 0.3))
    return ps.simulate(model, h=0.05, t_end=1.0, engine="reference")


def stabilised():
    model = mechanisms.full(8, bodies=2).model()
    return ps.simulate(model, h=0.05, t_end=0.5, scheme="ph-mp-ggl", engine="reference")


def quaternions(scheme="eml"):
    model = mechanisms.full(8, bodies=2, kinds=("Revolute", "Cylindrical")).model()
    model.add_marker("tip", model.bodies["body0"], position=(0.1, 0.2, 0.3))
    return ps.simulate(model, h=0.02, t_end=0.2, scheme=scheme, engine="reference")


def momenta():
    """In quaternions, without velocities."""
    return quaternions("emh-mean")


def free():
    """No joints and no ports."""
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("brick", ps.Box(mass=1, size=(1, 2, 3)), angular_velocity=(1, 2, 3))
    return ps.simulate(model, h=0.1, t_end=1.0, engine="reference")


def train():
    """Ports that are open, fed and connected."""
    system = ph.interconnect(
        mass(), spring(), connections=ph.Gyrator("mass.force", "spring.end"), name="train"
    )
    return ps.simulate(system, h=0.1, t_end=1.0, x0=[1.0, 0.5])


def interrupted():
    def force(t):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0.0

    force = {"oscillator.force": force}
    return ps.simulate(oscillator(), h=0.1, t_end=1, x0=[1, 0], inputs=force)


def at_once():
    """A run that failed in its first step: there is the start, and no midpoint."""

    def force(t):
        if t > 0:
            raise ValueError("no " + 1000 * "way, ")
        return 0.0

    force = {"oscillator.force": force}
    with pytest.raises(ps.SimulationError) as error:
        ps.simulate(oscillator(), h=0.1, t_end=1, x0=[1, 0], inputs=force)
    return error.value.result


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
        assert json.loads(ds.attrs["scene"]) == {"pieces": [], "pins": [], "struts": []}


def test_long_documents_are_kept(small, tmp_path):
    text = "bodies: äöü\n" * 50_000
    assert saved(replace(small, document=text), tmp_path / "run.nc").document == text


# -- wrong files ------------------------------------------------------------------------------


def refused(path, match):
    with pytest.raises(ps.InputError, match=match) as error:
        ps.load(path)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    refused(tmp_path / "run.nc", "there is no file '.*run.nc'")
    refused(tmp_path, "is a folder")
    refused(3, "expected the name of a file, got 3")
    refused("/dev/null", "is a folder or a device")
    refused(tmp_path / ("x" * 5000), "cannot read '.*': File name too long")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is a folder or a device")


def test_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "run.nc"
    path.write_bytes(b"")
    refused(path, "not a result file: it is not netCDF")
    path.write_text("time,energy\n" * 100)
    refused(path, "not a result file: it is not netCDF")
    xarray.Dataset({"a": ("x", [1.0, 2.0])}).to_netcdf(path, engine="h5netcdf")
    refused(path, "not written by Poinsot")


def test_a_newer_format_is_refused(small, tmp_path):
    small.save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        file.attrs["poinsot_format"] = 2
    refused(tmp_path / "run.nc", "has format 2, .* install a newer one")


@pytest.mark.parametrize("part", ["scheme", "status", "scene", "counts"])
def test_a_file_without_some_attribute_is_refused(small, tmp_path, part):
    small.save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        del file.attrs[part]
    refused(tmp_path / "run.nc", "is damaged")


def test_a_file_without_some_variable_is_refused(small, tmp_path):
    small.save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        del file["energy"]
    refused(tmp_path / "run.nc", "is damaged")


def test_a_file_that_was_cut_is_refused(small, tmp_path):
    path = tmp_path / "run.nc"
    small.save(path)
    data = path.read_bytes()
    for size in (8, 100, len(data) // 3, len(data) - 1):
        path.write_bytes(data[:size])
        refused(path, "is damaged")


def test_numbers_in_another_file_are_refused(small, tmp_path):
    """Neither HDF5's external storage nor its links make a result read a file of somebody else."""
    path, secret = tmp_path / "run.nc", tmp_path / "secret"
    secret.write_bytes(np.arange(99.0).tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["time"] = np.arange(11.0)
    layout = h5py.VirtualLayout(shape=(11,), dtype=float)
    layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "time", shape=(11,))
    replacements = {
        "external": lambda file: file.create_dataset(
            "energy", (11,), float, external=[(str(secret), 0, 88)]
        ),
        "virtual": lambda file: file.create_virtual_dataset("energy", layout),
        "link": lambda file: file.__setitem__("energy", h5py.ExternalLink("other.h5", "/time")),
        "cycle": lambda file: file.__setitem__("energy", h5py.SoftLink("/energy")),
    }
    for replacement in replacements.values():
        small.save(path)
        with h5py.File(path, "r+") as file:
            del file["energy"]
            replacement(file)
        refused(path, "'energy' is kept elsewhere, perhaps in another file")


def test_compressed_numbers_that_are_damaged_are_named(small, tmp_path):
    path, ds = tmp_path / "run.nc", small.to_xarray()
    ds.to_netcdf(path, engine="h5netcdf", encoding={"energy": {"zlib": True}})
    with h5py.File(path) as file:
        chunk = file["energy"].id.get_chunk_info(0)
    with path.open("r+b") as file:
        file.seek(chunk.byte_offset)
        file.write(b"\xff" * chunk.size)
    with pytest.raises(ps.StorageError, match=r"'.*run.nc' is damaged: 'energy'"):
        ps.load(path).summary()


def test_what_does_not_belong_to_a_result_is_passed_over(small, tmp_path):
    path = tmp_path / "run.nc"
    small.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["history"] = "Tuesday"
        file.attrs["odd"] = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])
        file["note"] = "a scalar"
        file["more"] = np.zeros(3)
        file["flag"] = np.int32(3)
        file["group/inside"] = np.zeros(3)
        file["group/cycle"] = file["/"]
    assert_same(ps.load(path), small)


ODD = [None, -1, 2.5, float("nan"), float("inf"), 10**18, "", "x", "ground", "[]", "{}", "null"]
ODD += [True, [], [1, 2], {}, {"a": 1}]


def break_attribute(draw, file):
    name = draw(st.sampled_from(sorted(file.attrs)))
    value = draw(
        st.sampled_from([*ODD[:12], b"\xff\xfe", [1.0, 2.0], ["a", "b"], h5py.Empty("f8")])
    )
    del file.attrs[name]
    if value is not None:
        file.attrs[name] = value


def break_json(draw, file):
    """Put something odd somewhere into the scene or the counts, or take it away."""
    name = draw(st.sampled_from(["scene", "counts"]))
    data = here = json.loads(file.attrs[name])
    while True:
        keys = sorted(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if isinstance(here[key], dict | list) and draw(st.booleans()):
            here = here[key]
            continue
        if draw(st.booleans()):
            here[key] = draw(st.sampled_from(ODD))
        else:
            del here[key]
        break
    del file.attrs[name]
    file.attrs[name] = json.dumps(data)


def break_variable(draw, file):
    name = draw(st.sampled_from(sorted(file)))
    how = draw(st.sampled_from(["gone", "type", "shape", "group", "cycle", "huge", "names"]))
    old = file[name][()]
    del file[name]
    if how == "type":
        kind = draw(st.sampled_from(["f4", ">f8", "i4", "i8", "u1", "c16", "S3", "?"]))
        file[name] = np.zeros(old.shape, kind)
    elif how == "shape":
        shapes = [(), (0,), old.shape[1:], (*old.shape, 2), old.shape[:-1], (1, *old.shape[1:])]
        shapes += [(*old.shape[:-1], old.shape[-1] + 1), (3, 3), old.shape[::-1]]
        file[name] = np.zeros(
            draw(st.sampled_from(shapes)), old.dtype if old.dtype != "O" else float
        )
    elif how == "group":
        file.create_group(name)
    elif how == "cycle":
        file[name] = file["/"]
    elif how == "huge":
        rows = draw(st.sampled_from([10**5, 2**40, 2**60]))
        dtype = h5py.string_dtype() if old.dtype == "O" else old.dtype
        shape = (rows, *old.shape[1:])
        file.create_dataset(name, shape, dtype, chunks=(1000, *old.shape[1:]))
    elif how == "names":
        values = draw(st.permutations(old.ravel().tolist())) + draw(st.sampled_from([[], [b"new"]]))
        file[name] = values[draw(st.integers(0, 1)) :]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Good files: one with joints, ports and markers, and one without bodies."""
    folder = tmp_path_factory.mktemp("whole")
    for run in (chain, train):
        run().save(folder / run.__name__)
    return sorted(folder.iterdir())


def use(result, path):
    """Look at everything in a result."""
    assert repr(result)
    assert result.summary()
    assert result.to_xarray().sizes["time"] == len(result.to_pandas())
    result.save(path)
    assert ps.load(path).summary() == result.summary()
    if result.observation.bodies:
        assert ps.viz.page(result)


@given(data=st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=150,
)
def test_a_damaged_file_is_refused_or_can_be_used(tmp_path, whole, data):
    path = tmp_path / "run.nc"
    shutil.copy(data.draw(st.sampled_from(whole)), path)
    breaks = st.sampled_from([break_attribute, break_json, break_variable])
    with h5py.File(path, "r+") as file:
        for damage in data.draw(st.lists(breaks, min_size=1, max_size=2)):
            try:
                damage(data.draw, file)
            except (TypeError, ValueError, LookupError, AttributeError, MemoryError):  # not so
                continue
    with suppress(ps.PoinsotError):
        use(ps.load(path), tmp_path / "again.nc")


@given(data=st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100
)
def test_a_file_that_is_cut_anywhere_is_refused(tmp_path, whole, data):
    content = data.draw(st.sampled_from(whole)).read_bytes()
    size = data.draw(st.integers(8, len(content) - 1))
    (tmp_path / "run.nc").write_bytes(content[:size])
    with pytest.raises(ps.InputError, match="is damaged"):
        ps.load(tmp_path / "run.nc")


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
    with pytest.raises(ps.StorageError, match=r"are more than the .* free in"):
        ps.result.Writer(tmp_path / "run.nc", small, 10**15)
    assert os.listdir(tmp_path) == []
