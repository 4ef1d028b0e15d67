"""Where the time of a step goes: `python -m benchmarks.anatomy` prints a table.

Parts of a step of the spherical chain are timed in a compiled loop of their own. Their arithmetic
is counted by running the same kernels as plain Python (NUMBA_DISABLE_JIT) on numbers that count,
and compared with what one core does in a loop of independent fused products, one number at a time.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

from poinsot.engine import motion, step, tiles
from poinsot.engine.kernel import kernel

BARS, H = 64, 1e-3
PARTS = ("residual", "residual and tiles", "factorise", "solve", "move on")
RESIDUAL, TILES, FACTORS, SOLUTION, MOTION = range(len(PARTS))


def machine() -> Any:
    """Return the chain in the compiled engine, a few steps after its start."""
    import numpy as np

    import poinsot as ps
    from benchmarks.mechanisms.chain import chain
    from benchmarks.peers.poinsot import build
    from poinsot.mechanics.compiled.runner import DirectorRunner

    system = build(chain(BARS)).compile()
    runner = DirectorRunner(system, system.start, H, ps.Newton())
    runner.carried.multiplier[:] = np.random.default_rng(0).standard_normal(runner.work.x.shape)
    return runner


@kernel
def call(part: int, times: int, M: Any, run: Any, work: Any, state: Any, ahead: Any) -> None:
    """Run one part of a step so many times."""
    none = work.x[0, :0]
    for _ in range(times):
        if part == RESIDUAL:
            step.evaluate(M, 0.0, H, none, none, state, run.stage, run.multiplier, work, None)
        elif part == TILES:
            step._copy(M.template, work.tiles)
            tiles_ = work.tiles
            step.evaluate(M, 0.0, H, none, none, state, run.stage, run.multiplier, work, tiles_)
        elif part == FACTORS:
            step._copy(M.template, work.tiles)
            tiles.factorise(M.schedule, work.tiles, False)
        elif part == SOLUTION:
            step._fold(M, None, work.x)
            tiles.solve(M.schedule, work.tiles, work.x)
            step._unfold(M, None, work.x)
        else:
            motion.move(M.bodies, None, H, state, run.stage, ahead)
            motion.extrapolate(run.past, run.stage, 0, (15, 21), 2)
            motion.extrapolate(
                run.past_multiplier, run.multiplier, 2 * M.bodies.numbers.shape[0], (0, 3), 2
            )


class Counted(float):
    """A number that counts the sums and products it is part of."""

    done = 0


def _count(name: str) -> Any:
    plain = getattr(float, name)

    def operate(self: float, other: float) -> Any:
        Counted.done += 1
        return Counted(plain(self, float(other)))

    return operate


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(Counted, f"__{_name}__", _count(f"__{_name}__"))


def count() -> dict[str, float]:
    """Return the sums and products of each part, per body."""
    import numpy as np

    runner = machine()

    def counted(value: Any) -> Any:
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(counted(item) for item in value))
        if isinstance(value, np.ndarray) and value.dtype == float:
            return np.vectorize(Counted, otypes=[object])(value) if value.size else value
        return value

    for name in ("machine", "carried", "work", "state", "ahead"):
        setattr(runner, name, counted(getattr(runner, name)))
    found = {}
    for part, name in enumerate(PARTS):
        _invert_nothing(runner)
        Counted.done = 0
        call(part, 1, *_arguments(runner))
        found[name] = Counted.done / BARS
    return found


def _arguments(runner: Any) -> tuple[Any, ...]:
    return runner.machine, runner.carried, runner.work, runner.state, runner.ahead


def _invert_nothing(runner: Any) -> None:
    """Make the template regular, so that factorising it alone never divides by zero."""
    template, pivots = runner.machine.template, runner.machine.schedule.pivots[:-1, 0]
    template[pivots] = template[pivots] * 0.0
    for k in (0, 4, 8):
        template[pivots, k] = template[pivots, k] + 1.0


def seconds(part: int, runner: Any) -> float:
    """Return the time of one part of a step, per body [s]."""
    times, best = 200, float("inf")
    for _ in range(7):
        runner.work.x[:] = 0.0
        started = time.perf_counter()
        call(part, times, *_arguments(runner))
        best = min(best, time.perf_counter() - started)
    return best / times / BARS


def peak() -> float:
    """Return sums and products a second of independent fused products, one number at a time."""
    import numba

    @numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]
    def loop(n: int, x: float) -> float:
        a = b = c = d = e = f = g = k = 0.1
        for _ in range(n):
            a, b, c, d = a * x + 0.5, b * x + 0.5, c * x + 0.5, d * x + 0.5
            e, f, g, k = e * x + 0.5, f * x + 0.5, g * x + 0.5, k * x + 0.5
        return a + b + c + d + e + f + g + k

    loop(10, 0.5)
    best = 0.0
    for _ in range(5):
        started = time.perf_counter()
        loop(10_000_000, 0.5)
        best = max(best, 16e7 / (time.perf_counter() - started))
    return best


def main() -> None:
    """Print the table."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "benchmarks.anatomy", "--count"]
    counts = json.loads(subprocess.check_output(command, env=environment, text=True))
    runner, top = machine(), peak()
    _invert_nothing(runner)
    for part in range(len(PARTS)):
        call(part, 1, *_arguments(runner))
    print("| part | sums and products a body | ns a body | of the core's rate |")
    print("| :--- | ---: | ---: | ---: |")
    for part, name in enumerate(PARTS):
        t = seconds(part, runner)
        print(f"| {name} | {counts[name]:.0f} | {1e9 * t:.0f} | {counts[name] / t / top:.0%} |")
    print(f"\nOne core: {top / 1e9:.1f}e9 sums and products a second, one number at a time.")


if __name__ == "__main__":
    if "--count" in sys.argv:
        print(json.dumps(count()))
    else:
        from benchmarks.environment import pin

        pin()
        main()
