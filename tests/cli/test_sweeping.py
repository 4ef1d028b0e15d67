"""`poinsot sweep` and pictures of studies."""

import shutil

import numpy as np
import pytest
from commands import EXAMPLES, here

import poinsot as ps

CRANK = EXAMPLES / "slider-crank.yaml"
SHORT = ("--step", "0.01", "--t-end", "0.1", "--workers", "1")


def test_a_sweep_its_picture_and_the_same_sweep_again(monkeypatch, capsys, tmp_path):
    study, picture = tmp_path / "study.nc", tmp_path / "study.png"
    mass, gravity = "bodies.rod.mass=0.1:10:3:log", "gravity.z=-9.81,0"
    words = ("sweep", CRANK, "--vary", mass, "--vary", gravity)
    for _ in range(2):
        status, said, _ = here(monkeypatch, capsys, *words, *SHORT, "-o", study)
        assert status == 0
        assert "6 runs: 6 done" in said
    with ps.load_study(study) as found:
        assert np.allclose(found["bodies.rod.mass"], [0.1, 0.1, 1, 1, 10, 10], rtol=1e-15)
        assert found["gravity.z"].values.tolist() == 3 * [-9.81, 0.0]
        assert next(iter(found.data_vars)) == "energy"
    status, said, _ = here(monkeypatch, capsys, "plot", study)
    assert status == 0
    assert picture.stat().st_size > 10_000


def test_a_sample_and_a_run_that_fails(monkeypatch, capsys, tmp_path):
    study = tmp_path / "study.nc"
    words = ("sweep", CRANK, "--vary", "bodies.rod.mass=-0.5:0.5", "--sample", "latin:4")
    status, said, errors = here(
        monkeypatch, capsys, *words, *SHORT, "-o", study, "--what", "A.angle", "--seed", "3"
    )
    assert status == 1
    assert "4 runs: 2 done, 2 failed" in said
    assert "RigidBody: mass is -0." in errors
    with ps.load_study(study) as found:
        assert found["A.angle"].shape == (4, 11)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "bodies.rod.mas=1,2"], "did you mean 'bodies.rod.mass'"),
        (["--vary", "bodies.rod.mass"], "expected PATH=VALUES"),
        (["--vary", "bodies.rod.mass=a"], "'a' are not numbers"),
        (["--vary", "bodies.rod.mass=1:2"], "expected low:high:count"),
        (["--vary", "bodies.rod.mass=1:2:1000000000"], "1000000000 runs are too many"),
        (["--vary", "bodies.rod.mass=-1:2:3:log"], "logarithmic spacing needs positive"),
        (["--vary", "bodies.rod.mass=1:2", "--sample", "sobel:3"], "did you mean 'sobol'"),
        (["--vary", "bodies.rod.mass=1,2", "--sample", "sobol:4"], "with --sample give a range"),
        (["--vary", "gravity.z=1,2", "--vary", "gravity.z=3"], "is given more than once"),
    ],
)
def test_what_makes_no_sense_is_refused(monkeypatch, capsys, tmp_path, words, said):
    file = tmp_path / "crank.yaml"
    shutil.copy(CRANK, file)
    status, _, errors = here(monkeypatch, capsys, "sweep", file, *words, "-o", tmp_path / "s.nc")
    assert status == 2
    assert said in errors
    assert not (tmp_path / "s.nc").exists()
