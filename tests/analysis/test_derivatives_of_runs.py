"""Gradients and sensitivities against differences of converged runs, and against closed forms."""

from itertools import cycle

import numpy as np
import pytest

import poinsot as ps
from poinsot.analysis import Final, FunctionOf, Integral, Squares
from poinsot.analysis.gradients.run import Run
from poinsot.model.parameters import Parameters

#: Of a change relative to the parameter, with its weights: differences of fourth order.
CHANGE, WEIGHTS = 1e-3, {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}
H, STEPS = 0.02, 4
HOW = {"h": H, "t_end": H * STEPS}
LOSS = Final("(lower.position.x - 0.2)**2 + cart.position.y*hip") + 0.3 * Integral(
    "lower.velocity.z*t + upper.angular_velocity.x**2 + lower.rotation.xy"
)


def arm():
    """An arm of two bodies, and a cart beside it on rails."""
    model = ps.Model(gravity=(0.3, 0.2, -9.81), name="arm")
    upper = model.add_body("upper", ps.Box(mass=2, size=(0.6, 0.1, 0.2)), position=(0.3, 0, 0))
    lower = model.add_body(
        "lower",
        ps.RigidBody(mass=1.2, inertia=(0.02, 0.05, 0.06)),
        position=(0.9, 0.1, 0),
        angular_velocity=(0.4, 1, 0.5),
    )
    cart = model.add_body(
        "cart", ps.Box(mass=0.8, size=(0.1, 0.3, 0.1)), position=(0, 1, 0), velocity=(0, 0.5, 0)
    )
    axis = (0.1, 1, 0.2)
    model.add_joint("hip", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=axis))
    model.add_joint("knee", ps.Universal(upper, lower, (0.6, 0, 0), (0, 1, 0), (0, 0, 1)))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 1, 0), axis=(0, 1, 0.1)))
    model.add_joint(
        "wheel", ps.Revolute(model.ground, _wheel(model), point=(1, 1, 1), axis=(0, 1, 0))
    )
    model.project_velocities()
    return model


def _wheel(model):
    shape = ps.Cylinder(mass=0.5, radius=0.2, length=0.1)
    return model.add_body("disc", shape, position=(1, 1, 1), angular_velocity=(0, 2, 0))


def loop(model):
    """Close the arm by a bar with hinges: some of their constraints may repeat others."""
    bar = model.add_body("bar", ps.Box(mass=0.4, size=(0.1, 0.1, 0.5)), position=(0.9, 0.1, -0.3))
    lower = model.body("lower")
    model.add_joint("tip", ps.Spherical(lower, bar, point=(0.9, 0.1, 0)))
    model.add_joint("foot", ps.Universal(model.ground, bar, (0.9, 0.1, -0.6), (1, 0, 0), (0, 1, 0)))


def four_bar():
    """A planar four-bar of hinges: three of its constraints repeat others."""
    points = np.array([[0, 0, 0], [0, 0.1, 0.3], [0, 0.6, 0.5], [0, 0.7, 0]])
    model = ps.Model(gravity=(0, 0, -9.81), name="four-bar")
    bodies = [model.ground]
    for name, a, b in zip(("upper", "lower", "cart"), points[:-1], points[1:], strict=True):
        bodies.append(
            model.add_body(
                name, ps.RigidBody(mass=1 + a[2], inertia=(0.02, 0.02, 0.01)), position=(a + b) / 2
            )
        )
    for k, point in enumerate(points):
        a, b = bodies[k], bodies[(k + 1) % 4]
        name = ("hip", "knee", "tip", "foot")[k]
        model.add_joint(name, ps.Revolute(a, b, point=point, axis=(1, 0, 0)))

    return model


def add(method, name, make):
    """What adds a part to the model."""

    def added(model):
        getattr(model, f"add_{method}")(name, make(model))

    return added


def force(make):
    return add("force", "part", make)


def coil(model):
    states, ports = ["flux"], [ps.ph.Port("supply", 1), ps.ph.Port("shaft", 1)]
    coil = ps.ph.linear("coil", states=states, J=[[0]], R=[[1.2]], Q=[[5]], B=[[1, 1]], ports=ports)
    model.add_system("coil", coil)
    model.connect(ps.ph.Gyrator("coil.shaft", "wheel", C=0.5))


def pd(model):
    model.add_port("motor", ps.JointPort("rail"))
    model.add_controller(
        "pd",
        "-3*rail_rate - lower_velocity_x",
        reads=["rail.rate", "lower.velocity"],
        drives=["motor"],
    )


def fast_stop(model):
    stop = ps.JointStop("rail", upper=0.02, lower=-1, stiffness=2000, damping=30)
    model.add_force("part", stop)


def ball(model):
    body = model.add_body("ball", ps.PointMass(mass=0.3), position=(0.9, 0.1, -0.5))
    model.add_joint("string", ps.Rod(model.body("lower"), body, (0.9, 0.1, 0), (0.9, 0.1, -0.5)))


