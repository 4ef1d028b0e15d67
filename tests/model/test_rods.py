"""Elastic rods: closed forms of beams, exact balances, objectivity, files, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from scipy.optimize import brentq
from scipy.special import ellipk, ellipkinc

import poinsot as ps

#: Soft in bending, hardly extensible.
LAW = ps.SectionLaw(stiffness=(1e4, 1e4, 1e4, 1, 1, 1), mass=1.0, inertia=(1e-2, 1e-2))
STEEL = {"youngs_modulus": 2.1e11, "shear_modulus": 0.8e11, "density": 7800.0}


def cantilever(elements, section=LAW, length=1.0, damping_time=0.0, **material):
    """A rod along x, clamped at the origin."""
    model = ps.Model()
    shape = ps.ElasticRod(
        [(0, 0, 0), (length, 0, 0)],
        section,
        elements,
        normal=(0, 1, 0),
        damping_time=damping_time,
        **material,
    )
    rod = model.add_body("rod", shape)
    model.add_joint("clamp", ps.Weld(model.ground, rod.start))
    return model, rod


def settled(model, load, kind=ps.TorquePort):
    """The end of a motion under a load on the end that grows slowly and then stays."""
    table = ps.Table([0, 2, 100], [(0, 0, 0), load, load])
    model.add_port("load", kind(model.body("rod.end"), value=table))
    return ps.simulate(model, h=0.04, t_end=16.0, save_every=400)


VISCOUS = (0.01, 0.01, 0.01, 0.5, 0.5, 0.5)


def test_an_end_moment_bends_a_cantilever_into_a_circle_with_fourth_order():
    radius, errors = 1 / (2 * np.pi), []
    for elements in (8, 16):
        model, rod = cantilever(elements, damping_time=VISCOUS)
        result = settled(model, (0, 0, 2 * np.pi))
        middle = result.position(rod[elements // 2].name)[-1]
        errors.append(np.linalg.norm(middle - (0, 2 * radius, 0)) / radius)
        curvature = np.linalg.norm(rod.strain(result)[-1, :, 3:], axis=1)
        assert curvature == pytest.approx(2 * np.pi, rel=2.0 / elements**2)
        assert rod.resultant(result)[-1, :, 5] == pytest.approx(0.0, abs=1e-6)
    assert errors[1] < 5e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def elastica(load):
    """Deflection of the tip of an inextensible cantilever, L = EI = 1, by elliptic integrals.

    [BD45]: with p = sin of half the angle, sqrt(load) = K(p) - F(p, phi), sin(phi) = 1/(p sqrt 2).
    """

    def lack(p):
        return ellipk(p**2) - ellipkinc(np.arcsin(1 / (p * np.sqrt(2))), p**2) - np.sqrt(load)

    p = brentq(lack, np.sqrt(0.5) + 1e-12, 1 - 1e-12)
    return np.sqrt(2 * (2 * p**2 - 1) / load)  # the distance of the load's line from the clamp


def test_a_dead_load_bends_a_cantilever_into_an_elastica_with_second_order():
    errors = []
    for elements in (8, 16):
        model, rod = cantilever(elements, damping_time=VISCOUS)
        result = settled(model, (0, 3.0, 0), ps.ForcePort)
        errors.append(abs(result.position(rod.end.name)[-1, 0] - elastica(3.0)))
    # What is left are shear and extension, a share of 3e-4.
    assert errors[1] < 3e-3
    assert 3 < errors[0] / errors[1] < 5


def test_small_motions_are_those_of_linear_beams():
    section, length = ps.RectangularSection(width=0.01, height=0.02), 1.0
    area, I1, I2, J = section.constants
    E, G, rho = STEEL.values()
    exact = {
        "bending": 1.8751040687**2 * np.sqrt(E * I2 / (rho * area)) / length**2,
        "bending across": 1.8751040687**2 * np.sqrt(E * I1 / (rho * area)) / length**2,
        "torsion": np.pi / (2 * length) * np.sqrt(G * J / (rho * (I1 + I2))),
        "extension": np.pi / (2 * length) * np.sqrt(E / rho),
    }
    errors = {name: [] for name in exact}
    for elements in (6, 12):
        model, _ = cantilever(elements, section, length, **STEEL)
        frequencies = ps.analysis.modes(model).eigenvalues.imag
        for name, omega in exact.items():
            errors[name].append(np.min(abs(frequencies / omega - 1)))
    for name, (coarse, fine) in errors.items():
        assert fine < 5e-3, name
        assert coarse / fine > 3.0, name


def flying(seed, elements=6, turn=None, shift=(0, 0, 0), damping_time=0.0):
    """A curved and twisted rod of any section that flies and deforms."""
    random = np.random.default_rng(seed)
    bent, twist = random.uniform(-1, 1, 3), random.uniform(-2, 2)
    stiffness = random.uniform(50, 500, 6) * (10, 10, 10, 1, 1, 1)
    section = ps.SectionLaw(stiffness=stiffness, mass=1.0, inertia=random.uniform(0.05, 0.2, 2))
    shape = ps.ElasticRod(
        lambda s: (s + bent[0] * s**2, bent[1] * s**2, bent[2] * s**3),
        section,
        elements,
        twist=twist,
        damping_time=damping_time,
    )
    model, R = ps.Model(), np.eye(3) if turn is None else turn
    velocity, spin = R @ random.uniform(-1, 1, 3), R @ random.uniform(-1, 1, 3)
    rod = model.add_body(
        "rod", shape, position=shift, rotation=R, velocity=velocity, angular_velocity=spin
    )
    force = R @ random.uniform(-5, 5, 3)
    model.add_port("push", ps.ForcePort(rod.end, value=ps.Table([0, 0.1, 0.2, 99], [
        np.zeros(3), force, np.zeros(3), np.zeros(3)
    ])))  # fmt: skip
    return model, rod


def test_a_rod_with_an_angular_velocity_alone_turns_as_a_whole_about_the_origin_of_its_curve():
    section = ps.SectionLaw(stiffness=(100, 100, 100, 1, 1, 1), mass=1.0, inertia=(0.1, 0.1))
    shape, model = ps.ElasticRod([(0, 0, 0), (1, 0.5, 0)], section, 3), ps.Model()
    rod = model.add_body("rod", shape, position=(0, 2, 0), angular_velocity=(0, 0, 3))
    model.add_joint("hinge", ps.Spherical(model.ground, rod.start, point=(0, 2, 0)))
    for name, (velocity, spin) in model.start_velocities().items():
        arm = model.bodies[name].position - (0, 2, 0)
        np.testing.assert_allclose(velocity, np.cross((0, 0, 3), arm), atol=1e-14)
        np.testing.assert_allclose(spin, (0, 0, 3), atol=1e-14)


@laws(4)
@given(seed=st.integers(0, 10**6), scheme=st.sampled_from(["ph-mp", "ph-mp-ggl", "emh-mean"]))
def test_energy_and_momenta_of_any_flying_rod_are_exact_once_the_load_is_off(seed, scheme):
    model, _ = flying(seed)
    result = ps.simulate(model, scheme=scheme, h=5e-3, t_end=1.0, engine="compiled")
    free = result.time > 0.21
    for kept in (result.energy[:, None], result.linear_momentum, result.angular_momentum):
        assert np.max(np.ptp(kept[free], axis=0)) < 1e-11 * np.max(abs(kept[free]))


def test_they_stay_exact_over_thousands_of_steps():
    model, _ = flying(3, elements=10)
    result = ps.simulate(model, h=2e-3, t_end=20.0, engine="compiled", save_every=100)
    assert result.stats.newton_iterations < 5 * result.stats.steps  # as the matrix is good
    free = result.time > 0.21
    for kept in (result.energy[:, None], result.linear_momentum, result.angular_momentum):
        assert np.max(np.ptp(kept[free], axis=0)) < 1e-11 * np.max(abs(kept[free]))


def test_a_thin_steel_rod_is_solved_and_keeps_its_energy():
    model = ps.Model()
    shape = ps.ElasticRod([(0, 0, 0), (1, 0, 0)], ps.CircularSection(radius=2e-3), 20, **STEEL)
    rod = model.add_body("rod", shape, velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    push = ps.Table([0, 0.1, 9], [(0, 3, 2), (0, 0, 0), (0, 0, 0)])
    model.add_port("push", ps.ForcePort(rod.end, value=push))
    result = ps.simulate(model, h=1e-3, t_end=0.4, engine="compiled")
    assert result.stats.single_steps == 0
    energy = result.energy[result.time > 0.101]
    assert np.ptp(energy) < 1e-11 * energy[0]


@pytest.mark.parametrize("damping_time", [0.0, 0.01])
def test_both_engines_agree(damping_time):
    model, rod = flying(5, elements=3, damping_time=damping_time)
    for scheme in ("ph-mp", "ph-mp-ggl", "eml-mean"):
        one, other = (
            ps.simulate(model, scheme=scheme, h=0.01, t_end=0.04, engine=engine)
            for engine in ("compiled", "reference")
        )
        assert np.max(abs(one.balance_error)) < 1e-12 * np.max(one.energy)
        assert one.dissipated == pytest.approx(other.dissipated, abs=1e-11)
        for node in rod.nodes:
            assert one.position(node.name) == pytest.approx(other.position(node.name), abs=1e-11)


def test_a_turned_and_shifted_world_gives_the_turned_and_shifted_motion():
    turn = ps.Rotation.from_axis_angle((1, -2, 3), 2.1).matrix
    shift = np.array([3.0, -2.0, 1.0])
    plain, rod = flying(8)
    there, _ = flying(8, turn=turn, shift=shift)
    one, other = (ps.simulate(m, h=5e-3, t_end=1.0, engine="compiled") for m in (plain, there))
    for node in rod.nodes:
        moved = one.position(node.name) @ turn.T + shift
        assert other.position(node.name) == pytest.approx(moved, rel=0, abs=1e-11)
    assert rod.strain(other) == pytest.approx(rod.strain(one), rel=0, abs=1e-10)


def test_damping_takes_energy_and_leaves_momenta():
    model, _ = flying(11, damping_time=0.02)
    result = ps.simulate(model, h=5e-3, t_end=1.0, engine="compiled")
    free = result.time > 0.21
    assert np.all(np.diff(result.dissipated) >= 0)
    assert np.all(np.diff(result.energy[free]) <= 0)
    L = result.angular_momentum[free]
    assert np.max(np.ptp(L, axis=0)) < 1e-11 * np.max(abs(L))


def test_a_curved_rod_is_without_stress_at_the_start_unless_another_shape_is():
    def ring(s):
        return np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0

    model = ps.Model()
    free = model.add_body("free", ps.ElasticRod(ring, LAW, 24))
    straight = ps.ElasticRod(ring, LAW, 24, natural=[(0, 0, 0), (2 * np.pi, 0, 0)])
    bent = model.add_body("bent", straight)
    energies = {
        name: sum(p.energy(_frames(p, model)) for p in rod.place(name, {})[0])
        for name, rod in (("free", free), ("bent", bent))
    }
    assert energies["free"] == pytest.approx(0, abs=1e-20)
    assert energies["bent"] == pytest.approx(np.pi, rel=2e-3)  # EI / (2 R^2) times 2 pi R
    assert sum(bent.lengths) == pytest.approx(2 * np.pi)
    assert sum(free.lengths) == pytest.approx(2 * np.pi, rel=2e-3)


def _frames(potential, model):
    bodies = list(model.bodies.values())
    return np.concatenate([np.ravel(bodies[k].frame) for k in potential.bodies])


def test_mass_and_stiffness_of_a_tapered_rod_are_those_of_its_sections():
    shape = ps.ElasticRod(
        [(0, 0, 0), (0, 0, 2)], lambda s: ps.CircularSection(radius=0.02 - 0.01 * s), 40, **STEEL
    )
    mass, inertia = shape.inertia
    cone = 7800 * np.pi / 3 * 2 * (0.02**2 + 0.02 * 0.01 + 0.01**2)
    assert mass.sum() == pytest.approx(cone, rel=1e-3)
    assert inertia[:, 2] == pytest.approx(inertia[:, 0] + inertia[:, 1])
    assert shape.stiffness[0, 2, 2] == pytest.approx(2.1e11 * np.pi * 0.02**2, rel=0.02)
    listed = ps.ElasticRod(
        [(0, 0, 0), (0, 0, 1)], [ps.CircularSection(radius=r) for r in (1e-2, 2e-2)], **STEEL
    )
    assert listed.stiffness.shape == (1, 6, 6)


def test_constants_of_sections_are_those_of_tables():
    # Torsion of rectangles by Timoshenko and Goodier: 0.1406 of a square, 0.229 for 2 : 1.
    assert ps.RectangularSection(width=1, height=1).constants[3] == pytest.approx(0.1406, abs=5e-5)
    assert ps.RectangularSection(width=1, height=2).constants[3] == pytest.approx(2 * 0.229, 2e-3)
    tube = ps.CircularSection(radius=1.0, inner_radius=0.999)
    assert tube.shear[0] == pytest.approx(0.5, abs=1e-3)
    assert tube.constants[3] == pytest.approx(2 * np.pi * 1e-3, rel=2e-3)


FILE = """
poinsot: 1
gravity: [0, 0, -9.81]
bodies:
  rod:
    elastic_rod:
      curve: [[0, 0, 0], [1, 0, 0]]
      section: [{circular: {radius: 0.02}}, {rectangular: {width: 0.01, height: 0.02}},
                {constants: {area: 1e-3, I1: 1e-8, I2: 2e-8, J: 1e-8, shear_factors: [1, 0.9]}}]
      elements: 2
      youngs_modulus: 2e9
      shear_modulus: 0.8e9
      density: 1000
      normal: [0, 1, 0]
      twist: 0.1
      damping_time: [0, 0, 0, 1e-3, 1e-3, 1e-3]
  cable:
    elastic_rod:
      curve: [[0, 0, 1], [0.5, 0, 0.9], [1, 0, 1]]
      section: {law: {stiffness: [1e3, 1e3, 1e3, 1, 1, 1], mass: 1, inertia: [0.1, 0.1]}}
      natural: [[0, 0, 0], [0, 0, 1]]
      relaxation: [[0.5, 0.1], [0.2, 1]]
      rigid: [shear, extension]
    velocity: [0, 0, 0]
    angular_velocity: [0, 0, 0]
  ball: {sphere: {mass: 1, radius: 0.1}, position: [1, 0, 0]}
