"""Losses: scalar functions of a simulated motion, with derivatives with respect to channels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, failure
from poinsot.inputs import function, named, number, numbers
from poinsot.parts.events import of_channels
from poinsot.ph.graphs import Program
from poinsot.ph.matrices import Array, Vector
from poinsot.result.channels import Channel, Known, find_channel


@dataclass(frozen=True, eq=False)
class Bound:
    """A loss of a model: the channels that it measures, and a function of these.

    `evaluate` takes times (k,) and measured numbers (k, size), and returns the loss and its
    derivative by each of these numbers.
    """

    channels: tuple[Channel, ...]
    evaluate: Callable[[Vector, Array], tuple[float, Array]]

    @property
    def size(self) -> int:
        """How many numbers are measured."""
        return sum(channel.size for channel in self.channels)


class Loss(ABC):
    """Base class of losses; losses can be added, and multiplied by numbers."""

    @abstractmethod
    def bound(self, known: Known) -> Bound:
        """Return the loss for a model with these channels."""

    def __add__(self, other: Loss) -> Loss:
        """Return the sum of two losses."""
        return Sum((self, other), (1.0, 1.0)) if isinstance(other, Loss) else NotImplemented

    def __radd__(self, other: Any) -> Loss:
        """Let `sum` begin with zero."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, factor: float) -> Loss:
        """Return a multiple of the loss."""
        return Sum((self,), (number(factor, "the factor of a loss"),))

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Sum(Loss):
    """A weighted sum of losses."""

    losses: tuple[Loss, ...]
    weights: tuple[float, ...]

    def bound(self, known: Known) -> Bound:
        """Return the sum; every loss has its own channels."""
        terms = [loss.bound(known) for loss in self.losses]
        ends = np.cumsum([term.size for term in terms])

        def evaluate(times: Vector, measured: Array) -> tuple[float, Array]:
            value, slopes = 0.0, np.zeros_like(measured)
            for term, weight, end in zip(terms, self.weights, ends.tolist(), strict=True):
                own = slice(end - term.size, end)
                part, slope = term.evaluate(times, measured[:, own])
                value, slopes[:, own] = value + weight * part, weight * slope
            return value, slopes

        return Bound(tuple(c for term in terms for c in term.channels), evaluate)


class Formula:
    """A formula of the time and of channels, with its slopes by what is measured."""

    def __init__(self, text: str, known: Known, what: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"{what}: expected a formula of channels, got {text!r}")
        self.channels, law = of_channels(text, known, what)
        columns = range(1, len(law.variables))
        graph, (row,) = law.graph, law.rows
        self.program: Program = graph.program(row, *(graph.slope(row, k) for k in columns))

    def __call__(self, times: Vector, measured: Array) -> tuple[Vector, Array]:
        """Return its values (k,) and slopes (k, size)."""
        found = self.program(times, *measured.T)
        value, *slopes = (np.broadcast_to(np.asarray(f, float), times.shape) for f in found)
        return value, np.column_stack([np.zeros((times.size, 0)), *slopes])


@dataclass(frozen=True, eq=False)
class Final(Loss):
    """A formula of channels at the end of the run.

    Parameters
    ----------
    formula : str
        Formula of time t and of channels as in `Model.add_sensor`, such as
        `"(slider.position.x - 0.3)**2"`; components of vectors are `.x`, `.y` and `.z`.
    """

    formula: str

    def bound(self, known: Known) -> Bound:
        """Return the formula at the last time."""
        formula = Formula(self.formula, known, "Final")

        def evaluate(times: Vector, measured: Array) -> tuple[float, Array]:
            slopes = np.zeros_like(measured)
            value, slopes[-1:] = formula(times[-1:], measured[-1:])
            return float(value[0]), slopes

        return Bound(formula.channels, evaluate)


@dataclass(frozen=True, eq=False)
class Integral(Loss):
    """A formula of channels, integrated over the run by the trapezoidal rule.

    Parameters
    ----------
    formula : str
        As in `Final`.
    """

    formula: str

    def bound(self, known: Known) -> Bound:
        """Return the integral."""
        formula = Formula(self.formula, known, "Integral")

        def evaluate(times: Vector, measured: Array) -> tuple[float, Array]:
            value, slopes = formula(times, measured)
            h = np.diff(times)
            weights = (np.append(h, 0.0) + np.append(0.0, h)) / 2
            return float(weights @ value), weights[:, None] * slopes

        return Bound(formula.channels, evaluate)


