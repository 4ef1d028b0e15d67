"""The equations of several systems connected at their ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.connections import Connection
from poinsot.ph.matrices import (
    Array,
    Matrix,
    Placed,
    Vector,
    alike,
    assemble,
    balancing,
    diagonal,
    total,
)
from poinsot.ph.operations import JoinedOperations
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem, Storage

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """A port, the part that it belongs to, and its inputs among those of all parts."""

    owner: int
    port: Port
    inputs: NDArray[np.intp]


@dataclass(frozen=True)
class Link:
    """A connection: its ports, where they are among all joined ones, and its multipliers in x.

    `opened` are the inputs of the port that it leaves open, among all of these.
    """

    connection: Connection
    places: tuple[Place, ...]
    inputs: slice
    rows: slice
    opened: slice

    @property
    def opens(self) -> bool:
        """Whether it leaves a port open."""
        return bool(self.opened.stop > self.opened.start)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of the joined ports."""
        return tuple(place.port.size for place in self.places)


class AtPorts(NamedTuple):
    """Joined systems at a state: inputs of all parts; outputs, K, N and rho of joined ports."""

    inputs: Vector
    y: Vector
    K: Matrix
    N: Matrix
    rho: tuple[Vector, Matrix] | None


def _terms(part: PHSystem, x: Vector, sizes: Vector) -> Vector:
    """Return how large the terms of each equation of a part are by nature; (n,)."""
    conduction = part.dflow_dz(x, part.z(x))
    return np.asarray(abs(conduction) @ (abs(part.dz(x)) @ sizes))


