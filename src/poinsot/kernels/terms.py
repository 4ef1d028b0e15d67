"""Products of vectors of two bodies, in tables, and where what they do stands in the matrix.

A term is c a_A·b_B (DOT), c a_A·r (OFFSET) or c r·r (DISTANCE), r = r_B - r_A.
"""

from poinsot.kernels.algebra import Array, Mat, Vec, add_tile, times
from poinsot.kernels.kernel import inline

#: Columns of terms: directions a on A and b on B, points on either, coefficient.
DIRECTION_A, DIRECTION_B, POINT_A, POINT_B, COEFFICIENT = 0, 3, 6, 9, 12
#: Of constraints, after those: a constant for each of up to three equations, and the vector in
#: which they differ, times their coefficient. Columns of places: how many equations; node and first
#: slot of the multipliers.
CONSTANT, VARIED = 13, 16
COUNT, NODE, SLOT = 3, 4, 5

DOT, OFFSET, DISTANCE = 0, 1, 2
NONE: Vec = (0.0, 0.0, 0.0)
ZERO: Mat = (NONE, NONE, NONE)
UNIT: Mat = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

#: Tiles of (T_A, R_A, T_B, R_B) with each other, in order.
TA_TA, TA_RA, TA_TB, TA_RB, RA_TA, RA_RA, RA_TB, RA_RB = range(8)
TB_TA, TB_RA, TB_TB, TB_RB, RB_TA, RB_RA, RB_TB, RB_RB = range(8, 16)


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