@dataclass(frozen=True, eq=False)
class Squares(Loss):
    r"""Half the sum of squared deviations of channels from measurements.

    .. math:: \frac12 \sum_i \sum_k \left(\frac{c_i(t_k) - y_{ik}}{\sigma_i}\right)^2

    If sigma is the standard deviation of noise, its Gauss-Newton matrix is the Fisher information.

    Parameters
    ----------
    samples : mapping
        Formula of channels as in `Final` -> measured values at all `times`, (k,).
    times : (k,)
        Times of measurement [s]; motions are interpolated linearly between steps.
    sigma : float or mapping
        Standard deviation, for all or by formula.
    """

    samples: Mapping[str, ArrayLike]
    times: ArrayLike
    sigma: float | Mapping[str, float] = 1.0

    def bound(self, known: Known) -> Bound:
        """Return the sum over all formulas."""
        at, terms = numbers(self.times, "Squares: times").reshape(-1), []
        example = "{'hinge.angle': [...]}"
        for text, values in named(self.samples, "Squares: samples", example).items():
            given = numbers(values, f"Squares: samples of '{text}'")
            if given.shape != at.shape:
                raise InputError(
                    f"Squares: '{text}' has {given.shape} samples and there are {at.shape} times; "
                    "give one sample for each time"
                )
            sigma = self.sigma.get(text, 1.0) if isinstance(self.sigma, Mapping) else self.sigma
            terms.append((Formula(text, known, "Squares"), given, number(sigma, "Squares: sigma")))
        sizes = [sum(c.size for c in formula.channels) for formula, _, _ in terms]
        ends = np.cumsum(sizes).tolist()

        def evaluate(times: Vector, measured: Array) -> tuple[float, Array]:
            inside = (at >= times[0] - 1e-12) & (at <= times[-1] * (1 + 1e-12))
            if not inside.all():
                raise InputError(
                    f"Squares: a sample at t = {at[~inside][0]:g} s is outside the run, which is "
                    "from "
                    f"{times[0]:g} to {times[-1]:g} s"
                )
            before, part = between(times, at)
            total, slopes = 0.0, np.zeros_like(measured)
            for (formula, given, sigma), size, end in zip(terms, sizes, ends, strict=True):
                own = slice(end - size, end)
                value, slope = formula(times, measured[:, own])
                off = (1 - part) * value[before] + part * value[before + 1] - given
                weights = np.zeros(times.size)
                np.add.at(weights, before, (1 - part) * off / sigma**2)
                np.add.at(weights, before + 1, part * off / sigma**2)
                total += float(off @ off) / (2 * sigma**2)
                slopes[:, own] = weights[:, None] * slope
            return total, slopes

        return Bound(tuple(c for formula, _, _ in terms for c in formula.channels), evaluate)


def between(times: Vector, at: Vector) -> tuple[Any, Vector]:
    """Return the interval of times that each instant is in, and at what part of it; (k,) each."""
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, times.size - 2)
    return before, (at - times[before]) / (times[before + 1] - times[before])


@dataclass(frozen=True, eq=False)
class FunctionOf(Loss):
    """A user-defined function of channels over the whole run, with its derivatives.

    Parameters
    ----------
    channels : sequence of str
        Channels as in `Model.add_sensor`.
    function : callable
        Takes the times (k,) and the values of each channel, (k, ...); returns the loss and a
        sequence of its derivatives with respect to these values, in their shapes.
    """

    channels: Sequence[str]
    function: Callable[..., tuple[float, Sequence[ArrayLike]]]

    def bound(self, known: Known) -> Bound:
        """Return the function."""
        law = function(self.function, "FunctionOf: function")
        channels = tuple(find_channel(text, known, "FunctionOf") for text in self.channels)

        def evaluate(times: Vector, measured: Array) -> tuple[float, Array]:
            values = split(measured, channels)
            try:
                value, given = law(times, *values)
                slopes = [np.asarray(slope, dtype=float) for slope in given]
                shapes = [slope.shape for slope in slopes]
                if shapes != [each.shape for each in values]:
                    raise InputError(
                        f"FunctionOf: derivatives have the shapes {shapes}, expected "
                        f"{[each.shape for each in values]}"
                    )
                flat = [slope.reshape(times.size, -1) for slope in slopes]
                return float(value), np.column_stack([np.zeros((times.size, 0)), *flat])
            except InputError:
                raise
            except Exception as error:
                raise InputError(f"FunctionOf: the function {failure(error)}") from error

        return Bound(channels, evaluate)


def split(measured: Array, channels: Sequence[Channel]) -> list[Array]:
    """Return measured numbers (k, size) as the values of each channel, (k, ...)."""
    ends = np.cumsum([channel.size for channel in channels])
    return [
        measured[:, end - channel.size : end].reshape(-1, *channel.shape)
        for channel, end in zip(channels, ends.tolist(), strict=True)
    ]
