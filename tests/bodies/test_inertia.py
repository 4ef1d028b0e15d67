"""Mass properties against independent integrals: symbolic for shapes, sums for assemblies."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from poinsot import so3
from poinsot.bodies.shapes import (
    Box,
    Composite,
    Cone,
    Cylinder,
    Ellipsoid,
    HollowCylinder,
    Part,
    PointMass,
    RigidBody,
    Shape,
    Solid,
    Sphere,
    ThinRod,
)
from poinsot.bodies.tensors import PrincipalInertia, euler_from_inertia, inertia_from_euler
from poinsot.errors import InputError
from poinsot.so3 import Rotation

s, t, z = sp.symbols("s t z", real=True)
a, b, c = (sp.Rational(n, 10) for n in (7, 11, 23))


def polar(radius_from, radius_to, z_from, z_to, *, scale=(1, 1)):
    """The solid rho_from <= rho <= rho_to around z, stretched along x and y."""
    X = sp.Matrix([scale[0] * s * sp.cos(t), scale[1] * s * sp.sin(t), z])
    limits = [(s, radius_from, radius_to), (t, 0, 2 * sp.pi), (z, z_from, z_to)]
    return X, scale[0] * scale[1] * s, limits


#: shape -> points X(s, t, z), volume element and limits; sizes are 0.7, 1.1, 2.3 m, mass 3 kg.
SOLIDS = {
    "box": (
        Box(mass=3, size=(0.7, 1.1, 2.3)),
        (sp.Matrix([s, t, z]), 1, [(s, -a / 2, a / 2), (t, -b / 2, b / 2), (z, -c / 2, c / 2)]),
    ),
    "cylinder": (Cylinder(mass=3, radius=0.7, length=2.3), polar(0, a, -c / 2, c / 2)),
    "hollow_cylinder": (
        HollowCylinder(mass=3, inner_radius=0.7, outer_radius=1.1, length=2.3),
        polar(a, b, -c / 2, c / 2),
    ),
    "sphere": (Sphere(mass=3, radius=0.7), polar(0, sp.sqrt(a**2 - z**2), -a, a)),
    "cone": (
        Cone(mass=3, radius=0.7, height=2.3),
        polar(0, a * (sp.Rational(3, 4) - z / c), -c / 4, 3 * c / 4),
    ),
    "ellipsoid": (
        Ellipsoid(mass=3, semi_axes=(0.7, 1.1, 2.3)),
        polar(0, sp.sqrt(1 - z**2 / c**2), -c, c, scale=(a, b)),
    ),
}
THIN = {
    "thin_rod": ThinRod(mass=3, length=2.3),
    "plate": Box(mass=3, size=(0.7, 1.1, 0)),
    "disc": Cylinder(mass=3, radius=0.7, length=0),
    "thin_tube": HollowCylinder(mass=3, inner_radius=0.7, outer_radius=0.7, length=2.3),
}
SHAPES = {name: shape for name, (shape, _) in SOLIDS.items()} | THIN
BLOCK = Box(mass=2, size=(0.3, 0.4, 0.5))
AWRY = Rotation.from_euler("ZXZ", (0.4, 1.1, -0.7))


def close(actual, expected, tolerance: float = 1e-14) -> None:
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@cache
def integrals(name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, first moments and Euler tensor for density one, by symbolic integration."""
    X, element, limits = SOLIDS[name][1]

    def integral(f):
        for limit in limits:
            f = sp.integrate(sp.simplify(f), limit)
        return float(f)

    volume = integral(sp.sympify(element))
    first = np.array([integral(x * element) for x in X])
    second = np.array([[integral(x * y * element) for y in X] for x in X])
    return volume, first, second


def total(points: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and inertia of many point masses, straight from the definition of J."""
    centre = masses @ points / masses.sum()
    X = points - centre
    squares = np.einsum("ni,ni->n", X, X)
    J = (masses @ squares) * np.eye(3) - np.einsum("n,ni,nj->ij", masses, X, X)
    return centre, J


def quadrature(box: Box, position=(0, 0, 0), R=None) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and masses of a box; two points a direction integrate squares exactly."""
    corners = np.array(list(np.ndindex(2, 2, 2))) * 2 - 1
    points = corners * np.array(box.size) / 2 / np.sqrt(3)
    R = np.eye(3) if R is None else R
    return points @ R.T + position, np.full(8, box.mass / 8)


rotations = (
    st.lists(st.floats(-1, 1), min_size=4, max_size=4)
    .map(np.array)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: Rotation.from_quaternion(q / np.linalg.norm(q)))
)
positions = st.tuples(*[st.floats(-2, 2)] * 3)
euler_values = st.tuples(*[st.floats(0.01, 10)] * 3)


