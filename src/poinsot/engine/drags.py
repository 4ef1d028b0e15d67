"""Drag on single bodies: a force at a point against its velocity, or a torque against the spin."""

from poinsot.engine.algebra import (
    Array,
    add,
    apply,
    combine,
    cross,
    dot,
    gather,
    gather_matrix,
    matrix,
    multiply,
    plus,
    scale,
    size,
    skew,
    skew_times,
    times,
    vector,
)
from poinsot.engine.cayley import lever
from poinsot.engine.kernel import kernel
from poinsot.engine.loads import FORCE
from poinsot.engine.parts import (
    DIRECTORS,
    DRAG_OWN,
    DRAG_POINT,
    DRAGGED,
    HALF,
    KIND,
    LOST_POWER,
    OF_ROTATION,
    OF_TRANSLATION,
    Part,
    R,
    T,
    V,
    W,
    Work,
)
from poinsot.engine.resistance import drag
from poinsot.engine.terms import UNIT
from poinsot.engine.turning import on_arms


@kernel
def drags_act(
    drags: Part,
    body_places: Array,
    h: float,
    stage: Array,
    work: Work,
    tiles: Array,
    arms_at: int,
) -> None:
    """Add residuals to work.x (nodes, 3), and tiles unless None; adds up the power lost.

    Forces have the lever arms of the directors in column `arms_at` of the stage.
    """
    for k in range(drags.places.shape[0]):
        if drags.places[k, KIND] == FORCE:
            _force(drags, k, body_places, h, stage, work, tiles, arms_at)
        else:
            _torque(drags, k, body_places, h, stage, work, tiles, arms_at)


@kernel
def _force(
    drags: Part,
    k: int,
    body_places: Array,
    h: float,
    stage: Array,
    work: Work,
    tiles: Array,
    arms_at: int,
) -> None:
    """Act against the velocity of a point, y = v + w x rho."""
    at, x, sizes = drags.places[k], work.x, work.sizes
    b, X = at[DRAGGED], vector(drags.numbers, k, DRAG_POINT)
    v, w, a = vector(stage, b, V), vector(stage, b, W), vector(stage, b, HALF)
    rho = combine(X, matrix(stage, b, DIRECTORS))
    arm = combine(X, matrix(stage, b, arms_at))
    y = add(v, cross(w, rho))
    force, slope = drag(drags.numbers, k, y)
    torque = cross(arm, force)
    gather(x, body_places[b, T], 0, scale(h, force))
    gather(x, body_places[b, R], 0, scale(h, torque))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], h * size(force))
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], h * size(torque))
    sizes[LOST_POWER] += dot(force, y)
    if tiles is not None:
        # rho changes by -(h/2) C [rho] dw.
        turned = times(-0.5 * h, lever(a, rho))
        by_w = multiply(slope, plus(times(-1.0, skew(rho)), skew_times(w, turned)))
        TT, TR, RT, RR = at[DRAG_OWN], at[DRAG_OWN + 1], at[DRAG_OWN + 2], at[DRAG_OWN + 3]
        gather_matrix(tiles, TT, 0, times(h, slope))
        gather_matrix(tiles, TR, 0, times(h, by_w))
        gather_matrix(tiles, RT, 0, times(h, skew_times(arm, slope)))
        gather_matrix(tiles, RR, 0, times(h, skew_times(arm, by_w)))
        gather_matrix(tiles, RR, 0, times(-h, skew_times(force, turned)))


@kernel
def _torque(
    drags: Part,
    k: int,
    body_places: Array,
    h: float,
    stage: Array,
    work: Work,
    tiles: Array,
    arms_at: int,
) -> None:
    """Act against the angular velocity."""
    at, sizes = drags.places[k], work.sizes
    b = at[DRAGGED]
    w = vector(stage, b, W)
    torque, slope = drag(drags.numbers, k, w)
    met = UNIT if arms_at == DIRECTORS else on_arms(vector(stage, b, HALF))
    turning = apply(met, torque)
    gather(work.x, body_places[b, R], 0, scale(h, turning))
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], h * size(turning))
    sizes[LOST_POWER] += dot(torque, w)
    if tiles is not None:
        gather_matrix(tiles, at[DRAG_OWN + 3], 0, times(h, multiply(met, slope)))
