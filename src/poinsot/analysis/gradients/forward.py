"""Forward sensitivities."""

from collections.abc import Sequence

import numpy as np

from poinsot.analysis.gradients.results import Sensitivities
from poinsot.analysis.gradients.run import Run, Taken
from poinsot.analysis.losses import Formula, split
from poinsot.analysis.variations import Direction
from poinsot.errors import InputError
from poinsot.ph.matrices import Array
from poinsot.result.channels import Channel, find_channel


class Forward:
    """Forward sensitivities: the derivative of the state, a column for each parameter."""

    def __init__(self, run: Run, asked: Sequence[str]) -> None:
        self.run, self.asked = run, asked
        known, self.looks = run.variations.known, []
        channels: list[Channel] = []
        for text in asked:
            try:
                found: tuple[Channel, ...] = (find_channel(text, known, "sensitivities"),)
                formula = None
            except InputError:
                formula = Formula(text, known, "sensitivities")
                found = formula.channels
            self.looks.append((formula, found))
            channels += found
        self.measured = run.measuring(channels)

    def sensitivities(self) -> Sensitivities:
        """Return everything that was asked for, and its derivatives."""
        run, directions = self.run, self.run.variations.directions
        samples, m = self.run.variations.samples, self.run.problem.system.m
        own = np.array([each.dx0 for each in directions]).reshape(-1, run.problem.system.n).T
        others = sum(run.variations.values[name].size for name in samples)
        dx = np.column_stack([own, np.zeros((len(own), others))])
        dc = np.zeros((0 if run.held is None else run.held.start[0].size, dx.shape[1]))
        if run.held is not None:
            for k, direction in enumerate(directions):
                dc[:, k] = direction.of(lambda each: run.held_of(each).start[0])
        values, slopes = [], []
        for first, last in run.segments():
            steps, x, turned = run.segment(first, last)
            columns = [dx]
            for step in steps:
                for taken in step:
                    dF, dM = self._added(taken, directions, dx.shape[1], m)
                    if run.held is not None and taken.memory is not None:
                        at = taken.memory, taken.number, taken.t, taken.equations.x0, taken.turned
                        dc = run.held.forward(dc, dx, *at, run.linear.sizes)
                        dc[:, : len(directions)] += run.by_samples(directions, *at)
                        by_F, by_M = run.by_inputs(taken)
                        dF += by_F[:, run.held.columns] @ dc[run.held.places]
                        dM += by_M[:, run.held.columns] @ dc[run.held.places]
                    dx, _ = run.linear_step(taken).forward(dx, dF, dM)
                columns.append(dx)
            start = 0 if first == 0 else 1
            value, slope = self._looked(
                x[start:], turned[start:], np.array(columns[start:]), directions
            )
            values.append(value)
            slopes.append(slope)
        return self._named(np.concatenate(values), np.concatenate(slopes))

    def _added(
        self, taken: Taken, directions: Sequence[Direction], count: int, m: int
    ) -> tuple[Array, Array]:
        """Return what parameters add to F and M, a column each."""
        run, samples = self.run, self.run.variations.samples
        dF, dM = np.zeros((taken.w.size, count)), np.zeros((taken.equations.x0.size, count))
        dF[:, : len(directions)], dM[:, : len(directions)] = run.by(directions, taken)
        if samples:
            by_F, by_M = run.by_inputs(taken)
            du = np.column_stack([s.columns(taken.equations.t, m) for s in samples.values()])
            dF[:, len(directions) :], dM[:, len(directions) :] = by_F @ du, by_M @ du
        return dF, dM

    def _looked(
        self, x: Array, turned: Array, dx: Array, directions: Sequence[Direction]
    ) -> tuple[Array, Array]:
        """Return what is measured (times, size), and its derivatives (times, size, columns)."""
        measure = self.measured(self.run.problem.system)
        value = measure(x, turned)
        slopes = measure.forward(dx, x, turned, self.run.linear.sizes)
        for j, direction in enumerate(directions):
            slopes[:, :, j] += direction.of(lambda each: self.measured(each.system)(x, turned))
        return value, slopes

    def _named(self, value: Array, slopes: Array) -> Sensitivities:
        times, first = self.run.times, 0
        values: dict[str, Array] = {}
        by: dict[str, dict[str, Array]] = {}
        for text, (formula, channels) in zip(self.asked, self.looks, strict=True):
            last = first + sum(channel.size for channel in channels)
            number, slope = value[:, first:last], slopes[:, first:last]
            if formula is None:
                shape = channels[0].shape
                values[text] = split(number, channels)[0]
            else:
                found, by_channels = formula(times, number)
                values[text], shape = found, ()
                slope = np.einsum("tc,tcp->tp", by_channels, slope)
            by[text] = self._by_parameter(slope.reshape(times.size, *shape, -1))
            first = last
        return Sensitivities(times, values, by)

    def _by_parameter(self, slope: Array) -> dict[str, Array]:
        """Return columns by parameter: those of inputs come last."""
        variations, found, first = self.run.variations, {}, 0
        order = [n for n in variations.values if n not in variations.samples]
        for name in (*order, *variations.samples):
            shape = variations.values[name].shape
            size = int(np.prod(shape))
            columns = slope[..., first : first + size]
            found[name] = columns.reshape(*slope.shape[:-1], *shape)
            first += size
        return {name: found[name] for name in variations.values}
