"""The stage equations of any system."""

from dataclasses import dataclass, replace

import numpy as np

from poinsot.ph.gradients import Step
from poinsot.ph.matrices import Vector, add, dense, scale_columns
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Evaluation, Slopes, Stage, StageEquations, Tangent, largest_of_each
from poinsot.ph.system import PHSystem


@dataclass(frozen=True, eq=False)
class GeneralStages(StageEquations):
    r"""The stage equations of any system, for the whole state x1 [LKB26, eq. (49a)].

    .. math:: E(x_m)(x_1 - x_0) = h\,[(J - R)\, z - r(x_m, z) + B u]

    with z the scheme's discrete costate. States without derivative have one value per step, at
    the midpoint: x1 holds it.
    """

    system: PHSystem

    @property
    def guess(self) -> Vector:
        """Start where the step starts."""
        return self.x0

    @property
    def labels(self) -> tuple[str, ...]:
        """Equations are named after states."""
        return self.system.labels

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual at x1 = w."""
        system, h = self.system, self.h
        step = Step(system, self.x0, w)
        costate = self.scheme.gradient.costate(step)
        u = system.feedback(self.t, step.mid, costate.z, self.u)
        dflow_dz = system.dflow_dz(step.mid, costate.z)
        residual = step.e - h * system.flow(step.mid, costate.z, u)
        flows = abs(dflow_dz) @ abs(costate.z) + abs(system.B(step.mid)) @ abs(u)
        sizes = abs(step.E) @ (abs(self.x0) + abs(w)) + abs(h) * flows
        blocks = [state.size for state in system.states]
        sizes = largest_of_each(sizes, blocks)

        def tangent() -> Tangent:
            """Return the derivative of the residual, feedback held fixed."""
            T = add(step.de, -h * (dflow_dz @ costate.dz))
            dflow = system.dflow(step.mid, costate.z, u)
            if dflow is not None:
                T = add(T, -h * scale_columns(dflow, step.weight(0.5)))
            return Tangent(T, -h * (dflow_dz @ costate.U), costate.V)

        def inner() -> Vector:
            """Return what the equations add up where states are as large as their vector."""
            return np.asarray(abs(tangent().T) @ largest_of_each(abs(w), blocks))

        return Evaluation(residual, sizes, tangent, inner)

    @property
    def ends_by_parameters(self) -> bool:
        """The end follows from x0 and the unknowns alone."""
        return False

    def guess_of(self, x1: Vector) -> Vector:
        """Return the end itself."""
        return x1

    def slopes(self, w: Vector) -> Slopes | None:
        """Return exact derivatives: F(x0, x1, h) = -F(x1, x0, -h), as all gradients are symmetric.

        States without derivative have the value of x1 in the step.
        """
        algebraic = self.system.algebraic
        back = replace(self, x0=w, h=-self.h)
        backward = back.evaluate(np.where(algebraic, w, self.x0)).tangent().whole
        by_x0 = -dense(backward)
        by_x0[:, algebraic] = 0.0
        n = w.size
        return Slopes(self.evaluate(w).tangent().whole, by_x0, np.eye(n), np.zeros((n, n)))

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return x1 and the stage at the midpoint."""
        step = Step(self.system, self.x0, w)
        z = self.scheme.gradient.costate(step).z
        u = self.system.feedback(self.t, step.mid, z, self.u)
        return w, Stage(step.mid, z, u, self.system.y(step.mid, z))


def stage_equations(
    system: PHSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StageEquations:
    """Return the system's own stage equations, or the general ones."""
    own = system.stage_equations(scheme, t, x0, u, h)
    return GeneralStages(scheme, t, x0, u, h, system) if own is None else own
