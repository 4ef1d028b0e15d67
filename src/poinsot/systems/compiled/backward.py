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

    @property
    def slopes(self) -> Vector:
        """The gradient by all numbers of tables; (numbers,)."""
        return _flat([self.by_bodies, *_arrays(self.by_parts)])

    def numbers(self, system: DirectorForm) -> Vector | None:
        """Return all numbers of tables of another system, unless its structure is another."""
        mechanism, plan = system.mechanism, self.plan
        found, own = [real(2 * mechanism.inertia, mechanism.weight)], [self.by_bodies]
        families = Parts.of(mechanism, system.layout).families
        for family, table in zip(families, self.machine.parts, strict=True):
            found += _arrays(family.table(plan.graph, plan.tiles) if len(family) else table)
            own += _arrays(table)
        alike = all(
            a.shape == b.shape and (a.dtype.kind == "f" or np.array_equal(a, b))
            for a, b in zip(found, own, strict=True)
        )
        return _flat(found) if alike else None


def _emptied(parts: PartTables) -> PartTables:
    """Return tables of the same shapes with zeros for numbers."""
    return type(parts)(*map(_zeros, parts))


def _zeros(table: Any) -> Any:
    if isinstance(table, tuple):
        return type(table)(*map(_zeros, table))
    return np.zeros_like(table) if table.dtype == np.float64 else table


def _arrays(table: Any) -> Iterator[NDArray[Any]]:
    if isinstance(table, tuple):
        for each in table:
            yield from _arrays(each)
    else:
        yield table


def _flat(found: list[NDArray[Any]]) -> Vector:
    """Return all floating-point numbers of arrays."""
    return np.concatenate([each.reshape(-1) for each in found if each.dtype.kind == "f"])
