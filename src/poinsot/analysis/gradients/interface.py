"""What users call: gradients of losses, and sensitivities of channels."""

from collections.abc import Iterable, Sequence
from typing import Unpack

from poinsot.analysis.gradients.backward import Backward
from poinsot.analysis.gradients.compiled import CompiledBackward, UnableError
from poinsot.analysis.gradients.forward import Forward
from poinsot.analysis.gradients.results import Gradient, Sensitivities
from poinsot.analysis.gradients.run import Options, Run
from poinsot.analysis.losses import Loss
from poinsot.analysis.variations import Chosen, Studied
from poinsot.errors import InputError


def gradient(
    model: Studied,
    of: Loss,
    with_respect_to: Chosen,
    *,
    h: float,
    t_end: float,
    **options: Unpack[Options],
) -> Gradient:
    r"""Return a loss of a simulated motion, and its derivatives by parameters.

    The derivatives are those of the numbers that `simulate` computes, whatever the step: with
    stage equations F(w; x0, p) = 0 and x1 = M(w; x0, p), one sweep backwards takes

    .. math:: F_w^\top \mu = M_w^\top \lambda_1, \qquad
              \lambda_0 = M_x^\top \lambda_1 - F_x^\top \mu, \qquad
              \frac{dL}{dp} \mathrel{+}= M_p^\top \lambda_1 - F_p^\top \mu

    through all steps. It costs one linear system a step, however many parameters there are.

    Parameters
    ----------
    model : Model, PHSystem or function
        What to simulate; or a function that makes it from values by name, for parameters that
        change several things at once.
    of : Loss
        The loss: `Final`, `Integral`, `Squares`, `FunctionOf`, or a sum of these.
    with_respect_to : sequence of str, or mapping
        Paths as in a model file, such as `"bodies.rod.mass"`, `"joints.A.point"`,
        `"forces.spring.stiffness"` and `"initial.rod.velocity"`; `"inputs.motor"`, where `inputs`
        has numbers or a `Table`, for its samples; `"initial.angle"`, for a state of a system. If
        `model` is a function, the names that it reads. A mapping gives them values.
    h, t_end, t_start, scheme, coordinates, x0, inputs, newton
        See `simulate`.
    engine : "auto", "reference" or "compiled"
        Engine of both sweeps, forwards and backwards; "auto" uses the compiled one where
        possible. `Gradient.engine` is the one that was used backwards.
    memory : float
        Largest memory for saved states [bytes]. For longer runs, the states in between are
        computed again.

    Returns
    -------
    Gradient
        `value`, derivatives by parameter, and all of them as one vector, `flat`.

    Raises
    ------
    NoDerivativeError
        If there is no derivative: a step failed or was split, an event ends the run or changes
        the model, or a value cannot be changed.
    InputError
        If an argument is invalid, or engine="compiled" cannot go backwards through this run.
    """
    if not isinstance(of, Loss):
        raise InputError(f"of: expected a loss such as ps.analysis.Final(...), got {of!r}")
    run = Run.of(model, with_respect_to, h=h, t_end=t_end, **options)
    bound = of.bound(run.variations.known)
    if run.asked != "reference":
        try:
            return CompiledBackward(run, bound).gradient()
        except UnableError as unable:
            if run.asked == "compiled":
                raise InputError(
                    f"gradient: machine code does not go backwards through {unable}; "
                    "use engine='auto'"
                ) from None
    return Backward(run, bound).gradient()


def sensitivities(
    model: Studied,
    of: str | Sequence[str],
    with_respect_to: Chosen,
    *,
    h: float,
    t_end: float,
    **options: Unpack[Options],
) -> Sensitivities:
    """Return channels of a simulated motion over time, and their derivatives by parameters.

    Exact to the discrete map, like `gradient`; for few parameters and many numbers, such as the
    Jacobian of a fit. Derivatives go forwards in the reference engine.

    Parameters
    ----------
    of : str or sequence of str
        Channels as in `Model.add_sensor`, or formulas of them.
    model, with_respect_to, h, t_end, t_start, scheme, coordinates, x0, inputs, newton, memory
        See `gradient`.
    engine : "auto", "reference" or "compiled"
        Engine of the run itself.
    """
    asked = [*of] if isinstance(of, Iterable) and not isinstance(of, str) else [of]
    if not asked or not all(isinstance(each, str) for each in asked):
        raise InputError(f"of: expected channels such as 'tip.position', got {of!r}")
    run = Run.of(model, with_respect_to, h=h, t_end=t_end, **options)
    return Forward(run, asked).sensitivities()
