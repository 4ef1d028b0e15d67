"""Mechanisms whose small motions are known in closed form."""

import numpy as np
import sympy

import poinsot as ps

COORDINATES = ("directors", "quaternions", "rotations", "rotations-quaternion", "rotations-euler")
GRAVITY = 9.81


def pendulum(mass=2.0, length=1.0, width=0.1, damping=0.0):
    """A rod on a hinge that hangs down, with a motor; returns its frequency [rad/s], too."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    rod = model.add_body(
        "rod", ps.Box(mass=mass, size=(width, width, length)), position=(0, 0, -length / 2)
    )
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_port("motor", ps.JointPort("hinge"))
    if damping:
        model.add_force("damper", ps.JointSpring("hinge", stiffness=0.0, damping=damping))
    inertia = mass * (length**2 + width**2) / 12 + mass * length**2 / 4
    return model, inertia, mass * GRAVITY * length / 2


def double_pendulum(l=0.7, m=(1.0, 0.5)):
    """Two point masses on massless rods, hung up in a plane."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    bobs = [
        model.add_body(f"b{k}", ps.PointMass(mass=m[k]), position=(0, 0, -(k + 1) * l))
        for k in (0, 1)
    ]
    model.add_joint("r0", ps.Rod(model.ground, bobs[0], point_a=(0, 0, 0), point_b=(0, 0, -l)))
    model.add_joint("r1", ps.Rod(bobs[0], bobs[1], point_a=(0, 0, -l), point_b=(0, 0, -2 * l)))
    total = m[0] + m[1]
    M = np.array([[total, m[1]], [m[1], m[1]]]) * l
    K = np.diag([total, m[1]]) * GRAVITY
    return model, np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K))))


def chain(count, stiffness=100.0, mass=1.0):
    """Masses on a rail, one spring to the ground and one between neighbours."""
    model, last = ps.Model(), None
    for k in range(count):
        body = model.add_body(
            f"b{k}", ps.Box(mass=mass, size=(0.1, 0.1, 0.1)), position=(k + 1.0, 0, 0)
        )
        place = {"point": (k + 1.0, 0, 0), "axis": (1, 0, 0)}
        model.add_joint(f"j{k}", ps.Prismatic(model.ground, body, **place))
        ends = {"point_a": (float(k), 0, 0), "point_b": (k + 1.0, 0, 0)}
        model.add_force(f"s{k}", ps.Spring(last or model.ground, body, stiffness=stiffness, **ends))
        last = body
    modes = np.arange(1, count + 1)
    exact = 2 * np.sqrt(stiffness / mass) * np.sin((2 * modes - 1) * np.pi / (4 * count + 2))
    return model, exact


