"""Springs that vibrate faster than steps can follow are told by name, with their period."""

import numpy as np
import pytest

import poinsot as ps


def coupled(stiffness):
    """A bar on a hinge, and another one that a spring holds to its end."""
    model, bar = ps.Model(gravity=(0, 0, -9.81)), ps.Box(mass=1, size=(1, 0.1, 0.1))
    one = model.add_body("one", bar, position=(0.5, 0, 0))
    other = model.add_body("other", bar, position=(1.6, 0, 0), velocity=(0, 2, 1))
    model.add_joint("pin", ps.Revolute(model.ground, one, point=(0, 0, 0), axis=(0, 1, 0)))
    link = ps.Spring(one, other, (1, 0, 0), (1.1, 0, 0), stiffness=stiffness)
    model.add_force("link", link)
    model.add_force("soft", ps.Spring(one, other, (0, 0, 1), (1.1, 0, 0), stiffness=1.0))
    return model


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_the_fastest_period_is_that_of_both_masses_on_the_stiffest_spring(coordinates):
    system = coupled(1e6).compile(coordinates)
    name, period = system.fastest(system.start)
    assert name == "link"
    assert period == pytest.approx(2 * np.pi * np.sqrt(0.5 / 1e6), rel=1e-6)


def test_without_a_spring_nothing_vibrates():
    model = ps.Model()
    model.add_body("ball", ps.Sphere(mass=1, radius=0.1))
    system = model.compile()
    assert system.fastest(system.start) is None


def test_a_run_that_passes_over_a_vibration_says_which_step_would_follow_it():
    told = r"'link' alone vibrates with a period of [24].*e-06 s, .* steps of [12]e-07 s"
    with pytest.warns(ps.InexactRunWarning, match=told):
        ps.simulate(coupled(1e12), h=0.01, t_end=0.2)
    assert ps.simulate(coupled(1e12), h=2e-7, t_end=4e-5).status == "done"
