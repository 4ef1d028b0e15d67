"""Flying rod, right-angled cantilever, released ring: oracles, invariants, published curves."""

import numpy as np
import pytest
from spectral_rods import SpectralRods

import poinsot as ps
from poinsot.gallery import find_example
from poinsot.gallery.flying_rod import (
    ENDS_IN_SPACE,
    LOWER,
    UPPER,
    FlyingRod,
    changes,
    in_space,
    model,
)


@pytest.mark.parametrize("name", ["flying-rod", "right-angle-rod", "released-ring"])
def test_the_figure_is_drawn(name):
    example = find_example(name)
    assert example.plot(example.run(h=4 * example.h)).axes


def test_numbers_in_space_are_those_of_spectral_elements():
    rod = in_space()
    oracle = SpectralRods(
        corners=[LOWER, UPPER],
        stiffness=3 * [rod.axial] + 3 * [rod.bending],
        mass=rod.mass,
        inertia=(rod.inertia, rod.inertia),
        loaded=0,
        force=lambda t: rod.share(t) * np.array(rod.force),
        torque=lambda t: rod.share(t) * np.array(rod.torque),
        degree=9,
    )
    (found,) = oracle.run([2.5], rtol=1e-5)
    np.testing.assert_allclose(found, ENDS_IN_SPACE[0], rtol=0, atol=2e-3)


@pytest.mark.parametrize("rod", [FlyingRod(elements=6), in_space(elements=6)])
def test_ten_thousand_steps_after_the_load_keep_energy_and_momenta(rod):
    t_end = rod.end_of_load + 500.0
    result = ps.simulate(model(rod), h=0.05, t_end=t_end, save_every=50, engine="compiled")
    assert result.stats.steps > 10_000
    for name, change in changes(result, rod.end_of_load).items():
        assert change.max() < 1e-11, name
    assert result.linear_momentum[-1] == pytest.approx(rod.momentum, abs=1e-10)
