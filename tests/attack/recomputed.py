"""What a run must keep, from the definitions of mechanics and the motion that the result shows.

Nothing of the package is called but shapes, for their mass and inertia, and the result itself.
Arrays are over the saved times, unless said to be over steps; vectors are in world axes.
"""

from dataclasses import dataclass
from functools import cached_property

import mechanisms
import numpy as np

#: Euler values of a body without thickness, over its largest: its spin would be undetermined.
SLENDER = 1e-8
#: The same of its moment of inertia about its axis, where momenta are unknowns.
SPUN = 1e-5


def skew(a):
    """a x as a matrix; (..., 3) to (..., 3, 3)."""
    x, y, z = np.moveaxis(np.asarray(a, dtype=float), -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack(row, -1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))], -2)


def norm(a):
    return np.linalg.norm(a, axis=-1)


def mid(path):
    return (path[1:] + path[:-1]) / 2


def turned_by(q):
    """Rotation of unit quaternions, scalar first: R x = x + 2 s (u x x) + 2 u x (u x x)."""
    s, U = q[:, 0, None, None], skew(q[:, 1:])
    return np.eye(3) + 2 * s * U + 2 * U @ U


@dataclass(frozen=True)
class Motion:
    """The motion of a plan in a result."""

    plan: mechanisms.Plan
    result: object

    # -- places -------------------------------------------------------------------------------

    @cached_property
    def count(self):
        return self.result.time.size

    def turn(self, name):
        """The rotation of a body since the start; of the ground, none."""
        if name == "ground":
            return np.broadcast_to(np.eye(3), (self.count, 3, 3))
        R = self.result.rotation(name)
        return R @ R[0].T

    def direction(self, name, a):
        """A body-fixed direction, given at the start."""
        return self.turn(name) @ np.asarray(a, dtype=float)

    def point(self, name, r):
        """A material point, given at the start."""
        r = np.asarray(r, dtype=float)
        if name == "ground":
            return np.broadcast_to(r, (self.count, 3))
        path = self.result.position(name)
        return path + self.direction(name, r - path[0])

    def ends(self, at):
        """Both points of a part between two bodies; of what rolls, where its reaction acts."""
        a, b = at["a"], at["b"]
        if "centre" in at and "radius" in at:
            centre = self.point(b, at["centre"])
            lowest = 0.0 if "axis" in at else -at["radius"] * _unit(at["normal"])
            return centre + lowest, centre + lowest
        if "along" in at:
            edge = self.point(b, at["point"])
            return edge, edge
        if "point" in at:
            r_a = r_b = at["point"]
        elif "point_a" in at:
            r_a, r_b = at["point_a"], at["point_b"]
        else:  # Weld
            r_a = r_b = self.plan.bodies[b if b != "ground" else a]["position"]
        return self.point(a, r_a), self.point(b, r_b)

    @cached_property
    def size(self):
        """The largest distance of anything from the origin, or between parts [m]."""
        found = [abs(self.result.position(name)).max() for name in self.plan.bodies]
        for _, at in (*self.plan.joints.values(), *self.plan.forces.values()):
            if "a" in at and ("point" in at or "point_a" in at):
                found += [abs(r).max() for r in self.ends(at)]
        for _, at in self.plan.ports.values():
            if at.get("point") is not None:
                found.append(abs(self.point(at["body"], at["point"])).max())
        return max(found)

    # -- joints -------------------------------------------------------------------------------

    def gaps(self):
        """Yield name, what it is, and how far the joint is from closed: [m], or sines of angles."""
        for name, (kind, at) in self.plan.joints.items():
            for label, gap in JOINTS[kind](self, at):
                yield f"{name}: {label}", label, gap

    def rates(self):
        """Yield name, what it is, and how fast the joint opens: [m/s], or [rad/s]."""
        for name, (kind, at) in self.plan.joints.items():
            for label, rate in RATES.get(kind, lambda *_: ())(self, at):
                yield name, label, rate

    def spin(self, name):
        """The angular velocity of a body."""
        return 0.0 if name == "ground" else self.result.angular_velocity(name)

    def drift(self, name, points):
        """The velocity of the material points of a body that are there, over the saved times."""
        if name == "ground":
            return 0.0
        arm = points - self.result.position(name)
        return self.result.velocity(name) + np.cross(self.spin(name), arm)

    # -- energy -------------------------------------------------------------------------------

    def shape(self, name):
        return self.plan.bodies[name]["shape"]

    def euler(self, name):
        """Euler tensor in body axes; of a rod, with the small values that its axis is given.

        Its inertia across the axis, the sum of two Euler values, stays the same.
        """
        E = self.shape(name).euler_B
        values, axes = np.linalg.eigh(E)
        if values[1] < SLENDER * values[2]:
            values[:2] = SLENDER * values[2]
            values[2] -= values[1]
            return axes @ np.diag(values) @ axes.T
        return E

    def inertia(self, name, least=0.0):
        """J = tr(E) I - E; of a rod, with at least this part of its largest about its axis."""
        E = self.euler(name)
        J = np.trace(E) * np.eye(3) - E
        values, axes = np.linalg.eigh(J)
        if values[0] < least * values[2]:
            values[0] = least * values[2]
            return axes @ np.diag(values) @ axes.T
        return J

    @cached_property
    def kinetic(self):
        """Kinetic energy of each body [J], and its angular momentum about its centre of mass."""
        return {name: self._kinetic(name) for name in self.plan.bodies}

    def _kinetic(self, name):
        shape, states = self.shape(name), self.result.states
        v = self.result.velocity(name)
        T = shape.mass * np.sum(v * v, axis=1) / 2
        if f"{name}.q" in states and states[f"{name}.q"].values.shape[1] == 12:
            spin, L = self._of_directors(name)
        elif f"{name}.p" in states and states[f"{name}.p"].values.shape[1] == 7:
            spin, L = self._of_momenta(name)
        else:
            omega, R = self.result.angular_velocity(name), self.result.rotation(name)
            L = np.einsum("tij,jk,tlk,tl->ti", R, self.inertia(name), R, omega)
            spin = np.sum(omega * L, axis=1) / 2
        return T + spin, L

    def _of_directors(self, name):
        """T = sum of E_i |v_i|^2 / 2, L = sum of E_i d_i x v_i, with E_i along d_i."""
        q, v = (self.result[f"{name}.{part}"].reshape(-1, 4, 3)[:, 1:] for part in "qv")
        axes = q[0] @ self.result.rotation(name)[0]
        E = np.einsum("ij,jk,ik->i", axes, self.euler(name), axes)
        T = np.einsum("i,tij,tij->t", E, v, v) / 2
        return T, np.einsum("i,tij->tj", E, np.cross(q, v))

    def _of_momenta(self, name):
        """p·v - T(v) with the quaternion's own v where there is one; else T of p. L = E(q) p/2."""
        q, p = (self.result[f"{name}.{part}"][:, 3:] for part in "qp")
        s, u, L_s, L_u = q[:, :1], q[:, 1:], p[:, :1], p[:, 1:]
        # E(q) p = s p_u - p_s u + u x p_u
        L = (s * L_u - L_s * u + np.cross(u, L_u)) / 2
        R = turned_by(q)
        axes = R[0].T @ self.result.rotation(name)[0]
        J = axes @ self.inertia(name, SPUN) @ axes.T
        if f"{name}.v" in self.result.states:
            v = self.result[f"{name}.v"][:, 3:]
            v_s, v_u = v[:, :1], v[:, 1:]
            Omega = 2 * (s * v_u - v_s * u - np.cross(u, v_u))
            T = np.sum(p * v, axis=1) - np.einsum("ti,ij,tj->t", Omega, J, Omega) / 2
        else:
            Pi = np.einsum("tji,tj->ti", R, L)
            T = np.einsum("ti,ij,tj->t", Pi, np.linalg.inv(J), Pi) / 2
        return T, L

    @cached_property
    def energies(self):
        """Energy [J] of all bodies and of all that stores energy, by name."""
        return dict(self._energies())

    def _energies(self):
        plan = self.plan
        for name in plan.bodies:
            yield f"motion of {name}", self.kinetic[name][0]
            weight = self.shape(name).mass * plan.gravity
            yield f"height of {name}", -self.result.position(name) @ weight
        for name, (kind, at) in plan.forces.items():
            if kind in STORES:
                stored = STORES[kind](self, at)
                if stored is not None:
                    yield name, stored

    @cached_property
    def momenta(self):
        """Total linear and angular momentum about the origin; largest parts of either."""
        P, L, sizes = 0.0, 0.0, np.zeros(2)
        for name in self.plan.bodies:
            p = self.shape(name).mass * self.result.velocity(name)
            r, own = self.result.position(name), self.kinetic[name][1]
            P, L = P + p, L + np.cross(r, p) + own
            arm = abs(r).max() * norm(p).max() + norm(own).max()
            sizes = np.maximum(sizes, [norm(p).max(), arm])
        return P, L, sizes

    # -- forces over steps --------------------------------------------------------------------

    def loads(self):
        """Yield port, body, force, torque and the mean point that the force acts at, over steps."""
        for name, (kind, at) in self.plan.ports.items():
            if kind == "JointPort":
                continue
            body, u = at["body"], self.result.port(name).u
            R = mid(self.result.rotation(body))
            load = u if at["axes"] == "world" else np.einsum("tij,tj->ti", R, u)
            none = np.zeros_like(load)
            if kind == "TorquePort":
                yield name, body, none, load, mid(self.result.position(body))
            else:
                where = at.get("point", self.plan.bodies[body]["position"])
                yield name, body, load, none, mid(self.point(body, where))

    def reactions(self):
        """Yield body, force, torque and the mean point that the force acts at, over steps."""
        for name, (_, at) in self.plan.joints.items():
            joint = self.result.reaction(name)
            r_a, r_b = self.ends(at)
            yield at["a"], joint.force_a, joint.torque_a, mid(r_a)
            yield at["b"], joint.force, joint.torque, mid(r_b)


