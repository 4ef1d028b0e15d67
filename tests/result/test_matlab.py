"""MAT-files have the arrays of a result, by names that MATLAB allows."""

import numpy as np
import pytest
from scipy.io import loadmat

import poinsot as ps


def test_structs_hold_the_arrays_of_the_result(tmp_path):
    model = ps.Model(gravity=(0, 0, -9.81), name="two bars")
    for name in ("bar 1", "bar-1", "2nd"):
        model.add_body(name, ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    first = model.body("bar 1")
    model.add_joint("hinge", ps.Revolute(model.ground, first, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("motor", ps.JointPort("hinge", value=2.0))
    model.add_sensor("angle", "hinge")
    result = ps.simulate(model, h=0.01, t_end=0.05)
    path = tmp_path / "run.mat"
    result.to_mat(path)
    found = loadmat(path, simplify_cells=True)
    assert np.array_equal(found["time"], result.time)
    assert np.array_equal(found["energy"], result.energy)
    assert np.array_equal(found["midpoint"], result.midpoint)
    assert list(found["bodies"]) == ["bar_1", "bar_1_2", "x2nd"]
    assert np.array_equal(found["bodies"]["bar_1"]["position"], result.position("bar 1"))
    assert np.array_equal(found["bodies"]["x2nd"]["rotation"], result.rotation("2nd"))
    hinge = found["joints"]["hinge"]
    assert np.array_equal(hinge["coordinates"]["angle"], result.joint("hinge").coordinates["angle"])
    assert np.array_equal(hinge["force"], result.reaction("hinge").force)
    assert np.array_equal(found["ports"]["motor"]["u"], result.port("motor").u[:, 0])
    assert np.array_equal(found["sensors"]["angle"]["values"], result.sensor("angle").values)
    assert (found["model"], found["status"]) == ("two bars", "done")


def test_a_system_without_bodies_has_its_states(tmp_path):
    system = ps.ph.linear("tank", states=[ps.ph.State("level")], J=[[0]], R=[[1]], Q=[[1]])
    result = ps.simulate(system, h=0.1, t_end=0.5, x0={"level": 2.0})
    result.to_mat(tmp_path / "run.mat")
    found = loadmat(tmp_path / "run.mat", simplify_cells=True)
    assert np.array_equal(found["states"]["level"], result["level"])


def test_a_folder_that_is_not_there_is_told(tmp_path):
    system = ps.ph.linear("tank", states=[ps.ph.State("level")], J=[[0]], R=[[1]], Q=[[1]])
    result = ps.simulate(system, h=0.1, t_end=0.2)
    with pytest.raises(ps.InputError, match="none"):
        result.to_mat(tmp_path / "none" / "run.mat")
