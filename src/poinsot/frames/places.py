"""Indices of the numbers of frames: phi, d1, d2, d3 of each frame in turn."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Placed, Vector

Array = NDArray[np.float64]

#: Numbers of a frame.
WIDTH = 12
#: Those of a frame at the origin, its directors along the axes of the world.
AT_REST: Array = np.vstack([np.zeros(3), np.eye(3)]).reshape(-1)


def frame_vectors(f: Array) -> Array:
    """Return phi, d1, d2, d3 of every frame; (..., numbers) to (..., frames, 4, 3)."""
    return f.reshape(*f.shape[:-1], f.shape[-1] // WIDTH, 4, 3)


def of_frame(f: Array, k: int) -> Array:
    """Return the numbers of one frame; (..., numbers) to (..., 12)."""
    return f[..., WIDTH * k : WIDTH * (k + 1)]


def local(f: Vector, frames: Sequence[int] | NDArray[np.intp]) -> Vector:
    """Return the numbers of a few frames, one after the other."""
    return f.reshape(-1, WIDTH)[list(frames)].reshape(-1)


def scatter(total: Vector, frames: Iterable[int], values: Vector) -> None:
    """Add the values of a few frames to the vector of all."""
    for k, frame in enumerate(frames):
        of_frame(total, frame)[:] += of_frame(values, k)


def in_rows(frames: Iterable[int], column: int, M: Array) -> Iterator[Placed]:
    """Return a matrix whose rows are those of a few frames as blocks in the rows of all."""
    for k, frame in enumerate(frames):
        yield WIDTH * frame, column, M[WIDTH * k : WIDTH * (k + 1)]


def in_columns(row: int, frames: Iterable[int], M: Array) -> Iterator[Placed]:
    """Return a matrix whose columns are those of a few frames as blocks in the columns of all."""
    for k, frame in enumerate(frames):
        yield row, WIDTH * frame, of_frame(M, k)


def in_both(frames: Sequence[int], M: Array) -> Iterator[Placed]:
    """Return a matrix whose rows and columns are those of a few frames as blocks of all."""
    for k, frame in enumerate(frames):
        yield from in_columns(WIDTH * frame, frames, M[WIDTH * k : WIDTH * (k + 1)])


def slopes(turning: Array, moves: float = 1.0) -> Array:
    """Return what numbers of frames change by with a position and with what turns directors.

    `turning` (frames, 9, k, ...) are derivatives of directors; (frames, 12, 3 + k, ...).
    """
    frames, _, k, *others = turning.shape
    total = np.zeros((frames, WIDTH, 3 + k, *others))
    total[:, [0, 1, 2], [0, 1, 2]] = moves
    total[:, 3:, 3:] = turning
    return total
