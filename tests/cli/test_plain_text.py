"""Names with control characters do not reach the terminal: messages and tables are plain text."""

import pickle

import pytest
from commands import here

import poinsot as ps
from poinsot import ph
from poinsot.errors import printable

NAME = "\x1b[31mred\x07\r\n\x9b2J\u202e"
SHOWN = r"\x1b[31mred\x07\r\n\x9b2J\u202e"
#: Control characters by the escapes of YAML, which a file may have.
WRITTEN = r"\e[31mred\a\r\n\x9b2J\u202e"
MODEL = f"""
poinsot: 1
name: "{WRITTEN}"
bodies:
  "{WRITTEN}": {{box: {{mass: 1, size: [1, 1, 1]}}, velocity: [1, 0, 0]}}
joints:
  "{WRITTEN} once": {{universal: {{bodies: [ground, "{WRITTEN}"], point: [0, 0, 1],
    axis_a: [0, 1, 0], axis_b: [1, 0, 0]}}}}
  "{WRITTEN} twice": {{spherical: {{bodies: [ground, "{WRITTEN}"], point: [0, 0, 1]}}}}
ports:
  "{WRITTEN} port": {{force: {{body: "{WRITTEN}", value: [1, 0, 0]}}}}
simulation: {{step: 0.1, t_end: 0.2, engine: reference}}
"""


def is_plain(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def command(monkeypatch, capsys):
    return lambda *words: here(monkeypatch, capsys, *words)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "model.yaml").write_text(MODEL)
    return tmp_path / "model.yaml"


def test_escapes_are_those_of_python():
    assert printable(NAME) == SHOWN
    assert printable(SHOWN) == SHOWN
    assert printable("Käse 🧀 kg·m²") == "Käse 🧀 kg·m²"


def test_every_error_is_plain_text():
    for error in (ps.InputError(f"no '{NAME}'"), ps.SimulationError(f"no '{NAME}'")):
        assert str(error) == f"no '{SHOWN}'"
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    error = ps.ModelFileError(f"no '{NAME}'", "two")
    assert str(error) == f"2 problems\n  no '{SHOWN}'\n  two"
    assert error.problems == (f"no '{SHOWN}'", "two")


def test_names_in_tables_are_plain_text(command, path):
    for words in (("check", path), ("run", path, "-v")):
        status, out, err = command(*words)
        assert (status, err) == (0, "")
        assert SHOWN in out
        assert is_plain(out)


def test_names_of_files_are_plain_text(command, path, tmp_path):
    odd = tmp_path / "\x1b[31m.yaml"
    odd.write_text(MODEL)
    output = odd.with_suffix(".nc")
    status, out, _ = command("run", odd, "-o", output)
    assert status == 0
    assert is_plain(out)
    status, out, err = command("run", tmp_path / "\x1b[32m.nc")
    assert status == 2
    assert is_plain(out + err)


def test_wrong_names_in_a_file_are_plain_text(command, path):
    for old, new in (
        ("body:", f'"{WRITTEN} key":'),
        (f'body: "{WRITTEN}"', f'body: "{WRITTEN} other"'),
        ("engine: reference", f'engine: "{WRITTEN}"'),
        ("mass: 1", f'mass: "{WRITTEN}"'),
    ):
        path.write_text(MODEL.replace(old, new))
        status, out, err = command("check", path)
        assert (status, out) == (2, "")
        assert r"\x1b[31mred" in err
        assert is_plain(err)


def test_a_result_shows_plain_text():
    system = ph.linear(NAME, states=[NAME], J=[[0]], Q=[[1]], B=[[1]], ports=[ph.Port(NAME)])
    result = ps.simulate(system, h=0.1, t_end=0.2, x0=[1.0])
    assert SHOWN in result.summary()
    assert is_plain(result.summary())
    assert is_plain(repr(result))
    assert is_plain(repr(ps.Model(name=NAME)))
