"""What it takes to get to the first step: building, compiling, checks and tables.

`python -m benchmarks.setup` prints CPU seconds for chains on ball joints and on hinges, straight or
in any direction, and for ladders of four-bar loops whose hinges in space repeat constraints. Before
the first step is everything between the model and the engine's first call; the engine's own
machine code is there already.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from benchmarks.environment import pin

#: Kind of mechanism and how many bodies, or loops, it has.
CASES = (
    ("balls", 1000),
    ("balls", 10_000),
    ("hinges", 1000),
    ("hinges", 10_000),
    ("turned hinges", 10_000),
    ("loops", 100),
    ("loops", 300),
    ("loops", 1000),
)
#: Step of runs [s].
H = 1e-3


def mechanism(kind: str, count: int) -> Any:
    """Return a mechanism of so many bodies or loops."""
    import numpy as np

    from benchmarks.mechanism import frame_along
    from benchmarks.mechanisms.chain import chain
    from benchmarks.mechanisms.ladder import ladder

    if kind == "loops":
        closed = ladder(count)
        hinges = [replace(j, kind="revolute" if j.kind == "pin" else j.kind) for j in closed.joints]
        return replace(closed, joints=tuple(hinges))
    found = chain(count, "spherical" if kind == "balls" else "revolute")
    if not kind.startswith("turned"):
        return found
    # Nothing lies along the axes of bodies or of the world: no entry of any table is zero.
    turn = frame_along((1.0, 2.0, 3.0)) @ frame_along((-2.0, 1.0, 0.5))
    bodies = [
        replace(
            body,
            position=turn @ body.position,
            rotation=turn @ frame_along(np.array([1.0, 0.3 * (i % 7), -0.2 * (i % 5)])),
            velocity=turn @ body.velocity,
            angular_velocity=turn @ body.angular_velocity,
        )
        for i, body in enumerate(found.bodies)
    ]
    joints = [replace(j, point=turn @ j.point, axis=turn @ j.axis) for j in found.joints]
    return replace(found, bodies=tuple(bodies), joints=tuple(joints))


@contextmanager
def called(times: list[float]) -> Iterator[None]:
    """Note the CPU time at which the engine is called for the first time."""
    from poinsot.systems.compiled.runner import MechanismRunner

    advance = MechanismRunner.advance

    def noted(*arguments: Any) -> Any:
        times.append(time.process_time())
        return advance(*arguments)

    with patch.object(MechanismRunner, "advance", noted):
        yield


def seconds(kind: str, count: int) -> dict[str, float]:
    """Return CPU seconds to build a model, to compile it, and until and for its first step.

    The last is that of a whole simulation of one step, less what comes before.
    """
    import poinsot as ps
    from benchmarks.peers.poinsot import build

    plan = mechanism(kind, count)
    start = time.process_time()
    model = build(plan)
    built = time.process_time()
    system = model.compile()
    compiled = time.process_time()
    first: list[float] = []
    with called(first):
        result = ps.simulate(system, h=H, t_end=H, engine="compiled", progress=False)
    end = time.process_time()
    assert result.status == "done"
    return {
        "build": built - start,
        "compile": compiled - built,
        "tables": first[0] - compiled,
        "before": first[0] - start,
        "step": end - first[0],
    }


def main() -> None:
    """Measure on one core, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.setup", description="CPU seconds before the first step."
    )
    parser.add_argument("--repeats", type=int, default=1, help="rounds, of which the best")
    options = parser.parse_args()
    pin()  # before anything numerical is imported
    for kind in dict(CASES):
        seconds(kind, 3)  # machine code is loaded
    print("| | | build [s] | compile [s] | checks and tables [s] | all [s] | ms each | step [s] |")
    print("| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, count in CASES:
        rounds = [seconds(kind, count) for _ in range(options.repeats)]
        best = min(rounds, key=lambda found: found["before"])
        columns = [best[name] for name in ("build", "compile", "tables", "before")]
        cells = " | ".join(f"{each:.2f}" for each in columns)
        each = 1e3 * best["before"] / count
        print(f"| {kind} | {count} | {cells} | {each:.2f} | {best['step']:.2f} |")


if __name__ == "__main__":
    main()
