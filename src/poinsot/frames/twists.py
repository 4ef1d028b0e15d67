"""Velocities of rigid bodies as twists: six numbers per body instead of twelve.

A body with velocity v and angular velocity omega (world axes) has the director velocities
omega x d_i, which satisfy rigidity; only the equations of joints remain.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.frames.places import WIDTH, frame_vectors
from poinsot.frames.stacks import Forms
from poinsot.ph.dependence import row_lengths
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse, large
from poinsot.so3 import exp, skew

#: Part of the length of a mechanism by which a joint that is closed may be open.
CLOSED = 1e-11
#: What the distance from the origin adds to the size of a body that gaps are measured by.
FAR = 1e-4
EPS = float(np.finfo(float).eps)


def velocities(q: Vector, twists: Vector) -> Vector:
    """Return (v, omega x d_i) of every body; shape (12 bodies,)."""
    blocks, t = frame_vectors(q), twists.reshape(-1, 2, 3)
    v = np.empty_like(blocks)
    v[:, 0] = t[:, 0]
    v[:, 1:] = np.cross(t[:, 1:2], blocks[:, 1:])
    return v.reshape(-1)


def twists_from(q: Vector, rates: Vector) -> Vector:
    """Return (v, omega) of every body from the rates of its frame: omega = sum d_i x d_i' / 2."""
    blocks, v = frame_vectors(q), frame_vectors(rates)
    omega = np.cross(blocks[:, 1:], v[:, 1:]).sum(axis=1) / 2
    return np.hstack([v[:, 0], omega]).reshape(-1)


def joint_matrix(forms: Forms, q: Vector) -> Matrix:
    """Return the derivative of G(q) v with respect to the twists, sparse if G is; (m, 6 bodies)."""
    return of_twists(forms.G(q), q)


def of_twists(G: Matrix, q: Vector) -> Matrix:
    """Return rows G on velocities of frames as rows on twists, sparse if G is; (m, 6 bodies)."""
    blocks = frame_vectors(q)
    if is_sparse(G):
        return sp.csr_array(G @ block_diagonal(velocity_blocks(blocks)))
    gradients = dense(G).reshape(G.shape[0], *blocks.shape)
    result = np.empty((len(gradients), len(blocks), 2, 3))
    result[:, :, 0] = gradients[:, :, 0]
    # g_i·(omega x d_i) = omega·(d_i x g_i)
    result[:, :, 1] = np.cross(blocks[None, :, 1:], gradients[:, :, 1:]).sum(axis=2)
    return result.reshape(len(gradients), 6 * len(blocks))


def lever_arms(J: Matrix) -> Vector:
    """Return the longest lever arm [m] of each body in the rows of a joint matrix; (bodies,).

    A row that asks for the velocity of a point has g·(v + omega x r): |r x g| / |g|.
    """
    moved, turned = squares(J)
    if not is_sparse(moved):
        ratios = np.divide(turned, moved, out=np.zeros(moved.shape), where=moved > 0)
        return np.asarray(np.sqrt(np.max(ratios, axis=0, initial=0.0)))
    moved = sp.coo_array(moved)
    moved.data = 1 / moved.data
    found, arms = sp.coo_array(moved * turned), np.zeros(moved.shape[1])
    np.maximum.at(arms, found.coords[1], np.sqrt(found.data))
    return arms


def squares(J: Matrix) -> tuple[Any, Any]:
    """Return |g|^2 and |r x g|^2 of every row and body, sparse if J is; each (m, bodies)."""
    if not is_sparse(J):
        rows = dense(J).reshape(J.shape[0], J.shape[1] // 6, 2, 3)
        sizes = (rows * rows).sum(axis=3)
        return sizes[:, :, 0], sizes[:, :, 1]
    parts = sp.kron(sp.eye_array(J.shape[1] // 3), np.ones((3, 1)), format="csr")
    both = sp.csr_array((J * J) @ parts)
    return both[:, ::2], both[:, 1::2]


def gap_sizes(forms: Forms, q: Vector, J: Matrix, lengths: Vector) -> Vector:
    """Return what the gaps of joints are measured by, with the size [m] of every body; (m,).

    J is their matrix at q. A point is held as precisely as the smaller one of its bodies is large,
    a distance by itself. Positions far from the origin have more round-off.
    """
    moved, turned = squares(J)
    along, about = (np.sqrt(np.asarray(part.sum(axis=1)).reshape(-1)) for part in (moved, turned))
    rows, bodies = moved.nonzero()
    sizes, smaller = np.where(lengths > 0, lengths, np.inf), np.full(forms.m, np.inf)
    np.minimum.at(smaller, rows, sizes[bodies])
    smaller[~np.isfinite(smaller)] = 0.0
    own = forms.terms.form[forms.terms.a == forms.terms.b]
    smaller[own] = np.maximum(smaller[own], along[own])
    far = float(np.max(np.linalg.norm(frame_vectors(q)[:, 0], axis=1), initial=0.0))
    return np.asarray(np.where(along > 0, along * (smaller + FAR * far), about))


def in_lengths(J: Matrix, lengths: ArrayLike) -> Matrix:
    """Return the joint matrix for velocities that are measured in lengths [m] of one's own.

    What was metres and radians becomes all radians: only then have its rows an angle between them,
    and is a motion short or long. Lengths are one for all bodies, or one for each.
    """
    scale = np.ones((J.shape[1] // 6, 2, 3))
    scale[:, 0] = np.reshape(lengths, (-1, 1))
    if is_sparse(J):
        return sp.csr_array(J @ sp.diags_array(scale.reshape(-1)))
    return dense(J) * scale.reshape(-1)


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


def move(q: Vector, twists: Vector, length: float = 1.0) -> Vector:
    """Return the configuration after unit time at these twists, every body turned rigidly.

    Velocities are measured in a length [m], see `in_lengths`.
    """
    blocks = frame_vectors(q).copy()
    t = twists.reshape(-1, 2, 3)
    blocks[:, 0] += length * t[:, 0]
    # Directors are rows here: d_i -> R d_i.
    blocks[:, 1:] = np.einsum("bij,bkj->bki", exp(t[:, 1]), blocks[:, 1:])
    return blocks.reshape(-1)


def assemble_position(
    forms: Forms, q: Vector, length: float, iterations: int = 50
) -> Vector | None:
    """Return a configuration near q that satisfies the joints (Gauss-Newton); None if not found.

    Gaps are measured by the length [m] of the mechanism. Far from the origin round-off is larger.
    """
    tolerance = CLOSED + 8 * EPS * float(np.max(abs(frame_vectors(q)[:, 0]), initial=0.0)) / length
    for _ in range(iterations):
        g, J = forms(q), in_lengths(joint_matrix(forms, q), length)
        if np.all(abs(g) <= tolerance * row_lengths(J)):
            return q
        change = shortest_solution(J, -g, width=6)
        limit = np.max(abs(change), initial=0.0)
        q = move(q, np.asarray(change * min(1.0, 0.5 / limit)) if limit else change, length)
    return None


def coordinates(positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Vector:
    """Return q of bodies at positions (bodies, 3) with directors in the columns (bodies, 3, 3)."""
    q = np.empty((positions.shape[0], WIDTH))
    q[:, :3] = positions
    q[:, 3:] = np.swapaxes(rotations, 1, 2).reshape(-1, 9)
    return q.reshape(-1)
