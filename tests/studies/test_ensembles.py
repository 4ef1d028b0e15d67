"""Ensembles: every run is that of `simulate`, whoever takes it, and nothing is lost."""

import itertools
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.studies import ensemble as ensembles
from poinsot.studies import single

BOX = {"bodies.rod.mass": (0.2, 1.0), "gravity.z": (-10.0, -1.0)}
RUN = {"h": 0.01, "t_end": 0.2, "what": ("energy", "rod.position", "A.angle"), "progress": False}


def study(runs=40, **options):
    values = ps.latin_hypercube(BOX, runs)
    return ps.ensemble(crank.model(), values, **{**RUN, "workers": 1, **options})


def assert_same(a, b):
    """Two studies agree bit by bit."""
    assert sorted(a.variables) == sorted(b.variables)
    for name in a.variables:
        left, right = a[name].values, b[name].values
        numbers = left.dtype.kind == "f"
        assert np.array_equal(left, right, equal_nan=True) if numbers else (left == right).all()


@pytest.mark.parametrize("runs", [3, 40])
def test_each_run_is_that_of_simulate(runs):
    """Few runs are built as models, many follow from numbers; both agree to round-off."""
    found = study(runs, save_every=5, what=(*RUN["what"], "A.force"))
    assert (found.status == 1).all()
    assert np.isnan(found["A.force"][:, 0]).all()
    for k in (0, runs - 1):
        mass, gravity = (float(found[path][k]) for path in BOX)
        model = crank.model(crank.SliderCrank(rod_mass=mass, gravity=-gravity))
        result = ps.simulate(model, h=0.01, t_end=0.2, save_every=5)
        assert np.allclose(found.time, result.time, rtol=0, atol=1e-15)
        assert np.allclose(found["rod.position"][k], result.position("rod"), rtol=0, atol=1e-14)
        angle = result.joint("A").coordinates["angle"]
        assert np.allclose(found["A.angle"][k], angle, rtol=0, atol=1e-13)
        assert np.allclose(found.energy[k], result.energy, rtol=0, atol=1e-14)
        assert np.allclose(found["A.force"][k, 1:], result.reaction("A").force, rtol=0, atol=1e-11)
        assert found.balance_error_max[k] < 1e-14


def test_reactions_that_a_loop_leaves_open_are_those_of_simulate():
    """A planar four-bar has many: those with the least multipliers are recovered run by run."""
    points, ends = [(0, 0), (0, 1), (2, 2), (2, 0)], {}
    model = ps.Model(gravity=(0, -9.81, 0))
    for k, (a, b) in enumerate(itertools.pairwise(points)):
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, 0)
        ends[k] = model.add_body(f"bar{k}", ps.Sphere(mass=1.0, radius=0.2), position=middle)
    bodies = [model.ground, *ends.values(), model.ground]
    for k, (x, y) in enumerate(points):
        hinge = ps.Revolute(bodies[k], bodies[k + 1], point=(x, y, 0), axis=(0, 0, 1))
        model.add_joint(f"hinge{k}", hinge)
    values = {"bodies.bar1.mass": np.linspace(1, 2, 33)}
    given = {"h": 0.01, "t_end": 0.03, "progress": False}
    found = ps.ensemble(model, values, what="hinge0.force", workers=1, **given)
    result = ps.simulate(model, **given)
    assert np.allclose(found["hinge0.force"][0, 1:], result.reaction("hinge0").force, atol=1e-9)


def test_any_number_of_workers_finds_the_same_bit_by_bit(monkeypatch):
    alone = study()
    assert_same(alone, study(workers=2))
    monkeypatch.setattr(ensembles, "SPAN", 1e-3)  # in more chunks
    assert_same(alone, study(workers=3))
    with ThreadPoolExecutor(2) as pool:
        assert_same(alone, study(executor=pool))


def test_models_that_are_built_run_in_processes():
    values = {"joints.A.point.x": np.linspace(-0.02, 0.02, 6)}
    given = {**RUN, "what": ("A.angle", "dissipated")}
    alone = ps.ensemble(crank.model(), values, workers=1, **given)
    assert_same(alone, ps.ensemble(crank.model(), values, workers=2, **given))
    assert (alone.status == 1).all()
    with ProcessPoolExecutor(1) as pool:
        assert_same(study(36), study(36, executor=pool))


def test_a_dask_cluster_finds_the_same_bit_by_bit():
    distributed = pytest.importorskip("distributed")
    quiet = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**quiet) as cluster, distributed.Client(cluster) as client:
        assert_same(study(), study(executor=client))


def test_a_run_that_fails_is_marked_and_the_others_finish():
    masses = np.linspace(-0.1, 1.0, 45)
    found = ps.ensemble(crank.model(), {"bodies.rod.mass": masses}, workers=2, **RUN)
    assert np.array_equal(found.status == 3, masses <= 0)
    assert "bodies.rod: RigidBody: mass is -0.1 kg" in str(found.message[0].values)
    assert np.isnan(found.energy[0]).all()
    assert np.isfinite(found.energy[-1]).all()


