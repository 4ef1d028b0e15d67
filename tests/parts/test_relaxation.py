"""Maxwell elements: closed forms of relaxation and of modes, exact balances, both engines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws, random_state, tree

import poinsot as ps

K, M, RATIO, TAU = 100.0, 2.0, 0.7, 0.3


def slider(relaxation=((RATIO, TAU),), velocity=None):
    """A block on a slide along x, held by a bushing."""
    model = ps.Model()
    block = model.add_body("block", ps.Box(mass=M, size=(0.1, 0.1, 0.1)), velocity=velocity)
    bushing = ps.Bushing(
        model.ground,
        block,
        point=(0, 0, 0),
        stiffness=(K, 50, 50, 1, 1, 1),
        relaxation=relaxation,
    )
    model.add_force("bushing", bushing)
    model.add_joint("slide", ps.Prismatic(model.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    return model


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_strain_relaxes_like_an_exponential_where_a_block_is_held(engine):
    errors = []
    for h in (0.02, 0.01):
        model = slider()
        model.add_port("drive", ps.Drive("slide", ps.Table([0, 0.2, 9], [0, 0.1, 0.1])))
        result = ps.simulate(model, h=h, t_end=1.2, engine=engine)
        held = result.time > 0.2 - h / 2
        strain, t = result.states["bushing.relaxation.0"].values[held, 0], result.time[held] - 0.2
        exact = 0.5 * TAU * (1 - np.exp(-0.2 / TAU)) * np.exp(-t / TAU)
        errors.append(np.max(abs(strain - exact)))
        factor = (1 - h / (2 * TAU)) / (1 + h / (2 * TAU))
        assert strain[1:] / strain[:-1] == pytest.approx(factor, rel=1e-9)
        assert result.stats.balance_error_max < 1e-13
        assert result.stats.dissipation_min >= 0
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_elements_are_exact_where_a_step_needs_the_exact_tangent():
    """Some steps of these loops are so large that another machine takes them."""
    model = tree(2, bodies=4, loops=2, speed=3.0).model()
    first, *_, last = model.bodies.values()
    softness = {"stiffness": (10, 5, 5, 1, 1, 1), "relaxation": ((RATIO, TAU),)}
    model.add_force("bushing", ps.Bushing(first, last, point=(0.1, 0, 0), **softness))
    one, other = (
        ps.simulate(model, h=0.05, t_end=3.0, engine=engine) for engine in ("compiled", "reference")
    )
    assert one.stats.balance_error_max < 1e-12
    np.testing.assert_allclose(one.energy, other.energy, rtol=1e-12)


def test_modes_are_those_of_the_standard_linear_solid():
    exact = np.roots([M * TAU, M, K * TAU * (1 + RATIO), K])
    found = ps.analysis.modes(slider()).eigenvalues
    for root in exact[exact.imag >= 0]:
        assert np.min(abs(found - root)) < 1e-9 * abs(root)


def test_motions_have_second_order():
    velocity = (1.0, 0, 0)
    ends = [
        ps.simulate(slider(velocity=velocity), h=h, t_end=1.0).position("block")[-1, 0]
        for h in (0.01, 0.005, 0.0025)
    ]
    A = np.array([[0, 1, 0], [-K / M, 0, -RATIO * K / M], [0, 1, -1 / TAU]])
    values, vectors = np.linalg.eig(A)
    exact = (vectors @ (np.exp(values) * np.linalg.solve(vectors, [0, 1, 0]))).real[0]
    errors = abs(np.array(ends) - exact)
    assert errors[:2] / errors[1:] == pytest.approx(4, rel=0.1)


def flying(seed, relaxation, **options):
    """A curved rod that flies, with joints to a body at its end."""
    random = np.random.default_rng(seed)
    bent = random.uniform(-1, 1, 2)
    stiffness = random.uniform(50, 500, 6) * (10, 10, 10, 1, 1, 1)
    section = ps.SectionLaw(stiffness=stiffness, mass=1.0, inertia=random.uniform(0.05, 0.2, 2))
    model = ps.Model()
    shape = ps.ElasticRod(
        lambda s: (s, bent[0] * s**2, bent[1] * s**2), section, 4, relaxation=relaxation, **options
    )
    velocity, spin = random.uniform(-1, 1, (2, 3))
    rod = model.add_body("rod", shape, velocity=velocity, angular_velocity=spin)
    ball = model.add_body("ball", ps.Sphere(mass=1.0, radius=0.1), position=rod.end.position)
    model.add_joint("grip", ps.Spherical(rod.end, ball, point=rod.end.position))
    push = ps.Table([0, 0.1, 0.2, 99], [np.zeros(3), random.uniform(-9, 9, 3), *np.zeros((2, 3))])
    model.add_port("push", ps.ForcePort(rod.start, value=push))
    return model, rod


@laws(4)
@given(
    seed=st.integers(0, 10**6),
    relaxation=st.lists(st.tuples(st.floats(0.1, 3), st.floats(1e-3, 3)), min_size=1, max_size=2),
    rigid=st.sampled_from([(), "shear", ("shear", "extension")]),
    damping_time=st.sampled_from([0.0, 0.01]),
)
def test_balances_and_momenta_are_exact(seed, relaxation, rigid, damping_time):
    model, _ = flying(seed, relaxation, rigid=rigid, damping_time=damping_time)
    result = ps.simulate(model, h=5e-3, t_end=0.6, engine="compiled")
    assert result.stats.balance_error_max < 1e-12 * np.max(result.energy)
    assert result.stats.dissipation_min >= 0
    free = result.time > 0.21
    for kept in (result.linear_momentum, result.angular_momentum):
        assert np.max(np.ptp(kept[free], axis=0)) < 1e-11 * np.max(abs(kept[free]))
    whole = sum(np.asarray(each) for each in result.observation.energies.values())
    assert whole == pytest.approx(result.energy, abs=1e-12 * np.max(result.energy))


def test_both_engines_agree_and_go_on_from_each_other():
    model, rod = flying(7, [(0.5, 0.02), (1.5, 0.3)])
    one, other = (
        ps.simulate(model, h=0.01, t_end=0.1, engine=engine) for engine in ("compiled", "reference")
    )
    for name in [node.name for node in rod.nodes]:
        assert one.position(name) == pytest.approx(other.position(name), abs=1e-11)
    assert one.dissipated == pytest.approx(other.dissipated, abs=1e-11)
    strains = [name for name in one.states if "relaxation" in name]
    assert len(strains) == 8
    for name in strains:
        assert one.states[name].values == pytest.approx(other.states[name].values, abs=1e-11)
    forces = [run.reaction("grip").force for run in (one, other)]
    assert forces[0] == pytest.approx(forces[1], abs=1e-8)


def test_the_structure_is_port_hamiltonian_at_any_state():
    model, _ = flying(3, [(0.5, 0.1)], damping_time=0.01)
    system = model.compile()
    assert system.defects(random_state(system, 4)).holds(1e-7)


def test_an_element_that_never_relaxes_is_a_spring_and_one_that_does_at_once_is_none():
    def last(relaxation, stiffness=K):
        model = slider(relaxation, velocity=(1.0, 0, 0))
        return ps.simulate(model, h=1e-3, t_end=0.5).position("block")[-1, 0]

    def spring(k):
        return np.sin(np.sqrt(k / M) * 0.5) / np.sqrt(k / M)

    assert last([(RATIO, 1e9)]) == pytest.approx(spring(K * (1 + RATIO)), abs=1e-5)
    assert last([(RATIO, 1e-6)]) == pytest.approx(spring(K), abs=1e-5)


def test_a_held_rod_relaxes_to_its_elastic_equilibrium():
    model = ps.Model(gravity=(0, 0, -9.81))
    section = ps.SectionLaw(stiffness=(1e3, 1e3, 1e3, 1, 1, 1), mass=0.1, inertia=(1e-4, 1e-4))
    shape = ps.ElasticRod(
        [(0, 0, 0), (1, 0, 0)], section, 6, relaxation=[(2.0, 0.1)], damping_time=0.02
    )
    rod = model.add_body("rod", shape)
    model.add_joint("clamp", ps.Weld(model.ground, rod.start))
    rest = model.equilibrium()
    result = ps.simulate(model, h=0.01, t_end=12.0, save_every=100)
    expected = rest.position(rod.end.name)
    assert result.position(rod.end.name)[-1] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "options", [{"scheme": "ph-mp-ggl"}, {"scheme": "eml"}, {"coordinates": "rotations"}]
)
def test_other_coordinates_are_refused_by_name(options):
    with pytest.raises(ps.InputError, match="'bushing': relaxation needs coordinates 'directors'"):
        ps.simulate(slider(), h=0.01, t_end=0.1, **options)


def test_beams_have_no_place_beside_it():
    model = slider()
    section = ps.RectangularSection(width=0.01, height=0.01)
    beam = ps.Beam(length=1.0, section=section, density=1e3, youngs_modulus=1e9)
    model.add_body("beam", beam)
    with pytest.raises(ps.InputError, match="cannot be combined with it"):
        model.compile()


@pytest.mark.parametrize(
    ("relaxation", "message"),
    [
        ([(0.5,)], "expected pairs"),
        ((0.5, 0.1), "expected pairs"),
        ([(0.5, np.nan)], "expected pairs"),
        ([(-0.5, 0.1)], "must be positive"),
        ([(0.5, 0.0)], "must be positive"),
    ],
)
def test_impossible_relaxations_are_refused(relaxation, message):
    with pytest.raises(ps.InputError, match=message):
        slider(relaxation)
    with pytest.raises(ps.InputError, match=message):
        flying(0, relaxation)


def test_relaxation_needs_a_definite_stiffness():
    model = ps.Model()
    block = model.add_body("block", ps.Box(mass=M, size=(0.1, 0.1, 0.1)))
    with pytest.raises(ps.InputError, match="relative to a stiffness"):
        ps.Bushing(model.ground, block, (0, 0, 0), damping=np.ones(6), relaxation=[(1, 1)])
    S = np.zeros((6, 6))
    S[:2, :2] = 1.0
    singular = ps.Bushing(model.ground, block, (0, 0, 0), stiffness=S, relaxation=[(1, 1)])
    model.add_force("bushing", singular)
    with pytest.raises(ps.InputError, match="positive definite"):
        model.compile()
