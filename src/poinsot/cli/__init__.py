"""The command line: `poinsot gallery`, `run`, `check`, `convert`, `modes`, `plot`, `view`, ...

Exit status: 0 done; 1 the simulation stopped early or its check failed; 2 bad input.
"""

from poinsot.cli import analysing, converting, looking, run
from poinsot.cli.app import app, main

__all__ = ["analysing", "app", "converting", "looking", "main", "run"]
