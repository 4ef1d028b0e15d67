"""Common parts of writing URDF and MJCF: numbers, names, places, meshes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.meshes import Triangles
from poinsot.robots.description import Array

#: Keeps a mesh in a file; returns what the file of the robot calls it.
Store: TypeAlias = Callable[[str, Triangles], str]


def words(values: ArrayLike) -> str:
    """Return numbers that are read again to the bit."""
    return " ".join(repr(float(value) + 0.0) for value in np.ravel(values))


def add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    """Add an element; attributes that are None are left out, a class is `class_`."""
    given = {key.rstrip("_"): value for key, value in attributes.items() if value is not None}
    texts = {key: value if isinstance(value, str) else words(value) for key, value in given.items()}  # type: ignore[arg-type]
    return ElementTree.SubElement(parent, tag, texts)


def text_of(root: ElementTree.Element) -> str:
    """Return the text of a file."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def relative(parent: tuple[Array, Array], position: Array, rotation: Array) -> tuple[Array, Array]:
    """Return place and rotation of a frame as seen from another one."""
    p, R = parent
    return R.T @ (position - p), R.T @ rotation


def rgba(colour: str | None, opacity: float) -> Sequence[float] | None:
    """Return a colour as four numbers; None: it has none of its own."""
    if colour is None:
        return None if opacity == 1 else (0.5, 0.5, 0.5, opacity)
    return (*(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)), opacity)


def mesh_store(path: Path) -> Store:
    """Return what writes meshes next to a file, and says how that calls them."""
    folder = path.with_name(f"{path.stem}_meshes")

    def store(name: str, mesh: Triangles) -> str:
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
        write_stl(folder / f"{plain}.stl", mesh)
        return f"{folder.name}/{plain}.stl"

    return store


def write_stl(path: Path, mesh: Triangles) -> None:
    """Write a mesh as a binary STL file."""
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals /= np.where(lengths > 0, lengths, 1.0)
    facet = np.dtype([("numbers", "<f4", (4, 3)), ("attribute", "<u2")])
    facets = np.zeros(len(corners), dtype=facet)
    facets["numbers"][:, 0], facets["numbers"][:, 1:] = normals, corners
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\0" * 80 + np.uint32(len(corners)).tobytes() + facets.tobytes())
