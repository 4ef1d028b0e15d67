"""The kernels as machine code: where it is kept, whether it fits, and how it is loaded.

Object files are made by `build`, one for each form of the equations, and loaded by LLVM without a
compiler or a linker; they know neither Python's version nor Numba's. A file says what it was made
of and for: one of another source, another processor, or one that was damaged is not taken.
"""

import ctypes
import hashlib
import json
import os
import platform
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.calls import pack

#: Forms of the equations, each a kernel of its own; and the fields of a machine that it lacks. The
#: last ones take steps of the others backwards, see `engine.backward`.
FORMS: Mapping[str, tuple[str, ...]] = {
    "plain": ("stabilised", "spins"),
    "stabilised": ("spins",),
    "quaternions": ("stabilised",),
    "backward": ("stabilised", "spins"),
    "stabilised_backward": ("spins",),
    "quaternions_backward": ("stabilised",),
}

#: What the name of a form ends in, if it is for many runs side by side.
SIDE_BY_SIDE = "_runs"

#: Packages whose files machine code is made of; and what marks a kernel there.
KERNEL_PACKAGES = ("kernels", "bodies", "parts", "engine")
MARK = re.compile(rb"^@(kernel|inline|arithmetic)$", re.MULTILINE)

V2 = frozenset({"popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"})
#: Levels of x86-64 processors, the best first, and what each must be able to do.
LEVELS: Mapping[str, frozenset[str]] = {
    "x86-64-v3": V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"},
    "x86-64-v2": V2,
    "x86-64": frozenset(),
}

#: Environment variable: where machine code is kept that has no place beside the package.
CACHE = "POINSOT_CACHE"


class DamagedObjectError(Exception):
    """An object file is not what it should be."""


# -- what fits -------------------------------------------------------------------------------------


@cache
def source() -> str:
    """Return the hash of everything that machine code is made of: files with kernels, the engine's.

    Kernels are found by their mark, in the text.
    """
    root, total = Path(__file__).parents[1], hashlib.sha256()
    for package in KERNEL_PACKAGES:
        for file in sorted((root / package).glob("*.py")):
            text = file.read_bytes()
            if package in ("kernels", "engine") or MARK.search(text):
                content = hashlib.sha256(text).hexdigest()
                total.update(f"{package}/{file.name} {content}\n".encode())
    return total.hexdigest()


@cache
def abilities() -> frozenset[str]:
    """Return what this processor is able to do, by the names of `LEVELS`; of others, nothing."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return frozenset()
    import llvmlite.binding as llvm

    return frozenset(name for name, there in llvm.get_host_cpu_features().items() if there)


@cache
def processor() -> str:
    """Return the level of this processor that code is made for: one of a family, not this one."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "generic"
    return next(level for level, needed in LEVELS.items() if needed <= abilities())


def name_of(form: str) -> str:
    """Return the name of the object file of a form, for this machine and this source."""
    machine = f"{sys.platform}-{platform.machine().lower()}"
    return f"{form}-{machine}-{processor()}{_ending()}"


def _ending() -> str:
    return f"-{source()[:16]}.o"


# -- files -----------------------------------------------------------------------------------------


def beside_the_package() -> Path:
    """Return the folder that wheels bring and source checkouts build."""
    return Path(__file__).parent / "objects"


def of_the_user() -> Path:
    """Return the folder for machine code where the package's own cannot be written."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:  # nobody's: there is no such folder, and none can be made
        home = Path(os.devnull)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "poinsot"


def among_temporary_files() -> Path:
    """Return the user's own folder among temporary files, for who can write nowhere else."""
    base = Path(gettempdir())
    return base / ("poinsot" if sys.platform == "win32" else f"poinsot-{os.getuid()}")


def places(*, make: bool = False) -> Iterator[Path]:
    """Return the folders that may hold machine code, the best first.

    The last one, among temporary files, is made if there is none, when it is asked for; it is
    left out if anybody else could have put files there.
    """
    yield beside_the_package()
    yield of_the_user()
    with suppress(OSError):  # there may be no place for temporary files
        folder = among_temporary_files()
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        if _is_private(folder):
            yield folder


