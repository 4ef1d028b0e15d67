"""Unknowns of Livens' equations that the shortest form eliminates, as separate nodes.

EML [KB24, eq. (86)] solves for velocity and momentum at the end and for the multiplier of the unit
constraint, in addition to the rotation: nodes nu, pi and rest = (nu scalar, pi scalar, h lambda).
REML [KB24, eq. (103)] keeps the multiplier only. With rho = pi_1 - pi_0 + (2 h / kappa) nu_m (0, y)
the equations are

    rotation      R_0 vec(rho conj(mu)) / 2
    velocity      nu_1 + nu_0 - (2/h) kappa (delta - 1)
    momentum      pi_1 + pi_0 - 4 mu (0, y)
    multiplier    mu·rho + h lambda mu·mu

The Cayley map keeps the quaternions unit. All trajectories are the same.
"""

from typing import TypeAlias

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    axpy,
    combine,
    outer,
    put,
    put_column,
    put_tile,
    scale,
    vector,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.quaternions import (
    Quat,
    dot_quat,
    inner,
    outer_part,
    plus_quat,
    scale_quat,
    times_vector,
)
from poinsot.kernels.tables import AUXILIARY, Spins
from poinsot.kernels.terms import NONE, ZERO
from poinsot.kernels.turning import (
    Turn,
    after,
    after_slope,
    mean_momentum,
    middle,
    momentum_of,
    travel,
    travel_slope,
    velocity_of,
    weighted,
)

#: Columns of places: the nodes nu, pi and rest; then tiles of (rotation, nu, pi, rest) with each
#: other, row by row.
NU, PI, REST, PAIRS = 0, 1, 2, 3
STILL: Quat = (0.0, NONE)

#: Of the step: h, J, the turn, and the directors at the start.
Given: TypeAlias = tuple[float, Vec, Turn, Mat]
#: Velocity at the start and at the end of a step, and momentum: nu_0, nu_1, pi_0, pi_1.
Ends: TypeAlias = tuple[Quat, Quat, Quat, Quat]
#: At the midpoint: mu, nu_m, y and rho.
Middle: TypeAlias = tuple[Quat, Quat, Vec, Quat]
#: Equations of rotation, velocity, momentum and the rest, or how they change.
Rows: TypeAlias = tuple[Vec, Vec, Vec, Vec]


