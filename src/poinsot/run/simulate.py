"""Simulations: from a model to a result."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike

from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.parts.events import Event
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton
from poinsot.ph.system import PHSystem
from poinsot.result import Result, output_path
from poinsot.run.doubled import doubled, require_bodies
from poinsot.run.engines import ENGINES
from poinsot.run.plan import Plan
from poinsot.run.problem import MOST, Compilable
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
    """Integrate a model or a port-Hamiltonian system in time, with an exact energy balance.

    Parameters
    ----------
    model : Model, LagrangianSystem or PHSystem
        What to simulate.
    h, t_end, t_start : float
        Step, end and start [s]; the last step is shortened if the span is no multiple of h.
    scheme : str
        `"ph-mp"` (midpoint), `"ph-mp-ggl"` (with velocity constraints, for models), `"ph-dg"`
        (Gonzalez), `"ph-dg-partitioned"` or `"ph-avf"`; `"eml"`, `"emh-mean"` and others for models
        in quaternions and Lagrangians; `"ph-mp-4"`, `"ph-mp-6"` and others of a higher order,
        without dissipation; see `SCHEMES`. Default: `"ph-mp"` for a model, `"eml"` for a
        Lagrangian, `"ph-dg"` for a system.
    coordinates : str
        How a model describes rotations: `"directors"`, `"quaternions"`, or, with velocities in
        body axes, `"rotations"`, `"rotations-quaternion"` and `"rotations-euler"`; see
        `Model.compile`. Default: as the scheme needs it. Quaternions without a scheme are
        integrated by `"emh-mean"`, all others by `"ph-mp"`.
    x0 : array or mapping
        Initial state, whole or by name; what is left out is as in `system.start`. That of a
        Lagrangian is `{"q": [...], "v": [...]}` for all schemes.
    angles : mapping
        Angles of joints at the start, such as `{"hinge.angle": 31.5}` [rad], to go on with the
        turns of another run: a state tells angles only up to whole turns. Default: those within
        half a turn.
    inputs : mapping
        Port name -> constant, function of time [s], or formula of t as text, such as
        `"2*sin(3*t)"`, or one for each component; open ports have u = 0.
    events : mapping
        Name -> `Event`, in addition to those of the model: a function of what is measured crosses
        zero, which is recorded in `result.events`, or stops the run. What a model measures is in
        `Model.add_sensor`; other systems have their states by name.
    engine : {"auto", "compiled", "reference"}
        The compiled engine runs mechanisms, fast; the reference engine, NumPy and SciPy, runs
        everything. By default the compiled one where it can.
    save_every : int
        Keep every so many steps; balances are summed over all of them.
    tolerance : float
        Let the size of steps follow the motion, from h on: what they are off adds up to this part
        of the sizes of states, of the positions of bodies and of their velocities. Default: all
        steps are of size h.
    h_max : float
        With a tolerance: steps are no larger than this [s], since what is shorter than a step may
        be overlooked. Default: a hundredth of the run.
    estimate_error : bool
        Estimate what positions and rotations of bodies are off: the run is taken in steps of 2 h
        first, which costs half as much again, and both are compared. Functions are called by both.
        See `result.stats.position_error` and `rotation_error`.
    newton : Newton
        Tolerances.
    progress : bool
        Show a progress bar; default: on a terminal, for runs over a second.
    output : path
        A netCDF file that saved steps are written to while the run goes on, about twice a second.
        It can be read at any time, even if the run is killed, and `resume` goes on from there. The
        result then reads from it. A file that exists is replaced as soon as the input has been
        accepted.

    Returns
    -------
    Result
        With status `"done"`, also where an event has stopped the run, which its `message` says;
        `"interrupted"` if Ctrl-C ended the run early; and `"warned"` if its energy balance or its
        constraints are off by more than round-off; an `InexactRunWarning` says so.

    Raises
    ------
    InputError
        Before anything is computed, if the input makes no sense.
    SimulationError
        If a step fails; its `result` holds everything up to there.
    """
    place = None if output is None else output_path(output, "output")
    options = newton or Newton()
    if not isinstance(options, Newton):
        raise InputError(f"newton: expected poinsot.Newton(...), got {newton!r}")
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'; choose from {', '.join(ENGINES)}")
    if not isinstance(save_every, int) or not 1 <= save_every <= MOST:
        raise InputError(
            f"save_every is {save_every!r}; it must be a whole number, at least 1 and at most "
            f"{MOST:.0e}"
        )
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
        angles=dict(angles or {}),
        events=bool(events),
    )
    run = Run.of(model, plan, scheme, x0, inputs, events, keep=place is None)
    if estimate_error:
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
