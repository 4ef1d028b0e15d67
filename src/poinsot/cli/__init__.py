"""The command line: `poinsot gallery`, `run`, `check`, `plot`, `view`, `report`.

Exit status: 0 done; 1 the simulation stopped early or its check failed; 2 bad input.
"""

from poinsot.cli import looking, run
from poinsot.cli.app import app, main

__all__ = ["app", "looking", "main", "run"]
