"""CPU time of linear analysis, on one core: `python -m benchmarks.analysis`."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.environment import pin

#: Bodies of the long chain, and how many of its modes are found.
CHAIN, MODES = 1000, 20


def measure(repeats: int = 15) -> dict[str, float]:
    """Return seconds of each task, the median of some tries; compiling is not part of any."""
    import numpy as np

    import poinsot as ps
    from poinsot.gallery.spatial_slider_crank import model

    crank = model().compile()
    linear = ps.analysis.linearise(crank)
    chain = _chain(ps).compile()
    long = ps.analysis.linearise(chain)
    omega = np.geomspace(0.1, 9, 10)  # none of them an eigenfrequency
    return {
        "slider-crank: linearise": _seconds(lambda: ps.analysis.linearise(crank), repeats),
        "slider-crank: all modes": _seconds(lambda: ps.analysis.modes(linear), repeats),
        f"chain of {CHAIN}: linearise": _seconds(lambda: ps.analysis.linearise(chain), 3),
        f"chain of {CHAIN}: {MODES} modes": _seconds(lambda: ps.analysis.modes(long, MODES), 3),
        f"chain of {CHAIN}: response at a frequency": _seconds(
            lambda: ps.analysis.frequency_response(long, omega), 3
        )
        / omega.size,
    }


def _chain(ps: Any) -> Any:
    """Return masses on a rail with springs between neighbours."""
    model, last = ps.Model(), None
    for k in range(CHAIN):
        here = (k + 1.0, 0, 0)
        body = model.add_body(f"b{k}", ps.Box(mass=1.0, size=(0.1, 0.1, 0.1)), position=here)
        model.add_joint(f"j{k}", ps.Prismatic(model.ground, body, point=here, axis=(1, 0, 0)))
        ends = {"point_a": (float(k), 0, 0), "point_b": here}
        model.add_force(f"s{k}", ps.Spring(last or model.ground, body, stiffness=100.0, **ends))
        last = body
    model.add_port("push", ps.JointPort("j0"))
    return model


def _seconds(task: Callable[[], object], repeats: int) -> float:
    task()
    tries = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        tries.append(time.process_time() - start)
    return median(tries)


if __name__ == "__main__":
    pin()  # before anything numerical is imported
    for name, seconds in measure().items():
        print(f"{name:<45} {1e3 * seconds:10.2f} ms")
