"""A run that goes on from its file is the run that never stopped, bit by bit."""

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import cranes
import loads
import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parts import oscillator
from same import assert_same

import poinsot as ps
from poinsot.gallery import spring_pendulum
from poinsot.result import Writer, checkpoint, seal
from poinsot.run import compiled, loop, reference, stream

SCHEMES = (
    *("ph-mp", "ph-mp-ggl", "ph-dg", "ph-avf", "eml", "reml", "null-eml", "emh", "emh-mean"),
    *("mpl", "mph", "ph-mp-4"),
)
COORDINATES = ("quaternions", "rotations", "rotations-quaternion", "rotations-euler")
H = 0.01


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.nc"


@pytest.fixture(autouse=True)
def usual():
    """Put back what `divide` changes."""
    with pytest.MonkeyPatch.context() as patched:
        yield patched


def divide(patched, choice):
    """Let blocks, and pieces that are written, have other sizes, with a checkpoint after each."""
    pause, first = choice.choice([(0.0, 0), (1e-3, 0), (1e9, 0), (1e9, 100_000)])
    for module in (loop, reference):
        patched.setattr(module, "PAUSE", pause)
    patched.setattr(compiled, "FIRST", first)
    for name, value in (("PAUSE", -1.0), ("SHARE", np.inf), ("KEEPING", np.inf)):
        patched.setattr(stream, name, value)


def stopping(at):
    """A load at the port `stop`, which ends the run at a time."""

    def load(t):
        if t > at:
            raise KeyboardInterrupt
        return (0.1, np.cos(t), 0.0)

    return {"stop": load}


def going_on():
    return stopping(np.inf)


def with_port(model):
    model.add_port("stop", ps.ForcePort(next(iter(model.bodies.values()))))
    return model


def interrupted(model, path, at, patched, choice, inputs=stopping, **options):
    """Run up to a time, and from there to another one, in blocks of any size."""
    divide(patched, choice)
    first = ps.simulate(model, inputs=inputs(at), output=path, **options)
    assert first.status == "interrupted"
    divide(patched, choice)
    second = ps.resume(path, model, inputs=inputs((at + options["t_end"]) / 2))
    divide(patched, choice)
    assert second.status in ("interrupted", "done")
    return ps.resume(path, model, inputs=inputs(np.inf))


@mechanisms.laws(21)
@given(
    seed=st.integers(0, 10**6),
    scheme=st.sampled_from(SCHEMES),
    engine=st.sampled_from(["reference", "compiled", "compiled"]),
    every=st.sampled_from([1, 3]),
    at=st.floats(0, 0.95),  # at the very end there is no step to stop
    choice=st.randoms(use_true_random=False),
)
def test_a_run_goes_on_wherever_it_was_stopped(
    tmp_path_factory, seed, scheme, engine, every, at, choice
):
    folder = tmp_path_factory.mktemp("run")
    plan = mechanisms.tree(seed, bodies=2) if scheme == "ph-mp-4" else mechanisms.full(seed)
    model, steps = with_port(plan.model()), 8 if engine == "reference" else 30
    if scheme in ("mpl", "mph", "ph-dg", "ph-avf"):
        engine = "auto"
    options = {"h": H, "t_end": (steps - 0.3) * H, "scheme": scheme, "engine": engine}
    options["save_every"] = every
    whole = ps.simulate(model, inputs=going_on(), output=folder / "whole.nc", **options)
    with pytest.MonkeyPatch.context() as patched:
        path = folder / "run.nc"
        result = interrupted(model, path, at * options["t_end"], patched, choice, **options)
    assert_same(result, whole)
    assert_same(ps.load(path), whole)


def loaded():
    """Springs, fields, loads and motors by Python functions, which the engine calls."""
    return with_port(loads.loaded(2))


def controlled():
    """A sampled law with states, whose outputs come late, of a mechanism with a coil."""

    def law(t, y, x):
        return np.array([-3 * y[0] - x[0], -y[1], 0.1, 0.0, 0.2 * np.sin(t)]), x + 0.01 * y[0]

    reads = ["pin.angle", "rail.rate", "tip.position"]
    return with_port(cranes.crane(law, reads, every=0.02, states=1, delay=0.03))