def rod(model):
    body = model.add_body("thin", ps.ThinRod(mass=0.3, length=0.4), position=(0.9, 0.1, -0.2))
    model.add_joint("string", ps.Spherical(model.body("lower"), body, point=(0.9, 0.1, 0)))


def attached(shape, joint, start=(0.9, 0.1, 0), position=(1.0, 0.2, 0.1)):
    """Attach another body to the lower one by a joint."""

    def added(model):
        body = model.add_body("other", shape, position=position)
        model.add_joint("part", joint(model.body("lower"), body))

    return added


def elastic_rod(model):
    section = ps.CircularSection(radius=0.02)
    shape = ps.ElasticRod(
        [(0.9, 0.1, 0), (1.2, 0.1, 0.1)],
        section,
        1,
        youngs_modulus=2e6,
        shear_modulus=8e5,
        density=1500,
        damping_time=0.01,
    )
    rod = model.add_body("rod", shape)
    model.add_joint("part", ps.Weld(model.body("lower"), rod.start))


def pulling(model, body):
    """Tie a body that stands beside the arm to it by a spring."""
    spring = ps.Spring(model.body("lower"), body, (0.9, 0.1, 0), body.position, stiffness=50)
    model.add_force("spring", spring)


def on_a_plane(contact, position=(2, 0, 0.1)):
    """A body on the ground that rolls or slides, tied to the arm."""

    def added(model):
        shape = ps.RigidBody(mass=0.4, inertia=(0.003, 0.005, 0.004))
        body = model.add_body("other", shape, position=position, angular_velocity=(0, 3, 0))
        for name, joint in contact(model.ground, body).items():
            model.add_joint(name, joint)
        pulling(model, body)

    return added


def sleigh(ground, body):
    return {
        "plane": ps.Planar(ground, body, point=(2, 0, 0), normal=(0, 0, 1)),
        "part": ps.KnifeEdge(ground, body, point=(1.8, 0.1, 0), along=(1, 0.2, 0)),
    }


def led(model):
    body = model.add_body("other", ps.Box(mass=1, size=(0.1, 0.1, 0.1)), position=(1, 0, 1))
    path = ("1 + 0.2*sin(9*t)", "0", "1 - t**2")
    model.add_port("part", ps.BodyDrive(body, position=path, axis=(0, 1, 0.2), angle="2*t"))
    pulling(model, body)


def differential(model):
    body = model.add_body("other", ps.Sphere(mass=0.3, radius=0.1), position=(1, 2, 1))
    model.add_joint("shaft", ps.Revolute(model.ground, body, point=(1, 2, 1), axis=(1, 1, 0)))
    model.add_transmission("part", ps.Differential("wheel", "hip", "shaft", ratio=1.7))


