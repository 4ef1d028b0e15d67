"""Random mechanisms with friction and drag: energy is only lost, and the balance is exact."""

import mechanisms
import numpy as np
import pytest
from balance import turnover
from engines import assert_same, both, finished, run
from hypothesis import given
from hypothesis import strategies as st
from in_turn import in_turn
from mechanisms import laws
from numerics import jacobian

import poinsot as ps
from poinsot.ph.matrices import dense

DIRECTORS = ("ph-mp", "ph-mp-ggl")
QUATERNIONS = ("emh-mean", "eml")
SCHEMES = (*DIRECTORS, *QUATERNIONS)
KINDS = ("Revolute", "Cylindrical", "Universal", "Prismatic", "Spherical")
seeds = st.integers(0, 10**6)
slips = st.sampled_from([1.0, 1e-2, 1e-4])


def mechanism(seed, slip=0.3, **options):
    return mechanisms.resistances(mechanisms.tree(seed, kinds=KINDS, **options), seed + 1, slip)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("scheme", SCHEMES)
@laws(4)
@given(seed=seeds, slip=slips, ground=st.booleans())
def test_energy_is_lost_in_every_step_and_the_balance_is_exact(scheme, engine, seed, slip, ground):
    model = finished(mechanism(seed, slip, bodies=2, ground=ground))
    result = run(model, engine, scheme=scheme, h=0.02, t_end=0.08)
    assert np.diff(result.dissipated).min() > 0
    assert result.stats.dissipation_min >= 0
    assert result.stats.balance_error_max <= 1e-11 * turnover(result)


@pytest.mark.parametrize(("seed", "scheme"), in_turn(range(4), DIRECTORS))
def test_both_engines_lose_the_same(seed, scheme):
    model = finished(mechanism(seed, bodies=3, loops=seed % 2, ground=seed < 2))
    assert_same(*both(model, scheme=scheme, h=0.02, t_end=0.1))


@pytest.mark.parametrize(("scheme", "seed"), in_turn([*QUATERNIONS, "emh", "eml-mean"], range(2)))
def test_both_engines_lose_the_same_in_quaternions(seed, scheme):
    model = finished(mechanism(seed, bodies=2, ground=seed < 1))
    ours, theirs = both(model, scheme=scheme, h=0.01, t_end=0.05)
    np.testing.assert_allclose(ours.dissipated, theirs.dissipated, rtol=1e-10)
    for name in theirs.observation.bodies:
        for quantity in ("position", "rotation", "velocity", "angular_velocity"):
            found, expected = (getattr(result.body(name), quantity) for result in (ours, theirs))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scheme", [*SCHEMES, "emh"])
@laws(4)
@given(seed=seeds, slip=slips)
def test_friction_and_drag_are_a_resistive_relation(scheme, seed, slip):
    """[BHRS25, def. 6], at any state: nothing needs to be satisfied."""
    system = mechanism(seed, slip, bodies=2).model().compile_for(ps.SCHEMES[scheme])
    x = mechanisms.random_state(system, seed)
    assert ps.ph.dirac.resistive_defect(system, x) == 0
    assert np.any(system.resistive(x, system.z(x)) != 0)


@pytest.mark.parametrize("scheme", [*SCHEMES, "emh"])
def test_what_is_lost_goes_by_the_exact_derivative(scheme):
    """As Newton's method takes it: dr/dz, and the change of the whole flow with the state."""
    system = mechanism(11, bodies=2).model().compile_for(ps.SCHEMES[scheme])
    x = mechanisms.random_state(system, 5)
    z, u = system.z(x), np.zeros(system.m)
    for found, expected in (
        (system.dr_dz(x, z), jacobian(lambda z: system.r(x, z), z)),
        (system.dflow(x, z, u), jacobian(lambda x: system.flow(x, z, u), x)),
    ):
        np.testing.assert_allclose(dense(found), expected, atol=1e-8 * abs(expected).max())
