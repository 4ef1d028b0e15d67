"""Integrals over elastic bodies: products of matrices with u and v_f, and the terms of momenta.

With u_f = phi u, these are the integrals of rho phi_a phi_b for each pair of axes, and of
rho phi x phi.
"""

from poinsot.bodies.elastic_table import (
    AXES_AT,
    CROSS_U,
    CROSS_V,
    CROSS_V0,
    D_AT,
    D_V,
    DAMPED,
    DEFORMED,
    FIELDS,
    GROUPS,
    K_AT,
    K_U,
    K_V,
    LEFT,
    M_AT,
    M_V,
    M_V0,
    N_AT,
    OF_GROUP,
    PAIRS,
    RIGHT,
    ROW,
    SPARE,
    TILE,
    TWICE,
    TWICE_U,
    TWICE_V,
    X_AT,
    Elastics,
)
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    Columns,
    Mat,
    Vec,
    add,
    add_four,
    apply,
    apply_columns,
    axpy,
    axpy_four,
    columns,
    columns_at,
    combine,
    dot,
    gather,
    matrix,
    minus,
    more,
    multiply,
    outer,
    plus,
    put,
    put_columns,
    put_matrix,
    scale,
    scale_four,
    skew,
    sub,
    three,
    times,
    times_four,
    trace,
    transposed,
    vector,
    wide,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.tables import Part
from poinsot.kernels.terms import NONE, UNIT


@arithmetic
def in_world(D: Mat, x: Vec) -> Vec:
    """Return what a vector in body axes is in world axes."""
    return combine(x, D)


@inline
def moments(groups: Part, g: int, u: Vec) -> Mat:
    """Return the sum of X_ab u over a group."""
    numbers = groups.numbers
    return (
        apply(matrix(numbers, g, X_AT), u),
        apply(matrix(numbers, g, X_AT + 9), u),
        apply(matrix(numbers, g, X_AT + 18), u),
    )


@arithmetic
def symmetric(A: Mat) -> Mat:
    """Return A + A^T."""
    return plus(A, transposed(A))


@arithmetic
def tensor(E: Mat) -> Mat:
    """Return tr(E) I - E."""
    return minus(times(trace(E), UNIT), E)


@arithmetic
def mixed(a: Vec, b: Vec) -> Mat:
    """Return (a·b) I - (a b^T + b a^T) / 2."""
    return minus(times(dot(a, b), UNIT), times(0.5, plus(outer(a, b), outer(b, a))))


@inline
def doubled(room: Array, g: int, at: int, u: Vec) -> Mat:
    """Return the matrix of u·N_ab u of a group, from N_ab u at a place of its room."""
    xx, yy = dot(vector(room, g, at), u), dot(vector(room, g, at + 3), u)
    zz = dot(vector(room, g, at + 6), u)
    yz, zx = dot(vector(room, g, at + 9), u), dot(vector(room, g, at + 12), u)
    xy = dot(vector(room, g, at + 15), u)
    return (xx, xy, zx), (xy, yy, yz), (zx, yz, zz)


@inline
def weighed(W: Mat, room: Array, g: int, at: int) -> Vec:
    """Return the sum of W_ab N_ab u of a group, W symmetric."""
    total = scale(W[0][0], vector(room, g, at))
    total = axpy(W[1][1], vector(room, g, at + 3), total)
    total = axpy(W[2][2], vector(room, g, at + 6), total)
    total = axpy(2.0 * W[1][2], vector(room, g, at + 9), total)
    total = axpy(2.0 * W[2][0], vector(room, g, at + 12), total)
    return axpy(2.0 * W[0][1], vector(room, g, at + 15), total)


@inline
def weighed_moments(W: Mat, groups: Part, g: int) -> Vec:
    """Return the sum of W_ab X_ab of a group."""
    numbers = groups.numbers
    total = combine(W[0], matrix(numbers, g, X_AT))
    total = add(total, combine(W[1], matrix(numbers, g, X_AT + 9)))
    return add(total, combine(W[2], matrix(numbers, g, X_AT + 18)))


