r"""Whether a run kept what its scheme promises: its own balance and constraints against round-off.

Round-off is measured by the run itself. A state is known to a relative eps, so that its energy is
known to :math:`\epsilon S` with

.. math::

    S = |H| + \sum_i |x_i| \, |\partial H / \partial x_i| + \sum_j |\chi_j| \, |dV / d\chi_j|
        + \sum_i |\lambda_i| \, s_i

and what was supplied and dissipated, and what laws supply in a step by what they see; chi_j are the
coordinates of springs, such as angles counted over turns, and s_i is the size of the terms of
constraint i, to a relative eps of which that constraint is known. Errors of n steps add up at
random, to :math:`\sqrt n` times as much. Healthy runs stay within ten times that; a run that is off
by `MULTIPLE` times warns.

Functions of the user's whose terms cancel are known less well. Neither H nor its gradient shows
that; where a run is off otherwise, the noise of H is measured (`poinsot.run.noise`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Vector
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import EPS, Newton
from poinsot.ph.system import PHSystem
from poinsot.result.observer import Observer, Rows
from poinsot.run.noise import noise_level

#: An error of so many times the round-off of a run has another cause.
MULTIPLE = 1000
#: A start in which constraints are off may let a run be off by so many times that.
START = 100
#: So many times the noise of its energy a run may be off, which is looked for in so many states.
NOISY, LOOKED = 100, 5
#: Velocities that leave constraints by this part of their size are told of, and spins.
LARGE = 0.02
#: So many states of a run are looked at: at most, at least, and numbers in all of them.
MOST, FEW, NUMBERS = 256, 16, 500_000
#: Lever arms that change spins in a step by this part of them leave no true motion.
DRIVEN = 0.1
#: A vibration is followed in so many steps a period.
FOLLOWED = 20
#: So many names are listed.
LISTED = 5
#: What a sample keeps of a saved step, by the names of `Saved`.
KEPT = ("x", "stage_x", "time", "stage_time", "turned", "dissipated", "port_energy", "u")
PROMISES = {
    "constraint_error": "position constraints",
    "velocity_constraint_error": "velocity constraints",
    "velocity_constraint_error_mid": "velocity constraints at midpoints",
}
CAUSES = (
    "the usual causes are masses, lengths or stiffnesses many orders of magnitude apart, and user "
    "functions that are discontinuous or inconsistent"
)
Size = TypeVar("Size", float, Array)


class Sample:
    """Some saved steps, spread over the whole run: a few of them, however long it becomes.

    The larger the state, with n numbers, the fewer they are: every k-th one, k a power of two, so
    that runs in steps of h and of 2 h have times in common.
    """

    def __init__(self, n: int) -> None:
        self.rows: list[dict[str, Array]] = []
        self.seen, self.stride = 0, 1
        self.most = min(max(FEW, NUMBERS // n), MOST)

    def add(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Look at the saved steps that follow, in the columns of a table."""
        steps = len(columns["time"])
        while self.seen + steps > self.most * self.stride:
            self.rows, self.stride = self.rows[1::2], 2 * self.stride
        for k in range(-(self.seen + 1) % self.stride, steps, self.stride):
            self.rows.append({name: np.array(columns[name][k]) for name in KEPT})
        self.seen += steps


