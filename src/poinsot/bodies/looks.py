"""What is drawn of a body instead of its shape: solids and meshes without mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from poinsot.bodies.meshes import Triangles
from poinsot.errors import InputError
from poinsot.inputs import number, vector3
from poinsot.so3 import Rotation, RotationLike, as_rotation_matrix

#: Kinds of looks and how many sizes they have.
KINDS = {"box": 3, "cylinder": 2, "ellipsoid": 3, "mesh": 0}


@dataclass(frozen=True, eq=False, kw_only=True)
class Look:
    """A solid or mesh that is drawn for a body and has no mass.

    Parameters
    ----------
    kind : {"box", "cylinder", "ellipsoid", "mesh"}
        Kind of solid.
    sizes : sequence of float
        Edge lengths of a box; radius and length of a cylinder along z; semi-axes of an ellipsoid
        [m]. Empty for a mesh.
    mesh : Triangles
        The mesh, if `kind` is `"mesh"`.
    position : (3,)
        Position relative to the centre of mass, in body axes [m].
    rotation
        Rotation relative to the body axes: 3x3 matrix, scalar-first quaternion, or `Rotation`.
    colour : str
        `"#rrggbb"`. Default: the colour of the body.
    opacity : float
        From 0 (invisible) to 1 (opaque).
    """

    kind: str
    sizes: Sequence[float] = ()
    mesh: Triangles | None = None
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: RotationLike = None
    colour: str | None = None
    opacity: float = 1.0

    def __post_init__(self) -> None:
        """Check all parameters."""
        if self.kind not in KINDS:
            raise InputError(f"Look: kind is {self.kind!r}; known: {', '.join(KINDS)}")
        what = f"Look: {self.kind}"
        sizes = tuple(number(size, f"{what}: sizes", minimum=0.0) for size in self.sizes)
        if len(sizes) != KINDS[self.kind]:
            raise InputError(f"{what}: {KINDS[self.kind]} sizes are needed, got {len(sizes)}")
        if (self.kind == "mesh") is (self.mesh is None):
            raise InputError(f"{what}: give `mesh` if, and only if, the kind is 'mesh'")
        if not 0 <= number(self.opacity, f"{what}: opacity") <= 1:
            raise InputError(f"{what}: opacity is {self.opacity!r}; it must be from 0 to 1")
        if self.colour is not None and not _is_colour(self.colour):
            raise InputError(f"{what}: colour is {self.colour!r}; write it as '#rrggbb'")
        R = as_rotation_matrix(self.rotation, name=f"{what}: rotation")
        self._set("sizes", sizes)
        self._set("position", vector3(self.position, f"{what}: position"))
        self._set("rotation", Rotation(R))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _is_colour(text: object) -> bool:
    digits = "0123456789abcdefABCDEF"
    return isinstance(text, str) and text[:1] == "#" and len(text) == 7 and {*text[1:]} <= {*digits}
