"""Mechanisms with velocities in body axes as port-Hamiltonian systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot.errors import InconsistentStartError, InputError
from poinsot.frames.directions import Torque
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import State
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanical import RedundantForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import SIX, RotationBodies
from poinsot.systems.rotations.parametrisations import PARAMETRISATIONS
from poinsot.systems.rotations.reading import RotationView
from poinsot.systems.rotations.steps import RotationStages

#: What a constraint of a joint may be violated by at the start, relative to its terms.
GAP = 1e-8


@dataclass(frozen=True, eq=False)
class RotationSystem(RedundantForm, MechanismForm):
    """A mechanism with velocities in body axes [BHRS25, eq. (10)], x = (zeta, w, lambda).

    For every body zeta = (phi, theta): the centre of mass in world axes [m], and what describes the
    rotation of its principal axes of inertia: the columns of R [BHRS25, eq. (11)], a unit
    quaternion (scalar first), or Euler angles [BHRS25, eq. (16a)]. w = (v, Omega) are the velocity
    of the centre of mass [m/s] and the angular velocity [rad/s] in these axes, in which
    M = diag(m, J) is constant. The multipliers are those of the joints, mu of contacts that cannot
    slip last: theta stays a rotation by its kinematics [BHRS25, sec. 5].
    """

    coordinates: str

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
    def held(self) -> Mechanism:
        """The mechanism without rigidity: joints, and contacts that cannot slip, in directors."""
        return self.bodies.held

    def directors(self, x: Vector) -> Vector:
        """Return the coordinates in directors."""
        return self.bodies.directors(self.parts(x)[0])

    @property
    def view(self) -> RotationView:
        """Reads zeta and w."""
        return RotationView.of(self.held, self.bodies)

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return the midpoint rule on rotations."""
        if scheme.rule is not Rule.MIDPOINT or scheme.stabilised:
            raise InputError(
                f"scheme '{scheme.name}' does not run system '{self.name}', whose velocities are "
                "in body axes; use 'ph-mp'"
            )
        return RotationStages(scheme, t, x0, u, h, self)

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule.

        Torques as [LKB26, eq. (32)] puts them in are others in the engine's quaternions.
        """
        lines = [inlet.direction for inlet in self.mechanism.inlets]
        if any(isinstance(line, Torque) and not line.reciprocal for line in lines):
            return None
        if scheme.rule is not Rule.MIDPOINT:
            return None
        if self.coordinates == "rotations-euler":
            from poinsot.systems.compiled.euler import EulerRunner  # imports this module

            return EulerRunner(self, scheme, x, h, options)
        from poinsot.systems.compiled.rotations import RotationRunner  # imports this module

        return RotationRunner(self, scheme, x, h, options)

    # -- for reading --------------------------------------------------------------------------

    @property
    def M(self) -> Matrix:
        """The mass matrix diag(m, J) of every body; (6 bodies, 6 bodies)."""
        return self.bodies.M

    def Z(self, zeta: Vector) -> Matrix:
        """Return the kinematic matrix, zeta' = Z w [BHRS25, eqs. (11), (18)]."""
        return self.bodies.Z(zeta)

    def G(self, Gamma: Vector) -> Matrix:
        """Return the gyroscopic matrix of the momenta Gamma = M w; (6 bodies, 6 bodies)."""
        return self.bodies.G(Gamma)

    def c(self, zeta: Vector) -> Vector:
        """Return the constraints of the joints."""
        return self.bodies.joints(self.bodies.directors(zeta))

    def check_start(self, x: Vector) -> None:
        """Refuse what is no rotation, gimbal lock, and joints that are open."""
        zeta, _, _ = self.parts(x)
        wrong = self.bodies.parametrisation.wrong(self.bodies.theta(zeta))
        if wrong is not None:
            body, reason = wrong
            raise InconsistentStartError(f"body '{self.layout.bodies[body]}': {reason}")
        gaps, q = abs(self.c(zeta)), self.bodies.directors(zeta)
        k = int(np.argmax(gaps)) if gaps.size else 0
        if gaps.size and gaps[k] > GAP * (1 + float(np.max(abs(self.bodies.joints.G(q)) @ abs(q)))):
            label = self.labels[self.bodies.n + self.bodies.k + k]
            raise InconsistentStartError(
                f"system '{self.name}': the start violates the constraint '{label}' by "
                f"{gaps[k]:.3g}; correct the coordinates"
            )


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
    parametrisation = PARAMETRISATIONS[coordinates]
    blocks, motion = q.reshape(-1, 4, 3), twists.reshape(-1, 2, 3)
    R = np.swapaxes(blocks[:, 1:], 1, 2)
    zeta = np.hstack([blocks[:, 0], parametrisation.of(R)])
    w = np.einsum("nji,nkj->nki", R, motion)
    multipliers = layout.multipliers
    return RotationSystem(
        name=name,
        states=(
            *(State(f"{body}.zeta", zeta.shape[1]) for body in layout.bodies),
            *(State(f"{body}.w", SIX) for body in layout.bodies),
            *multipliers,
        ),
        ports=tuple(ports),
        mechanism=mechanism,
        layout=layout,
        coordinates=coordinates,
        initial=np.concatenate(
            [zeta.reshape(-1), w.reshape(-1), np.zeros(sum(state.size for state in multipliers))]
        ),
    )
