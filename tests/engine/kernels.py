"""Kernels of the engine as tests call them, in plain Python."""

import numpy as np

from poinsot.engine.step import _fold, _unfold, evaluate
from poinsot.engine.tiles import clear, factorise, multiply_transposed, pack, solve
from poinsot.engine.tiles import solve_transposed as transposed


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


def solve_transposed(schedule, matrices, hardly, right):
    """Return the solution of the transposed matrix."""
    tiles, x = pack(matrices), np.pad(right, [(0, 0), (0, 1)])
    factorise(schedule, tiles, np.zeros_like(x), hardly)
    transposed(schedule, tiles, x)
    return x[:, :3]


def times_transposed(schedule, matrices, x):
    """Return the product of the transposed matrix and x (nodes, 3)."""
    found = np.zeros((len(x), 4))
    multiply_transposed(schedule, pack(matrices), np.pad(x, [(0, 0), (0, 1)]), found)
    return found[:, :3]
