"""Closed mechanisms as data: where bodies belong, frames of joints on them, and rough starts.

Nothing in here knows how the package works inside. Gaps are computed from poses alone.
"""

from dataclasses import dataclass, field

import numpy as np

import poinsot as ps

#: Directions that each joint leaves free.
FREE = {
    "Spherical": 3,
    "Universal": 2,
    "Revolute": 1,
    "Cylindrical": 2,
    "Prismatic": 1,
    "Planar": 3,
}
GROUND = "ground"
#: Axes of the world, for frames of hinges about z.
Z = np.eye(3)


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
        ends = [
            end
            for _, a, b, on_a, on_b, _ in self.joints.values()
            for body, (end, _) in ((a, on_a), (b, on_b))
            if body == name
        ]
        across = max(np.linalg.norm(p - q) for p in ends for q in ends)
        return across or max(np.linalg.norm(p) for p in ends)

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
            J = shape.inertia_B * length**2 * mass
            there.bodies[name] = ps.RigidBody(mass=mass * shape.mass, inertia=J), length * x, R
        for name, (kind, a, b, (p, P), (q, Q), more) in self.joints.items():
            more = {key: length * value for key, value in more.items()}
            there.joints[name] = kind, a, b, (length * p, P), (length * q, Q), more
        return there

    def gaps(self, places):
        """Return the largest distance and angle by which joints are open at places of bodies."""
        distance = angle = 0.0
        for kind, a, b, on_a, on_b, more in self.joints.values():
            (x, A), (y, B) = (self.frame(n, f, places) for n, f in ((a, on_a), (b, on_b)))
            d, theta = gap(kind, x, A, y, B, **more)
            distance, angle = max(distance, d), max(angle, theta)
        return distance, angle

    def frame(self, body, frame, places):
        x, R = (np.zeros(3), np.eye(3)) if body == GROUND else places[body]
        return x + R @ frame[0], R @ frame[1]


def gap(kind, x, A, y, B, length=None):
    """How far two frames of a joint are from where it holds them: a distance and an angle."""
    r, Q = A.T @ (y - x), A.T @ B
    tilt = np.arctan2(np.hypot(Q[0, 2], Q[1, 2]), Q[2, 2])
    axial = Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]
    turned = np.arctan2(np.linalg.norm(axial), np.trace(Q) - 1)
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


def random_linkage(random):
    """Bodies in one or two loops, planar or spatial, with more freedoms than the loops lock."""
    flat = random.random() < 0.4
    linkage, count = Linkage(), int(random.integers(3, 6) if flat else random.integers(2, 6))
    plane = turn(unit(random), random.uniform(0, 3)) if flat else None
    first = kinds(random, count + 1, 7, plane)
    names = [GROUND, *(f"link{k}" for k in range(count)), GROUND]
    corners = points(random, count + 2, plane)
    add_chain(linkage, random, names, corners, first, plane)
    if random.random() < 0.5:
        one, other = random.choice(count, 2, replace=False)
        names = [f"link{one}", "branch0", "branch1", f"link{other}"]
        corners = points(random, 4, plane)
        add_chain(linkage, random, names, corners, kinds(random, 3, 6, plane), plane)
    return linkage


def points(random, count, plane):
    """Where joints are, in space or in the x-y plane of some axes."""
    spread = np.diag([1, 1, 0 if plane is not None else 1])
    return random.uniform(-1, 1, (count, 3)) @ spread @ (np.eye(3) if plane is None else plane.T)


def kinds(random, count, freedoms, plane):
    """Kinds of joints with so many freedoms at least; in a plane at most one slide of three."""
    while True:
        found = [str(kind) for kind in random.choice(list(FREE), count)]
        if plane is not None:
            slides = [k % 3 == 0 and random.random() < 0.5 for k in range(count)]
            return ["Prismatic" if slide else "Revolute" for slide in slides]
        if sum(FREE[kind] for kind in found) >= freedoms:
            return found


