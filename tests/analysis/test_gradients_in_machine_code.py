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
#: The number of a force that is derived by, if it is not its stiffness.
NUMBERS = {"JointFriction": "coulomb", "Drag": "quadratic"}
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
        paths += [f"forces.{name}.{NUMBERS.get(kind, 'stiffness')}"]
    return paths[:3] + list(random.permutation(paths[3:])[:4])


def with_losses(plan, random):
    """Resist everywhere: dry friction in joints, drag, and a bushing."""
    first, last = (list(plan.bodies)[k] for k in (0, -1))
    at = plan.bodies[last]["position"] + 0.2 * random.standard_normal(3)
    bushing = {"a": "ground", "b": first, "point": plan.bodies[first]["position"] + 0.1}
    bushing |= {"stiffness": np.full(6, 3.0), "damping": np.full(6, 0.2)}
    forces = {
        "drag": ("Drag", {"body": last, "point": at, "viscous": 0.3, "quadratic": 0.2}),
        "bushing": ("Bushing", bushing),
    }
    for name, (kind, _) in plan.joints.items():
        for freedom in mechanisms._movable(kind)[:1]:
            law = {"joint": name, "freedom": freedom, "coulomb": 0.2, "viscous": 0.1, "slip": 0.05}
            forces[f"on {name}"] = ("JointFriction", law)
    return replace(plan, forces=forces)


