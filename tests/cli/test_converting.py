"""`poinsot convert`: between model files, URDF and MJCF."""

from pathlib import Path

import pytest
from commands import EXAMPLES, here
from robot_files import ARM, TREE

import poinsot as ps


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(ARM)
    Path("tree.xml").write_text(TREE)
    return lambda *words: here(monkeypatch, capsys, "convert", *words)


def test_a_robot_becomes_a_model_file_and_what_is_left_out_is_listed(command):
    status, said, errors = command("arm.urdf", "arm.yaml", "--merge-fixed", "--no-stops")
    assert status == 0
    assert "4 bodies" in said
    assert "written  arm.yaml" in said
    assert "transmission 'drive'" in errors
    model = ps.Model.from_yaml("arm.yaml")
    assert list(model.bodies) == ["upper", "hand", "left finger", "right finger"]
    assert "shoulder.stop" not in model.forces


def test_formats_follow_from_the_endings_of_names(command):
    pendulum = EXAMPLES / "pendulum-with-motor.yaml"
    for source, target in (
        ("tree.xml", "tree.yaml"),
        ("tree.yaml", "tree2.xml"),
        ("arm.urdf", "arm.xml"),
        (pendulum, "pendulum.urdf"),
        ("pendulum.urdf", "pendulum.yml"),
    ):
        status, _, errors = command(source, target)
        assert status == 0, errors
    joints = [ps.Model.from_mjcf(name).joints for name in ("tree.xml", "tree2.xml")]
    assert list(joints[0]) == list(joints[1])


def test_other_endings_and_missing_files_are_refused(command):
    for words, problem in (
        (("arm.urdf", "arm.sdf"), "'arm.sdf': its suffix tells the format; known here: .yaml"),
        (("arm.txt", "arm.yaml"), "'arm.txt': its suffix"),
        (("none.urdf", "arm.yaml"), "No such file"),
        (("arm.urdf", "arm.urdf"), "it is read"),
    ):
        status, _, errors = command(*words)
        assert status == 2
        assert problem in errors
