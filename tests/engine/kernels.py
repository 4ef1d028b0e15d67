"""Kernels of the engine as tests call them, in plain Python."""

from poinsot.engine.step import _copy, _fold, _unfold, evaluate
from poinsot.engine.tiles import factorise, solve


def residual(machine, *given, work):
    """Return the residual; shape (nodes, 3)."""
    evaluate(machine, *given, work, None)
    return work.x.copy()


def newton(machine, *given, work):
    """Return the tiles before elimination, and the correction of Newton's method."""
    _copy(machine.template, work.tiles)
    evaluate(machine, *given, work, work.tiles)
    tiles = work.tiles.copy()
    _fold(machine, machine.stabilised, work.x)
    factorise(machine.schedule, work.tiles, work.x, machine.redundant)
    solve(machine.schedule, work.tiles, work.x)
    _unfold(machine, machine.stabilised, work.x)
    return tiles, work.x.copy()


def solve_tiles(schedule, tiles, hardly, x):
    """Replace tiles by their factors and x (nodes, 3) by the solution."""
    factorise(schedule, tiles, x, hardly)
    solve(schedule, tiles, x)
