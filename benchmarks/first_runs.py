"""The first run of ten kinds of mechanisms: `python -m benchmarks.first_runs` prints a table.

Each runs 100 steps in a process of its own, with empty caches; CPU time counts from before `import
poinsot` to the end of the run.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

STEPS, H = 100, 1e-3


def _bar(ps: Any, model: Any, name: str, x: float, **motion: Any) -> Any:
    shape = ps.Box(mass=1, size=(1, 0.1, 0.1))
    return model.add_body(name, shape, position=(x, 0, 0), **motion)


def _chain(ps: Any, joint: Callable[..., Any], bars: int = 3) -> Any:
    model, last = ps.Model(gravity=(0, 0, -9.81)), None
    for k in range(bars):
        bar = _bar(ps, model, f"bar{k}", k + 0.5)
        model.add_joint(f"joint{k}", joint(last or model.ground, bar, (k, 0, 0)))
        last = bar
    return model


def _balls(ps: Any) -> tuple[Any, dict[str, Any]]:
    return _chain(ps, lambda a, b, point: ps.Spherical(a, b, point=point)), {}


def _hinges(ps: Any) -> tuple[Any, dict[str, Any]]:
    return _chain(ps, lambda a, b, point: ps.Revolute(a, b, point=point, axis=(0, 1, 0))), {}


def _stabilised(ps: Any) -> tuple[Any, dict[str, Any]]:
    return _hinges(ps)[0], {"scheme": "ph-mp-ggl"}


def _quaternions(ps: Any) -> tuple[Any, dict[str, Any]]:
    return _hinges(ps)[0], {"coordinates": "quaternions"}


def _rotations(ps: Any) -> tuple[Any, dict[str, Any]]:
    return _balls(ps)[0], {"coordinates": "rotations"}


def _springs(ps: Any) -> tuple[Any, dict[str, Any]]:
    model, _ = _hinges(ps)
    ends = {"point_a": (0, 0, 1), "point_b": (2, 0, 0)}
    spring = ps.Spring(model.ground, model.bodies["bar1"], stiffness=100, damping=1, **ends)
    model.add_force("spring", spring)
    model.add_force("friction", ps.JointFriction("joint0", coulomb=0.1))
    return model, {}


def _motors(ps: Any) -> tuple[Any, dict[str, Any]]:
    model, _ = _hinges(ps)
    model.add_port("motor", ps.JointPort("joint0", value=2.0))
    model.add_port("push", ps.ForcePort(model.bodies["bar2"], value=(0, 0, 1)))
    return model, {}


def _laws(ps: Any) -> tuple[Any, dict[str, Any]]:
    model, _ = _hinges(ps)
    model.add_port("motor", ps.JointPort("joint0", law=lambda t, angle, rate: -5 * angle - rate))
    return model, {}


def _loop(ps: Any) -> tuple[Any, dict[str, Any]]:
    """A planar four-bar in space: redundant constraints."""
    model = ps.Model(gravity=(0, 0, -9.81))
    corners, last = [(0, 0, 0), (0, 0, 1), (2, 0, 1.5), (2, 0, 0)], model.ground
    for k in range(3):
        (x, _, z), (u, _, w) = corners[k], corners[k + 1]
        middle, length = ((x + u) / 2, 0, (z + w) / 2), ((u - x) ** 2 + (w - z) ** 2) ** 0.5
        bar = model.add_body(f"bar{k}", ps.Box(mass=1, size=(length, 0.1, 0.1)), position=middle)
        hinge = ps.Revolute(last, bar, point=corners[k], axis=(0, 1, 0))
        model.add_joint(f"hinge{k}", hinge)
        last = bar
    closing = ps.Revolute(last, model.ground, point=corners[3], axis=(0, 1, 0))
    model.add_joint("closing", closing)
    return model, {}


def _wheel(ps: Any) -> tuple[Any, dict[str, Any]]:
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.Cylinder(mass=1, radius=0.5, length=0.1)
    turned = ps.Rotation.from_axis_angle((1, 0, 0), -1.5)
    height = 0.5 * abs(float(turned.matrix[1, 2]))
    coin = model.add_body("coin", shape, position=(0, 0, height), rotation=turned)
    axis = turned.matrix[:, 2]
    model.add_joint("contact", ps.RollingDisc(model.ground, coin, radius=0.5, axis=axis))
    return model, {}


KINDS = {
    "ball joints": _balls,
    "hinges": _hinges,
    "hinges, stabilised": _stabilised,
    "hinges, quaternions": _quaternions,
    "ball joints, body axes": _rotations,
    "springs and friction": _springs,
    "motors and loads": _motors,
    "laws in Python": _laws,
    "redundant constraints": _loop,
    "rolling": _wheel,
}


def first_run(kind: str) -> float:
    """Return the CPU time of importing the package and of a run [s]."""
    started = time.process_time()
    import poinsot as ps

    model, options = KINDS[kind](ps)
    result = ps.simulate(model, h=H, t_end=STEPS * H, **options)
    assert result.engine == "compiled"
    return time.process_time() - started


def measure(repeats: int = 3) -> dict[str, float]:
    """Return the CPU time of every kind, in fresh processes with empty caches [s]."""
    return {kind: median(_fresh(kind) for _ in range(repeats)) for kind in KINDS}


def _fresh(kind: str) -> float:
    with TemporaryDirectory() as empty:
        places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), empty)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.first_runs", kind],
            env={**os.environ, **places},
            check=True,
            capture_output=True,
            text=True,
        )
    return float(done.stdout)


def main() -> None:
    """Print the CPU times, or that of one kind."""
    if len(sys.argv) > 1:
        print(first_run(sys.argv[1]))
        return
    for kind, seconds in measure().items():
        print(f"{kind:24s}{seconds:8.2f} s")


if __name__ == "__main__":
    main()
