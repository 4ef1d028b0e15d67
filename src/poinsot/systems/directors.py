"""Mechanisms in directors as port-Hamiltonian systems: the plain form and the stabilised one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.bodies.rigid import RIGIDITY
from poinsot.errors import InputError
from poinsot.frames.parametrisations import Matrices
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import velocities
from poinsot.parts.rigid_strains import RigidStrains
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, assemble, balancing, dense, diagonal, is_sparse
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import State
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.steps import DirectorStages, StabilisedStages
from poinsot.systems.views import DirectorView


@dataclass(frozen=True, eq=False)
class DirectorForm(MechanismForm):
    """What both forms share: x = (q, v, multipliers)."""

    by_construction = True

    def directors(self, x: Vector) -> Vector:
        """Return frames."""
        return self.mechanism.unknowns.full(x[: self.mechanism.n])

    def state_at(self, f: Vector, twists: Vector) -> Vector:
        """Return (q, v, 0)."""
        own = self.mechanism.unknowns
        motion = own.own(f), own.own(velocities(f, twists))
        return np.concatenate([*motion, np.zeros(self.n - 2 * own.n)])

    def rate_at(self, f: Vector, twists: Vector, accelerations: Vector) -> Vector:
        """Return (v, v', 0): directors have omega' x d + omega x (omega x d)."""
        own, rates = self.mechanism.unknowns, velocities(f, twists)
        omega = np.cross(twists.reshape(-1, 2, 3)[:, 1:], frame_vectors(rates)[:, 1:])
        turned = np.concatenate([np.zeros_like(omega[:, :1]), omega], axis=1).reshape(-1)
        motion = own.own(rates), own.own(velocities(f, accelerations) + turned)
        return np.concatenate([*motion, np.zeros(self.n - 2 * own.n)])

    @property
    def view(self) -> DirectorView:
        """Reads q and v."""
        of, own = self.mechanism, self.mechanism.unknowns
        return DirectorView(of.on_frames, (own, own.rates), 2 * own.n + of.rigid, Matrices())

    @property
    def mechanics(self) -> Mechanism:
        """The mechanism itself: velocities are the rates of q."""
        return self.mechanism

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return those of the midpoint rule; for all others the general ones."""
        if scheme.rule is Rule.MIDPOINT:
            if isinstance(self, StabilisedSystem):
                return StabilisedStages(scheme, t, x0, u, h, self)
            return DirectorStages(scheme, t, x0, u, h, self)
        if self.mechanism.drives:
            raise InputError(
                f"scheme '{scheme.name}' does not keep {self.mechanism.driven_motion}; use 'ph-mp'"
            )
        if self.mechanism.redundant:
            raise InputError(
                f"scheme '{scheme.name}' cannot run a mechanism with repeated constraints "
                "(see model.check()); use 'ph-mp' or 'ph-mp-ggl'"
            )
        return None

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule; rigid strains are not stabilised there."""
        rigid = any(isinstance(place.joint, RigidStrains) for place in self.layout.joints)
        if scheme.rule is not Rule.MIDPOINT or (self.stabilised and rigid):
            return None
        if not self.mechanism.compiled:
            return None
        from poinsot.systems.compiled.runner import DirectorRunner  # imports this module

        return DirectorRunner(self, scheme, x, h, options)


@dataclass(frozen=True, eq=False)
class DirectorSystem(DirectorForm):
    r"""A mechanism in directors [LKB26, eq. (24)], x = (q, v, lambda).

    .. math::

        \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix} \dot x =
        \begin{bmatrix} 0 & I & 0 \\ -I & 0 & -G^\top \\ 0 & G & 0 \end{bmatrix}
        \begin{bmatrix} \nabla V \\ v \\ \lambda \end{bmatrix}
        + \begin{bmatrix} 0 \\ B \\ 0 \end{bmatrix} u

    G has the gradients of all constraints on positions, and below them the rows A(q) v = 0 of
    contacts that cannot slip.
    """

    def flow(self, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return J z - r + B u without making J."""
        G, (force, v, lam) = self.mechanism.G(x[: self.mechanism.n]), self.parts(z)
        conduction = np.concatenate([v, -force - G.T @ lam, G @ v])
        return np.asarray(conduction - self.resistive(x, z) + self.B(x) @ u)


