"""Kernels of many runs side by side: for graphics processors, and on this one for comparison."""

import math
import re

import numpy as np
import pytest

import poinsot as ps
from poinsot.engine import batch, cuda, launches, machine_code, translate
from poinsot.engine.launches import Launches
from poinsot.errors import DeviceError
from poinsot.gallery import find_example
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.kernels import elementary
from poinsot.kernels.lanes import apart_again, in_groups
from poinsot.model.parameters import Parameters
from poinsot.studies import kernel_checks
from poinsot.studies.cases import Cases
from tests.engine.on_host import HostKernel, HostMemory, driver

VARIED = {"bodies.rod.mass": (0.2, 1.0), "gravity.z": (-10.0, -1.0)}
RUN = {"h": 0.01, "t_end": 0.2, "save_every": 5, "progress": False}
WHAT = ("energy", "rod.position", "A.angle")


@pytest.fixture
def on_host(monkeypatch):
    """The kernels of graphics processors, on this one; with less memory than there seems to be."""
    compiled = {}

    def kernel(self):
        if "kernel" not in compiled:
            compiled["kernel"] = HostKernel(self.form, self.leaves)
            compiled["launches"] = self
        return compiled["kernel"]

    def most(self):
        monkeypatch.setattr(HostMemory, "there", HostMemory.taken + 48 * self.bytes_of_run)
        return 64

    here = driver()
    monkeypatch.setattr(launches, "cuda", here)
    monkeypatch.setattr(kernel_checks, "cuda", here)
    monkeypatch.setattr(Launches, "kernel", property(kernel))
    monkeypatch.setattr(Launches, "most", property(most))
    return compiled


def test_runs_side_by_side_are_those_of_machine_code_and_compile_for_graphics_processors(on_host):
    """Strides, groups, parts and single rows: all but the processor is as on a device."""
    values = ps.latin_hypercube(VARIED, 40)
    alone = ps.ensemble(crank.model(), values, what=WHAT, workers=1, **RUN)
    found = ps.ensemble(crank.model(), values, what=WHAT, engine="cuda", **RUN)
    assert (found.status == 1).all()
    for name in WHAT:
        assert np.abs(found[name] - alone[name]).max() < 1e-12
    assert found.balance_error_max.max() < 1e-13
    # There was no memory for all of them at once.
    assert on_host["kernel"].launched == [32, 8]
    # What is no number is noticed, though products with zeros are left out.
    used = on_host["launches"]
    lost = np.full_like(used.job.state, np.nan)[None]
    assert used.take({"state": lost}, 1)["returned"][0, 0] == 0
    text = translate.ptx(machine_code.code("plain_runs"), used.leaves, "sm_90")
    assert ".visible .entry poinsot_runs(" in text
    assert "fma.rn.f64" in text
    # Nothing is called, and tables are constants of the instructions.
    assert not re.search(r"\.extern|\bcall\b", text)


@pytest.mark.parametrize("name", ["sin", "cos", "atan"])
def test_elementary_functions_are_right_to_two_units_in_the_last_place(name):
    random = np.random.default_rng(0)
    numbers = np.concatenate([random.uniform(-4, 4, 2000), random.normal(0, 1e4, 2000), [0.0]])
    exact = np.array([getattr(math, name)(x) for x in numbers])
    found = np.array([getattr(elementary, name)(x) for x in numbers])
    assert np.all(abs(found - exact) <= 2 * np.spacing(abs(exact)))


def test_angles_are_right_in_all_quadrants():
    random = np.random.default_rng(1)
    points = random.normal(size=(2000, 2)) * 10.0 ** random.integers(-8, 8, (2000, 1))
    points = [*points.tolist(), (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 0.0)]
    for y, x in points:
        exact = math.atan2(y, x)
        assert abs(elementary.atan2(y, x) - exact) <= 2 * np.spacing(abs(exact))


def test_arrays_go_into_groups_and_come_back():
    arrays = np.arange(70.0 * 6).reshape(70, 3, 2)
    groups = batch.in_groups(arrays)
    assert groups.shape == (3, 3, 2, batch.ABREAST)
    assert np.array_equal(groups[1, :, :, 5], arrays[37])
    assert np.array_equal(batch.apart(groups, 70), arrays)
    table = np.arange(8.0 * 5).reshape(8, 5)
    assert np.array_equal(apart_again(in_groups(table)), table)


def test_without_a_driver_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setattr(cuda, "LIBRARIES", ("libcuda-that-nobody-has.so",))
    cuda.library.cache_clear()
    cuda._first.cache_clear()
    with pytest.raises(DeviceError, match=r"NVIDIA graphics processor and its driver"):
        ps.ensemble(crank.model(), {"bodies.rod.mass": [0.4, 0.5]}, engine="cuda", **RUN)
    cuda.library.cache_clear()


def test_laws_that_are_functions_are_refused_by_name():
    model = crank.model()
    model.add_force("spring", ps.JointSpring("A", force=ps.Formula("3*x**3", "x")))
    with pytest.raises(ps.InputError, match=r"engine='cuda' cannot call .*'spring'"):
        ps.ensemble(model, {"bodies.rod.mass": [0.4, 0.5]}, engine="cuda", **RUN)


def test_models_that_machine_code_alone_does_not_run_are_refused():
    model = find_example("flexible-four-bar").model()
    with pytest.raises(ps.InputError, match=r"cannot run model .*elastic bodies"):
        ps.ensemble(model, {"gravity.z": [-9.0, -8.0]}, engine="cuda", **RUN)


def test_events_and_executors_are_refused():
    model = crank.model()
    model.add_event("turn", ps.Event("A.angle - 1"))
    with pytest.raises(ps.InputError, match=r"cannot look for event 'turn'"):
        ps.ensemble(model, {"bodies.rod.mass": [0.4, 0.5]}, engine="cuda", **RUN)
    with pytest.raises(ps.InputError, match=r"leave out the executor"):
        ps.ensemble(
            crank.model(), {"bodies.rod.mass": [0.4]}, engine="cuda", executor=object(), **RUN
        )


def test_kernels_write_to_no_table_that_runs_share():
    """What is not marked as written is a constant of instructions on a graphics processor."""
    model, path = crank.model(), "gravity.z"
    slider, ones = model.body("slider"), [1.0] * 6
    model.add_force("spring", ps.JointSpring("A", stiffness=0.1, damping=0.01))
    model.add_force("friction", ps.JointFriction("D", coulomb=0.1, slip=1e-3))
    bush = ps.Bushing(model.ground, slider, crank.SliderCrank.C, ones, ones, relaxation=[(1, 0.1)])
    model.add_force("bush", bush)
    options = {"step": 0.01, "t_end": 0.1, "engine": "compiled"}
    cases = Cases(Parameters.of(model, {path: np.array([-9.0])}), {path: ()}, options)
    opening = cases.opening(np.array([-9.0]))

    def shared():
        found = batch.leaves(opening.job)
        return {
            leaf.path: leaf.sample.copy()
            for leaf in found
            if leaf.is_array and leaf.role is batch.Role.SHARED
        }

    before = shared()
    assert machine_code.function(opening.runner.form)(opening.job)[0] == 10
    after = shared()
    assert {name for name in before if not np.array_equal(before[name], after[name])} == set()
