"""Starts in singular positions, where motions branch: one is taken, or all are named."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from in_turn import in_turn
from mechanisms import laws

import poinsot as ps

RUNS = [
    ("ph-mp", "directors"),
    ("ph-mp-ggl", "directors"),
    ("ph-mp", "rotations"),
    ("emh-mean", "quaternions"),
]
LINKS = (1.0, 2.0, 1.0)  # a parallelogram

links = st.tuples(*[st.floats(0.4, 2.0)] * 3, st.sampled_from([(1, 1, 1), (1, 1, -1), (1, -1, 1)]))
seeds = st.integers(0, 10**6)


def four_bar(lengths, rates, *, unit=1.0, seed=None, gravity=(0, 0, 0)):
    """Crank a, coupler b and rocker c with all hinges on one line, at 0, r1, r1 + r2, r1 + r2 - r3.

    Lengths have signs: r1 + r2 = base + r3. Rates are those about the common direction of hinges.
    """
    random = np.random.default_rng(seed)
    R = np.eye(3) if seed is None else np.linalg.qr(random.standard_normal((3, 3)))[0]
    model, (r1, r2, r3) = ps.Model(gravity=gravity), lengths
    at = {"A": 0.0, "B": r1, "C": r1 + r2, "D": r1 + r2 - r3}
    at = {name: unit * x * R[:, 0] for name, x in at.items()}
    bodies = {"ground": model.ground}
    for (name, (p, q)), rate in zip({"a": "AB", "b": "BC", "c": "DC"}.items(), rates, strict=True):
        length = np.linalg.norm(at[q] - at[p])
        bodies[name] = model.add_body(
            name,
            ps.Cylinder(mass=1, radius=0.1 * unit, length=length),
            position=(at[p] + at[q]) / 2,
            rotation=np.column_stack([R[:, 1], np.cross(R[:, 0], R[:, 1]), R[:, 0]]),
            angular_velocity=None if rate is None else rate * R[:, 1],
        )
    ends = {"A": ("ground", "a"), "B": ("a", "b"), "C": ("b", "c"), "D": ("ground", "c")}
    for name, (one, other) in ends.items():
        joint = ps.Revolute(bodies[one], bodies[other], point=at[name], axis=R[:, 1])
        model.add_joint(name, joint)
    return model


def rates_of(model):
    """The rates about the axis of the hinges."""
    axis = np.asarray(model.joints["A"].axis)
    return np.array([omega @ axis for _, omega in model.start_velocities().values()])


def branches(lengths, rate):
    """Rates with r1 a + r2 b = r3 c and r1 a^2 + r2 b^2 = r3 c^2, a given."""
    r1, r2, r3 = lengths
    found = np.roots([r2 * (r3 - r2), -2 * r1 * r2, r1 * (r3 - r1)])
    return [np.array([1, x, (r1 + r2 * x) / r3]) * rate for x in found[np.isreal(found)].real]


@laws(10)
@given(links=links, seed=seeds, power=st.sampled_from([-3, 0, 3]))
def test_a_flat_four_bar_takes_one_of_its_two_branches_or_lists_both(links, seed, power):
    *lengths, signs = links
    lengths = np.multiply(lengths, signs)
    base = lengths @ (1, 1, -1)
    assume(abs(base) > 0.2 and abs(np.prod(lengths) * base) > 0.02)
    assume(abs(lengths[1] - lengths[2]) > 0.1)
    known = branches(lengths, 2.0)
    options = {"unit": 10.0**power, "seed": seed}
    assert len(known) == (2 if np.prod(lengths) * base > 0 else 0)
    for rates in known:
        for left_out in ((), (2,), (1,)):
            given_rates = [None if k in left_out else x for k, x in enumerate(rates)]
            model = four_bar(lengths, given_rates, **options)
            np.testing.assert_allclose(rates_of(model), rates, atol=1e-7 * abs(rates).max())
            check = model.check()
            assert (check.freedoms, check.singular) == (1, (("A", "B", "C", "D"),))
            assert "singular position   A, B, C, D" in str(check)
    mixed = (known[0] + 2 * known[1]) / 3 if known else (2.0, 1.0, None)
    for rates in ((2.0, None, None), mixed):
        with pytest.raises(ps.InconsistentStartError, match="is a singular position") as error:
            four_bar(lengths, rates, **options).check()
        assert all(f"'{name}'" in str(error.value) for name in "ABCD")


@pytest.mark.parametrize("length", [1e4, -1e5, 1e6])
@pytest.mark.parametrize("coupler", [1.0, 1.45])
def test_a_rocker_that_is_so_long_that_it_hardly_turns_hides_no_branches(length, coupler):
    """Crank and coupler are folded: the end of the rocker stays behind, or goes ahead."""
    assert len(branches((1.0, -coupler, length), 2.0)) == 2
    with pytest.raises(ps.InconsistentStartError, match="is a singular position"):
        four_bar((1.0, -coupler, length), (2.0, None, None)).check()


def test_the_branches_are_listed_with_what_was_given():
    listed = re.escape("a (0, 3, 0), b (0, 0, 0), c (0, 3, 0)"), re.escape("c (0, -9, 0)")
    for rates, suit in (((3, None, None), "suit 2 branches"), ((3, -3, -3), "suit none")):
        with pytest.raises(ps.InconsistentStartError, match=suit) as error:
            four_bar(LINKS, rates).compile()
        assert all(re.search(each, str(error.value)) for each in listed)
        assert re.search("give the angular_velocity of .*'b' or 'c'", str(error.value))


@pytest.mark.parametrize("angle", [1e-4, 0.3])
def test_next_to_it_nothing_is_singular(angle):
    c, s = np.cos(angle), np.sin(angle)
    model = ps.Model()
    at = {"A": (0, 0, 0), "B": (c, 0, s), "C": (2 + c, 0, s), "D": (2, 0, 0)}
    at = {name: np.array(x, dtype=float) for name, x in at.items()}
    bodies = {"ground": model.ground}
    for name, (p, q) in {"a": "AB", "b": "BC", "c": "DC"}.items():
        shape = ps.Sphere(mass=1, radius=0.1)
        rate = (0, 3, 0) if name == "a" else None
        middle = (at[p] + at[q]) / 2
        bodies[name] = model.add_body(name, shape, position=middle, angular_velocity=rate)
    ends = {"A": ("ground", "a"), "B": ("a", "b"), "C": ("b", "c"), "D": ("ground", "c")}
    for name, (one, other) in ends.items():
        joint = ps.Revolute(bodies[one], bodies[other], point=at[name], axis=(0, 1, 0))
        model.add_joint(name, joint)
    assert model.check().singular == ()
    np.testing.assert_allclose(rates_of(model), (3, 0, 3), atol=1e-8)


@pytest.mark.parametrize(
    ("scheme", "coordinates", "engine"),
    [(*run, engine) for run, engine in in_turn(RUNS, ["reference", "compiled"])],
)
def test_a_motion_through_a_singular_position_stays_on_its_branch(scheme, coordinates, engine):
    """The parallelogram keeps its coupler parallel; the other branch turns it by -2 a."""
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    for rates in ((3, 0, 3), (3, -6, -9)):
        result = ps.simulate(four_bar(LINKS, rates), h=0.005, t_end=0.1, **options)
        a, b = (result.angular_velocity(name)[-1, 1] for name in "ab")
        assert (abs(b) < 1e-9) == (rates[1] == 0)
        assert abs(a) > 1
        assert result.stats.balance_error_max < 1e-10
        assert result.constraint_error.max() < 1e-12


def test_velocities_are_projected_onto_the_nearest_branch():
    model = four_bar(LINKS, (3, 0.1, 3.3))
    model.project_velocities()
    a, b, c = rates_of(model)
    assert abs(b) < 1e-9
    assert a == pytest.approx(c, abs=1e-9)


def test_what_hangs_on_a_flat_loop_moves_without_a_choice():
    """The loop rests, as it would on any of its branches."""
    model = four_bar(LINKS, (None, None, None))
    bob = model.add_body(
        "bob", ps.Sphere(mass=1, radius=0.1), velocity=(0, 1, 2), position=(9, 0, 0)
    )
    assert rates_of(model)[:3] == pytest.approx([0, 0, 0], abs=1e-12)
    np.testing.assert_allclose(model.start_velocities()[bob.name][0], (0, 1, 2))


def test_rods_that_hold_a_mass_on_their_line_leave_it_no_velocity():
    """It is free to first order and held to second: no branch is left."""

    def held(velocity):
        model = ps.Model()
        mass = model.add_body("mass", ps.PointMass(mass=1), position=(1, 0, 0), velocity=velocity)
        for name, end in (("left", (0, 0, 0)), ("right", (3, 0, 0))):
            rod = ps.Rod(model.ground, mass, point_a=end, point_b=(1, 0, 0))
            model.add_joint(name, rod)
        return model

    assert held(None).check().singular == (("left", "right"),)
    with pytest.raises(ps.InconsistentStartError, match=r"'left', 'right'.* suit none"):
        held((0, 1, 0)).check()


@pytest.mark.parametrize(
    ("scheme", "coordinates", "engine"),
    [(*run, engine) for run, engine in in_turn(RUNS, ["reference", "compiled"])],
)
def test_out_of_rest_no_engine_chooses_a_branch(scheme, coordinates, engine):
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    resting = ps.simulate(four_bar(LINKS, (None,) * 3), h=0.01, t_end=0.05, **options)
    np.testing.assert_array_equal(resting.angular_velocity("b"), 0)
    falling = four_bar(LINKS, (0, 0, 0), gravity=(0, 0, -9.81))
    with pytest.raises(ps.InconsistentStartError, match=r"singular position .* at rest there"):
        ps.simulate(falling, h=0.01, t_end=0.05, **options)


def test_a_step_that_fails_in_a_singular_position_says_so():
    """The push comes later than the start."""
    model = four_bar(LINKS, (None, None, None))
    model.add_port("push", ps.TorquePort(model.bodies["a"]))
    late = {"push": lambda t: (0.0, float(t > 0.015), 0.0)}
    with pytest.raises(ps.SimulationError, match="'D' are in a singular position") as error:
        ps.simulate(model, h=0.01, t_end=0.05, inputs=late, engine="reference")
    assert "try a smaller step" not in str(error.value)


def test_three_arms_that_lie_flat_have_one_way_to_go():
    """Any two of them could turn against each other, all three cannot."""
    model, ball = ps.Model(), ps.Sphere(mass=1, radius=0.1)
    coupler = model.add_body("coupler", ball, position=(3, 0, 0))
    for k in range(3):
        spin = {"angular_velocity": (0, 2, 0)} if k == 0 else {}
        arm = model.add_body(f"arm{k}", ball, position=(2 * k + 0.5, 0, 0), **spin)
        for name, partner, x in (("on", model.ground, 2 * k), ("under", coupler, 2 * k + 1)):
            hinge = ps.Revolute(partner, arm, point=(x, 0, 0), axis=(0, 1, 0))
            model.add_joint(f"{name}{k}", hinge)
    check = model.check()
    assert (check.freedoms, len(check.repeated), len(check.singular)) == (1, 7, 1)
    for engine in ("reference", "compiled"):
        result = ps.simulate(model, h=0.01, t_end=0.1, engine=engine)
        for k in range(3):
            np.testing.assert_allclose(result.angular_velocity(f"arm{k}")[:, 1], 2.0, atol=1e-9)


@laws(6)
@given(seed=seeds)
def test_repeated_constraints_are_no_singular_position(seed):
    """Planar four-bars in space repeat three constraints wherever they are."""
    random = np.random.default_rng(seed)
    R = np.linalg.qr(random.standard_normal((3, 3)))[0]
    at = np.array([[0, 0], [0.3, 1], [2.2, 1.3], [2, 0]]) + random.uniform(-0.25, 0.25, (4, 2))
    points = at @ R[:, [0, 2]].T
    model, rate = ps.Model(), 2.5
    bars = [model.ground]
    for k, (p, q) in enumerate(pairwise(points)):
        given_rate = {"angular_velocity": rate * R[:, 1]} if k == 0 else {}
        shape = ps.Sphere(mass=1, radius=0.1)
        bars.append(model.add_body(f"bar{k}", shape, position=(p + q) / 2, **given_rate))
    for k, (a, b) in enumerate(zip(bars, [*bars[1:], model.ground], strict=True)):
        model.add_joint(f"hinge{k}", ps.Revolute(a, b, point=points[k], axis=R[:, 1]))
    check = model.check()
    assert (check.freedoms, len(check.repeated), check.singular) == (1, 3, ())
