"""The reference engine: one step after the other, each with its balance."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from poinsot.engine.memory import arrays
from poinsot.errors import LargeStepError, StructureError
from poinsot.ph.matrices import Vector
from poinsot.ph.newton import NewtonFailure, Solution
from poinsot.ph.runner import Block, Clock, Memory, Totals, counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, Stage
from poinsot.ph.system import PHSystem
from poinsot.result.history import Saved
from poinsot.run.contract import check_contract
from poinsot.run.engine import PAUSE, Engine
from poinsot.run.halving import Halving
from poinsot.schemes.step import take_step
from poinsot.systems.controlling import Sampled

#: One step, by the names of `Saved`; u and y are lists, one array for each port.
Row: TypeAlias = dict[str, Any]


@dataclass
class _Sums:
    """What a block adds up to."""

    iterations: int = 0
    residual: float = 0.0
    balance_error: float = 0.0
    dissipation: float = 0.0
    split: int = 0
    pieces: int = 0
    smallest: float = np.inf


@dataclass
class _Reached:
    """How far a run has come: the state, its sums and those of the block, and the last step."""

    x: Vector
    totals: Totals
    sums: _Sums
    row: Row

    def copy(self) -> "_Reached":
        """Return another one, from which to go on."""
        return _Reached(self.x, self.totals.copy(), replace(self.sums), self.row)


class ReferenceEngine(Engine):
    """Takes steps of any system with any scheme, by NumPy and SciPy; in pieces where need be."""

    name = "reference"

    def __init__(
        self, system: PHSystem, scheme: Scheme, x: Vector, options: Newton, sampled: Sampled
    ) -> None:
        self.system, self.scheme, self.options, self.sampled = system, scheme, options, sampled
        self.state, self.halving = x, Halving(options.halvings)
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
        began, whole = time.perf_counter(), len(clock.fractions)
        here = _Reached(self.state, totals.copy(), _Sums(), {})
        saved: list[Row] = []
        last: Row | None = None
        n = first
        while n < first + steps:
            try:
                here = self._step(clock, n, here)
                self.state, n = here.x, n + 1
                if (n - clock.before) % whole == 0:
                    last = here.row
                    if n % save_every == 0 or n == clock.steps:
                        saved.append(here.row)
                        last = None
                        if not self.system.proven:
                            check_contract(self.system, self.state, f"t = {here.row['time']:g} s")
            except BaseException as error:
                if n == first:
                    raise
                self._stopped = error
                break
            if time.perf_counter() - began > PAUSE:
                break
        sums = here.sums
        totals.lost, totals.supplied, totals.turn = (
            getattr(here.totals, name) for name in ("lost", "supplied", "turn")
        )
        return Block(
            steps=n - first,
            reached=here.row["time"],
            newton_iterations=sums.iterations,
            residual_max=sums.residual,
            balance_error_max=sums.balance_error,
            dissipation_min=sums.dissipation,
            seconds=time.perf_counter() - began,
            saved=self._saved(saved),
            pending=None if last is None else self._saved([last]),
            split_steps=sums.split,
            pieces=sums.pieces,
            smallest=sums.smallest,
        )

    def _raise(self) -> None:
        """Raise what ended the last block, once."""
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            raise stopped

    def _step(self, clock: Clock, n: int, here: _Reached) -> _Reached:
        """Return where step n leads, taken whole or in pieces; where it fails, nothing changes."""
        before = self.halving.memory()
        t0, t1 = clock.at(n), clock.at(n + 1)
        self.sampled.sample(n, t0, here.x, here.totals.turn)
        try:
            return self._in_pieces(clock, n, (t0, t1), here)
        except BaseException:
            self.halving.restore(before)
            raise

    def _in_pieces(
        self, clock: Clock, n: int, span: tuple[float, float], here: _Reached
    ) -> _Reached:
        halving, (t0, t1), place = self.halving, span, 0
        alone = (n + 1 - clock.before) % len(clock.fractions) == 0
        iterations, failure = here.sums.iterations, None
        while place < halving.whole:
            places = halving.next(place)
            there, times = here.copy(), [t0 + (t1 - t0) * k / halving.whole for k in places]
            times[-1] = t1 if places[-1] == halving.whole else times[-1]
            try:
                for piece in pairwise(times):
                    if piece[0] != t0:
                        self.sampled.follow(n, piece[0], there.x, there.totals.turn)
                    self._take(*piece, there)
            except (NewtonFailure, LargeStepError) as error:
                failure = failure or error
                if isinstance(error, NewtonFailure) and not error.by_size:
                    raise
                if not halving.failed():
                    raise halving.given_up(failure) from None
                continue
            if len(places) > 2:
                there.sums.smallest = min(there.sums.smallest, abs(times[1] - times[0]))
                there.sums.split += place == 0
                there.sums.pieces += 2
            here, place = there, places[-1]
            halving.reached(place, alone=alone)
        here.row["iterations"] = here.sums.iterations - iterations
        return here

    def _take(self, t0: float, t1: float, here: _Reached) -> None:
        """Go on from t0 to t1 by one step of the scheme."""
        middle, h = (t0 + t1) / 2, t1 - t0
        solution, stage = take_step(
            self.system.near(here.totals.turn), self.scheme, middle, here.x, h, self.options
        )
        here.row = self._account(middle, t1, h, solution, stage, here.totals, here.sums)
        here.x = solution.x

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
        """Return the state, what controllers hold, and the size of pieces."""
        held = {f"held {k}": array.copy() for k, array in enumerate(arrays(self.sampled.table))}
        return {"x": self.state.copy(), "halving": self.halving.memory(), **held}

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        self.state, self._stopped = memory["x"].copy(), None
        self.halving.restore(memory["halving"])
        for k, array in enumerate(arrays(self.sampled.table)):
            array[...] = memory[f"held {k}"]