CYLINDER = ps.Cylinder(mass=0.3, radius=0.1, length=0.2)
#: What is added to the arm, and what is derived by.
PARTS = {
    "mass": (None, "bodies.lower.mass"),
    "size": (None, "bodies.upper.size.x"),
    "inertia": (None, "bodies.lower.inertia.1"),
    "gravity": (None, "gravity.x"),
    "point": (None, "joints.knee.point.x"),
    "axis": (None, "joints.hip.axis.x"),
    "velocity": (None, "initial.lower.angular_velocity.y"),
    "coordinate": (None, "initial.hip"),
    "loop": (loop, "joints.tip.point.y"),
    "point mass": (ball, "bodies.ball.mass"),
    "thin rod": (rod, "bodies.thin.length"),
    "spring": (
        force(
            lambda m: ps.Spring(
                m.ground, m.body("lower"), (1, 1, 1), (0.9, 0, 0), stiffness=30, damping=2
            )
        ),
        "forces.part.point_b.z",
    ),
    "joint spring": (force(lambda m: ps.JointSpring("hip", stiffness=9)), "forces.part.stiffness"),
    "bushing": (
        force(
            lambda m: ps.Bushing(
                m.body("lower"),
                m.body("cart"),
                point=(0.5, 0.5, 0),
                stiffness=(9, 9, 9, 1, 1, 1),
                damping=(1, 1, 1, 0, 0, 0),
            )
        ),
        "joints.rail.axis.x",
    ),
    "relaxation": (
        force(
            lambda m: ps.Bushing(
                m.ground,
                m.body("lower"),
                point=(0.9, 0, 0),
                stiffness=(9, 9, 9, 1, 1, 1),
                relaxation=[(2.0, 0.05)],
            )
        ),
        "forces.part.point.x",
    ),
    "friction": (
        force(lambda m: ps.JointFriction("rail", coulomb=0.7, slip=0.05, quadratic=0.3)),
        "forces.part.coulomb",
    ),
    "drag": (
        force(lambda m: ps.Drag(m.body("lower"), quadratic=0.4, angular_viscous=0.01)),
        "forces.part.quadratic",
    ),
    "stop": (fast_stop, "forces.part.upper"),
    "gravitation": (
        force(lambda m: ps.Gravitation(m.body("lower"), m.body("cart"), strength=0.3)),
        "forces.part.strength",
    ),
    "gear": (
        add("transmission", "gear", lambda m: ps.Gear("hip", "wheel", ratio=-2)),
        "bodies.disc.mass",
    ),
    "rack": (
        add("transmission", "rack", lambda m: ps.RackAndPinion("wheel", "rail", radius=0.2)),
        "bodies.cart.mass",
    ),
    "drive": (
        add("port", "part", lambda m: ps.Drive("rail", coordinate="0.1*sin(5*t)")),
        "bodies.cart.mass",
    ),
    "load": (
        add("port", "part", lambda m: ps.ForcePort(m.body("lower"), value=(1, 2, 3), axes="body")),
        "joints.hip.point.z",
    ),
    "system": (coil, "bodies.disc.mass"),
    "controller": (pd, "bodies.cart.mass"),
    "cartesian": (
        attached(CYLINDER, lambda a, b: ps.Cartesian(a, b, point=(1, 0.2, 0.1))),
        "bodies.other.mass",
    ),
    "cylindrical": (
        attached(CYLINDER, lambda a, b: ps.Cylindrical(a, b, (0.9, 0.1, 0), (1, 0.2, 0))),
        "joints.part.axis.z",
    ),
    "planar": (
        attached(CYLINDER, lambda a, b: ps.Planar(a, b, point=(1, 0, 0), normal=(0.1, 0.2, 1))),
        "joints.part.normal.x",
    ),
    "point on line": (
        attached(CYLINDER, lambda a, b: ps.PointOnLine(a, b, point=(0.9, 0.2, 0), axis=(1, 1, 0))),
        "joints.part.point.z",
    ),
    "point on plane": (
        attached(CYLINDER, lambda a, b: ps.PointOnPlane(a, b, (0.9, 0.2, 0), (0, 1, 1))),
        "joints.part.normal.y",
    ),
    "weld": (attached(CYLINDER, ps.Weld), "bodies.other.radius"),
    "tensor": (None, "bodies.lower.inertia"),
    "elastic rod": (elastic_rod, "bodies.rod.youngs_modulus"),
    "sphere": (
        on_a_plane(lambda a, b: {"part": ps.RollingSphere(a, b, radius=0.1)}),
        "bodies.other.mass",
    ),
    "disc": (
        on_a_plane(lambda a, b: {"part": ps.RollingDisc(a, b, radius=0.1)}),
        "bodies.other.inertia.1",
    ),
    "knife edge": (on_a_plane(sleigh), "joints.part.along.y"),
    "belt": (
        add(
            "transmission",
            "part",
            lambda m: ps.Belt("wheel", "hip", radius_a=0.1, radius_b=0.3, efficiency=0.9),
        ),
        "transmissions.part.efficiency",
    ),
    "screw": (
        add("transmission", "part", lambda m: ps.Screw("wheel", "rail", lead=0.4)),
        "transmissions.part.lead",
    ),
    "cam": (
        add("transmission", "part", lambda m: ps.Cam("wheel", "rail", profile="x**2/9 + x/5")),
        "bodies.disc.mass",
    ),
    "differential": (differential, "transmissions.part.ratio"),
    "body drive": (led, "forces.spring.stiffness"),
    "torque": (
        add("port", "part", lambda m: ps.TorquePort(m.body("lower"), value=("9*t", 0, 1))),
        "joints.hip.axis.z",
    ),
    "joint law": (
        force(lambda m: ps.JointSpring("hip", force=ps.Formula("9*x + x**3", ("x",)))),
        "joints.hip.axis.z",
    ),
}


def judged(model, **how):
    """The loss of a converged run and where it ends, from its result."""
    result = ps.simulate(model, newton=ps.Newton(rtol=1e-13), progress=False, **how)
    x, t = result.position("lower")[:, 0], result.time
    rate = result.velocity("lower")[:, 2] * t + result.angular_velocity("upper")[:, 0] ** 2
    rate += result.rotation("lower")[:, 0, 1]
    hip = result.joint("hip").coordinates["angle"][-1]
    end = (x[-1] - 0.2) ** 2 + result.position("cart")[-1, 1] * hip
    return np.array([end + 0.3 * np.trapezoid(rate, t), x[-1]])


def check(model, path, tolerance=1e-7, **how):
    """Compare the adjoint and forward sensitivities with differences of converged runs."""
    how = {**HOW, "engine": "reference", **how}
    parameters = Parameters.of(model, [path])
    value = parameters.values[path]
    found = ps.gradient(model, LOSS, path, **how)
    forward = ps.sensitivities(model, "lower.position.x", path, **how)
    size = np.max(abs(value)) or 1.0
    for index in np.ndindex(value.shape):
        expected = np.zeros(2)
        for k, weight in WEIGHTS.items():
            other = value.copy()
            other[index] += k * CHANGE * size
            expected += weight * judged(parameters.model({path: other}), **how) / (CHANGE * size)
        column = forward["lower.position.x"][path][(-1, *index)]
        off = abs(np.array([found[path][index], column]) - expected)
        allowed = tolerance * np.maximum(min(1.0, 1 / size), abs(expected))
        assert np.all(off <= allowed), (index, off, expected)


