"""Whatever happened to a file, it ends or hangs nobody's process: libhdf5 does, of some."""

import json
import shutil
from pathlib import Path

import h5py
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from same import assert_same
from saved_runs import chain, train

import poinsot as ps
from poinsot.result import seal, trial


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two good files."""
    folder = tmp_path_factory.mktemp("saved")
    for run in (chain, train):
        run().save(folder / run.__name__)
    return sorted(folder.iterdir())


def sealed(content):
    """The pieces that are sealed, and where the seal begins."""
    end = len(content) - len(seal.MARK) - 8
    begin = end - int.from_bytes(content[end : end + 8], "little")
    return json.loads(content[begin:end])["pieces"], begin


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ps.InputError, match=r"is damaged|is not netCDF"):
        ps.load(path)


@pytest.fixture
def untried(monkeypatch):
    """A seal is enough: no process is started, and nothing goes to libhdf5."""

    def never(*_):
        raise AssertionError("tried")

    monkeypatch.setattr(trial, "survives", never)
    return monkeypatch


@given(data=st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100
)
def test_a_changed_byte_that_says_what_numbers_are_is_found(tmp_path, untried, saved, data):
    content = bytearray(data.draw(st.sampled_from(saved)).read_bytes())
    pieces, begin = sealed(content)
    start, stop = data.draw(st.sampled_from([*pieces, (begin, len(content) - len(seal.MARK))]))
    at = data.draw(st.integers(start, stop - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    untried.setattr(h5py, "File", None)
    refused(tmp_path / "run.nc", content)


def test_everything_is_sealed_but_numbers_and_what_changes(tmp_path, saved):
    """Names and units are: a run that is going on, or was killed, has its seal, too."""
    for content in map(Path.read_bytes, saved):
        pieces, begin = sealed(content)
        texts = b"".join(content[start:stop] for start, stop in pieces)
        assert all(name in texts for name in (b"CF-1.11", b"midpoint", b"J"))
        (tmp_path / "run.nc").write_bytes(content)
        with h5py.File(tmp_path / "run.nc") as file:
            place = file["energy"].id.get_chunk_info(0).byte_offset
        assert not any(start < place + 8 and place < stop for start, stop in pieces)
        assert sum(stop - start for start, stop in pieces) < begin


def test_a_program_that_changes_a_file_takes_its_seal_away(tmp_path, saved):
    path = tmp_path / "run.nc"
    for n, original in enumerate(saved):
        shutil.copy(original, path)
        before = ps.load(path)
        with h5py.File(path, "r+") as file:
            file.attrs["history"] = "Tuesday" * (1 + 1000 * n)
        assert path.read_bytes()[-len(seal.MARK) :] != seal.MARK
        assert_same(ps.load(path), before)


def endless(content):
    """An object of the global heap that takes no room: the next one is at the same place."""
    at = content.index(b"GCOL") + 16
    content[at : at + 16] = bytes(16)


def deadly(content):
    """A text of no known kind."""
    at = content.index(b"title\0\0\0\x19\1")
    content[at + 9] = 255


@pytest.mark.parametrize("damage", [endless, deadly])
def test_what_libhdf5_does_not_survive_is_refused(tmp_path, saved, monkeypatch, damage):
    monkeypatch.setattr(trial, "LONGEST", 3.0)
    content = bytearray(saved[1].read_bytes())
    damage(content)
    _, begin = sealed(content)
    refused(tmp_path / "run.nc", content[:begin])


def test_a_file_without_a_seal_is_loaded_where_no_process_can_be_started(
    tmp_path, saved, monkeypatch
):
    monkeypatch.setattr(trial.sys, "executable", str(tmp_path / "none"))
    path, content = tmp_path / "run.nc", saved[1].read_bytes()
    path.write_bytes(content[: sealed(content)[1]])
    assert ps.load(path).status == "done"