@kernel
def livens_unknowns(
    spins: Spins,
    full: bool,
    b: int,
    h: float,
    turn: Turn,
    D0: Mat,
    state: Array,
    stage: Array,
    R: int,
    x: Array,
    tiles: Array,
) -> None:
    """Set the residual of the multiplier; in full those of rotation, velocity, momentum besides.

    Else velocity and momentum are functions of the turn.
    """
    at, J, push = spins.places[b], vector(spins.inertia, b, 0), stage[b, AUXILIARY]
    nu0, pi0 = velocity_of(state, b), momentum_of(state, b)
    nu1, _, pi1 = after(h, J, turn, nu0, pi0)
    if full:
        nu1 = stage[b, AUXILIARY + 6], vector(stage, b, AUXILIARY)
        pi1 = stage[b, AUXILIARY + 7], vector(stage, b, AUXILIARY + 3)
        push = stage[b, AUXILIARY + 8]
    given, ends = (h, J, turn, D0), (nu0, nu1, pi0, pi1)
    mid = _middle(given, ends)
    rows, square = _equations(given, ends, mid, push), dot_quat(mid[0], mid[0])
    if full:
        put(x, R, 0, rows[0])
        put(x, at[NU], 0, rows[1])
        put(x, at[PI], 0, rows[2])
        put(x, at[REST], 0, rows[3])
    else:
        put(x, at[REST], 0, (rows[3][2], 0.0, 0.0))
    if tiles is not None:
        pairs, row = at[PAIRS:], NONE
        for k in range(16 if full else 0):
            put_tile(tiles, pairs[k], ZERO)
        for j in range(3):
            (ddelta, dkappa), dnu, dpi = (turn[2][j], turn[3][j]), STILL, STILL
            if not full:
                dnu, dpi = after_slope(h, J, turn, ddelta, dkappa, nu1, mid[2])
            rows = _change(given, nu1, mid, push, ddelta, dkappa, dnu, dpi)
            # a_j is (h/2) d_j·w at the start.
            by_w = scale(0.5 * h, D0[j])
            row = axpy(rows[3][2], by_w, row)
            for i in range(4 if full else 0):
                add_tile(tiles, pairs[4 * i], outer(rows[i], by_w))
        for k in range(8 if full else 0):
            e = _unit(k % 4)
            dnu, dpi = (e, STILL) if k < 4 else (STILL, e)
            rows = _change(given, nu1, mid, push, STILL, 0.0, dnu, dpi)
            # The scalars belong to the rest, the vectors to nodes of their own.
            column = 3 if k % 4 == 0 else 1 + k // 4
            slot = k // 4 if k % 4 == 0 else k % 4 - 1
            for i in range(4):
                put_column(tiles, pairs[4 * i + column], slot, rows[i])
        if full:
            put_column(tiles, pairs[15], 2, (0.0, 0.0, square))
        else:
            put_tile(tiles, pairs[12], (row, NONE, NONE))
            put_tile(tiles, pairs[15], ((square, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


@inline
def _unit(k: int) -> Quat:
    return (
        1.0 if k == 0 else 0.0,
        (1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0),
    )


@arithmetic
def _middle(given: Given, ends: Ends) -> Middle:
    (h, J, turn, _), (nu0, nu1, pi0, pi1) = given, ends
    nu, y = scale_quat(0.5, plus_quat(nu0, nu1)), mean_momentum(J, nu0, turn[0], nu1)
    rho = plus_quat(pi1, scale_quat(-1.0, pi0))
    rho = plus_quat(rho, scale_quat(2.0 * h / turn[1], times_vector(nu, y)))
    return middle(turn[0]), nu, y, rho


@arithmetic
def _equations(given: Given, ends: Ends, mid: Middle, push: float) -> Rows:
    """Return the residuals; that of velocity times the mean moment of inertia."""
    (h, J, turn, D0), (nu0, nu1, pi0, pi1), (mu, _, y, rho) = given, ends, mid
    inertia, way = (J[0] + J[1] + J[2]) / 3.0, scale_quat(-2.0 / h, travel(turn))
    velocity = scale_quat(inertia, plus_quat(plus_quat(nu1, nu0), way))
    momentum = plus_quat(plus_quat(pi1, pi0), scale_quat(-4.0, times_vector(mu, y)))
    rest = velocity[0], momentum[0], dot_quat(mu, rho) + push * dot_quat(mu, mu)
    return combine(scale(0.5, outer_part(rho, mu)), D0), velocity[1], momentum[1], rest


@arithmetic
def _change(
    given: Given,
    nu1: Quat,
    mid: Middle,
    push: float,
    ddelta: Quat,
    dkappa: float,
    dnu: Quat,
    dpi: Quat,
) -> Rows:
    """Return how the residuals change with the turn, velocity and momentum."""
    (h, J, turn, D0), (mu, nu, y, rho), dmu = given, mid, scale_quat(0.5, ddelta)
    delta, kappa, _, _ = turn
    inertia, dtravel = (J[0] + J[1] + J[2]) / 3.0, travel_slope(turn, ddelta, dkappa)
    dy = weighted(J, add(inner(ddelta, nu1), inner(delta, dnu)))
    turned = plus_quat(scale_quat(0.5, times_vector(dnu, y)), times_vector(nu, dy))
    drho = plus_quat(dpi, scale_quat(2.0 * h / kappa, turned))
    drho = plus_quat(drho, scale_quat(-2.0 * h * dkappa / (kappa * kappa), times_vector(nu, y)))
    rotation = scale(0.5, add(outer_part(drho, mu), outer_part(rho, dmu)))
    velocity = scale_quat(inertia, plus_quat(dnu, scale_quat(-2.0 / h, dtravel)))
    drawn = plus_quat(times_vector(dmu, y), times_vector(mu, dy))
    momentum = plus_quat(dpi, scale_quat(-4.0, drawn))
    multiplier = dot_quat(dmu, rho) + dot_quat(mu, drho) + 2.0 * push * dot_quat(mu, dmu)
    rest = velocity[0], momentum[0], multiplier
    return combine(rotation, D0), velocity[1], momentum[1], rest