def add_chain(linkage, random, names, corners, kinds, plane):
    """Add bodies between the first and the last of some names, and the joints between them."""
    for k, name in enumerate(names[1:-1], start=1):
        span = corners[k + 1] - corners[k]
        size = (np.linalg.norm(span) + 0.1) * random.uniform(0.05, 1.0, 3)
        shape = ps.Box(mass=random.uniform(0.3, 3.0), size=size)
        R = turn(unit(random), random.uniform(0, 3))
        linkage.add_body(name, shape, (corners[k] + corners[k + 1]) / 2, R)
    for k, kind in enumerate(kinds):
        axes = turn(unit(random), random.uniform(0, 3)) if plane is None else plane
        if kind == "Prismatic" and plane is not None:  # it slides in the plane
            axes = plane @ turn((0, 0, 1), random.uniform(0, 3)) @ turn((0, 1, 0), np.pi / 2)
        name = f"{names[k]}-{names[k + 1]}"
        while name in linkage.joints:
            name += "'"
        linkage.add_joint(name, kind, names[k], names[k + 1], corners[k + 1], axes)


# -- linkages with closed forms ------------------------------------------------------------------


def four_bar(lengths=(1.0, 2.0, 2.0, 2.5), theta=0.7, branch=1):
    """A planar four-bar as drawn: crank, coupler, rocker and distance of its pivots [m]."""
    a, _, c, d = lengths
    B = a * np.exp(1j * theta)
    C = d + c * np.exp(1j * rocker(lengths, theta, branch))
    linkage = Linkage()
    for name, p, q in (("crank", 0, B), ("coupler", B, C), ("rocker", d, C)):
        middle, along = (p + q) / 2, np.angle(q - p)
        shape = ps.Box(mass=1.0, size=(abs(q - p), 0.1, 0.2))
        linkage.add_body(name, shape, at(middle), turn((0, 0, 1), along))
    for name, one, other, p in (
        ("A", GROUND, "crank", 0),
        ("B", "crank", "coupler", B),
        ("C", "coupler", "rocker", C),
        ("D", GROUND, "rocker", d),
    ):
        linkage.add_joint(name, "Revolute", one, other, at(p), Z)
    return linkage


def at(z):
    return np.array([np.real(z), np.imag(z), 0.0])


def rocker(lengths, theta, branch):
    """The angle of the rocker, in closed form."""
    a, b, c, d = lengths
    B = a * np.exp(1j * theta)
    span = d - B
    inner = np.arccos((b**2 + abs(span) ** 2 - c**2) / (2 * b * abs(span)))
    return np.angle(B + b * np.exp(1j * (np.angle(span) + branch * inner)) - d)


def bennett():
    """Four hinges at twists and lengths of which one degree of freedom is left [Bennett]."""
    a, b, alpha, theta = 1.0, 2.0, np.pi / 6, 1.0
    beta = np.arcsin(b * np.sin(alpha) / a)
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    other = 2 * np.arctan(ratio / np.tan(theta / 2))
    frames = [(np.zeros(3), np.eye(3))]
    for length, twist, angle in (
        (a, alpha, theta),
        (b, beta, other),
        (a, alpha, -theta),
        (b, beta, -other),
    ):
        x, R = frames[-1]
        R = R @ turn((0, 0, 1), angle)
        frames.append((x + length * R[:, 0], R @ turn((1, 0, 0), twist)))
    assert np.allclose(frames[4][0], 0, atol=1e-12)
    linkage = Linkage()
    for k in (1, 2, 3):
        middle = (frames[k][0] + frames[k + 1][0]) / 2
        shape = ps.RigidBody(mass=1.0, inertia=(0.2, 0.3, 0.4))
        linkage.add_body(f"bar{k}", shape, middle, frames[k][1])
    names = [GROUND, "bar1", "bar2", "bar3", GROUND]
    for k, name in enumerate("ABCD"):
        linkage.add_joint(name, "Revolute", names[k], names[k + 1], *frames[k + 1])
    return linkage


def bricard():
    """Six edges of a cube in a ring, hinges across both edges at each corner: one freedom."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)], float)
    linkage, names = Linkage(), [GROUND, *(f"edge{k}" for k in range(1, 6))]
    for k, name in enumerate(names[1:], start=1):
        span = corners[(k + 1) % 6] - corners[k]
        shape = ps.Box(mass=1.0, size=0.1 + 0.9 * abs(span))
        linkage.add_body(name, shape, corners[k] + span / 2, np.eye(3))
    for k in range(6):
        before, after = corners[k] - corners[k - 1], corners[(k + 1) % 6] - corners[k]
        n = np.cross(before, after)
        axes = np.column_stack([after, np.cross(n, after), n])
        linkage.add_joint("ABCDEF"[k], "Revolute", names[k - 1], names[k], corners[k], axes)
    return linkage
