"""Stage equations of mechanisms with elastic bodies: energy, momenta and joints exact."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import spread
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, total
from poinsot.ph.stages import Stage
from poinsot.systems.floating.elastic_step import ElasticStep
from poinsot.systems.rotations.bodies import SIX, RotationBodies
from poinsot.systems.rotations.steps import RotationStages
from poinsot.systems.steps import Middle

if TYPE_CHECKING:
    from poinsot.systems.floating.system import FloatingSystem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FloatingStages(RotationStages):
    r"""The midpoint rule with elastic bodies, for (V, omega) of all frames, v_f, and h lambda.

    Rigid bodies are those of `RotationStages`. The floating frame of an elastic body moves by h V
    and turns by cay(h omega), with the mean :math:`\bar R` of its rotations at both ends, and

    .. math::

        V &= \bar R\, (v_0 + v_1) / 2, & R_0^\top \omega &= (\Omega_0 + \Omega_1) / 2, &
        u_1 - u_0 &= h v_f = h (v_{f0} + v_{f1}) / 2 \\
        \Delta (R\, p_t) &= h f, & \Delta (R\, p_r) &= h (\bar P \times V + \tau), &
        \Delta p_f &= h \left(\tfrac12 w_0 \cdot M'(\bar u) w_1 - \bar\nabla V + f_f\right)

    with the momenta :math:`p = M(u) w` of both ends, and :math:`\bar P` the mean of R p_t. Since M
    is quadratic in u, that keeps the energy; linear and angular momentum stay because the equations
    are those of world axes. With momenta that do not depend on u, the gyroscopic forces of
    [BAPM21, sec. 4.3] take the place of w_0·M' w_1.
    """

    system: "FloatingSystem"  # type: ignore[assignment]

    @property
    def frames(self) -> RotationBodies:
        """The frames of all bodies; those of elastic ones have no inertia here."""
        return self.system.bodies.rigid

    @property
    def start(self) -> tuple[Vector, Vector]:
        """Twists and elastic velocities at the start, and the multipliers of the step before."""
        twists, lam = super().start
        return np.concatenate([twists, self.system.parts(self.x0)[1][twists.size :]]), lam

    def combination(self) -> Matrix | None:
        """Return what takes independent constraints out of all, at the start of the step."""
        return self.system.redundancy.independent(self.system.parts(self.x0)[0])

    @property
    def translate(self) -> NDArray[np.bool_]:
        """V, not omega; elastic velocities are weighed as rotations."""
        of_frames = super().translate
        return np.append(of_frames, np.zeros(self.system.bodies.k - of_frames.size, dtype=bool))

    @cached_property
    def _u0(self) -> list[Vector]:
        return self.system.bodies.deformations(self.system.parts(self.x0)[0])

    def _each(self, w: Vector) -> Iterator[ElasticStep]:
        """Return the step of every elastic body."""
        bodies, (_, w0, _) = self.system.bodies, self.system.parts(self.x0)
        for (body, at), u0 in zip(bodies.each(), self._u0, strict=True):
            R0, pull = self._R0[body.frame], bodies.pull(body)
            own0, own = bodies.of(w0, at), bodies.of(w, at)
            yield ElasticStep.of(body, at, pull, self.h, R0, u0, own0, own)

    def _following(self, w: Vector) -> tuple[Array, Matrix, Matrix]:
        """Return twists of all frames, what velocities make them, and their derivative.

        (frames, 2, 3), and two matrices (6 frames, k): those of carried frames follow.
        """
        t, F, k = self._pairs(w).copy(), self.frames.velocities.F, self.system.bodies.k
        L: list[Placed] = [(0, 0, F)]
        slope: list[Placed] = [(0, 0, F)]
        for step in self._each(w):
            carried, row = step.carried, SIX * step.body.first
            t[step.body.first : step.body.first + len(carried.twists)] = carried.twists
            for matrix, placed in ((carried.L, L), (carried.slope, slope)):
                rows = matrix.reshape(-1, matrix.shape[-1])
                placed.append((row, step.at.rigid.start, rows[:, :SIX]))
                placed.append((row, step.at.elastic.start, rows[:, SIX:]))
        shape = SIX * len(t), k
        return t, assemble(shape, L), assemble(shape, slope)

    def middle(self, w: Vector) -> Middle:
        """Return where a step by these velocities leads, all frames included."""
        t, L, slope = self._following(w)
        return self.moved(t, lambda A: A @ L, lambda A: A @ slope)

    def inertia(self, w: Vector, at: Middle) -> tuple[Vector, Vector]:
        """Return what momenta gain beyond what elastic, inertial and damping forces give; (k,)."""
        gained, sizes = np.zeros(self.system.bodies.k), np.zeros(self.system.bodies.k)
        gained[: self.frames.k], sizes[: self.frames.k] = super().inertia(w, at)
        for step in self._each(w):
            change, size = step.residual()
            gained[step.at.rigid], gained[step.at.elastic] = change[:SIX], change[SIX:]
            sizes[step.at.rigid], sizes[step.at.elastic] = size[:SIX], size[SIX:]
        return gained, sizes

    def dinertia(self, w: Vector, at: Middle, force: Vector) -> Matrix:
        """Return the derivative of the inertia, and of what S^T force has of S."""
        bodies, (t, L, slope) = self.system.bodies, self._following(w)
        rigid = self.frames.velocities.square(spread(self.momenta_by_twists(w, at)))
        placed: list[Placed] = [(0, 0, rigid)]
        d, forces = frame_vectors(at.q)[:, 1:], frame_vectors(force)
        wrench = np.stack([forces[:, 0], np.cross(d, forces[:, 1:]).sum(axis=1)], axis=1)
        for step in self._each(w):
            first, count = step.body.first, len(step.carried.twists)
            levers = step.carried.lever_by_w(wrench[first : first + count])
            placed += bodies.placed(step.at, step.tangent() + levers)
        arms: Matrix = L.T @ spread(self.arms_by_twists(t, at, force)) @ slope
        return total(assemble((bodies.k, bodies.k), placed), arms)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the end of the step, and the means of both ends."""
        system, bodies, held = self.system, self.system.bodies, self.held
        zeta0, w0, _ = system.parts(self.x0)
        v, mu = self.split(w)
        at = self.middle(v)
        lam = system.redundancy.smallest(held.G(at.q) @ at.S, mu / self.h)
        zeta1, w1 = zeta0.copy(), w0.copy()
        zeta1[: self.frames.n], w1[: self.frames.k] = self.ends(v, at)
        lost = held.lost(at.q, at.rate, lam)
        for step in self._each(v):
            w1[step.at.rigid], w1[step.at.elastic] = step.w1[:SIX], step.w1[SIX:]
            zeta1[bodies.coordinates(step.at.elastic)] = step.u1
            lost += step.lost
        u = held.feedback(self.t, at.q, at.rate, self.given)
        y = held.y(at.q, at.rate, lam)
        x_mid = np.concatenate([(zeta0 + zeta1) / 2, (w0 + w1) / 2, lam])
        return np.concatenate([zeta1, w1, lam]), Stage(x_mid, system.z(x_mid), u, y, lost)
