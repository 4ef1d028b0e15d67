"""Matrices of beams: closed forms of vibration, rigid motions, and scikit-fem as an oracle."""

from math import pi, sqrt

import numpy as np
import pytest
import scipy.linalg
import skfem

from poinsot.elements.beams import COMPONENTS, BeamMatrices
from poinsot.elements.conditions import free_unknowns
from poinsot.elements.sections import CircularSection, RectangularSection, Section, SectionLaw
from poinsot.errors import InputError

#: Roots of 1 + cos(b) cosh(b) = 0 (clamped-free); the first one with the beam's mass at its tip.
CANTILEVER = (1.87510406871196117, 4.69409113297417458)
TIP_MASS = 1.24791740960646946
SECTION = Section(area=2.0, I1=3.0, I2=5.0, J=7.0)


def beam(elements=4, **changes):
    """Return a beam whose numbers are all different."""
    sizes = {"length": 1.7, "density": 1.3, "youngs_modulus": 11.0, "shear_modulus": 6.0}
    return BeamMatrices(**sizes | {"section": SECTION, "elements": elements} | changes)


def frequencies(K, M, free):
    """Return the natural frequencies of the unknowns that are free [rad/s]."""
    K, M = (np.asarray(A.todense())[np.ix_(free, free)] for A in (K, M))
    return np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True))


