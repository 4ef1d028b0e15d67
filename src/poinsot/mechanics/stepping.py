"""Time steps of mechanisms in directors, solved for fewer unknowns than the whole state.

The trajectories are those of the general step on the same system, to round-off; what changes is
how many equations Newton's method sees.
"""

from dataclasses import dataclass

import numpy as np

from poinsot.integrate.newton import Evaluation, Tangent
from poinsot.integrate.schemes import Scheme
from poinsot.integrate.step import GeneralStep, Stage, StepProblem, step_problem
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem, minus
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal


@dataclass(frozen=True, eq=False)
class MidpointStep(StepProblem):
    """PH-MP for the unknowns (v_mid, h lambda) [LKB26, eq. (50)].

    With q1 = q0 + h v_mid and one multiplier vector per step,

        2 M (v_mid - v0) + h (dV - B u) + G^T h lambda = 0,    G v_mid = 0,

    G and B at q_mid; dV is the discrete gradient of the potential.
    """

    system: DirectorSystem

    @property
    def guess(self) -> Vector:
        """Start from the velocities and multipliers of the step before."""
        _, v, lam = self.system.parts(self.x0)
        return np.concatenate([v, self.h * lam])

    @property
    def labels(self) -> tuple[str, ...]:
        """Momentum equations and constraints."""
        return self.system.labels[self.system.mechanism.n :]

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of momentum and constraints."""
        mechanism, h, n = self.system.mechanism, self.h, self.system.mechanism.n
        q0, v0, _ = self.system.parts(self.x0)
        v, mu = w[:n], w[n:]
        q_mid, q1 = q0 + h / 2 * v, q0 + h * v
        u = mechanism.feedback(self.t, q_mid, v, self.u)
        G, B = mechanism.constraints.G(q_mid), mechanism.B(q_mid)
        dV, ddV = mechanism.discrete_dV(q0, q1)
        force = dV - B @ u + mechanism.damping(q_mid, v)
        residual = np.concatenate([2 * mechanism.mass * (v - v0) + h * force + G.T @ mu, G @ v])
        inertia = 2 * mechanism.mass * (abs(v) + abs(v0))
        forces = h * (abs(dV) + abs(B) @ abs(u)) + abs(G).T @ abs(mu)
        sizes = np.concatenate([_by_kind(inertia + forces), _all_alike(abs(G) @ abs(v))])
        return Evaluation(residual, sizes, lambda: self._tangent(q_mid, v, mu, u, G, ddV))

    def _tangent(
        self, q_mid: Vector, v: Vector, mu: Vector, u: Vector, G: Matrix, ddV: Matrix | None
    ) -> Tangent:
        mechanism, h, n = self.system.mechanism, self.h, self.system.mechanism.n
        forms = mechanism.constraints
        placed: list[Placed] = [
            (0, 0, diagonal(2 * mechanism.mass)),
            (0, 0, h / 2 * forms.curvature(mu)),
            (0, n, G.T),
            (n, 0, G + h / 2 * forms.slope(v)),
        ]
        dB, slopes = mechanism.dB(q_mid, u), mechanism.ddamping(q_mid, v)
        gains = mechanism.dfeedback(self.t, q_mid, v)
        if ddV is not None:
            placed.append((0, 0, h**2 * ddV))
        if dB is not None:
            placed.append((0, 0, -(h**2) / 2 * dB))
        if gains is not None:
            placed += [(0, 0, -(h**2) / 2 * gains[0]), (0, 0, -h * gains[1])]
        if slopes is not None:
            placed += [(0, 0, h**2 / 2 * slopes[0]), (0, 0, h * slopes[1])]
        size = n + mechanism.m
        none = np.zeros((size, 0))
        return Tangent(assemble((size, size), placed), none, none)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return q1 = q0 + h v_mid, v1 = 2 v_mid - v0 and the multipliers."""
        system, h, n = self.system, self.h, self.system.mechanism.n
        q0, v0, _ = system.parts(self.x0)
        v, lam = w[:n], w[n:] / h
        q_mid, q1 = q0 + h / 2 * v, q0 + h * v
        # A velocity without mass has no memory: its midpoint value is all there is.
        v1 = np.where(system.mechanism.mass == 0, v, 2 * v - v0)
        dV, _ = system.mechanism.discrete_dV(q0, q1)
        x_mid, z = np.concatenate([q_mid, v, lam]), np.concatenate([dV, v, lam])
        u = system.mechanism.feedback(self.t, q_mid, v, self.u)
        return np.concatenate([q1, v1, lam]), Stage(x_mid, z, u, system.y(x_mid, z))