@dataclass(frozen=True)
class Verdict:
    """What is to be told of a run: `warnings` if it is not to be trusted, `notes` to be known."""

    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Run:
    """A run to be judged.

    Parameters
    ----------
    system, observer, scheme, newton
        What was run, what looks at it, and how it was run.
    x0, h
        Where it began, and its step [s].
    rows : sequence
        Some of its saved steps, the last one among them; zero in x is what the run left out.
    recovered
        Returns the same with all states, which takes longer.
    steps, balance_error, single_steps
        Steps taken, the largest |balance error| of all [J], those taken by the reference engine.
    split_steps, smallest
        How many were taken in smaller ones, and the size of the smallest [s].
    """

    system: PHSystem
    observer: Observer
    scheme: Scheme
    newton: Newton
    x0: Vector
    h: float
    rows: list[dict[str, Array]]
    recovered: Callable[[], list[dict[str, Array]]]
    steps: int
    balance_error: float
    single_steps: int
    split_steps: int
    smallest: float

    # -- what a scheme promises ---------------------------------------------------------------

    def errors(self) -> Iterator[tuple[str, bool]]:
        """Yield what is off by more than round-off, and whether that was to be expected."""
        if self.system.exact_under(self.scheme):
            scale, error = self._energy_scale(_stored), self.balance_error
            if error > MULTIPLE * self._round_off(scale):  # laws and reactions are asked only then
                scale = replace(self, rows=self.recovered())._energy_scale(_in_play)
            what = f"the energy balance is off by {error:.2g} J"
            in_play = f" with {scale:.2g} J in play"
            yield from self._compare(what, error, scale, in_play, self._noise())
        for name, rows in self._constraints.items():
            if name == "velocity_constraint_error" and not self.scheme.stabilised:
                continue  # they hold at midpoints only
            errors, scales = _largest(rows.error[1:]), _largest(rows.noisy)
            if name == "constraint_error":  # some schemes keep what was amiss at the start
                errors = np.minimum(errors, _largest(rows.error[1:] - rows.error[0]))
            ratio = np.divide(errors, scales, out=np.zeros_like(errors), where=scales > 0)
            if ratio.size:
                worst = int(np.argmax(ratio))
                where = f" in {rows.names[worst]}" if rows.names else ""
                what = f"{PROMISES[name]} are off by {errors[worst]:.2g}{where}"
                yield from self._compare(what, errors[worst], scales[worst], "")

        part, what = self._astray
        if part > DRIVEN:
            yield f"{what}: do not trust this run", False

    @cached_property
    def _astray(self) -> tuple[float, str]:
        """Return the largest part by which a step changes a motion against the laws, in words."""
        rows = [(row["stage_x"], row["x"], row["time"] - row["stage_time"]) for row in self.rows]
        steps = [(middle, end, 2 * float(half)) for middle, end, half in rows]
        part, name = self.system.astray(self.scheme, steps)
        arms = (
            f"the lever arms of '{self.scheme.name}', which are not the means over a step, change"
        )
        better = "half the step size leaves an eighth of it, 'emh-mean' none"
        return part, f"{arms} the spin of '{name}' by {part:.2g} of itself in a step; {better}"

    def _compare(
        self,
        what: str,
        error: float,
        scale: float,
        of: str,
        more: Iterable[tuple[float, str]] = (),
    ) -> Iterator[tuple[str, bool]]:
        round_off = self._round_off(scale)
        if round_off == 0 or error <= MULTIPLE * round_off:
            return
        for allowed, why in chain(self._excuses(scale), more):
            if error <= allowed:
                yield f"{what}, {why}", True
                return
        times = f"{error / round_off:.0e} times the round-off of {self.steps} steps"
        yield f"{what}, {times}{of}: do not trust this run", False

    def _excuses(self, scale: float) -> Iterator[tuple[float, str]]:
        """Yield what else errors may come from, and how large they may be then."""
        loose = self.newton.rtol if self.newton.rtol > Newton.rtol else 0.0
        tolerated = self.steps * (loose * scale + self.newton.atol)
        yield tolerated, f"within the tolerance of Newton's method: {self.newton}"
        if (rows := self._constraints.get("constraint_error")) is not None:
            known = rows.noisy[0] > 0
            gap = np.max(abs(rows.error[0][known]) / rows.noisy[0][known], initial=0.0)
            why = f"as constraints are off by {np.max(abs(rows.error[0])):.2g} at the start"
            yield (
                START * float(gap) * scale,
                f"{why}; give positions and rotations with more digits",
            )

    def _noise(self) -> Iterator[tuple[float, str]]:
        """Yield what the energy may be off by as its values are noisy, found only if it is off."""
        rows = self._few[-LOOKED:]
        storing = np.any([self._at(row).grad_H(row["x"]) for row in rows], axis=0)
        sizes = storing * np.max([abs(row["x"]) for row in rows], axis=0)
        levels = [noise_level(self._at(row).H, row["x"], sizes) for row in rows]
        level = float(np.median(levels))
        why = (
            f"as the energy itself is known to {level:.2g} J only: terms cancel, or functions are "
            "not smooth; rewrite it, e.g. 2 sin(q/2)^2 instead of 1 - cos(q)"
        )
        yield NOISY * sqrt(self.steps) * level, why

    def _at(self, row: Mapping[str, Array]) -> PHSystem:
        """Return the system near the angles of a row."""
        return self.system.near(row["turned"])

    @cached_property
    def _few(self) -> list[dict[str, Array]]:
        """A few rows, the last one among them."""
        return [*self.rows[:: -(-len(self.rows) // (2 * FEW))], self.rows[-1]]

    def _round_off(self, scale: Size) -> Size:
        return EPS * sqrt(self.steps) * scale

    def _energy_scale(self, of: Callable[[PHSystem, float, Vector, float], float]) -> float:
        """Return what the energy of this run is known to a relative eps of [J], by states."""
        first = 2 * self.rows[0]["stage_time"] - self.rows[0]["time"]
        stored = [of(self.system, float(first), self.x0, self.h)]
        stored += [of(self._at(row), float(row["time"]), row["x"], self.h) for row in self._few]
        held = max((float(np.max(rows.energy)) for rows in self._constraints.values()), default=0.0)
        supplied = np.max([abs(row["port_energy"]) for row in self.rows], axis=0).sum()
        dissipated = max(abs(float(row["dissipated"])) for row in self.rows)
        return float(max(stored) + held + supplied + dissipated)

    @cached_property
    def _constraints(self) -> Mapping[str, Rows]:
        """Violations and sizes of constraints, of the start and of the sample."""
        ends = np.stack([self.x0, *(row["x"] for row in self.rows)])
        means = np.stack([self.x0, *(row["stage_x"] for row in self.rows)])
        sizes = [2 * float(row["time"] - row["stage_time"]) for row in self.rows]
        return self.observer.constraints(ends, means, np.array([self.h, *sizes]))

    @property
    def cause(self) -> str:
        """What is behind errors, and what to do: a vibration that steps pass over, if one is."""
        row = self.rows[-1]
        name, period = self._at(row).fastest(row["x"]) or ("", np.inf)
        if period > self.h:
            return CAUSES
        return (
            f"force '{name}' alone vibrates with a period of {period:.2g} s, and the step is "
            f"{self.h:g} s: take steps of {period / FOLLOWED:.1g} s to follow that, or a joint "
            "instead of the spring, such as Rod or Weld, if only where it holds matters"
        )

    # -- what is good to know -----------------------------------------------------------------

    def remarks(self) -> Iterator[str]:
        """Yield what is no fault."""
        yield from self.observer.remarks
        if self.single_steps:
            yield (
                f"{self.single_steps} of {self.steps} steps were taken by the reference engine, "
                "because the compiled engine found no solution; they are as accurate, but slower"
            )
        if self.split_steps:
            yield (
                f"{self.split_steps} steps without a solution were split into smaller ones, the "
                f"smallest of {self.smallest:.3g} s"
            )
        if names := self.observer.undetermined:
            yield (
                f"the reactions of {_listed(names)} are not unique, because constraints are "
                "redundant; the smallest ones are given"
            )
        changed, what = self._astray
        if LARGE < changed <= DRIVEN:
            yield what
        rows = self._constraints.get("velocity_constraint_error")
        if rows is None or self.scheme.stabilised:
            return
        errors, sizes = _largest(rows.error[1:]), _largest(rows.size)
        known = errors > MULTIPLE * self._round_off(_largest(rows.noisy))
        part = np.divide(errors, sizes, out=np.zeros_like(errors), where=known & (sizes > 0))
        if np.max(part, initial=0.0) > LARGE:
            yield (
                "velocities at the ends of steps violate the constraints by up to "
                f"{part.max():.0%} of their magnitude, because '{self.scheme.name}' satisfies "
                "them at midpoints only: use 'ph-mp-ggl', or a smaller step (half of it leaves a "
                "quarter)"
            )


def judge(run: Run) -> Verdict:
    """Return what is to be told of a run; whatever goes wrong here does not cost the run."""
    if not run.rows:
        return Verdict()
    try:
        with np.errstate(all="ignore"):
            found, remarks = list(run.errors()), tuple(run.remarks())
    except Exception as error:  # of a function of the user's
        return Verdict(notes=(f"this run was not checked: {type(error).__name__}: {error}",))
    warnings = [text for text, excused in found if not excused]
    if warnings:
        warnings[-1] += f"; {run.cause}"
    return Verdict(tuple(warnings), (*(text for text, excused in found if excused), *remarks))


def _in_play(system: PHSystem, t: float, x: Vector, h: float) -> float:
    """Return the same with springs and laws."""
    return system.in_play(t, x, h)


def _stored(system: PHSystem, t: float, x: Vector, h: float) -> float:
    """Return the energy to a relative eps of which that of a state is known [J]."""
    return PHSystem.in_play(system, t, x, h)


def _largest(values: Array) -> Array:
    """Return the largest absolute value of each column."""
    return np.asarray(np.max(abs(values), axis=0, initial=0.0))


def _listed(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in names[:LISTED]]
    more = [f"{len(names) - LISTED} more"] if len(names) > LISTED else []
    return ", ".join([*shown, *more])
