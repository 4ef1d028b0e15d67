"""What systems with velocities in body axes share, whether bodies are rigid or some are elastic."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from poinsot.errors import InconsistentStartError
from poinsot.frames.directions import Torque
from poinsot.frames.places import frame_vectors
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.scheme import Scheme
from poinsot.systems.form import MechanismForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.bodies import RotationBodies


@dataclass(frozen=True, eq=False)
class BodyAxesForm(MechanismForm):
    """A mechanism as x = (zeta, w, lambda) with velocities w in body axes.

    zeta begins with (phi, theta) of all bodies that have unknowns of their own, and w with their
    (v, Omega); the other coordinates and velocities, if there are any, are those of deformations.
    `coordinates` names how theta describes rotations.
    """

    coordinates: str

    @property
    @abstractmethod
    def rigid(self) -> RotationBodies:
        """The frames of all bodies, as those of rigid ones."""

    @property
    def held(self) -> Mechanism:
        """The mechanism without rigidity: joints, and contacts that cannot slip, on frames."""
        return self.mechanism.held

    def state_at(self, f: Vector, twists: Vector) -> Vector:
        """Return (zeta, w, 0), without deformation."""
        frames, motion, rigid = frame_vectors(f), twists.reshape(-1, 2, 3), self.rigid
        R = np.swapaxes(frames[:, 1:], 1, 2)
        theta = rigid.parametrisation.of(R)
        zeta = rigid.unknowns.own(np.hstack([frames[:, 0], theta]).reshape(-1))
        w = rigid.velocities.own(np.einsum("nji,nkj->nki", R, motion).reshape(-1))
        x = np.zeros(self.n)
        x[: rigid.n] = zeta
        self.parts(x)[1][: rigid.k] = w
        return x

    def rate_at(self, f: Vector, twists: Vector, accelerations: Vector) -> Vector:
        """Return (Z w, w', 0); v in body axes changes by R^T (v' - omega x v)."""
        zeta, w, _ = self.parts(self.state_at(f, twists))
        R, motion = np.swapaxes(frame_vectors(f)[:, 1:], 1, 2), twists.reshape(-1, 2, 3)
        change = accelerations.reshape(-1, 2, 3).copy()
        change[:, 0] -= np.cross(motion[:, 1], motion[:, 0])
        own = np.einsum("nji,nkj->nki", R, change).reshape(-1)
        rate = np.zeros(self.n)
        moved, turned, _ = self.parts(rate)
        moved[:] = self.mechanics.Z(zeta) @ w
        turned[: self.rigid.k] = self.rigid.velocities.own(own)
        return rate

    def compiles(self, scheme: Scheme) -> bool:
        """Return whether the compiled engine takes such steps.

        Torques as [LKB26, eq. (32)] puts them in are others in the engine's quaternions.
        """
        lines = [inlet.direction for inlet in self.mechanism.inlets]
        exact = not any(isinstance(line, Torque) and not line.reciprocal for line in lines)
        return exact and self.mechanism.compiled and scheme.rule is Rule.MIDPOINT

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse what is no rotation, gimbal lock, and joints that are open."""
        theta = self.rigid.theta(self.parts(x)[0][: self.rigid.n])
        wrong = self.rigid.parametrisation.wrong(theta)
        if wrong is not None:
            body, reason = wrong
            raise InconsistentStartError(f"body '{self.layout.bodies[body]}': {reason}")
        super().check_start(x, t)
