"""Closed mechanisms as data: where bodies belong, frames of joints on them, and rough starts.

Nothing in here knows how the package works inside. Gaps are computed from poses alone.
"""

from dataclasses import dataclass, field

import numpy as np

import poinsot as ps

#: Directions that each joint leaves free.
FREE = {"Spherical": 3, "Universal": 2, "Revolute": 1, "Cylindrical": 2, "Prismatic": 1, "Planar": 3}
GROUND = "ground"


def unit(random):
    a = random.standard_normal(3)
    return a / np.linalg.norm(a)


def turn(axis, angle):
    """The rotation matrix of a turn, by Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@dataclass
class Linkage:
    """Bodies by name with shape, place and rotation; joints with frames (point, axes) on both.

    A frame is given in the axes of its body, from its centre of mass; of the ground, in the world.
    """

    bodies: dict = field(default_factory=dict)
    joints: dict = field(default_factory=dict)

    def add_body(self, name, shape, position, rotation):
        self.bodies[name] = shape, np.asarray(position, dtype=float), np.asarray(rotation)

    def add_joint(self, name, kind, a, b, point, axes, free=None, **more):
        """Add a joint with one frame in the world; `free` is how far it has moved: (r, R)."""
        r, R = (np.zeros(3), np.eye(3)) if free is None else free
        frames = []
        for body, at, turned in ((a, point, axes), (b, point + axes @ r, axes @ R)):
            x, Q = self.place(body)
            frames.append((Q.T @ (at - x), Q.T @ turned))
        self.joints[name] = kind, a, b, *frames, more

    def place(self, body):
        return (np.zeros(3), np.eye(3)) if body == GROUND else self.bodies[body][1:]

    def perturbed(self, random, gap=0.5, angle=np.pi / 3, keep=()):
        """The same with bodies off by a part of their size and by an angle."""
        there = Linkage(dict(self.bodies), self.joints)
        for name, (shape, x, R) in self.bodies.items():
            if name not in keep:
                x = x + gap * self.size(name) * unit(random) * random.uniform(0.5, 1)
                R = turn(unit(random), angle * random.uniform(0.5, 1)) @ R
                there.bodies[name] = shape, x, R
        return there

    def size(self, name):
        """How long a body is: between its joints, or across."""
        points = [f[0] for _, a, b, *fs, _ in self.joints.values() for n, f in zip((a, b), fs) if n == name]
        return max(np.linalg.norm(p - q) for p in points for q in points) or max(np.linalg.norm(p) for p in points)

    def model(self, **settings):
        model = ps.Model(**settings)
        known = {GROUND: model.ground}
        for name, (shape, x, R) in self.bodies.items():
            known[name] = model.add_body(name, shape, position=x, rotation=R)
        for name, (kind, a, b, on_a, on_b, more) in self.joints.items():
            ends = [
                model.add_marker(f"{name}.{end}", known[body], position=p, rotation=R, axes="body")
                for end, body, (p, R) in (("a", a, on_a), ("b", b, on_b))
            ]
            model.add_joint(name, getattr(ps, kind)(*ends, **more))
        return model

    def scaled(self, length, mass=1.0):
        """The same with other units of length and mass."""
        there = Linkage()
        for name, (shape, x, R) in self.bodies.items():
            J = np.asarray(shape.inertia) * length**2 * mass
            there.bodies[name] = ps.RigidBody(mass=mass * shape.mass, inertia=J), length * x, R
        for name, (kind, a, b, (p, P), (q, Q), more) in self.joints.items():
            more = {key: length * value for key, value in more.items()}
            there.joints[name] = kind, a, b, (length * p, P), (length * q, Q), more
        return there

    def gaps(self, places):
        """Return the largest distance and angle by which joints are open at places of bodies."""
        distance = angle = 0.0
        for kind, a, b, on_a, on_b, more in self.joints.values():
            (x, A), (y, B) = (self._frame(n, f, places) for n, f in ((a, on_a), (b, on_b)))
            d, theta = gap(kind, x, A, y, B, **more)
            distance, angle = max(distance, d), max(angle, theta)
        return distance, angle

    def _frame(self, body, frame, places):
        x, R = (np.zeros(3), np.eye(3)) if body == GROUND else places[body]
        return x + R @ frame[0], R @ frame[1]


def gap(kind, x, A, y, B, length=None):
    """How far two frames of a joint are from where it holds them: a distance and an angle."""
    r, Q = A.T @ (y - x), A.T @ B
    tilt = np.arctan2(np.hypot(Q[0, 2], Q[1, 2]), Q[2, 2])
    turned = np.arctan2(np.linalg.norm([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]]), np.trace(Q) - 1)
    across, along = np.hypot(r[0], r[1]), abs(r[2])
    return {
        "Spherical": (np.linalg.norm(r), 0.0),
        "Universal": (np.linalg.norm(r), abs(np.arcsin(np.clip(Q[0, 1], -1, 1)))),
        "Revolute": (np.linalg.norm(r), tilt),
        "Cylindrical": (across, tilt),
        "Prismatic": (across, turned),
        "Planar": (along, tilt),
        "Weld": (np.linalg.norm(r), turned),
        "Rod": (abs(np.linalg.norm(r) - (length or 0.0)), 0.0),
    }[kind]


def places(model):
    """Where bodies of a model start."""
    return model.start_places()


def random_linkage(random):
    """Bodies in one or two loops with more freedoms than loops lock, spatial or planar."""
    return planar(random) if random.random() < 0.4 else spatial(random)


def _shape(random, size):
    mass = random.uniform(0.3, 3.0)
    return ps.Box(mass=mass, size=size * random.uniform(0.05, 1.0, 3))


def planar(random):
    """A loop of hinges and slides about parallel axes, four to six members."""
    count = random.integers(3, 6)
    axes = turn(unit(random), random.uniform(0, 3))
    return _chain(random, count, lambda k: ("Revolute" if k % 3 else random.choice(["Revolute", "Prismatic"]), axes))


def spatial(random):
    """A loop or two of joints of all kinds, with at least one degree of freedom each."""
    count = random.integers(2, 6)
    while True:
        kinds = random.choice(list(FREE), count + 1)
        if sum(FREE[kind] for kind in kinds) >= 7:
            break
    return _chain(random, count, lambda k: (kinds[k], turn(unit(random), random.uniform(0, 3))))


def _chain(random, count, joint):
    """Bodies around a loop from the ground to the ground; sometimes a branch closes another one."""
    linkage = Linkage()
    corners = random.uniform(-1, 1, (count + 2, 3))
    kind, axes = joint(1)
    if np.array_equal(axes, joint(1)[1]):  # in one plane
        corners = corners @ np.diag([1, 1, 0.0]) @ axes.T
    names = [GROUND, *(f"link{k}" for k in range(1, count + 1)), GROUND]
    for k in range(1, count + 1):
        size = np.linalg.norm(corners[k + 1] - corners[k]) + 0.1
        middle = (corners[k] + corners[k + 1]) / 2
        linkage.add_body(names[k], _shape(random, size), middle, turn(unit(random), random.uniform(0, 3)))
    for k in range(count + 1):
        kind, axes = joint(k)
        linkage.add_joint(f"j{k}", str(kind), names[k], names[k + 1], corners[k + 1], axes)
    return linkage
