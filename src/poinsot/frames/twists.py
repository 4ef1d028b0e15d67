"""Velocities of rigid bodies as twists: six numbers a body instead of twelve.

A body that moves with velocity v and angular velocity omega (world axes) has the director
velocities omega x d_i; rigidity is then satisfied by itself, and only the joints are left to ask.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.frames.places import WIDTH, frame_vectors
from poinsot.frames.stacks import Forms
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse, large
from poinsot.so3 import exp, skew


def velocities(q: Vector, twists: Vector) -> Vector:
    """Return (v, omega x d_i) of every body; shape (12 bodies,)."""
    blocks, t = frame_vectors(q), twists.reshape(-1, 2, 3)
    v = np.empty_like(blocks)
    v[:, 0] = t[:, 0]
    v[:, 1:] = np.cross(t[:, 1:2], blocks[:, 1:])
    return v.reshape(-1)


def joint_matrix(forms: Forms, q: Vector) -> Matrix:
    """Return the derivative of G(q) v with respect to the twists, sparse if G is; (m, 6 bodies)."""
    G, blocks = forms.G(q), frame_vectors(q)
    if is_sparse(G):
        return sp.csr_array(G @ block_diagonal(velocity_blocks(blocks)))
    gradients = dense(G).reshape(forms.m, forms.bodies, 4, 3)
    result = np.empty((forms.m, forms.bodies, 2, 3))
    result[:, :, 0] = gradients[:, :, 0]
    # g_i·(omega x d_i) = omega·(d_i x g_i)
    result[:, :, 1] = np.cross(blocks[None, :, 1:], gradients[:, :, 1:]).sum(axis=2)
    return result.reshape(forms.m, 6 * forms.bodies)


def velocity_blocks(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P of every body with v = P t, which is `velocities` as matrices; (bodies, 12, 6)."""
    bodies = blocks.shape[0]
    tiles = np.zeros((bodies, 4, 3, 2, 3))
    tiles[:, 0, :, 0] = np.eye(3)
    tiles[:, 1:, :, 1] = -skew(blocks[:, 1:])  # omega x d = -d x omega
    return tiles.reshape(bodies, WIDTH, 6)


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


def block_diagonal(blocks: NDArray[np.float64]) -> sp.csr_array:
    """Return a sparse matrix with blocks (bodies, rows, columns) along its diagonal."""
    places = np.arange(blocks.shape[0] + 1)
    matrix = sp.csr_array(sp.bsr_array((blocks, places[:-1], places)))
    matrix.eliminate_zeros()
    return matrix


def move(q: Vector, twists: Vector) -> Vector:
    """Return the configuration after unit time at these twists, every body turned rigidly."""
    blocks = frame_vectors(q).copy()
    t = twists.reshape(-1, 2, 3)
    blocks[:, 0] += t[:, 0]
    # Directors are rows here: d_i -> R d_i.
    blocks[:, 1:] = np.einsum("bij,bkj->bki", exp(t[:, 1]), blocks[:, 1:])
    return blocks.reshape(-1)


def assemble_position(
    forms: Forms, q: Vector, tolerance: float, iterations: int = 50
) -> Vector | None:
    """Return a configuration near q that satisfies the joints (Gauss-Newton); None if not found."""
    for _ in range(iterations):
        g = forms(q)
        if np.max(abs(g), initial=0.0) <= tolerance:
            return q
        change = shortest_solution(joint_matrix(forms, q), -g, width=6)
        limit = np.max(abs(change), initial=0.0)
        q = move(q, np.asarray(change * min(1.0, 0.5 / limit)) if limit else change)
    return None


def coordinates(positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Vector:
    """Return q of bodies at positions (bodies, 3) with directors in the columns (bodies, 3, 3)."""
    q = np.empty((positions.shape[0], WIDTH))
    q[:, :3] = positions
    q[:, 3:] = np.swapaxes(rotations, 1, 2).reshape(-1, 9)
    return q.reshape(-1)
