"""Random mechanisms of all parts against every promise, in all formulations and both engines.

============== =====================================================================================
`ranges.py`    how far they go: bodies, loops, units, mass ratios
`plans.py`     what they are: a `Case` is a few numbers, Hypothesis draws it, and it makes a plan
`units.py`     the same mechanism in other units
`recomputed.py` joints, energies, momenta from the definitions of mechanics and the result's motion
`checks.py`    every promise as an error over the round-off of its own scale
`bounds.py`    how many round-offs are allowed, and why
`kept.py`      cases that failed once
`matrix.py`    every joint, scheme, engine and topology, and a covering few of them
============== =====================================================================================

`pytest tests/attack` tries the same few in every run. `make attack` tries thousands, others each
time, and prints the seed: `make attack SEED=...` repeats them. What fails is shown as a `Case`;
once its cause is mended, copy it to `kept.py`.
"""

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, example, given, seed, settings
from kept import KEPT
from plans import cases
from ranges import ALL, HELD


@dataclass(frozen=True)
class Attack:
    """How many cases are tried, from which seed, and how far they go."""

    name: str
    examples: int
    seed: int
    thorough: bool
    wide: bool

    def on(self, law, few, *, within=HELD):
        """Try a law on kept cases, and on random ones: a few, or as many as were asked for."""
        for name, case in KEPT:
            if name in self.name:
                law = example(case=case)(law)
        phases = [Phase.explicit, Phase.generate, *[Phase.shrink] * self.thorough]
        options = settings(
            max_examples=self.examples if self.thorough else few,
            database=None,
            deadline=None,
            phases=phases,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        seed(self.seed)(options(given(case=cases(ALL if self.wide else within))(law)))()


@pytest.fixture
def attack(request):
    option, name = request.config.getoption, request.node.name
    thorough = option("--attack") is not None
    # Each test has its own cases.
    offset = sum(map(ord, name))
    start = option("--attack-seed") + offset
    return Attack(name, option("--attack"), start, thorough, option("--attack-all"))
