"""The command line: `poinsot gallery`, `run`, `sweep`, `check`, `convert`, `plot`, `view`, ...

Exit status: 0 success; 1 the simulation stopped early or its check failed; 2 invalid input; 130
Ctrl-C before there was anything to save.
"""

import os
import signal

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    heard = signal.getsignal(signal.SIGINT)
    if heard is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from poinsot.cli.commands import main as run  # takes longer than a user may wait for Ctrl-C

    signal.signal(signal.SIGINT, heard)
    run()


def _end(*_: object) -> None:
    """End at once: a module that is half loaded may make any other error of Ctrl-C."""
    os.write(2, b"interrupted\n")
    os._exit(130)
