"""A bar on a terminal for runs over a second; never in a pipe, never for a short run."""

import os
import pty
import subprocess
import sys
import threading

import poinsot

SCRIPT = """
import time
import numpy as np
import poinsot as ps
from poinsot import ph

def force(t):
    time.sleep({pause})
    return 0.0

system = ph.linear("spinner", states=["q", "p"], J=[[0, 1], [-1, 0]], Q=np.eye(2), B=[[0], [1]],
                   ports=[ph.Port("force")])
result = ps.simulate(system, h=0.1, t_end=4.0, x0=[1, 0], inputs={{"force": force}}{options})
print(result.status, result.stats.steps)
"""


def environment():
    source = os.path.dirname(os.path.dirname(poinsot.__file__))
    return {**os.environ, "PYTHONPATH": source, "TERM": "xterm-256color", "COLUMNS": "120"}


def run_on_a_terminal(pause, options=""):
    """Run the script with standard error on a pseudo-terminal; return (status, out, terminal)."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(pause=pause, options=options)],
        stdout=subprocess.PIPE,
        stderr=slave,
        env=environment(),
        text=True,
    )
    os.close(slave)
    chunks = []

    def read():
        while True:
            try:
                chunk = os.read(master, 4096)
            except OSError:  # Linux says EIO when the other side is closed
                return
            if not chunk:
                return
            chunks.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    out, _ = process.communicate(timeout=60)
    reader.join(timeout=10)
    os.close(master)
    return process.returncode, out, b"".join(chunks).decode(errors="replace")


def run_in_a_pipe(pause, options=""):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(pause=pause, options=options)],
        capture_output=True,
        env=environment(),
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_long_run_on_a_terminal_shows_its_progress():
    status, out, terminal = run_on_a_terminal(pause=0.035)
    assert status == 0, terminal
    assert out == "done 40\n"
    assert "spinner" in terminal
    assert "/40" in terminal
    assert "steps/s" in terminal


def test_a_short_run_on_a_terminal_shows_nothing():
    assert run_on_a_terminal(pause=0.0) == (0, "done 40\n", "")


def test_a_long_run_in_a_pipe_shows_nothing():
    assert run_in_a_pipe(pause=0.035) == (0, "done 40\n", "")


def test_the_bar_can_be_switched_off():
    assert run_on_a_terminal(pause=0.035, options=", progress=False") == (0, "done 40\n", "")
