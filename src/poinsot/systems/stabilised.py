"""Systems with additional velocity constraints, by the GGL principle, and their time steps.

They need a constant invertible mass matrix and constraints that are quadratic in q.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import REST
from poinsot.ph.matrices import Matrix, Placed, Vector, add, assemble, balancing, dense, diagonal
from poinsot.ph.stages import (
    ConstrainedStages,
    Evaluation,
    Slopes,
    Stage,
    Tangent,
    in_proportion,
    in_rows,
    over,
)
from poinsot.systems.mechanical import MechanicalForm, Mechanics


class Stabilisable(Mechanics, Protocol):
    """What acts on a system over a step, too."""

    @abstractmethod
    def since(self, q: Vector) -> "Stabilisable":
        """Return the same for a step from q, its constraints taken by what they change over it."""

    @abstractmethod
    def asked(self, u: Vector, t: float, h: float, q: Vector) -> Vector:
        """Return the inputs of a step from q, and what takes back what round-off left."""

    @property
    @abstractmethod
    def positions(self) -> int:
        """How many of the constraints have a position equation: the first ones."""

    @abstractmethod
    def gap(self, q: Vector) -> Vector:
        """Return the constraints g(q), and nothing for those without equation; shape (m,)."""

    @abstractmethod
    def discrete_dV(self, q0: Vector, q1: Vector) -> tuple[Vector, Matrix | None]:
        """Return the discrete gradient of V over a step, and its derivative by q1."""

    @abstractmethod
    def dloads(
        self, t: float, q: Vector, v: Vector, u: Vector
    ) -> tuple[Sequence[Matrix], Sequence[Matrix]]:
        """Return the terms of the derivatives of B u - damping by q and by v."""

    @abstractmethod
    def inner(self, t: float, q: Vector, v: Vector, u: Vector) -> Vector:
        """Return the sizes of what cancels inside of forces; shape (n,)."""

    @abstractmethod
    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes of numbers like q to the largest of their kind."""

    @abstractmethod
    def measures(self, q: Vector) -> Vector:
        """Return what numbers like q are measured by; (n,)."""

    @abstractmethod
    def independent(self, q: Vector) -> Matrix | None:
        """Return T, whose rows combine the constraints to independent ones; None: all are."""

    @abstractmethod
    def smallest_pair(
        self, q: Vector, v: Vector, lam: Vector, gam: Vector
    ) -> tuple[Vector, Vector]:
        """Return the smallest multipliers that do the same as these."""


