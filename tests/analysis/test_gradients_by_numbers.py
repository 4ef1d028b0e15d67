"""Gradients by all numbers of what acts: those of converged runs, whatever their number."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from mechanisms import laws
from strategies import seeds

import poinsot as ps
from poinsot.analysis import Final
from poinsot.analysis.gradients.compiled import CompiledBackward
from poinsot.model.parameters import Parameters

H, STEPS = 0.02, 6
#: Of a change, weights of runs for a derivative of fourth order.
WEIGHTS = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}
SCHEMES = ("ph-mp", "ph-mp-ggl")
#: All numbers of parts.
NUMBERS = {
    "Spring": ("stiffness", "damping", "rest_length", "point_a", "point_b"),
    "JointSpring": ("stiffness", "damping", "rest"),
    "JointFriction": ("coulomb", "viscous", "quadratic", "slip"),
    "JointStop": ("lower", "upper", "stiffness", "damping"),
    "Drag": ("viscous", "quadratic", "angular_viscous", "angular_quadratic", "point"),
    "Bushing": ("point",),
    "ForcePort": ("point",),
}


def loss(plan):
    first, *_, last = (*plan.bodies, *plan.bodies)
    parts = (f"{last}.position.x * {first}.rotation.xy", f"{last}.angular_velocity.z")
    return Final(" + ".join(parts))


def with_everything(plan, seed):
    """Put parts of all laws on a plan: on each joint, and between its first and its last body."""
    random = np.random.default_rng(seed)
    first, *_, last = (*plan.bodies, *plan.bodies)
    centre = plan.bodies[last]["position"]
    near, far = centre + 0.1, centre + np.array([1.0, 0.7, -0.4])
    spring = {"a": "ground", "b": last, "point_a": far, "point_b": near}
    drag = {"viscous": 0.2, "quadratic": 0.3, "angular_viscous": 0.05, "angular_quadratic": 0.02}
    soft = {"stiffness": random.uniform(1, 3, 6), "damping": random.uniform(0.1, 0.3, 6)}
    forces = {
        "spring": ("Spring", {**spring, "stiffness": 12.0, "damping": 0.4, "rest_length": 0.9}),
        "drag": ("Drag", {"body": last, "point": near, **drag}),
        "bushing": ("Bushing", {"a": "ground", "b": first, "point": far, **soft}),
    }
    for name, (kind, _) in plan.joints.items():
        for freedom in mechanisms._movable(kind):
            on = {"joint": name, "freedom": freedom}
            dry = {"coulomb": 0.2, "viscous": 0.1, "quadratic": 0.05, "slip": 0.05}
            stop = {"lower": -0.02, "upper": 0.015, "stiffness": 40.0, "damping": 3.0}
            forces[f"spring {name} {freedom}"] = (
                "JointSpring",
                {**on, "stiffness": 4.0, "rest": 0.3, "damping": 0.2},
            )
            forces[f"dry {name} {freedom}"] = ("JointFriction", {**on, **dry})
            forces[f"stop {name} {freedom}"] = ("JointStop", {**on, **stop})
    push = {"body": last, "point": near, "axes": "body", "value": np.array([1.0, -2.0, 0.5])}
    return replace(plan, forces=forces, ports={"push": ("ForcePort", push)})


def paths_of(plan):
    """The paths of all numbers of the parts of a plan."""
    parts = {
        **{f"forces.{name}": kind for name, (kind, _) in plan.forces.items()},
        **{f"ports.{name}": kind for name, (kind, _) in plan.ports.items()},
    }
    return [f"{path}.{number}" for path, kind in parts.items() for number in NUMBERS[kind]]


def slope_of_runs(known, of, path, way, change, **how):
    """The derivative of converged runs by a parameter along a way."""
    slope = 0.0
    for k, weight in WEIGHTS.items():
        ran = known.model({path: known.values[path] + k * change * way})
        slope += weight * ps.gradient(ran, of, {}, newton=ps.Newton(rtol=1e-13), **how).value
    return slope / change


def agree_with_runs(model, of, paths, random, **how):
    """Compare the gradient by each parameter with runs, along a random way of its values.

    A limit of a stop may be met within one change, but not within another that is much smaller.
    """
    known, found = Parameters.of(model, paths), ps.gradient(model, of, paths, **how)
    size = max(1.0, np.max(abs(found.flat)))
    for path, value in known.values.items():
        way = random.uniform(0.5, 1.0, np.shape(value))
        way = (way + way.T) / 2 if way.ndim == 2 else way
        along = np.sum(found[path] * way)
        slopes = (slope_of_runs(known, of, path, way, change, **how) for change in (1e-4, 1e-5))
        assert any(abs(along - slope) < 1e-8 * size for slope in slopes), path


@pytest.mark.parametrize("scheme", SCHEMES)
@laws(3)
@given(seeds)
def test_numbers_of_all_laws_have_the_derivatives_of_runs(scheme, seed):
    random = np.random.default_rng(seed)
    kinds = ("Spherical", "Revolute", "Cylindrical", "Prismatic", "Rod", "PointOnLine")
    plan = with_everything(mechanisms.tree(seed, bodies=2, loops=seed % 2, kinds=kinds), seed)
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme, "engine": "compiled"}
    some = random.permutation(paths_of(plan))[:6].tolist()
    agree_with_runs(plan.model(), loss(plan), some, random, **how)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_matrices_of_bushings_have_the_derivatives_of_runs(scheme):
    plan, random = (
        mechanisms.tree(6, bodies=2, kinds=("Spherical", "Rod")),
        np.random.default_rng(5),
    )
    (first, second), A = plan.bodies, random.standard_normal((2, 6, 6))
    law = {"stiffness": 2 * A[0] @ A[0].T + np.eye(6), "damping": 0.1 * A[1] @ A[1].T}
    between = {"a": first, "b": second, "point": plan.bodies[second]["position"] + 0.1, **law}
    plan = replace(plan, forces={"bushing": ("Bushing", between)})
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme, "engine": "compiled"}
    paths = [f"forces.bushing.{x}" for x in ("stiffness", "damping", "point")]
    agree_with_runs(plan.model(), loss(plan), paths, random, **how)


def four_bar():
    """A four-bar of hinges, three of whose constraints repeat others, with parts on all hinges."""
    model = ps.Model(gravity=(0, 0, -9.81))
    points = [(0, 0, 0), (0, 0.1, 0.3), (0, 0.6, 0.5), (0, 0.7, 0)]
    before = model.ground
    for k, point in enumerate(points):
        if k < 3:
            middle = (np.array(point) + points[k + 1]) / 2
            shape = ps.RigidBody(mass=1 + 0.2 * k, inertia=(0.02, 0.02, 0.01))
            body = model.add_body(f"bar{k}", shape, position=middle)
        else:
            body = model.ground
        model.add_joint(f"J{k}", ps.Revolute(before, body, point=point, axis=(1, 0, 0)))
        spring = {"stiffness": 3.0, "damping": 0.1, "rest": 0.2}
        model.add_force(f"spring{k}", ps.JointSpring(f"J{k}", **spring))
        dry = {"coulomb": 0.1, "viscous": 0.1, "slip": 0.1}
        model.add_force(f"dry{k}", ps.JointFriction(f"J{k}", **dry))
        before = body
    return model


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_on_hinges_that_repeat_constraints_have_the_derivatives_of_runs(scheme):
    random, model = np.random.default_rng(3), four_bar()
    paths = [f"forces.spring{k}.{x}" for k in range(4) for x in NUMBERS["JointSpring"]]
    paths += [f"forces.dry{k}.{x}" for k in range(4) for x in ("coulomb", "viscous", "slip")]
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme, "engine": "compiled"}
    agree_with_runs(model, Final("bar1.position.z"), paths, random, **how)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_along_an_angle_of_several_turns_have_the_derivatives_of_runs(scheme):
    model = ps.Model()
    shape = ps.Cylinder(mass=1.0, radius=0.2, length=0.1)
    wheel = model.add_body("wheel", shape, angular_velocity=(0, 0, 40 * np.pi))
    model.add_joint("axle", ps.Revolute(model.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_force("spring", ps.JointSpring("axle", stiffness=0.5, rest=1.0, damping=0.002))
    model.add_force("same", ps.JointSpring("axle", stiffness=0.2, rest=-3.0))
    model.add_force("dry", ps.JointFriction("axle", coulomb=0.3, viscous=0.01, quadratic=3e-4))
    model.add_force("stop", ps.JointStop("axle", upper=10.0, stiffness=0.3, damping=0.002))
    paths = [
        *(f"forces.{name}.{x}" for name in ("spring", "same") for x in ("stiffness", "rest")),
        *(f"forces.dry.{x}" for x in ("coulomb", "viscous", "quadratic")),
        *(f"forces.stop.{x}" for x in ("upper", "stiffness", "damping")),
        "forces.spring.damping",
    ]
    how = {"h": 0.01, "t_end": 0.25, "scheme": scheme, "engine": "compiled"}
    found = ps.gradient(model, Final("axle"), paths, **how)
    assert found.value > 4 * np.pi
    of = Final("axle + 0.1*axle.rate")
    agree_with_runs(model, of, paths, np.random.default_rng(0), **how)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_energy_that_a_spring_loses_is_its_own_to_the_last_digit(scheme):
    """E(k, x1(k)) = E(k, x0): by k, without its own share, E ends with (s0^2 - s1^2) / 2."""
    model, anchors = ps.Model(gravity=(0, 0, -9.81)), [(1, 0.2, 1), (-0.4, 1, 1.5), (0, -1, 0.8)]
    body = model.add_body("body", ps.PointMass(mass=1.3), velocity=(1, 2, -0.5))
    energy = "0.65*(body.velocity.x**2 + body.velocity.y**2 + body.velocity.z**2)"
    energy += "+ 1.3*9.81*body.position.z"
    places = np.zeros((4, 3))
    for i, anchor in enumerate(anchors):
        law = {"stiffness": 20.0 + i, "rest_length": 0.7}
        ends = {"point_a": anchor, "point_b": (0, 0, 0)}
        model.add_force(f"spring{i}", ps.Spring(model.ground, body, **ends, **law))
        away = [f"(body.position.{x} - ({a}))**2" for x, a in zip("xyz", anchor, strict=True)]
        energy += f"+ {10 + i / 2}*(sqrt({' + '.join(away)}) - 0.7)**2"
    how = {"h": H, "t_end": 1.0, "scheme": scheme, "engine": "compiled"}
    paths = [f"forces.spring{i}.{x}" for i in range(3) for x in ("stiffness", "rest_length")]
    found = ps.gradient(model, Final(energy), [*paths, "initial.body.velocity"], **how)
    end = ps.simulate(model, progress=False, h=H, t_end=1.0, scheme=scheme).position("body")[-1]
    for i, anchor in enumerate(anchors):
        s0, s1 = (np.linalg.norm(place - anchor) - 0.7 for place in (places[0], end))
        lost, k = (s0**2 - s1**2) / 2, 20.0 + i
        assert found[f"forces.spring{i}.stiffness"] == pytest.approx(lost, abs=1e-10)
        assert found[f"forces.spring{i}.rest_length"] == pytest.approx(k * (s1 - s0), abs=1e-9)
    np.testing.assert_allclose(found["initial.body.velocity"], 1.3 * np.array([1, 2, -0.5]))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_models_near_by_are_evaluated_for_numbers_of_what_acts(scheme, monkeypatch):
    seen = []
    gradient = CompiledBackward.gradient
    monkeypatch.setattr(
        CompiledBackward,
        "gradient",
        lambda self: (gradient(self), seen.append(len(self.nearby.models)))[0],
    )
    plan = with_everything(mechanisms.tree(1, bodies=2, kinds=("Revolute",)), 1)
    how = {"h": H, "t_end": H, "scheme": scheme, "engine": "compiled"}
    paths = [path for path in paths_of(plan) if "bushing" not in path]
    ps.gradient(plan.model(), loss(plan), [*paths, "bodies.body1.mass"], **how)
    assert seen == [0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_samples_of_loads_and_motors_have_the_derivatives_of_runs(scheme):
    plan = with_everything(mechanisms.tree(2, bodies=2, kinds=("Revolute",)), 2)
    model, first = plan.model(), next(iter(plan.joints))
    body = model.body(list(plan.bodies)[-1])
    model.add_port("motor", ps.JointPort(first))
    model.add_port("turn", ps.TorquePort(body, axes="body"))
    model.add_port("pull", ps.ForcePort(body, point=body.position + 0.1))
    times, random = np.linspace(0, H * STEPS, 3), np.random.default_rng(4)
    values = {"motor": random.standard_normal(3), "turn": random.standard_normal((3, 3))}
    values["pull"] = random.standard_normal((3, 3))
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme, "engine": "compiled"}

    def ran(values, *paths):
        inputs = {name: ps.Table(times, each) for name, each in values.items()}
        newton = ps.Newton(rtol=1e-13)
        return ps.gradient(model, loss(plan), list(paths), inputs=inputs, newton=newton, **how)

    found = ran(values, *(f"inputs.{name}" for name in values))
    for name, value in values.items():
        d, slope = random.standard_normal(value.shape), 0.0
        for k, weight in WEIGHTS.items():
            slope += weight / 1e-3 * ran({**values, name: value + 1e-3 * k * d}).value
        assert np.sum(found[f"inputs.{name}"] * d) == pytest.approx(slope, rel=1e-8, abs=1e-10)
