"""Puts the machine code of the compiled engine into wheels, which are for one platform then."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EngineHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the engine with the Numba of the build; a wheel without it builds it when needed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, and add the object files to the wheel."""
        if self.target_name != "wheel" or version == "editable":
            return
        folder = Path(mkdtemp())
        path = os.pathsep.join([str(Path(self.root, "src")), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-m", "poinsot.engine.build", "--to", str(folder)],
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
        objects = sorted(folder.glob("*.o"))
        if done.returncode or not objects:
            self.app.display_warning("the compiled engine is not part of this wheel")
            return
        build_data["force_include"] |= {
            str(file): f"poinsot/engine/objects/{file.name}" for file in objects
        }
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    """Return the platform as wheels call it."""
    from packaging.tags import sys_tags

    return next(tag.platform for tag in sys_tags() if "manylinux" not in tag.platform)
