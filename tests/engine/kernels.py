"""Kernels of the engine as tests call them: one step of Newton's method, one sparse solution."""

import inspect

from poinsot.engine.kernel import entry
from poinsot.engine.step import _copy, _fold, _unfold, evaluate
from poinsot.engine.tiles import factorise, solve


def kept(function):
    """Compile, and keep the machine code on disk until the engine or this function changes."""
    compiled = entry(function)
    file = compiled._cache._cache_file
    file._source_stamp = (file._source_stamp, inspect.getsource(function))
    return compiled


@kept
def newton(machine, t, h, u, y, state, stage, multiplier, work, residual, tiles):
    """Set the residual (nodes, 3), the tiles before elimination, and the correction in work.x."""
    _copy(machine.template, work.tiles)
    evaluate(machine, t, h, u, y, state, stage, multiplier, work, work.tiles)
    residual[:] = work.x
    tiles[:] = work.tiles
    _fold(machine, machine.twice, work.x)
    factorise(machine.schedule, work.tiles, work.x, machine.redundant)
    solve(machine.schedule, work.tiles, work.x)
    _unfold(machine, machine.twice, work.x)


@kept
def solve_tiles(schedule, tiles, hardly, x):
    """Replace tiles by their factors and x (nodes, 3) by the solution."""
    factorise(schedule, tiles, x, hardly)
    solve(schedule, tiles, x)
