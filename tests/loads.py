"""Mechanisms with all that can act on them, laws that look at the motion included."""

from dataclasses import replace

import mechanisms
import numpy as np

import poinsot as ps

FREE = ("Revolute", "Cylindrical", "Universal", "Prismatic")


def add_laws(model, body, joint, freedom):
    """Add a field, loads in both axes and a motor, all of which depend on the state."""
    end = body.position + np.array([0.2, -0.1, 0.3])
    field = ps.Field(
        lambda p, d: float(np.sum(p**4)) + float(d[0] @ p[0]) / 2,
        points=[(body, end)],
        directions=[(body, (0.0, 0.6, 0.8))],
        gradient=lambda p, d: (4 * p**3 + d / 2, p / 2),
    )
    model.add_force("field", field)
    for axes in ("world", "body"):
        drag = ps.ForcePort(
            body, point=end, axes=axes, law=lambda t, m: np.cos(t) - 0.4 * m.velocity
        )
        twist = ps.TorquePort(body, axes=axes, law=lambda t, m: -0.3 * m.angular_velocity)
        model.add_port(f"drag in {axes} axes", drag)
        model.add_port(f"twist in {axes} axes", twist)
    law = lambda t, x, v: np.sin(t) - x**3 - 0.5 * v  # noqa: E731
    model.add_port("motor by law", ps.JointPort(joint, freedom=freedom, law=law))


def loaded(seed, *, bodies=2, loops=0, ground=True, kinds=FREE):
    """A random mechanism with springs, dampers, ports and laws."""
    plan = mechanisms.full(seed, bodies=bodies, loops=loops, ground=ground, kinds=kinds)
    model = plan.model()
    name, (kind, _) = next(iter(plan.joints.items()))
    add_laws(model, next(iter(model.bodies.values())), name, mechanisms.COORDINATES[kind][0])
    return model


def linear(seed, *, bodies=2, loops=1, ground=True):
    """The same without functions: everything in it is differentiated exactly."""
    plan = mechanisms.full(seed, bodies=bodies, loops=loops, ground=ground)
    first, *_, last = (*plan.bodies, *plan.bodies)
    end, other = (plan.bodies[name]["position"] + 0.2 for name in (first, last))
    spring = {"a": "ground", "b": first, "point_a": other + 1.0, "point_b": end}
    spring |= {"stiffness": 15.0, "damping": 0.6}
    return replace(plan, forces={"spring": ("Spring", spring)}).model()
