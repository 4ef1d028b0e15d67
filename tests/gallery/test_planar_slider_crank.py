"""The planar slider-crank against its exact motion, joined at velocities and at positions."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.planar_slider_crank import (
    EXACT,
    EXAMPLE,
    REAL,
    Mechanism,
    apart_from_bodies,
    model,
    motion,
    rod,
    start,
)


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run(t_end=0.1)).axes


def test_the_limit_of_small_steps_is_the_exact_motion():
    """At 0.5 s; the check of the example goes to 0.1 s, tied by velocities too.

    All take an even number of steps: the error of velocities alternates in sign.
    """
    runs = [ps.simulate(model(), h=h, t_end=0.5, x0=start()) for h in (5e-3, 2.5e-3, 1.25e-3)]
    ends = [motion(run)[-1] for run in runs]
    np.testing.assert_allclose(extrapolate(ends), EXACT[0.5], rtol=0, atol=5e-8)
    errors = [np.linalg.norm(end - EXACT[0.5]) for end in ends]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)


def test_bodies_and_joints_move_alike():
    """A `Model` in directors with the same inertia about A and B; all times up to 0.1 s."""
    assert apart_from_bodies(0.1) < 1e-8


def test_the_energy_of_the_torque_is_kinetic():
    result = ps.simulate(model(), h=0.005, t_end=0.4, x0=start())
    turned = result["zeta"][:, 0] - result["zeta"][0, 0]
    np.testing.assert_allclose(result.energy - result.energy[0], 0.02 * turned, atol=1e-13)


def test_the_reference_belongs_to_a_rod_that_only_a_slider_keeps_from_negative_energy():
    assert Mechanism().own_inertia < 0 < REAL.own_inertia
    for phi in np.linspace(2.6, 3.6, 5):  # the rod's angles: sin(phi_2) <= 0.15 / 0.35
        laws = rod().laws
        along = laws.K(np.array([0.4, 0.0, phi]))
        free = np.linalg.svd(along)[2][1:]
        assert np.linalg.eigvalsh(free @ laws.M @ free.T)[0] > 0


def test_friction_only_takes_energy():
    result = ps.simulate(model(Mechanism(friction=1e-3)), h=0.005, t_end=0.6, x0=start())
    assert np.diff(result.dissipated).min() > 0
    assert result.stats.balance_error_max < 1e-13
    assert result.dissipated[-1] > 0.05
