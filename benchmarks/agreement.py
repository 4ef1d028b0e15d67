"""Whether all codes simulate the same mechanism: their motions must agree at a small step.

Every way in which Exudyn is built takes part. Without agreement, times mean nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.mechanism import Array, Mechanism
from benchmarks.peers.exudyn import ExudynSimulation, variants
from benchmarks.peers.mujoco import MujocoSimulation
from benchmarks.peers.poinsot import PoinsotSimulation
from benchmarks.peers.simulation import StoppedError

STEP, STEPS = 5e-4, 200  # s; 0.1 s in all
#: Centres of mass may differ by so much [m].
TOLERANCE = 5e-6


@dataclass(frozen=True)
class Agreement:
    """How far a code is from Poinsot at the end [m], while the mechanism moved by `moved` [m]."""

    mechanism: str
    code: str
    note: str
    distance: float
    moved: float

    @property
    def good(self) -> bool:
        """Whether it is the same motion."""
        return self.distance < TOLERANCE < 1e-3 * self.moved


def compare(mechanism: Mechanism, engine: str) -> list[Agreement]:
    """Run a mechanism by all codes and return how far each one is from Poinsot."""
    ours = PoinsotSimulation(mechanism, STEP, engine=engine).run(STEPS).positions
    moved = _distance(ours, np.array([body.position for body in mechanism.bodies]))
    found = []
    for variant in variants(mechanism):
        try:
            theirs = ExudynSimulation(mechanism, STEP, variant=variant).run(STEPS).positions
        except StoppedError:
            # Angles are singular in some positions; another variant stands in.
            continue
        distance = _distance(ours, theirs)
        found.append(Agreement(mechanism.name, "Exudyn", str(variant), distance, moved))
    theirs = MujocoSimulation(mechanism, STEP).run(STEPS).positions
    distance = _distance(ours, theirs)
    return [*found, Agreement(mechanism.name, "MuJoCo", "RK4", distance, moved)]


def check(mechanisms: Sequence[Mechanism], engine: str) -> list[Agreement]:
    """Compare the motions of all mechanisms, print them, and refuse to go on if any differs."""
    found = [result for mechanism in mechanisms for result in compare(mechanism, engine)]
    print(f"the same motion? distance from Poinsot after {STEP * STEPS:g} s, h = {STEP:g} s")
    for result in found:
        print(
            f"  {result.mechanism:<18} {result.code:<7} {result.note:<26} {result.distance:.1e} m"
            f"  of {result.moved:.2g} m moved{'' if result.good else '  DIFFERENT'}"
        )
    wrong = sorted({result.mechanism for result in found if not result.good})
    if wrong:
        raise SystemExit(f"the codes do not simulate the same mechanism: {', '.join(wrong)}")
    return found


def _distance(a: Array, b: Array) -> float:
    return float(np.max(np.linalg.norm(a - b, axis=1)))
