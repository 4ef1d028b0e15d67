"""Modes of beams against the frequencies of Euler and Bernoulli, and of their elements."""

import numpy as np
import pytest

import poinsot as ps

#: beta L of uniform beams; omega = (beta L)^2 sqrt(EI / (rho A L^4)).
CLAMPED_FREE = (1.87510406871196, 4.69409113297417, 7.85475743823761)
PINNED_PINNED = (np.pi, 2 * np.pi, 3 * np.pi)
PINNED_FREE = (3.92660231204792, 7.06858274562873)
FREE_FREE = (4.73004074486270, 7.85320462409584)
CLAMPED_CLAMPED = FREE_FREE
CLAMPED_PINNED = PINNED_FREE
#: Of a cantilever with a mass at its tip, over the mass of the beam.
TIP_MASS = {0.5: 1.41996442976815, 1.0: 1.24791740960647, 5.0: 0.870021458889934}
#: Consistent Hermite elements, omega sqrt(rho A L^4 / EI).
ELEMENTS = {1: (3.53273, 34.8069), 2: (3.51772, 22.2215)}
LENGTH, AREA, MOMENT, DENSITY, E = 2.0, 1e-4, 1e-9, 2000.0, 1e10
UNIT = np.sqrt(E * MOMENT / (DENSITY * AREA * LENGTH**4))


def beam(elements=6, **options):
    section = ps.Section(area=AREA, I1=MOMENT, I2=MOMENT, J=2 * MOMENT)
    return ps.Beam(
        length=LENGTH,
        section=section,
        density=DENSITY,
        youngs_modulus=E,
        elements=elements,
        **{"planar": True} | options,
    )


def joined(shape, start=None, end=None):
    """Return the beam along x with joints at its ends: "weld", "hinge", "slide" or none."""
    model = ps.Model()
    body = model.add_body("beam", shape, position=(LENGTH / 2, 0, 0))
    for name, kind, place, x in (("A", start, body.start, 0.0), ("B", end, body.end, LENGTH)):
        point, axis = (x, 0.0, 0.0), (0, 0, 1)
        if kind == "weld":
            model.add_joint(name, ps.Weld(model.ground, place))
        elif kind == "hinge":
            model.add_joint(name, ps.Revolute(model.ground, place, point=point, axis=axis))
        elif kind == "slide":
            rail = ps.PointOnPlane(model.ground, place, point=point, normal=(0, 1, 0))
            model.add_joint(name, rail)
    return model


def bending(model, count):
    """Return the first frequencies that are not zero, in sqrt(EI / (rho A L^4))."""
    found = ps.analysis.modes(model)
    return found.frequencies[found.rigid :][:count] / UNIT


@pytest.mark.parametrize("held", ["clamped-free", "simply supported"])
@pytest.mark.parametrize(
    ("start", "end", "roots"),
    [
        ("weld", None, CLAMPED_FREE),
        ("hinge", "slide", PINNED_PINNED),
        ("weld", "slide", CLAMPED_PINNED),
        ("weld", "weld", CLAMPED_CLAMPED),
        (None, None, FREE_FREE),
    ],
)
def test_joints_make_the_boundary_conditions_whatever_holds_the_deformation(
    start, end, roots, held
):
    found = bending(joined(beam(held=held), start, end), len(roots))
    np.testing.assert_allclose(found, np.square(roots), rtol=4e-3)
    assert abs(found[0] / roots[0] ** 2 - 1) < 3e-4


@pytest.mark.parametrize(("elements", "expected"), ELEMENTS.items())
def test_few_elements_have_the_known_frequencies_of_hermite_elements(elements, expected):
    found = bending(joined(beam(elements), "weld"), 2)
    np.testing.assert_allclose(found, expected, rtol=2e-6)


def test_frequencies_converge_with_order_four():
    errors = [bending(joined(beam(n), "weld"), 2) / np.square(CLAMPED_FREE[:2]) - 1 for n in (4, 8)]
    orders = np.log2(np.divide(*errors))
    np.testing.assert_allclose(orders, 4.0, atol=0.3)


@pytest.mark.parametrize(("ratio", "root"), TIP_MASS.items())
def test_a_mass_at_the_tip_slows_the_beam(ratio, root):
    mass = ratio * DENSITY * AREA * LENGTH
    assert bending(joined(beam(4, end_mass=mass), "weld"), 1)[0] == pytest.approx(root**2, rel=1e-4)


def test_a_beam_on_a_ball_joint_swings_alike_in_both_planes():
    model = ps.Model()
    body = model.add_body("beam", beam(4, planar=False), position=(LENGTH / 2, 0, 0))
    model.add_joint("A", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    found = ps.analysis.modes(model)
    assert found.rigid == 3
    pair = found.frequencies[3:5] / UNIT / PINNED_FREE[0] ** 2
    np.testing.assert_allclose(pair, 1, atol=1e-3)


def test_slow_modes_are_exact_beside_fast_axial_ones():
    """Many elements: frequencies from 1 to 1e5, and the slowest within what elements leave."""
    found = bending(joined(beam(16), "weld"), 3)
    np.testing.assert_allclose(found, np.square(CLAMPED_FREE), rtol=5e-5)
    assert found[0] == pytest.approx(CLAMPED_FREE[0] ** 2, rel=1e-6)
