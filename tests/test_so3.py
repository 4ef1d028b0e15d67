"""Laws of the rotation group, and agreement with SciPy's rotations (scalar last, reordered)."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as ScipyRotation

from poinsot import so3
from poinsot.errors import InputError
from poinsot.so3 import Rotation, as_rotation_matrix

SEQUENCES = ["xyz", "XYZ", "zyx", "ZYX", "zxz", "ZXZ", "yxy", "YZX"]


def vectors(size: int = 3, bound: float = 10.0) -> st.SearchStrategy[np.ndarray]:
    numbers = st.floats(-bound, bound, allow_subnormal=False)
    return st.lists(numbers, min_size=size, max_size=size).map(np.array)


def directions(size: int = 3) -> st.SearchStrategy[np.ndarray]:
    long_enough = vectors(size, 1.0).filter(lambda a: np.linalg.norm(a) > 1e-3)
    return long_enough.map(lambda a: a / np.linalg.norm(a))


def close(a, b, tolerance: float = 1e-14) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


def to_scipy(quat: np.ndarray) -> ScipyRotation:
    return ScipyRotation.from_quat(np.roll(quat, -1))


def is_rotation(R: np.ndarray, tolerance: float = 1e-14) -> None:
    close(R.T @ R, np.eye(3), tolerance)
    close(np.linalg.det(R), 1.0, tolerance)


@given(vectors(), vectors())
def test_skew_is_the_matrix_of_the_cross_product(a, b):
    close(so3.skew(a) @ b, np.cross(a, b), 1e-13)
    close(so3.skew(a).T, -so3.skew(a), 0)


@given(vectors(), vectors(6).map(lambda a: np.outer(a[:3], a[3:])))
def test_axial_inverts_skew_and_ignores_the_symmetric_part(a, A):
    close(so3.axial(so3.skew(a)), a, 0)
    close(so3.axial(so3.skew(a) + A + A.T), a, 1e-13)


@given(vectors())
def test_exp_is_the_exponential_of_the_skew_matrix(theta):
    R = so3.exp(theta)
    is_rotation(R, 1e-14)
    close(R, scipy.linalg.expm(so3.skew(theta)), 1e-12)


@given(directions(), st.floats(0, np.pi - 1e-7))
def test_log_inverts_exp(axis, angle):
    close(so3.log(so3.exp(angle * axis)), angle * axis, 1e-13)


@given(directions(), st.floats(-300, -5))
def test_log_inverts_exp_to_full_relative_precision_near_zero(axis, exponent):
    theta = 10**exponent * axis
    close(so3.log(so3.exp(theta)) / 10**exponent, axis, 1e-14)


def test_exp_and_log_of_nothing_are_exact():
    close(so3.exp(np.zeros(3)), np.eye(3), 0)
    close(so3.log(np.eye(3)), np.zeros(3), 0)


@given(directions(), st.floats(-20, -7))
def test_exp_inverts_log_near_the_half_turn(axis, exponent):
    R = so3.exp((np.pi - 10**exponent) * axis)
    theta = so3.log(R)
    close(so3.exp(theta), R, 1e-14)
    close(np.linalg.norm(theta), np.pi - 10**exponent, 1e-14)
    close(abs(theta @ axis), np.linalg.norm(theta), 1e-14)


@pytest.mark.parametrize("axis", [a for a in product((-1, 0, 1), repeat=3) if any(a)])
def test_log_of_an_exact_half_turn_has_a_positive_largest_component(axis):
    n = np.array(axis) / np.linalg.norm(axis)
    theta = so3.log(2 * np.outer(n, n) - np.eye(3))
    close(np.linalg.norm(theta), np.pi, 1e-15)
    close(abs(theta @ n), np.pi, 1e-15)
    close(np.max(theta), np.max(np.abs(theta)), 1e-14)


@given(directions(), st.floats(-20, 20), st.floats(-20, 20))
def test_turns_about_one_axis_add_up(axis, a, b):
    close(so3.exp(a * axis) @ so3.exp(b * axis), so3.exp((a + b) * axis), 1e-13)


@given(vectors(3, 100.0))
def test_cayley_is_a_rotation_with_the_stated_formula_and_angle(w):
    R, W = so3.cayley(w), so3.skew(w)
    is_rotation(R, 1e-13)
    close(R, np.linalg.solve(np.eye(3) - W / 2, np.eye(3) + W / 2), 1e-12)
    length = np.linalg.norm(w)
    if length > 1e-6:
        close(R, so3.exp(2 * np.arctan(length / 2) * w / length), 1e-13)


def test_cayley_agrees_with_exp_to_second_order():
    w = np.array([0.3, -0.5, 0.8])
    errors = [np.max(np.abs(so3.cayley(h * w) - so3.exp(h * w))) for h in (1e-1, 1e-2)]
    assert 2.9 < np.log10(errors[0] / errors[1]) < 3.1


@given(vectors(), vectors())
def test_cayley_is_the_midpoint_rule_for_directors(w, d0):
    d1 = so3.cayley(w) @ d0
    close(d1 - d0, np.cross(w, (d0 + d1) / 2), 1e-12)


@given(directions(4))
def test_quaternion_comes_back_from_its_matrix_with_positive_scalar(quat):
    R = so3.quat_to_matrix(quat)
    is_rotation(R)
    back = so3.matrix_to_quat(R)
    assert back[0] >= 0
    close(np.linalg.norm(back), 1.0, 1e-15)
    close(min(np.abs(back - quat).max(), np.abs(back + quat).max()), 0, 1e-14)


@pytest.mark.parametrize("signs", list(product((-1, 0, 1), repeat=4)))
@pytest.mark.parametrize("small", [1.0, 1e-9])
def test_quaternion_comes_back_in_every_octant_and_near_its_faces(signs, small):
    for scale in set(np.ndindex(2, 2, 2, 2)):
        quat = np.array(signs) * np.where(scale, 1.0, small)
        if np.linalg.norm(quat) < 1e-3:
            continue
        quat /= np.linalg.norm(quat)
        back = so3.matrix_to_quat(so3.quat_to_matrix(quat))
        assert back[0] >= 0
        close(min(np.abs(back - quat).max(), np.abs(back + quat).max()), 0, 1e-15)


@given(directions(4), directions(4))
def test_quaternions_multiply_as_their_matrices(a, b):
    product_ab = so3.quat_multiply(a, b)
    close(so3.quat_to_matrix(product_ab), so3.quat_to_matrix(a) @ so3.quat_to_matrix(b))
    same = (to_scipy(a) * to_scipy(b)).as_matrix()
    close(so3.quat_to_matrix(product_ab), same)
    close(so3.quat_multiply(a, so3.quat_conjugate(a)), [1, 0, 0, 0], 1e-15)


@given(vectors(4, 2.0).filter(lambda a: np.linalg.norm(a) > 1e-3), vectors(4, 2.0))
def test_quaternion_matrices_are_those_of_products_and_of_angular_velocities(a, b):
    """Eqs. (32), (43), (44) and (50) of [KB24]."""
    close(so3.quat_left(a) @ b, so3.quat_multiply(a, b), 1e-13)
    close(so3.quat_right(b) @ a, so3.quat_multiply(a, b), 1e-13)
    q = a / np.linalg.norm(a)
    E, G, rate = so3.quat_world(q), so3.quat_body(q), b - q * (q @ b)
    close(E @ G.T, so3.quat_to_matrix(q))
    close(so3.quat_multiply(so3.quat_conjugate(q), rate)[1:], G @ rate, 1e-13)
    close(so3.quat_multiply(rate, so3.quat_conjugate(q))[1:], E @ rate, 1e-13)
    close(G.T @ G @ rate, rate, 1e-13)


@given(vectors())
def test_the_exponential_map_on_quaternions_is_that_of_rotations(theta):
    quat = so3.quat_exp(theta)
    close(so3.quat_to_matrix(quat), so3.exp(theta), 1e-13)
    generator = np.block([[0, -theta[None]], [theta[:, None], so3.skew(theta)]]) / 2
    close(so3.quat_left(quat), scipy.linalg.expm(generator), 1e-12)  # [KB24, eq. (36)]


@given(directions(4))
def test_quaternion_is_scipys_with_the_scalar_moved_first(quat):
    theirs = to_scipy(quat)
    R = so3.quat_to_matrix(quat)
    close(R, theirs.as_matrix())
    same = np.roll(theirs.as_quat(), 1)
    close(so3.matrix_to_quat(R) * np.sign(so3.matrix_to_quat(R) @ same), same)
    close(so3.exp(so3.log(R)), theirs.as_matrix())


@pytest.mark.parametrize("sequence", SEQUENCES)
@given(angles=vectors(3, np.pi))
def test_euler_angles_agree_with_scipy(sequence, angles):
    R = so3.euler_to_matrix(sequence, angles)
    close(R, ScipyRotation.from_euler(sequence, angles).as_matrix())


@pytest.mark.parametrize("sequence", SEQUENCES)
@given(outer=vectors(2, 3.1), middle=st.floats(0.1, 1.4))
def test_euler_angles_come_back(sequence, outer, middle):
    angles = np.array([outer[0], middle, outer[1]])
    close(Rotation.from_euler(sequence, angles).euler(sequence), angles, 1e-13)


def test_intrinsic_euler_angles_turn_about_moving_axes():
    a, b, c = 0.3, -0.7, 1.1
    Rz, Rx = so3.exp([0, 0, a]), so3.exp([b, 0, 0])
    close(so3.euler_to_matrix("ZXZ", (a, b, c)), Rz @ Rx @ so3.exp([0, 0, c]), 0)
    close(so3.euler_to_matrix("ZX", (a, b)), so3.euler_to_matrix("xz", (b, a)), 0)
    close(so3.euler_to_matrix("z", a), Rz, 0)


@given(directions(4), vectors(9, 0.2))
def test_nearest_rotation_is_the_polar_factor(quat, noise):
    A = so3.quat_to_matrix(quat) + noise.reshape(3, 3)
    R = so3.nearest_rotation(A)
    is_rotation(R)
    if np.linalg.det(A) > 1e-3:
        close(R, scipy.linalg.polar(A)[0], 1e-12)
        for turn in 1e-3 * np.vstack([np.eye(3), -np.eye(3)]):
            assert np.linalg.norm(R - A) <= np.linalg.norm(so3.exp(turn) @ R - A)


def test_nearest_rotation_of_a_rotation_is_itself_and_never_a_reflection():
    R = so3.exp([1, 2, 3])
    close(so3.nearest_rotation(R), R)
    is_rotation(so3.nearest_rotation(np.diag([1.0, 1.0, -0.5])))


def test_functions_work_on_stacks_of_rotations():
    theta = np.random.default_rng(1).standard_normal((2, 5, 3))
    R = so3.exp(theta)
    quats = so3.matrix_to_quat(R)
    assert R.shape == (2, 5, 3, 3)
    assert quats.shape == (2, 5, 4)
    for index in np.ndindex(2, 5):
        one = theta[index]
        close(R[index], so3.exp(one), 1e-15)
        close(so3.log(R)[index], so3.log(R[index]), 1e-15)
        close(so3.cayley(theta)[index], so3.cayley(one), 1e-15)
        close(so3.axial(so3.skew(theta))[index], one, 0)
        close(quats[index], so3.matrix_to_quat(R[index]), 1e-15)
        close(so3.quat_to_matrix(quats)[index], R[index])
        close(so3.nearest_rotation(2 * R)[index], R[index])
    close(so3.quat_to_matrix(so3.quat_multiply(quats[0], quats[1])), R[0] @ R[1])


@given(directions(4), directions(4), vectors())
def test_composition_of_rotations_is_composition_of_maps(a, b, vector):
    first, second = Rotation.from_quaternion(a), Rotation.from_quaternion(b)
    close((first @ second).apply(vector), first.apply(second.apply(vector)), 1e-12)
    close((first @ first.inverse).matrix, np.eye(3))
    close(first.inverse.matrix, first.matrix.T)


def test_constructors_describe_the_same_quarter_turn():
    expected = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    half = np.sqrt(0.5)
    for rotation in (
        Rotation.from_matrix(expected),
        Rotation.from_quaternion((half, 0, 0, half)),
        Rotation.from_axis_angle((0, 0, 3), np.pi / 2),
        Rotation.from_rotation_vector((0, 0, np.pi / 2)),
        Rotation.from_euler("Z", np.pi / 2),
        Rotation.from_directors((0, 1, 0), (-1, 0, 0), (0, 0, 1)),
        Rotation.nearest(1.01 * expected),
    ):
        close(rotation.matrix, expected, 1e-15)
        close(rotation.quaternion, [half, 0, 0, half], 1e-15)
        close(rotation.rotation_vector, [0, 0, np.pi / 2], 1e-15)
        close(rotation.apply((1, 0, 0)), (0, 1, 0), 1e-15)
        close(rotation.directors[0], (0, 1, 0), 1e-15)
        close(rotation.apply(np.eye(3)), expected.T, 1e-15)


def test_rotation_is_a_value_that_cannot_be_changed():
    entries = np.eye(3)
    rotation = Rotation(entries)
    entries[0, 0] = 7
    assert rotation == Rotation.identity()
    assert hash(rotation) == hash(Rotation(np.eye(3) * 1.0 - 0.0 * np.ones((3, 3))))
    assert rotation != Rotation.from_euler("x", 0.1)
    assert rotation != "identity"
    with pytest.raises(ValueError, match="read-only"):
        rotation.matrix[0, 0] = 2
    with pytest.raises(TypeError):
        rotation @ np.eye(3)
    with pytest.raises(TypeError):
        np.eye(3) @ rotation


def test_as_rotation_matrix_takes_every_description():
    R = so3.exp([0.1, 0.2, 0.3])
    close(as_rotation_matrix(None), np.eye(3), 0)
    close(as_rotation_matrix(R), R, 0)
    close(as_rotation_matrix(R.tolist()), R, 0)
    close(as_rotation_matrix(so3.matrix_to_quat(R)), R, 1e-15)
    close(as_rotation_matrix(Rotation(R)), R, 0)
    as_rotation_matrix(Rotation(R))[0, 0] = 1.0  # a copy


@given(directions(4), vectors(9, 1e-7))
def test_a_small_defect_is_removed(quat, noise):
    is_rotation(as_rotation_matrix(so3.quat_to_matrix(quat) + noise.reshape(3, 3)))
    is_rotation(as_rotation_matrix(quat * (1 + noise[0])))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.diag([1, 1, 1.01]), r"rotation: .* not orthogonal, max\|R\^T R - I\| = 0.0201; .*near"),
        (np.diag([1, 1, -1]), "determinant -1, it is a reflection .*; reverse one of its columns"),
        ((1, 1, 0, 0), r"quaternion \[1., 1., 0., 0.\] has norm 1.41421356, not 1; .*scalar first"),
        ((1, 0, 0, np.nan), r"rotation: \[ ?1., 0., 0., nan\] contains NaN or infinity"),
        (np.full((3, 3), np.inf), "contains NaN or infinity"),
        ((0.1, 0.2, 0.3), r"got shape \(3,\); three numbers may be .*from_rotation_vector"),
        (np.eye(4), r"expected a 3x3 matrix, a quaternion .* got shape \(4, 4\)"),
        ("upside down", "rotation: expected numbers, got 'upside down'"),
        ([[1, 0], [0]], "rotation: expected numbers"),
        (ScipyRotation.identity(), "rotation: expected numbers, got .*Rotation"),
    ],
)
def test_what_is_no_rotation_is_refused_with_the_reason(value, message):
    with pytest.raises(InputError, match=message):
        as_rotation_matrix(value)


def test_messages_begin_with_the_given_name():
    with pytest.raises(InputError, match=r"^body 'rod': rotation: the matrix is not orthogonal"):
        as_rotation_matrix(2 * np.eye(3), name="body 'rod': rotation")
    with pytest.raises(InputError, match=r"^body 'rod': rotation: the quaternion .* has norm 2,"):
        as_rotation_matrix((2, 0, 0, 0), name="body 'rod': rotation")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rotation(np.eye(2)), r"rotation: expected a 3x3 matrix"),
        (lambda: Rotation.from_quaternion((1, 0, 0)), r"four numbers \(w, x, y, z\), got shape"),
        (lambda: Rotation.from_axis_angle((0, 0, 0), 1), r"axis: \(0, 0, 0\) has no direction"),
        (lambda: Rotation.from_axis_angle((0, 1), 1), "axis: expected three numbers"),
        (lambda: Rotation.from_axis_angle((0, 0, 1), (1, 2)), "angle: expected one number"),
        (lambda: Rotation.from_axis_angle((0, 0, 1), np.nan), "angle: nan contains NaN"),
        (lambda: Rotation.from_rotation_vector((1, 2)), "rotation vector: expected three numbers"),
        (lambda: Rotation.from_directors((1, 0, 0), (0, 1, 0), (0, 1, 0)), "not orthogonal"),
        (lambda: Rotation.from_directors((0, 1, 0), (1, 0, 0), (0, 0, 1)), "left-handed frame"),
        (lambda: Rotation.from_euler("xYz", (1, 2, 3)), "'xYz' is not a sequence of axes"),
        (lambda: Rotation.from_euler("xxz", (1, 2, 3)), "none twice in a row"),
        (lambda: Rotation.from_euler("", ()), "one to three letters"),
        (lambda: Rotation.from_euler("zxz", (1, 2)), r"'zxz': 3 angles needed, got shape \(2,\)"),
        (lambda: Rotation.identity().euler("xy"), "give three letters"),
        (lambda: Rotation.nearest(np.zeros((3, 3))), "too close to singular.*singular values"),
        (lambda: Rotation.nearest(-np.eye(3)), "or to a reflection"),
        (lambda: Rotation.nearest(np.eye(2)), "expected a 3x3 matrix"),
    ],
)
def test_impossible_rotations_are_refused_with_the_reason(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_rotations_need_scipy_spatial_only_for_euler_angles_of_a_matrix():
    code = "import sys, poinsot.so3; print('scipy.spatial' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
