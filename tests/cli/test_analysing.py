"""`poinsot modes` and `poinsot bode`: their numbers against closed forms, and bad input."""

import json
import re

import numpy as np
import pytest
from commands import EXAMPLES, here

#: A trolley on a spring and a damper, held on a rail; the rail has no friction.
TROLLEY = """
poinsot: 1
name: trolley
bodies:
  trolley: {box: {mass: 2, size: [0.2, 0.1, 0.1]}, position: [1, 0, 0], velocity: [0.3, 0, 0]}
joints:
  rail: {prismatic: {bodies: [ground, trolley], point: [1, 0, 0], axis: [1, 0, 0]}}
forces:
  spring: {spring: {bodies: [ground, trolley], point_a: [0, 0, 0], point_b: [1, 0, 0],
    stiffness: 50, rest_length: 1, damping: 0.8}}
ports:
  push: {force: {body: trolley, value: [0, 0, 0]}}
simulation: {step: 0.01, t_end: 1, engine: reference}
"""
M, K, D = 2.0, 50.0, 0.8
OMEGA, ZETA = np.sqrt(K / M), D / (2 * np.sqrt(K * M))


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(TROLLEY)
    crank = (EXAMPLES / "slider-crank.yaml").read_text()
    (tmp_path / "failing.yaml").write_text(
        re.sub("step: [0-9.e-]+", "step: 5, newton: {halvings: 0}", crank)
    )
    return lambda *words: here(monkeypatch, capsys, *words)


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
@pytest.mark.parametrize("at", ["start", "equilibrium", "0.2"])
def test_modes_are_those_of_the_closed_form(at, coordinates, command, tmp_path):
    words = ("modes", "a.yaml", "--at", at, "--coordinates", coordinates, "--summary", "m.json")
    status, out, err = command(*words)
    assert (status, err) == (0, "")
    assert "trolley moves along x" in out
    (mode,) = [
        m for m in json.loads((tmp_path / "m.json").read_text())["modes"] if m["kind"] != "rigid"
    ]
    assert mode["kind"] == "oscillation"
    assert mode["frequency"] == pytest.approx(OMEGA, rel=1e-9)
    assert mode["hertz"] == pytest.approx(OMEGA / (2 * np.pi), rel=1e-9)
    assert mode["damping_ratio"] == pytest.approx(ZETA, rel=1e-9)


def test_the_response_is_that_of_the_closed_form(command, tmp_path):
    words = ("--from", "push[0]", "--to", "push[0]", "--band", "0.5", "50", "--summary", "b.json")
    status, out, err = command("bode", "a.yaml", "--at", "equilibrium", *words, "-o", "b.png")
    assert (status, err) == (0, "")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "b.json").read_text())
    s = 1j * np.array(found["frequencies"])
    assert (abs(s[0]), abs(s[-1])) == pytest.approx((0.5, 50))
    values = np.array(found["responses"]["push[0] / push[0]"]) @ (1, 1j)
    np.testing.assert_allclose(values, s / (M * s**2 + D * s + K), rtol=1e-9)
    # Of a mobility, the peak is at the undamped frequency: |Y| = 1 / d.
    (peak,) = [line.split() for line in out.splitlines() if line.startswith("  peak")]
    assert float(peak[1]) == pytest.approx(OMEGA, rel=1e-5)
    assert float(peak[3]) == pytest.approx(20 * np.log10(1 / D), abs=1e-3)


def test_a_saved_result_is_linearised_at_a_time_of_it(command):
    command("run", "a.yaml", "-o", "r.nc", "--quiet")
    for words in (("r.nc", "--at", "0.5"), ("a.yaml", "--at", "0.5")):
        status, out, _ = command("modes", *words)
        assert status == 0
        assert f"{OMEGA:.6g}" in out


@pytest.mark.parametrize("name", ["dc-motor", "mass-spring"])
def test_systems_without_bodies_have_modes_as_well(name, command):
    status, out, err = command("modes", name, "--at", "0.1")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) >= 5


PULLED = """
poinsot: 1
name: pulled
bodies:
  bob: {box: {mass: 2, size: [0.1, 0.1, 0.1]}, position: [0, 0, -1]}
joints:
  hinge: {revolute: {bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}}
ports:
  pull: {force: {body: bob, value: {table: {times: [0, 10], values: [[0, 0, 0], [0, 0, -10]]}}}}
simulation: {step: 0.01, t_end: 4, engine: reference}
"""


