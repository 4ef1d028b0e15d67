"""The stage equations of systems in redundant coordinates."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.ph.matrices import Array, Placed, Vector
from poinsot.ph.stages import ConstrainedStages, Evaluation, Stage, Tangent, largest_of_each
from poinsot.systems.livens.smooth import Chord, chord
from poinsot.systems.redundant import checks

if TYPE_CHECKING:
    from poinsot.systems.redundant.system import RedundantSystem


@dataclass(frozen=True, eq=False)
class _Middle:
    """What stands in the equations of a step at its midpoint; L, N are h lam and h mu."""

    zeta1: Vector
    w1: Vector
    L: Vector
    N: Vector
    zeta: Vector
    w: Vector
    Z: Array
    A: Array
    B: Array
    G: Array
    tau_d: Vector
    V: list[Chord]
    c: list[Chord]
    dV: Vector
    dc: Array

    def impulse(self, h: float) -> Vector:
        """Return h dV + C^T h lam, the impulse of potential and constraints along zeta."""
        return h * self.dV + self.L @ self.dc


@dataclass(frozen=True, eq=False)
class RedundantStages(ConstrainedStages):
    r"""A step of [BHRS25, eq. (10)], for the unknowns (zeta1, w1, h lam, h mu).

    .. math::

        \zeta_1 - \zeta_0 &= h\, Z(\zeta_m)\, w_m \\
        M (w_1 - w_0) &= h\, (B u - Z^\top \bar\nabla V - \tau_d - G(M w_m)\, w_m)
                         - Z^\top \bar\nabla c^\top h\lambda - A^\top h\mu \\
        c(\zeta_1) &= 0, \qquad A(\zeta_m)\, w_m = 0

    Matrices and tau_d are those at the midpoint. With discrete derivatives
    :math:`\bar\nabla V \cdot h Z w_m = V_1 - V_0` and
    :math:`\bar\nabla c\, h Z w_m = c_1 - c_0 = 0`, so that
    :math:`H_1 - H_0 = h\, (u \cdot y - w_m \cdot \tau_d)` with y = B^T w_m. Velocities without mass
    have one value per step, at the midpoint, as multipliers have. Rows c' Z and A whose rank is
    constant but less than their number [BHRS25, eq. (13)] are combined to independent ones, with
    the smallest of the multipliers that do the same.
    """

    system: "RedundantSystem"

    def combination(self) -> Array | None:
        """Return what combines the rows c' Z and A to independent ones, at the start of a step."""
        return checks.combination(self.system.laws, self.system.split(self.x0)[0])

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        zeta0, w0, lam, mu = self.system.split(self.x0)
        ahead = zeta0 + self.h * self.system.laws.Z(zeta0) @ w0
        multipliers = self.h * np.concatenate([lam, mu])
        if self.T is not None:
            multipliers = np.linalg.lstsq(self.T.T, multipliers, rcond=None)[0]
        return np.concatenate([ahead, w0, multipliers])

    @property
    def labels(self) -> tuple[str, ...]:
        """Equations are named after states."""
        lam = self.system.places[1]
        return (*self.system.labels[:lam], *self.combined_labels(self.system.labels[lam:]))

    def _closed(self, rows: Array) -> Array:
        """Return constraint equations, rows c and A, combined: c changes by h c' Z w."""
        if self.T is None:
            return rows
        scale = np.repeat([1.0, self.h], [self.system.laws.n_c, self.system.laws.n_A])
        return np.asarray(self.combined((scale * rows.T).T))

    def middle(self, unknowns: Vector) -> _Middle:
        """Return all that acts over a step to these unknowns."""
        laws, rule, first = self.system.laws, self.scheme.rule, self.system.places[1]
        zeta0, w0, _, _ = self.system.split(self.x0)
        multipliers = self.spread(unknowns[first:])
        zeta1, w1, L, N = self.system.split(np.concatenate([unknowns[:first], multipliers]))
        zeta, w = (zeta0 + zeta1) / 2, w0 + self.system.laws.weight * (w1 - w0)
        V = [chord(rule, part, zeta0, zeta1) for part in laws.varying]
        c = [chord(rule, part, zeta0, zeta1) for part in laws.constraints]
        return _Middle(
            zeta1=zeta1,
            w1=w1,
            L=L,
            N=N,
            zeta=zeta,
            w=w,
            Z=laws.Z(zeta),
            A=laws.A(zeta),
            B=laws.B(zeta),
            G=laws.G(laws.M @ w),
            tau_d=np.zeros(laws.k) if laws.lossless else laws.damping(zeta, w),
            V=V,
            c=c,
            dV=sum((part.jacobian[0] for part in V), np.zeros(laws.n)),
            dc=np.concatenate([part.jacobian for part in c]) if c else np.zeros((0, laws.n)),
        )

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of kinematics, momentum and constraints."""
        h, u, laws, at = self.h, self.u, self.system.laws, self.middle(w)
        zeta0, w0, _, _ = self.system.split(self.x0)
        force = at.impulse(h)
        residual = np.concatenate(
            [
                at.zeta1 - zeta0 - h * at.Z @ at.w,
                laws.M @ (at.w1 - w0)
                + at.Z.T @ force
                + h * (at.tau_d + at.G @ at.w - at.B @ u)
                + at.N @ at.A,
                self._closed(np.concatenate([laws.c(at.zeta1), at.A @ at.w])),
            ]
        )
        sizes = largest_of_each(self._terms(at), [state.size for state in self.system.states])
        if self.T is not None:
            first = self.system.places[1]
            reach = abs(np.asarray(self.T)) @ sizes[first:]
            sizes = np.concatenate([sizes[:first], np.full(reach.size, reach.max(initial=0.0))])
        return Evaluation(residual, sizes, lambda: self._tangent(at))

    def _terms(self, at: _Middle) -> Vector:
        """Return the sum of the sizes of all terms, of every equation."""
        h, laws, (zeta0, w0, _, _) = abs(self.h), self.system.laws, self.system.split(self.x0)
        place, w, Z = abs(at.zeta1), abs(at.w), abs(at.Z)
        push = laws.size_M @ (abs(w0) + abs(at.w1)) + h * (abs(at.G) @ w + abs(at.B) @ abs(self.u))
        push += Z.T @ (h * abs(at.dV) + abs(at.L) @ abs(at.dc)) + h * abs(at.tau_d)
        terms = [abs(zeta0) + place + h * Z @ w, push]
        if laws.n_c or laws.n_A:
            speeds = laws.speeds(at.w)
            push += abs(at.N) @ abs(at.A)
            terms += [abs(laws.dc(at.zeta1)) @ (place + h * Z @ speeds), abs(at.A) @ speeds]
        return np.concatenate(terms)

    def _tangent(self, at: _Middle) -> Tangent:
        """Return the derivative of the residual."""
        h, laws, half = self.h, self.system.laws, self.system.laws.weight
        w, lam, _ = self.system.places
        kinematics = np.eye(w) - h / 2 * laws.Z.along(at.zeta, at.w)
        stiffness = sum((part.tangent(np.ones(1)) for part in at.V), np.zeros((w, w)))
        bends = zip(at.c, laws.shares(at.L), strict=True)
        stiffness = sum((part.tangent(share) for part, share in bends), h * stiffness)
        push = at.Z.T @ stiffness
        push += laws.Z.back(at.zeta, at.impulse(h)) / 2
        push -= h / 2 * laws.B.along(at.zeta, self.u)
        inertia = laws.M + h * (at.G + laws.G.along(laws.M @ at.w, at.w) @ laws.M) * half
        placed: list[Placed] = []
        if not laws.lossless:
            by_zeta, by_w = laws.ddamping(at.zeta, at.w)
            push, inertia = push + h / 2 * by_zeta, inertia + h * by_w * half
        if laws.n_A:
            push += laws.A.back(at.zeta, at.N) / 2
        if laws.n_c or laws.n_A:
            none = np.zeros((laws.n_c, laws.k))
            by_zeta = np.vstack([laws.dc(at.zeta1), laws.A.along(at.zeta, at.w) / 2])
            by_w = np.vstack([none, at.A * half])
            placed += [(w, lam, self.pull(np.vstack([at.dc @ at.Z, at.A])))]
            placed += [(lam, 0, self._closed(by_zeta)), (lam, w, self._closed(by_w))]
        placed += [(0, 0, kinematics), (0, w, -h * at.Z * half), (w, 0, push), (w, w, inertia)]
        count = self.system.n if self.T is None else lam + self.T.shape[0]
        return Tangent.of(count, placed)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return x1 and the stage at the midpoint."""
        at = self.middle(w)
        multipliers = np.concatenate([at.L, at.N]) / self.h
        stage = Stage(
            x=np.concatenate([at.zeta, at.w, multipliers]),
            z=np.concatenate([at.dV, at.w, multipliers]),
            u=self.u,
            y=at.w @ at.B,
            lost=float(at.w @ at.tau_d),
        )
        return np.concatenate([at.zeta1, at.w1, multipliers]), stage
