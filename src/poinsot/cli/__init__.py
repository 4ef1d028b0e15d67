"""The command line: `poinsot gallery`, `run`, `sweep`, `check`, `modes`, `bode`, `plot`, ...

Exit status: 0 done; 1 the simulation stopped early or its check failed; 2 bad input.
"""

from poinsot.cli import analysing, looking, run, sweeping
from poinsot.cli.app import app, main

__all__ = ["analysing", "app", "looking", "main", "run", "sweeping"]