@pytest.mark.parametrize("name", SOLIDS)
def test_euler_tensor_is_the_integral_of_the_dyad(name):
    shape = SHAPES[name]
    volume, first, second = integrals(name)
    close(shape.volume, volume)
    close(first, shape.volume * shape.centre, 1e-12)
    close(shape.euler_B, 3 / volume * second)


@pytest.mark.parametrize("name", SOLIDS)
def test_inertia_is_the_integral_of_the_squared_distances(name):
    shape = SHAPES[name]
    volume, _, E = integrals(name)
    J = np.trace(E) * np.eye(3) - E
    close(shape.inertia_B, 3 / volume * J)


@pytest.mark.parametrize("name", SOLIDS)
def test_density_times_volume_is_mass(name):
    shape = SHAPES[name]
    by_density = replace(shape, mass=None, density=7850)
    close(by_density.mass, 7850 * shape.volume)
    close(by_density.inertia_B / by_density.mass, shape.inertia_B / shape.mass)
    assert (by_density.density, shape.density) == (7850, None)


@pytest.mark.parametrize(
    ("thin", "thick"),
    [
        ("thin_rod", Cylinder(mass=3, radius=1e-9, length=2.3)),
        ("plate", Box(mass=3, size=(0.7, 1.1, 1e-9))),
        ("disc", Cylinder(mass=3, radius=0.7, length=1e-9)),
        (
            "thin_tube",
            HollowCylinder(mass=3, inner_radius=0.7 - 1e-16, outer_radius=0.7, length=2.3),
        ),
    ],
)
def test_thin_shapes_are_limits_of_thick_ones(thin, thick):
    close(THIN[thin].euler_B, thick.euler_B, 1e-15)


def test_a_full_tube_is_a_cylinder_and_a_round_ellipsoid_a_sphere():
    tube = HollowCylinder(density=5, inner_radius=0, outer_radius=0.7, length=2.3)
    cylinder = Cylinder(density=5, radius=0.7, length=2.3)
    ball, egg = Sphere(density=5, radius=0.7), Ellipsoid(density=5, semi_axes=[0.7, 0.7, 0.7])
    for one, other in ((tube, cylinder), (ball, egg)):
        close(one.mass, other.mass)
        close(one.euler_B, other.euler_B)


@pytest.mark.parametrize("name", SHAPES)
def test_inertia_and_euler_tensor_give_each_other(name):
    shape = SHAPES[name]
    E, J = shape.euler_B, shape.inertia_B
    close(E, np.trace(J) / 2 * np.eye(3) - J)
    close(euler_from_inertia(J), E)
    close(inertia_from_euler(euler_from_inertia(J)), J)
    close(shape.centre, np.zeros(3), 0)


def test_inertia_of_a_needle_does_not_cancel():
    J = Cylinder(mass=1, radius=1e-9, length=1).inertia_B
    assert J[2, 2] == pytest.approx(0.5e-18, rel=1e-14)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("fraction", [0.5, 0.2])
def test_a_box_cut_in_two_is_the_box_again(axis, fraction):
    whole = Box(density=8, size=(0.3, 0.4, 0.5))
    parts = []
    for portion, end in ((fraction, -1), (1 - fraction, 1)):
        size, position = np.array(whole.size), np.zeros(3)
        position[axis] = end * (1 - portion) * size[axis] / 2
        size[axis] *= portion
        parts.append((Box(density=8, size=size), position, None))
    joined = Composite(parts=parts)
    close(joined.mass, whole.mass)
    close(joined.centre, np.zeros(3), 1e-16)
    close(joined.euler_B, whole.euler_B)


