"""Rods that do not shear or stretch: beams of Euler and Bernoulli, catenaries, exact balances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from scipy.optimize import brentq

import poinsot as ps
from poinsot.parts.rods import chi_of

BOTH = ("shear", "extension")
#: As soft in shear and extension as in bending: what is rigid must not care.
SOFT = ps.SectionLaw(stiffness=(1, 1, 1, 1, 1, 1), mass=1.0, inertia=(1e-6, 1e-6))


def cantilever(elements, section=SOFT, rigid=BOTH, **options):
    """A rod of length 1 along x, clamped at the origin."""
    model = ps.Model()
    shape = ps.ElasticRod(
        [(0, 0, 0), (1, 0, 0)], section, elements, normal=(0, 1, 0), rigid=rigid, **options
    )
    rod = model.add_body("rod", shape)
    model.add_joint("clamp", ps.Weld(model.ground, rod.start))
    return model, rod


def test_frequencies_are_those_of_euler_and_bernoulli_with_second_order():
    exact, errors = np.array([3.5160152685, 22.0344915646]), []
    for elements in (6, 12):
        model, _ = cantilever(elements)
        found = ps.analysis.modes(model).eigenvalues.imag
        errors.append([np.min(abs(found / omega - 1)) for omega in exact])
    coarse, fine = np.array(errors)
    assert np.all(fine < 5e-3)
    assert np.all(coarse / fine > 3.2)


def test_rods_that_cannot_stretch_have_no_axial_frequency_below_those_of_shear():
    section = ps.SectionLaw(stiffness=(1e3, 1e3, 1, 1, 1, 1), mass=1.0, inertia=(1e-2, 1e-2))
    axial = np.pi / 2  # of EA = rho A = L = 1
    for rigid, there in (((), True), ("shear", True), ("extension", False)):
        model, _ = cantilever(8, section, rigid)
        found = ps.analysis.modes(model).eigenvalues.imag
        assert (np.min(abs(found / axial - 1)) < 0.01) == there


def flying(seed, rigid, elements=5, relaxation=()):
    """A curved and twisted rod of any section that flies and deforms after a push."""
    random = np.random.default_rng(seed)
    bent, twist = random.uniform(-1, 1, 3), random.uniform(-1, 1)
    stiffness = random.uniform(50, 500, 6) * (10, 10, 10, 1, 1, 1)
    section = ps.SectionLaw(stiffness=stiffness, mass=1.0, inertia=random.uniform(0.05, 0.2, 2))
    shape = ps.ElasticRod(
        lambda s: (s + bent[0] * s**2, bent[1] * s**2, bent[2] * s**3),
        section,
        elements,
        twist=twist,
        rigid=rigid,
        relaxation=relaxation,
    )
    model = ps.Model()
    velocity, spin = random.uniform(-1, 1, (2, 3))
    rod = model.add_body("rod", shape, velocity=velocity, angular_velocity=spin)
    push = ps.Table([0, 0.1, 0.2, 99], [np.zeros(3), random.uniform(-5, 5, 3), *np.zeros((2, 3))])
    model.add_port("push", ps.ForcePort(rod.end, value=push))
    return model, rod


@laws(5)
@given(
    seed=st.integers(0, 10**6),
    rigid=st.sampled_from(["shear", "extension", BOTH]),
    scheme=st.sampled_from(["ph-mp", "eml-mean", "emh-mean"]),
)
def test_energy_momenta_and_lengths_are_exact(seed, rigid, scheme):
    model, rod = flying(seed, rigid)
    result = ps.simulate(model, scheme=scheme, h=5e-3, t_end=1.0, engine="compiled")
    assert np.max(abs(result.constraint_error)) < 1e-13
    assert result.stats.balance_error_max < 1e-12 * np.max(result.energy)
    free = result.time > 0.21
    for kept in (result.energy[:, None], result.linear_momentum, result.angular_momentum):
        assert np.max(np.ptp(kept[free], axis=0)) < 1e-11 * np.max(abs(kept[free]))
    strain = rod.strain(result)
    # Strains along a helix follow but for a share of the fourth power of turns.
    turns = np.linalg.norm(strain[:, :, 3:] + (rod.rest / rod.lengths[:, None])[:, 3:], axis=2)
    allowed = np.max(turns * rod.lengths) ** 4 / 50 + 1e-12
    assert np.max(abs(strain[:, :, list(rod.rigid)])) < allowed


@pytest.mark.parametrize("rigid", ["shear", "extension", BOTH])
def test_both_engines_agree(rigid):
    model, rod = flying(5, rigid, elements=3)
    for scheme in ("ph-mp", "eml-mean"):
        one, other = (
            ps.simulate(model, scheme=scheme, h=0.01, t_end=0.04, engine=engine)
            for engine in ("compiled", "reference")
        )
        for node in rod.nodes:
            assert one.position(node.name) == pytest.approx(other.position(node.name), abs=1e-11)
        for name in model.joints:
            forces = (run.reaction(name).force for run in (one, other))
            assert np.allclose(*forces, rtol=0, atol=1e-8)


def test_stabilised_velocities_run_in_the_reference_engine():
    model, _ = flying(2, BOTH, elements=2)
    result = ps.simulate(model, scheme="ph-mp-ggl", h=0.01, t_end=0.03)
    assert result.engine == "reference"
    assert np.max(abs(result.velocity_constraint_error)) < 1e-12


def test_a_held_strain_keeps_the_arc_of_a_circle_to_fourth_order():
    errors = []
    for theta in (0.4, 0.2):
        section = ps.Rotation.from_axis_angle((0, 1, 0), theta).matrix
        model = ps.Model()
        ends = [
            model.add_body(name, ps.RigidBody(mass=1.0, inertia=(1, 1, 1)), position=at, rotation=R)
            for name, at, R in (("a", (0, 0, 0), None), ("b", (0, 0, 1), None))
        ]
        joint = ps.parts.rigid_strains.RigidStrains(*ends, (0, 0, 1), (0, 1, 2))

        def lack(arc, theta=theta, section=section, joint=joint):
            place = np.array([1 - np.cos(theta), 0, np.sin(theta)]) * arc / theta
            frames = {0: [(0, 0, 0), *np.eye(3)], 1: [place, *section.T]}
            return joint.rows()[2].form.at(frames)

        errors.append(brentq(lack, 0.9, 1.1) - 1)
        assert errors[-1] == pytest.approx(theta**4 / 180, rel=0.1)
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.1)


SPAN, LENGTH = 1.0, 1.5


def hanging(elements):
    """A cable between points of equal height, hardly stiff in bending, that starts as an arc."""
    half = brentq(lambda half: half * SPAN / np.sin(half) - LENGTH, 0.1, np.pi - 0.1)
    radius = SPAN / (2 * np.sin(half))

    def arc(s):
        angle = half * (2 * s - 1)
        return radius * np.sin(angle), 0.0, -radius * (np.cos(angle) - np.cos(half))

    section = ps.SectionLaw(stiffness=(1, 1, 1, 1e-4, 1e-4, 1e-4), mass=1.0, inertia=(1e-4, 1e-4))
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.ElasticRod(
        arc, section, elements, natural=[(0, 0, 0), (LENGTH, 0, 0)], rigid=BOTH, damping_time=10.0
    )
    rod = model.add_body("cable", shape)
    for name, end, x in (("left", rod.start, -SPAN / 2), ("right", rod.end, SPAN / 2)):
        model.add_joint(name, ps.Revolute(model.ground, end, point=(x, 0, 0), axis=(0, 1, 0)))
    for node in rod.nodes:
        model.add_force(f"{node.name}.air", ps.Drag(node, viscous=4.0 / elements))
    return model, rod


def test_a_hanging_cable_is_a_catenary():
    a = brentq(lambda a: 2 * a * np.sinh(SPAN / (2 * a)) - LENGTH, 0.1, 10)
    model, rod = hanging(24)
    result = ps.simulate(model, h=0.02, t_end=12.0, save_every=300)
    nodes = np.array([result.position(node.name)[-1] for node in rod.nodes])
    catenary = a * (np.cosh(nodes[:, 0] / a) - np.cosh(SPAN / (2 * a)))
    assert nodes[:, 2] == pytest.approx(catenary, abs=2e-3)
    assert abs(result.reaction("left").force[-1, 0]) == pytest.approx(9.81 * a, rel=5e-3)
    assert np.max(abs(result.constraint_error)) < 1e-13


def test_reactions_of_elements_are_the_forces_in_the_rod():
    model, rod = cantilever(4)
    model.gravity = np.array([-9.81, 0, 0])
    result = ps.simulate(model, h=0.01, t_end=0.05)
    assert np.isnan(rod.resultant(result)[:, :, :3]).all()
    for k in range(4):
        below = (4 - k - 0.5) / 4  # kg, the mass of the nodes that follow
        force = result.reaction(f"rod.element.{k}").force
        assert force == pytest.approx(np.tile([9.81 * below, 0, 0], (len(force), 1)), abs=1e-9)


def test_constraints_of_straight_and_of_closed_rods_are_independent():
    model, _ = cantilever(6)
    assert model.check().repeated == ()
    assert model.check().freedoms == 6 * 7 - 6 - 3 * 6

    def ring(s):
        return np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0

    closed = ps.Model()
    rod = closed.add_body("ring", ps.ElasticRod(ring, SOFT, 8, rigid=BOTH))
    closed.add_joint("seam", ps.Weld(rod.start, rod.end))
    assert closed.check().repeated == ()
    assert closed.check().singular == ()
    assert closed.check().freedoms == 6 * 9 - 6 - 3 * 8


def test_a_moment_bends_a_rigid_cantilever_into_a_circle_with_fourth_order():
    radius, errors = 1 / (2 * np.pi), []
    section = ps.SectionLaw(stiffness=(1, 1, 1, 1, 1, 1), mass=1.0, inertia=(1e-2, 1e-2))
    table = ps.Table([0, 2, 100], [(0, 0, 0), *2 * [(0, 0, 2 * np.pi)]])
    for elements in (8, 16):
        model, rod = cantilever(elements, section, damping_time=0.5)
        model.add_port("load", ps.TorquePort(rod.end, value=table))
        result = ps.simulate(model, h=0.04, t_end=16.0, save_every=400)
        middle = result.position(f"rod.{elements // 2}")[-1]
        errors.append(np.linalg.norm(middle - (0, 2 * radius, 0)) / radius)
    assert errors[1] < 5e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.4)


def test_lengths_are_those_of_the_start_whatever_the_natural_shape_is():
    shape = ps.ElasticRod(
        lambda s: (np.cos(s), np.sin(s), 0),
        SOFT,
        6,
        natural=[(0, 0, 0), (0, 0, 1)],
        rigid="extension",
    )
    model = ps.Model()
    rod = model.add_body("rod", shape, velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    start = chi_of(*shape.nodes)[:, 2]
    result = ps.simulate(model, h=0.01, t_end=0.2)
    found = rod.strain(result)[:, :, 2] * rod.lengths + rod.rest[:, 2]
    assert np.max(abs(found - start)) < 1e-4 * start[0]


@pytest.mark.parametrize("rigid", ["bending", ("shear", "twist"), 3, [1]])
def test_what_cannot_be_rigid_is_refused(rigid):
    with pytest.raises(ps.InputError, match="expected 'shear', 'extension'"):
        cantilever(2, rigid=rigid)
