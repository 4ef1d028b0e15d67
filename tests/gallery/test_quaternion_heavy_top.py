"""The heavy top in a quaternion against an independent code of the schemes of [KB24, sec. 5.4]."""

from functools import cache

import numpy as np
import pytest
from numerics import observed_orders

from poinsot.gallery import quaternion_heavy_top
from poinsot.gallery.heavy_top import Top
from poinsot.gallery.quaternion_free_body import quaternion
from poinsot.gallery.quaternion_heavy_top import ERRORS, EXAMPLE, STEPS, centre, errors, model

#: Quaternion at 0.1 s and 2 s, h = 0.01 s.
REFERENCE = {
    "eml": (
        (0.685507574491, 0.414423734698, 0.175223963204, 0.572388763126),
        (0.580062279450, 0.393584961818, -0.004041062190, -0.713163585446),
    ),
    "mpl": (
        (-0.093085531676, 0.365340712166, -0.296159005739, 0.877582526687),
        (0.370842265240, -0.268955355723, -0.396139380388, 0.795746581674),
    ),
    "emh": (
        (0.669153188497, 0.528735890711, 0.025898246471, 0.521537773348),
        (-0.362352198932, 0.084887631459, 0.531007362013, 0.761266152829),
    ),
    "mph": (
        (0.013807603153, 0.101762702560, -0.299557956043, 0.948535045971),
        (0.826359325385, 0.490490745017, 0.090745896573, -0.261369999534),
    ),
}


@cache
def run(scheme=EXAMPLE.scheme):
    return EXAMPLE.run(scheme=scheme)


@pytest.mark.parametrize("scheme", REFERENCE)
def test_quaternions_are_those_of_an_independent_code(scheme):
    ours = quaternion(run(scheme), "top")[[10, 200]]
    np.testing.assert_allclose(ours, REFERENCE[scheme], rtol=0, atol=1e-9)


def test_the_tip_rests():
    published = run()
    assert model().check().freedoms == 6  # the tip is not held, and nothing pulls at it
    assert abs(published.position("top")).max() == 0
    np.testing.assert_allclose(centre(published)[0], Top().position(0.0)[0], rtol=0, atol=1e-16)


@pytest.mark.parametrize("scheme", ["eml", "emh", "eml-mean", "emh-mean"])
def test_energy_and_vertical_momentum_are_conserved(scheme):
    result = run(scheme)
    assert np.ptp(result.energy) < 1e-12
    assert np.ptp(result.angular_momentum[:, 2]) < 1e-14
    assert result.constraint_error.max() < 1e-14


def test_midpoint_rules_do_not_conserve_energy():
    lost = {scheme: np.ptp(run(scheme).energy) for scheme in ("mpl", "mph")}
    assert lost["mpl"] == pytest.approx(1.014, abs=1e-3)
    assert lost["mph"] == pytest.approx(0.02232, abs=1e-5)


@pytest.mark.parametrize("scheme", [*ERRORS, "eml-mean", "emh-mean"])
def test_the_centre_of_mass_converges_with_order_two(scheme):
    found = errors(scheme, STEPS[2:])
    np.testing.assert_allclose(observed_orders(STEPS[2:], found), 2.0, atol=0.1)
    if scheme in ERRORS:
        np.testing.assert_allclose(found, ERRORS[scheme][2:], rtol=5e-5)


def test_the_figure_is_drawn(monkeypatch):
    monkeypatch.setattr(quaternion_heavy_top, "errors", lambda scheme: np.square(STEPS))
    assert len(EXAMPLE.plot(EXAMPLE.run(t_end=0.1)).axes) == 8