joints:
  clamp: {weld: {bodies: [ground, rod.start]}}
  tip: {weld: {bodies: [rod.end, ball]}}
forces:
  bushing:
    bushing:
      bodies: [cable.1, ball]
      point: [1, 0, 0]
      stiffness: [1, 1, 1, 2, 2, 2]
      rotation: [1, 0, 0, 0]
      relaxation: [[0.3, 0.2]]
ports:
  push: {force: {body: rod.1, value: [0, 0, 1]}}
"""


def test_rods_are_read_from_files_and_written_to_them():
    model = ps.Model.from_yaml_text(FILE)
    assert set(model.bodies) == {"rod.0", "rod.1", "rod.2", "cable.0", "cable.1", "cable.2", "ball"}
    text = model.to_yaml()
    again = ps.Model.from_yaml_text(text)
    assert again.to_yaml() == text
    runs = [ps.simulate(m, h=1e-2, t_end=0.1) for m in (model, again)]
    for name in ("rod.2", "cable.1"):
        assert np.array_equal(*(run.position(name) for run in runs))
    for quantity in ("position", "rotation", "velocity"):
        end, last = (getattr(runs[0], quantity)(name) for name in ("rod.end", "rod.2"))
        assert end == pytest.approx(last, rel=0, abs=1e-15)


@pytest.mark.parametrize("name", ["rod.3", "rod", "rod.middle"])
def test_a_node_that_is_not_there_is_named(name):
    with pytest.raises(ps.ModelFileError, match=f"no body '{name}'"):
        ps.Model.from_yaml_text(FILE.replace("rod.end", name))


def test_a_rod_of_python_functions_cannot_be_written():
    model, _ = flying(0)
    with pytest.raises(ps.InputError, match="curve is a Python function"):
        model.to_yaml()


LINE = [(0, 0, 0), (1, 0, 0)]
ROUND = ps.CircularSection(radius=0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ps.ElasticRod(LINE, ROUND, 0, **STEEL), "at least 1"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2.5, **STEEL), "whole number"),
        (lambda: ps.ElasticRod([(0, 0, 0), (0, 0, 0)], ROUND, 2, **STEEL), "zero length"),
        (lambda: ps.ElasticRod([(0, 0, 0)], ROUND, **STEEL), "two or more points"),
        (lambda: ps.ElasticRod([(0, 0, 0), (1, np.nan, 0)], ROUND, **STEEL), "NaN"),
        (lambda: ps.ElasticRod([*LINE, (2, 0, 0)], ROUND, 5, **STEEL), "nodes of 2"),
        (lambda: ps.ElasticRod(lambda s: (s, 0, 0), ROUND, **STEEL), "the number of elements"),
        (lambda: ps.ElasticRod([*LINE, (1e-3, 1e-3, 0)], ROUND, **STEEL), "right angle|reverses"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2), "give youngs_modulus"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2, density=1.0), "youngs_modulus and shear_modulus"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2, **{**STEEL, "density": 0.0}), "must be positive"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2, **{**STEEL, "shear_modulus": -1}), "positive"),
        (lambda: ps.ElasticRod(LINE, LAW, 2, **STEEL), "leave out youngs_modulus"),
        (lambda: ps.ElasticRod(LINE, [ROUND], 2, **STEEL), "1 sections for 3 nodes"),
        (lambda: ps.ElasticRod(LINE, [1, 2, 3], 2, **STEEL), "expected a section"),
        (lambda: ps.ElasticRod(LINE, 3, 2, **STEEL), "expected a section"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2, normal=(1, 0, 0), **STEEL), "along the curve"),
        (lambda: ps.ElasticRod(LINE, ROUND, 2, damping_time=-1.0, **STEEL), "times >= 0"),
        (lambda: ps.CircularSection(radius=0.0), "must be positive"),
        (lambda: ps.CircularSection(radius=1.0, inner_radius=1.0), "decrease inner_radius"),
        (lambda: ps.RectangularSection(width=-1, height=1), "must be positive"),
        (lambda: ps.Section(area=0, I1=1, I2=1, J=1), "must be positive"),
        (lambda: ps.Section(area=1, I1=1, I2=1, J=1, shear_factors=(0, 1)), "two positive"),
        (lambda: ps.SectionLaw(stiffness=(1, 1, 1, 1, 1, 0), mass=1, inertia=(1, 1)), "definite"),
        (lambda: ps.SectionLaw(stiffness=np.ones(6), mass=0, inertia=(1, 1)), "positive"),
        (lambda: ps.SectionLaw(stiffness=np.ones(6), mass=1, inertia=(1, 0)), "two positive"),
    ],
)
def test_impossible_rods_are_refused(make, message):
    with pytest.raises(ps.InputError, match=message):
        make()


def test_a_node_beyond_the_end_is_refused():
    model = ps.Model()
    rod = model.add_body("rod", ps.ElasticRod(LINE, LAW, 2))
    assert [node.name for node in rod] == ["rod.0", "rod.1", "rod.2"]
    assert rod[-1] is rod.end
    for number in (3, -4, "end"):
        with pytest.raises(ps.InputError, match="its nodes are 0 to 2"):
            rod[number]
    for name in ("rod.99", "rod.middle"):
        with pytest.raises(ps.InputError, match=f"no body '{name}'"):
            model.body(name)


def test_a_rod_whose_name_is_taken_leaves_nothing_behind():
    model = ps.Model()
    model.add_body("rod.1", ps.Sphere(mass=1.0, radius=0.1))
    with pytest.raises(ps.InputError, match="taken"):
        model.add_body("rod", ps.ElasticRod(LINE, LAW, 2))
    assert set(model.bodies) == {"rod.1"}
    assert not model.forces
    assert not model.markers
