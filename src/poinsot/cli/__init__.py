"""The command line: `poinsot gallery`, `run`, `sweep`, `check`, `convert`, `plot`, `view`, ...

Exit status: 0 success; 1 the simulation stopped early or its check failed; 2 invalid input.
"""

from poinsot.cli import analysing, convert, fmu, looking, run, sweeping
from poinsot.cli.app import app, main

__all__ = ["analysing", "app", "convert", "fmu", "looking", "main", "run", "sweeping"]
