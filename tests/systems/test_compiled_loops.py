"""Loops with repeated constraints in the compiled engine: same motion, same share of the load."""

from dataclasses import replace

import mechanisms
import pytest
from engines import assert_same, both
from mechanisms import SCHEMES
from test_repeated_constraints import four_bar, ladder

import poinsot as ps


def joined_twice():
    plan = mechanisms.pair("Universal", 3)
    return replace(plan, joints={**plan.joints, "K": plan.joints["J"]}).model()


MECHANISMS = {"four bar": four_bar, "ladder": lambda: ladder(3), "joined twice": joined_twice}


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


@pytest.mark.parametrize("name", MECHANISMS)
def test_repeated_constraints_move_alike_and_share_their_load_alike(name, scheme):
    one, other = both(MECHANISMS[name](), scheme=scheme, h=0.01, t_end=0.15)
    assert not any(joint.complete for joint in one.observation.joints.values())
    assert_same(one, other)


def test_balances_stay_exact_over_20000_steps(scheme):
    """What rigid bodies do not determine of the reactions must not grow from step to step."""
    options = {"h": 0.001, "t_end": 20.0, "save_every": 50, "engine": "compiled"}
    result = ps.simulate(four_bar(), scheme=scheme, **options)
    assert result.stats.balance_error_max < 1e-10
    assert result.constraint_error.max() < 1e-13
    assert result.stats.newton_iterations < 5 * result.stats.steps
    assert result.stats.single_steps == 0
