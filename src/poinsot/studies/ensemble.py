"""Simulate a model many times with different values of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.engine import simd
from poinsot.engine.batch import words_of_room
from poinsot.engine.function_text import NotVectorisedError
from poinsot.errors import BuildError, InputError, PoinsotError
from poinsot.inputs import count, number
from poinsot.model.model import Model
from poinsot.model.parameters import Parameters
from poinsot.model.simulation import Simulation
from poinsot.ph.runner import Clock
from poinsot.ph.stages import Newton, require_newton
from poinsot.result import output_path
from poinsot.run.problem import count_steps
from poinsot.run.progress import Progress, require_progress
from poinsot.studies.batch import Arena
from poinsot.studies.cases import Cases
from poinsot.studies.in_registers import in_registers
from poinsot.studies.kernel_checks import (
    refused,
    require_device,
    require_kernel,
    require_registers,
)
from poinsot.studies.measures import Measures
from poinsot.studies.on_device import OnDevice
from poinsot.studies.samples import table
from poinsot.studies.scheduling import Chunk, taken, workers_here
from poinsot.studies.store import FORMAT, FileStore, MemoryStore, Outline, Store, key_of
from poinsot.studies.work import Recipe, Worker, recipe_of

if TYPE_CHECKING:
    import xarray

Array = NDArray[np.float64]

#: From so many runs on it is worth while to find how their numbers depend on parameters.
WORTH = 32
#: A chunk of runs takes about so long [s], and its results so much memory [bytes].
SPAN, ROOM = 0.2, 2**24
#: Saved states of a run may take so much memory for each number [bytes].
ROOM_OF_RUN = 2**30
#: The engine of graphics processors; results of a chunk that it takes [bytes].
CUDA, ROOM_OF_DEVICE = "cuda", 2**30
#: The engine of vector registers. Its kernel pays off for studies that would take longer than this,
#: one run after the other [s], and for mechanisms with no more numbers within a step: those of
#: several runs must be near the processor.
SIMD, WORTH_COMPILING, SMALL = "simd", 120.0, 2500
#: What a step takes for each number of a job, and what a model takes that is built [s], about.
PACE, BUILDING = 5e-10, 0.05


def ensemble(
    model: Model,
    parameters: Mapping[str, ArrayLike],
    *,
    h: float | None = None,
    t_end: float | None = None,
    what: str | Iterable[str] = ("energy",),
    scheme: str | None = None,
    coordinates: str | None = None,
    t_start: float | None = None,
    inputs: Mapping[str, Any] | None = None,
    engine: str | None = None,
    save_every: int | None = None,
    newton: Newton | None = None,
    workers: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
    output: str | PathLike[str] | None = None,
) -> xarray.Dataset:
    """Simulate a model many times with different values of its parameters.

    Parameters
    ----------
    model : Model
        What to simulate; it must be possible to write it to a model file.
    parameters : mapping, or table with columns
        Path -> value for each run, all of the same length: `{"bodies.rod.mass": [0.4, 0.5]}`. Paths
        are those of the model file, with or without kinds of parts; vectors have the shape (runs,
        3). Further paths are `joints.A.point`, `initial.rod.velocity`, `initial.hinge`,
        `inputs.motor` and `options.step`. `grid`, `latin_hypercube` and `sobol` make such tables.
    h, t_end, t_start : float
        Step size, end and start [s]. Default: those of `model.simulation`.
    what : str or sequence of str
        Quantities to keep at the saved times: `"energy"`, `"dissipated"`, `"balance_error"`,
        sensors of the model, and channels as in `Model.add_sensor`, such as `"rod.position"`,
        `"A.angle"`. Reactions, `"A.force"` and `"A.torque"`, are means over the steps that end
        there.
    scheme, coordinates, save_every, newton
        See `simulate`.
    engine : str
        See `simulate`; or `"simd"`: several runs at once in the vector registers of each processor,
        which `"auto"` chooses for studies of a few minutes or more; or `"cuda"`: all runs at once
        on an NVIDIA graphics processor.
    inputs : mapping
        Port name -> constant, formula or `Table`, for all runs.
    workers : int
        Number of runs at a time. Default: the number of processors. Runs in machine code use
        threads; runs for which a model must be built use processes. The results are the same.
    executor : Executor or dask.distributed.Client
        Runs the simulations instead: an executor of `concurrent.futures`, or a Dask cluster.
    progress : bool
        Show a progress bar. Default: in a terminal, for studies longer than a second.
    output : path
        Write runs to this netCDF file as they end, in constant memory. If the file holds part of
        the same study, only the other runs are computed: after Ctrl-C, or if the process was
        killed, call this function again.

    Returns
    -------
    xarray.Dataset
        The quantities (run, sample, ...), with the parameters as coordinates of `run` and `time`
        [s] of `sample`; `status`, `message` and `balance_error_max` of each run. The status is 1
        for done, 2 if energy or constraints are off by more than round-off, 3 for failed, with the
        reason in `message`, and 0 for pending, after Ctrl-C. Samples that a failed run did not
        reach are nan.

    Raises
    ------
    InputError
        If parameters are unknown or differ in length, or if no run can start.
    """
    place = None if output is None else output_path(output, "output")
    workers = workers_here() if workers is None else count(workers, "workers", 1)
    if newton is not None:
        require_newton(newton)
    require_progress(progress)
    for value, name in ((h, "h"), (t_end, "t_end"), (t_start, "t_start")):
        if value is not None:
            number(value, name)
    values = table(parameters)
    simulation = model.simulation if isinstance(model, Model) else None
    own = Parameters.of(model, values, inputs)
    if simulation is not None and simulation.tolerance is not None:
        raise InputError("an ensemble needs a constant step size; leave out the tolerance")
    given: dict[str, Any] = {"step": h, "t_end": t_end, "t_start": t_start, "scheme": scheme}
    given |= {"coordinates": coordinates, "engine": engine}
    given |= {"save_every": save_every, "newton": newton}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if f"options.{name}" in values:
            what_of = "h" if name == "step" else name
            raise InputError(
                f"{what_of} is given for all runs, and 'options.{name}' as a parameter; keep one "
                "of them"
            )
    kernel = options.get("engine") if options.get("engine") in (CUDA, SIMD) else None
    device = kernel == CUDA
    if kernel:
        options["engine"] = "compiled"
    measures = Measures.of(what, model)
    shapes = {path: each.shape[1:] for path, each in values.items()}
    cases = Cases(own, shapes, options)
    runs = len(next(iter(values.values())))
    rows = np.hstack([each.reshape(runs, -1) for each in values.values()])
    begins = _one_that_begins(cases, rows)
    if kernel:
        require_kernel(cases, begins, kernel)
    if kernel == SIMD:
        require_registers()
    if device:
        require_device(executor)
        workers = 1
    time, samples = _times(model, simulation, options, values)
    key = key_of(FORMAT, own.content, list(values), rows, list(_names(measures)), options)
    about = {"model": model.name, "document": model.to_yaml()}
    about |= {name: value for name, value in options.items() if name != "newton"}
    outline = Outline(values, measures.each, time, samples, about, key)
    store: Store = MemoryStore(outline) if place is None else FileStore(outline, place)
    pending, recipe = store.pending, None
    if pending.any():
        if runs >= WORTH or kernel:
            recipe, reason = recipe_of(cases, measures, rows)
            if kernel and recipe is None:
                raise refused(kernel, reason)
        worker = Worker(key, cases, measures, samples, recipe, OnDevice if device else Arena)
        alone = BUILDING
        if recipe is not None:
            full = (model.simulation or Simulation()).options(**options)
            alone = _duration(recipe, full)
            long = full["engine"] == "auto" and runs * alone > WORTH_COMPILING
            if kernel == SIMD or (long and _pays(cases, recipe.row)):
                worker = _in_registers(worker, recipe, required=kernel == SIMD)
        size = _chunk(alone, samples, measures.width)
        if worker.by is in_registers:
            _, abreast = simd.LEVELS[simd.level()]
            size = -(-size // abreast) * abreast
        if device:
            size = max(1, ROOM_OF_DEVICE // (8 * samples * max(1, measures.width)))
        chunks = _chunks(rows, pending, size)
        _run(worker, chunks, store, (min(workers, runs), executor), progress, model.name)
        store.close()
    return store.dataset()


def _run(
    worker: Worker,
    chunks: Iterable[Chunk],
    store: Store,
    by: tuple[int, Any],
    progress: bool | None,
    name: str,
) -> None:
    """Take runs and write them; Ctrl-C leaves the others pending."""
    runs, done = store.outline.runs, int(np.sum(~store.pending))
    try:
        with closing(Progress(runs, name, progress, done, unit="runs")) as bar:
            for found in taken(worker, chunks, *by):
                store.write(found)
                bar.advance(len(found.runs))
    except KeyboardInterrupt:
        return


def _names(measures: Measures) -> Iterator[str]:
    """Yield what is kept, by names and channels."""
    for each in measures.each:
        yield each.name if each.channel is None else f"{each.name}={each.channel.text}"


def _one_that_begins(cases: Cases, rows: Array) -> Array:
    """Return the parameters of a run that begins.

    If none of some runs does, what is wrong is no parameter: the first error is raised.
    """
    errors = list[PoinsotError]()
    for k in dict.fromkeys((0, len(rows) // 2, len(rows) - 1)):
        try:
            cases.run(rows[k])
        except PoinsotError as error:
            errors.append(error)
        else:
            return np.asarray(rows[k])
    raise errors[0]


def _times(
    model: Model, simulation: Simulation | None, options: dict[str, Any], values: dict[str, Array]
) -> tuple[Array | None, int]:
    """Return when states are saved, None: each run has its own times; and how many they are."""
    varied = {
        path.partition(".")[2]: v for path, v in values.items() if path.startswith("options.")
    }
    combined = np.column_stack(list(varied.values())) if varied else np.zeros((1, 0))
    most = 0
    for row in np.unique(combined, axis=0):
        changes = dict(zip(varied, row.tolist(), strict=True)) | options
        try:
            if "save_every" in changes:
                changes["save_every"] = int(changes["save_every"])
            full = (simulation or Simulation()).options(**changes)
            h, start, end, every = (full[k] for k in ("h", "t_start", "t_end", "save_every"))
            steps = count_steps(h, start, end)
        except (InputError, ValueError):
            if varied:  # these runs fail, and say why themselves
                continue
            raise
        rows = 1 - (-steps // every)
        if 8 * rows > ROOM_OF_RUN:
            raise InputError(
                f"{rows} saved states of a run do not fit into memory; save fewer by "
                "save_every=..., or take a larger step"
            )
        most = max(most, rows)
    if varied or model.events:
        return None, most + bool(model.events)
    number = np.append(np.arange(0, steps, every), steps)
    return Clock(start, end, h, steps).span(0, steps)[number], most


def _duration(recipe: Recipe, options: dict[str, Any]) -> float:
    """Return about how long a run takes by itself [s]."""
    return count_steps(options["h"], options["t_start"], options["t_end"]) * recipe.base.size * PACE


def _chunk(alone: float, samples: int, width: int) -> int:
    """Return how many runs of a duration are taken together: the same for any number of workers."""
    most = ROOM / (8 * samples * max(1, width))
    return int(np.clip(min(SPAN / alone, most), 1, 1024))


def _pays(cases: Cases, row: Array) -> bool:
    """Tell whether runs like this one can be taken in vector registers, and faster."""
    try:
        require_registers()
        require_kernel(cases, row, SIMD)
    except InputError:
        return False
    opening = cases.opening(row)
    return opening is not None and words_of_room(opening.job) <= SMALL


def _in_registers(worker: Worker, recipe: Recipe, *, required: bool) -> Worker:
    """Return what takes runs in vector registers, unless there is no such kernel for them."""
    several = replace(worker, by=in_registers)
    try:
        several.prepare(recipe)
    except NotVectorisedError as error:
        if required:
            raise refused(SIMD, str(error)) from None
        return worker
    except BuildError:
        if required:
            raise
        return worker
    return several


def _chunks(rows: Array, pending: NDArray[np.bool_], size: int) -> Iterator[Chunk]:
    """Yield consecutive runs, some of which are pending."""
    for first in range(0, len(rows), size):
        runs = np.arange(first, min(first + size, len(rows)))
        if pending[runs].any():
            yield runs, rows[runs]
