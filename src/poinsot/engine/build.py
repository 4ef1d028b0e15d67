"""Builds the machine code of all forms, on two cores: `python -m poinsot.engine.build`."""

import argparse
import atexit
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from time import sleep, time
from typing import TextIO

from poinsot.engine import machine_code
from poinsot.engine.machine_code import FORMS, SIDE_BY_SIDE
from poinsot.errors import BuildError
from poinsot.interrupts import held_back

#: In the order in which they are built: those that share most kernels follow each other.
ORDER = (
    "plain",
    "backward",
    "quaternions",
    "quaternions_backward",
    "stabilised",
    "stabilised_backward",
)
#: About so many kernels are compiled, and it takes so long [s].
KERNELS, DURATION = 474, 135.0
#: This module, which may run as `__main__`.
MODULE = "poinsot.engine.build"
#: A build whose log has not grown for so long was given up [s].
ABANDONED = 120.0


class Build:
    """A build of forms that goes on by itself, in a process of its own.

    Object files, or LLVM's bitcode of those for many runs side by side, go to `folder`: by default
    beside the package, or else to the user's cache, or else to his own folder among temporary
    files, or else to one that lasts as long as this process.
    """

    def __init__(self, folder: Path | None = None, forms: Sequence[str] = ()) -> None:
        forms = forms or ORDER
        what = f"building the compiled engine for {machine_code.processor()}"
        takes = DURATION * len(forms) / len(ORDER)
        note = f"poinsot: {what}: once, about {takes:.0f} s on two cores"
        print(note, file=sys.stderr, flush=True)
        self.folder = _writable(machine_code.places(make=True) if folder is None else (folder,))
        self.log = self.folder / "build.log"
        with held_back() as interrupts:  # nobody would know the process
            self.process = subprocess.Popen(
                [*command(MODULE), "--to", str(self.folder), "--log", str(self.log), *forms],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the run that waits
            )
        if interrupts:
            self.end()
            raise KeyboardInterrupt

    @property
    def done(self) -> float:
        """How much is done, between 0 and 1."""
        return min(1.0, _text(self.log).count("\n") / KERNELS)

    def wait(self, show: Callable[[float], None] = lambda done: None) -> None:
        """Wait for the end."""
        while self.process.poll() is None:
            show(self.done)
            sleep(0.1)
        if self.process.returncode:
            raise BuildError(
                f"the compiled engine cannot be built here: {self._said}; use engine='reference'"
            )

    def end(self) -> None:
        """End the process and those that it has started."""
        if self.process.poll() is not None:
            return
        if sys.platform == "win32":
            self.process.kill()
        else:
            with suppress(ProcessLookupError):  # ended meanwhile
                os.killpg(self.process.pid, signal.SIGTERM)

    @cached_property
    def _said(self) -> str:
        """The last line that the process said before it failed."""
        said = self.process.communicate()[1].decode(errors="replace").strip()
        return said.splitlines()[-1] if said else f"exit {self.process.returncode}"


def command(module: str) -> tuple[str, ...]:
    """Return the command that calls `main` of a module, found where this process finds modules."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
    return sys.executable, "-c", code


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
def _shown() -> Iterator[Callable[[float], None]]:
    """Show on a terminal how far a build is."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("building", total=1.0)
        yield lambda done: bar.update(task, completed=done)


@cache
def in_background() -> Build:
    """Return a build that has begun, and that goes on when this process ends."""
    return Build()


def finish(build: Build) -> None:
    """Wait for a build, and show how far it is.

    An interrupt ends the build as well, so that the next may begin.
    """
    try:
        with _shown() as show:
            build.wait(show)
    except BaseException:
        build.end()
        raise


def build_missing() -> None:
    """Build the machine code that fits this machine, unless it is there."""
    if any(machine_code.find(form) is None for form in FORMS):
        finish(Build())


def _work(forms: Sequence[str], folder: Path, log: Path) -> None:
    """Build some forms, unless somebody else does.

    Every kernel is a line of the log, which goes away at the end: while it grows, others wait.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # and the log goes away
    while not all(_is_there(folder, form) for form in forms):
        try:
            lines = log.open("x", encoding="utf-8")
        except FileExistsError:
            _wait(log)
            continue
        try:
            with lines:
                _make(forms, folder, lines)
        finally:
            log.unlink(missing_ok=True)


def _make(forms: Iterable[str], folder: Path, lines: TextIO) -> None:
    """Lower the forms one after the other; meanwhile others translate what is there."""
    machine_code.source()  # that of now: an edit from here on is not in what is built
    from poinsot.engine.compiler import lower

    def count() -> None:
        print("kernel", file=lines, flush=True)

    gc.disable()  # this process does nothing else: all of its memory goes at once
    with ThreadPoolExecutor() as pool:
        codes = dict[str, futures.Future[bytes]]()
        for form in forms:
            if form.endswith(SIDE_BY_SIDE):
                bitcode = lower(form.removesuffix(SIDE_BY_SIDE), count, side_by_side=True)
                codes[form] = pool.submit(bytes, bitcode)  # specialised before it is translated
            else:
                codes[form] = pool.submit(_translated, lower(form, count))
        for form, code in codes.items():
            while not futures.wait([code], ABANDONED / 4).done:
                os.utime(lines.name)  # not given up
            machine_code.write(folder, form, code.result())


def _translated(bitcode: bytes) -> bytes:
    """Return the machine code of bitcode, made by a process of its own."""
    done = subprocess.run([*command(MODULE), "--translate"], input=bitcode, stdout=subprocess.PIPE)
    if done.returncode:
        raise BuildError("LLVM could not translate the kernels")
    return done.stdout


def _is_there(folder: Path, form: str) -> bool:
    try:
        machine_code.read(folder / machine_code.name_of(form))
    except machine_code.DamagedObjectError:
        return False
    return True


def _wait(log: Path) -> None:
    """Wait a moment for somebody else's build; one that was given up leaves its log behind."""
    sleep(0.2)
    with suppress(OSError):
        if time() - log.stat().st_mtime > ABANDONED:
            log.unlink()


def main() -> None:
    """Build what is missing."""
    parser = argparse.ArgumentParser(prog="python -m poinsot.engine.build", description=__doc__)
    parser.add_argument("--to", type=Path, help="build all object files anew, into this folder")
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--translate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("forms", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.translate:
        from poinsot.engine.compiler import translate

        sys.stdout.buffer.write(translate(sys.stdin.buffer.read()))
    elif given.log is not None:
        _work(given.forms, given.to, given.log)
    elif given.to is not None:
        finish(Build(given.to))
    else:
        build_missing()


if __name__ == "__main__":
    main()
