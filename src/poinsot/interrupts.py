"""Ctrl-C where it would be lost or do harm: heard right after."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Collect interrupts in a list instead of raising them.

    Compiled code that calls a Python function would lose the exception, and go on with numbers
    that were never computed.
    """
    came: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield came
        return

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, handler)