def test_a_cone_cut_off_at_its_middle_and_put_back_is_the_cone():
    # The frustum is known by its own integrals: cone of height h minus its top of height h/2.
    h, r = 2.0, 0.8
    cone, top = Cone(density=6, radius=r, height=h), Cone(density=6, radius=r / 2, height=h / 2)
    heights, weights = np.polynomial.legendre.leggauss(4)
    y = h / 4 + heights * h / 4  # above the base
    radius = r * (1 - y / h)
    slices = 6 * np.pi * radius**2 * weights * h / 4
    mass, middle = slices.sum(), slices @ y / slices.sum()
    across = slices @ (radius**2 / 4)
    frustum = RigidBody(
        mass=mass, inertia=inertia_from_euler(np.diag([across, across, slices @ (y - middle) ** 2]))
    )
    joined = Composite(parts=[(frustum, (0, 0, middle), None), (top, (0, 0, h / 2 + h / 8), None)])
    close(joined.mass, cone.mass)
    close(joined.centre, (0, 0, h / 4))
    close(joined.euler_B, cone.euler_B)


@given(st.lists(st.tuples(positions, rotations), min_size=1, max_size=4))
def test_composite_has_the_centre_and_inertia_of_all_its_points(places):
    boxes = [Box(mass=1.0 + i, size=(0.3, 0.4 + i, 0.5)) for i in range(len(places))]
    joined = Composite(parts=[(box, p, R) for box, (p, R) in zip(boxes, places, strict=True)])
    clouds = [quadrature(box, p, R.matrix) for box, (p, R) in zip(boxes, places, strict=True)]
    centre, J = total(*(np.concatenate(c) for c in zip(*clouds, strict=True)))
    close(joined.mass, sum(box.mass for box in boxes))
    close(joined.centre, centre, 1e-13)
    close(joined.inertia_B, J, 1e-12)


@given(positions, rotations, positions, rotations)
def test_a_composite_of_composites_is_the_composite_of_all_parts(p, R, p_inner, R_inner):
    inner = Composite(parts=[(BLOCK, p_inner, R_inner), (PointMass(mass=1), (0.1, 0, 0), None)])
    nested = Composite(parts=[(inner, p, R), (BLOCK, (0, 0, 1), None)])
    flat = Composite(
        parts=[
            (BLOCK, R.apply(p_inner) + p, R @ R_inner),
            (PointMass(mass=1), R.apply((0.1, 0, 0)) + p, R),
            (BLOCK, (0, 0, 1), None),
        ]
    )
    close(nested.centre, flat.centre, 1e-13)
    close(nested.euler_B, flat.euler_B, 1e-12)


@given(positions, st.floats(0.01, 100))
def test_a_point_mass_adds_the_reduced_mass_times_the_dyad_of_its_distance(p, mass):
    joined = BLOCK.with_point_mass(mass, p)
    reduced = BLOCK.mass * mass / (BLOCK.mass + mass)
    close(joined.centre, mass / (BLOCK.mass + mass) * np.array(p))
    close(joined.euler_B, BLOCK.euler_B + reduced * np.outer(p, p), 1e-13)
    again = joined.with_point_mass(mass, p)
    close(again.euler_B, BLOCK.with_point_mass(2 * mass, p).euler_B, 1e-12)


@given(rotations, positions)
def test_turning_and_moving_a_composite_turns_its_tensor_only(R, p):
    turned = Composite(parts=[(BLOCK, p, R)])
    close(turned.centre, p)
    close(turned.inertia_B, R.matrix @ BLOCK.inertia_B @ R.matrix.T, 1e-14)
    principal = PrincipalInertia.of(turned)
    close(np.sort(principal.euler), np.sort(np.diag(BLOCK.euler_B)), 1e-14)


@given(rotations, euler_values)
def test_rigid_body_in_a_frame_is_the_turned_tensor(R, E):
    principal = np.array([E[1] + E[2], E[2] + E[0], E[0] + E[1]])
    framed = RigidBody(mass=1, inertia=principal, frame=R)
    turned = RigidBody(mass=1, inertia=R.matrix @ np.diag(principal) @ R.matrix.T)
    close(framed.inertia_B, turned.inertia_B)
    close(framed.euler_B, R.matrix @ np.diag(E) @ R.matrix.T, 1e-13)
    assert replace(framed) == framed


