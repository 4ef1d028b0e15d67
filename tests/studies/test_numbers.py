"""Numbers of runs that follow from polynomials are those of models that are built."""

import numpy as np
import pytest
from boxes import OPTIONS, assert_those_of_models, search

import poinsot as ps
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.studies.batch import Arena
from poinsot.studies.numbers import NoPolynomialsError


def test_masses_gravity_and_speed_of_a_slider_crank():
    model = crank.model()
    numbers, cases, rows = search(
        model,
        {
            "bodies.rod.mass": (1e-3, 50.0),
            "bodies.slider.mass": (0.1, 3.0),
            "gravity": ((-1.0, -1.0, -10.0), (1.0, 1.0, 0.0)),
            "initial.crank.angular_velocity.x": (-6.0, 6.0),
        },
    )
    assert_those_of_models(numbers, cases, rows[:8])
    # Mass times the square of the speed, and mass times gravity.
    assert max(map(sum, numbers.polynomials.exponents)) == 3
    assert numbers.built < 60


def test_a_joint_that_moves_has_no_polynomials():
    with pytest.raises(NoPolynomialsError, match="no polynomial of the parameters"):
        search(crank.model(), {"initial.A": (-0.2, 0.2)})


def test_what_cannot_be_is_left_to_models():
    numbers, _, rows = search(crank.model(), {"bodies.rod.mass": (-0.1, 1.0)})
    covered = numbers.covers(rows) & numbers.sound(numbers.at(rows))
    assert np.array_equal(covered, rows[:, 0] > 0)


def test_derivatives_of_numbers_are_those_of_models():
    box = {"bodies.rod.mass": (0.1, 1.0), "gravity.z": (-10, 0)}
    numbers, cases, rows = search(crank.model(), box)
    x, step = rows[0], np.array([0.01, 0.0])
    energy = numbers.image.fields["sums"].first
    slope = numbers.polynomials.gradient(x)[:, np.searchsorted(numbers.places, energy)]
    ends = [cases.opening(x + sign * step).job.sums[0] for sign in (1, -1)]
    assert slope[0] == pytest.approx((ends[0] - ends[1]) / 0.02, rel=1e-12)


def test_other_schemes_with_a_mass_a_spring_and_an_input():
    model = crank.model()
    model.add_force("spring", ps.JointSpring("A", stiffness=1.0, damping=0.1))
    model.add_port("motor", ps.JointPort("A"))
    ranges = {"forces.spring.stiffness": (1.0, 1e4), "inputs.motor": (-1.0, 1.0)}
    ranges["bodies.rod.mass"] = (0.2, 1.0)
    for scheme in ("ph-mp-ggl", "emh-mean"):
        numbers, cases, rows = search(model, ranges, options={**OPTIONS, "scheme": scheme})
        assert_those_of_models(numbers, cases, rows[:2])
        assert max(map(sum, numbers.polynomials.exponents)) == 1


def test_numbers_of_a_part_that_exclude_each_other_are_left_to_models():
    """An inner radius may be anything below the outer one."""
    model = ps.Model(gravity=(0, 0, -9.81))
    ring = ps.HollowCylinder(mass=1.0, outer_radius=0.2, inner_radius=0.1, length=0.1)
    model.add_body("ring", ring)
    box = {"bodies.ring.inner_radius": (0.1, 0.3), "bodies.ring.outer_radius": (0.25, 0.5)}
    with pytest.raises(NoPolynomialsError, match="outer_radius"):
        search(model, box)
    box["bodies.ring.inner_radius"] = (0.1, 0.2)
    numbers, cases, rows = search(model, box)
    assert_those_of_models(numbers, cases, rows[:4])


def test_numbers_outside_of_arrays_reach_machine_code():
    """A light rod with the same inertia is larger, and so is what closure is measured by."""
    numbers, cases, rows = search(crank.model(), {"bodies.rod.mass": (0.01, 0.5)})
    arena = Arena(numbers)
    word, place = arena.loose
    assert numbers.image.describe(int(place[0])) == "machine.length"
    for row in rows[:2]:
        next(arena.ends(numbers.at(row[None])))
        length = arena.words[word].view(float)[0]
        assert length == pytest.approx(cases.opening(row).job.machine.length, rel=1e-14)
