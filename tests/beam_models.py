"""Beams for tests: every option, random ones, and their energy by quadrature."""

import numpy as np
from numpy.polynomial import legendre

import poinsot as ps

#: What a beam may be besides its numbers.
OPTIONS = {
    "deformed": {},
    "undeformed": {"momenta": "undeformed"},
    "stiffened": {"stiffening": True},
    "damped": {"damping": 1e-3},
    "simply supported": {"held": "simply supported"},
    "end masses": {"start_mass": 0.3, "end_mass": 0.7, "rotary_inertia": True},
    "planar": {"planar": True, "held": "simply supported", "stiffening": True},
}


def soft(elements=2, **options):
    """Return a beam that bends visibly, of a few kilograms and some hertz."""
    numbers = {
        "length": 1.2,
        "section": ps.RectangularSection(width=0.04, height=0.03),
        "density": 1500.0,
        "youngs_modulus": 2e7,
        "elements": elements,
    }
    return ps.Beam(**numbers | options)


def random_soft(seed, **options):
    """Return a random one."""
    random = np.random.default_rng(seed)
    length = random.uniform(0.5, 2)
    places = np.sort(random.uniform(0.2, 0.8, random.integers(0, 3))) * length
    width, height = random.uniform(0.02, 0.06, 2)
    return soft(
        (0.0, *places.tolist(), length),
        length=length,
        section=ps.RectangularSection(width=width, height=height),
        density=random.uniform(500, 3000),
        youngs_modulus=10 ** random.uniform(6.5, 8),
        **options,
    )


def flying(beam, seed=0):
    """Return a model of a beam that flies and spins freely."""
    random, model = np.random.default_rng(seed), ps.Model(name="flying beam")
    model.add_body(
        "beam",
        beam,
        position=random.uniform(-1, 1, 3),
        rotation=ps.Rotation.from_rotation_vector(random.uniform(-1, 1, 3)),
        velocity=random.uniform(-1, 1, 3),
        angular_velocity=random.uniform(-3, 3, 3),
    )
    return model


def chain(beam, gravity=(0.3, -9.81, 0.5)):
    """Return a beam on a universal joint, a box hinged to it, and a spring from box to ground."""
    model = ps.Model(gravity=gravity, name="beam and box")
    model.add_body("beam", beam, position=(beam.length / 2, 0, 0))
    tip = (beam.length, 0, 0)
    box = model.add_body(
        "box", ps.Box(mass=0.8, size=(0.2, 0.1, 0.3)), position=(beam.length + 0.1, 0, 0)
    )
    start, end = model.body("beam.start"), model.body("beam.end")
    joint = ps.Universal(model.ground, start, point=(0, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 1, 0))
    model.add_joint("A", joint)
    model.add_joint("B", ps.Revolute(end, box, point=tip, axis=(0, 0.6, 0.8)))
    model.add_force(
        "spring",
        ps.Spring(model.ground, box, point_a=(2, -1, 0.4), point_b=tip, stiffness=30, damping=0.5),
    )
    middle = model.bodies["beam.1"]
    model.add_port("push", ps.ForcePort(middle, point=middle.position))
    model.add_port("twist", ps.TorquePort(end))
    return model


def random_state(system, seed, size=0.05):
    """Return a state with the beam bent and moving, joints open."""
    random, x, bodies = np.random.default_rng(seed), system.start.copy(), system.bodies
    x[bodies.rigid.n : bodies.n] = size * random.standard_normal(bodies.n - bodies.rigid.n)
    x[bodies.n :] = random.standard_normal(x.size - bodies.n)
    return x


def kinetic(beam):
    """Return the kinetic energy of a beam by Gauss points, a function of (v, Omega, v_f) and u."""
    of, (s, weight) = beam.matrices, legendre.leggauss(8)
    lengths = np.diff(of.line.nodes)[:, None]
    places = (of.line.nodes[:-1, None] + (1 + s) / 2 * lengths).ravel()
    mass = beam.density * (weight / 2 * lengths).ravel()
    shapes = of.at(places).toarray()[:, beam.free].reshape(places.size, 6, -1)
    X0 = np.column_stack([places - beam.length / 2, *np.zeros((2, places.size))])

    A, I1, I2, _ = of.section.constants

    def energy(w, u):
        moved = w[:3] + np.cross(w[3:6], X0 + shapes[:, :3] @ u) + shapes[:, :3] @ w[6:]
        spin = w[3] + shapes[:, 3] @ w[6:]
        line = A * np.sum(moved**2, axis=1) + (I1 + I2) * spin**2
        return mass @ line / 2

    return energy