def only(b, *components):
    """Return the unknowns of these components at all nodes but the first."""
    return [6 * i + COMPONENTS.index(c) for i in range(1, b.n // 6) for c in components]


#: Unknowns, rigidity and inertia a length of each kind of vibration.
PLANES = {
    "y": (("u_y", "theta_z"), 11.0 * 5.0, 1.3 * 2.0),
    "z": (("u_z", "theta_y"), 11.0 * 3.0, 1.3 * 2.0),
}


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize(
    ("elements", "published"), [(1, (3.53273, 34.8069)), (2, (3.51772, 22.2215))]
)
def test_one_and_two_hermite_elements_vibrate_as_published(elements, published, plane):
    components, EI, mass = PLANES[plane]
    b = beam(elements)
    omega = frequencies(b.K, b.M, only(b, *components)) * sqrt(mass * b.length**4 / EI)
    assert omega[:2] == pytest.approx(published, rel=3e-6)


@pytest.mark.parametrize("plane", PLANES)
def test_bending_frequencies_converge_with_order_four(plane):
    components, EI, mass = PLANES[plane]
    errors = []
    for elements in (4, 8, 16):
        b = beam(elements)
        omega = frequencies(b.K, b.M, only(b, *components))[:2]
        exact = np.square(CANTILEVER[:2]) * sqrt(EI / mass) / b.length**2
        errors.append(omega / exact - 1)
    assert np.all(np.array(errors) > 0), "a Galerkin method is too stiff, never too soft"
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(4, abs=0.15)


@pytest.mark.parametrize(
    ("component", "speed"), [("u_x", sqrt(11.0 / 1.3)), ("theta_x", sqrt(6 * 7 / (1.3 * 8)))]
)
def test_axial_and_torsional_frequencies_converge_with_order_two(component, speed):
    errors = []
    for elements in (8, 16, 32):
        b = beam(elements)
        omega = frequencies(b.K, b.M, only(b, component))[:2]
        errors.append(omega / (np.array([1, 3]) * pi / 2 * speed / b.length) - 1)
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(2, abs=0.05)


def test_a_cantilever_with_a_tip_mass_has_the_frequency_of_the_closed_form():
    components, EI, mass = PLANES["y"]
    b = beam(8)
    M = b.M.tolil()
    tip = b.n - 6 + COMPONENTS.index("u_y")
    M[tip, tip] += mass * b.length
    omega = frequencies(b.K, M, only(b, *components))[0]
    assert omega == pytest.approx(TIP_MASS**2 * sqrt(EI / mass) / b.length**2, rel=1e-7)


def test_rotary_inertia_gives_the_frequencies_of_a_pinned_rayleigh_beam():
    b = beam(24, rotary_inertia=True)
    EI, mass, inertia, wave = 11.0 * 5.0, 1.3 * 2.0, 1.3 * 5.0, pi / b.length
    free = [6 * i + c for i in range(25) for c in (1, 5) if (i, c) not in {(0, 1), (24, 1)}]
    exact = wave**2 * sqrt(EI / (mass + inertia * wave**2))
    assert frequencies(b.K, b.M, free)[0] == pytest.approx(exact, rel=1e-6)


def test_nodes_may_stand_anywhere():
    places = [0, 0.1, 0.7, 0.9, 1.7]
    uneven, even = beam(places), beam(64)
    components = PLANES["z"][0]
    one = frequencies(uneven.K, uneven.M, only(uneven, *components))
    exact = frequencies(even.K, even.M, only(even, *components))
    assert one[:2] == pytest.approx(exact[:2], rel=1e-2)
    assert one[0] > exact[0]


def test_matrices_are_those_of_scikit_fem():
    places = np.array([0, 0.1, 0.7, 0.9, 1.7])
    b = beam(places)
    mesh = skfem.MeshLine(places)
    hermite = skfem.Basis(mesh, skfem.ElementLineHermite(), intorder=7)
    linear = skfem.Basis(mesh, skfem.ElementLineP1(), intorder=7)
    mass = skfem.BilinearForm(lambda u, v, w: u * v)
    slopes = skfem.BilinearForm(lambda u, v, w: u.grad[0] * v.grad[0] * (1 + w.x[0] ** 2))
    bending = skfem.BilinearForm(lambda u, v, w: u.hess[0, 0] * v.hess[0, 0])

    def block(A, rows, columns):
        rows, columns = ([6 * i + c for i in range(5) for c in kind] for kind in (rows, columns))
        return np.asarray(A.todense())[np.ix_(rows, columns)]

    y, x = (1, 5), (0,)
    xy = mass.assemble(hermite, linear).toarray()
    assert block(b.M, y, y) == pytest.approx(2.6 * mass.assemble(hermite).toarray(), abs=1e-13)
    assert block(b.integrals.pairs[0][1], x, y) == pytest.approx(2.6 * xy, abs=1e-13)
    assert block(b.K, y, y) == pytest.approx(55 * bending.assemble(hermite).toarray(), rel=1e-11)
    stiffening = b.geometric_stiffness(lambda x: 1 + x**2)
    expected = slopes.assemble(hermite).toarray()
    assert block(stiffening, y, y) == pytest.approx(expected, abs=1e-12)
    flipped = np.tile([1, -1], 5)  # theta_y = -u_z'
    assert block(stiffening, (2, 4), (2, 4)) == pytest.approx(
        np.outer(flipped, flipped) * expected, abs=1e-12
    )


@pytest.mark.parametrize("elements", [1, 3, 200])
def test_rigid_motions_have_no_strain(elements):
    b = beam(elements)
    assert abs(b.K @ b.rigid).max() < 1e-13 * abs(b.K).max()


@pytest.mark.parametrize("rotary_inertia", [False, True])
def test_coupling_with_the_frame_is_the_mass_of_the_rigid_motions(rotary_inertia):
    b = beam(3, rotary_inertia=rotary_inertia)
    both = np.hstack([b.rigid, np.eye(b.n)])
    assert b.integrals.mass_matrix() == pytest.approx(both.T @ b.M @ both, abs=1e-12)


def test_mass_first_moment_and_inertia_are_those_of_a_slender_rod():
    b = beam(3)
    m, L = 1.3 * 2.0 * 1.7, 1.7
    assert b.integrals.mass == pytest.approx(m)
    assert b.integrals.s() == pytest.approx([m * L / 2, 0, 0])
    assert b.integrals.J() == pytest.approx(np.diag([1.3 * 8 * L, m * L**2 / 3, m * L**2 / 3]))
    thick = beam(3, rotary_inertia=True).integrals.J()
    assert np.diag(thick) == pytest.approx([1.3 * 8 * L, m * L**2 / 3 + 6.63, m * L**2 / 3 + 11.05])


def test_integrals_of_a_deformed_beam_are_those_of_its_deformed_points():
    b = beam(3)
    u = np.random.default_rng(0).normal(size=b.n)
    points = b.line.gauss
    N = np.stack([np.asarray(f.todense()) for f in b.displacement(points)])
    x_f = N @ u
    x_f[0] += b.line.places(points)
    rho = 1.3 * 2.0 * points.weight
    s = x_f @ rho
    J = sum(r * (p @ p * np.eye(3) - np.outer(p, p)) for r, p in zip(rho, x_f.T, strict=True))
    xS = np.cross(x_f.T[:, :, None], N.transpose(1, 0, 2), axis=1)
    integrals = b.integrals
    assert integrals.s(u) == pytest.approx(s)
    assert integrals.J(u) - integrals.section_inertia == pytest.approx(J)
    assert integrals.xS(u) - integrals.section_S == pytest.approx(np.einsum("q,qan", rho, xS))


def test_integrals_of_modes_are_those_of_the_unknowns_that_they_stand_for():
    b = beam(2)
    rng = np.random.default_rng(1)
    modes, eta = rng.normal(size=(b.n, 4)), rng.normal(size=4)
    full, reduced = b.integrals, b.integrals.of(modes)
    assert reduced.J(eta) == pytest.approx(full.J(modes @ eta))
    assert reduced.xS(eta) == pytest.approx(full.xS(modes @ eta) @ modes)
    assert pytest.approx(modes.T @ full.M @ modes) == reduced.M


def test_discontinuous_stress_has_the_stiffness_of_the_displacement_method():
    b = beam([0, 0.3, 1.0, 1.7])
    assert abs(b.stress().stiffness - b.K).max() < 1e-13 * abs(b.K).max()


def test_stress_resultants_are_rigidities_times_strains():
    b = beam([0, 0.3, 1.0, 1.7])
    u = np.random.default_rng(2).normal(size=b.n)
    stress = b.stress()
    middles, ends = b.line.at([0.15, 0.65, 1.35]), np.array([0, 0.3, 1.0, 1.7])
    inside = b.line.at(np.column_stack([ends[:-1], ends[1:] * (1 - 1e-14)]).ravel())
    for k, (name, points) in enumerate(
        [("n", middles), ("torque", middles), ("m_y", inside), ("m_z", inside)]
    ):
        expected = b.rigidities[k] * (b.strain(points)[k] @ u)
        assert stress.component(name) @ u == pytest.approx(expected, rel=1e-10)


def test_a_tip_force_makes_the_moment_of_statics():
    b = beam(5)
    free = free_unknowns(b, "clamped-free")
    load = b.at(1.7).T @ np.array([0, 2.0, 0, 0, 0, 0])
    u = np.zeros(b.n)
    u[free] = np.linalg.solve(b.K.todense()[np.ix_(free, free)], load[free])
    assert (b.at(1.7) @ u)[1] == pytest.approx(2 * 1.7**3 / (3 * 55))
    m_z = b.stress().component("m_z") @ u
    assert m_z[::2] == pytest.approx(2 * (1.7 - b.line.nodes[:-1]))


@pytest.mark.parametrize("kind", [*PLANES, "x"])
def test_frequencies_with_the_continuous_stress_of_the_paper_converge(kind):
    if kind == "x":
        components, exact = ("u_x",), pi / 2 * sqrt(11.0 / 1.3) / 1.7
    else:
        components, EI, mass = PLANES[kind]
        exact = CANTILEVER[0] ** 2 * sqrt(EI / mass) / 1.7**2
    errors = []
    for elements in (4, 8, 16):
        b = beam(elements)
        omega = frequencies(b.stress("continuous").stiffness, b.M, only(b, *components))[0]
        errors.append(abs(omega / exact - 1))
    assert np.log2(np.divide(errors[:-1], errors[1:])).min() > (1.9 if kind == "x" else 3)


def test_tension_raises_the_frequency_of_a_pinned_beam_as_in_the_closed_form():
    b = beam(16)
    free = [6 * i + c for i in range(17) for c in (1, 5) if (i, c) not in {(0, 1), (16, 1)}]
    EI, mass, wave, tension = 55.0, 2.6, pi / b.length, 70.0
    exact = wave * sqrt((EI * wave**2 + tension) / mass)
    omega = frequencies(b.K + b.geometric_stiffness(tension), b.M, free)[0]
    assert omega == pytest.approx(exact, rel=1e-5)


def test_compression_by_eulers_load_buckles_a_cantilever():
    b = beam(16)
    free = only(b, "u_y", "theta_z")
    K, G = (np.asarray(A.todense())[np.ix_(free, free)] for A in (b.K, b.geometric_stiffness(1.0)))
    assert scipy.linalg.eigh(K, G, eigvals_only=True)[0] == pytest.approx(
        55 * (pi / (2 * b.length)) ** 2, rel=1e-5
    )


def test_conditions_hold_what_the_paper_holds():
    b = beam(2)
    assert free_unknowns(b, "clamped-free").tolist() == list(range(6, 18))
    assert free_unknowns(b, "simply supported").tolist() == [4, 5, *range(6, 13), 15, 16, 17]
    held = [(1, component) for component in COMPONENTS]
    assert free_unknowns(b, held).tolist() == [*range(6), *range(12, 18)]


@pytest.mark.parametrize(
    ("held", "missing"),
    [
        ([], "'u_x', 'u_y', 'u_z', 'theta_x', 'theta_y', 'theta_z'"),
        ([(0, c) for c in COMPONENTS if c != "theta_x"], "hold 'theta_x' at"),
        ([(0, "u_x"), (0, "u_y"), (0, "u_z"), (0, "theta_x"), (-1, "u_y")], "hold 'theta_y' at"),
        ([(1, "u_x"), (1, "u_y"), (1, "u_z"), (1, "theta_x"), (2, "u_z")], "hold 'u_y' at"),
    ],
)
@pytest.mark.parametrize("length", [1.7e-3, 1.7, 1.7e3])
def test_a_rigid_motion_left_in_the_deformation_is_refused_with_what_is_missing(
    held, missing, length
):
    with pytest.raises(InputError, match=missing):
        free_unknowns(beam(2, length=length), held)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 0}, "length is 0; it must be positive"),
        ({"density": -1}, "density is -1"),
        ({"youngs_modulus": 0.0}, "youngs_modulus"),
        ({"shear_modulus": np.nan}, "shear_modulus"),
        ({"elements": 0}, "elements is 0"),
        ({"elements": [0, 1, 1, 1.7]}, "increasing numbers from 0 to the length, 1.7 m"),
        ({"elements": [0, 1.0]}, "increasing numbers"),
        ({"section": 3}, "give a CircularSection"),
        (
            {"section": SectionLaw(stiffness=np.ones(6), mass=1, inertia=(1, 1))},
            "give a CircularSection",
        ),
    ],
)
def test_what_is_no_beam_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        beam(**changes)


