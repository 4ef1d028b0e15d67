"""A progress bar for long runs: on a terminal only, and only after a second."""

import sys
import time
from typing import TYPE_CHECKING, Any

from poinsot.errors import printable
from poinsot.inputs import flag

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

#: A run shorter than this shows nothing [s].
PATIENCE = 1.0


def require_progress(enabled: Any) -> None:
    """Refuse what does not say whether to show a bar; None: on a terminal."""
    if enabled is not None:
        flag(enabled, "progress")


class Progress:
    """Counts steps, or what `unit` says, until it is closed, beside those that were `before`.

    Silent unless standard error is a terminal.
    """

    def __init__(
        self,
        steps: int,
        label: str,
        enabled: bool | None,
        before: int = 0,
        *,
        unit: str = "steps",
    ) -> None:
        self.unit = unit
        self.steps, self.label, self.done, self.before = steps, label, before, before
        self.enabled = sys.stderr.isatty() if enabled is None else enabled
        self.started = self.shown = time.monotonic()
        self.bar: RichProgress | None = None

    def advance(self, steps: int = 1) -> None:
        """Count steps; the display is refreshed at most ten times a second."""
        self.done += steps
        if not self.enabled:
            return
        now = time.monotonic()
        if self.bar is None:
            if now - self.started < PATIENCE:
                return
            self.bar = _bar()
            self.bar.start()
            self.task = self.bar.add_task(printable(self.label), total=self.steps, speed="")
        if now - self.shown > 0.1:
            speed = f"{(self.done - self.before) / (now - self.started):.0f} {self.unit}/s"
            self.bar.update(self.task, completed=self.done, speed=speed)
            self.shown = now

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)
            self.bar.stop()


def _bar() -> "RichProgress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