@pytest.mark.parametrize("name", PARTS)
def test_derivatives_of_every_part_are_those_of_converged_runs(name):
    extra, path = PARTS[name]
    model = arm()
    if extra:
        extra(model)
        model.project_velocities()
    check(model, path)


#: What machine code does not go backwards through; and what the stabilised form does not know.
IN_PYTHON = {"relaxation", "system", "controller"}
PLAIN_ONLY = {"gear", "rack", "drive", "sphere", "disc", "knife edge", "belt", "screw", "cam"}
PLAIN_ONLY |= {"differential", "body drive", *IN_PYTHON}
IN_MACHINE_CODE = [(name, "ph-mp") for name in PARTS if name not in IN_PYTHON]
IN_MACHINE_CODE += [(name, "ph-mp-ggl") for name in PARTS if name not in PLAIN_ONLY][::2]


@pytest.mark.parametrize(("name", "scheme"), IN_MACHINE_CODE)
def test_machine_code_goes_backwards_through_every_part(name, scheme):
    extra, path = PARTS[name]
    model = arm()
    if extra:
        extra(model)
        model.project_velocities()
    often = ["bodies.upper.mass", "joints.knee.point.x", "joints.hip.axis.z", "gravity.y"]
    paths = list(dict.fromkeys([path, *often, "initial.lower.angular_velocity.x"]))
    how = {**HOW, "scheme": scheme}
    found = ps.gradient(model, LOSS, paths, engine="compiled", **how)
    expected = ps.gradient(model, LOSS, paths, engine="reference", **how)
    assert (found.engine, expected.engine) == ("compiled", "reference")
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(found.flat, expected.flat, rtol=1e-9, atol=1e-9)

    require_slope_of_runs(model, path, found, **how)


def require_slope_of_runs(model, path, found, **how):
    """Compare a gradient by a parameter with differences of converged compiled runs."""
    parameters = Parameters.of(model, [path])
    size, slope = np.max(abs(parameters.values[path])) or 1.0, 0.0
    way = np.ones_like(parameters.values[path]) if path.endswith("inertia") else 1.0
    for k, weight in WEIGHTS.items():
        value = parameters.values[path] + k * CHANGE * size * way
        ran = judged(parameters.model({path: value}), engine="compiled", **how)
        slope += weight * ran[0] / (CHANGE * size)
    along = np.sum(found[path] * way)
    assert along == pytest.approx(slope, rel=1e-7, abs=1e-7 * min(1.0, 1 / size))


#: Every part once in one of these.
TURNING = {"coordinates": "rotations"}, {"scheme": "emh-mean"}, {"scheme": "eml-mean"}
IN_QUATERNIONS = [
    *zip([name for name in PARTS if name not in IN_PYTHON], cycle(TURNING), strict=False)
]


@pytest.mark.parametrize(("name", "case"), IN_QUATERNIONS)
def test_machine_code_goes_backwards_through_every_part_where_bodies_turn_by_quaternions(
    name, case
):
    extra, path = PARTS[name]
    model, how = arm(), {**HOW, **case}
    if extra:
        extra(model)
        model.project_velocities()
    found = ps.gradient(model, LOSS, path, engine="compiled", **how)
    require_slope_of_runs(model, path, found, **how)


def bob(point=(0, 0, 0.1), velocity=0.7, damping=0.6, law=None):
    """A cart on a rail with friction, and a pendulum on it."""
    model = ps.Model(gravity=(0, 0, -9.81), name="cart-pole")
    cart = model.add_body("cart", ps.Sphere(mass=1.3, radius=0.1), velocity=(velocity, 0, 0))
    lower = model.add_body(
        "lower", ps.RigidBody(mass=0.4, inertia=(0.01, 0.03, 0.02)), position=(0.1, 0, -0.4)
    )
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_joint("hip", ps.Revolute(cart, lower, point=point, axis=(0, 1, 0)))
    model.add_force("friction", ps.JointFriction("rail", viscous=damping))
    model.add_port("motor", ps.JointPort("rail"))
    model.project_velocities()
    return model


@pytest.mark.parametrize(
    ("scheme", "coordinates"),
    [
        ("ph-mp-ggl", None),
        ("emh-mean", "quaternions"),
        ("eml", "quaternions"),
        ("ph-mp", "rotations"),
    ],
)
def test_derivatives_in_all_coordinates_are_those_of_converged_runs(scheme, coordinates):
    model, path = swing(), "joints.hip.point.z"
    how = {"h": 0.03, "t_end": 0.09, "scheme": scheme, "coordinates": coordinates}
    loss, known = Final("lower.position.x + lower.velocity.z**2"), Parameters.of(model, [path])

    def value(z):
        newton = ps.Newton(rtol=1e-13)
        ran = ps.simulate(known.model({path: z}), engine="reference", newton=newton, **how)
        return ran.position("lower")[-1, 0] + ran.velocity("lower")[-1, 2] ** 2

    z = float(known.values[path])
    expected = sum(c * value(z + k * 1e-3) for k, c in WEIGHTS.items()) / 1e-3
    assert ps.gradient(model, loss, path, **how)[path] == pytest.approx(expected, abs=1e-7)


