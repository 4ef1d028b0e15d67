"""The command line: `poinsot gallery`, `run`, `check`, `modes`, `plot`, `view` and others.

Exit status: 0 done; 1 the simulation stopped early or its check failed; 2 bad input.
"""

from poinsot.cli import analysing, convert, fmu, looking, run
from poinsot.cli.app import app, main

__all__ = ["analysing", "app", "convert", "fmu", "looking", "main", "run"]
