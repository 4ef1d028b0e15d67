"""Velocities in body axes in the compiled engine: the motion of the reference engine."""

import numpy as np
import pytest
from in_turn import in_turn
from test_compiled_quaternions import ENGINES, MODELS, thin_rod

import poinsot as ps

COORDINATES = ("rotations", "rotations-quaternion", "rotations-euler")
NAMES = ("slider-crank", "four-bar", "thin rod", "random 1", "random 3", "random 4")


def run(make, coordinates, h, steps, engine, **options):
    run = {"h": h, "t_end": steps * h, "engine": engine}
    return ps.simulate(make(), coordinates=coordinates, **run, **options)


@pytest.mark.parametrize(("name", "coordinates"), in_turn(NAMES, COORDINATES))
def test_both_engines_take_the_same_steps(name, coordinates):
    theirs, ours = (run(MODELS[name][0], coordinates, *MODELS[name][1:], e) for e in ENGINES)
    assert (ours.engine, ours.stats.single_steps) == ("compiled", 0)
    for state in theirs.states:
        tolerance = {"zeta": 1e-11, "w": 1e-9}.get(state.rpartition(".")[2], 1e-6)
        size = max(1.0, abs(theirs[state]).max())
        np.testing.assert_allclose(ours[state], theirs[state], rtol=0, atol=tolerance * size)
    for joint in theirs.observation.joints:
        force, expected = ours.reaction(joint).force, theirs.reaction(joint).force
        size = max(1.0, abs(expected).max())
        np.testing.assert_allclose(force, expected, rtol=0, atol=1e-6 * size)
    for port in theirs.ports:
        np.testing.assert_allclose(ours.port(port).y, theirs.port(port).y, rtol=0, atol=1e-9)
    assert ours.stats.balance_error_max <= 1e-12 * max(1.0, abs(ours.energy).max())


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_saving_fewer_steps_saves_the_same_ones(coordinates):
    every, some = (run(thin_rod, coordinates, 0.005, 20, "compiled", save_every=k) for k in (1, 7))
    np.testing.assert_array_equal(some.time, every.time[[0, 7, 14, 20]])
    for state in every.states:
        np.testing.assert_allclose(some[state], every[state][[0, 7, 14, 20]], rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        some.reaction("ball").force, every.reaction("ball").force[[6, 13, 19]], atol=1e-9
    )


def test_rotations_stay_rotations_over_a_million_steps():
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.RigidBody(mass=1, inertia=(0.06, 0.08, 0.03))
    top = model.add_body("top", shape, position=(0.3, 0, 0.1), angular_velocity=(3, 1, 20))
    model.add_joint("ball", ps.Spherical(model.ground, top, point=(0, 0, 0)))
    run = {"h": 1e-3, "t_end": 1000, "save_every": 1000, "engine": "compiled"}
    result = ps.simulate(model, coordinates="rotations", **run)
    assert result.stats.steps == 1_000_000
    R = np.swapaxes(result["top.zeta"][:, 3:].reshape(-1, 3, 3), 1, 2)
    assert abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-12
    assert abs(np.linalg.det(R) - 1).max() < 1e-12
    assert result.constraint_error.max() < 1e-12
    assert np.ptp(result.energy) < 1e-9


def test_torques_as_published_run_in_the_reference_engine():
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(0.1, 0.2, 1)))
    torque = ps.TorquePort(bar, published=True, value=(0, 1, 0))
    model.add_port("torque", torque)
    assert run(lambda: model, "rotations", 0.005, 2, "auto").engine == "reference"
