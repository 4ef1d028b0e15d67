"""The table of saved steps: in memory or on disk it holds the same, and leaves nothing behind."""

import errno
import gc
import os
import tempfile
from io import FileIO
from pathlib import Path

import numpy as np
import pytest

from poinsot.errors import PoinsotError, StorageError
from poinsot.result import store
from poinsot.result.store import Column, Table

COLUMNS = {
    "t": Column(),
    "x": Column((3,)),
    "none": Column((0,)),
    "count": Column(dtype=np.dtype(np.intp)),
}
#: Bytes of a row.
ROW = 8 + 24 + 8


def block(first, rows):
    """Rows that are known by their number."""
    k = np.arange(first, first + rows)
    return {
        "t": 0.5 * k,
        "x": k[:, None] + [0.1, 0.2, 0.3],
        "none": np.zeros((rows, 0)),
        "count": k,
    }


def row(k):
    return {name: column[0] for name, column in block(k, 1).items()}


def fill(table, sizes):
    """Add blocks of these sizes; a block of one is added as a row."""
    for rows in sizes:
        if rows == 1:
            table.append(row(len(table)))
        else:
            table.extend(block(len(table), rows))


def holds(table, rows):
    """Whether the table consists of the first so many rows."""
    expected = block(0, rows)
    return len(table) == rows and all(
        np.array_equal(table.rows(name, 0, rows), expected[name])
        and table.rows(name, 0, rows).dtype == COLUMNS[name].dtype
        for name in COLUMNS
    )


@pytest.fixture
def small(monkeypatch):
    """Limits that a few rows reach: 50 in memory, 10 in a piece."""
    monkeypatch.setattr(store, "LIMIT", 50 * ROW)
    monkeypatch.setattr(store, "PIECE", 10 * ROW)


@pytest.fixture
def disk(monkeypatch):
    """A disk with so many bytes for each file; `disk.space` may be changed."""

    anonymous = tempfile.TemporaryFile

    class Disk(FileIO):
        space = 10**9

        def __init__(self):
            with anonymous(buffering=0) as file:
                super().__init__(os.dup(file.fileno()), "w+b")

        def write(self, data):
            if self.tell() + len(data) > self.space:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data[:70])  # a file may take less than it is given

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda buffering: Disk())
    return Disk


SIZES = {
    "rows": [1] * 49,
    "blocks": [3, 9, 10, 2, 0, 7],
    "rows and blocks": [1, 1, 12, 1, 30, 1, 4],
    "one block": [50],
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("expected", [0, 20, 50, 51, 1000])
def test_rows_come_back_as_they_were_added(small, sizes, expected):
    table = Table(COLUMNS, expected)
    fill(table, sizes)
    assert table.on_disk == (expected > 50)
    assert holds(table, sum(sizes))


@pytest.mark.parametrize("sizes", [*SIZES.values(), [60], [1, 200]], ids=[*SIZES, "60", "1, 200"])
def test_a_table_that_outgrows_memory_moves_to_disk(small, sizes):
    table = Table(COLUMNS)
    fill(table, sizes)
    if sum(sizes) <= 50:
        assert not table.on_disk
        before = sum(sizes)
        view = table.rows("x", 0, before)
        fill(table, [1] * 25 + [30])
        assert np.array_equal(view, block(0, before)["x"])  # what was handed out stays
        sizes = [before, 55]
    assert table.on_disk
    assert holds(table, sum(sizes))
    fill(table, [1, 35, 1, 3])
    assert holds(table, sum(sizes) + 40)


@pytest.mark.parametrize("expected", [0, 1000])
def test_some_rows_are_read_without_the_others(small, expected):
    table = Table(COLUMNS, expected)
    fill(table, [45])
    assert np.array_equal(table.rows("x", 13, 31), block(13, 18)["x"])
    assert table.rows("x", 7, 7).shape == (0, 3)
    assert table.rows("none", 7, 9).shape == (2, 0)


@pytest.mark.parametrize("expected", [0, 1000])
def test_saved_numbers_are_read_only_and_copies(small, expected):
    table, values = Table(COLUMNS, expected), block(0, 20)
    table.extend(values)
    for array in values.values():
        array[:] = 0
    assert holds(table, 20)
    with pytest.raises(ValueError, match="read-only"):
        table.rows("t", 0, 20)[0] = 1.0


def test_a_block_of_the_wrong_shape_is_refused():
    table = Table(COLUMNS)
    for name, wrong in (("x", np.zeros((4, 2))), ("x", np.zeros(4)), ("count", np.zeros(3))):
        with pytest.raises(ValueError, match=f"column '{name}': shape"):
            table.extend({**block(0, 4), name: wrong})
    assert holds(table, 0)


# -- files ------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts files by /proc")
def test_no_file_is_left_behind(small, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def open_files():
        gc.collect()
        return [f for f in os.listdir("/proc/self/fd") if _points_into(f, tmp_path)]

    table = Table(COLUMNS, 1000)
    fill(table, [100])
    assert len(open_files()) >= 3
    assert list(tmp_path.iterdir()) == []  # even now: a crash would leave nothing
    t = table.rows("t", 0, 100)
    del table
    assert len(open_files()) == 1  # the map of the array
    assert np.array_equal(t, block(0, 100)["t"])
    del t
    assert open_files() == []


def _points_into(descriptor, folder):
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith(str(folder))
    except FileNotFoundError:  # the listing's own
        return False


@pytest.mark.filterwarnings("error")
def test_files_are_closed_without_a_warning(small):
    table = Table(COLUMNS, 1000)
    fill(table, [100])
    del table
    gc.collect()


def test_what_cannot_fit_is_refused_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(StorageError, match=r"4 EB are needed, but only .* free in"):
        Table(COLUMNS, 10**17)


def test_no_place_for_temporary_files_is_reported(small, monkeypatch):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(StorageError, match=r"no folder for temporary files: .*; set TMPDIR"):
        Table(COLUMNS, 1000)


# -- a full disk ------------------------------------------------------------------------------


def test_a_file_that_takes_little_at_a_time_gets_everything(small, disk):
    table = Table(COLUMNS, 1000)
    fill(table, [1] * 15 + [30, 12])
    assert holds(table, 57)


def test_a_full_disk_is_reported_and_what_was_written_stays(small, disk):
    table = Table(COLUMNS, 1000)
    fill(table, [1] * 25)  # twenty are written, five wait
    disk.space = 24 * 29
    with pytest.raises(PoinsotError, match=r"cannot write .*: No space left.*set TMPDIR"):
        fill(table, [1] * 10)
    assert holds(table, 20)
    with pytest.raises(StorageError, match="No space left"):
        fill(table, [30])
    assert holds(table, 20)
    disk.space = 10**9
    fill(table, [1, 30])
    assert holds(table, 51)


def test_what_waits_is_given_up_when_it_cannot_be_written(small, disk):
    table = Table(COLUMNS, 1000)
    fill(table, [25, 4])
    disk.space = 24 * 26
    with pytest.raises(StorageError, match="No space left"):
        table.flush()
    assert holds(table, 25)


def test_a_table_that_cannot_move_to_disk_stays_in_memory(small, disk):
    disk.space = 24 * 45
    table = Table(COLUMNS)
    fill(table, [1] * 50)
    for rows in (1, 30):
        with pytest.raises(StorageError, match="No space left"):
            fill(table, [rows])
    assert not table.on_disk
    assert holds(table, 50)
