"""Every published example of a mechanism: the first steps by both engines."""

import pytest
from engines import assert_same
from in_turn import in_turn
from mechanisms import SCHEMES

from poinsot.gallery import MODULES, find_example
from poinsot.model import Model

MECHANISMS = [name for name in MODULES if isinstance(find_example(name).model(), Model)]


def test_most_examples_are_mechanisms():
    assert len(MECHANISMS) >= 8


#: In the compiled engine the stabilised form has no contacts that cannot slip, no elastic bodies,
#: no rigid strains, no transmissions and no drives.
PLAIN = (
    *("rolling-coin", "flexible-crank-slider", "hinged-beam", "released-ring"),
    *("motor-slider-crank", "robot-arm", "straight-line"),
)
#: Planar links repeat constraints, which the compiled engine leaves to the other one.
LEFT = ("flexible-four-bar",)
CASES = [(name, "ph-mp") for name in PLAIN]
CASES += in_turn([name for name in MECHANISMS if name not in (*PLAIN, *LEFT)], SCHEMES)


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_an_example_is_the_same_in_both_engines(name, scheme):
    example = find_example(name)
    options = {"scheme": scheme, "t_end": 10 * example.h}
    one, other = (example.run(engine=engine, **options) for engine in ("compiled", "reference"))
    assert (one.engine, other.engine) == ("compiled", "reference")
    assert_same(one, other)
