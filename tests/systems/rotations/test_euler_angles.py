"""Euler angles: continuous over turns, and an honest end at gimbal lock."""

import numpy as np
import pytest
from engines import add_every_part, assert_same
from hypothesis import assume, given
from hypothesis import strategies as st
from mechanisms import laws

import poinsot as ps
from poinsot.frames import euler
from poinsot.so3 import cayley, euler_to_matrix

ENGINES = ("reference", "compiled")
right = st.floats(-1.56, 1.56)
angle = st.floats(-10, 10)


def run(model, engine, h=0.01, t_end=3.0, coordinates="rotations-euler", **options):
    options |= {"h": h, "t_end": t_end, "engine": engine}
    return ps.simulate(model, coordinates=coordinates, **options)


def rotor(spin, **start):
    model = ps.Model(name="rotor")
    shape = ps.RigidBody(mass=1, inertia=(6, 8, 3))
    body = model.add_body("rod", shape, angular_velocity=spin, **start)
    model.add_joint("ball", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    return model


@laws(50)
@given(a=angle, b=right, g=angle)
def test_angles_and_rotations_belong_together(a, b, g):
    R = euler.matrix_of(euler.directors(np.array([a, b, g])))
    np.testing.assert_allclose(R, euler_to_matrix("xyz", [a, b, g]), atol=1e-14)
    found = euler.angles_of(R)
    away = 1e-14 / np.cos(b)
    np.testing.assert_allclose(euler.near(found, np.array([a, b, g])), [a, b, g], atol=4 * away)


turns = st.tuples(*[st.floats(-20, 20)] * 3).map(np.array)


@laws(100)
@given(a=angle, b=right, g=angle, turn=turns)
def test_a_turn_of_any_size_is_followed_as_in_many_small_ones(a, b, g, turn):
    """Up to half a turn in a step, past the vertical on either side."""
    start = np.array([[a, b, g]])
    length = np.linalg.norm(turn)
    assume(length > 0)
    done = np.linspace(0, 1, 4001)[:, None] * np.arctan(length / 2)
    R = euler.matrix_of(euler.directors(start))[0]
    path = R @ cayley(2 * np.tan(done) * turn / length)
    closest = np.arctan2(np.hypot(path[:, 0, 0], path[:, 1, 0]), abs(path[:, 2, 0])).min()
    gap, beta, part = (values[0] for values in euler.closest(R[None], turn[None]))
    assert gap == pytest.approx(closest, abs=2e-3)
    assert 0 <= part <= 1
    assert gap == pytest.approx(np.pi / 2 - abs(beta), abs=1e-12)
    assume(closest > 3e-3)
    expected = np.unwrap(euler.angles_of(path), axis=0)
    expected += start - expected[:1]
    np.testing.assert_allclose(euler.follow(start, turn[None])[0], expected[-1], atol=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
def test_angles_are_continuous_over_many_turns_however_few_are_saved(engine):
    """About e_z through its own axis: gamma counts the turns; 5 rad/s for 15 s are 75 rad."""
    h, spin = 0.1, 5.0
    exact = 2 * np.arctan(h * spin / 2) / h * 15
    for every in (1, 97):
        result = run(rotor((0, 0, spin)), engine, h=h, t_end=15, save_every=every)
        gamma = result["rod.zeta"][:, 5]
        assert gamma[-1] == pytest.approx(exact, abs=1e-9)
        np.testing.assert_allclose(gamma, result.time * exact / 15, atol=1e-9)
    assert abs(result["rod.zeta"][:, 3:5]).max() < 1e-12


@pytest.mark.parametrize("engine", ENGINES)
def test_gimbal_lock_ends_a_run_with_a_report_and_all_that_was_computed(engine):
    """About e_y the first director turns to the vertical in pi/2 s."""
    with pytest.raises(ps.SimulationError) as failure:
        run(rotor((0, 1, 0)), engine, save_every=7)
    message, result = str(failure.value), failure.value.result
    for part in (
        "body 'rod': gimbal lock: beta = 1.5",
        "degrees) at t = 1.57 s",
        "coordinates 'rotations' and 'rotations-quaternion' have no such",
        "step 157 from t = 1.56 s",
    ):
        assert part in message
    assert result.status == "failed"
    assert result.stats.steps == 156
    np.testing.assert_allclose(result.time[[0, 1, -2, -1]], [0, 0.07, 1.54, 1.56], atol=1e-12)
    beta = 2 * np.arctan(0.005) / 0.01 * result.time
    np.testing.assert_allclose(result["rod.zeta"][:, 4], beta, atol=1e-12)
    np.testing.assert_allclose(result.energy, 4.0, rtol=1e-12)


@pytest.mark.parametrize("coordinates", ["rotations", "rotations-quaternion"])
def test_other_coordinates_run_through_gimbal_lock(coordinates):
    result = run(rotor((0, 1, 0)), "reference", coordinates=coordinates)
    assert result.status == "done"
    assert result.rotation("rod")[-1][2, 0] == pytest.approx(-np.sin(3), abs=1e-4)


def test_a_large_step_across_the_vertical_is_noticed():
    """Ends of the step are far from it, its arc is not."""
    start = {"rotation": ps.Rotation.from_euler("xyz", (0, 1.3, 0))}
    with pytest.raises(ps.SimulationError, match=r"beta = 1.57.* at t = 0.2\d* s"):
        run(rotor((0, 1, 0), **start), "reference", h=0.6)


def test_a_start_at_gimbal_lock_is_refused():
    start = {"rotation": ps.Rotation.from_axis_angle((0, 1, 0), -np.pi / 2)}
    with pytest.raises(ps.InputError, match=r"body 'rod': gimbal lock: beta = -1.57.*-90 degrees"):
        run(rotor((0, 1, 0), **start), "reference")


def test_balances_end_where_the_angles_do():
    """The compiled engine is beyond the lock before it is noticed, and goes back."""
    model = rotor((0, 1, 0))
    add_every_part(model)
    results = []
    for engine in ENGINES:
        with pytest.raises(ps.SimulationError, match="body 'rod': gimbal lock") as failure:
            run(model, engine, h=0.05, save_every=4)
        results.append(failure.value.result)
    assert [result.engine for result in results] == list(ENGINES)
    assert_same(*results)
    theirs, ours = (result.stats for result in results)
    assert ours.balance_error_max < 1e-12
    assert ours.iterations.size == theirs.iterations.size
    assert 31 * 2 <= ours.newton_iterations <= 31 * 7
