"""Writes a run to a file while it goes on, with checkpoints to go on from."""

import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from poinsot.errors import InputError, StorageError
from poinsot.interrupts import held_back
from poinsot.result import Result, Status, Writer, find_checkpoint, load
from poinsot.result.attributes import progress, unfinished
from poinsot.result.variables import TIME
from poinsot.run.checkpoint import Keeper
from poinsot.run.recorder import ROOM, Facts, Recorder

#: New steps are written about so often [s], and so that it takes a small part of the time.
PAUSE, SHARE = 0.5, 0.1
#: Checkpoints take no more than this part of it.
KEEPING = 0.05
#: What a result says of how its run ended.
SAID = ("status", "message", "warnings", "notes")


class Stream:
    """The file of a run. It can be read at every moment, whatever happens to the run.

    Saved steps go to the file and not to memory: the result of the run reads from the file.

    Parameters
    ----------
    path : path
        Where to write; a file that exists is replaced now, by one that has the start.
    recorder : Recorder
        Where the steps come from.
    facts : Facts
        What the file says of the run.
    keeper : Keeper
        Where checkpoints come from.
    before : Result and int
        A run that goes on here, and how many of its rows are kept.
    """

    def __init__(
        self,
        path: Path,
        recorder: Recorder,
        facts: Facts,
        keeper: Keeper,
        before: tuple[Result, int] | None = None,
    ) -> None:
        self.path, self.recorder, self.facts, self.keeper = path, recorder, facts, keeper
        start = recorder.snapshot(facts, "unfinished", "")
        try:
            room = max(recorder.rows, 0 if before is None else before[1])
            self.writer = Writer(path, start, room)
            try:
                self.writer.copy(*(before or (start, 1)))
                self._note(start)
                self.writer.keep(*keeper.checkpoint())
            except BaseException:
                self.writer.discard()
                raise
            self.writer.publish()
        except StorageError as error:
            raise InputError(f"output: {error}") from None
        self.working, self.written, self.pause = True, time.perf_counter(), PAUSE
        self.kept, self.keeping = self.written, PAUSE

    def poll(self, *, at_once: bool = False) -> None:
        """Write what is new, if it is time to or `at_once`, and a checkpoint of the run there."""
        table, now = self.recorder.table, time.perf_counter()
        due = now - self.written > self.pause
        if at_once or due or len(table) * table.row_size > ROOM:
            self.write()
            if at_once or now - self.kept > self.keeping:
                self._keep()

    def _keep(self) -> None:
        """Write a checkpoint, after all rows that belong to it."""
        started = time.perf_counter()
        self.writer.keep(*self.keeper.checkpoint())
        self.kept = time.perf_counter()
        self.keeping = max(PAUSE, (self.kept - started) / KEEPING)

    def write(self) -> None:
        """Write what is new; what cannot be written ends the run, and the file ends before it."""
        if not self.working:
            return
        self.working, started = False, time.perf_counter()
        # An interrupt in between would leave steps that are written and not forgotten.
        with held_back() as interrupts:
            block = self.recorder.snapshot(self.facts, "unfinished", "")
            self._make_room(block.time.size - 1)
            self.writer.write(block, slice(1, None), slice(None))
            self._note(block)
            self.recorder.forget()
        self.written = time.perf_counter()
        self.pause = max(PAUSE, (self.written - started) / SHARE)
        self.working = True
        if interrupts:
            signal.raise_signal(signal.SIGINT)

    def _make_room(self, more: int) -> None:
        """Go on in a larger file, if this one has no room for so many more saved times."""
        full = self.writer
        needed = full.shown[TIME] + more
        if needed <= full.rows:
            return
        with load(self.path) as known:
            self.writer = Writer(self.path, known, 2 * needed)
            try:
                self.writer.copy(known)
                if (kept := find_checkpoint(self.path)) is not None:
                    self.writer.keep(*kept)
            except BaseException:
                self.writer.discard()
                self.writer = full
                raise
        self.writer.publish()
        full.close()

    def finish(self, status: Status, message: str) -> Result:
        """Write the last step and how the run ended, and return the result."""
        if status == "interrupted":
            message = f"{message}; to continue: poinsot run --resume {quote(str(self.path))}"
        with held_back():
            try:
                self.recorder.finish()
                self.write()
            except Exception as error:
                message = f"{message}; {error}" if message else str(error)
            ended = self.recorder.judged(
                self.recorder.snapshot(self.facts, status, message), self.facts
            )
            with suppress(StorageError):
                self.writer.note(progress(ended))
            self.writer.close()
        found, told = load(self.path), {name: getattr(ended, name) for name in SAID}
        if {name: getattr(found, name) for name in SAID} == told:
            return found
        return replace(found, **told)

    def _note(self, block: Result) -> None:
        self.writer.note(progress(replace(block, message=unfinished(block.time[-1]))))
