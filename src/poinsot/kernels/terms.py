"""Products of vectors of two bodies: values, gradients and curvature.

A term s is c a_A·b_B (DOT), c a_A·r (OFFSET) or c r·r (DISTANCE), r = r_B - r_A. Its slopes

    n = ds/dr,    p = ds/da,    q = ds/db

give the generalised forces of a unit tension: -n and a x p - rho_A x n on A, n and
b x q + rho_B x n on B.
"""

from typing import TypeAlias

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    combine,
    cross,
    dot,
    matrix,
    scale,
    skew,
    skew_times,
    sub,
    times,
    times_skew,
    vector,
)
from poinsot.kernels.cayley import turn_back
from poinsot.kernels.kernel import arithmetic, inline
from poinsot.kernels.tables import DIRECTORS, KIND, POSITION, A, B, Part

#: Columns of terms: directions a on A and b on B, points on either, coefficient.
DIRECTION_A, DIRECTION_B, POINT_A, POINT_B, COEFFICIENT = 0, 3, 6, 9, 12

DOT, OFFSET, DISTANCE = 0, 1, 2
NONE: Vec = (0.0, 0.0, 0.0)
UNIT: Mat = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

#: Tiles of (T_A, R_A, T_B, R_B) with each other, in order.
TA_TA, TA_RA, TA_TB, TA_RB, RA_TA, RA_RA, RA_TB, RA_RB = range(8)
TB_TA, TB_RA, TB_TB, TB_RB, RB_TA, RB_RA, RB_TB, RB_RB = range(8, 16)

#: The vectors of a term: a, b, rho_A, rho_B, r.
Vectors: TypeAlias = tuple[Vec, Vec, Vec, Vec, Vec]
#: What acts on A and B: force and torque on A, force and torque on B.
Pull: TypeAlias = tuple[Vec, Vec, Vec, Vec]


@inline
def vectors(terms: Part, k: int, motion: Array) -> Vectors:
    """Return the vectors of term k where the bodies are."""
    numbers, first, second = terms.numbers, terms.places[k, A], terms.places[k, B]
    D_A, D_B = matrix(motion, first, DIRECTORS), matrix(motion, second, DIRECTORS)
    a = combine(vector(numbers, k, DIRECTION_A), D_A)
    if terms.places[k, KIND] == DOT:
        return a, combine(vector(numbers, k, DIRECTION_B), D_B), NONE, NONE, NONE
    rho_A = combine(vector(numbers, k, POINT_A), D_A)
    rho_B = combine(vector(numbers, k, POINT_B), D_B)
    r_A = add(vector(motion, first, POSITION), rho_A)
    return a, NONE, rho_A, rho_B, sub(add(vector(motion, second, POSITION), rho_B), r_A)


@arithmetic
def beyond(middle: Vectors, start: Vectors) -> Vectors:
    """Return the vectors at the end of a step: all are as far from the middle as at the start."""
    return (
        sub(scale(2.0, middle[0]), start[0]),
        sub(scale(2.0, middle[1]), start[1]),
        sub(scale(2.0, middle[2]), start[2]),
        sub(scale(2.0, middle[3]), start[3]),
        sub(scale(2.0, middle[4]), start[4]),
    )


@inline
def value(kind: int, c: float, at: Vectors) -> float:
    """Return s."""
    a, b, _, _, r = at
    if kind == DOT:
        return c * dot(a, b)
    return c * dot(a, r) if kind == OFFSET else c * dot(r, r)


@inline
def slopes(kind: int, c: float, at: Vectors) -> tuple[Vec, Vec, Vec]:
    """Return n, p, q."""
    a, b, _, _, r = at
    if kind == DOT:
        return NONE, scale(c, b), scale(c, a)
    if kind == OFFSET:
        return scale(c, a), scale(c, r), NONE
    return scale(2.0 * c, r), NONE, NONE


@inline
def pull(kind: int, c: float, at: Vectors) -> Pull:
    """Return the generalised forces of a unit tension: the gradient of s."""
    a, _, rho_A, rho_B, _ = at
    n, p, _ = slopes(kind, c, at)
    if kind == DOT:
        torque = cross(a, p)
        return NONE, torque, NONE, scale(-1.0, torque)
    return scale(-1.0, n), sub(cross(a, p), cross(rho_A, n)), n, cross(rho_B, n)


@inline
def change(kind: int, c: float, middle: Vectors, at: Vectors, half_A: Vec, half_B: Vec) -> Pull:
    """Return what turns changes of (v_A, w_A, v_B, w_B) into that of s, per h (h/2 at the middle).

    A vector x = C x0 changes with w along C (dw x x), so a slope is turned back by C^T first.
    """
    a, b, rho_A, rho_B, _ = middle
    n, p, q = slopes(kind, c, at)
    if kind == DOT:
        return NONE, cross(a, turn_back(half_A, p)), NONE, cross(b, turn_back(half_B, q))
    torque_A = cross(rho_A, turn_back(half_A, n))
    torque_B = cross(rho_B, turn_back(half_B, n))
    return (
        scale(-1.0, n),
        sub(cross(a, turn_back(half_A, p)), torque_A),
        n,
        torque_B,
    )