# -- joints, as their documentation defines them ---------------------------------------------------


def _apart(motion, at):
    r_a, r_b = motion.ends(at)
    return r_b - r_a


def _point(motion, at):
    yield "distance", norm(_apart(motion, at))


def _parallel(motion, at, key="axis"):
    a, b = (motion.direction(at[end], _unit(at[key])) for end in "ab")
    yield "angle", norm(np.cross(a, b))


def _unturned(motion, at):
    relative = np.swapaxes(motion.turn(at["a"]), 1, 2) @ motion.turn(at["b"])
    yield "angle", np.sqrt(np.sum((relative - np.eye(3)) ** 2, axis=(1, 2)))


def _on_line(motion, at):
    n = motion.direction(at["a"], _unit(at["axis"]))
    yield "distance", norm(np.cross(n, _apart(motion, at)))


def _on_plane(motion, at):
    n = motion.direction(at["a"], _unit(at["normal"]))
    yield "distance", abs(np.sum(n * _apart(motion, at), axis=1))


def _cross(motion, at):
    a = motion.direction(at["a"], _unit(at["axis_a"]))
    b = motion.direction(at["b"], _unit(at["axis_b"]))
    yield "angle", abs(np.sum(a * b, axis=1))


def _rod(motion, at):
    length = np.linalg.norm(np.subtract(at["point_b"], at["point_a"]))
    yield "distance", abs(norm(_apart(motion, at)) - length)


