"""Mechanisms as data: a plan can be moved in the world, shuffled, and built as a model.

Nothing in here knows how the package works inside; it only calls its public names.
"""

import os
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import Phase, settings

import poinsot as ps

#: Every joint of the table: how many directions it locks, and the coordinates of the free ones.
LOCKED = {
    "Spherical": 3,
    "Universal": 4,
    "Revolute": 5,
    "Cylindrical": 4,
    "Prismatic": 5,
    "Planar": 3,
    "Cartesian": 3,
    "Weld": 6,
    "Rod": 1,
    "PointOnLine": 2,
    "PointOnPlane": 1,
}
COORDINATES = {
    "Spherical": (),
    "Universal": ("angle a", "angle b"),
    "Revolute": ("angle",),
    "Cylindrical": ("angle", "displacement"),
    "Prismatic": ("displacement",),
    "Planar": ("displacement 1", "displacement 2", "angle"),
    "Cartesian": ("displacement x", "displacement y", "displacement z"),
    "Weld": (),
    "Rod": (),
    "PointOnLine": ("displacement",),
    "PointOnPlane": ("displacement 1", "displacement 2"),
}
KINDS = tuple(LOCKED)
#: Those that act by forces, not by torques alone.
FORCED = tuple(kind for kind in KINDS if kind != "Cartesian")
SCHEMES = ("ph-mp", "ph-mp-ggl")
POINTS = ("position", "point", "point_a", "point_b")
ARROWS = ("rotation", "velocity", "angular_velocity")
ARROWS += ("axis", "axis_a", "axis_b", "normal", "x", "y")


