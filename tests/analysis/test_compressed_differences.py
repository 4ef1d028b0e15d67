"""Derivatives by many parameters from few models: those of one model after the other."""

from itertools import pairwise

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from strategies import seeds

import poinsot as ps
from poinsot.analysis import Final, Integral
from poinsot.analysis.gradients import compression
from poinsot.analysis.gradients.compiled import CompiledBackward
from poinsot.analysis.gradients.compression import groups, linear, quadratic, smooth
from poinsot.analysis.gradients.run import Run
from poinsot.analysis.variations import Variations
from poinsot.model.parameters import Parameters

TREE = ("Spherical", "Revolute", "Cylindrical", "Prismatic", "Rod", "PointOnLine")
#: Of a change, weights of models for a derivative of fourth order.
WEIGHTS = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}


def differences(seed, count, exponents):
    """Numbers that depend on one of so many parameters, and how they change with these."""
    random = np.random.default_rng(seed)
    owner, bend = random.integers(-1, count, 60), random.choice(exponents, 60)
    values = random.standard_normal(60) * 10.0 ** random.integers(-12, 12, 60)
    slopes = np.where(owner < 0, 0.0, random.uniform(0.1, 1, 60))

    def change(factors):
        return values * (1 + slopes * factors[owner]) ** bend - values

    return owner, values, np.where(owner < 0, 0.0, values * bend * slopes), change


def changes(c, r):
    """Those of the models that `smooth` needs, in order; the first ones are enough for others."""
    halves = [(np.arange(c.size) >> bit & 1) * c for bit in range((c.size - 1).bit_length())]
    return [c, r * c, -c, 2 * c, -2 * c, *halves]


@pytest.mark.parametrize(
    ("tell", "count", "exponents"),
    [(linear, 2, [1]), (quadratic, 3, [1, 2]), (smooth, None, [1, 2, 3, -1, 0.5])],
)
@given(seed=seeds, parameters=st.integers(1, 40))
def test_differences_tell_which_parameter_a_number_depends_on(
    tell, count, exponents, seed, parameters
):
    owner, values, slopes, change = differences(seed, parameters, exponents)
    c, r = np.full(parameters, 1e-3), 2 + np.arange(parameters) / parameters
    rows = np.array([change(way) for way in changes(c, r)[:count]])
    found, multiples = tell(rows, compression.NOISE * abs(values), r, c)
    assert np.array_equal(found, owner)
    for k, difference in zip(compression.MULTIPLES, multiples, strict=True):
        expected = np.where(owner < 0, 0.0, change(k * c))
        assert np.all(abs(difference - expected) <= 1e-12 * abs(values))
    rates = compression.WEIGHTS @ multiples / 1e-3
    assert np.all(abs(rates - slopes) <= 1e-9 * abs(values))


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda p, q: p + q, id="a sum"),
        pytest.param(lambda p, q: 1 + p - q, id="a difference"),
        pytest.param(lambda p, q: p * q, id="a product"),
    ],
)
def test_numbers_that_depend_on_two_parameters_have_no_owner(function):
    c, r, noise = np.full(2, 1e-3), np.array([2.0, 2.5]), np.full(1, 1e-14)

    def change(factors):
        return [function(1 + factors[0], 1 + factors[1]) - function(1.0, 1.0)]

    rows = np.array([change(way) for way in changes(c, r)])
    assert linear(rows[:2], noise, r, c) is None
    assert quadratic(rows[:3], noise, r, c) is None
    assert smooth(rows, noise, r, c) is None


def test_numbers_that_are_not_linear_are_left_to_more_models():
    c, r, noise = np.full(1, 1e-3), np.array([2.0]), np.full(1, 1e-14)
    for power, tell, count in ((2, linear, 2), (3, quadratic, 3)):
        rows = [[(1 + k * 1e-3) ** power - 1] for k in (1, 2, -1)]
        assert tell(np.array(rows[:count]), noise, r, c) is None


def test_groups_have_one_number_of_a_part_and_not_gravity_with_masses():
    numbers = [
        ("bodies.a.mass", ()),
        ("bodies.b.box.mass", ()),
        ("bodies.a.inertia", (0,)),
        ("joints.A.point", (0,)),
        ("joints.A.point", (1,)),
        ("gravity", (2,)),
    ]
    assert groups(numbers) == [[0, 1, 3], [2, 4, 5]]


def _sizes(shape):
    """The keys of a shape on which its inertia depends, besides the mass."""
    return {"Box": ["size"], "RigidBody": ["inertia"]}.get(type(shape).__name__, [])


def numbers_of(model):
    """All masses, points and axes of a model, gravity, and the start of its first body."""
    paths = [
        f"bodies.{name}.{key}"
        for name in model.bodies
        for key in ("mass", *_sizes(model.body(name).shape))
    ]
    for name, joint in model.joints.items():
        keys = {"Rod": ("point_a", "point_b")}.get(type(joint).__name__, ("point",))
        paths += [f"joints.{name}.{key}" for key in keys]
    bodies = (name for name, body in model.bodies.items() if body.angular_velocity is not None)
    moving = [f"initial.{name}.angular_velocity" for name in bodies]
    return [*paths, "gravity", *moving[:1]]


