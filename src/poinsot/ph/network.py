r"""Networks: everything that an interconnection connects to the ports of one part, the host.

Over a time step, all other parts and connections are a relation between the outputs y and the
inputs u of those ports. Solved for u it is a law,

.. math:: u = u(y), \qquad S = \partial u / \partial y ,

that closes the ports of the host: a mechanism then takes the step by its own equations, in either
engine, and the network follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.connections import Coupling
from poinsot.ph.general_stages import GeneralStages
from poinsot.ph.gradients import Gonzalez
from poinsot.ph.interconnect import interconnect
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.joined import Link
from poinsot.ph.linear_network import LinearNetwork
from poinsot.ph.matrices import Array, Matrix, Vector, dense, diagonal
from poinsot.ph.newton import solve
from poinsot.ph.operations import Written, constant
from poinsot.ph.ports import Port
from poinsot.ph.regulators import Bound, RegulatedStages, Regulator, dfilled, filled
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Evaluation, Newton, Stage, Tangent
from poinsot.ph.system import PHSystem, State, Storage

Indices = NDArray[np.intp]

#: What members of a network are integrated by: the midpoint rule, exact for any energy.
RULE = Scheme("network", Gonzalez(), 2, "any")
#: A network whose equations have a larger condition number than this does not determine inputs.
CONDITION = 1e13


@dataclass(frozen=True, eq=False)
class Terminals(PHSystem):
    """Ports whose outputs are given: x = y, E = J = 0, B = I. Their flow is the total input."""

    proven = True
    linear = True

    @property
    def storages(self) -> tuple[Storage, ...]:
        """None."""
        return ()

    def E(self, x: Vector) -> Matrix:
        """Return 0."""
        return self._no_dissipation

    def J(self, x: Vector) -> Matrix:
        """Return 0."""
        return self._no_dissipation

    def B(self, x: Vector) -> Matrix:
        """Return the identity."""
        return diagonal(np.ones(self.n))

    def z(self, x: Vector) -> Vector:
        """Return the outputs."""
        return x

    def dz(self, x: Vector) -> Matrix:
        """Return the identity."""
        return diagonal(np.ones(self.n))

    def energies(self, x: Vector) -> Vector:
        """Return nothing: there is no energy."""
        return np.zeros(0)

    @property
    def algebraic(self) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(self.n, dtype=bool)

    @cached_property
    def operations(self) -> Written:
        """The same, without storage."""
        zero, one = np.zeros((self.n, self.n)), np.eye(self.n)
        return constant(zero, zero, zero, one, one, stores=False)

    def dflow(self, x: Vector, z: Vector, u: Vector) -> None:
        """Return None: nothing depends on the state."""

    def dy(self, x: Vector, z: Vector) -> None:
        """Return None: B is constant."""


@dataclass(frozen=True, eq=False)
class Network:
    """Systems and connections at some ports of a host.

    Parameters
    ----------
    system : Interconnection
        The terminals, one input of the host each, and all that is joined to them.
    inputs : (k,)
        The inputs of the host that the terminals stand for.
    joined : (j,)
        Those of them that connections close: what others put in comes from outside.
    states, open : arrays
        Where the states behind those of the terminals, and the inputs of ports that are left open,
        are in x and u of the whole interconnection.
    regulators : tuple of Bound
        Laws that feed some of its ports, and those terminals that no connection closes.
    """

    system: Interconnection
    inputs: Indices
    joined: Indices
    states: Indices
    open: Indices
    regulators: tuple[Bound, ...] = ()
    _regular: dict[str, bool] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of terminals."""
        return self.inputs.size

    @property
    def direct(self) -> int:
        """Number of terminals that no connection closes: the first inputs of the system."""
        return self.inputs.size - self.joined.size

    @cached_property
    def is_direct(self) -> bool:
        """Whether there is nothing but regulators, without states."""
        return not self.joined.size and self.system.n == self.size

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """The ports of members that are left open, or swapped: those after the terminals'."""
        slices = self.system.port_slices
        return tuple(p for p in self.system.ports if slices[p.name].start >= self.direct)

    @property
    def m(self) -> int:
        """Number of inputs of members that are left open."""
        return self.system.m - self.direct

    def over(self, t: float, x: Vector, u: Vector, h: float) -> "NetworkStep":
        """Return it over a step of size h [s] with midpoint t, from x and with u of the whole."""
        return self.over_own(t, x[self.states], u[self.open], h)

    def over_own(self, t: float, x: Vector, u: Vector, h: float) -> "NetworkStep":
        """Return the same from its own states x and inputs u."""
        start = np.concatenate([np.zeros(self.size), x])
        known = RULE, t, start, np.concatenate([np.zeros(self.direct), u]), h, self.system
        if self.regulators:
            stages = RegulatedStages(*known, self.regulators)
            return (DirectStep if self.is_direct else NetworkStep)(self, stages)
        return NetworkStep(self, GeneralStages(*known))

    def determines_inputs(self, t: float, x: Vector, u: Vector, h: float) -> bool:
        """Return whether outputs determine inputs there; a rigid connection asks for the contrary.

        Asked once for steps of a size.
        """
        size = f"{h:.2e}"
        if size not in self._regular:
            self._regular[size] = self._is_regular(replace(self, regulators=()).over(t, x, u, h))
            if self._regular[size]:
                self._require_no_loop(t, x, u, h)
        return self._regular[size]

    def _require_no_loop(self, t: float, x: Vector, u: Vector, h: float) -> None:
        """Refuse regulators that read what they feed at the same instant, and leave it open."""
        instant = self.system.algebraic[self.size :].any()
        if self.regulators and instant and not self._is_regular(self.over(t, x, u, h)):
            names = ", ".join(f"'{each.regulator.name}'" for each in self.regulators)
            raise InputError(
                f"controllers {names}: their channels depend on their own outputs at the same "
                "instant, a singular algebraic loop; use a sampled controller for one of them "
                "(every=...)"
            )

    def _is_regular(self, step: "NetworkStep") -> bool:
        try:
            T = step.blocks(step.stages.x0)[1][1]
        except np.linalg.LinAlgError:
            return False
        if not T.size:
            return True
        rows = abs(T).max(axis=1, keepdims=True)
        columns = abs(T / np.where(rows > 0, rows, 1.0)).max(axis=0)
        scaled = T / np.where(rows > 0, rows, 1.0) / np.where(columns > 0, columns, 1.0)
        return bool(np.linalg.cond(scaled) < CONDITION)

    @cached_property
    def linear(self) -> LinearNetwork | None:
        """Its matrices, if all members and regulators are linear."""
        linear = self.system.linear and all(bound.linear for bound in self.regulators)
        return LinearNetwork.of(self) if linear else None

    @cached_property
    def joined_ports(self) -> tuple[Port, ...]:
        """The ports of members that are used up, without those of the host."""
        taken = {port.name for port in self.system.parts[0].ports}
        return tuple(port for port in self.system.connected if port.name not in taken)

    def port_values(self, x: Vector, z: Vector, u: Vector) -> list[tuple[Vector, Vector]]:
        """Return (u, y) of the ports of members that are used up."""
        values = self.system.connected_values(x, z, u)
        own = {port.name for port in self.joined_ports}
        named = zip(self.system.connected, values, strict=True)
        return [pair for port, pair in named if port.name in own]


