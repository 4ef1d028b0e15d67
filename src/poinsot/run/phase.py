"""A phase of a run: what is left of a model while some joints are released and loads are off.

It is a system of its own, with an engine of its own. Its states, angles and ports are some of those
of the whole model, by name; what is absent is zero there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Totals
from poinsot.ph.system import PHSystem
from poinsot.result.history import Saved
from poinsot.run.engine import Engine
from poinsot.run.problem import Problem
from poinsot.systems.measuring import Measurement

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Phase:
    """A system in place of the whole one.

    Parameters
    ----------
    whole : PHSystem
        The system with everything.
    problem, engine : Problem, Engine
        What is there, and what takes its steps.
    own, states : array
        Which of its states the whole has, and where they are there: all but the forces that keep
        joints locked.
    angles, ports : array
        Where its own are among those of the whole.
    """

    whole: PHSystem
    problem: Problem
    engine: Engine
    own: Indices
    states: Indices
    angles: Indices
    ports: Indices

    @classmethod
    def of(cls, whole: PHSystem, problem: Problem, engine: Engine) -> "Phase":
        """Return a phase of a run."""
        system = problem.system
        common = [name for name in system.slices if name in whole.slices]
        own, states = (
            np.concatenate([np.arange(each.n)[each.slices[name]] for name in common])
            for each in (system, whole)
        )
        return cls(
            whole,
            problem,
            engine,
            own,
            states,
            _places(system.angle_names, whole.angle_names),
            _places(_ports(system), _ports(whole)),
        )

    def narrow(self, x: Array) -> Array:
        """Return states of the whole (..., n) as those of the phase."""
        found = np.zeros((*x.shape[:-1], self.problem.system.n))
        found[..., self.own] = x[..., self.states]
        return found

    def widen(self, x: Array) -> Array:
        """Return states of the phase as those of the whole (..., n)."""
        found = np.zeros((*x.shape[:-1], self.whole.n))
        found[..., self.states] = x[..., self.own]
        return found

    def H(self, x: Vector, turned: Vector) -> float:
        """Return the energy of a state of the whole that is stored in what is there [J]."""
        return self.problem.system.near(turned[self.angles]).H(self.narrow(x))

    def samples(self) -> Iterator[NDArray[Any]]:
        """Yield what sampled controllers remember."""
        table = self.problem.sampled.table
        yield from (table.sampled, table.given, table.found, table.ring, table.held, table.last)

    # -- sums and saved steps -----------------------------------------------------------------

    def totals(self, totals: Totals) -> Totals:
        """Return the sums of what is there."""
        supplied, turn = totals.supplied[self.ports], totals.turn[self.angles]
        return Totals(totals.energy0, totals.lost, supplied, turn)

    def add(self, own: Totals, totals: Totals, x: Vector) -> None:
        """Carry the sums of the whole on; `x` is its state."""
        totals.lost = own.lost
        totals.supplied = _put(totals.supplied, self.ports, own.supplied)
        totals.turn = self._turned(x[None], own.turn[None], totals.turn)[0]

    def _turned(self, x: Array, own: Array, about: Vector) -> Array:
        """Return all angles of states of the whole (k, n), those of absent joints as well."""
        turned = np.zeros((len(x), about.size))
        turned[:, self.angles] = own
        names = self.whole.angle_names
        absent = [k for k in range(about.size) if k not in self.angles]
        joints = dict.fromkeys(names[k].rpartition(".")[0] for k in absent)
        if not absent:
            return turned
        within = Measurement(self.whole, []).angles(list(joints), x)
        turned[:, absent] = np.unwrap(np.vstack([about[absent], within]), axis=0)[1:]
        return turned

    def widened(self, saved: Saved, before: Totals) -> Saved:
        """Return saved steps as those of the whole."""
        k, whole = len(saved.time), self.whole
        x = self.widen(saved.x)
        supplied = np.tile(before.supplied, (k, 1))
        supplied[:, self.ports] = saved.port_energy
        turned = self._turned(x, saved.turned, before.turn)
        sizes = [port.size for port in (*whole.ports, *whole.connected)]
        u, y = ([np.zeros((k, size)) for size in sizes] for _ in range(2))
        for place, own_u, own_y in zip(self.ports.tolist(), saved.u, saved.y, strict=True):
            u[place], y[place] = own_u, own_y
        stage_x = self.widen(saved.stage_x)
        return replace(saved, x=x, stage_x=stage_x, port_energy=supplied, turned=turned, u=u, y=y)

    def narrowed(self, saved: Saved) -> Saved:
        """Return saved steps of the whole as those of the phase."""
        ports = self.ports.tolist()
        return replace(
            saved,
            x=self.narrow(saved.x),
            stage_x=self.narrow(saved.stage_x),
            port_energy=saved.port_energy[:, self.ports],
            turned=saved.turned[:, self.angles],
            u=[saved.u[k] for k in ports],
            y=[saved.y[k] for k in ports],
        )


def _places(names: Sequence[str], among: Sequence[str]) -> Indices:
    """Return where names are among others."""
    return np.array([list(among).index(name) for name in names], dtype=np.intp)


def _ports(system: PHSystem) -> list[str]:
    """Return the names of all ports, those that are connected last."""
    return [port.name for port in (*system.ports, *system.connected)]


def _put(values: Vector, places: Indices, own: Vector) -> Vector:
    """Return values with some of them replaced."""
    found = values.copy()
    found[places] = own
    return found
