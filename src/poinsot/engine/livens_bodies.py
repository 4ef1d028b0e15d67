"""The unknowns of Livens' equations that the shortest form leaves out, as nodes of their own.

EML [KB24, eq. (86)] solves for velocity and momentum at the end and for the multiplier of the unit
constraint besides the turn: nodes nu, pi and rest = (nu scalar, pi scalar, h lambda). REML
[KB24, eq. (103)] keeps the multiplier alone. With rho = pi_1 - pi_0 + (2 h / kappa) nu_m (0, y) the
equations are

    rotation      R_0 vec(rho conj(mu)) / 2
    velocity      nu_1 + nu_0 - (2/h) kappa (delta - 1)
    momentum      pi_1 + pi_0 - 4 mu (0, y)
    multiplier    mu·rho + h lambda mu·mu

The Cayley map keeps quaternions unit by itself. All trajectories are the same.
"""

from poinsot.engine.job import Spins
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
from poinsot.kernels.tables import AUXILIARY, MOMENTUM, SHARE, SLIP, SPIN
from poinsot.kernels.turning import (
    Turn,
    mean_momentum,
    middle,
    travel,
    travel_slope,
    velocity_after,
    weighted,
)


@arithmetic
def velocity_of(state: Array, b: int) -> Quat:
    """Return the velocity of the quaternion, seen from the body."""
    return state[b, SLIP], scale(0.5, vector(state, b, SPIN))


@arithmetic
def momentum_of(state: Array, b: int) -> Quat:
    """Return the momentum of the quaternion, seen from the body."""
    return state[b, SHARE], scale(2.0, vector(state, b, MOMENTUM))


#: Columns of places: the nodes nu, pi and rest; then tiles of (rotation, nu, pi, rest) with each
#: other, row by row.
NU, PI, REST, PAIRS = 0, 1, 2, 3
ZERO: Mat = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
NONE: Vec = (0.0, 0.0, 0.0)