@dataclass(frozen=True, eq=False)
class NetworkStep:
    """A network over one step: inputs of the host as a function of its outputs."""

    network: Network
    stages: GeneralStages
    _known: dict[bytes, tuple[Vector, Vector, Array]] = field(default_factory=dict)

    def __call__(self, y: Vector) -> tuple[Vector, Array]:
        """Return the inputs u (k,) at outputs y (k,), and du/dy (k, k)."""
        return self._solved(y)[1:]

    def finish(self, y: Vector) -> tuple[Vector, Stage]:
        """Return the states behind the terminals after the step, and the stage of the network."""
        x1, stage = self.stages.finish(self._solved(y)[0])
        return x1[self.network.size :], stage

    def blocks(self, w: Vector) -> tuple[Vector, tuple[Array, Array, Array, Array]]:
        """Return the residual at w, and its derivatives by blocks.

        These are (outputs, outputs), (others, others), (outputs, others), (others, outputs).
        """
        k, here = self.network.size, self.stages.evaluate(w)
        tangent = here.tangent()
        T = dense(tangent.T) + tangent.U @ tangent.V.T
        return here.F, (T[:k, :k], T[k:, k:], T[:k, k:], T[k:, :k])

    def _solved(self, y: Vector) -> tuple[Vector, Vector, Array]:
        """Return the unknowns of the network, u and du/dy; what was asked for last is known."""
        key = y.tobytes()
        if key not in self._known:
            found = self._solve(y)
            self._known.clear()
            self._known[key] = found
        return self._known[key]

    def _solve(self, y: Vector) -> tuple[Vector, Vector, Array]:
        k, h, linear = self.network.size, self.stages.h, self.network.linear
        if linear is not None:
            linear = linear.over(h)
            outer = self.stages.u[self.network.direct :]
            xi, u = linear.solution(self.stages.x0[k:], np.concatenate([y, outer]), h)
            x1 = np.where(linear.algebraic, xi, 2 * xi - self.stages.x0[k:])
            return np.concatenate([y, x1]), u[:k], linear.solved(h)[1]

        def behind(w: Vector) -> Evaluation:
            here = self.stages.evaluate(np.concatenate([y, w]))

            def tangent() -> Tangent:
                T = here.tangent()
                return Tangent(dense(T.T)[k:, k:], T.U[k:], T.V[k:])

            return Evaluation(here.F[k:], here.sizes[k:], tangent)

        w = self.stages.x0[k:]
        if w.size:
            w = solve(behind, w, Newton(), self.stages.labels[k:]).x
        w = np.concatenate([y, w])
        F, (T_yy, T_ww, T_yw, T_wy) = self.blocks(w)
        S = T_yy - (T_yw @ np.linalg.solve(T_ww, T_wy) if len(T_ww) else 0.0)
        # The terminals have no derivative: their residual is -h times the input.
        return w, -F[:k] / h, -S / h


