"""Compiled code is kept on disk until a file of the engine changes."""

import copy
import os
import pickle

import numba
import pytest

from poinsot.engine import kernel
from poinsot.engine.run import run


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A directory with two files that stand for the engine's."""
    for name in ("kernel.py", "tiles.py"):
        (tmp_path / name).write_text("x = 1\n")
        os.utime(tmp_path / name, (1000, 1000))
    monkeypatch.setattr(kernel, "__file__", str(tmp_path / "kernel.py"))
    return tmp_path


def touched(path):
    os.utime(path / "tiles.py", (2000, 2000))


def longer(path):
    (path / "tiles.py").write_text("x = 10\n")
    os.utime(path / "tiles.py", (1000, 1000))


def more(path):
    (path / "new.py").write_text("")


def fewer(path):
    (path / "tiles.py").unlink()


@pytest.mark.parametrize("change", [touched, longer, more, fewer])
def test_a_changed_file_changes_the_stamp(engine, change):
    before = kernel._stamp()
    assert kernel._stamp() == before
    change(engine)
    assert kernel._stamp() != before


def test_other_files_do_not_matter(engine):
    before = kernel._stamp()
    (engine / "notes.txt").write_text("hello")
    (engine / "__pycache__").mkdir()
    assert kernel._stamp() == before


def test_the_stamp_covers_the_engine_itself():
    names = [name for name, *_ in kernel._stamp()]
    assert {"kernel.py", "run.py", "step.py", "tiles.py"} <= set(names)


def test_the_time_loop_is_kept_with_the_stamp_of_the_whole_engine():
    assert run._cache._cache_file._source_stamp == kernel._stamp()


def test_what_another_version_of_the_engine_kept_is_not_even_read(tmp_path):
    file = copy.copy(run._cache._cache_file)
    file._index_path = str(tmp_path / "index.nbi")
    with open(file._index_path, "wb") as index:
        pickle.dump(numba.__version__, index)
        index.write(b"a type that is gone")
    assert file._load_index() == {}
