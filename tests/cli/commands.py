"""`poinsot` as a user types it, in a process of its own or, faster, in this one."""

import subprocess
import sys
from pathlib import Path

from poinsot.cli import main

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def poinsot(*words, cwd=None):
    """Run a command in a process of its own."""
    code = "import sys; sys.argv[0] = 'poinsot'; from poinsot.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def here(monkeypatch, capsys, *words):
    """Run a command in this process; return exit status, output and errors."""
    monkeypatch.setattr(sys, "argv", ["poinsot", *map(str, words)])
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    said = capsys.readouterr()
    return status, said.out, said.err