@inline
def gather_blocks(
    tiles: Array,
    pair: Array,
    force: tuple[Mat, Mat, Mat],
    torque_A: tuple[Mat, Mat, Mat],
    torque_B: tuple[Mat, Mat, Mat],
) -> None:
    """Add to tiles how a force on B, the opposite on A, and torques on A and B change.

    Each is given by its changes with v_B - v_A, w_A and w_B.
    """
    F_T, F_A, F_B = force
    A_T, A_A, A_B = torque_A
    B_T, B_A, B_B = torque_B
    nobody = tiles.shape[0] - 1
    if pair[TA_TA] < nobody:
        add_tile(tiles, pair[TA_TA], F_T)
        add_tile(tiles, pair[TA_RA], times(-1.0, F_A))
        add_tile(tiles, pair[RA_TA], times(-1.0, A_T))
        add_tile(tiles, pair[RA_RA], A_A)
    if pair[TB_TB] < nobody:
        add_tile(tiles, pair[TB_TB], F_T)
        add_tile(tiles, pair[TB_RB], F_B)
        add_tile(tiles, pair[RB_TB], B_T)
        add_tile(tiles, pair[RB_RB], B_B)
    if pair[TA_TB] < nobody:
        add_tile(tiles, pair[TA_TB], times(-1.0, F_T))
        add_tile(tiles, pair[TA_RB], times(-1.0, F_B))
        add_tile(tiles, pair[RA_TB], A_T)
        add_tile(tiles, pair[RA_RB], A_B)
        add_tile(tiles, pair[TB_TA], times(-1.0, F_T))
        add_tile(tiles, pair[TB_RA], F_A)
        add_tile(tiles, pair[RB_TA], times(-1.0, B_T))
        add_tile(tiles, pair[RB_RA], B_A)


@arithmetic
def rate(g: Pull, v_A: Vec, w_A: Vec, v_B: Vec, w_B: Vec) -> float:
    """Return the rate of s of bodies that move."""
    return dot(g[0], v_A) + dot(g[1], w_A) + dot(g[2], v_B) + dot(g[3], w_B)


@inline
def add_change(
    kind: int,
    c: float,
    at: Vectors,
    source: Vectors,
    M_A: Mat,
    M_B: Mat,
    unit: float,
    pair: Array,
    tiles: Array,
    forces: float = 1.0,
) -> None:
    """Add to tiles how c times the pull at `at` changes with (v_A, w_A, v_B, w_B).

    A vector x of a body changes by M [x] dw, with x from `source`, a position by `unit` dv. The
    change of forces, which are linear in the vectors, is taken `forces` times.
    """
    a, b, rho_A, rho_B, r = at
    if kind == DOT:
        on_A = times(c, skew_times(b, times_skew(M_A, source[0])))
        on_B = times(c, skew_times(a, times_skew(M_B, source[1])))
        add_tile(tiles, pair[RA_RA], times(-1.0, on_A))
        add_tile(tiles, pair[RB_RB], times(-1.0, on_B))
        if pair[RA_RB] < tiles.shape[0] - 1:
            add_tile(tiles, pair[RA_RB], on_B)
            add_tile(tiles, pair[RB_RA], on_A)
    elif kind == OFFSET:
        d_a, d_B = times(c, times_skew(M_A, source[0])), times(c, times_skew(M_B, source[3]))
        across, on_B = times(c * unit, skew(a)), skew_times(a, d_B)
        add_tile(tiles, pair[TA_RA], times(-forces, d_a))
        add_tile(tiles, pair[TB_RA], times(forces, d_a))
        add_tile(tiles, pair[RA_TA], times(-1.0, across))
        add_tile(tiles, pair[RA_RA], times(-1.0, skew_times(add(r, rho_A), d_a)))
        add_tile(tiles, pair[RA_TB], across)
        add_tile(tiles, pair[RA_RB], on_B)
        add_tile(tiles, pair[RB_RA], skew_times(rho_B, d_a))
        add_tile(tiles, pair[RB_RB], times(-1.0, on_B))
    else:
        c *= 2.0
        d_A, d_B = times(c, times_skew(M_A, source[2])), times(c, times_skew(M_B, source[3]))
        one = times(c * unit, UNIT)
        add_tile(tiles, pair[TA_TA], times(forces, one))
        add_tile(tiles, pair[TA_RA], times(forces, d_A))
        add_tile(tiles, pair[TA_TB], times(-forces, one))
        add_tile(tiles, pair[TA_RB], times(-forces, d_B))
        add_tile(tiles, pair[TB_TA], times(-forces, one))
        add_tile(tiles, pair[TB_RA], times(-forces, d_A))
        add_tile(tiles, pair[TB_TB], times(forces, one))
        add_tile(tiles, pair[TB_RB], times(forces, d_B))
        across_A, across_B = times(c * unit, skew(rho_A)), times(c * unit, skew(rho_B))
        add_tile(tiles, pair[RA_TA], across_A)
        add_tile(tiles, pair[RA_RA], skew_times(add(r, rho_A), d_A))
        add_tile(tiles, pair[RA_TB], times(-1.0, across_A))
        add_tile(tiles, pair[RA_RB], times(-1.0, skew_times(rho_A, d_B)))
        add_tile(tiles, pair[RB_TA], times(-1.0, across_B))
        add_tile(tiles, pair[RB_RA], times(-1.0, skew_times(rho_B, d_A)))
        add_tile(tiles, pair[RB_TB], across_B)
        add_tile(tiles, pair[RB_RB], skew_times(sub(rho_B, r), d_B))
