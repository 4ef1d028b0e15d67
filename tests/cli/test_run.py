"""The command line, as a user types it: exit codes and messages, never a traceback."""

import json

import numpy as np
import pytest
from commands import EXAMPLES, here, poinsot

import poinsot as ps
from poinsot.gallery import find_example


@pytest.fixture
def command(monkeypatch, capsys):
    return lambda *words: here(monkeypatch, capsys, *words)


def test_the_gallery_is_listed_with_sources(command):
    status, said, _ = command("gallery")
    assert status == 0
    assert "spatial-slider-crank" in said
    assert "[LKB26, sec. 7.3]" in said


def test_a_run_writes_its_summary(tmp_path):
    run = poinsot("run", "pendulum", "--t-end", "0.1", "--summary", "run.json", cwd=tmp_path)
    assert run.returncode == 0
    summary = json.loads((tmp_path / "run.json").read_text())
    assert {
        "model",
        "scheme",
        "engine",
        "step",
        "steps",
        "t_end",
        "newton_iterations",
        "wall_time_s",
        "energy_start",
        "energy_end",
        "energy_error_max",
        "angular_momentum_start",
        "angular_momentum_end",
        "constraint_position_max",
        "constraint_velocity_max",
        "final",
    } <= set(summary)
    (body,) = summary["final"].values()
    assert set(body) == {"position", "rotation", "velocity", "angular_velocity"}


