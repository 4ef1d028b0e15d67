"""Time steps of mechanisms in directors, solved for fewer unknowns than the whole state.

The trajectories are those of the general step on the same system, to round-off; what changes is
how many equations Newton's method sees.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot.errors import InputError
from poinsot.integrate.newton import Evaluation, Tangent
from poinsot.integrate.schemes import Scheme
from poinsot.integrate.step import GeneralStep, Stage, StepProblem, step_problem
from poinsot.mechanics.directors import DirectorSystem, StabilisedSystem, minus
from poinsot.ph.combining import combined, labels_of, spread_out
from poinsot.ph.gradients import Midpoint
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal

#: Part of a position that a velocity times h may fall short of without being noticed; times
#: Newton's relative tolerance this is the round-off of positions.
REST = 1e-5
#: Part of the violation of a constraint, itself round-off, that is taken back in one step.
DRIFT = 1e-2


@dataclass(frozen=True, eq=False)
class _MechanismStep(StepProblem):
    """What steps of mechanisms share: how repeated constraints become independent ones."""

    system: DirectorSystem | StabilisedSystem

    @cached_property
    def T(self) -> Matrix | None:
        """What combines the constraints to independent ones, at the start of the step."""
        return self.system.mechanism.independent(self.system.parts(self.x0)[0])

    def diagnose(self) -> str:
        """Return what is the matter with contacts at the start of the step."""
        return self.system.layout.diagnose(self.system.parts(self.x0)[0])

    @property
    def _m(self) -> int:
        """Number of independent constraints."""
        return self.system.mechanism.m if self.T is None else int(self.T.shape[0])


@dataclass(frozen=True, eq=False)
class MidpointStep(_MechanismStep):
    """PH-MP for the unknowns (v_mid, h lambda) [LKB26, eq. (50)].

    With q1 = q0 + h v_mid and one multiplier vector per step,

        2 M (v_mid - v0) + h (dV - B u) + G^T h lambda = 0,    G v_mid = 0,

    G and B at q_mid; dV is the discrete gradient of the potential. Repeated constraints are
    combined to independent ones, T G v_mid = 0 with lambda = T^T mu. Contacts that cannot slip are
    rows of G, too: A(q_mid) v_mid = 0 [BHRS25, eq. (10)]. What round-off left of g(q0)
    is taken back little by little, or it would grow with the number of steps.
    """

    system: DirectorSystem

    @cached_property
    def _gap(self) -> Vector:
        """What round-off has left of g; what rolls has no place to get back to."""
        mechanism = self.system.mechanism
        gap = mechanism.constraints(self.system.parts(self.x0)[0])
        return np.concatenate([gap, np.zeros(mechanism.slips)])

    @property
    def guess(self) -> Vector:
        """Start from the velocities and multipliers of the step before."""
        _, v, lam = self.system.parts(self.x0)
        return np.concatenate([v, self.h * combined(self.T, lam)])

    @property
    def labels(self) -> tuple[str, ...]:
        """Momentum equations and constraints."""
        n = self.system.mechanism.n
        return (*self.system.labels[n : 2 * n], *labels_of(self.T, self.system.labels[2 * n :]))

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of momentum and constraints."""
        mechanism, h, n = self.system.mechanism, self.h, self.system.mechanism.n
        q0, v0, _ = self.system.parts(self.x0)
        v, mu = w[:n], spread_out(self.T, w[n:])
        q_mid, q1 = q0 + h / 2 * v, q0 + h * v
        u = mechanism.feedback(self.t, q_mid, v, self.u)
        G, B = mechanism.G(q_mid), mechanism.B(q_mid)
        dV, ddV = mechanism.discrete_dV(q0, q1)
        damping = mechanism.damping(q_mid, v)
        force = dV - B @ u + damping
        momentum = 2 * mechanism.mass * (v - v0) + h * force + G.T @ mu
        closure = combined(self.T, G @ v + DRIFT / h * self._gap)
        residual = np.concatenate([momentum, closure])
        inertia = 2 * mechanism.mass * (abs(v) + abs(v0))
        forces = h * (abs(dV) + abs(B) @ abs(u) + abs(damping)) + abs(G).T @ abs(mu)
        reach = abs(G) @ (abs(v) + abs(q_mid) * REST / h)
        sizes = np.concatenate([_by_kind(inertia + forces), _all_alike(reach, closure.size)])
        efforts = np.concatenate([v, w[n:]])
        return Evaluation(residual, sizes, efforts, lambda: self._tangent(q_mid, v, mu, u, G, ddV))

    def _tangent(
        self, q_mid: Vector, v: Vector, mu: Vector, u: Vector, G: Matrix, ddV: Matrix | None
    ) -> Tangent:
        mechanism, h, n = self.system.mechanism, self.h, self.system.mechanism.n
        placed: list[Placed] = [
            (0, 0, diagonal(2 * mechanism.mass)),
            (0, 0, h / 2 * mechanism.curvature(q_mid, mu)),
            (0, n, G.T if self.T is None else G.T @ self.T.T),
            (n, 0, combined(self.T, G + h / 2 * mechanism.slope(q_mid, v))),
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
        size = n + self._m
        none = np.zeros((size, 0))
        return Tangent(assemble((size, size), placed), none, none)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return q1 = q0 + h v_mid, v1 = 2 v_mid - v0 and the multipliers."""
        system, h, n = self.system, self.h, self.system.mechanism.n
        q0, v0, _ = system.parts(self.x0)
        v = w[:n]
        q_mid, q1 = q0 + h / 2 * v, q0 + h * v
        lam = system.mechanism.smallest(q_mid, spread_out(self.T, w[n:]) / h)
        system.mechanism.require_continuous(q0, q1)
        system.layout.require_contact(q0, q1)
        v1 = _massless_from_others(system.mechanism.mass, q1, 2 * v - v0)
        dV, _ = system.mechanism.discrete_dV(q0, q1)
        x_mid, z = np.concatenate([q_mid, v, lam]), np.concatenate([dV, v, lam])
        u = system.mechanism.feedback(self.t, q_mid, v, self.u)
        return np.concatenate([q1, v1, lam]), Stage(x_mid, z, u, system.y(x_mid, z))


@dataclass(frozen=True, eq=False)
class StabilisedStep(_MechanismStep):
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
        return np.concatenate([q + self.h * v, v, np.zeros(2 * self._m)])

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the system's own equations."""
        n, m, labels = self.system.mechanism.n, self.system.mechanism.m, self.system.labels
        position, velocity = labels[2 * n : 2 * n + m], labels[2 * n + m :]
        return (*labels[: 2 * n], *labels_of(self.T, position), *labels_of(self.T, velocity))

    def _split(self, w: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return q1, v_mid and both multipliers times h, of all constraints."""
        n, m = self.system.mechanism.n, self._m
        mu, nu = w[2 * n : 2 * n + m], w[2 * n + m :]
        return w[:n], w[n : 2 * n], spread_out(self.T, mu), spread_out(self.T, nu)

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
        damping = mechanism.damping(q_mid, rate)
        force = dV - B @ u + damping
        correction = inverse * (G.T @ nu)
        residual = np.concatenate(
            [
                q1 - q0 - h * v - correction,
                2 * mechanism.mass * (v - v0) + h * force + G.T @ mu + W.T @ nu,
                combined(self.T, forms(q1)),
                combined(self.T, G1 @ v1),
            ]
        )
        pull = abs(G).T @ abs(mu) + abs(W).T @ abs(nu)
        inertia = 2 * mechanism.mass * (abs(v) + abs(v0))
        sizes = np.concatenate(
            [
                _by_kind(abs(q1) + abs(q0) + h * abs(v)),
                _by_kind(inertia + h * (abs(dV) + abs(B) @ abs(u) + abs(damping)) + pull),
                _all_alike(abs(G1) @ abs(q1), self._m),
                _all_alike(abs(G1) @ (2 * abs(v) + abs(v0) + REST * abs(q1) / h), self._m),
            ]
        )
        n, m = mechanism.n, self._m
        efforts = np.concatenate([dV, v, w[2 * n : 2 * n + m] / h, w[2 * n + m :]])
        return Evaluation(
            residual, sizes, efforts, lambda: self._tangent(w, q_mid, rate, v1, u, G, W, G1, ddV)
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
        n, forms, inverse = mechanism.n, mechanism.constraints, self.system.inverse_mass
        _, _, mu, nu = self._split(w)
        m, T = self._m, self.T
        pull, back = (G.T, W.T) if T is None else (G.T @ T.T, W.T @ T.T)
        C_mu, C_nu = forms.curvature(mu), forms.curvature(nu)
        identity, D = diagonal(np.ones(n)), diagonal(inverse)
        lam, gam = 2 * n, 2 * n + m
        placed: list[Placed] = [
            (0, 0, identity),
            (0, 0, -0.5 * (D @ C_nu)),
            (0, n, -h * identity),
            (0, gam, -(D @ pull)),
            (n, 0, 0.5 * C_mu),
            (n, n, diagonal(2 * mechanism.mass)),
            (n, n, C_nu),
            (n, lam, pull),
            (n, gam, back),
            (lam, 0, combined(T, G1)),
            (gam, 0, combined(T, forms.slope(v1))),
            (gam, n, 2 * combined(T, G1)),
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
        system.mechanism.require_continuous(q0, q1)
        q_mid = (q0 + q1) / 2
        lam, gam = system.mechanism.smallest_pair(q_mid, v, mu / self.h, nu / self.h)
        multipliers = np.concatenate([lam, gam])
        dV, _ = system.mechanism.discrete_dV(q0, q1)
        x_mid = np.concatenate([(q0 + q1) / 2, v, multipliers])
        z = np.concatenate([dV, v, multipliers])
        x1 = np.concatenate([q1, 2 * v - v0, multipliers])
        u = system.mechanism.feedback(self.t, (q0 + q1) / 2, (q1 - q0) / self.h, self.u)
        return x1, Stage(x_mid, z, u, system.y(x_mid, z))


def _massless_from_others(mass: Vector, q: Vector, v: Vector) -> Vector:
    """Give a director without mass the velocity that follows from d_k = d_i x d_j."""
    light = mass.reshape(-1, 4, 3)[:, 1:, 0] == 0
    if not light.any():
        return v
    d, rates = q.reshape(-1, 4, 3)[:, 1:], v.reshape(-1, 4, 3).copy()
    for body, k in zip(*np.nonzero(light), strict=True):
        i, j = (k + 1) % 3, (k + 2) % 3
        v_i, v_j = rates[body, 1 + i], rates[body, 1 + j]
        rates[body, 1 + k] = np.cross(v_i, d[body, j]) + np.cross(d[body, i], v_j)
    return rates.reshape(-1)


def _by_kind(sizes: Vector) -> Vector:
    """Raise sizes to the largest of their kind, translation or rotation, over all bodies."""
    blocks = sizes.reshape(-1, 4, 3)
    raised = np.empty_like(blocks)
    raised[:, 0], raised[:, 1:] = blocks[:, 0].max(), blocks[:, 1:].max()
    return raised.reshape(-1)


def _all_alike(sizes: Vector, count: int) -> Vector:
    """Return the largest size, so many times."""
    return np.full(count, sizes.max(initial=0.0))


def _step(
    system: DirectorSystem | StabilisedSystem,
    scheme: Scheme,
    t: float,
    x0: Vector,
    u: Vector,
    h: float,
) -> StepProblem:
    """Return the leaner step where the scheme is the midpoint rule, else the general one."""
    if isinstance(scheme.gradient, Midpoint):
        if isinstance(system, StabilisedSystem):
            return StabilisedStep(scheme, t, x0, u, h, system)
        return MidpointStep(scheme, t, x0, u, h, system)
    if system.mechanism.redundant:
        raise InputError(
            f"scheme '{scheme.name}' cannot run a mechanism with repeated constraints "
            "(see model.check()); use 'ph-mp' or 'ph-mp-ggl'"
        )
    return GeneralStep(scheme, t, x0, u, h, system)


for _kind in (DirectorSystem, StabilisedSystem):
    step_problem.register(_kind, _step)
