"""Steps on trial: an engine takes them, goes back, and takes others, until some are accepted."""

from dataclasses import replace

import numpy as np

from poinsot.ph.runner import Block, Clock, Totals
from poinsot.run.engine import Engine


class Trials:
    """Steps from here on, each of `whole` substeps; `first` is the number of the next one."""

    def __init__(self, engine: Engine, first: int, whole: int, totals: Totals) -> None:
        self.engine, self.first, self.whole, self.totals = engine, first, whole, totals
        self.start, self.before, self.moved = engine.memory(), totals.copy(), False

    def take(self, clock: Clock, most: int) -> tuple[Block, Totals]:
        """Take so many substeps at most, but whole steps; return them, all saved, and the sums."""
        while True:
            if self.moved:
                self.engine.restore(self.start)
            self.moved, totals = True, self.before.copy()
            block = self.engine.advance(clock, self.first, most, self.whole, totals)
            if block.steps % self.whole == 0:
                return block, totals
            if block.steps < self.whole:
                return self._completed(block, clock, totals), totals
            most = block.steps - block.steps % self.whole

    def _completed(self, block: Block, clock: Clock, totals: Totals) -> Block:
        """Return the substeps of one step, the last ones of which are still to be taken."""
        while block.steps < self.whole:
            number, left = self.first + block.steps, self.whole - block.steps
            block = joined(block, self.engine.advance(clock, number, left, self.whole, totals))
        return block

    def accept(self, totals: Totals) -> None:
        """Go on from the steps taken last."""
        vars(self.totals).update(vars(totals))


def single(clock: Clock, first: int, t0: float, t1: float) -> Clock:
    """Return a clock of one step from t0 to t1 [s], with the number of one of another clock."""
    return Clock(t0, t1, t1 - t0, 1, clock.fractions, first)


def due(block: Block, first: int, whole: int, save_every: int, last: int) -> Block:
    """Return steps of which all are saved as those that are due for saving; the last is pending."""
    number = first + whole * np.arange(1, len(block.saved.time) + 1)
    wanted = (number % save_every == 0) | (number == last)
    pending = None if wanted[-1] else block.saved.take(np.array([number.size - 1]))
    return replace(block, saved=block.saved.take(np.flatnonzero(wanted)), pending=pending)


def joined(block: Block, more: Block) -> Block:
    """Return two blocks, one after the other, as one."""
    return Block(
        steps=block.steps + more.steps,
        reached=more.reached,
        newton_iterations=block.newton_iterations + more.newton_iterations,
        residual_max=max(block.residual_max, more.residual_max),
        balance_error_max=max(block.balance_error_max, more.balance_error_max),
        dissipation_min=min(block.dissipation_min, more.dissipation_min),
        seconds=block.seconds + more.seconds,
        saved=more.saved,
        pending=more.pending,
        single_steps=block.single_steps + more.single_steps,
    )
