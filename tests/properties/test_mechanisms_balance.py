"""Random trees and loops of all joints, with springs, dampers and loads: every balance is exact."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from balance import turnover
from hypothesis import assume, given
from hypothesis import strategies as st
from mechanisms import SCHEMES, laws

import poinsot as ps

H = 0.01
seeds = st.integers(0, 10**6)
counts = st.integers(1, 3)


def run(plan, scheme, steps=8):
    return ps.simulate(plan.model(), scheme=scheme, h=H, t_end=steps * H)


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(8)
@given(seed=seeds, bodies=counts, loops=st.integers(0, 2), ground=st.booleans())
def test_energy_constraints_and_dissipation_are_exact(scheme, seed, bodies, loops, ground):
    plan = mechanisms.full(seed, bodies=bodies, loops=loops, ground=ground)
    assume(plan.model().check().freedoms > 0)
    result = run(plan, scheme)
    assert result.stats.balance_error_max <= 1e-11 * turnover(result)
    assert result.constraint_error.max() <= 1e-12
    assert np.diff(result.dissipated).min() >= 0
    assert result.dissipated[-1] > 0
    if scheme == "ph-mp-ggl":
        assert result.velocity_constraint_error.max() <= 1e-11


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(2)
@given(seed=seeds)
def test_twelve_bodies_keep_every_balance_with_sparse_matrices(scheme, seed):
    plan = mechanisms.full(seed, bodies=12, loops=2)
    result = run(plan, scheme, steps=3)
    assert result.stats.balance_error_max <= 1e-11 * turnover(result)
    assert result.constraint_error.max() <= 1e-12


def without_ground_forces(plan):
    """Keep springs and motors between bodies: what the ground does comes from its joints only."""
    grounded = [name for name, (_, at) in plan.joints.items() if at["a"] == "ground"]

    def inner(at):
        return at.get("a") != "ground" and at.get("joint") not in grounded

    return replace(
        plan,
        forces={name: (kind, at) for name, (kind, at) in plan.forces.items() if inner(at)},
        ports={name: (kind, at) for name, (kind, at) in plan.ports.items() if inner(at)},
    )


def outer_wrench(plan, result):
    """Force and moment about the origin of gravity, ground reactions and loads, at midpoints."""

    def mid(path):
        return (path[1:] + path[:-1]) / 2

    force = np.zeros((result.time.size - 1, 3))
    moment = np.zeros_like(force)
    for name, arguments in plan.bodies.items():
        weight = arguments["shape"].mass * plan.gravity
        force += weight
        moment += np.cross(mid(result.position(name)), weight)
    for name, (kind, at) in plan.joints.items():
        if at["a"] == "ground":
            J = result.reaction(name)
            if kind == "Weld":
                where = plan.bodies[at["b"]]["position"]
            else:
                where = at["point"] if "point" in at else at["point_a"]
            # What the ground does to its partner, at the ground's own point.
            force -= J.force_a
            moment -= J.torque_a + np.cross(where, J.force_a)
    for name, (kind, at) in plan.ports.items():
        if kind == "JointPort":
            continue
        R, u = mid(result.rotation(at["body"])), result.port(name).u
        load = u if at["axes"] == "world" else np.einsum("tij,tj->ti", R, u)
        if kind == "TorquePort":
            moment += load
        else:
            position, rotation = result.position(at["body"]), result.rotation(at["body"])
            point = position + rotation @ (rotation[0].T @ (at["point"] - position[0]))
            force += load
            moment += np.cross(mid(point), load)
    return force, moment


def check_momenta(plan, result):
    force, moment = outer_wrench(plan, result)
    dP, dL = (np.diff(p, axis=0) for p in (result.linear_momentum, result.angular_momentum))
    scale = 1 + abs(result.angular_momentum).max() + H * max(abs(force).max(), abs(moment).max())
    np.testing.assert_allclose(dP, H * force, atol=1e-11 * scale)
    np.testing.assert_allclose(dL, H * moment, atol=1e-11 * scale)


@laws(8)
@given(seed=seeds, bodies=counts, loops=st.integers(0, 1))
def test_momenta_change_by_loads_gravity_and_ground_reactions(seed, bodies, loops):
    """[LKB26, eq. (72)], with everything that acts from outside at the midpoint."""
    plan = without_ground_forces(mechanisms.full(seed, bodies=bodies, loops=loops))
    check_momenta(plan, run(plan, "ph-mp"))


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(6)
@given(seed=seeds, bodies=counts, loops=st.integers(0, 1))
def test_momenta_of_a_free_mechanism_change_by_its_loads(scheme, seed, bodies, loops):
    plan = mechanisms.full(seed, bodies=bodies, loops=loops, ground=False)
    plan = without_ground_forces(plan)
    check_momenta(plan, run(plan, scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(6)
@given(seed=seeds, bodies=st.integers(2, 3))
def test_a_mechanism_left_alone_keeps_energy_and_momenta(scheme, seed, bodies):
    plan = mechanisms.tree(seed, bodies=bodies, ground=False, gravity=False, loops=1)
    result = run(plan, scheme)
    for values in (result.linear_momentum, result.angular_momentum, result.energy[:, None]):
        size = 1 + np.linalg.norm(values[0])
        np.testing.assert_allclose(values, values[:1].repeat(9, axis=0), atol=1e-12 * size)
