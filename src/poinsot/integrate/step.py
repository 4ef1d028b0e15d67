"""One time step of a port-Hamiltonian system."""

from dataclasses import dataclass

from poinsot.integrate.newton import Evaluation, Newton, Solution, Tangent, solve
from poinsot.integrate.schemes import Scheme
from poinsot.ph.gradients import Costate, Step
from poinsot.ph.matrices import Matrix, Vector, add, scale_columns
from poinsot.ph.system import PHSystem


@dataclass(frozen=True)
class Stage:
    """What a step passes through: midpoint state, discrete costate, input, output."""

    x: Vector
    z: Vector
    u: Vector
    y: Vector


def take_step(
    system: PHSystem, scheme: Scheme, x0: Vector, u: Vector, h: float, options: Newton
) -> tuple[Solution, Stage]:
    r"""Solve one step of size h [s] from x0 with the input u held at its midpoint value.

    .. math:: E(x_m)(x_1 - x_0) = h\,[(J - R)\, z - r(x_m, z) + B u] \qquad [LKB26, eq. (49a)]

    with z the scheme's discrete costate. States without derivative have one value per step, at the
    midpoint: x1 holds it.
    """

    def problem(x1: Vector) -> Evaluation:
        step = Step(system, x0, x1)
        costate = scheme.gradient.costate(step)
        dflow_dz = system.dflow_dz(step.mid, costate.z)
        residual = step.e - h * system.flow(step.mid, costate.z, u)
        flows = abs(dflow_dz) @ abs(costate.z) + abs(system.B(step.mid)) @ abs(u)
        sizes = abs(step.E) @ (abs(x0) + abs(x1)) + h * flows
        return Evaluation(residual, sizes, lambda: _tangent(system, step, costate, dflow_dz, u, h))

    solution = solve(problem, x0, options)
    step = Step(system, x0, solution.x)
    z = scheme.gradient.costate(step).z
    return solution, Stage(step.mid, z, u, system.y(step.mid, z))


def _tangent(
    system: PHSystem, step: Step, costate: Costate, dflow_dz: Matrix, u: Vector, h: float
) -> Tangent:
    """Return the derivative of the residual with respect to x1."""
    T = add(step.de, -h * (dflow_dz @ costate.dz))
    dflow = system.dflow(step.mid, costate.z, u)
    if dflow is not None:
        T = add(T, -h * scale_columns(dflow, step.weight(0.5)))
    return Tangent(T, -h * (dflow_dz @ costate.U), costate.V)
