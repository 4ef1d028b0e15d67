"""Where the bodies of a mechanism are, at a number of times that a picture can show."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Array, Result
from poinsot.result.scene import Point
from poinsot.so3 import matrix_to_quat

#: More frames than this add nothing to a film, and more bodies times frames take too long to load.
FRAMES = 1500
POSES = 200_000
GROUND = -1


@dataclass(frozen=True, eq=False)
class Frames:
    """Positions (frames, bodies, 3) [m] and rotations (frames, bodies, 3, 3), world axes.

    `chosen` indexes the saved times of the result.
    """

    bodies: tuple[str, ...]
    chosen: NDArray[np.intp]
    time: Array
    position: Array
    rotation: Array

    @classmethod
    def of(cls, result: Result, bodies: Sequence[str], limit: int | None = None) -> "Frames":
        """Return frames of a few bodies, evenly chosen among the saved times, first and last."""
        limit = limit or max(2, min(FRAMES, POSES // max(1, len(bodies))))
        count = min(limit, result.time.size)
        chosen = np.unique(np.linspace(0, result.time.size - 1, count).round().astype(np.intp))
        records = [result.body(name) for name in bodies]
        shape = (chosen.size, len(bodies), 3)
        return cls(
            tuple(bodies),
            chosen,
            result.time[chosen],
            np.stack([r.position[chosen] for r in records], 1) if records else np.zeros(shape),
            np.stack([r.rotation[chosen] for r in records], 1)
            if records
            else np.zeros((*shape, 3)),
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.bodies)}

    def index(self, body: str) -> int:
        """Return the place of a body; the ground is -1."""
        return GROUND if body == "ground" else self._places[body]

    def path(self, point: Point) -> Array:
        """Return where a point of a body is; (frames, 3)."""
        k = self.index(point.body)
        if k == GROUND:
            return np.tile(point.position, (self.time.size, 1))
        return np.asarray(self.position[:, k] + self.rotation[:, k] @ np.array(point.position))

    @property
    def first(self) -> "Frames":
        """The first frame alone."""
        one = slice(0, 1)
        parts = (self.chosen[one], self.time[one], self.position[one], self.rotation[one])
        return Frames(self.bodies, *parts)

    @property
    def quat(self) -> Array:
        """Scalar-first quaternions without jumps of sign from frame to frame; (..., bodies, 4)."""
        quat = matrix_to_quat(self.rotation)
        jumps = np.where(np.sum(quat[1:] * quat[:-1], axis=-1) < 0, -1.0, 1.0)
        quat[1:] *= np.cumprod(jumps, axis=0)[..., None]
        return quat
