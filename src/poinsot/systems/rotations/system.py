"""Mechanisms with velocities in body axes as port-Hamiltonian systems."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, each_times
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.systems.layout import Layout
from poinsot.systems.mechanical import RedundantForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import RotationBodies
from poinsot.systems.rotations.form import BodyAxesForm
from poinsot.systems.rotations.steps import RotationStages
from poinsot.systems.views import Indices, View

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RotationView(View):
    """States x = (zeta, w, multipliers), read in directors."""

    own: RotationBodies

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return (R v, R Omega x d_i)."""
        d = self.directors(x, bodies)[:, :, 1:]
        velocity, spin = self._in_world(x, d, bodies)
        return np.concatenate([velocity[:, :, None], np.cross(spin[:, :, None], d)], axis=2)

    def _in_world(self, x: Array, d: Array, bodies: Indices) -> tuple[Array, Array]:
        """Return R v and R Omega."""
        w = self.split(x, bodies)[1].reshape(len(x), bodies.size, 2, 3)
        velocity, spin = np.moveaxis(np.einsum("tnji,tnkj->tnki", d, w), 2, 0)
        return velocity, spin

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return m R v and R J Omega."""
        d = self.directors(x, self.bodies)[:, :, 1:]
        velocity, _ = self._in_world(x, d, self.bodies)
        Pi = self.own.inertia * self.split(x, self.bodies)[1][:, :, 3:]
        return self.own.mass[:, None] * velocity, np.einsum("tnji,tnj->tni", d, Pi)

    def kinetic(self, x: Array) -> Array:
        """Return w·M w / 2."""
        return each_times(x[:, self.own.n :] ** 2, self.own.weights) / 2

    def own_errors(self, x: Array) -> tuple[Array, Array]:
        """Return by how much theta is no rotation; w is always one of a rigid body."""
        excess = self.parametrisation.excess(self.own.theta(x[:, : self.own.n]))
        return excess, np.zeros((len(x), 0))


@dataclass(frozen=True, eq=False)
class RotationSystem(RedundantForm, BodyAxesForm):
    """A mechanism with velocities in body axes [BHRS25, eq. (10)], x = (zeta, w, lambda).

    For every body zeta = (phi, theta): the centre of mass in world axes [m], and what describes the
    rotation of its principal axes of inertia: the columns of R [BHRS25, eq. (11)], a unit
    quaternion (scalar first), or Euler angles [BHRS25, eq. (16a)]. w = (v, Omega) are the velocity
    of the centre of mass [m/s] and the angular velocity [rad/s] in these axes, in which M = diag(m,
    J) is constant. The multipliers are those of the joints, mu of contacts that cannot slip last:
    theta stays a rotation by its kinematics [BHRS25, sec. 5].
    """

    # -- parts --------------------------------------------------------------------------------

    @cached_property
    def bodies(self) -> RotationBodies:
        """The bodies, and how their rotations are described."""
        return RotationBodies(self.mechanism, PARAMETRISATIONS[self.coordinates])

    @property
    def mechanics(self) -> RotationBodies:
        """Their coefficients of the equations."""
        return self.bodies

    @property
    def rigid(self) -> RotationBodies:
        """The bodies."""
        return self.bodies

    def directors(self, x: Vector) -> Vector:
        """Return the coordinates in directors."""
        return self.bodies.directors(self.parts(x)[0])

    @property
    def view(self) -> RotationView:
        """Reads zeta and w."""
        own = self.bodies
        parts = own.unknowns, own.velocities
        return RotationView(self.held, parts, own.n + own.k, own.parametrisation, own)

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return the midpoint rule on rotations."""
        if scheme.rule is not Rule.MIDPOINT or scheme.stabilised:
            raise InputError(
                f"scheme '{scheme.name}' does not support velocities in body axes (system "
                f"'{self.name}'); use 'ph-mp'"
            )
        return RotationStages(scheme, t, x0, u, h, self)

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule."""
        if not self.compiles(scheme):
            return None
        from poinsot.systems.compiled.rotations import EulerRunner, RotationRunner  # imports this

        kind = EulerRunner if self.coordinates == "rotations-euler" else RotationRunner
        return kind(self, scheme, x, h, options)

    # -- for reading --------------------------------------------------------------------------

    @property
    def M(self) -> Matrix:
        """The mass matrix diag(m, J) of every body; (k, k)."""
        return self.bodies.M

    def Z(self, zeta: Vector) -> Matrix:
        """Return the kinematic matrix, zeta' = Z w [BHRS25, eqs. (11), (18)]."""
        return self.bodies.Z(zeta)

    def G(self, Gamma: Vector) -> Matrix:
        """Return the gyroscopic matrix of the momenta Gamma = M w; (k, k)."""
        return self.bodies.G(Gamma)

    def c(self, zeta: Vector) -> Vector:
        """Return the constraints of the joints."""
        return self.bodies.joints(self.bodies.directors(zeta))


def rotation_system(
    name: str,
    mechanism: Mechanism,
    layout: Layout,
    ports: Sequence[Port],
    q: Vector,
    twists: Vector,
    coordinates: str,
) -> RotationSystem:
    """Return the system of a mechanism at director coordinates q, with twists (v, omega)."""
    bodies = RotationBodies(mechanism, PARAMETRISATIONS[coordinates])
    parts = {"zeta": bodies.unknowns, "w": bodies.velocities}
    system = RotationSystem(
        name=name,
        states=(*layout.states(parts), *layout.multipliers),
        ports=tuple(ports),
        mechanism=mechanism,
        layout=layout,
        coordinates=coordinates,
        initial=np.zeros(0),
    )
    return replace(system, initial=system.state_at(q, twists))