@dataclass(frozen=True, eq=False)
class StabilisedForm(MechanicalForm):
    r"""A system with velocity constraints as well [LKB26, eq. (61)], x = (q, v, lambda, gamma).

    The GGL principle adds multipliers gamma that keep G v = 0; with W = dG(q)v/dq,

    .. math::

        J = \begin{bmatrix}
        0 & I & 0 & M^{-1} G^\top \\
        -I & 0 & -G^\top & -W^\top \\
        0 & G & 0 & G M^{-1} G^\top \\
        -G M^{-1} & W & -G M^{-1} G^\top & J_{44} \end{bmatrix}, \quad
        J_{44} = W M^{-1} G^\top - G M^{-1} W^\top .

    A force B u enters the rates of both constraints, so the port matrix is (0, B, 0, G M^-1 B) and
    the output is B^T times the velocity of the coordinates, v + M^-1 G^T gamma.
    """

    stabilised = True

    @property
    @abstractmethod
    def mechanics(self) -> Stabilisable:
        """What acts; velocities are the rates of q."""

    @property
    @abstractmethod
    def mass(self) -> Matrix:
        """M, constant; (n, n)."""

    @abstractmethod
    def by_mass(self, A: Any) -> Any:
        """Return M^-1 A, of a vector or a matrix."""

    @property
    def followers(self) -> NDArray[np.bool_]:
        """All but gamma, which vanishes where velocities are consistent, and hides where not."""
        return self.algebraic & (np.arange(self.n) < self._gam)

    def sizes(self, x: Vector) -> Vector:
        """Return how large states are; G^T gamma is a momentum."""
        sizes, q = super().sizes(x), self.parts(x)[0]
        momenta = abs(self.mass) @ self.parts(sizes)[1]
        gam = sizes[self._gam :]
        gam[:] = np.maximum(gam, balancing(self.mechanics.K(q), momenta))
        return sizes

    def _MG(self, x: Vector) -> Matrix:
        """Return M^-1 G^T."""
        MG: Matrix = self.by_mass(self.mechanics.K(self.parts(x)[0]).T)
        return MG

    @property
    def _gam(self) -> int:
        """Where the multipliers gamma begin."""
        return 2 * self.mechanics.n + self.mechanics.m

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix."""
        n, lam, gam, (q, v, _) = self.mechanics.n, 2 * self.mechanics.n, self._gam, self.parts(x)
        G, W = self.mechanics.K(q), self.mechanics.slope(q, v)
        identity, MG = diagonal(np.ones(n)), self.by_mass(G.T)
        GMG, WMG = G @ MG, W @ MG
        return assemble(
            (self.n, self.n),
            [
                (0, n, identity),
                (0, gam, MG),
                (n, 0, -identity),
                (n, lam, -G.T),
                (n, gam, -W.T),
                (lam, n, G),
                (lam, gam, GMG),
                (gam, 0, -MG.T),
                (gam, n, W),
                (gam, lam, -GMG),
                (gam, gam, WMG - WMG.T),
            ],
        )

    def B(self, x: Vector) -> Matrix:
        """Return (0, B, 0, G M^-1 B)."""
        B = self.mechanics.B(self.parts(x)[0])
        return assemble(
            (self.n, self.m), [(self.mechanics.n, 0, B), (self._gam, 0, self._MG(x).T @ B)]
        )

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs with state-dependent loads filled in, at the rate of q."""
        return self.mechanics.feedback(t, self.parts(x)[0], self.rate(x, z), u)

    def rate(self, x: Vector, z: Vector) -> Vector:
        """Return the velocity of the coordinates, v + M^-1 G^T gamma."""
        G = self.mechanics.K(self.parts(x)[0])
        return np.asarray(self.parts(z)[1] + self.by_mass(G.T @ z[self._gam :]))

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the damping effort; it acts like a port, so on the rate of G v too."""
        if self.mechanics.lossless:
            return None
        effort, force = np.zeros(self.n), self.mechanics.damping(self.parts(x)[0], self.rate(x, z))
        self.parts(effort)[1][:] = force
        effort[self._gam :] = self._MG(x).T @ force
        return effort

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r with respect to z."""
        slopes = self.mechanics.ddamping(self.parts(x)[0], self.rate(x, z))
        if slopes is None:
            return None
        D, MG, n, gam = slopes[1], self._MG(x), self.mechanics.n, self._gam
        DMG = D @ MG
        return assemble(
            (self.n, self.n),
            [(n, n, D), (n, gam, DMG), (gam, n, DMG.T), (gam, gam, MG.T @ DMG)],
        )

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of J z - r + B u with respect to x = (q, v, ...).

        W does not depend on q where g is quadratic; of contacts, how it does is left out.
        """
        mechanics, n, m = self.mechanics, self.mechanics.n, self.mechanics.m
        (q, v, _), (force, _, multipliers) = self.parts(x), self.parts(z)
        lam, gam = multipliers[:m], multipliers[m:]
        G, W, MG, rate = mechanics.K(q), mechanics.slope(q, v), self._MG(x), self.rate(x, z)
        C_gam = mechanics.curvature(q, gam)
        MC_gam = self.by_mass(C_gam)
        # What the momentum equation says of M v', whose M^-1 enters the last row through G.
        push = -force - G.T @ lam - W.T @ gam
        dpush: Matrix = -mechanics.curvature(q, lam)
        dB, slopes = mechanics.dB(q, u), mechanics.ddamping(q, rate)
        if dB is not None:
            push = push + mechanics.B(q) @ u
            dpush = dpush + dB
        if slopes is not None:
            push = push - mechanics.damping(q, rate)
            dpush = dpush - slopes[0] - slopes[1] @ MC_gam
        row_lam, row_gam = 2 * n, self._gam
        return assemble(
            (self.n, self.n),
            [
                (0, 0, MC_gam),
                (n, 0, dpush),
                (n, n, -C_gam.T),
                (row_lam, 0, mechanics.slope(q, rate)),
                (row_lam, 0, G @ MC_gam),
                (row_gam, 0, mechanics.slope(q, self.by_mass(push))),
                (row_gam, 0, MG.T @ dpush),
                (row_gam, 0, W @ MC_gam),
                (row_gam, n, mechanics.slope(q, rate)),
                (row_gam, n, -(MG.T @ C_gam.T)),
            ],
        )

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B^T (v + M^-1 G^T gamma) with respect to x."""
        q = self.parts(x)[0]
        dy = self.mechanics.dy(q, self.rate(x, z))
        if dy is None:
            return None
        MC = self.by_mass(self.mechanics.curvature(q, z[self._gam :]))
        return assemble((self.m, self.n), [(0, 0, dy), (0, 0, self.mechanics.B(q).T @ MC)])