def test_rigid_body_keeps_given_numbers_exactly():
    body = RigidBody(mass=0.5, inertia=(4e-3, 4e-3, 4e-4))
    assert np.array_equal(body.inertia_B, np.diag([4e-3, 4e-3, 4e-4]))
    assert body.inertia == (4e-3, 4e-3, 4e-4)
    close(np.diag(body.euler_B), (2e-4, 2e-4, 3.8e-3))


@pytest.mark.parametrize("name", SHAPES)
def test_principal_frame_keeps_the_axes_of_a_diagonal_tensor(name):
    shape = SHAPES[name]
    principal = PrincipalInertia.of(shape)
    assert np.array_equal(principal.R_BP, np.eye(3))
    assert np.array_equal(principal.euler, np.diag(shape.euler_B))
    close(principal.inertia, np.diag(shape.inertia_B))
    assert principal.mass == 3


def test_principal_frame_keeps_the_axes_in_spite_of_round_off():
    E = np.diag([3.0, 2.0, 1.0])
    E[0, 1] = E[1, 0] = 1e-15
    principal = PrincipalInertia.of(RigidBody(mass=1, inertia=inertia_from_euler(E)))
    assert np.array_equal(principal.R_BP, np.eye(3))


@given(rotations, euler_values, positions)
def test_principal_frame_diagonalises_the_euler_tensor(R, E, p):
    J = inertia_from_euler(R.matrix @ np.diag(E) @ R.matrix.T)
    body = Composite(parts=[(RigidBody(mass=2, inertia=(J + J.T) / 2), p, None)])
    principal = PrincipalInertia.of(body)
    P = principal.R_BP
    close(P.T @ P, np.eye(3))
    assert np.linalg.det(P) > 0
    close(P @ np.diag(principal.euler) @ P.T, body.euler_B, 1e-12)
    close(np.sort(principal.euler), np.sort(E), 1e-12)
    close(principal.centre, p)


@given(st.lists(st.floats(-0.4, 0.4), min_size=3, max_size=3), st.permutations([1.0, 2.0, 4.0]))
def test_principal_frame_is_the_one_closest_to_the_given_axes(theta, E):
    R = Rotation.from_rotation_vector(theta)
    J = inertia_from_euler(np.diag(E))
    principal = PrincipalInertia.of(RigidBody(mass=1, inertia=J, frame=R))
    close(principal.R_BP, R.matrix, 1e-13)
    close(principal.euler, E, 1e-13)


@given(st.floats(-0.7, 0.7), st.floats(-3, 3))
def test_axes_of_a_round_body_follow_the_given_axes(tilt, spin):
    # Turned about its axis of symmetry nothing changes, tilted about x only the tilt remains.
    frame = Rotation.from_euler("XZ", (tilt, spin))
    principal = PrincipalInertia.of(RigidBody(mass=1, inertia=(3, 3, 2), frame=frame))
    close(principal.R_BP, so3.exp([tilt, 0, 0]), 1e-12)
    close(principal.euler, (1, 1, 2), 1e-13)


@given(rotations)
def test_a_ball_keeps_the_given_axes_however_it_is_turned(R):
    principal = PrincipalInertia.of(Composite(parts=[(Sphere(mass=1, radius=1), (0, 0, 0), R)]))
    close(principal.R_BP, np.eye(3), 1e-14)
    close(principal.euler, np.full(3, 0.2), 1e-15)


@given(rotations)
def test_a_turned_rod_has_one_positive_and_two_exactly_zero_euler_values(R):
    rod = Composite(parts=[(ThinRod(mass=3, length=2), (0, 0, 0), R)])
    values = np.sort(PrincipalInertia.of(rod).euler)
    assert values[0] == values[1] == 0
    close(values[2], 1.0)


