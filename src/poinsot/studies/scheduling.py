"""Who takes the runs of a study: this thread, threads, processes, or an executor that is given."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, WorkerError
from poinsot.studies.outcomes import Outcomes
from poinsot.studies.work import Worker

Array = NDArray[np.float64]
Chunk = tuple[NDArray[np.intp], Array]

#: So many chunks for each worker are on their way.
AHEAD = 2


def workers_here() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def taken(
    worker: Worker, chunks: Iterable[Chunk], workers: int, executor: Any
) -> Iterator[Outcomes]:
    """Yield the outcomes of chunks of runs, as they come."""
    with _pool(worker, workers, executor) as (pool, many), _whole():
        if pool is None:
            for chunk in chunks:
                yield worker.take(*chunk)
            return
        waiting, left = set[Future[Outcomes]](), iter(chunks)
        try:
            while True:
                for each in islice(left, AHEAD * many - len(waiting)):
                    waiting.add(pool.submit(worker.take, *each))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _whole() -> Iterator[None]:
    """Say what has happened if a process that took runs is no more."""
    try:
        yield
    except BrokenExecutor:
        raise WorkerError(
            "a process that took runs was ended from outside, for want of memory perhaps; take "
            "fewer at a time by workers=...; with output=... the same call goes on where it was"
        ) from None


@contextmanager
def _pool(worker: Worker, workers: int, executor: Any) -> Iterator[tuple[Executor | None, int]]:
    """Return what takes the runs, None: this thread; and how many it takes at a time."""
    if executor is not None:
        yield _executor(executor)
    elif workers == 1:
        yield None, 1
    else:
        pool: Executor
        if worker.recipe is not None:  # machine code leaves the interpreter to others
            pool = ThreadPoolExecutor(workers)
        else:
            kinds = multiprocessing.get_all_start_methods()
            context = multiprocessing.get_context("fork" if "fork" in kinds else None)
            pool = ProcessPoolExecutor(workers, context, _deaf)
        with pool:
            yield pool, workers


def _deaf() -> None:
    """Leave Ctrl-C to the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _executor(executor: Any) -> tuple[Executor, int]:
    """Return an executor that was given, or that of a Dask client, and how many runs it takes."""
    if isinstance(executor, Executor):
        return executor, getattr(executor, "_max_workers", None) or workers_here()
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(executor, distributed.Client):
        return executor.get_executor(), max(1, sum(executor.nthreads().values()))
    raise InputError(
        f"executor: expected a concurrent.futures.Executor or a dask.distributed.Client, "
        f"got {executor!r}"
    )
