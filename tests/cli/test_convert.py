"""`poinsot convert`, `poinsot fmu`, and outputs that are refused before anything is computed."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from commands import EXAMPLES, here
from robot_files import ARM, TREE

import poinsot as ps
from poinsot.viz import formats

MODEL = EXAMPLES / "pendulum-with-motor.yaml"


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *words: here(monkeypatch, capsys, *words)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "run.nc"
    model = ps.Model.from_yaml(MODEL)
    ps.simulate(model, h=0.01, t_end=0.1, engine="reference", output=path)
    return path


@pytest.mark.parametrize("suffix", ["csv", "mat", "glb", "gltf", "html"])
def test_a_result_becomes_what_the_suffix_says(suffix, command, saved, tmp_path):
    assert command("convert", saved, f"run.{suffix}") == (0, f"{suffix}  run.{suffix}\n", "")
    assert (tmp_path / f"run.{suffix}").stat().st_size > 1000


def test_the_table_is_that_of_the_result(command, saved, tmp_path):
    command("convert", saved, "run.csv")
    rows = np.genfromtxt(tmp_path / "run.csv", delimiter=",", skip_header=1)
    result = ps.load(saved)
    assert np.array_equal(rows[:, 0], result.time)
    assert np.array_equal(rows[:, 1], result.energy)


@pytest.fixture
def convert(command):
    Path("arm.urdf").write_text(ARM)
    Path("tree.xml").write_text(TREE)
    return lambda *words: command("convert", *words)


def test_a_robot_becomes_a_model_file_and_what_is_left_out_is_listed(convert):
    status, said, errors = convert("arm.urdf", "arm.yaml", "--merge-fixed", "--no-stops")
    assert status == 0
    assert "4 bodies" in said
    assert "written  arm.yaml" in said
    assert "transmission 'drive'" in errors
    model = ps.Model.from_yaml("arm.yaml")
    assert list(model.bodies) == ["upper", "hand", "left finger", "right finger"]
    assert "shoulder.stop" not in model.forces


def test_formats_follow_from_the_suffixes(convert):
    pendulum = EXAMPLES / "pendulum-with-motor.yaml"
    for source, target in (
        ("tree.xml", "tree.yaml"),
        ("tree.yaml", "tree2.xml"),
        ("arm.urdf", "arm.xml"),
        (pendulum, "pendulum.urdf"),
        ("pendulum.urdf", "pendulum.yml"),
    ):
        status, _, errors = convert(source, target)
        assert status == 0, errors
    joints = [ps.Model.from_mjcf(name).joints for name in ("tree.xml", "tree2.xml")]
    assert list(joints[0]) == list(joints[1])


def test_other_suffixes_and_missing_files_are_refused(convert):
    for words, problem in (
        (("arm.urdf", "arm.sdf"), "'arm.sdf': unknown suffix '.sdf'; choose from .yaml"),
        (("arm.txt", "arm.yaml"), "'arm.txt': unknown suffix"),
        (("none.urdf", "arm.yaml"), "No such file"),
        (("arm.urdf", "arm.urdf"), "it is the input"),
    ):
        status, _, errors = convert(*words)
        assert status == 2
        assert problem in errors


REFUSED = {
    "source": (("convert", "a.txt", "b.csv"), "choose from .nc, .yaml, .yml, .urdf, .xml, .mjcf"),
    "target": (("convert", "run.nc", "b.xlsx"), "choose from .csv, .mat, .glb"),
    "folder": (("convert", "run.nc", "none/b.csv"), "none"),
    "missing": (("convert", "run.nc", "b.csv"), "run.nc"),
    "fmu": (("fmu", MODEL, "-o", "a.zip"), "end in .fmu"),
    "fmu folder": (("fmu", MODEL, "-o", "none/a.fmu"), "none"),
    "fmi": (("fmu", MODEL, "-o", "a.fmu", "--fmi", "1"), "FMI 2 and 3"),
    "plot": (("run", MODEL, "--plot", "a.xyz"), "figures end in"),
    "plot folder": (("run", MODEL, "--plot", "none/a.png"), "none"),
    "film": (("run", MODEL, "--animation", "a.webm"), "films end in .gif, .mp4, not in '.webm'"),
    "bode": (("bode", MODEL, "--from", "motor", "--to", "motor", "-o", "a.xyz"), "figures end"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_outputs_are_refused_before_anything_is_computed(what, command, monkeypatch, tmp_path):
    def never(*arguments, **options):
        raise AssertionError("it was computed")

    monkeypatch.setattr("poinsot.cli.task.simulate", never)
    words, said = REFUSED[what]
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_mp4_without_ffmpeg_says_what_works(command, monkeypatch):
    monkeypatch.setattr(formats, "_has_ffmpeg", lambda: False)
    status, _, err = command("run", MODEL, "--animation", "a.mp4")
    assert status == 2
    assert "MP4 needs the program ffmpeg" in err
    assert "write a .gif" in err


def test_an_fmu_is_written_with_its_variables(command, tmp_path):
    status, out, _ = command(
        "fmu", MODEL, "-o", "a.fmu", "--fmi", "2", "--show", "pendulum.position"
    )
    assert status == 0
    assert "output       pendulum.position[2]  [m]\n" in out
    assert out.endswith("fmu  a.fmu\n")
    with zipfile.ZipFile(tmp_path / "a.fmu") as archive:
        names = archive.namelist()
        assert b'fmiVersion="2.0"' in archive.read("modelDescription.xml")
    assert [name for name in names if name.startswith("binaries/")]
