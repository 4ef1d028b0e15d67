"""Long runs of the compiled engine: what is conserved stays, for as long as it runs."""

import mechanisms
import numpy as np
import pytest
from mechanisms import SCHEMES

import poinsot as ps
from poinsot.gallery import spatial_slider_crank

PAIRS = ("Revolute", "Universal", "Cylindrical", "Planar")


@pytest.fixture(params=SCHEMES, scope="module")
def scheme(request):
    return request.param


@pytest.fixture(params=PAIRS, scope="module")
def flight(request, scheme):
    """A free pair of bodies over 20,000 steps."""
    model = mechanisms.pair(request.param, 5).model()
    return ps.simulate(model, scheme=scheme, h=0.01, t_end=200.0, save_every=20, engine="compiled")


def test_energy_of_a_free_pair_is_conserved(flight):
    assert flight.stats.balance_error_max < 1e-11 * flight.energy[0]


def test_momenta_of_a_free_pair_are_conserved(flight):
    for momentum in (flight.linear_momentum, flight.angular_momentum):
        drift = np.linalg.norm(momentum - momentum[0], axis=1).max()
        assert drift < 1e-11 * max(1.0, np.linalg.norm(momentum[0]))


def test_constraints_of_a_free_pair_are_kept(flight, scheme):
    far = max(1.0, abs(flight.position("body0")).max())
    assert flight.constraint_error.max() < 1e-13 * far
    if scheme == "ph-mp-ggl":
        assert flight.velocity_constraint_error.max() < 1e-12


def test_the_slider_crank_turns_for_50000_steps(scheme):
    result = ps.simulate(
        spatial_slider_crank.model(),
        scheme=scheme,
        h=0.001,
        t_end=50.0,
        save_every=50,
        engine="compiled",
    )
    assert result.stats.steps == 50_000
    assert result.stats.single_steps == 0
    assert result.stats.balance_error_max < 1e-11
    assert result.constraint_error.max() < 1e-14
    assert result.joint("A").coordinates["angle"][-1] > 2 * np.pi
