"""Sampled controllers during a run: bound to its system and its steps, the same in both engines.

Controllers in continuous time are part of the system; the values that they need at the beginning of
a step are measured here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.errors import InputError
from poinsot.kernels.sampling import (
    FOUND,
    GIVEN,
    GIVEN_END,
    MEMORY,
    OUTPUT,
    SIGNAL,
    STATES,
    Sampling,
    decide,
    hold,
    is_due,
)
from poinsot.kernels.sampling import STATE as STATE_KIND
from poinsot.parts.control_laws import ControlLaw, control_law
from poinsot.parts.controllers import Controller
from poinsot.parts.family import index, rows
from poinsot.parts.regulators import measuring
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Controls
from poinsot.ph.signals import Constant
from poinsot.ph.system import PHSystem
from poinsot.systems.measuring import Measurement, RowTables


@dataclass(frozen=True, eq=False)
class Held(Constant):
    """What a controller puts out now: the value changes from sample to sample."""


class Sampled:
    """The controllers of a run: when they are called, what they measure, and what they hold.

    Steps of size h [s] may be composed of so many `substeps`, which is what they count.
    """

    def __init__(
        self, controllers: Iterable[Controller], system: PHSystem, h: float, substeps: int
    ) -> None:
        bound = [
            (one.every is None, each)
            for one in controllers
            for each in (measuring(one, h) if one.every is None else [one])
        ]
        self.controllers = [each for _, each in bound]
        #: Which of them measure the beginnings of all steps, for laws in continuous time.
        self.following = [follows for follows, _ in bound]
        self.laws: list[ControlLaw] = []
        for each in self.controllers:
            try:
                self.laws.append(control_law(each.law, each.sizes, each.period))
            except InputError as error:
                raise InputError(f"controller '{each.name}': {error}") from error
        places, given, found, output, ring = [], 0, 0, 0, 0
        for each in self.controllers:
            sizes, (every, delay) = each.sizes, each.steps(h)
            slots = delay // every + 2
            own = [given, given + 1 + sizes.measured, given + sizes.given, found]
            outputs = [output, output + sizes.outputs]
            times = [every * substeps, delay * substeps, slots]
            places.append((times, [*own, *outputs, ring]))
            given, found = given + sizes.given, found + sizes.found
            output, ring = output + sizes.outputs, ring + slots * sizes.outputs
        numbers, last = np.zeros(given), np.zeros(output)
        signals = self._signals([own for _, own in places])
        self.measurements = [
            Measurement(system, each.reads, signals, numbers, last) for each in self.controllers
        ]
        measured = [each.rows() for each in self.measurements]
        #: Whether the compiled engine can measure all that they read.
        self.compiled = all(each is not None for each in measured)
        table, channel = [], 0
        for (times, own), rows_of in zip(places, measured, strict=True):
            channels = [channel, channel + len(rows_of or ())]
            table.append([*times, *channels, *own])
            channel = channels[1]
        periods = [each.period for each in self.controllers for _ in range(each.sizes.outputs)]
        limits = [each.limits for each in self.controllers]
        rates = np.concatenate([np.zeros(0), *(each.rate_limits for each in self.controllers)])
        every_row = [row for own in measured for row in own or ()]
        driving = np.concatenate(
            [
                np.zeros(0, dtype=np.intp),
                *(
                    own[OUTPUT - GIVEN] + np.arange(each.driven)
                    for (_, own), each in zip(places, self.controllers, strict=True)
                ),
            ]
        )
        bodies = len(self.measurements[0].layout.bodies) if self.measurements else 0
        measures = RowTables.of(every_row, bodies)
        self._multipliers = measures.multipliers
        self.table = Sampling(
            controllers=index(rows(table, 12)),
            laws=np.array([law.address for law in self.laws], dtype=np.int64),
            sampled=np.full(len(table), -1, dtype=np.int64),
            given=numbers,
            found=np.zeros(found),
            ring=np.zeros(ring),
            limits=np.column_stack([np.concatenate([np.zeros((0, 2)), *limits]), rates * periods]),
            columns=np.zeros(driving.size, dtype=np.uint32),
            driving=driving.astype(np.uint32),
            held=np.zeros(output),
            last=last,
            numbers=measures.numbers,
            channels=measures.channels,
            base=np.zeros(len(self.measurements[0].layout.angle_names) if bodies else 0),
            pulls=measures.pulls,
            factors=measures.factors,
            past=np.zeros(1),
            trace=np.zeros((0, given + 2 * output)),
        )
        for at, each in zip(self.table.controllers.tolist(), self.controllers, strict=True):
            self.table.given[at[STATES] : at[GIVEN_END]] = each.states

    def feed(self, system: PHSystem) -> PHSystem:
        """Return the system with its driven ports fed by what is held."""
        for each, at in zip(self.controllers, self.table.controllers.tolist(), strict=True):
            first = at[OUTPUT]
            for port in each.drives:
                system = feed(system, port.name, Held(self.table.held[first : first + port.size]))
                first += port.size
        return system

    def _signals(self, places: Sequence[Sequence[int]]) -> dict[str, tuple[int, slice]]:
        """Return where outputs (`last`) and states (`given`) of controllers are, by name."""
        found: dict[str, tuple[int, slice]] = {}
        for each, at in zip(self.controllers, places, strict=True):
            first, states = at[OUTPUT - GIVEN], at[STATES - GIVEN]
            outputs, *named = each.signals
            found[outputs] = SIGNAL, slice(first, first + each.sizes.outputs)
            for k, name in enumerate(named):
                found[name] = MEMORY, slice(states + k, states + k + 1)
        return found

    def controls(self, system: PHSystem) -> Controls:
        """Return what the compiled engine needs to know."""
        driven = [system.port_slices[p.name] for each in self.controllers for p in each.drives]
        columns = [np.arange(piece.start, piece.stop) for piece in driven]
        return Controls(
            self.table,
            np.concatenate([np.zeros(0, dtype=np.intp), *columns]),
            np.flatnonzero(self.table.channels[:, 0] == STATE_KIND),
            self._multipliers,
            any(law.in_python for law in self.laws),
        )

    def sample(self, number: int, t: float, x: Vector, turned: Vector) -> None:
        """Set what is held in a step from x at time t [s]; laws that are due are called.

        Raises what has gone wrong, here or in the compiled engine before.
        """
        self.sample_of(number, t, lambda c: self.measurements[c](x, turned))

    def sample_of(self, number: int, t: float, measured: Callable[[int], Vector]) -> None:
        """Do the same with what is measured for each controller that is due, by its number."""
        table = self.table
        for c in range(len(self.controllers)):
            if is_due(table, c, number):
                at = table.controllers[c]
                table.given[at[GIVEN] + 1 : at[STATES]] = measured(c)
                decide(table, c, number, t)
        if not hold(table, number):
            self._refuse(t)

    def follow(self, number: int, t: float, x: Vector, turned: Vector) -> None:
        """Measure anew for laws in continuous time, where a piece of a step begins."""
        table = self.table
        for c, measure in enumerate(self.measurements):
            if self.following[c]:
                at = table.controllers[c]
                table.given[at[GIVEN] + 1 : at[STATES]] = measure(x, turned)
                decide(table, c, number, t)
        if not hold(table, number):
            self._refuse(t)

    def _refuse(self, t: float) -> None:
        """Say which law has failed, and what it was given."""
        table = self.table
        numbers = table.controllers.tolist()
        for at, each, law in zip(numbers, self.controllers, self.laws, strict=True):
            given = table.given[at[GIVEN] : at[GIVEN_END]]
            found = table.found[at[FOUND] : at[FOUND] + each.sizes.found]
            if np.all(np.isfinite(found)):
                continue
            why, error = law.trouble(given, found)
            if error is not None and not isinstance(error, Exception):
                raise error
            y = given[1 : 1 + each.sizes.measured]
            raise InputError(
                f"controller '{each.name}': its law {why}, at t = {t:g} s with y = {y.tolist()}"
            ) from error
