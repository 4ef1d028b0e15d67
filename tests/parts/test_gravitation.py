"""Attraction by the inverse square: Kepler's orbits, exact balances, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws

import poinsot as ps

#: One scheme of every form that keeps angular momentum.
SCHEMES = ("ph-mp", "ph-mp-ggl", "eml-mean", "emh-mean")
BALL = ps.Sphere(mass=1.0, radius=0.1)


def orbit(eccentricity, mu=2.0):
    """A satellite at the point of its orbit that is nearest to the origin; its period [s]."""
    model, near = ps.Model(), 1.0
    a = near / (1 - eccentricity)
    v = np.sqrt(mu * (1 + eccentricity) / near)
    moon = model.add_body("moon", BALL, position=(near, 0, 0), velocity=(0, v, 0))
    model.add_force("sun", ps.Gravitation(model.ground, moon, strength=mu))
    return model, 2 * np.pi * np.sqrt(a**3 / mu)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("eccentricity", [0.0, 0.4])
def test_a_satellite_is_back_after_keplers_period(eccentricity, engine):
    model, period = orbit(eccentricity)
    errors = []
    for steps in (200, 400):
        result = ps.simulate(model, t_end=period, h=period / steps, engine=engine)
        errors.append(np.linalg.norm(result.position("moon")[-1] - (1, 0, 0)))
    assert errors[1] < 0.02
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)


def bodies(seed, count=3):
    """Bodies that attract each other and, one of them, the ground; on every second a hinge."""
    random, model = np.random.default_rng(seed), ps.Model()
    found = [
        model.add_body(
            f"body{k}",
            ps.Box(mass=random.uniform(1, 3), size=random.uniform(0.2, 0.5, 3)),
            position=3 * np.eye(3)[k % 3] + random.uniform(-0.5, 0.5, 3),
            velocity=random.uniform(-0.5, 0.5, 3),
            angular_velocity=random.uniform(-2, 2, 3),
        )
        for k in range(count)
    ]
    for k, b in enumerate(found):
        for a in found[:k]:
            strength = random.uniform(-1, 2)
            model.add_force(f"{a.name}-{b.name}", ps.Gravitation(a, b, strength=strength))
    return model, found


@laws(12)
@given(seed=st.integers(0, 10**6), scheme=st.sampled_from(SCHEMES), grounded=st.booleans())
def test_energy_and_momenta_are_exact_in_every_form_and_engine(seed, scheme, grounded):
    model, found = bodies(seed)
    if grounded:
        pull = ps.Gravitation(found[0], model.ground, strength=1.5, centre=(0, 0, -4))
        model.add_force("earth", pull)
    results = [
        ps.simulate(model, scheme=scheme, t_end=0.5, h=0.02, engine=engine)
        for engine in ("reference", "compiled")
    ]
    for result in results:
        scale = abs(result.energy).max() + 1
        assert abs(result.energy - result.energy[0]).max() < 1e-11 * scale
        if not grounded:
            for total in (result.linear_momentum, result.angular_momentum):
                assert abs(total - total[0]).max() < 1e-11 * (abs(total).max() + 1)
    one, other = (np.hstack([r.position(body.name) for body in found]) for r in results)
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_it_is_a_spring_of_the_same_law(engine):
    runs = []
    for by_law in (True, False):
        model = ps.Model()
        a = model.add_body("a", BALL, velocity=(0, -0.5, 0))
        b = model.add_body("b", BALL, position=(1, 0, 0), velocity=(0, 0.5, 0.2))
        force = ps.Gravitation(a, b, strength=0.7)
        if by_law:
            law = {"potential": lambda r: -0.7 / r, "dpotential": lambda r: 0.7 / r**2}
            force = ps.Spring(a, b, (0, 0, 0), (1, 0, 0), **law)
        model.add_force("pull", force)
        runs.append(ps.simulate(model, t_end=2.0, h=0.01, engine=engine).position("b"))
    np.testing.assert_allclose(*runs, atol=1e-10)


def test_newtons_constant_and_both_masses_are_the_default():
    model = ps.Model()
    a = model.add_body("earth", ps.Sphere(mass=5.972e24, radius=6.371e6))
    b = model.add_body("stone", BALL, position=(6.371e6, 0, 0))
    model.add_force("weight", ps.Gravitation(a, b))
    result = ps.simulate(model, t_end=1.0, h=0.01)
    fallen = 6.371e6 - result.position("stone")[-1, 0]
    assert fallen == pytest.approx(9.82 / 2, rel=1e-2)


def test_what_makes_no_sense_is_refused():
    model = ps.Model()
    a, b = (model.add_body(name, BALL) for name in "ab")
    for arguments, match in (
        ((a, a), "'a' cannot attract itself"),
        ((model.ground, model.ground), "cannot attract itself"),
        ((a, model.ground), "give a strength"),
        ((a, b), "at the same position"),
        ((a, 3), "Gravitation: b: expected a body or model.ground"),
    ):
        with pytest.raises(ps.InputError, match=match):
            ps.Gravitation(*arguments)
    with pytest.raises(ps.InputError, match="strength"):
        ps.Gravitation(a, model.ground, strength=np.nan, centre=(1, 0, 0))


def test_it_is_kept_in_model_files(tmp_path):
    model, _ = orbit(0.2)
    model.to_yaml(tmp_path / "orbit.yaml")
    again = ps.Model.from_yaml(tmp_path / "orbit.yaml")
    assert again.forces["sun"].strength == 2.0
    np.testing.assert_array_equal(
        ps.simulate(model, t_end=0.1, h=0.01).position("moon"),
        ps.simulate(again, t_end=0.1, h=0.01).position("moon"),
    )