@inline
def along(Omega: Vec, room: Array, g: int, at: int) -> Vec:
    """Return the sum of Omega_i times three vectors."""
    return combine(Omega, matrix(room, g, at))


@inline
def turning(groups: Part, g: int, Omega: Vec, room: Array, at: int, second: float) -> Mat:
    """Return the derivative of J(u) Omega by u of a group, N_ab u at a place of its room."""
    numbers = groups.numbers
    X0, X1 = matrix(numbers, g, X_AT), matrix(numbers, g, X_AT + 9)
    X2 = matrix(numbers, g, X_AT + 18)
    f = 2.0 * second
    xx = axpy(f, vector(room, g, at), scale(2.0, X0[0]))
    yy = axpy(f, vector(room, g, at + 3), scale(2.0, X1[1]))
    zz = axpy(f, vector(room, g, at + 6), scale(2.0, X2[2]))
    yz = axpy(f, vector(room, g, at + 9), add(X1[2], X2[1]))
    zx = axpy(f, vector(room, g, at + 12), add(X2[0], X0[2]))
    xy = axpy(f, vector(room, g, at + 15), add(X0[1], X1[0]))
    total = add(add(xx, yy), zz)
    return (
        sub(scale(Omega[0], total), combine(Omega, (xx, xy, zx))),
        sub(scale(Omega[1], total), combine(Omega, (xy, yy, yz))),
        sub(scale(Omega[2], total), combine(Omega, (zx, yz, zz))),
    )


@inline
def turning_first(groups: Part, g: int, O: Vec) -> Mat:
    """Return X_ab O_b - O_a X_cc of a group, rows a."""
    numbers = groups.numbers
    X0, X1 = matrix(numbers, g, X_AT), matrix(numbers, g, X_AT + 9)
    X2 = matrix(numbers, g, X_AT + 18)
    total = add(add(X0[0], X1[1]), X2[2])
    return (
        sub(combine(O, X0), scale(O[0], total)),
        sub(combine(O, X1), scale(O[1], total)),
        sub(combine(O, X2), scale(O[2], total)),
    )


@inline
def turning_second(Omega: Vec, room: Array, g: int, at: int) -> Mat:
    """Return what N_ab u alone adds to the derivative of J(u) Omega by u."""
    xx, yy = vector(room, g, at), vector(room, g, at + 3)
    zz, yz = vector(room, g, at + 6), vector(room, g, at + 9)
    zx, xy = vector(room, g, at + 12), vector(room, g, at + 15)
    total, twice = add(add(xx, yy), zz), scale(2.0, Omega)
    return (
        sub(scale(twice[0], total), combine(twice, (xx, xy, zx))),
        sub(scale(twice[1], total), combine(twice, (xy, yy, yz))),
        sub(scale(twice[2], total), combine(twice, (zx, yz, zz))),
    )


# -- matrices times vectors ------------------------------------------------------------------------


@inline
def _clear(room: Array, first: int, last: int, at: int, end: int) -> None:
    for g in range(first, last):
        for k in range(at, end):
            room[g, k] = 0.0


@arithmetic
def _along_axes(sums: Columns, N: Columns, D: Mat, v: Vec) -> Columns:
    """Add, for each row of N, the sum of N_kl v_l times the axis of coordinate l, by columns."""
    x, y, z = transposed((scale(v[0], D[0]), scale(v[1], D[1]), scale(v[2], D[2])))
    return more(sums[0], N, x), more(sums[1], N, y), more(sums[2], N, z)


@arithmetic
def _expand(D: Mat, sums: Columns, room: Array, g: int, cross_at: int, twice_at: int) -> None:
    """Find integrals with phi × phi and phi_a phi_b, where each coordinate has an axis."""
    (x, y, z), (a, b, c) = transposed(D), (three(sums[0]), three(sums[1]), three(sums[2]))
    yc, zb, za, xc, xb, ya = (
        _product(*each) for each in ((y, c), (z, b), (z, a), (x, c), (x, b), (y, a))
    )
    put_matrix(room, g, cross_at, (sub(yc, zb), sub(za, xc), sub(xb, ya)))
    put_matrix(room, g, twice_at, (_product(x, a), _product(y, b), _product(z, c)))
    both = scale(0.5, add(yc, zb)), scale(0.5, add(za, xc)), scale(0.5, add(xb, ya))
    put_matrix(room, g, twice_at + 9, both)