def _height(motion, at):
    """The lowest point of a sphere, or of the rim of a disc, touches the plane."""
    N = _unit(at["normal"])
    heights = (motion.point(at["b"], at["centre"]) - at["point"]) @ N
    below = at["radius"]
    if "axis" in at:
        sine = motion.direction(at["b"], _unit(at["axis"])) @ N
        below = below * np.sqrt(1 - sine**2)
    yield "distance", abs(heights - below)


def _edge(motion, at):
    """An edge moves along itself over each step, at the mean of its direction."""
    n = mid(motion.direction(at["b"], _unit(np.cross(at["normal"], at["along"]))))
    yield "slip", abs(np.sum(n * np.diff(motion.point(at["b"], at["point"]), axis=0), axis=1))


def _unit(a):
    return np.asarray(a, dtype=float) / np.linalg.norm(a)


def _all(*laws):
    return lambda motion, at: (gap for law in laws for gap in law(motion, at))


def _level(motion, at):
    return _parallel(motion, at, "normal")


JOINTS = {
    "Spherical": _point,
    "Universal": _all(_point, _cross),
    "Revolute": _all(_point, _parallel),
    "Cylindrical": _all(_on_line, _parallel),
    "Prismatic": _all(_on_line, _unturned),
    "Planar": _all(_on_plane, _level),
    "Cartesian": _unturned,
    "Weld": _all(_point, _unturned),
    "Rod": _rod,
    "PointOnLine": _on_line,
    "PointOnPlane": _on_plane,
    "KnifeEdge": _edge,
    "RollingSphere": _height,
    "RollingDisc": _height,
}


# -- the same of velocities ------------------------------------------------------------------------


def _opening(motion, at):
    """How fast the point of body b moves for someone on body a."""
    r_b = motion.ends(at)[1]
    return motion.drift(at["b"], r_b) - motion.drift(at["a"], r_b)


def _turning(motion, at):
    return motion.spin(at["b"]) - motion.spin(at["a"])


def _point_rate(motion, at):
    yield "speed", norm(_opening(motion, at))


def _parallel_rate(motion, at, key="axis"):
    yield "spin", norm(np.cross(motion.direction(at["a"], _unit(at[key])), _turning(motion, at)))


def _unturned_rate(motion, at):
    yield "spin", norm(_turning(motion, at))