def test_a_run_that_stops_keeps_what_it_came_to():
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("ball", ps.PointMass(mass=1.0), position=(0, 0, 1.0))
    model.add_event("floor", ps.Event("ball.position.z", then="stop"))
    found = ps.ensemble(
        model,
        {"initial.ball.velocity": [(0, 0, 0.0), (0, 0, 10.0)]},
        **{**RUN, "h": 0.1, "t_end": 1.0, "what": ("ball.position",), "workers": 1},
    )
    fallen = found["ball.position"].sel(axis="z")
    last = float(found.time[0].max())
    assert last == pytest.approx(np.sqrt(2 / 9.81), rel=1e-12)
    assert np.isfinite(fallen[1][:11]).all()
    assert np.isnan(fallen[0][-3:]).all()


def test_steps_may_be_a_parameter():
    steps = {"options.step": [0.02, 0.01, -0.01, np.nan]}
    given = {key: RUN[key] for key in ("t_end", "what", "progress")}
    found = ps.ensemble(crank.model(), steps, workers=1, **given)
    assert found.time.shape == (4, 21)
    assert found.status.values.tolist() == [1, 1, 3, 3]
    assert np.isnan(found.time[0, 11:]).all()
    for k, h in enumerate((0.02, 0.01)):
        result = ps.simulate(crank.model(), h=h, t_end=0.2)
        assert np.array_equal(found.energy[k, : result.time.size], result.energy)


def test_inputs_and_what_a_port_puts_in():
    model = crank.model()
    model.add_port("motor", ps.JointPort("A"))
    values = {"inputs.motor": np.linspace(-0.1, 0.1, 33)}
    found = ps.ensemble(model, values, workers=1, **RUN)
    assert (found.status == 1).all()
    result = ps.simulate(model, h=0.01, t_end=0.2, inputs={"motor": 0.1})
    assert np.allclose(found.energy[-1], result.energy, rtol=0, atol=1e-14)
    assert np.allclose(found["A.angle"][-1], result.joint("A").coordinates["angle"], atol=1e-13)


def test_a_file_holds_what_memory_does(tmp_path):
    path = tmp_path / "study.nc"
    with study(output=path) as found, study() as there:
        assert_same(there, found)
        assert ps.Model.from_yaml_text(found.document).name == "spatial-slider-crank"
    with ps.load_study(path) as again:
        assert again.energy.shape == (40, 21)
    assert [p.name for p in tmp_path.iterdir()] == ["study.nc"]


SCRIPT = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import test_ensembles as t
from poinsot.studies import ensemble
from poinsot.studies.store import FileStore

put, calls = FileStore.put, 0

def counted(self, *given):
    global calls
    calls += 1
    if calls == 40:
        os.kill(os.getpid(), signal.SIGKILL)
    put(self, *given)

ensemble.SPAN, FileStore.put = 5e-4, counted
t.study(100, output={path!r}, workers=2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_study_that_was_killed_goes_on_with_what_was_pending(tmp_path):
    """Killed while it writes what a chunk of runs has found: these are taken again."""
    path, folder = tmp_path / "study.nc", os.path.dirname(__file__)
    script = SCRIPT.format(folder=folder, path=str(path))
    process = subprocess.run([sys.executable, "-c", script], check=False)
    assert process.returncode == -signal.SIGKILL
    with ps.load_study(path) as half:
        before = half.status.values.copy()
        kept = half.energy.values[before == 1].copy()
    assert 0 < np.sum(before == 1) < 100
    taken = []
    original = ensembles.taken

    def counted(worker, chunks, *by):
        for found in original(worker, chunks, *by):
            taken.extend(found.runs.tolist())
            yield found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ensembles, "taken", counted)
        patch.setattr(ensembles, "SPAN", 5e-4)
        with study(100, output=path) as whole:
            assert (whole.status == 1).all()
            assert np.array_equal(whole.energy.values[before == 1], kept)
    assert len(taken) == np.sum(before == 0)
    with study(100, output=path) as again:
        assert again.sizes["run"] == 100