def swing():
    """A pendulum on a spring."""
    model = ps.Model(gravity=(0, 0, -9.81))
    lower = model.add_body(
        "lower", ps.RigidBody(mass=0.4, inertia=(0.01, 0.03, 0.02)), position=(0.1, 0, -0.4)
    )
    model.add_joint("hip", ps.Revolute(model.ground, lower, point=(0, 0, 0.1), axis=(0, 1, 0.2)))
    spring = ps.Spring(
        model.ground, lower, point_a=(1, 0, 0), point_b=(0.2, 0, -0.4), stiffness=12.0, damping=0.5
    )
    model.add_force("spring", spring)
    return model


def hung(shape, ends):
    """Return a model of an elastic body on a ball joint, with drag on its other end."""
    model = ps.Model(gravity=(0, 1, -9.81))
    model.add_body("body", shape, position=(0.2, 0, 0))
    first, last = (model.body(f"body.{name}") for name in ends)
    model.add_joint("hook", ps.Spherical(model.ground, first, point=(0, 0, 0)))
    model.add_force("drag", ps.Drag(last, viscous=0.5))
    return model


def beam(values):
    section = ps.RectangularSection(width=0.04, height=0.03)
    known = {"density": 1500, "elements": 1, "section": section}
    return hung(ps.Beam(length=0.4, youngs_modulus=values["modulus"], **known), ("start", "end"))


def panel(values):
    M = np.diag([0.5, 0.5, 0.5, 0.01, values["inertia"], 0.03, 0.1])
    M[0, 6] = M[6, 0] = 0.02
    modes = np.array([[0.2], [0], [1.0], [0], [0.3], [0]])
    interfaces = {"start": ((-0.2, 0, 0), 0.1 * modes), "end": ((0.2, 0, 0), modes)}
    return hung(ps.FlexibleBody(M=M, K=[[9.0]], interfaces=interfaces), ("start", "end"))


