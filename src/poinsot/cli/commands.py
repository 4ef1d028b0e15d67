"""All commands."""

from poinsot.cli import analysing, convert, fmu, looking, run, sweeping
from poinsot.cli.app import app, main

__all__ = ["analysing", "app", "convert", "fmu", "looking", "main", "run", "sweeping"]
