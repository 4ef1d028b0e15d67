"""Machine code is taken only if it is whole, of this source and for this machine; else built."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import poinsot as ps
from poinsot.engine import build, calls, machine_code
from poinsot.errors import BuildError
from poinsot.kernels.tables import Part

PACKAGE = Path(ps.__file__).parent


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A folder with two files that stand for the engine's."""
    folder = tmp_path / "engine"
    folder.mkdir()
    for name in ("kernel.py", "tiles.py"):
        (folder / name).write_text("x = 1\n")
    monkeypatch.setattr(machine_code, "__file__", str(folder / "machine_code.py"))
    return folder


def longer(path):
    (path / "tiles.py").write_text("x = 10\n")


def more(path):
    (path / "new.py").write_text("")


def fewer(path):
    (path / "tiles.py").unlink()


@pytest.mark.parametrize("change", [longer, more, fewer])
def test_another_source_has_another_hash(engine, change):
    before = machine_code.source.__wrapped__()
    change(engine)
    assert machine_code.source.__wrapped__() != before


def test_of_parts_only_files_with_kernels_matter(engine):
    parts = engine.parent / "parts"
    parts.mkdir()
    before = machine_code.source.__wrapped__()
    (parts / "joints.py").write_text("def kernel(): ...\n")
    assert machine_code.source.__wrapped__() == before
    (parts / "points.py").write_text("@kernel\ndef act(): ...\n")
    assert machine_code.source.__wrapped__() != before


def test_age_and_other_files_do_not_matter(engine):
    before = machine_code.source.__wrapped__()
    os.utime(engine / "tiles.py", (1000, 1000))
    (engine / "notes.txt").write_text("hello")
    (engine / "__pycache__").mkdir()
    assert machine_code.source.__wrapped__() == before


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Folders beside the package and of the user that are empty."""
    beside, user = tmp_path / "objects", tmp_path / "cache"
    beside.mkdir()
    user.mkdir()
    monkeypatch.setattr(machine_code, "beside_the_package", lambda: beside)
    monkeypatch.setenv(machine_code.CACHE, str(user))
    return beside, user


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_kept_is_found(folders, place):
    assert machine_code.find("plain") is None
    machine_code.write(folders[place], "plain", b"code")
    assert machine_code.find("plain") == b"code"
    assert machine_code.find("stabilised") is None


def test_without_a_home_nothing_is_kept(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    for name in (machine_code.CACHE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(machine_code.Path, "home", nobody)
    folder = machine_code.of_the_user()
    assert not (folder / "plain.o").exists()
    with pytest.raises(OSError, match=r"."):
        folder.mkdir(parents=True)


def cut(content):
    return content[:-1]


def changed(content):
    return content[:-1] + b"?"


def empty(content):
    return b""


def foreign(content):
    return b"\x7fELF" + content


def of_another_source(content):
    return content.replace(machine_code.source().encode(), b"0" * 64)


def of_another_form(content):
    return content.replace(b'"plain"', b'"quaternions"')


@pytest.mark.parametrize(
    "damage", [cut, changed, empty, foreign, of_another_source, of_another_form]
)
def test_a_damaged_file_is_passed_over(folders, damage):
    beside, user = folders
    machine_code.write(beside, "plain", b"code of the package")
    path = beside / machine_code.name_of("plain")
    path.write_bytes(damage(path.read_bytes()))
    assert machine_code.find("plain") is None
    machine_code.write(user, "plain", b"code of the user")
    assert machine_code.find("plain") == b"code of the user"


def test_code_of_another_source_goes_away_when_new_code_comes(folders, monkeypatch):
    beside, _ = folders
    machine_code.write(beside, "plain", b"old")
    machine_code.write(beside, "stabilised", b"other")
    monkeypatch.setattr(machine_code, "source", lambda: "1" * 64)
    machine_code.write(beside, "plain", b"new")
    assert sorted(file.name.split("-")[0] for file in beside.iterdir()) == ["plain", "stabilised"]
    assert machine_code.find("plain") == b"new"


@pytest.mark.parametrize(
    ("able", "level"),
    [
        (set.union(*map(set, machine_code.LEVELS.values())), "x86-64-v3"),
        (machine_code.V2 | {"avx"}, "x86-64-v2"),
        ({"sse2"}, "x86-64"),
    ],
)
def test_code_is_made_for_what_the_processor_can_do(monkeypatch, able, level):
    import llvmlite.binding as llvm

    monkeypatch.setattr(machine_code.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: dict.fromkeys(able, True))
    monkeypatch.setattr(machine_code, "abilities", machine_code.abilities.__wrapped__)
    assert machine_code.processor.__wrapped__() == level


def test_another_processor_does_not_take_the_code(folders, monkeypatch):
    machine_code.write(folders[0], "plain", b"code")
    monkeypatch.setattr(machine_code, "processor", lambda: "x86-64")
    assert machine_code.find("plain") is None


def test_a_record_is_passed_as_words():
    numbers, places = np.ones((2, 3)), np.zeros((4, 5), dtype=np.uint32)
    words = calls.pack((Part(numbers, places), 7, True, None, 0.5))
    at = numbers.ctypes.data, 2, 3, places.ctypes.data, 4, 5, 7, 1
    assert tuple(words[2:-1]) == at
    assert words[-1:].view(float)[0] == 0.5


RUN = """
import sys
import poinsot as ps
from poinsot.engine import build
build.ORDER = ("plain",)  # one form is enough
model = ps.Model(gravity=(0, 0, -9.81))
bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
result = ps.simulate(model, h=0.01, t_end=0.2, engine=sys.argv[1])
print(result.engine, result.position("bar")[-1].tolist())
"""

#: Stands for the compiler, which has proved itself when the engine of these tests was built: it
#: writes down that it was called, takes its time, and returns machine code that is there.
COMPILER = """
from pathlib import Path
from time import monotonic, sleep