BAD = {
    "unknown example": (["run", "pendulm"], "did you mean 'pendulum'?"),
    "unknown scheme": (["run", "pendulum", "--scheme", "ph-mq"], "did you mean 'ph-mp'?"),
    "zero step": (["run", "pendulum", "--step", "0"], "the step h is 0 s"),
    "step of words": (["run", "pendulum", "--step", "abc"], "--step"),
    "tiny step": (["run", "pendulum", "--step", "1e-14"], "do not fit into memory"),
    "unknown engine": (["run", "pendulum", "--engine", "warp"], "no engine 'warp'"),
    "no folder": (["run", "pendulum", "--plot", "nowhere/x.png"], "there is no folder 'nowhere'"),
    "no such format": (["run", "pendulum", "--t-end", "0.1", "--plot", "x.xyz"], "cannot write"),
    "unknown option": (["run", "pendulum", "--stepp", "1"], "--step"),
    "no such film": (["run", "pendulum", "--animation", "x.webm"], "films end in .gif, .mp4"),
    "no place": (["run", "pendulum", "--plot", "/proc/x.png"], "no file can be written in '/proc'"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_message_and_exit_status_two(what, tmp_path, monkeypatch, capsys):
    words, message = BAD[what]
    monkeypatch.chdir(tmp_path)
    status, _, said = here(monkeypatch, capsys, *words)
    assert status == 2
    assert message in said
    assert "Traceback" not in said


def test_a_process_of_its_own_ends_in_the_same_way():
    words, message = BAD["unknown example"]
    run = poinsot(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_a_failed_step_is_exit_status_one_and_keeps_what_was_computed(
    command, monkeypatch, tmp_path
):
    words = [
        "run",
        "spatial-slider-crank",
        "--step",
        "5e6",
        "--t-end",
        "1e7",
        "--summary",
        "run.json",
    ]
    monkeypatch.chdir(tmp_path)
    status, _, said = command(*words)
    assert status == 1
    assert "stopped early" in said
    assert "Traceback" not in said
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "failed"


def test_a_run_that_saves_fewer_steps_is_not_judged_as_the_published_case(command):
    assert command("run", "closed-loop", "--save-every", "7")[0] == 0


def test_the_version_is_shown():
    assert poinsot("--version").stdout.startswith("poinsot ")


# -- model files and results --------------------------------------------------------------------

FILE = EXAMPLES / "pendulum-with-motor.yaml"
SHORT = ("--t-end", "0.1", "--engine", "reference")


def test_a_model_file_runs_as_it_says_or_otherwise(command, tmp_path):
    status, out, _ = command("run", FILE, *SHORT, "-o", tmp_path / "run.nc")
    assert status == 0
    assert "pendulum-with-motor: ph-mp, h = 0.005 s, 0 to 0.1 s (done)" in out
    assert "supplied by 'motor' [J]" in out
    result = ps.load(tmp_path / "run.nc")
    assert (result.stats.steps, result.engine) == (20, "reference")


def test_steps_follow_a_tolerance(command, tmp_path):
    words = ("--tolerance", "1e-3", "--summary", tmp_path / "run.json")
    status, out, _ = command("run", FILE, *SHORT, *words)
    assert status == 0
    assert "s by a tolerance of 0.001 (" in out
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["tolerance"] == 1e-3
    assert summary["rejected_steps"] >= 0
    assert 0 < summary["smallest_step"] <= summary["largest_step"] < 1.001e-3
    assert command("run", FILE, "--tolerance", "-1")[0] == 2


@pytest.mark.parametrize("scheme", ["eml", "emh-mean"])
def test_a_model_file_runs_in_quaternions(command, scheme, tmp_path):
    words = ("--scheme", scheme, "-o", tmp_path / "run.nc", "--summary", tmp_path / "run.json")
    status, out, _ = command("run", FILE, *SHORT, *words)
    assert status == 0
    assert f"pendulum-with-motor: {scheme}, h = 0.005 s, 0 to 0.1 s (done)" in out
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["energy_error_max"] < 1e-12
    assert summary["constraint_position_max"] < 1e-12
    again = command("run", tmp_path / "run.nc", "--scheme", "ph-mp", "--engine", "reference")
    assert again[0] == 0


BRAKED = """
poinsot: 1
bodies: {disc: {cylinder: {mass: 4, radius: 1, length: 0.1}, angular_velocity: [0, 0, 1]}}
joints: {hub: {revolute: {bodies: [ground, disc], point: [0, 0, 0], axis: [0, 0, 1]}}}
forces:
  brake: {joint_friction: {joint: hub, coulomb: 0.5}}
  air: {drag: {body: disc, angular_viscous: 0.1}}
simulation: {step: 0.01, t_end: 6}
"""


def test_what_friction_and_drag_take_is_in_the_summary_and_in_the_table(command, tmp_path):
    """All of J omega^2 / 2 = 1 J is lost when the disc rests."""
    file, summary = tmp_path / "braked.yaml", tmp_path / "run.json"
    file.write_text(BRAKED)
    status, said, _ = command("run", file, "--summary", summary, "--no-progress")
    written = json.loads(summary.read_text())
    assert status == 0
    assert written["dissipated"] == pytest.approx(1.0, rel=1e-5)
    assert written["energy_error_max"] < 1e-13
    assert "dissipated [J]" in said


def test_a_model_file_and_its_result_run_in_rotations(command, tmp_path):
    words = ("--coordinates", "rotations-euler", "-o", tmp_path / "run.nc")
    assert command("run", FILE, *SHORT, *words)[0] == 0
    result = ps.load(tmp_path / "run.nc")
    assert (result.scheme, result["pendulum.zeta"].shape[1]) == ("ph-mp", 6)
    assert command("run", tmp_path / "run.nc", "-o", tmp_path / "again.nc")[0] == 0
    again = ps.load(tmp_path / "again.nc")
    np.testing.assert_array_equal(again["pendulum.zeta"], result["pendulum.zeta"])
    status, out, _ = command("run", "closed-loop", "--coordinates", "quaternions", *SHORT)
    assert (status, "emh-mean" in out) == (0, True)
    assert command("run", FILE, "--coordinates", "euler")[0] == 2


@pytest.mark.parametrize("scheme", ["eml", "emh-mean"])
@pytest.mark.parametrize(
    "example", ["closed-loop", "spatial-slider-crank", "flying-cylindrical-pair"]
)
def test_published_examples_run_in_quaternions(command, example, scheme, tmp_path):
    words = ("--scheme", scheme, "--t-end", "0.02", "--engine", "reference")
    status, out, _ = command("run", example, *words, "--summary", tmp_path / "run.json")
    assert status == 0
    assert scheme in out
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["energy_error_max"] < 1e-11 * max(1, abs(summary["energy_end"]))


def test_a_result_runs_again_to_the_bit(command, tmp_path):
    first, second = tmp_path / "first.nc", tmp_path / "second.nc"
    assert command("run", FILE, *SHORT, "-o", first)[0] == 0
    assert command("run", first, "-o", second)[0] == 0
    one, other = ps.load(first), ps.load(second)
    assert (one.position("pendulum") == other.position("pendulum")).all()
    assert one.document == other.document


def test_a_run_goes_on_from_its_file(command, tmp_path):
    whole, part = tmp_path / "whole.nc", tmp_path / "part.nc"
    assert command("run", FILE, *SHORT, "-o", whole)[0] == 0
    assert command("run", FILE, "--t-end", "0.03", "--engine", "reference", "-o", part)[0] == 0
    words = ("--t-end", "0.1", "--summary", tmp_path / "run.json")
    status, out, _ = command("run", "--resume", part, *words)
    assert status == 0
    assert "0 to 0.1 s (done)" in out
    assert str(part) in out
    assert json.loads((tmp_path / "run.json").read_text())["steps"] == 20
    assert (ps.load(part).position("pendulum") == ps.load(whole).position("pendulum")).all()
    assert command("run", "--resume", part)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "RUN.nc to simulate, or --resume RUN.nc"),
        (("pendulum", "--resume", "run.nc"), "RUN.nc to simulate, or --resume RUN.nc"),
        (("--resume", "run.nc", "--step", "0.1"), "only --t-end can be changed"),
        (("--resume", "none.nc"), "there is no file"),
        (("--resume", "run.nc", "--t-end", "9"), "has no checkpoint"),
    ],
)
def test_what_cannot_go_on_is_exit_status_two(command, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    ps.simulate(ps.Model.from_yaml(FILE), h=0.01, t_end=0.1).save("run.nc")
    status, _, err = command("run", *words)
    assert status == 2
    assert message in err


def test_a_run_that_fails_again_is_exit_status_one(command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)))
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("motor", ps.JointPort("pin", value="sqrt(0.055 - t)"))
    model.to_yaml("torn.yaml")
    words = ("--step", "0.01", "--t-end", "0.1", "-o", "run.nc")
    assert command("run", "torn.yaml", *words)[0] == 1
    status, _, err = command("run", "--resume", "run.nc")
    assert status == 1
    assert "stopped early" in err


