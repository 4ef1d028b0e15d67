"""Controllers: laws that read channels of a model and set inputs of its ports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import count, function, number, numbers
from poinsot.parts.control_laws import Sizes
from poinsot.parts.fmus import FMULaw
from poinsot.parts.state_spaces import StateSpace
from poinsot.ph.formula_rows import FormulaRows
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel

#: A time may differ from a multiple of another by so much of it.
ROUNDED = 1e-9
#: What the outputs of a controller are called.
OUTPUT = "output"


@dataclass(frozen=True, eq=False)
class Controller:
    """A controller: u = f(t, y) at t_k = t_start + k T, held until the next sample, or at any time.

    Parameters
    ----------
    name : str
        Its name in the model.
    law : function, FormulaRows, StateSpace, PHSystem or FMULaw
        u = f(t, y); with states (u, x_next) = f(t, y, x), or (u, x') in continuous time.
    reads : tuple of Channel
        What it measures, in the order of y.
    drives : tuple of Port
        What it feeds, in the order of u.
    every, delay : float
        Sampling time T, and how long after a sample its outputs act [s]. T = None: continuous.
    limits : (outputs, 2), rate_limits : (outputs,)
        Least and greatest output; by how much it may change in a second.
    states : (n,), state_names : tuple of str
        Its states at the start, and what formulas call them.
    outputs : int
        How many it has, those that feed ports first; None: no more than these.
    """

    name: str
    law: Any
    reads: tuple[Channel, ...]
    drives: tuple[Port, ...]
    every: float | None
    delay: float
    limits: Array
    rate_limits: Vector
    states: Vector
    state_names: tuple[str, ...] = ()
    outputs: int | None = None

    @property
    def sizes(self) -> Sizes:
        """How many numbers its law takes and gives."""
        measured = sum(channel.size for channel in self.reads)
        outputs = self.driven if self.outputs is None else self.outputs
        return Sizes(measured, self.states.size, outputs)

    @property
    def driven(self) -> int:
        """How many inputs of ports it feeds."""
        return sum(port.size for port in self.drives)

    @property
    def signals(self) -> dict[str, int]:
        """What others can read of it: its outputs and, if it is sampled, its states."""
        own = {f"{self.name}.{OUTPUT}": self.sizes.outputs}
        if self.every is None:
            return own
        return own | {f"{self.name}.{state}": 1 for state in self.state_names}

    @property
    def period(self) -> float:
        """The sampling time [s]."""
        assert self.every is not None
        return self.every

    def steps(self, h: float) -> tuple[int, int]:
        """Return its sampling time and its delay in steps of size h [s]; refuse broken ones."""
        return self._multiple(self.period, h, "every"), self._multiple(self.delay, h, "delay")

    def _multiple(self, time: float, h: float, what: str) -> int:
        ratio = time / h
        count = round(ratio)
        if abs(ratio - count) <= ROUNDED * max(1.0, ratio) and (count or not time):
            return count
        near = [time / max(1, int(ratio) + k) for k in (0, 1)]
        shown = " or ".join(dict.fromkeys(f"{step:.6g}" for step in near))
        raise InputError(
            f"controller '{self.name}': {what} = {time:g} s is not a multiple of the step h = "
            f"{h:g} s; use h = {shown} s"
        )


def make_controller(
    name: str,
    law: Any,
    reads: Sequence[Channel],
    drives: Sequence[Port],
    *,
    every: float | None,
    delay: float = 0.0,
    limits: ArrayLike | None = None,
    rate_limits: ArrayLike | None = None,
    states: ArrayLike | Mapping[str, float] | None = None,
    outputs: int | None = None,
) -> Controller:
    """Return a controller, or say what is wrong with it."""
    what = f"controller '{name}'"
    if every is None:
        _require_no_reactions(reads, what)
    if not drives and outputs is None:
        raise InputError(
            f"{what}: drives no port; give drives=[...], or the number of outputs for other "
            "controllers by outputs=..."
        )
    driven = sum(port.size for port in drives)
    if outputs is None:
        outputs = driven
    elif count(outputs, f"{what}: outputs", 0) < driven:
        raise InputError(f"{what}: outputs is {outputs}, but {driven} are driven")
    period = None if every is None else number(every, f"{what}: every")
    wait = number(delay, f"{what}: delay")
    if period is None and (wait or rate_limits is not None):
        raise InputError(
            f"{what}: delay and rate_limits need a sampled controller; give every, too"
        )
    if period is not None and period <= 0:
        raise InputError(f"{what}: every is {period:g} s; the sampling time must be positive")
    if wait < 0:
        raise InputError(f"{what}: delay is {wait:g} s; it cannot be negative")
    names, start = _states(states, what)
    sizes = Sizes(sum(channel.size for channel in reads), start.size, outputs)
    known = law if isinstance(law, FMULaw) else _law(law, reads, sizes, names, what)
    if isinstance(known, StateSpace | PHSystem):
        start = _own_states(known, states, what)
        names = tuple(f"x_{k}" for k in range(start.size))
        _require_sizes(known, sizes, what)
        if period is None and isinstance(known, StateSpace) and known.dt is not None:
            raise InputError(f"{what}: its state space is in discrete time; give every")
    made = Controller(
        name=name,
        law=known,
        reads=tuple(reads),
        drives=tuple(drives),
        every=period,
        delay=wait,
        limits=_limits(limits, outputs, what),
        rate_limits=_rates(rate_limits, outputs, what),
        states=start,
        state_names=names,
        outputs=None if drives and outputs == driven else outputs,
    )
    if OUTPUT in names:
        raise InputError(f"{what}: a state cannot be named '{OUTPUT}'")
    return made


def _require_no_reactions(reads: Sequence[Channel], what: str) -> None:
    """Refuse what laws in continuous time cannot read."""
    for channel in reads:
        if channel.kind == "reaction":
            raise InputError(
                f"{what}: cannot read '{channel.text}': in continuous time, reactions depend on "
                "its output, an algebraic loop; give every, to read the reaction of the previous "
                "step"
            )


def _limits(limits: ArrayLike | None, outputs: int, what: str) -> Array:
    """Return the least and the greatest value of every output; (outputs, 2)."""
    if limits is None:
        return np.tile([-inf, inf], (outputs, 1))
    try:
        pair = np.asarray(limits, dtype=float)
        if pair.shape[-1:] != (2,):
            raise ValueError
        found = np.broadcast_to(pair, (outputs, 2)).copy()
    except (TypeError, ValueError):
        raise InputError(
            f"{what}: limits is {limits!r}; give (low, high), or one such pair for each of "
            f"{outputs} outputs"
        ) from None
    if not np.all(found[:, 0] <= found[:, 1]):
        raise InputError(f"{what}: limits is {limits!r}; the first value must be the lower one")
    return found


def _rates(rates: ArrayLike | None, outputs: int, what: str) -> Vector:
    if rates is None:
        return np.full(outputs, inf)
    try:
        found = np.broadcast_to(np.asarray(rates, dtype=float), (outputs,)).copy()
    except (TypeError, ValueError):
        found = np.zeros(1)
    if not np.all(found > 0):
        raise InputError(
            f"{what}: rate_limits is {rates!r}; give a positive number, or one for each of "
            f"{outputs} outputs"
        )
    return found


# -- laws ------------------------------------------------------------------------------------------


def _states(states: Any, what: str) -> tuple[tuple[str, ...], Vector]:
    """Return the names of states, and their values at the start."""
    if states is None:
        return (), np.zeros(0)
    if isinstance(states, Mapping):
        return tuple(states), numbers(list(states.values()), f"{what}: states").reshape(-1)
    start = numbers(states, f"{what}: states").reshape(-1)
    if not np.all(np.isfinite(start)):
        raise InputError(f"{what}: states is {states!r}; give finite numbers")
    return tuple(f"x_{k}" for k in range(start.size)), start


def _law(
    law: Any, reads: Sequence[Channel], sizes: Sizes, states: tuple[str, ...], what: str
) -> Any:
    """Return a law that can be called, or what it is besides."""
    names = [name for channel in reads for name in variable_names(channel)]
    for name in states:
        if name in ("t", *names):
            raise InputError(
                f"{what}: '{name}' is the name of a state and of a channel that it reads; rename "
                "the state"
            )
    found: Any = FormulaRows.of_formula(law) if isinstance(law, Formula) else None
    if found is None:
        found = FormulaRows.of(law, ("t", *names, *states), f"{what}: law")
    if found is None:
        found = StateSpace.of(law, what)
    if not isinstance(found, FormulaRows):
        is_known = found is not None or isinstance(law, PHSystem)
        return found or law if is_known else function(law, f"{what}: law")
    also = f" and {sizes.states} state(s)" if sizes.states else ""
    if len(found.variables) != sizes.given:
        raise InputError(
            f"{what}: its formula is one of ({', '.join(found.variables)}), expected the time and "
            f"{sizes.measured} measured number(s){also}"
        )
    if len(found.rows) != sizes.found:
        wanted = f"{sizes.outputs} output(s){also}"
        raise InputError(f"{what}: {len(found.rows)} formula(s) for {wanted}")
    return found


def _own_states(law: StateSpace | PHSystem, states: Any, what: str) -> Vector:
    """Return the states at the start of a law that knows how many it has."""
    own = np.zeros(law.states) if isinstance(law, StateSpace) else law.start
    if states is None:
        return own
    if isinstance(states, Mapping) and isinstance(law, PHSystem):
        return law.state(states)
    given = _states(states, what)[1]
    if given.size != own.size:
        raise InputError(f"{what}: {given.size} states were given, but its law has {own.size}")
    return given


def _require_sizes(law: StateSpace | PHSystem, sizes: Sizes, what: str) -> None:
    """Refuse a law that takes or gives another number of numbers than there are."""
    takes, gives = (law.measured, law.outputs) if isinstance(law, StateSpace) else (law.m, law.m)
    for side, own, there in (
        ("takes", takes, f"{sizes.measured} are read"),
        ("gives", gives, f"{sizes.outputs} are driven"),
    ):
        if own != int(there.split()[0]):
            raise InputError(f"{what}: its law {side} {own} number(s), but {there}")


def variable_names(channel: Channel) -> Iterator[str]:
    """Yield what a channel's numbers are called in formulas: hinge.rate is hinge_rate.

    Entries of vectors and matrices end in x, y and z, all others in their number.
    """
    name = "".join(letter if letter.isalnum() else "_" for letter in channel.text)
    if not channel.shape:
        yield name
    elif channel.kind == "motion":
        for place in product("xyz", repeat=len(channel.shape)):
            yield f"{name}_{''.join(place)}"
    else:
        for k in range(channel.size):
            yield f"{name}_{k}"