FOLDER = Path({folder!r})


def lower(form, count):
    with (FOLDER / "calls").open("a") as calls:
        print(form, file=calls)
    end = monotonic() + 120
    while not (FOLDER / "go on").exists() and monotonic() < end:
        count()
        sleep(0.1)
    return b"bitcode"


def translate(bitcode):
    assert bitcode == b"bitcode"
    return (FOLDER / "code").read_bytes()
"""


def test_a_package_that_cannot_be_written_is_built_once_for_all_processes(tmp_path):
    """From a checkout without machine code: two processes at once, a short run, one afterwards."""
    ignored = shutil.ignore_patterns("objects", "__pycache__", "gallery", "viz")
    package = tmp_path / "src" / "poinsot"
    shutil.copytree(PACKAGE, package, ignore=ignored)
    (package / "engine" / "objects").write_text("no folder")
    (package / "engine" / "compiler.py").write_text(COMPILER.format(folder=str(tmp_path)))
    (tmp_path / "code").write_bytes(machine_code.find("plain"))
    cache = tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "POINSOT_CACHE": str(cache)}

    def start(engine):
        return subprocess.Popen(
            [sys.executable, "-c", RUN, engine],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    both = [start("compiled") for _ in range(2)]
    # A short run meanwhile does not wait.
    quick, said = start("auto").communicate(timeout=60)
    assert quick.startswith("reference"), said
    assert all(process.poll() is None for process in both)
    (tmp_path / "go on").touch()
    found = [process.communicate(timeout=60) for process in both]
    assert [out.split()[0] for out, _ in found] == ["compiled", "compiled"], found
    assert found[0][0] == found[1][0]
    assert any("building the compiled engine" in said for _, said in found)
    assert (tmp_path / "calls").read_text().split() == ["plain"]
    assert sorted(file.suffix for file in cache.iterdir()) == [".o"]
    again, said = start("compiled").communicate(timeout=60)
    assert (again, said) == (found[0][0], "")


def test_a_build_that_was_given_up_keeps_nobody_waiting(tmp_path):
    log = tmp_path / "plain.log"
    log.write_text("kernel\n")
    build._wait(log)
    assert log.exists()
    long_ago = time.time() - 2 * build.ABANDONED
    os.utime(log, (long_ago, long_ago))
    build._wait(log)
    assert not log.exists()


def test_a_build_that_fails_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ORDER", ("no such form",))
    with pytest.raises(BuildError, match=r"cannot be built here: .*no such form"):
        build.Build(tmp_path).wait()


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """Neither package nor cache can be written; returns the folder for temporary files."""
    file, temporary = tmp_path / "file", tmp_path / "tmp"
    file.write_text("")
    temporary.mkdir(mode=0o700)
    monkeypatch.setattr(machine_code, "beside_the_package", lambda: file / "objects")
    monkeypatch.setenv(machine_code.CACHE, str(file))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def test_without_a_place_to_keep_it_code_goes_to_the_users_own_temporary_folder(nowhere):
    assert list(machine_code.places())[2:] == []  # looking makes no folder
    folder = build._writable(machine_code.places(make=True))
    assert folder == machine_code.among_temporary_files()
    assert folder.parent == nowhere
    assert folder.stat().st_mode & 0o777 == 0o700
    machine_code.write(folder, "plain", b"code")
    assert machine_code.find("plain") == b"code"  # by any later process
    assert build._writable(machine_code.places(make=True)) == folder


def of_anybody(folder, monkeypatch):
    folder.chmod(0o777)


def of_a_group(folder, monkeypatch):
    folder.chmod(0o770)


def a_link(folder, monkeypatch):
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def of_somebody_else(folder, monkeypatch):
    other = folder.stat().st_uid + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    folder.rename(machine_code.among_temporary_files())


def to_be_exchanged(folder, monkeypatch):
    folder.parent.chmod(0o777)


@pytest.mark.skipif(sys.platform == "win32", reason="temporary files are the user's own there")
@pytest.mark.parametrize(
    "change", [of_anybody, of_a_group, a_link, of_somebody_else, to_be_exchanged]
)
def test_code_that_another_user_may_have_put_there_is_not_run(nowhere, monkeypatch, change):
    folder = build._writable(machine_code.places(make=True))
    machine_code.write(folder, "plain", b"code")
    change(folder, monkeypatch)
    assert machine_code.find("plain") is None
    assert build._writable(machine_code.places(make=True)) != machine_code.among_temporary_files()


def test_where_nothing_at_all_can_be_written_builds_fail_and_look_ups_do_not(nowhere, monkeypatch):
    def none():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(machine_code, "gettempdir", none)
    assert machine_code.find("plain") is None
    assert len(list(machine_code.places(make=True))) == 2


def child(code, monkeypatch):
    """Let builds be processes that run this code."""
    monkeypatch.setattr(build, "command", lambda module: (sys.executable, "-c", code))


def test_a_full_disk_is_told_and_the_reference_engine_runs(tmp_path, monkeypatch):
    child("import errno, os; raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))", monkeypatch)
    monkeypatch.setattr(machine_code, "_LOADED", {})
    monkeypatch.setattr(machine_code, "find", lambda form: None)
    monkeypatch.setattr(machine_code, "beside_the_package", lambda: tmp_path)
    monkeypatch.setattr(build, "DURATION", 0.0)
    model = ps.Model()
    model.add_body("ball", ps.Sphere(mass=1, radius=1), velocity=(1, 0, 0))
    build.in_background.cache_clear()
    with pytest.raises(BuildError, match="No space left on device; use engine='reference'"):
        ps.simulate(model, h=0.1, t_end=0.2, engine="compiled")
    build.in_background.cache_clear()
    with pytest.warns(UserWarning, match="No space left on device"):
        result = ps.simulate(model, h=0.1, t_end=0.2)
    build.in_background.cache_clear()
    assert (result.engine, result.status) == ("reference", "done")
    assert os.listdir(tmp_path) == []


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, which a job in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


FOR_LONG = (
    "import time; from poinsot.engine import build; "
    "build._make = lambda *_: time.sleep(100); build.main()"
)


def test_an_interrupt_ends_a_build_and_the_next_need_not_wait_for_it(
    tmp_path, monkeypatch, interruptible
):
    child(FOR_LONG, monkeypatch)
    begun = build.Build(tmp_path)

    def interrupt(done):
        if begun.log.exists():  # the process works: others would wait for it
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(build, "_shown", lambda: nullcontext(interrupt))
    with pytest.raises(KeyboardInterrupt):
        build.finish(begun)
    assert begun.process.wait(timeout=10) != 0
    assert not begun.log.exists()


def test_an_interrupt_while_a_build_begins_ends_it_too(tmp_path, monkeypatch, interruptible):
    child(FOR_LONG, monkeypatch)
    begun, start = [], subprocess.Popen

    def starts(*arguments, **options):
        begun.append(start(*arguments, **options))
        signal.raise_signal(signal.SIGINT)
        return begun[0]

    monkeypatch.setattr(subprocess, "Popen", starts)
    with pytest.raises(KeyboardInterrupt):
        build.Build(tmp_path)
    with begun[0]:
        assert begun[0].wait(timeout=10) != 0


FULL = """
import mmap
from poinsot.engine import machine_code

holes = [mmap.mmap(-1, 2**18) for _ in range(60)]
large = mmap.mmap(-1, 3 * 2**30)  # nobody writes to it
for hole in holes[::2]:
    hole.close()
machine_code.function("plain")
"""


@pytest.mark.skipif(sys.maxsize < 2**32, reason="there are no 3 GB to take")
def test_code_is_loaded_into_a_process_with_large_arrays():
    """Pieces of code that lie gigabytes apart do not reach each other: LLVM ended the process."""
    subprocess.run([sys.executable, "-c", FULL], check=True)