@given(
    st.floats(1e-9, 1e9),
    st.one_of(st.just(0.0), st.floats(0, 1)),
    st.permutations(range(3)),
    st.integers(-2, 2),
)
def test_moments_of_flat_and_slender_bodies_give_exact_zeros(size, part, order, ulps):
    """Of J = (a + b, a, b) one Euler value is zero, and two if b is; whatever the sum rounds to."""
    larger, smaller = size, size * part
    total = (larger + smaller) * (1 + ulps * np.finfo(float).eps)
    moments = np.array([total, larger, smaller])[list(order)]
    of = PrincipalInertia.of(RigidBody(mass=1, inertia=tuple(moments)))
    expected = np.array([0.0, smaller, larger])[list(order)]
    np.testing.assert_allclose(of.euler, expected, rtol=1e-15, atol=1e-14 * size)
    assert of.euler[order.index(0)] == 0
    if part == 0:
        assert np.count_nonzero(of.euler) == 1


def test_sums_that_do_not_round_off_are_kept():
    of = PrincipalInertia.of(RigidBody(mass=1, inertia=(1.0, 1.0, 1e-12)))
    np.testing.assert_allclose(of.euler, (5e-13, 5e-13, 1.0), rtol=1e-3)


def test_a_point_mass_has_no_euler_tensor():
    principal = PrincipalInertia.of(PointMass(mass=2))
    assert np.array_equal(principal.euler, np.zeros(3))
    assert np.array_equal(principal.R_BP, np.eye(3))


@pytest.mark.parametrize("excess", [0.0, 1e-13])
def test_a_body_on_the_boundary_of_the_triangle_inequality_is_allowed(excess):
    body = RigidBody(mass=1, inertia=(1, 2, 3 + excess))
    principal = PrincipalInertia.of(body)
    assert principal.E3 == 0
    rod = RigidBody(mass=1, inertia=(1, 1, 0))
    assert np.array_equal(PrincipalInertia.of(rod).euler, (0, 0, 1))


def test_shapes_are_values_that_keep_their_geometry():
    box = Box(mass=1, size=np.array([1, 2, 3]))
    assert box.size == (1.0, 2.0, 3.0)
    assert box == Box(mass=1.0, size=[1, 2, 3])
    assert len({box, Box(mass=1, size=(1, 2, 3))}) == 1
    joined = box.with_point_mass(1, (0, 0, 1))
    assert joined == box.with_point_mass(1, (0, 0, 1))
    assert joined.parts[1] == Part(PointMass(mass=1), (0, 0, 1), Rotation.identity())
    assert replace(joined) == joined
    assert repr(box) == "Box(mass=1.0, density=None, size=(1.0, 2.0, 3.0))"
    with pytest.raises(AttributeError):
        box.mass = 2


class Impossible(Shape):
    @property
    def euler_B(self):
        return np.diag([1.0, 1.0, -0.5])


@pytest.mark.parametrize("kind", [Shape, Solid])
def test_general_shapes_are_abstract(kind):
    with pytest.raises(TypeError, match="abstract"):
        kind(mass=1)