@dataclass(frozen=True, eq=False)
class StabilisedSystem(DirectorForm):
    r"""The same with velocity constraints [LKB26, eq. (61)], x = (q, v, lambda, gamma).

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

    @cached_property
    def inverse_mass(self) -> Vector:
        """The diagonal of M^-1."""
        return 1 / self.mechanism.mass

    @property
    def followers(self) -> NDArray[np.bool_]:
        """All but gamma, which vanishes where velocities are consistent, and hides where not."""
        return self.algebraic & (np.arange(self.n) < self._gam)

    def sizes(self, x: Vector) -> Vector:
        """Return how large states are; G^T gamma is a momentum."""
        sizes, q = super().sizes(x), self.parts(x)[0]
        momenta = self.mechanism.mass * self.parts(sizes)[1]
        gam = sizes[self._gam :]
        gam[:] = np.maximum(gam, balancing(self.mechanism.G(q), momenta))
        return sizes

    def _scaled(self, A: Matrix) -> Matrix:
        """Return M^-1 A."""
        if is_sparse(A):
            return sp.csr_array(sp.diags_array(self.inverse_mass) @ A)
        return self.inverse_mass[:, None] * dense(A)

    def _MG(self, x: Vector) -> Matrix:
        """Return M^-1 G^T."""
        return self._scaled(self.mechanism.G(self.parts(x)[0]).T)

    @property
    def _gam(self) -> int:
        """Where the multipliers gamma begin."""
        return 2 * self.mechanism.n + self.mechanism.m

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix."""
        n, lam, gam, (q, v, _) = self.mechanism.n, 2 * self.mechanism.n, self._gam, self.parts(x)
        G, W = self.mechanism.G(q), self.mechanism.slope(q, v)
        identity, MG = diagonal(np.ones(n)), self._scaled(G.T)
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
        B = self.mechanism.B(self.parts(x)[0])
        return assemble(
            (self.n, self.m), [(self.mechanism.n, 0, B), (self._gam, 0, self._MG(x).T @ B)]
        )

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs with state-dependent loads filled in, at the rate of q."""
        return self.mechanism.feedback(t, self.parts(x)[0], self.rate(x, z), u)

    def rate(self, x: Vector, z: Vector) -> Vector:
        """Return the velocity of the coordinates, v + M^-1 G^T gamma."""
        G = self.mechanism.G(self.parts(x)[0])
        return np.asarray(self.parts(z)[1] + self.inverse_mass * (G.T @ z[self._gam :]))

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the damping effort; it acts like a port, so on the rate of G v too."""
        if self.mechanism.lossless:
            return None
        effort, force = np.zeros(self.n), self.mechanism.damping(self.parts(x)[0], self.rate(x, z))
        self.parts(effort)[1][:] = force
        effort[self._gam :] = self._MG(x).T @ force
        return effort

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r with respect to z."""
        slopes = self.mechanism.ddamping(self.parts(x)[0], self.rate(x, z))
        if slopes is None:
            return None
        D, MG, n, gam = slopes[1], self._MG(x), self.mechanism.n, self._gam
        DMG = D @ MG
        return assemble(
            (self.n, self.n),
            [(n, n, D), (n, gam, DMG), (gam, n, DMG.T), (gam, gam, MG.T @ DMG)],
        )

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of J z - r + B u with respect to x = (q, v, ...)."""
        mechanism, n, m = self.mechanism, self.mechanism.n, self.mechanism.m
        (q, v, _), (force, _, multipliers) = self.parts(x), self.parts(z)
        lam, gam = multipliers[:m], multipliers[m:]
        G, W, MG, rate = mechanism.G(q), mechanism.slope(q, v), self._MG(x), self.rate(x, z)
        C_gam = mechanism.curvature(q, gam)
        MC_gam = self._scaled(C_gam)
        # What the momentum equation says of M v', whose M^-1 enters the last row through G.
        push = -force - G.T @ lam - W.T @ gam
        dpush: Matrix = -mechanism.curvature(q, lam)
        dB, slopes = mechanism.dB(q, u), mechanism.ddamping(q, rate)
        if dB is not None:
            push = push + mechanism.B(q) @ u
            dpush = dpush + dB
        if slopes is not None:
            push = push - mechanism.damping(q, rate)
            dpush = dpush - slopes[0] - slopes[1] @ MC_gam
        row_lam, row_gam = 2 * n, self._gam
        return assemble(
            (self.n, self.n),
            [
                (0, 0, MC_gam),
                (n, 0, dpush),
                (n, n, -C_gam),
                (row_lam, 0, mechanism.slope(q, rate)),
                (row_lam, 0, G @ MC_gam),
                (row_gam, 0, mechanism.slope(q, self.inverse_mass * push)),
                (row_gam, 0, MG.T @ dpush),
                (row_gam, 0, W @ MC_gam),
                (row_gam, n, mechanism.slope(q, rate)),
                (row_gam, n, -(MG.T @ C_gam)),
            ],
        )

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B^T (v + M^-1 G^T gamma) with respect to x."""
        q = self.parts(x)[0]
        dy = self.mechanism.dy(q, self.rate(x, z))
        if dy is None:
            return None
        MC = self._scaled(self.mechanism.curvature(q, z[self._gam :]))
        return assemble((self.m, self.n), [(0, 0, dy), (0, 0, self.mechanism.B(q).T @ MC)])


def director_system(
    name: str,
    mechanism: Mechanism,
    layout: Layout,
    ports: Sequence[Port],
    q: Vector,
    motion: Vector,
    *,
    stabilised: bool = False,
) -> DirectorSystem | StabilisedSystem:
    """Return the system of a mechanism at frames q, with twists (v, omega) of every body."""
    own = mechanism.unknowns
    rigid = (State(f"{body}.rigidity", RIGIDITY) for body in layout.among(own.turns))
    multipliers = [*rigid, *layout.multipliers]
    states = [*layout.states({"q": own, "v": own}), *multipliers]
    kind: type[DirectorSystem] | type[StabilisedSystem] = DirectorSystem
    if stabilised:
        states += [replace(state, name=f"{state.name} (velocity)") for state in multipliers]
        kind = StabilisedSystem
    system = kind(
        name=name,
        states=tuple(states),
        ports=tuple(ports),
        mechanism=mechanism,
        layout=layout,
        initial=np.zeros(0),
    )
    return replace(system, initial=system.state_at(q, motion))
