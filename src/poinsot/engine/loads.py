"""Forces and torques on single bodies, in world or body axes, and their conjugate velocities."""

from poinsot.engine.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    combine,
    cross,
    gather,
    gather_matrix,
    matrix,
    minus,
    multiply,
    outer,
    plus,
    scale,
    size,
    skew,
    skew_times,
    times,
    vector,
)
from poinsot.engine.cayley import lever
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.laws import call_law
from poinsot.engine.parts import (
    AXES,
    DIRECTORS,
    HALF,
    INPUT,
    KIND,
    LOADED,
    OF_ROTATION,
    OF_TRANSLATION,
    OWN,
    POINT,
    POSITION,
    Acts,
    R,
    Spins,
    T,
    V,
    W,
    Work,
)
from poinsot.engine.terms import UNIT
from poinsot.engine.turning import cosine, on_arms

FORCE, BODY_FORCE, TORQUE, BODY_TORQUE, PUBLISHED_TORQUE, GENERALISED = 0, 1, 2, 3, 4, 5
#: Where a law's slopes begin in what it finds, after u.
BY_Q, BY_RATE = 3, 39
ZERO: Mat = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@kernel
def loads_act(
    loads: Acts,
    body_places: Array,
    t: float,
    h: float,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
    arms_at: int,
    spins: Spins | None,
) -> None:
    """Add residuals to work.x (nodes, 3), and tiles unless None; sets y, and u of laws.

    Forces have the lever arms of the directors in column `arms_at` of the stage.
    """
    for k in range(loads.places.shape[0]):
        if loads.places[k, KIND] == GENERALISED:
            _generalised(loads, k, body_places, h, stage, work, u, y, tiles)
        else:
            _load(loads, k, body_places, t, h, stage, work, u, y, tiles, arms_at, spins)


@kernel
def _load(
    loads: Acts,
    k: int,
    body_places: Array,
    t: float,
    h: float,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
    arms_at: int,
    spins: Spins | None,
) -> None:
    """Act by a force or a torque."""
    at, x, law = loads.places[k], work.x, loads.laws[k]
    kind, b, port = at[KIND], at[LOADED], at[INPUT]
    D, a = matrix(stage, b, DIRECTORS), vector(stage, b, HALF)
    v, w = vector(stage, b, V), vector(stage, b, W)
    rho = combine(vector(loads.numbers, k, POINT), D)
    if law != 0:
        _look(t, stage, b, work.given)
        call_law(law, work.given, work.found, tiles is not None)
        u[port], u[port + 1], u[port + 2] = work.found[0], work.found[1], work.found[2]
    by_force, by_torque = _directions(kind, matrix(loads.numbers, k, AXES), D, rho)
    given, turning = (u[port], u[port + 1], u[port + 2]), by_torque
    if arms_at != DIRECTORS:
        arm = combine(vector(loads.numbers, k, POINT), matrix(stage, b, arms_at))
        turning = _turning(kind, by_force, by_torque, a, arm)
    if spins is not None:  # noqa: SIM102 - alone, Numba leaves it out where there are none
        if kind == PUBLISHED_TORQUE:
            by_torque, turning = _on_quaternion(a, spins.mean)
    force, torque = apply(by_force, given), apply(turning, given)
    gather(x, body_places[b, T], 0, scale(-h, force))
    gather(x, body_places[b, R], 0, scale(-h, torque))
    work.sizes[OF_TRANSLATION] = max(work.sizes[OF_TRANSLATION], h * size(force))
    work.sizes[OF_ROTATION] = max(work.sizes[OF_ROTATION], h * size(torque))
    y[port], y[port + 1], y[port + 2] = add(combine(v, by_force), combine(w, by_torque))
    if tiles is not None:
        f, TT, TR, RT, RR = 0.5 * h * h, at[OWN], at[OWN + 1], at[OWN + 2], at[OWN + 3]
        if kind in (FORCE, BODY_FORCE):
            gather_matrix(tiles, RR, 0, times(-f, skew_times(force, lever(a, rho))))
        if kind == BODY_FORCE:
            P = times(f, lever(a, force))
            gather_matrix(tiles, TR, 0, P)
            gather_matrix(tiles, RR, 0, skew_times(rho, P))
        if kind == BODY_TORQUE:
            gather_matrix(tiles, RR, 0, times(f, lever(a, torque)))
        if kind == PUBLISHED_TORQUE:
            gather_matrix(tiles, RR, 0, times(f, _published_change(spins, given, a, D)))
        if law != 0:
            by_v, by_w = _gains(h, a, D, work.found)
            gather_matrix(tiles, TT, 0, times(-h, multiply(by_force, by_v)))
            gather_matrix(tiles, TR, 0, times(-h, multiply(by_force, by_w)))
            gather_matrix(tiles, RT, 0, times(-h, multiply(turning, by_v)))
            gather_matrix(tiles, RR, 0, times(-h, multiply(turning, by_w)))


