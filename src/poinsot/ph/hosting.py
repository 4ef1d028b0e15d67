"""Interconnections with the time steps of one part, the host, and networks at its ports.

A mechanism keeps its own time steps, names and the compiled engine this way, whatever is connected
to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.general_stages import stage_equations
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.linear_steps import differences
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.network import Attached, Network, NetworkStep, networks_of
from poinsot.ph.ports import Port
from poinsot.ph.runner import Block, Clock, Controls, Memory, Runner, Totals
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Evaluation, Newton, Slopes, Stage, StageEquations
from poinsot.ph.system import PHSystem
from poinsot.result.history import Saved


@dataclass(frozen=True, eq=False)
class Hosting:
    """An interconnection as a host, the part of number `host`, and what is joined to it."""

    whole: Interconnection
    host: int
    networks: tuple[Network, ...]

    @classmethod
    def of(cls, whole: Interconnection) -> "Hosting | None":
        """Return an interconnection in that form, or None.

        There is none if no part or several could be hosts, nor where connections have ports of
        their own.
        """
        hosts = [k for k, part in enumerate(whole.parts) if part.hosts]
        if len(hosts) != 1 or any(link.opens for link in whole.links):
            return None
        networks = networks_of(whole, hosts[0])
        if networks is None:
            return None
        hosting = cls(whole, hosts[0], networks)
        # Ports of a whole that was renamed go by other names than those of its parts.
        return hosting if set(hosting.order) == set(hosting.ports) else None

    @property
    def system(self) -> PHSystem:
        """The host by itself."""
        return self.whole.parts[self.host]

    @property
    def states(self) -> slice:
        """Where the states of the host are in x of the whole."""
        return self.whole.spans[self.host]

    def inputs(self, u: Array) -> Array:
        """Return the inputs of the host, of those of the whole (..., m), zero where joined."""
        inputs = np.zeros((*u.shape[:-1], self.whole.width))
        inputs[..., self.whole.outer] = u[..., : self.whole.outer.size]
        return inputs[..., self.whole.inlets[self.host]]

    def serves(self, t: float, x: Vector, u: Vector, h: float) -> bool:
        """Return whether networks determine the inputs of the host over a step from x."""
        return all(network.determines_inputs(t, x, u, h) for network in self.networks)

    def stages(self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float) -> "HostedStages":
        """Return the equations of a step from x0."""
        steps = tuple(network.over(t, x0, u, h) for network in self.networks)
        closed = self.system.closed_by(
            [Attached(step.network, step) for step in steps if step.network.size]
        )
        own = stage_equations(closed, scheme, t, x0[self.states], self.inputs(u), h)
        return HostedStages(scheme, t, x0, u, h, self, steps, own, closed)

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> "Runner | None":
        """Return it in the compiled engine, if the host runs there."""
        others = (part for k, part in enumerate(self.whole.parts) if k != self.host)
        closed = [np.zeros(0, dtype=np.intp), *(network.inputs for network in self.networks)]
        if any(part.angle_names for part in others) or not self.system.closes(
            np.concatenate(closed)
        ):
            return None
        system = self.system.closed_by([Attached(network) for network in self.networks])
        own = system.runner(scheme, x[self.states], h, options)
        return None if own is None else HostedRunner(self, own, x)

    @cached_property
    def ports(self) -> dict[str, tuple[int, slice]]:
        """Ports of the host and then of networks, by name: which, and its numbers among all."""
        ports: list[Port] = [*self.system.ports]
        for network in self.networks:
            ports += [*network.joined_ports, *network.ports]
        found, first = {}, 0
        for k, port in enumerate(ports):
            found[port.name] = k, slice(first, first + port.size)
            first += port.size
        return found

    @property
    def order(self) -> list[str]:
        """The names of all ports of the whole: those left, then those used up."""
        return [port.name for port in (*self.whole.ports, *self.whole.connected)]


@dataclass(frozen=True, eq=False)
class HostedStages(StageEquations):
    """The equations of a step: those of the host, its ports closed by networks."""

    hosting: Hosting
    steps: tuple[NetworkStep, ...]
    own: StageEquations
    closed: PHSystem

    @property
    def guess(self) -> Vector:
        """That of the host."""
        return self.own.guess

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the host."""
        return self.own.labels

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of the host."""
        return self.own.evaluate(w)

    def residual(self, w: Vector) -> Vector:
        """Return that of the host."""
        return self.own.residual(w)

    @property
    def ends_by_parameters(self) -> bool:
        """Whether the host's do, or networks have states."""
        return self.own.ends_by_parameters or any(step.network.states.size for step in self.steps)

    def guess_of(self, x1: Vector) -> Vector:
        """That of the host."""
        return self.own.guess_of(x1[self.hosting.states])

    def from_start(self, x0: Vector) -> "HostedStages":
        """Return the equations from another start, which networks begin with, too."""
        return self.hosting.stages(self.scheme, self.t, x0, self.u, self.h).alike(self)

    def with_inputs(self, u: Vector) -> "HostedStages":
        """Return the equations with other inputs."""
        return self.hosting.stages(self.scheme, self.t, self.x0, u, self.h).alike(self)

    def alike(self, other: "HostedStages") -> "HostedStages":
        """Return the equations with the same choices as another."""
        return replace(self, own=self.own.alike(other.own))

    def slopes(self, w: Vector) -> Slopes | None:
        """Return those of the host; what states of networks do is found by differences."""
        own, n, states = self.own.slopes(w), self.x0.size, self.hosting.states
        laws = (bound.regulator for step in self.steps for bound in step.network.regulators)
        # Those that add to what they read at the start are not the same from the other end.
        if own is None or any(reading.starts for law in laws for reading in law.reads):
            return None
        F_x, M_w, M_x = np.zeros((w.size, n)), np.zeros((n, w.size)), np.zeros((n, n))
        F_x[:, states], M_w[states] = own.F_x, own.M_w
        M_x[np.ix_(np.arange(n)[states], np.arange(n)[states])] = own.M_x
        beside = np.concatenate([step.network.states for step in self.steps]).astype(np.intp)
        if not beside.size:
            return Slopes(own.F_w, F_x, M_w, M_x)
        outputs = self.own.output_slopes(w)
        if outputs is None:
            return None
        among, sizes = np.isin(np.arange(n), beside), np.maximum(1.0, abs(self.x0))

        def of_start(x: Vector) -> Vector:
            there = self.from_start(x)
            return np.concatenate([there.residual(w), there._beside(y)])

        y = self.own.finish(w)[1].y
        by_x = differences(of_start, self.x0, sizes, among)
        by_y = differences(self._beside, y, np.maximum(1.0, abs(y)))
        F_x[:, among] = by_x[: w.size, among]
        M_w[beside] = by_y @ outputs[0]
        M_x[np.ix_(beside, np.arange(n)[states])] = by_y @ outputs[1]
        M_x[np.ix_(beside, among)] = by_x[w.size :, among]
        return Slopes(own.F_w, F_x, M_w, M_x)

    def _beside(self, y: Vector) -> Vector:
        """Return the states of networks at the end of the step, by the outputs of the host."""
        ends = [step.finish(y[step.network.inputs])[0] for step in self.steps]
        return np.concatenate([np.zeros(0), *ends])

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end of the step, networks with it, and the stage."""
        hosting, whole = self.hosting, self.hosting.whole
        x1, middle, z = self.x0.copy(), self.x0.copy(), np.zeros(whole.n)
        x1[hosting.states], own = self.own.finish(w)
        middle[hosting.states], z[hosting.states] = own.x, own.z
        lost = own.lost
        if lost is None:
            lost = float(own.z @ self.closed.resistive(own.x, own.z))
        inputs, outputs = [own.u], [own.y]
        for step in self.steps:
            network, k = step.network, step.network.size
            x1[network.states], stage = step.finish(own.y[network.inputs])
            middle[network.states], z[network.states] = stage.x[k:], stage.z[k:]
            lost += float(stage.z @ network.system.resistive(stage.x, stage.z))
            through = network.port_values(stage.x, stage.z, stage.u)
            inputs += [*(u for u, _ in through), stage.u[network.direct :]]
            outputs += [*(y for _, y in through), stage.y[network.direct :]]
        u, y = np.concatenate(inputs), np.concatenate(outputs)
        places = [hosting.ports[name][1] for name in hosting.order]
        values = [(u[place], y[place]) for place in places]
        left = len(whole.ports)
        u, y = (np.concatenate([np.zeros(0), *(v[side] for v in values[:left])]) for side in (0, 1))
        return x1, Stage(middle, z, u, y, lost, values[left:])


class HostedRunner(Runner):
    """An interconnection in the compiled engine: its host there, with networks at its ports.

    The host's runner takes inputs of all ports of `Hosting.ports` and two more columns for every
    state of networks, `u` after the step and `y` in its middle; it returns the same.
    """

    def __init__(self, hosting: Hosting, own: Runner, x: Vector) -> None:
        self.hosting, self.own = hosting, own
        own.put_beside(self._beside(x))
        places = [hosting.ports[name] for name in hosting.order]
        self.which = np.array([k for k, _ in places], dtype=np.intp)
        self.pieces = [piece for _, piece in places]
        self.host_ports = len(hosting.system.ports)

    def _beside(self, x: Vector) -> Vector:
        """Return the states of networks."""
        return np.concatenate([np.zeros(0), *(x[n.states] for n in self.hosting.networks)])

    @property
    def _placed(self) -> NDArray[np.intp]:
        """Where the states of networks are in x."""
        none = np.zeros(0, dtype=np.intp)
        return np.concatenate([none, *(n.states for n in self.hosting.networks)])

    @property
    def x(self) -> Vector:
        """The state, as far as the engine knows it."""
        x = np.zeros(self.hosting.whole.n)
        x[self.hosting.states], x[self._placed] = self.own.x, self.own.beside
        return x

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state."""
        self.own.put_beside(self._beside(x))
        self.own.start(x[self.hosting.states], turned)

    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on."""
        return self.own.memory()

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        self.own.restore(memory)

    def control(self, controls: Controls) -> bool:
        """Let controllers set inputs of ports, by the numbers that the host's runner has."""
        hosting, table = self.hosting, controls.table
        columns = np.zeros(hosting.whole.m, dtype=np.intp)
        for name, piece in hosting.whole.port_slices.items():
            place = hosting.ports[name][1]
            columns[piece] = np.arange(place.start, place.stop)
        where = {int(k): place for place, k in enumerate(self._placed)}
        states = table.channels[controls.states, -1].tolist()
        if any(k not in where for k in states):
            return False
        table.channels[controls.states, -1] = [where[k] for k in states]
        return self.own.control(replace(controls, columns=columns[controls.columns]))

    @property
    def calls_python(self) -> bool:
        """Whether some laws are Python functions."""
        return self.own.calls_python

    @property
    def form(self) -> str:
        """That of the host."""
        return self.own.form

    @property
    def recovered(self) -> frozenset[str]:
        """What the host leaves out."""
        return self.own.recovered

    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on, as far as they are solved."""
        hosting = self.hosting
        width = max((piece.stop for _, piece in hosting.ports.values()), default=0)
        given = np.zeros((len(u), width))
        given[:, : hosting.system.m] = hosting.inputs(u)
        for name, piece in hosting.whole.port_slices.items():
            given[:, hosting.ports[name][1]] = u[:, piece]
        supplied = np.zeros(len(hosting.ports))
        supplied[self.which] = totals.supplied
        inner = Totals(totals.energy0, totals.lost, supplied, totals.turn)
        block = self.own.advance(clock, first, given, save_every, inner)
        totals.lost, totals.turn = inner.lost, inner.turn
        totals.supplied = inner.supplied[self.which]
        pending = None if block.pending is None else self._translated(block.pending)
        return replace(block, saved=self._translated(block.saved), pending=pending)

    def _translated(self, saved: Saved) -> Saved:
        """Return saved steps of the host as those of the whole."""
        hosting, rows, n = self.hosting, len(saved.time), self.hosting.whole.n
        none = np.zeros((rows, 0))
        u, y = (np.concatenate([none, *each], axis=1) for each in (saved.u, saved.y))
        x, middle = np.zeros((rows, n)), np.zeros((rows, n))
        x[:, hosting.states], middle[:, hosting.states] = saved.x, saved.stage_x
        states = slice(u.shape[1] - self._placed.size, u.shape[1])
        x[:, self._placed], middle[:, self._placed] = u[:, states], y[:, states]
        return replace(
            saved,
            x=x,
            stage_x=middle,
            u=[u[:, piece] for piece in self.pieces],
            y=[y[:, piece] for piece in self.pieces],
            port_energy=saved.port_energy[:, self.which],
        )

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x with what the host left out."""
        hosting, own = self.hosting, self.hosting.states
        by_name = dict(zip(hosting.order, range(len(hosting.order)), strict=True))
        ports = [by_name[port.name] for port in hosting.system.ports]

        def of_host(values: Sequence[Array]) -> list[Array]:
            return [values[k] for k in ports]

        host = replace(
            saved,
            x=saved.x[:, own],
            stage_x=saved.stage_x[:, own],
            u=of_host(saved.u),
            y=of_host(saved.y),
        )
        x, middle = np.array(saved.x), np.array(saved.stage_x)
        x[:, own], middle[:, own] = self.own.recover(host)
        return x, middle