def test_a_result_without_its_model_says_so(command, tmp_path):
    motor = ps.simulate(find_example("dc-motor").model(), h=0.01, t_end=0.1)
    motor.save(tmp_path / "run.nc")
    status, _, err = command("run", tmp_path / "run.nc")
    assert status == 2
    assert "does not contain its model" in err


def test_quiet_says_nothing_and_verbose_says_more(command):
    assert command("run", FILE, *SHORT, "--quiet") == (0, "", "")
    status, out, _ = command("run", FILE, *SHORT, "--verbose")
    assert status == 0
    assert "degrees of freedom  1" in out
    assert command("run", FILE, "-q", "-v")[0] == 2


def test_a_run_of_a_file_writes_pictures(command, tmp_path):
    words = ("--plot", tmp_path / "run.png", "--animation", tmp_path / "run.gif")
    status, out, _ = command("run", FILE, *SHORT, *words)
    assert status == 0
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "run.gif").read_bytes().startswith(b"GIF8")
    assert str(tmp_path / "run.gif") in out


def test_a_simulation_that_the_file_leaves_open_is_asked_for(command, tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text("poinsot: 1\nbodies: {ball: {sphere: {mass: 1, radius: 1}}}\n")
    status, _, err = command("run", file)
    assert status == 2
    assert "no step is given" in err
    assert command("run", file, "--step", "0.1", "--t-end", "1", "--engine", "reference")[0] == 0


def test_a_file_of_another_kind_is_named(command, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    status, _, err = command("run", tmp_path / "notes.txt")
    assert status == 2
    assert "neither a model file (.yaml) nor a result (.nc)" in err
