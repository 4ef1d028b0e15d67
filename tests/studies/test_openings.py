"""The memory of a run: what a model determines, and machine code on it."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.engine import machine_code
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.ph.stages import Newton
from poinsot.run.opening import Opening
from poinsot.run.plan import Plan
from poinsot.run.run import Run
from poinsot.systems.compiled.image import words_of


def opening(model, scheme="ph-mp", steps=50, coordinates=None):
    plan = Plan(0.01, 0.0, 0.01 * steps, coordinates, 1, Newton(), asked="compiled")
    return Opening.of(Run.of(model, plan, scheme, None, None, None, keep=True))


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "emh-mean"])
def test_a_run_on_a_copy_of_its_memory_is_the_run_bit_by_bit(scheme):
    opened = opening(crank.model(), scheme)
    image = opened.image
    memory = image.read(opened.job)
    begun = memory.copy()
    job = image.over(memory, saved=opened.job.saved, times=opened.job.times)
    words, kernel = words_of(job), machine_code.function(opened.runner.form)
    result = ps.simulate(crank.model(), scheme=scheme, h=0.01, t_end=0.5)
    for _ in range(2):
        memory[:] = begun
        assert kernel.at(words) == (50, 50)
        assert job.sums[1] == result.energy[-1]
        assert np.array_equal(opened.job.saved.sums[:50, 1], result.energy[1:])


def test_a_mass_changes_numbers_of_its_body_and_the_energy():
    light, heavy = (opening(crank.model(crank.SliderCrank(rod_mass=m))) for m in (0.5, 0.7))
    image = light.image
    assert image.fits(heavy.job)
    a, b = (image.read(each.job) for each in (light, heavy))
    changed = {image.describe(k) for k in np.flatnonzero((a != b) & image.numbers)}
    assert {"machine.bodies.numbers[1, 0]", "machine.bodies.numbers[1, 6]", "sums[0]"} <= changed
    assert image.view(b, "machine.bodies.numbers")[1, 0] == 1.4
    assert not any(name.startswith(("work", "machine.parts")) for name in changed)


def test_another_scheme_or_another_joint_is_another_structure():
    image, model = opening(crank.model()).image, crank.model()
    assert not image.fits(opening(crank.model(), "ph-mp-ggl").job)
    model.add_force("spring", ps.JointSpring("A", stiffness=1.0))
    assert not image.fits(opening(model).job)


def test_runs_that_are_looked_after_between_steps_have_no_such_beginning():
    model = crank.model()
    model.add_event("turn", ps.Event("A.angle - 1"))
    assert opening(model) is None
    assert opening(crank.model(), "ph-mp", coordinates="rotations") is None
