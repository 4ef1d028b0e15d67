"""Periodic motions by shooting, and their Floquet multipliers.

A simulation over a time T maps the coordinates y of a state near x0 to those of its end. The motion
is periodic if y = 0 is mapped to itself. The derivative of the map is the monodromy matrix; its
eigenvalues give the growth of small perturbations per period.

In autonomous systems, perturbations along the motion persist: one multiplier is 1. If energy is
conserved, another one is 1, and motions form families: T depends on the energy. Both are removed
from the matrix before its eigenvalues are computed, because together they are defective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from poinsot.analysis.charts import Chart, chart_at
from poinsot.analysis.equilibria import as_system
from poinsot.errors import InputError, NoEquilibriumError, PoinsotError
from poinsot.inputs import count, named, number
from poinsot.model import Model
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.result import Result
from poinsot.run import simulate
from poinsot.schemes.records import find_scheme
from poinsot.systems.livens import LagrangianSystem

#: What may be held while a motion is looked for.
HELD = ("energy", "period", "nothing")
#: Steps of differences, in sizes of states, and Newton iterations.
STEP, ITERATIONS, HALVINGS = 1e-4, 30, 5
#: Longest step, in sizes of states; by how much its end may be further off than its start.
STRIDE, FURTHER = 0.3, 1.5
#: How well the end of a period meets its start, in sizes of states.
CLOSED, TOLERANCE = 1e-11, 1e-7
#: Where a period is looked for, as parts of the guess.
WINDOW = 0.6, 1.5
#: What moves by less within a period, in sizes of states, is at rest.
STILL = 1e-5
#: What energy changes by within a period, as a part of what is exchanged, if it is kept.
LOSSLESS = 1e-9
#: A multiplier may be larger than 1 by so much, and the motion counts as stable.
GROWS = 1e-5


@dataclass(frozen=True, eq=False)
class PeriodicMotion:
    """A periodic motion of the discrete system; result of `periodic_motion`.

    Attributes
    ----------
    system : PHSystem
        The system with its inputs.
    x, angles : (n,), mapping
        State at the start, and joint angles counted over full turns [rad].
    period : float
        Period [s].
    residual : float
        Distance between end and start, relative to the magnitudes of states.
    monodromy : (d, d)
        Derivative of the end with respect to the start, in minimal coordinates.
    multipliers : (d - trivial,)
        Floquet multipliers, complex, largest first, without trivial ones.
    trivial : int
        Number of multipliers that are 1 because the system is autonomous or conserves energy.
    h : float
        Step size [s].
    scheme : str
        Scheme.
    """

    system: PHSystem
    x: Vector
    angles: Mapping[str, float]
    period: float
    residual: float
    monodromy: Array
    multipliers: NDArray[np.complex128]
    trivial: int
    h: float
    scheme: str

    @property
    def stable(self) -> bool:
        """Whether no small perturbation grows from period to period."""
        return bool(np.max(abs(self.multipliers), initial=0.0) <= 1 + GROWS)

    @property
    def exponents(self) -> NDArray[np.complex128]:
        """Floquet exponents log(multiplier) / period [1/s]; abs(imaginary part) <= pi / period."""
        return np.asarray(np.log(self.multipliers) / self.period)

    def simulate(self, periods: float = 1.0, **options: object) -> Result:
        """Return a simulation over a number of periods; options as for `simulate`."""
        settings = {"h": self.h, "t_end": periods * self.period, "scheme": self.scheme}
        return simulate(self.system, x0=self.x, angles=self.angles, **settings | options)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """One line."""
        largest = np.max(abs(self.multipliers), initial=0.0)
        return (
            f"<PeriodicMotion of '{self.system.name}': period {self.period:.9g} s, "
            f"{'stable' if self.stable else 'unstable'} (largest multiplier {largest:.6g}), "
            f"residual {self.residual:.1e}>"
        )


@dataclass(frozen=True, eq=False)
class _Shots:
    """Runs over one period, of so many steps, from states near each other."""

    system: PHSystem
    scheme: Scheme
    steps: int
    angles: Vector
    t: float
    engine: str

    def run(
        self, x: Vector, T: float, steps: int | None = None, save_every: int | None = None
    ) -> Result:
        """Return a run over a time T, of which only the end is saved unless told otherwise."""
        n, names = steps or self.steps, self.system.angle_names
        turned = counted(self.system.angles(x), self.angles)
        return simulate(
            self.system,
            x0=x,
            angles=dict(zip(names, turned.tolist(), strict=True)),
            h=T / n,
            t_start=self.t,
            t_end=self.t + T,
            scheme=self.scheme,
            save_every=save_every or n,
            engine=self.engine,
            progress=False,
        )

    def end(self, x: Vector, T: float) -> Vector:
        """Return where a run ends."""
        return self.last(self.run(x, T))

    def last(self, result: Result) -> Vector:
        """Return the last state of a run."""
        states = [np.atleast_1d(result[state.name][-1]) for state in self.system.states]
        return np.concatenate(states)

    def monodromy(self, chart: Chart, T: float, *, exact: bool) -> Array:
        """Return the derivative of the end by the start, by differences of four runs or of two."""
        weights = {1: 2 / 3, 2: -1 / 12} if exact else {1: 0.5}
        before = np.zeros((chart.size, chart.size))
        after = np.zeros((chart.size, chart.size))
        for k in range(chart.size):
            for many, weight in weights.items():
                for sign in (1, -1):
                    x = chart.state(sign * many * STEP * np.eye(chart.size)[k])
                    before[:, k] += sign * weight * chart.numbers(x) / STEP
                    after[:, k] += sign * weight * chart.numbers(self.end(x, T)) / STEP
        return np.asarray(np.linalg.solve(before.T, after.T).T)


def periodic_motion(
    model: Model | LagrangianSystem | PHSystem,
    *,
    period: float,
    hold: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    coordinates: str | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    scheme: str | Scheme | None = None,
    steps: int = 200,
    shift: Mapping[str, ArrayLike] | None = None,
    t_start: float = 0.0,
    engine: str = "auto",
) -> PeriodicMotion:
    """Return a periodic motion near a guess, by shooting with Newton's method.

    The discrete motion is periodic, so that period and multipliers have the order of the scheme:
    with twice as many steps, a second-order scheme has a quarter of the error.

    Parameters
    ----------
    model : Model, LagrangianSystem or PHSystem
        The system, in the form that the scheme integrates.
    period : float
        Guess of the period [s], within a third of it; or the exact period if it is held.
    hold : {"energy", "period", "nothing"}
        What is prescribed. Conservative systems have families of motions, of which the energy of
        the start or the period selects one; driven systems have the period of their input; limit
        cycles need nothing. Default: `"period"` if inputs depend on time, otherwise `"energy"` if
        the first run dissipates none, otherwise `"nothing"`.
    x0 : array or mapping
        Guess of the initial state. Default: the start of the model.
    coordinates : str
        Coordinates of a model, see `Model.compile`.
    inputs : mapping
        Port name -> constant or function of time [s].
    scheme, engine : str
        See `simulate`.
    steps : int
        Number of steps per period.
    shift : mapping
        Increase of states per period, e.g. `{"q": [2 * pi, 0]}` for an angle that is a state and
        makes full turns. Not needed for rotations of bodies.
    t_start : float
        Time of the start [s].

    Raises
    ------
    NoEquilibriumError
        If no periodic motion is found.
    """
    if isinstance(model, Model | LagrangianSystem):
        method = find_scheme(model.scheme_for(scheme, coordinates))
        system = model.compile_for(method, coordinates)
    else:
        system = as_system(model, coordinates)
        method = find_scheme(scheme or system.default_scheme)
        system = system.in_form(method.formulation)
    if hold is not None and hold not in HELD:
        raise InputError(f"hold is {hold!r}; choose from {', '.join(HELD)}")
    if not number(period, "period") > 0:
        raise InputError(f"the period is {period:g} s; it must be positive")
    count(steps, "steps", 4)
    for port, signal in named(inputs, "inputs", "{'motor': 2.0}").items():
        system = feed(system, port, signal)
    x, moved = system.state({} if x0 is None else x0), np.zeros(system.n)
    for name, amount in (shift or {}).items():
        moved[_slice(system, name)] = amount
    driven = _driven(system, x, t_start, period)
    shots = _Shots(system, method, steps, system.angles(x), t_start, engine)
    chart = chart_at(system, x, t_start, period)
    try:
        x = chart.state(np.zeros(chart.size))
        if hold is None:
            hold = "period" if driven else _held(shots, x, period)
        if hold != "period":
            period = _nearest(shots, chart, x, period, moved)
        x, T = _shoot(shots, x, period, hold, moved, autonomous=not driven)
    except (PoinsotError, np.linalg.LinAlgError) as error:
        if isinstance(error, NoEquilibriumError):
            raise
        raise NoEquilibriumError(
            f"no periodic motion of system '{system.name}' found near a period of {period:g} s: a "
            f"run failed ({error})",
            residual=np.inf,
        ) from error
    chart = chart_at(system, x, t_start, T)
    M = shots.monodromy(chart, T, exact=True)
    along = None if driven else _along(shots, chart, x, T)
    level = _level(shots, chart) if hold == "energy" or _keeps(shots, x, T, driven) else None
    multipliers = _multipliers(M, along, level)
    turned = counted(system.angles(x), shots.angles)
    return PeriodicMotion(
        system,
        x,
        dict(zip(system.angle_names, turned.tolist(), strict=True)),
        T,
        _gap(shots, chart, x, T, moved)[1],
        M,
        multipliers,
        M.shape[0] - multipliers.size,
        T / steps,
        method.name,
    )


def _slice(system: PHSystem, name: str) -> slice:
    if name not in system.slices:
        raise InputError(f"shift: system '{system.name}' has no state '{name}'")
    return system.slices[name]


def _driven(system: PHSystem, x: Vector, t: float, T: float) -> bool:
    """Return whether inputs or laws depend on time."""
    here, z = system.near(system.angles(x)), system.z(x)
    times = t + T * np.array([0.0, 0.113, 0.271, 0.618, 0.853])
    inputs = [here.feedback(time, x, z, here.u(time)) for time in times]
    return any(np.any(u != inputs[0]) for u in inputs[1:])


def _held(shots: _Shots, x: Vector, T: float) -> str:
    """Return what is held by default: the energy, if a run loses none."""
    return "energy" if _keeps(shots, x, T, False) else "nothing"


def _keeps(shots: _Shots, x: Vector, T: float, driven: bool) -> bool:
    """Return whether a run keeps its energy."""
    if driven:
        return False
    result = shots.run(x, T, save_every=1)
    kinds = [np.ptp(energy) for energy in result.observation.energies.values()]
    scale = max([abs(float(result.energy[0])), *map(float, kinds)])
    return float(np.ptp(result.energy)) <= LOSSLESS * scale


def _nearest(shots: _Shots, chart: Chart, x: Vector, T: float, moved: Vector) -> float:
    """Return the time near T after which a run is nearest to its start [s]."""
    first, last = WINDOW
    result = shots.run(x, last * T, ceil(last * shots.steps), save_every=1)
    states = [np.reshape(result[s.name], (len(result.time), -1)) for s in shots.system.states]
    rows = np.hstack(states)[result.time - shots.t >= first * T]
    apart = [np.linalg.norm(chart.change(row - moved)) for row in rows]
    return float(result.time[len(result.time) - len(rows) + int(np.argmin(apart))] - shots.t)


def _gap(shots: _Shots, chart: Chart, x: Vector, T: float, moved: Vector) -> tuple[Vector, float]:
    """Return how far the end of a run is from its start, and the largest number of it."""
    gap = chart.numbers(shots.end(x, T) - moved) - chart.numbers(x)
    return gap, float(np.max(abs(gap), initial=0.0))


def _along(shots: _Shots, chart: Chart, x: Vector, T: float) -> Vector:
    """Return the direction of the motion at its start, by a short run forth."""
    step = T / shots.steps / 16
    ends = [_short(shots, x, many * step) for many in (1, 2)]
    near, far = (chart.numbers(end) - chart.numbers(x) for end in ends)
    return np.asarray((2 * near - far / 2) / step * T)


def _moves(shots: _Shots, chart: Chart, x: Vector, T: float) -> bool:
    """Return whether a state is no rest."""
    return float(np.linalg.norm(_along(shots, chart, x, T))) > STILL


def _short(shots: _Shots, x: Vector, time: float) -> Vector:
    return shots.last(shots.run(x, time, 4))


def _level(shots: _Shots, chart: Chart) -> Vector:
    """Return the gradient of the energy by the numbers of a chart."""
    gradient = np.zeros(chart.size)
    for k in range(chart.size):
        ends = [chart.state(sign * STEP * np.eye(chart.size)[k]) for sign in (1, -1)]
        energies = [_energy(shots, end) for end in ends]
        gradient[k] = (energies[0] - energies[1]) / (2 * STEP)
    return gradient


def _energy(shots: _Shots, x: Vector) -> float:
    system = shots.system
    return system.near(counted(system.angles(x), shots.angles)).H(x)


def _shoot(
    shots: _Shots, x: Vector, T: float, hold: str, moved: Vector, *, autonomous: bool
) -> tuple[Vector, float]:
    """Return start and period of a motion that closes.

    Unknown are the numbers of the start and the period. Where time does not enter, the change of
    the start has nothing along the motion; where the energy is held, it stays as it was.
    """
    H0, first = _energy(shots, x), T
    for _ in range(ITERATIONS):
        chart = chart_at(shots.system, x, shots.t, T)
        gap, distance = _gap(shots, chart, x, T, moved)
        if distance <= CLOSED and (not autonomous or _moves(shots, chart, x, T)):
            return x, T
        M = shots.monodromy(chart, T, exact=False)
        rows = [np.column_stack([M - np.eye(chart.size), np.zeros(chart.size)])]
        right = [-gap]
        if hold != "period":
            longer = _gap(shots, chart, x, T * (1 + STEP), moved)[0]
            shorter = _gap(shots, chart, x, T * (1 - STEP), moved)[0]
            rows[0][:, -1] = (longer - shorter) / (2 * STEP)
        if autonomous:
            along = _along(shots, chart, x, T)
            if not float(np.linalg.norm(along)) > STILL:
                break
            rows.append(np.append(along / np.linalg.norm(along), 0.0)[None])
            right.append(np.zeros(1))
        if hold == "energy":
            level = _level(shots, chart)
            size = np.linalg.norm(level) or 1.0
            rows.append(np.append(level / size, 0.0)[None])
            right.append(np.array([(H0 - _energy(shots, x)) / size]))
        A, b = np.vstack(rows), np.concatenate(right)
        step = np.linalg.lstsq(A, b, rcond=1e-9)[0]
        scale = min(1.0, STRIDE / max(np.max(abs(step)), 1e-300))
        tried = []
        for _ in range(HALVINGS):
            there, span = chart.state(scale * step[:-1]), T * (1 + scale * float(step[-1]))
            try:
                beside = chart_at(shots.system, there, shots.t, T)
                tried.append((_gap(shots, beside, there, span, moved)[1], there, span))
                if tried[-1][0] < distance:
                    break
            except PoinsotError:
                pass
            scale /= 2
        closest, there, span = min(tried, key=lambda found: found[0], default=(np.inf, x, T))
        # Far away a step may lead a little further off before it comes near.
        if not closest < FURTHER * distance or (distance <= TOLERANCE and closest >= distance):
            if distance <= TOLERANCE and (not autonomous or _moves(shots, chart, x, T)):
                return x, T
            break
        if not 0.05 * first < span < 20 * first:
            break
        x, T = there, span
    met = f"after {T:.6g} s its relative distance from the start is {distance:.3g}"
    raise NoEquilibriumError(
        f"no periodic motion of system '{shots.system.name}' found: "
        f"{'it comes to rest' if distance <= STILL else met}; give a better guess of start and "
        "period, or another value of hold",
        residual=distance,
    )


def _multipliers(M: Array, along: Vector | None, level: Vector | None) -> NDArray[np.complex128]:
    """Return the eigenvalues of M, less those of the motion itself and of the energy.

    The level sets of the energy are mapped to themselves, and so is the motion, which lies in them.
    """
    if level is not None and np.linalg.norm(level) > 0:
        Q = scipy.linalg.null_space(level[None])
        M = Q.T @ M @ Q
        along = None if along is None else Q.T @ along
    if along is not None and np.linalg.norm(along) > 0:
        Q = scipy.linalg.null_space(along[None])
        M = Q.T @ M @ Q
    values = np.linalg.eigvals(M).astype(complex)
    return np.asarray(values[np.argsort(-abs(values))])
