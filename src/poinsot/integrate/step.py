"""One time step of a port-Hamiltonian system."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, singledispatch

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.newton import Evaluation, Newton, NewtonFailure, Solution, Tangent, solve
from poinsot.integrate.schemes import Scheme
from poinsot.ph.gradients import Costate, Step
from poinsot.ph.matrices import Matrix, Vector, add, scale_columns
from poinsot.ph.system import PHSystem

#: Of so many layouts of a state it is remembered where the blocks are.
LAYOUTS = 16


@dataclass(frozen=True)
class Stage:
    """What a step passes through: midpoint state, discrete costate, input, output.

    `lost` is the power dissipated [W], if it is not that of the system at x and z.
    """

    x: Vector
    z: Vector
    u: Vector
    y: Vector
    lost: float | None = None


@dataclass(frozen=True, eq=False)
class StepProblem(ABC):
    """The equations of one step of size h [s] from x0; t and the input u are at its midpoint."""

    scheme: Scheme
    t: float
    x0: Vector
    u: Vector
    h: float

    @property
    @abstractmethod
    def guess(self) -> Vector:
        """Where Newton's method starts."""

    @abstractmethod
    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual at the unknowns w."""

    @abstractmethod
    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end of the step, and what it passed through."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The name of every equation."""

    def diagnose(self) -> str:
        """Return what may have made the step fail, or nothing."""
        return ""


@dataclass(frozen=True, eq=False)
class GeneralStep(StepProblem):
    r"""A step of any system, solved for the whole state x1 [LKB26, eq. (49a)].

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
        sizes = abs(step.E) @ (abs(self.x0) + abs(w)) + h * flows
        sizes = largest_of_each(sizes, [state.size for state in system.states])
        return Evaluation(
            residual, sizes, costate.z, lambda: self._tangent(step, costate, dflow_dz, u)
        )

    def _tangent(self, step: Step, costate: Costate, dflow_dz: Matrix, u: Vector) -> Tangent:
        """Return the derivative of the residual, feedback held fixed."""
        T = add(step.de, -self.h * (dflow_dz @ costate.dz))
        dflow = self.system.dflow(step.mid, costate.z, u)
        if dflow is not None:
            T = add(T, -self.h * scale_columns(dflow, step.weight(0.5)))
        return Tangent(T, -self.h * (dflow_dz @ costate.U), costate.V)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return x1 and the stage at the midpoint."""
        step = Step(self.system, self.x0, w)
        z = self.scheme.gradient.costate(step).z
        u = self.system.feedback(self.t, step.mid, z, self.u)
        return w, Stage(step.mid, z, u, self.system.y(step.mid, z))


def largest_of_each(sizes: Vector, blocks: Sequence[int]) -> Vector:
    """Return the sizes with every entry raised to the largest of its block.

    The entries of a vector are of one kind, and one that vanishes is measured by the others.
    """
    return np.maximum.reduceat(sizes, _starts(tuple(blocks)))[_owners(tuple(blocks))]


@lru_cache(LAYOUTS)
def _starts(blocks: tuple[int, ...]) -> NDArray[np.intp]:
    """Return where each block begins."""
    return np.cumsum([0, *blocks[:-1]])


@lru_cache(LAYOUTS)
def _owners(blocks: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the block of each entry."""
    return np.repeat(np.arange(len(blocks)), blocks)


@singledispatch
def step_problem(
    system: PHSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StepProblem:
    """Return the equations of a step; a kind of system may register a leaner form of them."""
    return GeneralStep(scheme, t, x0, u, h, system)


def take_step(
    system: PHSystem, scheme: Scheme, t: float, x0: Vector, h: float, options: Newton
) -> tuple[Solution, Stage]:
    """Solve one step of size h [s] with midpoint t from x0; returns the state at its end."""
    problem = step_problem(system.remembering(), scheme, t, x0, system.u(t), h)
    try:
        solution = solve(problem.evaluate, problem.guess, options, problem.labels)
    except NewtonFailure as failure:
        failure.reason += problem.diagnose()
        raise
    x1, stage = problem.finish(solution.x)
    return Solution(x1, solution.iterations, solution.residual), stage