def top(omega, mass=1.5, arm=0.3, inertia=(0.02, 0.01)):
    """A top that sleeps upright, and the roots of J1 s^2 - i J3 omega s - m g l."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    J1, J3 = inertia
    shape = ps.RigidBody(mass=mass, inertia=(J1, J1, J3))
    body = model.add_body("top", shape, position=(0, 0, arm), angular_velocity=(0, 0, omega))
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    J1, weight = J1 + mass * arm**2, mass * GRAVITY * arm
    return model, np.roots([J1, -1j * J3 * omega, -weight]), 2 * np.sqrt(weight * J1) / J3


BEARINGS = ((-0.3, 1e5, 2e5), (0.5, 1.5e5, 1e5))


def rotor(speed, inertia=(0.1, 0.16), mass=10.0, far=50.0):
    """A rigid rotor in two springy bearings, which differ in x and y; returns frequencies, too."""
    model = ps.Model()
    shape = ps.RigidBody(mass=mass, inertia=(inertia[0], inertia[0], inertia[1]))
    body = model.add_body("rotor", shape, position=(0, 0, 0), angular_velocity=(0, 0, speed))
    K, G = np.zeros((4, 4)), np.zeros((4, 4))
    for k, (z, kx, ky) in enumerate(BEARINGS):
        for axis, stiffness in (("x", kx), ("y", ky)):
            start = (-far, 0, z) if axis == "x" else (0, -far, z)
            spring = ps.Spring(
                model.ground, body, point_a=start, point_b=(0, 0, z), stiffness=stiffness
            )
            model.add_force(f"{axis}{k}", spring)
        ex, ey = np.array([1, 0, 0, z]), np.array([0, 1, -z, 0])
        K += kx * np.outer(ex, ex) + ky * np.outer(ey, ey)
    G[2, 3], G[3, 2] = inertia[1] * speed, -inertia[1] * speed
    M = np.diag([mass, mass, inertia[0], inertia[0]])
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    values = np.linalg.eigvals(A)
    return model, np.sort(values.imag[values.imag > 0])


def slider_crank(angle=0.7, r=0.2, l=0.5, stiffness=300.0, axis=(0, 0, 1)):
    """A slider-crank at rest under its weight and a spring; SymPy derives its frequency."""
    m, J = (1.0, 2.0, 0.5), (0.03, 0.06)
    tilt = np.arcsin(r * np.sin(angle) / l)
    B = r * np.array([np.cos(angle), np.sin(angle), 0])
    C = np.array([B[0] + l * np.cos(tilt), 0, 0])
    model = ps.Model(gravity=(0, -GRAVITY, 0))
    crank = model.add_body(
        "crank",
        ps.RigidBody(mass=m[0], inertia=(0.01, 0.02, J[0])),
        position=B / 2,
        rotation=ps.Rotation.from_axis_angle((0, 0, 1), angle),
    )
    rod = model.add_body(
        "rod",
        ps.RigidBody(mass=m[1], inertia=(0.02, 0.05, J[1])),
        position=(B + C) / 2,
        rotation=ps.Rotation.from_axis_angle((0, 0, 1), -tilt),
    )
    slider = model.add_body("slider", ps.Box(mass=m[2], size=(0.1, 0.1, 0.1)), position=C)
    model.add_joint("A", ps.Revolute(model.ground, crank, point=(0, 0, 0), axis=axis))
    model.add_joint("B", ps.Revolute(crank, rod, point=B, axis=axis))
    model.add_joint("C", ps.Revolute(rod, slider, point=C, axis=axis))
    model.add_joint("D", ps.Prismatic(model.ground, slider, point=C, axis=(1, 0, 0)))
    model.add_port("motor", ps.JointPort("A"))
    q = sympy.Symbol("q")
    b = sympy.asin(r * sympy.sin(q) / l)
    weight = GRAVITY * (
        m[0] * r / 2 * sympy.sin(q) + m[1] * (r * sympy.sin(q) - l / 2 * sympy.sin(b))
    )
    rest = float(sympy.diff(weight, q).subs(q, angle)) / stiffness
    model.add_force("spring", ps.JointSpring("A", stiffness=stiffness, rest=rest))
    V = weight + stiffness * (q - angle - rest) ** 2 / 2
    centre = sympy.Matrix(
        [r * sympy.cos(q) + l / 2 * sympy.cos(b), r * sympy.sin(q) - l / 2 * sympy.sin(b)]
    ).diff(q)
    end = sympy.diff(r * sympy.cos(q) + l * sympy.cos(b), q)
    mass = m[0] * r**2 / 4 + J[0] + m[1] * (centre.T @ centre)[0] + J[1] * sympy.diff(b, q) ** 2
    mass += m[2] * end**2
    return model, float(mass.subs(q, angle)), float(sympy.diff(V, q, 2).subs(q, angle))


def four_bar(stiffness=30.0, damping=0.3):
    """A parallelogram that hangs down, with parallel hinges: three constraints are repeated."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    a = model.add_body("a", ps.Box(mass=1.0, size=(0.05, 0.05, 1.0)), position=(0, 0, -0.5))
    b = model.add_body("b", ps.Box(mass=2.0, size=(2.0, 0.05, 0.05)), position=(1, 0, -1))
    c = model.add_body("c", ps.Box(mass=1.0, size=(0.05, 0.05, 1.0)), position=(2, 0, -0.5))
    ground = model.ground
    for name, one, other, point in (
        ("A", ground, a, (0, 0, 0)),
        ("B", a, b, (0, 0, -1)),
        ("C", b, c, (2, 0, -1)),
        ("D", c, ground, (2, 0, 0)),
    ):
        model.add_joint(name, ps.Revolute(one, other, point=point, axis=(0, 1, 0)))
    model.add_force("k", ps.JointSpring("A", stiffness=stiffness, damping=damping))
    M = 2 * ((1 + 0.05**2) / 12 + 0.25) + 2.0
    return model, np.roots([M, damping, stiffness + 3 * GRAVITY])


def free_pair():
    """A box and a point mass on a spring, free in space; the frequency of their oscillation."""
    model = ps.Model()
    box = model.add_body("box", ps.Box(mass=1.0, size=(0.5, 0.25, 1.0)), position=(0, 0, -0.5))
    bob = model.add_body("bob", ps.PointMass(mass=2.0), position=(0, 0, 1))
    ends = {"point_a": (0, 0, 0), "point_b": (0, 0, 1)}
    model.add_force("spring", ps.Spring(box, bob, stiffness=100.0, **ends))
    return model, np.sqrt(100 * 1.5)