SKEWED = np.array([[2, 0.1, 0], [0.1, 2, 0.25], [0, 0.2, 2]])
NEGATIVE = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]
TILTED = AWRY.matrix @ np.diag([1.0, 1.0, 3.0]) @ AWRY.matrix.T


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box(mass=0, size=(1, 1, 1)), "Box: mass is 0 kg; it must be positive"),
        (lambda: Box(mass=-2, size=(1, 1, 1)), "Box: mass is -2 kg; it must be positive"),
        (lambda: PointMass(mass=np.nan), "PointMass: mass contains NaN or infinity"),
        (lambda: Sphere(mass=np.inf, radius=1), "Sphere: mass contains NaN or infinity"),
        (lambda: Box(mass="2 kg", size=(1, 1, 1)), "Box: mass is '2 kg'; give numbers in kg"),
        (lambda: Box(mass=[1, 2], size=(1, 1, 1)), r"Box: mass has shape \(2,\); give one number"),
        (lambda: Box(size=(1, 1, 1)), "Box: give mass or density, exactly one; got neither"),
        (lambda: Box(mass=1, density=1, size=(1, 1, 1)), "exactly one; got both"),
        (lambda: Box(density=-1, size=(1, 1, 1)), r"Box: density is -1 kg/m\^3; it must be pos"),
        (lambda: Box(density=1, size=(1, 1, 0)), "Box: .* no volume; give mass, not density"),
        (lambda: Box(mass=1, size=(1, -1, 1)), "Box: size along y is -1 m; .* positive or zero"),
        (lambda: Box(mass=1, size=(0, 0, 0)), "size is zero in all directions; use PointMass"),
        (lambda: Box(mass=1, size=(1, 1)), r"Box: size has shape \(2,\); give three numbers in m"),
        (lambda: Box(mass=1, size=(1, 1, np.nan)), "Box: size contains NaN"),
        (lambda: Cylinder(mass=1, radius=0, length=1), "Cylinder: radius is 0 m; it must be pos"),
        (lambda: Cylinder(mass=1, radius=1, length=-1), "Cylinder: length is -1 m"),
        (
            lambda: HollowCylinder(mass=1, inner_radius=2, outer_radius=1, length=1),
            "inner_radius 2 m is larger than outer_radius 1 m; exchange them",
        ),
        (
            lambda: HollowCylinder(density=1, inner_radius=1, outer_radius=1, length=1),
            "HollowCylinder: .* no volume",
        ),
        (lambda: Sphere(mass=1, radius=-1), "Sphere: radius is -1 m"),
        (lambda: Cone(mass=1, radius=1, height=0), "Cone: height is 0 m"),
        (lambda: Cone(mass=1, radius=-1, height=1), "Cone: radius is -1 m"),
        (lambda: Ellipsoid(mass=1, semi_axes=(1, 1, 0)), "Ellipsoid: semi_axes along z is 0 m"),
        (lambda: ThinRod(mass=1, length=0), "ThinRod: length is 0 m"),
        (lambda: RigidBody(mass=0, inertia=(1, 1, 1)), "RigidBody: mass is 0 kg"),
        (lambda: RigidBody(mass=1, inertia=(1, 1)), r"inertia has shape \(2,\); give three princ"),
        (lambda: RigidBody(mass=1, inertia=(1, 1, np.nan)), "inertia contains NaN or infinity"),
        (
            lambda: RigidBody(mass=1, inertia=SKEWED),
            r"not symmetric: J\[1,2\] = 0.25 but J\[2,1\] = 0.2 kg m\^2, a difference of 0.05",
        ),
        (
            lambda: RigidBody(mass=1, inertia=(1, -1, 1)),
            r"principal value J2 = -1 kg m\^2 is negative; check the signs",
        ),
        (lambda: RigidBody(mass=1, inertia=NEGATIVE), r"principal value J1 = -1 kg m\^2 is neg"),
        (
            lambda: RigidBody(mass=1, inertia=(1, 3, 1)),
            r"is not possible for a body: J1 \+ J3 = 2 is less than J2 = 3 kg m\^2, short by 1",
        ),
        (lambda: RigidBody(mass=1, inertia=(1, 2, 3 + 1e-10)), "short by 1e-10"),
        (lambda: RigidBody(mass=1, inertia=TILTED), r"J1 \+ J2 = 2 is less than J3 = 3 kg m\^2"),
        (
            lambda: RigidBody(mass=1, inertia=(1, 1, 1), frame=2 * np.eye(3)),
            "RigidBody: frame: the matrix is not orthogonal",
        ),
        (lambda: Composite(parts=[]), r"Composite: no parts; give \[\(shape, position, rotation"),
        (lambda: Composite(parts=[BLOCK]), r"part 0: expected \(shape, position, rotation\)"),
        (lambda: Composite(parts=[(1, (0, 0, 0), None)]), "part 0: 1 is not a shape"),
        (
            lambda: Composite(parts=[(BLOCK, (0, 0, 0), None), (BLOCK, (0, 0), None)]),
            r"Composite: part 1: position has shape \(2,\); give three numbers",
        ),
        (lambda: Composite(parts=[(BLOCK, (0, 0, np.inf), None)]), "part 0: position contains NaN"),
        (
            lambda: Composite(parts=[(BLOCK, (0, 0, 0), (1, 1, 0, 0))]),
            "Composite: part 0: rotation: the quaternion .* has norm 1.41421356",
        ),
        (lambda: BLOCK.with_point_mass(0, (0, 0, 1)), "PointMass: mass is 0 kg"),
        (
            lambda: PrincipalInertia.of(Impossible(mass=1)),
            "Impossible: inertia is not possible for a body",
        ),
    ],
)
def test_impossible_bodies_are_refused_with_the_reason(make, message):
    with pytest.raises(InputError, match=message):
        make()