def on_rail(force):
    """Return a model of a cart that moves against a force."""
    model = ps.Model()
    cart = model.add_body("body", ps.Sphere(mass=1.0, radius=0.1), velocity=(1, 0, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_force("spring", force)
    return model


def pushed(values):
    """Return a model of a cart that is pushed from 0.02 s on."""
    model = on_rail(ps.JointSpring("rail", stiffness=3.0))
    push = ps.Table([0, 0.02, 0.04], [0, 0, values["push"]])
    model.add_port("motor", ps.JointPort("rail", value=push))
    return model


def bumper(values):
    """Return a model of a cart that meets a spring after a gap."""
    return on_rail(ps.JointSpring("rail", force=lambda x: max(0.0, 900 * (x - values["gap"]))))


def bowl(values):
    """Return a model of a cart in a field."""
    model = on_rail(ps.JointSpring("rail", stiffness=3.0))
    energy = ps.Formula(f"{values['depth']}*x**2", ("x", "y", "z"))
    model.add_force("bowl", ps.Field(energy, points=[(model.body("body"), (0.1, 0, 0))]))
    return model


BY_FUNCTION = {
    "beam": (beam, {"modulus": 2e7}),
    "flexible body": (panel, {"inertia": 0.02}),
    "input that begins later": (pushed, {"push": 50.0}),
    "law with an edge": (bumper, {"gap": 0.01}),
    "field": (bowl, {"depth": 9.0}),
}


@pytest.mark.parametrize("name", BY_FUNCTION)
def test_derivatives_of_functions_of_values_are_those_of_converged_runs(name):
    function, values = BY_FUNCTION[name]
    how = {"h": 0.01, "t_end": 0.02 if "body" in name or name == "beam" else 0.04}
    ((parameter, value),) = values.items()

    def end(number):
        newton = ps.Newton(rtol=1e-13)
        model = function({parameter: number})
        ran = ps.simulate(model, engine="reference", newton=newton, progress=False, **how)
        return ran.position("body")[-1] @ (1, 0, 1)

    expected = sum(c * end(value * (1 + k * CHANGE)) for k, c in WEIGHTS.items()) / CHANGE
    loss = Final("body.position.x + body.position.z")
    found = ps.gradient(function, loss, values, engine="reference", **how)
    assert abs(expected) > 1e-5
    assert value * found[parameter] == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_derivatives_of_composed_steps_and_of_repeated_constraints():
    model = four_bar()
    for path in ("bodies.lower.mass", "joints.tip.point.z"):
        known = Parameters.of(model, [path])
        start = float(known.values[path])
        for scheme in ("ph-mp", "ph-mp-4"):
            how = {"h": 0.02, "t_end": 0.04, "scheme": scheme}
            found = ps.gradient(model, Final("lower.position.z"), path, **how)

            def value(number, known=known, how=how, path=path):
                newton = ps.Newton(rtol=1e-13)
                ran = ps.simulate(
                    known.model({path: number}), engine="reference", newton=newton, **how
                )
                return ran.position("lower")[-1, 2]

            expected = sum(c * value(start + k * 1e-4) for k, c in WEIGHTS.items()) / 1e-4
            assert found[path] == pytest.approx(expected, abs=1e-7)


CONTROLLERS = {
    "sampled": ("-{}*rail - 0.5*rail_rate + lower_position_x", {"every": 0.04}),
    "delayed": ("-{}*hip", {"every": 0.04, "delay": 0.02}),
    "continuous": ("-{}*rail - 0.3*hip", {}),
    "with a state": (
        ["-2*lag", "lag + 0.3*({}*hip - lag)"],
        {"every": 0.02, "states": {"lag": 0.3}},
    ),
}


#: Controllers in continuous time are systems at ports, through which machine code does not go.
HOW_CONTROLLED = [(kind, "reference", "ph-mp") for kind in CONTROLLERS]
HOW_CONTROLLED += [
    (kind, "compiled", scheme)
    for kind, scheme in zip(
        ("sampled", "delayed", "with a state"), ("ph-mp", "ph-mp-ggl", "ph-mp"), strict=True
    )
]


@pytest.mark.parametrize(("kind", "engine", "scheme"), HOW_CONTROLLED)
def test_derivatives_by_gains_of_controllers_are_those_of_converged_runs(kind, engine, scheme):
    how = {"h": 0.02, "t_end": 0.1, "engine": engine, "scheme": scheme}
    law, options = CONTROLLERS[kind]

    def controlled(values):
        model, gain = bob(), values["gain"]
        texts = [each.format(gain) for each in ([law] if isinstance(law, str) else law)]
        reads = ["rail", "rail.rate", "hip", "lower.position"]
        used = [each for each in reads if each.replace(".", "_") in " ".join(texts)]
        law_of_gain = texts[0] if isinstance(law, str) else texts
        model.add_controller("p", law_of_gain, reads=used, drives=["motor"], **options)
        return model

    def value(gain):
        ran = ps.simulate(controlled({"gain": gain}), newton=ps.Newton(rtol=1e-13), **how)
        return ran.joint("rail").coordinates["displacement"][-1]

    expected = sum(c * value(3 + k * 1e-2) for k, c in WEIGHTS.items()) / 1e-2
    assert abs(expected) > 1e-5
    gradient = ps.gradient(controlled, Final("rail"), {"gain": 3.0}, **how)
    assert gradient.engine == engine
    found = gradient["gain"]
    forward = ps.sensitivities(controlled, "rail", {"gain": 3.0}, **how)["rail"]["gain"][-1]
    assert [float(found), float(forward)] == pytest.approx([expected] * 2, abs=1e-10)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_what_controllers_hold_is_kept_at_few_steps(monkeypatch, engine):
    for module in ("run", "compiled"):
        monkeypatch.setattr(f"poinsot.analysis.gradients.{module}.TOGETHER", 8)
    loss = Final("rail") + Integral("hip**2")
    how = {"h": 0.02, "t_end": 0.9, "engine": engine}

    def controlled(values):
        model = bob()
        law = ["-2*lag", f"lag + 0.3*({values['gain']}*hip - lag)"]
        options = {"every": 0.04, "delay": 0.02, "states": {"lag": 0.3}}
        model.add_controller("p", law, reads=["hip"], drives=["motor"], **options)
        return model

    gain = {"gain": 3.0}
    whole = ps.gradient(controlled, loss, gain, **how)
    least = ps.gradient(controlled, loss, gain, memory=3e3, **how)
    assert least.value == whole.value
    assert least.flat == pytest.approx(whole.flat, rel=1e-9)
    run = Run.of(controlled, gain, memory=3e3, **how)
    assert len(run.rows[0]) < 10 < 45 == run.problem.clock.whole
    assert len(run.memories) <= len(run.rows[0])


# -- closed forms and laws -----------------------------------------------------------------------


def oscillator(values):
    """A damped oscillator with a port, as a system of its numbers."""
    m, k, d = values["m"], values["k"], values["d"]
    return ps.ph.linear(
        "oscillator",
        states=["q", "p"],
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, d]],
        Q=np.diag([k, 1 / m]),
        B=[[0], [1]],
        ports=[ps.ph.Port("force", 1)],
    )


NUMBERS = {"m": 2.0, "k": 3.0, "d": 0.4}


def by_matrices(values, u, h):
    """The states of the midpoint rule, by its matrix alone."""
    m, k, d = (values[name] for name in "mkd")
    A = np.array([[0, 1 / m], [-k, -d / m]])
    left, right = np.eye(2) - h / 2 * A, np.eye(2) + h / 2 * A
    x = [np.array([1.0, 0.5])]
    for each in u:
        x.append(np.linalg.solve(left, right @ x[-1] + h * np.array([0, each])))
    return np.array(x)


