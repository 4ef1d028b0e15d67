r"""Networks: what an interconnection joins to the ports of one part, seen from that part.

Over a time step, all other parts and connections are a relation between the outputs y and the
inputs u of those ports. Solved for u it is a law,

.. math:: u = u(y), \qquad S = \partial u / \partial y ,

that closes the ports of the part, which is called the host: a mechanism then takes the step by its
own equations, in either engine, and the network follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.connections import Coupling
from poinsot.ph.general_stages import GeneralStages
from poinsot.ph.gradients import Gonzalez
from poinsot.ph.interconnect import interconnect
from poinsot.ph.interconnection import Interconnection, Link
from poinsot.ph.matrices import Array, Matrix, Vector, assemble, dense, diagonal
from poinsot.ph.newton import solve
from poinsot.ph.ports import Port
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
    states, open : arrays
        Where the states behind those of the terminals, and the inputs of ports that are left open,
        are in x and u of the whole interconnection.
    """

    system: Interconnection
    inputs: Indices
    states: Indices
    open: Indices
    _regular: dict[str, bool] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of terminals."""
        return self.inputs.size

    def over(self, t: float, x: Vector, u: Vector, h: float) -> "NetworkStep":
        """Return it over a step of size h [s] with midpoint t, from x and with u of the whole."""
        return self.over_own(t, x[self.states], u[self.open], h)

    def over_own(self, t: float, x: Vector, u: Vector, h: float) -> "NetworkStep":
        """Return the same from its own states x and inputs u."""
        start = np.concatenate([np.zeros(self.size), x])
        return NetworkStep(self, GeneralStages(RULE, t, start, u, h, self.system))

    def determines_inputs(self, t: float, x: Vector, u: Vector, h: float) -> bool:
        """Tell whether outputs determine inputs there; a rigid connection asks for the contrary.

        Asked once for steps of a size.
        """
        size = f"{h:.2e}"
        if size not in self._regular:
            self._regular[size] = self._is_regular(self.over(t, x, u, h))
        return self._regular[size]

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
    def linear(self) -> "LinearNetwork | None":
        """Its matrices, if all members are linear."""
        return LinearNetwork.of(self) if self.system.linear else None

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
            xi, u = linear.solution(self.stages.x0[k:], np.concatenate([y, self.stages.u]), h)
            x1 = np.where(linear.algebraic, xi, 2 * xi - self.stages.x0[k:])
            return np.concatenate([y, x1]), u[:k], linear.over(h)[1]

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
        S = T_yy - T_yw @ np.linalg.solve(T_ww, T_wy)
        # The terminals have no derivative: their residual is -h times the input.
        return w, -F[:k] / h, -S / h


@dataclass(frozen=True, eq=False)
class Attached:
    """A network at ports of a host; over a step, if one is in hand."""

    network: Network
    step: NetworkStep | None = None


# -- linear networks -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LinearNetwork:
    r"""A network of linear systems by its matrices, with s = (\xi, w), w = (y, inputs left open).

    .. math::

        2 E (\xi - x_0) = h (M \xi + B w), \quad
        (u, u_p, y_p) = O s, \quad \text{power lost} = s^\top P s, \quad H = \tfrac12 x^\top Q x

    \xi are the states behind the terminals at the midpoint of a step, u the inputs of the host,
    (u_p, y_p) those of all ports of its members, `through` numbers each: first of those used up,
    then of those left open.
    """

    E: Array
    M: Array
    B: Array
    O: Array
    P: Array
    Q: Array
    through: int
    algebraic: NDArray[np.bool_]
    _known: dict[float, tuple[Array, Array]] = field(default_factory=dict)

    def over(self, h: float) -> tuple[Array, Array]:
        """Return (2 E - h M)^-1 and S = du/dy for steps of size h [s]; the last are known."""
        if h not in self._known:
            n, k = len(self.E), self.O.shape[0] - 2 * self.through
            inverse = np.linalg.inv(2 * self.E - h * self.M)
            S = self.O[:k, :n] @ inverse @ (h * self.B[:, :k]) + self.O[:k, n : n + k]
            self._known.clear()
            self._known[h] = np.asarray(inverse, dtype=float), S
        return self._known[h]

    def solution(self, x0: Vector, w: Vector, h: float) -> tuple[Vector, Vector]:
        """Return xi over a step of size h [s] from x0, refined once, and O s."""
        inverse, _ = self.over(h)
        xi = x0
        for _ in range(2):
            residual = 2 * self.E @ (x0 - xi) + h * (self.M @ xi + self.B @ w)
            xi = xi + inverse @ residual
        return xi, self.O @ np.concatenate([xi, w])

    @classmethod
    def of(cls, network: Network) -> "LinearNetwork":
        """Return the matrices of a network all of whose members are linear."""
        system, k = network.system, network.size
        x = np.zeros(system.n)
        dz, B, E = dense(system.dz(x)), dense(system.B(x)), dense(system.E(x))
        A = dense(system.dflow_dz(x, x)) @ dz
        # From (y, xi, inputs) to (xi, y, inputs).
        order = np.concatenate(
            [np.arange(k, system.n), np.arange(k), system.n + np.arange(system.m)]
        )
        flows, R = np.hstack([A, B]), dz.T @ dense(system.R(x)) @ dz
        lost = dense(assemble((order.size, order.size), [(0, 0, R)]))

        def ports(s: Vector) -> Vector:
            x, u = s[: system.n], s[system.n :]
            z = dz @ x
            values = [*network.port_values(x, z, u), (u, B.T @ z)]
            return np.concatenate([pair[side] for side in (0, 1) for pair in values])

        unit = np.eye(order.size)
        through = np.stack([ports(column) for column in unit], axis=1)
        return cls(
            E=E[k:, k:],
            M=A[k:, k:],
            B=flows[k:][:, order[system.n - k :]],
            O=np.vstack([flows[:k], through])[:, order],
            P=lost[np.ix_(order, order)],
            Q=E[k:, k:].T @ dz[k:, k:],
            through=len(through) // 2,
            algebraic=system.algebraic[k:],
        )


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
    return tuple(_network(whole, host, members, links) for members, links in _groups(whole, host))


def _groups(whole: Interconnection, host: int) -> list[tuple[list[int], list[Link]]]:
    """Return the parts besides the host in groups that hang together, with their connections."""
    group = {k: {k} for k in range(len(whole.parts)) if k != host}
    of_link: list[tuple[set[int], Link]] = []
    for link in whole.links:
        joined = set().union(*(group.get(place.owner, set()) for place in link.places))
        for k in joined:
            group[k] = joined
        of_link.append((joined, link))
    found: list[tuple[list[int], list[Link]]] = []
    for members in {id(each): each for each in group.values()}.values():
        own = [link for _, link in of_link if any(p.owner in members for p in link.places)]
        found.append((sorted(members), own))
    found += [([], [link]) for joined, link in of_link if not joined]
    return found


def _network(
    whole: Interconnection, host: int, members: Sequence[int], links: Sequence[Link]
) -> Network:
    places = [p for link in links for p in link.places if p.owner == host]
    ports = tuple(Port(p.port.name, p.port.size, p.port.u_unit, p.port.y_unit) for p in places)
    states = tuple(State(f"output of {port.name}", port.size) for port in ports)
    parts = (Terminals("terminals", states, ports), *(whole.parts[k] for k in members))
    system = interconnect(*parts, connections=[link.connection for link in links])
    spans, none = [whole.spans[k] for k in members], np.zeros(0, dtype=np.intp)
    behind = [np.arange(span.start, span.stop) for span in spans]
    behind += [np.arange(link.rows.start, link.rows.stop) for link in links]
    indices = np.arange(whole.m)
    nowhere = slice(0, 0)
    left = [indices[whole.port_slices.get(port.name, nowhere)] for port in system.ports]
    first = whole.inlets[host].start
    return Network(
        system=system,
        inputs=np.concatenate([none, *(place.inputs - first for place in places)]),
        states=np.concatenate([none, *behind]),
        open=np.concatenate([none, *left]),
    )
