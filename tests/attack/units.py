"""A plan in other units: the same mechanism with other lengths, masses and times.

Each argument of a part has the dimension that its documentation says. A law is a function of a
length, an angle, a rate or the time, and is read in the old units and answered in the new ones.
"""

from dataclasses import dataclass, fields, replace

import numpy as np


@dataclass(frozen=True)
class Units:
    """One old unit of length, mass and time in new ones."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def energy(self):
        return self.mass * (self.length / self.time) ** 2

    @property
    def momentum(self):
        return self.mass * self.length / self.time


def scaled(plan, units, weights=None):
    """Return the plan in these units.

    `weights` of bodies by name: a body is heavier by so much, and what acts on it is stronger by
    the weight of the lightest body that it moves, so that it still takes a second.
    """
    weights = weights or {}

    def weight(arguments):
        at = arguments if "joint" not in arguments else plan.joints[arguments["joint"]][1]
        moved = [at[key] for key in ("a", "b", "body") if key in at]
        moved += [body for body, _ in at.get("points", ())]
        return min(weights.get(name, 1.0) for name in moved if name != "ground")

    def acting(parts):
        return {
            name: (kind, _part(kind, arguments, _heavier(units, weight(arguments))))
            for name, (kind, arguments) in parts.items()
        }

    def body(name, arguments):
        heavier = _heavier(units, weights.get(name, 1.0))
        return {**_placed(arguments, units), "shape": _shape(arguments["shape"], heavier)}

    return replace(
        plan,
        gravity=plan.gravity * units.length / units.time**2,
        bodies={name: body(name, arguments) for name, arguments in plan.bodies.items()},
        joints={name: (kind, _placed(at, units)) for name, (kind, at) in plan.joints.items()},
        forces=acting(plan.forces),
        ports=acting(plan.ports),
    )


def _heavier(units, weight):
    return replace(units, mass=units.mass * weight)


def _shape(shape, units):
    """Lengths, mass and moments of inertia of a shape."""
    dimensions = {"mass": units.mass, "inertia": units.mass * units.length**2}
    lengths = ("size", "radius", "length", "semi_axes", "height", "inner_radius", "outer_radius")
    dimensions |= dict.fromkeys(lengths, units.length)
    given = {f.name: dimensions[f.name] for f in fields(shape) if f.name in dimensions}
    return replace(
        shape, **{name: np.multiply(getattr(shape, name), by) for name, by in given.items()}
    )


def _placed(arguments, units):
    """Points, velocities and radii; directions have no unit."""
    L, T = units.length, units.time
    dimensions = {"velocity": L / T, "angular_velocity": 1 / T}
    places = ("position", "point", "point_a", "point_b", "centre", "radius")
    dimensions |= dict.fromkeys(places, L)
    return {
        key: value * dimensions[key] if key in dimensions else value
        for key, value in arguments.items()
    }


def _law(f, argument, value):
    return lambda x: value * f(x / argument)


def _part(kind, arguments, units):
    """What acts: springs, friction, drag, attraction, fields and ports."""
    L, M, T, E = units.length, units.mass, units.time, units.energy
    #: What a spring or a port acts along: an angle, or a length.
    x = 1.0 if "angle" in arguments.get("freedom", "") else L
    if kind == "Field":
        potential, gradient = arguments["potential"], arguments["gradient"]

        def slopes(points, directions):
            at_points, at_directions = gradient(points / L, directions)
            return E / L * np.asarray(at_points), E * np.asarray(at_directions)

        return {
            "potential": lambda points, directions: E * potential(points / L, directions),
            "gradient": slopes,
            "points": [(body, L * np.asarray(at)) for body, at in arguments["points"]],
            "directions": arguments["directions"],
        }
    drags = {"viscous": M / T, "quadratic": M / L}
    along = {"viscous": E * T / x**2, "quadratic": E * T**2 / x**3}
    numbers = {
        **(drags if kind == "Drag" else along),
        "angular_viscous": M * L**2 / T,
        "angular_quadratic": M * L**2,
        "coulomb": E / x,
        "slip": x / T,
        "stiffness": E / x**2,
        "damping": E * T / x**2,
        "rest": x,
        "rest_length": L,
        "strength": E * L,
    }
    laws = {
        "potential": (x, E),
        "dpotential": (x, E / x),
        "force": (x, E / x),
        "law": (x / T, E / x),
        "value": (T, {"ForcePort": E / L, "TorquePort": E}.get(kind, E / x)),
    }
    found = _placed(arguments, units)
    for key, value in arguments.items():
        if key in laws:
            found[key] = _law(value, *laws[key])
        elif key in numbers:
            found[key] = value * numbers[key]
    return found
