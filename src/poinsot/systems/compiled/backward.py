"""Takes runs in directors backwards in machine code: gradients by states, and by tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import machine_code
from poinsot.engine.backward import Sweep
from poinsot.engine.families import Tables as PartTables
from poinsot.engine.tiles import aligned
from poinsot.kernels import tables
from poinsot.parts.family import real
from poinsot.ph.matrices import Vector
from poinsot.systems.compiled.machine import Parts
from poinsot.systems.compiled.runner import DirectorRunner
from poinsot.systems.directors import DirectorForm

Array = NDArray[np.float64]


def not_backwards(runner: DirectorRunner) -> str:
    """Return what machine code does not take backwards, nothing if it can."""
    if runner.system.stabilised:
        return "the stabilised form"
    lacking = [f for f in runner.parts.families if len(f) and f.kernels.backward is None]
    if lacking:
        return ", ".join(type(family).__name__ for family in lacking)
    if runner.work.refinement.matrix.size:
        return "bodies that are much heavier than others in a loop"
    return ""


class DirectorSweep:
    """Goes through steps of a run backwards, some at a time, the last ones first.

    Parameters
    ----------
    runner : DirectorRunner
        What has taken them.
    """

    def __init__(self, runner: DirectorRunner) -> None:
        self.runner, self.plan = runner, runner.tables()
        self.machine, self.work = runner._make_thorough()
        nodes, moving = self.plan.graph.nodes + 1, runner.bodies + 1
        self.stage, self.mu = runner.carried.stage.copy(), aligned(nodes, 4)
        self.by_bodies = np.zeros_like(self.machine.bodies.numbers)
        self.by_parts = _emptied(self.machine.parts)
        self.room: dict[str, Array] = {
            "state": runner._rest(),
            "multiplier": np.zeros((nodes, 3)),
            "gap": np.zeros((nodes, 3)),
            "frames": np.zeros((moving, tables.VELOCITY)),
            "spare": aligned(nodes, 4),
        }

    def back(self, times: Vector, u: Array, x: Array, seeds: Array, lam: Vector) -> int:
        """Make lam, the gradient by the last of states x, that by the first; return steps done.

        Derivatives of the loss by states, `seeds`, are added at all but the first. What it is by
        the numbers of tables is kept.
        """
        asked = Sweep(
            machine=self.machine,
            by_bodies=self.by_bodies,
            by_parts=self.by_parts,
            places=self.plan.places,
            times=times,
            u=u,
            y=np.zeros_like(u),
            x=x,
            seeds=seeds,
            lam=lam,
            stage=self.stage,
            mu=self.mu,
            work=self.work,
            **self.room,
        )
        return machine_code.function("backward")(asked)[0]

    def slope(self, system: DirectorForm) -> float:
        """Return the gradient by tables times those of a system of the same structure."""
        mechanism, plan = system.mechanism, self.plan
        total = float(np.sum(self.by_bodies * real(2 * mechanism.inertia, mechanism.weight)))
        families = Parts.of(mechanism, system.layout).families
        for family, own, by in zip(families, self.machine.parts, self.by_parts, strict=True):
            if len(family):
                table = family.table(plan.graph, plan.tiles)
                for slopes, numbers in zip(_numbers(by), _numbers(table), strict=True):
                    total += float(np.sum(slopes * numbers))
        return total


def _emptied(parts: PartTables) -> PartTables:
    """Return tables of the same shapes with zeros for numbers."""
    return type(parts)(*map(_zeros, parts))


def _zeros(table: Any) -> Any:
    if isinstance(table, tuple):
        return type(table)(*map(_zeros, table))
    return np.zeros_like(table) if table.dtype == np.float64 else table


def _numbers(table: Any) -> Iterator[Array]:
    if isinstance(table, tuple):
        for each in table:
            yield from _numbers(each)
    elif table.dtype == np.float64:
        yield table
