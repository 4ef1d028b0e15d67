"""Takes runs of mechanisms with networks at their ports backwards in machine code."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.control_backward import Decisions, take_decisions
from poinsot.parts.family import addresses
from poinsot.parts.network_code import code_of_product
from poinsot.parts.network_matrices import matrices_of
from poinsot.parts.networks import SAME
from poinsot.ph.hosting import HostedRunner, Hosting
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.matrices import Vector
from poinsot.ph.network import Attached
from poinsot.ph.system import PHSystem
from poinsot.systems.compiled.backward import Array, DirectorSweep, LossSlopes
from poinsot.systems.compiled.runner import DirectorRunner
from poinsot.systems.directors import DirectorForm


class HostedSweep(DirectorSweep):
    """Goes through steps of an interconnection backwards, by those of its host.

    States and inputs are those of the interconnection. Besides the numbers of bodies and parts
    there are those of the matrices of networks, once for every size of a step.

    Parameters
    ----------
    runner : HostedRunner
        What has taken them, its host in directors.
    times : (steps + 1,)
        When all of them begin and end [s].
    """

    def __init__(self, runner: HostedRunner, times: Vector) -> None:
        assert isinstance(runner.own, DirectorRunner)
        super().__init__(runner.own)
        self.hosting = runner.hosting
        own, networks = self.hosting.states, self.hosting.networks
        #: Where the states of the host, and then those of networks, are in x.
        self.states = np.concatenate(
            [np.arange(own.start, own.stop), *(network.states for network in networks)]
        )
        self.fed_columns = self._fed_columns()
        self.h = _sizes(np.diff(times))
        self.by_matrices = np.zeros((self.h.size, self._matrices(self.hosting).shape[1]))
        self.linear = self._linear(self._by_table.size)

    def _fed_columns(self) -> NDArray[np.intp]:
        """Return the columns of the inputs of the interconnection, and where drives lead to."""
        whole, own = self.hosting.whole, self.hosting.system.m
        targets = self.runner.networks.first_column - own
        found = np.zeros(whole.m, dtype=np.intp)
        for name, piece in whole.port_slices.items():
            place = self.hosting.ports[name][1]
            found[piece] = np.arange(place.start, place.stop)
        found[found >= own] += targets
        return np.append(found, own + np.arange(targets))

    @property
    def _by_table(self) -> Vector:
        """The gradient by all numbers of the table of matrices, which sweeps add to."""
        parts: Any = self.by_parts
        found: Vector = parts.PortNetworks.matrices
        return found

    def _linear(self, size: int) -> NDArray[np.bool_]:
        """Return which numbers of the table of matrices, so many, are those of linear networks."""
        found, first = np.zeros(size, dtype=bool), 0
        for network in self.hosting.networks:
            count = network.size**2
            if network.linear is not None:
                count = matrices_of(network.linear, 1.0).size
                found[first : first + count] = True
            first += count
        return found

    def end(self, x: Vector, turned: Vector) -> None:
        """Go backwards from this state."""
        super().end(x[self.hosting.states], turned)

    def back(
        self,
        times: Vector,
        u: Array,
        x: Array,
        loss: LossSlopes,
        lam: Vector,
        by_u: Array,
        decisions: Decisions | None = None,
    ) -> int:
        """Make lam, the gradient by the last of states x, that by the first; return steps done."""
        networks, done = self.runner.networks, 0
        inner = np.zeros((len(u), networks.first_column + networks.columns))
        inner[:, self.fed_columns] = u
        by_inner = np.zeros((len(u), inner.shape[1] if by_u.shape[1] else 0))
        x, own = np.take(x, self.states, axis=1), lam[self.states]
        if loss.by_states.size:
            loss = replace(loss, by_states=np.take(loss.by_states, self.states, axis=1))
        others, by_others = self._near
        self.networks = self.networks._replace(others=others, by_others=by_others)
        for k, a, b in reversed([*self._pieces(np.diff(times))]):
            networks.prepare(float(self.h[k]))
            self._by_table[:] = 0.0
            steps, ends = slice(a, b), slice(a, b + 1)
            part = loss.take(ends), own, by_inner[steps]
            chosen = None if decisions is None else take_decisions(decisions, a, b)
            done += super().back(times[ends], inner[steps], x[ends], *part, chosen)
            self.by_matrices[k] += self._by_table[self.linear]
            if done < len(u) - a:
                break
        # Nothing acts on the ground, whose place is that of networks.
        self.by_nearby[:, -1] += self._near[1]
        self._near[1][:] = 0.0
        lam[self.states] = own
        if by_u.shape[1]:
            by_u[:] = by_inner[:, self.fed_columns]
        return done

    def _pieces(self, h: Vector) -> Iterator[tuple[int, int, int]]:
        """Yield the number of each size of steps one after the other, the first, and the end."""
        which = np.argmin(abs(h[:, None] - self.h), axis=1)
        ends = [0, *(1 + np.flatnonzero(np.diff(which))), h.size]
        for a, b in pairwise(ends):
            if b > a:
                yield int(which[a]), int(a), int(b)

    # -- numbers of tables --------------------------------------------------------------------

    @property
    def slopes(self) -> Vector:
        """The gradient by all numbers of bodies, joints and networks; (numbers,)."""
        return np.append(super().slopes, self.by_matrices)

    @property
    def sizes(self) -> tuple[Vector, Vector]:
        """By what sizes the round-off of `numbers` is judged."""
        (known, acting), (matrices, codes) = super().sizes, self._networks
        return np.append(known, abs(matrices)), np.append(acting, 0.0 * codes)

    @property
    def acting(self) -> Vector:
        """Numbers that models near by differ in."""
        return np.append(super().acting, self._networks[1])

    def numbers(self, system: PHSystem) -> tuple[Vector, Vector] | None:
        """Return the numbers of another interconnection; None if it has another structure.

        Or those of this one with another host.
        """
        if isinstance(system, DirectorForm):
            found, networks = super().numbers(self._closed(system)), self._networks
        else:
            hosting = system.hosting if isinstance(system, Interconnection) else None
            if hosting is None or len(hosting.networks) != len(self.hosting.networks):
                return None
            found, networks = super().numbers(_closed(hosting)), self._numbers_of(hosting)
        if found is None or networks[0].size != self.by_matrices.size:
            return None
        known, acting = (np.concatenate(each) for each in zip(found, networks, strict=True))
        return known, acting

    def _closed(self, host: DirectorForm) -> DirectorForm:
        """Return another host with the networks of this one at its ports."""
        return host.closed_by(self.system.mechanism.networks)

    @cached_property
    def _networks(self) -> tuple[Vector, Vector]:
        """The numbers of the networks of the run."""
        return self._numbers_of(self.hosting)

    def _numbers_of(self, hosting: Hosting) -> tuple[Vector, Vector]:
        """Return the matrices of networks, and the addresses of what is derived of expressions.

        Like those of laws, these count as numbers, by their bits.
        """
        codes = [code_of_product(each) for each in hosting.networks if each.linear is None]
        self._alive.append(codes)
        return self._matrices(hosting).reshape(-1), addresses(codes).view(np.float64)

    def use(self, models: list[Vector]) -> None:
        """Take numbers of what acts, and expressions of networks, in models near by."""
        super().use([each[: self.own.size] for each in models])
        linear = [network.linear is not None for network in self.runner.networks.networks]
        others = np.zeros((len(models), len(linear)), dtype=np.int64)
        for row, each in zip(others, models, strict=True):
            row[~np.array(linear, dtype=bool)] = each[self.own.size :].view(np.int64)
        self._near = others.reshape(-1), np.zeros(len(models))

    def inputs(self, system: PHSystem, u: Array, times: Vector) -> Array:
        """Return inputs u (steps, m) of a system, and where its drives lead to."""
        assert isinstance(system, Interconnection)
        assert system.hosting is not None
        hosting = system.hosting
        led: Array = super().inputs(hosting.system, hosting.inputs(u), times)
        found: Array = np.hstack([u, led[:, hosting.system.m :]])
        return found

    def _matrices(self, hosting: Hosting) -> Array:
        """Return the matrices of linear networks, for every size of steps; (sizes, numbers)."""
        linear = [network.linear for network in hosting.networks if network.linear is not None]
        none = np.zeros(0)
        return np.array(
            [np.concatenate([none, *(matrices_of(each, h) for each in linear)]) for h in self.h]
        )


def _closed(hosting: Hosting) -> DirectorForm:
    """Return the host with networks at its ports."""
    closed = hosting.system.closed_by([Attached(network) for network in hosting.networks])
    assert isinstance(closed, DirectorForm)
    return closed


def _sizes(h: Vector) -> Vector:
    """Return all sizes of steps that differ by more than round-off."""
    found = np.unique(h)
    new = np.append(True, np.diff(found) > SAME * abs(found[1:]))
    sizes: Vector = found[new]
    return sizes
