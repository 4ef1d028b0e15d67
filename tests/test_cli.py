"""The command line, as a user types it: exit codes and messages, never a traceback."""

import json
import subprocess
import sys

import pytest


def poinsot(*words, cwd=None):
    code = "import sys; sys.argv[0] = 'poinsot'; from poinsot.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_the_gallery_is_listed_with_sources():
    run = poinsot("gallery")
    assert run.returncode == 0
    assert "spatial-slider-crank" in run.stdout
    assert "[LKB26, sec. 7.3]" in run.stdout


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
    "no animation": (["run", "pendulum", "--animation", "x.gif"], "has no animation"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_message_and_exit_status_two(what, tmp_path):
    words, message = BAD[what]
    run = poinsot(*words, cwd=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_a_failed_step_is_exit_status_one_and_keeps_what_was_computed(tmp_path):
    words = ["run", "spatial-slider-crank", "--step", "5", "--t-end", "10", "--summary", "run.json"]
    run = poinsot(*words, cwd=tmp_path)
    assert run.returncode == 1
    assert "stopped early" in run.stderr
    assert "Traceback" not in run.stderr
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "failed"


def test_a_run_that_saves_fewer_steps_is_not_judged_as_the_published_case():
    assert poinsot("run", "closed-loop", "--save-every", "7").returncode == 0


def test_the_version_is_shown():
    assert poinsot("--version").stdout.startswith("poinsot ")
