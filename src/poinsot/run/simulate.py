"""The time loop."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from math import ceil
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import (
    InexactRunWarning,
    InputError,
    PoinsotError,
    StructureError,
    did_you_mean,
)
from poinsot.inputs import number
from poinsot.parts.controllers import Controller
from poinsot.ph.dirac import (
    gradient_defect,
    resistive_defect,
    semidefinite_defect,
    skew_defect,
    symmetry_defect,
)
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Vector
from poinsot.ph.newton import NewtonFailure
from poinsot.ph.runner import Clock, counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton
from poinsot.ph.start import check_start
from poinsot.ph.system import PHSystem
from poinsot.result import Result, SimulationError, Status, output_path
from poinsot.run.blocks import prepare, run_in_blocks
from poinsot.run.progress import Progress
from poinsot.run.recorder import Facts, Recorder
from poinsot.run.stream import Stream
from poinsot.schemes.compositions import require_reversible
from poinsot.schemes.records import find_scheme
from poinsot.schemes.step import take_step
from poinsot.systems.controlling import Sampled

ENGINES = ("auto", "reference", "compiled")
#: Above this size the dissipation of a proven system is not tried on random efforts, nor is looked
#: for defects of what is right by construction: that would take longer than many a run.
CHECKED_SIZE = 2000
#: Angles that are given at the start may differ from those of the state by so much [rad].
NEAR = 0.1


@runtime_checkable
class Compilable(Protocol):
    """A model: something that compiles to a system with a start, and may be written as text."""

    def scheme_for(  # noqa: D102
        self, scheme: str | Scheme | None, coordinates: str | None
    ) -> str | Scheme: ...

    def compile_for(  # noqa: D102
        self, scheme: Scheme, coordinates: str | None = None
    ) -> PHSystem: ...

    def document(  # noqa: D102
        self, inputs: Mapping[str, Signal | ArrayLike], **simulation: Any
    ) -> Callable[[], str]: ...


@runtime_checkable
class Instrumented(Protocol):
    """A model with sensors, the channels that they record by name, and controllers."""

    sensors: dict[str, str]
    controllers: dict[str, Controller]


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
    engine: str = "auto",
    save_every: int = 1,
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
    engine : {"auto", "compiled", "reference"}
        The compiled engine runs mechanisms, fast; the reference engine, NumPy and SciPy, runs
        everything. By default the compiled one where it can.
    save_every : int
        Keep every so many steps; balances are summed over all of them.
    newton : Newton
        Tolerances.
    progress : bool
        Show a progress bar; default: on a terminal, for runs over a second.
    output : path
        A netCDF file that saved steps are written to while the run goes on, about twice a second.
        It can be read at any time, even if the run is killed. The result then reads from it. A
        file that exists is replaced as soon as the input has been accepted.

    Returns
    -------
    Result
        With status `"interrupted"` if Ctrl-C ended the run early, and `"warned"` if its energy
        balance or its constraints are off by more than round-off; an `InexactRunWarning` says so.

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
    if isinstance(model, PHSystem):
        if coordinates is not None:
            raise InputError(
                f"coordinates: system '{model.name}' has its own; give a Model to choose them"
            )
        method = find_scheme(scheme or model.default_scheme)
        system = model.in_form(method.formulation)
        if method.stabilised and not system.stabilised:
            raise InputError(
                f"scheme '{method.name}' needs a model, or its system from "
                "model.compile(stabilised=True)"
            )
    else:
        if not isinstance(model, Compilable):
            raise InputError(
                f"simulate: expected a Model, a LagrangianSystem or a PHSystem, got {model!r}"
            )
        method = find_scheme(model.scheme_for(scheme, coordinates))
        system = model.compile_for(method, coordinates)
    steps = _count_steps(h, t_start, t_end)
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'; choose from {', '.join(ENGINES)}")
    if not isinstance(save_every, int) or save_every < 1:
        raise InputError(f"save_every is {save_every!r}; it must be a whole number, at least 1")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise InputError(f"inputs: expected a mapping of port names to signals, got {inputs!r}")
    controllers = model.controllers if isinstance(model, Instrumented) else {}
    driven = {port.name: each.name for each in controllers.values() for port in each.drives}
    for port, signal in (inputs or {}).items():
        if port in driven:
            raise InputError(f"inputs: port '{port}' is driven by controller '{driven[port]}'")
        system = feed(system, port, signal)
    sampled = Sampled(controllers.values(), system, h, len(method.substeps))
    system = sampled.feed(system)
    x = system.state({} if x0 is None else x0)
    turned = _turned(system, x, angles)
    system = system.near(turned)
    system.check_start(x, t_start)
    _check_structure(system, x)
    if method.constant_E and system.dE(x, x) is not None:
        raise InputError(
            f"scheme '{method.name}' cannot run system '{system.name}': "
            "its E depends on the state; use 'ph-dg'"
        )
    x = check_start(system, x, t_start)
    continuous = [each.name for each in controllers.values() if each.every is None]
    require_reversible(method, system, x, continuous)
    system = system.in_steps(method, x, h)
    clock = Clock(t_start, t_end, h, steps, method.substeps)
    runner = None if engine == "reference" else system.runner(method, x, h, options)
    if runner is not None and controllers:
        measured = sampled.compiled and runner.control(sampled.controls(system))
        if not measured and engine == "compiled":
            raise InputError(
                "the compiled engine cannot measure all that controllers read; use engine='auto'"
            )
        runner = runner if measured else None
    if engine == "compiled" and runner is None:
        raise InputError(
            "the compiled engine runs mechanisms with 'ph-mp', 'ph-mp-ggl' and the exact schemes "
            f"of quaternions, not system '{system.name}' with '{method.name}'"
            f"{system.uncompiled}; use engine='auto'"
        )
    if runner is not None and not prepare(
        runner,
        required=engine == "compiled",
        steps=clock.steps,
        step=lambda: take_step(system, method, t_start + h / 2, x, h, options),
    ):
        runner = None
    if runner is not None and angles:
        runner.start(x, turned)
    recorder = Recorder(
        system, x, turned, t_start, steps, save_every, len(method.substeps), keep=place is None
    )
    document: Callable[[], str] = str
    if x0 is None and not angles and not isinstance(model, PHSystem):
        document = model.document(
            inputs or {},
            scheme=method.name,
            coordinates=coordinates,
            step=h,
            t_end=t_end,
            t_start=t_start,
            save_every=save_every,
            engine=engine,
            newton=newton,
        )
    sensors = dict(model.sensors) if isinstance(model, Instrumented) else {}
    facts = Facts(method, "reference", h, t_end, options, document=cache(document), sensors=sensors)
    if runner is not None:
        left_out = runner.recovered
        facts = replace(facts, engine="compiled", recover=runner.recover, recovered=left_out)

    stream = None if place is None else Stream(place, recorder, facts)

    def poll() -> None:
        if stream is not None:
            stream.poll()

    def result(status: Status, message: str = "") -> Result:
        if stream is not None:
            return stream.finish(status, message)
        return recorder.result(facts, status, message)

    def step(n: int, x: Vector) -> Vector:
        """Take step n with the reference engine, and record it."""
        t0, t1, here = clock.at(n), clock.at(n + 1), system.near(recorder.totals.turn)
        sampled.sample(n, t0, x, recorder.totals.turn)
        solution, stage = take_step(here, method, (t0 + t1) / 2, x, t1 - t0, options)
        recorder.add((t0 + t1) / 2, t1, t1 - t0, solution, stage)
        if not system.proven and recorder.pending is None:
            _check_contract(system, solution.x, f"t = {t1:g} s")
        return solution.x

    try:
        with closing(Progress(clock.steps, system.name, progress)) as bar:
            if runner is not None:
                run_in_blocks(runner, system, clock, recorder, bar, step, poll)
            else:
                for n in range(clock.steps):
                    x = step(n, x)
                    bar.advance()
                    poll()
            recorder.finish()
            if stream is not None:
                stream.write()
    except KeyboardInterrupt:
        return result("interrupted", f"interrupted at t = {recorder.reached:g} s")
    except NewtonFailure as failure:
        history = ", ".join(f"{residual:.1e}" for residual in failure.history) or "none"
        message = (
            f"system '{system.name}', step {recorder.complete + 1} from "
            f"t = {clock.at(recorder.done):g} s with h = {h:g} s: "
            f"{failure.reason}; worst equation '{failure.worst}', relative "
            f"residuals {history}"
        )
        message += f"; {failure.advice}" if failure.advice else ""
        raise SimulationError(message, result("failed", message)) from None
    except Exception as error:
        what = "" if isinstance(error, PoinsotError) else f"{type(error).__name__}: "
        began = clock.at(recorder.done)
        where = f"system '{system.name}', step {recorder.complete + 1} from t = {began:g} s"
        message = f"{where}: {what}{error}"
        raise SimulationError(message, result("failed", message)) from error
    ended = result("done")
    if ended.warnings:
        warnings.warn("\n".join(ended.warnings), InexactRunWarning, stacklevel=2)
    return ended


def _count_steps(h: float, t_start: float, t_end: float) -> int:
    for label, value in (("h", h), ("t_start", t_start), ("t_end", t_end)):
        number(value, label)
    if h <= 0:
        raise InputError(f"the step h is {h:g} s; it must be positive")
    if t_end <= t_start:
        raise InputError(f"t_end = {t_end:g} s is not after t_start = {t_start:g} s")
    # A span that is a multiple of h but for round-off must not end in a tiny extra step.
    return max(1, ceil((t_end - t_start) / h * (1 - 1e-12) - 1e-9))


def _turned(system: PHSystem, x: Vector, angles: Mapping[str, float] | None) -> Vector:
    """Return the angles of a state with the turns that were given."""
    names, here = system.angle_names, system.angles(x)
    about = here.copy()
    for name, angle in (angles or {}).items():
        if name not in names:
            raise InputError(f"angles: no angle '{name}'; {did_you_mean(name, names)}")
        about[names.index(name)] = number(angle, f"angles: '{name}'")
    turned = counted(here, about)
    for name, state, given in zip(names, turned, about, strict=True):
        if not abs(state - given) <= NEAR:
            raise InputError(
                f"angles: '{name}' is {given:.6g} rad, while it is {here[names.index(name)]:.6g} "
                "rad in the state, up to whole turns"
            )
    return turned


def _check_structure(system: PHSystem, x: Vector) -> None:
    """Refuse a system that breaks the port-Hamiltonian contract at its start."""
    H = system.H(x)
    if not np.isfinite(H):
        raise InputError(f"system '{system.name}': the energy at the initial state is {H}")
    where, small = "the initial state", system.n <= CHECKED_SIZE
    if small or not system.by_construction:
        _check_contract(system, x, where)
    if system.r(x, system.z(x)) is not None and (small or not system.proven):
        creates = "the dissipation r(x, z) creates energy (z·r < 0)"
        _require(system, creates, resistive_defect(system, x), 1e-10, where)
    _require(system, "E^T z is not the gradient of H", gradient_defect(system, x), 1e-6, where)


def _check_contract(system: PHSystem, x: Vector, where: str) -> None:
    """Refuse a J that is not skew-symmetric, or an R that is not positive semi-definite."""
    J, R = system.J(x), system.R(x)
    _require(system, "J is not skew-symmetric", skew_defect(J), 1e-10, where)
    _require(system, "R is not symmetric", symmetry_defect(R), 1e-10, where)
    _require(system, "R is not positive semi-definite", semidefinite_defect(R), 1e-10, where)


def _require(system: PHSystem, what: str, defect: float, tolerance: float, where: str) -> None:
    if not defect <= tolerance:
        raise StructureError(
            f"system '{system.name}': {what} at {where}; the relative defect is {defect:.3g}"
        )
