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
MEAN = [s for s in EXACT_QUATERNIONS if ps.SCHEMES[s].mean_lever_arms]
seeds = st.integers(0, 10**6)
counts = st.integers(1, 3)


def run(model, scheme, steps=4, h=H):
    return ps.simulate(model, scheme=scheme, h=h, t_end=steps * h, engine="reference")


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
    """EML, REML and Null-EML [KB24, sec. 4.4] in five steps, reactions included."""
    plan = mechanisms.full(seed, bodies=bodies, loops=loops)
    assume(plan.model().check().freedoms > 0)
    full, *others = (run(plan.model(), s, steps=5) for s in ("eml", "reml", "null-eml"))
    for other in others:
        for name in full.states:
            # Rates are differences over h, and multipliers once more; round-off grows with them.
            tolerance = {"q": 1e-11, "v": 1e-10, "p": 1e-10}.get(name.split(".")[-1], 1e-9)
            size = tolerance * (1 + abs(full[name]).max())
            np.testing.assert_allclose(other[name], full[name], atol=size, err_msg=name)


#: Joints that lock a turn with directions that they choose by the axes of the world.
CHOOSING = ("Prismatic", "Weld")
OTHERS = tuple(kind for kind in mechanisms.KINDS if kind not in CHOOSING)


def moved_runs(plan, scheme, seed, **options):
    """The same in two worlds, and what moves one to the other."""
    random = np.random.default_rng(seed)
    R, shift = mechanisms.rotation(random), random.standard_normal(3)
    here, there = (run(p.model(), scheme, **options) for p in (plan, plan.moved(R, shift)))
    return here, there, R, shift


@pytest.mark.parametrize(("scheme", "kinds"), [("eml", OTHERS), ("emh-mean", mechanisms.KINDS)])
@laws(3)
@given(seed=seeds, bodies=st.integers(1, 2))
def test_a_moved_world_gives_the_moved_trajectory(scheme, kinds, seed, bodies):
    plan = mechanisms.full(seed, bodies=bodies, kinds=kinds)
    assume(plan.model().check().freedoms > 0)
    here, there, R, shift = moved_runs(plan, scheme, seed)
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


@pytest.mark.parametrize(("scheme", "order"), [("eml", 2), ("emh-mean", None)])
def test_without_mean_lever_arms_the_directions_of_a_joint_matter_with_order_two(scheme, order):
    """Torques on two bodies are opposite but for g(q_m), which is not zero and depends on them."""
    plan = mechanisms.full(4, bodies=2, kinds=("Prismatic", "Revolute", "Spherical", "Weld"))
    assert list(plan.joints) == ["Spherical0", "Prismatic1"]
    apart = []
    for h in (H, H / 2):
        here, there, R, shift = moved_runs(plan, scheme, 4, steps=round(4 * H / h), h=h)
        a, b = (result.position("body1")[-1] for result in (here, there))
        apart.append(np.linalg.norm(b - R @ a - shift))
    if order is None:
        assert max(apart) < 1e-13
    else:
        assert np.log2(apart[0] / apart[1]) == pytest.approx(order, abs=0.1)
