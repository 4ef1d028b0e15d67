"""Ten million steps of mechanisms that keep their energy: how far it is off, relative, at the end.

`python -m benchmarks.drift [STEPS]` prints a table, with the resident memory after a fifth of the
run, and by how much it has grown from there to the middle and to the end. What rounding leaves is a
random walk: with a sign it would be a hundred times more.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

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


#: Mechanism, step [s], and the energy that errors are relative to [J]: the kinetic energy of the
#: top at the start, and the largest that the bars can have, where both hang down.
CASES: tuple[tuple[Callable[[], ps.Model], float, float], ...] = (
    (top, 1e-3, 52.8),
    (double_pendulum, 1e-2, 19.62),
)


def main(steps: int = STEPS) -> None:
    """Print the relative error of the energy at the end, its largest in all steps, and memory."""
    print(f"{steps:,} steps      h [s]    at the end    largest    us per step    memory [MiB]")
    for build, h, scale in CASES:
        result, memory = run(build(), h, steps)
        end, stats = (result.energy[-1] - result.energy[0]) / scale, result.stats
        worst, each = stats.balance_error_max / scale, 1e6 * stats.wall_time / steps
        name, (first, *later) = build.__name__.replace("_", " "), memory
        grown = ", ".join(f"{size - first:+.1f}" for size in later)
        print(
            f"{name:<18} {h:6g} {end:13.1e} {worst:10.1e} {each:14.2f}    {first:.0f}, {grown}",
            flush=True,
        )


def run(model: ps.Model, h: float, steps: int) -> tuple[ps.Result, list[float]]:
    """Simulate; return the result, and the resident memory [MiB] in parts of the run.

    A file keeps the run, which goes on from part to part.
    """
    memory, every = [], steps // 10
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        ps.simulate(model, h=h, t_end=h * every, save_every=every, output=path)
        for part in (0.2, 0.5, 1.0):
            result = ps.resume(path, t_end=h * steps * part)
            memory.append(resident())
    return result, memory


def resident() -> float:
    """Return the resident memory of this process [MiB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
