"""Loops with repeated constraints in the compiled engine: same motion, same share of the load."""

from dataclasses import replace

import mechanisms
import pytest
from engines import assert_same, both
from mechanisms import SCHEMES
from test_repeated_constraints import four_bar, ladder


def joined_twice():
    plan = mechanisms.pair("Universal", 3)
    return replace(plan, joints={**plan.joints, "K": plan.joints["J"]}).model()


MECHANISMS = {"four bar": four_bar, "ladder": lambda: ladder(3), "joined twice": joined_twice}


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


@pytest.mark.parametrize("name", MECHANISMS)
def test_repeated_constraints_move_alike_and_share_their_load_alike(name, scheme):
    one, other = both(MECHANISMS[name](), scheme=scheme, h=0.01, t_end=0.3)
    assert not any(joint.complete for joint in one.observation.joints.values())
    assert_same(one, other)
