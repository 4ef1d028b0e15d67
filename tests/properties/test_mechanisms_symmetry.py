"""A mechanism does not know where it is, nor in which order it was described."""

import mechanisms
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from mechanisms import SCHEMES, laws

import poinsot as ps

H = 0.01
seeds = st.integers(0, 10**6)


def run(plan, scheme):
    assume(plan.model().check().freedoms > 0)
    return ps.simulate(plan.model(), scheme=scheme, h=H, t_end=4 * H)


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(6)
@given(seed=seeds, bodies=st.integers(1, 3))
@example(seed=7, bodies=2)  # a motor and a spring on an angle
def test_a_moved_world_gives_the_moved_trajectory(scheme, seed, bodies):
    random = np.random.default_rng(seed)
    R, shift = mechanisms.rotation(random), random.standard_normal(3)
    plan = mechanisms.full(seed, bodies=bodies, loops=1)
    here, there = run(plan, scheme), run(plan.moved(R, shift), scheme)
    # Which repeated equation is left out may depend on round-off, and changes motion by O(h^2).
    assume(not plan.model().check().repeated)
    for name in plan.bodies:
        close = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(there.position(name), here.position(name) @ R.T + shift, **close)
        np.testing.assert_allclose(there.rotation(name), R @ here.rotation(name), **close)
        np.testing.assert_allclose(there.velocity(name), here.velocity(name) @ R.T, **close)
        np.testing.assert_allclose(
            there.angular_velocity(name), here.angular_velocity(name) @ R.T, **close
        )
    for name in plan.joints:
        for label, values in here.joint(name).coordinates.items():
            if label[-1] not in "12":
                np.testing.assert_allclose(
                    there.joint(name).coordinates[label], values, atol=1e-8, err_msg=label
                )
        if here.joint(name).complete and there.joint(name).complete:
            a, b = here.reaction(name), there.reaction(name)
            scale = 1 + abs(a.force).max() + abs(a.torque).max()
            np.testing.assert_allclose(b.force, a.force @ R.T, atol=1e-6 * scale)
            np.testing.assert_allclose(b.torque, a.torque @ R.T, atol=1e-6 * scale)


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(6)
@given(seed=seeds, bodies=st.integers(2, 3))
def test_the_order_of_adding_bodies_and_joints_does_not_matter(scheme, seed, bodies):
    plan = mechanisms.full(seed, bodies=bodies, loops=1)
    other = plan.shuffled(np.random.default_rng(seed))
    assume(not plan.model().check().repeated)
    one, two = run(plan, scheme), run(other, scheme)
    for name in plan.bodies:
        np.testing.assert_allclose(one.position(name), two.position(name), atol=1e-9)
        np.testing.assert_allclose(one.rotation(name), two.rotation(name), atol=1e-9)
        np.testing.assert_allclose(one.velocity(name), two.velocity(name), rtol=1e-8, atol=1e-8)