def relaxing():
    model = with_port(mechanisms.tree(3, bodies=3, loops=1).model())
    body = next(iter(model.bodies.values()))
    stiffness = (10, 5, 5, 1, 1, 1)
    bushing = ps.Bushing(
        model.ground, body, point=(0.1, 0, 0), stiffness=stiffness, relaxation=((0.7, 0.3),)
    )
    model.add_force("bushing", bushing)
    return model


def spinning():
    """Bodies that turn half a circle in a step: the reference engine takes all of them."""
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("top", ps.Box(mass=1, size=(1, 0.5, 0.2)), angular_velocity=(20, 0, 2000))
    return with_port(model)


def turning():
    """A wheel with a spring that is wound up over turns, dry friction, and a drive beside it."""
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), angular_velocity=(0, 0, 60))
    other = model.add_body("other", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0, 0, 1))
    pin = ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("pin", pin)
    model.add_joint("driven", ps.Revolute(bar, other, point=(0, 0, 1), axis=(0, 1, 0)))
    model.add_force("coil", ps.JointSpring("pin", stiffness=0.05))
    model.add_force("brake", ps.JointFriction("pin", coulomb=0.4, viscous=0.01))
    model.add_port("drive", ps.Drive("driven", ps.Table([0, 0.1, 9], [0, 0.3, 0.3])))
    return with_port(model)


