"""What is wrong with a run is said on stderr and in what is written."""

import json

import pytest
from commands import EXAMPLES, here

from poinsot.run import exactness


@pytest.fixture
def command(monkeypatch, capsys):
    return lambda *words: here(monkeypatch, capsys, *words)


def test_a_run_that_is_warned_of_is_done_and_says_so(tmp_path, command, monkeypatch):
    monkeypatch.setattr(exactness, "MULTIPLE", 1e-12)  # every run is off by more
    monkeypatch.setattr(exactness, "START", 0)
    summary, output = tmp_path / "run.json", tmp_path / "run.nc"
    words = ["run", EXAMPLES / "slider-crank.yaml", "--t-end", "0.1", "--quiet"]
    status, out, err = command(*words, "--summary", summary, "--output", output)
    assert (status, out) == (0, "")
    found = json.loads(summary.read_text())
    assert found["status"] == "warned"
    assert found["warnings"]
    assert [f"warning: {text}" for text in found["warnings"]] == err.splitlines()
    page = tmp_path / "page.html"
    for words in (("report", output, "-o", page), ("plot", output, "-o", tmp_path / "plot.png")):
        status, _, again = command(*words)
        assert (status, again) == (0, err)
    assert f"Warning: {found['warnings'][0].partition(' in body')[0]}" in page.read_text()


def test_a_healthy_run_says_nothing(tmp_path, command):
    summary = tmp_path / "run.json"
    words = ["run", EXAMPLES / "slider-crank.yaml", "--t-end", "0.1", "--quiet"]
    assert command(*words, "--summary", summary) == (0, "", "")
    found = json.loads(summary.read_text())
    assert (found["status"], found["warnings"]) == ("done", [])
    assert found["constraint_velocity_mid_max"] < 1e-12
