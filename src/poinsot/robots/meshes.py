"""Mesh files of a robot (STL, OBJ, glTF and others), loaded by trimesh."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.bodies.meshes import Triangles, load_mesh
from poinsot.errors import InputError, RobotFileError

#: So far up from a robot's file the folder of a package is looked for.
LEVELS = 8


class MeshFiles:
    """The meshes of one robot: found next to it, or in packages by name; never on a network."""

    def __init__(self, file: Path, packages: Mapping[str, str | Path]) -> None:
        self.file = file
        self.packages = {name: Path(folder) for name, folder in packages.items()}
        self.loaded: dict[Path, tuple[Triangles, str | None]] = {}

    def load(self, name: str, scale: Any, element: str) -> tuple[Triangles, str | None]:
        """Return a mesh, and its own colour if it has one."""
        path = self.find(name, element)
        if path not in self.loaded:
            try:
                self.loaded[path] = load_mesh(path)
            except InputError as error:
                raise self.refuse(element, f"has a {error}") from None
        mesh, colour = self.loaded[path]
        factor = np.ones(3) if scale is None else np.asarray(scale, dtype=float)
        return Triangles(mesh.vertices * factor, mesh.faces), colour

    def find(self, name: str, element: str) -> Path:
        """Return the path of a mesh by the name that stands in the robot's file."""
        scheme, separator, rest = name.partition("://")
        if not separator:
            return self.require(self.file.parent / name, name, element)
        if scheme == "file":
            return self.require(Path(rest), name, element)
        if scheme not in ("package", "model"):
            raise self.refuse(
                element, f"refers to the mesh '{name}' on a network; download it and use its path"
            )
        package, _, within = rest.partition("/")
        if package in self.packages:
            return self.require(self.packages[package] / within, name, element)
        folder = self.file.resolve().parent
        for above in (folder, *folder.parents)[:LEVELS]:
            for place in (above / package / within, above / within):
                if (above.name == package or place.parts[len(above.parts)] == package) and (
                    place.is_file()
                ):
                    return place
        raise self.refuse(
            element,
            f"refers to the mesh '{name}', and no folder '{package}' above the file contains it; "
            f"give the folder by packages={{'{package}': folder}}, or leave out all meshes by "
            "looks=False",
        )

    def require(self, path: Path, name: str, element: str) -> Path:
        """Return a path if there is a file."""
        if not path.is_file():
            raise self.refuse(
                element,
                f"refers to the mesh '{name}', but there is no file '{path}'; add it, or leave "
                "out all meshes by looks=False",
            )
        return path

    def refuse(self, element: str, problem: str) -> RobotFileError:
        """Return the error of an element."""
        return RobotFileError(str(self.file), element, problem)
