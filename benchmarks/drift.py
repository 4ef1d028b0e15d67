"""Ten million steps of mechanisms that keep their energy: how far it is off, relative, at the end.

`python -m benchmarks.drift [STEPS]` prints a table. What rounding leaves is a random walk: with a
sign it would be a hundred times more.
"""

import sys
from collections.abc import Callable

import numpy as np

import poinsot as ps

STEPS = 10_000_000


def top() -> ps.Model:
    """Return a heavy top that spins at 100 rad/s about its axis, which leans by 0.3 rad."""
    model, axis = ps.Model(gravity=(0, 0, -9.81)), np.array([np.sin(0.3), 0, np.cos(0.3)])
    body = model.add_body(
        "top",
        ps.RigidBody(mass=1.0, inertia=(0.02, 0.02, 0.01)),
        position=0.3 * axis,
        rotation=ps.Rotation.from_axis_angle((0, 1, 0), 0.3),
        angular_velocity=100.0 * axis,
    )
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    return model


def double_pendulum() -> ps.Model:
    """Return two bars of 1 m, level at the start."""
    model, bar = ps.Model(gravity=(0, 0, -9.81)), ps.Box(mass=1.0, size=(1.0, 0.1, 0.1))
    upper = model.add_body("upper", bar, position=(0.5, 0, 0))
    lower = model.add_body("lower", bar, position=(1.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("B", ps.Revolute(upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    return model


#: Mechanism, step [s], and the energy that errors are relative to [J]: that of the motion.
CASES: tuple[tuple[Callable[[], ps.Model], float, float], ...] = (
    (top, 1e-3, 52.8),
    (double_pendulum, 1e-2, 39.2),
)


def main(steps: int = STEPS) -> None:
    """Print the relative error of the energy at the end, and its largest in all steps."""
    print(f"{steps:,} steps      h [s]    at the end    largest    us per step")
    for build, h, scale in CASES:
        result = ps.simulate(build(), h=h, t_end=steps * h, save_every=steps // 10)
        end, stats = (result.energy[-1] - result.energy[0]) / scale, result.stats
        worst, each = stats.balance_error_max / scale, 1e6 * stats.wall_time / steps
        name = build.__name__.replace("_", " ")
        print(f"{name:<18} {h:6g} {end:13.1e} {worst:10.1e} {each:10.2f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
