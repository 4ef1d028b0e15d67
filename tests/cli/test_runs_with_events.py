"""Events on the command line: what stopped a run is said, and it counts as done."""

import json

import pytest
from commands import here

import poinsot as ps

FILE = """poinsot: 1
gravity: [0, 0, -9.81]
bodies:
  bob: {sphere: {mass: 2, radius: 0.1}, position: [1, 0, 0]}
joints:
  pivot: {revolute: {bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}}
forces:
  band: {spring: {bodies: [ground, bob], point_a: [0, 0, 1], point_b: [1, 0, 0], stiffness: 9}}
events:
  free:
    when: pivot.angle - 0.5
    then: [{release: {joint: pivot}}, {switch: {load: band, on: false}}]
  caught: {when: "t - 0.45", then: stop, direction: 1}
  never: {when: "t - 7"}
simulation: {step: 0.01, t_end: 2}
"""


@pytest.fixture
def command(monkeypatch, capsys):
    return lambda *words: here(monkeypatch, capsys, *words)


def test_a_run_that_an_event_stops_is_done(tmp_path, command):
    (tmp_path / "swing.yaml").write_text(FILE)
    words = "--output", tmp_path / "run.nc", "--summary", tmp_path / "run.json"
    status, said, _ = command("run", str(tmp_path / "swing.yaml"), *map(str, words))
    assert status == 0
    assert "event 'free': at t = 0.3" in said
    assert "event 'never': never" in said
    assert "stopped: event 'caught' at t = 0.45 s" in said
    assert "added by events [J]" in said
    told = json.loads((tmp_path / "run.json").read_text())
    assert told["status"] == "done"
    assert told["message"] == "event 'caught' at t = 0.45 s"
    assert told["events"]["never"] == []
    assert told["events"]["caught"] == [pytest.approx(0.45, abs=1e-12)]
    assert told["added_by_events"] < 0
    result = ps.load(tmp_path / "run.nc")
    assert result.added[-1] == told["added_by_events"]
    assert "added by events" in result.summary()
    assert result.events["free"].what == "release pivot, switch off band"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("then: stop", "then: halt", "events.caught"),
        ("{release: {joint: pivot}}", "{releas: {joint: pivot}}", "releas"),  # codespell:ignore
        ("{release: {joint: pivot}}", "{release: {joint: pivto}}", "did you mean 'pivot'"),
        ("pivot.angle - 0.5", "pivto.angle - 0.5", "did you mean 'pivot'"),
        ("load: band, on: false", "load: band", "on"),
        ("direction: 1", "direction: 3", "direction"),
    ],
)
def test_a_wrong_event_is_named_with_its_line(tmp_path, command, old, new, told):
    (tmp_path / "swing.yaml").write_text(FILE.replace(old, new))
    status, _, error = command("run", str(tmp_path / "swing.yaml"))
    assert status == 2
    assert told in error
    lines = FILE.replace(old, new).splitlines()
    line = next(k for k, text in enumerate(lines, 1) if new in text)
    # Of the key itself, or of the event that has it.
    assert any(f"swing.yaml:{line - k}:" in error for k in range(3))
