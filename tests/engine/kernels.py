"""Kernels of the engine as tests call them, in plain Python."""

from poinsot.engine.step import _copy, _fold, _unfold, evaluate
from poinsot.engine.tiles import factorise, solve


def residual(machine, step, tiles):
    """Return the residual; shape (nodes, 3)."""
    evaluate(machine, step, None)
    return step.x.copy()


def newton(machine, step, tiles):
    """Return the tiles before elimination, and the correction of Newton's method."""
    _copy(machine.template, tiles)
    evaluate(machine, step, tiles)
    before = tiles.copy()
    _fold(machine, machine.stabilised, step.x)
    factorise(machine.schedule, tiles, step.x, machine.redundant)
    solve(machine.schedule, tiles, step.x)
    _unfold(machine, machine.stabilised, step.x)
    return before, step.x.copy()


def solve_tiles(schedule, tiles, hardly, x):
    """Replace tiles by their factors and x (nodes, 3) by the solution."""
    factorise(schedule, tiles, x, hardly)
    solve(schedule, tiles, x)
