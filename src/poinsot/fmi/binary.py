"""The binary of FMUs, compiled from `bridge.c` for any platform by the Zig compiler."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from platform import machine
from tempfile import TemporaryDirectory

from poinsot.engine.machine_code import of_the_user
from poinsot.errors import BuildError, InputError, MissingExtraError, did_you_mean

SOURCE = "bridge.c"
CACHES = "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"
OPTIONS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-s")


@dataclass(frozen=True)
class Platform:
    """A platform: its name in FMI 3.0 and 2.0 (None: it has none), Zig's, and that of its files."""

    name: str
    old_name: str | None
    target: str
    suffix: str


#: The oldest glibc that Zig's headers and most systems in use have.
PLATFORMS = {
    each.name: each
    for each in (
        Platform("x86_64-linux", "linux64", "x86_64-linux-gnu.2.17", ".so"),
        Platform("aarch64-linux", None, "aarch64-linux-gnu.2.17", ".so"),
        Platform("x86_64-windows", "win64", "x86_64-windows-gnu", ".dll"),
        Platform("x86_64-darwin", "darwin64", "x86_64-macos", ".dylib"),
        Platform("aarch64-darwin", None, "aarch64-macos", ".dylib"),
    )
}


def own_platform() -> str:
    """Return the name of this platform in FMI 3.0."""
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    processor = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine().lower(), machine().lower())
    return f"{processor}-{system}"


def find_platforms(names: Sequence[str] | None, version: int) -> list[Platform]:
    """Return platforms by name, by default this one; refuse those that a version has not."""
    found = []
    for name in names or [own_platform()]:
        if name not in PLATFORMS:
            raise InputError(
                f"no platform '{name}' for FMUs exists; {did_you_mean(name, PLATFORMS)}"
            )
        if version == 2 and PLATFORMS[name].old_name is None:
            raise InputError(f"FMI 2.0 does not support the platform '{name}'; use version 3")
        found.append(PLATFORMS[name])
    return found


def source() -> str:
    """Return the source of the binary."""
    return (files("poinsot.fmi") / SOURCE).read_text(encoding="utf-8")


def binary(platform: Platform) -> bytes:
    """Return the binary for a platform, translated now or before."""
    text = source()
    key = sha256("\n".join([text, platform.target, *OPTIONS]).encode()).hexdigest()[:16]
    kept = of_the_user() / f"fmu-{platform.name}-{key}{platform.suffix}"
    try:
        return kept.read_bytes()
    except OSError:
        code = _translated(text, platform)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        hidden = kept.with_name(f"{kept.name}.{os.getpid()}.part")
        hidden.write_bytes(code)
        os.replace(hidden, kept)
    except OSError:  # it is translated again next time
        pass
    return code


def _translated(text: str, platform: Platform) -> bytes:
    if find_spec("ziglang") is None:
        raise MissingExtraError(
            "building the binary of an FMU needs the Zig compiler: pip install 'poinsot[fmi]'"
        )
    with TemporaryDirectory(prefix="poinsot-fmu-") as folder:
        place, made = Path(folder, SOURCE), Path(folder, f"fmu{platform.suffix}")
        place.write_text(text, encoding="utf-8")
        # Nothing is left of what Zig keeps: it has translated for this platform for good.
        kept = {name: str(Path(folder, "zig")) for name in CACHES}
        done = subprocess.run(
            [
                *(sys.executable, "-m", "ziglang", "cc", "-target", platform.target),
                *(*OPTIONS, "-o", str(made), str(place)),
            ],
            cwd=folder,
            env={**os.environ, **kept},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not made.exists():
            said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0]
            raise BuildError(f"the binary of FMUs for {platform.name} cannot be built: {said}")
        return made.read_bytes()
