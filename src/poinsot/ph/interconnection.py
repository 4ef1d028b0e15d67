"""Several systems joined at their ports, as one system."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.connections import Connection
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem, Storage


@dataclass(frozen=True)
class Place:
    """Where a port lives: which part, and which columns of that part's B."""

    part: int
    columns: slice

    @property
    def width(self) -> int:
        """Size of the port."""
        return int(self.columns.stop - self.columns.start)


@dataclass(frozen=True)
class Link:
    """A connection put in its place: the joined ports, the systems that own them, its rows."""

    connection: Connection
    places: tuple[Place, ...]
    joined: tuple[Port, ...]
    rows: slice

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of the joined ports."""
        return tuple(port.size for port in self.joined)

    @property
    def pieces(self) -> Iterator[tuple[Place, slice]]:
        """Each place with its part of the stacked vector of all joined ports."""
        start = 0
        for place, size in zip(self.places, self.sizes, strict=True):
            yield place, slice(start, start + size)
            start += size


@dataclass(frozen=True, eq=False)
class Interconnection(PHSystem):
    r"""Several systems joined at their ports. Made by `interconnect`.

    With B_c the columns of the joined ports and (K, N, D) the connection's law,

    .. math::

        J = \begin{bmatrix} J_i - B_c K B_c^\top & B_c N \\ -N^\top B_c^\top & 0 \end{bmatrix},
        \quad R = R_i + B_c D B_c^\top, \quad H = \sum_i H_i

    which is [LKB26, eq. (44)] and [BAPM21, sec. 5.1] for the transformer, and skew by construction.
    """

    parts: tuple[PHSystem, ...]
    links: tuple[Link, ...]
    outer: tuple[Place, ...]
    used: tuple[Port, ...]

    # -- layout -------------------------------------------------------------------------------

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Where each part's states live in x."""
        ends = np.cumsum([0, *(part.n for part in self.parts)])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @cached_property
    def inner(self) -> int:
        """How many states belong to the parts; the rest are multipliers."""
        return sum(part.n for part in self.parts)

    @cached_property
    def outer_width(self) -> int:
        """How many columns of B belong to the parts' own ports; the rest are swapped ports."""
        return sum(place.width for place in self.outer)

    @cached_property
    def exposures(self) -> tuple[Link, ...]:
        """The links that open a port of their own."""
        return tuple(link for link in self.links if link.connection.exposed(link.joined))

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """The parts' algebraic states, and every multiplier."""
        multipliers = self.n - self.inner
        return np.concatenate(
            [*(p.algebraic for p in self.parts), np.ones(multipliers, dtype=bool)]
        )

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

    def _split(self, x: Vector) -> list[Vector]:
        return [x[span] for span in self.spans]

    def _law(
        self, link: Link, xs: Sequence[Vector]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        C = link.connection.coupling(link.sizes, [xs[place.part] for place in link.places])
        return link.connection.matrices(C, link.sizes)

    def _link_y(self, link: Link, xs: Sequence[Vector], zs: Sequence[Vector]) -> Vector:
        """Return the outputs of the joined ports, one after the other."""
        ys = [self.parts[p.part].y(xs[p.part], zs[p.part])[p.columns] for p in link.places]
        return np.concatenate(ys)

    def _inputs(self, x: Vector, z: Vector, u: Vector) -> tuple[list[Vector], list[Vector]]:
        """Return the total input of every part, and y of every link."""
        xs, zs = self._split(x), self._split(z)
        us = [np.zeros(part.m) for part in self.parts]
        start = 0
        for place in self.outer:
            us[place.part][place.columns] += u[start : start + place.width]
            start += place.width
        link_ys = []
        for link in self.links:
            y = self._link_y(link, xs, zs)
            K, N = self._law(link, xs)
            total = N @ z[link.rows] - K @ y
            D, rho = link.connection.conductance(y.size), link.connection.rho(y)
            if D is not None:
                total = total - D @ y
            if rho is not None:
                total = total - rho[0]
            for place, piece in link.pieces:
                us[place.part][place.columns] += total[piece]
            link_ys.append(y)
        return us, link_ys

    # -- the ingredients ----------------------------------------------------------------------

    def _blocks(self, matrices: Sequence[Matrix]) -> list[Placed]:
        return [(s.start, s.start, block) for s, block in zip(self.spans, matrices, strict=True)]

    def _joined_B(self, link: Link, xs: Sequence[Vector]) -> list[tuple[int, slice, Matrix]]:
        """Return (row of the part, piece of the stacked ports, columns of B) for each port."""
        return [
            (
                self.spans[place.part].start,
                piece,
                self.parts[place.part].B(xs[place.part])[:, place.columns],
            )
            for place, piece in link.pieces
        ]

    def _between_ports(
        self, link: Link, xs: Sequence[Vector], M: NDArray[np.float64]
    ) -> Iterator[Placed]:
        """Yield the blocks of B_c M B_c^T."""
        joined = self._joined_B(link, xs)
        for row, p, left in joined:
            for column, q, right in joined:
                yield row, column, left @ M[p, q] @ right.T

    def E(self, x: Vector) -> Matrix:
        """Return diag(E_i, 0)."""
        xs = self._split(x)
        blocks = self._blocks([p.E(xi) for p, xi in zip(self.parts, xs, strict=True)])
        return assemble((self.n, self.n), blocks)

    def J(self, x: Vector) -> Matrix:
        """Return the joined structure matrix."""
        xs = self._split(x)
        placed = self._blocks([p.J(xi) for p, xi in zip(self.parts, xs, strict=True)])
        for link in self.links:
            K, N = self._law(link, xs)
            placed.extend(self._between_ports(link, xs, -K))
            for row, piece, B in self._joined_B(link, xs):
                block = B @ N[piece]
                placed += [(row, link.rows.start, block), (link.rows.start, row, -block.T)]
        return assemble((self.n, self.n), placed)

    def R(self, x: Vector) -> Matrix:
        """Return the joined linear dissipation."""
        xs = self._split(x)
        placed = self._blocks([p.R(xi) for p, xi in zip(self.parts, xs, strict=True)])
        for link in self.links:
            D = link.connection.conductance(sum(link.sizes))
            if D is not None:
                placed.extend(self._between_ports(link, xs, D))
        return assemble((self.n, self.n), placed)

    def B(self, x: Vector) -> Matrix:
        """Return the columns of the ports that are left."""
        xs = self._split(x)
        placed: list[Placed] = []
        column = 0
        for place in self.outer:
            B = self.parts[place.part].B(xs[place.part])[:, place.columns]
            placed.append((self.spans[place.part].start, column, B))
            column += B.shape[1]
        for link in self.exposures:
            size = sum(link.sizes)
            placed.append((link.rows.start, column, np.eye(size)))
            column += size
        return assemble((self.n, self.m), placed)

    def z(self, x: Vector) -> Vector:
        """Return the parts' costates and the multipliers."""
        xs = self._split(x)
        zs = [part.z(xi) for part, xi in zip(self.parts, xs, strict=True)]
        return np.concatenate([*zs, x[self.inner :]])

    def energies(self, x: Vector) -> Vector:
        """Return the energies of all parts' storages [J]."""
        return np.concatenate(
            [part.energies(xi) for part, xi in zip(self.parts, self._split(x), strict=True)]
        )

    def flow(self, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return every part's flow under its total input, and w - N^T y for every link."""
        xs, zs = self._split(x), self._split(z)
        us, ys = self._inputs(x, z, u)
        total = np.zeros(self.n)
        for part, span, xi, zi, ui in zip(self.parts, self.spans, xs, zs, us, strict=True):
            total[span] = part.flow(xi, zi, ui)
        for link, y in zip(self.links, ys, strict=True):
            total[link.rows] = -self._law(link, xs)[1].T @ y
        start = self.outer_width
        for link in self.exposures:
            size = sum(link.sizes)
            total[link.rows] += u[start : start + size]
            start += size
        return total

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the parts' nonlinear dissipation, and B_c rho(B_c^T z) of nonlinear resistors."""
        xs, zs = self._split(x), self._split(z)
        total = np.zeros(self.n)
        for part, span, xi, zi in zip(self.parts, self.spans, xs, zs, strict=True):
            r = part.r(xi, zi)
            if r is not None:
                total[span] = r
        for link in self.links:
            rho = link.connection.rho(self._link_y(link, xs, zs))
            if rho is not None:
                for (place, piece), (_, _, B) in zip(
                    link.pieces, self._joined_B(link, xs), strict=True
                ):
                    total[self.spans[place.part]] += B @ rho[0][piece]
        return total

    # -- tangents -----------------------------------------------------------------------------

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of E(x) a."""
        placed: list[Placed] = []
        for part, span in zip(self.parts, self.spans, strict=True):
            block = part.dE(x[span], a[span])
            if block is not None:
                placed.append((span.start, span.start, block))
        return assemble((self.n, self.n), placed) if placed else None

    def dz(self, x: Vector) -> Matrix:
        """Return the parts' dz, and the identity on the multipliers."""
        inner = self.inner
        placed = self._blocks([p.dz(xi) for p, xi in zip(self.parts, self._split(x), strict=True)])
        if inner < self.n:
            placed.append((inner, inner, np.eye(self.n - inner)))
        return assemble((self.n, self.n), placed)

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return d flow/dx: of every part at its total input, and of that input itself."""
        xs, zs = self._split(x), self._split(z)
        us, ys = self._inputs(x, z, u)
        placed: list[Placed] = []
        for part, span, xi, zi, ui in zip(self.parts, self.spans, xs, zs, us, strict=True):
            block = part.dflow(xi, zi, ui)
            if block is not None:
                placed.append((span.start, span.start, block))
        for link, y in zip(self.links, ys, strict=True):
            K, N = self._law(link, xs)
            D, rho = link.connection.conductance(y.size), link.connection.rho(y)
            gain = -K if D is None else -K - D
            gain = gain if rho is None else gain - rho[1]
            joined = self._joined_B(link, xs)
            # The output moves with the state: u and the constraint follow it.
            for place, piece in link.pieces:
                dy = self.parts[place.part].dy(xs[place.part], zs[place.part])
                if dy is None:
                    continue
                column, dy_piece = self.spans[place.part].start, dy[place.columns]
                placed += [(row, column, B @ (gain[p, piece] @ dy_piece)) for row, p, B in joined]
                placed.append((link.rows.start, column, -N[piece].T @ dy_piece))
            # The coupling matrix moves with the state.
            dC = link.connection.coupling_tangent(
                link.sizes, [xs[place.part] for place in link.places]
            )
            if dC is None:
                continue
            K0, N0 = link.connection.matrices(np.zeros(dC.shape[:2]), link.sizes)
            slopes = [link.connection.matrices(dC[:, :, k], link.sizes) for k in range(dC.shape[2])]
            lam = z[link.rows]
            du = np.stack([(N_k - N0) @ lam - (K_k - K0) @ y for K_k, N_k in slopes], axis=1)
            dc = np.stack([-(N_k - N0).T @ y for _, N_k in slopes], axis=1)
            start = 0
            for place in link.places:
                column, width = self.spans[place.part].start, self.parts[place.part].n
                part_of_x = slice(start, start + width)
                placed += [(row, column, B @ du[p, part_of_x]) for row, p, B in joined]
                placed.append((link.rows.start, column, dc[:, part_of_x]))
                start += width
        return assemble((self.n, self.n), placed) if placed else None

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return dr/dz of the parts and of nonlinear resistors."""
        xs, zs = self._split(x), self._split(z)
        placed: list[Placed] = []
        for part, span, xi, zi in zip(self.parts, self.spans, xs, zs, strict=True):
            block = part.dr_dz(xi, zi)
            if block is not None:
                placed.append((span.start, span.start, block))
        for link in self.links:
            rho = link.connection.rho(self._link_y(link, xs, zs))
            if rho is not None:
                placed.extend(self._between_ports(link, xs, rho[1]))
        return assemble((self.n, self.n), placed) if placed else None

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return d(B^T z)/dx of the ports that are left."""
        placed: list[Placed] = []
        row = 0
        for place in self.outer:
            span = self.spans[place.part]
            dy = self.parts[place.part].dy(x[span], z[span])
            if dy is not None:
                placed.append((row, span.start, dy[place.columns]))
            row += place.width
        return assemble((self.m, self.n), placed) if placed else None

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs with those filled in that the parts derive from the state."""
        total, start = u.copy(), 0
        xs, zs = self._split(x), self._split(z)
        for place in self.outer:
            part, columns = self.parts[place.part], place.columns
            piece = slice(start, start + place.width)
            inner = np.zeros(part.m)
            inner[columns] = u[piece]
            total[piece] = part.feedback(t, xs[place.part], zs[place.part], inner)[columns]
            start = piece.stop
        return total

    def connected_values(self, x: Vector, z: Vector, u: Vector) -> list[tuple[Vector, Vector]]:
        """Return (u, y) of every connected port: inside the parts, then of every link."""
        xs, zs = self._split(x), self._split(z)
        us, ys = self._inputs(x, z, u)
        values = [
            pair
            for part, xi, zi, ui in zip(self.parts, xs, zs, us, strict=True)
            for pair in part.connected_values(xi, zi, ui)
        ]
        for link, y in zip(self.links, ys, strict=True):
            for place, piece in link.pieces:
                values.append((us[place.part][place.columns], y[piece]))
        return values
