"""Velocities in body axes: matrices of the paper, structure, and exact derivatives."""

import loads
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws, random_state

import poinsot as ps
from poinsot.ph.derivatives import jacobian
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.matrices import dense, is_sparse

COORDINATES = ("rotations", "rotations-quaternion", "rotations-euler")
#: Models, and how exactly what is in them is differentiated.
MODELS = {
    "exact laws": (lambda: loads.linear(4), 1e-8),
    "free bodies": (lambda: loads.linear(3, bodies=1, ground=False), 1e-8),
    "laws by differences": (lambda: loads.loaded(6), 1e-5),
    "sparse matrices": (lambda: loads.linear(5, bodies=44), 1e-8),
}
CASES = [
    (name, coordinates)
    for name in MODELS
    for coordinates in COORDINATES
    if name != "sparse matrices" or coordinates == "rotations"
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: " in ".join(case))
def case(request):
    name, coordinates = request.param
    build, tolerance = MODELS[name]
    return build().compile(coordinates), tolerance


def check(tangent, f, x, tolerance, seed=0):
    """Compare a derivative with differences along a direction."""
    a = np.random.default_rng(seed).standard_normal(x.size)
    along = jacobian(lambda s: f(x + s[0] * a), np.zeros(1), 0.1)[:, 0]
    np.testing.assert_allclose(
        dense(tangent) @ a, along, atol=tolerance * (1 + abs(along).max()), rtol=0
    )


def test_all_tangents_of_the_system_are_derivatives(case):
    system, tolerance = case
    random, x = np.random.default_rng(6), random_state(system, 7)
    z, u = random.standard_normal(system.n), random.standard_normal(system.m)
    assert is_sparse(system.J(x)) == (system.bodies.count == 44)
    check(system.dz(x), system.z, x, tolerance)
    check(system.dflow(x, z, u), lambda x: system.flow(x, z, u), x, tolerance)
    check(system.dflow_dz(x, z), lambda z: system.flow(x, z, u), z, tolerance)
    check(system.dr_dz(x, z), lambda z: system.r(x, z), z, tolerance)
    check(system.dy(x, z), lambda x: system.y(x, z), x, tolerance)


def test_the_newton_matrix_of_a_step_is_exact_away_from_its_solution(case):
    system, tolerance = case
    random = np.random.default_rng(4)
    x0, u = random_state(system, 5), random.standard_normal(system.m)
    problem = stage_equations(system, ps.SCHEMES["ph-mp"], 0.4, x0, u, 0.1)
    w = problem.guess + 0.2 * random.standard_normal(problem.guess.size)
    assert len(problem.labels) == w.size
    check(problem.evaluate(w).tangent().T, lambda w: problem.evaluate(w).F, w, tolerance)


@pytest.mark.parametrize("coordinates", COORDINATES)
@laws(4)
@given(seed=st.integers(0, 10**6), laws_too=st.booleans())
def test_the_system_is_port_hamiltonian_at_any_state(coordinates, seed, laws_too):
    build = loads.loaded if laws_too else loads.linear
    system = build(seed % 50).compile(coordinates)
    defects = system.defects(random_state(system, seed))
    assert defects.holds(1e-6), str(defects)
    assert max(defects.skew, defects.semidefinite, defects.resistive) < 1e-14
    assert defects.dirac < 1e-10


# -- the matrices of the paper ---------------------------------------------------------------------


def free(coordinates, **start):
    model = ps.Model()
    model.add_body("box", ps.RigidBody(mass=2, inertia=(3, 4, 5)), **start)
    return model.compile(coordinates)


def test_kinematics_of_rotation_matrices_are_those_of_the_paper():
    """[BHRS25, eq. (11)], and phi' = R v."""
    R = ps.Rotation.from_axis_angle((1, 2, 3), 0.7).matrix
    Z = free("rotations").Z(np.concatenate([np.ones(3), R.T.reshape(-1)]))
    zero, (R1, R2, R3) = np.zeros(3), R.T
    rotation = np.block([[zero, -R3, R2], [R3, zero, -R1], [-R2, R1, zero]]).reshape(3, 3, 3)
    expected = np.vstack([np.stack(row, axis=1) for row in rotation])
    np.testing.assert_allclose(Z[:3, :3], R, atol=1e-15)
    np.testing.assert_allclose(Z[3:, 3:], expected, atol=1e-15)
    assert not Z[:3, 3:].any()
    assert not Z[3:, :3].any()


def test_kinematics_of_euler_angles_are_those_of_the_paper():
    """[BHRS25, eq. (18)]; the middle row of (16a) is misprinted."""
    a, b = 0.4, -0.9
    Z = free("rotations-euler").Z(np.array([1, 2, 3, a, b, 2.0]))[3:, 3:]
    sin, cos = np.sin, np.cos
    published = [
        [cos(b), sin(a) * sin(b), cos(a) * sin(b)],
        [0, cos(a) * cos(b), -sin(a) * cos(b)],
        [0, sin(a), cos(a)],
    ]
    np.testing.assert_allclose(Z, np.array(published) / cos(b), atol=1e-15)


@pytest.mark.parametrize("coordinates", COORDINATES)
@laws(8)
@given(seed=st.integers(0, 10**6))
def test_momenta_of_a_free_body_stay_in_space_by_the_gyroscopic_matrix(coordinates, seed):
    """(R p)' = (R L)' = 0 needs G = -[[0, p], [p, L]]: with (10), (18) has the wrong sign."""
    random = np.random.default_rng(seed)
    system = free(coordinates, rotation=ps.Rotation.from_rotation_vector(random.uniform(-1, 1, 3)))
    w, M, zeta = random.standard_normal(6), dense(system.M), system.start[: system.bodies.n]
    Gamma = M @ w
    dGamma = -dense(system.G(Gamma)) @ w
    np.testing.assert_allclose(np.diag(M), [2, 2, 2, 3, 4, 5])

    def in_space(s):
        """Momenta in world axes a time s later, to first order."""
        R = system.bodies.rotations(zeta + s[0] * (system.Z(zeta) @ w))[0]
        p, L = np.split(Gamma + s[0] * dGamma, 2)
        return np.concatenate([R @ p, R @ L])

    assert abs(jacobian(in_space, np.zeros(1), 0.1)).max() < 1e-9
    G = dense(system.G(Gamma))
    np.testing.assert_array_equal(G, -G.T)
    np.testing.assert_allclose(G[3:, 3:] @ w[3:], np.cross(w[3:], Gamma[3:]), atol=1e-14)
