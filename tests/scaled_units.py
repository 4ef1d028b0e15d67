"""A change of units: the same mechanism, measured by other units of length, mass and time."""

from dataclasses import dataclass, fields, replace

import numpy as np

import poinsot as ps

#: Powers of length, mass and time of what a plan holds, by the names of arguments.
LENGTH, VELOCITY = (1, 0, 0), (1, 0, -1)
DIMENSIONS = {
    **dict.fromkeys(("position", "point", "point_a", "point_b", "rest_length"), LENGTH),
    **dict.fromkeys(("size", "radius", "length", "semi_axes", "centre"), LENGTH),
    "mass": (0, 1, 0),
    "inertia": (2, 1, 0),
    "velocity": VELOCITY,
    "angular_velocity": (0, 0, -1),
    "gravity": (1, 0, -2),
}
#: Those of forces and of torques, of the coordinates that they act along, and of their laws.
FORCE, TORQUE, ENERGY = (1, 1, -2), (2, 1, -2), (2, 1, -2)
DRAG = {
    "viscous": (0, 1, -1),
    "quadratic": (-1, 1, 0),
    "angular_viscous": (2, 1, -1),
    "angular_quadratic": (2, 1, 0),
}


@dataclass(frozen=True)
class Units:
    """How long, heavy and slow a mechanism becomes."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def of(self, powers):
        """The factor of something with these powers of length, mass and time."""
        l, m, t = powers
        return self.length**l * self.mass**m * self.time**t

    # -- plans --------------------------------------------------------------------------------

    def plan(self, plan):
        """The same mechanism in these units."""
        return replace(
            plan,
            gravity=self.of(DIMENSIONS["gravity"]) * plan.gravity,
            bodies={name: self._plain(given) for name, given in plan.bodies.items()},
            joints={
                name: (kind, self._plain(given)) for name, (kind, given) in plan.joints.items()
            },
            forces={
                name: (kind, self._force(kind, given))
                for name, (kind, given) in plan.forces.items()
            },
            ports={
                name: (kind, self._port(kind, given)) for name, (kind, given) in plan.ports.items()
            },
        )

    def shape(self, shape):
        """A shape in these units."""
        given = {field.name: getattr(shape, field.name) for field in fields(shape)}
        scaled = {
            key: self.of(DIMENSIONS[key]) * np.asarray(value)
            for key, value in given.items()
            if key in DIMENSIONS and value is not None
        }
        return replace(shape, **{k: float(v) if v.ndim == 0 else v for k, v in scaled.items()})

    def _plain(self, given):
        def scaled(key, value):
            if isinstance(value, ps.bodies.shapes.Shape):
                return self.shape(value)
            return self.of(DIMENSIONS[key]) * np.asarray(value) if key in DIMENSIONS else value

        return {key: scaled(key, value) for key, value in given.items()}

    def _force(self, kind, given):
        along, given = LENGTH, self._plain(given)
        if kind == "Drag":
            return {k: self.of(DRAG[k]) * v if k in DRAG else v for k, v in given.items()}
        if kind in ("JointSpring", "JointFriction") and "angle" in (given["freedom"] or "angle"):
            along = (0, 0, 0)
        x = self.of(along)
        rate, energy = x / self.time, self.of(ENERGY)
        force = energy / x
        factors = {"rest": x, "stiffness": force / x, "damping": force / rate, "slip": rate}
        factors |= {"coulomb": force, "viscous": force / rate, "quadratic": force / rate**2}
        laws = {"potential": (energy, x), "dpotential": (force, x), "ddpotential": (force / x, x)}
        laws |= {"force": (force, x), "law": (force, rate), "dlaw": (force / rate, rate)}
        found = {}
        for key, value in given.items():
            if key in laws and value is not None:
                found[key] = _scaled(value, *laws[key])
            else:
                found[key] = factors[key] * value if key in factors else value
        return found

    def _port(self, kind, given):
        torque = kind == "TorquePort" or (kind == "JointPort" and "angle" in given["freedom"])
        factor = self.of(TORQUE if torque else FORCE)
        return {**self._plain(given), "value": _scaled(given["value"], factor, self.time)}

    # -- results ------------------------------------------------------------------------------

    def motion(self, result, bodies):
        """Positions, directors, velocities, spins and energy of a run, free of units; (t, n)."""
        columns = [result.energy[:, None] / self.of(ENERGY)]
        for name in bodies:
            columns += [
                result.position(name) / self.length,
                result.rotation(name).reshape(len(result.time), 9),
                result.velocity(name) * (self.time / self.length),
                result.angular_velocity(name) * self.time,
            ]
        return np.hstack(columns)


def _scaled(law, factor, argument):
    return lambda x: factor * law(x / argument)
