"""Studies in vector registers: every run is that of machine code, whoever is beside it."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.engine import machine_code, simd
from poinsot.errors import BuildError
from poinsot.gallery import find_example
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.studies import ensemble as ensembles
from poinsot.studies import numbers, single, work
from tests.studies.test_ensembles import assert_same

BOX = {
    "bodies.bob.mass": (0.2, 2.0),
    "gravity.z": (-12.0, -1.0),
    "initial.bob.angular_velocity.y": (-6.0, 6.0),
    "forces.friction.coulomb": (0.0, 0.4),
}
WHAT = ("energy", "bob.position", "hinge.angle", "hinge.force")
RUN = {"h": 0.01, "t_end": 0.6, "save_every": 7, "what": WHAT, "progress": False}

pytestmark = pytest.mark.skipif(not simd.level(), reason="needs AVX2")


def pendulum():
    """A pendulum with a spring and dry friction, which sticks in some runs and slips in others."""
    model = ps.Model(gravity=(0, 0, -9.81))
    box, motion = ps.Box(mass=1.0, size=(0.1, 0.2, 0.6)), {"angular_velocity": (0, 1.0, 0)}
    bob = model.add_body("bob", box, position=(0, 0, -0.3), **motion)
    model.add_joint("hinge", ps.Revolute(model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("spring", ps.JointSpring("hinge", stiffness=0.3, damping=0.02))
    model.add_force("friction", ps.JointFriction("hinge", coulomb=0.2, slip=1e-2))
    return model


def values(runs=43):
    return ps.latin_hypercube(BOX, runs)


def study(given=None, **options):
    given = values() if given is None else given
    return ps.ensemble(pendulum(), given, **{"engine": "simd", "workers": 1, **RUN, **options})


@pytest.fixture(params=simd.LEVELS)
def level(request, monkeypatch):
    """Every level that this processor has."""
    needed, _ = simd.LEVELS[request.param]
    if not needed <= machine_code.abilities():
        pytest.skip(f"no {request.param}")
    monkeypatch.setattr(simd, "level", lambda: request.param)
    return request.param


def test_runs_side_by_side_are_those_of_machine_code(level, monkeypatch):
    """Their steps need different numbers of iterations; the balance is at round-off in all."""
    alone = study(engine="compiled")
    monkeypatch.setattr(single, "take", None)  # none of them is taken again
    found = study()
    assert (found.status == 1).all()
    for name in WHAT:
        scale = np.nanmax(np.abs(alone[name]))
        assert np.nanmax(np.abs(found[name] - alone[name])) < 1e-12 * scale
        assert np.array_equal(np.isnan(found[name]), np.isnan(alone[name]))
    assert found.balance_error_max.max() < 1e-13


def test_a_run_is_the_same_bit_by_bit_whoever_is_beside_it(monkeypatch):
    """In any order, in chunks of any size, by any number of workers."""
    found, given = study(), values()
    order = np.random.default_rng(0).permutation(len(found.run))
    other = study({path: each[order] for path, each in given.items()})
    for name in WHAT:
        assert np.array_equal(other[name], found[name][order], equal_nan=True)
    assert_same(study(workers=3), found)
    monkeypatch.setattr(ensembles, "SPAN", 1e-3)
    assert_same(study(workers=2), found)


def test_runs_that_do_not_pass_are_taken_again_one_by_one(monkeypatch):
    """A body that turns too far in a step leaves those beside it as they are."""
    given = values()
    given["initial.bob.angular_velocity.y"][17] = 2000.0
    again, take = list[int](), single.take

    def noted(cases, measures, row, into, k):
        again.append(int(into.runs[k]))
        take(cases, measures, row, into, k)

    monkeypatch.setattr(single, "take", noted)
    alone, expected = study(given, engine="compiled"), again.copy()
    again.clear()
    found = study(given)
    assert 17 in again
    assert again == expected
    for name in ("bob.position", "hinge.angle"):
        same, other = (np.delete(each[name].values, 17, axis=0) for each in (found, alone))
        assert np.allclose(same, other, rtol=0, atol=1e-11)


def test_a_long_study_is_taken_in_registers_and_a_short_one_is_not(monkeypatch):
    """How long it is decides, and nothing else."""
    one_by_one = study(engine="compiled")
    assert_same(study(engine="auto"), one_by_one)
    monkeypatch.setattr(ensembles, "WORTH_COMPILING", 0.0)
    several = study(engine="auto")
    assert_same(several, study())
    assert not np.array_equal(several.energy, one_by_one.energy)
    assert_same(study(engine="compiled"), one_by_one)
    monkeypatch.setattr(ensembles, "SMALL", 10)
    assert_same(study(engine="auto"), one_by_one)


def test_a_first_run_that_cannot_begin_stops_no_other(monkeypatch):
    monkeypatch.setattr(numbers, "LEAST", 240)
    given = values()
    expected = study(given)
    given["bodies.bob.mass"] = given["bodies.bob.mass"].copy()
    given["bodies.bob.mass"][0] = -1.0
    found = study(given)
    assert found.status.values.tolist() == [3] + 42 * [1]
    assert "must be positive" in str(found.message[0].values)
    assert np.allclose(found.energy[1:], expected.energy[1:], rtol=0, atol=1e-11)


def test_groups_of_long_runs_are_full(monkeypatch):
    """However long runs are, no register stays empty but in the last group."""
    counts, take = list[int](), ensembles.Worker.take

    def noted(worker, runs, rows):
        counts.append(len(runs))
        return take(worker, runs, rows)

    monkeypatch.setattr(ensembles.Worker, "take", noted)
    monkeypatch.setattr(ensembles, "SPAN", 0.0)
    study()
    _, abreast = simd.LEVELS[simd.level()]
    assert counts == [abreast] * (43 // abreast) + [43 % abreast]


def test_a_kernel_that_does_not_compile_is_an_error_only_if_it_is_asked_for(monkeypatch):
    def fails(self):
        raise BuildError("no memory")

    one_by_one = study(engine="compiled")
    monkeypatch.setattr(simd.Registers, "kernel", property(fails))
    monkeypatch.setattr(ensembles, "WORTH_COMPILING", 0.0)
    assert_same(study(engine="auto"), one_by_one)
    with pytest.raises(BuildError, match="no memory"):
        study()


def test_a_worker_without_registers_takes_runs_one_by_one(monkeypatch):
    """Those of a cluster may have other processors than the machine that asks."""
    one_by_one, taken = study(engine="compiled"), ensembles.taken

    def elsewhere(worker, *given):
        monkeypatch.setattr(simd, "level", lambda: "")
        work._PREPARED.clear()
        return taken(worker, *given)

    monkeypatch.setattr(ensembles, "taken", elsewhere)
    assert_same(study(), one_by_one)


def test_a_study_that_was_stopped_goes_on(tmp_path, monkeypatch):
    path, found = tmp_path / "study.nc", study()
    monkeypatch.setattr(ensembles, "SPAN", 0.0)
    write, written = ensembles.FileStore.write, []

    def stops(store, outcomes):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(outcomes)
        write(store, outcomes)

    monkeypatch.setattr(ensembles.FileStore, "write", stops)
    assert (study(output=path).status == 0).any()
    monkeypatch.setattr(ensembles.FileStore, "write", write)
    with study(output=path) as whole:
        assert_same(whole.load(), found)


def test_what_registers_cannot_take_is_refused_by_name(monkeypatch):
    model = crank.model()
    model.add_force("spring", ps.JointSpring("A", force=ps.Formula("3*x**3", "x")))
    given = {"h": 0.01, "t_end": 0.1, "progress": False}
    with pytest.raises(ps.InputError, match=r"engine='simd' cannot call .*'spring'.*leave out"):
        ps.ensemble(model, {"bodies.rod.mass": [0.4, 0.5]}, engine="simd", **given)
    model = find_example("flexible-four-bar").model()
    with pytest.raises(ps.InputError, match=r"cannot run model .*elastic bodies"):
        ps.ensemble(model, {"gravity.z": [-9.0, -8.0]}, engine="simd", **given)
    with pytest.raises(ps.InputError, match=r"cannot take these runs: .*; leave out engine='simd'"):
        ps.ensemble(crank.model(), {"options.step": [0.01, 0.02]}, engine="simd", t_end=0.1)
    monkeypatch.setattr(simd, "level", lambda: "")
    with pytest.raises(ps.InputError, match=r"needs a processor with AVX2"):
        ps.ensemble(crank.model(), {"bodies.rod.mass": [0.4, 0.5]}, engine="simd", **given)
