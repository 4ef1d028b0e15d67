"""`simulate`: from a model to a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike

from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import flag, named
from poinsot.parts.events import Event
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton, require_newton
from poinsot.ph.system import PHSystem
from poinsot.result import Result, output_path
from poinsot.run.doubled import doubled, require_bodies
from poinsot.run.engines import ENGINES
from poinsot.run.plan import Plan
from poinsot.run.problem import Compilable, require_saving
from poinsot.run.progress import require_progress
from poinsot.run.run import Run, warn_of


def simulate(
    model: PHSystem | Compilable,
    *,
    h: float,
    t_end: float,
    scheme: str | Scheme | None = None,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    angles: Mapping[str, float] | None = None,
    t_start: float = 0.0,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    events: Mapping[str, Event] | None = None,
    engine: str = "auto",
    save_every: int = 1,
    tolerance: float | None = None,
    h_max: float | None = None,
    estimate_error: bool = False,
    newton: Newton | None = None,
    progress: bool | None = None,
    output: str | PathLike[str] | None = None,
) -> Result:
    """Simulate a model or a port-Hamiltonian system, with an exact energy balance.

    Parameters
    ----------
    model : Model, LagrangianSystem or PHSystem
        What to simulate.
    h : float
        Step size [s].
    t_end, t_start : float
        End and start [s]. The last step is shortened if the time is not a multiple of h.
    scheme : str
        Default: `"ph-mp"` for a model, `"eml"` for a Lagrangian, `"ph-dg"` for a system.
        `"ph-mp"` is the midpoint rule; `"ph-mp-ggl"` satisfies velocity constraints at the ends of
        steps, too; `"ph-mp-4"` and `"ph-mp-6"` have order four and six, without dissipation.
        `SCHEMES` has all of them.
    coordinates : str
        How a model describes rotations: `"directors"`, `"quaternions"`, or, with velocities in
        body axes, `"rotations"`, `"rotations-quaternion"` and `"rotations-euler"`; see
        `Model.compile`. Default: those of the scheme. With quaternions, the default scheme is
        `"emh-mean"`.
    x0 : array or mapping
        Initial state, complete or by name; the rest is that of `system.start`. For a Lagrangian,
        `{"q": [...], "v": [...]}`.
    angles : mapping
        Joint angles at the start [rad], such as `{"hinge.angle": 31.5}`, to continue the turns of
        another run. Default: within half a turn.
    inputs : mapping
        Port name -> constant, function of time [s], or formula in t such as `"2*sin(3*t)"`, or one
        of these for each component. Ports without an input have u = 0.
    events : mapping
        Name -> `Event`, in addition to the events of the model. Events are zero crossings of
        channels as in `Model.add_sensor`, or of states of a system; they are recorded in
        `result.events`, and can stop the run.
    engine : {"auto", "compiled", "reference"}
        `"compiled"` is fast and simulates mechanisms; `"reference"`, NumPy and SciPy, simulates
        everything. `"auto"` uses the compiled engine where possible.
    save_every : int
        Save one of this many steps. Balances include all steps.
    tolerance : float
        Adapt the step size, starting with h, so that the accumulated error stays within this
        fraction of the sizes of states, positions and velocities. Default: a constant step size.
    h_max : float
        Largest step size [s] with a tolerance. Default: a hundredth of the run.
    estimate_error : bool
        Estimate the error of positions and rotations by a second run with the step 2 h, which
        costs half as much again. See `result.stats.position_error` and `rotation_error`.
    newton : Newton
        Tolerances of Newton's method.
    progress : bool
        Show a progress bar. Default: in a terminal, for runs longer than a second.
    output : path
        Write saved steps to this netCDF file during the run, about twice a second, and do not keep
        them in memory. The file can be read at any time, and `resume` continues from it. An
        existing file is replaced once the input has been accepted.

    Returns
    -------
    Result
        Its status is `"done"`; `"interrupted"` after Ctrl-C; or `"warned"`, with an
        `InexactRunWarning`, if the energy balance or the constraints are off by more than
        round-off. If an event stopped the run, `message` says which one.

    Raises
    ------
    InputError
        If an argument is invalid. Raised before anything is computed.
    SimulationError
        If a step fails. Its `result` has everything up to there.
    """
    place = None if output is None else output_path(output, "output")
    options = Newton() if newton is None else require_newton(newton)
    require_progress(progress)
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'; choose from {', '.join(ENGINES)}")
    require_saving(save_every)
    plan = Plan(
        h,
        t_start,
        t_end,
        coordinates,
        save_every,
        options,
        asked=engine,
        tolerance=tolerance,
        h_max=h_max,
        started=x0 is not None,
        angles=dict(named(angles, "angles", "{'hinge.angle': 31.5}")),
        events=bool(named(events, "events", "{'landing': poinsot.Event(...)}")),
    )
    run = Run.of(model, plan, scheme, x0, inputs, events, keep=place is None)
    if flag(estimate_error, "estimate_error"):
        require_bodies(run)

        def of(step: float, saved: int) -> Run:
            coarse = replace(plan, h=step, save_every=saved)
            return Run.of(model, coarse, scheme, x0, inputs, events, keep=True)

        run.loop.facts = replace(run.loop.facts, doubled=doubled(run, of))
    if place is not None:
        run.write_to(place)
    ended = run.loop.run(run.problem.clock, progress)
    warn_of(ended)
    return ended
