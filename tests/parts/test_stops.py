"""Stops push back beyond their limits, never pull, and never create energy."""

import numpy as np
import pytest
from balance import step_errors, turnover
from engines import assert_same, both
from in_turn import in_turn
from scipy.integrate import solve_ivp

import poinsot as ps

K, FLOOR, G = 1e4, -0.05, 9.81


def ball(damping=0.0, **stop):
    """A ball of 1 kg on a vertical guide above a stop."""
    model = ps.Model(gravity=(0, 0, -G))
    body = model.add_body("ball", ps.Sphere(mass=1, radius=0.02))
    model.add_joint("guide", ps.Prismatic(model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    limits = stop or {"lower": FLOOR}
    model.add_force("stop", ps.JointStop("guide", stiffness=K, damping=damping, **limits))
    return model


def bar(damping=0.0):
    """A bar that is thrown round and round until it runs into a stop after more than a turn."""
    model = ps.Model(gravity=(0, 0, -G))
    body = model.add_body(
        "bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0), angular_velocity=(0, 12, 0)
    )
    model.add_joint("hinge", ps.Revolute(model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    stop = ps.JointStop("hinge", lower=-0.5, upper=8.0, stiffness=500.0, damping=damping)
    model.add_force("stop", stop)
    return model


def test_a_ball_bounces_without_loss_for_ten_thousand_steps():
    result = ps.simulate(ball(), h=1e-3, t_end=10.0, engine="compiled")
    z = result.joint("guide").coordinates["displacement"]
    assert np.sum((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])) > 40
    assert np.ptp(result.energy) < 1e-12
    assert z.max() < 1e-6
    # At the bottom, m g (z0 - z) = k (floor - z)^2 / 2.
    depth = (G + np.sqrt(G**2 + 2 * K * G * -FLOOR)) / K
    assert z.min() == pytest.approx(FLOOR - depth, abs=1e-5)


def test_a_blow_is_that_of_the_differential_equation():
    c = 5e3
    model = ball(c)
    result = ps.simulate(model, h=1e-5, t_end=0.15, save_every=10)

    def rate(t, x):
        depth = max(0.0, FLOOR - x[0])
        return [x[1], -G + max(0.0, K * depth - c * depth * x[1])]

    exact = solve_ivp(rate, (0, 0.15), [0, 0], t_eval=result.time, rtol=1e-10, atol=1e-12)
    z = result.joint("guide").coordinates["displacement"]
    assert abs(z - exact.y[0]).max() < 1e-6
    hit, left = abs(exact.y[1]).max(), exact.y[1].max()
    assert left / hit == pytest.approx(1 - 2 / 3 * c / K * hit, abs=0.08)  # [HC75]


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
@pytest.mark.parametrize("make", [ball, bar])
def test_damping_only_takes_energy(make, coordinates):
    model = make(2e3)
    result = ps.simulate(model, h=1e-3, t_end=3.0, coordinates=coordinates, engine="compiled")
    assert np.diff(result.dissipated).min() >= 0
    assert result.dissipated[-1] > 0.1
    assert abs(result.balance_error).max() < 1e-11 * turnover(result)
    assert abs(step_errors(result)).max() < 1e-11 * turnover(result)


@pytest.mark.parametrize(
    ("scheme", "make"), in_turn(["ph-mp", "ph-mp-ggl", "emh-mean"], [ball, bar])
)
def test_both_engines_stop_alike(make, scheme):
    h, t_end = {"ball": (5e-3, 0.15), "bar": (0.02, 0.9)}[make.__name__]
    fast, slow = both(make(300.0), h=h, t_end=t_end, scheme=scheme)
    assert_same(fast, slow)
    assert fast.dissipated[-1] > 0


def test_limits_count_turns():
    result = ps.simulate(bar(), h=1e-3, t_end=1.2)
    angle = result.joint("hinge").coordinates["angle"]
    assert 8.0 < angle.max() < 9.0
    assert np.ptp(result.energy) < 1e-11


def test_a_stop_never_pulls():
    """With damping beyond all measure the ball leaves the stop with no force, not with a pull."""
    model = ball(1e6)
    result = ps.simulate(model, h=1e-4, t_end=0.3)
    v, z = result.velocity("ball")[:, 2], result.joint("guide").coordinates["displacement"]
    push = np.diff(v) / 1e-4 + G  # force of the stop over its mass
    assert push.min() > -1e-9
    assert push[np.maximum(z[1:], z[:-1]) < FLOOR].max() > 100


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ({"lower": 1.0, "upper": -1.0}, "must be less"),
        ({"lower": 1.0, "upper": 1.0}, "must be less"),
        ({"lower": None}, "give lower, upper or both"),
        ({"lower": float("nan")}, "finite"),
        ({"lower": 0.0, "freedom": "angle"}, "no coordinate 'angle'"),
        ({"upper": 0.0, "damping": -1.0}, "damping"),
    ],
)
def test_what_is_no_stop_is_refused(stop, message):
    with pytest.raises(ps.InputError, match=message):
        ball(**stop)


def test_a_stiffness_must_be_positive():
    with pytest.raises(ps.InputError, match="stiffness"):
        ps.JointStop("guide", lower=0.0, stiffness=0.0)


def test_a_stop_is_written_to_a_model_file():
    model = bar(3.0)
    assert ps.Model.from_yaml_text(model.to_yaml()).to_yaml() == model.to_yaml()
