"""The spring pendulum against the published run and the exact motion."""

from functools import cache

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.spring_pendulum import EXACT, EXAMPLE, START, Pendulum, model, position

system = cache(model)


def at(t, scheme, h, pendulum=Pendulum()):  # noqa: B008 - a frozen value
    own = system(pendulum)
    return ps.simulate(own, scheme=scheme, h=h, t_end=t, x0=START, engine="reference")


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run(t_end=0.1)).axes


@pytest.mark.parametrize("scheme", ["eml", "reml", "emh", "mpl", "mph"])
def test_the_exact_motion_is_approached_with_order_two(scheme):
    steps = 0.01, 0.005
    errors = [np.linalg.norm(at(0.5, scheme, h)["q"][-1] - EXACT[0.5]) for h in steps]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


@pytest.mark.parametrize("t", [0.1, 0.25])
def test_the_limit_of_small_steps_is_the_exact_motion(t):
    coarse, fine = (at(t, "eml", h)["q"][-1] for h in (0.005, 0.0025))
    np.testing.assert_allclose((4 * fine - coarse) / 3, EXACT[t], rtol=0, atol=1e-6)


def test_the_energy_is_constant_with_and_without_the_published_correction():
    for published in (True, False):
        result = at(1.0, "eml", 0.01, Pendulum(published=published))
        np.testing.assert_allclose(result.energy, 1.496484375, rtol=1e-13)


def test_the_mass_stays_near_the_plane_of_its_motion():
    x, y, z = position(EXAMPLE.run(engine="reference")).T
    np.testing.assert_allclose(y, -z, atol=1e-3)
    assert abs(x).max() > 1
