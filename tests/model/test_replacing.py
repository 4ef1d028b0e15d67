"""Models with other numbers of some parts: those that are built as a whole."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from mechanisms import laws
from strategies import seeds

import poinsot as ps
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.model.describe import describe
from poinsot.model.initial import equations_near, equations_of, twists_of
from poinsot.model.parameters import Parameters
from poinsot.ph.matrices import dense
from poinsot.systems.start import given_twists

#: Sections whose parts are built again.
AGAIN = ("bodies", "joints", "forces", "gravity")


def described(model):
    """What a file says of a model, without what only users know."""
    return {key: value for key, value in describe(model, None).items() if key != "name"}


def numbers_of(content):
    """The paths of numbers, vectors and matrices of parts that can be built again."""
    found = ["gravity"]
    for section in AGAIN[:-1]:
        for name, kinds in content.get(section, {}).items():
            for kind, values in kinds.items():
                if not isinstance(values, dict):
                    continue
                keys = (k for k, v in values.items() if np.array(v).dtype.kind == "f")
                found += [f"{section}.{name}.{kind}.{key}" for key in keys]
    return found


def loaded(seed):
    """A tree or a loop with friction, drag, and springs whose laws are numbers or formulas."""
    plan = mechanisms.resistances(mechanisms.tree(seed, bodies=3, loops=seed % 2), seed)
    forces, first = dict(plan.forces), next(iter(plan.bodies))
    at = {"a": "ground", "b": first, "point_a": (2, 3, 4.0), "point_b": (0.1, 0.2, 0.3)}
    forces["spring"] = ("Spring", {**at, "stiffness": 30.0, "damping": 0.7})
    forces["nonlinear"] = ("Spring", {**at, "force": ps.Formula("2.5*x**3", ("x",))})
    return replace(plan, forces=forces)


@laws(12)
@given(seeds)
def test_models_with_other_parts_are_those_that_are_built_as_a_whole(seed):
    plan = loaded(seed).model()
    known = Parameters.of(plan, numbers_of(described(plan)))
    model, random = known.model({}), np.random.default_rng(seed)
    values = {path: value for path, value in known.values.items() if value is not None}
    for path in random.permutation(list(values))[:8].tolist():
        other = {path: values[path] * (1 + 1e-4 * random.uniform(-1, 1, values[path].shape))}
        near = known.near(model, other)
        if near is None:  # its directors turn, or a joint would be open
            assert path.split(".")[0] in ("bodies", "joints")
            continue
        whole = known.model(other)
        assert described(near) == described(whole)
        ours, theirs = equations_near(near, equations_of(model)), equations_of(whole)
        np.testing.assert_allclose(dense(ours.jacobian), dense(theirs.jacobian), atol=1e-12)
        twists = ours.nearest(*given_twists(ours.movable))
        np.testing.assert_allclose(twists, twists_of(whole, theirs), atol=1e-9)


def test_parts_with_the_same_numbers_are_shared():
    model = crank.model(crank.SliderCrank())
    path = "bodies.rod.mass"
    known = Parameters.of(model, [path])
    near = known.near(model, {path: 2.0})
    assert near.body("rod").mass == 2.0
    assert near.body("crank") is model.body("crank")
    assert all(near.joints[name] is joint for name, joint in model.joints.items())
    assert model.body("rod").mass == crank.model(crank.SliderCrank()).body("rod").mass


def test_rods_are_built_again_in_their_place():
    model = ps.Model(gravity=(0, 0, -9.81))
    first = model.add_body("first", ps.Box(mass=1, size=(0.1, 0.1, 0.1)), position=(-1, 0, 0))
    material = {"youngs_modulus": 2e6, "shear_modulus": 8e5, "density": 1500, "damping_time": 0.01}
    shape = ps.ElasticRod([(0, 0, 0), (1, 0, 0.1)], ps.CircularSection(radius=0.02), 3, **material)
    rod = model.add_body("rod", shape)
    last = model.add_body("last", ps.Box(mass=1, size=(0.1, 0.1, 0.1)), position=(2, 0, 0))
    model.add_joint("clamp", ps.Weld(first, rod.start))
    ends = {"point_a": (1, 0, 0.1), "point_b": (2, 0, 0)}
    model.add_force("spring", ps.Spring(rod.end, last, **ends, stiffness=3.0))
    paths = [f"bodies.rod.{name}" for name in material]
    known = Parameters.of(model, paths)
    for path in paths:
        other = {path: 1.01 * known.values[path]}
        near, whole = known.near(model, other), known.model(other)
        assert described(near) == described(whole)
        assert [*near.bodies] == [*whole.bodies]
        assert [body.inertia for body in near.bodies.values()] == [
            body.inertia for body in whole.bodies.values()
        ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("bodies.rod.position", (0.1, 0.2, 0.3)),
        ("bodies.rod.mass", -1.0),
        ("joints.C.axis_a", (0.0, 0.0, 0.0)),
        ("initial.rod.position", (0.1, 0.2, 0.3)),
        ("options.step", 0.02),
    ],
)
def test_other_places_and_values_that_cannot_be_are_left_to_whole_models(path, value):
    model = crank.model(crank.SliderCrank())
    assert Parameters.of(model, [path]).near(model, {path: value}) is None