@laws(8)
@given(seeds)
def test_few_models_tell_what_one_after_the_other_tell(seed):
    plan = mechanisms.tree(seed, bodies=3, loops=seed % 2, kinds=TREE)
    model, first = plan.model(), next(iter(plan.bodies))
    of = Final(f"{first}.position.x") + Integral(f"{first}.angular_velocity.z**2")
    how = {"h": 0.02, "t_end": 0.08, "engine": "compiled"}
    paths = numbers_of(model)
    found = ps.gradient(model, of, paths, **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "groups", lambda numbers: [])
        expected = ps.gradient(model, of, paths, **how)
    size = max(1.0, np.max(abs(expected.flat)))
    np.testing.assert_allclose(found.flat, expected.flat, rtol=0, atol=1e-8 * size)


def fourbar(points, spin):
    """A four-bar of ball joints and a hinge, with velocities that follow from one of them."""
    model, before = ps.Model(gravity=(0, 0, -9.81)), None
    shape = ps.RigidBody(mass=1.3, inertia=(0.02, 0.025, 0.018))
    for k, (a, b) in enumerate(pairwise(points)):
        middle = (np.array(a) + np.array(b)) / 2
        omega = (spin, 0, 0) if k == 0 else None
        body = model.add_body(f"bar{k}", shape, position=middle, angular_velocity=omega)
        hinge = {"point": a, "axis": (1, 0, 0)}
        joint = (
            ps.Revolute(model.ground, body, **hinge)
            if before is None
            else ps.Spherical(before, body, point=a)
        )
        model.add_joint(f"J{k}", joint)
        before = body
    model.add_joint("last", ps.Spherical(model.ground, before, point=points[-1]))
    return model


PLANE = {"point": (0, 0.3, 0.4), "normal": (0, 0.3, 1)}
POINTS = [(0, 0, 0), (0, 0.1, 0.3), (0.05, 0.6, 0.5), (0, 0.7, 0)]


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("path", ["joints.J1.point", "bodies.bar1.mass", "bodies.bar2.inertia"])
def test_velocities_that_joints_complete_are_derived(path, projected):
    model = fourbar(POINTS, spin=3.0)
    if projected:
        model.add_body("more", ps.Box(mass=1, size=(1, 1, 1)), velocity=(1, 2, 3))
        tie = ps.PointOnPlane(model.body("bar1"), model.body("more"), **PLANE)
        model.add_joint("tie", tie)
        model.project_velocities()
    known = Parameters.of(model, [path])
    value = known.values[path]
    of = Final("bar2.velocity.z + 0.3*bar1.angular_velocity.y")
    # The first step ends a nanosecond after the start: what is seen is the start.
    how = {"h": 1e-9, "t_end": 1e-9, "engine": "compiled"}
    found = np.atleast_1d(ps.gradient(model, of, {path: value}, **how)[path])

    def velocity(change):
        there = known.model({path: value + change}).start_velocities()
        return there["bar2"][0][2] + 0.3 * there["bar1"][1][1]

    size = np.max(abs(value))
    for k, derivative in enumerate(found):
        way = 1e-3 * size * (np.ones(()) if value.ndim == 0 else np.eye(value.size)[k])
        slope = sum(w * velocity(n * way) for n, w in WEIGHTS.items()) / (1e-3 * size)
        assert derivative == pytest.approx(slope, rel=1e-7, abs=1e-7)


def test_models_that_are_built_are_as_many_for_long_chains_as_for_short_ones(monkeypatch):
    built = []
    near = Variations.near

    def counting(self, changes):
        built.append(changes)
        return near(self, changes)

    def never(self, changes):
        raise AssertionError("no model is built as a whole")

    monkeypatch.setattr(Variations, "near", counting)
    monkeypatch.setattr(Variations, "changed", never)
    counts = []
    for links in (2, 12):
        model, before = ps.Model(gravity=(0, 0, -9.81)), None
        for k in range(links):
            link = model.add_body(
                f"link{k}", ps.Box(mass=1, size=(1, 0.2, 0.1)), position=(k, 0, 0)
            )
            joint = ps.Spherical(before or model.ground, link, point=(k - 0.5, 0, 0))
            model.add_joint(f"J{k}", joint)
            before = link
        paths = [f"bodies.link{k}.{key}" for k in range(links) for key in ("mass", "size")]
        paths += [f"joints.J{k}.point" for k in range(links)]
        built.clear()
        found = ps.gradient(model, Final("link0.position.z"), paths, h=0.01, t_end=0.02)
        assert found.flat.size == 7 * links
        counts.append(len(built))
    assert counts[0] == counts[1]


def test_forces_on_different_bodies_are_told_by_the_same_models():
    models = []
    for links in (3, 9):
        model, before = ps.Model(gravity=(0, 0, -9.81)), None
        for k in range(links):
            shape = ps.Box(mass=1, size=(1, 0.2, 0.1))
            link = model.add_body(f"link{k}", shape, position=(k, 0, 0), angular_velocity=(0, k, 0))
            hinge = {"point": (k - 0.5, 0, 0), "axis": (0, 1, 0)}
            model.add_joint(f"J{k}", ps.Revolute(before or model.ground, link, **hinge))
            spring = ps.JointSpring(f"J{k}", stiffness=3.0 + k, damping=0.2, rest=0.1)
            model.add_force(f"S{k}", spring)
            before = link
        model.project_velocities()
        keys = "stiffness", "damping", "rest"
        paths = [f"forces.S{k}.{key}" for k in range(links) for key in keys]
        how = {"h": 0.01, "t_end": 0.05}
        of = Final(f"link{links - 1}.position.z")
        run = Run.of(model, paths, engine="compiled", **how)
        sweep = CompiledBackward(run, of.bound(run.variations.known))
        found = sweep.gradient()
        models.append(len(sweep.nearby.models))
        expected = ps.gradient(model, of, paths, engine="reference", **how)
        np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-7, atol=1e-10)
    assert models[0] == models[1]