def complex_step(name, u, h):
    """The exact derivative of the discrete map by a complex step."""
    values = {**NUMBERS, name: NUMBERS[name] + 1e-30j}
    m, k, d = (values[n] for n in "mkd")
    A = np.array([[0, 1 / m], [-k, -d / m]])
    x = np.array([1.0, 0.5], dtype=complex)
    for each in u:
        right = (np.eye(2) + h / 2 * A) @ x + h * np.array([0, each])
        x = np.linalg.solve(np.eye(2) - h / 2 * A, right)
    return x.imag / 1e-30


def test_derivatives_of_an_oscillator_are_those_of_its_discrete_map():
    h, steps = 0.1, 40
    times = h * (np.arange(steps) + 0.5)
    u = np.sin(2 * times)
    how = {"h": h, "t_end": h * steps, "inputs": {"force": ps.Table(times, u)}}
    how |= {"x0": {"q": 1.0, "p": 0.5}, "scheme": "ph-mp"}
    found = ps.sensitivities(oscillator, ["q", "p"], NUMBERS, **how)
    assert np.allclose(found.values["q"], by_matrices(NUMBERS, u, h)[:, 0], atol=1e-13)
    for name in NUMBERS:
        exact = complex_step(name, u, h)
        assert [found["q"][name][-1], found["p"][name][-1]] == pytest.approx(exact, abs=1e-9)
        backward = ps.gradient(oscillator, Final("q"), NUMBERS, **how)
        assert backward[name] == pytest.approx(exact[0], abs=1e-9)


def test_a_derivative_by_samples_of_an_input_is_the_discrete_impulse_response():
    h, steps = 0.1, 12
    times = h * (np.arange(steps) + 0.5)
    how = {"h": h, "t_end": h * steps, "inputs": {"force": ps.Table(times, np.ones(steps))}}
    how |= {"x0": {"q": 1.0, "p": 0.5}, "scheme": "ph-mp"}
    chosen = ["inputs.force", "initial.p"]
    found = ps.gradient(oscillator(NUMBERS), Final("q"), chosen, **how)
    base = by_matrices(NUMBERS, np.zeros(steps), h)[-1, 0]
    response = [by_matrices(NUMBERS, unit, h)[-1, 0] - base for unit in np.eye(steps)]
    assert found["inputs.force"] == pytest.approx(np.array(response), abs=1e-10)
    assert found["inputs.force"].shape == (steps,)
    forward = ps.sensitivities(oscillator(NUMBERS), "q", chosen, **how)
    assert forward["q"]["inputs.force"][-1] == pytest.approx(np.array(response), abs=1e-10)
    A = np.array([[0, 1 / 2], [-3, -0.2]])
    step = np.linalg.solve(np.eye(2) - h / 2 * A, np.eye(2) + h / 2 * A)
    exact = np.linalg.matrix_power(step, steps)[0, 1]
    assert found["initial.p"] == pytest.approx([exact], abs=1e-10)


def test_all_masses_together_change_no_motion_under_gravity():
    model = arm()
    paths = [f"bodies.{name}.mass" for name in ("upper", "lower", "cart", "disc")]
    chosen = [*paths, "bodies.lower.inertia"]
    values = Parameters.of(model, chosen).values
    found = ps.gradient(model, LOSS, chosen, h=H, t_end=0.2)
    terms = [float(np.sum(values[path] * found[path])) for path in chosen]
    assert abs(sum(terms)) < 1e-9 * max(map(abs, terms))
    assert max(map(abs, terms)) > 1e-2


def test_the_energy_balance_has_no_derivative():
    """H1 - H0 + dissipated is zero for all parameters, and so is its derivative."""
    masses, inertia, damping, gravity = (1.3, 0.4), 0.03, 0.6, 9.81

    def balance(times, cart, velocity, spin, position, rail):
        def energy(k):
            moving = masses[0] * cart[k] @ cart[k] + masses[1] * velocity[k] @ velocity[k]
            return (moving + inertia * spin[k, 1] ** 2) / 2 + masses[1] * gravity * position[k, 2]

        h, travel = np.diff(times), np.diff(rail)
        slopes = [np.zeros_like(each) for each in (cart, velocity, spin, position, rail)]
        for k, sign in ((-1, 1), (0, -1)):
            slopes[0][k], slopes[1][k] = sign * masses[0] * cart[k], sign * masses[1] * velocity[k]
            slopes[2][k, 1] = sign * inertia * spin[k, 1]
            slopes[3][k, 2] = sign * masses[1] * gravity
        lost = damping * travel**2 / h
        slopes[4][1:] += 2 * damping * travel / h
        slopes[4][:-1] -= 2 * damping * travel / h
        return energy(-1) - energy(0) + lost.sum(), slopes

    channels = ["cart.velocity", "lower.velocity", "lower.angular_velocity", "lower.position"]
    loss = FunctionOf([*channels, "rail"], balance)
    paths = ["joints.hip.point.x", "joints.hip.point.z", "initial.cart.velocity.x"]
    found = ps.gradient(bob(), loss, paths, h=0.02, t_end=0.2, scheme="ph-mp-ggl")
    travelled = ps.gradient(bob(), Final("rail"), paths, h=0.02, t_end=0.2, scheme="ph-mp-ggl")
    assert abs(found.value) < 1e-12
    assert np.all(abs(found.flat) < 1e-8)
    assert np.all(abs(travelled.flat) > 1e-3)


