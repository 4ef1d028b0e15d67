"""`poinsot run NAME` is the published case: its summary holds the published numbers."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from poinsot.cli.commands import app

CASES = {
    "flying-cylindrical-pair": (
        700,
        107604.71875,
        "ring",
        (4.751892662, 28.041812195, 9.504186619),
    ),
    "closed-loop": (100, 2095.376896920, "bar 1", (95, 2.347642014, -4.310797377)),
    "spatial-slider-crank": (500, 0.76643568, "slider", (0.249905930, 0, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_summary_of_a_published_run(name, tmp_path):
    steps, energy, body, position = CASES[name]
    path = tmp_path / "run.json"
    outcome = CliRunner().invoke(app, ["run", name, "--summary", str(path), "--no-progress"])
    assert outcome.exit_code == 0, outcome.output
    summary = json.loads(path.read_text())
    assert (summary["scheme"], summary["steps"]) == ("ph-mp", steps)
    assert summary["energy_end"] == pytest.approx(energy, rel=1e-11)
    np.testing.assert_allclose(summary["final"][body]["position"], position, rtol=0, atol=1e-9)
    assert summary["constraint_position_max"] < 1e-12