def elastic():
    section = ps.RectangularSection(width=0.01, height=0.03)
    beam = ps.Beam(length=1, section=section, density=2700, youngs_modulus=7e10, elements=2)
    model = ps.Model(gravity=(0, -9.81, 0))
    model.add_body("beam", beam, position=(0.5, 0, 0))
    start = model.body("beam.start")
    model.add_joint("hinge", ps.Revolute(model.ground, start, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("stop", ps.ForcePort(model.body("beam.end"), point=(1, 0, 0)))
    return model


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("build", [loaded, controlled, relaxing, spinning, turning, elastic])
def test_everything_that_is_carried_from_step_to_step_is_in_a_checkpoint(
    build, engine, path, usual
):
    steps = {"elastic": 3, "loaded": 8}.get(build.__name__, 10) if engine == "reference" else 60
    options = {"h": H, "t_end": steps * H, "engine": engine, "save_every": 2}
    whole = ps.simulate(build(), inputs=going_on(), output=path.with_name("whole.nc"), **options)
    assert (whole.stats.single_steps > 0) == (build is spinning and engine == "compiled")
    at = 0.4 * options["t_end"]
    result = interrupted(build(), path, at, usual, random.Random(steps), **options)
    assert_same(result, whole)


def changing(t_end):
    """A chain of three bars with a spring; events take away, lock, and bring back parts of it."""
    model = ps.Model(gravity=(0, 0, -9.81))
    bars = [model.ground]
    for k in range(3):
        bar = ps.Box(mass=1, size=(1, 0.1, 0.2))
        bars.append(model.add_body(f"bar{k}", bar, position=(k + 0.5, 0, 0)))
        axis = (0, 1, 0) if k != 1 else (0, 0.6, 0.8)
        hinge = ps.Revolute(*bars[-2:], point=(k, 0, 0), axis=axis)
        model.add_joint(f"hinge{k}", hinge)
    spring = ps.Spring(model.ground, bars[2], (0, 0, 1), (1.5, 0, 0), stiffness=40)
    model.add_force("spring", spring)
    for part, then in (
        (0.15, ps.Switch("spring", on=False)),
        (0.33, ps.Lock("hinge2")),
        (0.52, ps.Switch("spring", on=True)),
        (0.61, ps.Lock("hinge1")),
        (0.83, ps.Release("hinge0")),
    ):
        model.add_event(f"at {part}", ps.Event(f"t - {part * t_end}", then=then))
    return with_port(model)


@pytest.mark.parametrize("at", [0.2, 0.45])
@pytest.mark.parametrize(
    ("engine", "scheme"),
    [("reference", "ph-mp"), ("compiled", "ph-mp"), ("compiled", "emh-mean")],
)
def test_runs_go_on_in_models_that_events_have_changed(engine, scheme, at, path, usual):
    options = {"h": H, "t_end": 0.3, "engine": engine, "scheme": scheme}
    model, place = changing(0.3), path.with_name("whole.nc")
    whole = ps.simulate(model, inputs=going_on(), output=place, **options)
    assert all(event.time.size == 1 for event in whole.events.values())
    result = interrupted(changing(0.3), path, at * 0.3, usual, random.Random(2), **options)
    assert_same(result, whole)
    assert_same(ps.load(path), whole)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_runs_go_on_in_all_coordinates(coordinates, engine, path, usual):
    model = with_port(mechanisms.tree(4, bodies=3, loops=1).model())
    options = {"h": H, "t_end": 0.1 if engine == "reference" else 0.6, "engine": engine}
    options["coordinates"] = coordinates
    whole = ps.simulate(model, inputs=going_on(), output=path.with_name("whole.nc"), **options)
    at = 0.4 * options["t_end"]
    assert_same(interrupted(model, path, at, usual, random.Random(1), **options), whole)


def stopping_oscillator(at):
    return {"oscillator.force": lambda t: stopping(at)["stop"](t)[0]}


def test_a_system_goes_on_from_its_own_start(path, usual):
    options = {"h": H, "t_end": 0.5, "x0": [1.0, 0.2]}
    inputs = stopping_oscillator
    whole = ps.simulate(
        oscillator(), inputs=inputs(np.inf), output=path.with_name("whole.nc"), **options
    )
    found = interrupted(oscillator(), path, 0.2, usual, random.Random(0), inputs, **options)
    assert_same(found, whole)


def test_a_lagrangian_goes_on(path):
    pendulum = spring_pendulum.model()
    options = {"h": H, "x0": spring_pendulum.START}
    whole = ps.simulate(pendulum, t_end=0.5, output=path.with_name("whole.nc"), **options)
    ps.simulate(pendulum, t_end=0.2, output=path, **options)
    assert_same(ps.resume(path, pendulum, t_end=0.5), whole)


# -- how a run ended --------------------------------------------------------------------------


def model_file():
    """A model that its file knows, with an input by a formula, and a last step that is cut."""
    plan = mechanisms.tree(3, bodies=2)
    plan.ports.clear()
    return with_port(plan.model())


FORMULA = {"stop": ["0.1*sin(3*t)", 0.0, "t"]}


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("every", [1, 4])
def test_a_run_that_is_done_goes_on_to_a_later_end(every, engine, path):
    options = {"h": H, "engine": engine, "save_every": every, "inputs": FORMULA}
    place = path.with_name("whole.nc")
    whole = ps.simulate(model_file(), t_end=0.3, output=place, **options)
    ps.simulate(model_file(), t_end=0.087, output=path, **options)
    for t_end in (0.1, 0.205, 0.3):
        result = ps.resume(path, t_end=t_end)
        assert (result.status, result.time[-1]) == ("done", t_end)
    assert_same(result, whole)
    assert_same(ps.resume(path), whole)


def test_what_was_done_stays_where_it_is_if_the_rest_goes_elsewhere(path, tmp_path):
    first = ps.simulate(model_file(), h=H, t_end=0.1, output=path)
    energy = np.array(first.energy)
    longer = ps.resume(path, t_end=0.2, output=tmp_path / "longer.nc")
    assert ps.load(path).time[-1] == 0.1
    assert ps.load(tmp_path / "longer.nc").time[-1] == longer.time[-1] == 0.2
    ps.resume(path, t_end=0.2)
    assert np.array_equal(first.energy, energy)
    assert sorted(os.listdir(tmp_path)) == ["longer.nc", "run.nc"]


def test_a_run_that_failed_goes_on_when_the_fault_is_mended(path):
    options = {"h": H, "t_end": 0.4, "x0": [1.0, 0.0]}
    whole = ps.simulate(oscillator(), output=path.with_name("whole.nc"), **options)

    def broken(t):
        return 1 / 0 if t > 0.25 else 0.0

    with pytest.raises(ps.SimulationError, match="ZeroDivisionError"):
        ps.simulate(oscillator(), inputs={"oscillator.force": broken}, output=path, **options)
    with pytest.raises(ps.SimulationError, match="ZeroDivisionError") as error:
        ps.resume(path, oscillator(), inputs={"oscillator.force": broken})
    assert error.value.result.time[-1] == pytest.approx(0.25)
    mended = ps.resume(path, oscillator(), inputs={"oscillator.force": 0.0})
    assert np.array_equal(mended["oscillator.q"], whole["oscillator.q"])


@pytest.mark.parametrize("what", ["rows", "checkpoints"])
def test_a_full_disk_costs_nothing_when_there_is_room_again(what, path, usual):
    divide(usual, random.Random(3))
    options = {"h": H, "engine": "reference", "t_end": 0.4}
    whole = ps.simulate(model_file(), output=path.with_name("whole.nc"), **options)
    where, name = {"rows": (Writer, "_write"), "checkpoints": (checkpoint, "write_all")}[what]
    real = getattr(where, name)

    written = []

    def full(*arguments):
        written.extend([path.exists()] if len(arguments[-1]) > 8 else [])
        if sum(written) > 200:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(*arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(where, name, full)
        with pytest.raises(ps.SimulationError, match="No space left"):
            ps.simulate(model_file(), output=path, **options)
    assert 2 < ps.load(path).time.size < whole.time.size
    assert_same(ps.resume(path), whole)


def test_the_message_of_a_run_that_was_stopped_tells_how_to_go_on(path):
    stopped = ps.simulate(model_file(), h=H, t_end=0.2, inputs=stopping(0.1), output=path)
    assert stopped.message.endswith(f"to continue: poinsot run --resume {path}")


# -- a process that is killed ------------------------------------------------------------------

KILLS = """
import os, random, signal, sys, time
from pathlib import Path
import mechanisms
import poinsot as ps
from poinsot.run import stream

stream.PAUSE, stream.SHARE, stream.KEEPING = -1.0, float("inf"), float("inf")
folder, engine, kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[4])
model, path = mechanisms.tree(3, bodies=2).model(), folder / "run.nc"
ps.simulate(model, h=0.01, t_end=0.1, engine=engine, output=folder / "first.nc")
choice, most = random.Random(int(sys.argv[3])), 0
for k in range(kills):
    child = os.fork()
    if child == 0:
        if k == 0:
            ps.simulate(model, h=0.01, t_end=1000.0, engine=engine, output=path, save_every=3)
        else:
            ps.resume(path)
        os._exit(0)
    while not path.exists():
        time.sleep(1e-3)
    time.sleep(choice.uniform(0, 0.1))
    while k % 2 and ps.load(path).time.size <= most:  # every second time it has got further
        time.sleep(1e-3)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    most = max(most, ps.load(path).time.size)
"""


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_run_that_is_killed_ten_times_has_the_same_end(engine, tmp_path):
    seed, kills = time.time_ns() % 2**32, 10
    tests = str(Path(__file__).parent.parent)
    place = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", KILLS, tmp_path, engine, str(seed), str(kills)],
        check=True,
        env={**os.environ, "PYTHONPATH": place},
    )
    path = tmp_path / "run.nc"
    killed = ps.load(path)
    assert killed.status == "unfinished"
    assert "poinsot run --resume" in killed.message
    t_end = float(killed.time[-1]) + 0.25
    assert killed.time.size > 2, seed
    result = ps.resume(path, t_end=t_end)
    options = {"h": 0.01, "t_end": t_end, "engine": engine, "save_every": 3}
    model = mechanisms.tree(3, bodies=2).model()
    whole = ps.simulate(model, output=tmp_path / "whole.nc", **options)
    assert_same(result, whole)


def test_a_file_has_a_checkpoint_after_every_single_write(path, usual, tmp_path):
    divide(usual, random.Random(0))
    real, copies = checkpoint.write_all, []

    def copying(file, data):
        half = len(data) // 2
        for piece in (data[:half], data[half:]):
            real(file, piece)
            if path.exists():
                copies.append(tmp_path / f"{len(copies)}.nc")
                shutil.copy(path, copies[-1])

    usual.setattr(checkpoint, "write_all", copying)
    options = {"h": H, "t_end": 0.05, "engine": "reference"}
    whole = ps.simulate(model_file(), output=path, **options)
    usual.setattr(checkpoint, "write_all", real)
    assert len(copies) > 20
    for copy in copies[:: len(copies) // 8]:
        result = ps.resume(copy)
        assert np.array_equal(result["body0.q"], whole["body0.q"])


# -- what is refused ---------------------------------------------------------------------------


def refused(path, *arguments, match, **options):
    before = path.read_bytes()
    with pytest.raises(ps.InputError, match=match):
        ps.resume(path, *arguments, **options)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_file_without_a_checkpoint_is_refused(path):
    ps.simulate(model_file(), h=H, t_end=0.1).save(path)
    refused(path, t_end=0.2, match=r"has no checkpoint")


@pytest.fixture
def written(path):
    ps.simulate(model_file(), h=H, t_end=0.1, output=path)
    return path


def places(path):
    """Where the seal ends, and the content."""
    content = bytearray(path.read_bytes())
    return content.index(seal.MARK) + len(seal.MARK), content


def test_a_checkpoint_that_is_damaged_or_cut_off_does_not_count(written):
    start, content = places(written)
    for k in range(start + 100, len(content), 97):
        content[k] ^= 1
    written.write_bytes(content)
    refused(written, t_end=0.2, match="has no checkpoint")
    for end in (start + 40, start + 5, start):
        written.write_bytes(content[:end])
        refused(written, t_end=0.2, match="has no checkpoint")


def test_the_checkpoint_of_another_run_does_not_count(written, tmp_path):
    other = tmp_path / "other" / "run.nc"
    other.parent.mkdir()
    ps.simulate(model_file(), h=H, t_end=0.11, output=other)
    (at, content), (start, theirs) = places(written), places(other)
    shutil.rmtree(other.parent)
    written.write_bytes(content[:at] + theirs[start:])
    refused(written, t_end=0.2, match="has no checkpoint")


def test_another_model_is_refused(written):
    def changed(change):
        plan = mechanisms.tree(3, bodies=2)
        plan.ports.clear()
        change(plan)
        return with_port(plan.model())

    def heavier(plan):
        plan.bodies["body0"]["shape"] = ps.Box(mass=0.5, size=(1, 1, 1))

    def larger(plan):
        plan.bodies["extra"] = {"shape": ps.Box(mass=0.5, size=(1, 1, 1))}

    same = ps.resume(written, changed(lambda plan: None), t_end=0.11)
    assert same.status == "done"
    refused(written, changed(heavier), t_end=0.2, match="not the model of the run: ")
    refused(written, changed(larger), t_end=0.2, match="it has 8 states and not 6, such as 'extra")


def test_another_law_of_a_spring_is_refused(path):
    def spring(k):
        model = ps.Model()
        body = model.add_body("body", ps.Sphere(mass=1, radius=0.1), velocity=(1, 0, 0))
        rail = ps.Prismatic(model.ground, body, point=(0, 0, 0), axis=(1, 0, 0))
        model.add_joint("rail", rail)
        law = ps.JointSpring(
            "rail", potential=lambda x: k * x**4, dpotential=lambda x: 4 * k * x**3
        )
        model.add_force("spring", law)
        return model

    ps.simulate(spring(1.0), h=H, t_end=0.3, output=path)
    refused(path, t_end=0.4, match=r"does not contain its model.* give model=")
    refused(path, spring(2.0), t_end=0.4, match="not the model of the run: state energy")
    assert ps.resume(path, spring(1.0), t_end=0.4).status == "done"


def test_another_input_is_refused(path):
    ps.simulate(oscillator(), h=H, t_end=0.3, inputs={"oscillator.force": np.cos}, output=path)
    refused(path, oscillator(), t_end=0.4, match="port 'oscillator.force': the input is not that")
    inputs = {"oscillator.force": np.cos}
    assert ps.resume(path, oscillator(), inputs=inputs, t_end=0.4).status == "done"


def test_an_end_that_was_passed_is_refused(written):
    refused(
        written, t_end=0.05, match=r"the run has reached t = 0.09 s.* t_end = 0.05 s must be later"
    )


def test_no_file_is_refused(tmp_path):
    with pytest.raises(ps.InputError, match="there is no file"):
        ps.resume(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("text")
    with pytest.raises(ps.InputError, match="is not a result file"):
        ps.resume(tmp_path / "text.nc")


# -- the machine -------------------------------------------------------------------------------


def hard(seed):
    """A mechanism with loops, in steps so large that the exact tangent is needed now and then."""
    return mechanisms.tree(seed, bodies=4, loops=2, speed=3.0).model()


@pytest.mark.parametrize("seed", [3, 7])
def test_steps_with_the_exact_tangent_do_not_depend_on_blocks(seed, usual):
    results = []
    for pause, first in ((0.0, 0), (1e9, 0), (1e9, 100_000)):
        usual.setattr(loop, "PAUSE", pause)
        usual.setattr(compiled, "FIRST", first)
        results.append(ps.simulate(hard(seed), h=0.12, t_end=24.0, engine="compiled"))
    for other in results[1:]:
        assert_same(other, results[0])
