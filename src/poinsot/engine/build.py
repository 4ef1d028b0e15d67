"""Builds the machine code of all forms, on two cores: `python -m poinsot.engine.build`."""

import argparse
import atexit
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from time import sleep
from typing import TextIO

from poinsot.engine import machine_code
from poinsot.engine.machine_code import FORMS

#: What each of two processes builds, so that both take about as long.
SHARES = (("plain", "stabilised"), ("quaternions",))
#: About so many kernels are compiled by both of them, and it takes so long [s].
KERNELS, DURATION = 500, 30.0


class BuildError(Exception):
    """Machine code could not be built; says why."""


class Build:
    """A build of all forms that goes on by itself, in processes of its own.

    Object files go to `folder`: by default beside the package, or else to the user's cache, or else
    to a temporary folder that lasts as long as this process.
    """

    def __init__(self, folder: Path | None = None) -> None:
        usual = machine_code.beside_the_package(), machine_code.of_the_user()
        self.folder = _writable(usual if folder is None else (folder,))
        self.logs = [self.folder / f"{'-'.join(forms)}.log" for forms in SHARES]
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-m", "poinsot.engine.build", *_options(self.folder, log), *forms],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the run that waits
            )
            for forms, log in zip(SHARES, self.logs, strict=True)
        ]

    @property
    def done(self) -> float:
        """How much is done, between 0 and 1."""
        return min(1.0, sum(text.count("\n") for text in map(_text, self.logs)) / KERNELS)

    def wait(self, show: Callable[[float], None] = lambda done: None) -> None:
        """Wait for the end; an interrupt ends the build as well."""
        try:
            while any(process.poll() is None for process in self.processes):
                show(self.done)
                sleep(0.1)
        except BaseException:
            for process in self.processes:
                process.kill()
            raise
        for process, log in zip(self.processes, self.logs, strict=True):
            if process.returncode:
                text = _text(log).strip() or f"exit status {process.returncode}"
                raise BuildError(text.splitlines()[-1])


def _options(folder: Path, log: Path) -> tuple[str, ...]:
    return "--to", str(folder), "--log", str(log)


def _text(path: Path) -> str:
    """Return what a log says; nothing once it is gone."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _writable(folders: Iterable[Path]) -> Path:
    """Return the first of some folders that can be written, or a temporary one."""
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=folder):
                return folder
    place = Path(mkdtemp(prefix="poinsot-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@contextmanager
def announced(stream: TextIO | None = None) -> Iterator[Callable[[float], None]]:
    """Say what takes so long; on a terminal, show how far it is."""
    out = stream or sys.stderr
    what = f"building the compiled engine for {machine_code.processor()}"
    print(f"poinsot: {what}: once, about {DURATION:.0f} s on two cores", file=out, flush=True)
    if not out.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(file=out), transient=True) as bar:
        task = bar.add_task("building", total=1.0)
        yield lambda done: bar.update(task, completed=done)


def build(folder: Path | None = None) -> Path:
    """Build all forms, and say so; return the folder of the object files."""
    job = Build(folder)
    with announced() as show:
        job.wait(show)
    return job.folder


def _work(forms: Iterable[str], folder: Path, log: Path) -> None:
    """Build some forms; every kernel is a line of the log, which goes away at the end."""
    from poinsot.engine.compiler import make

    with log.open("w", encoding="utf-8") as lines:
        try:
            for form in forms:
                code = make(form, lambda: print("kernel", file=lines, flush=True))
                machine_code.write(folder, form, code)
        except Exception as error:
            print(f"{type(error).__name__}: {error}".replace("\n", " "), file=lines)
            raise
    log.unlink(missing_ok=True)


def main() -> None:
    """Build what is missing."""
    parser = argparse.ArgumentParser(prog="python -m poinsot.engine.build", description=__doc__)
    parser.add_argument("--to", type=Path, help="build all object files anew, into this folder")
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("forms", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.log is not None:
        _work(given.forms, given.to, given.log)
    elif given.to is not None or any(machine_code.find(form) is None for form in FORMS):
        build(given.to)


if __name__ == "__main__":
    main()