@dataclass(frozen=True, eq=False)
class DirectStep(NetworkStep):
    """The same where outputs meet nothing but the laws of regulators: there is nothing to solve."""

    def finish(self, y: Vector) -> tuple[Vector, Stage]:
        """Return no states, and the stage of the laws."""
        (w, u, _), own = self._solved(y), self.stages
        outer = filled(self.network.regulators, own.t, y, own.u, own.h)[w.size :]
        outputs = np.concatenate([w, np.zeros(outer.size)])
        return np.zeros(0), Stage(w, w, np.concatenate([u, outer]), outputs)

    def _solve(self, y: Vector) -> tuple[Vector, Vector, Array]:
        if self.network.linear is not None:
            return super()._solve(y)
        bound, t, h = self.network.regulators, self.stages.t, self.stages.h
        u = filled(bound, t, y, self.stages.u, h)
        return y, u[: y.size], dfilled(bound, t, y, u, h)[: y.size]


@dataclass(frozen=True, eq=False)
class Attached:
    """A network at ports of a host; over a step, if one is in hand."""

    network: Network
    step: NetworkStep | None = None


# -- of an interconnection -------------------------------------------------------------------------


def networks_of(whole: Interconnection, host: int) -> tuple[Network, ...] | None:
    """Return what is joined to the ports of a part, one network for each group of members.

    None if a connection depends on the state of the host, or a part hangs together with nothing.
    """
    laws = [link.connection for link in whole.links]
    for law, link in zip(laws, whole.links, strict=True):
        touches = any(place.owner == host for place in link.places)
        if touches and isinstance(law, Coupling) and callable(law.C):
            return None
    return tuple(_network(whole, host, *group) for group in _groups(whole, host))