def _on_line_rate(motion, at):
    n = motion.direction(at["a"], _unit(at["axis"]))
    yield "speed", norm(np.cross(n, _opening(motion, at)))


def _on_plane_rate(motion, at):
    n = motion.direction(at["a"], _unit(at["normal"]))
    yield "speed", abs(np.sum(n * _opening(motion, at), axis=1))


def _cross_rate(motion, at):
    a, b = (motion.direction(at[end], _unit(at[f"axis_{end}"])) for end in "ab")
    yield "spin", abs(np.sum(np.cross(a, b) * _turning(motion, at), axis=1))


def _rod_rate(motion, at):
    apart = _apart(motion, at)
    along = apart / norm(apart)[:, None]
    r_a, r_b = motion.ends(at)
    opening = motion.drift(at["b"], r_b) - motion.drift(at["a"], r_a)
    yield "speed", abs(np.sum(along * opening, axis=1))


RATES = {
    "Spherical": _point_rate,
    "Universal": _all(_point_rate, _cross_rate),
    "Revolute": _all(_point_rate, _parallel_rate),
    "Cylindrical": _all(_on_line_rate, _parallel_rate),
    "Prismatic": _all(_on_line_rate, _unturned_rate),
    "Planar": _all(_on_plane_rate, lambda motion, at: _parallel_rate(motion, at, "normal")),
    "Cartesian": _unturned_rate,
    "Weld": _all(_point_rate, _unturned_rate),
    "Rod": _rod_rate,
    "PointOnLine": _on_line_rate,
    "PointOnPlane": _on_plane_rate,
}


# -- what stores energy ----------------------------------------------------------------------------


def _elastic(at, x, start):
    """The energy of a spring at coordinates x; of a force, from where it starts."""
    if at.get("stiffness") is not None:
        rest = at.get("rest_length", start) if "rest" not in at else at["rest"]
        return at["stiffness"] * (x - rest) ** 2 / 2
    if "potential" in at:
        return np.array([at["potential"](value) for value in x])
    if "force" in at:
        nodes, weights = np.polynomial.legendre.leggauss(20)
        half = (x - start) / 2
        places = half[:, None] * (nodes + 1) + start
        values = np.array([[at["force"](value) for value in row] for row in places])
        return half * (values @ weights)
    return None


def _spring(motion, at):
    length = norm(_apart(motion, at))
    return _elastic(at, length, length[0])


def _joint_spring(motion, at):
    kind, joint = motion.plan.joints[at["joint"]]
    return _elastic(at, coordinate(motion, kind, joint, at["freedom"]), 0.0)


def coordinate(motion, kind, at, freedom):
    """An angle over turns, or a displacement, of a joint; zero at the start."""
    a, b = at["a"], at["b"]
    if freedom.startswith("displacement"):
        if kind == "Cartesian":
            x, y = _unit(at["x"]), _unit(at["y"])
            axis = {"x": x, "y": y, "z": np.cross(x, y)}[freedom[-1]]
        else:
            axis = _unit(at["axis"])
        return np.sum(motion.direction(a, axis) * _apart(motion, at), axis=1)
    if kind == "Universal":
        n_a, n_b = _unit(at["axis_a"]), _unit(at["axis_b"])
        end, other, n, m = (a, b, n_a, n_b) if freedom == "angle a" else (b, a, n_b, n_a)
        # The pin of the other body turns about the pin of this one.
        sign = 1 if freedom == "angle a" else -1
        pin = motion.direction(other, m)
        x, y = motion.direction(end, m), motion.direction(end, np.cross(n, m))
        return sign * np.unwrap(np.arctan2(np.sum(y * pin, axis=1), np.sum(x * pin, axis=1)))
    n = _unit(at["axis"] if "axis" in at else at["normal"])
    m = np.cross(n, np.eye(3)[np.argmin(abs(n))])
    across, along = motion.direction(b, m), motion.direction(a, m)
    sideways = motion.direction(a, np.cross(n, m))
    return np.unwrap(np.arctan2(np.sum(sideways * across, axis=1), np.sum(along * across, axis=1)))


def _attraction(motion, at):
    def place(end):
        return at["centre"] if end == "ground" else motion.result.position(end)

    return -at["strength"] / norm(place(at["b"]) - place(at["a"]))


def _field(motion, at):
    points = np.stack([motion.point(name, r) for name, r in at["points"]], axis=1)
    directions = np.stack([motion.direction(name, a) for name, a in at["directions"]], axis=1)
    return np.array([at["potential"](p, d) for p, d in zip(points, directions, strict=True)])


STORES = {
    "Spring": _spring,
    "JointSpring": _joint_spring,
    "Gravitation": _attraction,
    "Field": _field,
}
