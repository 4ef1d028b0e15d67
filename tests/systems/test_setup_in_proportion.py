"""What comes before the first step grows with the number of parts, and no faster.

Counted in calls of functions, which unlike seconds are the same on every machine.
"""

import cProfile
import pstats

import numpy as np
import pytest
from test_repeated_constraints import ladder

import poinsot as ps
from poinsot.systems.compiled.runner import MechanismRunner


def chain(count, kind=ps.Revolute):
    model, last = ps.Model(gravity=(0, 0, -9.81)), None
    for i in range(count):
        box = ps.Box(mass=1, size=(1, 0.1, 0.1))
        bar = model.add_body(f"bar{i}", box, position=(i + 0.5, 0, 0), angular_velocity=(0, 0, 0))
        axis = {"axis": (0, 0, 1)} if kind is ps.Revolute else {}
        model.add_joint(f"J{i}", kind(last or model.ground, bar, point=(i, 0, 0), **axis))
        last = bar
    return model


def calls(function):
    """How many functions a function calls, and its result."""
    profile = cProfile.Profile()
    result = profile.runcall(function)
    return pstats.Stats(profile).total_calls, result


def prepare(model):
    """All that comes before the first step."""
    system = model.compile()
    return system.runner(ps.SCHEMES["ph-mp"], system.start, 0.01, ps.Newton())


@pytest.mark.parametrize("make", [chain, ladder])
def test_twice_as_many_parts_take_twice_as_many_calls(make):
    small = 60 if make is chain else 30  # large enough for sparse matrices
    built = [calls(lambda count=count: make(count)) for count in (small, 2 * small)]
    assert built[1][0] < 2.1 * built[0][0]
    (few, runner), (many, _) = (calls(lambda model=model: prepare(model)) for _, model in built)
    assert isinstance(runner, MechanismRunner)
    assert many < 2.1 * few


def test_tables_are_filled_by_arrays():
    """A further body with its joint costs some calls, and not some for each entry of a table."""
    models = [chain(count) for count in (100, 200)]
    (few, _), (many, _) = (calls(lambda model=model: prepare(model)) for model in models)
    assert (many - few) / 100 < 250


@pytest.mark.parametrize("kind", [ps.Spherical, ps.Revolute])
def test_the_first_step_is_that_of_the_reference_engine(kind):
    """Sparse tables, Jacobians and all."""
    model = chain(40, kind)
    one, other = (
        ps.simulate(model, h=0.01, t_end=0.01, engine=engine, progress=False)
        for engine in ("compiled", "reference")
    )
    for name in model.bodies:
        np.testing.assert_allclose(one.position(name), other.position(name), atol=1e-13)