def test_states_that_were_not_kept_are_computed_again(monkeypatch):
    monkeypatch.setattr("poinsot.analysis.gradients.run.TOGETHER", 8)
    model, paths = bob(), ["bodies.lower.mass", "joints.hip.point.z"]
    how = {"h": 0.01, "t_end": 0.25, "engine": "reference"}
    loss = Final("hip") + Integral("rail**2")
    whole = ps.gradient(model, loss, paths, **how)
    least = ps.gradient(model, loss, paths, memory=3e3, **how)
    assert least.flat == pytest.approx(whole.flat, rel=1e-8)
    assert least.value == whole.value


def test_squares_weigh_what_measurements_are_off():
    times = np.array([0.03, 0.1])
    how = {"h": 0.02, "t_end": 0.1}
    path, model = "bodies.lower.mass", bob()
    samples = {"hip": np.array([0.1, -0.2]), "cart.position.x": np.zeros(2)}
    loss = Squares(samples, times, sigma={"hip": 0.5})
    seen = ps.sensitivities(model, list(samples), path, **how).at(times)
    off = seen.flat - np.concatenate(list(samples.values()))
    weights = np.array([4, 4, 1, 1])
    found = ps.gradient(model, loss, path, **how)
    assert found.value == pytest.approx(weights @ off**2 / 2, rel=1e-12)
    assert found.flat == pytest.approx((weights * off) @ seen.jacobian, rel=1e-8)
    double = ps.gradient(model, sum([loss, 2 * loss]), path, **how)
    assert double.flat == pytest.approx(3 * found.flat)


# -- what is refused -----------------------------------------------------------------------------


def stopping():
    model = bob()
    model.add_event("away", ps.Event("rail - 0.05", then="stop"))
    return model


@pytest.mark.parametrize(
    ("model", "path", "how", "error", "words"),
    [
        (bob, "bodies.lowr.mass", {}, ps.InputError, "did you mean 'bodies.lower.mass'"),
        (bob, "inputs.motor", {"inputs": {"motor": "sin(t)"}}, ps.InputError, "a Table"),
        (stopping, "bodies.lower.mass", {}, ps.NoDerivativeError, "event 'away' ends the run"),
        (
            bob,
            "bodies.lower.mass",
            {"newton": ps.Newton(max_iterations=1, halvings=0), "engine": "reference"},
            ps.NoDerivativeError,
            "the step from t = 0 s fails",
        ),
        (lambda: oscillator(NUMBERS), "stiffness", {}, ps.InputError, "give a function"),
        (oscillator, ["m"], {}, ps.InputError, "as a mapping of names to values"),
        (bob, [], {"newton": 20}, ps.InputError, "Newton"),
    ],
)
def test_derivatives_that_do_not_exist_are_refused(model, path, how, error, words):
    model = model if model is oscillator else model()
    loss = FunctionOf([], lambda t: (0.0, []))
    with pytest.raises(error, match=words):
        ps.gradient(model, loss, path, **{"h": 0.02, "t_end": 0.2, **how})


@pytest.mark.parametrize("channels", [[], 3, [3], None])
def test_sensitivities_are_those_of_channels_by_name(channels):
    with pytest.raises(ps.InputError, match="expected channels such as"):
        ps.sensitivities(bob(), channels, "bodies.lower.mass", h=0.02, t_end=0.04)


def test_a_loss_says_what_is_wrong_with_it():
    how = {"h": 0.02, "t_end": 0.04}
    with pytest.raises(ps.InputError, match="expected a loss"):
        ps.gradient(bob(), "rail", [], **how)
    with pytest.raises(ps.InputError, match=r"Final: .*did you mean 'rail'"):
        ps.gradient(bob(), Final("rai"), [], **how)
    with pytest.raises(ps.InputError, match="outside the run"):
        ps.gradient(bob(), Squares({"rail": [1.0]}, times=[3.0]), [], **how)
    with pytest.raises(ps.InputError, match="one sample for each time"):
        ps.gradient(bob(), Squares({"rail": [1.0, 2.0]}, times=[0.01]), [], **how)
    wrong = FunctionOf(["rail"], lambda t, x: (0.0, [np.zeros(1)]))
    with pytest.raises(ps.InputError, match="derivatives have the shapes"):
        ps.gradient(bob(), wrong, [], **how)
