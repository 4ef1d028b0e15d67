"""Gradients and sensitivities against differences of converged runs, and against closed forms."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.analysis import Final, FunctionOf, Integral, Squares
from poinsot.model.parameters import Parameters

#: Of a change relative to the parameter, with its weights: differences of fourth order.
CHANGE, WEIGHTS = 1e-3, {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}
H, STEPS = 0.02, 6
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
        "pd", "-3*rail_rate - lower_velocity_x", reads=["rail.rate", "lower.velocity"],
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
                m.body("lower"), m.body("cart"), point=(0.5, 0.5, 0),
                stiffness=(9, 9, 9, 1, 1, 1), damping=(1, 1, 1, 0, 0, 0),
            )
        ),
        "joints.rail.axis.x",
    ),
    "relaxation": (
        force(
            lambda m: ps.Bushing(
                m.ground, m.body("lower"), point=(0.9, 0, 0),
                stiffness=(9, 9, 9, 1, 1, 1), relaxation=[(2.0, 0.05)],
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
        add("transmission", "gear", lambda m: ps.Gear("hip", "wheel", ratio=-2)), "bodies.disc.mass"
    ),
    "rack": (
        add("transmission", "rack", lambda m: ps.RackAndPinion("wheel", "rail", radius=0.2)),
        "bodies.cart.mass",
    ),
    "drive": (
        add("port", "part", lambda m: ps.Drive("rail", coordinate="0.1*sin(5*t)")), "bodies.cart.mass"
    ),
    "load": (
        add("port", "part", lambda m: ps.ForcePort(m.body("lower"), value=(1, 2, 3), axes="body")),
        "joints.hip.point.z",
    ),
    "system": (coil, "bodies.disc.mass"),
    "controller": (pd, "bodies.cart.mass"),
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
        assert np.all(off <= tolerance * np.maximum(1.0, abs(expected))), (index, off, expected)


@pytest.mark.parametrize("name", PARTS)
def test_derivatives_of_every_part_are_those_of_converged_runs(name):
    extra, path = PARTS[name]
    model = arm()
    if extra:
        extra(model)
        model.project_velocities()
    check(model, path)
