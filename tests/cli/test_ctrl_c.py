"""Ctrl-C ends a command with one line, wherever it comes."""

import signal
import subprocess
import sys

import pytest
from commands import here

from poinsot.cli import looking

#: A command whose user presses Ctrl-C while a module is imported.
IMPORTING = """
import os, signal, sys
sys.argv[0] = "poinsot"
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it

class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
from poinsot.cli import main
main()
"""


@pytest.mark.parametrize("module", ["numpy", "poinsot.cli.run"])
def test_a_command_that_starts_is_ended_at_once(module):
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTING, module], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_a_command_at_work_is_ended(monkeypatch, capsys):
    def press(*_):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(looking, "load", press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert here(monkeypatch, capsys, "plot", "run.nc") == (130, "", "interrupted\n")
    finally:
        signal.signal(signal.SIGINT, before)