@dataclass(frozen=True, eq=False)
class JoinedSystem(PHSystem):
    r"""The equations of several systems joined at their ports.

    With B_c the columns of the joined ports and (K, N, D) the laws of all connections,

    .. math::

        J = \begin{bmatrix} J_i - B_c K B_c^\top & B_c N \\ -N^\top B_c^\top & 0 \end{bmatrix},
        \quad R = R_i + B_c D B_c^\top, \quad H = \sum_i H_i

    which is [LKB26, eq. (44)] and [BAPM21, sec. 5.1] for the transformer, and skew by construction.

    Of the inputs of all parts, one after the other, `joined` are those of the links and `outer`
    those that are left; `exposed` are the rows of x that swapped ports act on, behind these. Last
    come the inputs e that connections leave open, which act by B_c F [LKB26, eq. (44a)].
    """

    parts: tuple[PHSystem, ...]
    links: tuple[Link, ...]
    joined: NDArray[np.intp]
    outer: NDArray[np.intp]
    exposed: NDArray[np.intp]
    used: tuple[Port, ...]

    # -- layout -------------------------------------------------------------------------------

    @cached_property
    def spans(self) -> list[slice]:
        """Where each part's states live in x."""
        return slices(part.n for part in self.parts)

    @cached_property
    def inlets(self) -> list[slice]:
        """Where each part's inputs are among those of all parts."""
        return slices(part.m for part in self.parts)

    @cached_property
    def inner(self) -> int:
        """How many states belong to the parts; the rest are multipliers."""
        return sum(part.n for part in self.parts)

    @cached_property
    def width(self) -> int:
        """How many inputs all parts have together."""
        return sum(part.m for part in self.parts)

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """The parts' algebraic states, and every multiplier."""
        multipliers = np.ones(self.n - self.inner, dtype=bool)
        return np.concatenate([*(part.algebraic for part in self.parts), multipliers])

    def sizes(self, x: Vector) -> Vector:
        """Return the sizes of the parts' states; multipliers balance what these do at the ports."""
        own = self._each(lambda part, x_: part.sizes(x_), x)
        sizes = np.concatenate([*own, abs(x[self.inner :])])
        terms = self._each(lambda part, x_: _terms(part, x_, part.sizes(x_)), x)
        lam = balancing(self.J(x)[: self.inner, self.inner :].T, np.concatenate(terms))
        sizes[self.inner :] = np.maximum(sizes[self.inner :], np.where(lam > 0, lam, 1.0))
        return sizes

    @property
    def start(self) -> Vector:
        """The starts of the parts, and no multipliers."""
        return np.concatenate([*(p.start for p in self.parts), np.zeros(self.n - self.inner)])

    @property
    def proven(self) -> bool:
        """Whether every part is: connections are right by construction."""
        return all(part.proven for part in self.parts)

    @property
    def exact_costate(self) -> bool:
        """Whether that of every part is."""
        return all(part.exact_costate for part in self.parts)

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """The parts' storages: each keeps its own energy balance, also in discrete time."""
        return tuple(
            replace(storage, rows=storage.rows + span.start)
            for part, span in zip(self.parts, self.spans, strict=True)
            for storage in part.storages
        )

    @property
    def connected(self) -> tuple[Port, ...]:
        """The ports used up here and inside the parts."""
        return self.used

    def prefixed(self, prefix: str) -> Self:
        """Return the system with `prefix.` before the name of every state and port."""
        used = tuple(replace(p, name=f"{prefix}.{p.name}") for p in self.used)
        return replace(super().prefixed(prefix), used=used)

    # -- parts and connections, all of a kind together ----------------------------------------

    def _each(
        self, value: Callable[..., T], *vectors: Vector, inputs: Vector | None = None
    ) -> list[T]:
        """Return a value of every part at its share of x, z, ... and of the inputs of all parts."""
        shares = [[vector[span] for span in self.spans] for vector in vectors]
        if inputs is not None:
            shares.append([inputs[inlet] for inlet in self.inlets])
        return [value(*share) for share in zip(self.parts, *shares, strict=True)]

    def _placed(self, blocks: Sequence[Matrix | None], *, inputs: str = "") -> list[Placed]:
        """Return blocks of parts on the diagonal; `inputs`: whether their rows or columns are."""
        rows = self.inlets if inputs == "rows" else self.spans
        columns = self.inlets if inputs == "columns" else self.spans
        places = zip(rows, columns, blocks, strict=True)
        return [(row.start, column.start, b) for row, column, b in places if b is not None]

    def _B(self, x: Vector) -> Matrix:
        """Return the port matrix of all parts, from which `joined` and `outer` take columns."""
        blocks = self._each(lambda part, x: part.B(x), x)
        return assemble((self.inner, self.width), self._placed(blocks, inputs="columns"))

    def _dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of the outputs of all parts by their states."""
        blocks = self._each(lambda part, x, z: part.dy(x, z), x, z)
        placed = self._placed(blocks, inputs="rows")
        return assemble((self.width, self.inner), placed) if placed else None

    def _states(self, link: Link, x: Vector) -> list[Vector]:
        """Return the states of the systems that a link joins."""
        return [x[self.spans[place.owner]] for place in link.places]

    def _laws(self, x: Vector) -> tuple[Matrix, Matrix]:
        """Return K and N of all connections."""
        return self._laws_at(x) if self._fixed_laws is None else self._fixed_laws

    @cached_property
    def _fixed_laws(self) -> tuple[Matrix, Matrix] | None:
        """K and N of connections that are constant; None: they are not."""
        modulated = any(link.connection.modulated for link in self.links)
        return None if modulated else self._laws_at(self.start)

    def _laws_at(self, x: Vector) -> tuple[Matrix, Matrix]:
        K: list[Placed] = []
        N: list[Placed] = []
        for link in self.links:
            C = link.connection.coupling(link.sizes, self._states(link, x))
            K_, N_ = link.connection.matrices(C, link.sizes)
            K.append((link.inputs.start, link.inputs.start, K_))
            N.append((link.inputs.start, link.rows.start - self.inner, N_))
        m = self.joined.size
        return assemble((m, m), K), assemble((m, self.n - self.inner), N)

    def _F(self, x: Vector) -> Matrix:
        """Return F of all connections."""
        placed: list[Placed] = [
            (link.inputs.start, link.opened.start, link.connection.opening(link.sizes, xs))
            for link, xs in ((link, self._states(link, x)) for link in self.links if link.opens)
        ]
        return assemble((self.joined.size, self.m - self._closed), placed)

    @cached_property
    def _closed(self) -> int:
        """Where the inputs begin that connections leave open."""
        return self.outer.size + self.exposed.size

    @cached_property
    def _D(self) -> Matrix | None:
        """D of all connections; None: there is no resistor."""
        found = [(link.inputs, link.connection.conductance(sum(link.sizes))) for link in self.links]
        placed = [(at.start, at.start, D) for at, D in found if D is not None]
        return assemble((self.joined.size, self.joined.size), placed) if placed else None

    def _rho(self, y: Vector) -> tuple[Vector, Matrix] | None:
        """Return the nonlinear resistance of all connections and its derivative."""
        rho, slopes = np.zeros(y.size), []
        for link in self.links:
            found = link.connection.rho(y[link.inputs])
            if found is not None:
                rho[link.inputs] = found[0]
                slopes.append((link.inputs.start, link.inputs.start, found[1]))
        return (rho, assemble((y.size, y.size), slopes)) if slopes else None

    def _joined_y(self, x: Vector, z: Vector) -> Vector:
        """Return the outputs of the joined ports."""
        ys = self._each(lambda part, x, z: part.y(x, z), x, z)
        return np.asarray(np.concatenate(ys)[self.joined])

    def _at(self, x: Vector, z: Vector, u: Vector) -> AtPorts:
        """Return the inputs of all parts, and the joined ports."""
        y, (K, N) = self._joined_y(x, z), self._laws(x)
        rho = self._rho(y)
        inputs = np.zeros(self.width)
        inputs[self.outer] = u[: self.outer.size]
        inputs[self.joined] = N @ z[self.inner :] - K @ y
        if self.m > self._closed:
            inputs[self.joined] += self._F(x) @ u[self._closed :]
        if self._D is not None:
            inputs[self.joined] -= self._D @ y
        if rho is not None:
            inputs[self.joined] -= rho[0]
        return AtPorts(inputs, y, K, N, rho)

    # -- the ingredients ----------------------------------------------------------------------

    def _square(self, placed: list[Placed]) -> Matrix:
        return assemble((self.n, self.n), placed)

    @cached_property
    def _fixed_E(self) -> Matrix | None:
        """E that is constant; None: it is not."""
        return None if self.dE(self.start, self.start) is not None else self._E(self.start)

    def E(self, x: Vector) -> Matrix:
        """Return diag(E_i, 0)."""
        return self._E(x) if self._fixed_E is None else self._fixed_E

    def _E(self, x: Vector) -> Matrix:
        return self._square(self._placed(self._each(lambda part, x: part.E(x), x)))

    def J(self, x: Vector) -> Matrix:
        """Return the joined structure matrix."""
        B, (K, N), lam = self._B(x)[:, self.joined], self._laws(x), self.inner
        placed = self._placed(self._each(lambda part, x: part.J(x), x))
        placed.append((0, 0, _between(B, -K)))
        BN = B @ alike(N, B)
        return self._square([*placed, (0, lam, BN), (lam, 0, -BN.T)])

    def R(self, x: Vector) -> Matrix:
        """Return the joined linear dissipation."""
        placed = self._placed(self._each(lambda part, x: part.R(x), x))
        if self._D is not None:
            placed.append((0, 0, _between(self._B(x)[:, self.joined], self._D)))
        return self._square(placed)

    def B(self, x: Vector) -> Matrix:
        """Return the columns of the ports that are left."""
        B, swapped = self._B(x), diagonal(np.ones(self.n))[:, self.exposed]
        left: list[Placed] = [(0, 0, B[:, self.outer]), (0, self.outer.size, swapped)]
        if self.m > self._closed:
            left.append((0, self._closed, B[:, self.joined] @ self._F(x)))
        return assemble((self.n, self.m), left)

    def z(self, x: Vector) -> Vector:
        """Return the parts' costates and the multipliers."""
        return np.concatenate([*self._each(lambda part, x: part.z(x), x), x[self.inner :]])

    def energies(self, x: Vector) -> Vector:
        """Return the energies of all parts' storages [J]."""
        return np.concatenate(self._each(lambda part, x: part.energies(x), x))

    def flow(self, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return every part's flow under its total input, and w - N^T y for every link."""
        at = self._at(x, z, u)
        flows = self._each(lambda part, x, z, u: part.flow(x, z, u), x, z, inputs=at.inputs)
        flow = np.concatenate([*flows, -at.N.T @ at.y])
        flow[self.exposed] += u[self.outer.size : self._closed]
        return flow

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the parts' nonlinear dissipation, and B_c rho(B_c^T z) of nonlinear resistors."""
        rho, effort = self._rho(self._joined_y(x, z)), np.zeros(self.n)
        own = self._each(lambda p, x, z: p.r(x, z), x, z)
        if rho is None and all(r is None for r in own):
            return None
        if rho is not None:
            effort[: self.inner] = self._B(x)[:, self.joined] @ rho[0]
        for span, r in zip(self.spans, own, strict=True):
            if r is not None:
                effort[span] += r
        return effort

    # -- tangents -----------------------------------------------------------------------------

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of E(x) a."""
        placed = self._placed(self._each(lambda part, x, a: part.dE(x, a), x, a))
        return self._square(placed) if placed else None

    def dz(self, x: Vector) -> Matrix:
        """Return the parts' dz, and the identity on the multipliers."""
        placed = self._placed(self._each(lambda part, x: part.dz(x), x))
        return self._square([*placed, (self.inner, self.inner, np.eye(self.n - self.inner))])

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return d flow/dx: of every part at its total input, and of that input itself."""
        inputs, y, K, N, rho = self._at(x, z, u)
        placed = self._placed(
            self._each(lambda part, x, z, u: part.dflow(x, z, u), x, z, inputs=inputs)
        )
        B, dy = self._B(x)[:, self.joined], self._dy(x, z)
        if dy is not None:
            # The output moves with the state: inputs and constraints follow it.
            dy = dy[self.joined]
            gain = -total(K, self._D, None if rho is None else rho[1])
            placed += [(0, 0, B @ alike(gain @ dy, B)), (self.inner, 0, -N.T @ dy)]
        for link in filter(lambda link: link.opens, self.links):
            # So do the directions that are left open.
            dF = link.connection.opening_tangent(link.sizes, self._states(link, x))
            moved = np.einsum("ijk,j->ik", dF, u[self._closed :][link.opened])
            placed += [(0, at, B[:, link.inputs] @ own) for at, own in self._shares(link, moved)]
        for link in self.links:
            # The coupling matrix moves with the state.
            dC = link.connection.coupling_tangent(link.sizes, self._states(link, x))
            if dC is None:
                continue
            K0, N0 = link.connection.matrices(np.zeros(dC.shape[:2]), link.sizes)
            slopes = [link.connection.matrices(dC[:, :, k], link.sizes) for k in range(dC.shape[2])]
            at, lam = y[link.inputs], z[link.rows]
            du = np.stack([(dN - N0) @ lam - (dK - K0) @ at for dK, dN in slopes], axis=1)
            dc = np.stack([-(dN - N0).T @ at for _, dN in slopes], axis=1)
            placed += [(0, at, B[:, link.inputs] @ own) for at, own in self._shares(link, du)]
            placed += [(link.rows.start, at, own) for at, own in self._shares(link, dc)]
        return self._square(placed) if placed else None

    def _shares(self, link: Link, by_x: Array) -> list[tuple[int, Array]]:
        """Return a derivative by the states that a link joins, part by part, with its column."""
        own = slices(self.parts[place.owner].n for place in link.places)
        owners = (self.spans[place.owner].start for place in link.places)
        return [(at, by_x[:, share]) for at, share in zip(owners, own, strict=True)]

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return dr/dz of the parts and of nonlinear resistors."""
        placed = self._placed(self._each(lambda part, x, z: part.dr_dz(x, z), x, z))
        rho = self._rho(self._joined_y(x, z))
        if rho is not None:
            placed.append((0, 0, _between(self._B(x)[:, self.joined], rho[1])))
        return self._square(placed) if placed else None

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return d(B^T z)/dx of the ports that are left."""
        dy = self._dy(x, z)
        placed: list[Placed] = [] if dy is None else [(0, 0, dy[self.outer])]
        if dy is not None and self.m > self._closed:
            placed.append((self._closed, 0, self._F(x).T @ dy[self.joined]))
        for link in filter(lambda link: link.opens, self.links):
            dF = link.connection.opening_tangent(link.sizes, self._states(link, x))
            moved = np.einsum("ijk,i->jk", dF, self._joined_y(x, z)[link.inputs])
            row = self._closed + link.opened.start
            placed += [(row, at, own) for at, own in self._shares(link, moved)]
        return assemble((self.m, self.n), placed) if placed else None

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs with those filled in that the parts derive from the state."""
        inputs, left = np.zeros(self.width), self.outer.size
        inputs[self.outer] = u[:left]
        filled = self._each(lambda part, x, z, u: part.feedback(t, x, z, u), x, z, inputs=inputs)
        return np.concatenate([np.concatenate(filled)[self.outer], u[left:]])

    def connected_values(self, x: Vector, z: Vector, u: Vector) -> list[tuple[Vector, Vector]]:
        """Return (u, y) of every connected port: inside the parts, then of every link."""
        inputs, y, *_ = self._at(x, z, u)
        inside = self._each(
            lambda part, x, z, u: part.connected_values(x, z, u), x, z, inputs=inputs
        )
        ports = slices(size for link in self.links for size in link.sizes)
        here = [(inputs[self.joined[port]], y[port]) for port in ports]
        return [*(pair for values in inside for pair in values), *here]

    # -- what is known of the whole -----------------------------------------------------------

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Whether all parts and connections are."""
        return all(part.linear for part in self.parts) and all(
            link.connection.linear for link in self.links
        )

    @cached_property
    def operations(self) -> JoinedOperations | None:
        """Those of all parts, if connections are constant and leave nothing open."""
        parts = [part.operations for part in self.parts]
        fixed = all(link.connection.linear and not link.opens for link in self.links)
        if not fixed or any(part is None for part in parts):
            return None
        K, N = self._laws(self.start)
        return JoinedOperations(
            parts=[part for part in parts if part is not None],
            shares=[(part.n, part.m) for part in self.parts],
            gain=total(K, self._D),
            N=N,
            joined=self.joined.tolist(),
            outer=self.outer.tolist(),
            exposed=self.exposed.tolist(),
            sizes=[size for link in self.links for size in link.sizes],
        )


def slices(sizes: Iterable[int]) -> list[slice]:
    """Return where blocks of these sizes are, one after the other."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def _between(B: Matrix, M: Matrix) -> Matrix:
    """Return B M B^T."""
    product: Matrix = B @ alike(M, B) @ B.T
    return product
