"""Mechanisms with elastic bodies as port-Hamiltonian systems [BAPM21]."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InconsistentStartError, InputError
from poinsot.frames.directions import Torque
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.frames.places import frame_vectors
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal, total
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import State
from poinsot.systems.floating.bodies import FloatingBodies
from poinsot.systems.floating.redundancy import Redundancy
from poinsot.systems.floating.steps import FloatingStages
from poinsot.systems.floating.view import FloatingView
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FloatingSystem(MechanismForm):
    r"""A mechanism with elastic bodies [BAPM21, eqs. (12), (36)], x = (zeta, w, lambda).

    zeta = (phi, theta) of all bodies, whose frames float with those that are elastic, and the
    elastic coordinates u; w = (v, Omega) of the frames in their own axes, and v_f.

    .. math::

        \begin{bmatrix} I & \\ & M(u) \end{bmatrix}
        \begin{bmatrix} \dot\zeta \\ \dot w \end{bmatrix} =
        \begin{bmatrix} 0 & Z \\ -Z^\top & -G(u, w) \end{bmatrix}
        \begin{bmatrix} \nabla_\zeta H \\ w \end{bmatrix}
        - \begin{bmatrix} 0 \\ K^\top \lambda + D w - B u \end{bmatrix}
    """

    coordinates: str
    redundancy: Redundancy

    @cached_property
    def bodies(self) -> FloatingBodies:
        """The bodies, and how their rotations are described."""
        return FloatingBodies(self.mechanism, PARAMETRISATIONS[self.coordinates])

    @property
    def mechanics(self) -> FloatingBodies:
        """Their coefficients of the equations."""
        return self.bodies

    @property
    def held(self) -> Mechanism:
        """The mechanism without rigidity: joints, and contacts that cannot slip, on frames."""
        return self.bodies.held

    # -- structure ----------------------------------------------------------------------------

    def E(self, x: Vector) -> Matrix:
        """Return diag(I, M(u), 0)."""
        n = self.mechanics.n
        M = self.bodies.mass_matrix(x[:n])
        return assemble((self.n, self.n), [(0, 0, diagonal(np.ones(n))), (n, n, M)])

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of E a by x."""
        n = self.mechanics.n
        slope = self.bodies.dM(x[:n], self.parts(a)[1])
        return assemble((self.n, self.n), [(n, 0, slope)])

    def z(self, x: Vector) -> Vector:
        """Return (grad H by zeta, w, multipliers)."""
        zeta, w, lam = self.parts(x)
        return np.concatenate([self.bodies.dV(zeta) + self.bodies.push(zeta, w), w, lam])

    def dz(self, x: Vector) -> Matrix:
        """Return the derivative of z."""
        (zeta, w, _), n = self.parts(x), self.mechanics.n
        by_zeta, by_w = self.bodies.dpush(zeta, w)
        placed: list[Placed] = [
            (0, 0, total(self.bodies.ddV(zeta), by_zeta)),
            (0, n, by_w),
            (n, n, diagonal(np.ones(self.n - n))),
        ]
        return assemble((self.n, self.n), placed)

    def energies(self, x: Vector) -> Vector:
        """Return T + V [J]."""
        zeta, w, _ = self.parts(x)
        return np.array([self.bodies.kinetic(zeta, w) + self.bodies.V(zeta)])

    def gyration(self, x: Vector) -> Matrix:
        """Return G(u, w) [BAPM21, eqs. (12) to (14)]."""
        zeta, w, _ = self.parts(x)
        return self.bodies.gyration(zeta, w)

    def dgyration(self, x: Vector, a: Vector) -> tuple[Matrix, Matrix]:
        """Return the derivatives of its product with a by zeta and by w."""
        zeta, w, _ = self.parts(x)
        return self.bodies.dgyration(zeta, w, a)

    # -- states -------------------------------------------------------------------------------

    def directors(self, x: Vector) -> Vector:
        """Return the numbers of all frames."""
        return self.bodies.directors(self.parts(x)[0])

    def state_at(self, f: Vector, twists: Vector) -> Vector:
        """Return (zeta, w, 0), elastic bodies undeformed."""
        rigid, bodies = self.bodies.rigid, self.bodies
        frames, motion = frame_vectors(f), twists.reshape(-1, 2, 3)
        R = np.swapaxes(frames[:, 1:], 1, 2)
        zeta = np.hstack([frames[:, 0], bodies.parametrisation.of(R)]).reshape(-1)
        w = np.einsum("nji,nkj->nki", R, motion).reshape(-1)
        known = rigid.unknowns.own(zeta), np.zeros(bodies.n - rigid.n)
        moving = rigid.velocities.own(w), np.zeros(bodies.k - rigid.k)
        return np.concatenate([*known, *moving, np.zeros(bodies.m)])

    def rate_at(self, f: Vector, twists: Vector, accelerations: Vector) -> Vector:
        """Return (Z w, w', 0); v in body axes changes by R^T (v' - omega x v)."""
        zeta, w, lam = self.parts(self.state_at(f, twists))
        R, motion = np.swapaxes(frame_vectors(f)[:, 1:], 1, 2), twists.reshape(-1, 2, 3)
        change = accelerations.reshape(-1, 2, 3).copy()
        change[:, 0] -= np.cross(motion[:, 1], motion[:, 0])
        own = np.einsum("nji,nkj->nki", R, change).reshape(-1)
        turned = np.zeros_like(w)
        turned[: self.bodies.rigid.k] = self.bodies.rigid.velocities.own(own)
        return np.concatenate([self.bodies.Z(zeta) @ w, turned, np.zeros_like(lam)])

    @property
    def view(self) -> FloatingView:
        """Reads zeta and w."""
        own = self.bodies
        return FloatingView.of(own, self.held)

    def coordinate_sizes(self, x: Vector) -> Vector:
        """Return lengths of the mechanism for positions and deformations, and 1 for others."""
        bodies, lengths = self.bodies, self.mechanism.spans(self.directors(x))
        sizes = np.full(bodies.n, np.max(lengths, initial=0.0) or 1.0)
        unknowns = bodies.rigid.unknowns
        each = np.ones((lengths.size, unknowns.width))
        each[:, :3] = lengths[:, None]
        sizes[: bodies.rigid.n] = unknowns.own(each.reshape(-1))
        return sizes

    # -- what a run asks of it ----------------------------------------------------------------

    def exact_under(self, scheme: Scheme) -> bool:
        """Yes under the midpoint rule, in which elasticity has discrete gradients."""
        return scheme.rule is Rule.MIDPOINT

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return the midpoint rule on rotations and elastic coordinates."""
        if scheme.rule is not Rule.MIDPOINT or scheme.stabilised:
            raise InputError(
                f"scheme '{scheme.name}' does not run system '{self.name}', which has elastic "
                "bodies; use 'ph-mp'"
            )
        return FloatingStages(scheme, t, x0, u, h, self)

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule."""
        lines = [inlet.direction for inlet in self.mechanism.inlets]
        if any(isinstance(line, Torque) and not line.reciprocal for line in lines):
            return None
        if scheme.rule is not Rule.MIDPOINT or self.coordinates == "rotations-euler":
            return None
        from poinsot.systems.compiled.floating import FloatingRunner  # imports this

        return FloatingRunner(self, scheme, x, h, options)

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse what is no rotation, gimbal lock, and joints that are open."""
        zeta, _, _ = self.parts(x)
        rigid = self.bodies.rigid
        wrong = self.bodies.parametrisation.wrong(rigid.theta(zeta[: rigid.n]))
        if wrong is not None:
            body, reason = wrong
            raise InconsistentStartError(f"body '{self.layout.bodies[body]}': {reason}")
        super().check_start(x, t)


def floating_system(
    name: str,
    mechanism: Mechanism,
    layout: Layout,
    ports: Sequence[Port],
    q: Vector,
    twists: Vector,
    coordinates: str,
) -> FloatingSystem:
    """Return the system of a mechanism at frames q, with twists (v, omega)."""
    bodies = FloatingBodies(mechanism, PARAMETRISATIONS[coordinates])
    states = [
        State(f"{layout.bodies[body.frame]}.{part}", body.data.n)
        for part in ("u", "v_f")
        for body in mechanism.elastic
    ]
    half = len(states) // 2
    rigid = bodies.rigid
    system = FloatingSystem(
        name=name,
        states=(
            *layout.states({"zeta": rigid.unknowns}),
            *states[:half],
            *layout.states({"w": rigid.velocities}),
            *states[half:],
            *layout.multipliers,
        ),
        ports=tuple(ports),
        mechanism=mechanism,
        layout=layout,
        coordinates=coordinates,
        redundancy=Redundancy.none(bodies),
        initial=np.zeros(0),
    )
    x = system.state_at(q, twists)
    length = float(np.max(mechanism.lengths(q), initial=0.0)) or 1.0
    return replace(system, initial=x, redundancy=Redundancy.at(bodies, x[: bodies.n], length))
