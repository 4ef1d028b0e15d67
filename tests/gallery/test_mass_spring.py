"""Masses on springs against the published run and the exact motion."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.mass_spring import EXACT, EXAMPLE, START, Springs, model, motion

#: The same for the potential that [KB24, eq. (109)] prints, k/4, at 2 s.
PRINTED = (0.811500667761932, 0.531776673554181, -0.180879749707015, 1.09975590883111)


def at(t, scheme="eml", h=0.1, springs=Springs()):  # noqa: B008 - a frozen value
    run = ps.simulate(model(springs), scheme=scheme, h=h, t_end=t, x0=START, engine="reference")
    return motion(run)[-1]


def test_the_figure_is_drawn():
    assert EXAMPLE.plot(EXAMPLE.run(t_end=1.0)).axes


@pytest.mark.parametrize("scheme", ["eml", "reml", "mpl"])
def test_the_exact_motion_is_approached_with_order_two(scheme):
    steps = 0.04, 0.02
    errors = [np.linalg.norm(at(1.0, scheme, h) - EXACT[1.0]) for h in steps]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def test_the_printed_potential_has_its_own_motion():
    half = Springs(halved=True)
    limit = (4 * at(2.0, h=0.02, springs=half) - at(2.0, h=0.04, springs=half)) / 3
    np.testing.assert_allclose(limit, PRINTED, rtol=0, atol=1e-4)


def test_multipliers_and_velocities_are_those_of_the_constraint():
    result = EXAMPLE.run(engine="reference")
    assert result.constraint_error.max() < 1e-15
    assert result.velocity_constraint_error.max() < 1e-12
    np.testing.assert_allclose(result["p"][:, 1], result["p"][:, 2], rtol=0, atol=1e-12)