@kernel
def _by_fields(
    table: Elastics, n: int, motion: Array, column: int, cross_at: int, twice_at: int
) -> None:
    """The same where coordinates move points in any direction."""
    at, pairs, fields, room = table.bodies.places, table.pairs, table.fields, table.room
    _clear(room, at[n, GROUPS], at[n + 1, GROUPS], cross_at, cross_at + 9)
    _clear(room, at[n, GROUPS], at[n + 1, GROUPS], twice_at, twice_at + 18)
    for k in range(at[n, FIELDS], at[n + 1, FIELDS]):
        pair = pairs.places[k - at[n, FIELDS] + at[n, PAIRS]]
        left, row = pair[LEFT], table.groups.places[pair[RIGHT], ROW]
        v = vector(motion, row, column)
        for i in range(3):
            gather(room, left, cross_at + 3 * i, apply(matrix(fields, k, 9 * i), v))
        for i in range(6):
            gather(room, left, twice_at + 3 * i, apply(matrix(fields, k, TWICE + 9 * i), v))


@kernel
def prepare(table: Elastics, n: int, state: Array) -> None:
    """Find what matrices make of u and v_f at the start of a step."""
    at, groups, pairs, room = table.bodies.places, table.groups, table.pairs, table.room
    numbers = pairs.numbers
    for g in range(at[n, GROUPS], at[n + 1, GROUPS]):
        K_u = M_v = wide(NONE)
        sums_u = sums_v = K_u, K_u, K_u
        for k in range(groups.places[g, OF_GROUP], groups.places[g + 1, OF_GROUP]):
            right = pairs.places[k, RIGHT]
            row, D = groups.places[right, ROW], matrix(groups.numbers, right, AXES_AT)
            u, v = vector(state, row, tables.POSITION), vector(state, row, tables.VELOCITY)
            K_u = more(K_u, columns_at(numbers, k, K_AT), u)
            M_v = more(M_v, columns_at(numbers, k, M_AT), v)
            N = columns_at(numbers, k, N_AT)
            sums_u, sums_v = _along_axes(sums_u, N, D, u), _along_axes(sums_v, N, D, v)
        put(room, g, K_U, three(K_u))
        put(room, g, M_V0, three(M_v))
        D = matrix(groups.numbers, g, AXES_AT)
        _expand(D, sums_u, room, g, CROSS_U, TWICE_U)
        _expand(D, sums_v, room, g, CROSS_V0, SPARE)
    if at[n, FIELDS] < at[n + 1, FIELDS]:
        _by_fields(table, n, state, tables.POSITION, CROSS_U, TWICE_U)
        _by_fields(table, n, state, tables.VELOCITY, CROSS_V0, SPARE)


@kernel
def multiply_rates(table: Elastics, n: int, stage: Array) -> None:
    """Find what matrices make of v_f over a step."""
    at, groups, pairs, room = table.bodies.places, table.groups, table.pairs, table.room
    numbers, damped = pairs.numbers, at[n, DAMPED] == 1
    for g in range(at[n, GROUPS], at[n + 1, GROUPS]):
        K_v = M_v = D_v = wide(NONE)
        sums = K_v, K_v, K_v
        for k in range(groups.places[g, OF_GROUP], groups.places[g + 1, OF_GROUP]):
            right = pairs.places[k, RIGHT]
            v = vector(stage, groups.places[right, ROW], tables.V)
            K_v = more(K_v, columns_at(numbers, k, K_AT), v)
            M_v = more(M_v, columns_at(numbers, k, M_AT), v)
            if damped:
                D_v = more(D_v, columns_at(numbers, k, D_AT), v)
            D = matrix(groups.numbers, right, AXES_AT)
            sums = _along_axes(sums, columns_at(numbers, k, N_AT), D, v)
        put(room, g, K_V, three(K_v))
        put(room, g, M_V, three(M_v))
        put(room, g, D_V, three(D_v))
        _expand(matrix(groups.numbers, g, AXES_AT), sums, room, g, CROSS_V, TWICE_V)
    if at[n, FIELDS] < at[n + 1, FIELDS]:
        _by_fields(table, n, stage, tables.V, CROSS_V, TWICE_V)


