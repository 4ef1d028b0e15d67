"""Kernels of mechanisms that are kept in files."""

import os
from pathlib import Path

import pytest

from poinsot.engine import kept, machine_code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code, "of_the_user", lambda: tmp_path)
    return tmp_path / "kernels"


def test_a_kernel_is_read_as_it_was_written(folder):
    name = kept.name_of("source", "text", ending=".o")
    assert kept.read(name) is None
    kept.write(name, b"code")
    assert kept.read(name) == b"code"
    assert [each.name for each in folder.iterdir()] == [name]


def test_a_damaged_file_is_not_taken(folder):
    kept.write("one.o", b"code of a kernel")
    path = folder / "one.o"
    for content in (path.read_bytes()[:-1], path.read_bytes()[:10], b""):
        path.write_bytes(content)
        assert kept.read("one.o") is None


def test_other_texts_have_other_names():
    names = {kept.name_of(*texts, ending=".o") for texts in (("ab", "c"), ("a", "bc"), ("abc",))}
    assert len(names) == 3


def test_a_folder_that_cannot_be_written_is_no_error(folder):
    folder.write_text("no folder")
    kept.write("one.o", b"code")
    assert kept.read("one.o") is None


def test_kernels_that_were_used_longest_ago_make_room(folder, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 3 * (kept.DIGEST + 4))
    for k, name in enumerate(("a.o", "b.o", "c.o")):
        kept.write(name, b"code")
        os.utime(folder / name, (k, k))
    assert kept.read("a.o") == b"code"
    kept.write("d.o", b"code")
    assert {each.name for each in folder.iterdir()} == {"a.o", "c.o", "d.o"}


def test_a_disk_that_is_full_keeps_nothing(folder, monkeypatch):
    def fails(self, other):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    kept.write("one.o", b"code")
    assert list(folder.iterdir()) == []
