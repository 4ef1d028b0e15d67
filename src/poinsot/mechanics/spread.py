"""Blocks of bodies along the diagonal of a matrix."""

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanics.twists import block_diagonal
from poinsot.ph.matrices import Matrix, large


def spread(blocks: NDArray[np.float64]) -> Matrix:
    """Return a matrix with the blocks (bodies, rows, columns) along its diagonal."""
    count, rows, columns = blocks.shape
    if count == 1:
        return np.asarray(blocks[0])
    if large(count * max(rows, columns)):
        return block_diagonal(blocks)
    total = np.zeros((count, rows, count, columns))
    total[np.arange(count), :, np.arange(count)] = blocks
    return total.reshape(count * rows, count * columns)
