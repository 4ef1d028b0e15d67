"""Mechanisms with velocities in body axes as port-Hamiltonian systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InconsistentStartError, InputError
from poinsot.frames.directions import Torque
from poinsot.frames.forms import Forms
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Placed, Vector, add, assemble, diagonal
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import State
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import RotationBodies
from poinsot.systems.rotations.parametrisations import PARAMETRISATIONS
from poinsot.systems.rotations.reading import RotationView
from poinsot.systems.rotations.steps import RotationStages

#: What a constraint of a joint may be violated by at the start, relative to its terms.
GAP = 1e-8


@dataclass(frozen=True, eq=False)
class RotationSystem(MechanismForm):
    r"""A mechanism with velocities in body axes [BHRS25, eq. (10)], x = (zeta, w, lambda).

    .. math::

        \dot\zeta &= Z(\zeta)\, w \\
        M \dot w &= -Z^\top \nabla V - G(M w)\, w - Z^\top c'^\top \lambda - A^\top \mu
                    - \tau_d + B u \\
        0 &= c(\zeta), \qquad 0 = A(\zeta)\, w, \qquad y = B^\top w

    For every body zeta = (phi, theta): the centre of mass in world axes [m], and what describes the
    rotation of its principal axes of inertia: the columns of R [BHRS25, eq. (11)], a unit
    quaternion (scalar first), or Euler angles [BHRS25, eq. (16a)]. w = (v, Omega) are the velocity
    of the centre of mass [m/s] and the angular velocity [rad/s] in these axes, in which
    M = diag(m, J) is constant. E = diag(I, M, 0), z = (grad V, w, lambda). The multipliers are
    those of the joints, mu of contacts that cannot slip last: theta stays a rotation by its
    kinematics [BHRS25, sec. 5].
    """

    coordinates: str

    # -- parts --------------------------------------------------------------------------------

    @cached_property
    def bodies(self) -> RotationBodies:
        """The bodies, and how their rotations are described."""
        return RotationBodies(self.mechanism, PARAMETRISATIONS[self.coordinates])

    @cached_property
    def held(self) -> Mechanism:
        """The mechanism without rigidity: joints, and contacts that cannot slip, in directors."""
        return self.mechanism.held

    @property
    def joints(self) -> Forms:
        """The constraints of the joints on positions, in directors."""
        return self.held.constraints

    def directors(self, x: Vector) -> Vector:
        """Return the coordinates in directors."""
        return self.bodies.directors(self.split(x)[0])

    @property
    def view(self) -> RotationView:
        """Reads zeta and w."""
        return RotationView.of(self.held, self.bodies)

    def split(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """Return (zeta, w, lam) of a state, or the same parts of a costate."""
        n, k = self.bodies.n, self.bodies.k
        return x[:n], x[n : n + k], x[n + k :]

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
        return self.joints(self.bodies.directors(zeta))

    def check_start(self, x: Vector) -> None:
        """Refuse what is no rotation, gimbal lock, and joints that are open."""
        zeta, _, _ = self.split(x)
        wrong = self.bodies.parametrisation.wrong(self.bodies.theta(zeta))
        if wrong is not None:
            body, reason = wrong
            raise InconsistentStartError(f"body '{self.layout.bodies[body]}': {reason}")
        gaps, q = abs(self.c(zeta)), self.bodies.directors(zeta)
        k = int(np.argmax(gaps)) if gaps.size else 0
        if gaps.size and gaps[k] > GAP * (1 + float(np.max(abs(self.joints.G(q)) @ abs(q)))):
            label = self.labels[self.bodies.n + self.bodies.k + k]
            raise InconsistentStartError(
                f"system '{self.name}': the start violates the constraint '{label}' by "
                f"{gaps[k]:.3g}; correct the coordinates"
            )

    # -- the six ingredients ------------------------------------------------------------------

    @cached_property
    def _E(self) -> Matrix:
        ones, none = np.ones(self.bodies.n), np.zeros(self.held.m)
        return diagonal(np.concatenate([ones, self.bodies.weights, none]))

    def E(self, x: Vector) -> Matrix:
        """Return diag(I, M, 0)."""
        return self._E

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix [BHRS25, eq. (7)], with the multipliers of joints."""
        zeta, w, _ = self.split(x)
        bodies, n, lam = self.bodies, self.bodies.n, self.bodies.n + self.bodies.k
        Z, K = bodies.Z(zeta), self.held.G(bodies.directors(zeta)) @ bodies.P(zeta)
        gyration = bodies.G(bodies.weights * w)
        return assemble(
            (self.n, self.n),
            [(0, n, Z), (n, 0, -Z.T), (n, n, -1.0 * gyration), (n, lam, -K.T), (lam, n, K)],
        )

    def B(self, x: Vector) -> Matrix:
        """Return the port matrix, in the equation of w."""
        zeta, _, _ = self.split(x)
        B = self.bodies.P(zeta).T @ self.held.B(self.bodies.directors(zeta))
        return assemble((self.n, self.m), [(self.bodies.n, 0, B)])

    def z(self, x: Vector) -> Vector:
        """Return (grad V, w, lam)."""
        zeta, w, lam = self.split(x)
        pull = self.bodies.D(zeta).T @ self.held.dV(self.bodies.directors(zeta))
        return np.concatenate([pull, w, lam])

    def energies(self, x: Vector) -> Vector:
        """Return T + V [J]."""
        zeta, w, _ = self.split(x)
        T = self.bodies.weights @ w**2 / 2
        return np.array([T + self.held.V(self.bodies.directors(zeta))])

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the damping force in the equation of w."""
        if not self.mechanism.dampers:
            return None
        (zeta, _, _), (_, w, _), total = self.split(x), self.split(z), np.zeros(self.n)
        P = self.bodies.P(zeta)
        force = self.held.damping(self.bodies.directors(zeta), np.asarray(P @ w))
        total[self.bodies.n : self.bodies.n + self.bodies.k] = P.T @ force
        return total

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs with state-dependent loads filled in."""
        (zeta, _, _), (_, w, _) = self.split(x), self.split(z)
        rate = np.asarray(self.bodies.P(zeta) @ w)
        return self.held.feedback(t, self.bodies.directors(zeta), rate, u)

    # -- tangents -----------------------------------------------------------------------------

    def dz(self, x: Vector) -> Matrix:
        """Return diag(Hessian of V, I, I)."""
        zeta, n = self.split(x)[0], self.bodies.n
        q, D = self.bodies.directors(zeta), self.bodies.D(zeta)
        placed: list[Placed] = [
            (0, 0, self.bodies.bend(zeta, self.held.dV(q))),
            (n, n, diagonal(np.ones(self.n - n))),
        ]
        ddV = self.held.ddV(q)
        if ddV is not None:
            placed.append((0, 0, D.T @ ddV @ D))
        return assemble((self.n, self.n), placed)

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of J z - r + B u with respect to x."""
        (zeta, _, _), (force, a, lam) = self.split(x), self.split(z)
        bodies, mechanism, n = self.bodies, self.held, self.bodies.n
        q, D, P = bodies.directors(zeta), bodies.D(zeta), bodies.P(zeta)
        rate, drate, G = np.asarray(P @ a), bodies.P_along(zeta, a), self.held.G(q)
        # What acts on directors besides the potential, and its derivative by zeta.
        pull = G.T @ lam - mechanism.B(q) @ u + mechanism.damping(q, rate)
        dpull: Matrix = self.held.curvature(q, lam) @ D
        dB, slopes = mechanism.dB(q, u), mechanism.ddamping(q, rate)
        if dB is not None:
            dpull = add(dpull, -1.0 * (dB @ D))
        if slopes is not None:
            dpull = add(dpull, slopes[0] @ D + slopes[1] @ drate)
        placed: list[Placed] = [
            (0, 0, bodies.Z_along(zeta, a)),
            (n, 0, -1.0 * bodies.Z_back(zeta, force)),
            (n, 0, -1.0 * bodies.P_back(zeta, pull)),
            (n, 0, -(P.T @ dpull)),
            (n, n, -(bodies.dG(a) @ bodies.M)),
            (n + bodies.k, 0, self.held.slope(q, rate) @ D + G @ drate),
        ]
        return assemble((self.n, self.n), placed)

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r with respect to z."""
        (zeta, _, _), (_, w, _), n = self.split(x), self.split(z), self.bodies.n
        P = self.bodies.P(zeta)
        slopes = self.held.ddamping(self.bodies.directors(zeta), np.asarray(P @ w))
        if slopes is None:
            return None
        return assemble((self.n, self.n), [(n, n, P.T @ slopes[1] @ P)])

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B^T w with respect to x."""
        (zeta, _, _), (_, w, _) = self.split(x), self.split(z)
        q, P = self.bodies.directors(zeta), self.bodies.P(zeta)
        inner = self.held.dy(q, np.asarray(P @ w))
        if inner is None:
            return None
        slope = self.held.B(q).T @ self.bodies.P_along(zeta, w)
        return assemble((self.m, self.n), [(0, 0, inner @ self.bodies.D(zeta)), (0, 0, slope)])

    # -- what is known of the whole -----------------------------------------------------------

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """The multipliers."""
        return np.arange(self.n) >= self.bodies.n + self.bodies.k

    @property
    def adjustable(self) -> NDArray[np.bool_]:
        """All but positions."""
        return np.arange(self.n) >= self.bodies.n


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
    zeta = np.hstack([blocks[:, 0], parametrisation.of(R)]).reshape(-1)
    w = np.einsum("nji,nkj->nki", R, motion).reshape(-1)
    bodies, multipliers = RotationBodies(mechanism, parametrisation), layout.multipliers
    parts = ("zeta", bodies.unknowns), ("w", bodies.velocities)
    return RotationSystem(
        name=name,
        states=(
            *(
                State(f"{body}.{part}", size)
                for part, own in parts
                for body, size in zip(layout.bodies, own.sizes.tolist(), strict=True)
            ),
            *multipliers,
        ),
        ports=tuple(ports),
        mechanism=mechanism,
        layout=layout,
        coordinates=coordinates,
        initial=np.concatenate(
            [
                bodies.unknowns.own(zeta),
                bodies.velocities.own(w),
                np.zeros(sum(state.size for state in multipliers)),
            ]
        ),
    )
