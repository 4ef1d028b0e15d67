"""What cannot be an option is refused by name, before anything is computed or written."""

from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import poinsot as ps

#: Values that are right for none of these options; what else is wrong for some.
WRONG = ([1, "x"], object(), 2j, b"x", ps.Sphere)
NUMBERS = ("x", float("nan"), True, 10**400, ())
FLAGS = ("no", 1, 0.0, None, ())


@pytest.fixture
def model():
    model = ps.Model(gravity=(0, 0, -9.81), name="pendulum")
    bar = ps.Box(mass=1, size=(1, 0.1, 0.1))
    body = model.add_body("bar", bar, position=(0.5, 0, 0))
    hinge = ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("hinge", hinge)
    model.add_port("motor", ps.JointPort("hinge"))
    return model


@pytest.fixture
def written(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ps.simulate(model, h=0.01, t_end=0.02, output="run.nc")
    return "run.nc"


def refused(call, given, name, value):
    with pytest.raises(ps.InputError) as error:
        call(**{**given, name: value})
    return str(error.value)


def calls(model, written):
    """Functions with options that they take."""
    steps = {"h": 0.01, "t_end": 0.03}
    values = {"bodies.bar.mass": [1.0, 2.0]}
    return {
        "simulate": (ps.simulate, {"model": model, **steps}),
        "resume": (ps.resume, {"path": written, "t_end": 0.03}),
        "ensemble": (ps.ensemble, {"model": model, "parameters": values, **steps}),
        "assemble": (model.assemble, {}),
        "move": (model.move, {"joint": "hinge", "to": 0.1}),
        "equilibrium": (model.equilibrium, {}),
        "compile": (model.compile, {}),
        "Newton": (ps.Newton, {}),
        "Event": (ps.Event, {"when": "t - 1"}),
    }


@pytest.mark.parametrize(
    "what",
    ["simulate", "resume", "ensemble", "assemble", "move", "equilibrium", "compile", "Newton"],
)
def test_what_cannot_be_an_option_is_refused(what, model, written):
    (call, given), before = calls(model, written)[what], Path(written).read_bytes()
    for name in set(signature(call).parameters) - {"executor"}:
        for value in WRONG:
            refused(call, given, name, value)
    assert Path(written).read_bytes() == before


@pytest.mark.parametrize(
    ("what", "names", "values"),
    [
        ("simulate", ("h", "t_end", "t_start", "tolerance", "h_max", "save_every"), NUMBERS),
        ("simulate", ("estimate_error",), FLAGS),
        ("simulate", ("progress",), FLAGS[:3]),
        ("simulate", ("scheme", "engine", "coordinates", "newton"), ("", 3, (), "nothing")),
        ("simulate", ("inputs", "events", "angles"), (3, "x", [1, 2], {3: 4}, np.ones(2))),
        ("resume", ("progress",), FLAGS[:3]),
        ("resume", ("t_end",), NUMBERS),
        ("ensemble", ("h", "t_end", "t_start", "save_every"), NUMBERS),
        ("ensemble", ("workers",), (0, 1.5, "x", True)),
        ("ensemble", ("progress",), FLAGS[:3]),
        ("ensemble", ("scheme", "engine", "coordinates", "newton"), ("", 3, (), "nothing")),
        ("ensemble", ("inputs",), (3, "x", [1, 2], {3: 4}, {"nothing": 1})),
        ("ensemble", ("what",), (3, None, "nothing", [3])),
        ("assemble", ("near",), (3, "x", [1, 2], {3: 4}, {"nothing": 1.0})),
        ("assemble", ("keep",), (3, [1, 2], {"a": 1}, np.ones(2))),
        ("equilibrium", ("t",), NUMBERS),
        ("equilibrium", ("stable",), FLAGS),
        ("equilibrium", ("inputs",), (3, "x", [1, 2], {3: 4}, np.ones(2))),
        ("compile", ("stabilised",), FLAGS),
        ("Newton", ("atol", "rtol", "max_iterations", "halvings"), (*NUMBERS, -1)),
        ("Event", ("direction",), (*NUMBERS[:-1], 2)),
        ("Event", ("reads",), (3, None, [1, 2], {"a"})),
    ],
)
def test_the_message_names_the_option(what, names, values, model, written):
    call, given = calls(model, written)[what]
    for name in names:
        for value in values:
            assert name in refused(call, given, name, value)
