"""FMUs as other programs see them: FMPy validates and runs them, and models are coupled to them."""

import gc
import struct
import sys
import zipfile
from io import BytesIO
from json import loads

import fmpy
import numpy as np
import pytest
from fmpy.simulation import instantiate_fmu
from fmpy.validation import validate_fmu
from halves import first, second

import poinsot as ps
from poinsot.fmi import binary
from poinsot.fmi.instance import Instance
from poinsot.fmi.interface import Interface
from poinsot.fmi.server import Operation, Status, serve
from poinsot.parts.fmus import RunningFMU

STEP = 1e-3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """FMUs of both halves: the first of FMI 2.0, the second of FMI 3.0, and of FMI 2.0."""
    folder = tmp_path_factory.mktemp("fmus")
    paths = folder / "first half.fmu", folder / "second.fmu", folder / "second-2.fmu"
    ps.export_fmu(first(), paths[0], version=2, step=STEP, parameters=["gravity.z"])
    ps.export_fmu(second(), paths[1], version=3, step=STEP)
    ps.export_fmu(second(), paths[2], version=2, step=STEP)
    return paths


def test_fmpy_finds_no_fault_in_either_version(files):
    assert [validate_fmu(str(path)) for path in files] == [[], [], []]


def test_fmpy_runs_it_saves_states_and_takes_steps_back(files):
    said = []
    description = fmpy.read_model_description(str(files[0]))
    at = {v.name: v.valueReference for v in description.modelVariables}
    units = {v.name: v.unit for v in description.modelVariables}
    assert (units["shaft.u"], units["shaft.y"], units["angle"]) == ("N m", "rad/s", "rad")
    folder = fmpy.extract(str(files[0]))
    fmu = instantiate_fmu(folder, description, logger=lambda *told: said.append(told[-1].decode()))
    get = lambda *names: fmu.getReal([at[name] for name in names])  # noqa: E731
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.setReal([at["shaft.u"]], [2.0])
    fmu.doStep(0.0, 0.1)
    state = fmu.getFMUstate()
    packed = fmu.serializeFMUstate(state)
    fmu.doStep(0.1, 0.1)
    there = get("angle", "shaft.energy", "energy", "balance_error")
    fmu.setFMUstate(state)
    fmu.doStep(0.1, 0.1)
    assert get("angle", "shaft.energy", "energy", "balance_error") == there
    again = fmu.deSerializeFMUstate(packed)
    fmu.setFMUstate(again)
    fmu.doStep(0.1, 0.1)
    assert get("angle", "shaft.energy", "energy", "balance_error") == there
    result = ps.simulate(first(), h=STEP, t_end=0.2, inputs={"shaft": 2.0})
    assert there[0] == pytest.approx(result.joint("hinge").coordinates["angle"][-1], abs=1e-12)
    assert there[2] == pytest.approx(result.energy[-1], abs=1e-12)
    assert said == []
    fmu.setReal([at["shaft.u"]], [1e300])
    with pytest.raises(fmpy.fmi1.FMICallException, match="discard"):
        fmu.doStep(0.2, 0.1)
    assert said[0].startswith("no step from t = 0.2 s")
    assert get("time") == [0.2]
    with pytest.raises(fmpy.fmi1.FMICallException, match="error"):
        fmu.setReal([at["energy"]], [0.0])
    assert said[1] == "'energy' is an output: it cannot be set"
    fmu.reset()
    fmu.setReal([at["gravity.z"]], [0.0])
    fmu.setupExperiment(startTime=1.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(1.0, 0.5)
    assert get("angle", "time") == [pytest.approx(0.0, abs=1e-12), 1.5]
    fmu.terminate()
    fmu.freeInstance()


def coupled(path, T, output):
    """Run the first half with the second one as an FMU; return the result and the FMU's energy."""
    model, told = first(), []
    model.add_fmu(
        "rest",
        path,
        every=T,
        reads={"shaft.u": "hinge.rate"},
        drives={"shaft": "-shaft.y"},
        outputs=["shaft.energy"],
    )

    def tell(t, y):
        told.append(y[1])
        return 0.0

    model.add_controller("tell", tell, reads=["rest.output"], outputs=1, every=T)
    result = ps.simulate(model, h=STEP, t_end=0.5, output=output)
    return model, result, np.array(told)


def test_what_a_coupled_fmu_adds_is_what_is_said_and_falls_with_the_communication_step(
    files, tmp_path
):
    errors, path = [], tmp_path / "run.nc"
    for fmu, T in ((files[2], 0.02), (files[1], 0.01)):
        model, result, own = coupled(fmu, T, path)
        found = ps.analysis.coupling_error(result, "shaft", every=T, means=True)
        known = found.energy[:-1] + own
        assert np.max(abs(found.error[:-1] - known)) < 0.01 * found.largest
        assert result.port("shaft").energy[-1] == found.energy[-1]
        assert result.stats.balance_error_max < 1e-11
        errors.append(found.error[-1])
        gc.collect()  # its process has ended with the run
        assert not [each for each in gc.get_objects() if type(each) is RunningFMU]
    assert 1.8 < errors[0] / errors[1] < 3.0
    with pytest.raises(ps.InputError, match="not among the saved times"):
        ps.analysis.coupling_error(result, "shaft", every=STEP / 2)
    with pytest.raises(ps.InputError, match="FMU 'rest' cannot continue"):
        ps.resume(path, model, t_end=0.6)


def coupling(path, **given):
    """Return a model with an FMU whose variables are given."""
    model = first()
    options = {"reads": {"shaft.u": "hinge.rate"}, "drives": {"shaft": "-shaft.y"}}
    model.add_fmu("rest", path, every=0.01, **{**options, **given})
    return model


def test_events_that_change_a_model_with_an_fmu_are_refused(files):
    model = coupling(files[1])
    model.add_force("spring", ps.JointSpring("hinge", stiffness=1.0))
    model.add_event("late", ps.Event("t - 0.1", then=ps.Switch("spring", on=False)))
    with pytest.raises(ps.InputError, match="FMU 'rest' would restart"):
        ps.simulate(model, h=STEP, t_end=0.2)


def test_model_files_have_fmus_from_their_folder(files, tmp_path):
    model = coupling(files[1], outputs=["energy"], parameters={"step_size": 2e-3})
    text = model.to_yaml()
    again = ps.Model.from_yaml_text(text)
    assert again.to_yaml() == text
    (tmp_path / "part.fmu").write_bytes(files[1].read_bytes())
    path = tmp_path / "model.yaml"
    path.write_text(text.replace(str(files[1].resolve()), "part.fmu"))
    law = ps.Model.from_yaml(path).controllers["rest"].law
    assert law.file.path == (tmp_path / "part.fmu").resolve()
    assert (law.told, law.parameters) == (("energy",), {"step_size": 2e-3})
    whole = ps.Model()
    whole.add_system("part", ps.Model.from_yaml(path), position=(0, 0, 1))
    assert whole.controllers["part.rest"].reads[0].text == "part.hinge.rate"


UNKNOWN = {
    "input": ({"reads": {"shaft.v": "hinge.rate"}}, "has no input 'shaft.v'; did you mean"),
    "channel": ({"reads": {"shaft.u": "hinge.rat"}}, "did you mean 'rate'"),
    "output": ({"drives": {"shaft": "shaft.z"}}, "has no output or local 'shaft.z'; did you"),
    "port": ({"drives": {"shift": "shaft.y"}}, "no port 'shift'; did you mean 'shaft'"),
    "size": ({"reads": {"shaft.u": "bar.position"}}, "has 1 number.s., expected 3"),
    "causality": ({"reads": {"energy": "hinge.rate"}}, "of causality 'output', expected input"),
    "parameter": ({"parameters": {"step": 1.0}}, "did you mean 'step_size'"),
    "nothing": ({"drives": {}}, "drives no port"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_an_fmu_has_not_is_refused_by_name(what, files):
    given, said = UNKNOWN[what]
    with pytest.raises(ps.InputError, match=said):
        coupling(files[1], **given)


def changed(path, target, **names):
    """Write an FMU with other texts in its description, and binaries for another platform."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "modelDescription.xml":
                for before, after in names.items():
                    data = data.replace(before.encode(), after.encode())
            elif name.startswith("binaries"):
                name = "binaries/riscv64-linux/second.so"
            new.writestr(name, data)
    return target


def test_files_that_are_no_fmus_for_here_are_refused(files, tmp_path):
    text = tmp_path / "text.fmu"
    text.write_text("no archive")
    empty = tmp_path / "empty.fmu"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("a", "b")
    for path, said in (
        (tmp_path / "none.fmu", "cannot read"),
        (text, "is not an FMU, which is a ZIP archive"),
        (empty, "no modelDescription.xml"),
        (changed(files[1], tmp_path / "far.fmu"), "has no binary for"),
        (changed(files[1], tmp_path / "me.fmu", CoSimulation="ModelExchange"), "model exchange"),
        (changed(files[1], tmp_path / "bad.fmu", Float64="Float65"), "invalid modelDescription"),
    ):
        with pytest.raises(ps.FMUError, match=said):
            coupling(path)


def test_what_an_fmu_fails_with_ends_the_run_with_its_words(files, monkeypatch):
    monkeypatch.setenv("POINSOT_PYTHON", "/nowhere/python")
    model = coupling(files[1])
    with pytest.raises(ps.SimulationError, match="'/nowhere/python' cannot be started") as said:
        ps.simulate(model, h=STEP, t_end=0.1)
    assert isinstance(said.value.__cause__.__cause__, ps.FMUError)


def test_names_and_models_that_no_fmu_can_have_are_refused(tmp_path):
    with_function = first()
    with_function.add_force("law", ps.JointSpring("hinge", law=lambda v: 0.1 * v))
    path = tmp_path / "a.fmu"
    for model, given, said in (
        (first(), {"path": tmp_path / "a.zip"}, "end in .fmu"),
        (first(), {"path": tmp_path / "none" / "a.fmu"}, "none"),
        (first(), {"version": 1}, "FMI 2 and 3"),
        (first(), {"platforms": ["x86_64-linus"]}, "did you mean 'x86_64-linux'"),
        (first(), {"version": 2, "platforms": ["aarch64-linux"]}, "use version 3"),
        (first(), {"step": None}, "no step size"),
        (with_function, {}, "law"),
    ):
        with pytest.raises(ps.InputError, match=said):
            ps.export_fmu(model, **{"path": path, "step": STEP, **given})
    assert not path.exists()


def test_a_missing_extra_is_named(files, monkeypatch, tmp_path):
    monkeypatch.setattr(binary, "of_the_user", lambda: tmp_path)
    monkeypatch.setattr(binary, "find_spec", lambda name: None)
    with pytest.raises(ps.MissingExtraError, match=r"poinsot\[fmi\]"):
        ps.export_fmu(first(), tmp_path / "a.fmu", step=STEP)
    monkeypatch.setitem(sys.modules, "fmpy", None)
    with pytest.raises(ps.MissingExtraError, match=r"poinsot\[fmi\]"):
        coupling(files[1])


def test_every_request_is_answered(files):
    """Also those that make no sense: nobody would wait for an answer forever."""
    with zipfile.ZipFile(files[1]) as archive:
        model = ps.Model.from_yaml_text(archive.read("resources/model.yaml").decode())
        facts = archive.read("resources/interface.json")
    requests = [
        (Operation.STEP, struct.pack("=dd", 0.0, 0.1)),
        (99, b""),
        (Operation.SETUP, b"?"),
        (Operation.RESTORE, struct.pack("=Q", 7)),
        (Operation.EXIT, b""),
        (Operation.GET, struct.pack("=I", 0)),
    ]
    asked = b"".join(struct.pack("=IB", len(data) + 1, code) + data for code, data in requests)
    told = BytesIO()
    serve(Instance(model, Interface.read(loads(facts))), BytesIO(asked), told)
    found, left = [], told.getvalue()
    while left:
        size, status, length = struct.unpack_from("=IiI", left)
        found.append((status, left[12 : 12 + length].decode(), left[12 + length : 4 + size]))
        left = left[4 + size :]
    assert [status for status, _, _ in found] == [Status.ERROR] * 4 + [Status.OK] * 2
    assert "before the initialization" in found[0][1]
    assert "no FMU state 7" in found[3][1]
    assert struct.unpack("=d", found[5][2]) == (0.0,)