@dataclass(frozen=True, eq=False)
class StabilisedStages(ConstrainedStages):
    """PH-MP-GGL for the unknowns (q1, v_mid, h lambda, h gamma) [LKB26, eq. (61)].

        M (q1 - q0 - h v_mid) = G^T h gamma
        2 M (v_mid - v0) + h (dV - B u) + G^T h lambda + W^T h gamma = 0
        g(q1) = 0,    G(q1) v1 = 0

    G, W = dG v/dq and B at the midpoint. Constraints are taken at the end of the step: for
    quadratic g that is the same as the rows of (61), since their increments are exact, and does
    not drift. Contacts and transmissions have no quadratic g, but G (q1 - q0) = 0, and a discrete W
    along d = q1 - q0,

        W d = G(q1) v1 - G(q0) v0 - G (v1 - v0),

    which that of quadratic g fulfils by itself: multipliers then do no work.
    """

    system: StabilisedForm

    def combination(self) -> Matrix | None:
        """Return what combines the constraints to independent ones, at the start of the step."""
        return self.system.mechanics.independent(self.system.parts(self.x0)[0])

    @property
    def _m(self) -> int:
        """Number of independent constraints."""
        return self.system.mechanics.m if self.T is None else int(self.T.shape[0])

    @property
    def guess(self) -> Vector:
        """Start from the state before, with multipliers zero: old ones can lead astray."""
        q, v, _ = self.system.parts(self.x0)
        return np.concatenate([q + self.h * v, v, np.zeros(2 * self._m)])

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the system's own equations."""
        n, m, labels = self.system.mechanics.n, self.system.mechanics.m, self.system.labels
        position, velocity = labels[2 * n : 2 * n + m], labels[2 * n + m :]
        return (*labels[: 2 * n], *self.combined_labels(position), *self.combined_labels(velocity))

    def _split(self, w: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return q1, v_mid and both multipliers times h, of all constraints."""
        n, m = self.system.mechanics.n, self._m
        mu, nu = w[2 * n : 2 * n + m], w[2 * n + m :]
        return w[:n], w[n : 2 * n], self.spread(mu), self.spread(nu)

    @cached_property
    def held(self) -> Stabilisable:
        """What acts over this step."""
        return self.system.mechanics.since(self.system.parts(self.x0)[0])

    def _gap(self, q1: Vector, travel: Vector) -> Vector:
        """Return what must vanish of g(q1), and of the travel that is forbidden without g."""
        mechanics, h = self.system.mechanics, self.h
        first, gap, N = mechanics.positions, mechanics.gap(q1), mechanics.imposed
        if N is not None:
            q0 = self.system.parts(self.x0)[0]
            travel = travel - h * N @ mechanics.asked(self.u, self.t - h / 2, h, q0)
        gap[first:] = travel[first:]
        return gap

    def _closing(self, G1: Matrix, G: Matrix, q: Vector, d: Vector) -> Matrix:
        """Return the derivative of that by q1."""
        mechanics, first = self.system.mechanics, self.system.mechanics.positions
        if first == mechanics.m:
            return G1
        own = (G + 0.5 * self.held.slope(q, d))[first:]
        return assemble((mechanics.m, mechanics.n), [(0, 0, G1[:first]), (first, 0, own)])

    def _measured(self, G: Matrix, numbers: Vector) -> Vector:
        """Return the sizes of independent constraints on numbers like q."""
        return self.sizes_of(in_proportion(G, self._measures, numbers))

    @cached_property
    def _measures(self) -> Vector:
        return self.system.mechanics.measures(self.system.parts(self.x0)[0])

    def _measures_of_unknowns(self, G: Matrix) -> Vector:
        """Return those of positions and velocities; of multipliers how hard these are to stop."""
        q, h = self._measures, abs(self.h)
        inertia = float((q * (abs(self.system.mass) @ q)).max(initial=0.0))
        nu = over(inertia, self.sizes_of(abs(G) @ q))
        return np.concatenate([q, q / h, nu / h, nu])

    def _slope(self, q: Vector, d: Vector, v: Vector) -> Matrix:
        """Return W at the midpoint, corrected along d where there is no quadratic g."""
        mechanics, first = self.system.mechanics, self.system.mechanics.positions
        W, push = self.held.slope(q, v), self.system.mass @ d
        work = float(d @ push)
        if first == mechanics.m or work == 0:
            return W
        v0 = self.system.parts(self.x0)[1]
        ends = [mechanics.K(q + way) @ rate for way, rate in ((d / 2, 2 * v - v0), (-d / 2, v0))]
        lack = ends[0] - ends[1] - 2 * (self.held.K(q) @ (v - v0)) - W @ d
        return add(W, assemble(W.shape, [(first, 0, np.outer(lack[first:] / work, push))]))

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of kinematics, momentum and both constraints."""
        mechanics, h, M = self.system.mechanics, self.h, self.system.mass
        q0, v0, _ = self.system.parts(self.x0)
        q1, v, mu, nu = self._split(w)
        q_mid, v1, rate = (q0 + q1) / 2, 2 * v - v0, (q1 - q0) / h
        u = mechanics.feedback(self.t, q_mid, rate, self.u)
        G, W, G1 = self.held.K(q_mid), self._slope(q_mid, q1 - q0, v), mechanics.K(q1)
        B = mechanics.B(q_mid)
        dV, ddV = mechanics.discrete_dV(q0, q1)
        damping = mechanics.damping(q_mid, rate)
        force = dV - B @ u + damping
        residual = np.concatenate(
            [
                M @ (q1 - q0 - h * v) - G.T @ nu,
                2 * (M @ (v - v0)) + h * force + G.T @ mu + W.T @ nu,
                self.combined(self._gap(q1, G @ (q1 - q0))),
                self.combined(G1 @ v1),
            ]
        )
        alike = mechanics.alike
        momenta = abs(G).T @ abs(mu) + abs(W).T @ abs(nu)
        momenta += 2 * (abs(M) @ (abs(v) + abs(v0)))
        momenta += abs(h) * (abs(dV) + abs(B) @ abs(u) + abs(damping))
        sizes = np.concatenate(
            [
                abs(M) @ alike(abs(q1) + abs(q0) + abs(h * v)) + abs(G).T @ abs(nu),
                alike(momenta),
                self._measured(G1, abs(q1)),
                self._measured(G1, 2 * abs(v) + abs(v0) + REST * abs(q1 / h)),
            ]
        )
        n, m = mechanics.n, self._m
        lam, gam = 2 * n, 2 * n + m

        def tangent() -> Tangent:
            pull, back = self.pull(G), self.pull(W)
            C_mu, C_nu = self.held.curvature(q_mid, mu), self.held.curvature(q_mid, nu)
            by_q, by_rate = mechanics.dloads(self.t, q_mid, rate, u)
            placed: list[Placed] = [
                (0, 0, M),
                (0, 0, -0.5 * C_nu),
                (0, n, -h * M),
                (0, gam, -pull),
                (n, 0, 0.5 * C_mu),
                *((n, 0, -h / 2 * slope) for slope in by_q),
                *((n, 0, -slope) for slope in by_rate),
                (n, n, 2 * M),
                (n, n, C_nu.T),
                (n, lam, pull),
                (n, gam, back),
                (lam, 0, self.combined(self._closing(G1, G, q_mid, q1 - q0))),
                (gam, 0, self.combined(mechanics.slope(q_mid, v1))),
                (gam, n, 2 * self.combined(G1)),
            ]
            if ddV is not None:
                placed.append((n, 0, h * ddV))
            return Tangent.of(2 * n + 2 * m, placed)

        def inner() -> Vector:
            forces = mechanics.inner(self.t, q_mid, rate, u)
            # Velocities are differences of rounded positions, at rest, too.
            momenta = abs(M) @ alike(abs(q1 / h))
            return in_rows(w.size, n, abs(h) * forces + momenta)

        return Evaluation(residual, sizes, tangent, inner, self._measures_of_unknowns(G))

    @property
    def ends_by_parameters(self) -> bool:
        """The end follows from x0 and the unknowns alone."""
        return False

    def guess_of(self, x1: Vector) -> Vector:
        """Return the position itself, the mean velocity and the multipliers."""
        (q1, v1, both), (_, v0, _) = self.system.parts(x1), self.system.parts(self.x0)
        lam, gam = np.split(both, 2)
        mu, nu = self.h * self.combined(lam), self.h * self.combined(gam)
        return np.concatenate([q1, (v0 + v1) / 2, mu, nu])

    def slopes(self, w: Vector) -> Slopes | None:
        """Return exact derivatives, where every constraint has a position equation."""
        mechanics, h, M = self.system.mechanics, self.h, dense(self.system.mass)
        if mechanics.positions != mechanics.m:
            return None
        q0, _, _ = self.system.parts(self.x0)
        q1, _, mu, nu = self._split(w)
        n, m, q, rate = mechanics.n, self._m, (q0 + q1) / 2, (q1 - q0) / h
        by_q, by_rate = mechanics.dloads(
            self.t, q, rate, mechanics.feedback(self.t, q, rate, self.u)
        )
        F_x = np.zeros((w.size, self.x0.size))
        F_x[:n, :n] = -M - 0.5 * dense(self.held.curvature(q, nu))
        F_x[n : 2 * n, :n] = 0.5 * dense(self.held.curvature(q, mu))
        # Discrete gradients are symmetric: the derivative by one end is that by the other one.
        ddV = mechanics.discrete_dV(q1, q0)[1]
        for slope, factor in (
            *((slope, -h / 2) for slope in by_q),
            *((slope, 1.0) for slope in by_rate),
            *([] if ddV is None else [(ddV, h)]),
        ):
            F_x[n : 2 * n, :n] += factor * dense(slope)
        F_x[n : 2 * n, n : 2 * n] = -2 * M
        F_x[2 * n + m :, n : 2 * n] = -dense(self.combined(mechanics.K(q1)))
        M_w, M_x = np.zeros((self.x0.size, w.size)), np.zeros((self.x0.size, self.x0.size))
        one, pull = np.eye(n), dense(self.pull(np.eye(mechanics.m))) / h
        M_w[:n, :n], M_w[n : 2 * n, n : 2 * n], M_x[n : 2 * n, n : 2 * n] = one, 2 * one, -one
        M_w[2 * n : 2 * n + mechanics.m, 2 * n : 2 * n + m] = pull
        M_w[2 * n + mechanics.m :, 2 * n + m :] = pull
        return Slopes(self.evaluate(w).tangent().whole, F_x, M_w, M_x)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return q1, v1 = 2 v_mid - v0 and the multipliers.

        The rate of q is v + M^-1 G^T gamma, but not to round-off where masses hardly are there.
        """
        mechanics, h = self.system.mechanics, self.h
        q0, v0, _ = self.system.parts(self.x0)
        q1, v, mu, nu = self._split(w)
        q_mid, rate = (q0 + q1) / 2, (q1 - q0) / h
        multipliers = np.concatenate(mechanics.smallest_pair(q_mid, v, mu / h, nu / h))
        dV, _ = mechanics.discrete_dV(q0, q1)
        x_mid = np.concatenate([q_mid, v, multipliers])
        z = np.concatenate([dV, v, multipliers])
        x1 = np.concatenate([q1, 2 * v - v0, multipliers])
        u = mechanics.feedback(self.t, q_mid, rate, self.u)
        y, N = np.asarray(mechanics.B(q_mid).T @ rate), mechanics.imposed
        if N is not None:
            y = y - N.T @ multipliers[: mechanics.m]
        return x1, Stage(x_mid, z, u, y, lost=float(rate @ mechanics.damping(q_mid, rate)))
