r"""Rigid and elastic bodies: zeta = (phi, theta, u), velocities w = (v, Omega, v_f) in body axes.

Coordinates of all frames come first, then the elastic coordinates u of one body after the other.
The frames that elastic bodies carry follow from both; joints, forces and ports act on frames, and
on coordinates and velocities by the chain rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies import attached
from poinsot.bodies.flexible import Elastic
from poinsot.frames.parametrisations import Parametrisation
from poinsot.frames.places import WIDTH, frame_vectors
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal, total
from poinsot.systems.by_directors import ByDirectors
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import SIX, RotationBodies

Array = NDArray[np.float64]


class Place(NamedTuple):
    """Where the velocities of an elastic body are: (v, Omega) of its frame, and v_f."""

    rigid: slice
    elastic: slice


@dataclass(frozen=True, eq=False)
class FloatingBodies(ByDirectors):
    """The bodies of a mechanism, some of them elastic, with what acts on them."""

    mechanism: Mechanism
    parametrisation: Parametrisation

    # -- sizes and places ---------------------------------------------------------------------

    @cached_property
    def rigid(self) -> RotationBodies:
        """The frames of all bodies, as those of rigid ones; elastic ones have no inertia there."""
        inertia = self.mechanism.inertia.copy()
        inertia[[body.frame for body in self.elastic]] = 0.0
        return RotationBodies(replace(self.mechanism, inertia=inertia), self.parametrisation)

    @property
    def elastic(self) -> tuple[Elastic, ...]:
        """The elastic bodies."""
        return self.mechanism.elastic

    @cached_property
    def _first(self) -> list[int]:
        return list(accumulate((body.data.n for body in self.elastic), initial=0))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.rigid.n + self._first[-1]

    @property
    def k(self) -> int:
        """Number of velocities."""
        return self.rigid.k + self._first[-1]

    def own(self, x: Array) -> list[Array]:
        """Return the elastic coordinates or velocities x of each elastic body."""
        return np.split(x, self._first[1:-1], axis=-1)

    def each(self) -> Iterator[tuple[Elastic, Place]]:
        """Return elastic bodies, and where their velocities are among those of all."""
        for body, first in zip(self.elastic, self._first, strict=False):
            at = int(self.rigid.velocities.first[body.frame])
            begin = self.rigid.k + first
            yield body, Place(slice(at, at + 6), slice(begin, begin + body.data.n))

    def of(self, w: Vector, at: Place) -> Vector:
        """Return (v, Omega, v_f) of an elastic body."""
        return np.concatenate([w[at.rigid], w[at.elastic]])

    def placed(self, at: Place, block: Array) -> list[Placed]:
        """Return a block (6 + n, 6 + n) of an elastic body, as blocks among all velocities."""
        r, f = at.rigid.start, at.elastic.start
        return [
            (r, r, block[:6, :6]),
            (r, f, block[:6, 6:]),
            (f, r, block[6:, :6]),
            (f, f, block[6:, 6:]),
        ]

    # -- inertia ------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> Vector:
        """The diagonal of the masses of rigid bodies, zero for elastic ones; (k,)."""
        return np.append(self.rigid.weights, np.zeros(self._first[-1]))

    def mass_matrix(self, zeta: Vector) -> Matrix:
        """Return M(u) [BAPM21, eq. (10)]; (k, k)."""
        blocks: list[Placed] = [(0, 0, diagonal(self.weights))]
        for (body, at), u in zip(self.each(), self.deformations(zeta), strict=True):
            blocks += self.placed(at, body.data.mass_matrix(u))
        return assemble((self.k, self.k), blocks)

    def deformations(self, zeta: Array) -> list[Array]:
        """Return u of each elastic body."""
        return self.own(zeta[..., self.rigid.n :])

    @cached_property
    def M(self) -> Matrix:
        """The mass matrix without deformation; (k, k)."""
        return self.mass_matrix(np.zeros(self.n))

    @property
    def massless(self) -> NDArray[np.bool_]:
        """None of the velocities."""
        return np.zeros(self.k, dtype=bool)

    def T(self, w: Vector) -> float:
        """Return the kinetic energy without deformation [J]."""
        return self.kinetic(np.zeros(self.n), w)

    def kinetic(self, zeta: Vector, w: Vector) -> float:
        """Return the kinetic energy [J]."""
        energy = float(self.weights @ w**2)
        for (body, at), u in zip(self.each(), self.deformations(zeta), strict=True):
            own = self.of(w, at)
            energy += float(own @ body.data.momenta(u, own))
        return energy / 2

    # -- gyroscopic forces: on each elastic body, with those of rigid bodies --------------------

    def gyration(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the gyroscopic matrix, skew; (k, k)."""
        split = self.rigid.k
        blocks: list[Placed] = [(0, 0, self.rigid.G(self.weights[:split] * w[:split]))]
        for (body, at), u in zip(self.each(), self.deformations(zeta), strict=True):
            blocks += self.placed(at, -body.data.gyration(u, self.of(w, at)))
        return assemble((self.k, self.k), blocks)

    def dgyration(self, zeta: Vector, w: Vector, a: Vector) -> tuple[Matrix, Matrix]:
        """Return the derivatives of its product with a by zeta (k, n) and by w (k, k)."""
        split, n = self.rigid.k, self.rigid.n
        Gamma = self.weights[:split] * w[:split]
        by_rigid = self.rigid.dG(Gamma, a[:split]) @ diagonal(self.weights[:split])
        by_zeta: list[Placed] = []
        by_w: list[Placed] = [(0, 0, by_rigid)]
        for (body, at), u in zip(self.each(), self.deformations(zeta), strict=True):
            rigid, elastic = at
            own, along = self.of(w, at), self.of(a, at)
            slope, column = -body.data.gyration_by_u(u, own, along), n + elastic.start - split
            by_zeta += [(rigid.start, column, slope[:6]), (elastic.start, column, slope[6:])]
            by_w += self.placed(at, -body.data.gyration_by_w(u, along))
        return assemble((self.k, self.n), by_zeta), assemble((self.k, self.k), by_w)

    def dM(self, zeta: Vector, a: Vector) -> Matrix:
        """Return the derivative of M(u) a by zeta; (k, n)."""
        split, n, blocks = self.rigid.k, self.rigid.n, list[Placed]()
        for (body, (rigid, elastic)), u in zip(self.each(), self.deformations(zeta), strict=True):
            slope = body.data.momenta_by_u(u, self.of(a, Place(rigid, elastic)))
            column = n + elastic.start - split
            blocks += [(rigid.start, column, slope[:6]), (elastic.start, column, slope[6:])]
        return assemble((self.k, self.n), blocks)

    def push(self, zeta: Vector, w: Vector) -> Vector:
        """Return the derivative of the kinetic energy by zeta; (n,)."""
        push = np.zeros(self.n)
        for (body, at), u in zip(self.each(), self.deformations(zeta), strict=True):
            own = self.of(w, at)
            push[self.coordinates(at.elastic)] = body.data.push(u, own, own)
        return push

    def dpush(self, zeta: Vector, w: Vector) -> tuple[Matrix, Matrix]:
        """Return its derivatives by zeta (n, n) and by w (n, k)."""
        by_zeta, by_w = list[Placed](), list[Placed]()
        for (body, (rigid, elastic)), u in zip(self.each(), self.deformations(zeta), strict=True):
            own, row = self.of(w, Place(rigid, elastic)), self.coordinates(elastic).start
            by_zeta.append((row, row, body.data.push_by_u(own, own)))
            slope = 2 * body.data.push_by_w(u, own)
            by_w += [(row, rigid.start, slope[:, :6]), (row, elastic.start, slope[:, 6:])]
        return assemble((self.n, self.n), by_zeta), assemble((self.n, self.k), by_w)

    def coordinates(self, elastic: slice) -> slice:
        """Return where u is among coordinates, of where v_f is among velocities."""
        shift = self.rigid.n - self.rigid.k
        return slice(elastic.start + shift, elastic.stop + shift)

    # -- how frames follow coordinates --------------------------------------------------------

    def directors(self, zeta: Array) -> Array:
        """Return the numbers of all frames; (..., 12 frames)."""
        f = self.rigid.directors(zeta[..., : self.rigid.n])
        frames = frame_vectors(f)
        for body, u in zip(self.elastic, self.deformations(zeta), strict=True):
            carrying, own = frames[..., body.frame, :, :], _carried(body)
            c = attached.coefficients(body.data, u)
            frames[..., own, :, :] = c @ carrying[..., None, 1:, :]
            frames[..., own, 0, :] += carrying[..., None, 0, :]
        return f

    def rates(self, zeta: Array, w: Array) -> Array:
        """Return the velocities of all frames at many states; (states, frames, 4, 3)."""
        frames, k = frame_vectors(self.directors(zeta)), self.rigid.k
        own = self.rigid.velocities.full(w[:, :k]).reshape(len(w), self.count, 2, 3)
        velocity, spin = np.moveaxis(np.einsum("tnji,tnkj->tnki", frames[:, :, 1:], own), 2, 0)
        turning = np.cross(spin[:, :, None], frames[:, :, 1:])
        rates = np.concatenate([velocity[:, :, None], turning], axis=2)
        pieces = zip(self.elastic, self.deformations(zeta), self.own(w[:, k:]), strict=True)
        for body, u, v in pieces:
            carrying, moving = (each[:, None, body.frame] for each in (frames, rates))
            c, dc = attached.coefficients(body.data, u), attached.coefficients_rate(body.data, u, v)
            carried = c @ moving[:, :, 1:] + dc @ carrying[:, :, 1:]
            carried[:, :, 0] += moving[:, :, 0]
            rates[:, _carried(body)] = carried
        return rates

    def _by_frames(self, zeta: Vector) -> Matrix:
        """Return the derivative of all frames by those that are not carried; (12 f, 12 f)."""
        size = self.count * WIDTH
        unit = np.ones((self.count, WIDTH))
        blocks: list[Placed] = []
        for body, u in zip(self.elastic, self.deformations(zeta), strict=True):
            unit[_carried(body)] = 0.0
            for place, c in enumerate(attached.coefficients(body.data, u)):
                block = np.zeros((4, 3, 4, 3))
                block[0, [0, 1, 2], 0, [0, 1, 2]] = 1.0
                block[:, :, 1:] = np.einsum("mi,xy->mxiy", c, np.eye(3))
                at = WIDTH * (body.first + place), WIDTH * body.frame
                blocks.append((*at, block.reshape(WIDTH, WIDTH)))
        return assemble((size, size), [(0, 0, diagonal(unit.reshape(-1))), *blocks])

    def _by_u(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of all frames f by u; (12 frames, elastic coordinates)."""
        blocks: list[Placed] = []
        for body, u, first in zip(self.elastic, self.deformations(zeta), self._first, strict=False):
            d = frame_vectors(f)[body.frame, 1:]
            slope = np.einsum("pmin,ix->pmxn", attached.coefficients_by_u(body.data, u), d)
            blocks.append((WIDTH * body.first, first, slope.reshape(-1, body.data.n)))
        return assemble((self.count * WIDTH, self._first[-1]), blocks)

    def D(self, zeta: Vector) -> Matrix:
        """Return the derivative of the frames; (12 frames, n)."""
        by_rigid = self._by_frames(zeta) @ self.rigid.D(zeta[: self.rigid.n])
        by_u = self._by_u(zeta, self.rigid.directors(zeta[: self.rigid.n]))
        return _beside(by_rigid, by_u)

    def _mixed(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of (d frames / d u)^T f by frames; (elastic, 12 frames)."""
        blocks: list[Placed] = []
        for body, u, first in zip(self.elastic, self.deformations(zeta), self._first, strict=False):
            forces = frame_vectors(f)[_carried(body)]
            slope = np.zeros((body.data.n, 4, 3))
            by_u = attached.coefficients_by_u(body.data, u)
            slope[:, 1:] = np.einsum("pmin,pmx->nix", by_u, forces)
            blocks.append((first, WIDTH * body.frame, slope.reshape(body.data.n, WIDTH)))
        return assemble((self._first[-1], self.count * WIDTH), blocks)

    def _bend_u(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of (d frames / d u)^T f by u; (elastic, elastic)."""
        frames = frame_vectors(self.rigid.directors(zeta[: self.rigid.n]))
        blocks: list[Placed] = []
        for body, u, first in zip(self.elastic, self.deformations(zeta), self._first, strict=False):
            forces, d = frame_vectors(f)[_carried(body)], frames[body.frame, 1:]
            pull = np.einsum("pmx,ix->pmi", forces, d)
            blocks.append((first, first, attached.coefficients_bend(body.data, u, pull)))
        size = self._first[-1]
        return assemble((size, size), blocks)

    def bend(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of D^T f by zeta; (n, n)."""
        n, q = self.rigid.n, zeta[: self.rigid.n]
        pulled = np.asarray(self._by_frames(zeta).T @ f)
        across = self._mixed(zeta, f) @ self.rigid.D(q)
        return assemble(
            (self.n, self.n),
            [
                (0, 0, self.rigid.bend(q, pulled)),
                (n, 0, across),
                (0, n, across.T),
                (n, n, self._bend_u(zeta, f)),
            ],
        )

    # -- kinematics ---------------------------------------------------------------------------

    def Z(self, zeta: Vector) -> Matrix:
        """Return the kinematic matrix, zeta' = Z w; (n, k)."""
        n, k = self.rigid.n, self.rigid.k
        one = diagonal(np.ones(self._first[-1]))
        return assemble((self.n, self.k), [(0, 0, self.rigid.Z(zeta[:n])), (n, k, one)])

    def Z_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of Z w by zeta; (n, n)."""
        inner = self.rigid.Z_along(zeta[: self.rigid.n], w[: self.rigid.k])
        return assemble((self.n, self.n), [(0, 0, inner)])

    def Z_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of Z^T f by zeta; (k, n)."""
        inner = self.rigid.Z_back(zeta[: self.rigid.n], f[: self.rigid.n])
        return assemble((self.k, self.n), [(0, 0, inner)])

    def moved(self, zeta: Vector, w: Vector) -> Vector:
        """Return coordinates after a motion w, displacements and Cayley rotations in body axes."""
        n, k, rigid = self.rigid.n, self.rigid.k, self.rigid
        rows, own = rigid.rows(zeta[:n]).copy(), rigid.pairs(w[:k])
        rows[:, :3] += np.einsum("nij,nj->ni", rigid.rotations(zeta[:n]), own[:, 0])
        rows[:, 3:] = self.parametrisation.after(rows[:, 3:], own[:, 1])
        return np.concatenate([rigid.unknowns.own(rows.reshape(-1)), zeta[n:] + w[k:]])

    def sizes(self, lengths: Vector) -> Vector:
        """Return how large velocities are in a mechanism with bodies of these lengths [m]; (k,).

        Lengths for translations, 1 for rotations; v_f by the places that it moves and turns.
        """
        each = np.ones((self.count, SIX))
        each[:, :3] = lengths[:, None]
        sizes = self.rigid.velocities.own(each.reshape(-1))
        for body in self.elastic:
            length = lengths[body.frame]
            moves = abs(body.data.Y).max(axis=(0, 1)) / length
            turns = abs(body.data.Theta).max(axis=(0, 1))
            sizes = np.append(sizes, 1 / np.maximum(np.maximum(moves, turns), 1 / length))
        return sizes

    def P(self, zeta: Vector) -> Matrix:
        """Return D Z, which turns velocities into those of frames; (12 frames, k)."""
        P: Matrix = self.D(zeta) @ self.Z(zeta)
        return P

    def P_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of P w by zeta; (12 frames, n)."""
        n, rate = self.rigid.n, np.asarray(self.Z(zeta) @ w)
        q, moved, change = zeta[:n], rate[:n], rate[n:]
        by_rigid = self._by_frames(zeta) @ ByDirectors.P_along(self.rigid, q, moved)
        turned = np.asarray(self.rigid.D(q) @ moved)
        along = self._along(zeta, change)
        by_rigid = total(by_rigid, along @ self.rigid.D(q))
        by_u = total(self._by_u(zeta, turned), self._bend_along(zeta, change))
        return total(_beside(by_rigid, by_u), self.D(zeta) @ self.Z_along(zeta, w))

    def _along(self, zeta: Vector, change: Vector) -> Matrix:
        """Return the derivative of (d frames / d u) change by frames; (12 frames, 12 frames)."""
        blocks: list[Placed] = []
        pairs = zip(self.elastic, self.deformations(zeta), self.own(change), strict=True)
        for body, u, du in pairs:
            for place, dc in enumerate(attached.coefficients_by_u(body.data, u) @ du):
                block = np.zeros((4, 3, 4, 3))
                block[:, :, 1:] = np.einsum("mi,xy->mxiy", dc, np.eye(3))
                at = WIDTH * (body.first + place), WIDTH * body.frame
                blocks.append((*at, block.reshape(WIDTH, WIDTH)))
        size = self.count * WIDTH
        return assemble((size, size), blocks)

    def _bend_along(self, zeta: Vector, change: Vector) -> Matrix:
        """Return the derivative of (d frames / d u) change by u; (12 frames, elastic)."""
        frames = frame_vectors(self.rigid.directors(zeta[: self.rigid.n]))
        blocks: list[Placed] = []
        pairs = zip(
            self.elastic, self.deformations(zeta), self.own(change), self._first, strict=False
        )
        for body, u, du, first in pairs:
            bend = attached.coefficients_along(body.data, u, du)
            slope = np.einsum("pmin,ix->pmxn", bend, frames[body.frame, 1:])
            blocks.append((WIDTH * body.first, first, slope.reshape(-1, body.data.n)))
        return assemble((self.count * WIDTH, self._first[-1]), blocks)

    def P_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of P^T f by zeta; (k, n)."""
        by_Z = self.Z_back(zeta, np.asarray(self.D(zeta).T @ f))
        return total(self.Z(zeta).T @ self.bend(zeta, f), by_Z)

    # -- potential energy: what is attached to frames, elasticity, weight of the deformation ----

    def V(self, zeta: Vector) -> float:
        """Return the potential energy [J]."""
        return super().V(zeta) + self.elastic_energy(zeta) + self.lowered(zeta)

    def elastic_energy(self, zeta: Vector) -> float:
        """Return the elastic energy [J]."""
        deformed = zip(self.elastic, self.deformations(zeta[: self.n]), strict=True)
        return sum(body.data.V(u) for body, u in deformed)

    def lowered(self, zeta: Vector) -> float:
        """Return the energy of gravity beyond that of masses at the origins of frames [J]."""
        frames, energy = frame_vectors(self.rigid.directors(zeta[: self.rigid.n])), 0.0
        for body, u in zip(self.elastic, self.deformations(zeta[: self.n]), strict=True):
            energy += float(self.pull(body) @ (self.moment(body, u) @ frames[body.frame, 1:]))
        return energy

    def pull(self, body: Elastic) -> Vector:
        """Return the gradient of the potential of gravity for a mass of one [m/s^2]; (3,)."""
        return np.asarray(self.mechanism.weight[body.frame] / body.data.mass)

    @staticmethod
    def moment(body: Elastic, u: Vector) -> Vector:
        """Return the first moment of the deformed body [kg m]; (3,)."""
        return body.data.integrals.s(u)

    def dV(self, zeta: Vector) -> Vector:
        """Return the gradient of V."""
        n, q = self.rigid.n, zeta[: self.rigid.n]
        f = self.rigid.directors(q)
        frames, on_frames = frame_vectors(f), np.zeros_like(f)
        gradient = super().dV(zeta)
        for (body, (_, at)), u in zip(self.each(), self.deformations(zeta), strict=True):
            weight = self.pull(body)
            frame_vectors(on_frames)[body.frame, 1:] = np.outer(self.moment(body, u), weight)
            lowered = body.data.S.T @ (frames[body.frame, 1:] @ weight)
            gradient[self.coordinates(at)] += body.data.dV(u) + lowered
        gradient[:n] += self.rigid.D(q).T @ on_frames
        return gradient

    def ddV(self, zeta: Vector) -> Matrix:
        """Return the Hessian of V."""
        q = zeta[: self.rigid.n]
        D, blocks = self.rigid.D(q), list[Placed]()
        on_frames = np.zeros(self.count * WIDTH)
        for (body, (_, at)), u in zip(self.each(), self.deformations(zeta), strict=True):
            weight, row = self.pull(body), self.coordinates(at).start
            frame_vectors(on_frames)[body.frame, 1:] = np.outer(self.moment(body, u), weight)
            mixed = np.zeros((body.data.n, self.count, 4, 3))
            mixed[:, body.frame, 1:] = np.einsum("in,x->nix", body.data.S, weight)
            across: Matrix = (D.T @ mixed.reshape(body.data.n, -1).T).T
            blocks += [(row, row, body.data.ddV(u)), (row, 0, across), (0, row, across.T)]
        blocks.append((0, 0, self.rigid.bend(q, on_frames)))
        return total(super().ddV(zeta), assemble((self.n, self.n), blocks))

    # -- dissipation --------------------------------------------------------------------------

    @property
    def lossless(self) -> bool:
        """Whether nothing is damped."""
        return super().lossless and not any(body.data.damped for body in self.elastic)

    @cached_property
    def D_f(self) -> Matrix:
        """Damping of elastic velocities; (k, k)."""
        blocks: list[Placed] = [(at.start, at.start, body.data.D) for body, (_, at) in self.each()]
        return assemble((self.k, self.k), blocks)

    def damping(self, zeta: Vector, w: Vector) -> Vector:
        """Return the damping force."""
        return np.asarray(super().damping(zeta, w) + self.D_f @ w)

    def ddamping(self, zeta: Vector, w: Vector) -> tuple[Matrix, Matrix]:
        """Return the derivatives of the damping force."""
        slopes = super().ddamping(zeta, w)
        if slopes is None:
            return np.zeros((self.k, self.n)), self.D_f
        return slopes[0], total(slopes[1], self.D_f)


def _carried(body: Elastic) -> slice:
    """Return the frames that an elastic body carries."""
    return slice(body.first, body.first + len(body.data.points))


def _beside(a: Matrix, b: Matrix) -> Matrix:
    shape = a.shape[0], a.shape[1] + b.shape[1]
    return assemble(shape, [(0, 0, a), (0, a.shape[1], b)])
