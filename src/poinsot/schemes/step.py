"""One time step: solve the stage equations of a system."""

from poinsot.ph.general_stages import stage_equations
from poinsot.ph.matrices import Vector
from poinsot.ph.newton import NewtonFailure, Solution, solve
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, Stage
from poinsot.ph.system import PHSystem


def take_step(
    system: PHSystem, scheme: Scheme, t: float, x0: Vector, h: float, options: Newton
) -> tuple[Solution, Stage]:
    """Solve one step of size h [s] with midpoint t from x0; returns the state at its end."""
    equations = stage_equations(system.remembering(), scheme, t, x0, system.u_of_step(t, h), h)
    try:
        solution = solve(equations.evaluate, equations.guess, options, equations.labels)
    except NewtonFailure as failure:
        found = system.diagnose(t - h / 2, x0, h)
        if found:  # then a smaller step is not what is needed
            failure.reason, failure.advice = failure.reason + found, ""
            failure.by_size = False
        raise
    x1, stage = equations.finish(solution.x)
    system.check_step(t - h / 2, x0, x1, stage.x, h)
    return Solution(x1, solution.iterations, solution.residual), stage
