"""The saved steps of a run, read a few at a time from memory or from disk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.result.records import Array
from poinsot.result.store import Column, Table

#: At most so many states, and so many numbers, are looked at in one go.
ROWS, NUMBERS = 2000, 2_000_000

Indices: TypeAlias = NDArray[np.intp]
Columns: TypeAlias = slice | Indices


@dataclass(frozen=True, eq=False)
class Saved:
    """Consecutive saved steps, k of them: their ends, their midpoints, and sums up to their ends.

    Parameters
    ----------
    time : (k,), x : (k, n), energy : (k,)
        Time [s], state and stored energy [J] at the end of each step.
    dissipated : (k,), port_energy : (k, ports)
        Energy lost, and energy put in through each port, since the start of the run [J].
    balance_error : (k,)
        H - H0 - supplied + dissipated, less what events added [J].
    turned : (k, angles)
        Angles followed over turns [rad].
    stage_time : (k,), stage_x : (k, n)
        Midpoint of each step [s], and the state there.
    u, y
        Input and output at the midpoint, (k, size) for each port: the system's ports, then the
        connected ones.
    iterations : (k,)
        Newton iterations of each step.
    """

    time: Array
    x: Array
    energy: Array
    dissipated: Array
    balance_error: Array
    port_energy: Array
    turned: Array
    stage_time: Array
    stage_x: Array
    u: Sequence[Array]
    y: Sequence[Array]
    iterations: Indices

    def take(self, rows: Indices) -> "Saved":
        """Return some of the steps."""
        names = [f.name for f in fields(self) if f.name not in ("u", "y")]
        single = {name: getattr(self, name)[rows] for name in names}
        return Saved(u=[u[rows] for u in self.u], y=[y[rows] for y in self.y], **single)

    def columns(self) -> dict[str, NDArray[np.float64] | Indices]:
        """Return the steps as columns of a table."""
        none = np.zeros((self.time.shape[0], 0))
        each = {f.name: getattr(self, f.name) for f in fields(self)}
        return each | {name: np.concatenate([none, *each[name]], axis=1) for name in ("u", "y")}


#: Fills in the states that a run left out, and returns x and stage_x of the steps.
Recover: TypeAlias = Callable[[Saved], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class History:
    """The saved states of a run.

    The first row of the table is the start, which has no midpoint; every other row is a step.

    Parameters
    ----------
    table : Table
        The saved steps, in columns with the names of `Saved`.
    times : int
        How many rows belong to this history; the table may have grown since.
    port_slices : sequence
        Where each port lives in u and y.
    recover, missing
        What fills in the states at the places `missing` in x, when they are asked for.
    origin : (n,)
        The state in which the run began, if it is not that of the first row.
    first, angles
        Of a history of one part of a system: where its states begin in x, and which angles that
        were followed over turns are its own.
    """

    table: Table
    times: int
    port_slices: Sequence[slice] = ()
    recover: Recover | None = None
    missing: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    origin: Array | None = None
    first: int = 0
    angles: slice | None = None

    def of_part(self, first: int, angles: slice) -> "History":
        """Return the history of a part of the system, whose states begin there in x."""
        return replace(self, first=first, angles=angles)

    def _columns(self, columns: Columns) -> Columns:
        """Return columns of a part among those of x."""
        if isinstance(columns, slice):
            stop = None if columns.stop is None else columns.stop + self.first
            return slice((columns.start or 0) + self.first, stop, columns.step)
        return columns + self.first

    @cached_property
    def _whole(self) -> dict[str, Array]:
        """Whole columns that are in use, each mapped once: a process has few files to open."""
        return {}

    def at_times(self, name: str) -> Array:
        """Return a column at the saved times."""
        if name not in self._whole:
            self._whole[name] = self._of_table(name, 0, self.times)
        return self._whole[name]

    def _of_table(self, name: str, start: int, stop: int) -> Array:
        """Return some rows of a column; of angles, those that are followed here."""
        rows = self.table.rows(name, start, stop)
        if self.angles is None or name != "turned":
            return rows
        return rows[:, self.angles]

    def at_midpoints(self, name: str) -> Array:
        """Return a column at the midpoints of the saved steps."""
        return self.at_times(name)[1:]

    @property
    def iterations(self) -> Indices:
        """Newton iterations of the saved steps."""
        return self.table.rows("iterations", 1, self.times)

    @cached_property
    def start(self) -> Array:
        """The state in which the run began; shape (n,)."""
        first = self.table.rows("x", 0, 1)[0] if self.origin is None else self.origin
        return np.array(first[self.first :])

    def state(self, piece: slice) -> Array:
        """Return a named state at the saved times, (times, size), without copying it."""
        places = self._places[piece]
        if places[0] < 0:
            return self.at_times("x")[:, piece]
        return self._recovered.at_times("x")[:, places[0] : places[-1] + 1]

    def over_times(
        self, look: Callable[[Array], tuple[Array, ...]], columns: Columns
    ) -> tuple[Array, ...]:
        """Apply a function to some columns of the saved states, and join the arrays it returns.

        They must be new arrays, not views of what it is given.
        """

        def piece(start: int, stop: int) -> tuple[Array, ...]:
            return look(self.rows("x", start, stop, columns))

        return self._over(0, piece, columns)

    def over_times_and_angles(
        self, look: Callable[[Array, Array], tuple[Array, ...]], columns: Columns
    ) -> tuple[Array, ...]:
        """Do the same with a function that needs the angles counted over turns as well."""

        def piece(start: int, stop: int) -> tuple[Array, ...]:
            turned = self._of_table("turned", start, stop)
            return look(self.rows("x", start, stop, columns), turned)

        return self._over(0, piece, columns)

    def over_steps(
        self, look: Callable[[Array, Array, Array], tuple[Array, ...]], columns: Columns
    ) -> tuple[Array, ...]:
        """Apply a function to some columns at midpoints and at ends of steps, and to their sizes.

        What it returns is joined.
        """

        def piece(start: int, stop: int) -> tuple[Array, ...]:
            half = self.table.rows("time", start, stop) - self.table.rows("stage_time", start, stop)
            middle, end = (self.rows(name, start, stop, columns) for name in ("stage_x", "x"))
            return look(middle, end, 2 * half)

        return self._over(1, piece, columns)

    def steps(self, start: int, stop: int) -> Saved:
        """Return some of the saved steps; row 0 is the start of the run, and no step."""
        rows = {name: self.table.rows(name, start, stop) for name in self.table.columns}
        u, y = rows.pop("u"), rows.pop("y")
        each = self.port_slices
        return Saved(u=[u[:, piece] for piece in each], y=[y[:, piece] for piece in each], **rows)

    def _over(
        self, first: int, look: Callable[[int, int], tuple[Array, ...]], columns: Columns
    ) -> tuple[Array, ...]:
        width = self._places[self._columns(columns)].size
        parts = [look(*rows) for rows in self._pieces(first, width)]
        if len(parts) == 1:
            return parts[0]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _pieces(self, first: int, width: int) -> Iterator[tuple[int, int]]:
        """Divide the rows into pieces; there is one in any case, even if it is empty."""
        many = max(1, min(ROWS, NUMBERS // max(1, width)))
        for start in range(first, max(first + 1, self.times), many):
            yield start, min(start + many, self.times)

    def rows(self, name: str, start: int, stop: int, columns: Columns) -> Array:
        """Return some columns of x or stage_x in some rows, with what the run left out."""
        # A map of these rows alone: it goes when they are done, and its pages with it.
        own = self._columns(columns)
        rows: Array = self.table.rows(name, start, stop)[:, own]
        places = self._places[own]
        absent = places >= 0
        if absent.any():
            rows = rows.copy()
            rows[:, absent] = self._recovered.table.rows(name, start, stop)[:, places[absent]]
        return rows

    # -- what a run left out ------------------------------------------------------------------

    @cached_property
    def _places(self) -> Indices:
        """For each entry of x its place among the recovered ones, or -1."""
        places = np.full(self.table.columns["x"].shape, -1, dtype=np.intp)
        if self.recover is not None:
            places[self.missing] = np.arange(self.missing.size)
        return places

    @cached_property
    def _recovered(self) -> "History":
        """The columns of x and stage_x that were missing, of the whole run."""
        assert self.recover is not None
        column = Column((self.missing.size,))
        table = Table({"x": column, "stage_x": column}, self.times)
        table.append({"x": self.start[self.missing], "stage_x": np.zeros(self.missing.size)})
        for start, stop in self._pieces(1, self.start.size):
            if start < stop:
                x, stage_x = self.recover(self.steps(start, stop))
                table.extend({"x": x[:, self.missing], "stage_x": stage_x[:, self.missing]})
        table.flush()
        return History(table, self.times)