#: Members by their numbers, connections, and regulators.
Group: TypeAlias = tuple[list[int], list[Link], list[Regulator]]


def _groups(whole: Interconnection, host: int) -> list[Group]:
    """Return the parts besides the host in groups that hang together, and what joins them."""
    owners = {p.name: k for k, part in enumerate(whole.parts) for p in part.ports}
    owners |= {s.name: k for k, part in enumerate(whole.parts) for s in part.states}

    def node(name: str) -> int | str:
        """Return the member that has a port or a state; ports of the host are their own nodes."""
        return name if owners[name] == host else owners[name]

    joins: list[tuple[Link | Regulator, list[int | str]]] = [
        (link, [node(name) for name in link.connection.ports]) for link in whole.links
    ]
    for regulator in whole.regulators:
        states = [r.source for r in regulator.reads if r.kind == "state"]
        joins.append((regulator, [node(name) for name in (*regulator.ports, *states)]))
    group: dict[int | str, set[int | str]] = {k: {k} for k in range(len(whole.parts)) if k != host}
    for _, nodes in joins:
        joined = set(nodes).union(*(group.get(each, set()) for each in nodes))
        for each in joined:
            group[each] = joined
    found: list[Group] = []
    for members in {id(each): each for each in group.values()}.values():
        own = [join for join, nodes in joins if members.intersection(nodes)]
        links = [each for each in own if isinstance(each, Link)]
        regulators = [each for each in own if isinstance(each, Regulator)]
        found.append((sorted(k for k in members if isinstance(k, int)), links, regulators))
    return found


def _network(
    whole: Interconnection,
    host: int,
    members: Sequence[int],
    links: Sequence[Link],
    regulators: Sequence[Regulator],
) -> Network:
    joined = [p for link in links for p in link.places if p.owner == host]
    known = {place.port.name for place in joined}
    inlet, ports_of = whole.inlets[host], whole.parts[host].port_slices
    names = dict.fromkeys(name for each in regulators for name in each.ports if name in ports_of)
    direct = [whole.parts[host].port(name) for name in names if name not in known]
    places = [place.inputs - inlet.start for place in joined]
    places += [np.arange(ports_of[p.name].start, ports_of[p.name].stop) for p in direct]
    ports = tuple(
        Port(p.name, p.size, p.u_unit, p.y_unit) for p in (*(at.port for at in joined), *direct)
    )
    states = tuple(State(f"output of {port.name}", port.size) for port in ports)
    parts = (Terminals("terminals", states, ports), *(whole.parts[k] for k in members))
    system = interconnect(*parts, connections=[link.connection for link in links])
    spans, none = [whole.spans[k] for k in members], np.zeros(0, dtype=np.intp)
    behind = [np.arange(span.start, span.stop) for span in spans]
    behind += [np.arange(link.rows.start, link.rows.stop) for link in links]
    indices, nowhere = np.arange(whole.m), slice(0, 0)
    outputs = {port.name: system.slices[f"output of {port.name}"] for port in ports}
    first = sum(port.size for port in direct)
    left = [port for port in system.ports if system.port_slices[port.name].start >= first]
    return Network(
        system=system,
        inputs=np.concatenate([none, *places]),
        joined=np.concatenate([none, *places[: len(joined)]]),
        states=np.concatenate([none, *behind]),
        open=np.concatenate(
            [none, *(indices[whole.port_slices.get(p.name, nowhere)] for p in left)]
        ),
        regulators=tuple(
            Bound.to(each, outputs, system.slices, system.port_slices) for each in regulators
        ),
    )
