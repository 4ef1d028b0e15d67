"""Axial forces in bent beams: a potential of quadratic strains [BAPM21, rem. 2]."""

from poinsot.bodies.elastic_table import (
    BENDS,
    LEFT,
    MEMBERS,
    NODE,
    RIGHT,
    ROW,
    STRAINS,
    TILE,
    Elastics,
)
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    add,
    add_tile,
    apply,
    axpy,
    dot,
    gather,
    matrix,
    outer,
    plus,
    put,
    scale,
    times,
    vector,
)
from poinsot.kernels.kernel import kernel
from poinsot.kernels.step import Step
from poinsot.kernels.terms import NONE


@kernel
def stretch(table: Elastics, n: int, step: Step, tiles: Array) -> None:
    """Add what axial forces in a bent beam do."""
    at, strains, members, bends = table.bodies.places, table.strains, table.members, table.bends
    groups, h, state, stage, x = table.groups, step.h, step.state, step.stage, step.x
    room = table.pulls
    for e in range(at[n, STRAINS], at[n + 1, STRAINS]):
        stiffness, l0, dl, q0, q1 = strains.numbers[e, 0], 0.0, 0.0, 0.0, 0.0
        first, last = strains.places[e, MEMBERS], strains.places[e + 1, MEMBERS]
        for k in range(first, last):
            put(room, k, 0, NONE)
            put(room, k, 3, NONE)
        for k in range(strains.places[e, BENDS], strains.places[e + 1, BENDS]):
            left, right = bends.places[k, LEFT], bends.places[k, RIGHT]
            row, A = groups.places[members.places[right, 0], ROW], matrix(bends.numbers, k, 0)
            gather(room, left, 0, apply(A, vector(state, row, tables.POSITION)))
            gather(room, left, 3, apply(A, vector(stage, row, tables.V)))
        for k in range(first, last):
            row, e_k = groups.places[members.places[k, 0], ROW], vector(members.numbers, k, 0)
            u, nu = vector(state, row, tables.POSITION), vector(stage, row, tables.V)
            A_u, A_v = vector(room, k, 0), vector(room, k, 3)
            l0, dl, q0 = l0 + dot(e_k, u), dl + dot(e_k, nu), q0 + 0.5 * dot(A_u, u)
            q1 += h * dot(A_u, nu) + 0.5 * h * h * dot(A_v, nu)
        q = q0 + 0.5 * q1
        pull = stiffness * (l0 + 0.5 * h * dl + q)
        for k in range(first, last):
            node = groups.places[members.places[k, 0], NODE]
            mid = axpy(0.5 * h, vector(room, k, 3), vector(room, k, 0))
            gradient = axpy(stiffness * q, vector(members.numbers, k, 0), scale(pull, mid))
            gather(x, node, 0, scale(h, gradient))
        if tiles is not None:
            f = 0.5 * h * h
            for k in range(strains.places[e, BENDS], strains.places[e + 1, BENDS]):
                left, right = bends.places[k, LEFT], bends.places[k, RIGHT]
                e_l, e_r = vector(members.numbers, left, 0), vector(members.numbers, right, 0)
                mid = axpy(0.5 * h, vector(room, left, 3), vector(room, left, 0))
                end = axpy(h, vector(room, right, 3), vector(room, right, 0))
                A = times(stiffness, plus(outer(add(e_l, mid), end), outer(mid, e_r)))
                A = plus(A, times(pull, matrix(bends.numbers, k, 0)))
                add_tile(tiles, bends.places[k, TILE], times(f, A))


@kernel
def stretched(table: Elastics, n: int, state: Array) -> float:
    """Return the energy of axial forces in a bent beam [J]."""
    at, strains, members, bends = table.bodies.places, table.strains, table.members, table.bends
    groups, total = table.groups, 0.0
    for e in range(at[n, STRAINS], at[n + 1, STRAINS]):
        l, q = 0.0, 0.0
        for k in range(strains.places[e, MEMBERS], strains.places[e + 1, MEMBERS]):
            row = groups.places[members.places[k, 0], ROW]
            l += dot(vector(members.numbers, k, 0), vector(state, row, tables.POSITION))
        for k in range(strains.places[e, BENDS], strains.places[e + 1, BENDS]):
            left = groups.places[members.places[bends.places[k, LEFT], 0], ROW]
            right = groups.places[members.places[bends.places[k, RIGHT], 0], ROW]
            A = matrix(bends.numbers, k, 0)
            u = vector(state, right, tables.POSITION)
            q += 0.5 * dot(vector(state, left, tables.POSITION), apply(A, u))
        total += strains.numbers[e, 0] * (l * q + 0.5 * q * q)
    return total
