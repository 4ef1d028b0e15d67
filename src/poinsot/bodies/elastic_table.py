"""Tables of elastic bodies in the compiled engine."""

from typing import NamedTuple

from poinsot.kernels.tables import Index2, Part, Real2, Signed1, Written2

#: Of elastic bodies: mass, first moment, inertia, gradient of gravity for a mass of one.
MASS, STATIC, INERTIA, PULL = 0, 1, 4, 13
#: The frame; whether momenta depend on the deformation, and whether it is damped; where groups,
#: pairs, fields, carried frames and axial strains begin; nodes T and R; tiles TT, TR, RT, RR.
FRAME, DEFORMED, DAMPED, GROUPS, PAIRS, FIELDS, CARRIED, STRAINS, NODE_T, NODE_R, OWN = range(11)
#: Of groups: S and C, and the integrals of rho x_a phi_b, row by row; the axes along which its
#: coordinates move points, if each has one. The body, its node, and its tiles (T, g), (R, g),
#: (g, T), (g, R); the first of its pairs.
S_AT, C_AT, X_AT, AXES_AT = 0, 9, 18, 45
ROW, NODE, T_G, R_G, G_T, G_R, OF_GROUP = range(7)
#: Of pairs of groups, by columns with a zero after each: M, K, D, and the integrals of rho times
#: both shape functions, where each coordinate moves points along one axis. Both groups, and their
#: tile. Where coordinates move points in any direction, fields have the integrals of rho phi × phi,
#: and those of rho phi_a phi_b for ab = xx, yy, zz, yz, zx, xy, in the order of pairs.
M_AT, K_AT, D_AT, N_AT = 0, 12, 24, 36
LEFT, RIGHT, TILE = range(3)
TWICE = 27
#: Of carried frames: the point. The body, its first link and crossing; nodes of motion and of
#: momentum; tiles (motion T, T), (motion T, R), (motion R, R), and (T, momentum T),
#: (R, momentum T), (R, momentum R).
BODY, LINKS, CROSSINGS, MOTION, MOMENTUM, CARRYING = 0, 1, 2, 3, 5, 7
#: Of links: Y and Theta of a group at a frame. The group, and tiles (motion T, g), (motion R, g),
#: (g, momentum T), (g, momentum R).
Y_AT, THETA_AT = 0, 9
GROUP, LINK_TILES = 0, 1
#: Of axial strains: stiffness. The first member, the first bend. Of members: the linear part; the
#: group. Of bends: the quadratic part; both members, and the tile.
MEMBERS, BENDS = 0, 1
#: Room of a group: what matrices make of u0, v_f0 (found with the matrix) and of v_f.
CROSS_U, CROSS_V0, TWICE_U, SPARE, CROSS_V, TWICE_V = 0, 9, 18, 36, 54, 63
K_U, M_V0, K_V, M_V, D_V, WIDTH = 81, 84, 87, 90, 93, 96


class Elastics(NamedTuple):
    """Elastic bodies: numbers and places of all that they consist of, and room to work in."""

    bodies: Part
    groups: Part
    pairs: Part
    fields: Real2
    carried: Part
    links: Part
    crossings: Index2
    strains: Part
    members: Part
    bends: Part
    room: Written2
    pulls: Written2
    ready: Signed1
