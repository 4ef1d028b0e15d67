"""Rest of elastic bodies: deflections of beams, continua and loops against closed forms."""

from functools import cache

import numpy as np
import pytest
import skfem

import poinsot as ps
from poinsot import analysis

G, LENGTH, DENSITY, E = 9.81, 1.0, 2700.0, 7e10
WIDTH, HEIGHT = 0.02, 0.01
LOAD = DENSITY * WIDTH * HEIGHT * G
STIFFNESS = E * WIDTH * HEIGHT**3 / 12


def cantilever(**options):
    model = ps.Model(gravity=(0, 0, -G), name="cantilever")
    section = ps.RectangularSection(width=WIDTH, height=HEIGHT)
    shape = ps.Beam(
        length=LENGTH, section=section, density=DENSITY, youngs_modulus=E, elements=3, **options
    )
    beam = model.add_body("beam", shape, position=(LENGTH / 2, 0, 0))
    model.add_joint("wall", ps.Weld(model.ground, beam.start))
    model.add_port("tip", ps.ForcePort(beam.end, point=(LENGTH, 0, 0)))
    return model


def four_bar(elastic):
    """A crank on a spring, a coupler that may bend, and a rocker, in the plane of x and y."""
    model = ps.Model(gravity=(0, -G, 0), name="four-bar")
    points = np.array([(0, 0, 0), (0.1, 0.3, 0), (0.6, 0.5, 0), (0.7, 0, 0)], dtype=float)
    ends = [model.ground]
    for name, start, end in zip(("crank", "coupler", "rocker"), points, points[1:], strict=False):
        length = float(np.linalg.norm(end - start))
        turned = ps.Rotation.from_axis_angle((0, 0, 1), np.arctan2(*(end - start)[1::-1]))
        shape = ps.Box(mass=0.5 * length, size=(length, 0.01, 0.02))
        if elastic and name == "coupler":
            section = ps.RectangularSection(width=0.01, height=0.02)
            shape = ps.Beam(
                length=length, section=section, density=2500, youngs_modulus=1e9, damping=1e-3
            )
        body = model.add_body(name, shape, position=(start + end) / 2, rotation=turned)
        ends += [body.start, body.end] if elastic and name == "coupler" else [body, body]
    for k, name in enumerate("ABCD"):
        a, b = ends[2 * k], [*ends, model.ground][2 * k + 1]
        model.add_joint(name, ps.Revolute(a, b, point=points[k], axis=(0, 0, 1)))
    model.add_force("spring", ps.JointSpring("A", stiffness=1.0, damping=0.05))
    return model


@pytest.mark.parametrize("coordinates", ["rotations", "rotations-quaternion"])
@pytest.mark.parametrize("held", ["clamped-free", "simply supported"])
def test_a_cantilever_sags_by_its_weight_and_its_load(coordinates, held):
    model = cantilever(held=held)
    rest = analysis.equilibrium(model, coordinates=coordinates, inputs={"tip": [0, 0, -2.0]})
    exact = -LOAD * LENGTH**4 / (8 * STIFFNESS) - 2.0 * LENGTH**3 / (3 * STIFFNESS)
    assert rest.stability == "stable"
    # A beam whose frame goes through both ends turns with it as a whole.
    assert rest.position("beam.end")[2] == pytest.approx(exact, rel=3e-4)
    reaction = rest.reaction("wall")
    np.testing.assert_allclose(reaction.force, (0, 0, LOAD * LENGTH + 2), atol=1e-9)
    assert reaction.torque[1] == pytest.approx(-LOAD / 2 - 2.0, rel=1e-3)


def test_a_loop_with_an_elastic_coupler_rests_where_a_damped_run_ends():
    model = four_bar(elastic=True)
    rest = model.equilibrium()
    assert rest.stability == "stable"
    run = ps.simulate(model, h=0.01, t_end=12.0, save_every=100)
    for name in ("coupler.start", "coupler.2", "rocker"):
        np.testing.assert_allclose(run.position(name)[-1], rest.position(name), atol=1e-7)
    stays = ps.simulate(rest.system, x0=rest.x, angles=rest.angles, h=0.01, t_end=0.1)
    assert abs(stays["coupler.u"] - rest.state("coupler.u")).max() < 1e-14


def test_a_stiff_coupler_rests_like_a_rigid_one():
    elastic, rigid = (four_bar(kind).equilibrium().coordinates("A")["angle"] for kind in (1, 0))
    assert elastic == pytest.approx(rigid, abs=0.02)
    assert elastic != pytest.approx(rigid, abs=1e-5)


