"""The reference engine: one step after the other, each with its balance."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from poinsot.engine.memory import arrays
from poinsot.errors import StructureError
from poinsot.ph.matrices import Vector
from poinsot.ph.newton import Solution
from poinsot.ph.runner import Block, Clock, Memory, Totals, counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, Stage
from poinsot.ph.system import PHSystem
from poinsot.result.history import Saved
from poinsot.run.contract import check_contract
from poinsot.run.engine import PAUSE, Engine
from poinsot.schemes.step import take_step
from poinsot.systems.controlling import Sampled

#: One step, by the names of `Saved`; u and y are lists, one array for each port.
Row: TypeAlias = Mapping[str, Any]


@dataclass
class _Sums:
    """What a block adds up to."""

    iterations: int = 0
    residual: float = 0.0
    balance_error: float = 0.0
    dissipation: float = 0.0


class ReferenceEngine(Engine):
    """Takes steps of any system with any scheme, by NumPy and SciPy."""

    name = "reference"

    def __init__(
        self, system: PHSystem, scheme: Scheme, x: Vector, options: Newton, sampled: Sampled
    ) -> None:
        self.system, self.scheme, self.options, self.sampled = system, scheme, options, sampled
        self.state = x
        self._stopped: BaseException | None = None

    @property
    def x(self) -> Vector:
        """The state."""
        return self.state

    def advance(
        self, clock: Clock, first: int, steps: int, save_every: int, totals: Totals
    ) -> Block:
        """Take steps, for a tenth of a second at most."""
        self._raise()
        began, whole, sums = time.perf_counter(), len(clock.fractions), _Sums()
        saved: list[Row] = []
        last: Row | None = None
        n = first
        while n < first + steps:
            try:
                row = self._step(clock, n, totals, sums)
                n += 1
                reached = row["time"]
                if (n - clock.before) % whole == 0:
                    last = row
                    if n % save_every == 0 or n == clock.steps:
                        saved.append(row)
                        last = None
                        if not self.system.proven:
                            check_contract(self.system, self.state, f"t = {reached:g} s")
            except BaseException as error:
                if n == first:
                    raise
                self._stopped = error
                break
            if time.perf_counter() - began > PAUSE:
                break
        return Block(
            steps=n - first,
            reached=reached,
            newton_iterations=sums.iterations,
            residual_max=sums.residual,
            balance_error_max=sums.balance_error,
            dissipation_min=sums.dissipation,
            seconds=time.perf_counter() - began,
            saved=self._saved(saved),
            pending=None if last is None else self._saved([last]),
        )

    def _raise(self) -> None:
        """Raise what ended the last block, once."""
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            raise stopped

    def _step(self, clock: Clock, n: int, totals: Totals, sums: _Sums) -> Row:
        """Take step n."""
        t0, t1 = clock.at(n), clock.at(n + 1)
        self.sampled.sample(n, t0, self.state, totals.turn)
        solution, stage = take_step(
            self.system.near(totals.turn),
            self.scheme,
            (t0 + t1) / 2,
            self.state,
            t1 - t0,
            self.options,
        )
        row = self._account((t0 + t1) / 2, t1, t1 - t0, solution, stage, totals, sums)
        self.state = solution.x
        return row

    def _account(
        self,
        t_mid: float,
        t1: float,
        h: float,
        solution: Solution,
        stage: Stage,
        totals: Totals,
        sums: _Sums,
    ) -> Row:
        """Add one step to the balances."""
        system = self.system
        dissipation = stage.lost
        if dissipation is None:
            dissipation = float(stage.z @ system.resistive(stage.x, stage.z))
        if dissipation < 0:
            effort = system.resistive(stage.x, stage.z)
            if dissipation < -1e-10 * np.linalg.norm(stage.z) * np.linalg.norm(effort):
                raise StructureError(
                    f"the dissipation creates energy at t = {t_mid:g} s: its power is "
                    f"{dissipation:.3g} W; R must be positive semi-definite and z·r(x, z) >= 0"
                )
        inner = stage.connected
        if inner is None:
            inner = system.connected_values(stage.x, stage.z, stage.u)
        values = [(stage.u[piece], stage.y[piece]) for piece in system.port_slices.values()]
        values += inner
        lost = totals.lost + h * dissipation
        supplied = totals.supplied + [h * float(u @ y) for u, y in values]
        turned = counted(system.angles(solution.x), totals.turn)
        energy = system.near(turned).H(solution.x)
        outer = float(supplied[: len(system.ports)].sum())
        error = energy - totals.energy0 - outer + lost
        totals.lost, totals.supplied, totals.turn = lost, supplied, turned
        sums.iterations += solution.iterations
        sums.residual = max(sums.residual, solution.residual)
        sums.balance_error = max(sums.balance_error, abs(error))
        sums.dissipation = min(sums.dissipation, dissipation)
        return {
            "time": t1,
            "x": solution.x,
            "energy": energy,
            "dissipated": lost,
            "balance_error": error,
            "port_energy": supplied,
            "turned": turned,
            "stage_time": t_mid,
            "stage_x": stage.x,
            "u": [u for u, _ in values],
            "y": [y for _, y in values],
            "iterations": solution.iterations,
        }

    def _saved(self, rows: Sequence[Row]) -> Saved:
        """Return steps as the recorder knows them."""
        system, k = self.system, len(rows)
        ports = [port.size for port in (*system.ports, *system.connected)]
        sizes = {"x": system.n, "stage_x": system.n, "port_energy": len(ports)}
        sizes["turned"] = len(system.angle_names)
        columns: dict[str, Any] = {}
        for name in (f.name for f in fields(Saved)):
            values = [row[name] for row in rows]
            if name in ("u", "y"):
                columns[name] = [
                    np.array([value[p] for value in values]).reshape(k, size)
                    for p, size in enumerate(ports)
                ]
            else:
                kind = np.intp if name == "iterations" else np.float64
                shape = (k, sizes[name]) if name in sizes else (k,)
                columns[name] = np.array(values, dtype=kind).reshape(shape)
        return Saved(**columns)

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state; angles are in the totals."""
        self.state = x

    # -- memory -------------------------------------------------------------------------------

    def memory(self) -> Memory:
        """Return the state, and what controllers hold."""
        held = {f"held {k}": array.copy() for k, array in enumerate(arrays(self.sampled.table))}
        return {"x": self.state.copy(), **held}

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        self.state, self._stopped = memory["x"].copy(), None
        for k, array in enumerate(arrays(self.sampled.table)):
            array[...] = memory[f"held {k}"]
