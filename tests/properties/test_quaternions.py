"""Random trees and loops of all joints in unit quaternions: what is promised is kept."""

from dataclasses import replace

import loads
import mechanisms
import numpy as np
import pytest
from balance import turnover
from hypothesis import assume, given
from hypothesis import strategies as st
from mechanisms import laws
from schemes import EXACT_QUATERNIONS

import poinsot as ps

H = 0.01
MEAN = [s for s in EXACT_QUATERNIONS if ps.SCHEMES[s].mean_levers]
seeds = st.integers(0, 10**6)
counts = st.integers(1, 3)


def run(model, scheme, steps=8):
    return ps.simulate(model, scheme=scheme, h=H, t_end=steps * H, engine="reference")


@pytest.mark.parametrize("scheme", EXACT_QUATERNIONS)
@laws(3)
@given(seed=seeds, bodies=counts, loops=st.integers(0, 1), ground=st.booleans())
def test_every_energy_balance_is_exact_and_every_joint_closed(scheme, seed, bodies, loops, ground):
    plan = mechanisms.full(seed, bodies=bodies, loops=loops, ground=ground)
    assume(plan.model().check().freedoms > 0)
    result = run(plan.model(), scheme)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    assert np.diff(result.dissipated).min() >= 0
    assert result.constraint_error.max() < 1e-11


@pytest.mark.parametrize("scheme", EXACT_QUATERNIONS)
@laws(2)
@given(seed=seeds, bodies=st.integers(1, 2))
def test_laws_that_look_at_the_motion_are_balanced_too(scheme, seed, bodies):
    result = run(loads.loaded(seed, bodies=bodies), scheme)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


def free(seed, bodies, *, springs):
    """Bodies on joints, and between them springs; nothing from outside."""
    plan = mechanisms.tree(seed, bodies=bodies, ground=False, gravity=False, loops=1)
    forces = {
        name: force
        for name, force in mechanisms.springs(plan, seed).forces.items()
        if "ground" not in (force[1].get("a"), force[1].get("b"))
    }
    return replace(plan, forces=forces if springs else {})


@pytest.mark.parametrize("scheme", MEAN)
@pytest.mark.parametrize("springs", [False, True], ids=["joints", "joints and springs"])
@laws(4)
@given(seed=seeds, bodies=st.integers(2, 3))
def test_a_mechanism_left_alone_keeps_energy_and_momenta(scheme, springs, seed, bodies):
    result = run(free(seed, bodies, springs=springs).model(), scheme, steps=12)
    balance = result.energy + result.dissipated
    for values in (result.linear_momentum, result.angular_momentum, balance[:, None]):
        size = 1 + np.linalg.norm(values[0])
        np.testing.assert_allclose(values, values[:1].repeat(13, axis=0), atol=1e-12 * size)
    assert result.constraint_error.max() < 1e-12


@laws(3)
@given(seed=seeds, bodies=st.integers(1, 2), loops=st.integers(0, 1))
def test_condensed_steps_follow_the_trajectory_of_the_full_ones(seed, bodies, loops):
    """EML, REML and Null-EML [KB24, sec. 4.4] in twenty steps, reactions included."""
    plan = mechanisms.full(seed, bodies=bodies, loops=loops)
    assume(plan.model().check().freedoms > 0)
    full, *others = (run(plan.model(), s, steps=20) for s in ("eml", "reml", "null-eml"))
    for other in others:
        for name in full.states:
            # Rates are differences over h, and multipliers once more; round-off grows with them.
            tolerance = {"q": 1e-11, "v": 1e-10, "p": 1e-10}.get(name.split(".")[-1], 1e-9)
            size = tolerance * (1 + abs(full[name]).max())
            np.testing.assert_allclose(other[name], full[name], atol=size, err_msg=name)


@pytest.mark.parametrize("scheme", ["eml", "emh-mean"])
@laws(3)
@given(seed=seeds, bodies=st.integers(1, 2))
def test_a_moved_world_gives_the_moved_trajectory(scheme, seed, bodies):
    random = np.random.default_rng(seed)
    R, shift = mechanisms.rotation(random), random.standard_normal(3)
    plan = mechanisms.full(seed, bodies=bodies)
    assume(plan.model().check().freedoms > 0)
    here, there = (run(p.model(), scheme) for p in (plan, plan.moved(R, shift)))
    for name in plan.bodies:
        a, b, close = here.body(name), there.body(name), {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(b.position, a.position @ R.T + shift, **close)
        np.testing.assert_allclose(b.rotation, R @ a.rotation, **close)
        np.testing.assert_allclose(b.angular_velocity, a.angular_velocity @ R.T, **close)
    for name in plan.joints:
        a, b = here.reaction(name), there.reaction(name)
        scale = 1 + abs(a.force).max() + abs(a.torque).max()
        np.testing.assert_allclose(b.force, a.force @ R.T, atol=1e-6 * scale)
        np.testing.assert_allclose(b.torque, a.torque @ R.T, atol=1e-6 * scale)
