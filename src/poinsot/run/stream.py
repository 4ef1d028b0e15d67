"""Writes a run to a file while it goes on."""

import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from poinsot.errors import InputError, StorageError
from poinsot.result import Result, Status, Writer, load
from poinsot.result.attributes import progress, unfinished
from poinsot.result.variables import TIME
from poinsot.run.interrupts import held_back
from poinsot.run.recorder import ROOM, Facts, Recorder

#: New steps are written about so often [s], and so that it takes a small part of the time.
PAUSE, SHARE = 0.5, 0.1
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
    """

    def __init__(self, path: Path, recorder: Recorder, facts: Facts) -> None:
        self.path, self.recorder, self.facts = path, recorder, facts
        start = recorder.snapshot(facts, "unfinished", "")
        try:
            self.writer = Writer(path, start, recorder.rows)
            try:
                self.writer.write(start, slice(None), slice(None))
                self._note(start)
            except BaseException:
                self.writer.discard()
                raise
            self.writer.publish()
        except StorageError as error:
            raise InputError(f"output: {error}") from None
        self.working, self.written, self.pause = True, time.perf_counter(), PAUSE

    def poll(self) -> None:
        """Write what is new, if it is time to."""
        table = self.recorder.table
        if time.perf_counter() - self.written > self.pause or len(table) * table.row_size > ROOM:
            self.write()

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
            except BaseException:
                self.writer.discard()
                self.writer = full
                raise
        self.writer.publish()
        full.close()

    def finish(self, status: Status, message: str) -> Result:
        """Write the last step and how the run ended, and return the result."""
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
