"""Mechanisms with elastic bodies as port-Hamiltonian systems [BAPM21]."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from poinsot.errors import InputError
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal, total
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import State, Storage
from poinsot.systems.floating.bodies import FloatingBodies
from poinsot.systems.floating.redundancy import Redundancy
from poinsot.systems.floating.steps import FloatingStages
from poinsot.systems.floating.view import FloatingView
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import RotationBodies
from poinsot.systems.rotations.form import BodyAxesForm


@dataclass(frozen=True, eq=False)
class FloatingSystem(BodyAxesForm):
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
    def rigid(self) -> RotationBodies:
        """The frames of all bodies, those that elastic ones float with among them."""
        return self.bodies.rigid

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

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """One, as T depends on zeta."""
        return (Storage(np.flatnonzero(~self.algebraic)),)

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
                f"scheme '{scheme.name}' does not support elastic bodies (system '{self.name}'); "
                "use 'ph-mp'"
            )
        return FloatingStages(scheme, t, x0, u, h, self)

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule."""
        if not self.compiles(scheme) or self.coordinates == "rotations-euler":
            return None
        from poinsot.systems.compiled.floating import FloatingRunner  # imports this

        return FloatingRunner(self, scheme, x, h, options)


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
