"""What a command reads is never what it writes, and no file is written twice."""

import os
import shutil
from itertools import cycle

import pytest
from commands import EXAMPLES, here

import poinsot as ps

MODEL = (EXAMPLES / "pendulum-with-motor.yaml").read_bytes()
SHORT = ("--t-end", "0.1", "--engine", "reference", "--quiet")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *words: here(monkeypatch, capsys, *words)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "run.nc"
    model = ps.Model.from_yaml_text(MODEL.decode())
    ps.simulate(model, h=0.01, t_end=0.1, engine="reference", output=path)
    return path


def same(path, how):
    """Return another name of a file."""
    if how == "path":
        return path.parent / "folder" / ".." / path.name
    other = path.with_name("other" + path.suffix)
    if how == "link":
        other.symlink_to(path)
    elif how == "hard link":
        os.link(path, other)
    return path if how == "name" else other


WORDS = [
    ("run", "a.yaml", *SHORT, "--output"),
    ("run", "a.yaml", *SHORT, "--summary"),
    ("run", "a.yaml", *SHORT, "--plot"),
    ("run", "a.yaml", *SHORT, "--animation"),
    ("run", "r.nc", *SHORT, "--output"),
    ("plot", "r.nc", "--output"),
    ("report", "r.nc", "--output"),
    ("view", "r.nc", "--html"),
    ("modes", "a.yaml", "--summary"),
    ("modes", "r.nc", "--summary"),
    ("bode", "a.yaml", "--from", "motor", "--to", "motor", "--output"),
    ("bode", "a.yaml", "--from", "motor", "--to", "motor", "--summary"),
]


#: Every output under its own name, and under one of the others.
NAMED = [
    pytest.param(words, how, id=f"{how}-{words[0]} {words[1]} {words[-1]}")
    for words, other in zip(WORDS, cycle(["path", "link", "hard link"]), strict=False)
    for how in ("name", other)
]


@pytest.mark.parametrize(("words", "how"), NAMED)
def test_the_input_is_not_overwritten(words, how, command, result, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.yaml").write_bytes(MODEL)
    shutil.copy(result, tmp_path / "r.nc")
    source = tmp_path / words[1]
    before = source.read_bytes()
    status, out, err = command(*words, same(source, how))
    assert (status, out) == (2, "")
    assert err.startswith("error: cannot write '")
    assert err.endswith("it is the input; choose another name\n")
    assert source.read_bytes() == before


def test_two_outputs_have_two_names(command, tmp_path):
    (tmp_path / "a.yaml").write_bytes(MODEL)
    status, _, err = command("run", "a.yaml", *SHORT, "-o", "r.nc", "--summary", "./r.nc")
    assert status == 2
    assert err == "error: cannot write 'r.nc': 'r.nc' is the same file; choose another name\n"
    assert os.listdir(tmp_path) == ["a.yaml"]
    status, _, err = command("run", "a.yaml", *SHORT, "--summary", "/dev/null", "-o", "r.nc")
    assert (status, err) == (0, "")


def test_an_example_is_no_file(command, tmp_path):
    words = ("run", "pendulum", "--t-end", "0.1", "--quiet", "--output", "pendulum")
    assert command(*words)[0] == 0
    assert ps.load(tmp_path / "pendulum").status == "done"
