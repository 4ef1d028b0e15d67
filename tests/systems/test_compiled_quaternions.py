"""Quaternions in the compiled engine: the motion of the reference engine, step by step."""

from functools import partial

import mechanisms
import numpy as np
import pytest
from engines import finished
from in_turn import in_turn

import poinsot as ps
from poinsot.gallery import closed_loop, spatial_slider_crank

SCHEMES = ("eml", "reml", "null-eml", "emh", "eml-mean", "emh-mean")
ENGINES = ("reference", "compiled")


def everything():
    """Rows and points of joints, struts, fields, and loads of every kind."""
    model = ps.Model(gravity=(0, 0, -9.81))
    arm = model.add_body(
        "arm", ps.Box(mass=1, size=(0.1, 0.2, 1)), position=(0, 0, -0.5), angular_velocity=(1, 0, 0)
    )
    tip = model.add_body("tip", ps.Box(mass=0.5, size=(0.3, 0.2, 0.1)), position=(0.3, 0, -1))
    point = (0.4, 0.1, -1)
    model.add_joint("hinge", ps.Revolute(model.ground, arm, point=(0, 0, 0), axis=(1, 0, 0)))
    elbow = ps.Universal(arm, tip, point=(0, 0, -1), axis_a=(1, 0, 0), axis_b=(0, 1, 0))
    model.add_joint("elbow", elbow)
    spring = {"a": model.ground, "b": tip, "point_a": (1, 0, 0), "point_b": point}
    model.add_force("spring", ps.Spring(stiffness=30, damping=0.5, **spring))
    model.add_force("bush", ps.JointSpring(stiffness=3, damping=0.2, joint="hinge"))
    field = ps.Field(
        lambda r, d: 2 * r[0, 0] ** 2 + d[0, 2],
        points=[(tip, point)],
        directions=[(arm, (0, 0, 1))],
    )
    model.add_force("field", field)
    model.add_port("motor", ps.JointPort("hinge", value=lambda t: np.sin(3 * t)))
    for axes in ("world", "body"):
        force = ps.ForcePort(tip, point=point, axes=axes, value=(0.5, 0.1, 0.2))
        model.add_port(f"force, {axes}", force)
        model.add_port(f"torque, {axes}", ps.TorquePort(tip, axes=axes, value=(0.1, 0.3, 0.2)))
    published = ps.TorquePort(tip, published=True, value=(0.1, 0.3, -0.2))
    model.add_port("published", published)
    model.add_port("drag", ps.ForcePort(tip, law=lambda t, motion: -0.3 * motion.velocity))
    return model


def four_bar():
    """A loop of hinges, whose constraints repeat each other."""
    model = ps.Model(gravity=(0, 0, -9.81))
    corners = [(0, 0, 0), (0, 0, 1), (2, 0, 1), (2, 0, 0)]
    bars, last = [], model.ground
    for k in range(3):
        a, b = np.array(corners[k]), np.array(corners[k + 1])
        size = abs(b - a) + 0.1
        bars.append(model.add_body(f"bar {k}", ps.Box(mass=1, size=size), position=(a + b) / 2))
        model.add_joint(f"pin {k}", ps.Revolute(last, bars[-1], point=a, axis=(0, 1, 0)))
        last = bars[-1]
    model.add_joint("pin 3", ps.Revolute(last, model.ground, point=corners[3], axis=(0, 1, 0)))
    return model


def thin_rod():
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = ps.ThinRod(mass=1, length=1)
    body = model.add_body("rod", rod, position=(0, 0, 0.5), angular_velocity=(0, 1, 0))
    model.add_joint("ball", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    return model


def random(seed):
    """A mechanism of any joints, springs and loads."""
    ground, loops = seed % 3 > 0, seed % 2
    return finished(mechanisms.full(seed, bodies=3, loops=loops, ground=ground))


MODELS = {
    "everything": (everything, 0.01, 5),
    "loop": (closed_loop.model, 0.1, 5),
    "slider-crank": (spatial_slider_crank.model, 0.01, 5),
    "four-bar": (four_bar, 0.01, 5),
    "thin rod": (thin_rod, 0.005, 8),
    **{f"random {seed}": (partial(random, seed), 0.005, 4) for seed in (1, 3, 4, 7)},
}


#: Repeated constraints leave multipliers open, which moves bodies unless lever arms are mean ones.
REPEATED = ("four-bar", "random 3", "random 7")
CASES = [
    (name, scheme)
    for name, scheme in in_turn(MODELS, SCHEMES, times=2)
    if ps.SCHEMES[scheme].mean_lever_arms or name not in REPEATED
]


def run(make, scheme, h, steps, engine):
    return ps.simulate(make(), scheme=scheme, h=h, t_end=steps * h, engine=engine)


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_both_engines_take_the_same_steps(name, scheme):
    theirs, ours = (run(MODELS[name][0], scheme, *MODELS[name][1:], e) for e in ENGINES)
    assert ours.stats.single_steps == 0
    for state in theirs.states:
        expected = theirs[state]
        tolerance = {"q": 1e-11, "v": 1e-9, "p": 1e-9}.get(state.rpartition(".")[2], 1e-6)
        size = max(1.0, abs(expected).max())
        np.testing.assert_allclose(ours[state], expected, rtol=0, atol=tolerance * size)
    for joint in theirs.observation.joints:
        force, expected = ours.reaction(joint).force, theirs.reaction(joint).force
        size = max(1.0, abs(expected).max())
        np.testing.assert_allclose(force, expected, rtol=0, atol=1e-6 * size)
    for port in theirs.ports:
        np.testing.assert_allclose(ours.port(port).y, theirs.port(port).y, rtol=0, atol=1e-9)
    assert ours.stats.balance_error_max <= 1e-12 * max(1.0, abs(ours.energy).max())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_energy_and_momentum_of_a_free_body_stay_over_many_steps(scheme):
    model = ps.Model()
    body = ps.RigidBody(mass=1, inertia=(6, 8, 3))
    model.add_body("body", body, angular_velocity=(10, 20, 20), velocity=(1, 2, 3))
    result = ps.simulate(model, scheme=scheme, h=0.005, t_end=100, engine="compiled", save_every=10)
    L = result.angular_momentum
    assert np.ptp(result.energy) <= 1e-11 * result.energy[0]
    assert abs(L - L[0]).max() <= 1e-11 * np.linalg.norm(L[0])
    assert result.constraint_error.max() <= 1e-13


def test_mean_lever_arms_keep_the_momentum_of_a_loop_over_many_steps():
    loop = closed_loop.model(closed_loop.EXACT)
    result = ps.simulate(loop, scheme="emh-mean", h=0.02, t_end=200, engine="compiled")
    after = result.time > 1
    L = result.angular_momentum[after]
    np.testing.assert_allclose(L, np.tile((300.0, 0, 0), (len(L), 1)), rtol=0, atol=3e-9)
    assert np.ptp(result.energy[after]) <= 1e-11 * result.energy[-1]
    assert result.constraint_error.max() <= 1e-11


def test_levers_of_the_mean_quaternion_with_repeated_constraints_run_in_the_reference_engine():
    assert run(four_bar, "eml", 0.01, 1, "auto").engine == "reference"


@pytest.mark.parametrize("scheme", ["mpl", "mph"])
def test_midpoint_schemes_of_quaternions_run_in_the_reference_engine(scheme):
    assert run(thin_rod, scheme, 0.005, 2, "auto").engine == "reference"
    with pytest.raises(ps.InputError, match="compiled engine"):
        run(thin_rod, scheme, 0.005, 2, "compiled")
