"""Rolling and sliding bodies against Newton's and Euler's equations."""

import numpy as np
import pytest
from in_turn import in_turn
from numerics import observed_orders
from rolling_models import MODELS

import poinsot as ps

STEPS = (0.01, 0.005)
T_END = 0.2


def reference(model, oracle, times):
    (body,) = model.bodies.values()
    v, omega = model.start_velocities()["body"]
    return oracle.run(body.position, body.R_WB, v, omega, times)


@pytest.mark.parametrize(("name", "scheme"), in_turn(MODELS, ["ph-mp", "emh-mean", "eml"], times=2))
def test_motion_converges_with_order_two(name, scheme):
    model, oracle = MODELS[name]()
    r, R, v, omega, _ = (a[-1] for a in reference(model, oracle, [0.0, T_END]))
    errors = []
    for h in STEPS:
        result = ps.simulate(model, h=h, t_end=T_END, scheme=scheme, engine="reference")
        gaps = [
            result.position("body")[-1] - r,
            result.rotation("body")[-1] - R,
            0.1 * (result.velocity("body")[-1] - v),
            0.01 * (result.angular_velocity("body")[-1] - omega),
        ]
        errors.append(max(np.max(abs(gap)) for gap in gaps))
    assert observed_orders(STEPS, errors) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("name", MODELS)
def test_mean_contact_force_of_two_steps_converges_with_order_two(name):
    """That of a single step may alternate, and is of order one then."""
    model, oracle = MODELS[name]()
    exact = reference(model, oracle, [0.0, T_END])[4][-1]
    steps, mean, single = (0.01, 0.005), [], []
    for h in steps:
        result = ps.simulate(model, h=h, t_end=T_END + h, scheme="ph-mp", engine="reference")
        last, beyond = result.reaction("contact").force[-2:]
        mean.append(np.max(abs((last + beyond) / 2 - exact)))
        middle = reference(model, oracle, [0.0, T_END - h / 2])[4][-1]
        single.append(np.max(abs(last - middle)))
    assert observed_orders(steps, mean) == pytest.approx(2.0, abs=0.1)
    assert np.all(observed_orders(steps, single) > 0.9)