@kernel
def stiffen(
    table: Elastics, n: int, h: float, O0: Vec, O1: Vec, W: Mat, O: Vec, tiles: Array
) -> None:
    """Add the tiles of pairs of groups."""
    at, pairs, groups = table.bodies.places, table.pairs, table.groups
    numbers, deformed = pairs.numbers, at[n, DEFORMED] == 1
    turning = add(O0, O1) if deformed else O
    c = -0.5 * h * h if deformed else 0.0
    # N_ab is weighed by -h turning × and by c W.
    by_axes = plus(times(h, skew(turning)), times(c, W))
    general = at[n, FIELDS] < at[n + 1, FIELDS]
    for g in range(at[n, GROUPS], at[n + 1, GROUPS]):
        weight = _by_columns(multiply(matrix(groups.numbers, g, AXES_AT), by_axes))
        for k in range(groups.places[g, OF_GROUP], groups.places[g + 1, OF_GROUP]):
            A = _sum(0.5 * h * h, columns_at(numbers, k, K_AT), 2.0, columns_at(numbers, k, M_AT))
            if at[n, DAMPED] == 1:
                A = _sum(h, columns_at(numbers, k, D_AT), 1.0, A)
            if general:
                row = k - at[n, PAIRS] + at[n, FIELDS]
                field = _by_directions(table.fields, row, -h, turning, c, W)
                A = _sum(1.0, _by_columns(field), 1.0, A)
            else:
                D = matrix(groups.numbers, pairs.places[k, RIGHT], AXES_AT)
                A = _add_weighed(A, weight, D, columns_at(numbers, k, N_AT))
            tile = pairs.places[k, TILE]
            put_columns(tiles, tile, _sum(1.0, columns(tiles, tile), 1.0, A))


@arithmetic
def _by_columns(A: Mat) -> Columns:
    """Return A by its columns."""
    B = transposed(A)
    return wide(B[0]), wide(B[1]), wide(B[2])


@arithmetic
def _sum(s: float, A: Columns, t: float, B: Columns) -> Columns:
    """Return s A + t B."""
    return (
        axpy_four(s, A[0], scale_four(t, B[0])),
        axpy_four(s, A[1], scale_four(t, B[1])),
        axpy_four(s, A[2], scale_four(t, B[2])),
    )


@arithmetic
def _add_weighed(A: Columns, weight: Columns, D: Mat, N: Columns) -> Columns:
    """Return A plus the products of entries of N and weight D^T."""
    return (
        add_four(A[0], times_four(apply_columns(weight, D[0]), N[0])),
        add_four(A[1], times_four(apply_columns(weight, D[1]), N[1])),
        add_four(A[2], times_four(apply_columns(weight, D[2]), N[2])),
    )


@arithmetic
def _product(a: Vec, b: Vec) -> Vec:
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@inline
def _by_directions(fields: Array, k: int, f: float, turning: Vec, c: float, W: Mat) -> Mat:
    """Return the integrals of a pair, those of phi × phi times f turning, others times c W."""
    A = times(f * turning[0], matrix(fields, k, 0))
    A = plus(A, times(f * turning[1], matrix(fields, k, 9)))
    A = plus(A, times(f * turning[2], matrix(fields, k, 18)))
    A = plus(A, times(c * W[0][0], matrix(fields, k, TWICE)))
    A = plus(A, times(c * W[1][1], matrix(fields, k, TWICE + 9)))
    A = plus(A, times(c * W[2][2], matrix(fields, k, TWICE + 18)))
    A = plus(A, times(2.0 * c * W[1][2], matrix(fields, k, TWICE + 27)))
    A = plus(A, times(2.0 * c * W[2][0], matrix(fields, k, TWICE + 36)))
    return plus(A, times(2.0 * c * W[0][1], matrix(fields, k, TWICE + 45)))
