"""What controllers cost, by `python -m benchmarks.controllers`.

Microseconds for a call of a sampled controller on a pendulum, by the kind of its law: the step with
it less the step without. The same for a step with a controller in continuous time, which is part of
the equations. And how much faster than real time an arm with six axes runs under a
Numba controller at 1 kHz. Processor times of the shortest of several runs.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

from benchmarks.environment import pin

#: Step and sampling time [s].
H = 1e-3
#: How much faster than real time the arm has to be.
BAR = 100.0


def laws() -> dict[str, Any]:
    """Return the same law in all ways of writing."""
    import numba

    def python(t: float, y: Any) -> float:
        return float(-2.0 * y[0] - 0.1 * y[1])

    return {
        "Python": python,
        "Numba": numba.njit(lambda t, y: -2.0 * y[0] - 0.1 * y[1]),
        "formula": "-2*hinge - 0.1*hinge_rate",
    }


def pendulum(law: Any = None, every: float | None = H) -> Any:
    """Return a pendulum, with a controller if there is a law; None: in continuous time."""
    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    if law is None:
        model.add_port("hinge motor", ps.JointPort("hinge", value=0.1))
    else:
        reads = ["hinge", "hinge.rate"]
        model.add_controller("law", law, reads=reads, drives=["hinge"], every=every)
    return model


def arm() -> Any:
    """Return an arm with six axes and a controller that follows a path of all of them."""
    import numba
    import numpy as np

    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81), name="arm")
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)]
    lengths, masses = [0.3, 0.4, 0.3, 0.15, 0.1, 0.05], [10.0, 8.0, 5.0, 2.0, 1.0, 0.5]
    before, height = model.ground, 0.0
    for k, (axis, length, mass) in enumerate(zip(axes, lengths, masses, strict=True)):
        middle = (0, 0, height + length / 2)
        link = model.add_body(
            f"link {k}", ps.Box(mass=mass, size=(0.1, 0.1, length)), position=middle
        )
        model.add_joint(f"axis {k}", ps.Revolute(before, link, point=(0, 0, height), axis=axis))
        before, height = link, height + length
    joints = [f"axis {k}" for k in range(6)]
    stiff = np.array([400.0, 600.0, 300.0, 30.0, 15.0, 1.0])

    @numba.njit
    def law(t: float, y: Any) -> Any:
        u = np.empty(6)
        for k in range(6):
            goal = 0.5 * np.sin((1.0 + 0.3 * k) * t)
            rate = 0.5 * (1.0 + 0.3 * k) * np.cos((1.0 + 0.3 * k) * t)
            u[k] = stiff[k] * (goal - y[k]) + 0.1 * stiff[k] * (rate - y[6 + k])
        return u

    reads = [*joints, *(f"{name}.rate" for name in joints)]
    model.add_controller("path", law, reads=reads, drives=joints, every=1e-3)
    return model


def seconds(model: Any, steps: int, repeats: int) -> float:
    """Return the least processor time of so many steps [s], without set-up."""
    import poinsot as ps

    def once(count: int) -> float:
        began = time.process_time()
        ps.simulate(
            model, h=H, t_end=count * H, save_every=steps, engine="compiled", progress=False
        )
        return time.process_time() - began

    return _least(lambda: once(steps), repeats) - _least(lambda: once(1), repeats)


def _least(measure: Callable[[], float], repeats: int) -> float:
    return min(measure() for _ in range(repeats))


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.controllers", description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000, help="steps of a run")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the shortest counts")
    options = parser.parse_args()
    pin()
    steps, repeats = options.steps, options.repeats
    alone = seconds(pendulum(), steps, repeats) / steps
    print(f"{'a step without a controller':32} {1e6 * alone:8.2f} us")
    for name, law in laws().items():
        for kind, every in (("a call", H), ("continuous", None)):
            more = seconds(pendulum(law, every), steps, repeats) / steps - alone
            print(f"{f'{kind}, {name}':32} {1e6 * more:8.2f} us")
    took = seconds(arm(), steps, repeats)
    factor = steps * H / took
    print(f"{'arm with six axes, 1 kHz':32} {1e6 * took / steps:8.2f} us a step")
    print(f"{'faster than real time':32} {factor:8.0f} times, bar {BAR:.0f}")


if __name__ == "__main__":
    main()
