"""The cases: a mechanism, how many steps of 1 ms are timed, and a small version for checking."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.mechanism import Mechanism
from benchmarks.mechanisms.chain import chain
from benchmarks.mechanisms.ladder import ladder
from benchmarks.mechanisms.lattice import lattice
from benchmarks.mechanisms.slider_crank import slider_crank
from benchmarks.mechanisms.tree import random_tree
from benchmarks.mechanisms.vehicle import vehicle

#: The step of the comparison [s].
STEP = 1e-3
#: Bars of a chain, and how many steps are timed.
CHAINS = {
    1: 10000,
    4: 5000,
    16: 2000,
    64: 500,
    100: 500,
    256: 1000,
    1024: 1000,
    4096: 400,
    10000: 200,
}
QUICK_CHAINS = {1: 2000, 4: 1000, 16: 300}


@dataclass(frozen=True)
class Case:
    """A mechanism of one size."""

    name: str
    size: int
    mechanism: Callable[[], Mechanism]
    steps: int


def cases(quick: bool = False) -> dict[str, list[Case]]:
    """Return all cases by name, growing in size; `quick` keeps what takes a moment."""
    chains = QUICK_CHAINS if quick else CHAINS
    found = {
        f"chain-{kind}": [
            Case(f"chain-{kind}", count, partial(chain, count, kind), steps)
            for count, steps in chains.items()
        ]
        for kind in ("spherical", "revolute")
    }
    loops, bars, knots = (4, 20, 2) if quick else (40, 500, 4)
    for case in (
        Case("slider-crank", 1, slider_crank, 1000 if quick else 5000),
        Case("ladder", loops, partial(ladder, loops), 200 if quick else 500),
        Case("tree", bars, partial(random_tree, bars), 100 if quick else 300),
        Case("lattice", knots, partial(lattice, knots), 50 if quick else 200),
        Case("vehicle", 1, vehicle, 200 if quick else 1000),
    ):
        found[case.name] = [case]
    return found


def small_mechanisms() -> list[Mechanism]:
    """Return every mechanism in a size that all codes finish at once, to compare motions."""
    return [
        chain(4, "spherical"),
        chain(4, "revolute"),
        slider_crank(),
        ladder(3),
        random_tree(12),
        lattice(2),
        vehicle(),
    ]