def test_ctrl_c_keeps_what_has_ended(monkeypatch):
    monkeypatch.setattr(ensembles, "SPAN", 1e-3)
    original = ensembles.taken

    def interrupted(*given):
        for k, found in enumerate(original(*given)):
            if k == 2:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr(ensembles, "taken", interrupted)
    found = study(200)
    done = found.status.values == 1
    assert 0 < done.sum() < 200
    assert np.isfinite(found.energy.values[done]).all()
    assert np.isnan(found.energy.values[~done]).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": {"bodies.rod.mas": [1.0]}}, "did you mean 'bodies.rod.mass'"),
        (
            {"parameters": {"bodies.rod.mass": [1.0], "gravity.z": [0, 1]}},
            "different lengths: 'bodies.rod.mass' has 1, 'gravity.z' has 2",
        ),
        ({"parameters": {}}, "parameters is empty"),
        ({"parameters": {"gravity": [1.0, 2.0]}}, "'gravity' needs the shape (3,)"),
        ({"parameters": {"gravity.z": 1.0}}, "a value for each run"),
        ({"parameters": {"options.stepp": [0.1]}}, "no parameter 'options.stepp'; did you mean"),
        ({"parameters": {"initial.rod.velocity.x": [0.1]}}, "mean 'initial.rod.velocity'"),
        ({"parameters": {"bodies.rod.mass": [np.nan]}}, "expected finite numbers, got nan"),
        ({"inputs": {"motor": 1.0}}, "inputs: no port 'motor'; known: none"),
        ({"what": None}, "what: expected names such as 'energy'"),
        ({"newton": 3}, "newton: expected poinsot.Newton"),
        (
            {"h": None, "parameters": {"options.step": [0.01, 1e-12]}},
            "saved states of a run do not fit into memory",
        ),
        ({"what": "rod.positio"}, "did you mean 'position'"),
        ({"what": "A.forc"}, "did you mean 'force'"),
        ({"what": ("energy", "energy")}, "'energy' is given more than once; keep one of them"),
        ({"h": None}, "no step is given"),
        ({"scheme": "ph-mpp"}, "no scheme 'ph-mpp'"),
        ({"executor": 3}, "executor: expected a concurrent.futures.Executor"),
        ({"workers": 0}, "workers is 0"),
        (
            {"parameters": {"options.step": [0.1]}},
            "h is given for all runs, and 'options.step' as a parameter",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes, said):
    given = {"parameters": {"bodies.rod.mass": [0.5]}, **RUN, **changes}
    with pytest.raises(ps.InputError) as error:
        ps.ensemble(crank.model(), **given)
    assert said in str(error.value)


def end_of_process(*given):
    os._exit(1)


@pytest.mark.skipif(sys.platform != "linux", reason="processes inherit what is replaced")
def test_a_process_that_is_ended_from_outside_is_said_so(monkeypatch):
    monkeypatch.setattr(single, "take", end_of_process)
    with pytest.raises(ps.WorkerError, match="was ended from outside"):
        ps.ensemble(crank.model(), {"bodies.rod.mass": [0.4, 0.5]}, **RUN, workers=2)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full stands for a disk that is full")
def test_a_disk_that_is_full_is_said_so(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "with_name", lambda *given: Path("/dev/full"))
    monkeypatch.setattr(Path, "unlink", lambda *given, **options: None)
    with pytest.raises(ps.StorageError, match="cannot write"):
        study(3, output=tmp_path / "study.nc")


def test_what_marks_no_end_of_a_run_is_pending(tmp_path):
    path = tmp_path / "study.nc"
    study(3, output=path).close()
    with h5py.File(path, "r+") as file:
        file["status"][1] = 77
    with study(3, output=path) as found:
        assert (found.status == 1).all()


def test_a_file_of_another_study_is_left_alone(tmp_path):
    path, other = tmp_path / "study.nc", tmp_path / "run.nc"
    study(3, output=path).close()
    with pytest.raises(ps.InputError, match="a study of another model, or of other parameters"):
        study(4, output=path)
    ps.simulate(crank.model(), h=0.01, t_end=0.1, output=other)
    with pytest.raises(ps.InputError, match="exists and is not a study"):
        study(3, output=other)
    with pytest.raises(ps.InputError, match="is not the file of a study"):
        ps.load_study(other)
    with pytest.raises(ps.InputError, match="there is no file"):
        ps.load_study(tmp_path / "none.nc")
    with pytest.raises(ps.InputError, match="GiB of memory; give output="):
        study(10**6, h=1e-4, t_end=1.0)


def test_bodies_without_joints_and_runs_that_are_all_alike():
    """A ball in free fall has neither angles nor constraints; 40 times the same mass."""
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("ball", ps.Sphere(mass=1.0, radius=0.1), angular_velocity=(1, 2, 3))
    values = {"bodies.ball.mass": np.full(40, 2.0), "initial.ball.velocity": np.ones((40, 3))}
    given = {**RUN, "what": ("ball.position", "ball.velocity"), "workers": 1}
    found = ps.ensemble(model, values, **given)
    t = found.time.values
    assert (found.status == 1).all()
    assert np.allclose(found["ball.position"].sel(axis="z"), t - 9.81 * t**2 / 2, atol=1e-14)
    assert np.allclose(found["ball.velocity"].sel(axis="x"), 1.0, rtol=1e-15)