def laws(examples):
    """So many random mechanisms; a seed has no simpler one, so nothing is shrunk.

    A third as many in CI, where they are the same in every run.
    """
    if os.environ.get("CI") == "true":
        examples = -(-examples // 3)
    return settings(
        max_examples=examples, phases=(Phase.explicit, Phase.reuse, Phase.generate), deadline=None
    )


def unit(random):
    a = random.standard_normal(3)
    return a / np.linalg.norm(a)


def rotation(random):
    """A random rotation matrix."""
    return ps.Rotation.from_axis_angle(unit(random), random.uniform(-3, 3)).matrix


def shape(random):
    """A body of any kind, between 0.3 and 3 kg and about a metre in size, never degenerate."""
    mass = random.uniform(0.3, 3.0)
    a, b, c = random.uniform(0.4, 1.2, 3)
    A = rotation(random)
    return [
        ps.Box(mass=mass, size=(a, b, c)),
        ps.Cylinder(mass=mass, radius=a / 2, length=b),
        ps.Ellipsoid(mass=mass, semi_axes=(a, b, c)),
        ps.RigidBody(
            mass=mass,
            inertia=mass / 5 * A @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ A.T,
        ),
    ][random.integers(4)]


def wave(amplitude, phase):
    """A smooth load."""
    return lambda t: np.multiply(amplitude, np.cos(3 * t + phase))


def place_joint(kind, a, b, random, where):
    """Arguments of a joint of this kind at a point near `where`, world axes."""
    n = unit(random)
    if kind == "Weld":
        return {}
    if kind == "Rod":
        return {"point_a": where - 0.4 * n, "point_b": where + 0.3 * n}
    if kind == "Spherical":
        return {"point": where}
    if kind == "Cartesian":
        return {"point": where, "x": 2 * n, "y": np.cross(n, unit(random))}
    if kind == "Universal":
        return {"point": where, "axis_a": 2 * n, "axis_b": np.cross(n, unit(random))}
    if kind in ("Planar", "PointOnPlane"):
        return {"point": where, "normal": 3 * n}
    return {"point": where, "axis": 0.5 * n}


@dataclass(frozen=True)
class Plan:
    """Bodies, joints, forces and ports by name; bodies are referred to by name."""

    gravity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    bodies: dict = field(default_factory=dict)
    joints: dict = field(default_factory=dict)
    forces: dict = field(default_factory=dict)
    ports: dict = field(default_factory=dict)

    def model(self, *, project=True):
        """Build the model; velocities are projected on the joints."""
        model = ps.Model(gravity=self.gravity)
        known = {"ground": model.ground}
        for name, arguments in self.bodies.items():
            known[name] = model.add_body(name, **arguments)
        for add, parts in (
            (model.add_joint, self.joints),
            (model.add_force, self.forces),
            (model.add_port, self.ports),
        ):
            for name, (kind, arguments) in parts.items():
                add(name, getattr(ps, kind)(**_attached(arguments, known)))
        if project and self.joints:
            model.project_velocities()
        return model

    def moved(self, R, shift):
        """The same in a world that is turned by R and then shifted."""

        def turn(arguments):
            moved = dict(arguments)
            for key, value in arguments.items():
                if key in POINTS:
                    moved[key] = R @ value + shift
                elif key in ARROWS:
                    moved[key] = R @ value
            if moved.get("axes") == "world":
                before = arguments["value"]
                moved["value"] = lambda t: R @ before(t)
            return moved

        def each(parts):
            return {name: (kind, turn(arguments)) for name, (kind, arguments) in parts.items()}

        return replace(
            self,
            gravity=R @ self.gravity,
            bodies={name: turn(arguments) for name, arguments in self.bodies.items()},
            joints=each(self.joints),
            forces=each(self.forces),
            ports=each(self.ports),
        )

    def shuffled(self, random):
        """The same, added in another order."""

        def shuffle(parts):
            names = list(parts)
            random.shuffle(names)
            return {name: parts[name] for name in names}

        return replace(self, bodies=shuffle(self.bodies), joints=shuffle(self.joints))


def _attached(arguments, known):
    """Return the arguments of a part with bodies in place of their names."""
    found = dict(arguments)
    for key, value in arguments.items():
        if key in ("a", "b", "body"):
            found[key] = known[value]
        elif key in ("points", "directions"):
            found[key] = [(known[name], vector) for name, vector in value]
    return found


def _bodies(random, count, speed):
    positions = [np.zeros(3)]
    for _ in range(count - 1):
        parent = positions[random.integers(len(positions))]
        positions.append(parent + 1.5 * unit(random))
    return {
        f"body{i}": {
            "shape": shape(random),
            "position": position,
            "rotation": rotation(random),
            "velocity": speed * random.standard_normal(3),
            "angular_velocity": speed * random.standard_normal(3),
        }
        for i, position in enumerate(positions)
    }


def pair(kind, seed, *, ground=False, gravity=False, speed=1.0):
    """Two bodies, or the ground and a body, joined by `J` of one kind."""
    random = np.random.default_rng(seed)
    bodies = _bodies(random, 2, speed)
    where = bodies["body1"]["position"] / 2 + 0.3 * random.standard_normal(3)
    a = "ground" if ground else "body0"
    if ground:
        del bodies["body0"]
    joint = (kind, {"a": a, "b": "body1", **place_joint(kind, a, "body1", random, where)})
    weight = np.array([0.5, -1.0, -9.0]) if gravity else np.zeros(3)
    return Plan(gravity=weight, bodies=bodies, joints={"J": joint})


def springs(plan, seed):
    """Springs and dampers of every law: to the ground, between bodies, on joints."""
    random = np.random.default_rng(seed)
    names = list(plan.bodies)
    laws = [
        {"stiffness": 30.0, "damping": 0.7},
        {"potential": lambda l: l**4, "dpotential": lambda l: 4 * l**3, "law": lambda w: w**3},
        {"potential": lambda l: np.exp(-l), "dpotential": lambda l: -np.exp(-l)},
        {"force": lambda l: 5 * np.sin(l), "damping": 0.2},
    ]
    forces = {}
    for i, law in enumerate(laws):
        b = names[random.integers(len(names))]
        a = names[random.integers(len(names))] if i % 2 else "ground"
        a = "ground" if a == b else a
        middle = plan.bodies[b]["position"] + 0.2 * random.standard_normal(3)
        start = middle + (1.0 + random.uniform()) * unit(random)
        arguments = {"a": a, "b": b, "point_a": start, "point_b": middle, **law}
        forces[f"spring{i}"] = ("Spring", arguments)
    for name, (kind, _) in plan.joints.items():
        for freedom in _movable(kind):
            law = {"stiffness": 4.0, "rest": 0.3, "damping": 0.3, "freedom": freedom}
            if random.integers(2):
                law = {
                    "freedom": freedom,
                    "potential": lambda a: 1 - np.cos(a),
                    "dpotential": np.sin,
                }
            forces[f"{name} {freedom}"] = ("JointSpring", {"joint": name, **law})
    return replace(plan, forces=forces)


def resistances(plan, seed, slip=0.3):
    """Friction on every free direction and drag on every body, besides what there is."""
    random = np.random.default_rng(seed)
    forces = dict(plan.forces)
    for name, (kind, _) in plan.joints.items():
        for freedom in _movable(kind):
            viscous, quadratic, coulomb = random.uniform(0, 1, 3)
            law = {"viscous": viscous, "quadratic": quadratic, "coulomb": coulomb, "slip": slip}
            at = {"joint": name, "freedom": freedom}
            forces[f"friction in {name} {freedom}"] = ("JointFriction", {**at, **law})
    for name, arguments in plan.bodies.items():
        labels = ("viscous", "quadratic", "angular_viscous", "angular_quadratic")
        law = dict(zip(labels, random.uniform(0, 0.5, 4), strict=True))
        point = arguments["position"] + 0.3 * random.standard_normal(3)
        forces[f"drag on {name}"] = ("Drag", {"body": name, "point": point, **law})
    return replace(plan, forces=forces)


def _movable(kind):
    """Free directions that do not depend on how the plane's axes were chosen."""
    return [name for name in COORDINATES[kind] if name[-1] not in "12"]


def ports(plan, seed):
    """A port of every kind, each with a load."""
    random = np.random.default_rng(seed)
    first, *_, last = (*plan.bodies, *plan.bodies)
    found = {}
    for i, (body, axes) in enumerate(((first, "world"), (last, "body"))):
        point = plan.bodies[body]["position"] + 0.4 * random.standard_normal(3)
        load = {"axes": axes, "value": wave(random.standard_normal(3), i)}
        found[f"force in {axes} axes"] = ("ForcePort", {"body": body, "point": point, **load})
        load = {"axes": axes, "value": wave(random.standard_normal(3), 2 + i)}
        found[f"torque in {axes} axes"] = ("TorquePort", {"body": body, **load})
    for name, (kind, _) in plan.joints.items():
        for freedom in _movable(kind):
            load = {"freedom": freedom, "value": wave(random.uniform(-1, 1), 5)}
            found[f"motor {name} {freedom}"] = ("JointPort", {"joint": name, **load})
    return replace(plan, ports=found)


def tree(seed, *, bodies=3, ground=True, gravity=True, loops=0, speed=0.7, kinds=KINDS):
    """A random tree of joints on the ground or free, closed to loops where it can still move."""
    random = np.random.default_rng(seed)
    placed = _bodies(random, bodies, speed)
    names = list(placed)
    joints, freedoms = {}, 6 * bodies

    def join(a, b, kind):
        ends = [placed[x]["position"] for x in (a, b) if x != "ground"]
        where = np.mean(ends, axis=0) + 0.4 * random.standard_normal(3)
        joints[f"{kind}{len(joints)}"] = (
            kind,
            {"a": a, "b": b, **place_joint(kind, a, b, random, where)},
        )
        return LOCKED[kind]

    for i, name in enumerate(names):
        if i == 0 and not ground:
            continue
        parent = "ground" if i == 0 else names[random.integers(i)]
        freedoms -= join(parent, name, kinds[random.integers(len(kinds))])
    for _ in range(loops):
        possible = [kind for kind in kinds if LOCKED[kind] <= min(3, freedoms - 2)]
        if bodies > 1 and possible:
            a, b = random.choice(names, 2, replace=False)
            freedoms -= join(a, b, possible[random.integers(len(possible))])
    weight = 9.0 * unit(random) if gravity else np.zeros(3)
    return Plan(gravity=weight, bodies=placed, joints=joints)


def full(seed, **options):
    """A random tree or loop with everything on it."""
    return ports(springs(tree(seed, **options), seed + 1), seed + 2)


def with_points(plan, seed, ground=True):
    """Hang point masses on what is there: by a rod, a ball joint, a spring, a line and a plane."""
    random = np.random.default_rng(seed)
    first, *_, last = (*plan.bodies, *plan.bodies)
    bodies, joints, forces = dict(plan.bodies), dict(plan.joints), dict(plan.forces)

    def add(name, place):
        motion = {"velocity": random.standard_normal(3)} if random.integers(2) else {}
        shape = ps.PointMass(mass=random.uniform(0.3, 3))
        bodies[name] = {"shape": shape, "position": place, **motion}

    def near(body):
        return bodies[body]["position"] + unit(random)

    place, other = near(first), near(last)
    add("on rod", place)
    rod = {"point_a": bodies[first]["position"] + 0.2, "point_b": place}
    joints["to rod"] = ("Rod", {"a": first, "b": "on rod", **rod})
    add("on ball", other)
    joints["to ball"] = ("Spherical", {"a": "on ball", "b": last, "point": other})
    place = near("on rod")
    add("on spring", place)
    ends = {"point_a": bodies["on rod"]["position"], "point_b": place}
    law = {"stiffness": 20.0, "rest_length": 0.8}
    forces["to spring"] = ("Spring", {"a": "on rod", "b": "on spring", **ends, **law})
    place = near(last)
    add("on line", place)
    line = {"point": place, "axis": unit(random)}
    joints["to line"] = ("PointOnLine", {"a": first, "b": "on line", **line})
    if ground:
        place = near(first)
        add("on plane", place)
        plane = {"point": place, "normal": unit(random)}
        joints["to plane"] = ("PointOnPlane", {"a": "ground", "b": "on plane", **plane})
    return replace(plan, bodies=bodies, joints=joints, forces=forces)


def push_points(plan):
    """Add ports and drag to a point mass."""
    law = {"viscous": 0.3, "quadratic": 0.2}
    forces = {**plan.forces, "drag on spring": ("Drag", {"body": "on spring", **law})}
    push = {"body": "on rod", "axes": "world", "value": wave((1, 2, 3), 0.3)}
    return replace(plan, forces=forces, ports={**plan.ports, "push on rod": ("ForcePort", push)})


def random_state(system, seed):
    """Any state: nothing needs to be satisfied for the structure to hold."""
    random = np.random.default_rng(seed)
    return system.start + 0.3 * random.standard_normal(system.n)