def test_ports_are_fed_with_what_they_get_at_that_time(command, tmp_path):
    (tmp_path / "pulled.yaml").write_text(PULLED)
    command("run", "pulled.yaml", "-o", "r.nc", "--quiet")
    inertia = 2 * (0.1**2 + 0.1**2) / 12 + 2 * 1.0**2
    for source in ("pulled.yaml", "r.nc"):
        assert command("modes", source, "--at", "4", "--summary", "m.json")[0] == 0
        (mode,) = json.loads((tmp_path / "m.json").read_text())["modes"]
        assert mode["frequency"] == pytest.approx(np.sqrt(4.0 * 1.0 / inertia), rel=1e-9)


def test_files_of_compiled_runs_leave_out_multipliers_and_are_linearised_all_the_same(
    command, tmp_path
):
    text = PULLED.replace(", engine: reference", ", engine: compiled")
    (tmp_path / "pulled.yaml").write_text(text)
    command("run", "pulled.yaml", "-o", "r.nc", "--quiet")
    assert command("modes", "r.nc", "--at", "4", "--summary", "m.json")[0] == 0
    (mode,) = json.loads((tmp_path / "m.json").read_text())["modes"]
    inertia = 2 * (0.1**2 + 0.1**2) / 12 + 2 * 1.0**2
    assert mode["frequency"] == pytest.approx(np.sqrt(4.0 / inertia), rel=1e-9)


def test_a_page_plays_the_mode_that_is_asked_for(command, tmp_path):
    status, out, err = command("modes", "a.yaml", "--at", "equilibrium", "--html", "m.html")
    assert (status, err) == (0, "")
    assert "page  m.html" in out
    assert "mode 0, oscillation" in (tmp_path / "m.html").read_text()
    status, _, err = command("modes", "a.yaml", "--play", "99", "--html", "n.html")
    assert status == 2
    assert "no mode 99" in err


def test_a_report_contains_modes_and_the_response_between_ports(command, tmp_path):
    command("run", "a.yaml", "-o", "r.nc", "--quiet")
    words = ("--modes", "equilibrium", "--from", "push[0]", "--to", "push[0]")
    status, _, err = command("report", "r.nc", "-o", "r.html", *words)
    assert (status, err) == (0, "")
    text = (tmp_path / "r.html").read_text()
    assert "<h2>Modes at the equilibrium</h2>" in text
    assert f"<td>{OMEGA:.6g}</td>" in text
    assert "<h2>Response from push[0] to push[0] at the equilibrium</h2>" in text
    assert "Mode 0: " in text  # it can be played
    status, _, err = command("report", "r.nc", "-o", "r.html", "--from", "push[0]")
    assert status == 2
    assert "needs both ports" in err


def test_a_simulation_that_stops_early_is_exit_status_one(command):
    status, _, err = command("modes", "failing.yaml", "--at", "10")
    assert status == 1
    assert err.startswith("stopped early: ")


BAD = {
    "no such place": (("modes", "a.yaml", "--at", "rest"), "--at is 'rest'; give start"),
    "no such time": (("modes", "a.yaml", "--at", "-1"), "not after t_start"),
    "no time at all": (("modes", "a.yaml", "--at", "nan"), "t_end"),
    "no such coordinates": (
        ("modes", "a.yaml", "--coordinates", "dirctors"),  # codespell:ignore
        "'directors'",
    ),
    "coordinates of a circuit": (
        ("modes", "dc-motor", "--coordinates", "rotations"),
        "has its own",
    ),
    "no such port": (("bode", "a.yaml", "--from", "pusch", "--to", "push"), "'push'"),
    "no ports": (("bode", "pendulum", "--from", "a", "--to", "b"), "has no ports"),
    "a port without effect": (
        ("bode", "a.yaml", "--from", "push[2]", "--to", "push[0]"),
        "has no effect",
    ),
    "a band of one": (
        ("bode", "a.yaml", "--from", "push", "--to", "push", "--band", "2", "1"),
        "two positive numbers",
    ),
    "no count": (("modes", "a.yaml", "--count", "0"), "count"),
    "no folder": (("modes", "a.yaml", "--summary", "nowhere/x.json"), "no folder 'nowhere'"),
    "no such format": (
        ("bode", "a.yaml", "--from", "push[0]", "--to", "push[0]", "-o", "x.xyz"),
        "cannot write",
    ),
    "no such example": (("modes", "pendulm"), "did you mean 'pendulum'?"),
    "no equilibrium": (("modes", "planar-slider-crank", "--at", "equilibrium"), "no equilibrium"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_message_and_exit_status_two(what, command):
    words, message = BAD[what]
    status, _, err = command(*words)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


def test_a_run_that_fell_short_of_its_time_is_told(command):
    command("run", "a.yaml", "-o", "r.nc", "--quiet")
    status, _, err = command("modes", "r.nc", "--at", "5")
    assert status == 2
    assert "no time 5 s" in err


def test_the_examples_of_the_documentation_have_modes(command):
    for path in sorted(EXAMPLES.glob("*.yaml")):
        assert command("modes", path)[0] == 0