def _is_private(folder: Path) -> bool:
    """Tell whether this is a folder, no link, that only this user can write or exchange."""
    if sys.platform == "win32":
        return folder.is_dir()  # temporary files are the user's own
    others, own, around = stat.S_IWGRP | stat.S_IWOTH, folder.lstat(), folder.parent.stat()
    mine = stat.S_ISDIR(own.st_mode) and own.st_uid == os.getuid() and not own.st_mode & others
    return mine and bool(around.st_mode & stat.S_ISVTX or not around.st_mode & others)


def write(folder: Path, form: str, code: bytes) -> None:
    """Keep the machine code of a form; whoever reads meanwhile sees all of it or nothing.

    Beside the package that of another source is of no more use.
    """
    header = {"form": form, "source": source(), "processor": processor(), "hash": _hash(code)}
    path = folder / name_of(form)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(json.dumps(header).encode() + b"\n" + code)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    if folder == beside_the_package():
        for other in folder.glob(f"{path.name.removesuffix(_ending())}*"):
            if other != path:
                other.unlink(missing_ok=True)


def read(path: Path) -> bytes:
    """Return the machine code of an object file, or say that it is damaged."""
    try:
        header, _, code = path.read_bytes().partition(b"\n")
        known = json.loads(header)
        of = path.name.partition("-")[0], source(), _hash(code)
        if (known["form"], known["source"], known["hash"]) == of:
            return code
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedObjectError(f"'{path}': {error}") from None
    raise DamagedObjectError(f"'{path}': its content is not what it was made with")


def _hash(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()


def find(form: str) -> bytes | None:
    """Return the machine code of a form that fits this machine, if there is any."""
    for path in _candidates(form):
        try:
            return read(path)
        except DamagedObjectError:
            continue
    return None


def _candidates(form: str) -> Iterator[Path]:
    for folder in places():
        path = folder / name_of(form)
        try:
            if path.is_file():
                yield path
        except OSError:  # a folder that may not be looked into
            continue


# -- loading ---------------------------------------------------------------------------------------


class Kernel:
    """The function of an object file; other threads go on while it runs."""

    def __init__(self, library: Any, function: Any) -> None:
        self._library, self._function = library, function  # the one owns the memory of the other
        # Where Numba's convention puts the value returned and an exception; there is neither.
        self._room = (ctypes.c_int64 * 2)()
        self._returned = ctypes.byref(self._room, 0), ctypes.byref(self._room, 8)

    def __call__(self, job: Any) -> tuple[int, int]:
        """Run a `Job` or a `Sweep`; return how many steps were taken, and how many rows saved."""
        return self.at(pack(job))

    def at(self, words: NDArray[np.int64]) -> tuple[int, int]:
        """Run the job of a list of words, see `calls.pack`."""
        self._function(*self._returned, words.ctypes.data)
        return int(words[0]), int(words[1])


def link(code: bytes, name: str) -> tuple[Any, int]:
    """Return what owns the memory of an object file's functions, and the address of one of them."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # JITLink puts all of it in one block: sections that are more than 2 GB apart cannot reach each
    # other. Of the formats of objects it knows that of Windows least.
    compiler = llvm.create_lljit_compiler(use_jit_link=sys.platform != "win32")
    library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(name)
    linked = library.add_current_process().link(compiler, "poinsot")
    return linked, linked[name]


def load(code: bytes) -> Kernel:
    """Return the function of an object file."""
    library, address = link(code, ENTRY)
    signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    return Kernel(library, signature(address))


#: Kernels that are in memory, by form.
_LOADED: dict[str, Kernel] = {}


def loaded(form: str) -> Kernel | None:
    """Return the kernel of a form, if there is machine code that fits; read once a process."""
    if form not in _LOADED:
        code = find(form)
        if code is None:
            return None
        _LOADED[form] = load(code)
    return _LOADED[form]


def function(form: str) -> Kernel:
    """Return the kernel of a form, built first if there is none that fits."""
    kernel = loaded(form)
    if kernel is None:
        from poinsot.engine.build import finish, in_background

        build = in_background()
        finish(build)
        kernel = _LOADED[form] = load(read(build.folder / name_of(form)))
    return kernel


def code(form: str) -> bytes:
    """Return what is kept of a form, built first if there is nothing that fits."""
    kept = find(form)
    if kept is None:
        from poinsot.engine.build import Build, finish

        build = Build(forms=(form,))
        finish(build)
        kept = read(build.folder / name_of(form))
    return kept


#: The name of the function in an object file.
ENTRY = "poinsot_run"
