"""Bodies that roll, with velocities in body axes: the motion of `emh-mean` in quaternions."""

import numpy as np
import pytest
from mechanisms import random_state
from rolling_models import MODELS, slips
from test_rotation_structure import check

import poinsot as ps
from poinsot.ph.general_stages import stage_equations

COORDINATES = ("rotations", "rotations-quaternion", "rotations-euler")


def run(model, coordinates, engine="reference"):
    return ps.simulate(model, coordinates=coordinates, h=0.01, t_end=0.08, engine=engine)


def motion(result):
    body = result.body("body")
    return np.hstack([body.position, body.rotation.reshape(-1, 9), body.velocity])


@pytest.mark.parametrize("name", MODELS)
def test_rolling_is_that_of_quaternions_with_mean_lever_arms(name):
    model, _ = MODELS[name]()
    expected = run(model, "quaternions")
    for coordinates in COORDINATES:
        result = run(model, coordinates)
        np.testing.assert_allclose(motion(result), motion(expected), rtol=0, atol=1e-11)
        force, other = (r.reaction("contact").force for r in (result, expected))
        np.testing.assert_allclose(force, other, rtol=0, atol=1e-8 * (1 + abs(other).max()))
        assert np.ptp(result.energy) < 1e-12 * (1 + abs(result.energy).max())
        assert result.constraint_error.max() < 1e-13
        assert slips(result, model) < 1e-12


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_both_engines_roll_alike(coordinates):
    ours, theirs = (run(MODELS["coin"]()[0], coordinates, e) for e in ("compiled", "reference"))
    assert (ours.engine, ours.stats.single_steps) == ("compiled", 0)
    for state in theirs.states:
        size = 1e-9 * (1 + abs(theirs[state]).max())
        np.testing.assert_allclose(ours[state], theirs[state], rtol=0, atol=size, err_msg=state)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_contacts_keep_structure_and_exact_derivatives(coordinates):
    system = MODELS["eccentric coin"]()[0].compile(coordinates)
    x, random = random_state(system, 3), np.random.default_rng(1)
    z = random.standard_normal(system.n)
    defects = system.defects(x)
    assert defects.holds(1e-6), str(defects)
    check(system.dflow(x, z, np.zeros(0)), lambda x: system.flow(x, z, np.zeros(0)), x, 1e-8)
    problem = stage_equations(system, ps.SCHEMES["ph-mp"], 0.0, x, np.zeros(0), 0.1)
    w = problem.guess + 0.2 * random.standard_normal(problem.guess.size)
    check(problem.evaluate(w).tangent().T, lambda w: problem.evaluate(w).F, w, 1e-8)