@kernel
def reduced_unknown(
    spins: Spins,
    b: int,
    h: float,
    turn: Turn,
    D0: Mat,
    state: Array,
    stage: Array,
    x: Array,
    tiles: Array,
) -> None:
    """Set the residual of the multiplier, velocity and momentum being functions of the turn."""
    delta, kappa, ddelta, dkappa = turn
    at, J, push = spins.places[b], vector(spins.inertia, b, 0), stage[b, AUXILIARY]
    nu0, pi0 = velocity_of(state, b), momentum_of(state, b)
    nu1, mu = velocity_after(h, turn, nu0), middle(delta)
    y = mean_momentum(J, scale(2.0, nu0[1]), delta, nu1)
    nu = scale_quat(0.5, plus_quat(nu0, nu1))
    # mu·rho, since mu·pi_1 = -mu·pi_0.
    drawn, across = dot_quat(mu, times_vector(nu, y)), dot_quat(mu, pi0)
    square = dot_quat(mu, mu)
    put(x, at[REST], 0, (2.0 * h / kappa * drawn - 2.0 * across + push * square, 0.0, 0.0))
    if tiles is not None:
        row = NONE
        for j in range(3):
            d, dnu = ddelta[j], scale_quat(2.0 / h, travel_slope(turn, ddelta[j], dkappa[j]))
            dmu = scale_quat(0.5, d)
            dy = weighted(J, add(inner(d, nu1), inner(delta, dnu)))
            turned = plus_quat(scale_quat(0.5, times_vector(dnu, y)), times_vector(nu, dy))
            change = dot_quat(dmu, times_vector(nu, y)) + dot_quat(mu, turned)
            change = 2.0 * h / kappa * (change - dkappa[j] / kappa * drawn)
            change += 2.0 * push * dot_quat(mu, dmu) - 2.0 * dot_quat(dmu, pi0)
            row = axpy(0.5 * h * change, D0[j], row)
        put_tile(tiles, at[PAIRS + 12], (row, NONE, NONE))
        put_tile(tiles, at[PAIRS + 15], ((square, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


@kernel
def full_unknowns(
    spins: Spins,
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
    """Set the residuals of rotation and of all these nodes."""
    delta, kappa, ddelta, dkappa = turn
    at, J, push = spins.places[b], vector(spins.inertia, b, 0), stage[b, AUXILIARY + 8]
    nu0, pi0 = velocity_of(state, b), momentum_of(state, b)
    nu1 = stage[b, AUXILIARY + 6], vector(stage, b, AUXILIARY)
    pi1 = stage[b, AUXILIARY + 7], vector(stage, b, AUXILIARY + 3)
    mu, nu = middle(delta), scale_quat(0.5, plus_quat(nu0, nu1))
    y = mean_momentum(J, scale(2.0, nu0[1]), delta, nu1)
    rho = plus_quat(pi1, scale_quat(-1.0, pi0))
    rho = plus_quat(rho, scale_quat(2.0 * h / kappa, times_vector(nu, y)))
    inertia, square = (J[0] + J[1] + J[2]) / 3.0, dot_quat(mu, mu)
    way = scale_quat(-2.0 / h, travel(turn))
    velocity = scale_quat(inertia, plus_quat(plus_quat(nu1, nu0), way))
    momentum = plus_quat(plus_quat(pi1, pi0), scale_quat(-4.0, times_vector(mu, y)))
    put(x, R, 0, combine(scale(0.5, outer_part(rho, mu)), D0))
    put(x, at[NU], 0, velocity[1])
    put(x, at[PI], 0, momentum[1])
    put(x, at[REST], 0, (velocity[0], momentum[0], dot_quat(mu, rho) + push * square))
    if tiles is not None:
        pairs = at[PAIRS:]
        for k in range(16):
            put_tile(tiles, pairs[k], ZERO)
        for j in range(3):
            step = ddelta[j], dkappa[j], travel_slope(turn, ddelta[j], dkappa[j]), (0.0, NONE), (0.0, NONE)
            rows = _change(h, J, inertia, delta, kappa, mu, nu, nu1, y, rho, push, step)
            # a_j is (h/2) d_j·w at the start.
            _put_turn(scale(0.5 * h, D0[j]), D0, rows, pairs, tiles)
        for k in range(8):
            e = _unit(k % 4)
            dnu, dpi = (e, (0.0, NONE)) if k < 4 else ((0.0, NONE), e)
            step = (0.0, NONE), 0.0, (0.0, NONE), dnu, dpi
            rows = _change(h, J, inertia, delta, kappa, mu, nu, nu1, y, rho, push, step)
            # The scalars belong to the rest, the vectors to nodes of their own.
            column = 3 if k % 4 == 0 else 1 + k // 4
            slot = k // 4 if k % 4 == 0 else k % 4 - 1
            _put_column(column, slot, D0, rows, pairs, tiles)
        put_column(tiles, pairs[15], 2, (0.0, 0.0, square))


@inline
def _unit(k: int) -> Quat:
    return (
        1.0 if k == 0 else 0.0,
        (1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0),
    )


@arithmetic
def _change(
    h: float,
    J: Vec,
    inertia: float,
    delta: Quat,
    kappa: float,
    mu: Quat,
    nu: Quat,
    nu1: Quat,
    y: Vec,
    rho: Quat,
    push: float,
    step: tuple[Quat, float, Quat, Quat, Quat],
) -> tuple[Vec, Quat, Quat, float]:
    """Return how the equations of rotation (body axes), velocity, momentum, multiplier change."""
    ddelta, dkappa, dtravel, dnu, dpi = step
    dmu = scale_quat(0.5, ddelta)
    dy = weighted(J, add(inner(ddelta, nu1), inner(delta, dnu)))
    turned = plus_quat(scale_quat(0.5, times_vector(dnu, y)), times_vector(nu, dy))
    drho = plus_quat(dpi, scale_quat(2.0 * h / kappa, turned))
    drho = plus_quat(drho, scale_quat(-2.0 * h * dkappa / (kappa * kappa), times_vector(nu, y)))
    rotation = scale(0.5, add(outer_part(drho, mu), outer_part(rho, dmu)))
    velocity = scale_quat(inertia, plus_quat(dnu, scale_quat(-2.0 / h, dtravel)))
    drawn = plus_quat(times_vector(dmu, y), times_vector(mu, dy))
    momentum = plus_quat(dpi, scale_quat(-4.0, drawn))
    multiplier = dot_quat(dmu, rho) + dot_quat(mu, drho) + 2.0 * push * dot_quat(mu, dmu)
    return rotation, velocity, momentum, multiplier


@arithmetic
def _put_turn(
    by_w: Vec, D0: Mat, rows: tuple[Vec, Quat, Quat, float], pairs: Array, tiles: Array
) -> None:
    """Add to the column of rotation what a turn does."""
    rotation, velocity, momentum, multiplier = rows
    add_tile(tiles, pairs[0], outer(combine(rotation, D0), by_w))
    add_tile(tiles, pairs[4], outer(velocity[1], by_w))
    add_tile(tiles, pairs[8], outer(momentum[1], by_w))
    add_tile(tiles, pairs[12], outer((velocity[0], momentum[0], multiplier), by_w))


@arithmetic
def _put_column(
    column: int,
    slot: int,
    D0: Mat,
    rows: tuple[Vec, Quat, Quat, float],
    pairs: Array,
    tiles: Array,
) -> None:
    """Store what one of the other unknowns does."""
    rotation, velocity, momentum, multiplier = rows
    put_column(tiles, pairs[column], slot, combine(rotation, D0))
    put_column(tiles, pairs[4 + column], slot, velocity[1])
    put_column(tiles, pairs[8 + column], slot, momentum[1])
    put_column(tiles, pairs[12 + column], slot, (velocity[0], momentum[0], multiplier))
