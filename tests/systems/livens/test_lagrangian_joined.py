"""A Lagrangian is a system like any other: joined at its ports, run by its name."""

import json

import numpy as np
from lagrangians import BEAD_START, bead
from typer.testing import CliRunner

import poinsot as ps
from poinsot import ph
from poinsot.cli.commands import app


def test_energy_is_exact_when_a_lagrangian_is_joined_with_a_circuit():
    coil = ph.linear(
        "coil",
        states=["flux"],
        J=[[0.0]],
        R=[[0.3]],
        Q=[[5.0]],
        B=[[1.0]],
        ports=[ph.Port("coil")],
    )
    joined = ph.interconnect(
        bead().port_hamiltonian(), coil, connections=ph.Gyrator("push", "coil", C=0.4)
    )
    result = ps.simulate(
        joined, h=0.02, t_end=1.0, x0={**BEAD_START, "flux": 0.2}, engine="reference"
    )
    assert result.stats.balance_error_max < 1e-12
    assert result.dissipated[-1] > 1e-3
    assert joined.defects({**BEAD_START, "flux": 0.2}).holds()


def test_a_fed_port_is_fed_in_every_form():
    ends = []
    for form in ("livens", "hamiltonian", "port_hamiltonian"):
        system = ph.feed(getattr(bead(), form)(), "push", 2.0)
        ends.append(ps.simulate(system, h=1e-3, t_end=0.1, x0=BEAD_START, engine="reference")["q"])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-5)
    np.testing.assert_allclose(ends[0], ends[2], atol=1e-5)


def test_a_published_lagrangian_is_run_by_its_name(tmp_path):
    path, saved = tmp_path / "run.json", tmp_path / "run.nc"
    command = ["run", "mass-spring", "--no-progress", "--quiet", "--t-end", "1"]
    outcome = CliRunner().invoke(app, [*command, "--summary", str(path), "-o", str(saved)])
    assert outcome.exit_code == 0, outcome.output
    summary = json.loads(path.read_text())
    assert (summary["scheme"], summary["steps"]) == ("eml", 10)
    assert summary["constraint_position_max"] < 1e-14
    assert ps.load(saved)["q"][-1].tolist() == summary["final"]["q"]
