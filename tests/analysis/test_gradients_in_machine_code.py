"""Gradients in machine code: those of the reference adjoint, and of converged compiled runs."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from mechanisms import laws
from strategies import seeds

import poinsot as ps
from poinsot.analysis import Final, Integral, Squares
from poinsot.model.parameters import Parameters

H, STEPS = 0.02, 5
#: Joints that stay closed for any values of their numbers.
TREE = ("Spherical", "Revolute", "Cylindrical", "Prismatic", "Weld", "Rod", "PointOnLine")
#: Of a change, weights of runs for a derivative of fourth order.
WEIGHTS = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}


def loss(plan):
    """Something of every kind of channel."""
    first, last = (list(plan.bodies)[k] for k in (0, -1))
    samples = {f"{last}.velocity.y": [0.3, -0.2]}
    return (
        Final(f"{last}.position.x * {first}.rotation.xy")
        + 0.5 * Integral(f"{last}.angular_velocity.z**2 + t*{first}.position.z")
        + Squares(samples, [H, 2.5 * H])
    )


def parameters(plan, random):
    """Some of every kind of a plan's numbers, by their paths."""
    body = random.choice(list(plan.bodies))
    paths = [f"bodies.{body}.mass", "gravity", f"initial.{body}.angular_velocity"]
    for name, (_, arguments) in plan.joints.items():
        paths += [
            f"joints.{name}.{key}" for key in ("point", "point_a", "axis") if key in arguments
        ]
    for name, (kind, _) in plan.forces.items():
        paths += [f"forces.{name}.{'stiffness' if kind != 'JointFriction' else 'viscous'}"]
    return paths[:3] + list(random.permutation(paths[3:])[:4])


def random_plan(seed):
    """A tree or a closed loop, with springs, dampers and constant loads or without."""
    random = np.random.default_rng(seed)
    plan = mechanisms.tree(seed, bodies=2 + seed % 2, kinds=TREE)
    if seed % 3 == 0:
        return mechanisms.tree(seed, bodies=3, loops=1, kinds=TREE), random
    if seed % 3 == 1:
        last = list(plan.bodies)[-1]
        at = plan.bodies[last]["position"] + 0.2 * random.standard_normal(3)
        spring = {
            "a": "ground",
            "b": last,
            "point_a": at + np.array([1.0, 0.4, 0.2]),
            "point_b": at,
        }
        forces = {"spring": ("Spring", {**spring, "stiffness": 12.0, "damping": 0.4})}
        for name, (kind, _) in plan.joints.items():
            for freedom in mechanisms._movable(kind)[:1]:
                law = {"joint": name, "freedom": freedom, "stiffness": 4.0, "rest": 0.3}
                forces[f"on {name}"] = ("JointSpring", law)
        push = {"body": last, "point": at, "axes": "body", "value": np.array([1.0, -2.0, 0.5])}
        return replace(plan, forces=forces, ports={"push": ("ForcePort", push)}), random
    return plan, random


@laws(6)
@given(seeds)
def test_gradients_of_random_mechanisms_are_those_of_the_reference_and_of_runs(seed):
    plan, random = random_plan(seed)
    model, of, paths = plan.model(), loss(plan), parameters(plan, random)
    how = {"h": H, "t_end": H * STEPS}
    found = ps.gradient(model, of, paths, engine="compiled", **how)
    expected = ps.gradient(model, of, paths, engine="reference", **how)
    assert (found.engine, expected.engine) == ("compiled", "reference")
    assert found.value == pytest.approx(expected.value, rel=1e-11, abs=1e-12)
    size = max(1.0, np.max(abs(expected.flat)))
    np.testing.assert_allclose(found.flat, expected.flat, rtol=0, atol=1e-9 * size)

    # Of all parameters at once, along a random direction that keeps axes where they are.
    known = Parameters.of(model, paths)
    direction = {p: random.uniform(-1, 1, np.shape(known.values[p])) for p in paths[:3]}

    def value(step):
        other = known.model({p: known.values[p] + step * dp for p, dp in direction.items()})
        newton = ps.Newton(rtol=1e-13)
        return ps.gradient(other, of, {}, engine="compiled", newton=newton, **how).value

    slope = sum(weight * value(k * 1e-3) / 1e-3 for k, weight in WEIGHTS.items())
    along = sum(np.sum(found[p] * dp) for p, dp in direction.items())
    assert abs(along - slope) < 1e-7 * size


def cart(damping=0.3):
    """A cart on a rail with a pendulum, a motor and a spring."""
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body("cart", ps.Box(mass=1.0, size=(0.3, 0.2, 0.1)), velocity=(0.3, 0, 0))
    shape = ps.Box(mass=0.2, size=(0.02, 0.02, 1.0))
    pole = model.add_body("pole", shape, position=(0, 0, -0.5), angular_velocity=(0, 2, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_joint("pin", ps.Revolute(body, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("spring", ps.JointSpring("rail", stiffness=20.0, damping=damping))
    model.add_port("motor", ps.JointPort("rail"))
    model.project_velocities()
    return model


def test_reactions_samples_of_inputs_and_substeps_go_backwards_in_machine_code():
    times = np.linspace(0, 0.1, 4)
    how = {"h": 0.02, "t_end": 0.1, "inputs": {"motor": ps.Table(times, np.sin(9 * times))}}
    of = Final("pin**2 + 0.01*pin.force_2") + Integral("rail.rate**2")
    paths = ["inputs.motor", "joints.pin.point.z", "forces.spring.stiffness", "initial.pin"]
    for scheme in ("ph-mp", "ph-mp-4"):
        found, expected = (
            ps.gradient(cart(damping=0), of, paths, scheme=scheme, engine=engine, **how)
            for engine in ("compiled", "reference")
        )
        np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-9, atol=1e-10)


def test_segments_of_a_long_run_are_taken_again(monkeypatch):
    monkeypatch.setattr("poinsot.analysis.gradients.compiled.TOGETHER", 7)
    of, paths = Final("pin") + Integral("rail**2"), ["bodies.pole.mass", "joints.pin.point.z"]
    how = {"h": 0.01, "t_end": 0.5, "engine": "compiled"}
    whole = ps.gradient(cart(), of, paths, **how)
    least = ps.gradient(cart(), of, paths, memory=1e3, **how)
    assert least.value == whole.value
    np.testing.assert_allclose(least.flat, whole.flat, rtol=1e-12)


def bushing(model):
    stiff = {"stiffness": (9, 9, 9, 1, 1, 1), "damping": (1, 1, 1, 0, 0, 0)}
    return ps.Bushing(model.body("cart"), model.body("pole"), point=(0, 0, 0), **stiff)


def test_what_machine_code_cannot_take_back_goes_to_the_reference_engine_unless_refused():
    model = cart()
    model.add_force("bushing", bushing(model))
    how = {"h": 0.02, "t_end": 0.06}
    cases = [
        (model, {}, "Connections"),
        (cart(), {"scheme": "ph-mp-ggl"}, "stabilised form"),
        (cart(), {"coordinates": "rotations"}, "in these coordinates"),
    ]
    for each, options, words in cases:
        found = ps.gradient(each, Final("rail"), "bodies.pole.mass", **options, **how)
        assert found.engine == "reference"
        with pytest.raises(ps.errors.InputError, match=words):
            ps.gradient(
                each, Final("rail"), "bodies.pole.mass", engine="compiled", **options, **how
            )