@inline
def _directions(kind: int, axes: Mat, D: Mat, rho: Vec) -> tuple[Mat, Mat]:
    """Return force and torque of unit inputs, as columns."""
    if kind == FORCE:
        return UNIT, skew(rho)
    if kind == TORQUE:
        return ZERO, UNIT
    if kind == PUBLISHED_TORQUE:
        S = ZERO
        for i in range(3):
            d = combine(UNIT[i], D)
            S = minus(S, skew_times(d, skew(d)))
        return ZERO, times(0.5, S)
    turned = _columns(axes, D)
    if kind == BODY_FORCE:
        return turned, skew_times(rho, turned)
    return ZERO, turned


@inline
def _turning(kind: int, by_force: Mat, by_torque: Mat, a: Vec, arm: Vec) -> Mat:
    """Return the torque of unit inputs on other directors than those of the output."""
    if kind in (FORCE, BODY_FORCE):
        return skew_times(arm, by_force)
    return multiply(on_arms(a), by_torque)


@inline
def _on_quaternion(a: Vec, mean: bool) -> tuple[Mat, Mat]:
    """Return how torques 2 E(q_m)^T tau are met by w, and how they turn a body [KB24, eq. (128)].

    The output 2 E(q_m) v_m is c kappa w, the torque (1 + c)/2 tau.
    """
    c = cosine(a)
    met = 0.5 * (1.0 + c) if mean else c
    return times(met, UNIT), times(0.5 * (1.0 + c), UNIT)


@inline
def _published_change(spins: Spins | None, given: Vec, a: Vec, D: Mat) -> Mat:
    """Return how such a torque changes, per h/2, with a turn the other way."""
    if spins is not None:
        c = cosine(a)
        return times(0.5 * c * c * c, outer(given, a))
    S = ZERO
    for i in range(3):
        d = combine(UNIT[i], D)
        P = times(0.5, lever(a, d))
        S = plus(S, skew_times(d, skew_times(given, P)))
        S = plus(S, skew_times(cross(d, given), P))
    return S


@inline
def _columns(axes: Mat, D: Mat) -> Mat:
    """Return D^T axes: body axes as columns in world axes, directors being the rows of D."""
    return (
        combine((D[0][0], D[1][0], D[2][0]), axes),
        combine((D[0][1], D[1][1], D[2][1]), axes),
        combine((D[0][2], D[1][2], D[2][2]), axes),
    )


@inline
def _look(t: float, stage: Array, b: int, given: Array) -> None:
    """Write time, coordinates (12) and velocities (12) of a body."""
    D, w = matrix(stage, b, DIRECTORS), vector(stage, b, W)
    given[0] = t
    for i in range(3):
        given[1 + i], given[13 + i] = stage[b, POSITION + i], stage[b, V + i]
    for i in range(3):
        d = combine(UNIT[i], D)
        rate = cross(w, d)
        for j in range(3):
            given[4 + 3 * i + j], given[16 + 3 * i + j] = d[j], rate[j]


@inline
def _gains(h: float, a: Vec, D: Mat, found: Array) -> tuple[Mat, Mat]:
    """Return du/dv and du/dw of a law.

    It gives u, du/dq (3, 12) and du/d(rate of q) (3, 12); directors change by -(h/2) P dw, their
    rates by -P dw.
    """
    by_v = plus(times(0.5 * h, _block(found, BY_Q, 0)), _block(found, BY_RATE, 0))
    by_w = ZERO
    for i in range(3):
        slope = plus(times(0.5 * h, _block(found, BY_Q, 1 + i)), _block(found, BY_RATE, 1 + i))
        by_w = minus(by_w, multiply(slope, lever(a, combine(UNIT[i], D))))
    return by_v, by_w


@inline
def _block(found: Array, first: int, i: int) -> Mat:
    """Return columns 3 i to 3 i + 2 of a matrix (3, 12) whose entries begin at `first`."""
    j, k, l = first + 3 * i, first + 12 + 3 * i, first + 24 + 3 * i
    return (
        (found[j], found[j + 1], found[j + 2]),
        (found[k], found[k + 1], found[k + 2]),
        (found[l], found[l + 1], found[l + 2]),
    )


@kernel
def _generalised(
    loads: Acts,
    k: int,
    body_places: Array,
    h: float,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
) -> None:
    """Act by all twelve generalised forces of a body."""
    b, port, RR = loads.places[k, LOADED], loads.places[k, INPUT], loads.places[k, OWN + 3]
    D, a, w = matrix(stage, b, DIRECTORS), vector(stage, b, HALF), vector(stage, b, W)
    x, sizes, force = work.x, work.sizes, scale(h, (u[port], u[port + 1], u[port + 2]))
    gather(x, body_places[b, T], 0, scale(-1.0, force))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], size(force))
    y[port], y[port + 1], y[port + 2] = vector(stage, b, V)
    for i in range(3):
        d, j = combine(UNIT[i], D), port + 3 + 3 * i
        f = u[j], u[j + 1], u[j + 2]
        torque = scale(h, cross(d, f))
        gather(x, body_places[b, R], 0, scale(-1.0, torque))
        sizes[OF_ROTATION] = max(sizes[OF_ROTATION], size(torque))
        y[j], y[j + 1], y[j + 2] = cross(w, d)
        if tiles is not None:
            gather_matrix(tiles, RR, 0, times(-0.5 * h * h, skew_times(f, lever(a, d))))
