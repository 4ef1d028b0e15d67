"""Kernels of the engine as tests call them, in plain Python."""

import numpy as np

from poinsot.engine.step import _fold, _unfold, evaluate
from poinsot.engine.tiles import clear, factorise, pack, solve


def residual(machine, step, tiles):
    """Return the residual; shape (nodes, 3)."""
    evaluate(machine, step, None)
    return step.x[:, :3].copy()


def newton(machine, step, tiles):
    """Return the matrices of tiles before elimination, and the correction of Newton's method."""
    clear(machine.template, tiles)
    evaluate(machine, step, tiles)
    before = tiles.reshape(-1, 3, 4)[:, :, :3].swapaxes(1, 2).copy()
    _fold(machine, machine.stabilised, step.x)
    factorise(machine.schedule, tiles, step.x, machine.hardly)
    solve(machine.schedule, tiles, step.x)
    _unfold(machine, machine.stabilised, step.x)
    return before, step.x[:, :3].copy()


def solve_tiles(schedule, matrices, hardly, right):
    """Return the solution (nodes, 3), from tiles as matrices (tiles, 3, 3) and the right side."""
    tiles, x = pack(matrices), np.pad(right, [(0, 0), (0, 1)])
    factorise(schedule, tiles, x, hardly)
    solve(schedule, tiles, x)
    return x[:, :3]