@dataclass(frozen=True, eq=False)
class StabilisedStep(StepProblem):
    """PH-MP-GGL for the unknowns (q1, v_mid, h lambda, h gamma) [LKB26, eq. (61)].

        q1 - q0 = h v_mid + M^-1 G^T h gamma
        2 M (v_mid - v0) + h (dV - B u) + G^T h lambda + W^T h gamma = 0
        g(q1) = 0,    G(q1) v1 = 0

    G, W = dG v/dq and B at the midpoint. Constraints are taken at the end of the step: for
    quadratic g that is the same as the rows of (61), since their increments are exact, and does
    not drift.
    """

    system: StabilisedSystem

    @property
    def guess(self) -> Vector:
        """Start from the state before, with multipliers zero: old ones can lead astray."""
        q, v, _ = self.system.parts(self.x0)
        return np.concatenate([q + self.h * v, v, np.zeros(2 * self.system.mechanism.m)])

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the system's own equations."""
        return self.system.labels

    def _split(self, w: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        n, m = self.system.mechanism.n, self.system.mechanism.m
        return w[:n], w[n : 2 * n], w[2 * n : 2 * n + m], w[2 * n + m :]

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of kinematics, momentum and both constraints."""
        mechanism, h = self.system.mechanism, self.h
        forms, inverse = mechanism.constraints, self.system.inverse_mass
        q0, v0, _ = self.system.parts(self.x0)
        q1, v, mu, nu = self._split(w)
        q_mid, v1, rate = (q0 + q1) / 2, 2 * v - v0, (q1 - q0) / h
        u = mechanism.feedback(self.t, q_mid, rate, self.u)
        G, W, G1, B = forms.G(q_mid), forms.slope(v), forms.G(q1), mechanism.B(q_mid)
        dV, ddV = mechanism.discrete_dV(q0, q1)
        force = dV - B @ u + mechanism.damping(q_mid, rate)
        correction = inverse * (G.T @ nu)
        residual = np.concatenate(
            [
                q1 - q0 - h * v - correction,
                2 * mechanism.mass * (v - v0) + h * force + G.T @ mu + W.T @ nu,
                forms(q1),
                G1 @ v1,
            ]
        )
        pull = abs(G).T @ abs(mu) + abs(W).T @ abs(nu)
        inertia = 2 * mechanism.mass * (abs(v) + abs(v0))
        sizes = np.concatenate(
            [
                _by_kind(abs(q1) + abs(q0) + h * abs(v)),
                _by_kind(inertia + h * (abs(dV) + abs(B) @ abs(u)) + pull),
                _all_alike(abs(G1) @ abs(q1)),
                _all_alike(abs(G1) @ (2 * abs(v) + abs(v0))),
            ]
        )
        return Evaluation(
            residual, sizes, lambda: self._tangent(w, q_mid, rate, v1, u, G, W, G1, ddV)
        )

    def _tangent(
        self,
        w: Vector,
        q_mid: Vector,
        rate: Vector,
        v1: Vector,
        u: Vector,
        G: Matrix,
        W: Matrix,
        G1: Matrix,
        ddV: Matrix | None,
    ) -> Tangent:
        mechanism, h = self.system.mechanism, self.h
        n, m, forms, inverse = (
            mechanism.n,
            mechanism.m,
            mechanism.constraints,
            self.system.inverse_mass,
        )
        _, _, mu, nu = self._split(w)
        C_mu, C_nu = forms.curvature(mu), forms.curvature(nu)
        identity, D = diagonal(np.ones(n)), diagonal(inverse)
        lam, gam = 2 * n, 2 * n + m
        placed: list[Placed] = [
            (0, 0, identity),
            (0, 0, -0.5 * (D @ C_nu)),
            (0, n, -h * identity),
            (0, gam, -(D @ G.T)),
            (n, 0, 0.5 * C_mu),
            (n, n, diagonal(2 * mechanism.mass)),
            (n, n, C_nu),
            (n, lam, G.T),
            (n, gam, W.T),
            (lam, 0, G1),
            (gam, 0, forms.slope(v1)),
            (gam, n, 2 * G1),
        ]
        dB, slopes = mechanism.dB(q_mid, u), mechanism.ddamping(q_mid, rate)
        gains = mechanism.dfeedback(self.t, q_mid, rate)
        if ddV is not None:
            placed.append((n, 0, h * ddV))
        if dB is not None:
            placed.append((n, 0, -h / 2 * dB))
        if gains is not None:
            placed += [(n, 0, -h / 2 * gains[0]), (n, 0, minus(gains[1]))]
        if slopes is not None:
            placed += [(n, 0, h / 2 * slopes[0]), (n, 0, slopes[1])]
        size = 2 * n + 2 * m
        none = np.zeros((size, 0))
        return Tangent(assemble((size, size), placed), none, none)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return q1, v1 = 2 v_mid - v0 and the multipliers."""
        system = self.system
        q0, v0, _ = system.parts(self.x0)
        q1, v, mu, nu = self._split(w)
        multipliers = np.concatenate([mu, nu]) / self.h
        dV, _ = system.mechanism.discrete_dV(q0, q1)
        x_mid = np.concatenate([(q0 + q1) / 2, v, multipliers])
        z = np.concatenate([dV, v, multipliers])
        x1 = np.concatenate([q1, 2 * v - v0, multipliers])
        u = system.mechanism.feedback(self.t, (q0 + q1) / 2, (q1 - q0) / self.h, self.u)
        return x1, Stage(x_mid, z, u, system.y(x_mid, z))


def _by_kind(sizes: Vector) -> Vector:
    """Raise sizes to the largest of their kind, translation or rotation, over all bodies."""
    blocks = sizes.reshape(-1, 4, 3)
    raised = np.empty_like(blocks)
    raised[:, 0], raised[:, 1:] = blocks[:, 0].max(), blocks[:, 1:].max()
    return raised.reshape(-1)


def _all_alike(sizes: Vector) -> Vector:
    return np.full_like(sizes, sizes.max(initial=0.0))


@step_problem.register
def _(
    system: DirectorSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StepProblem:
    if scheme.name == "ph-mp":
        return MidpointStep(scheme, t, x0, u, h, system)
    return GeneralStep(scheme, t, x0, u, h, system)


@step_problem.register
def _(
    system: StabilisedSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StepProblem:
    if scheme.name == "ph-mp-ggl":
        return StabilisedStep(scheme, t, x0, u, h, system)
    return GeneralStep(scheme, t, x0, u, h, system)