def random_plan(seed):
    """A tree or a closed loop, with springs, resistances and constant loads or without."""
    random = np.random.default_rng(seed)
    plan = mechanisms.tree(seed, bodies=2 + seed % 2, kinds=TREE)
    if seed % 4 == 0:
        return mechanisms.tree(seed, bodies=3, loops=1, kinds=TREE), random
    if seed % 4 == 3:
        plan = mechanisms.tree(seed, bodies=2, loops=seed // 8 % 2, kinds=TREE)
        return with_losses(plan, random), random
    if seed % 4 == 1:
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


@laws(8)
@given(seeds)
def test_gradients_of_random_mechanisms_are_those_of_the_reference_and_of_runs(seed):
    plan, random = random_plan(seed)
    model, of, paths = plan.model(), loss(plan), parameters(plan, random)
    scheme = ("ph-mp", "ph-mp-ggl")[seed // 4 % 2]
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme}
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


#: Runs whose bodies turn by quaternions in the engine.
TURNING = (
    {"coordinates": "rotations"},
    {"coordinates": "rotations-quaternion"},
    {"coordinates": "rotations-euler"},
    {"scheme": "emh-mean"},
    {"scheme": "eml-mean"},
)


@laws(8)
@given(seeds)
def test_gradients_of_random_mechanisms_in_other_coordinates_are_those_of_runs(seed):
    plan, random = random_plan(seed)
    model, of = plan.model(), loss(plan)
    paths = [p for p in parameters(plan, random) if not p.endswith("axis")]
    how = {"h": H, "t_end": H * STEPS, "engine": "compiled", **TURNING[seed // 4 % len(TURNING)]}
    known = Parameters.of(model, paths)
    # Loops stay closed.
    moved = paths[:3] if len(plan.joints) > len(plan.bodies) else paths
    direction = {p: random.uniform(-1, 1, np.shape(known.values[p])) for p in moved}
    direction |= {p: dp + dp.T for p, dp in direction.items() if dp.ndim == 2}
    found = ps.gradient(model, of, paths, **how)

    def value(step):
        other = known.model({p: known.values[p] + step * dp for p, dp in direction.items()})
        return ps.gradient(other, of, {}, newton=ps.Newton(rtol=1e-13), **how).value

    slope = sum(weight * value(k * 1e-3) / 1e-3 for k, weight in WEIGHTS.items())
    along = sum(np.sum(found[p] * dp) for p, dp in direction.items())
    assert found.engine == "compiled"
    assert abs(along - slope) < 1e-7 * max(1.0, np.max(abs(found.flat)))


def top_and_ball(values):
    """A top, whose principal axes and start depend on values, and a ball on a spring."""
    model = ps.Model(gravity=(0.3, 0.2, -9.81))
    product, turn, spin = (values[name] for name in ("product", "turn", "spin"))
    tensor = [[0.02, product, 0.0], [product, 0.03, 0.001], [0.0, 0.001, 0.025]]
    shape = ps.RigidBody(mass=values["mass"], inertia=tensor)
    at = {"rotation": ps.Rotation.from_axis_angle((1, 2, 3), turn), "position": (0.1, 0.2, 0.3)}
    top = model.add_body("top", shape, angular_velocity=(1, spin, 3), **at)
    at = {"position": (0.5, 0.1, 0.2), "velocity": (0.3, 0, 0)}
    ball = model.add_body("ball", ps.PointMass(mass=values["weight"]), **at)
    model.add_joint("tip", ps.Spherical(model.ground, top, point=(0, 0, 0)))
    ends = {"point_a": (0.2, 0.2, 0.3), "point_b": (0.5, 0.1, 0.2)}
    model.add_force("spring", ps.Spring(top, ball, **ends, stiffness=30.0, damping=0.1))
    return model


@pytest.mark.parametrize("how", TURNING)
def test_what_states_are_depends_on_inertia_and_on_the_start(how):
    of = Final("top.rotation.xy + top.angular_velocity.z") + Integral("ball.velocity.x**2")
    values = {"product": 0.003, "turn": 0.4, "spin": -2.0, "mass": 1.1, "weight": 0.4}
    how = {"h": H, "t_end": H * STEPS, "engine": "compiled", **how}
    found = ps.gradient(top_and_ball, of, values, **how)

    parts = dict(zip(values, (0.3, -0.7, 0.2, 0.9, -0.5), strict=True))

    def loss_at(k):
        other = {name: value * (1 + 1e-3 * k * parts[name]) for name, value in values.items()}
        newton = ps.Newton(rtol=1e-13)
        return ps.gradient(lambda given: top_and_ball(other), of, {}, newton=newton, **how).value

    slope = sum(weight * loss_at(k) for k, weight in WEIGHTS.items()) / 1e-3
    along = sum(found[name] * value * parts[name] for name, value in values.items())
    assert along == pytest.approx(slope, rel=1e-8)


def cart(damping=0.3, stiffness=20.0, start=0.3, motor=None):
    """A cart on a rail with a pendulum, a motor and a spring."""
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body("cart", ps.Box(mass=1.0, size=(0.3, 0.2, 0.1)), velocity=(start, 0, 0))
    shape = ps.Box(mass=0.2, size=(0.02, 0.02, 1.0))
    pole = model.add_body("pole", shape, position=(0, 0, -0.5), angular_velocity=(0, 2, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_joint("pin", ps.Revolute(body, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("spring", ps.JointSpring("rail", stiffness=stiffness, damping=damping))
    model.add_port("motor", motor or ps.JointPort("rail"))
    model.project_velocities()
    return model


def test_reactions_samples_of_inputs_and_substeps_go_backwards_in_machine_code():
    times = np.linspace(0, 0.1, 4)
    how = {"h": 0.02, "t_end": 0.1, "inputs": {"motor": ps.Table(times, np.sin(9 * times))}}
    of = Final("pin**2 + 0.01*pin.force_2") + Integral("rail.rate**2")
    paths = ["inputs.motor", "joints.pin.point.z", "forces.spring.stiffness", "initial.pin"]
    cases = [{"scheme": scheme} for scheme in ("ph-mp", "ph-mp-4", "ph-mp-ggl", "emh-mean")]
    for case in [*cases, {"coordinates": "rotations"}]:
        found, expected = (
            ps.gradient(cart(damping=0), of, paths, engine=engine, **case, **how)
            for engine in ("compiled", "reference")
        )
        assert (found.engine, expected.engine) == ("compiled", "reference")
        np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("case", [{}, {"scheme": "ph-mp-ggl"}, *TURNING])
def test_segments_of_a_long_run_are_taken_again(monkeypatch, case):
    monkeypatch.setattr("poinsot.analysis.gradients.compiled.TOGETHER", 7)
    model = cart()
    model.add_force("dry", ps.JointFriction("pin", coulomb=0.3, viscous=0.02))
    model.add_force("bushing", bushing(model))
    of, paths = Final("pin") + Integral("rail**2"), ["bodies.pole.mass", "forces.dry.coulomb"]
    how = {"h": 0.01, "t_end": 0.5, "engine": "compiled", **case}
    whole = ps.gradient(model, of, paths, **how)
    least = ps.gradient(model, of, paths, memory=1e3, **how)
    assert least.value == whole.value
    np.testing.assert_allclose(least.flat, whole.flat, rtol=1e-12)


def bushing(model):
    stiff = {"stiffness": (9, 9, 9, 1, 1, 1), "damping": (1, 1, 1, 0, 0, 0)}
    return ps.Bushing(model.body("cart"), model.body("pole"), point=(0, 0, 0), **stiff)


def test_substeps_of_quaternions_are_those_of_runs():
    model, of = cart(damping=0), Final("pin**2 + 0.01*pin.force_2") + Integral("rail.rate**2")
    how = {"h": 0.02, "t_end": 0.1, "engine": "compiled", "scheme": "emh-mean-4"}
    for path in ("initial.pin", "forces.spring.stiffness", "bodies.pole.mass"):
        slope = slope_of_runs(model, of, path, (), **how)
        assert ps.gradient(model, of, path, **how)[path] == pytest.approx(slope, rel=1e-9)


def test_friction_that_sticks_has_a_derivative():
    """It is smooth within its slip, which it never leaves here: so is the law of the run."""
    model = cart(stiffness=0.0, start=0.0)
    model.add_force("dry", ps.JointFriction("rail", coulomb=50.0))
    of, paths = Final("rail"), ["forces.dry.coulomb", "bodies.pole.mass", "forces.dry.slip"]
    how = {"h": 0.01, "t_end": 0.3, "engine": "compiled", "newton": ps.Newton(rtol=1e-13)}
    found, known = ps.gradient(model, of, paths, **how), Parameters.of(model, paths)
    assert abs(found.value) < 1e-5
    for path, value in known.values.items():

        def end(k, path=path, value=value):
            return ps.gradient(known.model({path: value * (1 + 1e-3 * k)}), of, {}, **how).value

        slope = sum(weight * end(k) for k, weight in WEIGHTS.items()) / (1e-3 * value)
        assert found[path] == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("case", [{}, {"scheme": "ph-mp-ggl"}, *TURNING])
def test_angles_are_counted_over_turns_on_the_way_back(case):
    """A wheel that turns by 0.4 turns in a step winds up a spring."""
    model = ps.Model()
    shape = ps.Cylinder(mass=1.0, radius=0.2, length=0.1)
    wheel = model.add_body("wheel", shape, angular_velocity=(0, 0, 40 * np.pi))
    model.add_joint("axle", ps.Revolute(model.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_force("spring", ps.JointSpring("axle", stiffness=0.5, rest=1.0))
    model.add_force("friction", ps.JointFriction("axle", coulomb=0.3, viscous=0.01))
    of, paths = Final("axle + axle.rate"), ["forces.spring.stiffness", "forces.spring.rest"]
    how = {"h": 0.02, "t_end": 0.12, **case}
    found, expected = (
        ps.gradient(model, of, [*paths, "bodies.wheel.mass"], engine=engine, **how)
        for engine in ("compiled", "reference")
    )
    assert found.value == pytest.approx(expected.value, rel=1e-11)
    np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-8)


def fed_by_values(values):
    """The cart, its motor and a load on the pole fed by values."""
    push = ps.Table([0, 0.05, 0.1], [0, values["push"], 3])
    model = cart(motor=ps.JointPort("rail", value=push))
    load = ps.TorquePort(model.body("pole"), value=(0, values["torque"], 0))
    model.add_port("load", load)
    return model


def led_by_values(values):
    """The cart led along its rail."""
    path = ps.Formula(f"{values['push']}*t + 0.1*sin({values['torque']}*t)")
    start = values["push"] + 0.1 * values["torque"]
    return cart(start=start, motor=ps.Drive("rail", path))


@pytest.mark.parametrize("built", [fed_by_values, led_by_values])
def test_inputs_that_the_model_itself_has_are_derived_by(built):
    values, how = {"push": 2.0, "torque": 0.7}, {"h": 0.02, "t_end": 0.2}
    found, expected = (
        ps.gradient(built, Final("pin + rail"), values, engine=engine, **how)
        for engine in ("compiled", "reference")
    )
    assert found.engine == "compiled"
    assert np.min(abs(expected.flat)) > 1e-4
    np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-8)


LAWS = {
    "spring": lambda m, k: m.add_force("law", ps.JointSpring("pin", force=lambda x: k * x + x**3)),
    "motor": lambda m, k: m.add_port(
        "law", ps.JointPort("pin", law=lambda t, x, rate: -k * x - 0.5 * rate + np.sin(9 * t))
    ),
    "load": lambda m, k: m.add_port(
        "law",
        ps.ForcePort(
            m.body("pole"),
            point=(0.1, 0, -1),
            law=lambda t, motion: -k * motion.position - 0.4 * motion.velocity,
        ),
    ),
    "field": lambda m, k: m.add_force(
        "law",
        ps.Field(ps.Formula(f"{k}*x**2 + z**3", ("x", "y", "z")), [(m.body("pole"), (0, 0, -1))]),
    ),
}


@pytest.mark.parametrize("kind", LAWS)
def test_laws_that_are_functions_are_asked_again_on_the_way_back(kind):
    def built(values):
        model = cart()
        LAWS[kind](model, values["gain"])
        model.move("pin", to=values["angle"])
        return model

    for case in ({}, {"scheme": "ph-mp-ggl"}, {"coordinates": "rotations"}):
        how = {"h": 0.02, "t_end": 0.08, **case}
        found, expected = (
            ps.gradient(built, Final("pin"), {"gain": 3.0, "angle": 0.3}, engine=engine, **how)
            for engine in ("compiled", "reference")
        )
        assert found.engine == "compiled"
        np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-8)


def relaxing(values):
    """Two bodies on bushings that relax, off their centres."""
    model = ps.Model(gravity=(0, 0.4, -9.81))
    shape, spin = ps.Box(mass=values["mass"], size=(0.3, 0.2, 0.1)), (0.5, 1, -2)
    a = model.add_body("a", shape, position=(0.1, 0, 0), angular_velocity=spin)
    b = model.add_body("b", ps.Box(mass=0.4, size=(0.1, 0.2, 0.3)), position=(0.3, 0.1, -0.3))
    model.add_joint("A", ps.Spherical(model.ground, a, point=(0, 0, 0)))
    stiff = {"stiffness": values["k"] * np.array([90, 70, 50, 3, 2, 1.5]), "damping": (1,) * 6}
    stiff["relaxation"] = [(values["ratio"], values["time"]), (0.5, 0.4)]
    model.add_force("one", ps.Bushing(a, b, point=(0.2, 0.05, values["z"]), **stiff))
    soft = {"stiffness": (50, 50, 60, 0, 0, 1), "relaxation": [(1.5, values["time"])]}
    model.add_force("two", ps.Bushing(model.ground, b, point=(0.3, 0.1, -0.4), **soft))
    return model


def test_relaxation_of_bushings_goes_backwards_in_machine_code(monkeypatch):
    values = {"mass": 1.0, "k": 1.0, "ratio": 2.0, "time": 0.05, "z": -0.08}
    of = Final("b.position.x + b.velocity.z*a.rotation.xy") + Integral("b.velocity.x**2")
    how = {"h": 0.01, "t_end": 0.06, "engine": "compiled"}
    found, newton = ps.gradient(relaxing, of, values, **how), ps.Newton(rtol=1e-13)
    parts = dict(zip(values, (0.3, -0.7, 0.2, 0.9, -0.5), strict=True))

    def end(k):
        there = {name: value * (1 + 1e-3 * k * parts[name]) for name, value in values.items()}
        other, none = relaxing(there), {"none": 1.0}
        return ps.gradient(lambda _: other, of, none, newton=newton, **how).value

    slope = sum(weight * end(k) for k, weight in WEIGHTS.items()) / 1e-3
    along = sum(found[name] * value * parts[name] for name, value in values.items())
    assert along == pytest.approx(slope, rel=1e-8, abs=1e-10)
    model, paths = relaxing(values), ["bodies.b.mass", "forces.one.stiffness", "gravity"]
    one, other = (
        ps.gradient(model, of, paths, **how | {"engine": engine})
        for engine in ("compiled", "reference")
    )
    np.testing.assert_allclose(one.flat, other.flat, rtol=0, atol=1e-10)
    monkeypatch.setattr("poinsot.analysis.gradients.compiled.TOGETHER", 7)
    whole, least = (
        ps.gradient(model, of, paths, **how | {"t_end": 0.2} | options)
        for options in ({}, {"memory": 1e3})
    )
    np.testing.assert_allclose(least.flat, whole.flat, rtol=1e-12)


def test_light_bodies_between_heavy_ones_have_derivatives():
    model = ps.Model(gravity=(0, 0, -9.81))
    points = [(0, 0, 0), (0, 0.1, 0.3), (0, 0.6, 0.5), (0, 0.7, 0)]
    before = model.ground
    for k, mass in enumerate((1e4, 1e-3, 1e4)):
        a, b = np.array(points[k]), np.array(points[k + 1])
        shape = ps.RigidBody(mass=mass, inertia=mass * np.array([0.02, 0.02, 0.01]))
        body = model.add_body(f"bar{k}", shape, position=(a + b) / 2)
        model.add_joint(f"J{k}", ps.Spherical(before, body, point=a))
        before = body
    model.add_joint("J3", ps.Spherical(before, model.ground, point=points[3]))
    paths = [f"bodies.bar{k}.mass" for k in range(3)] + ["gravity", "joints.J1.point"]
    for case in ({}, {"scheme": "ph-mp-ggl"}, {"coordinates": "rotations"}):
        how = {"h": 0.01, "t_end": 0.05, **case}
        found, expected = (
            ps.gradient(model, Final("bar1.position.z"), paths, engine=engine, **how)
            for engine in ("compiled", "reference")
        )
        sizes = np.abs(expected.flat).max()
        np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-7, atol=1e-9 * sizes)


#: Joints with an axis, and what it is called.
AXIAL = {
    "Revolute": "axis",
    "Cylindrical": "axis",
    "Prismatic": "axis",
    "Planar": "normal",
    "PointOnLine": "axis",
    "PointOnPlane": "normal",
}


def slope_of_runs(model, of, path, index, **how):
    """The derivative by a number of a parameter from converged runs."""
    known = Parameters.of(model, [path])
    value, slope = known.values[path], 0.0
    change = 1e-3 * (np.max(abs(value)) or 1.0)
    for k, weight in WEIGHTS.items():
        other = value.copy()
        other[index] += k * change
        ran = known.model({path: other})
        slope += weight * ps.gradient(ran, of, {}, newton=ps.Newton(rtol=1e-13), **how).value
    return slope / change


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, -1)])
@pytest.mark.parametrize("kind", AXIAL)
def test_axes_along_those_of_the_world_have_derivatives(kind, axis):
    model, key = ps.Model(gravity=(3, 4, -9)), AXIAL[kind]
    shape = ps.Box(mass=1, size=(0.1, 0.2, 0.3))
    link = model.add_body("link", shape, position=(0.3, 0.2, 0.1))
    model.add_joint("J", getattr(ps, kind)(model.ground, link, point=(0, 0, 0), **{key: axis}))
    anchor = {"point_a": (1, 1, 1), "point_b": (0.3, 0.3, 0.1)}
    model.add_force("spring", ps.Spring(model.ground, link, **anchor, stiffness=9))
    of = Final("link.position.x + 2*link.position.y + 3*link.position.z")
    path, how = f"joints.J.{key}", {"h": H, "t_end": H * STEPS}
    compiled, reference = (
        ps.gradient(model, of, path, engine=engine, **how)[path]
        for engine in ("compiled", "reference")
    )
    np.testing.assert_allclose(compiled, reference, rtol=0, atol=1e-8)
    slopes = [slope_of_runs(model, of, path, (k,), engine="compiled", **how) for k in range(3)]
    np.testing.assert_allclose(compiled, slopes, rtol=0, atol=1e-8)


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("stiffness", [300.0, 1e9])
def test_stops_on_one_side_have_derivatives_however_stiff_they_are(side, stiffness):
    model, way = ps.Model(), {"lower": -1.0, "upper": 1.0}[side]
    shape = ps.Box(mass=stiffness / 250, size=(0.1, 0.1, 0.1))
    slider = model.add_body("slider", shape, velocity=(way, 0, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, slider, point=(0, 0, 0), axis=(1, 0, 0)))
    stop = ps.JointStop("rail", stiffness=stiffness, damping=stiffness / 50, **{side: 0.013 * way})
    model.add_force("stop", stop)
    paths = ["bodies.slider.mass", f"forces.stop.{side}", "forces.stop.stiffness"]
    how = {"h": H, "t_end": H * STEPS, "engine": "compiled"}
    found = ps.gradient(model, Final("rail"), paths, **how)
    for path in paths:
        slope = slope_of_runs(model, Final("rail"), path, (), **how)
        assert slope != 0
        assert found[path] == pytest.approx(slope, rel=1e-6)


def test_what_machine_code_cannot_take_back_goes_to_the_reference_engine_unless_refused():
    controlled, how = cart(), {"h": 0.02, "t_end": 0.06}
    controlled.add_controller("p", lambda t, y: -3 * y, reads=["rail"], drives=["motor"])
    cases = [
        (controlled, {}, "called as functions"),
        (cart(), {"scheme": "emh"}, "lever arms"),
    ]
    for each, options, words in cases:
        built, none = (lambda values, model=each: model), {"none": 1.0}
        found = ps.gradient(built, Final("rail"), none, **options, **how)
        assert found.engine == "reference"
        with pytest.raises(ps.errors.InputError, match=words):
            ps.gradient(built, Final("rail"), none, engine="compiled", **options, **how)