def test_linear_systems_at_rest_have_the_structure_and_frequencies_of_the_bent_beam():
    model = cantilever()
    linear = analysis.linearise(model, at=model.equilibrium())
    assert linear.defects(linear.start).holds(1e-8)
    sideways = np.sqrt(E * HEIGHT * WIDTH**3 / 12 / (DENSITY * WIDTH * HEIGHT))
    found = analysis.modes(linear).frequencies
    assert found[0] == pytest.approx(1.87510407**2 * sideways * HEIGHT / WIDTH, rel=2e-3)
    assert found[1] == pytest.approx(1.87510407**2 * sideways, rel=2e-3)


def plate(held="wall"):
    grid = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 7), np.linspace(0, 0.1, 2))
    mesh = grid.with_boundaries({"wall": lambda x: x[0] == 0, "tip": lambda x: x[0] == 1})
    steel = {"density": 7800.0, "youngs_modulus": 2.1e11, "poissons_ratio": 0.3}
    return ps.flexible.continuum(
        "plate", mesh, **steel, thickness=0.01, held=held, ports={"tip": "tip"}
    )


def test_a_continuum_rests_at_the_deflection_of_a_cantilever_and_has_its_frequency():
    body = plate()
    rest = analysis.equilibrium(body, inputs={"tip": [0.0, -1000.0]})
    moment = 0.01 * 0.1**3 / 12
    deflection = body.body.on_nodes(body.body.displacement(rest.state("stress")))[1].min()
    assert rest.stability == "stable"
    assert deflection == pytest.approx(-1000 / (3 * 2.1e11 * moment), rel=0.01)
    exact = 1.87510407**2 * np.sqrt(2.1e11 * moment / (7800 * 0.1 * 0.01))
    for found in (analysis.modes(body), analysis.modes(body, 4)):
        assert found.frequencies[0] == pytest.approx(exact, rel=0.01)
    smaller = analysis.reduce(body, order=8, band=(1, 400))
    assert smaller.band_error < 1e-3
    assert smaller.passive


def mass_on_plate(gravity, coordinates=None):
    """A mass on a rail, on a spring and on the tip of a plate."""
    model = ps.Model(name="rail", gravity=(0, -gravity, 0))
    mass = model.add_body("mass", ps.Box(mass=2.0, size=(0.1, 0.1, 0.1)), position=(1, 0, 0))
    rail = ps.Prismatic(model.ground, mass, point=(1, 0, 0), axis=(0, 1, 0))
    model.add_joint("rail", rail)
    spring = {"point_a": (1, -1, 0), "point_b": (1, 0, 0), "stiffness": 1e4, "rest_length": 1.0}
    model.add_force("spring", ps.Spring(model.ground, mass, **spring))
    model.add_port("pin", ps.JointPort("rail"))
    return ps.ph.interconnect(
        model.compile(coordinates),
        plate().prefixed("plate"),
        connections=ps.ph.Transformer("pin", "plate.tip", C=[[0, 1.0]]),
    )


def test_a_continuum_and_a_mass_on_a_rail_vibrate_as_one():
    """One mass on two springs: omega^2 = (k + 3 E I / L^3) / (M + 33/140 m)."""
    rest = analysis.equilibrium(mass_on_plate(0.0))
    stiffness = 3 * 2.1e11 * 0.01 * 0.1**3 / 12
    assert rest.stability == "stable"
    slowest = analysis.modes(rest).frequencies[0]
    exact = np.sqrt((1e4 + stiffness) / (2.0 + 33 / 140 * 7.8))
    assert slowest == pytest.approx(exact, rel=0.01)


@cache
def stiffness_of_plate():
    alone = analysis.equilibrium(plate(), inputs={"tip": [0.0, 1.0]})
    moved = alone.system.body.displacement(alone.state("stress"))
    return 1 / (alone.system.matrix_B[: moved.size].T @ moved)[1]


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_a_mechanism_on_a_continuum_sinks_by_its_weight(coordinates):
    """Two springs share a weight: the plate, whose stiffness a force on it alone tells, and k."""
    stiffness = stiffness_of_plate()
    rest = analysis.equilibrium(mass_on_plate(G, coordinates))
    assert rest.x[1] == pytest.approx(-2.0 * G / (1e4 + stiffness), rel=1e-9)
    assert rest.stability == "stable"
    found, weightless = (analysis.modes(at, 3).frequencies for at in (rest, mass_on_plate(0.0)))
    np.testing.assert_allclose(found, weightless, rtol=1e-9)
