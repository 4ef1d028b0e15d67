"""Result files that are missing, foreign or damaged: what is wrong with them is said."""

import json
import os
import shutil
from contextlib import suppress

import h5py
import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from same import assert_same
from saved_runs import chain, train

import poinsot as ps
from poinsot.result import trial


@pytest.fixture(scope="module")
def small():
    return train()


@pytest.fixture
def untried(monkeypatch):
    """Nothing here ends a process, and to start one for every file would take long."""
    monkeypatch.setattr(trial, "survives", lambda path: True)


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
    (tmp_path / "model.yaml").write_text("poinsot: 1")
    refused(tmp_path / "model.yaml", "simulate the model first: poinsot run .*model.yaml")
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
        refused(path, "'energy' is stored in another place or file")


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
    max_examples=80,
)
def test_a_damaged_file_is_refused_or_can_be_used(tmp_path, untried, whole, data):
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
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
def test_a_file_that_is_cut_anywhere_is_refused(tmp_path, untried, whole, data):
    content = data.draw(st.sampled_from(whole)).read_bytes()
    size = data.draw(st.integers(8, len(content) - 1))
    (tmp_path / "run.nc").write_bytes(content[:size])
    with pytest.raises(ps.InputError, match="is damaged"):
        ps.load(tmp_path / "run.nc")


def test_a_study_is_no_result(tmp_path):
    with h5py.File(tmp_path / "study.nc", "w") as file:
        file.attrs["poinsot_study"] = 1
    refused(tmp_path / "study.nc", r"study\.nc' is a study; open it by ps\.load_study")