def test_a_place_off_the_beam_is_refused():
    with pytest.raises(InputError, match="x = 2 m is not on the beam"):
        beam().at(2)


def test_sections_have_the_moments_of_the_textbooks():
    *_, J = RectangularSection(width=2.0, height=2.0).constants
    assert pytest.approx(0.1405770 * 2**4, rel=1e-6) == J
    _, I1, I2, J = RectangularSection(width=10.0, height=0.1).constants
    assert pytest.approx(10 * 0.1**3 / 3 * (1 - 0.630249 * 0.01)) == J
    assert pytest.approx(1e4) == I2 / I1
    _, I1, I2, J = CircularSection(radius=3.0, inner_radius=2.0).constants
    assert pytest.approx(pi / 2 * (3**4 - 2**4)) == I1 + I2
    assert pytest.approx(I1 + I2) == J
    with pytest.raises(InputError, match="area is 0; it must be positive"):
        Section(area=0, I1=1, I2=1, J=1)
    with pytest.raises(InputError, match="not smaller than radius"):
        CircularSection(radius=1, inner_radius=2)


def test_the_width_of_a_section_is_along_y_and_its_height_along_z():
    strip = beam(section=RectangularSection(width=0.3, height=0.1), elements=1, youngs_modulus=1.0)
    _, _, EI_y, EI_z = strip.rigidities
    assert EI_y == pytest.approx(0.3 * 0.1**3 / 12)
    assert EI_z == pytest.approx(0.1 * 0.3**3 / 12)
