"""Repeated constraints: found in general position, named, left out; the motion is the same."""

import mechanisms
import numpy as np
import pytest
from mechanisms import SCHEMES

import poinsot as ps

CORNERS = [(0, 0, 0), (0, 1, 0), (2.5, 1.8, 0), (2, 0, 0)]


def bar(model, name, start, end, mass=1, thickness=0.1, **given):
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.linalg.norm(end - start)
    axes = np.column_stack([along, np.cross([0, 0, 1], along), [0, 0, 1]])
    size = np.linalg.norm(end - start), thickness, 2 * thickness
    box = ps.Box(mass=mass, size=size)
    return model.add_body(name, box, position=(start + end) / 2, rotation=axes, **given)


def four_bar(corners=CORNERS, *, last=ps.Revolute, spin=2.0):
    """Crank, coupler and rocker between two ground hinges; the last joint may be another one."""
    model = ps.Model(gravity=(0, -9.81, 0))
    first = bar(model, "bar0", *corners[:2], angular_velocity=(0, 0, spin))
    chain = [model.ground, first]
    chain += [bar(model, f"bar{i}", *corners[i : i + 2]) for i in (1, 2)]
    for i in range(3):
        pair = ps.Revolute(chain[i], chain[i + 1], point=corners[i], axis=(0, 0, 1))
        model.add_joint(f"J{i}", pair)
    model.add_joint("J3", last(model.ground, chain[3], point=corners[3], axis=(0, 0, 1)))
    return model


def test_four_hinges_in_space_repeat_three_directions_by_name():
    check = four_bar().check()
    assert (check.bodies, check.joints, check.constraints, check.freedoms) == (3, 4, 20, 1)
    assert check.repeated == ("J3: point z", "J3: tilt 1", "J3: tilt 2")
    assert "redundant           J3: point z, J3: tilt 1, J3: tilt 2" in str(check)
    assert "degrees of freedom  1" in str(check)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_redundant_four_bar_moves_like_the_one_without_repeats(scheme):
    twice, once = four_bar(), four_bar(last=ps.PointOnLine)
    assert once.check().repeated == ()
    assert once.check().freedoms == 1
    a, b = (ps.simulate(m, scheme=scheme, h=0.01, t_end=1.0) for m in (twice, once))
    for name in twice.bodies:
        np.testing.assert_allclose(a.position(name), b.position(name), atol=1e-11)
        np.testing.assert_allclose(a.rotation(name), b.rotation(name), atol=1e-11)
    assert a.stats.balance_error_max < 1e-11 * abs(a.energy).max() + 1e-12


def test_reactions_that_are_not_determined_are_marked():
    result = ps.simulate(four_bar(), h=0.01, t_end=0.05)
    assert not any(result.reaction(f"J{i}").complete for i in range(4))
    result = ps.simulate(four_bar(last=ps.PointOnLine), h=0.01, t_end=0.05)
    assert all(result.reaction(f"J{i}").complete for i in range(4))


@pytest.mark.parametrize("lift", [0.0, 1e-9, 1e-4])
def test_a_parallelogram_in_its_flat_position_has_no_more_repeats_than_elsewhere(lift):
    """All four hinges on one line: the rank drops there for a moment, not for good."""
    flat = [(0, 0, 0), (1, lift, 0), (3, lift, 0), (2, 0, 0)]
    upright = [(0, 0, 0), (0, 1, 0), (2, 1, 0), (2, 0, 0)]
    here, there = (four_bar(c, spin=0.0).check() for c in (flat, upright))
    assert here.repeated == there.repeated == ("J3: point z", "J3: tilt 1", "J3: tilt 2")
    assert here.freedoms == there.freedoms == 1


def test_a_parallelogram_passes_near_its_flat_position():
    upright = [(0, 0, 0), (0, 1, 0), (2, 1, 0), (2, 0, 0)]
    result = ps.simulate(four_bar(upright, spin=-3.0), h=0.013, t_end=1.3)
    assert result.status == "done"
    assert result.position("bar1")[:, 1].min() < -0.5  # it went through
    np.testing.assert_allclose(result.energy, result.energy[0], atol=1e-11 * 30)
    assert result.constraint_error.max() < 1e-12


def ladder(loops):
    """Cells of three new bars, all hinges parallel: each loop repeats three directions."""
    model = ps.Model(gravity=(0, -9.81, 0))
    low, high = model.ground, None
    post = bar(model, "post0", (0, 0, 0), (0, 1, 0), angular_velocity=(0, 0, 0.5))
    model.add_joint("foot0", ps.Revolute(low, post, point=(0, 0, 0), axis=(0, 0, 1)))
    for i in range(1, loops + 1):
        high = bar(model, f"beam{i}", (i - 1, 1, 0), (i, 1, 0))
        model.add_joint(f"top{i}", ps.Revolute(post, high, point=(i - 1, 1, 0), axis=(0, 0, 1)))
        post = bar(model, f"post{i}", (i, 0, 0), (i, 1, 0))
        model.add_joint(f"tip{i}", ps.Revolute(high, post, point=(i, 1, 0), axis=(0, 0, 1)))
        model.add_joint(f"foot{i}", ps.Revolute(low, post, point=(i, 0, 0), axis=(0, 0, 1)))
    return model


def test_a_ladder_of_ten_loops_repeats_three_directions_a_loop():
    model = ladder(10)
    check = model.check()
    assert (check.bodies, check.freedoms, len(check.repeated)) == (21, 1, 30)
    result = ps.simulate(model, h=0.01, t_end=0.05)
    assert result.constraint_error.max() < 1e-12
    # Every post turns like the first.
    for i in range(1, 11):
        np.testing.assert_allclose(
            result.rotation(f"post{i}"), result.rotation("post0"), atol=1e-10
        )


@pytest.mark.parametrize("seed", range(4))
def test_trees_repeat_nothing(seed):
    plan = mechanisms.tree(seed, bodies=4)
    check = plan.model().check()
    locked = sum(mechanisms.LOCKED[kind] for kind, _ in plan.joints.values())
    assert check.repeated == ()
    assert check.freedoms == 24 - locked


def test_the_same_joint_twice_is_repeated_entirely():
    plan = mechanisms.pair("Universal", 3)
    twice = mechanisms.Plan(bodies=plan.bodies, joints={**plan.joints, "K": plan.joints["J"]})
    check = twice.model().check()
    assert [name.split(":")[0] for name in check.repeated] == ["K"] * 4
    a, b = (ps.simulate(p.model(), h=0.01, t_end=0.1) for p in (plan, twice))
    np.testing.assert_allclose(a.position("body1"), b.position("body1"), atol=1e-12)
    assert not b.reaction("K").complete
    # The smallest multipliers that do: the load is shared.
    np.testing.assert_allclose(b.reaction("K").force, b.reaction("J").force, atol=1e-9)
    total = b.reaction("K").force + b.reaction("J").force
    np.testing.assert_allclose(total, a.reaction("J").force, atol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_repeats_do_not_depend_on_the_unit_of_length(size):
    flat = [(0, 0, 0), (size, 0, 0), (3 * size, 0, 0), (2 * size, 0, 0)]
    corners = size * np.array(CORNERS)
    for c in (flat, corners):
        check = four_bar([tuple(x) for x in c], spin=0.0).check()
        assert check.freedoms == 1
        assert len(check.repeated) == 3
